/* SPDX-License-Identifier: MIT */
/* Division by floating point against that of integers: where operands are as
 * large as can be, and quotients as near to integers. */
#include <glib.h>

#include "rv/sem.h"
#include "simt/exec/divide.h"

#define CHECK_32(a, b)                                                         \
    do {                                                                       \
        g_assert_cmphex(lane_div32(a, b), ==, rv_div32(a, b));                 \
        g_assert_cmphex(lane_rem32(a, b), ==, rv_rem32(a, b));                 \
        g_assert_cmphex(lane_divu32(a, b), ==, rv_divu32(a, b));               \
        g_assert_cmphex(lane_remu32(a, b), ==, rv_remu32(a, b));               \
    } while (0)

static void check_64(uint64_t a, uint64_t b)
{
    if (!(fits_DIV(a) | fits_DIV(b))) {
        g_assert_cmphex(near_DIV(a, b), ==, rv_div64(a, b));
        g_assert_cmphex(near_REM(a, b), ==, rv_rem64(a, b));
    }
    if (!(fits_DIVU(a) | fits_DIVU(b))) {
        g_assert_cmphex(near_DIVU(a, b), ==, rv_divu64(a, b));
        g_assert_cmphex(near_REMU(a, b), ==, rv_remu64(a, b));
    }
}

/* A number of so many bits, or one near it, of either sign. */
static uint64_t some(GRand *rand, unsigned bits)
{
    uint64_t v = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
    unsigned n = g_rand_int_range(rand, 0, bits + 1);

    v = v % 4 ? v >> (64 - n) % 64 : (1ull << n % 64) + v % 8 / 4 - 1;
    return g_rand_boolean(rand) ? -v : v;
}

static void test_words(void)
{
    static const uint32_t edges[] = {0, 1, 2, 3, 0x7fffffff, 0x80000000,
                                     0x80000001, 0xfffffffe, 0xffffffff};
    GRand *rand = g_rand_new_with_seed(3);

    for (unsigned i = 0; i < 9 * 9; i++) {
        CHECK_32(edges[i / 9], edges[i % 9]);
    }
    for (unsigned i = 0; i < 1000000; i++) {
        uint32_t a = (uint32_t)some(rand, 32), b = (uint32_t)some(rand, 32);

        CHECK_32(a, b);
        CHECK_32(a * b, b);
        CHECK_32(a * b - 1, b);
    }
    g_rand_free(rand);
}

static void test_near(void)
{
    const uint64_t end = 1ull << NEAR_BITS;
    GRand *rand = g_rand_new_with_seed(4);

    g_assert_true(!fits_DIV(end - 1) && fits_DIV(end));
    g_assert_true(!fits_DIV(-end) && fits_DIV(-end - 1));
    g_assert_true(!fits_DIVU(end - 1) && fits_DIVU(end) && fits_DIVU(-1ull));
    for (unsigned i = 0; i < 1000000; i++) {
        uint64_t a = some(rand, NEAR_BITS), b = some(rand, NEAR_BITS);
        uint64_t whole = b ? (end - 1) / b * b : 0;

        check_64(a, b);
        check_64(a, 0);
        check_64(a, -1ull);
        check_64(whole, b); /* the largest quotient without a rest, */
        check_64(whole - 1, b); /* and one that is almost it */
        check_64(end - 1, b);
        check_64(-end, b);
        check_64(a, end - 1);
    }
    g_rand_free(rand);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/divide/words", test_words);
    g_test_add_func("/divide/near", test_near);
    return g_test_run();
}
