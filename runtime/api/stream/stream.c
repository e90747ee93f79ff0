/* SPDX-License-Identifier: MIT */
#include "core/stream/stream.h"

#include <stdlib.h>

#include "api/api.h"
#include "process/current.h"

static mcError_t create(mcStream_t *out, unsigned flags, int priority)
{
    McStream *stream;

    if (!out || flags & ~(unsigned)mcStreamNonBlocking) {
        return mcErrorInvalidValue;
    }
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    mcError_t error = mc_api_context(&ctx);
    if (error == mcSuccess) {
        error = mc_stream_new(ctx, flags, priority, &stream);
    }
    if (error == mcSuccess) {
        *out = (mcStream_t)stream;
    }
    return error;
}

MC_EXPORT mcError_t mcStreamCreate(mcStream_t *stream)
{
    API_ENTER("%p", (void *)stream);
    API_RETURN(create(stream, mcStreamDefault, 0));
}

MC_EXPORT mcError_t mcStreamCreateWithFlags(mcStream_t *stream,
                                            unsigned int flags)
{
    API_ENTER("%p, 0x%x", (void *)stream, flags);
    API_RETURN(create(stream, flags, 0));
}

MC_EXPORT mcError_t mcStreamCreateWithPriority(mcStream_t *stream,
                                               unsigned int flags,
                                               int priority)
{
    API_ENTER("%p, 0x%x, %d", (void *)stream, flags, priority);
    API_RETURN(create(stream, flags, priority));
}

MC_EXPORT mcError_t mcStreamDestroy(mcStream_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_CHECK(handle && handle != mcStreamLegacy &&
              handle != mcStreamPerThread, mcErrorInvalidResourceHandle);
    API_OBJECT(McStream, stream, handle, MC_HANDLE_STREAM,
               mcErrorInvalidResourceHandle);
    API_CHECK(mc_handle_remove(stream), mcErrorInvalidResourceHandle);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcStreamGetFlags(mcStream_t handle, unsigned int *flags)
{
    API_ENTER("%p, %p", (void *)handle, (void *)flags);
    API_CHECK(flags, mcErrorInvalidValue);
    API_STREAM_ITSELF(stream, handle);
    *flags = stream->flags;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcStreamGetPriority(mcStream_t handle, int *priority)
{
    API_ENTER("%p, %p", (void *)handle, (void *)priority);
    API_CHECK(priority, mcErrorInvalidValue);
    API_STREAM_ITSELF(stream, handle);
    *priority = stream->priority;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcStreamGetCtx(mcStream_t handle, mcCtx_t *ctx)
{
    API_ENTER("%p, %p", (void *)handle, (void *)ctx);
    API_CHECK(ctx, mcErrorInvalidValue);
    API_STREAM_ITSELF(stream, handle);
    *ctx = (mcCtx_t)mc_ctx_primary(stream->ctx->device);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcStreamGetDevice(mcStream_t handle, mcDevice_t *device)
{
    API_ENTER("%p, %p", (void *)handle, (void *)device);
    API_CHECK(device, mcErrorInvalidValue);
    API_STREAM_ITSELF(stream, handle);
    *device = stream->ctx->device;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcStreamQuery(mcStream_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_STREAM(stream, handle);
    API_TRY(mc_capture_none(stream));
    API_UNSAFE();
    API_RETURN(mc_stream_query(stream));
}

MC_EXPORT mcError_t mcStreamSynchronize(mcStream_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_STREAM(stream, handle);
    API_TRY(mc_capture_none(stream));
    API_UNSAFE();
    API_RETURN(mc_stream_sync(stream));
}

MC_EXPORT mcError_t mcStreamWaitEvent(mcStream_t handle, mcEvent_t event_handle,
                                      unsigned int flags)
{
    API_ENTER("%p, %p, 0x%x", (void *)handle, (void *)event_handle, flags);
    API_CHECK(flags == mcEventWaitDefault || flags == mcEventWaitExternal,
              mcErrorInvalidValue);
    API_EVENT(event, event_handle);
    API_STREAM(stream, handle);
    API_RETURN(flags == mcEventWaitExternal
                   ? mc_event_wait_external(stream, event)
                   : mc_event_wait(stream, event));
}

/* ---- host functions ---- */

typedef struct HostFunction {
    mcHostFn_t function;
    mcStreamCallback_t callback;
    mcStream_t stream;
    void *data;
} HostFunction;

static void call(void *opaque, mcError_t status)
{
    HostFunction f = *(HostFunction *)opaque;

    free(opaque);
    if (f.callback) {
        f.callback(f.stream, status, f.data);
    } else if (status == mcSuccess) {
        f.function(f.data);
    }
}

/* Callbacks are told about errors of their stream: that is nothing for a
 * graph. */
static mcError_t capture(McStream *stream, const HostFunction *function)
{
    McNodeParams params = {
        .type = mcGraphNodeTypeHost,
        .device = stream->ctx->device,
        .host = {function->function, function->data},
    };

    return function->callback ? mc_capture_refuse(stream)
                              : mc_capture_node(stream, &params);
}

static mcError_t host_call(mcStream_t handle, const HostFunction *function)
{
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    mcError_t error = mc_api_stream(handle, &stream);

    if (error != mcSuccess) {
        return error;
    }
    if (mc_capturing(stream)) {
        return capture(stream, function);
    }
    HostFunction *copy = malloc(sizeof(*copy));
    if (!copy) {
        return mcErrorMemoryAllocation;
    }
    *copy = *function;
    error = mc_stream_host_call(stream, call, copy, true, true);
    if (error != mcSuccess) {
        free(copy);
    }
    return error;
}

MC_EXPORT mcError_t mcStreamAddCallback(mcStream_t stream,
                                        mcStreamCallback_t callback,
                                        void *userData, unsigned int flags)
{
    HostFunction f = {.callback = callback, .stream = stream,
                      .data = userData};

    API_ENTER("%p, %p, %p, 0x%x", (void *)stream, (void *)(uintptr_t)callback,
              userData, flags);
    API_CHECK(callback && flags == 0, mcErrorInvalidValue);
    API_RETURN(host_call(stream, &f));
}

MC_EXPORT mcError_t mcLaunchHostFunc(mcStream_t stream, mcHostFn_t fn,
                                     void *userData)
{
    HostFunction f = {.function = fn, .stream = stream, .data = userData};

    API_ENTER("%p, %p, %p", (void *)stream, (void *)(uintptr_t)fn, userData);
    API_CHECK(fn, mcErrorInvalidValue);
    API_RETURN(host_call(stream, &f));
}
