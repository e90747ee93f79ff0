/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "overflow.h"
#include "poll.h"
#include "wait.h"

struct McHostThread {
    McQueue *queue;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    McHostOp *first, **last;
    bool feed; /* the overflow is not empty */
    bool stop;
};

static void run_op(McHostThread *host, McHostOp *op)
{
    mcError_t error = mc_queue_wait(host->queue, op->value, true);
    McThread *self = mc_thread();

    if (error == mcSuccess) {
        error = atomic_load(&host->queue->ctx->error);
    }
    if (error == mcSuccess || op->on_error) {
        self->in_callback = op->user;
        op->call(op->opaque, error);
        self->in_callback = false;
    }
    __atomic_store_n(host->queue->called, op->number, __ATOMIC_RELEASE);
    free(op);
}

/* The longest sleep between two looks at the overflow. Packets raise interrupts
 * that end a sleep earlier, but those of a device that is gone never come. */
#define FEED_PAUSE_NS 4000000ull

/* Moves packets from the overflow to the ring until none is left, or there is a
 * host function to run, or the thread has to end. Called with the thread's lock
 * held, which is dropped meanwhile. */
static void feed(McHostThread *host)
{
    McQueue *queue = host->queue;
    McContext *ctx = queue->ctx;

    while (!host->first && !host->stop) {
        uint32_t seen = ctx->ops->irq_count(queue->kq);

        pthread_mutex_unlock(&host->lock);
        mc_queue_poll(ctx);
        pthread_mutex_lock(&ctx->submit);
        bool done = mc_overflow_feed(queue) ||
                    atomic_load(&ctx->error) != mcSuccess;
        if (done) {
            /* Whoever fills it again holds the submit lock. */
            pthread_mutex_lock(&host->lock);
            host->feed = false;
            pthread_mutex_unlock(&ctx->submit);
            return;
        }
        pthread_mutex_unlock(&ctx->submit);
        int err = ctx->ops->irq_wait(queue->kq, seen, FEED_PAUSE_NS);
        if (err && err != -ETIMEDOUT) {
            mc_context_lost(ctx);
        }
        pthread_mutex_lock(&host->lock);
    }
}

static void *host_main(void *opaque)
{
    McHostThread *host = opaque;

    pthread_mutex_lock(&host->lock);
    for (;;) {
        while (!host->first && !host->stop) {
            if (host->feed) {
                feed(host);
            } else {
                pthread_cond_wait(&host->wake, &host->lock);
            }
        }
        McHostOp *op = host->first;
        if (!op) {
            break;
        }
        host->first = op->next;
        if (!host->first) {
            host->last = &host->first;
        }
        pthread_mutex_unlock(&host->lock);
        run_op(host, op);
        pthread_mutex_lock(&host->lock);
    }
    pthread_mutex_unlock(&host->lock);
    return NULL;
}

McHostThread *mc_host_thread(McQueue *queue)
{
    if (queue->host) {
        return queue->host;
    }
    McHostThread *host = calloc(1, sizeof(*host));
    if (!host) {
        return NULL;
    }
    host->queue = queue;
    host->last = &host->first;
    pthread_mutex_init(&host->lock, NULL);
    pthread_cond_init(&host->wake, NULL);
    if (pthread_create(&host->thread, NULL, host_main, host) != 0) {
        pthread_cond_destroy(&host->wake);
        pthread_mutex_destroy(&host->lock);
        free(host);
        return NULL;
    }
    queue->host = host;
    return host;
}

void mc_host_thread_add(McHostThread *host, McHostOp *op)
{
    pthread_mutex_lock(&host->lock);
    *host->last = op;
    host->last = &op->next;
    pthread_cond_signal(&host->wake);
    pthread_mutex_unlock(&host->lock);
}

bool mc_host_thread_feeds(McQueue *queue)
{
    McHostThread *host = mc_host_thread(queue);

    if (!host) {
        return false;
    }
    pthread_mutex_lock(&host->lock);
    if (!host->feed) {
        host->feed = true;
        pthread_cond_signal(&host->wake);
    }
    pthread_mutex_unlock(&host->lock);
    return true;
}

/* False when it is still inside a function after that time, or is the caller:
 * exit() may be called in a function. */
static bool join_within(pthread_t thread, unsigned limit_ms)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += limit_ms / 1000;
    until.tv_nsec += limit_ms % 1000 * 1000000l;
    if (until.tv_nsec >= 1000000000l) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000l;
    }
    return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

bool mc_host_thread_stop(McQueue *queue, unsigned limit_ms)
{
    McHostThread *host = queue->host;

    if (!host) {
        return true;
    }
    pthread_mutex_lock(&host->lock);
    host->stop = true;
    pthread_cond_signal(&host->wake);
    pthread_mutex_unlock(&host->lock);
    if (!limit_ms) {
        pthread_join(host->thread, NULL);
    } else if (!join_within(host->thread, limit_ms)) {
        return false;
    }
    pthread_cond_destroy(&host->wake);
    pthread_mutex_destroy(&host->lock);
    free(host);
    queue->host = NULL;
    return true;
}
