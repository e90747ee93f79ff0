/* SPDX-License-Identifier: MIT */
/* Reductions and scans over tiles and coalesced groups. */
#ifndef MCR_DEVICE_GROUP_REDUCE_H
#define MCR_DEVICE_GROUP_REDUCE_H

#include "maca_cooperative_groups.h"

namespace cooperative_groups {

#define __MC_OPERATOR(name, expr)                                              \
    template <class T = void> struct name {                                    \
        __device__ T operator()(const T &a, const T &b) const                  \
        {                                                                      \
            return expr;                                                       \
        }                                                                      \
    };                                                                         \
    template <> struct name<void> {                                            \
        template <class T>                                                     \
        __device__ T operator()(const T &a, const T &b) const                  \
        {                                                                      \
            return expr;                                                       \
        }                                                                      \
    };
__MC_OPERATOR(plus, (T)(a + b))
__MC_OPERATOR(less, b < a ? b : a)
__MC_OPERATOR(greater, a < b ? b : a)
__MC_OPERATOR(bit_and, (T)(a & b))
__MC_OPERATOR(bit_or, (T)(a | b))
__MC_OPERATOR(bit_xor, (T)(a ^ b))
#undef __MC_OPERATOR

namespace details {

/* Any operation: the lanes of mask that live, in their order. */
template <class T, class Op>
__MC_DEVICE__ T combine(unsigned long mask, const T &value, const Op &op)
{
    unsigned long rest = __mc_ballot_sync(mask, 1);
    T sum = exchange(mask, value, (unsigned)__builtin_ctzl(rest));

    for (rest &= rest - 1; rest; rest &= rest - 1) {
        sum = op(sum, exchange(mask, value, (unsigned)__builtin_ctzl(rest)));
    }
    return sum;
}

/* What one instruction does. */
template <class T>
struct has_instruction
    : std::integral_constant<bool, std::is_same<T, int>::value ||
                                       std::is_same<T, unsigned>::value ||
                                       std::is_same<T, long>::value ||
                                       std::is_same<T, unsigned long>::value ||
                                       std::is_same<T, long long>::value ||
                                       std::is_same<T, unsigned long long>::
                                           value> {};
template <class T>
struct is_real : std::integral_constant<bool, std::is_same<T, float>::value ||
                                                  std::is_same<T, double>::
                                                      value> {};

#define __MC_COMBINE(op, name, types)                                          \
    template <class T, class A>                                                \
    __MC_DEVICE__ typename std::enable_if<types, T>::type combine(             \
        unsigned long mask, const T &value, const op<A> &)                     \
    {                                                                          \
        return __reduce_##name##_sync(__mc_lanes(mask), value);                \
    }
__MC_COMBINE(plus, add, has_instruction<T>::value || is_real<T>::value)
__MC_COMBINE(less, min, has_instruction<T>::value || is_real<T>::value)
__MC_COMBINE(greater, max, has_instruction<T>::value || is_real<T>::value)
__MC_COMBINE(bit_and, and, has_instruction<T>::value)
__MC_COMBINE(bit_or, or, has_instruction<T>::value)
__MC_COMBINE(bit_xor, xor, has_instruction<T>::value)
#undef __MC_COMBINE

/* By doubling distances; groups are whole, or their missing lanes the last. */
template <bool inclusive, class Group, class T, class Op>
__MC_DEVICE__ T scan(const Group &group, const T &value, const Op &op)
{
    unsigned rank = (unsigned)group.thread_rank();
    T sum = value, before;

    for (unsigned n = 1; n < group.size(); n *= 2) {
        before = group.shfl_up(sum, n);
        if (rank >= n) {
            sum = op(before, sum);
        }
    }
    if (!inclusive) {
        before = group.shfl_up(sum, 1);
        sum = rank ? before : T();
    }
    return sum;
}

} // namespace details

/* The same result in every thread of the group. */
template <class Group, class T, class Op>
__device__ inline details::value_of<T> reduce(const Group &group,
                                              const T &value, const Op &op)
{
    details::value_of<T> own = value;

    return details::combine(group.mask(), own, op);
}

/* Of the threads up to the own one; of those before it (the first: T()). */
template <class Group, class T, class Op = plus<details::value_of<T>>>
__device__ inline details::value_of<T>
inclusive_scan(const Group &group, const T &value, const Op &op = Op())
{
    details::value_of<T> own = value;

    return details::scan<true>(group, own, op);
}

template <class Group, class T, class Op = plus<details::value_of<T>>>
__device__ inline details::value_of<T>
exclusive_scan(const Group &group, const T &value, const Op &op = Op())
{
    details::value_of<T> own = value;

    return details::scan<false>(group, own, op);
}

} // namespace cooperative_groups

#endif
