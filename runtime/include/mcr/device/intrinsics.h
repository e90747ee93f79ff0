/* SPDX-License-Identifier: MIT */
/* Integer and bit operations, conversions and casts. */
#ifndef MCR_DEVICE_INTRINSICS_H
#define MCR_DEVICE_INTRINSICS_H

#include <cstddef>

#include "keywords.h"
#include "mcr/mc_vector_types.h"
#include "mxgpu/kernel.h"

__MC_DEVICE__ int __popc(unsigned x)
{
    return __builtin_popcount(x);
}

__MC_DEVICE__ int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}

/* Leading zeros; 32 or 64 of 0. */
__MC_DEVICE__ int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}

__MC_DEVICE__ int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}

/* Number of the lowest set bit, from 1; 0 when there is none. */
__MC_DEVICE__ int __ffs(int x)
{
    return __builtin_ffs(x);
}

__MC_DEVICE__ int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}

__MC_DEVICE__ unsigned __brev(unsigned x)
{
    return __builtin_bitreverse32(x);
}

__MC_DEVICE__ unsigned long long __brevll(unsigned long long x)
{
    return __builtin_bitreverse64(x);
}

/* Product of the low 24 bits of each. */
__MC_DEVICE__ int __mul24(int a, int b)
{
    return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8));
}

__MC_DEVICE__ unsigned __umul24(unsigned a, unsigned b)
{
    return (a & 0xffffff) * (b & 0xffffff);
}

/* High half of the product. */
__MC_DEVICE__ int __mulhi(int a, int b)
{
    return (int)((long long)a * b >> 32);
}

__MC_DEVICE__ unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}

__MC_DEVICE__ long long __mul64hi(long long a, long long b)
{
    return (long long)((__int128)a * b >> 64);
}

__MC_DEVICE__ unsigned long long __umul64hi(unsigned long long a,
                                            unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

/* Averages, without overflow; rounded up in the second form. */
__MC_DEVICE__ int __hadd(int a, int b)
{
    return (int)(((long long)a + b) >> 1);
}

__MC_DEVICE__ unsigned __uhadd(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a + b) >> 1);
}

__MC_DEVICE__ int __rhadd(int a, int b)
{
    return (int)(((long long)a + b + 1) >> 1);
}

__MC_DEVICE__ unsigned __urhadd(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}

/* |a - b| + c */
__MC_DEVICE__ unsigned __sad(int a, int b, unsigned c)
{
    return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c;
}

__MC_DEVICE__ unsigned __usad(unsigned a, unsigned b, unsigned c)
{
    return (a > b ? a - b : b - a) + c;
}

/* Byte i of the result is the byte of y:x that nibble i of s names; bit 3 of
 * the nibble repeats that byte's sign instead. */
__MC_DEVICE__ unsigned __byte_perm(unsigned x, unsigned y, unsigned s)
{
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned r = 0;

    for (int i = 0; i < 4; i++) {
        unsigned sel = s >> (4 * i);
        unsigned byte = bytes >> (8 * (sel & 7)) & 0xff;

        if (sel & 8) {
            byte = byte & 0x80 ? 0xff : 0;
        }
        r |= byte << (8 * i);
    }
    return r;
}

/* Upper (l) or lower (r) word of hi:lo shifted; the amount wraps or clamps. */
__MC_DEVICE__ unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n)
{
    return (unsigned)((((unsigned long long)hi << 32 | lo) << (n & 31)) >> 32);
}

__MC_DEVICE__ unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n)
{
    return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31));
}

__MC_DEVICE__ unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n)
{
    return n >= 32 ? lo : __funnelshift_l(lo, hi, n);
}

__MC_DEVICE__ unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n)
{
    return n >= 32 ? hi : __funnelshift_r(lo, hi, n);
}

/* Casts of bits. */
__MC_DEVICE__ int __float_as_int(float x)
{
    return __builtin_bit_cast(int, x);
}

__MC_DEVICE__ unsigned __float_as_uint(float x)
{
    return __builtin_bit_cast(unsigned, x);
}

__MC_DEVICE__ float __int_as_float(int x)
{
    return __builtin_bit_cast(float, x);
}

__MC_DEVICE__ float __uint_as_float(unsigned x)
{
    return __builtin_bit_cast(float, x);
}

__MC_DEVICE__ long long __double_as_longlong(double x)
{
    return __builtin_bit_cast(long long, x);
}

__MC_DEVICE__ double __longlong_as_double(long long x)
{
    return __builtin_bit_cast(double, x);
}

__MC_DEVICE__ int __double2hiint(double x)
{
    return (int)(__double_as_longlong(x) >> 32);
}

__MC_DEVICE__ int __double2loint(double x)
{
    return (int)__double_as_longlong(x);
}

__MC_DEVICE__ double __hiloint2double(int hi, int lo)
{
    return __longlong_as_double((long long)hi << 32 | (unsigned)lo);
}

/*
 * Conversions to integers with a rounding mode: to nearest even, to zero, up,
 * down. Values outside the range give the nearest one, NaN the largest.
 */
#define __MC_TO_INT(name, from, to, insn, mode, suffix)                        \
    __MC_DEVICE__ to name##_##suffix(from x)                                   \
    {                                                                          \
        long r;                                                                \
                                                                               \
        __asm__(insn " %0, %1, " mode : "=r"(r) : "f"(x));                     \
        return (to)r;                                                          \
    }
#define __MC_TO_INTS(name, from, to, insn)                                     \
    __MC_TO_INT(name, from, to, insn, "rne", rn)                          \
    __MC_TO_INT(name, from, to, insn, "rtz", rz)                          \
    __MC_TO_INT(name, from, to, insn, "rup", ru)                          \
    __MC_TO_INT(name, from, to, insn, "rdn", rd)

__MC_TO_INTS(__float2int, float, int, "fcvt.w.s")
__MC_TO_INTS(__float2uint, float, unsigned, "fcvt.wu.s")
__MC_TO_INTS(__float2ll, float, long long, "fcvt.l.s")
__MC_TO_INTS(__float2ull, float, unsigned long long, "fcvt.lu.s")
__MC_TO_INTS(__double2int, double, int, "fcvt.w.d")
__MC_TO_INTS(__double2uint, double, unsigned, "fcvt.wu.d")
__MC_TO_INTS(__double2ll, double, long long, "fcvt.l.d")
__MC_TO_INTS(__double2ull, double, unsigned long long, "fcvt.lu.d")

#undef __MC_TO_INTS
#undef __MC_TO_INT

/* To floating point, rounded as said. */
#define __MC_ROUND_TO(name, from, to, insn, constraint, mode, suffix)          \
    __MC_DEVICE__ to name##_##suffix(from x)                                   \
    {                                                                          \
        to r;                                                                  \
                                                                               \
        __asm__(insn " %0, %1, " mode : "=f"(r) : constraint(x));              \
        return r;                                                              \
    }
#define __MC_ROUNDS_TO(name, from, to, insn, constraint)                       \
    __MC_ROUND_TO(name, from, to, insn, constraint, "rne", rn)                 \
    __MC_ROUND_TO(name, from, to, insn, constraint, "rtz", rz)                 \
    __MC_ROUND_TO(name, from, to, insn, constraint, "rup", ru)                 \
    __MC_ROUND_TO(name, from, to, insn, constraint, "rdn", rd)

__MC_ROUNDS_TO(__int2float, int, float, "fcvt.s.w", "r")
__MC_ROUNDS_TO(__uint2float, unsigned, float, "fcvt.s.wu", "r")
__MC_ROUNDS_TO(__ll2float, long long, float, "fcvt.s.l", "r")
__MC_ROUNDS_TO(__ull2float, unsigned long long, float, "fcvt.s.lu", "r")
__MC_ROUNDS_TO(__ll2double, long long, double, "fcvt.d.l", "r")
__MC_ROUNDS_TO(__ull2double, unsigned long long, double, "fcvt.d.lu", "r")
__MC_ROUNDS_TO(__double2float, double, float, "fcvt.s.d", "f")

#undef __MC_ROUNDS_TO
#undef __MC_ROUND_TO

__MC_DEVICE__ double __int2double_rn(int x)
{
    return (double)x;
}

__MC_DEVICE__ double __uint2double_rn(unsigned x)
{
    return (double)x;
}

/* Loads and stores with hints for caches that this device does not have. The
 * memory that __ldg reads is not written while the kernel runs. */
#define __MC_LOAD(name)                                                        \
    template <class T> __MC_DEVICE__ T name(const T *p)                        \
    {                                                                          \
        return *p;                                                             \
    }
#define __MC_STORE(name)                                                       \
    template <class T> __MC_DEVICE__ void name(T *p, T value)                  \
    {                                                                          \
        *p = value;                                                            \
    }

__MC_LOAD(__ldg)
__MC_LOAD(__ldca)
__MC_LOAD(__ldcg)
__MC_LOAD(__ldcs)
__MC_LOAD(__ldlu)
__MC_STORE(__stwb)
__MC_STORE(__stcg)
__MC_STORE(__stcs)
__MC_STORE(__stwt)

#undef __MC_LOAD
#undef __MC_STORE

template <class T> __MC_DEVICE__ T __ldcv(const T *p)
{
    __asm__ volatile("" ::: "memory"); /* fetched again each time */
    return *p;
}

/* Position of the nth set bit of mask from bit base on: upwards for n > 0,
 * downwards for n < 0, base itself for 0. -1 when there is none. */
__MC_DEVICE__ unsigned __fns(unsigned mask, unsigned base, int n)
{
    int step = n < 0 ? -1 : 1, left = n == 0 ? 1 : n < 0 ? -n : n;

    for (int bit = (int)(base & 31); bit >= 0 && bit < 32; bit += step) {
        left -= mask >> bit & 1;
        if (left == 0) {
            return (unsigned)bit;
        }
        if (n == 0) {
            break;
        }
    }
    return ~0u;
}

/* Dot products of the four bytes, or of two halves with two bytes. */
#define __MC_DP4A(type, byte)                                                  \
    __MC_DEVICE__ type __dp4a(type a, type b, type c)                          \
    {                                                                          \
        unsigned sum = (unsigned)c;                                            \
                                                                               \
        for (int i = 0; i < 4; i++) {                                          \
            sum += (unsigned)((byte)(a >> 8 * i) * (byte)(b >> 8 * i));        \
        }                                                                      \
        return (type)sum;                                                      \
    }
#define __MC_DP2A(name, type, half, byte, shift)                               \
    __MC_DEVICE__ type name(type a, type b, type c)                            \
    {                                                                          \
        return (type)((unsigned)c +                                            \
                      (unsigned)((half)a * (byte)(b >> shift)) +               \
                      (unsigned)((half)(a >> 16) * (byte)(b >> (shift + 8)))); \
    }

__MC_DP4A(int, signed char)
__MC_DP4A(unsigned, unsigned char)
__MC_DP2A(__dp2a_lo, int, short, signed char, 0)
__MC_DP2A(__dp2a_hi, int, short, signed char, 16)
__MC_DP2A(__dp2a_lo, unsigned, unsigned short, unsigned char, 0)
__MC_DP2A(__dp2a_hi, unsigned, unsigned short, unsigned char, 16)

#undef __MC_DP4A
#undef __MC_DP2A

/* The same of vectors. */
#define __MC_DP_VECTORS(result, half2, byte4)                                  \
    __MC_DEVICE__ result __dp4a(byte4 a, byte4 b, result c)                    \
    {                                                                          \
        return __dp4a(__builtin_bit_cast(result, a),                           \
                      __builtin_bit_cast(result, b), c);                       \
    }                                                                          \
    __MC_DEVICE__ result __dp2a_lo(half2 a, byte4 b, result c)                 \
    {                                                                          \
        return __dp2a_lo(__builtin_bit_cast(result, a),                        \
                         __builtin_bit_cast(result, b), c);                    \
    }                                                                          \
    __MC_DEVICE__ result __dp2a_hi(half2 a, byte4 b, result c)                 \
    {                                                                          \
        return __dp2a_hi(__builtin_bit_cast(result, a),                        \
                         __builtin_bit_cast(result, b), c);                    \
    }

__MC_DP_VECTORS(int, short2, char4)
__MC_DP_VECTORS(unsigned, ushort2, uchar4)

#undef __MC_DP_VECTORS

/* What kind of memory an address is. */
__MC_DEVICE__ unsigned __isShared(const void *p)
{
    return (unsigned long)p - MXGPU_SHARED_BASE < MXGPU_SHARED_MAX;
}

__MC_DEVICE__ unsigned __isLocal(const void *p)
{
    return MXGPU_PRIVATE_END - 1 - (unsigned long)p < MXGPU_PRIVATE_MAX;
}

__MC_DEVICE__ unsigned __isGlobal(const void *p)
{
    return (long)p > 0;
}

/* Constants have no window of their own: they are global memory. */
__MC_DEVICE__ unsigned __isConstant(const void *)
{
    return 0;
}

/* Addresses within a window, as offsets from where it begins, and back. Global
 * memory and constants have none: their addresses stay as they are. */
__MC_DEVICE__ size_t __cvta_generic_to_shared(const void *p)
{
    return (size_t)p - MXGPU_SHARED_BASE;
}

__MC_DEVICE__ void *__cvta_shared_to_generic(size_t offset)
{
    return (void *)(offset + MXGPU_SHARED_BASE);
}

__MC_DEVICE__ size_t __cvta_generic_to_local(const void *p)
{
    return (size_t)p - (MXGPU_PRIVATE_END - MXGPU_PRIVATE_MAX);
}

__MC_DEVICE__ void *__cvta_local_to_generic(size_t offset)
{
    return (void *)(offset + (MXGPU_PRIVATE_END - MXGPU_PRIVATE_MAX));
}

#define __MC_CVTA(space)                                                       \
    __MC_DEVICE__ size_t __cvta_generic_to_##space(const void *p)              \
    {                                                                          \
        return (size_t)p;                                                      \
    }                                                                          \
    __MC_DEVICE__ void *__cvta_##space##_to_generic(size_t p)                  \
    {                                                                          \
        return (void *)p;                                                      \
    }
__MC_CVTA(global)
__MC_CVTA(constant)
#undef __MC_CVTA

/* For counters of a profiler, which this device does not have. */
__MC_DEVICE__ void __prof_trigger(int)
{
}

#endif
