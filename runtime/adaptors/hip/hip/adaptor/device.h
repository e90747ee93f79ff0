/* SPDX-License-Identifier: MIT */
/* What HIP adds to the language of kernels. */
#ifndef MXGPU_HIP_DEVICE_H
#define MXGPU_HIP_DEVICE_H

#include "mc.h"

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

/* Atomic additions of floats are exact in all memory here, and fast. */
#ifdef __cplusplus
__device__ static inline float unsafeAtomicAdd(float *address, float value)
{
    return atomicAdd(address, value);
}

__device__ static inline double unsafeAtomicAdd(double *address, double value)
{
    return atomicAdd(address, value);
}

__device__ static inline float safeAtomicAdd(float *address, float value)
{
    return atomicAdd(address, value);
}

__device__ static inline double safeAtomicAdd(double *address, double value)
{
    return atomicAdd(address, value);
}
#endif

#define HIP_DYNAMIC_SHARED(type, var) extern __shared__ type var[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define HIP_KERNEL_NAME(...) __VA_ARGS__

#define hipLaunchKernelGGLInternal(kernelName, numBlocks, numThreads,          \
                                   memPerBlock, streamId, ...)                 \
    do {                                                                       \
        kernelName<<<(numBlocks), (numThreads), (memPerBlock),                 \
                     (streamId)>>>(__VA_ARGS__);                               \
    } while (0)
#define hipLaunchKernelGGL(kernelName, ...)                                    \
    hipLaunchKernelGGLInternal((kernelName), __VA_ARGS__)

#endif
