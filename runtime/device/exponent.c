/* SPDX-License-Identifier: MIT */
/*
 * Exponentials and logarithms of floats, in float: a few multiplications and
 * additions that are the same for all lanes, whatever their arguments. What is
 * not, NaN, infinities, subnormal numbers and results, is put right behind a
 * branch that lanes seldom take. (The C library's go different ways by the
 * argument's size.)
 */
#include "math.h"

#define LOG2_E       0x1.715476p+0f
#define LN_2         0x1.62e4p-1f     /* times a power's exponent: exact */
#define LN_2_LOW     0x1.7f7d1cp-20f  /* what is missing in it */
#define LOG2_10      0x1.a934fp+1f
#define LOG10_2      0x1.344p-2f
#define LOG10_2_LOW  0x1.3509f8p-18f
#define LOG2_E_LOW   0x1.4ae0bep-26f
#define LOG10_E      0x1.bcb7b2p-2f
#define LOG10_E_LOW  -0x1.5b235ep-27f

/* Added to a float of less than 2^22 leaves the nearest integer in the lower
 * bits. */
#define INTEGER 0x1.8p23f

/* What is e^x, 2^x or 10^x: 2^n times a number near 1. */
typedef struct Power {
    float near;
    float n; /* + INTEGER */
} Power;

static inline float scaled(Power p)
{
    return as_float(as_bits(p.near) + (as_bits(p.n) << 23));
}

/* Where 2^n is no normal float: x is less than low or more than high, or NaN. */
static inline __attribute__((always_inline)) float
scaled_twice(Power p, float x, float low, float high)
{
    int n, half;

    if (x != x) {
        return x + x;
    }
    if (x > high) {
        return INFINITY;
    }
    if (x < low) {
        return 0;
    }
    n = (int)(p.n - INTEGER);
    half = n >> 1;
    return p.near * as_float((uint32_t)(half + 127) << 23) *
           as_float((uint32_t)(n - half + 127) << 23);
}

/* Polynomials whose greatest error in their range is the least. */

MATH float expf(float x)
{
    float t = __builtin_fmaf(x, LOG2_E, INTEGER), n = t - INTEGER, r, q, y;
    Power p = { .n = t };

    r = __builtin_fmaf(n, -LN_2, x);
    r = __builtin_fmaf(n, -LN_2_LOW, r);
    q = __builtin_fmaf(r, 0x1.6a4d34p-10f, 0x1.12398ep-7f);
    q = __builtin_fmaf(r, q, 0x1.5558bp-5f);
    q = __builtin_fmaf(r, q, 0x1.555492p-3f);
    q = __builtin_fmaf(r, q, 0x1.fffffcp-2f);
    q = __builtin_fmaf(r, q, 1);
    p.near = __builtin_fmaf(r, q, 1);
    y = scaled(p);
    if (SELDOM(!(__builtin_fabsf(x) < 87))) {
        y = scaled_twice(p, x, -104, 0x1.62e42ep+6f);
    }
    return y;
}

MATH float exp2f(float x)
{
    float t = x + INTEGER, r = x - (t - INTEGER), q, y;
    Power p = { .n = t };

    q = __builtin_fmaf(r, 0x1.417856p-13f, 0x1.5f094ap-10f);
    q = __builtin_fmaf(r, q, 0x1.3b2dd4p-7f);
    q = __builtin_fmaf(r, q, 0x1.c6af7ap-5f);
    q = __builtin_fmaf(r, q, 0x1.ebfbdcp-3f);
    q = __builtin_fmaf(r, q, 0x1.62e43p-1f);
    p.near = __builtin_fmaf(r, q, 1);
    y = scaled(p);
    if (SELDOM(!(__builtin_fabsf(x) < 126))) {
        y = scaled_twice(p, x, -151, 0x1.fffffep+6f);
    }
    return y;
}

MATH float exp10f(float x)
{
    float t = __builtin_fmaf(x, LOG2_10, INTEGER), n = t - INTEGER, r, q, y;
    Power p = { .n = t };

    r = __builtin_fmaf(n, -LOG10_2, x);
    r = __builtin_fmaf(n, -LOG10_2_LOW, r);
    q = __builtin_fmaf(r, 0x1.a66a1ap-3f, 0x1.156bbap-1f);
    q = __builtin_fmaf(r, q, 0x1.2bd9ep+0f);
    q = __builtin_fmaf(r, q, 0x1.046f9ap+1f);
    q = __builtin_fmaf(r, q, 0x1.53524ap+1f);
    q = __builtin_fmaf(r, q, 0x1.26bb1cp+1f);
    p.near = __builtin_fmaf(r, q, 1);
    y = scaled(p);
    if (SELDOM(!(__builtin_fabsf(x) < 37))) {
        y = scaled_twice(p, x, -46, 0x1.344134p+5f);
    }
    return y;
}

/* x = 2^n (1 + f), -1/3 <= f < 1/3, and log(1 + f) = f + rest */
typedef struct Log {
    float n, f, rest;
} Log;

static inline Log log_parts(uint32_t bits, int shift)
{
    uint32_t e = (bits - 0x3f2aaaab) & 0xff800000;
    float f = as_float(bits - e) - 1, q;

    q = __builtin_fmaf(f, -0x1.064f1p-3f, 0x1.1e9b42p-3f);
    q = __builtin_fmaf(f, q, -0x1.f3e0bap-4f);
    q = __builtin_fmaf(f, q, 0x1.1ecad6p-3f);
    q = __builtin_fmaf(f, q, -0x1.55960ep-3f);
    q = __builtin_fmaf(f, q, 0x1.99d10ep-3f);
    q = __builtin_fmaf(f, q, -0x1.ffff1ep-3f);
    q = __builtin_fmaf(f, q, 0x1.555504p-2f);
    q = __builtin_fmaf(f, q, -0.5f);
    return (Log){ (float)(((int32_t)e >> 23) - shift), f, f * f * q };
}

/*
 * To some base: log(2) is unit, and log(1 + f) is natural times scale, if that
 * is not 1. Where x is none of the numbers that are positive, finite and normal,
 * it is multiplied by 2^25, and unit is such that n times it is the result,
 * unless x is subnormal.
 */
static inline float log_by(float x, float unit, float unit_low, float scale,
                           float scale_low)
{
    uint32_t bits = as_bits(x);
    int shift = 0;
    Log l;
    float low;

    if (SELDOM(bits - 0x00800000 >= 0x7f000000)) {
        shift = 25;
        bits = as_bits(x * 0x1p25f) & 0x7fffffff; /* of -0, too */
        unit = x < 0                        ? NAN
               : x == 0 || x == INFINITY    ? INFINITY
                                            : unit + x;
    }
    l = log_parts(bits, shift);
    if (scale == 1) {
        low = l.f + __builtin_fmaf(l.n, unit_low, l.rest);
    } else {
        low = __builtin_fmaf(l.f, scale_low, l.n * unit_low);
        low = __builtin_fmaf(l.rest, scale, low);
        low = __builtin_fmaf(l.f, scale, low);
    }
    return __builtin_fmaf(l.n, unit, low);
}

MATH float logf(float x)
{
    return log_by(x, LN_2, LN_2_LOW, 1, 0);
}

MATH float log2f(float x)
{
    return log_by(x, 1, 0, LOG2_E, LOG2_E_LOW);
}

MATH float log10f(float x)
{
    return log_by(x, LOG10_2, LOG10_2_LOW, LOG10_E, LOG10_E_LOW);
}
