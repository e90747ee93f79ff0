/* SPDX-License-Identifier: MIT */
/*
 * Integer floating point against the host's IEEE arithmetic, results and flags.
 * Round to nearest, ties away is what no host mode gives: it is checked against
 * the exact value computed in a wider format.
 */
#include "simt/slow/softfp.h"

#include <fenv.h>
#include <glib.h>
#include <math.h>
#include <string.h>

static const int host_modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                  FE_UPWARD };

static unsigned host_flags(void)
{
    int f = fetestexcept(FE_ALL_EXCEPT);

    return (f & FE_INEXACT ? FP_NX : 0) | (f & FE_UNDERFLOW ? FP_UF : 0) |
           (f & FE_OVERFLOW ? FP_OF : 0) | (f & FE_DIVBYZERO ? FP_DZ : 0) |
           (f & FE_INVALID ? FP_NV : 0);
}

static float as_f(uint64_t bits)
{
    uint32_t u = (uint32_t)bits;
    float f;

    memcpy(&f, &u, 4);
    return f;
}

static uint64_t f_bits(float f)
{
    uint32_t u;

    memcpy(&u, &f, 4);
    return isnan(f) ? 0x7fc00000 : u;
}

static double as_d(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, 8);
    return d;
}

static uint64_t d_bits(double d)
{
    uint64_t u;

    memcpy(&u, &d, 8);
    return isnan(d) ? 0x7ff8000000000000 : u;
}

/* Operands that meet: near exponents, edges, sparse fractions. */
static uint64_t operand(GRand *rand, FpFormat fmt)
{
    unsigned frac = fmt == FP_D ? 52 : fmt == FP_S ? 23 : 10;
    unsigned width = fmt == FP_D ? 64 : fmt == FP_S ? 32 : 16;
    uint64_t mask = width == 64 ? UINT64_MAX : (1ull << width) - 1;
    uint64_t bits = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
    uint64_t max = (1ull << (width - 1 - frac)) - 1, exp;

    switch (g_rand_int_range(rand, 0, 8)) {
    case 0: /* zero, subnormals, infinities, NaNs */
        exp = g_rand_boolean(rand) ? 0 : max;
        break;
    case 1: /* the ends of the normal range */
        exp = g_rand_boolean(rand) ? (uint64_t)g_rand_int_range(rand, 1, 4)
                                   : max - g_rand_int_range(rand, 1, 4);
        break;
    case 2:
        return bits & mask;
    default: /* around one */
        exp = max / 2 - 4 + g_rand_int_range(rand, 0, 9);
        break;
    }
    if (g_rand_boolean(rand)) {
        bits &= ~0ull << g_rand_int_range(rand, 0, (int)frac);
    }
    if (g_rand_int_range(rand, 0, 6) == 0) {
        bits &= ~((1ull << frac) - 1);
    }
    bits &= ~(max << frac);
    return (bits | exp << frac) & mask;
}

typedef enum Op { ADD, SUB, MUL, DIV, SQRT, FMA, OPS } Op;

static uint64_t soft(FpEnv *e, FpFormat f, Op op, uint64_t a, uint64_t b,
                     uint64_t c)
{
    switch (op) {
    case ADD:
        return fp_add(e, f, a, b);
    case SUB:
        return fp_sub(e, f, a, b);
    case MUL:
        return fp_mul(e, f, a, b);
    case DIV:
        return fp_div(e, f, a, b);
    case SQRT:
        return fp_sqrt(e, f, a);
    default:
        return fp_fma(e, f, a, b, c);
    }
}

#define HOST(name, T, from, to, SQRT_FN, FMA_FN)                               \
    static uint64_t name(Op op, uint64_t ab, uint64_t bb, uint64_t cb)         \
    {                                                                          \
        volatile T a = from(ab), b = from(bb), c = from(cb), r;                \
                                                                               \
        feclearexcept(FE_ALL_EXCEPT);                                          \
        switch (op) {                                                          \
        case ADD:                                                              \
            r = a + b;                                                         \
            break;                                                             \
        case SUB:                                                              \
            r = a - b;                                                         \
            break;                                                             \
        case MUL:                                                              \
            r = a * b;                                                         \
            break;                                                             \
        case DIV:                                                              \
            r = a / b;                                                         \
            break;                                                             \
        case SQRT:                                                             \
            r = SQRT_FN(a);                                                    \
            break;                                                             \
        default:                                                               \
            r = FMA_FN(a, b, c);                                               \
            break;                                                             \
        }                                                                      \
        return to(r);                                                          \
    }
HOST(host_f, float, as_f, f_bits, sqrtf, fmaf)
HOST(host_d, double, as_d, d_bits, sqrt, fma)

static bool is_nan_bits(FpFormat fmt, uint64_t x)
{
    return fmt == FP_D ? isnan(as_d(x)) : isnan(as_f(x));
}

static void test_arithmetic(void)
{
    GRand *rand = g_rand_new_with_seed(3);

    for (int n = 0; n < 400000; n++) {
        FpFormat fmt = n & 1 ? FP_D : FP_S;
        Op op = (Op)(n / 2 % OPS);
        unsigned rm = (unsigned)g_rand_int_range(rand, 0, 4);
        uint64_t a = operand(rand, fmt), b = operand(rand, fmt);
        uint64_t c = operand(rand, fmt), expect, got;
        FpEnv env = { rm, 0 };
        unsigned flags;

        fesetround(host_modes[rm]);
        expect = (fmt == FP_D ? host_d : host_f)(op, a, b, c);
        flags = host_flags();
        fesetround(FE_TONEAREST);
        got = soft(&env, fmt, op, a, b, c);
        g_assert_cmphex(got, ==, expect);
        /* C leaves open whether fma(0, inf, qNaN) is invalid. */
        if (op == FMA && is_nan_bits(fmt, c)) {
            continue;
        }
        g_assert_cmphex(env.flags, ==, flags);
    }
    g_rand_free(rand);
}

/* f32 results from the exact f64 sum or product of f32 operands. */
static void test_ties_away(void)
{
    GRand *rand = g_rand_new_with_seed(4);
    int ties = 0;

    for (int n = 0; n < 200000; n++) {
        /* Small integers over a power of two: sums are exact in f64. */
        double a = g_rand_int_range(rand, 1 << 22, 1 << 25);
        double b = (double)g_rand_int_range(rand, -(1 << 20), 1 << 20) / 8;
        double exact, unit, down, expect;
        FpEnv env = { FP_RMM, 0 };

        a = (float)a;
        b = (float)b;
        exact = a + b;
        unit = exp2(floor(log2(exact)) - 23);
        down = floor(exact / unit) * unit;
        expect = exact - down >= unit / 2 ? down + unit : down;
        ties += exact - down == unit / 2;
        g_assert_cmphex(
            fp_add(&env, FP_S, f_bits((float)a), f_bits((float)b)), ==,
            f_bits((float)expect));
        env.rm = FP_RMM;
        g_assert_cmphex(
            fp_sub(&env, FP_S, f_bits((float)-a), f_bits((float)b)), ==,
            f_bits((float)-expect));
    }
    g_assert_cmpint(ties, >, 100);
    g_rand_free(rand);
}

/* All of binary16: through binary32, where its operations are exact enough to
 * round once more without harm (24 >= 2 * 11 + 2). */
static void test_half(void)
{
    GRand *rand = g_rand_new_with_seed(5);

    for (uint32_t h = 0; h < 0x10000; h++) {
        FpEnv env = { FP_RNE, 0 };
        uint64_t s = fp_convert(&env, FP_S, FP_H, h);
        bool nan = (h & 0x7c00) == 0x7c00 && (h & 0x3ff);
        int e = (int)(h >> 10 & 31);
        double value = ldexp((h & 0x3ff) + (e ? 1024 : 0), (e ? e : 1) - 25);

        if (e == 31) {
            g_assert_cmphex(s, ==,
                            nan ? 0x7fc00000
                                : (h & 0x8000) << 16 | 0x7f800000);
        } else {
            g_assert_cmphex(s, ==,
                            f_bits((float)(h & 0x8000 ? -value : value)));
        }
        g_assert_cmphex(fp_convert(&env, FP_H, FP_S, s), ==,
                        nan ? 0x7e00 : h);
    }
    for (int n = 0; n < 200000; n++) {
        FpEnv env = { FP_RNE, 0 }, wide = { FP_RNE, 0 };
        Op op = (Op)(n % FMA);
        uint64_t a = operand(rand, FP_H), b = operand(rand, FP_H);
        uint64_t as = fp_convert(&wide, FP_S, FP_H, a);
        uint64_t bs = fp_convert(&wide, FP_S, FP_H, b);

        g_assert_cmphex(soft(&env, FP_H, op, a, b, 0), ==,
                        fp_convert(&wide, FP_H, FP_S, host_f(op, as, bs, 0)));
    }
    g_rand_free(rand);
}

static void test_convert(void)
{
    GRand *rand = g_rand_new_with_seed(6);

    for (int n = 0; n < 200000; n++) {
        unsigned rm = (unsigned)g_rand_int_range(rand, 0, 4), flags;
        uint64_t d = operand(rand, FP_D), expect;
        uint64_t i = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
        FpEnv env = { rm, 0 };
        volatile double vd = as_d(d);
        volatile float vf;

        i >>= g_rand_int_range(rand, 0, 64);
        if (n & 1) { /* into the range of floats */
            d = (d & ~(0x7ffull << 52)) |
                (uint64_t)g_rand_int_range(rand, 860, 1160) << 52;
            vd = as_d(d);
        }
        fesetround(host_modes[rm]);
        feclearexcept(FE_ALL_EXCEPT);
        vf = (float)vd;
        expect = f_bits(vf);
        flags = host_flags();
        g_assert_cmphex(fp_convert(&env, FP_S, FP_D, d), ==, expect);
        g_assert_cmphex(env.flags, ==, flags);
        volatile int64_t vi = (int64_t)i;
        volatile uint64_t vu = i;
        volatile double di = (double)vi, du = (double)vu;
        volatile float fi = (float)vi;
        g_assert_cmphex(fp_from_int(&env, FP_D, i, 64, true), ==, d_bits(di));
        g_assert_cmphex(fp_from_int(&env, FP_D, i, 64, false), ==, d_bits(du));
        g_assert_cmphex(fp_from_int(&env, FP_S, i, 64, true), ==, f_bits(fi));
        fesetround(FE_TONEAREST);
        g_assert_cmphex(fp_from_int(&env, FP_D, i, 32, true), ==,
                        d_bits((int32_t)i));
        g_assert_cmphex(fp_from_int(&env, FP_D, i, 32, false), ==,
                        d_bits((uint32_t)i));
    }
    g_rand_free(rand);
}

static void test_to_int(void)
{
    GRand *rand = g_rand_new_with_seed(7);

    for (int n = 0; n < 200000; n++) {
        unsigned rm = (unsigned)g_rand_int_range(rand, 0, 5);
        uint64_t bits = operand(rand, FP_D);
        int e = g_rand_int_range(rand, -3, 67);
        double v, whole;
        FpEnv env = { rm, 0 };

        if (n % 4) {
            bits = (bits & ~(0x7ffull << 52)) | (uint64_t)(1023 + e) << 52;
        }
        v = as_d(bits);
        if (rm == FP_RMM) {
            whole = round(v);
        } else {
            fesetround(host_modes[rm]);
            whole = nearbyint(v);
            fesetround(FE_TONEAREST);
        }
#define CHECK_INT(width, is_signed, low, high, T)                              \
    do {                                                                       \
        env.flags = 0;                                                         \
        uint64_t got = fp_to_int(&env, FP_D, bits, width, is_signed);          \
        if (isnan(v) || whole >= (high)) {                                     \
            g_assert_cmphex(got, ==,                                           \
                            (uint64_t)(int64_t)(T)((is_signed)                 \
                                                       ? ~0ull >> (65 - width) \
                                                       : ~0ull));              \
            g_assert_cmphex(env.flags, ==, FP_NV);                             \
        } else if (whole < (low)) {                                            \
            g_assert_cmphex(got, ==,                                           \
                            (is_signed) ? ~0ull << (width - 1) : 0ull);        \
            g_assert_cmphex(env.flags, ==, FP_NV);                             \
        } else {                                                               \
            g_assert_cmphex(got, ==,                                           \
                            (is_signed) ? (uint64_t)(int64_t)whole             \
                            : width == 32                                      \
                                ? (uint64_t)(int32_t)(uint32_t)whole           \
                                : (uint64_t)whole);                            \
            g_assert_cmphex(env.flags, ==, whole == v ? 0 : FP_NX);            \
        }                                                                      \
    } while (0)
        CHECK_INT(32, true, -0x1p31, 0x1p31, int64_t);
        CHECK_INT(64, true, -0x1p63, 0x1p63, int64_t);
        CHECK_INT(32, false, 0.0, 0x1p32, int64_t);
        CHECK_INT(64, false, 0.0, 0x1p64, int64_t);
    }
    g_rand_free(rand);
}

static void test_compare(void)
{
    GRand *rand = g_rand_new_with_seed(8);

    for (int n = 0; n < 200000; n++) {
        uint64_t a = operand(rand, FP_S), b = operand(rand, FP_S);
        float x = as_f(a), y = as_f(b);
        bool snan = (isnan(x) && !(a & 0x400000)) ||
                    (isnan(y) && !(b & 0x400000));
        FpEnv env = { FP_RNE, 0 };

        if (n % 8 == 0) {
            b = a ^ (n & 8 ? 0x80000000 : 0);
            y = as_f(b);
            snan = isnan(x) && !(a & 0x400000);
        }
        g_assert_cmpint(fp_eq(&env, FP_S, a, b), ==, x == y);
        g_assert_cmphex(env.flags, ==, snan ? FP_NV : 0);
        env.flags = 0;
        g_assert_cmpint(fp_lt(&env, FP_S, a, b), ==, isless(x, y));
        g_assert_cmphex(env.flags, ==, isnan(x) || isnan(y) ? FP_NV : 0);
        g_assert_cmpint(fp_le(&env, FP_S, a, b), ==, islessequal(x, y));
        env.flags = 0;
        uint64_t low = fp_min(&env, FP_S, a, b);
        g_assert_cmphex(env.flags, ==, snan ? FP_NV : 0);
        if (isnan(x) && isnan(y)) {
            g_assert_cmphex(low, ==, 0x7fc00000);
        } else if (isnan(x) || isnan(y)) {
            g_assert_cmphex(low, ==, isnan(x) ? b : a);
        } else if (x == y) { /* -0 is less than +0 */
            g_assert_cmphex(low, ==, signbit(x) ? a : b);
            g_assert_cmphex(fp_max(&env, FP_S, a, b), ==, signbit(x) ? b : a);
        } else {
            g_assert_cmphex(low, ==, isless(x, y) ? a : b);
            g_assert_cmphex(fp_max(&env, FP_S, a, b), ==,
                            isless(x, y) ? b : a);
        }
    }
    g_rand_free(rand);
}

static void test_class(void)
{
    static const uint64_t values[10] = {
        0xff800000, 0xc0000000, 0x80000001, 0x80000000, 0,
        1,          0x3f800000, 0x7f800000, 0x7f800001, 0x7fc00000,
    };

    for (unsigned i = 0; i < 10; i++) {
        g_assert_cmphex(fp_class(FP_S, values[i]), ==, 1u << i);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/softfp/arithmetic", test_arithmetic);
    g_test_add_func("/softfp/ties-away", test_ties_away);
    g_test_add_func("/softfp/half", test_half);
    g_test_add_func("/softfp/convert", test_convert);
    g_test_add_func("/softfp/to-int", test_to_int);
    g_test_add_func("/softfp/compare", test_compare);
    g_test_add_func("/softfp/class", test_class);
    return g_test_run();
}
