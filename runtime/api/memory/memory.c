/* SPDX-License-Identifier: MIT */
#include "api/api.h"
#include "core/exec/graph_memory.h"
#include "core/mapping/foreign.h"
#include "core/mapping/host_memory.h"
#include "core/mapping/managed.h"
#include "core/memory/alloc.h"
#include "core/memory/range.h"
#include "core/pool/pool_alloc.h"

#define PITCH 256u

/* Of the entry point that says so. */
#define CALLER ((McCaller){__func__, __builtin_return_address(0)})

static mcError_t allocate(void **ptr, size_t size, unsigned flags,
                          McCaller caller)
{
    uint64_t va;

    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    mcError_t error = mc_api_context(&ctx);
    if (error == mcSuccess) {
        error = mc_capture_unsafe();
    }
    if (error != mcSuccess) {
        return error;
    }
    if (size == 0) {
        *ptr = NULL;
        return mcSuccess;
    }
    error = mc_device_alloc(ctx, size, flags, caller, &va);
    if (error == mcErrorMemoryAllocation && mc_context_reclaim(ctx)) {
        error = mc_device_alloc(ctx, size, flags, caller, &va);
    }
    if (error == mcSuccess) {
        *ptr = (void *)(uintptr_t)va;
    }
    return error;
}

/* Rows padded; 0 when the product does not fit. */
static size_t padded(size_t width, size_t rows, size_t depth, size_t *pitch)
{
    size_t size;

    if (width > SIZE_MAX - PITCH) {
        return 0;
    }
    *pitch = (width + PITCH - 1) & ~(size_t)(PITCH - 1);
    if (__builtin_mul_overflow(*pitch, rows, &size) ||
        __builtin_mul_overflow(size, depth, &size)) {
        return 0;
    }
    return size;
}

MC_EXPORT mcError_t mcMalloc(void **ptr, size_t size)
{
    API_ENTER("%p, %zu", (void *)ptr, size);
    API_CHECK(ptr, mcErrorInvalidValue);
    API_RETURN(allocate(ptr, size, 0, CALLER));
}

MC_EXPORT mcError_t mcExtMallocWithFlags(void **ptr, size_t size,
                                         unsigned int flags)
{
    API_ENTER("%p, %zu, 0x%x", (void *)ptr, size, flags);
    API_CHECK(ptr && flags <= mcDeviceMallocFixedMemCoherence,
              mcErrorInvalidValue);
    /* All device memory is coherent in the finest grain. */
    API_CHECK(flags <= mcDeviceMallocFinegrained, mcErrorNotSupported);
    API_RETURN(allocate(ptr, size, flags, CALLER));
}

MC_EXPORT mcError_t mcMallocPitch(void **ptr, size_t *pitch, size_t width,
                                  size_t height)
{
    API_ENTER("%p, %p, %zu, %zu", (void *)ptr, (void *)pitch, width, height);
    API_CHECK(ptr && pitch, mcErrorInvalidValue);
    size_t size = padded(width, height, 1, pitch);
    API_CHECK(size || !width || !height, mcErrorMemoryAllocation);
    API_RETURN(allocate(ptr, size, 0, CALLER));
}

MC_EXPORT mcError_t mcMalloc3D(mcPitchedPtr *out, mcExtent extent)
{
    size_t pitch = 0;

    API_ENTER("%p, %zu, %zu, %zu", (void *)out, extent.width, extent.height,
              extent.depth);
    API_CHECK(out, mcErrorInvalidValue);
    size_t size = padded(extent.width, extent.height, extent.depth, &pitch);
    API_CHECK(size || !extent.width || !extent.height || !extent.depth,
              mcErrorMemoryAllocation);
    API_TRY(allocate(&out->ptr, size, 0, CALLER));
    out->pitch = pitch;
    out->xsize = extent.width;
    out->ysize = extent.height;
    API_RETURN(mcSuccess);
}

/* On the device the memory is on, whichever is current. */
MC_EXPORT mcError_t mcFree(void *ptr)
{
    McRange range;

    API_ENTER("%p", ptr);
    if (!ptr) {
        API_CONTEXT(ctx);
        API_RETURN(mcSuccess);
    }
    API_UNSAFE();
    API_CHECK(mc_range_find((uintptr_t)ptr, &range) &&
              range.base == (uintptr_t)ptr, mcErrorInvalidDevicePointer);
    if (range.kind == MC_RANGE_EXTERNAL) {
        API_CHECK(mc_foreign_unmap(range.base, range.kind) == mcSuccess,
                  mcErrorInvalidDevicePointer);
        API_RETURN(mcSuccess);
    }
    API_CHECK(range.kind == MC_RANGE_DEVICE || range.kind == MC_RANGE_POOL ||
                  range.kind == MC_RANGE_MANAGED,
              mcErrorInvalidDevicePointer);
    if (range.kind == MC_RANGE_MANAGED) {
        mcError_t error = mc_managed_free(ptr, false);

        API_RETURN(error == mcErrorInvalidValue ? mcErrorInvalidDevicePointer
                                                : error);
    }
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(range.device, &ctx));
    if (range.kind == MC_RANGE_POOL && mc_graph_memory_is(ptr)) {
        API_CHECK(mc_graph_memory_free(ptr) == mcSuccess,
                  mcErrorInvalidDevicePointer);
        API_RETURN(mcSuccess);
    }
    if (range.kind == MC_RANGE_POOL) {
        API_CHECK(mc_pool_free_now(ctx, range.base, false) == mcSuccess,
                  mcErrorInvalidDevicePointer);
        API_RETURN(mcSuccess);
    }
    API_TRY(mc_context_sync(ctx));
    API_CHECK(mc_device_free(ctx, range.base) == mcSuccess,
              mcErrorInvalidDevicePointer);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMallocHost(void **ptr, size_t size, unsigned int flags)
{
    API_ENTER("%p, %zu, 0x%x", (void *)ptr, size, flags);
    API_CHECK(ptr && !(flags & ~(unsigned)(mcMallocHostPortable |
                                           mcMallocHostMapped |
                                           mcMallocHostWriteCombined)),
              mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_UNSAFE();
    if (size == 0) {
        *ptr = NULL;
        API_RETURN(mcSuccess);
    }
    API_RETURN(mc_host_alloc(MC_RANGE_HOST, ctx->device, size, flags, CALLER,
                             ptr));
}

MC_EXPORT mcError_t mcFreeHost(void *ptr)
{
    API_ENTER("%p", ptr);
    if (!ptr) {
        API_RETURN(mcSuccess);
    }
    API_UNSAFE();
    API_RETURN(mc_host_free(MC_RANGE_HOST, ptr));
}

MC_EXPORT mcError_t mcHostRegister(void *ptr, size_t size, unsigned int flags)
{
    API_ENTER("%p, %zu, 0x%x", ptr, size, flags);
    API_CHECK(ptr && size && !(flags & ~0xfu), mcErrorInvalidValue);
    API_CHECK(!(flags & mcHostRegisterIoMemory), mcErrorNotSupported);
    API_CONTEXT(ctx);
    API_UNSAFE();
    API_RETURN(mc_host_register(ctx->device, ptr, size, flags));
}

MC_EXPORT mcError_t mcHostUnregister(void *ptr)
{
    API_ENTER("%p", ptr);
    API_CHECK(ptr, mcErrorInvalidValue);
    API_UNSAFE();
    API_RETURN(mc_host_unregister(ptr));
}

static bool find_host(const void *ptr, McRange *range)
{
    return mc_range_find((uintptr_t)ptr, range) &&
           (range->kind == MC_RANGE_HOST ||
            range->kind == MC_RANGE_REGISTERED);
}

MC_EXPORT mcError_t mcHostGetDevicePointer(void **device, void *host,
                                           unsigned int flags)
{
    McRange range;

    API_ENTER("%p, %p, 0x%x", (void *)device, host, flags);
    API_CHECK(device && host && flags == 0, mcErrorInvalidValue);
    API_CHECK(find_host(host, &range), mcErrorInvalidValue);
    *device = host;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcHostGetFlags(unsigned int *flags, void *host)
{
    McRange range;

    API_ENTER("%p, %p", (void *)flags, host);
    API_CHECK(flags && host && find_host(host, &range), mcErrorInvalidValue);
    *flags = range.flags;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMemGetInfo(size_t *free_bytes, size_t *total)
{
    uint64_t f, t;

    API_ENTER("%p, %p", (void *)free_bytes, (void *)total);
    API_CONTEXT(ctx);
    mc_device_memory(ctx, &f, &t);
    if (free_bytes) {
        *free_bytes = f;
    }
    if (total) {
        *total = t;
    }
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMemGetAddressRange(mcDeviceptr_t *base, size_t *size,
                                         mcDeviceptr_t ptr)
{
    McRange range;

    API_ENTER("%p, %p, %p", (void *)base, (void *)size, ptr);
    API_CHECK(mc_range_find((uintptr_t)ptr, &range), mcErrorNotFound);
    if (base) {
        *base = (void *)(uintptr_t)range.base;
    }
    if (size) {
        *size = range.size;
    }
    API_RETURN(mcSuccess);
}
