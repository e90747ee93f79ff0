/* SPDX-License-Identifier: MIT */
/*
 * Operations on the two halves or four bytes of a word. The number at the end
 * of a name says how many parts; s and u how they are taken; ss and us
 * saturate.
 */
#ifndef MCR_DEVICE_SIMD_H
#define MCR_DEVICE_SIMD_H

#include "keywords.h"

__MC_DEVICE__ int __mc_part_signed(unsigned x, int i, int bits)
{
    return (int)(x << (32 - bits - i)) >> (32 - bits);
}

__MC_DEVICE__ int __mc_part_unsigned(unsigned x, int i, int bits)
{
    return (int)(x >> i & ((1u << bits) - 1));
}

__MC_DEVICE__ int __mc_saturate_signed(int x, int bits)
{
    int most = (1 << (bits - 1)) - 1;

    return x > most ? most : x < -most - 1 ? -most - 1 : x;
}

__MC_DEVICE__ int __mc_saturate_unsigned(int x, int bits)
{
    int most = (1 << bits) - 1;

    return x > most ? most : x < 0 ? 0 : x;
}

/* Each part of the result is expr of the parts x and y, cut to its bits. */
#define __MC_PARTS(name, params, a, b, sign, n, expr)                          \
    __MC_DEVICE__ unsigned __##name##n params                                  \
    {                                                                          \
        constexpr int bits = 32 / n;                                           \
        unsigned r = 0;                                                        \
                                                                               \
        for (int i = 0; i < 32; i += bits) {                                   \
            int x = __mc_part_##sign(a, i, bits);                              \
            int y = __mc_part_##sign(b, i, bits);                              \
                                                                               \
            (void)y;                                                           \
            r |= ((unsigned)(expr) & ((1ull << bits) - 1)) << i;               \
        }                                                                      \
        return r;                                                              \
    }
#define __MC_SIMD1(name, sign, expr)                                           \
    __MC_PARTS(name, (unsigned a), a, a, sign, 2, expr)                        \
    __MC_PARTS(name, (unsigned a), a, a, sign, 4, expr)
#define __MC_SIMD2(name, sign, expr)                                           \
    __MC_PARTS(name, (unsigned a, unsigned b), a, b, sign, 2, expr)            \
    __MC_PARTS(name, (unsigned a, unsigned b), a, b, sign, 4, expr)

__MC_SIMD1(vabs, signed, x < 0 ? -x : x)
__MC_SIMD1(vabsss, signed, __mc_saturate_signed(x < 0 ? -x : x, bits))
__MC_SIMD1(vneg, signed, -x)
__MC_SIMD1(vnegss, signed, __mc_saturate_signed(-x, bits))
__MC_SIMD2(vadd, unsigned, x + y)
__MC_SIMD2(vaddss, signed, __mc_saturate_signed(x + y, bits))
__MC_SIMD2(vaddus, unsigned, __mc_saturate_unsigned(x + y, bits))
__MC_SIMD2(vsub, unsigned, x - y)
__MC_SIMD2(vsubss, signed, __mc_saturate_signed(x - y, bits))
__MC_SIMD2(vsubus, unsigned, __mc_saturate_unsigned(x - y, bits))
__MC_SIMD2(vavgs, signed, (x + y + 1) >> 1)
__MC_SIMD2(vavgu, unsigned, (x + y + 1) >> 1)
__MC_SIMD2(vhaddu, unsigned, (x + y) >> 1)
__MC_SIMD2(vmaxs, signed, x > y ? x : y)
__MC_SIMD2(vmaxu, unsigned, x > y ? x : y)
__MC_SIMD2(vmins, signed, x < y ? x : y)
__MC_SIMD2(vminu, unsigned, x < y ? x : y)
__MC_SIMD2(vabsdiffs, signed, x > y ? x - y : y - x)
__MC_SIMD2(vabsdiffu, unsigned, x > y ? x - y : y - x)

/* Comparisons: 1 or 0 in each part, or all its bits. */
#define __MC_COMPARE(name, sign, expr)                                         \
    __MC_SIMD2(vset##name, sign, expr)                                         \
    __MC_SIMD2(vcmp##name, sign, (expr) ? -1 : 0)

__MC_COMPARE(eq, unsigned, x == y)
__MC_COMPARE(ne, unsigned, x != y)
__MC_COMPARE(ges, signed, x >= y)
__MC_COMPARE(geu, unsigned, x >= y)
__MC_COMPARE(gts, signed, x > y)
__MC_COMPARE(gtu, unsigned, x > y)
__MC_COMPARE(les, signed, x <= y)
__MC_COMPARE(leu, unsigned, x <= y)
__MC_COMPARE(lts, signed, x < y)
__MC_COMPARE(ltu, unsigned, x < y)

#undef __MC_COMPARE
#undef __MC_SIMD1
#undef __MC_SIMD2
#undef __MC_PARTS

/* Sums of absolute differences. */
#define __MC_SAD(name, sign, n)                                                \
    __MC_DEVICE__ unsigned __##name##n(unsigned a, unsigned b)                 \
    {                                                                          \
        constexpr int bits = 32 / n;                                           \
        unsigned sum = 0;                                                      \
                                                                               \
        for (int i = 0; i < 32; i += bits) {                                   \
            int x = __mc_part_##sign(a, i, bits);                              \
            int y = __mc_part_##sign(b, i, bits);                              \
                                                                               \
            sum += (unsigned)(x > y ? x - y : y - x);                          \
        }                                                                      \
        return sum;                                                            \
    }

__MC_SAD(vsads, signed, 2)
__MC_SAD(vsads, signed, 4)
__MC_SAD(vsadu, unsigned, 2)
__MC_SAD(vsadu, unsigned, 4)

#undef __MC_SAD

#endif
