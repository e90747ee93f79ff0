/* SPDX-License-Identifier: MIT */
/* Slots that are held in the middle of their blocks, and go on. */
#include <string.h>

#include "simt_run.h"

static const char *elf, *sync_elf;

static void start(SimtRun *r, unsigned slot, const MxgpuDispatch *d)
{
    g_assert_cmpint(mxgpu_simt_start(r->h->simt, slot, d), ==,
                    MXGPU_FAULT_NONE);
}

static void turns(SimtRun *r, unsigned n)
{
    for (unsigned i = 0; i < n * RUN_UNITS; i++) {
        simt_host_step(r->h, i % RUN_UNITS, 2000);
    }
}

/* Blocks of it leave no room for another one. */
static MxgpuDispatch endless(SimtRun *r)
{
    MxgpuDispatch d =
        simt_host_dispatch(simt_host_symbol(r->h, "forever"), 1000, 1024);

    d.shared = d.shared_static = 32768;
    return d;
}

static bool ended(const SimtRun *r, unsigned slot)
{
    return r->h->done >> slot & 1;
}

static void end(SimtRun *r, unsigned slot)
{
    mxgpu_simt_abort(r->h->simt, slot);
    turns(r, 4);
    g_assert_true(ended(r, slot));
    g_assert_cmpint(mxgpu_simt_fault(r->h->simt, slot).code, ==,
                    MXGPU_FAULT_ABORTED);
}

/* What fills the units makes room, and goes on afterwards. */
static void test_urgent(void)
{
    SimtRun r = simt_run_new(elf, "identity", 100, 256);
    MxgpuDispatch d = endless(&r);

    start(&r, 0, &d);
    turns(&r, 20);
    g_assert_true(mxgpu_simt_waits(r.h->simt, 0));
    start(&r, 1, &r.d);
    turns(&r, 200);
    g_assert_true(mxgpu_simt_waits(r.h->simt, 1));
    mxgpu_simt_hold(r.h->simt, 0, true);
    turns(&r, 200);
    g_assert_true(ended(&r, 1));
    for (unsigned i = 0; i < 25600; i++) {
        g_assert_cmpuint(r.out[i], ==, i);
    }
    g_assert_false(mxgpu_simt_run(r.h->simt, 0, 1000)); /* nothing to do */
    g_assert_true(mxgpu_simt_waits(r.h->simt, 0));
    mxgpu_simt_hold(r.h->simt, 0, false);
    turns(&r, 20);
    g_assert_true(mxgpu_simt_run(r.h->simt, 0, 1000));
    g_assert_false(ended(&r, 0));
    end(&r, 0);
    simt_run_free(&r);
}

/* A held grid can be ended, and leaves nothing to the next one of its slot. */
static void test_abort(void)
{
    SimtRun r = simt_run_new(elf, "identity", 100, 256);
    MxgpuDispatch d = endless(&r);

    start(&r, 0, &d);
    turns(&r, 20);
    mxgpu_simt_hold(r.h->simt, 0, true);
    turns(&r, 20);
    end(&r, 0);
    g_assert_false(mxgpu_simt_has_work(r.h->simt));
    mxgpu_simt_hold(r.h->simt, 0, true); /* it has none: no effect */
    simt_run(&r);
    start(&r, 0, &d);
    turns(&r, 20);
    mxgpu_simt_hold(r.h->simt, 0, true);
    turns(&r, 20);
    mxgpu_simt_reset(r.h->simt);
    r.h->done = 0;
    simt_run(&r);
    simt_run_free(&r);
}

/* Slices: three grids that do not fit together, two of them without end. */
static void test_slices(void)
{
    SimtRun r = simt_run_new(elf, "collatz", 300, 1024);
    MxgpuDispatch d = endless(&r);

    start(&r, 0, &d);
    turns(&r, 5);
    start(&r, 1, &d);
    start(&r, 2, &r.d);
    for (unsigned n = 0; n < 3000 && !ended(&r, 2); n++) {
        for (unsigned i = 0; i < 3; i++) {
            mxgpu_simt_hold(r.h->simt, i, i != n % 3);
        }
        turns(&r, 10);
    }
    g_assert_true(ended(&r, 2));
    g_assert_cmpint(mxgpu_simt_fault(r.h->simt, 2).code, ==, MXGPU_FAULT_NONE);
    g_assert_false(ended(&r, 0) || ended(&r, 1));
    end(&r, 0);
    end(&r, 1);
    simt_run_free(&r);
}

/* What units spend is counted for the slot that they spend it on. */
static void test_spent(void)
{
    SimtRun r = simt_run_new(elf, "collatz", 300, 1024);
    MxgpuDispatch d = endless(&r);
    MxgpuSimtCounters c;
    uint64_t before;

    start(&r, 1, &d);
    turns(&r, 20);
    mxgpu_simt_counters(r.h->simt, &c);
    before = mxgpu_simt_spent(r.h->simt, 1);
    g_assert_cmpuint(before, ==, c.warp_instructions);
    g_assert_cmpuint(mxgpu_simt_spent(r.h->simt, 2), ==, 0);
    mxgpu_simt_hold(r.h->simt, 1, true);
    start(&r, 2, &d);
    turns(&r, 5); /* they have seen it */
    before = mxgpu_simt_spent(r.h->simt, 1);
    turns(&r, 20);
    g_assert_cmpuint(mxgpu_simt_spent(r.h->simt, 1), ==, before);
    g_assert_cmpuint(mxgpu_simt_spent(r.h->simt, 2), >, 0);
    mxgpu_simt_reset(r.h->simt);
    g_assert_cmpuint(mxgpu_simt_spent(r.h->simt, 1), ==, 0);
    simt_run_free(&r);
}

/* Blocks with more than half of the shared memory come back beside others. */
static void test_beside(void)
{
    SimtRun r = simt_run_new(elf, "barriers", RUN_UNITS, 320);
    size_t bytes = (size_t)RUN_UNITS * 320 * 8;
    g_autofree uint64_t *want = g_malloc(bytes);
    MxgpuDispatch other = r.d;

    r.args[2] = 6;
    r.d.shared = r.d.shared_static = MXGPU_SHARED_MAX / 8 * 5;
    simt_run(&r);
    memcpy(want, r.out, bytes);
    memset(r.out, 0, bytes);
    memset(r.data, 0, bytes);
    r.h->done = 0;
    start(&r, 0, &r.d);
    for (unsigned i = 0; i < RUN_UNITS; i++) {
        simt_host_step(r.h, i, 50);
    }
    mxgpu_simt_hold(r.h->simt, 0, true);
    turns(&r, 2);
    other.grid[0] = 2 * RUN_UNITS;
    other.entry = simt_host_symbol(r.h, "forever");
    start(&r, 1, &other);
    turns(&r, 4);
    mxgpu_simt_hold(r.h->simt, 0, false);
    while (!ended(&r, 0)) {
        turns(&r, 1);
    }
    g_assert_cmpmem(r.out, bytes, want, bytes);
    end(&r, 1);
    simt_run_free(&r);
}

/*
 * Held and released at random, while something else fills the units, and, with
 * reload, saved and loaded in between: the results are those of a run alone.
 */
static void compare(const char *file, const char *kernel, unsigned grid,
                    unsigned block, bool cooperative, bool reload)
{
    SimtRun r = simt_run_new(file, kernel, grid, block);
    size_t bytes = (size_t)grid * block * 8;
    g_autofree uint64_t *want = g_malloc(bytes);
    GRand *rng = g_rand_new_with_seed(grid + block);
    MxgpuDispatch other = r.d;
    bool hold = false;

    g_test_message("%s", kernel);
    r.args[2] = 6;
    r.d.shared = r.d.shared_static = 4096;
    r.d.cooperative = cooperative;
    simt_run(&r);
    memcpy(want, r.out, bytes);
    memset(r.out, 0, bytes);
    memset(r.data, 0, bytes);
    r.h->done = 0;
    other.grid[0] = 1000;
    other.entry = simt_host_symbol(r.h, file == elf ? "forever" : "busy");
    r.h->reload = reload;
    if (reload) {
        simt_host_forget(r.h, grid);
    }
    start(&r, 1, &other);
    mxgpu_simt_hold(r.h->simt, 1, true);
    start(&r, 0, &r.d);
    while (!ended(&r, 0)) {
        if (g_rand_int_range(rng, 0, 8) == 0) {
            hold = !hold;
            mxgpu_simt_hold(r.h->simt, 0, hold);
            mxgpu_simt_hold(r.h->simt, 1, !hold);
        }
        for (unsigned i = 0; i < RUN_UNITS; i++) {
            simt_host_step(r.h, i, g_rand_int_range(rng, 1, 3000));
        }
    }
    g_assert_cmpint(mxgpu_simt_fault(r.h->simt, 0).code, ==, MXGPU_FAULT_NONE);
    g_assert_cmpmem(r.out, bytes, want, bytes);
    g_rand_free(rng);
    simt_run_free(&r);
}

static void compare_all(bool reload)
{
    static const char *const kernels[] = {
        "collatz", "recurse", "early_exit", "barriers", "barrier_ops",
        "barrier_exit", "private_memory",
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(kernels); i++) {
        compare(elf, kernels[i], reload ? 4 : 12, 320, false, reload);
    }
    compare(sync_elf, "rounds", reload ? 6 : 20, 128, true, reload);
}

static void test_same(void)
{
    compare_all(false);
}

static void test_loaded(void)
{
    compare_all(true);
}

/* Of two cooperative grids, the one that is held lets the other one in. */
static void test_gangs(void)
{
    SimtRun r = simt_run_new(sync_elf, "rounds", 4, 1024);
    MxgpuDispatch other;

    r.args[2] = 6;
    r.d.shared = r.d.shared_static = 64;
    r.d.cooperative = true;
    other = r.d;
    other.args = r.d.args;
    start(&r, 0, &r.d);
    simt_host_step(r.h, 0, 1); /* it has one block of four */
    mxgpu_simt_hold(r.h->simt, 0, true);
    other.entry = simt_host_symbol(r.h, "busy");
    r.args[2] = 1;
    start(&r, 1, &other);
    for (unsigned i = 0; i < 3000 && !ended(&r, 1); i++) {
        turns(&r, 1);
    }
    g_assert_true(ended(&r, 1));
    r.args[2] = 6;
    mxgpu_simt_hold(r.h->simt, 0, false);
    for (unsigned i = 0; i < 3000 && !ended(&r, 0); i++) {
        turns(&r, 1);
    }
    g_assert_true(ended(&r, 0));
    g_assert_cmpint(mxgpu_simt_fault(r.h->simt, 0).code, ==, MXGPU_FAULT_NONE);
    simt_run_free(&r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    elf = argv[1];
    sync_elf = argv[2];
    g_test_add_func("/simt/hold/urgent", test_urgent);
    g_test_add_func("/simt/hold/abort", test_abort);
    g_test_add_func("/simt/hold/slices", test_slices);
    g_test_add_func("/simt/hold/spent", test_spent);
    g_test_add_func("/simt/hold/beside", test_beside);
    g_test_add_func("/simt/hold/same", test_same);
    g_test_add_func("/simt/hold/loaded", test_loaded);
    g_test_add_func("/simt/hold/gangs", test_gangs);
    return g_test_run();
}
