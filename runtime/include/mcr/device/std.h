/* SPDX-License-Identifier: MIT */
/*
 * Functions of the C++ library for kernels. What is constexpr is on both sides
 * anyway; these are what older standards have not made constexpr yet.
 */
#ifndef MCR_DEVICE_STD_H
#define MCR_DEVICE_STD_H

#include "keywords.h"

#include <utility>
/* Before what follows, and outside of pragmas of the source. */
#if __cplusplus < 201402L && __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>
#endif

namespace std
{
#if __cplusplus < 202002L
template <class T> __device__ __MC_INLINE__ void swap(T &a, T &b)
{
    T before(std::move(a));

    a = std::move(b);
    b = std::move(before);
}

template <class T, size_t n>
__device__ __MC_INLINE__ void swap(T (&a)[n], T (&b)[n])
{
    for (size_t i = 0; i < n; i++) {
        swap(a[i], b[i]);
    }
}

template <class T, class U = T>
__device__ __MC_INLINE__ T exchange(T &object, U &&value)
{
    T before(std::move(object));

    object = std::forward<U>(value);
    return before;
}
#endif

#if __cplusplus < 201402L
template <class T>
__device__ __MC_INLINE__ const T &min(const T &a, const T &b)
{
    return b < a ? b : a;
}

template <class T>
__device__ __MC_INLINE__ const T &max(const T &a, const T &b)
{
    return a < b ? b : a;
}
#endif
}

#endif
