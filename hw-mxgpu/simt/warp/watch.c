/* SPDX-License-Identifier: MIT */
/*
 * Accesses of warps, as an observer is told of them. The usual one it knows to
 * be right by its first and its last byte; for the others it gets the address
 * of each lane.
 */
#include "watch.h"

#include "fault.h"
#include "memory.h"
#include "observe.h"
#include "warp.h"

/* The first and the last address of mask's lanes; false: they are not known
 * without a look at each, or not in order. */
static bool line_bounds(const MxgpuWarp *w, const SimtOp *p, uint64_t mask,
                        uint64_t *low, uint64_t *high)
{
    const SimtLine *l = &w->line[p->r1];
    unsigned shift = w->c.row_shift;
    uint64_t base = l->base + (uint64_t)(int64_t)p->imm;
    uint64_t columns = (1ull << shift) - 1, rows = (LANES >> shift) - 1;

    if (!(w->form[p->r1] & FORM_LINE)) {
        return false;
    }
    *low = *high = base;
    if (!(l->step | l->row)) {
        return true;
    }
    if (mask != ALL_LANES || (l->step | l->row) >> 32) {
        return false;
    }
    *high = base + columns * l->step + rows * l->row;
    return true;
}

static void lane_bounds(const uint64_t *a, uint64_t mask, uint64_t *low,
                        uint64_t *high)
{
    uint64_t least = UINT64_MAX, most = 0;

    if (mask == ALL_LANES) {
        for (unsigned i = 0; i < LANES; i++) {
            least = a[i] < least ? a[i] : least;
            most = a[i] > most ? a[i] : most;
        }
    } else {
        for (; mask; mask &= mask - 1) {
            uint64_t v = a[__builtin_ctzll(mask)];

            least = v < least ? v : least;
            most = v > most ? v : most;
        }
    }
    *low = least;
    *high = most;
}

/* Whether all that lies between is right, so that nobody has to look closer. */
static bool range_ok(const MxgpuCu *cu, const MxgpuWarp *w,
                     enum mxgpu_access access, uint64_t low, uint64_t last,
                     unsigned size)
{
    const MxgpuSimtConfig *config = &cu->simt->config;
    uint64_t bytes = last - low + size;

    if (!config->observer->range || last < low || last > UINT64_MAX - size) {
        return false;
    }
    if (low >= MXGPU_VA_LIMIT) {
        return in_private(w, low, bytes) ||
               (!config->observer->shared && in_shared(w, low, bytes));
    }
    return config->observer->range(config->observer_opaque, cu->index, access,
                                   low, last + size);
}

/* What a store writes. */
static const uint64_t *values(MxgpuWarp *w, const SimtOp *p, uint64_t *out)
{
    unsigned r = p->r2;

    if (p->op != RV_FSW && p->op != RV_FSD && p->op != RV_FSH) {
        if (!(w->form[r] & FORM_WIDE)) {
            mxgpu_warp_widen(w, r);
        }
        return w->x[r];
    }
    for (unsigned i = 0; i < LANES; i++) {
        out[i] = w->narrow[r] >> i & 1 ? w->f[r][i] : w->d[r][i];
    }
    return out;
}

static bool observe(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                    uint64_t mask, uint64_t imm, enum mxgpu_access access,
                    unsigned size)
{
    const MxgpuSimtConfig *config = &cu->simt->config;
    const MxgpuObserver *o = config->observer;
    MxgpuObservedAccess seen = {.access = access, .size = size};
    uint64_t a[LANES], stored[LANES], low, high;
    bool known = line_bounds(w, p, mask, &low, &high);
    MxgpuDispatchFault fault;
    MxgpuObservedWarp view;
    int lane;

    if (known && range_ok(cu, w, access, low, high, size)) {
        return true;
    }
    if (!(w->form[p->r1] & FORM_WIDE)) {
        mxgpu_warp_widen(w, p->r1);
    }
    for (unsigned i = 0; i < LANES; i++) {
        a[i] = w->x[p->r1][i] + imm;
    }
    if (!known && o->range) {
        lane_bounds(a, mask, &low, &high);
        if (range_ok(cu, w, access, low, high, size)) {
            return true;
        }
    }
    mxgpu_simt_view(cu, w, pc, mask, &view);
    seen.addr = a;
    if (o->values && access == MXGPU_ACCESS_WRITE) {
        seen.value = values(w, p, stored);
    }
    lane = o->access(config->observer_opaque, &view, &seen);
    if (lane < 0) {
        return true;
    }
    fault = (MxgpuDispatchFault){
        .code = MXGPU_FAULT_NOT_PRESENT,
        .access = access,
        .addr = a[lane & (LANES - 1)],
        .pc = pc,
        .block = {view.block[0], view.block[1], view.block[2]},
        .thread = w->c.index * LANES + (lane & (LANES - 1)),
    };
    mxgpu_simt_stop_grid(cu, w, &fault); /* nothing mends it */
    return false;
}

bool mxgpu_simt_observe_memory(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                               uint64_t pc, uint64_t mask)
{
    return observe(cu, w, p, pc, mask, (uint64_t)(int64_t)p->imm,
                   mxgpu_simt_is_store(p->op) ? MXGPU_ACCESS_WRITE
                                              : MXGPU_ACCESS_READ,
                   1u << mxgpu_simt_access_shift(p->op));
}

bool mxgpu_simt_observe_atomic(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                               uint64_t pc, uint64_t mask, unsigned size)
{
    SimtOp plain = *p;

    plain.imm = 0; /* an atomic has none */
    return observe(cu, w, &plain, pc, mask, 0, MXGPU_ACCESS_ATOMIC, size);
}
