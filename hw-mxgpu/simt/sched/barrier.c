/* SPDX-License-Identifier: MIT */
/*
 * Barriers of a block and of a grid: who arrives, who waits, who goes on, and
 * what becomes of threads that wait for ever.
 */
#include "barrier.h"

#include "simt/warp/budget.h"
#include "simt/warp/count.h"
#include "simt/warp/fault.h"
#include "simt/warp/observe.h"
#include "simt/warp/warp.h"

bool mxgpu_block_may_convoy(const MxgpuCu *cu, const SimtBlock *block)
{
    const SimtSlot *s = &cu->simt->slots[block->slot];

    return cu->simt->convoy && block->num_warps > 1 &&
           !simt_watched(cu->simt, &s->dispatch) && !s->dispatch.fp_flags;
}

/* ---- barriers */

static uint64_t barrier_value(const SimtBlock *block, unsigned wait)
{
    switch (wait) {
    case WAIT_AND:
        return block->count == block->arrived;
    case WAIT_OR:
        return block->count != 0;
    default:
        return block->count;
    }
}

static void release_warp(const SimtBlock *block, MxgpuWarp *w)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < w->s.num_waiting; i++) {
        SimtWaiter *a = &w->s.waiting[i];

        if (a->wait > WAIT_COUNT) {
            w->s.waiting[kept++] = *a;
            continue;
        }
        if (a->wait != WAIT_BARRIER) {
            uint64_t value = barrier_value(block, a->wait);

            for (uint64_t m = a->group.mask; m; m &= m - 1) {
                w->x[a->rd][__builtin_ctzll(m)] = value;
            }
        }
        if (!w->s.cur.mask && !w->s.num_ready && w->s.num_waiting == 1) {
            /* the usual case: all lanes together */
            simt_copy_group(&w->s.cur, &a->group);
            w->s.rotated = false;
        } else {
            mxgpu_warp_park(w, &a->group);
        }
    }
    w->s.num_waiting = kept;
}

/* Opens the block's barrier when every thread has arrived or ended. */
static void check_barrier(MxgpuCu *cu, SimtBlock *block)
{
    if (block->arrived == 0 ||
        block->arrived + block->exited < block->threads) {
        return;
    }
    if (simt_observer(cu->simt)) {
        mxgpu_simt_observe_block(cu, block, MXGPU_OBSERVED_BARRIER_OPEN, 0);
    }
    for (unsigned i = 0; i < block->num_warps; i++) {
        release_warp(block, &cu->warps[block->warps[i]]);
    }
    block->arrived = block->count = 0;
    block->convoy = mxgpu_block_may_convoy(cu, block);
}

static unsigned lanes_of(uint64_t mask)
{
    return mask == ALL_LANES ? LANES : __builtin_popcountll(mask);
}

void mxgpu_block_arrive(MxgpuCu *cu, MxgpuWarp *w, uint64_t mask,
                        uint64_t nonzero)
{
    SimtBlock *block = &cu->s.blocks[w->c.block];

    simt_count(cu, COUNT_barrier_waits, 1);
    if (simt_observer(cu->simt)) {
        mxgpu_simt_observe_event(cu, w, MXGPU_OBSERVED_BARRIER,
                                 w->s.cur.pc - 4, mask, 0);
    }
    block->arrived += lanes_of(mask);
    block->count += nonzero ? __builtin_popcountll(mask & nonzero) : 0;
    check_barrier(cu, block);
}

/* ---- named barriers and the grid's */

/* All groups of the block that wait for the same go on. */
static void release_block(MxgpuCu *cu, const SimtBlock *block, SimtWait wait,
                          uint64_t sync)
{
    for (unsigned n = 0; n < block->num_warps; n++) {
        MxgpuWarp *w = &cu->warps[block->warps[n]];
        unsigned kept = 0;

        for (unsigned i = 0; i < w->s.num_waiting; i++) {
            const SimtWaiter *a = &w->s.waiting[i];

            if (a->wait == wait && a->sync == sync) {
                mxgpu_warp_park(w, &a->group);
            } else {
                w->s.waiting[kept++] = *a;
            }
        }
        w->s.num_waiting = kept;
    }
}

/* Threads that have to arrive until the barrier opens. */
static unsigned named_missing(const SimtBlock *block, const SimtNamed *named)
{
    unsigned gone = named->arrived + (named->whole ? block->exited : 0);

    /* Threads that arrived without waiting, and then ended, count twice. */
    return gone < named->count ? named->count - gone : 0;
}

static void named_open(MxgpuCu *cu, SimtBlock *block, unsigned id)
{
    block->named[id] = (SimtNamed){0};
    simt_charge(cu, block->num_warps);
    if (simt_observer(cu->simt)) {
        mxgpu_simt_observe_block(cu, block, MXGPU_OBSERVED_NAMED_OPEN, id);
    }
    release_block(cu, block, WAIT_NAMED, id);
}

/* Lanes of mask arrive at one barrier, lowest first; it may open several times
 * before all have arrived. false: id or count is wrong. */
static bool named_arrive(MxgpuCu *cu, MxgpuWarp *w, uint64_t mask, uint64_t id,
                         uint64_t count, bool waits)
{
    SimtBlock *block = &cu->s.blocks[w->c.block];
    SimtNamed *named = &block->named[id % MXGPU_NAMED_BARRIERS];
    bool whole = count == 0;

    if (id >= MXGPU_NAMED_BARRIERS || count > block->threads) {
        return false;
    }
    count = whole ? block->threads : count;
    block->has_named = true;
    while (mask) {
        SimtGroup group = w->s.cur;
        unsigned missing;

        if (!named->count) {
            *named = (SimtNamed){.count = count, .whole = whole};
        }
        if (named->count != count || named->whole != whole) {
            return false;
        }
        missing = named_missing(block, named);
        group.mask = 0;
        for (unsigned n = 0; n < missing && mask; n++) {
            group.mask |= mask & -mask;
            mask &= mask - 1;
        }
        named->arrived += __builtin_popcountll(group.mask);
        if (waits) {
            simt_count(cu, COUNT_barrier_waits, 1);
            w->s.cur.mask &= ~group.mask;
            mxgpu_warp_wait(w, &group, WAIT_NAMED, 0, id);
        }
        if (named_missing(block, named) == 0) {
            named_open(cu, block, id);
        }
    }
    return true;
}

bool mxgpu_block_named(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc)
{
    const uint64_t *ids = w->x[p->r1], *counts = w->x[p->r2];
    uint64_t rest = w->s.cur.mask;

    if (simt_exhausted(cu)) {
        return false;
    }
    w->s.cur.pc = pc + 4;
    while (rest) {
        unsigned first = __builtin_ctzll(rest);
        uint64_t same = 0;

        for (unsigned i = 0; i < LANES; i++) {
            same |= (uint64_t)(ids[i] == ids[first] &&
                               counts[i] == counts[first]) << i;
        }
        same &= rest;
        rest &= ~same;
        if (simt_observer(cu->simt)) {
            mxgpu_simt_observe_event(cu, w, MXGPU_OBSERVED_NAMED, pc, same,
                                     (uint32_t)ids[first] |
                                         counts[first] << 32);
        }
        if (!named_arrive(cu, w, same, ids[first], counts[first],
                          p->op == RV_MX_BAR_SYNC)) {
            mxgpu_simt_fault_at(cu, w, first, MXGPU_FAULT_BARRIER,
                                MXGPU_ACCESS_EXECUTE, pc, pc);
            return false;
        }
    }
    return true;
}

/* Every block of the grid has arrived or ended: no other unit changes these
 * until the phase does. "here" blocks that wait are the caller's own. */
static void grid_open(MxgpuSimt *simt, SimtSlot *slot, unsigned here)
{
    uint64_t alive = atomic_load(&slot->grid_alive);

    atomic_store(&slot->grid_missing, alive);
    atomic_fetch_add(&slot->grid_phase, 1);
    if (alive > here) {
        simt->config.wake(simt->config.opaque);
    }
}

/* The block arrives at the grid's barrier when all its threads have arrived or
 * ended. */
static void check_grid(MxgpuCu *cu, SimtBlock *block)
{
    SimtSlot *slot = &cu->simt->slots[block->slot];

    if (block->grid_arrived == 0 ||
        block->grid_arrived + block->exited < block->threads) {
        return;
    }
    block->grid_arrived = 0;
    block->grid_wait = true;
    cu->s.num_waiting++;
    block->grid_phase = atomic_load(&slot->grid_phase);
    if (atomic_fetch_sub(&slot->grid_missing, 1) == 1) {
        grid_open(cu->simt, slot, 1);
    }
}

bool mxgpu_block_grid(MxgpuCu *cu, MxgpuWarp *w, uint64_t pc)
{
    SimtBlock *block = &cu->s.blocks[w->c.block];

    if (!simt_slot(cu, w)->dispatch.cooperative) {
        mxgpu_simt_fault_at(cu, w, __builtin_ctzll(w->s.cur.mask),
                            MXGPU_FAULT_BARRIER, MXGPU_ACCESS_EXECUTE, pc, pc);
        return false;
    }
    w->s.cur.pc = pc + 4;
    simt_count(cu, COUNT_barrier_waits, 1);
    if (simt_observer(cu->simt)) {
        mxgpu_simt_observe_event(cu, w, MXGPU_OBSERVED_GRID, pc,
                                 w->s.cur.mask, 0);
    }
    block->grid_arrived += __builtin_popcountll(w->s.cur.mask);
    mxgpu_warp_wait(w, &w->s.cur, WAIT_GRID, 0, 0);
    w->s.cur.mask = 0;
    check_grid(cu, block);
    return true;
}

void mxgpu_block_grid_poll(MxgpuCu *cu, SimtBlock *block)
{
    const SimtSlot *slot = &cu->simt->slots[block->slot];

    if (atomic_load(&slot->grid_phase) != block->grid_phase) {
        block->grid_wait = false;
        cu->s.num_waiting--;
        if (simt_observer(cu->simt)) {
            mxgpu_simt_observe_block(cu, block, MXGPU_OBSERVED_GRID_OPEN, 0);
        }
        release_block(cu, block, WAIT_GRID, 0);
    }
}

void mxgpu_block_grid_end(MxgpuSimt *simt, SimtSlot *slot)
{
    atomic_fetch_sub(&slot->grid_alive, 1);
    if (atomic_fetch_sub(&slot->grid_missing, 1) == 1) {
        grid_open(simt, slot, 0);
    }
}

void mxgpu_block_exit(MxgpuCu *cu, MxgpuWarp *w, uint64_t mask)
{
    SimtBlock *block = &cu->s.blocks[w->c.block];

    if (simt_observer(cu->simt)) {
        mxgpu_simt_observe_event(cu, w, MXGPU_OBSERVED_EXIT,
                                 w->s.cur.pc - 4, mask, 0);
    }
    mxgpu_warp_exit(w, mask);
    block->exited += lanes_of(mask);
    check_barrier(cu, block);
    check_grid(cu, block);
    for (unsigned i = 0; block->has_named && i < MXGPU_NAMED_BARRIERS; i++) {
        if (block->named[i].whole &&
            named_missing(block, &block->named[i]) == 0) {
            named_open(cu, block, i);
        }
    }
}

/* ---- blocks that cannot go on, or must not */

/* A block none of whose warps has a group to run waits for ever, unless it
 * waits for other blocks of its grid. */
bool mxgpu_block_stuck(const MxgpuCu *cu, const SimtBlock *b)
{
    if (b->grid_wait || b->fault_wait) {
        return false;
    }
    for (unsigned i = 0; i < b->num_warps; i++) {
        const MxgpuWarp *w = &cu->warps[b->warps[i]];

        if (w->s.cur.mask || w->s.num_ready) {
            return false;
        }
    }
    return true;
}

void mxgpu_block_fault_stuck(MxgpuCu *cu, const SimtBlock *b)
{
    for (unsigned i = 0; i < b->num_warps; i++) {
        const MxgpuWarp *w = &cu->warps[b->warps[i]];

        if (w->s.num_waiting) {
            const SimtWaiter *a = &w->s.waiting[0];

            mxgpu_simt_fault_at(cu, w, __builtin_ctzll(a->group.mask),
                                MXGPU_FAULT_BARRIER, MXGPU_ACCESS_EXECUTE,
                                simt_waits_at(a), simt_waits_at(a));
            return;
        }
    }
}

/* A thread of the warp whose turn it is, else of one that could run, else of
 * one that waits. */
void mxgpu_block_fault_stopped(MxgpuCu *cu, const SimtBlock *b,
                               enum mxgpu_fault code)
{
    const MxgpuWarp *best = NULL;
    const SimtGroup *at = NULL;

    for (unsigned i = 0; i < b->num_warps; i++) {
        const MxgpuWarp *w = &cu->warps[b->warps[i]];
        const SimtGroup *g = w->s.cur.mask  ? &w->s.cur
                             : w->s.num_ready ? &w->s.ready[w->s.num_ready - 1]
                                            : NULL;

        if (g && (!at || b->warps[i] == cu->s.next_warp)) {
            best = w;
            at = g;
        }
    }
    if (at) {
        mxgpu_simt_fault_at(cu, best, __builtin_ctzll(at->mask), code,
                            MXGPU_ACCESS_EXECUTE, at->pc, at->pc);
        return;
    }
    for (unsigned i = 0; i < b->num_warps; i++) {
        const MxgpuWarp *w = &cu->warps[b->warps[i]];

        if (w->s.num_waiting) {
            const SimtWaiter *a = &w->s.waiting[0];

            mxgpu_simt_fault_at(cu, w, __builtin_ctzll(a->group.mask), code,
                                MXGPU_ACCESS_EXECUTE, simt_waits_at(a),
                                simt_waits_at(a));
            return;
        }
    }
}
