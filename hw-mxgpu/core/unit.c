/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <sched.h>
#include <time.h>

/* A sleeping thread looks at the host's clock at least this often: the clock
 * of a virtual machine may run at another pace than the system's. */
#define MAX_SLEEP_NS 1000000000ull

void mxgpu_unit_init(MxgpuUnit *unit, const MxgpuHostOps *ops, void *host,
                     MxgpuUnitStep *step, void *opaque, unsigned index)
{
    pthread_condattr_t attr;

    unit->ops = ops;
    unit->host = host;
    unit->step = step;
    unit->opaque = opaque;
    unit->index = index;
    unit->deadline = MXGPU_UNIT_NEVER;
    pthread_mutex_init(&unit->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&unit->wake, &attr);
    pthread_condattr_destroy(&attr);
    pthread_cond_init(&unit->parked, NULL);
}

/* Runs one step. Called with the lock held; dropped meanwhile. */
static bool unit_step(MxgpuUnit *unit, unsigned budget)
{
    uint64_t deadline = MXGPU_UNIT_NEVER;
    bool more;

    unit->running = true;
    unit->runner = pthread_self();
    /* Cleared before the step, so that work posted during it is seen. */
    atomic_store(&unit->work, false);
    pthread_mutex_unlock(&unit->lock);
    more = unit->step(unit->opaque, unit->index, budget, &deadline);
    pthread_mutex_lock(&unit->lock);
    if (more) {
        atomic_store(&unit->work, true);
    }
    unit->deadline = deadline;
    unit->running = false;
    if (unit->hold) {
        pthread_cond_broadcast(&unit->parked);
    }
    return more;
}

static void unit_sleep(MxgpuUnit *unit, uint64_t now)
{
    struct timespec ts;
    uint64_t ns;

    if (unit->hold || unit->deadline == MXGPU_UNIT_NEVER) {
        pthread_cond_wait(&unit->wake, &unit->lock);
        return;
    }
    ns = unit->deadline > now ? unit->deadline - now : 0;
    if (ns > MAX_SLEEP_NS) {
        ns = MAX_SLEEP_NS;
    }
    clock_gettime(CLOCK_MONOTONIC, &ts);
    ns += (uint64_t)ts.tv_nsec;
    ts.tv_sec += (time_t)(ns / 1000000000ull);
    ts.tv_nsec = (long)(ns % 1000000000ull);
    pthread_cond_timedwait(&unit->wake, &unit->lock, &ts);
}

static uint64_t host_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Looks for work without the lock, and lets others have the processor. */
static void unit_spin(MxgpuUnit *unit, uint64_t end)
{
    pthread_mutex_unlock(&unit->lock);
    do {
        for (unsigned i = 0; i < 32; i++) {
            if (atomic_load_explicit(&unit->work, memory_order_relaxed) ||
                atomic_load_explicit(&unit->held, memory_order_relaxed)) {
                goto out;
            }
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#endif
        }
        sched_yield();
    } while (host_ns() < end);
out:
    pthread_mutex_lock(&unit->lock);
}

/*
 * Nothing to do. Waking a thread takes longer than many a request: a unit
 * whose last pause was a short one looks for work for that long before it
 * sleeps. The first pause in vain ends that, so that idle units cost nothing.
 */
static void unit_pause(MxgpuUnit *unit, uint64_t now)
{
    bool may_spin = unit->spin_ns && !unit->hold &&
                    (unit->deadline == MXGPU_UNIT_NEVER ||
                     unit->deadline > now + unit->spin_ns);
    uint64_t start;

    if (!may_spin) {
        unit_sleep(unit, now);
        return;
    }
    start = host_ns();
    if (unit->spin) {
        unit_spin(unit, start + unit->spin_ns);
    }
    if (!unit->quit && (unit->hold || !atomic_load(&unit->work))) {
        unit_sleep(unit, now);
    }
    unit->spin = host_ns() - start < unit->spin_ns;
}

static void *unit_main(void *opaque)
{
    MxgpuUnit *unit = opaque;

    pthread_mutex_lock(&unit->lock);
    while (!unit->quit) {
        uint64_t now = 0;

        if (!unit->hold && unit->deadline != MXGPU_UNIT_NEVER &&
            !atomic_load(&unit->work)) {
            /* The host's clock is not asked for under a lock. */
            pthread_mutex_unlock(&unit->lock);
            now = unit->ops->clock(unit->host);
            pthread_mutex_lock(&unit->lock);
            if (now >= unit->deadline) {
                unit->deadline = MXGPU_UNIT_NEVER;
                atomic_store(&unit->work, true);
            }
        }
        if (unit->quit) {
            break;
        }
        if (unit->hold || !atomic_load(&unit->work)) {
            unit_pause(unit, now);
        } else {
            unit_step(unit, unit->budget);
        }
    }
    pthread_mutex_unlock(&unit->lock);
    return NULL;
}

bool mxgpu_unit_start(MxgpuUnit *unit)
{
    unit->has_thread =
        pthread_create(&unit->thread, NULL, unit_main, unit) == 0;
    return unit->has_thread;
}

void mxgpu_unit_stop(MxgpuUnit *unit)
{
    if (!unit->has_thread) {
        return;
    }
    pthread_mutex_lock(&unit->lock);
    unit->quit = true;
    pthread_cond_signal(&unit->wake);
    pthread_mutex_unlock(&unit->lock);
    pthread_join(unit->thread, NULL);
}

void mxgpu_unit_destroy(MxgpuUnit *unit)
{
    pthread_cond_destroy(&unit->parked);
    pthread_cond_destroy(&unit->wake);
    pthread_mutex_destroy(&unit->lock);
}

void mxgpu_unit_wake(MxgpuUnit *unit)
{
    /* Who finds the flag set leaves the signal to the one that set it: the
     * thread takes the flag under the lock before it sleeps. */
    if (atomic_exchange(&unit->work, true) || !unit->has_thread) {
        return;
    }
    pthread_mutex_lock(&unit->lock);
    pthread_cond_signal(&unit->wake);
    pthread_mutex_unlock(&unit->lock);
}

void mxgpu_unit_hold(MxgpuUnit *unit)
{
    pthread_mutex_lock(&unit->lock);
    unit->hold++;
    atomic_store(&unit->held, true);
    pthread_mutex_unlock(&unit->lock);
}

void mxgpu_unit_wait_held(MxgpuUnit *unit)
{
    pthread_mutex_lock(&unit->lock);
    while (unit->running && !pthread_equal(unit->runner, pthread_self())) {
        pthread_cond_wait(&unit->parked, &unit->lock);
    }
    pthread_mutex_unlock(&unit->lock);
}

void mxgpu_unit_release(MxgpuUnit *unit)
{
    pthread_mutex_lock(&unit->lock);
    unit->hold--;
    atomic_store(&unit->held, unit->hold != 0);
    if (!unit->hold) {
        /* A deadline may have passed meanwhile: let the unit look. */
        atomic_store(&unit->work, true);
        pthread_cond_signal(&unit->wake);
    }
    pthread_mutex_unlock(&unit->lock);
}

bool mxgpu_unit_try(MxgpuUnit *unit, unsigned budget, uint64_t *deadline)
{
    bool more = false;
    uint64_t now;

    now = unit->ops->clock(unit->host);
    pthread_mutex_lock(&unit->lock);
    if (!unit->hold && !unit->running) {
        if (atomic_load(&unit->work) || now >= unit->deadline) {
            more = unit_step(unit, budget);
        }
        if (unit->deadline < *deadline) {
            *deadline = unit->deadline;
        }
    }
    pthread_mutex_unlock(&unit->lock);
    return more;
}

bool mxgpu_unit_runnable(MxgpuUnit *unit)
{
    return !atomic_load(&unit->held) && atomic_load(&unit->work);
}
