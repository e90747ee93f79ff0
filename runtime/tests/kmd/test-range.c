/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "kmd/range.h"

static void test_basic(void)
{
    KmdRanges r;
    uint64_t a, b, c;

    kmd_ranges_init(&r);
    g_assert_cmpint(kmd_ranges_add(&r, 0x1000, 0x9000), ==, 0);
    g_assert_cmpint(kmd_ranges_alloc(&r, 0x1000, 0x1000, 0, &a), ==, 0);
    g_assert_cmphex(a, ==, 0x1000);
    g_assert_cmpint(kmd_ranges_alloc(&r, 0x1000, 0x4000, 0, &b), ==, 0);
    g_assert_cmphex(b, ==, 0x4000);
    g_assert_cmpint(kmd_ranges_alloc(&r, 0x1000, 0x4000, 0x1000, &c), ==, 0);
    g_assert_cmphex(c, ==, 0x5000);
    g_assert_cmpint(kmd_ranges_alloc(&r, 0x5000, 0x1000, 0, &c), ==, -ENOSPC);
    g_assert_cmphex(r.total, ==, 0x6000);
    kmd_ranges_free(&r, b, 0x1000);
    kmd_ranges_free(&r, 0x5000, 0x1000);
    kmd_ranges_free(&r, a, 0x1000);
    g_assert_cmpuint(r.count, ==, 1);
    g_assert_cmphex(r.free[0].start, ==, 0x1000);
    g_assert_cmphex(r.free[0].size, ==, 0x9000);
    kmd_ranges_fini(&r);
}

static void test_exclude(void)
{
    KmdRanges r;

    kmd_ranges_init(&r);
    g_assert_cmpint(kmd_ranges_add(&r, 0, 0x10000), ==, 0);
    g_assert_cmpint(kmd_ranges_add(&r, 0x20000, 0x10000), ==, 0);
    g_assert_cmpint(kmd_ranges_exclude(&r, 0x4000, 0x1000), ==, 0);
    g_assert_cmpuint(r.count, ==, 3);
    g_assert_cmpint(kmd_ranges_exclude(&r, 0xf000, 0x12000), ==, 0);
    g_assert_cmpuint(r.count, ==, 3);
    g_assert_cmphex(r.free[1].start, ==, 0x5000);
    g_assert_cmphex(r.free[1].size, ==, 0xa000);
    g_assert_cmphex(r.free[2].start, ==, 0x21000);
    g_assert_cmpint(kmd_ranges_exclude(&r, 0, 0x100000), ==, 0);
    g_assert_cmpuint(r.count, ==, 0);
    g_assert_cmphex(r.total, ==, 0);
    kmd_ranges_fini(&r);
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
    KmdRanges r;

    kmd_ranges_init(&r);
    g_assert_cmpint(kmd_ranges_add(&r, 0, UNITS), ==, 0);
    for (step = 0; step < 20000; step++) {
        unsigned slot = (unsigned)g_rand_int_range(rand, 0, LIVE);

        if (live[slot].size) {
            memset(owner + live[slot].start, 0, live[slot].size);
            kmd_ranges_free(&r, live[slot].start, live[slot].size);
            used -= live[slot].size;
            live[slot].size = 0;
        } else {
            uint64_t size = (uint64_t)g_rand_int_range(rand, 1, 40);
            uint64_t align = 1ull << g_rand_int_range(rand, 0, 5);
            uint64_t phase = (uint64_t)g_rand_int_range(rand, 0, 32) &
                             (align - 1);
            uint64_t start;
            int ret = kmd_ranges_alloc(&r, size, align, phase, &start);

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
            kmd_ranges_free(&r, live[i].start, live[i].size);
        }
    }
    g_assert_cmpuint(r.count, ==, 1);
    g_assert_cmpuint(r.total, ==, UNITS);
    kmd_ranges_fini(&r);
    g_rand_free(rand);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kmd/range/basic", test_basic);
    g_test_add_func("/kmd/range/exclude", test_exclude);
    g_test_add_func("/kmd/range/random", test_random);
    return g_test_run();
}
