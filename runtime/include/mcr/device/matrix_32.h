/* SPDX-License-Identifier: MIT */
/*
 * Matrix products of half a warp, 32 lanes each: maca_mma.h includes this where
 * kernels are compiled with --warp-size=32. Each lane computes its elements of D
 * and asks the others for theirs of A and B.
 *
 *   M x N x K                            A, B               C, D
 *   16 x 16 x 16, 32 x 8 x 16, 8 x 32 x 16
 *                                        __half             float or __half
 *                                        __maca_bfloat16    float
 *                                        signed, unsigned char  int
 *   16 x 16 x 8                          precision::tf32    float
 *   8 x 8 x 4                            double             double
 *
 * An element of D is a chain of K fused operations, lowest k first; halves are
 * rounded once at the end. Of tf32 the lowest 13 bits do not count.
 */
#ifndef MCR_DEVICE_MATRIX_32_H
#define MCR_DEVICE_MATRIX_32_H

namespace mxmaca {
namespace wmma {

namespace precision {
struct tf32;
}

namespace details {

template <class T> struct element {
    typedef T type;
};
template <> struct element<precision::tf32> {
    typedef float type;
};

constexpr bool shape_ok(int m, int n, int k, bool is_double, bool is_tf32)
{
    return is_double ? m == 8 && n == 8 && k == 4
           : is_tf32 ? m == 16 && n == 16 && k == 8
                     : k == 16 && m * n == 256 && (m == 8 || m == 16 || m == 32);
}

template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;

/* A lane has a run of "elements" of a line; lines are "along" long. */
template <class T, int lines, int along> struct run {
    static constexpr int num_elements = lines * along / 32;
    static constexpr int num_storage_elements = num_elements;
    typedef T element_type;
    typedef T storage_element_type;

    __MC_DEVICE__ unsigned line()
    {
        return (__mc_lane_id() & 31) * num_elements / along;
    }
    __MC_DEVICE__ unsigned place(unsigned i)
    {
        return (__mc_lane_id() & 31) * num_elements % along + i;
    }
    /* The lane that has this one. */
    __MC_DEVICE__ int owner(unsigned line, unsigned place)
    {
        return (int)((line * along + place) / num_elements);
    }

    T x[num_elements];
};

/* A and C by rows, B by columns. */
template <class T, int rows, int columns>
struct by_row : run<T, rows, columns> {
    __MC_DEVICE__ unsigned row(unsigned) { return by_row::line(); }
    __MC_DEVICE__ unsigned column(unsigned i) { return by_row::place(i); }
};

template <class T, int rows, int columns>
struct by_column : run<T, columns, rows> {
    __MC_DEVICE__ unsigned row(unsigned i) { return by_column::place(i); }
    __MC_DEVICE__ unsigned column(unsigned) { return by_column::line(); }
};

/* From the lane that has it: the word, or the double, with element "at". */
template <class Word, class Run>
__MC_DEVICE__ Word ask(const Run &f, unsigned at, int lane)
{
    Word words[sizeof(f.x) / sizeof(Word)];

    __builtin_memcpy(words, f.x, sizeof(f.x));
    return __shfl_sync(~0u, words[at * sizeof(f.x[0]) / sizeof(Word)], lane,
                       32);
}

template <class T> struct product { /* of 8 bits */
    typedef unsigned word;
    typedef int sum;

    __MC_DEVICE__ int add(unsigned a, unsigned b, unsigned n, int c)
    {
        return (int)((unsigned)((T)(a >> 8 * n) * (T)(b >> 8 * n)) +
                     (unsigned)c);
    }
};

template <class T> struct half_product {
    typedef unsigned word;
    typedef float sum;

    __MC_DEVICE__ float value(unsigned w, unsigned n)
    {
        unsigned short bits = (unsigned short)(w >> 16 * n);
        T v;

        __builtin_memcpy(&v, &bits, sizeof(v));
        return (float)v;
    }
    __MC_DEVICE__ float add(unsigned a, unsigned b, unsigned n, float c)
    {
        return __builtin_fmaf(value(a, n), value(b, n), c);
    }
};
template <> struct product<__half> : half_product<__half> {};
template <> struct product<__maca_bfloat16> : half_product<__maca_bfloat16> {};

template <> struct product<precision::tf32> {
    typedef unsigned word;
    typedef float sum;

    __MC_DEVICE__ float add(unsigned a, unsigned b, unsigned, float c)
    {
        return __builtin_fmaf(__builtin_bit_cast(float, a & 0xffffe000u),
                              __builtin_bit_cast(float, b & 0xffffe000u), c);
    }
};

template <> struct product<double> {
    typedef double word;
    typedef double sum;

    __MC_DEVICE__ double add(double a, double b, unsigned, double c)
    {
        return __builtin_fma(a, b, c);
    }
};

} // namespace details

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment;

#define __MC_SHAPE_OK                                                          \
    static_assert(details::shape_ok(M, N, K, details::same<T, double>,         \
                                    details::same<T, precision::tf32>),        \
                  "no matrix product of this shape and type")

template <int M, int N, int K, class T, class Layout>
struct fragment<matrix_a, M, N, K, T, Layout>
    : details::by_row<typename details::element<T>::type, M, K> {
    __MC_SHAPE_OK;
};

template <int M, int N, int K, class T, class Layout>
struct fragment<matrix_b, M, N, K, T, Layout>
    : details::by_column<typename details::element<T>::type, K, N> {
    __MC_SHAPE_OK;
};
#undef __MC_SHAPE_OK

template <int M, int N, int K, class T>
struct fragment<accumulator, M, N, K, T, void> : details::by_row<T, M, N> {};

template <class Use, int M, int N, int K, class T, class Layout, class Value>
__MC_DEVICE__ void fill_fragment(fragment<Use, M, N, K, T, Layout> &f,
                                 const Value &value)
{
#pragma unroll
    for (int i = 0; i < f.num_elements; i++) {
        f.x[i] = typename fragment<Use, M, N, K, T, Layout>::element_type(value);
    }
}

namespace details {

template <class Fragment, class E>
__MC_DEVICE__ void load(Fragment &f, const E *p, unsigned ldm, bool rows)
{
    __syncwarp();
#pragma unroll
    for (int i = 0; i < f.num_elements; i++) {
        f.x[i] = rows ? p[f.row(i) * ldm + f.column(i)]
                      : p[f.column(i) * ldm + f.row(i)];
    }
}

} // namespace details

/* From memory with rows (row_major) or columns ldm elements apart. */
template <class Use, int M, int N, int K, class T, class E>
__MC_DEVICE__ void load_matrix_sync(fragment<Use, M, N, K, T, row_major> &f,
                                    const E *p, unsigned ldm)
{
    details::load(f, p, ldm, true);
}

template <class Use, int M, int N, int K, class T, class E>
__MC_DEVICE__ void load_matrix_sync(fragment<Use, M, N, K, T, col_major> &f,
                                    const E *p, unsigned ldm)
{
    details::load(f, p, ldm, false);
}

template <int M, int N, int K, class T>
__MC_DEVICE__ void load_matrix_sync(fragment<accumulator, M, N, K, T> &f,
                                    const T *p, unsigned ldm, layout_t layout)
{
    details::load(f, p, ldm, layout == mem_row_major);
}

template <int M, int N, int K, class T>
__MC_DEVICE__ void store_matrix_sync(T *p,
                                     const fragment<accumulator, M, N, K, T> &f,
                                     unsigned ldm, layout_t layout)
{
    __syncwarp();
#pragma unroll
    for (int i = 0; i < f.num_elements; i++) {
        p[layout == mem_row_major ? f.row(i) * ldm + f.column(i)
                                  : f.column(i) * ldm + f.row(i)] = f.x[i];
    }
    __syncwarp();
}

/* d = a * b + c */
template <int M, int N, int K, class T, class S, class LayoutA, class LayoutB>
__MC_DEVICE__ void mma_sync(fragment<accumulator, M, N, K, S> &d,
                            const fragment<matrix_a, M, N, K, T, LayoutA> &a,
                            const fragment<matrix_b, M, N, K, T, LayoutB> &b,
                            const fragment<accumulator, M, N, K, S> &c)
{
    typedef details::product<T> Product;
    typedef typename Product::word Word;
    constexpr unsigned each = sizeof(Word) / sizeof(a.x[0]);
    typename Product::sum sums[c.num_elements];

#pragma unroll
    for (int i = 0; i < c.num_elements; i++) {
        sums[i] = (typename Product::sum)c.x[i];
    }
#pragma unroll
    for (unsigned k = 0; k < K; k += each) {
        Word own = details::ask<Word>(a, k % a.num_elements,
                                      a.owner(c.line(), k));
#pragma unroll
        for (int i = 0; i < c.num_elements; i++) {
            Word other = details::ask<Word>(b, k % b.num_elements,
                                            b.owner(c.place(i), k));
#pragma unroll
            for (unsigned n = 0; n < each; n++) {
                sums[i] = Product::add(own, other, n, sums[i]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < c.num_elements; i++) {
        d.x[i] = (S)sums[i];
    }
}

/* Nearest, ties away from zero; what is not finite stays. */
__MC_DEVICE__ float __float_to_tf32(float v)
{
    unsigned bits = __builtin_bit_cast(unsigned, v);

    if ((bits & 0x7f800000u) != 0x7f800000u) {
        bits = (bits + 0x1000u) & 0xffffe000u;
    }
    return __builtin_bit_cast(float, bits);
}

} // namespace wmma
} // namespace mxmaca

#endif
