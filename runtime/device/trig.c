/* SPDX-License-Identifier: MIT */
/*
 * Sines of floats, in double: reduction of the argument and both polynomials
 * are the same few operations for all lanes, whatever their arguments, below
 * 2^28. The C library's go different ways from pi / 4 and from 200 on.
 */
#include "math.h"

#define TWO_OVER_PI 0.6366197723675814
#define PI_2        1.5707963267948966
#define PI_2_LOW    6.123233995736766e-17 /* what is missing in it */

/* The fraction 2 / pi. */
static const uint64_t two_over_pi[] = {
    0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u,
    0xdb6295993c439041u, 0xfe5163abdebbc561u,
};

/* Bits of it from s on, as the upper ones. */
static uint64_t window(unsigned s)
{
    uint64_t first = two_over_pi[s / 64], next = two_over_pi[s / 64 + 1];

    return s % 64 ? first << s % 64 | next >> (64 - s % 64) : first;
}

/* x = n quarter turns and an angle of at most 1/8 turn, in radians */
typedef struct Turn {
    double angle;
    unsigned n;
} Turn;

/* Of a magnitude from 2^28 on, which close is not for. */
static __attribute__((noinline)) Turn reduce_large(uint32_t bits, Turn close)
{
    uint64_t mantissa = (bits & 0x7fffff) | 0x800000, turns, n;
    unsigned exponent = (bits >> 23) - 150, s = exponent - 2;

    if (bits >= 0x7f800000) {
        return (Turn){ close.angle - close.angle, 0 }; /* NaN */
    }
    /* quarter turns: 2 bits before the point, 62 behind */
    turns = mantissa * window(s) +
            (uint64_t)((unsigned __int128)mantissa * window(s + 64) >> 64);
    n = (turns + (1ull << 61)) >> 62;
    return (Turn){ (double)(int64_t)(turns - (n << 62)) * (PI_2 * 0x1p-62),
                   (unsigned)n };
}

static inline Turn reduce(float x)
{
    uint32_t bits = as_bits(x) & 0x7fffffff;
    double d = x, n;
    long quarters = __builtin_lrint(d * TWO_OVER_PI);
    Turn t;

    n = (double)quarters;
    t.angle = __builtin_fma(-n, PI_2_LOW, __builtin_fma(-n, PI_2, d));
    t.n = (unsigned)quarters;
    if (SELDOM(bits >= 0x4d800000)) {
        t = reduce_large(bits, t);
        if (x < 0) {
            t = (Turn){ -t.angle, -t.n };
        }
    }
    return t;
}

/* Of at most pi / 4, exact to some 33 bits. */
static inline double sine(double r)
{
    double q = r * r;

    return r * (1 + q * (-1.0 / 6 + q * (1.0 / 120 + q * (-1.0 / 5040 +
                q * (1.0 / 362880 - q * (1.0 / 39916800))))));
}

static inline double cosine(double r)
{
    double q = r * r;

    return 1 + q * (-0.5 + q * (1.0 / 24 + q * (-1.0 / 720 +
           q * (1.0 / 40320 - q * (1.0 / 3628800)))));
}

/* Of an angle and n quarter turns. */
static inline float turned(double angle, unsigned n)
{
    double v = n & 1 ? cosine(angle) : sine(angle);

    return (float)(n & 2 ? -v : v);
}

MATH float sinf(float x)
{
    Turn t = reduce(x);

    return turned(t.angle, t.n);
}

MATH float cosf(float x)
{
    Turn t = reduce(x);

    return turned(t.angle, t.n + 1);
}

MATH float tanf(float x)
{
    Turn t = reduce(x);
    double s = sine(t.angle), c = cosine(t.angle);

    return (float)(t.n & 1 ? -c / s : s / c);
}

MATH void sincosf(float x, float *s, float *c)
{
    Turn t = reduce(x);

    *s = turned(t.angle, t.n);
    *c = turned(t.angle, t.n + 1);
}
