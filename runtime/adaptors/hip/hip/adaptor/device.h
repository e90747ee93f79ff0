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

#ifdef __cplusplus
#include "amdgcn.h"

/* width bits from offset on; of none, nothing. */
__device__ static inline unsigned __bitextract_u32(unsigned source,
                                                   unsigned offset,
                                                   unsigned width)
{
    return __builtin_amdgcn_ubfe(source, offset, width);
}

__device__ static inline unsigned long long __bitextract_u64(
    unsigned long long source, unsigned offset, unsigned width)
{
    offset &= 63;
    width &= 63;
    return source >> offset & ((1ull << width) - 1);
}

__device__ static inline unsigned __bitinsert_u32(unsigned into,
                                                  unsigned bits,
                                                  unsigned offset,
                                                  unsigned width)
{
    unsigned mask = (1u << (width & 31)) - 1;

    offset &= 31;
    return (into & ~(mask << offset)) | (bits & mask) << offset;
}

__device__ static inline unsigned long long __bitinsert_u64(
    unsigned long long into, unsigned long long bits, unsigned offset,
    unsigned width)
{
    unsigned long long mask = (1ull << (width & 63)) - 1;

    offset &= 63;
    return (into & ~(mask << offset)) | (bits & mask) << offset;
}

/* Atomic additions of floats are exact in all memory here, and fast. */
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

__device__ static inline void atomicAddNoRet(float *address, float value)
{
    atomicAdd(address, value);
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

#ifdef __cplusplus
/* A launch between two events, which may be NULL; flags is 0. */
template <class... Parameters, class... Args>
static inline void hipExtLaunchKernelGGL(
    void (*kernel)(Parameters...), dim3 numBlocks, dim3 dimBlocks,
    unsigned sharedMemBytes, hipStream_t stream, hipEvent_t startEvent,
    hipEvent_t stopEvent, unsigned flags, Args... args)
{
    (void)flags;
    if (startEvent) {
        hipEventRecord(startEvent, stream);
    }
    kernel<<<numBlocks, dimBlocks, sharedMemBytes, stream>>>(args...);
    if (stopEvent) {
        hipEventRecord(stopEvent, stream);
    }
}
#endif

#endif
