/* SPDX-License-Identifier: MIT */
/*
 * Integer division of lanes. Hosts divide integers one at a time, but floating
 * point numbers a vector at a time. With operands a and b of less than 2^53,
 * which doubles hold exactly, a quotient that is no integer is at least 1/|b|
 * from the next one, which is more than rounding adds to it: cut off, it is the
 * quotient of integers.
 *
 * lane_div32() and the like stand for rv_div32() and the like; near_ID() of
 * DIVIDE_OPS are for operands of which fits_ID() gives 0.
 */
#ifndef MXGPU_SIMT_EXEC_DIVIDE_H
#define MXGPU_SIMT_EXEC_DIVIDE_H

#include <stdint.h>

/* One lane. S is signed; where b is 0 or -1 the host must not divide, and the
 * result is known. */
#define DEF_DIVIDE_LANE(U, S, div, rem, divu, remu)                            \
    static inline U div(U a, U b)                                              \
    {                                                                          \
        S by = (S)(b + 1 <= 1 ? 1 : b);                                        \
        U q = (U)(S)((double)(S)a / (double)by);                               \
                                                                               \
        return b == 0 ? (U)-1 : b == (U)-1 ? -a : q;                           \
    }                                                                          \
    static inline U rem(U a, U b)                                              \
    {                                                                          \
        return a - div(a, b) * b;                                              \
    }                                                                          \
    static inline U divu(U a, U b)                                             \
    {                                                                          \
        U q = (U)((double)a / (double)(b ? b : 1));                            \
                                                                               \
        return b ? q : (U)-1;                                                  \
    }                                                                          \
    static inline U remu(U a, U b)                                             \
    {                                                                          \
        return a - divu(a, b) * b;                                             \
    }
DEF_DIVIDE_LANE(uint32_t, int32_t, lane_div32, lane_rem32, lane_divu32,
                lane_remu32)
DEF_DIVIDE_LANE(uint64_t, int64_t, near_DIV, near_REM, near_DIVU, near_REMU)

/* 0: a double holds it, as the instruction reads it. */
#define NEAR_BITS 52
static inline uint64_t fits_signed(uint64_t v)
{
    return (v + (1ull << NEAR_BITS)) >> (NEAR_BITS + 1);
}

static inline uint64_t fits_unsigned(uint64_t v)
{
    return v >> NEAR_BITS;
}
#define fits_DIV  fits_signed
#define fits_REM  fits_signed
#define fits_DIVU fits_unsigned
#define fits_REMU fits_unsigned

#endif
