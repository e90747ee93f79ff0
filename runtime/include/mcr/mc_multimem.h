/* SPDX-License-Identifier: MIT */
/*
 * Device functions on addresses of multicast objects (mcMulticastCreate): what is
 * written reaches the memory of all devices of the object, what is read is reduced
 * over it. p is aligned to T: 32 or 64 bits wide, an integer, float or double;
 * bitwise operations are of unsigned integers. Each access of one device's memory
 * is atomic, all of them together are not. Where a device has nothing bound the
 * access faults, as it does at an address without memory; an address that is of no
 * object ends the grid.
 */
#ifndef MCR_MC_MULTIMEM_H
#define MCR_MC_MULTIMEM_H

#include "device/atomics.h"
#include "device/keywords.h"

/* As device/multimem.h of the runtime has it. */
struct __mc_multimem_view {
    unsigned long long va, size, base, stride;
    unsigned devices;
};

extern "C" __device__ const __mc_multimem_view *
__mx_multimem_find(const void *) noexcept;

/* Calls f with the address in each device's memory. */
template <class T, class F> __MC_DEVICE__ void __mc_multimem_each(const T *p, F f)
{
    const __mc_multimem_view *v = __mx_multimem_find(p);
    unsigned long long at = v->base + ((unsigned long long)p - v->va);

    for (unsigned left = v->devices; left; left &= left - 1) {
        f((T *)(at + __builtin_ctz(left) * v->stride));
    }
}

/* op: + * and so on, m min, M max. */
template <char op, class T> __MC_DEVICE__ T __mc_multimem_apply(T a, T b)
{
    if constexpr (op == '+') {
        return a + b;
    } else if constexpr (op == 'm') {
        return b < a ? b : a;
    } else if constexpr (op == 'M') {
        return a < b ? b : a;
    } else if constexpr (op == '&') {
        return a & b;
    } else if constexpr (op == '|') {
        return a | b;
    } else {
        return a ^ b;
    }
}

template <class T> __MC_DEVICE__ T __mc_multimem_read(const T *p)
{
    T value;

    __atomic_load(p, &value, __ATOMIC_RELAXED);
    return value;
}

/* combine: of what was there so far with what the next device has. */
template <class T, class F>
__MC_DEVICE__ T __mc_multimem_reduce(const T *p, F combine)
{
    bool first = true;
    T sum = 0;

    __mc_multimem_each(p, [&](const T *at) {
        T value = __mc_multimem_read(at);

        sum = first ? value : combine(sum, value);
        first = false;
    });
    return sum;
}

/* The same on each device's memory, which becomes combine(it, v). */
template <class T, class F>
__MC_DEVICE__ void __mc_multimem_update(T *p, T v, F combine)
{
    __mc_multimem_each(p, [&](T *at) {
        T old = __mc_multimem_read(at), value;

        do {
            value = combine(old, v);
        } while (!__atomic_compare_exchange(at, &old, &value, false,
                                            __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED));
    });
}

template <class T> __MC_DEVICE__ void __mc_multimem_store(T *p, T v)
{
    __mc_multimem_each(p, [&](T *at) {
        __atomic_store(at, &v, __ATOMIC_RELAXED);
    });
}

template <class T> __MC_DEVICE__ void mcMultimemStore(T *p, T v)
{
    __mc_multimem_store(p, v);
}

#define __MC_MULTIMEM(name, op)                                                \
    template <class T> __MC_DEVICE__ T mcMultimemReduce##name(const T *p)      \
    {                                                                          \
        return __mc_multimem_reduce(p, __mc_multimem_apply<op, T>);            \
    }                                                                          \
    template <class T> __MC_DEVICE__ void mcMultimem##name(T *p, T v)          \
    {                                                                          \
        __mc_multimem_update(p, v, __mc_multimem_apply<op, T>);                \
    }
__MC_MULTIMEM(Add, '+')
__MC_MULTIMEM(Min, 'm')
__MC_MULTIMEM(Max, 'M')
__MC_MULTIMEM(And, '&')
__MC_MULTIMEM(Or, '|')
__MC_MULTIMEM(Xor, '^')
#undef __MC_MULTIMEM

#endif
