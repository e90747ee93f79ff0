/* SPDX-License-Identifier: MIT */
/*
 * Copy engines. A step moves one chunk; between chunks an engine sees aborts,
 * invalidations and holds. Each side keeps the translation of the run it is
 * in: whole pages where the host has pointers to them, so that large pages
 * move at the speed of memmove().
 */
#include "internal.h"

#include <stdlib.h>

#define CHUNK   (1u << 20)
#define BUF_SIZE 4096u
_Static_assert(BUF_SIZE == 1u << MXGPU_PAGE_SHIFT, "pieces by DMA fit a page");

bool mxgpu_copy_init(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < dev->config.copy_engines; i++) {
        dev->ce[i].buf = malloc(BUF_SIZE);
        if (!dev->ce[i].buf) {
            return false;
        }
        mxgpu_mmu_client_add(dev->mmu, &dev->ce[i].client);
    }
    return true;
}

void mxgpu_copy_free(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < dev->config.copy_engines; i++) {
        if (dev->ce[i].client.mmu) {
            mxgpu_mmu_client_remove(&dev->ce[i].client);
        }
        free(dev->ce[i].buf);
    }
}

void mxgpu_copy_reset(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < dev->config.copy_engines; i++) {
        MxgpuCopyEngine *ce = &dev->ce[i];

        atomic_store(&ce->abort, false);
        ce->size = ce->done = 0;
        ce->tlb[0].valid = ce->tlb[1].valid = false;
    }
    atomic_store(&dev->copy_pending, 0);
}

/* Registers of engine i. */
static uint32_t *ce_reg(MxgpuDevice *dev, uint32_t reg, unsigned i)
{
    return mxgpu_reg(dev, reg + i * MXGPU_CE_CTRL_STRIDE);
}

static uint64_t ce_reg64(MxgpuDevice *dev, uint32_t reg, unsigned i)
{
    return mxgpu_reg64(dev, reg + i * MXGPU_CE_CTRL_STRIDE);
}

/* Under the lock. */
static void ce_finish(MxgpuDevice *dev, unsigned i, enum mxgpu_fault fault,
                      bool write, uint64_t addr)
{
    uint32_t state =
        fault == MXGPU_FAULT_NONE ? MXGPU_UNIT_DONE : MXGPU_UNIT_FAULT;

    *ce_reg(dev, MXGPU_CE_STATUS, i) =
        MXGPU_SET(MXGPU_CE_STATUS_STATE, state) |
        MXGPU_SET(MXGPU_CE_STATUS_FAULT, fault) |
        MXGPU_SET(MXGPU_CE_STATUS_WRITE, write);
    mxgpu_set_reg64(dev, MXGPU_CE_FAULT_LO + i * MXGPU_CE_CTRL_STRIDE, addr);
    mxgpu_err_fault(dev, fault, write ? MXGPU_ACCESS_WRITE : MXGPU_ACCESS_READ,
                    addr);
    if (fault == MXGPU_FAULT_NONE) {
        mxgpu_count(dev, MXGPU_COUNTER_COPIES, 1);
    }
    mxgpu_out_trace(dev, MXGPU_TRACE_COPY_END, i, fault);
    atomic_fetch_or(&dev->copy_pending, 1u << i);
    mxgpu_wake(dev, MXGPU_UNIT_MCU);
}

static bool pattern_size_ok(unsigned size)
{
    return size >= 1 && size <= 16 && (size & (size - 1)) == 0;
}

/* Takes the operation from the registers; false when it is impossible. */
static bool ce_load(MxgpuDevice *dev, unsigned i)
{
    MxgpuCopyEngine *ce = &dev->ce[i];
    uint32_t cfg = *ce_reg(dev, MXGPU_CE_CFG, i);

    ce->op = MXGPU_GET(MXGPU_CE_CFG_OP, cfg);
    ce->vmid = MXGPU_GET(MXGPU_CE_CFG_VMID, cfg);
    ce->src = ce_reg64(dev, MXGPU_CE_SRC_LO, i);
    ce->dst = ce_reg64(dev, MXGPU_CE_DST_LO, i);
    ce->size = ce_reg64(dev, MXGPU_CE_SIZE_LO, i);
    ce->done = 0;
    ce->tlb[0].valid = ce->tlb[1].valid = false;
    atomic_store(&ce->abort, false);
    if (ce->op == MXGPU_COPY_LINEAR) {
        return true;
    }
    ce->pattern_size = MXGPU_GET(MXGPU_CE_CFG_PATTERN_SIZE, cfg);
    memcpy(ce->pattern, ce_reg(dev, MXGPU_CE_PATTERN, i), sizeof(ce->pattern));
    return ce->op == MXGPU_COPY_FILL && pattern_size_ok(ce->pattern_size) &&
           ce->size % ce->pattern_size == 0 && ce->dst % ce->pattern_size == 0;
}

void mxgpu_ce_ctrl_write(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value)
{
    uint32_t *status = ce_reg(dev, MXGPU_CE_STATUS, a->index);
    uint32_t state = MXGPU_GET(MXGPU_CE_STATUS_STATE, *status);

    if (MXGPU_GET(MXGPU_CE_CTRL_ACK, value) &&
        (state == MXGPU_UNIT_DONE || state == MXGPU_UNIT_FAULT)) {
        *status = state = MXGPU_UNIT_IDLE;
        atomic_fetch_and(&dev->copy_pending, ~(1u << a->index));
    }
    if (MXGPU_GET(MXGPU_CE_CTRL_START, value) && state == MXGPU_UNIT_IDLE) {
        mxgpu_out_trace(dev, MXGPU_TRACE_COPY_START, a->index,
                        ce_reg64(dev, MXGPU_CE_SIZE_LO, a->index));
        if (!ce_load(dev, a->index)) {
            ce_finish(dev, a->index, MXGPU_FAULT_CONFIG, false, 0);
            return;
        }
        *status = state = MXGPU_UNIT_BUSY;
        mxgpu_wake(dev, MXGPU_UNIT_COPY + a->index);
    }
    if (MXGPU_GET(MXGPU_CE_CTRL_ABORT, value) && state == MXGPU_UNIT_BUSY) {
        atomic_store(&dev->ce[a->index].abort, true);
    }
}

/*
 * Makes tlb hold the run that va lies in, and returns the bytes from va to its
 * end, at most len. A run is what one host pointer covers, or a 4 KiB page.
 */
static enum mxgpu_fault ce_run(MxgpuDevice *dev, MxgpuCopyEngine *ce,
                               MxgpuCopyTlb *tlb, uint64_t va, bool write,
                               uint64_t *len)
{
    uint64_t size, left;
    enum mxgpu_fault fault;

    if (!tlb->valid ||
        (va ^ tlb->base) >> tlb->t.granule_shift != 0) {
        mxgpu_count(dev, MXGPU_COUNTER_TLB_MISSES, 1);
        tlb->valid = false;
        fault = mxgpu_mmu_translate(dev->mmu, ce->vmid, va,
                                    write ? MXGPU_ACCESS_WRITE
                                          : MXGPU_ACCESS_READ,
                                    &tlb->t);
        if (fault != MXGPU_FAULT_NONE) {
            return fault;
        }
        size = 1ull << tlb->t.granule_shift;
        tlb->base = va & ~(size - 1);
        tlb->t.addr &= ~(size - 1);
        if (tlb->t.host) {
            tlb->t.host -= va - tlb->base;
        }
        tlb->valid = true;
    }
    size = 1ull << tlb->t.granule_shift;
    left = size - (va - tlb->base);
    *len = *len < left ? *len : left;
    return MXGPU_FAULT_NONE;
}

/* The part of a run that starts at va. */
static MxgpuTranslation tlb_at(const MxgpuCopyTlb *tlb, uint64_t va)
{
    MxgpuTranslation t = tlb->t;

    t.addr += va - tlb->base;
    if (t.host) {
        t.host += va - tlb->base;
    }
    return t;
}

/* What moving one piece came to. */
typedef struct Piece {
    uint64_t len;
    enum mxgpu_fault fault;
    bool write;
    uint64_t addr;
} Piece;

static Piece copy_piece(MxgpuDevice *dev, MxgpuCopyEngine *ce, uint64_t max)
{
    uint64_t src = ce->src + ce->done, dst = ce->dst + ce->done;
    Piece p = {.len = max, .addr = src};
    MxgpuTranslation from, to;

    p.fault = ce_run(dev, ce, &ce->tlb[0], src, false, &p.len);
    if (p.fault != MXGPU_FAULT_NONE) {
        return p;
    }
    p.fault = ce_run(dev, ce, &ce->tlb[1], dst, true, &p.len);
    if (p.fault != MXGPU_FAULT_NONE) {
        p.write = true;
        p.addr = dst;
        return p;
    }
    from = tlb_at(&ce->tlb[0], src);
    to = tlb_at(&ce->tlb[1], dst);
    if (from.host && to.host) {
        memmove(to.host, from.host, p.len);
        return p;
    }
    /* Without two pointers, a page at most: through the buffer. */
    p.len = p.len < BUF_SIZE ? p.len : BUF_SIZE;
    p.fault = mxgpu_mmu_read(dev->mmu, &from, ce->buf, p.len);
    if (p.fault == MXGPU_FAULT_NONE) {
        p.fault = mxgpu_mmu_write(dev->mmu, &to, ce->buf, p.len);
        p.write = true;
        p.addr = dst;
    }
    return p;
}

static Piece fill_piece(MxgpuDevice *dev, MxgpuCopyEngine *ce, uint64_t max)
{
    uint64_t dst = ce->dst + ce->done;
    Piece p = {.len = max, .write = true, .addr = dst};
    MxgpuTranslation to;

    p.fault = ce_run(dev, ce, &ce->tlb[1], dst, true, &p.len);
    if (p.fault != MXGPU_FAULT_NONE) {
        return p;
    }
    to = tlb_at(&ce->tlb[1], dst);
    if (to.host && ce->pattern_size == 1) {
        memset(to.host, ce->pattern[0], p.len);
    } else if (to.host) {
        /* Runs and buffers hold whole patterns, by their alignment. */
        for (uint64_t at = 0; at < p.len; at += BUF_SIZE) {
            uint64_t n = p.len - at < BUF_SIZE ? p.len - at : BUF_SIZE;

            memcpy(to.host + at, ce->buf, n);
        }
    } else {
        p.len = p.len < BUF_SIZE ? p.len : BUF_SIZE;
        p.fault = mxgpu_mmu_write(dev->mmu, &to, ce->buf, p.len);
    }
    return p;
}

static bool is_busy(MxgpuDevice *dev, unsigned i)
{
    bool busy;

    mxgpu_lock(dev);
    busy = MXGPU_GET(MXGPU_CE_STATUS_STATE, *ce_reg(dev, MXGPU_CE_STATUS, i)) ==
           MXGPU_UNIT_BUSY;
    mxgpu_unlock(dev);
    return busy;
}

bool mxgpu_copy_step(void *opaque, unsigned index, unsigned budget,
                     uint64_t *deadline)
{
    MxgpuDevice *dev = opaque;
    MxgpuCopyEngine *ce = &dev->ce[index];
    uint64_t left = CHUNK, start;
    Piece p = {0};

    if (!is_busy(dev, index)) {
        return false;
    }
    start = ce->done;
    if (mxgpu_mmu_client_begin(&ce->client)) {
        ce->tlb[0].valid = ce->tlb[1].valid = false;
    }
    if (ce->op == MXGPU_COPY_FILL) {
        for (unsigned i = 0; i < BUF_SIZE; i += ce->pattern_size) {
            memcpy(ce->buf + i, ce->pattern, ce->pattern_size);
        }
    }
    while (left && ce->done < ce->size && p.fault == MXGPU_FAULT_NONE) {
        uint64_t max = ce->size - ce->done;

        if (atomic_load_explicit(&ce->abort, memory_order_relaxed)) {
            p = (Piece){.fault = MXGPU_FAULT_ABORTED};
            break;
        }
        if (mxgpu_mmu_client_poll(&ce->client)) {
            ce->tlb[0].valid = ce->tlb[1].valid = false;
        }
        max = max < left ? max : left;
        p = ce->op == MXGPU_COPY_FILL ? fill_piece(dev, ce, max)
                                      : copy_piece(dev, ce, max);
        if (p.fault == MXGPU_FAULT_NONE) {
            ce->done += p.len;
            left -= p.len;
        }
    }
    mxgpu_mmu_client_end(&ce->client);
    mxgpu_count(dev, MXGPU_COUNTER_COPY_BYTES, ce->done - start);
    if (p.fault == MXGPU_FAULT_NONE && ce->done < ce->size) {
        return true;
    }
    mxgpu_lock(dev);
    if (p.fault == MXGPU_FAULT_NONE) {
        p.addr = 0;
        p.write = false;
    }
    ce_finish(dev, index, p.fault, p.write, p.addr);
    mxgpu_unlock(dev);
    return false;
}
