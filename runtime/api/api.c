/* SPDX-License-Identifier: MIT */
#include "api.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/error.h"
#include "core/poll.h"
#include "process/current.h"

void mc_api_trace(const char *name, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    mc_log(MC_LOG_DEBUG, "%s(%s)", name, text);
}

mcError_t mc_api_gate(void)
{
    mcError_t error = mc_runtime_gate();

    /* Entry points give everything back that they take. */
    assert(mc_thread()->held == 0);
    return error == mcSuccess ? mc_runtime_init() : error;
}

mcError_t mc_api_leave(const char *name, mcError_t error)
{
    if (mc_profiling()) {
        mc_profile_api(name, mc_thread()->call_start, error);
        mc_thread()->call_start = 0;
    }
    if (error != mcSuccess) {
        /* Not ready is an answer. */
        if (error != mcErrorNotReady) {
            mc_thread()->last_error = error;
            mc_error("%s: %s (%s)", name, mc_error_name(error),
                     mc_error_string(error));
        }
    }
    return error;
}

/* A call that fails because the device has may be the one that synchronises:
 * what kernels printed before is not kept back. */
static mcError_t check(McContext *ctx)
{
    mcError_t error = mc_context_check(ctx);

    if (error != mcSuccess) {
        mc_context_flush(ctx);
    }
    return error;
}

mcError_t mc_api_context(McContext **ctx)
{
    int device = mc_thread()->device;
    const McCtx *top = mc_ctx_top();

    if (top && mc_ctx_destroyed(top)) {
        return mcErrorContextIsDestroyed;
    }
    if (device >= mc_device_count()) {
        return mcErrorInvalidDevice;
    }
    mcError_t error = mc_context_open(device, ctx);
    return error == mcSuccess ? check(*ctx) : error;
}

bool mc_api_is_device(int device)
{
    return device >= 0 && device < mc_device_count();
}

mcError_t mc_api_device(int device, McContext **ctx)
{
    return mc_api_is_device(device) ? mc_context_open(device, ctx)
                                    : mcErrorInvalidDevice;
}

mcError_t mc_api_stream(mcStream_t handle, McStream **stream)
{
    McContext *ctx = NULL;
    mcError_t error;

    if (handle == NULL || handle == mcStreamLegacy ||
        handle == mcStreamPerThread) {
        error = mc_api_context(&ctx);
        if (error == mcSuccess) {
            error = mc_stream_get(ctx, handle, stream);
        }
        if (ctx) {
            mc_context_put(ctx);
        }
        return error;
    }
    error = mc_stream_get(NULL, handle, stream);
    return error == mcSuccess ? check((*stream)->ctx) : error;
}

void mc_api_put_context(McContext **ctx)
{
    if (*ctx) {
        mc_context_put(*ctx);
    }
}

void mc_api_put_stream(McStream **stream)
{
    if (*stream) {
        mc_stream_put(*stream);
    }
}

void mc_api_put_object(void *object)
{
    void *handle = *(void **)object;

    if (handle) {
        mc_handle_put(handle);
    }
}
