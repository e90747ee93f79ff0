/* SPDX-License-Identifier: MIT */
/* bfloat16 and pairs of it, of the runtime's own header. */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#include "cuda_runtime.h"

#ifdef __cplusplus
#if __has_include("../common/maca_bfloat16.h")
#include "../common/maca_bfloat16.h"
#else
#include <common/maca_bfloat16.h>
#endif

typedef __maca_bfloat16_raw __nv_bfloat16_raw;
typedef __maca_bfloat16 __nv_bfloat16;
typedef __maca_bfloat162 __nv_bfloat162;
typedef __maca_bfloat16 nv_bfloat16;
typedef __maca_bfloat162 nv_bfloat162;
#endif

#endif
