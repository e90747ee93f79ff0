/* SPDX-License-Identifier: MIT */
/*
 * Sets of lanes. A warp has 64 lanes, and sets of 64 bits count them all. Sets
 * of 32 bits, as programs for warps of 32 lanes have them, are about the half
 * of the warp that the lane is in: bit i is lane i of that half. So each half
 * is a warp of such a program.
 */
#ifndef MCR_DEVICE_MASK_H
#define MCR_DEVICE_MASK_H

#include "builtins.h"

#include <type_traits>

/*
 * What __activemask() and __lanemask_lt() and kin return: 64 bits, and the own
 * half where 32 bits are wanted: by a variable, an argument, or a 32-bit
 * operand of & | ^ == !=.
 */
struct __mc_lanes {
    unsigned long bits;

    __device__ __MC_INLINE__ explicit __mc_lanes(unsigned long b) : bits(b) {}
    /* Also so that cond ? lanes : 0 does not become 32 bits unseen: it does
     * not compile. */
    template <class T, class = typename std::enable_if<
                           std::is_same<T, int>::value ||
                           std::is_same<T, unsigned>::value>::type>
    __device__ __MC_INLINE__ __mc_lanes(T half)
        : bits((unsigned long)(unsigned)half << (__mc_lane_id() & 32))
    {
    }
    __device__ __MC_INLINE__ unsigned half() const
    {
        return (unsigned)(bits >> (__mc_lane_id() & 32));
    }
    __device__ __MC_INLINE__ operator unsigned long() const { return bits; }
    __device__ __MC_INLINE__ operator long() const { return (long)bits; }
    __device__ __MC_INLINE__ operator unsigned long long() const
    {
        return bits;
    }
    __device__ __MC_INLINE__ operator long long() const
    {
        return (long long)bits;
    }
    __device__ __MC_INLINE__ operator unsigned() const { return half(); }
    __device__ __MC_INLINE__ operator int() const { return (int)half(); }
    __device__ __MC_INLINE__ operator bool() const { return bits; }
    __device__ __MC_INLINE__ __mc_lanes operator~() const
    {
        return __mc_lanes(~bits);
    }
};

/* What is of 32 bits with an operand T, as a set of that size. */
template <class T>
using __mc_operand = typename std::enable_if<
    std::is_integral<T>::value,
    typename std::conditional<sizeof(T) == 8, unsigned long, unsigned>::type>::
    type;

#define __MC_LANES_SET(op)                                                     \
    __MC_DEVICE__ __mc_lanes operator op(__mc_lanes a, __mc_lanes b)           \
    {                                                                          \
        return __mc_lanes(a.bits op b.bits);                                   \
    }                                                                          \
    template <class T>                                                         \
    __MC_DEVICE__ __mc_operand<T> operator op(__mc_lanes a, T b)               \
    {                                                                          \
        return (__mc_operand<T>)a op (__mc_operand<T>)b;                       \
    }                                                                          \
    template <class T>                                                         \
    __MC_DEVICE__ __mc_operand<T> operator op(T a, __mc_lanes b)               \
    {                                                                          \
        return (__mc_operand<T>)a op (__mc_operand<T>)b;                       \
    }
#define __MC_LANES_TEST(op)                                                    \
    __MC_DEVICE__ bool operator op(__mc_lanes a, __mc_lanes b)                 \
    {                                                                          \
        return a.bits op b.bits;                                               \
    }                                                                          \
    template <class T, class = __mc_operand<T>>                                \
    __MC_DEVICE__ bool operator op(__mc_lanes a, T b)                          \
    {                                                                          \
        return (__mc_operand<T>)a op (__mc_operand<T>)b;                       \
    }                                                                          \
    template <class T, class = __mc_operand<T>>                                \
    __MC_DEVICE__ bool operator op(T a, __mc_lanes b)                          \
    {                                                                          \
        return (__mc_operand<T>)a op (__mc_operand<T>)b;                       \
    }
#define __MC_LANES_NUMBER(op)                                                  \
    template <class T, class = __mc_operand<T>>                                \
    __MC_DEVICE__ unsigned long operator op(__mc_lanes a, T b)                 \
    {                                                                          \
        return a.bits op b;                                                    \
    }

__MC_LANES_SET(&)
__MC_LANES_SET(|)
__MC_LANES_SET(^)
__MC_LANES_TEST(==)
__MC_LANES_TEST(!=)
__MC_LANES_NUMBER(<<)
__MC_LANES_NUMBER(>>)
__MC_LANES_NUMBER(+)
__MC_LANES_NUMBER(-)

#undef __MC_LANES_SET
#undef __MC_LANES_TEST
#undef __MC_LANES_NUMBER

/* The set that a function gives for a mask: of the same size. */
template <class Mask> struct __mc_set {
    static_assert(std::is_integral<Mask>::value || std::is_enum<Mask>::value,
                  "a mask is an integer");
    /* where warps have 32 lanes, masks that are too large are no others */
    using type = typename std::conditional<sizeof(Mask) == 8 && warpSize == 64,
                                           unsigned long, unsigned>::type;
};
template <> struct __mc_set<__mc_lanes> {
    using type = __mc_lanes;
};
template <class Mask> using __mc_set_of = typename __mc_set<Mask>::type;

/* Whether a mask is about half a warp. */
template <class Mask>
using __mc_narrow = std::is_same<__mc_set_of<Mask>, unsigned>;

/* The lanes of a mask, in 64 bits. */
template <class Mask> __MC_DEVICE__ unsigned long __mc_wide_mask(Mask mask)
{
    __mc_set_of<Mask> set = (__mc_set_of<Mask>)mask;

    return __mc_narrow<Mask>::value
               ? (unsigned long)set << (__mc_lane_id() & 32)
               : (unsigned long)set;
}

/* And back. */
template <class Mask>
__MC_DEVICE__ __mc_set_of<Mask> __mc_lanes_of(unsigned long bits)
{
    return (__mc_set_of<Mask>)__mc_lanes(bits);
}

/* What functions without a mask return for such a set. */
#if defined(__MC_WARP_SIZE__) && __MC_WARP_SIZE__ == 32
typedef unsigned __mc_lane_set;
typedef unsigned __mc_lane_bits;
#else
typedef __mc_lanes __mc_lane_set;
typedef unsigned long __mc_lane_bits;
#endif

/* Waits until the lanes of mask that have not ended are here. */
__MC_DEVICE__ void __mc_syncwarp(unsigned long mask)
{
    __asm__ volatile(".insn r 0x0b, %0, %1, x0, %2, x0"
                     :
                     : "i"(MXGPU_F3_CONTROL), "i"(MXGPU_F7_WARPSYNC), "r"(mask)
                     : "memory");
}

/* The lanes of the warp that a program sees: of one of 64, or of a half. */
__MC_DEVICE__ unsigned long __mc_warp_lanes()
{
    return warpSize == 64 ? ~0ul : 0xfffffffful << (__mc_lane_id() & 32);
}

__MC_DEVICE__ void __syncwarp()
{
    __mc_syncwarp(__mc_warp_lanes());
}

template <class Mask> __MC_DEVICE__ void __syncwarp(Mask mask)
{
    __mc_syncwarp(__mc_wide_mask(mask));
}

__MC_DEVICE__ void __syncwave()
{
    __syncwarp();
}

#endif
