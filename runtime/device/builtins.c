/* SPDX-License-Identifier: MIT */
/*
 * Functions that clang calls for operations the kernel ISA lacks and that the C
 * library does not have: 128-bit division, complex numbers, integer powers, and
 * what tables of virtual functions name.
 * Arithmetic in long double is not supported.
 */
#include <stdint.h>

typedef unsigned __int128 Uint128;
typedef __int128 Int128;
typedef float _Complex ComplexF;
typedef double _Complex ComplexD;

Uint128 __udivmodti4(Uint128 a, Uint128 b, Uint128 *rest);
Uint128 __udivti3(Uint128 a, Uint128 b);
Uint128 __umodti3(Uint128 a, Uint128 b);
Int128 __divti3(Int128 a, Int128 b);
Int128 __modti3(Int128 a, Int128 b);
ComplexF __mulsc3(float a, float b, float c, float d);
ComplexD __muldc3(double a, double b, double c, double d);
ComplexF __divsc3(float a, float b, float c, float d);
ComplexD __divdc3(double a, double b, double c, double d);
float __powisf2(float x, int n);
double __powidf2(double x, int n);
void __cxa_pure_virtual(void);
void __cxa_deleted_virtual(void);

static int leading_zeros(Uint128 x)
{
    uint64_t high = x >> 64;

    return high ? __builtin_clzl(high) : 64 + __builtin_clzl((uint64_t)x);
}

/* Long division, one bit a step; division by zero gives all ones, as the
 * division instructions do. */
Uint128 __udivmodti4(Uint128 a, Uint128 b, Uint128 *rest)
{
    Uint128 quotient = 0;

    if (!b) {
        *rest = a;
        return ~(Uint128)0;
    }
    if (!((a | b) >> 64)) {
        *rest = (uint64_t)a % (uint64_t)b;
        return (uint64_t)a / (uint64_t)b;
    }
    if (a >= b) {
        int shift = leading_zeros(b) - leading_zeros(a);

        for (b <<= shift; shift >= 0; shift--, b >>= 1) {
            quotient <<= 1;
            if (a >= b) {
                a -= b;
                quotient |= 1;
            }
        }
    }
    *rest = a;
    return quotient;
}

Uint128 __udivti3(Uint128 a, Uint128 b)
{
    Uint128 rest;

    return __udivmodti4(a, b, &rest);
}

Uint128 __umodti3(Uint128 a, Uint128 b)
{
    Uint128 rest;

    __udivmodti4(a, b, &rest);
    return rest;
}

static Uint128 magnitude(Int128 x)
{
    return x < 0 ? -(Uint128)x : (Uint128)x;
}

Int128 __divti3(Int128 a, Int128 b)
{
    Uint128 q;

    if (!b) {
        return -1;
    }
    q = __udivti3(magnitude(a), magnitude(b));
    return (a < 0) != (b < 0) ? -q : q;
}

Int128 __modti3(Int128 a, Int128 b)
{
    Uint128 r = __umodti3(magnitude(a), magnitude(b));

    return a < 0 ? -r : r;
}

/* (a + bi)(c + di). An infinite factor makes an infinite product even where
 * the plain formula gives NaN (C11 annex G). */
#define MULTIPLY(name, type, ctype, copysign)                                  \
    ctype name(type a, type b, type c, type d)                                 \
    {                                                                          \
        type re = a * c - b * d, im = a * d + b * c;                           \
                                                                               \
        if (re != re && im != im) {                                            \
            int left = __builtin_isinf(a) || __builtin_isinf(b);               \
            int right = __builtin_isinf(c) || __builtin_isinf(d);              \
            int over = __builtin_isinf(a * c) || __builtin_isinf(b * d) ||     \
                       __builtin_isinf(a * d) || __builtin_isinf(b * c);       \
                                                                               \
            if (left) {                                                        \
                a = copysign(__builtin_isinf(a) ? 1 : 0, a);                   \
                b = copysign(__builtin_isinf(b) ? 1 : 0, b);                   \
            }                                                                  \
            if (right) {                                                       \
                c = copysign(__builtin_isinf(c) ? 1 : 0, c);                   \
                d = copysign(__builtin_isinf(d) ? 1 : 0, d);                   \
            }                                                                  \
            if (left || right || over) {                                       \
                a = a != a ? copysign(0, a) : a;                               \
                b = b != b ? copysign(0, b) : b;                               \
                c = c != c ? copysign(0, c) : c;                               \
                d = d != d ? copysign(0, d) : d;                               \
                re = (type)__builtin_inf() * (a * c - b * d);                  \
                im = (type)__builtin_inf() * (a * d + b * c);                  \
            }                                                                  \
        }                                                                      \
        return __builtin_complex(re, im);                                      \
    }

MULTIPLY(__mulsc3, float, ComplexF, __builtin_copysignf)
MULTIPLY(__muldc3, double, ComplexD, __builtin_copysign)

/* (a + bi) / (c + di), scaled by the exponent of the divisor. */
#define DIVIDE(name, type, ctype, copysign, fmax, fabs, logb, scalbn)          \
    ctype name(type a, type b, type c, type d)                                 \
    {                                                                          \
        type size = fmax(fabs(c), fabs(d)), norm, re, im;                      \
        int e = 0;                                                             \
                                                                               \
        if (size > 0 && !__builtin_isinf(size)) {                              \
            e = (int)logb(size);                                               \
            c = scalbn(c, -e);                                                 \
            d = scalbn(d, -e);                                                 \
        }                                                                      \
        norm = c * c + d * d;                                                  \
        re = scalbn((a * c + b * d) / norm, -e);                               \
        im = scalbn((b * c - a * d) / norm, -e);                               \
        if (re != re && im != im) {                                            \
            if (norm == 0 && (a == a || b == b)) {                             \
                re = copysign((type)__builtin_inf(), c) * a;                   \
                im = copysign((type)__builtin_inf(), c) * b;                   \
            } else if ((__builtin_isinf(a) || __builtin_isinf(b)) &&           \
                       __builtin_isfinite(c) && __builtin_isfinite(d)) {       \
                a = copysign(__builtin_isinf(a) ? 1 : 0, a);                   \
                b = copysign(__builtin_isinf(b) ? 1 : 0, b);                   \
                re = (type)__builtin_inf() * (a * c + b * d);                  \
                im = (type)__builtin_inf() * (b * c - a * d);                  \
            } else if (__builtin_isinf(size) && __builtin_isfinite(a) &&       \
                       __builtin_isfinite(b)) {                                \
                c = copysign(__builtin_isinf(c) ? 1 : 0, c);                   \
                d = copysign(__builtin_isinf(d) ? 1 : 0, d);                   \
                re = 0 * (a * c + b * d);                                      \
                im = 0 * (b * c - a * d);                                      \
            }                                                                  \
        }                                                                      \
        return __builtin_complex(re, im);                                      \
    }

DIVIDE(__divsc3, float, ComplexF, __builtin_copysignf, __builtin_fmaxf,
       __builtin_fabsf, __builtin_logbf, __builtin_scalbnf)
DIVIDE(__divdc3, double, ComplexD, __builtin_copysign, __builtin_fmax,
       __builtin_fabs, __builtin_logb, __builtin_scalbn)

#define POWER(name, type)                                                      \
    type name(type x, int n)                                                   \
    {                                                                          \
        unsigned rest = n < 0 ? -(unsigned)n : (unsigned)n;                    \
        type r = 1;                                                            \
                                                                               \
        for (; rest; rest >>= 1, x *= x) {                                     \
            if (rest & 1) {                                                    \
                r *= x;                                                        \
            }                                                                  \
        }                                                                      \
        return n < 0 ? 1 / r : r;                                              \
    }

POWER(__powisf2, float)
POWER(__powidf2, double)

/* Virtual functions that do not exist were called: as __trap(). */
void __cxa_pure_virtual(void)
{
    __asm__ volatile("ebreak");
}

void __cxa_deleted_virtual(void)
{
    __asm__ volatile("ebreak");
}
