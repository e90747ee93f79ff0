/* SPDX-License-Identifier: MIT */
/*
 * Resident blocks of a compute unit: placement, barriers and ends.
 */
#include "block.h"
#include "mxgpu/occupancy.h"
#include "slots.h"

#include <string.h>

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

/* Accesses are looked at, and FP flags kept, for each warp. */
static bool may_convoy(const MxgpuCu *cu, const SimtBlock *block)
{
    const SimtSlot *s = &cu->simt->slots[block->slot];

    return cu->simt->convoy && block->num_warps > 1 &&
           !simt_watched(&s->dispatch) && !s->dispatch.fp_flags;
}

/* When every thread has arrived or exited, those that arrived go on. */
static void check_barrier(MxgpuCu *cu, SimtBlock *block)
{
    if (block->arrived == 0 ||
        block->arrived + block->exited < block->threads) {
        return;
    }
    for (unsigned i = 0; i < block->num_warps; i++) {
        release_warp(block, &cu->warps[block->warps[i]]);
    }
    block->arrived = block->count = 0;
    block->convoy = may_convoy(cu, block);
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
    block->arrived += lanes_of(mask);
    block->count += nonzero ? __builtin_popcountll(mask & nonzero) : 0;
    check_barrier(cu, block);
}

/* ---- named barriers and the grid's */

/* Waiters of one kind in the whole block go on. */
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

/* Threads that still have to come. */
static unsigned named_missing(const SimtBlock *block, const SimtNamed *named)
{
    unsigned gone = named->arrived + (named->whole ? block->exited : 0);

    /* Those that arrived without waiting, and then ended, are in both. */
    return gone < named->count ? named->count - gone : 0;
}

static void named_open(MxgpuCu *cu, SimtBlock *block, unsigned id)
{
    block->named[id] = (SimtNamed){0};
    simt_charge(cu, block->num_warps);
    release_block(cu, block, WAIT_NAMED, id);
}

/* Lanes of mask arrive at one barrier, which may open several times. */
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

    if (simt_tired(cu)) {
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
        if (!named_arrive(cu, w, same, ids[first], counts[first],
                          p->op == RV_MX_BAR_SYNC)) {
            mxgpu_simt_fault_at(cu, w, first, MXGPU_FAULT_BARRIER,
                                MXGPU_ACCESS_EXECUTE, pc, pc);
            return false;
        }
    }
    return true;
}

/* Every block that has not ended has arrived: nobody else touches these. */
static void grid_open(MxgpuSimt *simt, SimtSlot *slot)
{
    uint64_t alive = atomic_load(&slot->grid_alive);

    atomic_store(&slot->grid_missing, alive);
    atomic_fetch_add(&slot->grid_phase, 1);
    if (alive > 1) {
        simt->config.wake(simt->config.opaque);
    }
}

/* When all its threads have arrived or ended, the block has arrived. */
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
        grid_open(cu->simt, slot);
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
        release_block(cu, block, WAIT_GRID, 0);
    }
}

void mxgpu_block_grid_end(MxgpuSimt *simt, SimtSlot *slot)
{
    atomic_fetch_sub(&slot->grid_alive, 1);
    if (atomic_fetch_sub(&slot->grid_missing, 1) == 1) {
        grid_open(simt, slot);
    }
}

void mxgpu_block_exit(MxgpuCu *cu, MxgpuWarp *w, uint64_t mask)
{
    SimtBlock *block = &cu->s.blocks[w->c.block];

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

/* ---- placement */

static unsigned block_threads(const MxgpuDispatch *d)
{
    return d->block[0] * d->block[1] * d->block[2];
}

static unsigned block_warps(const MxgpuDispatch *d)
{
    return (block_threads(d) + LANES - 1) / LANES;
}

static uint32_t shared_needed(const MxgpuDispatch *d)
{
    return mxgpu_shared_rounded(d->shared);
}

/*
 * First gap of len bytes between the resident blocks; UINT32_MAX: none. Blocks
 * of a cooperative grid lie at multiples of len: none then leaves a gap that is
 * too small for one of those that it waits for.
 */
static uint32_t shared_gap(const MxgpuCu *cu, uint32_t len, bool gang)
{
    uint32_t at = 0;
    bool moved = len != 0 && cu->s.num_blocks;

    while (moved) {
        moved = false;
        for (unsigned i = 0; i < MXGPU_CU_BLOCKS; i++) {
            const SimtBlock *b = &cu->s.blocks[i];

            if (b->used && b->shared_len && at < b->shared_at + b->shared_len &&
                b->shared_at < at + len) {
                at = b->shared_at + b->shared_len;
                at = gang ? (at + len - 1) / len * len : at;
                moved = true;
            }
        }
    }
    return at + len <= MXGPU_SHARED_MAX ? at : UINT32_MAX;
}

uint64_t mxgpu_block_needs(const MxgpuDispatch *d)
{
    return block_warps(d) * LANES | d->registers << 16 |
           (uint64_t)shared_needed(d) << 32 |
           (uint64_t)(d->private_bytes / 1024) << 50 |
           (d->cooperative ? NEEDS_GANG : 0);
}

#define NEEDS_LANES(needs)     (unsigned)((needs) & 0xffff)
#define NEEDS_REGISTERS(needs) (unsigned)((needs) >> 16 & 0xffff)
#define NEEDS_SHARED(needs)    (unsigned)((needs) >> 32 & 0x3ffff)
/* KiB of all its threads */
#define NEEDS_PRIVATE(needs) \
    ((unsigned)((needs) >> 50 & 0x7ff) * NEEDS_LANES(needs))

unsigned mxgpu_block_capacity(const MxgpuSimt *simt, const MxgpuDispatch *d)
{
    const struct mxgpu_cu cu = {
        .warp_size = LANES,
        .threads = MXGPU_CU_THREADS,
        .blocks = MXGPU_CU_BLOCKS,
        .registers = MXGPU_CU_REGISTERS,
        .shared = MXGPU_SHARED_MAX,
        .private_bytes = simt->private_bytes,
    };
    const struct mxgpu_block_needs needs = {
        .threads = block_threads(d),
        .registers = d->registers,
        .shared = d->shared,
        .private_bytes = d->private_bytes,
    };

    return mxgpu_occupancy(&cu, &needs);
}

bool mxgpu_block_fits(const MxgpuCu *cu, uint64_t needs)
{
    unsigned lanes = NEEDS_LANES(needs), registers = NEEDS_REGISTERS(needs);

    return cu->s.num_blocks < MXGPU_CU_BLOCKS &&
           cu->s.threads + lanes <= MXGPU_CU_THREADS &&
           cu->s.registers + lanes * registers <= MXGPU_CU_REGISTERS &&
           cu->s.private_kib + NEEDS_PRIVATE(needs) <=
               cu->simt->private_bytes / 1024 &&
           shared_gap(cu, NEEDS_SHARED(needs), needs & NEEDS_GANG) !=
               UINT32_MAX;
}

/*
 * Lanes of a row, as a shift: threads of one line of the block where whole
 * lines fill a warp, so that indices of threads are SimtLines.
 */
static unsigned row_shift(const MxgpuDispatch *d)
{
    unsigned x = d->block[0];

    return d->block[1] * d->block[2] > 1 && x < LANES && LANES % x == 0
               ? __builtin_ctz(x)
               : 6;
}

/* What a warp knows of its block. */
static void bind_warp(MxgpuCu *cu, unsigned block, unsigned index)
{
    const SimtBlock *b = &cu->s.blocks[block];
    const MxgpuDispatch *d = &cu->simt->slots[b->slot].dispatch;
    unsigned warp = b->warps[index];
    MxgpuWarp *w = &cu->warps[warp];

    w->c.row_shift = row_shift(d);
    w->c.slot = b->slot;
    w->c.block = block;
    w->c.index = index;
    w->c.vmid = d->vmid;
    w->c.vmid_tag = (uint64_t)d->vmid << TLB_VMID_SHIFT;
    w->c.shared = cu->shared + b->shared_at;
    w->c.shared_size = d->shared;
    w->c.private = cu->private + warp * PRIVATE_WARP_BYTES;
    w->c.private_size = d->private_bytes;
}

void mxgpu_block_bind(MxgpuCu *cu, const SimtBlock *b)
{
    const MxgpuDispatch *d = &cu->simt->slots[b->slot].dispatch;

    for (unsigned i = 0; i < b->num_warps; i++) {
        bind_warp(cu, b - cu->s.blocks, i);
        mxgpu_simt_fp_level(&cu->warps[b->warps[i]], d->fp_flags);
    }
}

static void start_warp(MxgpuCu *cu, unsigned block, unsigned index)
{
    const SimtBlock *b = &cu->s.blocks[block];
    const MxgpuDispatch *d = &cu->simt->slots[b->slot].dispatch;
    MxgpuWarp *w = &cu->warps[b->warps[index]];
    unsigned left = block_threads(d) - index * LANES;

    mxgpu_warp_start(w, left >= LANES ? ALL_LANES : (1ull << left) - 1,
                     d->entry, cu->c.written_d);
    bind_warp(cu, block, index);
    if (d->fp_flags) {
        mxgpu_simt_fp_level(w, true);
    }
    mxgpu_private_start(cu, b->warps[index], w);
}

void mxgpu_block_settle(MxgpuCu *cu, SimtBlock *b)
{
    const MxgpuDispatch *d = &cu->simt->slots[b->slot].dispatch;

    for (unsigned i = 0; b->fresh && i < b->num_warps; i++) {
        mxgpu_warp_start_x(&cu->warps[b->warps[i]], d->args, cu->c.written_x);
    }
    b->fresh = false;
}

static void set_id(SimtBlock *b, const MxgpuDispatch *d, uint64_t number)
{
    uint64_t row = number / d->grid[0];

    b->id[0] = number - row * d->grid[0];
    b->id[1] = row % d->grid[1];
    b->id[2] = row / d->grid[1];
}

bool mxgpu_block_again(MxgpuCu *cu, SimtBlock *b)
{
    const MxgpuDispatch *d = &cu->simt->slots[b->slot].dispatch;
    uint64_t number;

    if (b->exited || !may_convoy(cu, b) ||
        !mxgpu_slot_next_held(cu, b->slot, &number)) {
        return false;
    }
    if (++b->id[0] == d->grid[0]) {
        set_id(b, d, number);
    }
    if (b->has_named) {
        memset(b->named, 0, sizeof(b->named));
        b->has_named = false;
    }
    b->fresh = true;
    simt_charge(cu, b->num_warps * COST_WARP + COST_ZERO(b->shared_len));
    memset(cu->shared + b->shared_at, 0, b->shared_len);
    for (unsigned i = 0; i < b->num_warps; i++) {
        MxgpuWarp *w = &cu->warps[b->warps[i]];

        mxgpu_warp_start(w, w->s.live, d->entry, cu->c.written_d);
    }
    simt_count(cu, COUNT_blocks, 1);
    simt_count(cu, COUNT_warps, b->num_warps);
    return true;
}

void mxgpu_block_shape(const MxgpuDispatch *d, SimtBlock *b)
{
    unsigned lanes = block_warps(d) * LANES;

    b->num_warps = block_warps(d);
    b->threads = block_threads(d);
    b->shared_len = shared_needed(d);
    b->registers = lanes * d->registers;
    b->private_kib = lanes * (d->private_bytes / 1024);
}

void mxgpu_block_account(MxgpuCu *cu, const SimtBlock *b)
{
    for (unsigned i = 0; i < b->num_warps; i++) {
        cu->s.used_warps |= 1u << b->warps[i];
    }
    cu->s.num_blocks++;
    cu->s.num_waiting += b->grid_wait;
    cu->s.threads += b->num_warps * LANES;
    cu->s.registers += b->registers;
    cu->s.private_kib += b->private_kib;
}

bool mxgpu_block_may_lie(const MxgpuCu *cu, const SimtBlock *b)
{
    uint64_t end = (uint64_t)b->shared_at + b->shared_len;

    for (unsigned i = 0; i < MXGPU_CU_BLOCKS; i++) {
        const SimtBlock *o = &cu->s.blocks[i];

        if (o->used && b->shared_at < o->shared_at + o->shared_len &&
            o->shared_at < end) {
            return false;
        }
    }
    return b->shared_at % MXGPU_SHARED_GRANULE == 0 && end <= MXGPU_SHARED_MAX &&
           cu->s.threads + b->num_warps * LANES <= MXGPU_CU_THREADS &&
           cu->s.registers + b->registers <= MXGPU_CU_REGISTERS &&
           cu->s.private_kib + b->private_kib <=
               cu->simt->private_bytes / 1024;
}

void mxgpu_block_start(MxgpuCu *cu, unsigned slot, uint64_t number)
{
    const MxgpuDispatch *d = &cu->simt->slots[slot].dispatch;
    SimtBlock *b;
    unsigned n = 0;

    while (cu->s.blocks[n].used) {
        n++;
    }
    b = &cu->s.blocks[n];
    *b = (SimtBlock){
        .slot = slot,
        .shared_at = shared_gap(cu, shared_needed(d), d->cooperative),
    };
    mxgpu_block_shape(d, b);
    set_id(b, d, number);
    b->used = b->fresh = true;
    b->convoy = may_convoy(cu, b);
    memset(cu->shared + b->shared_at, 0, b->shared_len);
    simt_charge(cu, b->num_warps * COST_WARP + COST_ZERO(b->shared_len));
    for (unsigned i = 0; i < b->num_warps; i++) {
        unsigned warp = __builtin_ctz(~cu->s.used_warps);

        cu->s.used_warps |= 1u << warp;
        b->warps[i] = warp;
        start_warp(cu, n, i);
    }
    mxgpu_private_fit(cu);
    simt_count(cu, COUNT_warps, b->num_warps);
    if (d->profile) {
        mxgpu_simt_profile_block(cu, slot, b->num_warps);
    }
    mxgpu_block_account(cu, b);
}

void mxgpu_block_end(MxgpuCu *cu, SimtBlock *b)
{
    mxgpu_block_settle(cu, b);
    for (unsigned i = 0; i < b->num_warps; i++) {
        cu->s.used_warps &= ~(1u << b->warps[i]);
    }
    b->used = false;
    if (b->grid_wait) {
        b->grid_wait = false;
        cu->s.num_waiting--;
    }
    cu->s.num_blocks--;
    cu->s.threads -= b->num_warps * LANES;
    cu->s.registers -= b->registers;
    cu->s.private_kib -= b->private_kib;
}

/* A block none of whose warps has a ready group waits for ever, unless it waits
 * for other blocks. */
bool mxgpu_block_stuck(const MxgpuCu *cu, const SimtBlock *b)
{
    if (b->grid_wait) {
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
            const SimtGroup *g = &w->s.waiting[0].group;

            mxgpu_simt_fault_at(cu, w, __builtin_ctzll(g->mask),
                                MXGPU_FAULT_BARRIER, MXGPU_ACCESS_EXECUTE,
                                g->pc - 4, g->pc - 4);
            return;
        }
    }
}

/* Whose turn it is, else one that is ready, else one that waits. */
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
            at = &w->s.waiting[0].group;
            mxgpu_simt_fault_at(cu, w, __builtin_ctzll(at->mask), code,
                                MXGPU_ACCESS_EXECUTE, at->pc - 4, at->pc - 4);
            return;
        }
    }
}
