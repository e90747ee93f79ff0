/* SPDX-License-Identifier: MIT */
/* Named barriers, cooperative grids and how units take their blocks. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "simt/state.h"
#include "simt_run.h"

static const char *elf;

static SimtRun setup(const char *name, unsigned grid, unsigned block,
                     uint64_t n)
{
    SimtRun r = simt_run_new(elf, name, grid, block);

    r.args[2] = n;
    r.d.shared = r.d.shared_static = 1024;
    return r;
}

/* ---- named barriers */

static void test_produce(void)
{
    SimtRun r = setup("produce", 3, 128, 50);

    simt_run(&r);
    for (unsigned i = 0; i < 384; i++) {
        unsigned t = i % 128;

        g_assert_cmpuint(r.out[i], ==,
                         t < 64 ? 0 : 100 * 51 * 25 + 50 * (127 - t));
    }
    simt_run_free(&r);
}

static void test_lanes(void)
{
    SimtRun r = setup("lanes_meet", 2, 64, 0);

    simt_run(&r);
    for (unsigned i = 0; i < 128; i++) {
        unsigned t = i % 64;

        g_assert_cmpuint(r.out[i], ==, (t ^ 2) + (t & 1 ? 100
                                                  : t & 2 ? 1000 : 0));
    }
    simt_run_free(&r);
}

static void test_arrive_end(void)
{
    SimtRun r = setup("arrive_end", 2, 64, 0);

    simt_run(&r);
    for (unsigned i = 0; i < 128; i++) {
        g_assert_cmpuint(r.out[i], ==, i % 64 < 40 ? 0 : 7);
    }
    simt_run_free(&r);
}

/* However much an instruction does, the unit's driver gets it back soon. */
static void test_open_often(void)
{
    SimtRun r = setup("open_often", 1, 1024, 0);
    MxgpuSimtCounters before, after;

    r.h->done = 0;
    g_assert_cmpint(mxgpu_simt_start(r.h->simt, 0, &r.d), ==, MXGPU_FAULT_NONE);
    for (unsigned n = 0; n < 200; n++) {
        mxgpu_simt_run(r.h->simt, 0, 4096);
    }
    mxgpu_simt_counters(r.h->simt, &before);
    mxgpu_simt_run(r.h->simt, 0, 4096);
    mxgpu_simt_counters(r.h->simt, &after);
    /* each looks at the 16 warps, 64 times */
    g_assert_cmpuint(after.warp_instructions - before.warp_instructions, >, 4);
    g_assert_cmpuint(after.warp_instructions - before.warp_instructions, <, 64);
    mxgpu_simt_abort(r.h->simt, 0);
    mxgpu_simt_run(r.h->simt, 0, 4096);
    g_assert_cmpuint(r.h->done, ==, 1);
    simt_run_free(&r);
}

static void test_wrong(void)
{
    for (unsigned n = 0; n < 9; n++) {
        SimtRun r = setup("wrong", 1, 64, n);
        MxgpuDispatchFault f;
        uint32_t insn;

        r.d.cooperative = n == 8;
        f = simt_host_run(r.h, &r.d);
        g_test_message("case %u", n);
        g_assert_cmpint(f.code, ==, MXGPU_FAULT_BARRIER);
        g_assert_cmphex(f.pc, ==, f.addr);
        memcpy(&insn, simt_host_data(r.h, f.pc), 4);
        g_assert_cmpuint(insn & 0x707f, ==, 0x0b);
        r.d.entry = simt_host_symbol(r.h, "lanes_meet");
        r.d.cooperative = false;
        simt_run(&r); /* nothing is left of it */
        simt_run_free(&r);
    }
}

/* ---- the grid's */

static void check_rounds(SimtRun *r, unsigned threads)
{
    for (unsigned i = 0; i < threads; i++) {
        g_assert_cmpuint(r->out[i], ==, 107);
    }
}

static void test_rounds(void)
{
    static const struct {
        unsigned grid, block, shared, registers;
    } shapes[] = {
        {1, 1, 64, 32},       {1, 1000, 64, 32},  {4, 1024, 64, 32},
        {32, 64, 64, 32},     {7, 100, 1024, 32}, {2, 64, 65536, 32},
        {20, 128, 6500, 100},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(shapes); i++) {
        SimtRun r = setup("rounds", shapes[i].grid, shapes[i].block, 6);

        r.d.shared = r.d.shared_static = shapes[i].shared;
        r.d.registers = shapes[i].registers;
        r.d.cooperative = true;
        simt_run(&r);
        check_rounds(&r, shapes[i].grid * shapes[i].block);
        simt_run(&r);
        simt_run_free(&r);
    }
}

static void test_too_large(void)
{
    static const struct {
        unsigned grid[3], block, shared, registers;
    } shapes[] = {
        {{5, 1, 1}, 1024, 64, 32},   {{33, 1, 1}, 1, 64, 32},
        {{1, 11, 3}, 1, 64, 32},     {{3, 1, 1}, 64, 32769, 32},
        {{21, 1, 1}, 64, 6554, 32},  {{3, 1, 1}, 1024, 64, 65},
        {{1u << 31, 2, 1}, 64, 64, 32},
    };
    SimtRun r = setup("rounds", 1, 1, 1);

    r.d.cooperative = true;
    for (unsigned i = 0; i < G_N_ELEMENTS(shapes); i++) {
        memcpy(r.d.grid, shapes[i].grid, sizeof(r.d.grid));
        r.d.block[0] = shapes[i].block;
        r.d.shared = r.d.shared_static = shapes[i].shared;
        r.d.registers = shapes[i].registers;
        g_assert_cmpint(mxgpu_simt_start(r.h->simt, 0, &r.d), ==,
                        MXGPU_FAULT_CONFIG);
    }
    g_assert_false(mxgpu_simt_has_work(r.h->simt));
    simt_run_free(&r);
}

static void test_leave(void)
{
    SimtRun r = setup("leave", 9, 70, 4);

    r.d.cooperative = true;
    simt_run(&r);
    for (unsigned i = 0; i < 630; i++) {
        unsigned block = i / 70 % 3, t = i % 70 % 5, n = 0;

        while (n < 4 && block != n % 4 && t != n) {
            n++;
        }
        g_assert_cmpuint(r.out[i], ==, n);
    }
    simt_run_free(&r);
}

/* A block that faults, or the driver, ends those that wait, and the units that
 * slept are told. */
static void test_fail(void)
{
    for (unsigned n = 0; n < 4; n++) {
        SimtRun r = setup("fail", 4, 1024, n);
        MxgpuDispatchFault f;

        r.d.cooperative = true;
        f = simt_host_run(r.h, &r.d);
        g_assert_cmpint(f.code, ==, MXGPU_FAULT_BREAKPOINT);
        g_assert_cmpuint(f.block[0], ==, n);
        for (unsigned i = 0; i < 4096; i++) {
            g_assert_cmpuint(r.out[i], ==, 0);
        }
        simt_run_free(&r);
    }
}

static void test_sleep(void)
{
    SimtRun r = setup("rounds", 4, 1024, 2);
    unsigned wakes;

    r.d.cooperative = true;
    r.h->done = 0;
    g_assert_cmpint(mxgpu_simt_start(r.h->simt, 0, &r.d), ==, MXGPU_FAULT_NONE);
    while (mxgpu_simt_run(r.h->simt, 0, 5000)) {
    }
    g_assert_false(mxgpu_simt_run(r.h->simt, 0, 5000)); /* nothing to do */
    g_assert_cmpuint(r.h->simt->cus[0].s.num_waiting, ==, 2);
    wakes = r.h->wakes;
    while (mxgpu_simt_run(r.h->simt, 1, 5000)) {
    }
    g_assert_cmpuint(r.h->wakes, >, wakes); /* the barrier has opened */
    g_assert_true(mxgpu_simt_run(r.h->simt, 0, 100));
    while (mxgpu_simt_run(r.h->simt, 0, 5000)) {
    }
    wakes = r.h->wakes;
    mxgpu_simt_abort(r.h->simt, 0);
    g_assert_cmpuint(r.h->wakes, >, wakes);
    g_assert_cmpuint(r.h->done, ==, 0);
    mxgpu_simt_run(r.h->simt, 0, 5000);
    mxgpu_simt_run(r.h->simt, 1, 5000);
    g_assert_cmpuint(r.h->done, ==, 1);
    g_assert_cmpint(mxgpu_simt_fault(r.h->simt, 0).code, ==,
                    MXGPU_FAULT_ABORTED);
    simt_run(&r);
    check_rounds(&r, 4096);
    /* a reset drops waiting blocks too */
    g_assert_cmpint(mxgpu_simt_start(r.h->simt, 5, &r.d), ==, MXGPU_FAULT_NONE);
    mxgpu_simt_run(r.h->simt, 0, 5000);
    mxgpu_simt_reset(r.h->simt);
    simt_run(&r);
    check_rounds(&r, 4096);
    simt_run_free(&r);
}

/* Two blocks, each of which fills a unit. */
static SimtRun two_blocks(const char *name)
{
    SimtRun r = setup(name, 2, 64, 1);

    r.d.shared = r.d.shared_static = 65536;
    r.d.cooperative = true;
    r.h->done = 0;
    g_assert_cmpint(mxgpu_simt_start(r.h->simt, 0, &r.d), ==, MXGPU_FAULT_NONE);
    return r;
}

static void run_idle(SimtRun *r, unsigned unit)
{
    while (mxgpu_simt_run(r->h->simt, unit, 5000)) {
    }
}

/* The only other block ends: who waits is told, though it is alone. */
static void test_last(void)
{
    SimtRun r = two_blocks("leave");
    unsigned wakes;

    mxgpu_simt_run(r.h->simt, 0, 1); /* takes the one that leaves at once */
    run_idle(&r, 1);
    g_assert_cmpuint(r.h->simt->cus[1].s.num_waiting, ==, 1);
    wakes = r.h->wakes;
    run_idle(&r, 0);
    g_assert_cmpuint(r.h->wakes, >, wakes);
    run_idle(&r, 1);
    g_assert_cmpuint(r.h->done, ==, 1);
    simt_run_free(&r);
}

/* The barrier opens while a block that waits is saved. */
static void test_away(void)
{
    SimtRun r = two_blocks("rounds");

    run_idle(&r, 0);
    mxgpu_simt_hold(r.h->simt, 0, true);
    run_idle(&r, 0);
    g_assert_nonnull(r.h->simt->cus[0].saved);
    mxgpu_simt_hold(r.h->simt, 0, false);
    run_idle(&r, 1);
    run_idle(&r, 0); /* to the end: the second barrier is its own to open */
    g_assert_null(r.h->simt->cus[0].saved);
    g_assert_cmpuint(r.h->simt->cus[0].s.num_blocks, ==, 0);
    run_idle(&r, 1);
    g_assert_cmpuint(r.h->done, ==, 1);
    check_rounds(&r, 128);
    simt_run_free(&r);
}

/*
 * Cooperative grids that each need all of the units, among others that never
 * leave a unit empty: all of them end, in whatever steps the units are driven.
 */
static void test_company(void)
{
    for (unsigned budget = 100; budget < 1000000; budget *= 9) {
        SimtRun r = setup("rounds", 4, 1024, 2);
        uint64_t *args = r.args;
        MxgpuDispatch busy = r.d;
        unsigned started = 0;

        r.d.cooperative = true;
        busy.entry = simt_host_symbol(r.h, "busy");
        busy.grid[0] = 40;
        busy.block[0] = 192;
        r.h->done = 0;
        for (unsigned slot = 0; slot < 8; slot++) {
            MxgpuDispatch d = slot % 2 ? r.d : busy;

            d.args = HOST_DATA_VA + 64 * slot;
            memcpy(args + 8 * slot, args, 24);
            args[8 * slot + 1] = RUN_DATA + 8192 * slot;
            args[8 * slot] = RUN_OUT + 65536 * slot;
            g_assert_cmpint(mxgpu_simt_start(r.h->simt, slot, &d), ==,
                            MXGPU_FAULT_NONE);
            started |= 1u << slot;
        }
        for (unsigned n = 0; r.h->done != started; n++) {
            g_assert_cmpuint(n, <, 10000000 / budget + 500);
            mxgpu_simt_run(r.h->simt, n % RUN_UNITS, budget);
        }
        for (unsigned slot = 1; slot < 8; slot += 2) {
            for (unsigned i = 0; i < 4096; i++) {
                g_assert_cmpuint(r.out[8192 * slot + i], ==, 107);
            }
        }
        g_assert_cmpuint(r.h->simt->gang, ==, 0);
        simt_run_free(&r);
    }
}

/*
 * Blocks of the grid start beside one of another dispatch, whose shared memory
 * is the first of the unit's: what that leaves must do for those that follow.
 */
static void test_gap(void)
{
    SimtRun r = setup("rounds", 4, 64, 2);
    MxgpuDispatch busy = r.d;

    busy.entry = simt_host_symbol(r.h, "busy");
    busy.grid[0] = 2;
    busy.shared = busy.shared_static = 20 << 10;
    r.d.shared = r.d.shared_static = 24 << 10; /* two for each unit */
    r.d.cooperative = true;
    r.h->done = 0;
    g_assert_cmpint(mxgpu_simt_start(r.h->simt, 1, &busy), ==,
                    MXGPU_FAULT_NONE);
    for (unsigned i = 0; i < RUN_UNITS; i++) {
        mxgpu_simt_run(r.h->simt, i, 100);
        g_assert_cmpuint(r.h->simt->cus[i].s.num_blocks, ==, 1);
        r.h->simt->cus[i].s.since_take = 1 << 20;
    }
    g_assert_cmpint(mxgpu_simt_start(r.h->simt, 0, &r.d), ==, MXGPU_FAULT_NONE);
    for (unsigned i = 0; i < RUN_UNITS; i++) {
        mxgpu_simt_run(r.h->simt, i, 100);
        g_assert_cmpuint(r.h->simt->cus[i].s.num_blocks, ==, 2);
    }
    for (unsigned n = 0; r.h->done != 3; n++) {
        g_assert_cmpuint(n, <, 1000);
        mxgpu_simt_run(r.h->simt, n % RUN_UNITS, 5000);
    }
    g_assert_cmpint(mxgpu_simt_fault(r.h->simt, 0).code, ==, MXGPU_FAULT_NONE);
    check_rounds(&r, 256);
    simt_run_free(&r);
}

/* Grids of both kinds, of every shape and priority, some of them aborted, in
 * steps of any length: all of them end, and cooperative ones are right. */
static void test_mix(void)
{
    GRand *rng = g_rand_new_with_seed(11);

    for (unsigned round = 0; round < 40; round++) {
        SimtRun r = setup("rounds", 1, 64, 2);
        uint64_t entry = simt_host_symbol(r.h, "busy"), *args = r.args;
        unsigned started = 0, threads[8] = {0}, killed = 0;

        for (unsigned slot = 0; slot < 8; slot++) {
            MxgpuDispatch d = r.d;
            unsigned kind = g_rand_int(rng) % 3;

            d.args = HOST_DATA_VA + 64 * slot;
            memcpy(args + 8 * slot, args, 24);
            args[8 * slot] = RUN_OUT + 65536 * slot;
            args[8 * slot + 1] = RUN_DATA + (1 << 20) * slot;
            d.cooperative = kind > 0;
            d.entry = kind ? d.entry : entry;
            d.block[0] = 1 + g_rand_int(rng) % 256;
            d.grid[0] = 1 + g_rand_int(rng) % (kind ? 32 : 60);
            d.shared = d.shared_static = g_rand_int(rng) % 5 * 5000;
            d.priority = g_rand_int(rng) % 3;
            if (mxgpu_simt_start(r.h->simt, slot, &d) == MXGPU_FAULT_NONE) {
                started |= 1u << slot;
                threads[slot] = kind ? d.grid[0] * d.block[0] : 0;
            }
        }
        for (unsigned n = 0; r.h->done != started; n++) {
            g_assert_cmpuint(n, <, 60000);
            if (g_rand_int(rng) % 400 == 0) {
                unsigned slot = g_rand_int(rng) % 8;

                mxgpu_simt_abort(r.h->simt, slot);
                killed |= 1u << slot;
            }
            mxgpu_simt_run(r.h->simt, g_rand_int(rng) % RUN_UNITS,
                           1 + g_rand_int(rng) % 20000);
        }
        for (unsigned slot = 0; slot < 8; slot++) {
            for (unsigned i = 0; i < threads[slot] && !(killed >> slot & 1);
                 i++) {
                g_assert_cmpuint(r.out[8192 * slot + i], ==, 107);
            }
        }
        g_assert_cmpuint(r.h->simt->gang, ==, 0);
        simt_run_free(&r);
    }
    g_rand_free(rng);
}

/* ---- blocks that wait for others without a barrier */

/* Drives the units in turn until those slots are done. */
static void drive_all(SimtRun *r, unsigned slots, unsigned budget)
{
    for (unsigned n = 0; r->h->done != slots; n++) {
        g_assert_cmpuint(n, <, 2000000 / budget + 3000);
        mxgpu_simt_run(r->h->simt, n % RUN_UNITS, budget);
    }
}

static void check_through(const SimtRun *r, unsigned grid)
{
    for (unsigned i = 0; i < grid; i++) {
        g_assert_cmpuint(r->out[i], ==, 1);
    }
}

/* Starts the grid; the first unit runs until it holds blocks. */
static MxgpuCu *start_held(SimtRun *r)
{
    MxgpuCu *cu = &r->h->simt->cus[0];

    r->h->done = 0;
    memset((void *)r->out, 0, 8 * r->d.grid[0]);
    g_assert_cmpint(mxgpu_simt_start(r->h->simt, 0, &r->d), ==,
                    MXGPU_FAULT_NONE);
    for (unsigned n = 0; cu->s.held < 4; n++) {
        g_assert_cmpuint(n, <, 1000);
        mxgpu_simt_run(r->h->simt, 0, 10);
    }
    return cu;
}

/* Blocks wait for one that the same unit took along with them. */
static void test_held(void)
{
    for (unsigned budget = 1000; budget < 1000000; budget *= 5) {
        SimtRun r = setup("wait_for", 64, 1024, 0);

        r.data[1] = r.data[2] = 4;
        r.h->done = 0;
        g_assert_cmpint(mxgpu_simt_start(r.h->simt, 0, &r.d), ==,
                        MXGPU_FAULT_NONE);
        drive_all(&r, 1, budget);
        check_through(&r, 64);
        simt_run_free(&r);
    }
}

/* Blocks of another grid fill the unit, and wait for one that it holds. */
static void test_held_by_slot(void)
{
    SimtRun r = setup("wait_for", 100, 64, 0);
    MxgpuCu *cu = start_held(&r);
    MxgpuDispatch d = r.d;

    d.args = HOST_DATA_VA + 64;
    r.args[8] = RUN_OUT;
    r.args[9] = RUN_DATA + (1 << 20);
    for (unsigned i = 0; i < 3; i++) {
        r.data[(1 << 17) + i] = cu->s.held_next + 2;
    }
    d.grid[0] = 3;
    d.block[0] = 1024;
    r.d.priority = 1;
    r.h->simt->slots[0].priority = 1; /* the other one goes first */
    g_assert_cmpint(mxgpu_simt_start(r.h->simt, 1, &d), ==, MXGPU_FAULT_NONE);
    drive_all(&r, 3, 10000);
    check_through(&r, 100);
    g_assert_cmpuint(r.h->simt->slots[0].returned, ==, 0);
    simt_run_free(&r);
}

/* Each block waits for the one before it, in a grid much larger than what is
 * resident, driven in steps of any length. */
static void test_chain(void)
{
    GRand *rng = g_rand_new_with_seed(5);

    for (unsigned round = 0; round < 12; round++) {
        SimtRun r = setup("wait_for", 150, 1 + g_rand_int(rng) % 1024, 0);

        for (unsigned i = 1; i < 150; i++) {
            r.data[i] = g_rand_int(rng) % 4 ? i : 0;
        }
        r.h->done = 0;
        g_assert_cmpint(mxgpu_simt_start(r.h->simt, 0, &r.d), ==,
                        MXGPU_FAULT_NONE);
        for (unsigned n = 0; r.h->done != 1; n++) {
            g_assert_cmpuint(n, <, 60000);
            mxgpu_simt_run(r.h->simt, g_rand_int(rng) % RUN_UNITS,
                           1 + g_rand_int(rng) % (round % 2 ? 300000 : 5000));
        }
        check_through(&r, 150);
        simt_run_free(&r);
    }
    g_rand_free(rng);
}

/* What was given up goes with its grid, however that ends, and the next grid
 * has all its blocks. */
static void test_given_up(void)
{
    static const enum mxgpu_fault codes[] = {MXGPU_FAULT_NON_CANONICAL,
                                             MXGPU_FAULT_ABORTED};
    SimtRun r = setup("wait_for", 100, 64, 0);

    for (unsigned n = 0; n < 3; n++) {
        MxgpuCu *cu = start_held(&r);

        /* the next block faults, or waits for itself */
        r.data[cu->s.held_next] = n == 0 ? ~0ull >> 8 : cu->s.held_next + 1;
        cu->s.since_take = 1 << 20;
        mxgpu_simt_run(r.h->simt, 0, 1);
        g_assert_cmpuint(cu->s.held, ==, 0);
        g_assert_cmpuint(r.h->simt->slots[0].returned, >, 1);
        if (n == 1) {
            mxgpu_simt_abort(r.h->simt, 0);
        }
        if (n < 2) {
            drive_all(&r, 1, 10000);
            g_assert_cmpint(mxgpu_simt_fault(r.h->simt, 0).code, ==, codes[n]);
        } else {
            mxgpu_simt_reset(r.h->simt);
        }
        g_assert_cmpuint(r.h->simt->slots[0].returned, ==, 0);
        memset((void *)r.data, 0, 800);
        memset((void *)r.out, 0, 800);
        simt_run(&r);
        check_through(&r, 100);
    }
    simt_run_free(&r);
}

/* ---- host threads */

typedef struct Driver {
    SimtHost *h;
    unsigned unit;
    _Atomic bool *quit;
} Driver;

/* Sleeps as a device's worker does: until work was posted after the look. */
static void *drive(void *opaque)
{
    Driver *d = opaque;

    while (!atomic_load(d->quit)) {
        unsigned seen = atomic_load(&d->h->wakes);

        if (!mxgpu_simt_run(d->h->simt, d->unit, 700)) {
            while (seen == atomic_load(&d->h->wakes) &&
                   !atomic_load(d->quit)) {
                sched_yield();
            }
        }
    }
    return NULL;
}

typedef struct Drivers {
    _Atomic bool quit;
    Driver units[RUN_UNITS];
    pthread_t threads[RUN_UNITS];
} Drivers;

static void drivers_start(Drivers *d, SimtHost *h)
{
    d->quit = false;
    for (unsigned i = 0; i < RUN_UNITS; i++) {
        d->units[i] = (Driver){h, i, &d->quit};
        g_assert_cmpint(pthread_create(&d->threads[i], NULL, drive,
                                       &d->units[i]), ==, 0);
    }
}

static void drivers_stop(Drivers *d)
{
    atomic_store(&d->quit, true);
    for (unsigned i = 0; i < RUN_UNITS; i++) {
        pthread_join(d->threads[i], NULL);
    }
}

static void test_threads(void)
{
    SimtRun r = setup("rounds", 4, 500, 3);
    Drivers drivers;

    r.d.cooperative = true;
    drivers_start(&drivers, r.h);
    for (unsigned n = 0; n < 60; n++) {
        unsigned slots = n % 3 == 2 ? 2 : 1;

        r.h->done = 0;
        for (unsigned s = 0; s < slots; s++) {
            MxgpuDispatch d = r.d;

            d.args = HOST_DATA_VA + 64 * s;
            memcpy(r.args + 8 * s, r.args, 24);
            r.args[8 * s + 1] = RUN_DATA + 8192 * s;
            simt_host_start(r.h, s, &d);
        }
        if (n % 5 == 4) {
            for (volatile unsigned i = 0; i < n * 3000; i++) {
            }
            mxgpu_simt_abort(r.h->simt, 0);
        }
        while (atomic_load(&r.h->done) != (1u << slots) - 1) {
            sched_yield();
        }
        if (n % 5 != 4) {
            g_assert_cmpint(mxgpu_simt_fault(r.h->simt, 0).code, ==,
                            MXGPU_FAULT_NONE);
            check_rounds(&r, 2000);
        }
        r.args[1] = RUN_DATA;
    }
    drivers_stop(&drivers);
    simt_run_free(&r);
}

/* Blocks that wait for earlier ones, and some that wait for later ones which
 * one unit may have taken along; some grids are aborted, some fault. */
static void test_chain_threads(void)
{
    SimtRun r = setup("wait_for", 90, 512, 0);
    GRand *rng = g_rand_new_with_seed(6);
    Drivers drivers;

    drivers_start(&drivers, r.h);
    for (unsigned n = 0; n < 60; n++) {
        bool fails = n % 4 == 3;
        unsigned at = 1 + g_rand_int(rng) % 80;

        for (unsigned i = 0; i < 90; i++) {
            r.data[i] = g_rand_int(rng) % 4 ? 0 : i;
            r.out[i] = 0;
        }
        for (unsigned i = 0; i < 4; i++) {
            r.data[at + i] = at + 6;
        }
        r.data[at + 5] = n % 8 == 7 ? ~0ull >> 8 : 0;
        r.h->done = 0;
        simt_host_start(r.h, 0, &r.d);
        if (n % 8 == 3) {
            for (volatile unsigned i = 0; i < n * 3000; i++) {
            }
            mxgpu_simt_abort(r.h->simt, 0);
        }
        while (!atomic_load(&r.h->done)) {
            sched_yield();
        }
        if (!fails) {
            g_assert_cmpint(mxgpu_simt_fault(r.h->simt, 0).code, ==,
                            MXGPU_FAULT_NONE);
            check_through(&r, 90);
        }
    }
    drivers_stop(&drivers);
    g_rand_free(rng);
    simt_run_free(&r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    elf = argv[1];
    g_test_add_func("/simt/named/produce", test_produce);
    g_test_add_func("/simt/named/lanes", test_lanes);
    g_test_add_func("/simt/named/arrive-end", test_arrive_end);
    g_test_add_func("/simt/named/open-often", test_open_often);
    g_test_add_func("/simt/named/wrong", test_wrong);
    g_test_add_func("/simt/grid/rounds", test_rounds);
    g_test_add_func("/simt/grid/too-large", test_too_large);
    g_test_add_func("/simt/grid/leave", test_leave);
    g_test_add_func("/simt/grid/fail", test_fail);
    g_test_add_func("/simt/grid/sleep", test_sleep);
    g_test_add_func("/simt/grid/last", test_last);
    g_test_add_func("/simt/grid/away", test_away);
    g_test_add_func("/simt/grid/company", test_company);
    g_test_add_func("/simt/grid/gap", test_gap);
    g_test_add_func("/simt/grid/mix", test_mix);
    g_test_add_func("/simt/grid/threads", test_threads);
    g_test_add_func("/simt/blocks/held", test_held);
    g_test_add_func("/simt/blocks/held-by-slot", test_held_by_slot);
    g_test_add_func("/simt/blocks/chain", test_chain);
    g_test_add_func("/simt/blocks/given-up", test_given_up);
    g_test_add_func("/simt/blocks/chain-threads", test_chain_threads);
    return g_test_run();
}
