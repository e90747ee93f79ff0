/* SPDX-License-Identifier: MIT */
/* Arithmetic, conversions and functions: x = f(x, y, z), lane by lane. */
#include "micro.h"

#include <cmath>

template <class T> BOTH T begin(uint32_t n)
{
    return (T)((uint64_t)mix(n) << 20 ^ mix(n + 77));
}
template <> BOTH float begin<float>(uint32_t n)
{
    return 1.0f + (mix(n) >> 9) * 0x1p-24f;
}
template <> BOTH double begin<double>(uint32_t n)
{
    return 1.0 + mix(n) * 0x1p-33;
}
template <> BOTH _Float16 begin<_Float16>(uint32_t n)
{
    return (_Float16)(1.0f + (mix(n) >> 23) * 0x1p-10f);
}

/* Results of functions may differ in the last digits. */
template <class T> bool close_to(uint64_t a, uint64_t b)
{
    T x, y;

    memcpy(&x, &a, sizeof(x));
    memcpy(&y, &b, sizeof(y));
    return fabs((double)x - (double)y) <= 1e-3 * (1 + fabs((double)y));
}

#define CLASS(name, type, same_, uniform, expression)                          \
    struct name : Exact {                                                      \
        type x, y, z;                                                          \
        BOTH_MEMBER name(char *, unsigned thread, int)                         \
        {                                                                      \
            unsigned seed = (uniform) ? 1 : thread;                            \
            x = begin<type>(seed);                                             \
            y = begin<type>(seed + 5000);                                      \
            z = begin<type>(seed + 9000);                                      \
            opaque(y);                                                         \
            opaque(z);                                                         \
        }                                                                      \
        BOTH_MEMBER void step(int)                                             \
        {                                                                      \
            x = (expression);                                                  \
            opaque(x);                                                         \
        }                                                                      \
        BOTH_MEMBER uint64_t result()                                          \
        {                                                                      \
            return bits(x);                                                    \
        }                                                                      \
        static bool same(uint64_t a, uint64_t b)                               \
        {                                                                      \
            return same_;                                                      \
        }                                                                      \
    };
#define EXACT (a == b)

/* class, type, how results are compared, name in the table, iterations,
 * expression. Values stay in the range where they began. */
#define ARITHMETIC(X)                                                          \
    X(AddU32, uint32_t, EXACT, "int.add.u32", 256, x + y)                      \
    X(XorU32, uint32_t, EXACT, "int.xor.u32", 256, x ^ y)                      \
    X(ShiftU32, uint32_t, EXACT, "int.shift.u32", 256, x >> (y & 31) | y)      \
    X(SelectU32, uint32_t, EXACT, "int.select.u32", 128, x < y ? z + x : y)    \
    X(MinU32, int32_t, EXACT, "int.min.s32", 256, x < y ? x : y)               \
    X(PopcU32, uint32_t, EXACT, "int.popcount.u32", 256,                       \
      (uint32_t)__builtin_popcount(x) | y)                                     \
    X(ClzU32, uint32_t, EXACT, "int.clz.u32", 256,                             \
      (uint32_t)__builtin_clz(x | 1) ^ y)                                      \
    X(AddU64, uint64_t, EXACT, "int.add.u64", 256, x + y)                      \
    X(ShiftU64, uint64_t, EXACT, "int.shift.u64", 256, x >> (y & 63) | y)      \
    X(MulU32, uint32_t, EXACT, "mul.u32", 256, x * y)                          \
    X(MulhU32, uint32_t, EXACT, "mul.high.u32", 256,                           \
      (uint32_t)((uint64_t)x * y >> 32) | z)                                   \
    X(MulU64, uint64_t, EXACT, "mul.u64", 256, x *y)                           \
    X(MulhU64, uint64_t, EXACT, "mul.high.u64", 128,                           \
      (uint64_t)((unsigned __int128)x * y >> 64) | z)                          \
    X(DivU32, uint32_t, EXACT, "div.u32", 64, z / (x | 3))                     \
    X(DivS32, int32_t, EXACT, "div.s32", 64, z / (x | 3))                      \
    X(RemU32, uint32_t, EXACT, "div.rem.u32", 64, z % (x | 3))                 \
    X(DivU64, uint64_t, EXACT, "div.u64", 64, z / (x | 3))                     \
    X(RemU64, uint64_t, EXACT, "div.rem.u64", 64, z % (x | 3))                 \
    X(FmaF32, float, EXACT, "f32.fma", 256, fmaf(x, 0.5f, y))                  \
    X(AddF32, float, EXACT, "f32.add", 256, x + y)                             \
    X(MulF32, float, EXACT, "f32.mul", 256, x * 0.999f)                        \
    X(MinF32, float, EXACT, "f32.min", 256, fminf(x, y))                       \
    X(DivF32, float, EXACT, "f32.div", 128, y / x)                             \
    X(SqrtF32, float, EXACT, "f32.sqrt", 128, sqrtf(x))                        \
    X(FmaF64, double, EXACT, "f64.fma", 128, fma(x, 0.5, y))                   \
    X(AddF64, double, EXACT, "f64.add", 128, x + y)                            \
    X(MulF64, double, EXACT, "f64.mul", 128, x * 0.999)                        \
    X(DivF64, double, EXACT, "f64.div", 64, y / x)                             \
    X(SqrtF64, double, EXACT, "f64.sqrt", 64, sqrt(x))                         \
    X(AddF16, _Float16, EXACT, "f16.add", 128, x * (_Float16)0.5f + y)         \
    X(MulF16, _Float16, EXACT, "f16.mul", 128, x * (_Float16)0.99f)            \
    X(DivF16, _Float16, EXACT, "f16.div", 64, y / x)                           \
    X(I32ToF32, int32_t, EXACT, "convert.s32.f32.s32", 128,                    \
      (int32_t)((float)(x & 0xffffff) * 0.5f) + y)                             \
    X(U64ToF64, uint64_t, EXACT, "convert.u64.f64.u64", 64,                    \
      (uint64_t)((double)(x & 0xffffffffffff) * 0.5))                          \
    X(F32ToF64, float, EXACT, "convert.f32.f64.f32", 128,                      \
      (float)((double)x * 0.5 + 1))                                            \
    X(F32ToF16, float, EXACT, "convert.f32.f16.f32", 128,                      \
      (float)(_Float16)(x * 0.5f + 1))                                         \
    X(U8ToU32, uint32_t, EXACT, "convert.u8.u32", 128, (uint8_t)x + y)         \
    X(FloorF32, float, EXACT, "convert.floor.f32", 64, floorf(x * 3) * 0.4f)   \
    X(RintF32, float, EXACT, "convert.rint.f32", 64, rintf(x * 3) * 0.4f)      \
    X(SinF32, float, close_to<float>(a, b), "math.sin.f32", 16, sinf(x) + 1)   \
    X(ExpF32, float, close_to<float>(a, b), "math.exp.f32", 16,                \
      expf(x) * 0.1f)                                                          \
    X(LogF32, float, close_to<float>(a, b), "math.log.f32", 16,                \
      logf(x) + 1.5f)                                                          \
    X(PowF32, float, close_to<float>(a, b), "math.pow.f32", 8,                 \
      powf(x, 0.3f) + 0.1f)                                                    \
    X(SinF64, double, close_to<double>(a, b), "math.sin.f64", 8, sin(x) + 1)   \
    X(ExpF64, double, close_to<double>(a, b), "math.exp.f64", 8,               \
      exp(x) * 0.1)                                                            \
    X(LogF64, double, close_to<double>(a, b), "math.log.f64", 8,               \
      log(x) + 1.5)

#define MAKE(name, type, same, text, iterations, expression)                   \
    CLASS(name, type, same, false, expression)
ARITHMETIC(MAKE)
#undef MAKE
CLASS(AddUniform, uint32_t, EXACT, true, x + y)
CLASS(DivUniform, uint32_t, EXACT, true, z / (x | 3))

#define MAKE(name, type, same, text, iterations, expression)                   \
    {text, NULL, iterations, BLOCK, true, launch<name>, replay<name>},
static const Row arithmetic_table[] = {
    ARITHMETIC(MAKE)
    {"int.add.u32.uniform", NULL, 256, BLOCK, true, launch<AddUniform>,
     replay<AddUniform>},
    {"div.u32.uniform", NULL, 256, BLOCK, true, launch<DivUniform>,
     replay<DivUniform>},
};
#undef MAKE
