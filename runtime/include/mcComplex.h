/* SPDX-License-Identifier: MIT */
/*
 * Complex numbers for C and C++, on both sides: a float2 or double2 with the
 * real part in x. Products and quotients are as C's formulas have them without
 * the care for infinities; mcCabs and quotients do not overflow on the way.
 */
#ifndef MC_COMPLEX_H
#define MC_COMPLEX_H

#ifndef __MC_RTC_SOURCE__ /* has it under another name */
#include <math.h>
#endif

#include "mcr/mc_vector_types.h"

#if defined(__MXCC__) && defined(__MACA__) && defined(__cplusplus)
#define __MC_COMPLEX_FN static __attribute__((host, device)) inline
#else
#define __MC_COMPLEX_FN static inline
#endif

typedef float2 mcFloatComplex;
typedef double2 mcDoubleComplex;
typedef mcFloatComplex mcComplex;

/* All functions of one format; f ends the names of float's. */
#define __MC_COMPLEX(kind, type, pair, f)                                      \
    __MC_COMPLEX_FN kind make_##kind(type real, type imaginary)                \
    {                                                                          \
        return make_##pair(real, imaginary);                                   \
    }                                                                          \
    __MC_COMPLEX_FN type mcCreal##f(kind x)                                    \
    {                                                                          \
        return x.x;                                                            \
    }                                                                          \
    __MC_COMPLEX_FN type mcCimag##f(kind x)                                    \
    {                                                                          \
        return x.y;                                                            \
    }                                                                          \
    __MC_COMPLEX_FN kind mcConj##f(kind x)                                     \
    {                                                                          \
        return make_##pair(x.x, -x.y);                                         \
    }                                                                          \
    __MC_COMPLEX_FN kind mcCadd##f(kind x, kind y)                             \
    {                                                                          \
        return make_##pair(x.x + y.x, x.y + y.y);                              \
    }                                                                          \
    __MC_COMPLEX_FN kind mcCsub##f(kind x, kind y)                             \
    {                                                                          \
        return make_##pair(x.x - y.x, x.y - y.y);                              \
    }                                                                          \
    __MC_COMPLEX_FN kind mcCmul##f(kind x, kind y)                             \
    {                                                                          \
        return make_##pair(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);      \
    }                                                                          \
    /* Scaled by the divisor. */                                               \
    __MC_COMPLEX_FN kind mcCdiv##f(kind x, kind y)                             \
    {                                                                          \
        type s = fabs##f(y.x) + fabs##f(y.y), o = 1 / s;                       \
        type a = x.x * o, b = x.y * o, c = y.x * o, d = y.y * o;               \
                                                                               \
        o = 1 / (c * c + d * d);                                               \
        return make_##pair((a * c + b * d) * o, (b * c - a * d) * o);          \
    }                                                                          \
    __MC_COMPLEX_FN type mcCabs##f(kind x)                                     \
    {                                                                          \
        return hypot##f(x.x, x.y);                                             \
    }                                                                          \
    /* x * y + d */                                                            \
    __MC_COMPLEX_FN kind mcCfma##f(kind x, kind y, kind d)                     \
    {                                                                          \
        return make_##pair(fma##f(-x.y, y.y, fma##f(x.x, y.x, d.x)),           \
                           fma##f(x.y, y.x, fma##f(x.x, y.y, d.y)));           \
    }

__MC_COMPLEX(mcFloatComplex, float, float2, f)
__MC_COMPLEX(mcDoubleComplex, double, double2, )

__MC_COMPLEX_FN mcComplex make_mcComplex(float real, float imaginary)
{
    return make_float2(real, imaginary);
}

__MC_COMPLEX_FN mcDoubleComplex mcComplexFloatToDouble(mcFloatComplex x)
{
    return make_double2(x.x, x.y);
}

__MC_COMPLEX_FN mcFloatComplex mcComplexDoubleToFloat(mcDoubleComplex x)
{
    return make_float2((float)x.x, (float)x.y);
}

#undef __MC_COMPLEX
#undef __MC_COMPLEX_FN

#endif
