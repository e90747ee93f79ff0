/* SPDX-License-Identifier: MIT */
/*
 * Resident blocks of a compute unit: where they are placed, how they start and
 * end.
 */
#include "block.h"

#include "barrier.h"
#include "counters.h"
#include "mxgpu/occupancy.h"
#include "parked.h"
#include "private.h"
#include "simt/slow/float.h"
#include "simt/warp/budget.h"
#include "simt/warp/count.h"
#include "simt/warp/memory.h"
#include "simt/warp/observe.h"
#include "simt/warp/warp.h"

#include <string.h>

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
 * The first gap of len bytes between the shared memory of resident blocks;
 * UINT32_MAX: there is none. Blocks of a cooperative grid are placed at
 * multiples of len, so that the gaps between them have room for more blocks of
 * that grid: a block must not be kept from being placed by those that wait for
 * it.
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
#define NEEDS_PRIVATE(needs)                                                   \
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
           cu->s.private_kib + cu->saved_private_kib + NEEDS_PRIVATE(needs) <=
               cu->simt->private_bytes / 1024 &&
           shared_gap(cu, NEEDS_SHARED(needs), needs & NEEDS_GANG) !=
               UINT32_MAX;
}

/*
 * Lanes of a row (SimtLine), as a shift: the threads of a block with one y and
 * z where whole rows fill a warp, so that indices of threads are lines.
 */
static unsigned row_shift(const MxgpuDispatch *d)
{
    unsigned x = d->block[0];

    return d->block[1] * d->block[2] > 1 && x < LANES && LANES % x == 0
               ? __builtin_ctz(x)
               : 6;
}

/* Fills in what a warp caches of its block and its dispatch. */
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

void mxgpu_block_init_x(MxgpuCu *cu, SimtBlock *b)
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

void mxgpu_block_restart(MxgpuCu *cu, SimtBlock *b, uint64_t number)
{
    const MxgpuDispatch *d = &cu->simt->slots[b->slot].dispatch;

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
    if (simt_observer(cu->simt)) {
        mxgpu_simt_observe_block(cu, b, MXGPU_OBSERVED_BLOCK, 0);
    }
    simt_count(cu, COUNT_blocks, 1);
    simt_count(cu, COUNT_warps, b->num_warps);
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

/* The unit's thread alone writes it. */
static void set_slots(MxgpuCu *cu, uint32_t slots)
{
    atomic_store_explicit(&cu->n.slots, slots, memory_order_relaxed);
}

static void slot_came(MxgpuCu *cu, unsigned slot)
{
    set_slots(cu, atomic_load_explicit(&cu->n.slots, memory_order_relaxed) |
                      1u << slot);
}

/* Maybe: the slot has no block there any more. */
static void slot_left(MxgpuCu *cu)
{
    uint32_t slots = 0;

    for (unsigned i = 0; i < MXGPU_CU_BLOCKS; i++) {
        const SimtBlock *b = &cu->s.blocks[i];

        slots |= b->used ? 1u << b->slot : 0;
    }
    set_slots(cu, slots);
}

void mxgpu_block_account(MxgpuCu *cu, const SimtBlock *b)
{
    slot_came(cu, b->slot);
    for (unsigned i = 0; i < b->num_warps; i++) {
        cu->s.used_warps |= 1u << b->warps[i];
    }
    cu->s.num_blocks++;
    cu->s.num_waiting += b->grid_wait || b->fault_wait;
    cu->s.faults += b->faults;
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
    return b->shared_at % MXGPU_SHARED_GRANULE == 0 &&
           end <= MXGPU_SHARED_MAX &&
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
    b->convoy = mxgpu_block_may_convoy(cu, b);
    memset(cu->shared + b->shared_at, 0, b->shared_len);
    simt_charge(cu, b->num_warps * COST_WARP + COST_ZERO(b->shared_len));
    for (unsigned i = 0; i < b->num_warps; i++) {
        unsigned warp = __builtin_ctz(~cu->s.used_warps);

        cu->s.used_warps |= 1u << warp;
        b->warps[i] = warp;
        start_warp(cu, n, i);
    }
    if (simt_observer(cu->simt)) {
        mxgpu_simt_observe_block(cu, b, MXGPU_OBSERVED_BLOCK, 0);
    }
    mxgpu_private_fit(cu);
    simt_count(cu, COUNT_warps, b->num_warps);
    if (d->profile) {
        mxgpu_simt_profile_block(cu, slot, b->num_warps);
    }
    mxgpu_block_account(cu, b);
}

SimtBlock *mxgpu_block_place(MxgpuCu *cu, const SimtBlock *shape)
{
    const MxgpuDispatch *d = &cu->simt->slots[shape->slot].dispatch;
    /* Before it is one of them: it need not be where it was. */
    uint32_t shared_at = shared_gap(cu, shape->shared_len, d->cooperative);
    unsigned n = 0;
    SimtBlock *b;

    while (cu->s.blocks[n].used) {
        n++;
    }
    b = &cu->s.blocks[n];
    *b = *shape;
    b->shared_at = shared_at;
    for (unsigned i = 0; i < b->num_warps; i++) {
        b->warps[i] = __builtin_ctz(~cu->s.used_warps);
        cu->s.used_warps |= 1u << b->warps[i];
    }
    mxgpu_block_account(cu, b);
    return b;
}

void mxgpu_block_end(MxgpuCu *cu, SimtBlock *b)
{
    if (simt_observer(cu->simt)) {
        mxgpu_simt_observe_block(cu, b, MXGPU_OBSERVED_BLOCK_END, 0);
    }
    mxgpu_block_init_x(cu, b);
    for (unsigned i = 0; i < b->num_warps; i++) {
        cu->s.used_warps &= ~(1u << b->warps[i]);
    }
    b->used = false;
    if (b->grid_wait || b->fault_wait) {
        b->grid_wait = b->fault_wait = false;
        cu->s.num_waiting--;
    }
    if (b->faults) {
        mxgpu_park_forget(cu, b);
    }
    slot_left(cu);
    cu->s.num_blocks--;
    cu->s.threads -= b->num_warps * LANES;
    cu->s.registers -= b->registers;
    cu->s.private_kib -= b->private_kib;
}
