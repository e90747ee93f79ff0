/* SPDX-License-Identifier: MIT */
/*
 * Copy engines. A step moves one chunk in pieces; between pieces an engine sees
 * aborts, invalidations and holds. Every operation is a box of rows; a linear
 * one has a single row. Each side keeps the translation of the run it is in:
 * whole pages where the host has pointers to them, so that large pages move at
 * the speed of memmove().
 */
#include "internal.h"

#include <stdlib.h>

#include "mxgpu/rect.h"

/*
 * What a step may cost, in bytes moved. A piece that moves little, and what
 * asks the MMU or the bus, costs as much as the bytes that could have been
 * moved meanwhile: at most 1 MiB, 4096 pieces or 512 questions are one step.
 */
#define CHUNK      (1u << 20)
#define PIECE_COST 256u
#define PIECE_MAX  (64u << 10) /* somebody may wait for its end */
#define ASK_COST   2048u

#define BUF_SIZE     4096u
#define PATTERN_SIZE ((unsigned)sizeof(((MxgpuCopyEngine *)0)->pattern))
_Static_assert(BUF_SIZE == 1u << MXGPU_PAGE_SHIFT, "pieces by DMA fit a page");

bool mxgpu_copy_init(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < dev->config.copy_engines; i++) {
        /* A step of a fill may begin anywhere in the pattern. */
        dev->ce[i].buf = malloc(BUF_SIZE + PATTERN_SIZE);
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

static void forget_runs(MxgpuCopyEngine *ce)
{
    ce->src.tlb.valid = ce->dst.tlb.valid = false;
}

void mxgpu_copy_reset(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < dev->config.copy_engines; i++) {
        MxgpuCopyEngine *ce = &dev->ce[i];

        atomic_store(&ce->abort, false);
        ce->depth = ce->z = 0;
        ce->parked = MXGPU_COPY_RUNS;
        forget_runs(ce);
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
    mxgpu_set_reg64(dev, MXGPU_CE_DONE_LO + i * MXGPU_CE_CTRL_STRIDE,
                    dev->ce[i].done);
    mxgpu_err_fault(dev, fault, write ? MXGPU_ACCESS_WRITE : MXGPU_ACCESS_READ,
                    addr);
    if (fault == MXGPU_FAULT_NONE) {
        mxgpu_count(dev, MXGPU_COUNTER_COPIES, 1);
    }
    mxgpu_out_trace(dev, MXGPU_TRACE_COPY_END, i, fault);
    atomic_fetch_or(&dev->copy_pending, 1u << i);
    mxgpu_wake(dev, MXGPU_STEPPER_MCU);
}

static bool pattern_size_ok(unsigned size)
{
    return size >= 1 && size <= 16 && (size & (size - 1)) == 0;
}

/* The pattern, over and over. */
static void repeat_pattern(MxgpuCopyEngine *ce)
{
    for (unsigned at = 0; at < BUF_SIZE + PATTERN_SIZE; at += PATTERN_SIZE) {
        memcpy(ce->buf + at, ce->pattern, PATTERN_SIZE);
    }
}

static void load_pattern(MxgpuDevice *dev, unsigned i, unsigned size)
{
    MxgpuCopyEngine *ce = &dev->ce[i];

    for (unsigned at = 0; at < PATTERN_SIZE; at += size) {
        memcpy(ce->pattern + at, ce_reg(dev, MXGPU_CE_PATTERN, i), size);
    }
    repeat_pattern(ce);
}

/* One row of SIZE bytes. */
static bool load_linear(MxgpuDevice *dev, unsigned i)
{
    MxgpuCopyEngine *ce = &dev->ce[i];
    unsigned n = MXGPU_GET(MXGPU_CE_CFG_PATTERN_SIZE,
                           *ce_reg(dev, MXGPU_CE_CFG, i));

    ce->height = 1;
    ce->depth = ce->width ? 1 : 0;
    if (!ce->fill) {
        return true;
    }
    if (!pattern_size_ok(n) || ce->width % n || ce->dst.row % n) {
        return false;
    }
    load_pattern(dev, i, n);
    return true;
}

static bool load_side(MxgpuDevice *dev, unsigned i, MxgpuCopySide *side,
                      uint32_t pitch_reg, uint32_t slice_reg)
{
    const MxgpuCopyEngine *ce = &dev->ce[i];
    uint32_t slice = *ce_reg(dev, slice_reg, i);
    uint64_t reach;

    side->pitch = *ce_reg(dev, pitch_reg, i);
    /* From the last row of a slice to the first row of the next. With a single
     * slice the subtraction may wrap, but the value is not used. */
    side->slice_step = (uint64_t)(slice - (ce->height - 1)) * side->pitch;
    return mxgpu_rect_reach(ce->width, ce->height, ce->depth,
                            (uint32_t)side->pitch, slice,
                            &reach) == MXGPU_RECT_OK &&
           side->row + reach >= side->row;
}

static bool load_rect(MxgpuDevice *dev, unsigned i)
{
    MxgpuCopyEngine *ce = &dev->ce[i];

    ce->height = *ce_reg(dev, MXGPU_CE_HEIGHT, i);
    ce->depth = *ce_reg(dev, MXGPU_CE_DEPTH, i);
    if (!ce->width || !ce->height) {
        ce->depth = 0;
    }
    if (!load_side(dev, i, &ce->dst, MXGPU_CE_DST_PITCH, MXGPU_CE_DST_SLICE) ||
        (!ce->fill && !load_side(dev, i, &ce->src, MXGPU_CE_SRC_PITCH,
                                 MXGPU_CE_SRC_SLICE))) {
        return false;
    }
    if (ce->fill) {
        load_pattern(dev, i, PATTERN_SIZE);
    }
    return true;
}

/* Takes the operation from the registers; false when it is impossible. */
static bool ce_load(MxgpuDevice *dev, unsigned i)
{
    MxgpuCopyEngine *ce = &dev->ce[i];
    uint32_t cfg = *ce_reg(dev, MXGPU_CE_CFG, i);
    uint32_t op = MXGPU_GET(MXGPU_CE_CFG_OP, cfg);

    ce->fill = op == MXGPU_COPY_FILL || op == MXGPU_COPY_FILL_RECT;
    ce->vmid = MXGPU_GET(MXGPU_CE_CFG_VMID, cfg);
    ce->recover = MXGPU_GET(MXGPU_CE_CFG_RECOVER, cfg);
    ce->queue = *ce_reg(dev, MXGPU_CE_QUEUE, i);
    ce->parked = MXGPU_COPY_RUNS;
    ce->src.row = ce_reg64(dev, MXGPU_CE_SRC_LO, i);
    ce->dst.row = ce_reg64(dev, MXGPU_CE_DST_LO, i);
    ce->width = ce_reg64(dev, MXGPU_CE_SIZE_LO, i);
    ce->x = ce->done = 0;
    ce->y = ce->z = 0;
    forget_runs(ce);
    atomic_store(&ce->abort, false);
    switch (op) {
    case MXGPU_COPY_LINEAR:
    case MXGPU_COPY_FILL:
        return load_linear(dev, i);
    case MXGPU_COPY_RECT:
    case MXGPU_COPY_FILL_RECT:
        return load_rect(dev, i);
    default:
        return false;
    }
}

/* Bytes and rows of a small operation, which takes less time than waking the
 * thread of its engine. */
#define INLINE_BYTES (128u << 10)
#define INLINE_ROWS  16u

static bool runs_inline(const MxgpuDevice *dev, const MxgpuCopyEngine *ce)
{
    return !dev->config.deterministic && ce->width <= INLINE_BYTES &&
           ce->height <= INLINE_ROWS && ce->depth <= INLINE_ROWS &&
           ce->width * ce->height * ce->depth <= INLINE_BYTES;
}

static void start(MxgpuDevice *dev, unsigned i)
{
    if (runs_inline(dev, &dev->ce[i])) {
        atomic_fetch_or(&dev->copy_inline, 1u << i);
        mxgpu_wake(dev, MXGPU_STEPPER_MCU);
    } else {
        mxgpu_wake(dev, MXGPU_STEPPER_COPY + i);
    }
}

void mxgpu_copy_inline(MxgpuDevice *dev)
{
    uint32_t todo = 0;

    if (atomic_load_explicit(&dev->copy_inline, memory_order_relaxed)) {
        todo = atomic_exchange(&dev->copy_inline, 0);
    }
    for (; todo; todo &= todo - 1) {
        unsigned i = (unsigned)__builtin_ctz(todo);

        mxgpu_stepper_run(&dev->steppers[MXGPU_STEPPER_COPY + i]);
    }
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
        start(dev, a->index);
    }
    if (MXGPU_GET(MXGPU_CE_CTRL_ABORT, value) && state == MXGPU_UNIT_BUSY) {
        atomic_store(&dev->ce[a->index].abort, true);
        mxgpu_wake(dev, MXGPU_STEPPER_COPY + a->index); /* it may be parked */
    }
}

/* What moving one piece came to. */
typedef struct Piece {
    uint64_t len;
    enum mxgpu_fault fault;
    bool write;
    uint64_t addr;
    unsigned asked; /* questions to the MMU or the bus */
} Piece;

/*
 * Makes the side's TLB hold the run that contains its next byte, sets *t to the
 * translation of that byte, and shortens the piece to the end of the run. A run
 * is what one host pointer covers, or a 4 KiB page.
 */
static bool ce_run(MxgpuDevice *dev, MxgpuCopyEngine *ce, MxgpuCopySide *side,
                   Piece *p, MxgpuTranslation *t)
{
    MxgpuCopyTlb *tlb = &side->tlb;
    uint64_t va = side->row + ce->x, size, left;

    p->write = side == &ce->dst;
    p->addr = va;
    if (!tlb->valid ||
        (va ^ tlb->base) >> tlb->t.granule_shift != 0) {
        mxgpu_count(dev, MXGPU_COUNTER_TLB_MISSES, 1);
        p->asked++;
        tlb->valid = false;
        p->fault = mxgpu_mmu_translate(dev->mmu, ce->vmid, va,
                                       p->write ? MXGPU_ACCESS_WRITE
                                                : MXGPU_ACCESS_READ,
                                       &tlb->t);
        if (p->fault != MXGPU_FAULT_NONE) {
            return false;
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
    p->len = p->len < left ? p->len : left;
    *t = tlb->t;
    t->addr += va - tlb->base;
    if (t->host) {
        t->host += va - tlb->base;
    }
    return true;
}

static void copy_piece(MxgpuDevice *dev, MxgpuCopyEngine *ce, Piece *p)
{
    MxgpuTranslation from, to;

    if (!ce_run(dev, ce, &ce->src, p, &from) ||
        !ce_run(dev, ce, &ce->dst, p, &to)) {
        return;
    }
    if (from.host && to.host) {
        memmove(to.host, from.host, p->len);
        return;
    }
    /* Where one side has no host pointer: a page at most, through the
     * buffer. */
    p->len = p->len < BUF_SIZE ? p->len : BUF_SIZE;
    p->asked++;
    p->fault = mxgpu_mmu_read(dev->mmu, &from, ce->buf, p->len);
    if (p->fault != MXGPU_FAULT_NONE) {
        p->write = false;
        p->addr = ce->src.row + ce->x;
        return;
    }
    p->fault = mxgpu_mmu_write(dev->mmu, &to, ce->buf, p->len);
}

static void fill_piece(MxgpuDevice *dev, MxgpuCopyEngine *ce, Piece *p)
{
    /* The buffer holds whole patterns. */
    const uint8_t *pattern = ce->buf + ce->x % PATTERN_SIZE;
    MxgpuTranslation to;

    if (!ce_run(dev, ce, &ce->dst, p, &to)) {
        return;
    }
    if (!to.host) {
        p->len = p->len < BUF_SIZE ? p->len : BUF_SIZE;
        p->asked++;
        p->fault = mxgpu_mmu_write(dev->mmu, &to, pattern, p->len);
        return;
    }
    for (uint64_t at = 0; at < p->len; at += BUF_SIZE) {
        uint64_t n = p->len - at < BUF_SIZE ? p->len - at : BUF_SIZE;

        memcpy(to.host + at, pattern, n);
    }
}

static void advance(MxgpuCopyEngine *ce, uint64_t len)
{
    ce->done += len;
    ce->x += len;
    if (ce->x < ce->width) {
        return;
    }
    ce->x = 0;
    if (++ce->y < ce->height) {
        ce->src.row += ce->src.pitch;
        ce->dst.row += ce->dst.pitch;
        return;
    }
    ce->y = 0;
    ce->z++;
    ce->src.row += ce->src.slice_step;
    ce->dst.row += ce->dst.slice_step;
}

static void tell_written(MxgpuDevice *dev, const MxgpuCopyEngine *ce,
                         uint64_t len)
{
    const MxgpuObserver *o = dev->config.observer;

    if (__builtin_expect(o && o->written, 0)) {
        o->written(dev->config.observer_opaque, ce->vmid, ce->dst.row + ce->x,
                   len);
    }
}

/* Moves as much as a step may, and at least one piece; returns the fault of the
 * last piece. When *held becomes true somebody waits for the step's end. */
static Piece move(MxgpuDevice *dev, MxgpuCopyEngine *ce,
                  const _Atomic bool *held)
{
    uint64_t left = CHUNK, cost;
    Piece p = {0};

    while (left && ce->z < ce->depth) {
        if (atomic_load_explicit(&ce->abort, memory_order_relaxed)) {
            return (Piece){.fault = MXGPU_FAULT_ABORTED};
        }
        if (mxgpu_mmu_client_poll(&ce->client)) {
            forget_runs(ce);
        }
        p = (Piece){.len = ce->width - ce->x};
        p.len = p.len < left ? p.len : left;
        p.len = p.len < PIECE_MAX ? p.len : PIECE_MAX;
        if (ce->fill) {
            fill_piece(dev, ce, &p);
        } else {
            copy_piece(dev, ce, &p);
        }
        if (p.fault != MXGPU_FAULT_NONE) {
            return p;
        }
        tell_written(dev, ce, p.len);
        advance(ce, p.len);
        cost = (p.len > PIECE_COST ? p.len : PIECE_COST) + p.asked * ASK_COST;
        left -= cost < left ? cost : left;
        if (atomic_load_explicit(held, memory_order_relaxed)) {
            break;
        }
    }
    return (Piece){0};
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

/* ---- recoverable faults */

static void show_parked(MxgpuDevice *dev, unsigned i, bool parked)
{
    uint32_t *status = ce_reg(dev, MXGPU_CE_STATUS, i);
    uint32_t bit = MXGPU_SET(MXGPU_CE_STATUS_PARKED, 1);

    mxgpu_lock(dev);
    *status = parked ? *status | bit : *status & ~bit;
    mxgpu_unlock(dev);
}

/* The engine stops in front of the access that faulted. */
static void park(MxgpuDevice *dev, unsigned i, const Piece *p)
{
    MxgpuCopyEngine *ce = &dev->ce[i];

    ce->parked = MXGPU_COPY_FAULTED;
    ce->fault = p->fault;
    ce->write = p->write;
    ce->fault_addr = p->addr;
    show_parked(dev, i, true);
}

static bool parks(const MxgpuCopyEngine *ce, const Piece *p)
{
    return ce->recover && (p->fault == MXGPU_FAULT_NOT_PRESENT ||
                           p->fault == MXGPU_FAULT_PERMISSION);
}

static bool report(MxgpuDevice *dev, unsigned i)
{
    MxgpuCopyEngine *ce = &dev->ce[i];
    struct mxgpu_fault_record record = {
        .source = MXGPU_FAULT_COPY,
        .fault = ce->fault,
        .access = ce->write ? MXGPU_ACCESS_WRITE : MXGPU_ACCESS_READ,
        .vmid = ce->vmid,
        .addr = ce->fault_addr,
        .done = ce->done,
        .queue = ce->queue,
        .unit = i,
    };

    if (!mxgpu_fault_report(dev, &record)) {
        return false;
    }
    ce->sequence = record.sequence;
    ce->parked = MXGPU_COPY_REPORTED;
    return true;
}

/* Whether the engine goes on; *fault is set when it does only to end with that
 * fault. */
static bool unparks(MxgpuDevice *dev, unsigned i, Piece *fault)
{
    MxgpuCopyEngine *ce = &dev->ce[i];
    MxgpuVerdict verdict = MXGPU_VERDICT_REPLAY;

    if (atomic_load(&ce->abort)) {
        if (ce->parked == MXGPU_COPY_REPORTED) {
            mxgpu_fault_release(dev, ce->sequence);
        }
    } else if (ce->parked == MXGPU_COPY_FAULTED && !report(dev, i)) {
        return false;
    } else {
        verdict = mxgpu_fault_verdict(dev, ce->sequence);
    }
    if (verdict == MXGPU_VERDICT_NONE) {
        return false;
    }
    if (verdict == MXGPU_VERDICT_KILL) {
        *fault = (Piece){.fault = ce->fault, .write = ce->write,
                         .addr = ce->fault_addr};
    }
    ce->parked = MXGPU_COPY_RUNS;
    show_parked(dev, i, false);
    return true;
}

/* A step of an engine that is a client of the MMU; false: it waits for
 * software. */
static bool step(MxgpuDevice *dev, unsigned i, Piece *p)
{
    MxgpuCopyEngine *ce = &dev->ce[i];

    *p = (Piece){0};
    if (ce->parked && !unparks(dev, i, p)) {
        return false;
    }
    if (p->fault != MXGPU_FAULT_NONE) {
        return true;
    }
    *p = move(dev, ce, &dev->steppers[MXGPU_STEPPER_COPY + i].held);
    if (!parks(ce, p)) {
        return true;
    }
    park(dev, i, p);
    (void)report(dev, i);
    /* The verdict may have come before the record's number was stored here. */
    mxgpu_wake(dev, MXGPU_STEPPER_COPY + i);
    return false;
}

bool mxgpu_copy_step(void *opaque, unsigned index, unsigned budget,
                     uint64_t *deadline)
{
    MxgpuDevice *dev = opaque;
    MxgpuCopyEngine *ce = &dev->ce[index];
    uint64_t before, began;
    bool parked;
    Piece p;

    if (!is_busy(dev, index)) {
        return false;
    }
    before = ce->done;
    began = mxgpu_now(dev);
    if (mxgpu_mmu_client_begin(&ce->client)) {
        forget_runs(ce);
    }
    parked = !step(dev, index, &p);
    mxgpu_mmu_client_end(&ce->client);
    mxgpu_count(dev, MXGPU_COUNTER_COPY_BYTES, ce->done - before);
    atomic_fetch_add_explicit(&dev->copy_ns[ce->vmid], mxgpu_now(dev) - began,
                              memory_order_relaxed);
    if (parked) {
        return false;
    }
    if (p.fault == MXGPU_FAULT_NONE && ce->z < ce->depth) {
        return true;
    }
    mxgpu_lock(dev);
    ce_finish(dev, index, p.fault, p.write, p.addr);
    mxgpu_unlock(dev);
    return false;
}

/* ---- state */

static void visit_side(MxgpuVisit *v, MxgpuCopySide *side)
{
    VISIT(v, side->row);
    VISIT(v, side->pitch);
    VISIT(v, side->slice_step);
}

static void visit_parked(MxgpuVisit *v, MxgpuCopyEngine *ce)
{
    VISIT_BOOL(v, ce->recover);
    VISIT(v, ce->queue);
    VISIT_BELOW(v, ce->parked, MXGPU_COPY_PARKED);
    if (!ce->parked) {
        return;
    }
    VISIT(v, ce->fault);
    VISIT_BOOL(v, ce->write);
    VISIT(v, ce->fault_addr);
    VISIT(v, ce->sequence);
    visit_check(v, ce->recover && (ce->fault == MXGPU_FAULT_NOT_PRESENT ||
                                   ce->fault == MXGPU_FAULT_PERMISSION));
}

void mxgpu_copy_each_parked(MxgpuDevice *dev,
                            void (*fn)(void *opaque, uint32_t sequence),
                            void *opaque)
{
    for (unsigned i = 0; i < dev->config.copy_engines; i++) {
        if (dev->ce[i].parked == MXGPU_COPY_REPORTED) {
            fn(opaque, dev->ce[i].sequence);
        }
    }
}

void mxgpu_copy_visit(MxgpuDevice *dev, unsigned i, MxgpuVisit *v)
{
    MxgpuCopyEngine *ce = &dev->ce[i];

    if (MXGPU_GET(MXGPU_CE_STATUS_STATE, *ce_reg(dev, MXGPU_CE_STATUS, i)) !=
        MXGPU_UNIT_BUSY) {
        return;
    }
    VISIT_BOOL(v, ce->abort);
    VISIT_BOOL(v, ce->fill);
    VISIT_BELOW(v, ce->vmid, MXGPU_NUM_VMIDS);
    VISIT(v, ce->width);
    VISIT(v, ce->height);
    VISIT(v, ce->depth);
    VISIT(v, ce->x);
    VISIT(v, ce->y);
    VISIT(v, ce->z);
    VISIT(v, ce->done);
    visit_side(v, &ce->src);
    visit_side(v, &ce->dst);
    visit_bytes(v, ce->pattern, sizeof(ce->pattern));
    visit_parked(v, ce);
    visit_check(v, ce->z <= ce->depth &&
                       (!ce->depth || (ce->x < ce->width &&
                                       ce->y < ce->height)));
    repeat_pattern(ce);
}

void mxgpu_copy_forget(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < dev->config.copy_engines; i++) {
        MxgpuCopyEngine *ce = &dev->ce[i];

        memset(&ce->src.tlb, 0xff, sizeof(ce->src.tlb));
        memset(&ce->dst.tlb, 0xff, sizeof(ce->dst.tlb));
        forget_runs(ce);
        memset(ce->buf, 0xff, BUF_SIZE + PATTERN_SIZE);
        repeat_pattern(ce);
    }
}
