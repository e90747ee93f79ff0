/* SPDX-License-Identifier: MIT */
/*
 * What mxcc makes of inline PTX: a variable for each register, and these where
 * C++ has no operator. A program does not call them.
 */
#ifndef MCR_DEVICE_PTX_H
#define MCR_DEVICE_PTX_H

#ifndef __MC_RTC_SOURCE__ /* has it under another name */
#include <type_traits>
#endif

#include "../mc_multimem.h"
#include "math_extra.h"
#include "ptx_tensor.h"
#include "warp.h"

/* The bits of a value as another type: integers are cut or extended, what is
 * of the same size is taken as it is. */
template <class To, class From>
__MC_DEVICE__ typename std::enable_if<
    std::is_integral<To>::value && (std::is_integral<From>::value ||
                                    std::is_enum<From>::value), To>::type
__mc_ptx_as(From v)
{
    return (To)v;
}

template <class To, class From>
__MC_DEVICE__ typename std::enable_if<
    std::is_integral<To>::value && std::is_pointer<From>::value, To>::type
__mc_ptx_as(From v)
{
    return (To)(unsigned long)v;
}

template <class To, class From>
__MC_DEVICE__ typename std::enable_if<
    !(std::is_integral<To>::value &&
      (std::is_integral<From>::value || std::is_enum<From>::value ||
       std::is_pointer<From>::value)), To>::type
__mc_ptx_as(From v)
{
    /* doubles for "f" and the like, as the compiler would convert them */
    if constexpr (std::is_floating_point<To>::value &&
                  std::is_arithmetic<From>::value &&
                  (sizeof(To) != sizeof(From) ||
                   std::is_floating_point<From>::value)) {
        return (To)v;
    } else {
        static_assert(sizeof(To) == sizeof(From), "operand of another size");
        return __builtin_bit_cast(To, v);
    }
}

/* To a register. */
template <class To, class From> __MC_DEVICE__ void __mc_ptx_put(To &to, From v)
{
    to = __mc_ptx_as<To>(v);
}

/* To an operand of the program. */
template <class To, class From> __MC_DEVICE__ void __mc_ptx_back(To &to, From v)
{
    if constexpr (std::is_pointer<To>::value) {
        to = (To)(unsigned long)v;
    } else {
        to = __mc_ptx_as<To>(v);
    }
}

/* With the carry, of which subtractions have the borrow. */
template <class T>
__MC_DEVICE__ T __mc_ptx_add(T a, T b, unsigned in, unsigned *out)
{
    typedef typename std::make_unsigned<T>::type U;
    U sum = (U)a + (U)b, r = sum + (U)in;

    *out = (sum < (U)a) | (r < sum);
    return (T)r;
}

template <class T>
__MC_DEVICE__ T __mc_ptx_sub(T a, T b, unsigned in, unsigned *out)
{
    typedef typename std::make_unsigned<T>::type U;
    U d = (U)a - (U)b;

    *out = ((U)a < (U)b) | (d < (U)in);
    return (T)(d - (U)in);
}

__MC_DEVICE__ unsigned __mc_ptx_high(unsigned a, unsigned b)
{
    return __umulhi(a, b);
}

__MC_DEVICE__ int __mc_ptx_high(int a, int b)
{
    return __mulhi(a, b);
}

__MC_DEVICE__ unsigned long long __mc_ptx_high(unsigned long long a,
                                               unsigned long long b)
{
    return __umul64hi(a, b);
}

__MC_DEVICE__ long long __mc_ptx_high(long long a, long long b)
{
    return __mul64hi(a, b);
}

/* Amounts that are too large shift everything out. */
template <class T> __MC_DEVICE__ T __mc_ptx_shl(T v, unsigned n)
{
    return n < 8 * sizeof(T) ? (T)(v << n) : (T)0;
}

template <class T> __MC_DEVICE__ T __mc_ptx_shr(T v, unsigned n)
{
    const unsigned most = 8 * sizeof(T) - 1;

    if (std::is_signed<T>::value) {
        return (T)(v >> (n < most ? n : most));
    }
    return n <= most ? (T)(v >> n) : (T)0;
}

/* length bits from position on; signed ones repeat the highest of these. */
template <class T>
__MC_DEVICE__ T __mc_ptx_bfe(T v, unsigned position, unsigned length)
{
    const unsigned bits = 8 * sizeof(T);
    T r = 0;

    position &= 0xff;
    length &= 0xff;
    for (unsigned i = 0; i < bits; i++) {
        unsigned from = position + (i < length ? i : length - 1);

        from = from < bits ? from : bits - 1;
        if (length && (i < length ? position + i < bits ||
                                        std::is_signed<T>::value
                                  : std::is_signed<T>::value)) {
            r |= (T)((v >> from & 1) << i);
        }
    }
    return r;
}

/* length bits of a, put into b at position. */
template <class T>
__MC_DEVICE__ T __mc_ptx_bfi(T a, T b, unsigned position, unsigned length)
{
    T mask = __mc_ptx_shl((T)1, length & 0xff) - 1;

    mask = __mc_ptx_shl(mask, position & 0xff);
    return (b & ~mask) | (__mc_ptx_shl(a, position & 0xff) & mask);
}

/* The highest bit that is not the sign, or its distance from the top. */
template <class T> __MC_DEVICE__ unsigned __mc_ptx_bfind(T v, bool distance)
{
    unsigned long long bits = (typename std::make_unsigned<T>::type)(
        v < 0 ? (T)~v : v);
    unsigned at = 63 - (unsigned)__clzll((long long)bits);

    return !bits ? ~0u : distance ? 8 * (unsigned)sizeof(T) - 1 - at : at;
}

/* Each bit is that of table which the bits of a, b and c number. */
__MC_DEVICE__ unsigned __mc_ptx_lop3(unsigned a, unsigned b, unsigned c,
                                     unsigned table)
{
    unsigned r = 0;

    for (unsigned i = 0; i < 8; i++) {
        if (table >> i & 1) {
            r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        }
    }
    return r;
}

template <class T> __MC_DEVICE__ T __mc_ptx_sad(T a, T b, T c)
{
    return (T)((a > b ? a - b : b - a) + c);
}

__MC_DEVICE__ unsigned __mc_ptx_warps()
{
    return (blockDim.x * blockDim.y * blockDim.z + warpSize - 1) / warpSize;
}

/* Ends the thread. */
__attribute__((noreturn)) __MC_DEVICE__ void __mc_ptx_exit()
{
    __asm__ volatile(".insn r 0x0b, 0, 0, x0, x0, x0" ::: "memory");
    __builtin_unreachable();
}

__MC_DEVICE__ void __mc_ptx_order()
{
    __threadfence();
}

/* Shuffles: c has the width and the last lane; ok: there was a source. */
#define __MC_PTX_SHFL(name, function, has)                                     \
    __MC_DEVICE__ unsigned __mc_ptx_shfl_##name(                               \
        unsigned v, unsigned n, unsigned c, unsigned mask, bool *ok)           \
    {                                                                          \
        unsigned width = 32 - (c >> 8 & 31), lane = __mc_lane_id();            \
        unsigned at = lane & (width - 1);                                      \
                                                                               \
        (void)at;                                                              \
        n &= 31;                                                               \
        *ok = has;                                                             \
        return function(mask, v, n, (int)width);                               \
    }
__MC_PTX_SHFL(idx, __shfl_sync, n < width)
__MC_PTX_SHFL(up, __shfl_up_sync, at >= n)
__MC_PTX_SHFL(down, __shfl_down_sync, at + n < width)
__MC_PTX_SHFL(bfly, __shfl_xor_sync, (at ^ n) < width)
#undef __MC_PTX_SHFL

#endif
