/* SPDX-License-Identifier: MIT */
/*
 * Mathematics beyond C. Forms for float compute in double where that is what
 * makes them exact.
 */
#ifndef MCR_DEVICE_MATH_EXTRA_H
#define MCR_DEVICE_MATH_EXTRA_H

#include "math_functions.h"

#include <type_traits>

/* The device's library. */
#define __MC_LIBRARY1(name)                                                    \
    extern "C" __device__ double name(double) noexcept;                        \
    __MC_DEVICE__ float name##f(float x)                                       \
    {                                                                          \
        return (float)name((double)x);                                         \
    }

__MC_LIBRARY1(erfcinv)
__MC_LIBRARY1(erfcx)
__MC_LIBRARY1(erfinv)
__MC_LIBRARY1(normcdf)
__MC_LIBRARY1(normcdfinv)
__MC_LIBRARY1(cyl_bessel_i0)
__MC_LIBRARY1(cyl_bessel_i1)

#undef __MC_LIBRARY1

extern "C" {
__device__ float j0f(float) noexcept;
__device__ double j0(double) noexcept;
__device__ float j1f(float) noexcept;
__device__ double j1(double) noexcept;
__device__ float jnf(int, float) noexcept;
__device__ double jn(int, double) noexcept;
__device__ float y0f(float) noexcept;
__device__ double y0(double) noexcept;
__device__ float y1f(float) noexcept;
__device__ double y1(double) noexcept;
__device__ float ynf(int, float) noexcept;
__device__ double yn(int, double) noexcept;
__device__ double nexttoward(double, long double) noexcept;
}

__MC_DEVICE__ float rsqrtf(float x)
{
    return 1.0f / __builtin_sqrtf(x);
}

__MC_DEVICE__ double rsqrt(double x)
{
    return 1.0 / __builtin_sqrt(x);
}

__MC_DEVICE__ float rcbrtf(float x)
{
    return (float)(1.0 / cbrt((double)x));
}

__MC_DEVICE__ double rcbrt(double x)
{
    return 1.0 / cbrt(x);
}

/* The angle in half turns: exact at multiples of a half. Reduced to [-1/4, 1/4]
 * around a multiple of a half, whose number decides what is taken. */
__MC_DEVICE__ void sincospi(double x, double *s, double *c)
{
    double turn = x - 2.0 * __builtin_rint(0.5 * x);
    double quarter = __builtin_rint(2.0 * turn);
    double part = 3.14159265358979324 * (turn - 0.5 * quarter);
    double sine = sin(part), cosine = cos(part);
    int n = (int)quarter & 3;
    double a = n & 1 ? cosine : sine, b = n & 1 ? sine : cosine;

    if (!(__builtin_fabs(x) < __builtin_inf())) {
        *s = *c = __builtin_nan("");
        return;
    }
    a = n & 2 ? -a : a;
    b = n == 1 || n == 2 ? -b : b;
    *s = a == 0 ? __builtin_copysign(a, x) : a;
    *c = b == 0 ? 0.0 : b;
}

__MC_DEVICE__ void sincospif(float x, float *s, float *c)
{
    double sine, cosine;

    sincospi((double)x, &sine, &cosine);
    *s = (float)sine;
    *c = (float)cosine;
}

__MC_DEVICE__ double sinpi(double x)
{
    double s, c;

    sincospi(x, &s, &c);
    return s;
}

__MC_DEVICE__ double cospi(double x)
{
    double s, c;

    sincospi(x, &s, &c);
    return c;
}

__MC_DEVICE__ float sinpif(float x)
{
    return (float)sinpi((double)x);
}

__MC_DEVICE__ float cospif(float x)
{
    return (float)cospi((double)x);
}

/* Norms, without overflow on the way. */
__MC_DEVICE__ float norm3df(float x, float y, float z)
{
    double a = x, b = y, c = z;

    return (float)__builtin_sqrt(a * a + b * b + c * c);
}

__MC_DEVICE__ float norm4df(float x, float y, float z, float w)
{
    double a = x, b = y, c = z, d = w;

    return (float)__builtin_sqrt(a * a + b * b + c * c + d * d);
}

/* Of n values, scaled by the largest. An infinite one makes it infinite. */
__MC_DEVICE__ double norm(int n, const double *v)
{
    double most = 0, sum = 0;
    int e;

    for (int i = 0; i < n; i++) {
        if (__builtin_isinf(v[i])) {
            return __builtin_inf();
        }
        most = __builtin_fmax(most, __builtin_fabs(v[i]));
    }
    if (!(most > 0)) {
        for (int i = 0; i < n; i++) {
            sum += v[i];
        }
        return n > 0 ? sum + most : 0.0; /* zeros, or NaN */
    }
    e = most < 0x1p-1000 ? -1000 : (int)(__builtin_bit_cast(
                                             unsigned long long, most) >>
                                         52) - 1023;
    double scale = __builtin_bit_cast(double, (1023ull - e) << 52);
    for (int i = 0; i < n; i++) {
        sum = __builtin_fma(v[i] * scale, v[i] * scale, sum);
    }
    return __builtin_sqrt(sum) / scale;
}

__MC_DEVICE__ double __mc_norm(int n, const float *v)
{
    double sum = 0;

    for (int i = 0; i < n; i++) {
        sum += (double)v[i] * v[i];
    }
    return __builtin_sqrt(sum);
}

__MC_DEVICE__ float normf(int n, const float *v)
{
    return (float)__mc_norm(n, v);
}

__MC_DEVICE__ double norm3d(double x, double y, double z)
{
    const double v[3] = { x, y, z };

    return norm(3, v);
}

__MC_DEVICE__ double norm4d(double x, double y, double z, double w)
{
    const double v[4] = { x, y, z, w };

    return norm(4, v);
}

__MC_DEVICE__ float rhypotf(float x, float y)
{
    double a = x, b = y;

    return __builtin_isinf(x) || __builtin_isinf(y)
               ? 0.0f : (float)(1.0 / __builtin_sqrt(a * a + b * b));
}

__MC_DEVICE__ double rhypot(double x, double y)
{
    return 1.0 / hypot(x, y);
}

__MC_DEVICE__ float rnorm3df(float x, float y, float z)
{
    double a = x, b = y, c = z;

    return (float)(1.0 / __builtin_sqrt(a * a + b * b + c * c));
}

__MC_DEVICE__ float rnorm4df(float x, float y, float z, float w)
{
    double a = x, b = y, c = z, d = w;

    return (float)(1.0 / __builtin_sqrt(a * a + b * b + c * c + d * d));
}

__MC_DEVICE__ double rnorm3d(double x, double y, double z)
{
    return 1.0 / norm3d(x, y, z);
}

__MC_DEVICE__ double rnorm4d(double x, double y, double z, double w)
{
    return 1.0 / norm4d(x, y, z, w);
}

__MC_DEVICE__ float rnormf(int n, const float *v)
{
    return (float)(1.0 / __mc_norm(n, v));
}

__MC_DEVICE__ double rnorm(int n, const double *v)
{
    return 1.0 / norm(n, v);
}

__MC_DEVICE__ float nanf(const char *)
{
    return __builtin_nanf("");
}

__MC_DEVICE__ double nan(const char *)
{
    return __builtin_nan("");
}

/* Integer powers. */
__MC_DEVICE__ float powif(float x, int n)
{
    return __builtin_powif(x, n);
}

__MC_DEVICE__ double powi(double x, int n)
{
    return __builtin_powi(x, n);
}

/* What C libraries have behind isnan() and the like. */
#define __MC_CLASSIFY(name, test)                                              \
    __MC_DEVICE__ int __##name##f(float x)                                     \
    {                                                                          \
        return test(x);                                                        \
    }                                                                          \
    __MC_DEVICE__ int __##name(double x)                                       \
    {                                                                          \
        return test(x);                                                        \
    }
__MC_CLASSIFY(isnan, __builtin_isnan)
__MC_CLASSIFY(isinf, __builtin_isinf)
__MC_CLASSIFY(finite, __builtin_isfinite)
__MC_CLASSIFY(signbit, 0 != __builtin_signbit)
#undef __MC_CLASSIFY

/*
 * Fast forms, which are less exact: in float, without a branch, the same
 * instructions for all arguments.
 */

/* 2^x, for x of a magnitude far below 2^31. */
__MC_DEVICE__ float __mc_exp2(float x)
{
    float t = x < -200.0f ? -200.0f : x > 200.0f ? 200.0f : x;
    int n = __float2int_rn(t), half = n >> 1;
    float f = t - (float)n, p;

    /* Taylor's series of 2^f, |f| <= 1/2 */
    p = __builtin_fmaf(f, 1.5252734e-5f, 1.5403530e-4f);
    p = __builtin_fmaf(f, p, 1.3333558e-3f);
    p = __builtin_fmaf(f, p, 9.6181291e-3f);
    p = __builtin_fmaf(f, p, 5.5504109e-2f);
    p = __builtin_fmaf(f, p, 2.4022651e-1f);
    p = __builtin_fmaf(f, p, 6.9314718e-1f);
    p = __builtin_fmaf(f, p, 1.0f);
    /* in two steps: the power alone may be no float */
    return p * __int_as_float((half + 127) << 23) *
           __int_as_float((n - half + 127) << 23);
}

__MC_DEVICE__ float __expf(float x)
{
    return __mc_exp2(x * 1.44269504f);
}

__MC_DEVICE__ float __exp2f(float x)
{
    return __mc_exp2(x);
}

__MC_DEVICE__ float __exp10f(float x)
{
    return __mc_exp2(x * 3.32192809f);
}

/* log(x) * scale, where log(2) * scale is two. */
__MC_DEVICE__ float __mc_log(float x, float scale, float two)
{
    bool small = x < 1.17549435e-38f;
    int bits = __float_as_int(small ? x * 0x1p24f : x);
    int e = (bits - 0x3f3504f3) >> 23; /* the rest is in [sqrt(1/2), sqrt(2)) */
    float f = __int_as_float(bits - (e << 23)) - 1.0f;
    float s = f / (2.0f + f), q = s * s, r;

    r = __builtin_fmaf(q, 0.22222222f, 0.28571429f);
    r = __builtin_fmaf(q, r, 0.4f);
    r = __builtin_fmaf(q, r, 0.66666667f);
    r = __builtin_fmaf(s * q, r, 2.0f * s);
    r = __builtin_fmaf((float)(small ? e - 24 : e), two, r * scale);
    r = x < __builtin_inff() ? r : x; /* NaN too */
    return x > 0.0f || x != x ? r
           : x == 0.0f        ? -__builtin_inff()
                              : __builtin_nanf("");
}

__MC_DEVICE__ float __logf(float x)
{
    return __mc_log(x, 1.0f, 6.93147181e-1f);
}

__MC_DEVICE__ float __log2f(float x)
{
    return __mc_log(x, 1.44269504f, 1.0f);
}

__MC_DEVICE__ float __log10f(float x)
{
    return __mc_log(x, 4.34294482e-1f, 3.01029996e-1f);
}

__MC_DEVICE__ float __powf(float x, float y)
{
    return __mc_exp2(y * __log2f(x));
}

/* Sine and cosine, of what is left of x after n quarter turns. */
__MC_DEVICE__ int __mc_quarters(float x, float *s, float *c)
{
    int n = __float2int_rn(x * 0.636619772f);
    float turns = (float)n, r, q;

    r = __builtin_fmaf(-turns, 1.57079637f, x);
    r = __builtin_fmaf(-turns, -4.37113883e-8f, r);
    q = r * r;
    *s = __builtin_fmaf(q, 2.7557319e-6f, -1.9841270e-4f);
    *s = __builtin_fmaf(q, *s, 8.3333333e-3f);
    *s = __builtin_fmaf(q, *s, -1.6666667e-1f);
    *s = __builtin_fmaf(r * q, *s, r);
    *c = __builtin_fmaf(q, 2.4801587e-5f, -1.3888889e-3f);
    *c = __builtin_fmaf(q, *c, 4.1666667e-2f);
    *c = __builtin_fmaf(q, *c, -0.5f);
    *c = __builtin_fmaf(q, *c, 1.0f);
    return n;
}

__MC_DEVICE__ void __sincosf(float x, float *s, float *c)
{
    float sine, cosine, a, b;
    int n = __mc_quarters(x, &sine, &cosine);

    a = n & 1 ? cosine : sine;
    b = n & 1 ? sine : cosine;
    *s = n & 2 ? -a : a;
    *c = (n + 1) & 2 ? -b : b;
}

__MC_DEVICE__ float __sinf(float x)
{
    float s, c;

    __sincosf(x, &s, &c);
    return s;
}

__MC_DEVICE__ float __cosf(float x)
{
    float s, c;

    __sincosf(x, &s, &c);
    return c;
}

__MC_DEVICE__ float __tanf(float x)
{
    float s, c;
    int n = __mc_quarters(x, &s, &c);

    return n & 1 ? -c / s : s / c;
}

__MC_DEVICE__ float __tanhf(float x)
{
    return tanhf(x);
}

__MC_DEVICE__ float __fdividef(float x, float y)
{
    return x / y;
}

__MC_DEVICE__ float fdividef(float x, float y)
{
    return x / y;
}

__MC_DEVICE__ double fdivide(double x, double y)
{
    return x / y;
}

__MC_DEVICE__ float __saturatef(float x)
{
    return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f);
}

__MC_DEVICE__ float saturatef(float x)
{
    return __saturatef(x);
}

/* Of mixed types, as arithmetic converts them. */
template <class A, class B>
using __mc_mixed = typename std::enable_if<
    std::is_arithmetic<A>::value && std::is_arithmetic<B>::value &&
        !std::is_same<A, B>::value, typename std::common_type<A, B>>::type::type;

template <class A, class B> __MC_BOTH__ __mc_mixed<A, B> min(A a, B b)
{
    return min((__mc_mixed<A, B>)a, (__mc_mixed<A, B>)b);
}

template <class A, class B> __MC_BOTH__ __mc_mixed<A, B> max(A a, B b)
{
    return max((__mc_mixed<A, B>)a, (__mc_mixed<A, B>)b);
}

#define __MC_MINMAX1(prefix, type)                                             \
    __MC_BOTH__ type prefix##min(type a, type b)                               \
    {                                                                          \
        return b < a ? b : a;                                                  \
    }                                                                          \
    __MC_BOTH__ type prefix##max(type a, type b)                               \
    {                                                                          \
        return a < b ? b : a;                                                  \
    }

__MC_MINMAX1(u, unsigned)
__MC_MINMAX1(ll, long long)
__MC_MINMAX1(ull, unsigned long long)

#undef __MC_MINMAX1

#endif
