/* SPDX-License-Identifier: MIT */
/*
 * What mxcc makes of inline PTX on halves, of copies to shared memory, and of
 * products of small matrices by 32 lanes (driver/ptx_tensor.py). A program does
 * not call them.
 */
#ifndef MCR_DEVICE_PTX_TENSOR_H
#define MCR_DEVICE_PTX_TENSOR_H

#include "math_extra.h"
#include "warp.h"

/* ---- halves: H is _Float16 or __bf16, its bits in integers ---- */

template <class H> __MC_DEVICE__ float __mc_ptx_of_half(unsigned short bits)
{
    return (float)__builtin_bit_cast(H, bits);
}

template <class H, class T> __MC_DEVICE__ unsigned short __mc_ptx_to_half(T v)
{
    return __builtin_bit_cast(unsigned short, (H)(float)v);
}

template <class H, class T>
__MC_DEVICE__ unsigned short __mc_ptx_to_half_relu(T v)
{
    return __mc_ptx_to_half<H>(v > 0 ? v : (T)0);
}

/* One of ptx_tensor.py's operations; products are rounded once. */
template <class H, char op>
__MC_DEVICE__ unsigned short __mc_ptx_half(unsigned short x, unsigned short y,
                                           unsigned short z)
{
    float a = __mc_ptx_of_half<H>(x), b = __mc_ptx_of_half<H>(y);
    float c = __mc_ptx_of_half<H>(z);

    switch (op) {
    case '+':
        return __mc_ptx_to_half<H>(a + b);
    case '-':
        return __mc_ptx_to_half<H>(a - b);
    case '*':
        return __mc_ptx_to_half<H>(a * b);
    case 'f':
        return __builtin_bit_cast(unsigned short, (H)((double)a * b + c));
    case 'm':
        return __mc_ptx_to_half<H>(fminf(a, b));
    case 'M':
        return __mc_ptx_to_half<H>(fmaxf(a, b));
    case 'n':
        return x ^ 0x8000;
    case 'a':
        return x & 0x7fff;
    case 'e':
        return __mc_ptx_to_half<H>(exp2f(a));
    default:
        return __mc_ptx_to_half<H>(tanhf(a));
    }
}

template <class H, char op>
__MC_DEVICE__ unsigned __mc_ptx_half2(unsigned x, unsigned y, unsigned z)
{
    unsigned low = __mc_ptx_half<H, op>(x, y, z);

    return low | (unsigned)__mc_ptx_half<H, op>(x >> 16, y >> 16, z >> 16)
                     << 16;
}

/* ---- copies ---- */

/* size is 4, 8 or 16; what is behind from bytes is 0. */
__MC_DEVICE__ void __mc_ptx_copy(void *to, const void *source, unsigned size,
                                 unsigned from)
{
    unsigned *out = (unsigned *)to;
    const unsigned *in = (const unsigned *)source;

    for (unsigned i = 0; i < size / 4; i++) {
        unsigned left = from > 4 * i ? from - 4 * i : 0, v = 0;

        if (left >= 4) {
            v = in[i];
        } else {
            for (unsigned k = 0; k < left; k++) {
                v |= (unsigned)((const unsigned char *)(in + i))[k] << 8 * k;
            }
        }
        out[i] = v;
    }
}

/* For the compiler: what was copied is there. */
__MC_DEVICE__ void __mc_ptx_copied()
{
    __asm__ volatile("" ::: "memory");
}

/* ---- matrices: lane l of 32 has row l / 4, columns 2 * (l % 4) and the next
 * of each matrix of 8 rows and 16 bytes ---- */

/* Lanes 8 * i and behind have the addresses of the rows of matrix i. */
template <int count, bool turned>
__MC_DEVICE__ void __mc_ptx_ldmatrix(unsigned (&d)[count], unsigned long at)
{
    unsigned lane = __mc_lane_id() & 31, row = lane / 4, column = lane % 4;

    for (unsigned i = 0; i < count; i++) {
        if (turned) {
            unsigned long a = __shfl_sync(~0u, at, (int)(8 * i + 2 * column),
                                          32);
            unsigned long b = __shfl_sync(~0u, at,
                                          (int)(8 * i + 2 * column + 1), 32);

            d[i] = ((const unsigned short *)a)[row] |
                   (unsigned)((const unsigned short *)b)[row] << 16;
        } else {
            unsigned long a = __shfl_sync(~0u, at, (int)(8 * i + row), 32);

            d[i] = ((const unsigned *)a)[column];
        }
    }
}

/* Of the elements that a word has. */
template <class E, class C>
__MC_DEVICE__ C __mc_ptx_dot(unsigned a, unsigned b, C sum)
{
    if constexpr (sizeof(E) == 4) {
        return sum + __builtin_bit_cast(float, a) *
                         __builtin_bit_cast(float, b);
    } else if constexpr (sizeof(E) == 2) {
        sum += __mc_ptx_of_half<E>(a) * __mc_ptx_of_half<E>(b);
        return sum + __mc_ptx_of_half<E>(a >> 16) *
                         __mc_ptx_of_half<E>(b >> 16);
    } else {
        for (unsigned i = 0; i < 32; i += 8) {
            sum += (C)(E)(a >> i) * (C)(E)(b >> i);
        }
        return sum;
    }
}

/* 16 rows, 8 columns: chunks are the words of a row of a that a lane has. */
template <class E, int words, int chunks, class C>
__MC_DEVICE__ void __mc_ptx_mma(C (&c)[4], const unsigned (&a)[words],
                                const unsigned (&b)[chunks])
{
    static_assert(words == 2 * chunks, "two rows of a");
    unsigned lane = __mc_lane_id() & 31;
    unsigned row = lane & ~3u, column = 8 * (lane & 3);

    for (unsigned k = 0; k < 4; k++) {
        for (unsigned j = 0; j < chunks; j++) {
            unsigned upper = __shfl_sync(~0u, a[2 * j], (int)(row + k), 32);
            unsigned lower = __shfl_sync(~0u, a[2 * j + 1], (int)(row + k), 32);
            unsigned left = __shfl_sync(~0u, b[j], (int)(column + k), 32);
            unsigned right = __shfl_sync(~0u, b[j], (int)(column + 4 + k), 32);

            c[0] = __mc_ptx_dot<E>(upper, left, c[0]);
            c[1] = __mc_ptx_dot<E>(upper, right, c[1]);
            c[2] = __mc_ptx_dot<E>(lower, left, c[2]);
            c[3] = __mc_ptx_dot<E>(lower, right, c[3]);
        }
    }
}

/* The same with sums of pairs of halves. */
template <class E, int words, int chunks>
__MC_DEVICE__ void __mc_ptx_mma(unsigned (&c)[2], const unsigned (&a)[words],
                                const unsigned (&b)[chunks])
{
    float sums[4];

    for (int i = 0; i < 4; i++) {
        sums[i] = __mc_ptx_of_half<E>(c[i / 2] >> 16 * (i % 2));
    }
    __mc_ptx_mma<E>(sums, a, b);
    for (int i = 0; i < 2; i++) {
        c[i] = __mc_ptx_to_half<E>(sums[2 * i]) |
               (unsigned)__mc_ptx_to_half<E>(sums[2 * i + 1]) << 16;
    }
}

#endif
