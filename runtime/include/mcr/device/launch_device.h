/* SPDX-License-Identifier: MIT */
/*
 * Launches in device code, and the interface of the runtime there. mxcc makes
 * kernel<<<...>>>(...) a call of __mcLaunchSet and of the kernel, and
 * mx-kernel-link of both a launch. mc_launch_config of runtime/device/launch.h
 * is the same structure.
 */
#ifndef MCR_DEVICE_LAUNCH_DEVICE_H
#define MCR_DEVICE_LAUNCH_DEVICE_H

#include "builtins.h"
#include "keywords.h"
#include "mcr/mc_runtime_api.h"
#include "services.h"

#ifdef __MACA_ARCH__
/* The last grid in the NULL stream of this block; 0 when the block begins. */
__MC_DEVICE__ unsigned long long *__mc_null_stream()
{
    static __shared__ unsigned long long last;

    return &last;
}
#endif

struct __mc_launch_config {
    dim3 grid, block;
    size_t shared;
    mcStream_t stream;
    unsigned long long *null_stream;

    __host__ __device__ __MC_INLINE__
    __mc_launch_config(dim3 grid_, dim3 block_, size_t shared_ = 0,
                       mcStream_t stream_ = nullptr)
        : grid(grid_), block(block_), shared(shared_), stream(stream_),
#ifdef __MACA_ARCH__
          null_stream(__mc_null_stream())
#else
          null_stream(nullptr)
#endif
    {
    }
};

extern "C" {
/* What the call of a kernel that follows in the function is launched with. */
__device__ void __mcLaunchSet(const __mc_launch_config &config) noexcept;
__device__ int __mx_launch_error(int clear) noexcept;
__device__ int __mx_launch_keep(int error) noexcept;
__device__ int __mx_launch_device(int count) noexcept;
}

template <class... A>
__host__ __device__ __MC_INLINE__ void __mcLaunchIgnore(const A &...)
{
}

/* Of this thread. */
__MC_DEVICE__ mcError_t mcGetLastError(void)
{
    return (mcError_t)__mx_launch_error(1);
}

__MC_DEVICE__ mcError_t mcPeekAtLastError(void)
{
    return (mcError_t)__mx_launch_error(0);
}

__MC_DEVICE__ mcError_t mcGetDevice(int *device)
{
    if (!device) {
        return (mcError_t)__mx_launch_keep(mcErrorInvalidValue);
    }
    *device = __mx_launch_device(0);
    return mcSuccess;
}

__MC_DEVICE__ mcError_t mcGetDeviceCount(int *count)
{
    if (!count) {
        return (mcError_t)__mx_launch_keep(mcErrorInvalidValue);
    }
    *count = __mx_launch_device(1);
    return mcSuccess;
}

struct __mc_device_stream {
    unsigned long long last, magic;
};
#define __MC_DEVICE_STREAM_MAGIC 0x6d787374726d3031ull

/* Streams of the device are those of the block that made them, do not wait for
 * its NULL stream, and take memory of the heap. */
__MC_DEVICE__ mcError_t mcStreamCreateWithFlags(mcStream_t *stream,
                                                unsigned int flags)
{
    __mc_device_stream *made;

    if (!stream || flags != mcStreamNonBlocking) {
        return (mcError_t)__mx_launch_keep(mcErrorInvalidValue);
    }
    made = (__mc_device_stream *)malloc(sizeof(*made));
    if (!made) {
        return (mcError_t)__mx_launch_keep(mcErrorMemoryAllocation);
    }
    made->last = 0;
    made->magic = __MC_DEVICE_STREAM_MAGIC;
    *stream = (mcStream_t)made;
    return mcSuccess;
}

/* What was launched in it goes on. */
__MC_DEVICE__ mcError_t mcStreamDestroy(mcStream_t stream)
{
    __mc_device_stream *made = (__mc_device_stream *)stream;

    if (!made || made->magic != __MC_DEVICE_STREAM_MAGIC) {
        return (mcError_t)__mx_launch_keep(mcErrorInvalidResourceHandle);
    }
    made->magic = 0;
    free(made);
    return mcSuccess;
}

#endif
