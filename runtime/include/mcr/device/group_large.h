/* SPDX-License-Identifier: MIT */
/*
 * Tiles of 128 to 1024 threads: several whole warps of a block. Each size has
 * barriers of its own for its tiles, 1024 / size and up, so that a block may
 * have tiles of several sizes: all but barrier 0 are theirs.
 */
#ifndef MCR_DEVICE_GROUP_LARGE_H
#define MCR_DEVICE_GROUP_LARGE_H

#include "maca_cooperative_groups.h"

namespace cooperative_groups {

namespace details {

constexpr unsigned CELL = 64; /* bytes for a warp to hand to others */

/* What a warp of the block hands to the others of its tile. Each uses its own
 * only, so that tiles of any size do not meet. */
__MC_DEVICE__ char *cell(unsigned warp)
{
    __shared__ unsigned long cells[1024 / 64 * CELL / 8];

    return (char *)cells + warp * CELL;
}

} // namespace details

template <unsigned Size, class Parent>
class thread_block_tile<Size, Parent, true> : public thread_group {
    static_assert(Size <= 1024 && !(Size & (Size - 1)),
                  "tiles have a power of two up to 1024 threads");

public:
    template <class Other>
    __device__
    thread_block_tile(const thread_block_tile<Size, Other, true> &)
        : thread_block_tile(0, 0)
    {
    }

    __device__ void sync() const
    {
        details::sync_large(Size);
    }
    __device__ static constexpr unsigned size() { return Size; }
    __device__ static constexpr unsigned num_threads() { return Size; }
    __device__ static unsigned thread_rank()
    {
        return details::block_rank() & (Size - 1);
    }
    /* Of the parent, whose tiles of this size lie side by side. */
    __device__ unsigned meta_group_size() const
    {
        return (parent_size() + Size - 1) / Size;
    }
    __device__ unsigned meta_group_rank() const
    {
        return details::block_rank() / Size % meta_group_size();
    }
    __device__ static constexpr bool is_valid() { return true; }

    template <class T>
    __device__ details::value_of<T> shfl(const T &value, unsigned rank) const
    {
        details::value_of<T> own = value, out;
        constexpr unsigned step = details::CELL;
        char *from = details::cell(first() / 64);

        static_assert(sizeof(T) <= step * Size / 64, "too large a value");
        rank &= Size - 1;
        if (thread_rank() == rank) {
            __builtin_memcpy(from, &own, sizeof(T));
        }
        sync();
        __builtin_memcpy(&out, from, sizeof(T));
        sync();
        return out;
    }
    __device__ int any(int predicate) const
    {
        return votes(__mc_ballot_sync(~0ul, predicate) != 0) != 0;
    }
    __device__ int all(int predicate) const
    {
        return votes(__mc_ballot_sync(~0ul, !predicate) != 0) == 0;
    }
    /* The value of each warp; which is the own one. */
    template <class T>
    __device__ void of_warps(const T &value, T (&all)[Size / 64]) const
    {
        static_assert(sizeof(T) <= details::CELL, "too large a value");
        if (__mc_lane_id() == 0) {
            __builtin_memcpy(details::cell(details::block_rank() / 64), &value,
                             sizeof(T));
        }
        sync();
        for (unsigned i = 0; i < Size / 64; i++) {
            __builtin_memcpy(&all[i], details::cell(first() / 64 + i),
                             sizeof(T));
        }
        sync();
    }
    /* Warps of the tile that are in the block, and which the own one is. */
    __device__ static unsigned warps()
    {
        unsigned left = (details::block_size() - first() + 63) / 64;

        return left < Size / 64 ? left : Size / 64;
    }
    __device__ static unsigned warp() { return thread_rank() / 64; }

private:
    __device__ thread_block_tile(unsigned, unsigned)
        : thread_group(details::kind_large, Size)
    {
    }
    __device__ static unsigned first()
    {
        return details::tile_first(Size);
    }
    __device__ unsigned votes(int warp_has) const
    {
        int has[Size / 64];
        unsigned n = 0;

        of_warps(warp_has, has);
        for (unsigned i = 0; i < warps(); i++) {
            n += (unsigned)has[i];
        }
        return n;
    }
    template <class P> struct parent_of {
        __device__ static unsigned size() { return details::block_size(); }
    };
    template <unsigned N, class P> struct parent_of<thread_block_tile<N, P>> {
        __device__ static unsigned size() { return N; }
    };
    __device__ static unsigned parent_size()
    {
        return parent_of<Parent>::size();
    }

    template <unsigned N, class P>
    friend __device__ thread_block_tile<N, P> tiled_partition(const P &parent);
};

/* The names that CUDA 11 has for them. */
namespace experimental {

template <unsigned TileCommunicationSize = 8, unsigned MaxBlockSize = 1024>
using block_tile_memory = cooperative_groups::block_tile_memory<MaxBlockSize>;
using cooperative_groups::this_thread_block;
using cooperative_groups::thread_block_tile;
using cooperative_groups::tiled_partition;

} // namespace experimental

} // namespace cooperative_groups

#endif
