/* SPDX-License-Identifier: MIT */
/* Part of hip_runtime_api.h. */
#ifndef HIP_INCLUDE_HIP_CHANNEL_DESCRIPTOR_H
#define HIP_INCLUDE_HIP_CHANNEL_DESCRIPTOR_H

#include "hip/hip_runtime_api.h"

#endif
