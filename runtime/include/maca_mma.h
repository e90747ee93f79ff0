/* SPDX-License-Identifier: MIT */
/*
 * Matrix products of a warp: D = A * B + C of 16 x 16 matrices. Kernels only.
 *
 * All threads of the warp must call these functions together: all 64 (blocks are
 * multiples of 64 threads), or all 32 of half a warp with --warp-size=32, where
 * there are other shapes, too, and no hardware for it: mcr/device/matrix_32.h.
 * A fragment is a thread's part of a matrix: x[i], i
 * below num_elements. Elements may be changed one by one; which element of the
 * matrix it is, fragment::row(i) and column(i) tell.
 *
 *   A, B                  C, D
 *   __half                float or __half
 *   __maca_bfloat16       float
 *   signed char, unsigned char (both the same)   int
 *
 * Each element of D is a chain of 16 fused operations in f32, rounded to half
 * once at the end where D is half; integer sums wrap.
 */
#ifndef MACA_MMA_H
#define MACA_MMA_H

#if !defined(__MXCC__) || !defined(__MACA__)
#error "matrix products are for kernels: compile with mxcc"
#endif

#include "common/maca_bfloat16.h"
#include "common/maca_fp16.h"
#include "mcr/mc_runtime.h"

namespace mxmaca {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;

enum layout_t { mem_row_major, mem_col_major };

} // namespace wmma
} // namespace mxmaca

#if defined(__MC_WARP_SIZE__) && __MC_WARP_SIZE__ == 32
#include "mcr/device/matrix_32.h"
#else

namespace mxmaca {
namespace wmma {

namespace details {

/* Element i of a lane: A and B are cut into runs of four in row-major order,
 * D into rows of 64 (hw: isa.h, MMA). */
struct operand_place {
    __MC_DEVICE__ unsigned row(unsigned) { return __mc_lane_id() / 4; }
    __MC_DEVICE__ unsigned column(unsigned i)
    {
        return __mc_lane_id() % 4 * 4 + i;
    }
};
struct result_place {
    __MC_DEVICE__ unsigned row(unsigned i)
    {
        return i * 4 + __mc_lane_id() / 16;
    }
    __MC_DEVICE__ unsigned column(unsigned) { return __mc_lane_id() % 16; }
};

template <class T> struct fragment_data {
    static constexpr int num_elements = 4;
    static constexpr int num_storage_elements = 4;
    typedef T element_type;
    typedef T storage_element_type;

    T x[4];
};

/* Four elements in one register. */
template <class T> __MC_DEVICE__ unsigned long pack(const T (&x)[4])
{
    unsigned long bits = 0;

    __builtin_memcpy(&bits, x, sizeof(x));
    return bits;
}

/* Four neighbours in memory; any alignment that T allows. */
template <class T> __MC_DEVICE__ void load_run(T (&x)[4], const T *p)
{
    typedef unsigned long __attribute__((may_alias)) Eight;
    typedef unsigned __attribute__((may_alias)) Four;

    if (sizeof(x) == 8) {
        Eight v = *(const volatile Eight *)p;

        __builtin_memcpy(x, &v, sizeof(x));
    } else {
        Four v = *(const volatile Four *)p;

        __builtin_memcpy(x, &v, sizeof(x));
    }
}

#ifdef __MACA_ARCH__
/* The lanes meet, then multiply. D is in four neighbouring registers. */
#define __MC_MMA(f7, type, constraint, r0, r1, r2, r3)                         \
    register type d0 __asm__(r0) = d[0];                                       \
    register type d1 __asm__(r1) = d[1];                                       \
    register type d2 __asm__(r2) = d[2];                                       \
    register type d3 __asm__(r3) = d[3];                                       \
                                                                               \
    __asm__ volatile(".insn r 0x0b, %4, %5, x0, %6, x0\n\t"                    \
                     ".insn r 0x0b, %7, %8, " r0 ", %9, %10"                   \
                     : "+" constraint(d0), "+" constraint(d1),                 \
                       "+" constraint(d2), "+" constraint(d3)                  \
                     : "i"(MXGPU_F3_CONTROL), "i"(MXGPU_F7_WARPSYNC),          \
                       "r"(~0ul), "i"(MXGPU_F3_MMA), "i"(f7), "r"(a), "r"(b)   \
                     : "memory");                                              \
    d[0] = d0;                                                                 \
    d[1] = d1;                                                                 \
    d[2] = d2;                                                                 \
    d[3] = d3

template <unsigned f7>
__MC_DEVICE__ void multiply(float (&d)[4], unsigned long a, unsigned long b)
{
    __MC_MMA(f7, float, "f", "fa0", "fa1", "fa2", "fa3");
}

template <unsigned f7>
__MC_DEVICE__ void multiply(int (&d)[4], unsigned long a, unsigned long b)
{
    __MC_MMA(f7, int, "r", "a2", "a3", "a4", "a5");
}
#undef __MC_MMA
#else
template <unsigned f7, class T>
__MC_DEVICE__ void multiply(T (&)[4], unsigned long, unsigned long)
{
}
#endif

} // namespace details

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment;

#define __MC_FRAGMENT(use, type, layout, place)                                \
    template <>                                                                \
    struct fragment<use, 16, 16, 16, type, layout>                             \
        : details::fragment_data<type>, details::place {                       \
    };
#define __MC_OPERANDS(type)                                                    \
    __MC_FRAGMENT(matrix_a, type, row_major, operand_place)                    \
    __MC_FRAGMENT(matrix_a, type, col_major, operand_place)                    \
    __MC_FRAGMENT(matrix_b, type, row_major, operand_place)                    \
    __MC_FRAGMENT(matrix_b, type, col_major, operand_place)
__MC_OPERANDS(__half)
__MC_OPERANDS(__maca_bfloat16)
__MC_OPERANDS(signed char)
__MC_OPERANDS(unsigned char)
__MC_FRAGMENT(accumulator, float, void, result_place)
__MC_FRAGMENT(accumulator, __half, void, result_place)
__MC_FRAGMENT(accumulator, int, void, result_place)
#undef __MC_OPERANDS
#undef __MC_FRAGMENT

template <class Use, class T, class Layout, class Value>
__MC_DEVICE__ void
fill_fragment(fragment<Use, 16, 16, 16, T, Layout> &f, const Value &value)
{
    for (int i = 0; i < 4; i++) {
        f.x[i] = T(value);
    }
}

/* From memory with rows (row_major) or columns ldm elements apart. */
template <class Use, class T>
__MC_DEVICE__ void
load_matrix_sync(fragment<Use, 16, 16, 16, T, row_major> &f, const T *p,
                 unsigned ldm)
{
    __syncwarp();
    details::load_run(f.x, p + f.row(0) * ldm + f.column(0));
}

template <class Use, class T>
__MC_DEVICE__ void
load_matrix_sync(fragment<Use, 16, 16, 16, T, col_major> &f, const T *p,
                 unsigned ldm)
{
    __syncwarp();
    for (int i = 0; i < 4; i++) {
        f.x[i] = p[f.column(i) * ldm + f.row(i)];
    }
}

template <class T>
__MC_DEVICE__ void
load_matrix_sync(fragment<accumulator, 16, 16, 16, T> &f, const T *p,
                 unsigned ldm, layout_t layout)
{
    __syncwarp();
    for (int i = 0; i < 4; i++) {
        f.x[i] = layout == mem_row_major ? p[f.row(i) * ldm + f.column(i)]
                                         : p[f.column(i) * ldm + f.row(i)];
    }
}

template <class T>
__MC_DEVICE__ void
store_matrix_sync(T *p, const fragment<accumulator, 16, 16, 16, T> &f,
                  unsigned ldm, layout_t layout)
{
    __syncwarp();
    for (int i = 0; i < 4; i++) {
        p[layout == mem_row_major ? f.row(i) * ldm + f.column(i)
                                  : f.column(i) * ldm + f.row(i)] = f.x[i];
    }
    __syncwarp();
}

/* d = a * b + c */
#define __MC_MMA_SYNC(type, sum, f7)                                           \
    template <class LayoutA, class LayoutB>                                    \
    __MC_DEVICE__ void mma_sync(                                               \
        fragment<accumulator, 16, 16, 16, sum> &d,                             \
        const fragment<matrix_a, 16, 16, 16, type, LayoutA> &a,                \
        const fragment<matrix_b, 16, 16, 16, type, LayoutB> &b,                \
        const fragment<accumulator, 16, 16, 16, sum> &c)                       \
    {                                                                          \
        d = c;                                                                 \
        details::multiply<f7>(d.x, details::pack(a.x), details::pack(b.x));    \
    }
__MC_MMA_SYNC(__half, float, MXGPU_F7_MMA_F32_F16)
__MC_MMA_SYNC(__maca_bfloat16, float, MXGPU_F7_MMA_F32_BF16)
__MC_MMA_SYNC(signed char, int, MXGPU_F7_MMA_I32_I8)
__MC_MMA_SYNC(unsigned char, int, MXGPU_F7_MMA_I32_U8)
#undef __MC_MMA_SYNC

template <class LayoutA, class LayoutB>
__MC_DEVICE__ void
mma_sync(fragment<accumulator, 16, 16, 16, __half> &d,
         const fragment<matrix_a, 16, 16, 16, __half, LayoutA> &a,
         const fragment<matrix_b, 16, 16, 16, __half, LayoutB> &b,
         const fragment<accumulator, 16, 16, 16, __half> &c)
{
    float sum[4];

    for (int i = 0; i < 4; i++) {
        sum[i] = c.x[i];
    }
    details::multiply<MXGPU_F7_MMA_F32_F16>(sum, details::pack(a.x),
                                            details::pack(b.x));
    for (int i = 0; i < 4; i++) {
        d.x[i] = sum[i];
    }
}

} // namespace wmma
} // namespace mxmaca

#endif

/* The name that sources written for CUDA use. */
namespace nvcuda {
namespace wmma = mxmaca::wmma;
}

#endif
