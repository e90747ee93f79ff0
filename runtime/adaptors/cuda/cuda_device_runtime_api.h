/* SPDX-License-Identifier: MIT */
/*
 * What kernels may call of the runtime comes with its own headers. This is what
 * CUDA's header has beside: calls that its compiler makes of <<<...>>> in
 * kernels. Ours makes others of it, so nothing can be launched by these; header
 * libraries name them.
 */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "cuda_runtime_api.h"

#if defined(__MXCC__) && defined(__cplusplus)
#include "mcr/mc_runtime.h"

/* Room for arguments, of the heap; NULL when there is none. */
static __device__ inline void *cudaGetParameterBuffer(size_t, size_t size)
{
    return malloc(size);
}

/* Gives the room back: cudaErrorNotSupported. */
static __device__ inline cudaError_t
cudaLaunchDevice(void *, void *parameters, dim3, dim3, unsigned int,
                 cudaStream_t)
{
    free(parameters);
    return cudaErrorNotSupported;
}

static __host__ __device__ inline cudaError_t
__cudaDeviceSynchronizeDeprecationAvoidance()
{
    return cudaDeviceSynchronize();
}
#endif

#endif
