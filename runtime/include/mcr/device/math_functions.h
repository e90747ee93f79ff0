/* SPDX-License-Identifier: MIT */
/*
 * Mathematics. What is an instruction or a few is inline; the rest is the
 * device's C library. Together with <cmath>, whose overloads are constexpr and
 * so belong to both sides, this makes std::sin(x), sin(x) and sinf(x) work.
 */
#ifndef MCR_DEVICE_MATH_FUNCTIONS_H
#define MCR_DEVICE_MATH_FUNCTIONS_H

#include <cstddef>
#include <new>

#include "intrinsics.h"

#define __MC_INLINE_C extern "C" __device__ __MC_INLINE__

/* Instructions. */
#define __MC_BUILTIN1(name)                                                    \
    __MC_INLINE_C float name##f(float x) noexcept                              \
    {                                                                          \
        return __builtin_##name##f(x);                                         \
    }                                                                          \
    __MC_INLINE_C double name(double x) noexcept                               \
    {                                                                          \
        return __builtin_##name(x);                                            \
    }
#define __MC_BUILTIN2(name)                                                    \
    __MC_INLINE_C float name##f(float x, float y) noexcept                     \
    {                                                                          \
        return __builtin_##name##f(x, y);                                      \
    }                                                                          \
    __MC_INLINE_C double name(double x, double y) noexcept                     \
    {                                                                          \
        return __builtin_##name(x, y);                                         \
    }

__MC_BUILTIN1(fabs)
__MC_BUILTIN1(sqrt)
__MC_BUILTIN1(floor)
__MC_BUILTIN1(ceil)
__MC_BUILTIN1(trunc)
__MC_BUILTIN1(rint)
__MC_BUILTIN1(nearbyint)
__MC_BUILTIN1(round)
__MC_BUILTIN2(copysign)
__MC_BUILTIN2(fmin)
__MC_BUILTIN2(fmax)

#undef __MC_BUILTIN1
#undef __MC_BUILTIN2

__MC_INLINE_C float fmaf(float x, float y, float z) noexcept
{
    return __builtin_fmaf(x, y, z);
}

__MC_INLINE_C double fma(double x, double y, double z) noexcept
{
    return __builtin_fma(x, y, z);
}

/* The C library. */
#define __MC_LIBRARY1(name)                                                    \
    __device__ float name##f(float) noexcept;                                  \
    __device__ double name(double) noexcept;

extern "C" {
__MC_LIBRARY1(acos)
__MC_LIBRARY1(acosh)
__MC_LIBRARY1(asin)
__MC_LIBRARY1(asinh)
__MC_LIBRARY1(atan)
__MC_LIBRARY1(atanh)
__device__ double cbrt(double) noexcept;
__MC_LIBRARY1(cos)
__MC_LIBRARY1(cosh)
__MC_LIBRARY1(erf)
__device__ double erfc(double) noexcept;
__MC_LIBRARY1(exp)
__MC_LIBRARY1(exp10)
__MC_LIBRARY1(exp2)
__MC_LIBRARY1(expm1)
__MC_LIBRARY1(lgamma)
__MC_LIBRARY1(log)
__MC_LIBRARY1(log10)
__MC_LIBRARY1(log1p)
__MC_LIBRARY1(log2)
__MC_LIBRARY1(logb)
__MC_LIBRARY1(sin)
__MC_LIBRARY1(sinh)
__MC_LIBRARY1(tan)
__MC_LIBRARY1(tanh)
__device__ double __mx_tgamma(double) noexcept;
__device__ float atan2f(float, float) noexcept;
__device__ double atan2(double, double) noexcept;
__device__ float fdimf(float, float) noexcept;
__device__ double fdim(double, double) noexcept;
__device__ float fmodf(float, float) noexcept;
__device__ double fmod(double, double) noexcept;
__device__ float hypotf(float, float) noexcept;
__device__ double hypot(double, double) noexcept;
__device__ float nextafterf(float, float) noexcept;
__device__ double nextafter(double, double) noexcept;
__device__ float powf(float, float) noexcept;
__device__ double pow(double, double) noexcept;
__device__ float remainderf(float, float) noexcept;
__device__ double remainder(double, double) noexcept;
__device__ float remquof(float, float, int *) noexcept;
__device__ double remquo(double, double, int *) noexcept;
__device__ float frexpf(float, int *) noexcept;
__device__ double frexp(double, int *) noexcept;
__device__ float ldexpf(float, int) noexcept;
__device__ double ldexp(double, int) noexcept;
__device__ float scalbnf(float, int) noexcept;
__device__ double scalbn(double, int) noexcept;
__device__ float scalblnf(float, long) noexcept;
__device__ double scalbln(double, long) noexcept;
__device__ float modff(float, float *) noexcept;
__device__ double modf(double, double *) noexcept;
__device__ void sincosf(float, float *, float *) noexcept;
__device__ void sincos(double, double *, double *) noexcept;
__device__ int ilogbf(float) noexcept;
__device__ int ilogb(double) noexcept;
__device__ long lrintf(float) noexcept;
__device__ long lrint(double) noexcept;
__device__ long lroundf(float) noexcept;
__device__ long lround(double) noexcept;
__device__ long long llrintf(float) noexcept;
__device__ long long llrint(double) noexcept;
__device__ long long llroundf(float) noexcept;
__device__ long long llround(double) noexcept;

__device__ void *memcpy(void *, const void *, size_t) noexcept;
__device__ void *memmove(void *, const void *, size_t) noexcept;
__device__ void *memset(void *, int, size_t) noexcept;
__device__ int memcmp(const void *, const void *, size_t) noexcept;
__device__ size_t strlen(const char *) noexcept;
__device__ size_t strnlen(const char *, size_t) noexcept;
__device__ int strcmp(const char *, const char *) noexcept;
__device__ int strncmp(const char *, const char *, size_t) noexcept;
__device__ char *strcpy(char *, const char *) noexcept;
__device__ char *strncpy(char *, const char *, size_t) noexcept;
__device__ char *strcat(char *, const char *) noexcept;
__device__ char *strncat(char *, const char *, size_t) noexcept;
}

#undef __MC_LIBRARY1

/* Where the C library's own are not exact enough. */
__MC_INLINE_C float cbrtf(float x) noexcept
{
    return (float)cbrt((double)x);
}

__MC_INLINE_C float erfcf(float x) noexcept
{
    return (float)erfc((double)x);
}

__MC_INLINE_C double tgamma(double x) noexcept
{
    return __mx_tgamma(x);
}

__MC_INLINE_C float tgammaf(float x) noexcept
{
    return (float)__mx_tgamma((double)x);
}

__MC_INLINE_C int abs(int x) noexcept
{
    return x < 0 ? -x : x;
}

__MC_INLINE_C long labs(long x) noexcept
{
    return x < 0 ? -x : x;
}

__MC_INLINE_C long long llabs(long long x) noexcept
{
    return x < 0 ? -x : x;
}

namespace std
{
__MC_DEVICE__ long abs(long x)
{
    return x < 0 ? -x : x;
}

__MC_DEVICE__ long long abs(long long x)
{
    return x < 0 ? -x : x;
}
}

__MC_DEVICE__ float __frsqrt_rn(float x)
{
    return (float)(1.0 / __builtin_sqrt((double)x));
}

/* One rounded operation each, never contracted with another: to nearest even,
 * to zero, up, down. */
#define __MC_ROUNDED2(name, type, insn, mode, suffix)                          \
    __MC_DEVICE__ type name##_##suffix(type x, type y)                         \
    {                                                                          \
        type r;                                                                \
                                                                               \
        __asm__(insn " %0, %1, %2, " mode : "=f"(r) : "f"(x), "f"(y));         \
        return r;                                                              \
    }
#define __MC_ROUNDED2S(name, type, insn)                                       \
    __MC_ROUNDED2(name, type, insn, "rne", rn)                                 \
    __MC_ROUNDED2(name, type, insn, "rtz", rz)                                 \
    __MC_ROUNDED2(name, type, insn, "rup", ru)                                 \
    __MC_ROUNDED2(name, type, insn, "rdn", rd)

__MC_ROUNDED2S(__fadd, float, "fadd.s")
__MC_ROUNDED2S(__fsub, float, "fsub.s")
__MC_ROUNDED2S(__fmul, float, "fmul.s")
__MC_ROUNDED2S(__fdiv, float, "fdiv.s")
__MC_ROUNDED2S(__dadd, double, "fadd.d")
__MC_ROUNDED2S(__dsub, double, "fsub.d")
__MC_ROUNDED2S(__dmul, double, "fmul.d")
__MC_ROUNDED2S(__ddiv, double, "fdiv.d")

#undef __MC_ROUNDED2S
#undef __MC_ROUNDED2

#define __MC_ROUNDED(fma_name, sqrt_name, rcp_name, type, letter, mode,        \
                     suffix)                                                   \
    __MC_DEVICE__ type fma_name##_##suffix(type x, type y, type z)             \
    {                                                                          \
        type r;                                                                \
                                                                               \
        __asm__("fmadd." letter " %0, %1, %2, %3, " mode                       \
                : "=f"(r)                                                      \
                : "f"(x), "f"(y), "f"(z));                                     \
        return r;                                                              \
    }                                                                          \
    __MC_DEVICE__ type sqrt_name##_##suffix(type x)                            \
    {                                                                          \
        type r;                                                                \
                                                                               \
        __asm__("fsqrt." letter " %0, %1, " mode : "=f"(r) : "f"(x));          \
        return r;                                                              \
    }                                                                          \
    __MC_DEVICE__ type rcp_name##_##suffix(type x)                             \
    {                                                                          \
        type r;                                                                \
                                                                               \
        __asm__("fdiv." letter " %0, %1, %2, " mode                            \
                : "=f"(r)                                                      \
                : "f"((type)1), "f"(x));                                       \
        return r;                                                              \
    }
#define __MC_ROUNDEDS(fma_name, sqrt_name, rcp_name, type, letter)             \
    __MC_ROUNDED(fma_name, sqrt_name, rcp_name, type, letter, "rne", rn)       \
    __MC_ROUNDED(fma_name, sqrt_name, rcp_name, type, letter, "rtz", rz)       \
    __MC_ROUNDED(fma_name, sqrt_name, rcp_name, type, letter, "rup", ru)       \
    __MC_ROUNDED(fma_name, sqrt_name, rcp_name, type, letter, "rdn", rd)

__MC_ROUNDEDS(__fmaf, __fsqrt, __frcp, float, "s")
__MC_ROUNDEDS(__fma, __dsqrt, __drcp, double, "d")

#undef __MC_ROUNDEDS
#undef __MC_ROUNDED

/* Subnormal numbers are never flushed here: these are the same. */
#define __MC_IEEE(suffix)                                                      \
    __MC_DEVICE__ float __fmaf_ieee_##suffix(float x, float y, float z)        \
    {                                                                          \
        return __fmaf_##suffix(x, y, z);                                       \
    }
__MC_IEEE(rn)
__MC_IEEE(rz)
__MC_IEEE(ru)
__MC_IEEE(rd)
#undef __MC_IEEE

/* Both sides. */
#define __MC_MINMAX(type)                                                      \
    __MC_BOTH__ type min(type a, type b)                                       \
    {                                                                          \
        return b < a ? b : a;                                                  \
    }                                                                          \
    __MC_BOTH__ type max(type a, type b)                                       \
    {                                                                          \
        return a < b ? b : a;                                                  \
    }

__MC_MINMAX(int)
__MC_MINMAX(unsigned)
__MC_MINMAX(long)
__MC_MINMAX(unsigned long)
__MC_MINMAX(long long)
__MC_MINMAX(unsigned long long)

#undef __MC_MINMAX

__MC_BOTH__ float min(float a, float b)
{
    return __builtin_fminf(a, b);
}

__MC_BOTH__ float max(float a, float b)
{
    return __builtin_fmaxf(a, b);
}

__MC_BOTH__ double min(double a, double b)
{
    return __builtin_fmin(a, b);
}

__MC_BOTH__ double max(double a, double b)
{
    return __builtin_fmax(a, b);
}

/* Placement new. */
__device__ inline void *operator new(size_t, void *p) noexcept
{
    return p;
}

__device__ inline void *operator new[](size_t, void *p) noexcept
{
    return p;
}

__device__ inline void operator delete(void *, void *) noexcept
{
}

__device__ inline void operator delete[](void *, void *) noexcept
{
}

#undef __MC_INLINE_C

#endif
