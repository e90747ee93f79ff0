/* SPDX-License-Identifier: MIT */
/* bfloat16 and pairs of it, of the runtime's own header. */
#ifndef HIP_INCLUDE_HIP_HIP_BF16_H
#define HIP_INCLUDE_HIP_HIP_BF16_H

#include "hip/hip_runtime.h"

#ifdef __cplusplus
#if __has_include("../../common/maca_bfloat16.h")
#include "../../common/maca_bfloat16.h"
#else
#include <common/maca_bfloat16.h>
#endif

typedef __maca_bfloat16_raw __hip_bfloat16_raw;
typedef __maca_bfloat16 __hip_bfloat16;
typedef __maca_bfloat162 __hip_bfloat162;
#endif

#endif
