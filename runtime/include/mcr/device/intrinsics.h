/* SPDX-License-Identifier: MIT */
/* Integer and bit operations, conversions and casts. */
#ifndef MCR_DEVICE_INTRINSICS_H
#define MCR_DEVICE_INTRINSICS_H

#include "keywords.h"

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

__MC_DEVICE__ float __int2float_rn(int x)
{
    return (float)x;
}

__MC_DEVICE__ float __uint2float_rn(unsigned x)
{
    return (float)x;
}

__MC_DEVICE__ float __ll2float_rn(long long x)
{
    return (float)x;
}

__MC_DEVICE__ float __ull2float_rn(unsigned long long x)
{
    return (float)x;
}

__MC_DEVICE__ double __int2double_rn(int x)
{
    return (double)x;
}

__MC_DEVICE__ double __uint2double_rn(unsigned x)
{
    return (double)x;
}

__MC_DEVICE__ double __ll2double_rn(long long x)
{
    return (double)x;
}

__MC_DEVICE__ float __double2float_rn(double x)
{
    return (float)x;
}

/* A load; the memory is not written while the kernel runs. */
template <class T> __MC_DEVICE__ T __ldg(const T *p)
{
    return *p;
}

template <class T> __MC_DEVICE__ T __ldcg(const T *p)
{
    return *p;
}

template <class T> __MC_DEVICE__ T __ldcs(const T *p)
{
    return *p;
}

#endif
