/* SPDX-License-Identifier: MIT */
#include "stream_attribute.h"

#include <string.h>

static const unsigned schedules[] = {
    [mcSyncPolicyAuto] = mcDeviceScheduleAuto,
    [mcSyncPolicySpin] = mcDeviceScheduleSpin,
    [mcSyncPolicyYield] = mcDeviceScheduleYield,
    [mcSyncPolicyBlockingSync] = mcDeviceScheduleBlockingSync,
};

bool mc_sync_policy_ok(mcSynchronizationPolicy policy)
{
    return policy >= mcSyncPolicyAuto && policy <= mcSyncPolicyBlockingSync;
}

bool mc_window_ok(const mcAccessPolicyWindow *window)
{
    return window->num_bytes <= MC_MAX_WINDOW && window->hitRatio >= 0 &&
           window->hitRatio <= 1 &&
           (unsigned)window->hitProp <= mcAccessPropertyPersisting &&
           (unsigned)window->missProp <= mcAccessPropertyStreaming;
}

static void set_window(McStream *stream, const mcAccessPolicyWindow *window)
{
    pthread_mutex_lock(&stream->ctx->submit);
    stream->window = *window;
    pthread_mutex_unlock(&stream->ctx->submit);
}

static mcAccessPolicyWindow get_window(McStream *stream)
{
    pthread_mutex_lock(&stream->ctx->submit);
    mcAccessPolicyWindow window = stream->window;
    pthread_mutex_unlock(&stream->ctx->submit);
    return window;
}

mcError_t mc_stream_set(McStream *stream, mcStreamAttrID which,
                        const mcStreamAttrValue *value)
{
    switch ((int)which) {
    case mcStreamAttributeAccessPolicyWindow:
        if (!mc_window_ok(&value->accessPolicyWindow)) {
            return mcErrorInvalidValue;
        }
        set_window(stream, &value->accessPolicyWindow);
        return mcSuccess;
    case mcStreamAttributeSynchronizationPolicy:
        if (!mc_sync_policy_ok(value->syncPolicy)) {
            return mcErrorInvalidValue;
        }
        atomic_store(&stream->schedule, schedules[value->syncPolicy]);
        return mcSuccess;
    case mcStreamAttributePriority:
        /* Its queue has it. */
        return value->priority == stream->priority ? mcSuccess
                                                   : mcErrorNotSupported;
    }
    return mcErrorInvalidValue;
}

mcError_t mc_stream_attribute(McStream *stream, mcStreamAttrID which,
                              mcStreamAttrValue *value)
{
    mcStreamAttrValue out;
    unsigned schedule = atomic_load(&stream->schedule);

    memset(&out, 0, sizeof(out));
    switch ((int)which) {
    case mcStreamAttributeAccessPolicyWindow:
        out.accessPolicyWindow = get_window(stream);
        break;
    case mcStreamAttributeSynchronizationPolicy:
        out.syncPolicy = mcSyncPolicyAuto;
        while (schedules[out.syncPolicy] != schedule) {
            out.syncPolicy++;
        }
        break;
    case mcStreamAttributePriority:
        out.priority = stream->priority;
        break;
    default:
        return mcErrorInvalidValue;
    }
    *value = out;
    return mcSuccess;
}

mcError_t mc_stream_copy_attributes(McStream *to, McStream *from)
{
    if (to->ctx != from->ctx) {
        return mcErrorNotSupported;
    }
    mcAccessPolicyWindow window = get_window(from);
    set_window(to, &window);
    atomic_store(&to->schedule, atomic_load(&from->schedule));
    return mcSuccess;
}
