/* SPDX-License-Identifier: MIT */
#include "launch_attribute.h"

#include <string.h>

#include "base/log.h"
#include "core/stream/capture.h"
#include "core/stream/stream_attribute.h"

#define ATTRIBUTES_MAX 64

static mcError_t read_one(const mcLaunchAttribute *a, McLaunchHow *how)
{
    switch ((int)a->id) {
    case mcLaunchAttributeIgnore:
        return mcSuccess;
    case mcLaunchAttributeAccessPolicyWindow:
        return mc_window_ok(&a->val.accessPolicyWindow) ? mcSuccess
                                                        : mcErrorInvalidValue;
    case mcLaunchAttributeCooperative:
        if ((unsigned)a->val.cooperative > 1) {
            return mcErrorInvalidValue;
        }
        how->flags = a->val.cooperative ? MXGPU_PKT_COOPERATIVE : 0;
        return mcSuccess;
    case mcLaunchAttributeClusterDimension:
        /* A block by itself is one. */
        if (a->val.clusterDim.x == 1 && a->val.clusterDim.y == 1 &&
            a->val.clusterDim.z == 1) {
            return mcSuccess;
        }
        break;
    case mcLaunchAttributePriority:
        how->has_priority = true;
        how->priority = a->val.priority;
        return mcSuccess;
    }
    mc_error("launch attribute %d: not of this device", (int)a->id);
    return mcErrorInvalidConfiguration;
}

mcError_t mc_launch_how(const mcLaunchAttribute *attributes, unsigned count,
                        McLaunchHow *how)
{
    mcError_t error = mcSuccess;

    *how = (McLaunchHow){0};
    if (count > ATTRIBUTES_MAX || (count && !attributes)) {
        return mcErrorInvalidValue;
    }
    for (unsigned i = 0; i < count && error == mcSuccess; i++) {
        mcLaunchAttribute one;

        memcpy(&one, &attributes[i], sizeof(one));
        error = read_one(&one, how);
    }
    return error;
}

/* Queues have priorities: a stream of that one takes over for the launch, in
 * order with the stream before and behind. */
static mcError_t launch_urgent(McStream *stream, McFunction *f, dim3 grid,
                               dim3 block, size_t shared, void **params,
                               const void *buffer, size_t buffer_size,
                               const McLaunchHow *how)
{
    McContext *ctx = stream->ctx;
    McStream *other;
    uint64_t value;
    mcError_t error = mc_stream_new(ctx, mcStreamNonBlocking, how->priority,
                                    &other);

    if (error != mcSuccess) {
        return error;
    }
    if (other->priority == stream->priority) {
        error = mc_launch(stream, f, grid, block, shared, params, buffer,
                          buffer_size, how->flags);
        mc_stream_drop(other);
        return error;
    }
    error = mc_stream_mark(stream, &value);
    if (error == mcSuccess) {
        error = mc_stream_wait_queue(other, ctx, stream->queue, value);
    }
    if (error == mcSuccess) {
        error = mc_launch(other, f, grid, block, shared, params, buffer,
                          buffer_size, how->flags);
    }
    if (error == mcSuccess) {
        error = mc_stream_wait_queue(stream, ctx, other->queue,
                                     atomic_load(&other->last));
    }
    mc_stream_drop(other);
    return error;
}

mcError_t mc_launch_as(McStream *stream, McFunction *f, dim3 grid, dim3 block,
                       size_t shared, void **params, const void *buffer,
                       size_t buffer_size, const McLaunchHow *how)
{
    if (mc_capturing(stream)) {
        return mc_launch_capture(stream, f, grid, block, shared, params,
                                 buffer, buffer_size, how->flags,
                                 how->has_priority ? &how->priority : NULL);
    }
    if (how->has_priority && how->priority != stream->priority) {
        return launch_urgent(stream, f, grid, block, shared, params, buffer,
                             buffer_size, how);
    }
    return mc_launch(stream, f, grid, block, shared, params, buffer,
                     buffer_size, how->flags);
}
