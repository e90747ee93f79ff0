/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "smoke.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/va.h"

unsigned smoke_count, smoke_failed;

bool smoke_ok(bool ok, const char *format, ...)
{
    va_list args;

    printf("%sok %u - ", ok ? "" : "not ", ++smoke_count);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    smoke_failed += !ok;
    return ok;
}

void smoke_note(const char *format, ...)
{
    va_list args;

    printf("# ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

uint64_t smoke_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- memory ------------------------------------------------------------------ */

static bool map_at(Smoke *s, SmokeMem *m)
{
    int ret = s->ops->map(m->bo, m->va, 0, m->size, SMOKE_RW);

    if (ret) {
        smoke_note("map: %s", strerror(-ret));
    }
    return ret == 0;
}

bool smoke_alloc(Smoke *s, uint64_t size, SmokeMem *m)
{
    int ret;

    memset(m, 0, sizeof(*m));
    m->size = size;
    m->va = (uintptr_t)mc_va_reserve(size, KMD_LARGE_PAGE_SIZE);
    ret = s->ops->alloc(s->dev, size, &m->bo);
    if (!m->va || ret) {
        smoke_note("alloc: %s", strerror(-ret));
        return false;
    }
    m->cpu = s->ops->cpu(m->bo);
    return map_at(s, m);
}

bool smoke_pin(Smoke *s, uint64_t size, SmokeMem *m)
{
    int ret;

    memset(m, 0, sizeof(*m));
    m->size = size;
    m->pinned = true;
    m->cpu = mmap(NULL, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m->cpu == MAP_FAILED) {
        return false;
    }
    m->va = (uintptr_t)m->cpu;
    ret = s->ops->pin(s->dev, m->cpu, size, &m->bo);
    if (ret) {
        smoke_note("pin: %s", strerror(-ret));
        return false;
    }
    return map_at(s, m);
}

void smoke_free(Smoke *s, SmokeMem *m)
{
    int ret = s->ops->unmap(s->dev, m->va, m->size);

    if (ret) {
        smoke_note("unmap: %s", strerror(-ret));
    }
    s->ops->free(m->bo);
    if (m->pinned) {
        munmap(m->cpu, m->size);
    } else {
        mc_va_release((void *)(uintptr_t)m->va, m->size);
    }
}

/* ---- queues ------------------------------------------------------------------- */

bool smoke_queue(Smoke *s, unsigned priority, unsigned packets, SmokeQueue *q)
{
    int ret;

    memset(q, 0, sizeof(*q));
    q->s = s;
    if (!smoke_pin(s, KMD_PAGE_SIZE, &q->signals)) {
        return false;
    }
    ret = s->ops->queue_create(s->dev, priority, packets, &q->q);
    if (ret) {
        smoke_note("queue_create: %s", strerror(-ret));
    }
    return ret == 0;
}

void smoke_queue_end(SmokeQueue *q)
{
    q->s->ops->queue_destroy(q->q);
    smoke_free(q->s, &q->signals);
}

static uint64_t read_index(SmokeQueue *q)
{
    return __atomic_load_n(&q->q->ctl->read_index, __ATOMIC_ACQUIRE);
}

static bool stopped(SmokeQueue *q)
{
    return __atomic_load_n(&q->q->ctl->state, __ATOMIC_ACQUIRE) !=
           MXGPU_QUEUE_ACTIVE;
}

void smoke_put(SmokeQueue *q, const union mxgpu_packet *p)
{
    uint64_t deadline = smoke_now() + SMOKE_TIMEOUT_NS;

    while (q->write - read_index(q) >= q->q->packets) {
        if (stopped(q) || smoke_now() > deadline) {
            smoke_note("no room in the ring");
            return;
        }
    }
    memcpy((void *)&q->q->ring[q->write & (q->q->packets - 1)], p,
           sizeof(*p));
    q->write++;
    q->s->ops->queue_ring(q->q, q->write);
}

uint64_t smoke_submit(SmokeQueue *q, union mxgpu_packet *p)
{
    p->header.flags |= MXGPU_PKT_IRQ;
    p->words[12] = (uint32_t)q->signals.va;
    p->words[13] = (uint32_t)(q->signals.va >> 32);
    p->words[14] = (uint32_t)++q->next;
    p->words[15] = (uint32_t)(q->next >> 32);
    smoke_put(q, p);
    return q->next;
}

/* Waits for interrupts until one of two things happened. */
static int wait_for(SmokeQueue *q, uint64_t value, bool error)
{
    const uint64_t *signal = (const void *)q->signals.cpu;
    const KmdOps *ops = q->s->ops;
    uint64_t deadline = smoke_now() + SMOKE_TIMEOUT_NS;

    for (;;) {
        uint32_t seen = ops->irq_count(q->q);
        uint64_t now = smoke_now();
        int ret;

        if (!error && __atomic_load_n(signal, __ATOMIC_ACQUIRE) >= value) {
            return 0;
        }
        if (stopped(q)) {
            return error ? 0 : -EIO;
        }
        if (now >= deadline) {
            return -ETIMEDOUT;
        }
        ret = ops->irq_wait(q->q, seen, deadline - now);
        if (ret == -ENODEV) {
            return ret;
        }
    }
}

int smoke_wait(SmokeQueue *q, uint64_t value)
{
    return wait_for(q, value, false);
}

int smoke_wait_error(SmokeQueue *q)
{
    return wait_for(q, 0, true);
}

int smoke_run(SmokeQueue *q, union mxgpu_packet *p)
{
    return smoke_wait(q, smoke_submit(q, p));
}

union mxgpu_packet smoke_copy(uint64_t dst, uint64_t src, uint64_t size)
{
    return (union mxgpu_packet){
        .copy = { .type = MXGPU_PKT_COPY, .src = src, .dst = dst,
                  .size = size },
    };
}
