/* SPDX-License-Identifier: MIT */
/* Functions of CUDA whose shape is not that of the mc* interface. */
#ifndef MXGPU_CUDA_FUNCTIONS_H
#define MXGPU_CUDA_FUNCTIONS_H

#include "types.h"

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || \
    defined(MACA_API_PER_THREAD_DEFAULT_STREAM) || \
    defined(__MXCC_PER_THREAD__)
#define cudaMemcpy3DPeer cudaMemcpy3DPeer_ptds
#define cudaMemcpy3DPeerAsync cudaMemcpy3DPeerAsync_ptsz
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_ptsz
#endif

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
/* By name, compute capability, memory and multiprocessors; a member of 0 says
 * nothing. */
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop);
cudaError_t cudaMallocHost(void **ptr, size_t size);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                     cudaStreamCaptureStatus *status,
                                     unsigned long long *id);
cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p);
cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p,
                                  cudaStream_t stream __dparm(0));
cudaError_t cudaExternalMemoryGetMappedMipmappedArray(
    cudaMipmappedArray_t *mipmap, cudaExternalMemory_t extMem,
    const struct cudaExternalMemoryMipmappedArrayDesc *mipmapDesc);
/* A function of cuda.h; *funcPtr is NULL, and the result cudaSuccess, when there
 * is none of that name, as in CUDA 11. */
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr,
                                    unsigned long long flags);
/* Floating-point numbers need no conversion. */
cudaError_t cudaSetDoubleForDevice(double *d);
cudaError_t cudaSetDoubleForHost(double *d);

#ifdef __cplusplus
}

/* In the default stream; the kernel as an address of any type. */
static inline cudaError_t cudaLaunchCooperativeKernel(
    const void *func, dim3 gridDim, dim3 blockDim, void **args,
    unsigned int sharedMem = 0)
{
    return cudaLaunchCooperativeKernel(func, gridDim, blockDim, args, sharedMem,
                                       (cudaStream_t)0);
}

/* The shape of CUDA 12. */
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *graphExec,
                                               cudaGraph_t graph,
                                               unsigned long long flags = 0)
{
    return cudaGraphInstantiateWithFlags(graphExec, graph, flags);
}

template <class T>
static inline cudaError_t cudaMallocHost(T **ptr, size_t size,
                                         unsigned int flags = 0)
{
    return cudaHostAlloc((void **)(void *)ptr, size, flags);
}

#endif

#endif
