/* SPDX-License-Identifier: MIT */
/*
 * Events in device code, and waiting there. A grid can begin behind one other
 * grid, the last one of its stream, and not behind an event's as well. So where
 * a program has events in device code, the streams of a block are one: what the
 * block launches runs in the order of the launches, in which every event that a
 * launch could wait for comes before it, and behind the last of which a block
 * that waits has waited for all. That this file is linked says so.
 */
#include "launch.h"

#include <stddef.h>

enum {
    SYNC_DEPTH_EXCEEDED = 68,
    INVALID_RESOURCE_HANDLE = 400,
    LAUNCH_FAILURE = 719,
};

const int __mx_one_stream = 1;

/* Whether both may be given to mcEventRecord() and mcStreamWaitEvent(). */
int __mx_event_order(const struct mc_launch_event *event,
                     const struct mc_launch_stream *stream)
{
    return !event || event->magic != MC_LAUNCH_EVENT_MAGIC ||
                   (stream && stream->magic != MC_LAUNCH_STREAM_MAGIC)
               ? INVALID_RESOURCE_HANDLE
               : 0;
}

/*
 * Waits for what the block launched so far. The firmware lets units go on with
 * other grids meanwhile: those of the host's packets never take all dispatch
 * slots, and are held when a child finds no room; others that "waiting" tells
 * of leave their slot for that.
 */
int __mx_launch_wait(const uint64_t *null_stream)
{
    struct mxgpu_launch *own = mx_launch_own();
    uint64_t last = __atomic_load_n(null_stream, __ATOMIC_ACQUIRE);
    const struct mxgpu_launch_record *child;
    int error = 0;

    if (!last) {
        return 0;
    }
    if (own->depth >= __mx_launch->sync_depth) {
        return SYNC_DEPTH_EXCEEDED;
    }
    __atomic_fetch_add(&own->waiting, 1, __ATOMIC_RELAXED);
    child = mx_launch_record(__mx_launch, (uint32_t)(last >> 32) - 1);
    while (__atomic_load_n(&child->launch.sequence, __ATOMIC_ACQUIRE) ==
           (uint32_t)last) {
        if (__atomic_load_n(&own->state, __ATOMIC_RELAXED) ==
            MXGPU_LAUNCH_FAILED) {
            error = LAUNCH_FAILURE;
            break;
        }
        /* Other lanes and warps have their turns. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
    __atomic_fetch_sub(&own->waiting, 1, __ATOMIC_RELAXED);
    return error;
}
