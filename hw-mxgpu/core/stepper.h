/* SPDX-License-Identifier: MIT */
/*
 * Drivers of steppable units. A unit is work that is done in bounded steps:
 * by a thread of its own, or, in deterministic mode, by whoever calls
 * mxgpu_stepper_try(). Either way a unit can be held between two steps.
 */
#ifndef MXGPU_CORE_STEPPER_H
#define MXGPU_CORE_STEPPER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/host.h"

#define MXGPU_NEVER UINT64_MAX

typedef struct MxgpuStepper MxgpuStepper;

/*
 * Does about "budget" of work. Returns whether there is more to do at once;
 * otherwise the unit sleeps until it is woken or the clock reaches *deadline,
 * which is MXGPU_NEVER on entry.
 */
typedef bool MxgpuStep(void *opaque, unsigned index, unsigned budget,
                           uint64_t *deadline);

/* What a unit is asked to do between two steps, held or not. */
typedef void MxgpuService(void *opaque);

struct MxgpuStepper {
    const MxgpuHostOps *ops;
    void *host;
    MxgpuStep *step;
    void *opaque;
    unsigned index;
    unsigned budget;  /* of a step of the thread */
    unsigned spin_ns; /* how long its thread may look for work, see stepper.c */
    bool spin;        /* the last pause was shorter than that */
    unsigned long_after; /* so many steps without a pause the thread is one whose
                          * slices are long, see stepper.c; 0: never */

    /* What a thread does for others between two steps of its own, see make_room(). */
    MxgpuStepper *helps; /* the thread does steps of that unit, too; NULL: none */
    unsigned turn_seen;  /* ... in which that unit was, when last looked at */
    const _Atomic unsigned *alerts; /* counts wake-ups of threads that this one
                          * gives way to; NULL: it makes no room */
    unsigned alerts_seen;
    uint64_t next_nap; /* not before, by the system's clock */

    MxgpuService *service; /* may be NULL */
    _Atomic bool asked;    /* ... for it */

    _Atomic bool work;
    _Atomic bool pauses; /* its thread: it sleeps, or looks for work */
    _Atomic bool called; /* it is to come itself */
    pthread_mutex_t lock; /* a leaf: nothing is called while it is held */
    pthread_cond_t wake;
    pthread_cond_t parked;
    uint64_t deadline;
    unsigned hold;
    _Atomic bool held; /* hold != 0, for a step that looks */
    bool running;
    unsigned turn; /* counts steps */
    bool serving;
    bool behind; /* its thread waits for the end of a step that another one does */
    uint64_t sleeps_until; /* by the host's clock, while its thread sleeps */
    bool quit;
    bool has_thread;
    pthread_t thread;
    pthread_t runner; /* valid while running */
};

void mxgpu_stepper_init(MxgpuStepper *s, const MxgpuHostOps *ops, void *host,
                     MxgpuStep *step, void *opaque, unsigned index);
/* false when the system has no more threads. */
bool mxgpu_stepper_start(MxgpuStepper *s);
/* Stops the thread after its step and waits for it. The unit may still be
 * woken, to no effect, until it is destroyed. */
void mxgpu_stepper_stop(MxgpuStepper *s);
void mxgpu_stepper_destroy(MxgpuStepper *s);

/* There may be work. May be called under the device lock. */
void mxgpu_stepper_wake(MxgpuStepper *s);
/* The same; there is more than a thread that helps should do. */
void mxgpu_stepper_call(MxgpuStepper *s);

/* There is work, and it may begin on the caller's thread: a step of it, unless
 * the unit is held or in a step; what is left is for the unit's own thread. */
void mxgpu_stepper_run(MxgpuStepper *s);

/* Whether the unit was woken and its own thread has not begun a step; a step of it on
 * the caller's thread, if that is still so. */
bool mxgpu_stepper_stands(const MxgpuStepper *s);
void mxgpu_stepper_help(MxgpuStepper *s);
/* Whether it stands, nobody has called its thread, and that is not between two steps. */
bool mxgpu_stepper_sleeps(const MxgpuStepper *s);

/* Calls service(opaque) soon, on the unit's thread and between two steps. May
 * be called under the device lock. */
void mxgpu_stepper_ask(MxgpuStepper *s);

/* Stops the unit after its step; nests. Only _wait_ blocks; it returns at once
 * to the unit's own thread, which is at a boundary of its own making. */
void mxgpu_stepper_hold(MxgpuStepper *s);
void mxgpu_stepper_wait_held(MxgpuStepper *s);
void mxgpu_stepper_release(MxgpuStepper *s);

/* One step on the caller's thread, if the unit has work and is not held.
 * Returns whether it has more; lowers *deadline to the unit's. */
bool mxgpu_stepper_try(MxgpuStepper *s, unsigned budget, uint64_t *deadline);
bool mxgpu_stepper_runnable(MxgpuStepper *s);

#endif
