/* SPDX-License-Identifier: MIT */
/*
 * Drives the compute units, and the dispatch slots' registers. Every worker
 * visits all units, starting at its share, and runs each that no other worker
 * has claimed: units with work are never idle while a worker is.
 */
#include "internal.h"

#include <stdlib.h>

static uint32_t cd_offset(uint32_t reg, unsigned slot)
{
    return reg + slot * MXGPU_CD_CTRL_STRIDE;
}

/*
 * Threads that wait help with dispatches that take no longer than waking a worker does:
 * what takes longer is handed over in the middle, which costs as much again. How long
 * one takes is known from the last one with that kernel and as many blocks; at first,
 * those with few threads are taken for short ones.
 */
#define LONG_NS      60000
#define LONG_THREADS 4096

static uint32_t took_key(const MxgpuDispatch *d)
{
    uint64_t key = d->entry;

    for (unsigned i = 0; i < 3; i++) {
        key = (key ^ d->grid[i]) * 0x9e3779b97f4a7c15ull;
    }
    return key >> 32;
}

static uint64_t num_threads(const MxgpuDispatch *d)
{
    uint64_t n = (uint64_t)d->block[0] * d->block[1] * d->block[2];

    for (unsigned i = 0; i < 3; i++) {
        n = n > UINT32_MAX ? n : n * d->grid[i];
    }
    return n;
}

/* Under the lock, as it begins. */
static bool takes_long(MxgpuDevice *dev, unsigned slot, const MxgpuDispatch *d)
{
    uint32_t key = dev->took_by[slot] = took_key(d);
    const MxgpuTook *t = &dev->took[key % MXGPU_TOOK];

    return t->key == key ? t->longer : num_threads(d) > LONG_THREADS;
}

/* Under the lock, at its end. */
static void note_time(MxgpuDevice *dev, unsigned slot, uint64_t now)
{
    uint64_t start = mxgpu_reg64(dev, cd_offset(MXGPU_CD_START_LO, slot));
    uint32_t key = dev->took_by[slot];

    dev->took[key % MXGPU_TOOK] = (MxgpuTook){key, now - start > LONG_NS};
}

/* Under the lock. */
static void cd_finish(MxgpuDevice *dev, unsigned slot,
                      const MxgpuDispatchFault *f, uint64_t now)
{
    uint32_t state =
        f->code == MXGPU_FAULT_NONE ? MXGPU_UNIT_DONE : MXGPU_UNIT_FAULT;

    *mxgpu_reg(dev, cd_offset(MXGPU_CD_STATUS, slot)) =
        MXGPU_SET(MXGPU_CD_STATUS_STATE, state) |
        MXGPU_SET(MXGPU_CD_STATUS_FAULT, f->code) |
        MXGPU_SET(MXGPU_CD_STATUS_ACCESS, f->access);
    mxgpu_set_reg64(dev, cd_offset(MXGPU_CD_FAULT_ADDR_LO, slot), f->addr);
    mxgpu_set_reg64(dev, cd_offset(MXGPU_CD_FAULT_PC_LO, slot), f->pc);
    *mxgpu_reg(dev, cd_offset(MXGPU_CD_FAULT_BLOCK_X, slot)) = f->block[0];
    *mxgpu_reg(dev, cd_offset(MXGPU_CD_FAULT_BLOCK_Y, slot)) = f->block[1];
    *mxgpu_reg(dev, cd_offset(MXGPU_CD_FAULT_BLOCK_Z, slot)) = f->block[2];
    *mxgpu_reg(dev, cd_offset(MXGPU_CD_FAULT_THREAD, slot)) = f->thread;
    mxgpu_set_reg64(dev, cd_offset(MXGPU_CD_END_LO, slot), now);
    note_time(dev, slot, now);
    mxgpu_err_fault(dev, f->code, f->access, f->addr);
    mxgpu_out_trace(dev, MXGPU_TRACE_DISPATCH_END, slot, f->code);
    if (state == MXGPU_UNIT_FAULT) {
        mxgpu_fe_break(dev, slot);
    }
    atomic_fetch_or(mxgpu_fe_chains(dev, slot) ? &dev->chain_pending
                                               : &dev->dispatch_pending,
                    1u << slot);
    mxgpu_wake(dev, MXGPU_STEPPER_MCU);
}

static void done(void *opaque, unsigned slot)
{
    MxgpuDevice *dev = opaque;
    MxgpuDispatchFault fault = mxgpu_simt_fault(dev->simt, slot);
    uint64_t now = mxgpu_now(dev);

    mxgpu_lock(dev);
    cd_finish(dev, slot, &fault, now);
    mxgpu_unlock(dev);
    mxgpu_send_kick(dev);
}

static MxgpuDispatch load_dispatch(MxgpuDevice *dev, unsigned slot)
{
    uint32_t xy = *mxgpu_reg(dev, cd_offset(MXGPU_CD_BLOCK_XY, slot));
    uint32_t cfg = *mxgpu_reg(dev, cd_offset(MXGPU_CD_CFG, slot));
    MxgpuDispatch d = {
        .entry = mxgpu_reg64(dev, cd_offset(MXGPU_CD_ENTRY_LO, slot)),
        .args = mxgpu_reg64(dev, cd_offset(MXGPU_CD_ARGS_LO, slot)),
        .block = {MXGPU_GET(MXGPU_CD_BLOCK_XY_X, xy),
                  MXGPU_GET(MXGPU_CD_BLOCK_XY_Y, xy),
                  *mxgpu_reg(dev, cd_offset(MXGPU_CD_BLOCK_Z, slot))},
        .shared = *mxgpu_reg(dev, cd_offset(MXGPU_CD_SHARED, slot)),
        .shared_static =
            *mxgpu_reg(dev, cd_offset(MXGPU_CD_SHARED_STATIC, slot)),
        .private_bytes = *mxgpu_reg(dev, cd_offset(MXGPU_CD_PRIVATE, slot)),
        .vmid = MXGPU_GET(MXGPU_CD_CFG_VMID, cfg),
        .priority = MXGPU_GET(MXGPU_CD_CFG_PRIORITY, cfg),
        .registers = MXGPU_GET(MXGPU_CD_CFG_REGISTERS, cfg),
        .accesses = MXGPU_GET(MXGPU_PROFILE_CTRL_ACCESSES,
                              *mxgpu_reg(dev, MXGPU_PROFILE_CTRL)) ||
                    MXGPU_GET(MXGPU_CD_CFG_ACCESSES, cfg),
        .profile = MXGPU_GET(MXGPU_CD_CFG_PROFILE, cfg),
        .cooperative = MXGPU_GET(MXGPU_CD_CFG_COOPERATIVE, cfg),
        .fp_flags = MXGPU_GET(MXGPU_CD_CFG_FP_FLAGS, cfg),
        .strict_align = dev->config.strict_alignment ||
                        MXGPU_GET(MXGPU_CD_CFG_STRICT_ALIGN, cfg),
        .recover = MXGPU_GET(MXGPU_CD_CFG_RECOVER, cfg),
        .queue = *mxgpu_reg(dev, cd_offset(MXGPU_CD_QUEUE, slot)),
    };
    uint32_t profile = slot * MXGPU_CP_UNIT_STRIDE;

    for (unsigned i = 0; i < 3; i++) {
        d.grid[i] = *mxgpu_reg(dev, cd_offset(MXGPU_CD_GRID_X, slot) + 4 * i);
    }
    d.sample_addr = mxgpu_reg64(dev, MXGPU_CP_SAMPLE_ADDR_LO + profile);
    d.sample_max = *mxgpu_reg(dev, MXGPU_CP_SAMPLE_MAX + profile);
    d.sample_interval = *mxgpu_reg(dev, MXGPU_CP_SAMPLE_INTERVAL + profile);
    return d;
}

/*
 * A unit runs on one thread at a time. A worker that finds it claimed by another
 * worker goes on: all of them are woken when there is work, so that one will see it.
 * The MCU's thread is none of them, and may let go of the unit just after that: it
 * wakes them again if one wanted it.
 */
typedef enum MxgpuClaim {
    CLAIM_NONE, CLAIM_WORKER, CLAIM_INLINE, CLAIM_WANTED
} MxgpuClaim;

static bool claim(MxgpuDevice *dev, unsigned cu)
{
    _Atomic uint8_t *at = &dev->cu_claimed[cu];
    uint8_t is = CLAIM_NONE;

    while (!atomic_compare_exchange_weak(
        at, &is, is == CLAIM_NONE ? CLAIM_WORKER : CLAIM_WANTED)) {
        if (is == CLAIM_WORKER || is == CLAIM_WANTED) {
            return false;
        }
    }
    return is == CLAIM_NONE;
}

static bool claim_inline(MxgpuDevice *dev)
{
    uint8_t none = CLAIM_NONE;

    return atomic_compare_exchange_strong(&dev->cu_claimed[0], &none,
                                          CLAIM_INLINE);
}

static void release_inline(MxgpuDevice *dev)
{
    if (atomic_exchange(&dev->cu_claimed[0], CLAIM_NONE) == CLAIM_WANTED) {
        mxgpu_wake_compute(dev);
    }
}

/* Warp instructions of a small dispatch that the MCU's thread runs itself. */
#define INLINE_BUDGET 128

/*
 * Waking workers takes longer than a small kernel: when one block is all there
 * is to do, the thread of the MCU runs its beginning.
 */
static bool runs_inline(MxgpuDevice *dev, const MxgpuDispatch *d)
{
    return !dev->config.deterministic && d->grid[0] == 1 && d->grid[1] == 1 &&
           d->grid[2] == 1 && !mxgpu_simt_has_work(dev->simt);
}

static void run_inline(MxgpuDevice *dev)
{
    if (claim_inline(dev)) {
        mxgpu_simt_run_held(dev->simt, 0, INLINE_BUDGET,
                            &dev->steppers[MXGPU_STEPPER_MCU].held);
        release_inline(dev);
        dev->inline_ran = true;
    }
    if (mxgpu_simt_has_work(dev->simt)) {
        mxgpu_wake_compute(dev);
    }
}

void mxgpu_compute_inline(MxgpuDevice *dev)
{
    if (dev->compute_inline) {
        dev->compute_inline = false;
        run_inline(dev);
    }
}

/* Workers do not know when unit 0 was last used if the MCU's thread ran it: so
 * that thread watches for the time at which an idle unit gives memory back. */
void mxgpu_compute_inline_idle(MxgpuDevice *dev, uint64_t *deadline)
{
    if (dev->inline_ran) {
        dev->inline_ran = false;
        dev->inline_idle = MXGPU_NEVER;
        if (claim_inline(dev)) {
            dev->inline_idle = mxgpu_simt_idle(dev->simt, 0);
            release_inline(dev);
        }
    } else if (dev->inline_idle != MXGPU_NEVER &&
               mxgpu_now(dev) >= dev->inline_idle) {
        dev->inline_idle = MXGPU_NEVER;
        mxgpu_wake_compute(dev);
    }
    if (dev->inline_idle < *deadline) {
        *deadline = dev->inline_idle;
    }
}

/* The compute units are called without the lock, for they may call done. */
static bool cd_start(MxgpuDevice *dev, unsigned slot, const MxgpuDispatch *d,
                     uint64_t now)
{
    bool alone = runs_inline(dev, d);
    MxgpuDispatchFault f = {.code = mxgpu_simt_start(dev->simt, slot, d)};

    if (f.code != MXGPU_FAULT_NONE) {
        mxgpu_lock(dev);
        cd_finish(dev, slot, &f, now);
        mxgpu_unlock(dev);
        return false;
    }
    dev->compute_inline = alone;
    if (!alone) {
        if (dev->compute_long) {
            mxgpu_call_compute(dev);
        }
        mxgpu_wake_compute(dev);
    }
    return true;
}

/* The charge for a write to CD_CTRL, in instructions of the MCU; each worker
 * thread adds one. */
#define COST_COMMAND 32

uint32_t mxgpu_cd_state(MxgpuDevice *dev, unsigned slot)
{
    uint32_t state;

    mxgpu_lock(dev);
    state = MXGPU_GET(MXGPU_CD_STATUS_STATE,
                      *mxgpu_reg(dev, cd_offset(MXGPU_CD_STATUS, slot)));
    mxgpu_unlock(dev);
    return state;
}

void mxgpu_cd_ack(MxgpuDevice *dev, unsigned slot)
{
    *mxgpu_reg(dev, cd_offset(MXGPU_CD_STATUS, slot)) = MXGPU_UNIT_IDLE;
    atomic_fetch_and(&dev->dispatch_pending, ~(1u << slot));
    atomic_fetch_and(&dev->chain_pending, ~(1u << slot));
}

/* Puts an IDLE slot to work; returns the dispatch that it is to run. Under the
 * lock. */
static MxgpuDispatch begin(MxgpuDevice *dev, unsigned slot, uint64_t now)
{
    MxgpuDispatch d = load_dispatch(dev, slot);

    *mxgpu_reg(dev, cd_offset(MXGPU_CD_STATUS, slot)) = MXGPU_UNIT_BUSY;
    mxgpu_set_reg64(dev, cd_offset(MXGPU_CD_START_LO, slot), now);
    mxgpu_out_trace(dev, MXGPU_TRACE_DISPATCH_START, slot, d.entry);
    dev->compute_long = takes_long(dev, slot, &d);
    return d;
}

void mxgpu_cd_start(MxgpuDevice *dev, unsigned slot, uint64_t now)
{
    MxgpuDispatch d;

    mxgpu_lock(dev);
    d = begin(dev, slot, now);
    mxgpu_unlock(dev);
    mxgpu_mcu_charge(dev->mcu.mcu, COST_COMMAND + dev->num_workers);
    (void)cd_start(dev, slot, &d, now);
}

void mxgpu_cd_ctrl_write(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value)
{
    uint32_t *status = mxgpu_reg(dev, cd_offset(MXGPU_CD_STATUS, a->index));
    bool start = false, abort = false;
    MxgpuDispatch d;
    uint32_t state;

    mxgpu_lock(dev);
    state = MXGPU_GET(MXGPU_CD_STATUS_STATE, *status);
    if (MXGPU_GET(MXGPU_CD_CTRL_ACK, value) &&
        (state == MXGPU_UNIT_DONE || state == MXGPU_UNIT_FAULT)) {
        state = MXGPU_UNIT_IDLE;
        mxgpu_cd_ack(dev, a->index);
    }
    if (MXGPU_GET(MXGPU_CD_CTRL_START, value) && state == MXGPU_UNIT_IDLE) {
        state = MXGPU_UNIT_BUSY;
        d = begin(dev, a->index, a->now);
        /* Not the front end's: nothing is left of what it started before. */
        mxgpu_fe_forget(dev, a->index);
        start = true;
    }
    abort = MXGPU_GET(MXGPU_CD_CTRL_ABORT, value) && state == MXGPU_UNIT_BUSY;
    if (MXGPU_GET(MXGPU_CD_CTRL_ABORT, value)) {
        mxgpu_fe_break(dev, a->index);
    }
    mxgpu_unlock(dev);
    mxgpu_mcu_charge(dev->mcu.mcu, COST_COMMAND + dev->num_workers);
    if (start && !cd_start(dev, a->index, &d, a->now)) {
        return;
    }
    if (abort) {
        /* The dispatch may have ended meanwhile; then there is nothing to
         * abort. */
        mxgpu_simt_abort(dev->simt, a->index);
        mxgpu_wake_compute(dev);
    }
}

uint32_t mxgpu_cd_hold_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return mxgpu_simt_held(dev->simt);
}

void mxgpu_cd_hold_write(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value)
{
    uint32_t changed = mxgpu_simt_held(dev->simt) ^ value;

    mxgpu_mcu_charge(dev->mcu.mcu, COST_COMMAND + dev->num_workers);
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        if (changed >> i & 1) {
            mxgpu_simt_hold(dev->simt, i, value >> i & 1);
        }
    }
    if (changed) {
        mxgpu_out_trace(dev, MXGPU_TRACE_DISPATCH_HOLD,
                        mxgpu_simt_held(dev->simt), changed);
    }
}

uint32_t mxgpu_cd_waits_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    uint32_t slots = 0;

    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        slots |= (uint32_t)mxgpu_simt_waits(dev->simt, i) << i;
    }
    return slots;
}

uint32_t mxgpu_cd_spent_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return (uint32_t)mxgpu_simt_spent(dev->simt, a->index);
}

uint32_t mxgpu_cu_slots_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return mxgpu_simt_unit_slots(dev->simt, a->index);
}

/* The smallest share of a turn, in warp instructions: entering and leaving a
 * unit costs about as much as running that many. */
#define SHARE_LEAST 256

bool mxgpu_compute_step(void *opaque, unsigned index, unsigned budget,
                        uint64_t *deadline)
{
    MxgpuDevice *dev = opaque;
    unsigned units = dev->config.compute_units;
    unsigned first = index * units / dev->num_workers;
    uint64_t at;
    MxgpuStepper *self = &dev->steppers[mxgpu_worker(dev, index)];
    bool more = false;

    if (dev->config.deterministic) { /* one worker: its turn is all units' */
        budget = budget / units > SHARE_LEAST ? budget / units : SHARE_LEAST;
    }
    for (unsigned i = 0; i < units; i++) {
        unsigned cu = (first + i) % units;

        if (atomic_load_explicit(&self->held, memory_order_relaxed)) {
            return true;
        }
        if (!claim(dev, cu)) {
            continue;
        }
        if (mxgpu_simt_run_held(dev->simt, cu, budget, &self->held)) {
            more = true;
        } else {
            at = mxgpu_simt_idle(dev->simt, cu);
            *deadline = at < *deadline ? at : *deadline;
        }
        atomic_store(&dev->cu_claimed[cu], CLAIM_NONE);
    }
    return more;
}

/* ---- recoverable faults */

static bool park(void *opaque, const MxgpuSimtParked *p, uint32_t *sequence)
{
    struct mxgpu_fault_record record = {
        .source = MXGPU_FAULT_COMPUTE,
        .fault = p->fault.code,
        .access = p->fault.access,
        .vmid = p->vmid,
        .addr = p->fault.addr,
        .pc = p->fault.pc,
        .lanes = p->lanes,
        .queue = p->queue,
        .unit = p->cu,
        .slot = p->slot,
        .thread = p->fault.thread,
        .block = {p->fault.block[0], p->fault.block[1], p->fault.block[2]},
    };
    bool ok = mxgpu_fault_report(opaque, &record);

    *sequence = record.sequence;
    return ok;
}

static MxgpuVerdict verdict(void *opaque, uint32_t sequence)
{
    return mxgpu_fault_verdict(opaque, sequence);
}

static void unpark(void *opaque, uint32_t sequence)
{
    mxgpu_fault_release(opaque, sequence);
}

static void away(void *opaque, uint32_t sequence, unsigned vmid, uint32_t queue)
{
    mxgpu_fault_away(opaque, sequence, vmid, queue);
}

static bool back(void *opaque, uint32_t sequence, unsigned vmid, uint32_t queue)
{
    return mxgpu_fault_back(opaque, sequence, vmid, queue);
}

static void wake(void *opaque)
{
    mxgpu_wake_compute(opaque);
}

bool mxgpu_compute_init(MxgpuDevice *dev)
{
    MxgpuSimtConfig config = {
        .compute_units = dev->config.compute_units,
        /* What is compiled when depends on the host. */
        .jit = dev->config.deterministic ? 0 : dev->config.jit,
        .private_bytes = mxgpu_cu_private(dev),
        .mmu = dev->mmu,
        .ops = dev->ops,
        .host = dev->host,
        .done = done,
        .wake = wake,
        .park = park,
        .verdict = verdict,
        .unpark = unpark,
        .away = away,
        .back = back,
        .opaque = dev,
        .observer = dev->config.observer,
        .observer_opaque = dev->config.observer_opaque,
    };

    dev->inline_idle = MXGPU_NEVER;
    dev->cu_claimed =
        calloc(dev->config.compute_units, sizeof(*dev->cu_claimed));
    dev->simt = mxgpu_simt_new(&config);
    return dev->cu_claimed && dev->simt;
}

void mxgpu_compute_free(MxgpuDevice *dev)
{
    if (dev->simt) {
        mxgpu_simt_free(dev->simt);
    }
    free(dev->cu_claimed);
}

void mxgpu_compute_reset(MxgpuDevice *dev)
{
    mxgpu_simt_reset(dev->simt);
    atomic_store(&dev->dispatch_pending, 0);
    atomic_store(&dev->chain_pending, 0);
}
