/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RUSAGE_THREAD */
#endif
#include "stepper.h"

#include <sched.h> /* SCHED_OTHER */
#include <time.h>

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* A sleeping thread looks at the host's clock at least this often: the clock
 * of a virtual machine may run at another pace than the system's. */
#define MAX_SLEEP_NS 1000000000ull

void mxgpu_stepper_init(MxgpuStepper *s, const MxgpuHostOps *ops, void *host,
                     MxgpuStep *step, void *opaque, unsigned index)
{
    pthread_condattr_t attr;

    s->ops = ops;
    s->host = host;
    s->step = step;
    s->opaque = opaque;
    s->index = index;
    s->deadline = MXGPU_NEVER;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &attr);
    pthread_condattr_destroy(&attr);
    pthread_cond_init(&s->parked, NULL);
}

/* Runs one step. Called with the lock held; dropped meanwhile. */
static bool stepper_step(MxgpuStepper *s, unsigned budget)
{
    uint64_t deadline = MXGPU_NEVER;
    bool more;

    s->running = true;
    s->turn++;
    s->runner = pthread_self();
    /* Cleared before the step, so that work posted during it is seen. */
    atomic_store(&s->work, false);
    pthread_mutex_unlock(&s->lock);
    more = s->step(s->opaque, s->index, budget, &deadline);
    pthread_mutex_lock(&s->lock);
    if (more) {
        atomic_store(&s->work, true);
    }
    s->deadline = deadline;
    s->running = false;
    if (s->hold) {
        pthread_cond_broadcast(&s->parked);
    }
    return more;
}

/* Another thread has done a step: what is left is for the unit's own, which may
 * sleep for longer than it should now. */
static void stepper_hand_back(MxgpuStepper *s)
{
    if (s->behind || atomic_load(&s->work) || s->deadline < s->sleeps_until) {
        pthread_cond_signal(&s->wake);
    }
}

/*
 * Who has a processor does what the unit's own thread should, if that has not
 * begun: it may be waiting for this processor. Returns whether it may have lost its
 * processor in the middle: it is in the same step as at the last look, or has the
 * lock, which nobody keeps.
 */
static bool stepper_help(MxgpuStepper *s, unsigned *turn_seen)
{
    uint64_t now = s->ops->clock(s->host);
    bool stands = false;

    if (pthread_mutex_trylock(&s->lock)) {
        return true;
    }
    if (s->running) {
        stands = s->turn == *turn_seen;
        *turn_seen = s->turn;
    } else if (!s->hold && !s->serving && !s->quit &&
               (atomic_load(&s->work) || now >= s->deadline)) {
        stepper_step(s, s->budget);
        stepper_hand_back(s);
    }
    pthread_mutex_unlock(&s->lock);
    return stands;
}

static void stepper_sleep(MxgpuStepper *s, uint64_t now)
{
    struct timespec ts;
    uint64_t ns;

    if (atomic_load(&s->asked)) {
        return;
    }
    s->sleeps_until = s->hold ? MXGPU_NEVER : s->deadline;
    if (s->sleeps_until == MXGPU_NEVER) {
        pthread_cond_wait(&s->wake, &s->lock);
        return;
    }
    ns = s->deadline > now ? s->deadline - now : 0;
    if (ns > MAX_SLEEP_NS) {
        ns = MAX_SLEEP_NS;
    }
    clock_gettime(CLOCK_MONOTONIC, &ts);
    ns += (uint64_t)ts.tv_nsec;
    ts.tv_sec += (time_t)(ns / 1000000000ull);
    ts.tv_nsec = (long)(ns % 1000000000ull);
    pthread_cond_timedwait(&s->wake, &s->lock, &ts);
}

static uint64_t host_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Looks for work without the lock. It does not yield: who does that on Linux gives
 * up a whole slice (since 6.18), and finds the processor taken when there is work. */
static void stepper_spin(MxgpuStepper *s, uint64_t end)
{
    pthread_mutex_unlock(&s->lock);
    do {
        for (unsigned i = 0; i < 32; i++) {
            if (atomic_load_explicit(&s->work, memory_order_relaxed) ||
                atomic_load_explicit(&s->held, memory_order_relaxed) ||
                atomic_load_explicit(&s->asked, memory_order_relaxed)) {
                goto out;
            }
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#endif
        }
    } while (host_ns() < end);
out:
    pthread_mutex_lock(&s->lock);
}

/*
 * The unit has nothing to do. Waking a thread takes longer than many requests
 * do: a unit whose last pause was a short one looks for work for that long
 * before it sleeps. The first pause that is longer ends that, so that idle
 * units cost nothing.
 */
static void stepper_pause(MxgpuStepper *s, uint64_t now)
{
    bool may_spin = s->spin_ns && !s->hold &&
                    (s->deadline == MXGPU_NEVER ||
                     s->deadline > now + s->spin_ns);
    unsigned turn = s->turn;
    uint64_t start;

    if (!may_spin) {
        stepper_sleep(s, now);
        return;
    }
    start = host_ns();
    if (s->spin) {
        stepper_spin(s, start + s->spin_ns);
    }
    if (s->running || s->turn != turn) {
        return; /* another thread's step: "now" is not for its deadline */
    }
    if (!s->quit && (s->hold || !atomic_load(&s->work))) {
        stepper_sleep(s, now);
    }
    s->spin = host_ns() - start < s->spin_ns;
}

static void serve(MxgpuStepper *s)
{
    if (atomic_exchange(&s->asked, false) && s->service) {
        s->service(s->opaque);
    }
}

/*
 * A thread that always has work keeps a processor for its slice, and whoever is
 * woken there may wait for the end of it, which is looked for at ticks, of 4 ms: the
 * MCU's thread, the program that waits for a signal. Linux since 6.12 lets threads
 * ask for longer and shorter slices, and one that is woken and has a shorter one
 * runs at once. So a thread has short slices when it is woken, and long ones when
 * it has been at work for a while. Nobody gets more or less time by that, it needs
 * no privilege, and older systems do not mind.
 */
#define SHORT_SLICE_NS 100000 /* the least there is; the default is a millisecond
                               * or some */
#define LONG_SLICE_NS  20000000

#if defined(__linux__) && defined(SYS_sched_setattr)
typedef struct SliceAttr { /* the first version of struct sched_attr */
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
} SliceAttr;

static void ask_for_slices(uint64_t ns)
{
    SliceAttr attr = {.size = sizeof(attr)};

    if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) == 0 &&
        attr.policy == SCHED_OTHER) {
        attr.size = sizeof(attr);
        attr.runtime = ns;
        (void)syscall(SYS_sched_setattr, 0, &attr, 0);
    }
}
#else
static void ask_for_slices(uint64_t ns)
{
}
#endif

/* Called with the lock held. */
static void change_slices(MxgpuStepper *s, uint64_t ns)
{
    pthread_mutex_unlock(&s->lock);
    ask_for_slices(ns);
    pthread_mutex_lock(&s->lock);
}

#define NAP_NS       10000
#define NAP_MOST_NS  80000
#define NAP_EVERY_NS 200000

/*
 * Leaves the processor for a moment. Where setting the timer takes longer than the
 * nap, the thread is awake before it has slept: it tries again, for longer.
 */
static void nap(void)
{
    struct timespec time = {.tv_nsec = NAP_NS};
#if defined(__linux__)
    struct rusage before, after;

    getrusage(RUSAGE_THREAD, &before);
    do {
        nanosleep(&time, NULL);
        getrusage(RUSAGE_THREAD, &after);
        time.tv_nsec *= 2;
    } while (after.ru_nvcsw == before.ru_nvcsw && time.tv_nsec <= NAP_MOST_NS);
#else
    nanosleep(&time, NULL);
#endif
}

/*
 * A thread was woken that may find all processors taken by threads like this one,
 * and wait for a tick although its slice is short, because it has had its share
 * already: a nap, however short, gives it one of them. Naps take a twentieth of the
 * time at most, whatever comes.
 */
static void stepper_give_way(MxgpuStepper *s, bool somebody_stands)
{
    unsigned alerts = atomic_load_explicit(s->alerts, memory_order_relaxed);

    if ((alerts == s->alerts_seen && !somebody_stands) ||
        host_ns() < s->next_nap) {
        return;
    }
    s->alerts_seen = alerts;
    nap();
    s->next_nap = host_ns() + NAP_EVERY_NS;
}

/* Called with the lock held, after a step of a thread that goes on. */
static void make_room(MxgpuStepper *s)
{
    bool stands;

    pthread_mutex_unlock(&s->lock);
    stands = s->helps && stepper_help(s->helps, &s->turn_seen);
    if (s->alerts) {
        stepper_give_way(s, stands);
    }
    pthread_mutex_lock(&s->lock);
}

/* Sleeps end when they should, not 50 us later. */
static void be_punctual(void)
{
#if defined(__linux__)
    (void)prctl(PR_SET_TIMERSLACK, 1);
#endif
}

static void *stepper_main(void *opaque)
{
    MxgpuStepper *s = opaque;
    unsigned steps = 0; /* without a pause, as far as they are counted */

    ask_for_slices(SHORT_SLICE_NS);
    be_punctual();
    pthread_mutex_lock(&s->lock);
    while (!s->quit) {
        uint64_t now = 0;

        if (s->running) { /* by another thread */
            s->behind = true;
            pthread_cond_wait(&s->wake, &s->lock);
            s->behind = false;
            continue;
        }
        if (atomic_load(&s->asked)) {
            s->serving = true;
            pthread_mutex_unlock(&s->lock);
            serve(s);
            pthread_mutex_lock(&s->lock);
            s->serving = false;
            continue;
        }
        if (!s->hold && s->deadline != MXGPU_NEVER &&
            !atomic_load(&s->work)) {
            /* The host's clock is not asked for under a lock. */
            pthread_mutex_unlock(&s->lock);
            now = s->ops->clock(s->host);
            pthread_mutex_lock(&s->lock);
            if (s->running || s->quit) {
                continue;
            }
            if (now >= s->deadline) {
                s->deadline = MXGPU_NEVER;
                atomic_store(&s->work, true);
            }
        }
        if (!s->hold && atomic_load(&s->work)) {
            stepper_step(s, s->budget);
            if (steps < s->long_after && ++steps == s->long_after) {
                change_slices(s, LONG_SLICE_NS);
            }
            if (steps > 1) {
                make_room(s);
            }
        } else if (steps && steps == s->long_after) {
            steps = 0;
            change_slices(s, SHORT_SLICE_NS);
        } else {
            steps = 0;
            atomic_store(&s->called, false);
            atomic_store(&s->pauses, true);
            stepper_pause(s, now);
            atomic_store(&s->pauses, false);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

bool mxgpu_stepper_start(MxgpuStepper *s)
{
    s->has_thread =
        pthread_create(&s->thread, NULL, stepper_main, s) == 0;
    return s->has_thread;
}

void mxgpu_stepper_stop(MxgpuStepper *s)
{
    if (!s->has_thread) {
        return;
    }
    pthread_mutex_lock(&s->lock);
    s->quit = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
}

void mxgpu_stepper_destroy(MxgpuStepper *s)
{
    pthread_cond_destroy(&s->parked);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
}

void mxgpu_stepper_wake(MxgpuStepper *s)
{
    /* Only the caller that sets the flag signals. No wake-up is lost: the
     * thread looks at the flag under the lock before it sleeps, so the signal
     * below either finds it asleep or comes after it has seen the flag. */
    if (atomic_exchange(&s->work, true) || !s->has_thread) {
        return;
    }
    pthread_mutex_lock(&s->lock);
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

void mxgpu_stepper_call(MxgpuStepper *s)
{
    atomic_store(&s->called, true);
    mxgpu_stepper_wake(s);
}

void mxgpu_stepper_run(MxgpuStepper *s)
{
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->work, true);
    if (!s->hold && !s->running) {
        stepper_step(s, s->budget);
    }
    stepper_hand_back(s);
    pthread_mutex_unlock(&s->lock);
}

bool mxgpu_stepper_stands(const MxgpuStepper *s)
{
    return s->has_thread &&
           atomic_load_explicit(&s->work, memory_order_relaxed);
}

void mxgpu_stepper_help(MxgpuStepper *s)
{
    unsigned turn = 0;

    if (mxgpu_stepper_stands(s)) {
        (void)stepper_help(s, &turn);
    }
}

bool mxgpu_stepper_sleeps(const MxgpuStepper *s)
{
    return mxgpu_stepper_stands(s) &&
           atomic_load_explicit(&s->pauses, memory_order_relaxed) &&
           !atomic_load_explicit(&s->called, memory_order_relaxed);
}

void mxgpu_stepper_ask(MxgpuStepper *s)
{
    /* As above: the thread looks at it under the lock before it sleeps. */
    if (atomic_exchange(&s->asked, true) || !s->has_thread) {
        return;
    }
    pthread_mutex_lock(&s->lock);
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

void mxgpu_stepper_hold(MxgpuStepper *s)
{
    pthread_mutex_lock(&s->lock);
    s->hold++;
    atomic_store(&s->held, true);
    pthread_mutex_unlock(&s->lock);
}

void mxgpu_stepper_wait_held(MxgpuStepper *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->running && !pthread_equal(s->runner, pthread_self())) {
        pthread_cond_wait(&s->parked, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

void mxgpu_stepper_release(MxgpuStepper *s)
{
    pthread_mutex_lock(&s->lock);
    s->hold--;
    atomic_store(&s->held, s->hold != 0);
    if (!s->hold) {
        /* A deadline of the unit may have passed meanwhile: let it look. */
        atomic_store(&s->work, true);
        pthread_cond_signal(&s->wake);
    }
    pthread_mutex_unlock(&s->lock);
}

bool mxgpu_stepper_try(MxgpuStepper *s, unsigned budget, uint64_t *deadline)
{
    bool more = false;
    uint64_t now;

    serve(s);
    now = s->ops->clock(s->host);
    pthread_mutex_lock(&s->lock);
    if (!s->hold && !s->running) {
        if (atomic_load(&s->work) || now >= s->deadline) {
            more = stepper_step(s, budget);
        }
        if (s->deadline < *deadline) {
            *deadline = s->deadline;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return more;
}

bool mxgpu_stepper_runnable(MxgpuStepper *s)
{
    return (!atomic_load(&s->held) && atomic_load(&s->work)) ||
           atomic_load(&s->asked);
}
