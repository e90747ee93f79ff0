/* SPDX-License-Identifier: MIT */
/*
 * Functions of the 64 lanes of a warp, or of 32 (builtins.h). Those with _sync
 * wait for the lanes of mask and work on these; those without work on the lanes
 * that happen to run together. With a mask of 32 bits they are about the half of the warp that
 * the lane is in, and what they return counts the lanes of that half: mask.h.
 */
#ifndef MCR_DEVICE_WARP_H
#define MCR_DEVICE_WARP_H

#include "mask.h"

/* Both instructions in one asm: nothing comes between. */
#define __MC_SYNC_INSN(mask, f3, f7, rd, rs1, rs2)                             \
    __asm__ volatile(".insn r 0x0b, %1, %2, x0, %5, x0\n\t"                    \
                     ".insn r 0x0b, %3, %4, %0, %6, %z7"                       \
                     : "=&r"(rd)                                               \
                     : "i"(MXGPU_F3_CONTROL), "i"(MXGPU_F7_WARPSYNC), "i"(f3), \
                       "i"(f7), "r"(mask), "r"(rs1), "rJ"(rs2)                 \
                     : "memory")

/* Of those, the ones in the warp that the program sees. */
__MC_DEVICE__ unsigned long __mc_active()
{
    unsigned long r;

    __asm__ volatile(".insn r 0x0b, %1, %2, %0, x0, x0"
                     : "=r"(r)
                     : "i"(MXGPU_F3_VOTE), "i"(MXGPU_F7_ACTIVE)
                     : "memory");
    return r & __mc_warp_lanes();
}

__MC_DEVICE__ __mc_lane_set __activemask()
{
    return (__mc_lane_set)__mc_lanes(__mc_active());
}

/* The lanes below the own one; with it; and so on. */
#define __MC_LANEMASK(name, bits)                                              \
    __MC_DEVICE__ __mc_lane_set __lanemask_##name()                            \
    {                                                                          \
        return (__mc_lane_set)__mc_lanes((bits) & __mc_warp_lanes());          \
    }
__MC_LANEMASK(lt, (1ul << __mc_lane_id()) - 1)
__MC_LANEMASK(eq, 1ul << __mc_lane_id())
__MC_LANEMASK(le, ~0ul >> (63 - __mc_lane_id()))
__MC_LANEMASK(ge, ~0ul << __mc_lane_id())
__MC_LANEMASK(gt, ~1ul << __mc_lane_id())
#undef __MC_LANEMASK

__MC_DEVICE__ unsigned long __mc_ballot(int predicate)
{
    unsigned long r;

    __MC_INSN(MXGPU_F3_VOTE, MXGPU_F7_BALLOT, r, (long)predicate, 0L);
    return r & __mc_warp_lanes();
}

__MC_DEVICE__ __mc_lane_bits __ballot(int predicate)
{
    return (__mc_lane_bits)__mc_lanes(__mc_ballot(predicate));
}

__MC_DEVICE__ __mc_lane_bits __ballot64(int predicate)
{
    return __ballot(predicate);
}

__MC_DEVICE__ int __any(int predicate)
{
    return __mc_ballot(predicate) != 0;
}

__MC_DEVICE__ int __all(int predicate)
{
    return __mc_ballot(!predicate) == 0;
}

template <class Mask>
__MC_DEVICE__ __mc_set_of<Mask> __ballot_sync(Mask mask, int predicate)
{
    unsigned long r, wide = __mc_wide_mask(mask);

    __MC_SYNC_INSN(wide, MXGPU_F3_VOTE, MXGPU_F7_BALLOT, r, (long)predicate,
                   0L);
    return __mc_lanes_of<Mask>(r & wide);
}

/* The same with all lanes of the warp as it is. */
__MC_DEVICE__ unsigned long __mc_ballot_sync(unsigned long mask, int predicate)
{
    return __ballot_sync(__mc_lanes(mask), predicate).bits;
}

template <class Mask> __MC_DEVICE__ int __any_sync(Mask mask, int predicate)
{
    return __mc_ballot_sync(__mc_wide_mask(mask), predicate) != 0;
}

template <class Mask> __MC_DEVICE__ int __all_sync(Mask mask, int predicate)
{
    return __mc_ballot_sync(__mc_wide_mask(mask), !predicate) == 0;
}

template <class Mask> __MC_DEVICE__ int __uni_sync(Mask mask, int predicate)
{
    unsigned long wide = __mc_wide_mask(mask);
    unsigned long on = __mc_ballot_sync(wide, predicate);

    return on == 0 || on == __mc_ballot_sync(wide, 1);
}

/* Bits of a value of up to eight bytes. */
template <class T> __MC_DEVICE__ unsigned long __mc_bits(T value)
{
    unsigned long bits = 0;

    static_assert(sizeof(T) <= sizeof(bits), "at most eight bytes");
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}

template <class T> __MC_DEVICE__ T __mc_value(unsigned long bits)
{
    T value;

    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

/* Lanes whose value equals the own. */
template <class T, class Mask>
__MC_DEVICE__ __mc_set_of<Mask> __match_any_sync(Mask mask, T value)
{
    unsigned long r, wide = __mc_wide_mask(mask);

    __MC_SYNC_INSN(wide, MXGPU_F3_VOTE, MXGPU_F7_MATCH_ANY, r,
                   __mc_bits(value), 0L);
    return __mc_lanes_of<Mask>(r & wide);
}

template <class T>
__MC_DEVICE__ unsigned long __mc_match_any_sync(unsigned long mask, T value)
{
    return __match_any_sync(__mc_lanes(mask), value).bits;
}

template <class T> __MC_DEVICE__ __mc_lane_bits __match_any(T value)
{
    unsigned long r;

    __MC_INSN(MXGPU_F3_VOTE, MXGPU_F7_MATCH_ANY, r, __mc_bits(value), 0L);
    return (__mc_lane_bits)__mc_lanes(r & __mc_warp_lanes());
}

/* mask when all its lanes have the same value, otherwise 0. */
template <class T, class Mask>
__MC_DEVICE__ __mc_set_of<Mask> __match_all_sync(Mask mask, T value,
                                                 int *predicate)
{
    unsigned long wide = __mc_wide_mask(mask);
    unsigned long live = __mc_ballot_sync(wide, 1);
    bool all = __mc_match_any_sync(wide, value) == live;

    *predicate = all;
    return __mc_lanes_of<Mask>(all ? live : 0);
}

template <class T>
__MC_DEVICE__ __mc_lane_bits __match_all(T value, int *predicate)
{
    return (__mc_lane_bits)__match_all_sync(__mc_lanes(__mc_active()), value,
                                            predicate);
}

template <class T> __MC_DEVICE__ T __mc_shfl(T value, unsigned lane)
{
    unsigned long r;

    __MC_INSN(MXGPU_F3_SHUFFLE, MXGPU_F7_SHFL, r, __mc_bits(value),
              (unsigned long)lane);
    return __mc_value<T>(r);
}

template <class T>
__MC_DEVICE__ T __mc_shfl_sync(unsigned long mask, T value, unsigned lane)
{
    unsigned long r;

    __MC_SYNC_INSN(mask, MXGPU_F3_SHUFFLE, MXGPU_F7_SHFL, r, __mc_bits(value),
                   (unsigned long)lane);
    return __mc_value<T>(r);
}

/*
 * Source lanes. width, a power of two up to 64, cuts the warp into groups that
 * do not see each other; a lane without a source keeps its own value.
 */
__MC_DEVICE__ unsigned __mc_lane_idx(int src, int width)
{
    return (__mc_lane_id() & ~(width - 1)) | (src & (width - 1));
}

__MC_DEVICE__ unsigned __mc_lane_up(unsigned delta, int width)
{
    unsigned lane = __mc_lane_id(), pos = lane & (width - 1);

    return pos < delta ? lane : lane - delta;
}

__MC_DEVICE__ unsigned __mc_lane_down(unsigned delta, int width)
{
    unsigned lane = __mc_lane_id(), pos = lane & (width - 1);

    return delta >= width - pos ? lane : lane + delta;
}

__MC_DEVICE__ unsigned __mc_lane_xor(int mask, int width)
{
    unsigned lane = __mc_lane_id(), src = lane ^ (unsigned)mask;

    return src >= ((lane + width) & ~(width - 1u)) ? lane : src;
}

/* What a mask of 32 bits and constants make certainly wrong is an error; not
 * where warps have 32 lanes, which wrap or have no source. */
#define __MC_BEYOND(mask, width, lane)                                         \
    (warpSize == 64 && __mc_narrow<mask>::value && !(width) &&                 \
     (unsigned)(lane) - 32 < 32)
#define __MC_WRONG(wrong, hint)                                                \
    __attribute__((                                                            \
        diagnose_if(wrong, "a mask of 32 bits is about 32 lanes: " hint,       \
                    "error")))
#define __MC_WIDTH                                                             \
    __MC_WRONG(__mc_narrow<Mask>::value && width > 32,                         \
               "give one of 64 bits, or at most 32 as width")

template <class T, class Mask>
__MC_DEVICE__ T __shfl_sync(Mask mask, T value, int src, int width = 0)
    __MC_WIDTH __MC_WRONG(__MC_BEYOND(Mask, width, src),
                          "this one is none of them");
template <class T, class Mask>
__MC_DEVICE__ T __shfl_up_sync(Mask mask, T value, unsigned delta,
                               int width = 0)
    __MC_WIDTH __MC_WRONG(__MC_BEYOND(Mask, width, delta),
                          "sums of all 64 need one of 64 bits");
template <class T, class Mask>
__MC_DEVICE__ T __shfl_down_sync(Mask mask, T value, unsigned delta,
                                 int width = 0) __MC_WIDTH;
template <class T, class Mask>
__MC_DEVICE__ T __shfl_xor_sync(Mask mask, T value, int lanes,
                                int width = 0) __MC_WIDTH;

#undef __MC_WIDTH
#undef __MC_WRONG

template <class Mask> __MC_DEVICE__ unsigned __mc_width(int width)
{
    if (__mc_narrow<Mask>::value && width > 32) {
        __trap(); /* where the compiler did not know */
    }
    return width ? (unsigned)width : __mc_narrow<Mask>::value ? 32 : 64;
}

/*
 * A distance of 32 to 63 that is used with half a warp, by programs that begin
 * with warpSize / 2: all of the warp, and the same lanes of both halves.
 */
template <class Mask>
__MC_DEVICE__ unsigned __mc_reach(int width, unsigned distance,
                                  unsigned long *wide)
{
    if (__MC_BEYOND(Mask, width, distance)) {
        *wide |= *wide << 32 | *wide >> 32;
        return 64;
    }
    return __mc_width<Mask>(width);
}

template <class T, class Mask>
__MC_DEVICE__ T __shfl_sync(Mask mask, T value, int src, int width)
{
    return __mc_shfl_sync(__mc_wide_mask(mask), value,
                          __mc_lane_idx(src, (int)__mc_width<Mask>(width)));
}

template <class T, class Mask>
__MC_DEVICE__ T __shfl_up_sync(Mask mask, T value, unsigned delta, int width)
{
    if (__MC_BEYOND(Mask, width, delta)) {
        __trap(); /* the steps before, within halves, made wrong sums */
    }
    return __mc_shfl_sync(__mc_wide_mask(mask), value,
                          __mc_lane_up(delta, (int)__mc_width<Mask>(width)));
}

template <class T, class Mask>
__MC_DEVICE__ T __shfl_down_sync(Mask mask, T value, unsigned delta, int width)
{
    unsigned long wide = __mc_wide_mask(mask);
    unsigned lanes = __mc_reach<Mask>(width, delta, &wide);

    return __mc_shfl_sync(wide, value, __mc_lane_down(delta, (int)lanes));
}

template <class T, class Mask>
__MC_DEVICE__ T __shfl_xor_sync(Mask mask, T value, int lanes, int width)
{
    unsigned long wide = __mc_wide_mask(mask);
    unsigned all = __mc_reach<Mask>(width, (unsigned)lanes, &wide);

    return __mc_shfl_sync(wide, value, __mc_lane_xor(lanes, (int)all));
}

#undef __MC_BEYOND

template <class T>
__MC_DEVICE__ T __shfl(T value, int src, int width = warpSize)
{
    return __mc_shfl(value, __mc_lane_idx(src, width));
}

template <class T>
__MC_DEVICE__ T __shfl_up(T value, unsigned delta, int width = warpSize)
{
    return __mc_shfl(value, __mc_lane_up(delta, width));
}

template <class T>
__MC_DEVICE__ T __shfl_down(T value, unsigned delta, int width = warpSize)
{
    return __mc_shfl(value, __mc_lane_down(delta, width));
}

template <class T>
__MC_DEVICE__ T __shfl_xor(T value, int lanes, int width = warpSize)
{
    return __mc_shfl(value, __mc_lane_xor(lanes, width));
}

/* One instruction combines the lanes of mask that run it. */
#define __MC_REDUCE(name, type, f7)                                            \
    template <class Mask>                                                      \
    __MC_DEVICE__ type __reduce_##name##_sync(Mask mask, type value)           \
    {                                                                          \
        unsigned long wide = __mc_wide_mask(mask), r;                          \
                                                                               \
        __MC_SYNC_INSN(wide, MXGPU_F3_REDUCE, f7, r, __mc_bits(value), wide);  \
        return __mc_value<type>(r);                                            \
    }
#define __MC_REDUCES(name, f7, uf7)                                            \
    __MC_REDUCE(name, int, (f7) | MXGPU_F7_RED_W)                              \
    __MC_REDUCE(name, unsigned, (uf7) | MXGPU_F7_RED_W)                        \
    __MC_REDUCE(name, long, f7)                                                \
    __MC_REDUCE(name, unsigned long, uf7)                                      \
    __MC_REDUCE(name, long long, f7)                                           \
    __MC_REDUCE(name, unsigned long long, uf7)

__MC_REDUCES(add, MXGPU_F7_RED_ADD, MXGPU_F7_RED_ADD)
__MC_REDUCES(min, MXGPU_F7_RED_MIN, MXGPU_F7_RED_MINU)
__MC_REDUCES(max, MXGPU_F7_RED_MAX, MXGPU_F7_RED_MAXU)
__MC_REDUCES(and, MXGPU_F7_RED_AND, MXGPU_F7_RED_AND)
__MC_REDUCES(or, MXGPU_F7_RED_OR, MXGPU_F7_RED_OR)
__MC_REDUCES(xor, MXGPU_F7_RED_XOR, MXGPU_F7_RED_XOR)
/* Floats are added as a tree: lane i takes i + 32, then i + 16 and so on. */
__MC_REDUCE(add, float, MXGPU_F7_RED_FADD_S)
__MC_REDUCE(add, double, MXGPU_F7_RED_FADD_D)
__MC_REDUCE(min, float, MXGPU_F7_RED_FMIN_S)
__MC_REDUCE(min, double, MXGPU_F7_RED_FMIN_D)
__MC_REDUCE(max, float, MXGPU_F7_RED_FMAX_S)
__MC_REDUCE(max, double, MXGPU_F7_RED_FMAX_D)

#undef __MC_REDUCES
#undef __MC_REDUCE

#endif
