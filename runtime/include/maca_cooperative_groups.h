/* SPDX-License-Identifier: MIT */
/*
 * Cooperative groups: sets of threads that wait for each other and exchange
 * values. Kernels only (mxcc).
 *
 *   thread_block, grid_group     all threads of the block, of the grid
 *   thread_block_tile<N>         N neighbours, N a power of two to 1024
 *   coalesced_group              any lanes of a warp
 *   thread_group                 any of these; the kind is known at run time
 *
 * Every operation on a group must be reached by all its threads that have not
 * ended. grid_group::sync() needs mcLaunchCooperativeKernel.
 */
#ifndef MACA_COOPERATIVE_GROUPS_H
#define MACA_COOPERATIVE_GROUPS_H

#if !defined(__MXCC__) || !defined(__MACA__)
#error "cooperative groups are for kernels: compile with mxcc"
#endif

#include "mcr/mc_runtime.h"

#ifndef __MC_RTC_SOURCE__ /* has it under another name */
#include <type_traits>
#endif

namespace cooperative_groups {

namespace details {

enum group_kind { kind_block, kind_grid, kind_lanes, kind_large };

__MC_DEVICE__ unsigned block_size()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

__MC_DEVICE__ unsigned block_rank()
{
    return threadIdx.x +
           blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__MC_DEVICE__ unsigned long long grid_blocks()
{
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
}

__MC_DEVICE__ unsigned long long grid_block_rank()
{
    return blockIdx.x +
           gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y *
                                         blockIdx.z);
}

/* The first thread of a tile of that many. */
__MC_DEVICE__ unsigned tile_first(unsigned size)
{
    return block_rank() & ~(size - 1);
}

/* Of a tile of several warps (group_large.h). */
__MC_DEVICE__ void sync_large(unsigned size)
{
    unsigned first = tile_first(size), left = block_size() - first;

    __barrier_sync_count((1024 + first) / size, left < size ? left : size);
}

/* size lanes from a multiple of size on: those around the own one. */
__MC_DEVICE__ unsigned long tile_mask(unsigned size)
{
    return (size == 64 ? ~0ul : (1ul << size) - 1)
           << (__mc_lane_id() & ~(size - 1));
}

/* The lanes of the warp that are threads of the block. */
__MC_DEVICE__ unsigned long warp_mask()
{
    unsigned left = block_size() - (block_rank() & ~63u);

    return left < 64 ? (1ul << left) - 1 : ~0ul;
}

__MC_DEVICE__ unsigned count(unsigned long mask)
{
    return (unsigned)__builtin_popcountl(mask);
}

/* How many lanes of mask come before the own one. */
__MC_DEVICE__ unsigned rank_in(unsigned long mask)
{
    return count(mask & ((1ul << __mc_lane_id()) - 1));
}

/* The lane of that rank; the own one when there is none. */
__MC_DEVICE__ unsigned lane_of(unsigned long mask, unsigned rank)
{
    if (rank >= count(mask)) {
        return __mc_lane_id();
    }
    for (; rank; rank--) {
        mask &= mask - 1;
    }
    return (unsigned)__builtin_ctzl(mask);
}

/* Bits at the places of mask, next to each other: lanes to ranks. */
__MC_DEVICE__ unsigned long gather(unsigned long bits, unsigned long mask)
{
    unsigned long out = 0;

    for (unsigned n = 0; mask; mask &= mask - 1, n++) {
        out |= (bits >> __builtin_ctzl(mask) & 1) << n;
    }
    return out;
}

/* What a variable holds, which may be volatile. */
template <class T> using value_of = typename std::remove_cv<T>::type;

/* Values of any size, eight bytes at a time. */
template <class T>
__MC_DEVICE__ value_of<T> exchange(unsigned long mask, const T &value,
                                   unsigned lane)
{
    static_assert(std::is_trivially_copyable<value_of<T>>::value,
                  "only bytes are exchanged");
    constexpr unsigned words = (sizeof(T) + 7) / 8;
    unsigned long w[words] = {};
    value_of<T> own = value, out;

    __builtin_memcpy(w, &own, sizeof(T));
    for (unsigned i = 0; i < words; i++) {
        w[i] = __mc_shfl_sync(mask, w[i], lane);
    }
    __builtin_memcpy(&out, w, sizeof(T));
    return out;
}

} // namespace details

class thread_group {
public:
    __device__ void sync() const
    {
        switch (kind_) {
        case details::kind_block:
            __syncthreads();
            break;
        case details::kind_grid:
            __grid_sync();
            break;
        case details::kind_large:
            details::sync_large((unsigned)mask_);
            break;
        default:
            __mc_syncwarp(mask_);
        }
    }
    __device__ unsigned long long size() const
    {
        switch (kind_) {
        case details::kind_block:
            return details::block_size();
        case details::kind_grid:
            return details::grid_blocks() * details::block_size();
        case details::kind_large:
            return mask_;
        default:
            return details::count(mask_);
        }
    }
    __device__ unsigned long long num_threads() const { return size(); }
    __device__ unsigned long long thread_rank() const
    {
        switch (kind_) {
        case details::kind_block:
            return details::block_rank();
        case details::kind_grid:
            return details::grid_block_rank() * details::block_size() +
                   details::block_rank();
        case details::kind_large:
            return details::block_rank() & (mask_ - 1);
        default:
            return details::rank_in(mask_);
        }
    }
    __device__ bool is_valid() const
    {
        return kind_ != details::kind_grid || __is_cooperative();
    }
    __device__ int get_type() const { return kind_; }

protected:
    __device__ thread_group(details::group_kind kind, unsigned long mask)
        : kind_(kind), mask_(mask)
    {
    }

    details::group_kind kind_;
    unsigned long mask_; /* kind_lanes; the size of kind_large */

    friend __device__ inline thread_group
    tiled_partition(const thread_group &parent, unsigned size);
    friend __device__ inline thread_group this_thread();
};

class thread_block : public thread_group {
public:
    __device__ static void sync() { __syncthreads(); }
    __device__ static unsigned size() { return details::block_size(); }
    __device__ static unsigned num_threads() { return size(); }
    __device__ static unsigned thread_rank() { return details::block_rank(); }
    __device__ static dim3 group_index() { return blockIdx; }
    __device__ static dim3 thread_index() { return threadIdx; }
    __device__ static dim3 group_dim() { return blockDim; }
    __device__ static dim3 dim_threads() { return blockDim; }
    __device__ static constexpr bool is_valid() { return true; }

private:
    __device__ thread_block() : thread_group(details::kind_block, 0) {}
    friend __device__ inline thread_block this_thread_block();
};

class grid_group : public thread_group {
public:
    __device__ static void sync() { __grid_sync(); }
    __device__ static bool is_valid() { return __is_cooperative(); }
    __device__ static unsigned long long size()
    {
        return details::grid_blocks() * details::block_size();
    }
    __device__ static unsigned long long num_threads() { return size(); }
    __device__ static unsigned long long thread_rank()
    {
        return details::grid_block_rank() * details::block_size() +
               details::block_rank();
    }
    __device__ static unsigned long long num_blocks()
    {
        return details::grid_blocks();
    }
    __device__ static unsigned long long block_rank()
    {
        return details::grid_block_rank();
    }
    __device__ static dim3 group_dim() { return gridDim; }
    __device__ static dim3 dim_blocks() { return gridDim; }
    __device__ static dim3 block_index() { return blockIdx; }

private:
    __device__ grid_group() : thread_group(details::kind_grid, 0) {}
    friend __device__ inline grid_group this_grid();
};

/* What tiles and coalesced groups share. Ranks count the lanes of the mask. */
class coalesced_group : public thread_group {
public:
    __device__ void sync() const { __mc_syncwarp(mask_); }
    __device__ unsigned size() const { return details::count(mask_); }
    __device__ unsigned num_threads() const { return size(); }
    __device__ unsigned thread_rank() const { return details::rank_in(mask_); }
    __device__ unsigned meta_group_size() const { return parts_; }
    __device__ unsigned meta_group_rank() const { return part_; }
    __device__ static constexpr bool is_valid() { return true; }
    /* The lanes, as __..._sync functions take them. */
    __device__ unsigned long mask() const { return mask_; }

    template <class T>
    __device__ details::value_of<T> shfl(const T &value, int rank) const
    {
        return details::exchange(mask_, value,
                                 details::lane_of(mask_, rank % size()));
    }
    template <class T>
    __device__ details::value_of<T> shfl_up(const T &value, unsigned n) const
    {
        unsigned rank = thread_rank();

        return details::exchange(
            mask_, value,
            details::lane_of(mask_, rank < n ? rank : rank - n));
    }
    template <class T>
    __device__ details::value_of<T> shfl_down(const T &value, unsigned n) const
    {
        unsigned rank = thread_rank();

        return details::exchange(
            mask_, value,
            details::lane_of(mask_, n >= size() - rank ? rank : rank + n));
    }
    __device__ int any(int predicate) const
    {
        return __any_sync(__mc_lanes(mask_), predicate);
    }
    __device__ int all(int predicate) const
    {
        return __all_sync(__mc_lanes(mask_), predicate);
    }
    __device__ unsigned long ballot(int predicate) const
    {
        return details::gather(__mc_ballot_sync(mask_, predicate), mask_);
    }
    template <class T> __device__ unsigned long match_any(T value) const
    {
        return details::gather(__mc_match_any_sync(mask_, value), mask_);
    }
    template <class T>
    __device__ unsigned long match_all(T value, int &predicate) const
    {
        return details::gather(
            __match_all_sync(__mc_lanes(mask_), value, &predicate).bits,
            mask_);
    }

protected:
    __device__ coalesced_group(unsigned long mask, unsigned parts,
                               unsigned part)
        : thread_group(details::kind_lanes, mask), parts_(parts), part_(part)
    {
    }

    unsigned parts_, part_; /* groups the parent was cut into, which one */

    friend __device__ inline coalesced_group coalesced_threads();
    friend __device__ inline coalesced_group
    tiled_partition(const coalesced_group &parent, unsigned size);
    friend __device__ inline coalesced_group
    binary_partition(const coalesced_group &parent, bool predicate);
    template <class Label>
    friend __device__ coalesced_group
    labeled_partition(const coalesced_group &parent, Label label);
};

/* Size is known when compiling: ranks are lane numbers, shuffles cost less.
 * Those of several warps are group_large.h. */
template <unsigned Size, class Parent = void, bool Large = (Size > 64)>
class thread_block_tile : public coalesced_group {
    static_assert(Size && !(Size & (Size - 1)),
                  "tiles have a power of two threads");

public:
    /* Whatever it was cut from. */
    template <class Other>
    __device__
    thread_block_tile(const thread_block_tile<Size, Other, false> &other)
        : coalesced_group(other)
    {
    }

    __device__ static constexpr unsigned size() { return Size; }
    __device__ static constexpr unsigned num_threads() { return Size; }
    __device__ static unsigned thread_rank()
    {
        return __mc_lane_id() & (Size - 1);
    }

    template <class T>
    __device__ details::value_of<T> shfl(const T &value, int rank) const
    {
        return details::exchange(mask_, value, __mc_lane_idx(rank, Size));
    }
    template <class T>
    __device__ details::value_of<T> shfl_up(const T &value, unsigned n) const
    {
        return details::exchange(mask_, value, __mc_lane_up(n, Size));
    }
    template <class T>
    __device__ details::value_of<T> shfl_down(const T &value, unsigned n) const
    {
        return details::exchange(mask_, value, __mc_lane_down(n, Size));
    }
    template <class T>
    __device__ details::value_of<T> shfl_xor(const T &value, unsigned n) const
    {
        return details::exchange(mask_, value, __mc_lane_xor(n, Size));
    }
    __device__ unsigned long ballot(int predicate) const
    {
        return __mc_ballot_sync(mask_, predicate) >> first();
    }
    template <class T> __device__ unsigned long match_any(T value) const
    {
        return __mc_match_any_sync(mask_, value) >> first();
    }
    template <class T>
    __device__ unsigned long match_all(T value, int &predicate) const
    {
        return __match_all_sync(__mc_lanes(mask_), value, &predicate).bits >>
               first();
    }

private:
    __device__ thread_block_tile(unsigned parts, unsigned part)
        : coalesced_group(details::tile_mask(Size), parts, part)
    {
    }
    __device__ static unsigned first() { return __mc_lane_id() & ~(Size - 1); }

    template <unsigned N, class P>
    friend __device__ thread_block_tile<N, P> tiled_partition(const P &parent);
    template <unsigned, class, bool> friend class thread_block_tile;
};

/* ---- making groups */

__device__ inline thread_block this_thread_block()
{
    return thread_block();
}

__device__ inline grid_group this_grid()
{
    return grid_group();
}

__device__ inline thread_group this_thread()
{
    return thread_group(details::kind_lanes, 1ul << __mc_lane_id());
}

/* The lanes that run this together. */
__device__ inline coalesced_group coalesced_threads()
{
    return coalesced_group(__mc_active(), 1, 0);
}

/* For tiles of several warps, which need none here. */
template <unsigned MaxBlockSize = 1024> struct block_tile_memory {
};

template <unsigned MaxBlockSize>
__device__ inline thread_block
this_thread_block(block_tile_memory<MaxBlockSize> &)
{
    return this_thread_block();
}

/* parent: a thread_block or a larger tile. */
template <unsigned Size, class Parent>
__device__ thread_block_tile<Size, Parent> tiled_partition(const Parent &parent)
{
    unsigned all = (unsigned)parent.size();

    return thread_block_tile<Size, Parent>(
        (all + Size - 1) / Size, (unsigned)parent.thread_rank() / Size);
}

/* size lanes of a group in the order of their ranks, any size; the last group
 * has what is left. */
__device__ inline coalesced_group
tiled_partition(const coalesced_group &parent, unsigned size)
{
    unsigned rank = parent.thread_rank() / size, n = 0;
    unsigned long mask = 0;

    for (unsigned long rest = parent.mask(); rest; rest &= rest - 1, n++) {
        mask |= n / size == rank ? rest & -rest : 0;
    }
    return coalesced_group(mask, (parent.size() + size - 1) / size, rank);
}

/* Of a block, size a power of two up to 64: the last tile of a block has what
 * is left. Of lanes, as above. */
__device__ inline thread_group tiled_partition(const thread_group &parent,
                                               unsigned size)
{
    unsigned long mask = details::tile_mask(size & (size - 1) ? 64 : size);

    if (parent.kind_ == details::kind_lanes) {
        unsigned rank = (unsigned)parent.thread_rank() / size, n = 0;
        unsigned long rest = parent.mask_;

        for (mask = 0; rest; rest &= rest - 1, n++) {
            mask |= n / size == rank ? rest & -rest : 0;
        }
    } else {
        mask &= details::warp_mask();
    }
    return thread_group(details::kind_lanes, mask);
}

/* Threads with the same label; with the same truth value. */
template <class Label>
__device__ coalesced_group labeled_partition(const coalesced_group &parent,
                                             Label label)
{
    unsigned long mask = parent.mask(), own = __mc_match_any_sync(mask, label);
    unsigned long firsts =
        __mc_ballot_sync(mask, __builtin_ctzl(own) == (int)__mc_lane_id());
    unsigned long before = (1ul << __builtin_ctzl(own)) - 1;

    return coalesced_group(own, details::count(firsts),
                           details::count(firsts & before));
}

__device__ inline coalesced_group
binary_partition(const coalesced_group &parent, bool predicate)
{
    unsigned long yes = __mc_ballot_sync(parent.mask(), predicate);
    unsigned long no = __mc_ballot_sync(parent.mask(), !predicate);

    return coalesced_group(predicate ? yes : no, 2, predicate);
}

/* ---- functions of any group */

template <class Group> __device__ inline void sync(const Group &group)
{
    group.sync();
}

template <class Group>
__device__ inline unsigned long long thread_rank(const Group &group)
{
    return group.thread_rank();
}

template <class Group>
__device__ inline unsigned long long group_size(const Group &group)
{
    return group.size();
}

/* One thread of the group calls it. */
template <class Group, class Function>
__device__ inline void invoke_one(const Group &group, Function &&function)
{
    if (group.thread_rank() == 0) {
        function();
    }
}

/* The same, and all get what it returned. Of tiles and coalesced groups. */
template <class Group, class Function>
__device__ inline auto invoke_one_broadcast(const Group &group,
                                            Function &&function)
    -> decltype(function())
{
    decltype(function()) result{};

    if (group.thread_rank() == 0) {
        result = function();
    }
    return group.shfl(result, 0);
}

/* Bytes, shared out between the threads; complete after wait(). */
template <class Group>
__device__ inline void memcpy_async(const Group &group, void *dst,
                                    const void *src, size_t bytes)
{
    const bool whole = !(((unsigned long)dst | (unsigned long)src) & 7);
    size_t words = whole ? bytes / 8 : 0, step = group.size();

    for (size_t i = group.thread_rank(); i < words; i += step) {
        ((unsigned long *)dst)[i] = ((const unsigned long *)src)[i];
    }
    for (size_t i = words * 8 + group.thread_rank(); i < bytes; i += step) {
        ((char *)dst)[i] = ((const char *)src)[i];
    }
}

/* Elements: as many as both sides have. */
template <class Group, class T>
__device__ inline void memcpy_async(const Group &group, T *dst,
                                    size_t dst_count, const T *src,
                                    size_t src_count)
{
    memcpy_async(group, (void *)dst, (const void *)src,
                 sizeof(T) * (dst_count < src_count ? dst_count : src_count));
}

template <class Group> __device__ inline void wait(const Group &group)
{
    group.sync();
}

/* All copies but the last that many: here, all. */
template <unsigned stages, class Group>
__device__ inline void wait_prior(const Group &group)
{
    group.sync();
}

} // namespace cooperative_groups

#include "mcr/device/group_large.h"
#include "mcr/device/group_reduce.h"

#endif
