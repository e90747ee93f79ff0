/* SPDX-License-Identifier: MIT */
/* Compiled code on lines against the interpreter: lanes of them that are not in the
 * mask, and what becomes of them. test_jit_lines KERNELS.elf */
#include "jit_both.h"

#define RUNS 8 /* until code is there that knows which branches lanes take apart */

/* Rows that store to one address each, of both kinds of memory. */
static void test_levels(void)
{
    static const unsigned widths[] = {32, 16, 4}, apart[] = {24, 136};

    for (unsigned i = 0; i < G_N_ELEMENTS(widths); i++) {
        Both b = both_new("levels", 1, widths[i]);

        for (unsigned k = 0; k < 2; k++) {
            b.run[k].d.shared = 32768;
            b.run[k].d.block[1] = THREADS / widths[i];
        }
        for (unsigned k = 0; k < 4; k++) {
            set(&b, 0, k & 1 ? PLACE : MXGPU_SHARED_BASE);
            set(&b, 1, apart[k / 2]);
            set(&b, 2, 70);
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        both_free(&b);
    }
}

/* Lanes of a row beyond the block's shared memory, which do not look there; then
 * one does: the first of the mask, the last. */
static void test_edges(void)
{
    static const unsigned further[] = {2, 4};

    for (unsigned k = 0; k < G_N_ELEMENTS(further); k++) {
        Both b = both_new("edges", 40, THREADS);

        b.run[0].d.shared = b.run[1].d.shared = 8192 + 304 * 7;
        set(&b, 0, MXGPU_SHARED_BASE + 8192);
        set(&b, 1, 304);
        set(&b, 3, PLACE);
        for (unsigned i = 0; i < RUNS; i++) {
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        set(&b, further[k], 1);
        compare(&b, MXGPU_FAULT_WINDOW, false); /* others got further */
        both_free(&b);
    }
}

/* Warps that come to code again look at what it has changed. */
static void test_changing(void)
{
    run_changing();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_setenv("MXGPU_JIT_CACHE", "", TRUE);
    elf = argv[1];
    g_test_add_func("/jit-lines/levels", test_levels);
    g_test_add_func("/jit-lines/edges", test_edges);
    g_test_add_func("/jit-lines/changing", test_changing);
    return g_test_run();
}
