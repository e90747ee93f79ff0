/* SPDX-License-Identifier: MIT */
#include "core/stream/event.h"

#include "api/api.h"

static mcError_t create(mcEvent_t *out, unsigned flags)
{
    McEvent *event;

    if (!out || flags & ~(unsigned)(mcEventBlockingSync |
                                    mcEventDisableTiming |
                                    mcEventInterprocess)) {
        return mcErrorInvalidValue;
    }
    /* Clocks of several processes do not compare. */
    if (flags & mcEventInterprocess && !(flags & mcEventDisableTiming)) {
        return mcErrorInvalidValue;
    }
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    mcError_t error = mc_api_context(&ctx);
    if (error == mcSuccess) {
        error = mc_event_new(ctx, flags, &event);
    }
    if (error == mcSuccess) {
        *out = (mcEvent_t)event;
    }
    return error;
}

MC_EXPORT mcError_t mcEventCreate(mcEvent_t *event)
{
    API_ENTER("%p", (void *)event);
    API_RETURN(create(event, mcEventDefault));
}

MC_EXPORT mcError_t mcEventCreateWithFlags(mcEvent_t *event,
                                           unsigned int flags)
{
    API_ENTER("%p, 0x%x", (void *)event, flags);
    API_RETURN(create(event, flags));
}

MC_EXPORT mcError_t mcEventRecord(mcEvent_t handle, mcStream_t stream_handle)
{
    API_ENTER("%p, %p", (void *)handle, (void *)stream_handle);
    API_EVENT(event, handle);
    API_STREAM(stream, stream_handle);
    API_RETURN(mc_event_record(event, stream));
}

MC_EXPORT mcError_t mcEventRecordWithFlags(mcEvent_t handle,
                                           mcStream_t stream_handle,
                                           unsigned int flags)
{
    API_ENTER("%p, %p, 0x%x", (void *)handle, (void *)stream_handle, flags);
    API_CHECK(flags == mcEventRecordDefault || flags == mcEventRecordExternal,
              mcErrorInvalidValue);
    API_EVENT(event, handle);
    API_STREAM(stream, stream_handle);
    API_RETURN(flags == mcEventRecordExternal
                   ? mc_event_record_external(event, stream)
                   : mc_event_record(event, stream));
}

MC_EXPORT mcError_t mcEventSynchronize(mcEvent_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_EVENT(event, handle);
    API_RETURN(mc_event_sync(event));
}

MC_EXPORT mcError_t mcEventQuery(mcEvent_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_EVENT(event, handle);
    API_RETURN(mc_event_query(event));
}

MC_EXPORT mcError_t mcEventElapsedTime(float *ms, mcEvent_t start_handle,
                                       mcEvent_t stop_handle)
{
    API_ENTER("%p, %p, %p", (void *)ms, (void *)start_handle,
              (void *)stop_handle);
    API_CHECK(ms, mcErrorInvalidValue);
    API_EVENT(start, start_handle);
    API_EVENT(stop, stop_handle);
    API_RETURN(mc_event_elapsed(ms, start, stop));
}

MC_EXPORT mcError_t mcEventElapsedTimeWithFlags(float *ms,
                                                mcEvent_t start_handle,
                                                mcEvent_t stop_handle,
                                                unsigned int flag)
{
    API_ENTER("%p, %p, %p, 0x%x", (void *)ms, (void *)start_handle,
              (void *)stop_handle, flag);
    API_CHECK(ms, mcErrorInvalidValue);
    API_CHECK(flag == 0, flag == mcEventElapsedTimeInterDevice
                             ? mcErrorNotSupported
                             : mcErrorInvalidValue);
    API_EVENT(start, start_handle);
    API_EVENT(stop, stop_handle);
    API_RETURN(mc_event_elapsed(ms, start, stop));
}

MC_EXPORT mcError_t mcEventDestroy(mcEvent_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_EVENT(event, handle);
    API_CHECK(mc_handle_remove(event), mcErrorInvalidHandle);
    API_RETURN(mcSuccess);
}
