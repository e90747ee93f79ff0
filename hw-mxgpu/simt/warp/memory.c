/* SPDX-License-Identifier: MIT */
/*
 * Memory accesses of single lanes, and loading of translations. The lane loops
 * of simt/exec access what simt_span() finds; the rest comes here.
 */
#include "memory.h"

#include "budget.h"
#include "count.h"
#include "fault.h"
#include "warp.h"

#include <string.h>

void mxgpu_simt_drop_tlb(MxgpuCu *cu)
{
    memset(cu->c.large, 0xff, sizeof(cu->c.large));
    memset(cu->c.small, 0xff, sizeof(cu->c.small));
    cu->tlb_drops++;
}

static const enum mxgpu_access kind_access[KINDS] = {
    [KIND_READ] = MXGPU_ACCESS_READ,
    [KIND_WRITE] = MXGPU_ACCESS_WRITE,
    [KIND_ATOMIC] = MXGPU_ACCESS_ATOMIC,
};

static enum mxgpu_fault walk(MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind,
                             uint64_t va, MxgpuTranslation *t)
{
    enum mxgpu_fault fault =
        mxgpu_mmu_translate(cu->simt->config.mmu, w->c.vmid, va,
                            kind_access[kind], t);
    uint64_t page;
    SimtTlb *entry;

    simt_charge(cu, COST_WALK + COST_BUS * t->host_ops);
    if (fault != MXGPU_FAULT_NONE || !t->host) {
        return fault;
    }
    if (t->granule_shift >= MXGPU_LARGE_SHIFT) {
        page = va >> MXGPU_LARGE_SHIFT;
        entry = &cu->c.large[kind][page % TLB_LARGE];
    } else {
        page = va >> MXGPU_PAGE_SHIFT;
        entry = &cu->c.small[kind][page % TLB_SMALL];
    }
    entry->tag = page | w->c.vmid_tag;
    entry->add = (uintptr_t)t->host - va;
    return MXGPU_FAULT_NONE;
}

/* For a lane that goes there, whatever is there. */
static enum mxgpu_fault walk_for_lane(MxgpuCu *cu, const MxgpuWarp *w,
                                      SimtKind kind, uint64_t va,
                                      MxgpuTranslation *t)
{
    simt_count(cu, COUNT_tlb_misses, 1);
    return walk(cu, w, kind, va, t);
}

/* Where there is no memory lanes go one by one, and that is counted: who looks
 * before, and how often, is not. */
uintptr_t mxgpu_simt_fill(MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind,
                          uint64_t va, uint64_t len, enum mxgpu_fault *fault)
{
    MxgpuTranslation t;

    *fault = walk(cu, w, kind, va, &t);
    if (*fault != MXGPU_FAULT_NONE || !t.host) {
        return 0;
    }
    simt_count(cu, COUNT_tlb_misses, 1);
    return simt_span(cu, w, kind, va, len);
}

static void copy_private(const MxgpuWarp *w, unsigned lane, uint64_t va,
                         uint8_t *buf, unsigned len, bool write)
{
    while (len) {
        uint8_t *at = private_at(w, va) + 8 * lane;
        unsigned n = 8 - (va & 7);

        n = n < len ? n : len;
        mxgpu_copy_single(write ? at : buf, write ? buf : at, n, !write);
        va += n;
        buf += n;
        len -= n;
    }
}

/* An access to an address that page tables do not translate: in a window, or a
 * fault. */
static enum mxgpu_fault window(const MxgpuWarp *w, unsigned lane, uint64_t va,
                               uint8_t *buf, unsigned len, bool write)
{
    if (in_shared(w, va, len)) {
        uint8_t *at = w->c.shared + (va - MXGPU_SHARED_BASE);

        mxgpu_copy_single(write ? at : buf, write ? buf : at, len, !write);
        return MXGPU_FAULT_NONE;
    }
    if (in_private(w, va, len)) {
        copy_private(w, lane, va, buf, len, write);
        return MXGPU_FAULT_NONE;
    }
    return va >> (MXGPU_VA_BITS - 1) == UINT64_MAX >> (MXGPU_VA_BITS - 1)
               ? MXGPU_FAULT_WINDOW
               : MXGPU_FAULT_NON_CANONICAL;
}

unsigned mxgpu_simt_access_shift(unsigned op)
{
    switch (op) {
    case RV_LH:
    case RV_LHU:
    case RV_SH:
    case RV_FLH:
    case RV_FSH:
        return 1;
    case RV_LW:
    case RV_LWU:
    case RV_SW:
    case RV_FLW:
    case RV_FSW:
        return 2;
    case RV_LD:
    case RV_SD:
    case RV_FLD:
    case RV_FSD:
        return 3;
    default:
        return 0;
    }
}

bool mxgpu_simt_is_store(unsigned op)
{
    switch (op) {
    case RV_SB:
    case RV_SH:
    case RV_SW:
    case RV_SD:
    case RV_FSH:
    case RV_FSW:
    case RV_FSD:
        return true;
    default:
        return false;
    }
}

bool mxgpu_simt_aligned(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                        uint64_t pc, uint64_t mask)
{
    uint64_t low = (1ull << mxgpu_simt_access_shift(p->op)) - 1;
    uint64_t imm = (uint64_t)(int64_t)p->imm;

    if (w->form[p->r1] & FORM_LINE) {
        const SimtLine *l = &w->line[p->r1];

        if (!(((l->base + imm) | l->step | l->row) & low)) {
            return true;
        }
    }
    if (!(w->form[p->r1] & FORM_WIDE)) {
        mxgpu_warp_widen(w, p->r1);
    }
    for (; mask; mask &= mask - 1) {
        unsigned lane = __builtin_ctzll(mask);
        uint64_t va = w->x[p->r1][lane] + imm;

        if (va & low) {
            mxgpu_simt_fault_at(cu, w, lane, MXGPU_FAULT_MISALIGNED,
                                mxgpu_simt_is_store(p->op)
                                    ? MXGPU_ACCESS_WRITE
                                    : MXGPU_ACCESS_READ,
                                va, pc);
            return false;
        }
    }
    return true;
}

/* Memory that only this lane has: see MxgpuSimtConfig. */
static void *lane_memory(const MxgpuCu *cu, unsigned lane, uint64_t va,
                         unsigned len)
{
    const MxgpuSimtConfig *config = &cu->simt->config;

    return config->lane_memory
               ? config->lane_memory(config->opaque, lane, va, len)
               : NULL;
}

/* One access inside one page. */
static enum mxgpu_fault chunk(MxgpuCu *cu, const MxgpuWarp *w, uint64_t va,
                              uint8_t *buf, unsigned len, bool write)
{
    SimtKind kind = write ? KIND_WRITE : KIND_READ;
    uintptr_t at = simt_span(cu, w, kind, va, len);
    enum mxgpu_fault fault;
    MxgpuTranslation t;

    if (!at) {
        fault = walk_for_lane(cu, w, kind, va, &t);
        if (fault != MXGPU_FAULT_NONE) {
            return fault;
        }
        at = simt_span(cu, w, kind, va, len);
    }
    if (!at) { /* the bus has no memory there */
        simt_charge(cu, COST_DMA);
        return write ? mxgpu_mmu_write(cu->simt->config.mmu, &t, buf, len)
                     : mxgpu_mmu_read(cu->simt->config.mmu, &t, buf, len);
    }
    mxgpu_copy_single(write ? (void *)at : buf, write ? buf : (void *)at, len,
                      !write);
    return MXGPU_FAULT_NONE;
}

static enum mxgpu_fault access_lane(MxgpuCu *cu, MxgpuWarp *w, unsigned lane,
                                    uint64_t va, uint8_t *buf, unsigned len,
                                    bool write, uint64_t *fault_at)
{
    unsigned first = PAGE_BYTES - (va & (PAGE_BYTES - 1));
    uint8_t *own = lane_memory(cu, lane, va, len);
    enum mxgpu_fault fault;
    MxgpuTranslation t;

    *fault_at = va;
    if (own) {
        mxgpu_copy_single(write ? own : buf, write ? buf : own, len, !write);
        return MXGPU_FAULT_NONE;
    }
    if (va >= MXGPU_VA_LIMIT) {
        return window(w, lane, va, buf, len, write);
    }
    if (len <= first) {
        return chunk(cu, w, va, buf, len, write);
    }
    /* Nothing is written unless both pages can be. */
    *fault_at = va + first;
    if (va + first >= MXGPU_VA_LIMIT) {
        return MXGPU_FAULT_NON_CANONICAL;
    }
    fault = walk_for_lane(cu, w, write ? KIND_WRITE : KIND_READ, va + first, &t);
    if (fault == MXGPU_FAULT_NONE) {
        *fault_at = va;
        fault = chunk(cu, w, va, buf, first, write);
    }
    if (fault == MXGPU_FAULT_NONE) {
        *fault_at = va + first;
        fault = chunk(cu, w, va + first, buf + first, len - first, write);
    }
    return fault;
}

enum mxgpu_fault mxgpu_simt_read(MxgpuCu *cu, MxgpuWarp *w, unsigned lane,
                                 uint64_t va, void *buf, unsigned len,
                                 uint64_t *at)
{
    return access_lane(cu, w, lane, va, buf, len, false, at);
}

enum mxgpu_fault mxgpu_simt_write(MxgpuCu *cu, MxgpuWarp *w, unsigned lane,
                                  uint64_t va, const void *buf, unsigned len,
                                  uint64_t *at)
{
    uint8_t bytes[8];

    memcpy(bytes, buf, len);
    return access_lane(cu, w, lane, va, bytes, len, true, at);
}

uintptr_t mxgpu_simt_atomic_at(MxgpuCu *cu, MxgpuWarp *w, unsigned lane,
                               uint64_t va, unsigned len,
                               enum mxgpu_fault *fault)
{
    uintptr_t at;

    *fault = MXGPU_FAULT_MISALIGNED;
    if (va & (len - 1)) {
        return 0;
    }
    *fault = MXGPU_FAULT_NONE;
    at = simt_span(cu, w, KIND_ATOMIC, va, len);
    if (at) {
        return at;
    }
    if (in_private(w, va, len)) {
        return (uintptr_t)private_at(w, va) + 8 * lane;
    }
    if (va >= MXGPU_VA_LIMIT) {
        *fault = window(w, lane, va, NULL, len, false);
        return 0;
    }
    at = (uintptr_t)lane_memory(cu, lane, va, len);
    if (at) {
        return at;
    }
    at = mxgpu_simt_fill(cu, w, KIND_ATOMIC, va, len, fault);
    if (!at && *fault == MXGPU_FAULT_NONE) {
        *fault = MXGPU_FAULT_BUS; /* no atomics where there is no memory */
    }
    return at;
}
