/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <stdlib.h>

#include "base/log.h"
#include "capture.h"
#include "core/context/runtime.h"
#include "core/queue/poll.h"
#include "core/queue/queues.h"
#include "core/queue/wait.h"
#include "submit.h"

static atomic_ullong stream_ids;

static void stream_destroy(McHandle *handle)
{
    McStream *stream = (McStream *)handle;

    if (mc_capturing(stream)) {
        mc_capture_leave(stream);
    }
    if (stream->queue && !atomic_load(&stream->ctx->dying)) {
        mc_queue_release(stream->queue);
    }
    free(stream);
}

static mcError_t stream_make(McContext *ctx, unsigned flags, int priority,
                             bool null, McStream **out)
{
    McStream *stream = calloc(1, sizeof(*stream));

    if (!stream) {
        return mcErrorMemoryAllocation;
    }
    int lowest = ctx->info.priorities ? (int)ctx->info.priorities - 1 : 0;
    stream->ctx = ctx;
    stream->flags = flags;
    stream->null = null;
    stream->id = atomic_fetch_add(&stream_ids, 1) + 1;
    /* Users count from 0, the default, down to the most urgent. */
    stream->priority = priority > 0 ? 0 : priority < -lowest ? -lowest
                                                             : priority;
    mcError_t error = mc_queue_acquire(ctx, lowest + stream->priority,
                                       &stream->queue);
    if (error != mcSuccess) {
        free(stream);
        return error;
    }
    *out = stream;
    return mcSuccess;
}

mcError_t mc_stream_new(McContext *ctx, unsigned flags, int priority,
                        McStream **out)
{
    mcError_t error = stream_make(ctx, flags, priority, false, out);

    if (error == mcSuccess) {
        mc_handle_add(&(*out)->handle, MC_HANDLE_STREAM, ctx, stream_destroy);
    }
    return error;
}

mcError_t mc_stream_new_internal(McContext *ctx, unsigned flags, bool null,
                                 McStream **out)
{
    return stream_make(ctx, flags, 0, null, out);
}

void mc_stream_free_internal(McStream *stream)
{
    free(stream); /* its queue goes with the context */
}

static mcError_t stream_per_thread(McContext *ctx, McStream **out)
{
    McThread *thread = mc_thread();
    McStream *stream = thread->stream[ctx->device].stream;

    if (stream && thread->stream[ctx->device].serial == ctx->serial) {
        *out = mc_handle_get(stream, MC_HANDLE_STREAM);
        return *out ? mcSuccess : mcErrorContextIsDestroyed;
    }
    mcError_t error = mc_stream_new(ctx, mcStreamDefault, 0, &stream);
    if (error != mcSuccess) {
        return error;
    }
    thread->stream[ctx->device].stream = stream;
    thread->stream[ctx->device].serial = ctx->serial;
    *out = mc_handle_get(stream, MC_HANDLE_STREAM);
    return *out ? mcSuccess : mcErrorContextIsDestroyed;
}

void mc_stream_thread_end(McThread *thread)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        if (thread->stream[i].stream && !mc_runtime_ending()) {
            McContext *ctx = mc_context_peek(i);

            if (ctx && ctx->serial == thread->stream[i].serial) {
                mc_stream_drop(thread->stream[i].stream);
            }
            if (ctx) {
                mc_context_put(ctx);
            }
        }
        thread->stream[i].stream = NULL;
    }
}

mcError_t mc_stream_get(McContext *ctx, mcStream_t handle, McStream **out)
{
    if (handle == NULL || handle == mcStreamLegacy) {
        mc_context_hold(ctx);
        *out = ctx->null_stream;
        return mcSuccess;
    }
    if (handle == mcStreamPerThread) {
        return stream_per_thread(ctx, out);
    }
    *out = mc_handle_get(handle, MC_HANDLE_STREAM);
    return *out ? mcSuccess : mcErrorInvalidResourceHandle;
}

void mc_stream_put(McStream *stream)
{
    if (stream->null) {
        mc_context_put(stream->ctx);
    } else {
        mc_handle_put(stream);
    }
}

void mc_stream_drop(McStream *stream)
{
    McStream *held = mc_handle_get(stream, MC_HANDLE_STREAM);

    if (held) {
        mc_handle_remove(held);
        mc_handle_put(held);
    }
}

/* ---- completion ---- */

/* The last value of a queue that synchronising with the legacy default stream
 * waits for: its own packets, and those of streams that are ordered with it. */
static uint64_t legacy_target(McQueue *queue)
{
    uint64_t value = queue->blocking_last;

    return value > queue->null_last ? value : queue->null_last;
}

typedef uint64_t (*QueueTarget)(McQueue *queue);

static uint64_t all_target(McQueue *queue)
{
    return queue->head;
}

/* Waits until each queue's word has reached its target, or asks whether it has
 * (query). No queue is removed meanwhile: the caller holds the context. */
static mcError_t queues_wait(McContext *ctx, QueueTarget target,
                             unsigned schedule, bool query)
{
    mcError_t error = mcSuccess;
    McQueue *queue;
    uint64_t *values;
    unsigned count = 0;

    pthread_mutex_lock(&ctx->submit);
    values = malloc((ctx->queue_count + 1) * sizeof(*values));
    for (queue = ctx->queues; queue && values; queue = queue->next) {
        values[count++] = target(queue);
    }
    McQueue *first = ctx->queues;
    pthread_mutex_unlock(&ctx->submit);
    if (!values) {
        return mcErrorMemoryAllocation;
    }
    queue = first;
    for (unsigned i = 0; i < count && error == mcSuccess; i++) {
        if (query) {
            error = mc_queue_query(queue, values[i]);
        } else {
            error = mc_queue_wait_as(queue, values[i], schedule);
        }
        queue = __atomic_load_n(&queue->next, __ATOMIC_ACQUIRE);
    }
    free(values);
    mcError_t sticky = mc_context_check(ctx);
    return sticky != mcSuccess ? sticky : error;
}

mcError_t mc_context_sync(McContext *ctx)
{
    mcError_t error = queues_wait(ctx, all_target, 0, false);

    mc_context_flush(ctx);
    error = mc_context_checked(ctx, error);
    mc_context_synced(ctx, NULL);
    return error;
}

mcError_t mc_context_query(McContext *ctx)
{
    return queues_wait(ctx, all_target, 0, true);
}

mcError_t mc_stream_query(McStream *stream)
{
    if (stream->null) {
        return queues_wait(stream->ctx, legacy_target, 0, true);
    }
    mcError_t error = mc_context_check(stream->ctx);
    if (error != mcSuccess) {
        return error;
    }
    return mc_queue_query(stream->queue, atomic_load(&stream->last));
}

mcError_t mc_stream_sync(McStream *stream)
{
    unsigned schedule = atomic_load_explicit(&stream->schedule,
                                             memory_order_relaxed);
    mcError_t error =
        stream->null
            ? queues_wait(stream->ctx, legacy_target, schedule, false)
            : mc_queue_wait_as(stream->queue, atomic_load(&stream->last),
                               schedule);
    mcError_t sticky = mc_context_check(stream->ctx);

    mc_context_flush(stream->ctx);
    error = mc_context_checked(stream->ctx,
                               sticky != mcSuccess ? sticky : error);
    mc_context_synced(stream->ctx, stream->null ? NULL : stream->queue);
    return error;
}

/* ---- host functions ---- */

/* Two packets: the first raises the queue's interrupt when everything before it
 * is complete, the second waits until the queue's host thread has counted so
 * many functions that have returned. */
mcError_t mc_stream_host_call(McStream *stream, McHostCall call, void *opaque,
                              bool on_error, bool user)
{
    McSubmit submit;
    McHostOp *op = malloc(sizeof(*op));

    if (!op) {
        return mcErrorMemoryAllocation;
    }
    mcError_t error = mc_submit_begin(stream, 2, 0, &submit);
    if (error != mcSuccess) {
        free(op);
        return error;
    }
    McHostThread *host = mc_host_thread(submit.queue);
    union mxgpu_packet signal = {.header = {.type = MXGPU_PKT_NOP}};
    uint64_t value = mc_submit_push(&submit, &signal, MXGPU_PKT_IRQ);
    if (host) {
        *op = (McHostOp){
            .value = value,
            .number = ++submit.queue->calls,
            .call = call,
            .opaque = opaque,
            .on_error = on_error,
            .user = user,
        };
        union mxgpu_packet wait = {
            .wait = {
                .type = MXGPU_PKT_WAIT,
                .size = 8,
                .cond = MXGPU_WAIT_GEQ,
                .addr = (uintptr_t)submit.queue->called,
                .value = submit.queue->calls,
            },
        };
        mc_submit_push(&submit, &wait, 0);
        mc_host_thread_add(host, op);
    }
    mc_submit_end(&submit);
    if (!host) {
        free(op);
        mc_error("no thread for host functions");
        return mcErrorOperatingSystem;
    }
    return mcSuccess;
}

/* ---- waiting for other streams ---- */

/*
 * A stream of ctx waits for a value of another context's queue. That context is
 * not held while the wait is in the stream: it could not be closed before work
 * of this one has run. serial tells whether it is still the same one; when it
 * has been closed, its work is over and so is the wait.
 */
typedef struct RemoteWait {
    McContext *ctx; /* whose stream waits */
    int device;
    uint64_t serial; /* of the other context */
    McQueue *queue;
    uint64_t value;
} RemoteWait;

static void remote_wait(void *opaque, mcError_t status)
{
    RemoteWait *wait = opaque;
    McContext *other = mc_context_peek(wait->device);

    if (other) {
        if (status == mcSuccess && other->serial == wait->serial) {
            mc_queue_wait_for(wait->ctx, wait->queue, wait->value);
        }
        mc_context_put(other);
    }
    free(wait);
}

static void note_wait(McStream *stream, McContext *other, McQueue *queue,
                      uint64_t value)
{
    pthread_mutex_lock(&stream->ctx->submit);
    mc_queue_note_wait(stream->queue, queue, other->serial, value);
    pthread_mutex_unlock(&stream->ctx->submit);
}

mcError_t mc_stream_mark(McStream *stream, uint64_t *value)
{
    union mxgpu_packet packet = {.header = {.type = MXGPU_PKT_NOP}};
    McSubmit submit;
    mcError_t error = mc_submit_begin(stream, 1, 0, &submit);

    if (error == mcSuccess) {
        *value = mc_submit_push(&submit, &packet, 0);
        mc_submit_end(&submit);
    }
    return error;
}

mcError_t mc_stream_wait_queue(McStream *stream, McContext *other,
                               McQueue *queue, uint64_t value)
{
    if (queue == stream->queue) {
        return mcSuccess;
    }
    if (mc_queue_reached(queue, value)) {
        note_wait(stream, other, queue, value);
        return mcSuccess;
    }
    if (other != stream->ctx) {
        /* Devices do not see each other's words: the host passes it on. */
        RemoteWait *wait = malloc(sizeof(*wait));
        if (!wait) {
            return mcErrorMemoryAllocation;
        }
        *wait = (RemoteWait){stream->ctx, other->device, other->serial, queue,
                             value};
        mcError_t error = mc_stream_host_call(stream, remote_wait, wait, true,
                                              false);
        if (error != mcSuccess) {
            free(wait);
        } else {
            note_wait(stream, other, queue, value);
        }
        return error;
    }
    McSubmit submit;
    mcError_t error = mc_submit_begin(stream, 1, 0, &submit);
    if (error != mcSuccess) {
        return error;
    }
    union mxgpu_packet packet = {
        .wait = {
            .type = MXGPU_PKT_WAIT,
            .size = 8,
            .cond = MXGPU_WAIT_GEQ,
            .addr = (uintptr_t)queue->word,
            .value = value,
        },
    };
    mc_submit_push(&submit, &packet, 0);
    mc_queue_note_wait(submit.queue, queue, other->serial, value);
    mc_submit_end(&submit);
    return mcSuccess;
}
