/* SPDX-License-Identifier: MIT */
#include "launch_devices.h"

#include "core/stream/capture.h"

static bool same_shape(const McDeviceLaunch *a, const McDeviceLaunch *b)
{
    return a->symbol == b->symbol && a->grid.x == b->grid.x &&
           a->grid.y == b->grid.y && a->grid.z == b->grid.z &&
           a->block.x == b->block.x && a->block.y == b->block.y &&
           a->block.z == b->block.z && a->shared == b->shared;
}

static mcError_t check(const McDeviceLaunch *launches, unsigned count,
                       bool cooperative)
{
    for (unsigned i = 0; i < count; i++) {
        const McDeviceLaunch *l = &launches[i];

        for (unsigned j = 0; j < i; j++) {
            if (launches[j].stream->ctx == l->stream->ctx) {
                return mcErrorInvalidDevice;
            }
        }
        if (cooperative && !same_shape(l, &launches[0])) {
            return mcErrorInvalidValue;
        }
        mcError_t error = mc_capture_none(l->stream);
        if (error != mcSuccess) {
            return error; /* nodes do not wait for each other */
        }
        error = mc_launch_check(
            l->stream, l->function, l->grid, l->block, l->shared, l->params,
            cooperative ? MXGPU_PKT_COOPERATIVE : 0);
        if (error != mcSuccess) {
            return error;
        }
    }
    return mcSuccess;
}

/* Later work of each stream waits for what is in all of them now. */
static mcError_t meet(const McDeviceLaunch *launches, unsigned count)
{
    uint64_t values[MC_MAX_DEVICES];
    mcError_t error = mcSuccess;

    for (unsigned i = 0; i < count && error == mcSuccess; i++) {
        error = mc_stream_mark(launches[i].stream, &values[i]);
    }
    for (unsigned i = 0; i < count * count && error == mcSuccess; i++) {
        McStream *waits = launches[i / count].stream;
        McStream *other = launches[i % count].stream;

        if (waits != other) {
            error = mc_stream_wait_queue(waits, other->ctx, other->queue,
                                         values[i % count]);
        }
    }
    return error;
}

mcError_t mc_launch_devices(McDeviceLaunch *launches, unsigned count,
                            unsigned flags, bool cooperative)
{
    mcError_t error = check(launches, count, cooperative);

    if (error == mcSuccess &&
        !(flags & mcCooperativeLaunchMultiDeviceNoPreSync)) {
        error = meet(launches, count);
    }
    for (unsigned i = 0; i < count && error == mcSuccess; i++) {
        McDeviceLaunch *l = &launches[i];

        error = mc_launch(l->stream, l->function, l->grid, l->block, l->shared,
                          l->params, NULL, 0,
                          cooperative ? MXGPU_PKT_COOPERATIVE : 0);
    }
    if (error == mcSuccess &&
        !(flags & mcCooperativeLaunchMultiDeviceNoPostSync)) {
        error = meet(launches, count);
    }
    return error;
}
