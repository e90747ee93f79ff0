/* SPDX-License-Identifier: MIT */
/* f16 and bfloat16 of one lane. */
#ifndef MXGPU_SIMT_EXEC_HALF_H
#define MXGPU_SIMT_EXEC_HALF_H

#include "fp.h"

/* Of the low 16 bits; NaNs keep their bits. */
static inline uint32_t f32_of_f16(uint32_t v)
{
    uint32_t bits = (v & 0x7fff) << 13;

    /* The product puts the exponent right, of subnormal numbers too. */
    bits = bits >= 0x7c00u << 13 ? bits | 0x7f800000u
                                 : bits_f32(as_f32(bits) * 0x1p112f);
    return bits | (v & 0x8000) << 16;
}

static inline uint32_t f16_of_f32(uint32_t v)
{
    uint32_t u = v & ~S32, r;
    /* the last place of this sum is that of subnormal f16 */
    uint32_t small = bits_f32(as_f32(u) + 0.5f) - 0x3f000000u;
    uint32_t normal = (u - 0x38000000u + 0xfff + (u >> 13 & 1)) >> 13;

    r = u < 0x38800000u ? small : u < 0x47800000u ? normal : 0x7c00u;
    return 0xffff0000u | (u > 0x7f800000u ? 0x7e00u : r | (v >> 16 & 0x8000u));
}

/* The same from f64. */
static inline uint32_t f16_of_f64(double x)
{
    uint64_t v = bits_f64(x), u = v & ~S64, r;
    uint64_t small = bits_f64(as_f64(u) + 0x1p28) - 0x41b0000000000000ull;
    uint64_t normal = (u - 0x3f00000000000000ull + 0x1ffffffffffull +
                       (u >> 42 & 1)) >> 42;

    r = u < 0x3f10000000000000ull   ? small
        : u < 0x40f0000000000000ull ? normal
                                    : 0x7c00u;
    r = u > 0x7ff0000000000000ull ? 0x7e00u : r | (v >> 48 & 0x8000u);
    return 0xffff0000u | (uint32_t)r;
}

static inline uint32_t bf16_of_f32(uint32_t v)
{
    bool nan = (v & ~S32) > 0x7f800000u;

    return 0xffff0000u |
           (nan ? NAN32 >> 16 : (v + 0x7fff + (v >> 16 & 1)) >> 16);
}

/* 16 bits that are not boxed are the canonical NaN. */
static inline uint32_t f32_of_bf16(uint32_t v)
{
    bool nan = v < 0xffff0000u || (v & 0x7fff) > 0x7f80;

    return nan ? NAN32 : v << 16;
}

/* f16 operands: what is not a box of 16 bits is the canonical NaN. A wide value
 * that is no box of 32 (with_f32() made it NAN32) is none of 16 either. */
#define NAN16    0xffff7e00u
#define BOX16(x) ((x) < 0xffff0000u ? NAN16 : (x))
#define F16(x)   as_f32(f32_of_f16(BOX16(x)))
#define A16      float A = F16(a[i])
#define AB16     A16; float B = F16(b[i])

#endif
