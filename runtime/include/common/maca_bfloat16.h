/* SPDX-License-Identifier: MIT */
/*
 * bfloat16 and pairs of it: the upper half of a float. The machine converts it
 * (Zfbfmin) but has no arithmetic: operands become float, the result is rounded.
 * C++ only.
 */
#ifndef MC_COMMON_MACA_BFLOAT16_H
#define MC_COMMON_MACA_BFLOAT16_H

#ifndef __cplusplus
#error "bfloat16 is a C++ class"
#endif

#include "__mc_small_float.h"

struct __maca_bfloat16_raw {
    unsigned short x;
};

struct __attribute__((aligned(4))) __maca_bfloat162_raw {
    unsigned short x, y;
};

__MC_BOTH__ float __mc_bfloat16_to_float(unsigned short bits)
{
    return __builtin_bit_cast(float, (unsigned)bits << 16);
}

/* To the nearest even. */
__MC_BOTH__ unsigned short __mc_float_to_bfloat16(float x)
{
#ifdef __MACA_ARCH__
    return __builtin_bit_cast(unsigned short, (__bf16)x);
#else
    unsigned bits = __builtin_bit_cast(unsigned, x);

    if (x != x) {
        return 0x7fc0;
    }
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}

__MC_BOTH__ unsigned short __mc_double_to_bfloat16(double x)
{
    return __mc_encode(x, 8, 7, __mc_rn);
}

__MC_BOTH__ unsigned short __mc_bfloat16_fma(unsigned short a,
                                             unsigned short b,
                                             unsigned short c)
{
    return __mc_double_to_bfloat16(__mc_fma_odd(__mc_bfloat16_to_float(a),
                                                __mc_bfloat16_to_float(b),
                                                __mc_bfloat16_to_float(c)));
}

#define __MC_T       __maca_bfloat16
#define __MC_T2      __maca_bfloat162
#define __MC_RAW     __maca_bfloat16_raw
#define __MC_RAW2    __maca_bfloat162_raw
#define __MC_NAME(before, after)  before##bfloat16##after
#define __MC_NAME2(before, after) before##bfloat162##after
#define __MC_AS(after)            __bfloat16_as_##after
#define __MC_FROM_BITS(from)      __##from##_as_bfloat16
#define __MC_PAIR_TO_FLOAT2       __bfloat1622float2
#define __MC_FLOAT2_TO_PAIR       __float22bfloat162_rn
#define __MC_BOTH_OF              __bfloat162bfloat162
#define __MC_PAIR_OF              __halves2bfloat162
#define __MC_EXP_BITS 8
#define __MC_MAN_BITS 7
#define __MC_TO_FLOAT    __mc_bfloat16_to_float
#define __MC_FROM_FLOAT  __mc_float_to_bfloat16
#define __MC_FROM_DOUBLE __mc_double_to_bfloat16
#define __MC_FMA         __mc_bfloat16_fma
#include "__mc_small_float_ops.h"

typedef __maca_bfloat16 maca_bfloat16;
typedef __maca_bfloat162 maca_bfloat162;

__MC_BOTH__ maca_bfloat162 make_bfloat162(maca_bfloat16 x, maca_bfloat16 y)
{
    return maca_bfloat162(x, y);
}

#endif
