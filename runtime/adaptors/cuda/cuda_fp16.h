/* SPDX-License-Identifier: MIT */
/* half and half2, of the runtime's own header. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#include "cuda_runtime.h"

#ifdef __cplusplus
#if __has_include("../common/maca_fp16.h")
#include "../common/maca_fp16.h"
#else
#include <common/maca_fp16.h>
#endif

typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<__half>()
{
    return cudaCreateChannelDescHalf();
}

template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<__half2>()
{
    return cudaCreateChannelDescHalf2();
}
#endif

#endif
