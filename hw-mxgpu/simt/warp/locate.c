/* SPDX-License-Identifier: MIT */
/*
 * Where each lane of a group goes to, when all of them can be told before any
 * has been there: for loads, stores and atomics whose lanes are scattered over
 * granules and windows. The loops of simt/exec and simt/slow then only move
 * data, and the host fetches several lanes' cache lines at a time.
 */
#include "locate.h"

#include "memory.h"

/* A lane that no entry for pages tells about; 0: nothing does. */
static __attribute__((noinline)) uintptr_t
locate_lane(MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind, unsigned lane,
            uint64_t va, unsigned size)
{
    uintptr_t at = simt_span(cu, w, kind, va, size);
    enum mxgpu_fault fault;

    if (at) {
        return at;
    }
    if (in_private(w, va, size)) {
        return (uintptr_t)private_at(w, va) + 8 * lane;
    }
    if (va >= MXGPU_VA_LIMIT) {
        return 0;
    }
    return mxgpu_simt_fill(cu, w, kind, va, size, &fault);
}

/* One lane to at[lane]. */
static inline __attribute__((always_inline)) bool
locate(MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind, unsigned lane,
       uint64_t va, unsigned size, uint64_t *at)
{
    uint64_t page = va >> MXGPU_LARGE_SHIFT;
    const SimtTlb *t = &cu->c.large[kind][page % TLB_LARGE];
    uintptr_t to = t->add + va;

    if (__builtin_expect(va & (size - 1), 0)) {
        return false;
    }
    if (__builtin_expect(t->tag != (page | w->c.vmid_tag), 0)) {
        page = va >> MXGPU_PAGE_SHIFT;
        t = &cu->c.small[kind][page % TLB_SMALL];
        to = t->add + va;
    }
    if (__builtin_expect(t->tag != (page | w->c.vmid_tag), 0)) {
        to = locate_lane(cu, w, kind, lane, va, size);
        if (!to) {
            return false;
        }
    }
    __builtin_prefetch((const void *)to, 0, 3);
    at[lane] = to;
    return true;
}

bool mxgpu_simt_locate(MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind,
                       const uint64_t *a, uint64_t imm, uint64_t mask,
                       unsigned size, uint64_t *at)
{
    if (cu->simt->config.lane_memory) { /* which is asked lane by lane */
        return false;
    }
    if (mask == ALL_LANES) { /* shorter without a look at the mask */
        for (unsigned i = 0; i < LANES; i++) {
            if (!locate(cu, w, kind, i, a[i] + imm, size, at)) {
                return false;
            }
        }
        return true;
    }
    for (; mask; mask &= mask - 1) {
        unsigned i = __builtin_ctzll(mask);

        if (!locate(cu, w, kind, i, a[i] + imm, size, at)) {
            return false;
        }
    }
    return true;
}
