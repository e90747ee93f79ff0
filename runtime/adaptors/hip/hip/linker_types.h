/* SPDX-License-Identifier: MIT */
/* Part of hip_runtime.h. */
#ifndef HIP_INCLUDE_HIP_LINKER_TYPES_H
#define HIP_INCLUDE_HIP_LINKER_TYPES_H

#include "hip/hip_runtime.h"

#endif
