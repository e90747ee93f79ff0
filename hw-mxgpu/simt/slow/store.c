/* SPDX-License-Identifier: MIT */
/*
 * Stores that may be replayed: first it is found out where each lane's bytes
 * go, then they are written. So a replay stores nothing twice, over what other
 * threads may have stored in between.
 */
#include "store.h"

#include "simt/warp/budget.h"
#include "simt/warp/fault.h"
#include "simt/warp/memory.h"
#include "simt/warp/warp.h"

/* Where a part of a lane's bytes goes, which lies in one page. */
typedef struct Place {
    uintptr_t host; /* 0: to "bus" */
    uint64_t bus;
    unsigned len;   /* 0: there is no such part */
} Place;

static enum mxgpu_fault locate_part(MxgpuCu *cu, const MxgpuWarp *w,
                                    uint64_t va, unsigned len, Place *to)
{
    enum mxgpu_fault fault;
    MxgpuTranslation t;

    *to = (Place){.host = simt_span(cu, w, KIND_WRITE, va, len), .len = len};
    if (to->host) {
        return MXGPU_FAULT_NONE;
    }
    if (va >= MXGPU_VA_LIMIT) {
        return MXGPU_FAULT_NON_CANONICAL;
    }
    to->host = mxgpu_simt_fill(cu, w, KIND_WRITE, va, len, &fault);
    if (to->host || fault != MXGPU_FAULT_NONE) {
        return fault;
    }
    fault = mxgpu_mmu_translate(cu->simt->config.mmu, w->c.vmid, va,
                                MXGPU_ACCESS_WRITE, &t);
    simt_charge(cu, COST_WALK + COST_BUS * t.host_ops);
    to->host = (uintptr_t)t.host;
    to->bus = t.addr;
    return fault;
}

/* Below MXGPU_VA_LIMIT, or in shared memory. */
static enum mxgpu_fault locate(MxgpuCu *cu, const MxgpuWarp *w, uint64_t va,
                               unsigned size, Place to[2], uint64_t *fault_at)
{
    unsigned first = PAGE_BYTES - (va & (PAGE_BYTES - 1));
    enum mxgpu_fault fault;

    *fault_at = va;
    to[1].len = 0;
    if (size <= first || in_shared(w, va, size)) {
        return locate_part(cu, w, va, size, &to[0]);
    }
    fault = locate_part(cu, w, va, first, &to[0]);
    if (fault == MXGPU_FAULT_NONE) {
        *fault_at = va + first;
        fault = locate_part(cu, w, va + first, size - first, &to[1]);
    }
    return fault;
}

static enum mxgpu_fault store_part(MxgpuCu *cu, const Place *to,
                                   const uint8_t *from)
{
    MxgpuTranslation t = {
        .addr = to->bus,
        .page_shift = MXGPU_PAGE_SHIFT,
        .granule_shift = MXGPU_PAGE_SHIFT,
        .system = true,
    };

    if (to->host) {
        mxgpu_copy_single((void *)to->host, from, to->len, false);
        return MXGPU_FAULT_NONE;
    }
    simt_charge(cu, COST_DMA);
    return mxgpu_mmu_write(cu->simt->config.mmu, &t, from, to->len);
}

bool mxgpu_simt_store_all(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                          uint64_t pc, uint64_t mask, unsigned size,
                          const void *s)
{
    const uint64_t *a = w->x[p->r1];
    uint64_t imm = (uint64_t)(int64_t)p->imm, at;
    enum mxgpu_fault fault;
    Place to[LANES][2];

    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);
        uint64_t va = a[i] + imm;

        /* Windows have no pages that may be missing: what is not in one is
         * found out by trying. */
        to[i][0].len = 0;
        if (va >= MXGPU_VA_LIMIT && !in_shared(w, va, size)) {
            continue;
        }
        fault = locate(cu, w, va, size, to[i], &at);
        if (fault != MXGPU_FAULT_NONE) {
            mxgpu_simt_fault_at(cu, w, i, fault, MXGPU_ACCESS_WRITE, at, pc);
            return false;
        }
    }
    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);
        const uint8_t *from = (const uint8_t *)s + i * size;

        at = a[i] + imm;
        if (!to[i][0].len) {
            fault = mxgpu_simt_write(cu, w, i, at, from, size, &at);
        } else {
            fault = store_part(cu, &to[i][0], from);
            if (fault == MXGPU_FAULT_NONE && to[i][1].len) {
                at += to[i][0].len;
                fault = store_part(cu, &to[i][1], from + to[i][0].len);
            }
        }
        if (fault != MXGPU_FAULT_NONE) {
            mxgpu_simt_fault_at(cu, w, i, fault, MXGPU_ACCESS_WRITE, at, pc);
            return false;
        }
    }
    return true;
}
