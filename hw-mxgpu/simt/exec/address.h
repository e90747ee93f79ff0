/* SPDX-License-Identifier: MIT */
/*
 * Addresses of the loads and stores of a group of lanes. Those that are equal
 * or contiguous in the lanes are one host access; others are gathered from one
 * 2 MiB granule, from shared or private memory, or from wherever each lane is;
 * what is left goes lane by lane.
 */
#ifndef MXGPU_SIMT_EXEC_ADDRESS_H
#define MXGPU_SIMT_EXEC_ADDRESS_H

#include "forms.h"

typedef enum Shape {
    SHAPE_UNIFORM,
    SHAPE_CONTIGUOUS,
    SHAPE_REVERSED, /* contiguous, each lane before the one below it */
    SHAPE_ROWS,   /* of a line: each row is contiguous */
    SHAPE_LEVELS, /* of a line: each row is uniform */
    SHAPE_OTHER
} Shape;

/* How the addresses of mask's lanes relate; first is its lowest lane. */
static inline __attribute__((always_inline)) Shape
shape_of(const MxgpuWarp *w, const uint64_t *a, uint64_t mask, unsigned first,
         unsigned size)
{
    const uint64_t *m = w->c.m64;
    uint64_t base = a[first], differ = 0;
    unsigned second;

    if (mask == ALL_LANES) {
        if (a[1] == base) {
            LANE_LOOP {
                differ |= a[i] ^ base;
            }
            return differ ? SHAPE_OTHER : SHAPE_UNIFORM;
        }
        if (a[1] == base - size) {
            LANE_LOOP {
                differ |= a[i] ^ (base - (uint64_t)i * size);
            }
            return differ ? SHAPE_OTHER : SHAPE_REVERSED;
        }
        if (a[1] != base + size) {
            return SHAPE_OTHER;
        }
        LANE_LOOP {
            differ |= a[i] ^ (base + (uint64_t)i * size);
        }
        return differ ? SHAPE_OTHER : SHAPE_CONTIGUOUS;
    }
    mask &= mask - 1;
    if (!mask) {
        return SHAPE_UNIFORM;
    }
    second = __builtin_ctzll(mask);
    if (a[second] == base) {
        LANE_LOOP {
            differ |= (a[i] ^ base) & m[i];
        }
        return differ ? SHAPE_OTHER : SHAPE_UNIFORM;
    }
    if (a[second] == base - (second - first) * (uint64_t)size) {
        base += (uint64_t)first * size;
        LANE_LOOP {
            differ |= (a[i] ^ (base - (uint64_t)i * size)) & m[i];
        }
        return differ ? SHAPE_OTHER : SHAPE_REVERSED;
    }
    base -= (uint64_t)first * size;
    if (a[second] != base + second * size) {
        return SHAPE_OTHER;
    }
    LANE_LOOP {
        differ |= (a[i] ^ (base + (uint64_t)i * size)) & m[i];
    }
    return differ ? SHAPE_OTHER : SHAPE_CONTIGUOUS;
}

/* The same of lanes that are on a line: all that are on it, or those of
 * mask. */
static inline Shape shape_of_line(const MxgpuWarp *w, const SimtLine *l,
                                  uint64_t mask, unsigned size)
{
    if (!(l->step | l->row) || !(mask & (mask - 1))) {
        return SHAPE_UNIFORM;
    }
    if (l->step == size && l->row == (uint64_t)size << w->c.row_shift) {
        return SHAPE_CONTIGUOUS;
    }
    if (l->step == -(uint64_t)size &&
        l->row == -(uint64_t)size << w->c.row_shift) {
        return SHAPE_REVERSED;
    }
    return l->step == size ? SHAPE_ROWS
           : l->step == 0  ? SHAPE_LEVELS
                           : SHAPE_OTHER;
}

/* Shape of the addresses of mask's lanes, and the first one. */
static inline __attribute__((always_inline)) Shape
addresses(MxgpuWarp *w, const SimtOp *p, uint64_t mask, unsigned size,
          uint64_t *va)
{
    unsigned first = __builtin_ctzll(mask), shift = w->c.row_shift;
    uint64_t imm = (uint64_t)(int64_t)p->imm;
    const uint64_t *a;

    if (w->form[p->r1] & FORM_LINE) {
        const SimtLine *l = &w->line[p->r1];
        Shape shape = shape_of_line(w, l, mask, size);

        *va = l->base + imm + (first & ((1u << shift) - 1)) * l->step +
              (first >> shift) * l->row;
        if (shape <= SHAPE_REVERSED || mask == ALL_LANES) {
            return shape;
        }
    }
    a = wide(w, p->r1);
    *va = a[first] + imm;
    return shape_of(w, a, mask, first, size);
}

/* simt_span(), loading the translation when that is what is missing. */
static inline uintptr_t span_fill(MxgpuCu *cu, const MxgpuWarp *w,
                                  SimtKind kind, uint64_t va, uint64_t len)
{
    uintptr_t at = simt_span(cu, w, kind, va, len);
    enum mxgpu_fault fault;

    if (__builtin_expect(!at && va < MXGPU_VA_LIMIT, 0)) {
        at = mxgpu_simt_fill(cu, w, kind, va, len, &fault);
    }
    return at;
}

/*
 * The host address that, added to an address of any lane of mask, gives the
 * host address of its aligned access; false when there is no such one.
 */
static inline __attribute__((always_inline)) bool
common_base(MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind, const uint64_t *a,
            uint64_t imm, uint64_t mask, uint64_t va, unsigned size,
            uintptr_t *base)
{
    const uint64_t *m = w->c.m64;
    uint64_t differ = 0, outside = 0, start = va & ~(LARGE_BYTES - 1);
    uint64_t limit = w->c.shared_size - size; /* used when it is not less */
    uintptr_t at;

    if (mask == ALL_LANES) {
        LANE_LOOP {
            differ |= (a[i] + imm) ^ va;
        }
    } else {
        LANE_LOOP {
            differ |= ((a[i] + imm) ^ va) & m[i];
        }
    }
    if ((differ | va) & (size - 1)) {
        return false;
    }
    if (differ < LARGE_BYTES && va < MXGPU_VA_LIMIT) {
        at = simt_span(cu, w, kind, start, LARGE_BYTES);
        if (__builtin_expect(!at, 0)) {
            enum mxgpu_fault fault;

            if (!simt_span(cu, w, kind, va, size) &&
                !mxgpu_simt_fill(cu, w, kind, va, size, &fault)) {
                return false;
            }
            at = simt_span(cu, w, kind, start, LARGE_BYTES);
            if (!at && differ < PAGE_BYTES) { /* all in one small page */
                start = va & ~(uint64_t)(PAGE_BYTES - 1);
                at = simt_span(cu, w, kind, start, PAGE_BYTES);
            }
        }
        *base = at - start;
        return at != 0;
    }
    if (!in_shared(w, va, size)) {
        return false;
    }
    /* Bit 63 of outside: an offset is above limit. */
    if (mask == ALL_LANES) {
        LANE_LOOP {
            uint64_t offset = a[i] + imm - MXGPU_SHARED_BASE;

            outside |= offset | (limit - offset);
        }
    } else {
        LANE_LOOP {
            uint64_t offset = a[i] + imm - MXGPU_SHARED_BASE;

            outside |= (offset | (limit - offset)) & m[i];
        }
    }
    *base = (uintptr_t)w->c.shared - MXGPU_SHARED_BASE;
    return !(outside >> 63);
}

/*
 * common_base() of all lanes of a line, the first of which is at va, where no
 * translation has to be loaded. For lines that go upwards.
 */
static inline __attribute__((always_inline)) bool
line_base(const MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind,
          const SimtLine *l, uint64_t va, unsigned size, uintptr_t *base)
{
    unsigned shift = w->c.row_shift;
    uint64_t high = va + (l->step << shift) - l->step +
                    (l->row << (6 - shift)) - l->row;
    uint64_t offset;

    if ((l->step | l->row) >> 32 || (va | l->step | l->row) & (size - 1)) {
        return false;
    }
    if (va < MXGPU_VA_LIMIT) {
        uint64_t start = va & ~(LARGE_BYTES - 1);
        uintptr_t at = simt_span(cu, w, kind, start, LARGE_BYTES);

        *base = at - start;
        return at && high - start < LARGE_BYTES;
    }
    offset = va - MXGPU_SHARED_BASE;
    *base = (uintptr_t)w->c.shared - MXGPU_SHARED_BASE;
    return offset < w->c.shared_size && /* which is 2^16 at most */
           high - MXGPU_SHARED_BASE + size <= w->c.shared_size;
}

#endif
