/* SPDX-License-Identifier: MIT */
/* Functions of HIP whose shape is not that of the mc* interface. */
#ifndef MXGPU_HIP_FUNCTIONS_H
#define MXGPU_HIP_FUNCTIONS_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

hipError_t hipGetDeviceProperties(hipDeviceProp_t *prop, int deviceId);
hipError_t hipChooseDevice(int *device, const hipDeviceProp_t *prop);
hipError_t hipDrvGetErrorName(hipError_t error, const char **name);
hipError_t hipDrvGetErrorString(hipError_t error, const char **text);

/* Flags that say how memory is coherent, and on which node it is, have no
 * effect. */
hipError_t hipHostMalloc(void **ptr, size_t size,
                         unsigned int flags __dparm(hipHostMallocDefault));
hipError_t hipMallocHost(void **ptr, size_t size);
hipError_t hipHostFree(void *ptr);
hipError_t hipMemPtrGetInfo(void *ptr, size_t *size);
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes,
                                   const void *ptr);

/* Flags that say what an event makes visible have no effect: all memory is. */
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags);
hipError_t hipStreamGetCaptureInfo(hipStream_t stream,
                                   hipStreamCaptureStatus *status,
                                   unsigned long long *id);
/* A mask that leaves out bits is hipErrorNotSupported. */
hipError_t hipStreamWaitValue32(hipStream_t stream, void *ptr, uint32_t value,
                                unsigned int flags,
                                uint32_t mask __dparm(0xffffffff));
hipError_t hipStreamWaitValue64(hipStream_t stream, void *ptr, uint64_t value,
                                unsigned int flags,
                                uint64_t mask __dparm(0xffffffffffffffff));
int hipGetStreamDeviceId(hipStream_t stream);

/* hipLaunchKernel between two events, which may be NULL; flags is 0. */
hipError_t hipExtLaunchKernel(const void *function, dim3 numBlocks,
                              dim3 dimBlocks, void **args,
                              size_t sharedMemBytes, hipStream_t stream,
                              hipEvent_t startEvent, hipEvent_t stopEvent,
                              int flags);
/* Grids are counted in threads: multiples of the block's. */
hipError_t hipExtModuleLaunchKernel(
    hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX, uint32_t localWorkSizeY,
    uint32_t localWorkSizeZ, size_t sharedMemBytes, hipStream_t stream,
    void **kernelParams, void **extra, hipEvent_t startEvent
    __dparm(0), hipEvent_t stopEvent __dparm(0), uint32_t flags __dparm(0));


#ifdef __cplusplus
}

/* In the default stream; the kernel as an address of any type. */
static inline hipError_t hipLaunchCooperativeKernel(
    const void *func, dim3 gridDim, dim3 blockDim, void **args,
    unsigned int sharedMem = 0)
{
    return hipLaunchCooperativeKernel(func, gridDim, blockDim, args, sharedMem,
                                       (hipStream_t)0);
}

template <class T>
static inline hipError_t hipHostMalloc(
    T **ptr, size_t size, unsigned int flags = hipHostMallocDefault)
{
    return hipHostMalloc((void **)(void *)ptr, size, flags);
}

template <class T>
static inline hipError_t hipMallocHost(
    T **ptr, size_t size, unsigned int flags = hipHostMallocDefault)
{
    return hipHostMalloc((void **)(void *)ptr, size, flags);
}

#endif

#endif
