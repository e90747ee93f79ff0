/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "api.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "check/check.h"
#include "core/context/error.h"
#include "core/queue/poll.h"
#include "process/current.h"

/* Arguments of the call being made: it may change what they point to. */
static _Thread_local char arguments[512];

void mc_api_note(const char *name, const char *format, ...)
{
    va_list args;

    if (mc_log_enabled(MC_LOG_API)) {
        va_start(args, format);
        vsnprintf(arguments, sizeof(arguments), format, args);
        va_end(args);
        mc_debug("%s(%s)", name, arguments);
    }
    mc_thread()->call_start = mc_profile_now();
}

static void __attribute__((noinline, cold))
call_done(const char *name, uint64_t start, mcError_t error, const char *text)
{
    uint64_t ns = mc_profile_now() - start;

    if (mc_profiling() && !text) {
        mc_profile_api(name, start, error);
    }
    if (mc_log_enabled(MC_LOG_API)) {
        mc_log(MC_LOG_API, "%d %s(%s) = %s, %llu.%llu us", (int)gettid(), name,
               arguments, text ? text : mc_error_name(error),
               (unsigned long long)(ns / 1000),
               (unsigned long long)(ns % 1000 / 100));
    }
}

void mc_api_done(const char *name, mcError_t error, const char *text)
{
    McThread *thread = mc_thread();
    uint64_t start = thread->call_start;

    if (__builtin_expect(start != 0, 0)) {
        thread->call_start = 0;
        call_done(name, start, error, text);
    }
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
    mc_api_done(name, error, NULL);
    if (error != mcSuccess) {
        /* Not ready is an answer. */
        if (error != mcErrorNotReady) {
            mc_thread()->last_error = error;
            mc_error("%s: %s (%s)", name, mc_error_name(error),
                     mc_error_string(error));
            mc_check_api(name, error);
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
    mcError_t error = mc_api_stream_itself(handle, stream);

    return error == mcSuccess && (*stream)->null
               ? mc_capture_legacy((*stream)->ctx, true)
               : error;
}

mcError_t mc_api_stream_itself(mcStream_t handle, McStream **stream)
{
    McContext *ctx = NULL;
    mcError_t error;

    if (handle == NULL && mc_thread()->per_thread) {
        handle = mcStreamPerThread;
    }
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
