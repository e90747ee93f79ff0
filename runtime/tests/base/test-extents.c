/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "base/extents.h"

static McExtent nth(const McExtents *e, unsigned n)
{
    McNode *node = mc_tree_first(&e->free);

    while (n--) {
        node = mc_tree_next(node);
    }
    return *mc_container_of(node, McExtent, node);
}

static void test_basic(void)
{
    McExtents r;
    uint64_t a, b, c;

    mc_extents_init(&r);
    g_assert_cmpint(mc_extents_add(&r, 0x1000, 0x9000), ==, 0);
    g_assert_cmpint(mc_extents_alloc(&r, 0x1000, 0x1000, 0, &a), ==, 0);
    g_assert_cmphex(a, ==, 0x1000);
    g_assert_cmpint(mc_extents_alloc(&r, 0x1000, 0x4000, 0, &b), ==, 0);
    g_assert_cmphex(b, ==, 0x4000);
    g_assert_cmpint(mc_extents_alloc(&r, 0x1000, 0x4000, 0x1000, &c), ==, 0);
    g_assert_cmphex(c, ==, 0x5000);
    g_assert_cmpint(mc_extents_alloc(&r, 0x5000, 0x1000, 0, &c), ==, -ENOSPC);
    g_assert_cmphex(r.total, ==, 0x6000);
    mc_extents_free(&r, b, 0x1000);
    mc_extents_free(&r, 0x5000, 0x1000);
    mc_extents_free(&r, a, 0x1000);
    g_assert_cmpuint(r.free.count, ==, 1);
    g_assert_cmphex(nth(&r, 0).start, ==, 0x1000);
    g_assert_cmphex(nth(&r, 0).size, ==, 0x9000);
    mc_extents_fini(&r);
}

static void test_exclude(void)
{
    McExtents r;

    mc_extents_init(&r);
    g_assert_cmpint(mc_extents_add(&r, 0, 0x10000), ==, 0);
    g_assert_cmpint(mc_extents_add(&r, 0x20000, 0x10000), ==, 0);
    g_assert_cmpint(mc_extents_exclude(&r, 0x4000, 0x1000), ==, 0);
    g_assert_cmpuint(r.free.count, ==, 3);
    g_assert_cmpint(mc_extents_exclude(&r, 0xf000, 0x12000), ==, 0);
    g_assert_cmpuint(r.free.count, ==, 3);
    g_assert_cmphex(nth(&r, 1).start, ==, 0x5000);
    g_assert_cmphex(nth(&r, 1).size, ==, 0xa000);
    g_assert_cmphex(nth(&r, 2).start, ==, 0x21000);
    g_assert_cmpint(mc_extents_exclude(&r, 0, 0x100000), ==, 0);
    g_assert_cmpuint(r.free.count, ==, 0);
    g_assert_cmphex(r.total, ==, 0);
    mc_extents_fini(&r);
}

/* Random work against a map of units: nothing is given out twice. */
static void test_random(void)
{
    enum { UNITS = 512, LIVE = 64 };
    struct {
        uint64_t start, size;
    } live[LIVE] = { { 0 } };
    unsigned char owner[UNITS] = { 0 };
    GRand *rand = g_rand_new_with_seed(42);
    unsigned used = 0, step, i;
    McExtents r;

    mc_extents_init(&r);
    g_assert_cmpint(mc_extents_add(&r, 0, UNITS), ==, 0);
    for (step = 0; step < 20000; step++) {
        unsigned slot = (unsigned)g_rand_int_range(rand, 0, LIVE);

        if (live[slot].size) {
            memset(owner + live[slot].start, 0, live[slot].size);
            mc_extents_free(&r, live[slot].start, live[slot].size);
            used -= live[slot].size;
            live[slot].size = 0;
        } else {
            uint64_t size = (uint64_t)g_rand_int_range(rand, 1, 40);
            uint64_t align = 1ull << g_rand_int_range(rand, 0, 5);
            uint64_t phase = (uint64_t)g_rand_int_range(rand, 0, 32) &
                             (align - 1);
            uint64_t start;
            int ret = mc_extents_alloc(&r, size, align, phase, &start);

            if (ret) {
                g_assert_cmpint(ret, ==, -ENOSPC);
                continue;
            }
            g_assert_cmpuint(start % align, ==, phase);
            g_assert_cmpuint(start + size, <=, UNITS);
            for (i = 0; i < size; i++) {
                g_assert_cmpuint(owner[start + i], ==, 0);
                owner[start + i] = 1;
            }
            live[slot].start = start;
            live[slot].size = size;
            used += size;
        }
        g_assert_cmpuint(r.total, ==, UNITS - used);
    }
    for (i = 0; i < LIVE; i++) {
        if (live[i].size) {
            mc_extents_free(&r, live[i].start, live[i].size);
        }
    }
    g_assert_cmpuint(r.free.count, ==, 1);
    g_assert_cmpuint(r.total, ==, UNITS);
    mc_extents_fini(&r);
    g_rand_free(rand);
}

/* No step of an allocator with many pieces, allocated or free, costs more than a
 * few paths through a tree. */
static void test_cost(void)
{
    enum { PIECES = 100000, LIMIT = 8 * 26 };
    uint64_t start, before, most = 0;
    McExtents r;

    mc_extents_init(&r);
    g_assert_cmpint(mc_extents_add(&r, 0, PIECES * 4096ull), ==, 0);
#define COUNTED(call)                                                          \
    do {                                                                       \
        before = mc_tree_steps();                                              \
        call;                                                                  \
        most = MAX(most, mc_tree_steps() - before);                            \
    } while (0)
    for (uint64_t i = 0; i < PIECES; i++) {
        COUNTED(g_assert_cmpint(mc_extents_alloc(&r, 4096, 4096, 0, &start),
                                ==, 0));
        g_assert_cmphex(start, ==, i * 4096);
    }
    /* Every other one is free: half as many extents, none of two pieces. */
    for (uint64_t i = 0; i < PIECES; i += 2) {
        COUNTED(mc_extents_free(&r, i * 4096, 4096));
    }
    g_assert_cmpuint(r.free.count, ==, PIECES / 2);
    COUNTED(g_assert_cmpint(mc_extents_alloc(&r, 8192, 4096, 0, &start), ==,
                            -ENOSPC));
    /* One at the end that is large enough. */
    COUNTED(mc_extents_free(&r, (PIECES - 1) * 4096ull, 4096));
    COUNTED(g_assert_cmpint(mc_extents_alloc(&r, 8192, 4096, 0, &start), ==,
                            0));
    g_assert_cmphex(start, ==, (PIECES - 2) * 4096ull);
    for (uint64_t i = 1; i < PIECES - 1; i += 2) {
        COUNTED(mc_extents_free(&r, i * 4096, 4096));
    }
    COUNTED(mc_extents_free(&r, start, 8192));
    g_assert_cmpuint(r.free.count, ==, 1);
    g_assert_cmpuint(r.live, ==, 0);
    g_assert_cmpuint(most, <, LIMIT);
    mc_extents_fini(&r);
}

/* Many extents that are large enough and lie badly hide one that does not. */
static void test_alignment_cost(void)
{
    enum { HOLES = 10000 };
    uint64_t start, before;
    McExtents r;

    mc_extents_init(&r);
    for (uint64_t i = 0; i < HOLES; i++) {
        g_assert_cmpint(mc_extents_add(&r, i * 0x100000 + 0x1000, 0x80000),
                        ==, 0);
    }
    g_assert_cmpint(mc_extents_add(&r, HOLES * 0x100000ull, 0x200000), ==, 0);
    before = mc_tree_steps();
    g_assert_cmpint(mc_extents_alloc(&r, 0x80000, 0x100000, 0, &start), ==, 0);
    g_assert_cmphex(start, ==, HOLES * 0x100000ull);
    g_assert_cmpuint(mc_tree_steps() - before, <, 1000);
    /* The last that fits is found, wherever it is. */
    g_assert_cmpint(mc_extents_alloc(&r, 0x100000, 0x100000, 0, &start), ==,
                    0);
    g_assert_cmpint(mc_extents_alloc(&r, 0x80000, 0x100000, 0x1000, &start),
                    ==, 0);
    g_assert_cmphex(start, ==, 0x1000);
    g_assert_cmpint(mc_extents_alloc(&r, 0x80000, 0x100000, 0x2000, &start),
                    ==, -ENOSPC);
    mc_extents_fini(&r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extents/basic", test_basic);
    g_test_add_func("/extents/exclude", test_exclude);
    g_test_add_func("/extents/random", test_random);
    g_test_add_func("/extents/cost", test_cost);
    g_test_add_func("/extents/alignment-cost", test_alignment_cost);
    return g_test_run();
}
