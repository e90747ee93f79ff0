/* SPDX-License-Identifier: MIT */
/*
 * half and half2: IEEE binary16. On the device, operations of the machine
 * (Zfh); on the host, the same results by way of float and double. C++ only.
 */
#ifndef MC_COMMON_MACA_FP16_H
#define MC_COMMON_MACA_FP16_H

#ifndef __cplusplus
#error "half is a C++ class"
#endif

#include "__mc_small_float.h"

struct __half_raw {
    unsigned short x;
};

struct __attribute__((aligned(4))) __half2_raw {
    unsigned short x, y;
};

/* Bits to float and back. */
__MC_BOTH__ float __mc_half_to_float(unsigned short bits)
{
#ifdef __MACA_ARCH__
    return __builtin_bit_cast(_Float16, bits);
#else
    unsigned e = bits >> 10 & 0x1f, m = bits & 0x3ff;
    unsigned sign = (unsigned)(bits >> 15) << 31;

    if (e == 0) {
        float tiny = (float)m / 16777216.0f;

        return sign ? -tiny : tiny;
    }
    if (e == 0x1f) {
        return __builtin_bit_cast(float, m ? 0x7fc00000u : sign | 0x7f800000u);
    }
    return __builtin_bit_cast(float, sign | (e + 112) << 23 | m << 13);
#endif
}

__MC_BOTH__ unsigned short __mc_float_to_half(float x)
{
#ifdef __MACA_ARCH__
    return __builtin_bit_cast(unsigned short, (_Float16)x);
#else
    return __mc_encode(x, 5, 10, __mc_rn);
#endif
}

__MC_BOTH__ unsigned short __mc_double_to_half(double x)
{
#ifdef __MACA_ARCH__
    return __builtin_bit_cast(unsigned short, (_Float16)x);
#else
    return __mc_encode(x, 5, 10, __mc_rn);
#endif
}

__MC_BOTH__ unsigned short __mc_half_fma(unsigned short a, unsigned short b,
                                         unsigned short c)
{
#ifdef __MACA_ARCH__
    return __builtin_bit_cast(
        unsigned short,
        __builtin_fmaf16(__builtin_bit_cast(_Float16, a),
                         __builtin_bit_cast(_Float16, b),
                         __builtin_bit_cast(_Float16, c)));
#else
    return __mc_encode(__mc_fma_odd(__mc_half_to_float(a),
                                    __mc_half_to_float(b),
                                    __mc_half_to_float(c)), 5, 10, __mc_rn);
#endif
}

#define __MC_T       __half
#define __MC_T2      __half2
#define __MC_RAW     __half_raw
#define __MC_RAW2    __half2_raw
#define __MC_NAME(before, after)  before##half##after
#define __MC_NAME2(before, after) before##half2##after
#define __MC_AS(after)            __half_as_##after
#define __MC_FROM_BITS(from)      __##from##_as_half
#define __MC_PAIR_TO_FLOAT2       __half22float2
#define __MC_FLOAT2_TO_PAIR       __float22half2_rn
#define __MC_BOTH_OF              __half2half2
#define __MC_PAIR_OF              __halves2half2
#define __MC_EXP_BITS 5
#define __MC_MAN_BITS 10
#define __MC_TO_FLOAT    __mc_half_to_float
#define __MC_FROM_FLOAT  __mc_float_to_half
#define __MC_FROM_DOUBLE __mc_double_to_half
#define __MC_FMA         __mc_half_fma
#ifdef __MACA_ARCH__
#define __MC_NATIVE _Float16
#endif
#include "__mc_small_float_ops.h"

typedef __half half;
typedef __half2 half2;

__MC_BOTH__ half2 make_half2(half x, half y)
{
    return half2(x, y);
}

#endif
