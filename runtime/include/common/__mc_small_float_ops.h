/* SPDX-License-Identifier: MIT */
/*
 * The class of a small float, of a pair of them, and all functions of both:
 * included once for each format, which has defined the names and conversions
 * used here.
 */
struct __MC_T {
    unsigned short __x;

    __MC_T() = default;
    __MC_MEMBER__ __MC_T(const __MC_RAW &raw) : __x(raw.x) {}
    __MC_MEMBER__ __MC_T(float x) : __x(__MC_FROM_FLOAT(x)) {}
    __MC_MEMBER__ __MC_T(double x) : __x(__MC_FROM_DOUBLE(x)) {}
    template <class I, class = typename std::enable_if<
                           std::is_integral<I>::value>::type>
    __MC_MEMBER__ __MC_T(I x)
        : __x(__mc_encode(std::is_signed<I>::value
                              ? __mc_from_signed((long long)x)
                              : __mc_from_unsigned((unsigned long long)x),
                          __MC_EXP_BITS, __MC_MAN_BITS, __mc_rn))
    {
    }

    __MC_MEMBER__ operator float() const { return __MC_TO_FLOAT(__x); }
    __MC_MEMBER__ operator __MC_RAW() const { return __MC_RAW{ __x }; }
};

struct __attribute__((aligned(4))) __MC_T2 {
    __MC_T x, y;

    __MC_T2() = default;
    __MC_MEMBER__ __MC_T2(const __MC_T &low, const __MC_T &high)
        : x(low), y(high)
    {
    }
    __MC_MEMBER__ __MC_T2(const __MC_RAW2 &raw)
        : x(__MC_RAW{ raw.x }), y(__MC_RAW{ raw.y })
    {
    }

    __MC_MEMBER__ operator __MC_RAW2() const
    {
        return __MC_RAW2{ x.__x, y.__x };
    }
};

/* Conversions */

__MC_BOTH__ __MC_T __MC_FROM_BITS(ushort)(unsigned short bits)
{
    __MC_T r;

    r.__x = bits;
    return r;
}

__MC_BOTH__ __MC_T __MC_FROM_BITS(short)(short bits)
{
    return __MC_FROM_BITS(ushort)((unsigned short)bits);
}

__MC_BOTH__ unsigned short __MC_AS(ushort)(__MC_T a)
{
    return a.__x;
}

__MC_BOTH__ short __MC_AS(short)(__MC_T a)
{
    return (short)a.__x;
}

__MC_BOTH__ float __MC_NAME(__, 2float)(__MC_T a)
{
    return a;
}

__MC_BOTH__ __MC_T __MC_NAME(__float2, )(float x)
{
    return x;
}

__MC_BOTH__ __MC_T __MC_NAME(__double2, )(double x)
{
    return x;
}

#define __MC_CONVERT(mode)                                                     \
    __MC_BOTH__ __MC_T __MC_NAME(__float2, _##mode)(float x)                   \
    {                                                                          \
        return __MC_FROM_BITS(ushort)(__mc_encode(                             \
            x, __MC_EXP_BITS, __MC_MAN_BITS, __mc_##mode));                    \
    }                                                                          \
    __MC_CONVERT_INTEGER(mode, int, int, signed)                               \
    __MC_CONVERT_INTEGER(mode, uint, unsigned, unsigned)                       \
    __MC_CONVERT_INTEGER(mode, short, short, signed)                           \
    __MC_CONVERT_INTEGER(mode, ushort, unsigned short, unsigned)               \
    __MC_CONVERT_INTEGER(mode, ll, long long, signed)                          \
    __MC_CONVERT_INTEGER(mode, ull, unsigned long long, unsigned)

#define __MC_CONVERT_INTEGER(mode, name, type, sign)                           \
    __MC_BOTH__ __MC_T __MC_NAME(__##name##2, _##mode)(type x)                 \
    {                                                                          \
        return __MC_FROM_BITS(ushort)(__mc_encode(                             \
            __mc_from_##sign(x), __MC_EXP_BITS, __MC_MAN_BITS, __mc_##mode));  \
    }                                                                          \
    __MC_BOTH__ type __MC_NAME(__, 2##name##_##mode)(__MC_T a)                 \
    {                                                                          \
        return __mc_to_integer<type>(a, __mc_##mode);                          \
    }

__MC_CONVERT(rn)
__MC_CONVERT(rz)
__MC_CONVERT(ru)
__MC_CONVERT(rd)

#undef __MC_CONVERT
#undef __MC_CONVERT_INTEGER

__MC_BOTH__ signed char __MC_NAME(__, 2char_rz)(__MC_T a)
{
    return __mc_to_integer<signed char>(a, __mc_rz);
}

__MC_BOTH__ unsigned char __MC_NAME(__, 2uchar_rz)(__MC_T a)
{
    return __mc_to_integer<unsigned char>(a, __mc_rz);
}

__MC_BOTH__ __MC_T2 __MC_BOTH_OF(__MC_T a)
{
    return __MC_T2(a, a);
}

__MC_BOTH__ __MC_T2 __MC_PAIR_OF(__MC_T low, __MC_T high)
{
    return __MC_T2(low, high);
}

__MC_BOTH__ __MC_T2 __MC_NAME2(__float2, _rn)(float x)
{
    return __MC_T2(x, x);
}

__MC_BOTH__ __MC_T2 __MC_NAME2(__floats2, _rn)(float low, float high)
{
    return __MC_T2(low, high);
}

__MC_BOTH__ __MC_T2 __MC_FLOAT2_TO_PAIR(float2 v)
{
    return __MC_T2(v.x, v.y);
}

__MC_BOTH__ float2 __MC_PAIR_TO_FLOAT2(__MC_T2 a)
{
    return make_float2(a.x, a.y);
}

__MC_BOTH__ float __low2float(__MC_T2 a)
{
    return a.x;
}

__MC_BOTH__ float __high2float(__MC_T2 a)
{
    return a.y;
}

__MC_BOTH__ __MC_T __MC_NAME(__low2, )(__MC_T2 a)
{
    return a.x;
}

__MC_BOTH__ __MC_T __MC_NAME(__high2, )(__MC_T2 a)
{
    return a.y;
}

__MC_BOTH__ __MC_T2 __MC_NAME2(__low2, )(__MC_T2 a)
{
    return __MC_T2(a.x, a.x);
}

__MC_BOTH__ __MC_T2 __MC_NAME2(__high2, )(__MC_T2 a)
{
    return __MC_T2(a.y, a.y);
}

__MC_BOTH__ __MC_T2 __MC_NAME2(__lows2, )(__MC_T2 a, __MC_T2 b)
{
    return __MC_T2(a.x, b.x);
}

__MC_BOTH__ __MC_T2 __MC_NAME2(__highs2, )(__MC_T2 a, __MC_T2 b)
{
    return __MC_T2(a.y, b.y);
}

__MC_BOTH__ __MC_T2 __lowhigh2highlow(__MC_T2 a)
{
    return __MC_T2(a.y, a.x);
}

/* Arithmetic: float has enough bits that rounding its result is exact. */
#ifdef __MC_NATIVE
#define __MC_OPERATE(a, op, b)                                                 \
    __MC_FROM_BITS(ushort)(__builtin_bit_cast(                                 \
        unsigned short, __builtin_bit_cast(__MC_NATIVE, (a).__x)               \
                            op __builtin_bit_cast(__MC_NATIVE, (b).__x)))
#else
#define __MC_OPERATE(a, op, b) __MC_T((float)(a)op(float)(b))
#endif

/* Others may be contracted: a * b + c rounded once. */
#ifdef __clang__
#define __MC_NOT_FUSED _Pragma("clang fp contract(off)")
#else
#define __MC_NOT_FUSED
#endif

/* With an operand of another type: as the machine's types have it. */
#define __MC_MIXED(op)                                                         \
    template <class A, class = typename std::enable_if<                        \
                           std::is_arithmetic<A>::value>::type>                \
    __MC_BOTH__ auto operator op(const __MC_T &a, A b)->decltype(1.0f op b)    \
    {                                                                          \
        return (float)a op b;                                                  \
    }                                                                          \
    template <class A, class = typename std::enable_if<                        \
                           std::is_arithmetic<A>::value>::type>                \
    __MC_BOTH__ auto operator op(A a, const __MC_T &b)->decltype(a op 1.0f)    \
    {                                                                          \
        return a op(float) b;                                                  \
    }

#define __MC_ARITHMETIC(name, pair, op)                                        \
    __MC_MIXED(op)                                                             \
    __MC_BOTH__ __MC_T operator op(const __MC_T &a, const __MC_T &b)           \
    {                                                                          \
        return __MC_OPERATE(a, op, b);                                         \
    }                                                                          \
    __MC_BOTH__ __MC_T &operator op##=(__MC_T &a, const __MC_T &b)             \
    {                                                                          \
        return a = a op b;                                                     \
    }                                                                          \
    __MC_BOTH__ __MC_T2 operator op(const __MC_T2 &a, const __MC_T2 &b)        \
    {                                                                          \
        return __MC_T2(a.x op b.x, a.y op b.y);                                \
    }                                                                          \
    __MC_BOTH__ __MC_T2 &operator op##=(__MC_T2 &a, const __MC_T2 &b)          \
    {                                                                          \
        return a = a op b;                                                     \
    }                                                                          \
    __MC_BOTH__ __MC_T name(__MC_T a, __MC_T b)                                \
    {                                                                          \
        return a op b;                                                         \
    }                                                                          \
    __MC_BOTH__ __MC_T name##_rn(__MC_T a, __MC_T b)                           \
    {                                                                          \
        __MC_NOT_FUSED                                                         \
        return __MC_OPERATE(a, op, b);                                         \
    }                                                                          \
    __MC_BOTH__ __MC_T2 pair(__MC_T2 a, __MC_T2 b)                             \
    {                                                                          \
        return a op b;                                                         \
    }

__MC_ARITHMETIC(__hadd, __hadd2, +)
__MC_ARITHMETIC(__hsub, __hsub2, -)
__MC_ARITHMETIC(__hmul, __hmul2, *)
__MC_ARITHMETIC(__hdiv, __h2div, /)

#undef __MC_ARITHMETIC
#undef __MC_OPERATE
#undef __MC_NOT_FUSED

__MC_BOTH__ __MC_T __hfma(__MC_T a, __MC_T b, __MC_T c)
{
    return __MC_FROM_BITS(ushort)(__MC_FMA(a.__x, b.__x, c.__x));
}

__MC_BOTH__ __MC_T2 __hfma2(__MC_T2 a, __MC_T2 b, __MC_T2 c)
{
    return __MC_T2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}

__MC_BOTH__ __MC_T __hneg(__MC_T a)
{
    return __MC_FROM_BITS(ushort)((unsigned short)(a.__x ^ 0x8000));
}

__MC_BOTH__ __MC_T __habs(__MC_T a)
{
    return __MC_FROM_BITS(ushort)((unsigned short)(a.__x & 0x7fff));
}

__MC_BOTH__ __MC_T2 __hneg2(__MC_T2 a)
{
    return __MC_T2(__hneg(a.x), __hneg(a.y));
}

__MC_BOTH__ __MC_T2 __habs2(__MC_T2 a)
{
    return __MC_T2(__habs(a.x), __habs(a.y));
}

__MC_BOTH__ __MC_T operator-(const __MC_T &a)
{
    return __hneg(a);
}

__MC_BOTH__ __MC_T2 operator-(const __MC_T2 &a)
{
    return __hneg2(a);
}

__MC_BOTH__ __MC_T &operator++(__MC_T &a)
{
    return a += __MC_T(1.0f);
}

__MC_BOTH__ __MC_T &operator--(__MC_T &a)
{
    return a -= __MC_T(1.0f);
}

__MC_BOTH__ __MC_T operator++(__MC_T &a, int)
{
    __MC_T before = a;

    ++a;
    return before;
}

__MC_BOTH__ __MC_T operator--(__MC_T &a, int)
{
    __MC_T before = a;

    --a;
    return before;
}

/* a * b + c of complex numbers, real parts in x. */
__MC_BOTH__ __MC_T2 __hcmadd(__MC_T2 a, __MC_T2 b, __MC_T2 c)
{
    __MC_T real = __hfma(a.x, b.x, c.x), imaginary = __hfma(a.x, b.y, c.y);

    return __MC_T2(__hfma(__hneg(a.y), b.y, real),
                   __hfma(a.y, b.x, imaginary));
}

/* Into [0, 1]; NaN gives 0. */
__MC_BOTH__ __MC_T __MC_NAME(__mc_saturate_, )(__MC_T a)
{
    float x = a;

    return x > 0.0f ? (x < 1.0f ? a : __MC_T(1.0f)) : __MC_T(0.0f);
}

__MC_BOTH__ __MC_T __hadd_sat(__MC_T a, __MC_T b)
{
    return __MC_NAME(__mc_saturate_, )(a + b);
}

__MC_BOTH__ __MC_T __hsub_sat(__MC_T a, __MC_T b)
{
    return __MC_NAME(__mc_saturate_, )(a - b);
}

__MC_BOTH__ __MC_T __hmul_sat(__MC_T a, __MC_T b)
{
    return __MC_NAME(__mc_saturate_, )(a * b);
}

__MC_BOTH__ __MC_T __hfma_sat(__MC_T a, __MC_T b, __MC_T c)
{
    return __MC_NAME(__mc_saturate_, )(__hfma(a, b, c));
}

/* Comparisons: the ordinary ones are false with a NaN (but !=, true), those
 * ending in u are true. */
__MC_BOTH__ bool __hisnan(__MC_T a)
{
    float x = a;

    return x != x;
}

/* 1 or -1 for an infinity. */
__MC_BOTH__ int __hisinf(__MC_T a)
{
    float x = a;

    return __builtin_isinf(x) ? (x > 0 ? 1 : -1) : 0;
}

#define __MC_COMPARE(name, op)                                                 \
    __MC_MIXED(op)                                                             \
    __MC_BOTH__ bool operator op(const __MC_T &a, const __MC_T &b)             \
    {                                                                          \
        return (float)a op(float) b;                                           \
    }                                                                          \
    __MC_BOTH__ bool operator op(const __MC_T2 &a, const __MC_T2 &b)           \
    {                                                                          \
        return a.x op b.x && a.y op b.y;                                       \
    }                                                                          \
    __MC_BOTH__ bool __h##name(__MC_T a, __MC_T b)                             \
    {                                                                          \
        return a op b && !__hisnan(a) && !__hisnan(b);                         \
    }                                                                          \
    __MC_BOTH__ bool __h##name##u(__MC_T a, __MC_T b)                          \
    {                                                                          \
        return a op b || __hisnan(a) || __hisnan(b);                           \
    }                                                                          \
    __MC_COMPARE2(name)                                                        \
    __MC_COMPARE2(name##u)

/* Of pairs: 1 or 0 in each element, all ones or 0 in each half of a word, and
 * whether it is true of both. */
#define __MC_COMPARE2(name)                                                    \
    __MC_BOTH__ __MC_T2 __h##name##2(__MC_T2 a, __MC_T2 b)                     \
    {                                                                          \
        return __MC_T2((float)__h##name(a.x, b.x),                             \
                       (float)__h##name(a.y, b.y));                            \
    }                                                                          \
    __MC_BOTH__ unsigned __h##name##2_mask(__MC_T2 a, __MC_T2 b)               \
    {                                                                          \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) |                           \
               (__h##name(a.y, b.y) ? 0xffff0000u : 0);                        \
    }                                                                          \
    __MC_BOTH__ bool __hb##name##2(__MC_T2 a, __MC_T2 b)                       \
    {                                                                          \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                     \
    }

__MC_COMPARE(eq, ==)
__MC_COMPARE(ne, !=)
__MC_COMPARE(lt, <)
__MC_COMPARE(le, <=)
__MC_COMPARE(gt, >)
__MC_COMPARE(ge, >=)

#undef __MC_COMPARE
#undef __MC_COMPARE2
#undef __MC_MIXED

/* The other operand when one is NaN; -0 is less than +0. */
__MC_BOTH__ __MC_T __hmin(__MC_T a, __MC_T b)
{
    bool less = (float)a < (float)b || ((float)a == (float)b && a.__x > b.__x);

    return __hisnan(b) || less ? a : b;
}

__MC_BOTH__ __MC_T __hmax(__MC_T a, __MC_T b)
{
    bool more = (float)a > (float)b || ((float)a == (float)b && a.__x < b.__x);

    return __hisnan(b) || more ? a : b;
}

__MC_BOTH__ __MC_T2 __hmin2(__MC_T2 a, __MC_T2 b)
{
    return __MC_T2(__hmin(a.x, b.x), __hmin(a.y, b.y));
}

__MC_BOTH__ __MC_T2 __hmax2(__MC_T2 a, __MC_T2 b)
{
    return __MC_T2(__hmax(a.x, b.x), __hmax(a.y, b.y));
}

/* NaN when either is. */
__MC_BOTH__ __MC_T __hmin_nan(__MC_T a, __MC_T b)
{
    return __hisnan(a) || __hisnan(b) ? a + b : __hmin(a, b);
}

__MC_BOTH__ __MC_T __hmax_nan(__MC_T a, __MC_T b)
{
    return __hisnan(a) || __hisnan(b) ? a + b : __hmax(a, b);
}

/* Negative results become 0. */
__MC_BOTH__ __MC_T __hfma_relu(__MC_T a, __MC_T b, __MC_T c)
{
    __MC_T r = __hfma(a, b, c);

    return (float)r < 0.0f ? __MC_T(0.0f) : r;
}

#define __MC_PAIRWISE(name, name2)                                             \
    __MC_BOTH__ __MC_T2 name2(__MC_T2 a, __MC_T2 b)                            \
    {                                                                          \
        return __MC_T2(name(a.x, b.x), name(a.y, b.y));                        \
    }
#define __MC_PAIRWISE3(name, name2)                                            \
    __MC_BOTH__ __MC_T2 name2(__MC_T2 a, __MC_T2 b, __MC_T2 c)                 \
    {                                                                          \
        return __MC_T2(name(a.x, b.x, c.x), name(a.y, b.y, c.y));              \
    }

__MC_PAIRWISE(__hmin_nan, __hmin2_nan)
__MC_PAIRWISE(__hmax_nan, __hmax2_nan)
__MC_PAIRWISE(__hadd_sat, __hadd2_sat)
__MC_PAIRWISE(__hsub_sat, __hsub2_sat)
__MC_PAIRWISE(__hmul_sat, __hmul2_sat)
__MC_PAIRWISE(__hadd_rn, __hadd2_rn)
__MC_PAIRWISE(__hsub_rn, __hsub2_rn)
__MC_PAIRWISE(__hmul_rn, __hmul2_rn)
__MC_PAIRWISE3(__hfma_sat, __hfma2_sat)
__MC_PAIRWISE3(__hfma_relu, __hfma2_relu)

#undef __MC_PAIRWISE
#undef __MC_PAIRWISE3

__MC_BOTH__ __MC_T2 __hisnan2(__MC_T2 a)
{
    return __MC_T2(__MC_T(__hisnan(a.x) ? 1.0f : 0.0f),
                   __MC_T(__hisnan(a.y) ? 1.0f : 0.0f));
}

/* Mathematics, by way of float. */
#if defined(__MXCC__) && defined(__MACA__)
#define __MC_MATH(name, expr)                                                  \
    __MC_DEVICE__ __MC_T h##name(__MC_T a)                                     \
    {                                                                          \
        float x = a;                                                           \
                                                                               \
        return __MC_T((float)(expr));                                          \
    }                                                                          \
    __MC_DEVICE__ __MC_T2 h2##name(__MC_T2 a)                                  \
    {                                                                          \
        return __MC_T2(h##name(a.x), h##name(a.y));                            \
    }

__MC_MATH(sqrt, __builtin_sqrtf(x))
__MC_MATH(rsqrt, 1.0f / __builtin_sqrtf(x))
__MC_MATH(rcp, 1.0f / x)
__MC_MATH(exp, expf(x))
__MC_MATH(exp2, exp2f(x))
__MC_MATH(exp10, exp10f(x))
__MC_MATH(log, logf(x))
__MC_MATH(log2, log2f(x))
__MC_MATH(log10, log10f(x))
__MC_MATH(sin, sinf(x))
__MC_MATH(cos, cosf(x))
__MC_MATH(tanh, tanhf(x))
__MC_MATH(tanh_approx, tanhf(x))
__MC_MATH(floor, floorf(x))
__MC_MATH(ceil, ceilf(x))
__MC_MATH(trunc, truncf(x))
__MC_MATH(rint, rintf(x))

#undef __MC_MATH

/* Atomic additions, by compare-and-swap of the word they lie in; each element
 * of a pair is rounded on its own, both are added at once. */
/* A program's own functions of the same types win. */
template <class = void>
__MC_DEVICE__ __MC_T2 atomicAdd(__MC_T2 *p, __MC_T2 v)
{
    unsigned *word = (unsigned *)p;
    unsigned old = __atomic_load_n(word, __ATOMIC_RELAXED), sum;

    do {
        sum = __builtin_bit_cast(unsigned, __builtin_bit_cast(__MC_T2, old) +
                                               v);
    } while (!__atomic_compare_exchange_n(word, &old, sum, false,
                                          __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return __builtin_bit_cast(__MC_T2, old);
}

template <class = void>
__MC_DEVICE__ __MC_T atomicAdd(__MC_T *p, __MC_T v)
{
    unsigned shift = ((unsigned long)p & 2) * 8, mask = 0xffffu << shift;
    unsigned *word = (unsigned *)((unsigned long)p & ~3ul);
    unsigned old = __atomic_load_n(word, __ATOMIC_RELAXED), sum;
    __MC_T before;

    do {
        before.__x = (unsigned short)(old >> shift);
        sum = (unsigned)(before + v).__x << shift | (old & ~mask);
    } while (!__atomic_compare_exchange_n(word, &old, sum, false,
                                          __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return before;
}
#endif

#undef __MC_T
#undef __MC_T2
#undef __MC_RAW
#undef __MC_RAW2
#undef __MC_NAME
#undef __MC_NAME2
#undef __MC_AS
#undef __MC_FROM_BITS
#undef __MC_PAIR_TO_FLOAT2
#undef __MC_FLOAT2_TO_PAIR
#undef __MC_BOTH_OF
#undef __MC_PAIR_OF
#undef __MC_EXP_BITS
#undef __MC_MAN_BITS
#undef __MC_TO_FLOAT
#undef __MC_FROM_FLOAT
#undef __MC_FROM_DOUBLE
#undef __MC_FMA
#undef __MC_NATIVE
