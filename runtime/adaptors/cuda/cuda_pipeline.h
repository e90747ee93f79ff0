/* SPDX-License-Identifier: MIT */
/* Copies to shared memory, as functions of C: made by the thread that asks. */
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__MXCC__)

/* The last zfill of size bytes (4, 8 or 16) are zero. */
__device__ inline void __pipeline_memcpy_async(void *__restrict__ dst,
                                               const void *__restrict__ src,
                                               size_t size, size_t zfill = 0)
{
    __builtin_memcpy(dst, src, size - zfill);
    __builtin_memset((char *)dst + (size - zfill), 0, zfill);
}

__device__ inline void __pipeline_commit(void)
{
}

/* All batches but the last that many: here, all. */
__device__ inline void __pipeline_wait_prior(size_t)
{
}

#endif

#endif
