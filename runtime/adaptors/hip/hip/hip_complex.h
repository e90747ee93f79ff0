/* SPDX-License-Identifier: MIT */
/*
 * Complex numbers as pairs of floats or doubles. Products and quotients are
 * those of the definition, with one scaling for a quotient; infinities are not
 * recovered as C's complex types do. C and C++, host and kernels.
 */
#ifndef HIP_INCLUDE_HIP_HIP_COMPLEX_H
#define HIP_INCLUDE_HIP_HIP_COMPLEX_H

#ifndef __MC_RTC_SOURCE__ /* has it under another name */
#include <math.h>
#endif

#include "hip/hip_vector_types.h"

#ifdef __MXCC__
#define MXGPU_COMPLEX_FN static __host__ __device__ inline
#else
#define MXGPU_COMPLEX_FN static inline
#endif

/* T: the type; R: of its parts; f: what functions end in; the host's and the
 * device's functions for R, and its largest number */
#define MXGPU_COMPLEX(T, R, f, SQRT, FABS, MAX)                                \
    typedef R##2 T;                                                            \
    MXGPU_COMPLEX_FN R hipCreal##f(T x)                                         \
    {                                                                          \
        return x.x;                                                            \
    }                                                                          \
    MXGPU_COMPLEX_FN R hipCimag##f(T x)                                         \
    {                                                                          \
        return x.y;                                                            \
    }                                                                          \
    MXGPU_COMPLEX_FN T make_##T(R r, R i)                                      \
    {                                                                          \
        T res;                                                                 \
        res.x = r;                                                             \
        res.y = i;                                                             \
        return res;                                                            \
    }                                                                          \
    MXGPU_COMPLEX_FN T hipConj##f(T x)                                          \
    {                                                                          \
        return make_##T(x.x, -x.y);                                            \
    }                                                                          \
    MXGPU_COMPLEX_FN T hipCadd##f(T x, T y)                                     \
    {                                                                          \
        return make_##T(x.x + y.x, x.y + y.y);                                 \
    }                                                                          \
    MXGPU_COMPLEX_FN T hipCsub##f(T x, T y)                                     \
    {                                                                          \
        return make_##T(x.x - y.x, x.y - y.y);                                 \
    }                                                                          \
    MXGPU_COMPLEX_FN T hipCmul##f(T x, T y)                                     \
    {                                                                          \
        return make_##T(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);         \
    }                                                                          \
    MXGPU_COMPLEX_FN T hipCdiv##f(T x, T y)                                     \
    {                                                                          \
        R scale = 1 / (FABS(y.x) + FABS(y.y));                                 \
        R xr = x.x * scale, xi = x.y * scale;                                  \
        R yr = y.x * scale, yi = y.y * scale;                                  \
        R inverse = 1 / (yr * yr + yi * yi);                                   \
        return make_##T((xr * yr + xi * yi) * inverse,                         \
                        (xi * yr - xr * yi) * inverse);                        \
    }                                                                          \
    MXGPU_COMPLEX_FN R hipCabs##f(T x)                                          \
    {                                                                          \
        R a = FABS(x.x), b = FABS(x.y), v = a > b ? a : b,                     \
          w = a > b ? b : a;                                                   \
        R t = w / v;                                                           \
        /* zero, infinity */                                                   \
        if (v == 0 || v > MAX || w > MAX) {                                    \
            return v + w;                                                      \
        }                                                                      \
        return v * SQRT(1 + t * t);                                            \
    }                                                                          \
    MXGPU_COMPLEX_FN T hipCfma##f(T x, T y, T d)                                \
    {                                                                          \
        R re = x.x * y.x + d.x, im = x.x * y.y + d.y;                          \
        return make_##T(re - x.y * y.y, im + x.y * y.x);                       \
    }

MXGPU_COMPLEX(hipFloatComplex, float, f, sqrtf, fabsf, 3.402823466e38F)
MXGPU_COMPLEX(hipDoubleComplex, double, , sqrt, fabs, 1.79769313486231570e308)

#undef MXGPU_COMPLEX

typedef hipFloatComplex hipComplex;

#define make_hipComplex make_hipFloatComplex

MXGPU_COMPLEX_FN hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex c)
{
    return make_hipDoubleComplex((double)c.x, (double)c.y);
}

MXGPU_COMPLEX_FN hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex c)
{
    return make_hipFloatComplex((float)c.x, (float)c.y);
}

#undef MXGPU_COMPLEX_FN

#endif
