/* SPDX-License-Identifier: MIT */
#include "queues.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/context/error.h"
#include "core/context/observer.h"
#include "host_thread.h"
#include "overflow.h"

#define CALLED_WORD 8u /* a cache line on */

/* Nothing of it runs any more afterwards. */
static void queue_stop(McQueue *queue)
{
    mc_host_thread_stop(queue, 0);
    if (queue->kq) {
        mc_observe_collect(queue);
        queue->ctx->ops->queue_destroy(queue->kq);
        queue->kq = NULL;
    }
}

static void queue_free(McQueue *queue)
{
    queue_stop(queue);
    mc_observe_queue(queue, false);
    mc_overflow_free(queue);
    mc_pinned_free(queue->ctx, &queue->shared);
    free(queue);
}

static int queue_new(McContext *ctx, unsigned priority, McQueue **out)
{
    McQueue *queue = calloc(1, sizeof(*queue));

    if (!queue) {
        return -ENOMEM;
    }
    queue->ctx = ctx;
    queue->priority = priority;
    queue->overflow.last = &queue->overflow.first;
    int err = mc_pinned_new(ctx, MC_QUEUE_SHARED, &queue->shared);
    if (err) {
        goto fail;
    }
    queue->word = queue->shared.memory;
    queue->called = queue->word + CALLED_WORD;
    err = ctx->ops->queue_create(ctx->kmd, priority, MC_QUEUE_PACKETS,
                                 &queue->kq);
    if (err) {
        goto fail;
    }
    mc_observe_queue(queue, true);
    *out = queue;
    return 0;
fail:
    queue_free(queue);
    return err;
}

/* The best of the existing ones: same priority, then fewest streams. */
static McQueue *queue_choose(McContext *ctx, unsigned priority, bool idle)
{
    McQueue *best = NULL;

    for (McQueue *q = ctx->queues; q; q = q->next) {
        if ((idle && (q->streams || q->priority != priority)) ||
            (ctx->null_stream && q == ctx->null_stream->queue)) {
            continue;
        }
        if (!best ||
            (q->priority == priority) > (best->priority == priority) ||
            ((q->priority == priority) == (best->priority == priority) &&
             q->streams < best->streams)) {
            best = q;
        }
    }
    return best;
}

mcError_t mc_queue_acquire(McContext *ctx, unsigned priority, McQueue **out)
{
    pthread_mutex_lock(&ctx->submit);
    McQueue *queue = queue_choose(ctx, priority, true);
    if (queue || ctx->queues_exhausted) {
        queue = queue ? queue : queue_choose(ctx, priority, false);
        if (!queue) {
            queue = ctx->queues; /* only the default stream's is there */
        }
        queue->streams++;
        pthread_mutex_unlock(&ctx->submit);
        *out = queue;
        return mcSuccess;
    }
    pthread_mutex_unlock(&ctx->submit);

    /* Slow, and the firmware is asked: not under the lock. */
    bool crowded = false;
    int err = queue_new(ctx, priority, &queue);
    pthread_mutex_lock(&ctx->submit);
    if (!err) {
        McQueue **tail = &ctx->queues; /* the default stream's stays first */
        while (*tail) {
            tail = &(*tail)->next;
        }
        /* queues_wait() walks the list it has seen without the lock. */
        __atomic_store_n(tail, queue, __ATOMIC_RELEASE);
        crowded = ++ctx->queue_count == MXGPU_DISPATCH_SLOTS;
    } else {
        queue = queue_choose(ctx, priority, false);
        if (!queue) {
            queue = ctx->queues;
        }
        if (queue) {
            ctx->queues_exhausted = err == -ENOSPC; /* not a passing lack */
            mc_warn("device %d: no queue left (%s): streams share %u",
                    ctx->device, strerror(-err), ctx->queue_count);
        }
    }
    if (queue) {
        queue->streams++;
    }
    pthread_mutex_unlock(&ctx->submit);
    if (crowded && ctx->services_ops) {
        ctx->services_ops->crowded(ctx);
    }
    *out = queue;
    return queue ? mcSuccess : mc_error_from_kmd(err);
}

void mc_queue_release(McQueue *queue)
{
    pthread_mutex_lock(&queue->ctx->submit);
    queue->streams--;
    pthread_mutex_unlock(&queue->ctx->submit);
}

bool mc_queue_stop_functions(McContext *ctx, unsigned limit_ms)
{
    for (McQueue *queue = ctx->queues; queue; queue = queue->next) {
        if (!mc_host_thread_stop(queue, limit_ms)) {
            return false;
        }
    }
    return true;
}

void mc_queue_free_all(McContext *ctx)
{
    /* Stop everything before anything is freed: threads of queues look at all
     * queues, and WAIT packets of one queue read another one's word. */
    mc_queue_stop_functions(ctx, 0);
    for (McQueue *queue = ctx->queues; queue; queue = queue->next) {
        queue_stop(queue);
    }
    if (ctx->services_ops) {
        ctx->services_ops->stop(ctx);
    }
    while (ctx->queues) {
        McQueue *queue = ctx->queues;

        ctx->queues = queue->next;
        queue_free(queue);
    }
    ctx->queue_count = 0;
}
