/* SPDX-License-Identifier: MIT */
/*
 * f registers, whose lanes are boxed 32-bit values or 64 bits
 * (MxgpuWarp.narrow).
 */
#ifndef MXGPU_SIMT_EXEC_FREG_H
#define MXGPU_SIMT_EXEC_FREG_H

#include "lanes.h"

/* A narrow result: all lanes of the plane, or those of the mask. */
static inline void set_narrow(MxgpuWarp *w, unsigned rd, const uint32_t *v,
                              uint64_t mask)
{
    uint32_t *d = w->f[rd];
    const uint32_t *m = w->c.m32;

    if (mask == ALL_LANES) {
        __builtin_memcpy(d, v, sizeof(w->f[rd]));
    } else {
        LANE_LOOP {
            d[i] = SELECT(m[i], v[i], d[i]);
        }
    }
    w->narrow[rd] |= mask;
}

static inline void set_wide(MxgpuWarp *w, unsigned rd, const uint64_t *v,
                            uint64_t mask)
{
    uint64_t *d = w->d[rd];
    const uint64_t *m = w->c.m64;

    if (mask == ALL_LANES) {
        __builtin_memcpy(d, v, sizeof(w->d[rd]));
    } else {
        LANE_LOOP {
            d[i] = SELECT(m[i], v[i], d[i]);
        }
    }
    w->narrow[rd] &= ~mask;
}

/* The 64 bits of every lane: where the value is narrow, boxed. */
static inline const uint64_t *get_wide(const MxgpuWarp *w, unsigned r,
                                       uint64_t mask, uint64_t *tmp)
{
    uint64_t narrow = w->narrow[r];

    if (!(narrow & mask)) {
        return w->d[r];
    }
    for (unsigned i = 0; i < LANES; i++) {
        tmp[i] = narrow >> i & 1 ? 0xffffffff00000000ull | w->f[r][i]
                                 : w->d[r][i];
    }
    return tmp;
}

/* The low 32 bits of every lane. */
static inline const uint32_t *get_low(const MxgpuWarp *w, unsigned r,
                                      uint64_t mask, uint32_t *tmp)
{
    uint64_t narrow = w->narrow[r];

    if (!(mask & ~narrow)) {
        return w->f[r];
    }
    for (unsigned i = 0; i < LANES; i++) {
        tmp[i] = narrow >> i & 1 ? w->f[r][i] : (uint32_t)w->d[r][i];
    }
    return tmp;
}

#endif
