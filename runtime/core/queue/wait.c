/* SPDX-License-Identifier: MIT */
#include "wait.h"

#include <errno.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "notice.h"
#include "poll.h"

/* A sleeper looks again this often: errors of other queues and a context that
 * goes away do not raise this queue's interrupt. */
#define SLEEP_MIN_NS 1000000ull
#define SLEEP_MAX_NS 4000000ull
/* And one that spins looks so often. */
#define LOOK_NS 1000000ull
/* It yields so often: who does that while others want the processor is behind them
 * for a slice or two of the scheduler, milliseconds; but the simulator may be among
 * these. */
#define YIELD_NS 50000ull

void mc_wait_init(McContext *ctx)
{
    atomic_init(&ctx->spin_ns, MC_SPIN_MIN_NS);
    ctx->yield_ns = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? YIELD_NS : 0;
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

/* Before a thread sleeps: adds a packet that raises the queue's interrupt,
 * behind all it waits for. Not when the ring is full: some of its packets do
 * anyway. */
static void submit_wake(McQueue *queue)
{
    McContext *ctx = queue->ctx;
    union mxgpu_packet packet = {.header = {.type = MXGPU_PKT_NOP}};

    pthread_mutex_lock(&ctx->submit);
    if (!queue->overflow.count &&
        queue->head - mc_queue_word(queue) < MC_QUEUE_PACKETS) {
        uint64_t value = mc_queue_complete(queue, &packet, MXGPU_PKT_IRQ);

        mc_queue_place(queue, value - 1, &packet, queue->stage_head);
        queue->head = value;
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

static void spin_adapt(McContext *ctx, uint64_t waited)
{
    unsigned ns = atomic_load_explicit(&ctx->spin_ns, memory_order_relaxed);

    atomic_store_explicit(&ctx->spin_ns, mc_wait_spin_next(ns, waited),
                          memory_order_relaxed);
}

static void help(McContext *ctx)
{
    if (ctx->ops->help) {
        ctx->ops->help(ctx->kmd);
    }
}

/* False: not yet done, the waiter should sleep. */
static bool spin(Wait *w, unsigned schedule)
{
    uint64_t limit = atomic_load_explicit(&w->queue->ctx->spin_ns,
                                          memory_order_relaxed);
    /* A turn of one that yields may take as long as others like. */
    unsigned turns = schedule == mcDeviceScheduleYield ? 4 : 64;
    uint64_t start = 0, looked = 0, yielded = 0;

    for (unsigned i = 1; !wait_done(w); i++) {
        if (mc_queue_stopped(w->queue)) {
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
        help(w->queue->ctx);
        uint64_t now = now_ns();

        if (start == 0) {
            start = looked = yielded = now;
        }
        if (schedule != mcDeviceScheduleSpin &&
            now - yielded >= w->queue->ctx->yield_ns) {
            sched_yield();
            yielded = now;
        }
        if (schedule != mcDeviceScheduleSpin &&
            schedule != mcDeviceScheduleYield && now - start > limit) {
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

/* At first, and asleep if that takes long. */
static void wait_awake(Wait *w, unsigned schedule)
{
    uint64_t start = now_ns();

    if (!spin(w, schedule)) {
        wait_asleep(w);
        spin_adapt(w->queue->ctx, now_ns() - start);
    }
}

static mcError_t queue_wait(McContext *waiter, McQueue *queue, uint64_t value,
                            unsigned schedule)
{
    if (schedule == mcDeviceScheduleAuto) {
        schedule = atomic_load_explicit(&queue->ctx->schedule,
                                        memory_order_relaxed) &
                   mcDeviceScheduleMask;
    }
    Wait w = {.waiter = waiter, .queue = queue, .value = value};

    if (!wait_done(&w)) {
        if (schedule == mcDeviceScheduleBlockingSync) {
            wait_asleep(&w);
        } else {
            wait_awake(&w, schedule);
        }
    }
    if (queue->observed) {
        pthread_mutex_lock(&queue->ctx->submit);
        mc_observe_collect(queue);
        pthread_mutex_unlock(&queue->ctx->submit);
    }
    return w.error;
}

mcError_t mc_queue_wait(McQueue *queue, uint64_t value, bool blocking)
{
    return queue_wait(queue->ctx, queue, value,
                      blocking ? mcDeviceScheduleBlockingSync
                               : mcDeviceScheduleAuto);
}

mcError_t mc_queue_wait_as(McQueue *queue, uint64_t value, unsigned schedule)
{
    return queue_wait(queue->ctx, queue, value, schedule);
}

mcError_t mc_queue_wait_for(McContext *waiter, McQueue *queue, uint64_t value)
{
    return queue_wait(waiter, queue, value, mcDeviceScheduleBlockingSync);
}

mcError_t mc_queue_query(McQueue *queue, uint64_t value)
{
    if (mc_queue_reached(queue, value)) {
        return mcSuccess;
    }
    return device_there(queue->ctx) ? mcErrorNotReady
                                    : atomic_load(&queue->ctx->error);
}
