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
__device__ int __mx_launch_attribute(int attribute, int *value) noexcept;
__device__ int __mx_event_order(const void *event, mcStream_t) noexcept;
__device__ int __mx_launch_wait(const unsigned long long *) noexcept;
__device__ const char *__mx_error_string(int error) noexcept;
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

struct __mc_device_event {
    unsigned long long magic;
};
#define __MC_DEVICE_EVENT_MAGIC 0x6d78657674726d31ull

/* Where a program has these, all that a block launches runs in the order of
 * the launches (device/events.c): there is nothing to keep in an event. */
__MC_DEVICE__ mcError_t mcEventCreateWithFlags(mcEvent_t *event,
                                               unsigned int flags)
{
    __mc_device_event *made;

    if (!event || flags != mcEventDisableTiming) {
        return (mcError_t)__mx_launch_keep(mcErrorInvalidValue);
    }
    made = (__mc_device_event *)malloc(sizeof(*made));
    if (!made) {
        return (mcError_t)__mx_launch_keep(mcErrorMemoryAllocation);
    }
    made->magic = __MC_DEVICE_EVENT_MAGIC;
    *event = (mcEvent_t)made;
    return mcSuccess;
}

__MC_DEVICE__ mcError_t mcEventDestroy(mcEvent_t event)
{
    __mc_device_event *made = (__mc_device_event *)event;

    if (!made || made->magic != __MC_DEVICE_EVENT_MAGIC) {
        return (mcError_t)__mx_launch_keep(mcErrorInvalidResourceHandle);
    }
    made->magic = 0;
    free(made);
    return mcSuccess;
}

__MC_DEVICE__ mcError_t mcEventRecord(mcEvent_t event,
                                      mcStream_t stream = nullptr)
{
    return (mcError_t)__mx_launch_keep(__mx_event_order(event, stream));
}

__MC_DEVICE__ mcError_t mcStreamWaitEvent(mcStream_t stream, mcEvent_t event,
                                          unsigned int flags = 0)
{
    return (mcError_t)__mx_launch_keep(
        flags ? (int)mcErrorInvalidValue : __mx_event_order(event, stream));
}

/* Waits for what this block launched, its other threads too. In kernels that
 * the host launched. */
__MC_DEVICE__ mcError_t mcDeviceSynchronize(void)
{
#ifdef __MACA_ARCH__
    return (mcError_t)__mx_launch_keep(__mx_launch_wait(__mc_null_stream()));
#else
    return mcSuccess;
#endif
}

__MC_DEVICE__ mcError_t mcDeviceGetAttribute(int *value,
                                             mcDeviceAttribute_t attribute,
                                             int)
{
    return (mcError_t)__mx_launch_keep(
        value ? __mx_launch_attribute((int)attribute, value)
              : (int)mcErrorInvalidValue);
}

__MC_DEVICE__ const char *mcGetErrorString(mcError_t error)
{
    return __mx_error_string((int)error);
}

/* Of the heap that malloc() in kernels takes from. */
__MC_DEVICE__ mcError_t mcMalloc(void **pointer, size_t size)
{
    void *made = pointer ? malloc(size) : nullptr;

    if (!pointer || !made) {
        return (mcError_t)__mx_launch_keep(
            pointer ? mcErrorMemoryAllocation : mcErrorInvalidValue);
    }
    *pointer = made;
    return mcSuccess;
}

template <class T> __MC_DEVICE__ mcError_t mcMalloc(T **pointer, size_t size)
{
    return mcMalloc((void **)pointer, size);
}

__MC_DEVICE__ mcError_t mcFree(void *pointer)
{
    free(pointer);
    return mcSuccess;
}

/* ---- copies and fills: grids behind what is in the stream ---- */

template <class T>
__global__ void __mcDeviceCopy(T *to, const T *from, size_t count)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += step) {
        to[i] = from[i];
    }
}

template <class T>
__global__ void __mcDeviceFill(T *to, T value, size_t count)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += step) {
        to[i] = value;
    }
}

__MC_DEVICE__ unsigned __mc_copy_blocks(size_t count)
{
    return count > 256 * 64 ? 64 : (unsigned)((count + 255) / 256);
}

/* A template, for clang to look at the launches where one is called only. */
template <class Word = unsigned long long, class Byte = unsigned char>
__MC_DEVICE__ mcError_t mcMemcpyAsync(void *to, const void *from, size_t size,
                                      mcMemcpyKind kind,
                                      mcStream_t stream = nullptr)
{
    size_t whole =
        ((size_t)to | (size_t)from) % sizeof(Word) ? 0 : size / sizeof(Word);
    size_t done = whole * sizeof(Word);

    if (kind != mcMemcpyDeviceToDevice && kind != mcMemcpyDefault) {
        return (mcError_t)__mx_launch_keep(mcErrorInvalidMemcpyDirection);
    }
    int before = __mx_launch_error(1);
    if (whole) {
        __mcDeviceCopy<Word><<<__mc_copy_blocks(whole), 256, 0, stream>>>(
            (Word *)to, (const Word *)from, whole);
    }
    if (size > done) {
        __mcDeviceCopy<Byte><<<__mc_copy_blocks(size - done), 256, 0, stream>>>(
            (Byte *)to + done, (const Byte *)from + done, size - done);
    }
    int error = __mx_launch_error(0);
    __mx_launch_keep(error ? error : before);
    return (mcError_t)error;
}

template <class Word = unsigned long long, class Byte = unsigned char>
__MC_DEVICE__ mcError_t mcMemsetAsync(void *to, int value, size_t size,
                                      mcStream_t stream = nullptr)
{
    size_t whole = (size_t)to % sizeof(Word) ? 0 : size / sizeof(Word);
    size_t done = whole * sizeof(Word);

    int before = __mx_launch_error(1);
    if (whole) {
        __mcDeviceFill<Word><<<__mc_copy_blocks(whole), 256, 0, stream>>>(
            (Word *)to, (Word)(Byte)value * (~(Word)0 / 255), whole);
    }
    if (size > done) {
        __mcDeviceFill<Byte><<<__mc_copy_blocks(size - done), 256, 0, stream>>>(
            (Byte *)to + done, (Byte)value, size - done);
    }
    int error = __mx_launch_error(0);
    __mx_launch_keep(error ? error : before);
    return (mcError_t)error;
}

#endif
