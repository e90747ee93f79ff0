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

/* Of several warps: each scans its own and adds those before it. */
template <bool inclusive, unsigned Size, class Parent, class T, class Op>
__MC_DEVICE__ T scan(const thread_block_tile<Size, Parent, true> &group,
                     const T &value, const Op &op)
{
    auto warp = tiled_partition<64>(this_thread_block());
    T own = scan<inclusive>(warp, value, op), all[Size / 64], before;

    group.of_warps(combine(~0ul, value, op), all);
    if (group.warp() == 0) {
        return own;
    }
    before = all[0];
    for (unsigned i = 1; i < group.warp(); i++) {
        before = op(before, all[i]);
    }
    return inclusive || warp.thread_rank() ? op(before, own) : before;
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

template <unsigned Size, class Parent, class T, class Op>
__device__ inline details::value_of<T>
reduce(const thread_block_tile<Size, Parent, true> &group, const T &value,
       const Op &op)
{
    details::value_of<T> own = value, all[Size / 64];

    group.of_warps(details::combine(~0ul, own, op), all);
    own = all[0];
    for (unsigned i = 1; i < group.warps(); i++) {
        own = op(own, all[i]);
    }
    return own;
}

/* One thread stores the result in an atomic, or combines it with what is
 * there. Complete when the group has met next. */
template <class Group, class Atomic, class T, class Op>
__device__ inline void reduce_store_async(const Group &group, Atomic &to,
                                          const T &value, const Op &op)
{
    auto sum = reduce(group, value, op);

    if (group.thread_rank() == 0) {
        to.store(sum);
    }
}

template <class Group, class Atomic, class T, class Op>
__device__ inline void reduce_update_async(const Group &group, Atomic &to,
                                           const T &value, const Op &op)
{
    auto sum = reduce(group, value, op);

    if (group.thread_rank() == 0) {
        auto old = to.load();

        while (!to.compare_exchange_weak(old, op(old, sum))) {
        }
    }
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
