/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "base/va.h"
#include "core/memory/range.h"

static void test_range(void)
{
    McRange found, r = {.base = 0x1000, .size = 0x100};

    g_assert_true(mc_range_add(&r));
    g_assert_false(mc_range_add(&r));
    r.base = 0x10ff;
    g_assert_false(mc_range_add(&r));
    r.base = 0x0f01;
    g_assert_false(mc_range_add(&r));
    r.base = 0x1100;
    g_assert_true(mc_range_add(&r));
    r.base = 0x0f00;
    g_assert_true(mc_range_add(&r));
    g_assert_true(mc_range_find(0x10ff, &found));
    g_assert_cmpuint(found.base, ==, 0x1000);
    g_assert_true(mc_range_find(0x1100, &found));
    g_assert_cmpuint(found.base, ==, 0x1100);
    g_assert_false(mc_range_find(0x1200, &found));
    g_assert_false(mc_range_find(0xeff, &found));
    g_assert_true(mc_range_overlaps(0, 0x1000));
    g_assert_false(mc_range_overlaps(0, 0xf00));
    g_assert_false(mc_range_remove(0x1001, NULL));
    g_assert_true(mc_range_remove(0x1000, &found));
    g_assert_false(mc_range_find(0x1000, &found));
    g_assert_true(mc_range_remove(0xf00, NULL));
    g_assert_true(mc_range_remove(0x1100, NULL));
}

/* Against a table of who owns what. */
static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    static uint16_t owner[4096];

    for (unsigned round = 1; round < 20000; round++) {
        unsigned base = g_rand_int_range(rand, 0, 4000);
        unsigned size = g_rand_int_range(rand, 1, 60);
        McRange r = {.base = base, .size = size}, found;
        bool clear = true;

        for (unsigned i = base; i < base + size; i++) {
            clear &= !owner[i];
        }
        if (round % 2) {
            g_assert_cmpint(mc_range_add(&r), ==, clear);
            for (unsigned i = base; clear && i < base + size; i++) {
                owner[i] = base + 1;
            }
        } else {
            bool there = owner[base];
            g_assert_cmpint(mc_range_find(base, &found), ==, there);
            if (there) {
                g_assert_cmpuint(found.base + 1, ==, owner[base]);
                g_assert_true(mc_range_remove(found.base, NULL));
                for (unsigned i = 0; i < found.size; i++) {
                    owner[found.base + i] = 0;
                }
            }
        }
    }
}

static void test_reserve(void)
{
    uint8_t *a = mc_va_reserve(10 << 20, 2 << 20);
    uint8_t *b = mc_va_reserve(4096, 4096);

    g_assert_nonnull(a);
    g_assert_nonnull(b);
    g_assert_cmpuint((uintptr_t)a % (2 << 20), ==, 0);
    g_assert_cmpuint((uintptr_t)a + (10 << 20), <, 1ull << 47);
    g_assert_null(mc_va_reserve(0, 4096));
    g_assert_null(mc_va_reserve(1ull << 60, 4096));
    mc_va_release(a, 10 << 20);
    mc_va_release(b, 4096);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/range/range", test_range);
    g_test_add_func("/range/random", test_random);
    g_test_add_func("/range/reserve", test_reserve);
    return g_test_run();
}
