/* SPDX-License-Identifier: MIT */
/*
 * What every entry point does: API_ENTER traces the call and makes sure the
 * runtime may be used, API_RETURN records the error of the thread. Objects
 * obtained in between are given back at the end of the scope.
 */
#ifndef MC_API_API_H
#define MC_API_API_H

#include "base/log.h"
#include "core/context/context.h"
#include "core/context/runtime.h"
#include "core/exec/params.h"
#include "core/module/module.h"
#include "core/program/launch.h"
#include "core/stream/capture.h"
#include "core/stream/event.h"
#include "core/stream/stream.h"
#include "mcr/mc_runtime_api.h"
#include "process/contexts.h"
#include "profile/profile.h"

#define MC_EXPORT __attribute__((visibility("default")))

/* A call is made, of which the log and the profile may want to know. The
 * arguments are a format and values. */
#define API_NOTE(...)                                                          \
    do {                                                                       \
        if (mc_profiling() || mc_log_enabled(MC_LOG_API)) {                    \
            mc_api_note(__func__, __VA_ARGS__);                                \
        }                                                                      \
    } while (0)

/* The same, and it needs the devices. */
#define API_ENTER(...)                                                         \
    do {                                                                       \
        API_NOTE(__VA_ARGS__);                                                 \
        API_TRY(mc_api_gate());                                                \
    } while (0)

#define API_RETURN(error) return mc_api_leave(__func__, (error))

#define API_TRY(expression)                                                    \
    do {                                                                       \
        mcError_t error_ = (expression);                                       \
        if (error_ != mcSuccess) {                                             \
            API_RETURN(error_);                                                \
        }                                                                      \
    } while (0)

#define API_CHECK(condition, error)                                            \
    do {                                                                       \
        if (!(condition)) {                                                    \
            API_RETURN(error);                                                 \
        }                                                                      \
    } while (0)

/* A device the user may see. */
#define API_DEVICE(device)                                                     \
    API_CHECK(mc_api_is_device(device), mcErrorInvalidDevice)

/* The context of the current device, in good state. */
#define API_CONTEXT(ctx)                                                       \
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;        \
    API_TRY(mc_api_context(&ctx))

/* The stream a handle names, its device in good state, to be used: while a
 * stream captures, the legacy default stream may not be. */
#define API_STREAM(stream, handle)                                             \
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;       \
    API_TRY(mc_api_stream((handle), &stream))

/* The same, to be looked at only. */
#define API_STREAM_ITSELF(stream, handle)                                      \
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;       \
    API_TRY(mc_api_stream_itself((handle), &stream))

/* A call that captures do not see: their modes may forbid it. */
#define API_UNSAFE() API_TRY(mc_capture_unsafe())

/* Another object, whatever the state of its device. */
#define API_OBJECT(kind, object, handle, type, error)                          \
    kind *object __attribute__((cleanup(mc_api_put_object))) =                 \
        (handle) ? mc_handle_get((handle), (type)) : NULL;                     \
    API_CHECK(object, error)

#define API_EVENT(event, handle)                                               \
    API_OBJECT(McEvent, event, handle, MC_HANDLE_EVENT, mcErrorInvalidHandle)
#define API_MODULE(module, handle)                                             \
    API_OBJECT(McModule, module, handle, MC_HANDLE_MODULE,                     \
               mcErrorInvalidResourceHandle)
#define API_FUNCTION(function, handle)                                         \
    API_OBJECT(McFunction, function, handle, MC_HANDLE_FUNCTION,               \
               mcErrorInvalidResourceHandle)

void mc_api_note(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
mcError_t mc_api_gate(void);
/* It returns the error: notes it as the thread's. */
mcError_t mc_api_leave(const char *name, mcError_t error);
/* It returns an error that is not its own, or text instead of one. */
void mc_api_done(const char *name, mcError_t error, const char *text);
mcError_t mc_api_context(McContext **ctx);
mcError_t mc_api_stream(mcStream_t handle, McStream **stream);
mcError_t mc_api_stream_itself(mcStream_t handle, McStream **stream);
bool mc_api_is_device(int device);
/* For queries: opened, but perhaps failed. NULL error: not a device. */
mcError_t mc_api_device(int device, McContext **ctx);

void mc_api_put_context(McContext **ctx);
void mc_api_put_stream(McStream **stream);
void mc_api_put_object(void *object);

#endif
