/* SPDX-License-Identifier: MIT */
#include "submit.h"

#include "capture.h"
#include "core/context/observer.h"
#include "core/queue/host_thread.h"
#include "core/queue/overflow.h"
#include "core/queue/poll.h"
#include "core/queue/wait.h"

static void push_wait(McSubmit *submit, McQueue *other, uint64_t value)
{
    union mxgpu_packet packet = {
        .wait = {
            .type = MXGPU_PKT_WAIT,
            .size = 8,
            .cond = MXGPU_WAIT_GEQ,
            .addr = (uintptr_t)other->word,
            .value = value,
        },
    };

    mc_submit_push(submit, &packet, 0);
    mc_queue_note_wait(submit->queue, other, other->ctx->serial, value);
}

/*
 * Order with the legacy default stream: its work waits for all blocking
 * streams, theirs for it. Pushes the packets, or counts them.
 */
static unsigned order(McSubmit *submit, bool push)
{
    McQueue *queue = submit->queue;
    McContext *ctx = queue->ctx;
    unsigned count = 0;

    if (submit->stream->flags & mcStreamNonBlocking) {
        return 0;
    }
    if (!submit->stream->null) {
        McQueue *null = ctx->null_stream ? ctx->null_stream->queue : NULL;

        if (null && null != queue && null->null_last > queue->null_waited) {
            if (mc_queue_reached(null, null->null_last)) {
                queue->null_waited = null->null_last;
            } else {
                count = 1;
                if (push) {
                    push_wait(submit, null, null->null_last);
                    queue->null_waited = null->null_last;
                }
            }
        }
        return count;
    }
    for (McQueue *q = ctx->queues; q; q = q->next) {
        if (q == queue || q->blocking_last <= q->seen_by_null) {
            continue;
        }
        if (mc_queue_reached(q, q->blocking_last)) {
            q->seen_by_null = q->blocking_last;
            continue;
        }
        count++;
        if (push) {
            push_wait(submit, q, q->blocking_last);
            q->seen_by_null = q->blocking_last;
        }
    }
    return count;
}

/* The overflow has made room; false: there is no thread to empty it. */
static bool feeds(McSubmit *submit)
{
    bool there = mc_host_thread_feeds(submit->queue);

    if (!there) {
        mc_overflow_end(submit);
        submit->stage = NULL;
    }
    return there;
}

mcError_t mc_submit_begin(McStream *stream, unsigned packets,
                          unsigned stage_bytes, McSubmit *submit)
{
    McQueue *queue = stream->queue;
    McContext *ctx = stream->ctx;

    if (mc_capturing(stream)) {
        return mc_capture_refuse(stream); /* nobody made a node of it */
    }
    stage_bytes = (stage_bytes + 63) & ~63u;
    submit->queue = queue;
    submit->stream = stream;
    submit->spilled = false;
    submit->stage = NULL;
    for (;;) {
        pthread_mutex_lock(&ctx->submit);
        mc_queue_look(queue);
        mcError_t error = atomic_load(&ctx->error);
        if (error != mcSuccess) {
            pthread_mutex_unlock(&ctx->submit);
            return error;
        }
        unsigned need = packets + order(submit, false);
        if ((!queue->overflow.count || mc_overflow_feed(queue)) &&
            mc_queue_room(queue, need, stage_bytes)) {
            break;
        }
        if (mc_overflow_reserve(submit, need, packets, stage_bytes) &&
            feeds(submit)) {
            submit->spilled = true;
            order(submit, true);
            mc_overflow_skip(submit, packets);
            return mcSuccess;
        }
        uint64_t wait_for = mc_queue_word(queue) + 1;
        pthread_mutex_unlock(&ctx->submit);
        error = mc_queue_wait(queue, wait_for, false);
        if (error != mcSuccess) {
            return error;
        }
    }
    mc_observe_collect(queue);
    submit->mark = queue->stage_head;
    order(submit, true);
    if (stage_bytes) {
        submit->stage = mc_queue_stage(queue, stage_bytes);
    }
    return mcSuccess;
}

uint64_t mc_submit_push(McSubmit *submit, union mxgpu_packet *packet,
                        unsigned flags)
{
    McQueue *queue = submit->queue;
    uint64_t value = mc_queue_complete(queue, packet, flags);

    mc_observe_packet(submit, packet, value);
    if (submit->spilled) {
        mc_overflow_push(submit, packet);
    } else {
        mc_queue_place(queue, value - 1, packet, submit->mark);
    }
    queue->head = queue->work = value;
    return value;
}

char *mc_submit_label(McSubmit *submit)
{
    return submit->spilled ? submit->reserved->label
                           : mc_queue_label(submit->queue,
                                            submit->queue->head);
}

void mc_submit_end(McSubmit *submit)
{
    McQueue *queue = submit->queue;
    McContext *ctx = queue->ctx;

    if (!submit->spilled) {
        queue->stage_mark[MC_QUEUE_SLOT(queue->head - 1)] = queue->stage_head;
    }
    atomic_store(&submit->stream->last, queue->head);
    if (submit->stream->null) {
        queue->null_last = queue->head;
    } else if (!(submit->stream->flags & mcStreamNonBlocking)) {
        queue->blocking_last = queue->head;
    }
    if (submit->spilled) {
        mc_overflow_end(submit);
        mc_overflow_feed(queue);
    } else {
        mc_queue_ring(queue);
    }
    pthread_mutex_unlock(&ctx->submit);
}

mcError_t mc_submit_point(McStream *stream, bool now, uint64_t *value)
{
    McSubmit submit = {.queue = stream->queue, .stream = stream};
    union mxgpu_packet packet = {.header = {.type = MXGPU_PKT_NOP}};

    if (!now) {
        pthread_mutex_lock(&stream->ctx->submit);
        now = order(&submit, false) != 0;
        *value = atomic_load(&stream->last);
        pthread_mutex_unlock(&stream->ctx->submit);
    }
    if (!now) {
        return mcSuccess;
    }
    mcError_t error = mc_submit_begin(stream, 1, 0, &submit);
    if (error == mcSuccess) {
        *value = mc_submit_push(&submit, &packet, 0);
        mc_submit_end(&submit);
    }
    return error;
}
