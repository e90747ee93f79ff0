/* SPDX-License-Identifier: MIT */
/*
 * Complex numbers as float2 and double2, the real part in x, for C and C++ and
 * both sides; each language gets them under names of its own (mcComplex.h,
 * cuComplex.h, hip/hip_complex.h). Products, quotients and sums are those of the
 * definition: infinities are not recovered as C's complex types do. Magnitudes
 * and quotients do not overflow on the way.
 */
#ifndef MCR_MC_COMPLEX_H
#define MCR_MC_COMPLEX_H

#ifndef __MC_RTC_SOURCE__ /* has it under another name */
#include <math.h>
#endif

#if defined(__MXCC__) && defined(__MACA__) && defined(__cplusplus)
#define __MC_COMPLEX_FN static __attribute__((host, device)) inline
#else
#define __MC_COMPLEX_FN static inline
#endif

/* All functions of one format: kind is what the language calls it, lang what its
 * functions begin with; f ends the names of float's. */
#define __MC_COMPLEX(lang, kind, type, f)                                      \
    typedef type##2 kind;                                                      \
    __MC_COMPLEX_FN kind make_##kind(type real, type imaginary)                \
    {                                                                          \
        kind z;                                                                \
        z.x = real;                                                            \
        z.y = imaginary;                                                       \
        return z;                                                              \
    }                                                                          \
    __MC_COMPLEX_FN type lang##Creal##f(kind x)                                \
    {                                                                          \
        return x.x;                                                            \
    }                                                                          \
    __MC_COMPLEX_FN type lang##Cimag##f(kind x)                                \
    {                                                                          \
        return x.y;                                                            \
    }                                                                          \
    __MC_COMPLEX_FN kind lang##Conj##f(kind x)                                 \
    {                                                                          \
        return make_##kind(x.x, -x.y);                                         \
    }                                                                          \
    __MC_COMPLEX_FN kind lang##Cadd##f(kind x, kind y)                         \
    {                                                                          \
        return make_##kind(x.x + y.x, x.y + y.y);                              \
    }                                                                          \
    __MC_COMPLEX_FN kind lang##Csub##f(kind x, kind y)                         \
    {                                                                          \
        return make_##kind(x.x - y.x, x.y - y.y);                              \
    }                                                                          \
    __MC_COMPLEX_FN kind lang##Cmul##f(kind x, kind y)                         \
    {                                                                          \
        return make_##kind(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);      \
    }                                                                          \
    /* Scaled by the divisor. */                                               \
    __MC_COMPLEX_FN kind lang##Cdiv##f(kind x, kind y)                         \
    {                                                                          \
        type s = fabs##f(y.x) + fabs##f(y.y), o = 1 / s;                       \
        type a = x.x * o, b = x.y * o, c = y.x * o, d = y.y * o;               \
                                                                               \
        o = 1 / (c * c + d * d);                                               \
        return make_##kind((a * c + b * d) * o, (b * c - a * d) * o);          \
    }                                                                          \
    __MC_COMPLEX_FN type lang##Cabs##f(kind x)                                 \
    {                                                                          \
        return hypot##f(x.x, x.y);                                             \
    }                                                                          \
    /* x * y + d */                                                            \
    __MC_COMPLEX_FN kind lang##Cfma##f(kind x, kind y, kind d)                 \
    {                                                                          \
        return make_##kind(fma##f(-x.y, y.y, fma##f(x.x, y.x, d.x)),           \
                           fma##f(x.y, y.x, fma##f(x.x, y.y, d.y)));           \
    }

/* Both formats of a language, and the ways between them. */
#define __MC_COMPLEX_LANGUAGE(lang)                                            \
    __MC_COMPLEX(lang, lang##FloatComplex, float, f)                           \
    __MC_COMPLEX(lang, lang##DoubleComplex, double, )                          \
    typedef lang##FloatComplex lang##Complex;                                  \
    __MC_COMPLEX_FN lang##Complex make_##lang##Complex(float real,             \
                                                       float imaginary)        \
    {                                                                          \
        return make_##lang##FloatComplex(real, imaginary);                     \
    }                                                                          \
    __MC_COMPLEX_FN lang##DoubleComplex                                        \
    lang##ComplexFloatToDouble(lang##FloatComplex x)                           \
    {                                                                          \
        return make_##lang##DoubleComplex(x.x, x.y);                           \
    }                                                                          \
    __MC_COMPLEX_FN lang##FloatComplex                                         \
    lang##ComplexDoubleToFloat(lang##DoubleComplex x)                          \
    {                                                                          \
        return make_##lang##FloatComplex((float)x.x, (float)x.y);              \
    }

#endif
