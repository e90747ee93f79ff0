/* SPDX-License-Identifier: MIT */
#ifndef MC_CORE_STREAM_H
#define MC_CORE_STREAM_H

#include "core/queue/host_thread.h"
#include "core/queue/queue.h"

mcError_t mc_stream_new(McContext *ctx, unsigned flags, int priority,
                        McStream **out);
/* One that is not in the handle table: the default streams. */
mcError_t mc_stream_new_internal(McContext *ctx, unsigned flags, bool null,
                                 McStream **out);
void mc_stream_free_internal(McStream *stream);

/* The stream a handle means for a thread whose current context is ctx, held:
 * give it back with mc_stream_put. */
mcError_t mc_stream_get(McContext *ctx, mcStream_t handle, McStream **out);
void mc_stream_put(McStream *stream);
/* Makes its handle invalid; the caller holds the context. */
void mc_stream_drop(McStream *stream);

mcError_t mc_stream_query(McStream *stream);
mcError_t mc_stream_sync(McStream *stream);
/* All queues of the context, the work submitted so far. */
mcError_t mc_context_sync(McContext *ctx);
mcError_t mc_context_query(McContext *ctx);

/* A point in the stream, behind its work so far and what that waits for: value
 * of its queue. */
mcError_t mc_stream_mark(McStream *stream, uint64_t *value);
/* Later work of the stream waits for value of a queue of any context. */
mcError_t mc_stream_wait_queue(McStream *stream, McContext *other,
                               McQueue *queue, uint64_t value);

/*
 * A host function, run by a thread of the queue in stream order; later work of
 * the stream waits for it. on_error: call it too when the device failed; user:
 * it must not call the runtime.
 */
mcError_t mc_stream_host_call(McStream *stream, McHostCall call, void *opaque,
                              bool on_error, bool user);

/* The thread ends: its streams are not wanted any more. */
void mc_stream_thread_end(McThread *thread);

#endif
