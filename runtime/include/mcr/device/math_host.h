/* SPDX-License-Identifier: MIT */
/*
 * Functions of math_extra.h that C has not, for the host's code of files with
 * kernels. They are templates, so that a function of the program or of a later C
 * library goes before them.
 */
#ifndef MCR_DEVICE_MATH_HOST_H
#define MCR_DEVICE_MATH_HOST_H

#include <math.h>

#define __MC_HOST__ template <int = 0> static inline __host__

/* expression in double, of x and what follows */
#define __MC_HOST1(name, expression)                                           \
    __MC_HOST__ double name(double x)                                          \
    {                                                                          \
        return expression;                                                     \
    }                                                                          \
    __MC_HOST__ float name##f(float value)                                     \
    {                                                                          \
        double x = value;                                                      \
                                                                               \
        return (float)(expression);                                            \
    }
#define __MC_HOST3(name, suffix, expression)                                   \
    __MC_HOST__ double name##suffix(double x, double y, double z)              \
    {                                                                          \
        return expression;                                                     \
    }                                                                          \
    __MC_HOST__ float name##suffix##f(float a, float b, float c)               \
    {                                                                          \
        double x = a, y = b, z = c;                                            \
                                                                               \
        return (float)(expression);                                            \
    }
#define __MC_HOST4(name, suffix, expression)                                   \
    __MC_HOST__ double name##suffix(double x, double y, double z, double w)    \
    {                                                                          \
        return expression;                                                     \
    }                                                                          \
    __MC_HOST__ float name##suffix##f(float a, float b, float c, float d)      \
    {                                                                          \
        double x = a, y = b, z = c, w = d;                                     \
                                                                               \
        return (float)(expression);                                            \
    }

/* The angle in half turns, brought to [-1/4, 1/4] by whole quarters. */
template <int = 0>
static inline __host__ void sincospi(double x, double *s, double *c)
{
    double turn = x - 2.0 * rint(0.5 * x), quarter = rint(2.0 * turn);
    double part = 3.14159265358979324 * (turn - 0.5 * quarter);
    int n = isfinite(x) ? (int)quarter & 3 : 0;
    double a = n & 1 ? cos(part) : sin(part);
    double b = n & 1 ? sin(part) : cos(part);

    a = n & 2 ? -a : a;
    b = n == 1 || n == 2 ? -b : b;
    *s = a == 0 ? copysign(a, x) : a;
    *c = b == 0 ? 0.0 : b;
}

template <int = 0>
static inline __host__ void sincospif(float x, float *s, float *c)
{
    double a, b;

    sincospi<0>((double)x, &a, &b);
    *s = (float)a;
    *c = (float)b;
}

template <int = 0> static inline __host__ double __mc_host_sinpi(double x)
{
    double s, c;

    sincospi<0>(x, &s, &c);
    return s;
}

template <int = 0> static inline __host__ double __mc_host_cospi(double x)
{
    double s, c;

    sincospi<0>(x, &s, &c);
    return c;
}

__MC_HOST1(rsqrt, 1.0 / sqrt(x))
__MC_HOST1(rcbrt, 1.0 / cbrt(x))
__MC_HOST1(sinpi, __mc_host_sinpi<0>(x))
__MC_HOST1(cospi, __mc_host_cospi<0>(x))
__MC_HOST1(normcdf, 0.5 * erfc(x * -0.70710678118654752))
__MC_HOST3(norm, 3d, hypot(hypot(x, y), z))
__MC_HOST3(rnorm, 3d, 1.0 / hypot(hypot(x, y), z))
__MC_HOST4(norm, 4d, hypot(hypot(x, y), hypot(z, w)))
__MC_HOST4(rnorm, 4d, 1.0 / hypot(hypot(x, y), hypot(z, w)))

__MC_HOST__ double rhypot(double x, double y)
{
    return 1.0 / hypot(x, y);
}

__MC_HOST__ float rhypotf(float x, float y)
{
    return (float)(1.0 / hypot((double)x, (double)y));
}

#undef __MC_HOST4
#undef __MC_HOST3
#undef __MC_HOST1
#undef __MC_HOST__

#endif
