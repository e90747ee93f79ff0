/* SPDX-License-Identifier: MIT */
/*
 * What half and bfloat16 share: conversions between a small IEEE format and
 * double or integers, for the host and for rounding modes; in integers, so that
 * both sides of a program get the same bits.
 */
#ifndef MC_COMMON_SMALL_FLOAT_H
#define MC_COMMON_SMALL_FLOAT_H

#include "../mcr/mc_vector_types.h"

#ifndef __MC_RTC_SOURCE__ /* has it under another name */
#include <type_traits>
#endif

#if defined(__MXCC__) && defined(__MACA__)
#include "../mcr/device/keywords.h"
#else
#define __MC_BOTH__ static inline
#endif

/* static as a member function means something else */
#if defined(__MXCC__) && defined(__MACA__)
#define __MC_MEMBER__ __host__ __device__ __MC_INLINE__
#else
#define __MC_MEMBER__ inline
#endif

/* To the nearest even, towards zero, up, down. */
enum __mc_rounding { __mc_rn, __mc_rz, __mc_ru, __mc_rd };

/* x in a format of that many bits of exponent and mantissa. NaNs become the
 * positive quiet one without payload, as the machine has it. */
__MC_BOTH__ unsigned short __mc_encode(double x, int exp_bits, int man_bits,
                                       __mc_rounding mode)
{
    unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
    unsigned long long sig = bits & 0xfffffffffffffull, rest, half;
    unsigned negative = (unsigned)(bits >> 63), r;
    int raw = (int)(bits >> 52 & 0x7ff), exp_max = (1 << exp_bits) - 1;
    int e = (raw ? raw : 1) - 1023 + (exp_max >> 1), shift = 52 - man_bits;
    unsigned sign = negative << (exp_bits + man_bits);
    unsigned inf = (unsigned)exp_max << man_bits;
    bool up, away = mode == (negative ? __mc_rd : __mc_ru);

    if (raw == 0x7ff) {
        return (unsigned short)(sig ? inf | 1u << (man_bits - 1) : sign | inf);
    }
    if (raw) {
        sig |= 1ull << 52;
    }
    if (e < 1) { /* subnormal in the small format */
        shift = shift + 1 - e > 60 ? 60 : shift + 1 - e;
        e = 1;
        r = 0;
    } else {
        r = (unsigned)(e - 1) << man_bits;
    }
    half = 1ull << (shift - 1);
    rest = sig & (2 * half - 1);
    sig >>= shift;
    up = mode == __mc_rn ? rest > half || (rest == half && (sig & 1))
                         : away && rest;
    r += (unsigned)sig + up; /* the leading one counts the exponent up */
    if (r >= inf) {
        r = mode == __mc_rn || away ? inf : inf - 1;
    }
    return (unsigned short)(sign | r);
}

/* a * b + c rounded to odd, for operands of a small format: the product is
 * exact, and a second rounding to the small format is then right. */
__MC_BOTH__ double __mc_fma_odd(double a, double b, double c)
{
    double p = a * b, sum = p + c, t = sum - p;
    double lost = (p - (sum - t)) + (c - t);
    unsigned long long bits = __builtin_bit_cast(unsigned long long, sum);

    if (lost != 0 && lost == lost && !(bits & 1)) {
        bits += (lost > 0) == (sum > 0) ? 1 : -1;
        sum = __builtin_bit_cast(double, bits);
    }
    return sum;
}

/* An integer, rounded to odd where it has too many bits. */
__MC_BOTH__ double __mc_from_unsigned(unsigned long long x)
{
    if (x >> 53) {
        return (double)(x >> 11 | ((x & 0x7ff) != 0)) * 2048.0;
    }
    return (double)x;
}

__MC_BOTH__ double __mc_from_signed(long long x)
{
    return x < 0 ? -__mc_from_unsigned(0 - (unsigned long long)x)
                 : __mc_from_unsigned((unsigned long long)x);
}

/* Saturates; NaN gives 0. The value has at most 24 bits. */
template <class I> __MC_BOTH__ I __mc_to_integer(float x, __mc_rounding mode)
{
    const I most = (I)(std::is_signed<I>::value
                           ? (1ull << (8 * sizeof(I) - 1)) - 1 : ~0ull);
    const I least = std::is_signed<I>::value ? (I)(-most - 1) : (I)0;
    double r = x, limit = std::is_signed<I>::value ? 0.5 : 1.0;

    for (unsigned i = 0; i < sizeof(I); i++) {
        limit *= 256;
    }
    r = mode == __mc_rn   ? __builtin_rint(r)
        : mode == __mc_rz ? __builtin_trunc(r)
        : mode == __mc_ru ? __builtin_ceil(r)
                          : __builtin_floor(r);
    if (r != r) {
        return 0;
    }
    if (r >= limit) {
        return most;
    }
    return r < (double)least ? least : (I)r;
}

#endif
