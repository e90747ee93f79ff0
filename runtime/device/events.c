/* SPDX-License-Identifier: MIT */
/*
 * Events in device code. A grid can begin behind one other grid, the last one
 * of its stream, and not behind an event's as well. So where a program has
 * events in device code, the streams of a block are one: what the block
 * launches runs in the order of the launches, in which every event that a
 * launch could wait for comes before it. That this file is linked says so.
 */
#include "launch.h"

#include <stddef.h>

enum { INVALID_RESOURCE_HANDLE = 400 };

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
