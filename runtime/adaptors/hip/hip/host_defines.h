/* SPDX-License-Identifier: MIT */
/* Part of hip_runtime.h. */
#ifndef HIP_INCLUDE_HIP_HOST_DEFINES_H
#define HIP_INCLUDE_HIP_HOST_DEFINES_H

#include "hip/hip_runtime.h"

#endif
