/* SPDX-License-Identifier: MIT */
/* hip_bfloat16: bfloat16 under its older name. */
#ifndef HIP_INCLUDE_HIP_HIP_BFLOAT16_H
#define HIP_INCLUDE_HIP_HIP_BFLOAT16_H

#include "hip/hip_bf16.h"

#ifdef __cplusplus
typedef __maca_bfloat16 hip_bfloat16;
#endif

#endif
