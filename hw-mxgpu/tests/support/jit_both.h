/* SPDX-License-Identifier: MIT */
/*
 * The same kernel on two devices, one of which compiles it: memory, faults and
 * counts are the same, whatever becomes of the code that was compiled.
 */
#ifndef MXGPU_TESTS_JIT_BOTH_H
#define MXGPU_TESTS_JIT_BOTH_H

#include <string.h>

#include "simt/exec/variants.h"
#include "simt/jit/jit.h"
#include "simt_run.h"

#define THREADS    256
#define OUT_BYTES  (3 * THREADS * 8)
#define PLACE      (HOST_DATA_VA + (8 << 20)) /* what kernels work on */
#define PLACE_SIZE (12u << 20)

static const char *elf;
static const char *patience = "1"; /* MXGPU_TEST_JIT */

typedef struct Both {
    SimtRun run[2]; /* the interpreter's; with compiled code */
} Both;

/* As the tests' environment says, whatever it was for others. */
static inline SimtRun new_run(const char *kernel, unsigned grid, unsigned block,
                              bool jit)
{
    SimtRun r;

    if (jit) {
        g_setenv("MXGPU_TEST_JIT", patience, TRUE);
    } else {
        g_unsetenv("MXGPU_TEST_JIT");
    }
    r = simt_run_new(elf, kernel, grid, block);
    return r;
}

static inline Both both_new(const char *kernel, unsigned grid, unsigned block)
{
    Both b = {{new_run(kernel, grid, block, false),
               new_run(kernel, grid, block, true)}};

    return b;
}

static inline void both_free(Both *b)
{
    simt_run_free(&b->run[0]);
    simt_run_free(&b->run[1]);
}

static inline void set(Both *b, unsigned word, uint64_t value)
{
    b->run[0].data[word] = b->run[1].data[word] = value;
}

static inline void fill(Both *b, unsigned seed)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    uint8_t *to[2];

    for (unsigned i = 0; i < 2; i++) {
        to[i] = simt_host_data(b->run[i].h, PLACE);
    }
    for (unsigned i = 0; i < PLACE_SIZE; i += 4) {
        uint32_t v = g_rand_int(rand);

        memcpy(to[0] + i, &v, 4);
        memcpy(to[1] + i, &v, 4);
    }
}

static inline unsigned regions(const Both *b)
{
    const MxgpuSimt *simt = b->run[1].h->simt;

    g_assert_null(b->run[0].h->simt->jit);
    return simt->jit ? mxgpu_jit_ready(simt->jit) : 0;
}

static inline bool can_compile(void)
{
    SimtVariant v[SIMT_VARIANTS];

    return mxgpu_simt_variants(v) && v[0].compiled;
}

/* Runs it on both, to that fault; counts: they are the same, too. */
static inline void compare(Both *b, enum mxgpu_fault fault, bool counts)
{
    MxgpuDispatchFault f[2];
    MxgpuSimtCounters c[2];

    for (unsigned i = 0; i < 2; i++) {
        f[i] = simt_host_run(b->run[i].h, &b->run[i].d);
        mxgpu_simt_counters(b->run[i].h->simt, &c[i]);
    }
    g_assert_cmpint(f[0].code, ==, fault);
    g_assert_cmpint(f[1].code, ==, fault);
    g_assert_cmpint(f[0].access, ==, f[1].access);
    g_assert_cmphex(f[0].addr, ==, f[1].addr);
    g_assert_cmphex(f[0].pc, ==, f[1].pc);
    g_assert_cmpuint(f[0].thread, ==, f[1].thread);
    if (counts) {
        g_assert_cmpuint(c[0].warp_instructions, ==, c[1].warp_instructions);
        g_assert_cmpuint(c[0].lane_instructions, ==, c[1].lane_instructions);
        g_assert_cmpuint(c[0].divergent_branches, ==, c[1].divergent_branches);
    }
    g_assert_cmpmem(b->run[0].out, OUT_BYTES, b->run[1].out, OUT_BYTES);
    g_assert_cmpmem(simt_host_data(b->run[0].h, PLACE), PLACE_SIZE,
                    simt_host_data(b->run[1].h, PLACE), PLACE_SIZE);
}

/* Where there is a compiler, its code was run. */
static inline void compiled(const Both *b)
{
    g_test_message("%u regions", regions(b));
    g_assert_true((regions(b) > 0) == can_compile());
}

/* Threads' words "apart" bytes apart, turns of different lengths. */
static inline void set_walk(Both *b, uint64_t at, uint64_t apart, uint64_t stride,
                     unsigned turns)
{
    for (unsigned t = 0; t < THREADS; t++) {
        set(b, 2 * t, at + t * apart);
        set(b, 2 * t + 1, turns + t * 37 % 50);
    }
    b->run[0].args[2] = b->run[1].args[2] = stride;
}

/* What has run compiled code. */
static inline Both walk(void)
{
    Both b = both_new("walk", 1, 64);

    fill(&b, 5);
    set_walk(&b, PLACE, 400, 4, 60);
    compare(&b, MXGPU_FAULT_NONE, true);
    return b;
}

static inline Both walked(void)
{
    Both b = walk();

    compiled(&b);
    return b;
}

/* Registers of convoys that are lines and each lane's own by turns: the first code
 * is not the last one. */
static inline void run_changing(void)
{
    static const unsigned firsts[] = {1000, 40, 60, 41};
    Both b = both_new("changing", 1, THREADS);

    for (unsigned i = 0; i < G_N_ELEMENTS(firsts); i++) {
        set(&b, 0, 90);
        set(&b, 1, firsts[i]);
        compare(&b, MXGPU_FAULT_NONE, true);
    }
    compiled(&b);
    both_free(&b);
}

#endif
