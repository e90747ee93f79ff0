/* SPDX-License-Identifier: MIT */
/*
 * char1 ... double4, and arithmetic with them, member by member, which HIP has
 * and CUDA has not. A program's own operator for a type goes before these.
 */
#ifndef HIP_INCLUDE_HIP_HIP_VECTOR_TYPES_H
#define HIP_INCLUDE_HIP_HIP_VECTOR_TYPES_H

#include "hip/adaptor/mc.h"

#ifdef __cplusplus
namespace mxgpu_hip {

template <class V> struct Vector {
};

#define MXGPU_HIP_VECTORS(name, type)                                          \
    template <> struct Vector<name##1> {                                       \
        typedef type Scalar;                                                   \
        enum { size = 1 };                                                     \
    };                                                                         \
    template <> struct Vector<name##2> {                                       \
        typedef type Scalar;                                                   \
        enum { size = 2 };                                                     \
    };                                                                         \
    template <> struct Vector<name##3> {                                       \
        typedef type Scalar;                                                   \
        enum { size = 3 };                                                     \
    };                                                                         \
    template <> struct Vector<name##4> {                                       \
        typedef type Scalar;                                                   \
        enum { size = 4 };                                                     \
    };
MXGPU_HIP_VECTORS(char, signed char)
MXGPU_HIP_VECTORS(uchar, unsigned char)
MXGPU_HIP_VECTORS(short, short)
MXGPU_HIP_VECTORS(ushort, unsigned short)
MXGPU_HIP_VECTORS(int, int)
MXGPU_HIP_VECTORS(uint, unsigned int)
MXGPU_HIP_VECTORS(long, long)
MXGPU_HIP_VECTORS(ulong, unsigned long)
MXGPU_HIP_VECTORS(longlong, long long)
MXGPU_HIP_VECTORS(ulonglong, unsigned long long)
MXGPU_HIP_VECTORS(float, float)
MXGPU_HIP_VECTORS(double, double)
#undef MXGPU_HIP_VECTORS

template <class V> using ScalarOf = typename Vector<V>::Scalar;

/* V, if it is a vector. */
template <class V, class = ScalarOf<V>> struct Check {
    typedef V Type;
};
template <class V> using IsVector = typename Check<V>::Type;

} // namespace mxgpu_hip

#define MXGPU_HIP_OPERATOR(op)                                                 \
    template <class V>                                                         \
    static __host__ __device__ inline mxgpu_hip::IsVector<V> &operator op##=(  \
        V &a, const V &b)                                                      \
    {                                                                          \
        mxgpu_hip::ScalarOf<V> *x = &a.x;                                      \
        const mxgpu_hip::ScalarOf<V> *y = &b.x;                                \
        for (int i = 0; i < mxgpu_hip::Vector<V>::size; i++) {                 \
            x[i] op##= y[i];                                                  \
        }                                                                      \
        return a;                                                              \
    }                                                                          \
    template <class V>                                                         \
    static __host__ __device__ inline mxgpu_hip::IsVector<V> &operator op##=(  \
        V &a, mxgpu_hip::ScalarOf<V> b)                                        \
    {                                                                          \
        mxgpu_hip::ScalarOf<V> *x = &a.x;                                      \
        for (int i = 0; i < mxgpu_hip::Vector<V>::size; i++) {                 \
            x[i] op##= b;                                                     \
        }                                                                      \
        return a;                                                              \
    }                                                                          \
    template <class V>                                                         \
    static __host__ __device__ inline mxgpu_hip::IsVector<V> operator op(      \
        V a, const V &b)                                                       \
    {                                                                          \
        return a op##= b;                                                     \
    }                                                                          \
    template <class V>                                                         \
    static __host__ __device__ inline mxgpu_hip::IsVector<V> operator op(      \
        V a, mxgpu_hip::ScalarOf<V> b)                                         \
    {                                                                          \
        return a op##= b;                                                     \
    }                                                                          \
    template <class V>                                                         \
    static __host__ __device__ inline mxgpu_hip::IsVector<V> operator op(      \
        mxgpu_hip::ScalarOf<V> a, const V &b)                                  \
    {                                                                          \
        V v;                                                                   \
        mxgpu_hip::ScalarOf<V> *x = &v.x;                                      \
        for (int i = 0; i < mxgpu_hip::Vector<V>::size; i++) {                 \
            x[i] = a;                                                          \
        }                                                                      \
        return v op##= b;                                                     \
    }

MXGPU_HIP_OPERATOR(+)
MXGPU_HIP_OPERATOR(-)
MXGPU_HIP_OPERATOR(*)
MXGPU_HIP_OPERATOR(/)
MXGPU_HIP_OPERATOR(%)
MXGPU_HIP_OPERATOR(&)
MXGPU_HIP_OPERATOR(|)
MXGPU_HIP_OPERATOR(^)
MXGPU_HIP_OPERATOR(<<)
MXGPU_HIP_OPERATOR(>>)
#undef MXGPU_HIP_OPERATOR

template <class V>
static __host__ __device__ inline mxgpu_hip::IsVector<V> operator-(const V &a)
{
    return a * mxgpu_hip::ScalarOf<V>(-1);
}

template <class V, class = mxgpu_hip::IsVector<V>>
static __host__ __device__ inline bool operator==(const V &a, const V &b)
{
    const mxgpu_hip::ScalarOf<V> *x = &a.x, *y = &b.x;

    for (int i = 0; i < mxgpu_hip::Vector<V>::size; i++) {
        if (!(x[i] == y[i])) {
            return false;
        }
    }
    return true;
}

template <class V, class = mxgpu_hip::IsVector<V>>
static __host__ __device__ inline bool operator!=(const V &a, const V &b)
{
    return !(a == b);
}
#endif

#endif
