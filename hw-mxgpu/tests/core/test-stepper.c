/* SPDX-License-Identifier: MIT */
/* The threads of units: who does a step, and when a unit sleeps. */
#include <glib.h>
#include <time.h>

#include "core/stepper.h"

#define SPIN_NS  5000000u
#define PAUSE_NS 200000u

typedef struct Unit {
    MxgpuStepper s;
    _Atomic uint64_t due; /* the step sleeps until then; 0: it does not */
    _Atomic unsigned steps, on_time;
} Unit;

static uint64_t clock_ns(void *host)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static const MxgpuHostOps ops = {.clock = clock_ns};

static bool step(void *opaque, unsigned index, unsigned budget,
                 uint64_t *deadline)
{
    Unit *u = opaque;
    uint64_t due = u->due;

    if (due && clock_ns(NULL) >= due) {
        u->due = 0;
        u->on_time++;
    } else if (due) {
        *deadline = due;
    }
    u->steps++;
    return false;
}

static void wait_for(const _Atomic unsigned *count, unsigned value)
{
    while (*count < value) {
        g_usleep(20);
    }
}

/*
 * Another thread does a step while the unit's own looks for work: when the next
 * one is due is what that step has said. Else the unit sleeps for a second each
 * time, and the test is ended by its limit.
 */
static void test_deadline(void)
{
    Unit u = {0};

    mxgpu_stepper_init(&u.s, &ops, NULL, step, &u, 0);
    u.s.spin_ns = SPIN_NS;
    g_assert_true(mxgpu_stepper_start(&u.s));
    for (unsigned i = 1; i <= 200; i++) {
        unsigned steps = u.steps;

        mxgpu_stepper_wake(&u.s); /* it looks for work after that */
        wait_for(&u.steps, steps + 1);
        g_usleep(50);
        u.due = clock_ns(NULL) + PAUSE_NS;
        mxgpu_stepper_run(&u.s);
        wait_for(&u.on_time, i);
    }
    mxgpu_stepper_stop(&u.s);
    mxgpu_stepper_destroy(&u.s);
}

/* Who waits does what the unit's thread, which does not come, was woken for. */
static void test_help(void)
{
    Unit u = {0};

    mxgpu_stepper_init(&u.s, &ops, NULL, step, &u, 0);
    mxgpu_stepper_wake(&u.s);
    mxgpu_stepper_help(&u.s); /* driven by its host */
    g_assert_cmpuint(u.steps, ==, 0);
    u.s.has_thread = true;
    g_assert_true(mxgpu_stepper_stands(&u.s));
    mxgpu_stepper_help(&u.s);
    g_assert_cmpuint(u.steps, ==, 1);
    g_assert_false(mxgpu_stepper_stands(&u.s));
    mxgpu_stepper_help(&u.s);
    g_assert_cmpuint(u.steps, ==, 1);
    mxgpu_stepper_wake(&u.s);
    mxgpu_stepper_hold(&u.s);
    mxgpu_stepper_help(&u.s);
    g_assert_cmpuint(u.steps, ==, 1);
    mxgpu_stepper_release(&u.s);
    mxgpu_stepper_help(&u.s);
    g_assert_cmpuint(u.steps, ==, 2);
    u.s.has_thread = false;
    mxgpu_stepper_destroy(&u.s);
}

/* In a held unit nobody does a step; a deadline that passed meanwhile counts. */
static void test_hold(void)
{
    Unit u = {0};
    unsigned steps;

    mxgpu_stepper_init(&u.s, &ops, NULL, step, &u, 0);
    u.s.spin_ns = PAUSE_NS;
    g_assert_true(mxgpu_stepper_start(&u.s));
    for (unsigned i = 1; i <= 20; i++) {
        u.due = clock_ns(NULL) + PAUSE_NS;
        mxgpu_stepper_wake(&u.s);
        mxgpu_stepper_hold(&u.s);
        mxgpu_stepper_wait_held(&u.s);
        steps = u.steps;
        mxgpu_stepper_wake(&u.s);
        mxgpu_stepper_run(&u.s);
        g_usleep(2 * PAUSE_NS / 1000);
        g_assert_cmpuint(u.steps, ==, steps);
        mxgpu_stepper_release(&u.s);
        wait_for(&u.on_time, i);
    }
    mxgpu_stepper_stop(&u.s);
    mxgpu_stepper_destroy(&u.s);
}

/* Who waits does nothing for a thread that is between two steps, or that was called;
 * it was when it has come. */
static void test_call(void)
{
    Unit u = {0};

    mxgpu_stepper_init(&u.s, &ops, NULL, step, &u, 0);
    u.s.has_thread = true;
    mxgpu_stepper_wake(&u.s);
    g_assert_false(mxgpu_stepper_sleeps(&u.s));
    u.s.pauses = true;
    g_assert_true(mxgpu_stepper_sleeps(&u.s));
    mxgpu_stepper_call(&u.s);
    g_assert_false(mxgpu_stepper_sleeps(&u.s));
    g_assert_true(mxgpu_stepper_stands(&u.s));
    u.s.has_thread = u.s.pauses = u.s.work = u.s.called = false;
    g_assert_true(mxgpu_stepper_start(&u.s));
    for (unsigned i = 1; i <= 100; i++) {
        while (!u.s.pauses) {
            g_usleep(20);
        }
        mxgpu_stepper_call(&u.s);
        wait_for(&u.steps, i);
        while (u.s.called) {
            g_usleep(20);
        }
    }
    mxgpu_stepper_stop(&u.s);
    mxgpu_stepper_destroy(&u.s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stepper/help", test_help);
    g_test_add_func("/stepper/call", test_call);
    g_test_add_func("/stepper/deadline", test_deadline);
    g_test_add_func("/stepper/hold", test_hold);
    return g_test_run();
}
