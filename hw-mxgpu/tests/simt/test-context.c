/* SPDX-License-Identifier: MIT */
/* Dispatches that leave their slot in the middle of their blocks, as bytes, and
 * come back to another one. */
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

static bool ended(const SimtRun *r, unsigned slot)
{
    return r->h->done >> slot & 1;
}

static void end(SimtRun *r, unsigned slot)
{
    mxgpu_simt_abort(r->h->simt, slot);
    turns(r, 4);
    g_assert_true(ended(r, slot));
    r->h->done = 0;
}

static bool hold(SimtRun *r, unsigned slot)
{
    mxgpu_simt_hold(r->h->simt, slot, true);
    for (unsigned i = 0; i < 1000; i++) {
        if (mxgpu_simt_context_ready(r->h->simt, slot) == MXGPU_CONTEXT_DONE) {
            return true;
        }
        if (ended(r, slot)) {
            return false;
        }
        simt_host_step(r->h, i % RUN_UNITS, 20);
    }
    g_assert_not_reached();
}

static void go_on(SimtRun *r, unsigned slot, const MxgpuDispatch *d,
                  GByteArray *bytes)
{
    g_assert_cmpint(simt_host_give_context(r->h, slot, d, bytes), ==,
                    MXGPU_CONTEXT_DONE);
    g_assert_cmphex(mxgpu_simt_held(r->h->simt), ==, 1u << slot);
    mxgpu_simt_hold(r->h->simt, slot, false);
    g_byte_array_unref(bytes);
}

/* From slot to slot, with other work in between: the results are those of a run
 * alone. */
static unsigned compare(const char *file, const char *kernel, unsigned grid,
                        unsigned block)
{
    SimtRun r = simt_run_new(file, kernel, grid, block);
    size_t bytes = (size_t)grid * block * 8;
    g_autofree uint64_t *want = g_malloc(bytes);
    GRand *rng = g_rand_new_with_seed(grid + block);
    MxgpuDispatch other = r.d;
    unsigned slot = 0, moves = 0;

    r.args[2] = 6;
    r.d.shared = r.d.shared_static = 4096;
    simt_run(&r);
    memcpy(want, r.out, bytes);
    memset(r.out, 0, bytes);
    memset(r.data, 0, bytes);
    r.h->done = 0;
    other.grid[0] = 1000;
    other.entry = simt_host_symbol(r.h, "forever");
    start(&r, slot, &r.d);
    for (;;) {
        for (unsigned i = 0; i < RUN_UNITS; i++) {
            simt_host_step(r.h, i, g_rand_int_range(rng, 1, 1000));
        }
        if (ended(&r, slot) || !hold(&r, slot)) {
            break;
        }
        GByteArray *context = simt_host_take_context(r.h, slot);

        start(&r, slot, &other);
        turns(&r, 2);
        end(&r, slot);
        slot = g_rand_int_range(rng, 0, MXGPU_DISPATCH_SLOTS);
        go_on(&r, slot, &r.d, context);
        moves++;
    }
    g_test_message("%s moved %u times", kernel, moves);
    g_assert_cmpint(mxgpu_simt_fault(r.h->simt, slot).code, ==,
                    MXGPU_FAULT_NONE);
    g_assert_cmpmem(r.out, bytes, want, bytes);
    g_rand_free(rng);
    simt_run_free(&r);
    return moves;
}

static void test_moved(void)
{
    static const char *const kernels[] = {
        "collatz", "recurse", "early_exit", "barriers", "barrier_ops",
        "barrier_exit", "private_memory",
    };

    unsigned moves = 0;

    for (unsigned i = 0; i < G_N_ELEMENTS(kernels); i++) {
        moves += compare(elf, kernels[i], 40, 320);
    }
    g_assert_cmpuint(moves, >, 100);
}

/* Nine grids of which none fits beside another one, in two slots. */
static void test_many(void)
{
    SimtRun r = simt_run_new(elf, "identity", 40, 1024);
    GQueue waiting = G_QUEUE_INIT;
    MxgpuDispatch d = r.d;

    d.entry = simt_host_symbol(r.h, "forever");
    d.shared = d.shared_static = 32768;
    for (unsigned i = 0; i < 9; i++) {
        start(&r, 1, &d);
        turns(&r, 3);
        g_assert_true(hold(&r, 1));
        g_queue_push_tail(&waiting, simt_host_take_context(r.h, 1));
    }
    g_assert_false(mxgpu_simt_has_work(r.h->simt));
    for (unsigned i = 0; i < 30; i++) {
        go_on(&r, i % 3, &d, g_queue_pop_head(&waiting));
        turns(&r, 3);
        g_assert_true(hold(&r, i % 3));
        g_queue_push_tail(&waiting, simt_host_take_context(r.h, i % 3));
    }
    while (!g_queue_is_empty(&waiting)) {
        go_on(&r, 7, &d, g_queue_pop_head(&waiting));
        turns(&r, 3);
        end(&r, 7);
    }
    simt_run_free(&r);
}

static void test_refused(void)
{
    SimtRun r = simt_run_new(sync_elf, "rounds", 4, 128);
    MxgpuDispatch d = r.d;
    MxgpuSimt *simt = r.h->simt;
    GByteArray *context;

    r.args[2] = 6;
    d.shared = d.shared_static = 64;
    d.entry = simt_host_symbol(r.h, "busy");
    g_assert_cmpint(mxgpu_simt_context_ready(simt, 0), ==,
                    MXGPU_CONTEXT_REFUSED);
    start(&r, 0, &d);
    turns(&r, 1);
    g_assert_cmpint(mxgpu_simt_context_ready(simt, 0), ==, MXGPU_CONTEXT_BUSY);
    mxgpu_simt_hold(simt, 0, true); /* no unit has seen it */
    g_assert_cmpint(mxgpu_simt_context_ready(simt, 0), ==, MXGPU_CONTEXT_BUSY);
    g_assert_true(hold(&r, 0));
    context = simt_host_take_context(r.h, 0);
    start(&r, 3, &d);
    g_assert_cmpint(simt_host_give_context(r.h, 3, &d, context), ==,
                    MXGPU_CONTEXT_REFUSED);
    end(&r, 3);
    g_byte_array_set_size(context, context->len - 1);
    g_assert_cmpint(simt_host_give_context(r.h, 3, &d, context), ==,
                    MXGPU_CONTEXT_REFUSED);
    g_assert_false(mxgpu_simt_has_work(simt));
    g_assert_cmphex(mxgpu_simt_held(simt), ==, 0);
    g_byte_array_unref(context);
    d.cooperative = true;
    start(&r, 2, &d);
    mxgpu_simt_hold(simt, 2, true);
    turns(&r, 4);
    g_assert_cmpint(mxgpu_simt_context_ready(simt, 2), ==,
                    MXGPU_CONTEXT_REFUSED);
    end(&r, 2);
    simt_run_free(&r);
}

/* Bytes that somebody has changed: refused, or work that can be ended. Whose it
 * is they cannot say. */
static void test_forged(void)
{
    SimtRun r = simt_run_new(elf, "barriers", 10, 320);
    GRand *rng = g_rand_new_with_seed(1);
    GByteArray *context;
    unsigned ran = 0;

    r.args[2] = 6;
    r.d.shared = r.d.shared_static = 4096;
    start(&r, 0, &r.d);
    simt_host_step(r.h, 0, 300);
    g_assert_true(hold(&r, 0));
    context = simt_host_take_context(r.h, 0);
    for (unsigned n = 0; n < 400; n++) {
        GByteArray *forged = g_byte_array_new();
        unsigned end_of = n % 2 ? context->len : 2000;

        g_byte_array_append(forged, context->data, context->len);
        for (unsigned i = 0; i <= n % 4; i++) {
            forged->data[g_rand_int_range(rng, 0, end_of)] =
                (uint8_t)g_rand_int(rng);
        }
        if (simt_host_give_context(r.h, 5, &r.d, forged) ==
            MXGPU_CONTEXT_DONE) {
            mxgpu_simt_hold(r.h->simt, 5, false);
            turns(&r, 2);
            if (!ended(&r, 5)) {
                end(&r, 5);
            }
            r.h->done = 0;
            ran++;
        }
        g_assert_false(mxgpu_simt_has_work(r.h->simt));
        g_assert_cmphex(mxgpu_simt_held(r.h->simt), ==, 0);
        g_byte_array_unref(forged);
    }
    g_assert_cmpuint(ran, >, 0);
    g_assert_cmpuint(ran, <, 400);
    g_byte_array_unref(context);
    g_rand_free(rng);
    simt_run_free(&r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    elf = argv[1];
    sync_elf = argv[2];
    g_test_add_func("/simt/context/moved", test_moved);
    g_test_add_func("/simt/context/many", test_many);
    g_test_add_func("/simt/context/refused", test_refused);
    g_test_add_func("/simt/context/forged", test_forged);
    return g_test_run();
}
