/* SPDX-License-Identifier: MIT */
/*
 * Floats of 8 bits, for storage: E4M3 (to 448, no infinity) and E5M2 (to 57344,
 * the upper half of a half), alone and as pairs and quadruples. They have no
 * arithmetic: convert to float or half. Conversions round once, to the nearest
 * even. On both sides, C++ only.
 */
#ifndef MC_COMMON_MACA_FP8_H
#define MC_COMMON_MACA_FP8_H

#ifndef __cplusplus
#error "8-bit floats are C++ classes"
#endif

#include "maca_bfloat16.h"
#include "maca_fp16.h"

typedef unsigned char __mc_fp8_storage_t;
typedef unsigned short __mc_fp8x2_storage_t; /* the first one is the lower */
typedef unsigned __mc_fp8x4_storage_t;

/* What values above the largest become: infinity, or NaN in E4M3; or the
 * largest, infinity too. NaN is NaN in both. */
enum __mc_saturation_t { __MC_NOSAT, __MC_SATFINITE };
enum __mc_fp8_interpretation_t { __MC_E4M3, __MC_E5M2 };

__MC_BOTH__ __mc_fp8_storage_t
__mc_cvt_double_to_fp8(double x, __mc_saturation_t saturate,
                       __mc_fp8_interpretation_t kind)
{
    const bool e4m3 = kind == __MC_E4M3;
    const int man_bits = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
    const unsigned most = e4m3 ? 0x7e : 0x7b, over = e4m3 ? 0x7f : 0x7c;
    unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
    unsigned long long sig = bits & 0xfffffffffffffull, rest, half;
    int raw = (int)(bits >> 52 & 0x7ff), e = raw - 1023 + bias;
    int shift = 52 - man_bits;
    unsigned sign = (unsigned)(bits >> 63) << 7, r;

    if (raw == 0x7ff && sig) {
        return 0x7f;
    }
    if (e >= 32) {
        r = most + 1;
    } else if (e < -man_bits) { /* below half of the least */
        r = 0;
    } else {
        sig |= 1ull << 52;
        shift += e < 1 ? 1 - e : 0;
        half = 1ull << (shift - 1);
        rest = sig & (2 * half - 1);
        /* the leading one counts the exponent up */
        r = (e < 1 ? 0 : (unsigned)(e - 1) << man_bits) +
            (unsigned)(sig >> shift);
        r += rest > half || (rest == half && (r & 1));
    }
    if (r > most) {
        r = saturate == __MC_SATFINITE ? most : over;
    }
    return (__mc_fp8_storage_t)(sign | r);
}

__MC_BOTH__ __mc_fp8_storage_t
__mc_cvt_float_to_fp8(float x, __mc_saturation_t saturate,
                      __mc_fp8_interpretation_t kind)
{
    return __mc_cvt_double_to_fp8(x, saturate, kind);
}

__MC_BOTH__ float __mc_cvt_fp8_to_float(__mc_fp8_storage_t x,
                                        __mc_fp8_interpretation_t kind)
{
    unsigned sign = (unsigned)(x & 0x80) << 24, magnitude = x & 0x7f;
    /* the product puts the exponent right, of subnormal numbers too */
    float f = kind == __MC_E4M3
                  ? __builtin_bit_cast(float, magnitude << 20) * 0x1p120f
                  : __builtin_bit_cast(float, magnitude << 21) * 0x1p112f;
    unsigned bits = __builtin_bit_cast(unsigned, f);

    if (magnitude > (kind == __MC_E4M3 ? 0x7eu : 0x7cu)) {
        return __builtin_nanf("");
    }
    if (kind == __MC_E5M2 && magnitude == 0x7c) {
        bits = 0x7f800000;
    }
    return __builtin_bit_cast(float, bits | sign);
}

/* By way of float, which holds them all. */
#define __MC_FP8_SMALL(name, type, raw)                                        \
    __MC_BOTH__ __mc_fp8_storage_t __mc_cvt_##name##raw_to_fp8(                \
        raw x, __mc_saturation_t saturate, __mc_fp8_interpretation_t kind)     \
    {                                                                          \
        return __mc_cvt_float_to_fp8((float)type(x), saturate, kind);          \
    }                                                                          \
    __MC_BOTH__ type __mc_cvt_fp8_to_##name(__mc_fp8_storage_t x,              \
                                            __mc_fp8_interpretation_t kind)    \
    {                                                                          \
        return type(__mc_cvt_fp8_to_float(x, kind));                           \
    }
__MC_FP8_SMALL(half, __half, __half_raw)
__MC_FP8_SMALL(bfloat16, __maca_bfloat16, __maca_bfloat16_raw)
#undef __MC_FP8_SMALL

#define __MC_FP8_PAIR(name, type)                                              \
    __MC_BOTH__ __mc_fp8x2_storage_t __mc_cvt_##name##2_to_fp8x2(              \
        type x, __mc_saturation_t saturate, __mc_fp8_interpretation_t kind)    \
    {                                                                          \
        return (__mc_fp8x2_storage_t)(                                         \
            __mc_cvt_##name##_to_fp8(x.x, saturate, kind) |                    \
            __mc_cvt_##name##_to_fp8(x.y, saturate, kind) << 8);               \
    }
__MC_FP8_PAIR(float, float2)
__MC_FP8_PAIR(double, double2)
#undef __MC_FP8_PAIR

#define __MC_FP8_RAW(name, raw, raw2)                                          \
    __MC_BOTH__ __mc_fp8x2_storage_t __mc_cvt_##name##raw2_to_fp8x2(           \
        raw2 x, __mc_saturation_t saturate, __mc_fp8_interpretation_t kind)    \
    {                                                                          \
        return (__mc_fp8x2_storage_t)(                                         \
            __mc_cvt_##name##raw_to_fp8(raw{ x.x }, saturate, kind) |          \
            __mc_cvt_##name##raw_to_fp8(raw{ x.y }, saturate, kind) << 8);     \
    }
__MC_FP8_RAW(half, __half_raw, __half2_raw)
__MC_FP8_RAW(bfloat16, __maca_bfloat16_raw, __maca_bfloat162_raw)
#undef __MC_FP8_RAW

__MC_BOTH__ __half_raw __mc_cvt_fp8_to_halfraw(__mc_fp8_storage_t x,
                                               __mc_fp8_interpretation_t kind)
{
    return __mc_cvt_fp8_to_half(x, kind);
}

__MC_BOTH__ __half2_raw
__mc_cvt_fp8x2_to_halfraw2(__mc_fp8x2_storage_t x,
                           __mc_fp8_interpretation_t kind)
{
    return __half2_raw{
        __mc_cvt_fp8_to_halfraw((__mc_fp8_storage_t)x, kind).x,
        __mc_cvt_fp8_to_halfraw((__mc_fp8_storage_t)(x >> 8), kind).x
    };
}

#define __MC_FP8_TYPES(name, kind)                                             \
    struct __mc_fp8_##name {                                                   \
        __mc_fp8_storage_t __x;                                                \
                                                                               \
        __mc_fp8_##name() = default;                                           \
        /* Saturating. */                                                      \
        template <class T, class = typename std::enable_if<                    \
                               std::is_arithmetic<T>::value>::type>            \
        __MC_MEMBER__ explicit __mc_fp8_##name(T x)                            \
            : __x(__mc_cvt_double_to_fp8((double)x, __MC_SATFINITE, kind))     \
        {                                                                      \
        }                                                                      \
        __MC_MEMBER__ explicit __mc_fp8_##name(__half x)                       \
            : __mc_fp8_##name((float)x)                                        \
        {                                                                      \
        }                                                                      \
        __MC_MEMBER__ explicit __mc_fp8_##name(__maca_bfloat16 x)              \
            : __mc_fp8_##name((float)x)                                        \
        {                                                                      \
        }                                                                      \
        __MC_MEMBER__ explicit operator float() const                          \
        {                                                                      \
            return __mc_cvt_fp8_to_float(__x, kind);                           \
        }                                                                      \
        __MC_MEMBER__ explicit operator double() const                         \
        {                                                                      \
            return __mc_cvt_fp8_to_float(__x, kind);                           \
        }                                                                      \
        __MC_MEMBER__ explicit operator __half() const                         \
        {                                                                      \
            return __mc_cvt_fp8_to_half(__x, kind);                            \
        }                                                                      \
        __MC_MEMBER__ explicit operator __maca_bfloat16() const                \
        {                                                                      \
            return __mc_cvt_fp8_to_bfloat16(__x, kind);                        \
        }                                                                      \
        __MC_MEMBER__ explicit operator bool() const { return __x & 0x7f; }    \
        /* Towards zero, saturating. */                                        \
        __MC_MEMBER__ explicit operator int() const                            \
        {                                                                      \
            return __mc_to_integer<int>((float)*this, __mc_rz);                \
        }                                                                      \
    };                                                                         \
    struct __mc_fp8x2_##name {                                                 \
        __mc_fp8x2_storage_t __x;                                              \
                                                                               \
        __mc_fp8x2_##name() = default;                                         \
        __MC_MEMBER__ explicit __mc_fp8x2_##name(float2 x)                     \
            : __x(__mc_cvt_float2_to_fp8x2(x, __MC_SATFINITE, kind))           \
        {                                                                      \
        }                                                                      \
        __MC_MEMBER__ explicit __mc_fp8x2_##name(double2 x)                    \
            : __x(__mc_cvt_double2_to_fp8x2(x, __MC_SATFINITE, kind))          \
        {                                                                      \
        }                                                                      \
        __MC_MEMBER__ explicit operator float2() const                         \
        {                                                                      \
            return make_float2(                                                \
                __mc_cvt_fp8_to_float((__mc_fp8_storage_t)__x, kind),          \
                __mc_cvt_fp8_to_float((__mc_fp8_storage_t)(__x >> 8), kind));  \
        }                                                                      \
    };                                                                         \
    struct __mc_fp8x4_##name {                                                 \
        __mc_fp8x4_storage_t __x;                                              \
                                                                               \
        __mc_fp8x4_##name() = default;                                         \
        __MC_MEMBER__ explicit __mc_fp8x4_##name(float4 x)                     \
            : __x(__mc_fp8x2_##name(make_float2(x.x, x.y)).__x |               \
                  (unsigned)__mc_fp8x2_##name(make_float2(x.z, x.w)).__x       \
                      << 16)                                                   \
        {                                                                      \
        }                                                                      \
        __MC_MEMBER__ explicit operator float4() const                         \
        {                                                                      \
            __mc_fp8x2_##name low, high;                                       \
            float2 a, b;                                                       \
                                                                               \
            low.__x = (__mc_fp8x2_storage_t)__x;                               \
            high.__x = (__mc_fp8x2_storage_t)(__x >> 16);                      \
            a = (float2)low;                                                   \
            b = (float2)high;                                                  \
            return make_float4(a.x, a.y, b.x, b.y);                            \
        }                                                                      \
    };
__MC_FP8_TYPES(e4m3, __MC_E4M3)
__MC_FP8_TYPES(e5m2, __MC_E5M2)
#undef __MC_FP8_TYPES

#endif
