/* SPDX-License-Identifier: MIT */
/* Floating-point numbers of eight bits: the runtime's own header under other
 * names. */
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#ifdef __cplusplus
#define __mc_fp8_storage_t __nv_fp8_storage_t
#define __mc_fp8x2_storage_t __nv_fp8x2_storage_t
#define __mc_fp8x4_storage_t __nv_fp8x4_storage_t
#define __mc_saturation_t __nv_saturation_t
#define __mc_fp8_interpretation_t __nv_fp8_interpretation_t
#define __mc_cvt_double_to_fp8 __nv_cvt_double_to_fp8
#define __mc_cvt_float_to_fp8 __nv_cvt_float_to_fp8
#define __mc_cvt_float2_to_fp8x2 __nv_cvt_float2_to_fp8x2
#define __mc_cvt_double2_to_fp8x2 __nv_cvt_double2_to_fp8x2
#define __mc_fp8_e4m3 __nv_fp8_e4m3
#define __mc_fp8_e5m2 __nv_fp8_e5m2
#define __mc_fp8x2_e4m3 __nv_fp8x2_e4m3
#define __mc_fp8x2_e5m2 __nv_fp8x2_e5m2
#define __mc_fp8x4_e4m3 __nv_fp8x4_e4m3
#define __mc_fp8x4_e5m2 __nv_fp8x4_e5m2
#define __MC_NOSAT __NV_NOSAT
#define __MC_SATFINITE __NV_SATFINITE
#define __MC_E4M3 __NV_E4M3
#define __MC_E5M2 __NV_E5M2
#define __mc_cvt_fp8_to_half __nv_cvt_fp8_to_half
#define __mc_cvt_fp8_to_bfloat16 __nv_cvt_fp8_to_bfloat16

#if __has_include("../common/maca_fp8.h")
#include "../common/maca_fp8.h"
#else
#include <common/maca_fp8.h>
#endif

/* A raw half is what a half is made of. */
static __host__ __device__ inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(
    __half_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8((float)__half(x), saturate, kind);
}

static __host__ __device__ inline __nv_fp8_storage_t
__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                            __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8((float)__nv_bfloat16(x), saturate, kind);
}

static __host__ __device__ inline __half_raw __nv_cvt_fp8_to_halfraw(
    __nv_fp8_storage_t x, __nv_fp8_interpretation_t kind)
{
    return (__half_raw)__nv_cvt_fp8_to_half(x, kind);
}
#endif

#endif
