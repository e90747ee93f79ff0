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

/*
 * Of three numbers, words or the halves of words: the largest and least of all,
 * and of a + b (which wraps) and c; relu: at least 0. The b forms tell whether
 * it was the first one.
 */
#define __MC_THREE(name, op)                                                   \
    __MC_DEVICE__ int __vi##name##_s32_relu(int a, int b)                      \
    {                                                                          \
        int r = a op b ? a : b;                                                \
                                                                               \
        return r > 0 ? r : 0;                                                  \
    }                                                                          \
    __MC_THREE_WORDS(name, op, s32, int)                                       \
    __MC_THREE_WORDS(name, op, u32, unsigned)                                  \
    __MC_THREE_RELU(name, s32, int)                                            \
    __MC_THREE_HALVES(name, s16x2, short, )                                    \
    __MC_THREE_HALVES(name, u16x2, unsigned short, )                           \
    __MC_THREE_HALVES(name, s16x2, short, _relu)                               \
    __MC_DEVICE__ unsigned __vi##name##_s16x2_relu(unsigned a, unsigned b)     \
    {                                                                          \
        return __vi##name##3_s16x2_relu(a, b, b);                              \
    }                                                                          \
    __MC_FIRST_HALVES(name, s16x2, s32, short)                                 \
    __MC_FIRST_HALVES(name, u16x2, u32, unsigned short)
/* Of the upper and of the lower half whether it was the first one. */
#define __MC_FIRST_HALVES(name, kind, word, type)                              \
    __MC_DEVICE__ unsigned __vib##name##_##kind(unsigned a, unsigned b,        \
                                                bool *high, bool *low)         \
    {                                                                          \
        unsigned h = (unsigned)__vib##name##_##word((type)(a >> 16),           \
                                                    (type)(b >> 16), high);    \
        unsigned l = (unsigned)__vib##name##_##word((type)a, (type)b, low);    \
                                                                               \
        return h << 16 | (l & 0xffff);                                         \
    }
#define __MC_THREE_WORDS(name, op, kind, type)                                 \
    __MC_DEVICE__ type __mc_##name(type a, type b, type c)                     \
    {                                                                          \
        type r = a op b ? a : b;                                               \
                                                                               \
        return r op c ? r : c;                                                 \
    }                                                                          \
    __MC_DEVICE__ type __vi##name##3_##kind(type a, type b, type c)            \
    {                                                                          \
        return __mc_##name(a, b, c);                                           \
    }                                                                          \
    __MC_DEVICE__ type __viadd##name##_##kind(type a, type b, type c)          \
    {                                                                          \
        a = (type)((unsigned)a + (unsigned)b);                                 \
        return a op c ? a : c;                                                 \
    }                                                                          \
    __MC_DEVICE__ type __vib##name##_##kind(type a, type b, bool *first)       \
    {                                                                          \
        *first = a op b || a == b;                                             \
        return *first ? a : b;                                                 \
    }
#define __MC_THREE_RELU(name, kind, type)                                      \
    __MC_DEVICE__ type __vi##name##3_##kind##_relu(type a, type b, type c)     \
    {                                                                          \
        type r = __vi##name##3_##kind(a, b, c);                                \
                                                                               \
        return r > 0 ? r : 0;                                                  \
    }                                                                          \
    __MC_DEVICE__ type __viadd##name##_##kind##_relu(type a, type b, type c)   \
    {                                                                          \
        type r = __viadd##name##_##kind(a, b, c);                              \
                                                                               \
        return r > 0 ? r : 0;                                                  \
    }
#define __MC_THREE_HALVES(name, kind, type, relu)                              \
    __MC_DEVICE__ unsigned __vi##name##3_##kind##relu(unsigned a, unsigned b,  \
                                                      unsigned c)              \
    {                                                                          \
        unsigned r = 0;                                                        \
                                                                               \
        for (int i = 0; i < 32; i += 16) {                                     \
            r |= (__vi##name##3_s32##relu((type)(a >> i), (type)(b >> i),      \
                                          (type)(c >> i)) & 0xffffu) << i;     \
        }                                                                      \
        return r;                                                              \
    }                                                                          \
    __MC_DEVICE__ unsigned __viadd##name##_##kind##relu(                       \
        unsigned a, unsigned b, unsigned c)                                    \
    {                                                                          \
        unsigned r = 0;                                                        \
                                                                               \
        for (int i = 0; i < 32; i += 16) {                                     \
            type sum = (type)((a >> i) + (b >> i));                            \
                                                                               \
            r |= (__vi##name##3_s32##relu(sum, sum, (type)(c >> i)) &          \
                  0xffffu) << i;                                               \
        }                                                                      \
        return r;                                                              \
    }

__MC_THREE(max, >)
__MC_THREE(min, <)

#undef __MC_THREE
#undef __MC_FIRST_HALVES
#undef __MC_THREE_WORDS
#undef __MC_THREE_RELU
#undef __MC_THREE_HALVES

#endif
