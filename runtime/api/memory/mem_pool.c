/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <string.h>

#include "core/exec/graph_memory.h"
#include "core/memory/range.h"
#include "core/pool/pool_alloc.h"
#include "core/pool/pool_share.h"

/* Of the entry point that says so. */
#define CALLER ((McCaller){__func__, __builtin_return_address(0)})

#define API_POOL(pool, handle)                                                 \
    API_OBJECT(McPool, pool, handle, MC_HANDLE_POOL, mcErrorInvalidValue)

/* ---- memory ---- */

/* As a node of the graph, whose memory it is; of the pool's device. */
static mcError_t capture_alloc(void **ptr, size_t size, McStream *stream,
                               const McPool *pool, McCaller caller)
{
    int device = mc_pool_device(pool);
    McNodeParams params = {
        .type = mcGraphNodeTypeMemAlloc,
        .device = device,
        .alloc.params = {
            .poolProps = {
                .allocType = mcMemAllocationTypePinned,
                .location = {mcMemLocationTypeDevice, device},
            },
            .bytesize = size,
        },
    };
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    mcError_t error = mc_api_device(device, &ctx);

    if (error == mcSuccess) {
        error = mc_graph_memory_new(ctx, size, caller, &params.alloc.memory,
                                    &params.alloc.params.dptr);
    }
    if (error == mcSuccess) {
        error = mc_capture_node(stream, &params);
        mc_graph_memory_put(params.alloc.memory); /* the node has its own */
    }
    if (error == mcSuccess) {
        *ptr = params.alloc.params.dptr;
    }
    return error;
}

static mcError_t capture_free(void *ptr, McStream *stream)
{
    const McNodeParams params = {
        .type = mcGraphNodeTypeMemFree,
        .device = stream->ctx->device,
        .free = ptr,
    };

    return mc_graph_memory_is(ptr) ? mc_capture_node(stream, &params)
                                   : mcErrorInvalidValue;
}

static mcError_t malloc_async(void **ptr, size_t size, McStream *stream,
                              McPool *pool, McCaller caller)
{
    uint64_t va = 0;

    if (mc_capturing(stream) && size) {
        return capture_alloc(ptr, size, stream, pool, caller);
    }
    mcError_t error = size ? mc_pool_alloc(pool, stream, size, caller, &va)
                           : mcSuccess;
    if (error == mcSuccess) {
        *ptr = (void *)(uintptr_t)va;
    }
    return error;
}

/* From the current pool of the stream's device. */
static mcError_t malloc_current(void **ptr, size_t size, mcStream_t handle,
                                McCaller caller)
{
    if (!ptr) {
        return mcErrorInvalidValue;
    }
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    mcError_t error = mc_api_stream(handle, &stream);
    if (error != mcSuccess) {
        return error;
    }
    McPool *pool __attribute__((cleanup(mc_api_put_object))) =
        mc_pools_current(stream->ctx);
    return pool ? malloc_async(ptr, size, stream, pool, caller)
                : mcErrorContextIsDestroyed;
}

static mcError_t malloc_from(void **ptr, size_t size, mcMemPool_t pool_handle,
                             mcStream_t handle, McCaller caller)
{
    if (!ptr || !pool_handle) {
        return mcErrorInvalidValue;
    }
    McPool *pool __attribute__((cleanup(mc_api_put_object))) =
        mc_handle_get(pool_handle, MC_HANDLE_POOL);
    if (!pool) {
        return mcErrorInvalidValue;
    }
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    mcError_t error = mc_api_stream(handle, &stream);
    return error == mcSuccess ? malloc_async(ptr, size, stream, pool, caller)
                              : error;
}

/* On the device the memory is on, whatever the stream's is. */
static mcError_t free_async(void *ptr, mcStream_t handle)
{
    McRange range;
    uint64_t va = (uintptr_t)ptr;

    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    mcError_t error = mc_api_stream(handle, &stream);
    if (error != mcSuccess) {
        return error;
    }
    if (mc_capturing(stream)) {
        return capture_free(ptr, stream);
    }
    if (!mc_range_find(va, &range) ||
        (range.kind != MC_RANGE_POOL && range.kind != MC_RANGE_DEVICE)) {
        return mcErrorInvalidValue;
    }
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    error = mc_api_device(range.device, &ctx);
    if (error != mcSuccess) {
        return error;
    }
    if (range.kind == MC_RANGE_POOL && mc_graph_memory_is(ptr)) {
        return mc_graph_memory_free(ptr);
    }
    return range.kind == MC_RANGE_POOL ? mc_pool_free(ctx, va, stream)
                                       : mc_pool_free_device(ctx, va, stream);
}

MC_EXPORT mcError_t mcMallocAsync(void **ptr, size_t size, mcStream_t stream)
{
    API_ENTER("%p, %zu, %p", (void *)ptr, size, (void *)stream);
    API_RETURN(malloc_current(ptr, size, stream, CALLER));
}

MC_EXPORT mcError_t mcMemAllocAsync(mcDeviceptr_t *ptr, size_t size,
                                    mcStream_t stream)
{
    API_ENTER("%p, %zu, %p", (void *)ptr, size, (void *)stream);
    API_RETURN(malloc_current(ptr, size, stream, CALLER));
}

MC_EXPORT mcError_t mcMallocFromPoolAsync(void **ptr, size_t size,
                                          mcMemPool_t pool, mcStream_t stream)
{
    API_ENTER("%p, %zu, %p, %p", (void *)ptr, size, (void *)pool,
              (void *)stream);
    API_RETURN(malloc_from(ptr, size, pool, stream, CALLER));
}

MC_EXPORT mcError_t mcMemAllocFromPoolAsync(mcDeviceptr_t *ptr, size_t size,
                                            mcMemPool_t pool,
                                            mcStream_t stream)
{
    API_ENTER("%p, %zu, %p, %p", (void *)ptr, size, (void *)pool,
              (void *)stream);
    API_RETURN(malloc_from(ptr, size, pool, stream, CALLER));
}

MC_EXPORT mcError_t mcFreeAsync(void *ptr, mcStream_t stream)
{
    API_ENTER("%p, %p", ptr, (void *)stream);
    API_RETURN(free_async(ptr, stream));
}

MC_EXPORT mcError_t mcMemFreeAsync(mcDeviceptr_t ptr, mcStream_t stream)
{
    API_ENTER("%p, %p", ptr, (void *)stream);
    API_RETURN(free_async(ptr, stream));
}

/* ---- pools of a device ---- */

MC_EXPORT mcError_t mcDeviceGetDefaultMemPool(mcMemPool_t *pool,
                                              mcDevice_t device)
{
    API_ENTER("%p, %d", (void *)pool, device);
    API_CHECK(pool, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    *pool = (mcMemPool_t)mc_pools_default(ctx);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceGetMemPool(mcMemPool_t *out, mcDevice_t device)
{
    API_ENTER("%p, %d", (void *)out, device);
    API_CHECK(out, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    McPool *pool __attribute__((cleanup(mc_api_put_object))) =
        mc_pools_current(ctx);
    API_CHECK(pool, mcErrorContextIsDestroyed);
    *out = (mcMemPool_t)pool;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceSetMemPool(mcDevice_t device, mcMemPool_t handle)
{
    API_ENTER("%d, %p", device, (void *)handle);
    API_POOL(pool, handle);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    API_RETURN(mc_pools_set_current(ctx, pool));
}

/* ---- a pool ---- */

static mcError_t check_handles(mcMemAllocationHandleType type)
{
    switch ((int)type) {
    case mcMemHandleTypeNone:
    case mcMemHandleTypePosixFileDescriptor:
        return mcSuccess;
    case mcMemHandleTypeWin32:
    case mcMemHandleTypeWin32Kmt:
    case mcMemHandleTypeFabric:
        return mcErrorNotSupported;
    default:
        return mcErrorInvalidValue;
    }
}

MC_EXPORT mcError_t mcMemPoolCreate(mcMemPool_t *out,
                                    const mcMemPoolProps *given)
{
    McPool *pool;

    API_ENTER("%p, %p", (void *)out, (const void *)given);
    API_CHECK(out && given, mcErrorInvalidValue);
    mcMemPoolProps props = *given;
    API_CHECK(props.allocType == mcMemAllocationTypePinned &&
              props.location.type == mcMemLocationTypeDevice,
              mcErrorInvalidValue);
    API_DEVICE(props.location.id);
    API_TRY(check_handles(props.handleTypes));
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(props.location.id, &ctx));
    API_TRY(mc_pool_new(ctx, props.maxSize, props.handleTypes, &pool));
    *out = (mcMemPool_t)pool;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMemPoolDestroy(mcMemPool_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_POOL(pool, handle);
    API_RETURN(mc_pool_drop(pool));
}

static bool attribute_is_int(mcMemPoolAttr attr)
{
    return attr == mcMemPoolReuseFollowEventDependencies ||
           attr == mcMemPoolReuseAllowOpportunistic ||
           attr == mcMemPoolReuseAllowInternalDependencies;
}

MC_EXPORT mcError_t mcMemPoolGetAttribute(mcMemPool_t handle,
                                          mcMemPoolAttr attr, void *out)
{
    uint64_t value = 0;

    API_ENTER("%p, %d, %p", (void *)handle, (int)attr, out);
    API_CHECK(out, mcErrorInvalidValue);
    API_POOL(pool, handle);
    API_TRY(mc_pool_get(pool, attr, &value));
    if (attribute_is_int(attr)) {
        *(int *)out = (int)value;
    } else {
        *(uint64_t *)out = value;
    }
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMemPoolSetAttribute(mcMemPool_t handle,
                                          mcMemPoolAttr attr, void *in)
{
    API_ENTER("%p, %d, %p", (void *)handle, (int)attr, in);
    API_CHECK(in, mcErrorInvalidValue);
    API_POOL(pool, handle);
    uint64_t value = attribute_is_int(attr) ? *(int *)in != 0
                                            : *(uint64_t *)in;
    API_RETURN(mc_pool_set(pool, attr, value));
}

MC_EXPORT mcError_t mcMemPoolTrimTo(mcMemPool_t handle, size_t keep)
{
    API_ENTER("%p, %zu", (void *)handle, keep);
    API_POOL(pool, handle);
    mc_pool_trim(pool, keep);
    API_RETURN(mcSuccess);
}

/* ---- access of devices ---- */

static bool is_device(const mcMemLocation *location)
{
    return location->type == mcMemLocationTypeDevice &&
           mc_api_is_device(location->id);
}

/* The pool's own device always may. */
static mcError_t check_access(const McPool *pool, const mcMemAccessDesc *desc)
{
    bool own = desc->location.id == mc_pool_device(pool);

    if (!is_device(&desc->location)) {
        return mcErrorInvalidValue;
    }
    switch ((int)desc->flags) {
    case mcMemAccessFlagsProtNone:
        return own ? mcErrorInvalidValue : mcSuccess;
    case mcMemAccessFlagsProtReadWrite:
        return mcSuccess;
    default:
        return mcErrorInvalidValue;
    }
}

static mcError_t set_access(McPool *pool, const mcMemAccessDesc *desc)
{
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;

    if (desc->location.id == mc_pool_device(pool)) {
        return mcSuccess;
    }
    mcError_t error = mc_api_device(desc->location.id, &ctx);
    return error == mcSuccess
               ? mc_pool_set_access(pool, ctx,
                                    desc->flags != mcMemAccessFlagsProtNone)
               : error;
}

MC_EXPORT mcError_t mcMemPoolSetAccess(mcMemPool_t handle,
                                       const mcMemAccessDesc *list,
                                       size_t count)
{
    API_ENTER("%p, %p, %zu", (void *)handle, (const void *)list, count);
    API_CHECK(list || !count, mcErrorInvalidValue);
    API_POOL(pool, handle);
    for (size_t i = 0; i < count; i++) {
        mcMemAccessDesc desc = list[i];

        API_TRY(check_access(pool, &desc));
    }
    for (size_t i = 0; i < count; i++) {
        mcMemAccessDesc desc = list[i];

        API_TRY(check_access(pool, &desc)); /* it may be another by now */
        API_TRY(set_access(pool, &desc));
    }
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMemPoolGetAccess(mcMemAccessFlags *flags,
                                       mcMemPool_t handle,
                                       mcMemLocation *where)
{
    API_ENTER("%p, %p, %p", (void *)flags, (void *)handle, (void *)where);
    API_CHECK(flags && where, mcErrorInvalidValue);
    mcMemLocation location = *where;
    API_CHECK(is_device(&location), mcErrorInvalidValue);
    API_POOL(pool, handle);
    *flags = mc_pool_has_access(pool, location.id)
                 ? mcMemAccessFlagsProtReadWrite
                 : mcMemAccessFlagsProtNone;
    API_RETURN(mcSuccess);
}

/* ---- other processes ---- */

_Static_assert(sizeof(mcMemPoolPtrExportData) == sizeof(McToken), "tokens");

/* None is no type to share by. */
static mcError_t check_share(mcMemAllocationHandleType type)
{
    return type == mcMemHandleTypeNone ? mcErrorInvalidValue
                                       : check_handles(type);
}

MC_EXPORT mcError_t mcMemPoolExportToShareableHandle(
    void *out, mcMemPool_t handle, mcMemAllocationHandleType type,
    unsigned int flags)
{
    int fd;

    API_ENTER("%p, %p, %d, 0x%x", out, (void *)handle, (int)type, flags);
    API_CHECK(out && flags == 0, mcErrorInvalidValue);
    API_TRY(check_share(type));
    API_POOL(pool, handle);
    API_TRY(mc_pool_export(pool, &fd));
    *(int *)out = fd;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMemPoolImportFromShareableHandle(
    mcMemPool_t *out, void *shared, mcMemAllocationHandleType type,
    unsigned int flags)
{
    intptr_t fd = (intptr_t)shared;
    McPool *pool;

    API_ENTER("%p, %p, %d, 0x%x", (void *)out, shared, (int)type, flags);
    API_CHECK(out && flags == 0, mcErrorInvalidValue);
    API_TRY(check_share(type));
    API_CHECK(fd >= 0 && fd <= INT_MAX, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_TRY(mc_pool_import(ctx, (int)fd, &pool));
    *out = (mcMemPool_t)pool;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMemPoolExportPointer(mcMemPoolPtrExportData *data,
                                           void *ptr)
{
    McRange range;
    McToken token;

    API_ENTER("%p, %p", (void *)data, ptr);
    API_CHECK(data && mc_range_find((uintptr_t)ptr, &range) &&
              range.kind == MC_RANGE_POOL, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(range.device, &ctx));
    API_TRY(mc_pool_export_at(ctx, (uintptr_t)ptr, &token));
    memcpy(data, &token, sizeof(token));
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMemPoolImportPointer(void **ptr, mcMemPool_t handle,
                                           mcMemPoolPtrExportData *data)
{
    McToken token;
    uint64_t va;

    API_ENTER("%p, %p, %p", (void *)ptr, (void *)handle, (void *)data);
    API_CHECK(ptr && data, mcErrorInvalidValue);
    API_POOL(pool, handle);
    memcpy(&token, data, sizeof(token));
    API_TRY(mc_pool_import_at(pool, &token, CALLER, &va));
    *ptr = (void *)(uintptr_t)va;
    API_RETURN(mcSuccess);
}
