/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "error.h"
#include "image/source.h"
#include "module.h"
#include "notice.h"
#include "overflow.h"
#include "profile/profile.h"
#include "stream.h"

#define WORD_SIZE   KMD_PAGE_SIZE
#define CALLED_WORD 8u /* a cache line on */
#define SHARED_SIZE (WORD_SIZE + MC_STAGE_SIZE)
#define SLOT(index) ((index) & (MC_QUEUE_PACKETS - 1))

/* How long a waiter spins before it sleeps. */
#define SPIN_NS 30000
/* A sleeper looks again this often: errors of other queues and a context that
 * goes away do not raise this queue's interrupt. */
#define SLEEP_MIN_NS 1000000ull
#define SLEEP_MAX_NS 4000000ull
/* And one that spins looks so often. */
#define LOOK_NS 1000000ull

/* ---- creation ---- */

/* Nothing of it runs any more afterwards. */
static void queue_stop(McQueue *queue)
{
    mc_host_thread_stop(queue, 0);
    if (queue->kq) {
        mc_profile_collect(queue);
        queue->ctx->ops->queue_destroy(queue->kq);
        queue->kq = NULL;
    }
}

static void queue_free(McQueue *queue)
{
    queue_stop(queue);
    mc_profile_queue_stop(queue);
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
    int err = mc_pinned_new(ctx, SHARED_SIZE, &queue->shared);
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
    mc_profile_queue_start(queue);
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
    int err = queue_new(ctx, priority, &queue);
    pthread_mutex_lock(&ctx->submit);
    if (!err) {
        McQueue **tail = &ctx->queues; /* the default stream's stays first */
        while (*tail) {
            tail = &(*tail)->next;
        }
        /* queues_wait() walks the list it has seen without the lock. */
        __atomic_store_n(tail, queue, __ATOMIC_RELEASE);
        ctx->queue_count++;
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
    /* Host threads look at all queues; queues wait for each other's words. */
    mc_queue_stop_functions(ctx, 0);
    for (McQueue *queue = ctx->queues; queue; queue = queue->next) {
        queue_stop(queue);
    }
    while (ctx->queues) {
        McQueue *queue = ctx->queues;

        ctx->queues = queue->next;
        queue_free(queue);
    }
    ctx->queue_count = 0;
}

/* ---- errors ---- */

void mc_queue_kernel_name(McQueue *queue, uint64_t index, char *text,
                          size_t size)
{
    uint64_t desc = queue->kq->ring[SLOT(index)].dispatch.kernel;

    if (!mc_module_kernel_name(desc, text, size)) {
        mc_source_name(queue->label[SLOT(index)], text, size);
    }
}

/* The record, then the source line, of a kernel that failed. */
static void report_kernel(McQueue *queue, mcError_t error,
                          const struct mxgpu_queue_error *record,
                          const char *text)
{
    char name[256], where[768];

    mc_queue_kernel_name(queue, record->packet_index, name, sizeof(name));
    mc_notice_failed(name, error);
    if (!mc_log_enabled(MC_LOG_ERROR)) {
        return;
    }
    mc_source_describe(record->fault_pc, where, sizeof(where));
    mc_error("device %d: kernel %s: %s: %s%s", queue->ctx->device, name,
             mc_error_name(error), text, where);
}

static void queue_report(McQueue *queue)
{
    struct mxgpu_queue_error record;
    char text[256];

    mc_profile_collect(queue);
    memcpy(&record, (const void *)&queue->kq->ctl->error, sizeof(record));
    mcError_t error = mc_error_from_record(
        &record, queue->block[SLOT(record.packet_index)], text, sizeof(text));
    if (record.packet_type == MXGPU_PKT_DISPATCH) {
        report_kernel(queue, error, &record, text);
    } else {
        mc_error("device %d: %s: %s", queue->ctx->device,
                 mc_error_name(error), text);
    }
    mc_context_fail(queue->ctx, error);
}

static inline bool queue_stopped(const McQueue *queue)
{
    return __atomic_load_n(&queue->kq->ctl->state, __ATOMIC_ACQUIRE) ==
           MXGPU_QUEUE_ERROR;
}

void mc_queue_poll(McContext *ctx)
{
    pthread_mutex_lock(&ctx->submit);
    for (McQueue *queue = ctx->queues; queue; queue = queue->next) {
        if (queue_stopped(queue) && !queue->reported) {
            queue->reported = true;
            queue_report(queue);
        }
        mc_overflow_feed(queue);
    }
    pthread_mutex_unlock(&ctx->submit);
}

/* ---- submission ---- */

static unsigned stage_free(const McQueue *queue)
{
    uint64_t word = mc_queue_word(queue);
    uint64_t tail = word ? queue->stage_mark[SLOT(word - 1)] : 0;

    return MC_STAGE_SIZE - (queue->stage_head - tail);
}

/* Bytes taken when size contiguous ones are needed now. */
static unsigned stage_cost(const McQueue *queue, unsigned size)
{
    unsigned offset = queue->stage_head % MC_STAGE_SIZE;

    return offset + size > MC_STAGE_SIZE ? MC_STAGE_SIZE - offset + size
                                         : size;
}

/* One slot is kept for the packet that wakes a sleeper. */
bool mc_queue_room(const McQueue *queue, unsigned packets, unsigned stage)
{
    uint64_t in_ring = queue->head - queue->overflow.count -
                       mc_queue_word(queue);

    return in_ring + packets < MC_QUEUE_PACKETS &&
           (!stage || stage_cost(queue, stage) <= stage_free(queue));
}

uint8_t *mc_queue_stage(McQueue *queue, unsigned size)
{
    queue->stage_head += stage_cost(queue, size);
    return (uint8_t *)queue->shared.memory + WORD_SIZE +
           (queue->stage_head - size) % MC_STAGE_SIZE;
}

char *mc_queue_label(McQueue *queue, uint64_t index)
{
    return queue->label[SLOT(index)];
}

void mc_queue_ring(McQueue *queue)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    queue->ctx->ops->queue_ring(queue->kq,
                                queue->head - queue->overflow.count);
}

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

mcError_t mc_submit_begin(McStream *stream, unsigned packets,
                          unsigned stage_bytes, McSubmit *submit)
{
    McQueue *queue = stream->queue;
    McContext *ctx = stream->ctx;

    stage_bytes = (stage_bytes + 63) & ~63u;
    submit->queue = queue;
    submit->stream = stream;
    submit->spilled = false;
    submit->stage = NULL;
    for (;;) {
        pthread_mutex_lock(&ctx->submit);
        if (queue_stopped(queue) && !queue->reported) {
            queue->reported = true;
            queue_report(queue);
        }
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
        if (mc_overflow_reserve(submit, need, packets, stage_bytes)) {
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
    mc_profile_collect(queue);
    submit->mark = queue->stage_head;
    order(submit, true);
    if (stage_bytes) {
        submit->stage = mc_queue_stage(queue, stage_bytes);
    }
    return mcSuccess;
}

/* Bytes of a packet as the ring wants them, whatever its type. */
static void ring_write(McQueue *queue, uint64_t index,
                       const union mxgpu_packet *packet)
{
    union mxgpu_packet *slot =
        (union mxgpu_packet *)&queue->kq->ring[SLOT(index)];

    memcpy(slot, packet, sizeof(*slot));
}

void mc_queue_place(McQueue *queue, uint64_t index,
                    const union mxgpu_packet *packet, uint64_t mark)
{
    if (packet->header.type == MXGPU_PKT_DISPATCH) {
        memcpy(queue->block[SLOT(index)], packet->dispatch.block,
               sizeof(queue->block[0]));
    }
    if (packet->header.flags & MXGPU_PKT_PROFILE) {
        mc_profile_expect(queue, index + 1);
    }
    ring_write(queue, index, packet);
    queue->stage_mark[SLOT(index)] = mark;
}

uint64_t mc_submit_push(McSubmit *submit, union mxgpu_packet *packet,
                        unsigned flags)
{
    McQueue *queue = submit->queue;
    uint64_t value = queue->head + 1;

    packet->header.flags = MXGPU_PKT_BARRIER | flags;
    /* All types have the signal at the same place. */
    packet->copy.signal_addr = (uintptr_t)queue->word;
    packet->copy.signal_value = value;
    /* Whoever waits for room in the ring is woken now and then. */
    if (value % (MC_QUEUE_PACKETS / 4) == 0) {
        packet->header.flags |= MXGPU_PKT_IRQ;
    }
    if (mc_profiling()) {
        mc_profile_packet(submit, packet, value);
    }
    if (submit->spilled) {
        mc_overflow_push(submit, packet);
    } else {
        mc_queue_place(queue, value - 1, packet, submit->mark);
    }
    queue->head = value;
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
        queue->stage_mark[SLOT(queue->head - 1)] = queue->stage_head;
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

/* ---- waiting ---- */

bool mc_queues_empty(McContext *ctx)
{
    bool empty = true;

    pthread_mutex_lock(&ctx->submit);
    for (McQueue *queue = ctx->queues; queue && empty; queue = queue->next) {
        empty = mc_queue_reached(queue, queue->head);
    }
    pthread_mutex_unlock(&ctx->submit);
    return empty;
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("" ::: "memory");
#endif
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* A packet behind what a sleeper waits for, to raise the interrupt. When the
 * ring is full, its packets have interrupts of their own. */
static void submit_wake(McQueue *queue)
{
    McContext *ctx = queue->ctx;
    McStream stream = {.ctx = ctx, .queue = queue};
    McSubmit submit = {.queue = queue, .stream = &stream};
    union mxgpu_packet packet = {.header = {.type = MXGPU_PKT_NOP}};

    pthread_mutex_lock(&ctx->submit);
    submit.mark = queue->stage_head;
    if (!queue->overflow.count &&
        queue->head - mc_queue_word(queue) < MC_QUEUE_PACKETS) {
        mc_submit_push(&submit, &packet, MXGPU_PKT_IRQ);
        mc_queue_ring(queue);
    }
    pthread_mutex_unlock(&ctx->submit);
}

/* Whether the device is there. It is looked at itself now and then, however
 * often this is asked: one that was reset raises no interrupt. */
static bool device_there(McContext *ctx)
{
    if (ctx->ops->alive(ctx->kmd, true)) {
        return true;
    }
    mc_context_lost(ctx);
    return false;
}

typedef struct Wait {
    McContext *waiter; /* on whose behalf */
    McQueue *queue;
    uint64_t value;
    mcError_t error; /* once it is over */
    McNoticeWait notice;
} Wait;

static bool context_gone(const McContext *ctx, mcError_t *error)
{
    *error = atomic_load_explicit(&ctx->error, memory_order_relaxed);
    if (*error == mcSuccess &&
        atomic_load_explicit(&ctx->dying, memory_order_relaxed)) {
        *error = mcErrorContextIsDestroyed;
    }
    return *error != mcSuccess;
}

static bool wait_done(Wait *w)
{
    if (mc_queue_reached(w->queue, w->value)) {
        w->error = mcSuccess;
        return true;
    }
    return context_gone(w->queue->ctx, &w->error) ||
           (w->waiter != w->queue->ctx && context_gone(w->waiter, &w->error));
}

/* As long as spinning goes on. */
static void spin_look(Wait *w, uint64_t now, uint64_t *looked)
{
    if (now - *looked >= LOOK_NS) {
        *looked = now;
        mc_queue_poll(w->queue->ctx);
        device_there(w->queue->ctx);
        mc_notice_waiting(&w->notice, w->queue);
    }
}

static bool spin(Wait *w, unsigned schedule)
{
    /* A turn of one that yields may take as long as others like. */
    unsigned turns = schedule == mcDeviceScheduleYield ? 4 : 64;
    uint64_t start = 0, looked = 0;

    for (unsigned i = 1; !wait_done(w); i++) {
        if (queue_stopped(w->queue)) {
            mc_queue_poll(w->queue->ctx);
            continue;
        }
        if (schedule == mcDeviceScheduleYield) {
            sched_yield();
        } else {
            cpu_relax();
        }
        if (i % turns) {
            continue;
        }
        uint64_t now = now_ns();

        if (schedule != mcDeviceScheduleSpin) {
            sched_yield(); /* the simulator may want this processor */
        }
        if (start == 0) {
            start = looked = now;
        } else if (schedule != mcDeviceScheduleSpin &&
                   schedule != mcDeviceScheduleYield &&
                   now - start > SPIN_NS) {
            return false;
        }
        spin_look(w, now, &looked);
    }
    return true;
}

static void wait_asleep(Wait *w)
{
    McQueue *queue = w->queue;
    McContext *ctx = queue->ctx;
    uint64_t sleep = SLEEP_MIN_NS;
    uint32_t seen = ctx->ops->irq_count(queue->kq);

    submit_wake(queue);
    while (!wait_done(w)) {
        int err = ctx->ops->irq_wait(queue->kq, seen, sleep);

        if (err == 0) {
            seen = ctx->ops->irq_count(queue->kq);
        } else if (err == -ETIMEDOUT) {
            sleep = sleep * 2 > SLEEP_MAX_NS ? SLEEP_MAX_NS : sleep * 2;
        }
        device_there(ctx);
        mc_queue_poll(ctx);
        mc_notice_waiting(&w->notice, queue);
    }
}

static mcError_t queue_wait(McContext *waiter, McQueue *queue, uint64_t value,
                            bool blocking)
{
    unsigned schedule = atomic_load_explicit(&queue->ctx->schedule,
                                             memory_order_relaxed) &
                        mcDeviceScheduleMask;
    Wait w = {.waiter = waiter, .queue = queue, .value = value};

    if (!wait_done(&w) &&
        (blocking || schedule == mcDeviceScheduleBlockingSync ||
         !spin(&w, schedule))) {
        wait_asleep(&w);
    }
    if (mc_profiling()) {
        pthread_mutex_lock(&queue->ctx->submit);
        mc_profile_collect(queue);
        pthread_mutex_unlock(&queue->ctx->submit);
    }
    return w.error;
}

mcError_t mc_queue_wait(McQueue *queue, uint64_t value, bool blocking)
{
    return queue_wait(queue->ctx, queue, value, blocking);
}

mcError_t mc_queue_wait_for(McContext *waiter, McQueue *queue, uint64_t value)
{
    return queue_wait(waiter, queue, value, true);
}

mcError_t mc_queue_query(McQueue *queue, uint64_t value)
{
    if (mc_queue_reached(queue, value)) {
        return mcSuccess;
    }
    return device_there(queue->ctx) ? mcErrorNotReady
                                    : atomic_load(&queue->ctx->error);
}
