/* SPDX-License-Identifier: MIT */
/*
 * Sines of floats, in double: reduction of the argument and both polynomials
 * are the same few operations for all lanes, whatever their arguments, below
 * 2^28. The C library's go different ways from pi / 4 and from 200 on.
 */
#include <stdint.h>

float sinf(float x);
float cosf(float x);
float tanf(float x);
void sincosf(float x, float *s, float *c);

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

/* Of a magnitude from 2^28 on: the number of quarter turns, modulo 4, and what
 * is left in radians. */
static __attribute__((noinline)) unsigned reduce_large(uint32_t bits, double *r)
{
    uint64_t mantissa = (bits & 0x7fffff) | 0x800000, turns, n;
    unsigned exponent = (bits >> 23) - 150, s = exponent - 2;

    if (bits >= 0x7f800000) {
        *r = __builtin_nan("");
        return 0;
    }
    /* quarter turns: 2 bits before the point, 62 behind */
    turns = mantissa * window(s) +
            (uint64_t)((unsigned __int128)mantissa * window(s + 64) >> 64);
    n = (turns + (1ull << 61)) >> 62;
    *r = (double)(int64_t)(turns - (n << 62)) * (PI_2 * 0x1p-62);
    return (unsigned)n;
}

static unsigned reduce(float x, double *r)
{
    uint32_t bits = __builtin_bit_cast(uint32_t, x) & 0x7fffffff;
    double d = x, n;
    long quarters;

    if (__builtin_expect(bits >= 0x4d800000, 0)) {
        unsigned q = reduce_large(bits, r);

        *r = x < 0 ? -*r : *r;
        return x < 0 ? -q : q;
    }
    quarters = __builtin_lrint(d * TWO_OVER_PI);
    n = (double)quarters;
    *r = __builtin_fma(-n, PI_2_LOW, __builtin_fma(-n, PI_2, d));
    return (unsigned)quarters;
}

/* Of at most pi / 4, exact to some 33 bits. */
static double sine(double r)
{
    double q = r * r;

    return r * (1 + q * (-1.0 / 6 + q * (1.0 / 120 + q * (-1.0 / 5040 +
                q * (1.0 / 362880 - q * (1.0 / 39916800))))));
}

static double cosine(double r)
{
    double q = r * r;

    return 1 + q * (-0.5 + q * (1.0 / 24 + q * (-1.0 / 720 +
           q * (1.0 / 40320 - q * (1.0 / 3628800)))));
}

/* Of r and n quarter turns. */
static float turned(double r, unsigned n)
{
    double v = n & 1 ? cosine(r) : sine(r);

    return (float)(n & 2 ? -v : v);
}

float sinf(float x)
{
    double r;
    unsigned n = reduce(x, &r);

    return turned(r, n);
}

float cosf(float x)
{
    double r;
    unsigned n = reduce(x, &r);

    return turned(r, n + 1);
}

float tanf(float x)
{
    double r, s, c;
    unsigned n = reduce(x, &r);

    s = sine(r);
    c = cosine(r);
    return (float)(n & 1 ? -c / s : s / c);
}

void sincosf(float x, float *s, float *c)
{
    double r;
    unsigned n = reduce(x, &r);

    *s = turned(r, n);
    *c = turned(r, n + 1);
}
