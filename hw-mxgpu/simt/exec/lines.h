/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic on lines (simt/state.h). A line that is computed here gives, in
 * every lane, what the instruction gives modulo 2^64; where an instruction
 * looks at 32 bits only, the result is a line when no lane leaves the range of
 * 32 bits. line_E() is that of the expression E of rv/sem.h, and says whether
 * *out is the result.
 */
#ifndef MXGPU_SIMT_EXEC_LINES_H
#define MXGPU_SIMT_EXEC_LINES_H

#include "forms.h"

static inline bool line_uniform(const SimtLine *l)
{
    return !(l->step | l->row | l->warp);
}

static inline void widen_range(int64_t *low, int64_t *high, uint64_t by)
{
    *low += (int64_t)by < 0 ? (int64_t)by : 0;
    *high += (int64_t)by < 0 ? 0 : (int64_t)by;
}

/* The least and the greatest lane, as signed numbers; false: not known. */
static inline bool line_range(SimtRows rows, const SimtLine *l, int64_t *low,
                              int64_t *high)
{
    const uint64_t bound = 1ull << 48; /* sums cannot overflow below it */

    *low = *high = l->base;
    if (line_uniform(l)) {
        return true;
    }
    if (l->base + bound > 2 * bound || l->step + bound > 2 * bound ||
        l->row + bound > 2 * bound || l->warp + bound > 2 * bound) {
        return false;
    }
    widen_range(low, high, (l->step << rows.shift) - l->step);
    widen_range(low, high, (l->row << (6 - rows.shift)) - l->row);
    widen_range(low, high, l->warp * rows.last);
    return true;
}

/* Whether every lane, as a signed number, is in low ... high. */
static inline bool line_within(SimtRows rows, const SimtLine *l, int64_t low,
                               int64_t high)
{
    int64_t min, max;

    return line_range(rows, l, &min, &max) && min >= low && max <= high;
}

#define LINE_FN(ID)                                                            \
    static inline __attribute__((always_inline)) bool line_##ID(               \
        SimtRows rows, const SimtLine *a, const SimtLine *b, SimtLine *out)

static inline SimtLine line_shl(const SimtLine *a, unsigned by)
{
    return (SimtLine){a->base << by, a->step << by, a->row << by,
                      a->warp << by};
}

static inline SimtLine line_plus(const SimtLine *a, const SimtLine *b)
{
    return (SimtLine){a->base + b->base, a->step + b->step, a->row + b->row,
                      a->warp + b->warp};
}

static inline SimtLine line_minus(const SimtLine *a, const SimtLine *b)
{
    return (SimtLine){a->base - b->base, a->step - b->step, a->row - b->row,
                      a->warp - b->warp};
}

LINE_FN(ADD)
{
    *out = line_plus(a, b);
    return true;
}

LINE_FN(SUB)
{
    *out = line_minus(a, b);
    return true;
}

LINE_FN(SLL)
{
    *out = line_shl(a, b->base & 63);
    return line_uniform(b);
}

LINE_FN(MUL)
{
    if (!line_uniform(b)) {
        const SimtLine *other = a;

        a = b;
        b = other;
    }
    *out = (SimtLine){a->base * b->base, a->step * b->base, a->row * b->base,
                      a->warp * b->base};
    return line_uniform(b);
}

/* Exact quotients of lanes that are not negative, or fit when signed. */
static inline bool line_shr(SimtRows rows, const SimtLine *a,
                            const SimtLine *b, SimtLine *out, bool arithmetic)
{
    unsigned by = b->base & 63;
    uint64_t bits = (1ull << by) - 1;
    int64_t high = INT64_MAX >> (arithmetic ? by : by ? by - 1 : 0);

    *out = (SimtLine){arithmetic ? (uint64_t)((int64_t)a->base >> by)
                                 : a->base >> by,
                      (uint64_t)((int64_t)a->step >> by),
                      (uint64_t)((int64_t)a->row >> by),
                      (uint64_t)((int64_t)a->warp >> by)};
    return by && line_uniform(b) &&
           !((a->base | a->step | a->row | a->warp) & bits) &&
           line_within(rows, out, arithmetic ? -high - 1 : 0, high);
}

LINE_FN(SRL)
{
    return line_shr(rows, a, b, out, false);
}

LINE_FN(SRA)
{
    return line_shr(rows, a, b, out, true);
}

#define LINE_SHADD(n)                                                          \
    LINE_FN(SH##n##ADD)                                                        \
    {                                                                          \
        SimtLine s = line_shl(a, n);                                           \
                                                                               \
        *out = line_plus(&s, b);                                               \
        return true;                                                           \
    }                                                                          \
    LINE_FN(SH##n##ADD_UW)                                                     \
    {                                                                          \
        SimtLine s = line_shl(a, n);                                           \
                                                                               \
        *out = line_plus(&s, b);                                               \
        return line_within(rows, a, 0, UINT32_MAX);                            \
    }
LINE_SHADD(1)
LINE_SHADD(2)
LINE_SHADD(3)

LINE_FN(ADD_UW)
{
    *out = line_plus(a, b);
    return line_within(rows, a, 0, UINT32_MAX);
}

LINE_FN(SLLI_UW)
{
    *out = line_shl(a, b->base & 63);
    return line_within(rows, a, 0, UINT32_MAX);
}

/*
 * Bitwise with a uniform number: lanes that are not negative agree in the bits
 * above those in which the least and the greatest one differ. *varying gets
 * the bits below, *same what they agree in. a gets the line, *b the number.
 */
static inline bool line_bits(SimtRows rows, const SimtLine **a,
                             const SimtLine **b, uint64_t *varying,
                             uint64_t *same)
{
    int64_t low, high;

    if (line_uniform(*a)) {
        const SimtLine *line = *b;

        *b = *a;
        *a = line;
    }
    if (!line_uniform(*b) || !line_range(rows, *a, &low, &high) || low < 0 ||
        low == high) {
        return false;
    }
    *varying = UINT64_MAX >> __builtin_clzll(low ^ high);
    *same = low & ~*varying;
    return true;
}

LINE_FN(OR)
{
    uint64_t varying, same, bits;

    if (!line_bits(rows, &a, &b, &varying, &same) || b->base & varying) {
        return false;
    }
    bits = b->base & ~same;
    *out = (SimtLine){a->base + bits, a->step, a->row, a->warp};
    return true;
}

LINE_FN(XOR)
{
    uint64_t varying, same;

    if (!line_bits(rows, &a, &b, &varying, &same) || b->base & varying) {
        return false;
    }
    *out = (SimtLine){a->base - same + (same ^ b->base), a->step, a->row,
                      a->warp};
    return true;
}

LINE_FN(AND)
{
    uint64_t varying, same;

    if (!line_bits(rows, &a, &b, &varying, &same) ||
        (b->base & varying) != varying) {
        return false;
    }
    *out = (SimtLine){a->base - (same & ~b->base), a->step, a->row, a->warp};
    return true;
}

/* *W: when the sum in 64 bits is a word, so is the sum in 32, the same one. */
static inline bool line_is_word(SimtRows rows, const SimtLine *l)
{
    return line_within(rows, l, INT32_MIN, INT32_MAX);
}

LINE_FN(ADDW)
{
    return line_ADD(rows, a, b, out) && line_is_word(rows, out);
}

LINE_FN(SUBW)
{
    return line_SUB(rows, a, b, out) && line_is_word(rows, out);
}

LINE_FN(MULW)
{
    return line_MUL(rows, a, b, out) && line_is_word(rows, out);
}

LINE_FN(SLLW)
{
    *out = line_shl(a, b->base & 31);
    return line_uniform(b) && line_is_word(rows, out);
}

/*
 * Two lines none of whose lanes reaches into the range of the other: all lanes
 * then compare as the first ones do, if no lane is negative unsigned
 * comparisons too.
 */
static inline bool lines_disjoint(SimtRows rows, const SimtLine *a,
                               const SimtLine *b)
{
    int64_t low1, high1, low2, high2;

    return line_range(rows, a, &low1, &high1) &&
           line_range(rows, b, &low2, &high2) &&
           (high1 < low2 || low1 > high2) && low1 >= 0 && low2 >= 0;
}

#endif
