/* SPDX-License-Identifier: MIT */
/*
 * Held slots: a unit writes the blocks of such a slot to memory, in the middle
 * of what they do, and has their room for others; it reads them back when the
 * slot is released and they fit. Blocks come back to the unit that they were
 * on: which unit a thread runs on can be seen by it.
 *
 * What a unit can have saved is bounded: each of the other slots once what fits
 * it. Private memory that saved blocks asked for still counts as taken.
 *
 * Lanes that wait for software after a fault are saved with their block, and wait
 * there (parked.c); but not while a tool observes kernels, which is told of a
 * fault by the place of the warp.
 */
#include "saved.h"

#include "barrier.h"
#include "block.h"
#include "counters.h"
#include "parked.h"
#include "private.h"
#include "profile.h"
#include "simt/warp/budget.h"
#include "simt/warp/count.h"
#include "simt/warp/observe.h"
#include "slots.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory */

/* Slices change many times a second, and memory that is new to the process costs
 * more than what is written there: a unit keeps what its blocks needed last. */
#define SPARE_BYTES (CU_WARPS * sizeof(MxgpuWarp) + 2 * MXGPU_SHARED_MAX)

static SimtSaved *take_spare(MxgpuCu *cu, size_t size)
{
    for (SimtSaved **at = &cu->spare; *at; at = &(*at)->next) {
        SimtSaved *s = *at;

        if (s->size == size) {
            *at = s->next;
            cu->spare_bytes -= size;
            return s;
        }
    }
    return NULL;
}

static void free_spare(MxgpuCu *cu)
{
    while (cu->spare) {
        SimtSaved *s = cu->spare;

        cu->spare = s->next;
        free(s);
    }
    cu->spare_bytes = 0;
}

SimtSaved *mxgpu_saved_new(MxgpuCu *cu, const SimtBlock *shape)
{
    size_t warps = shape->num_warps * sizeof(MxgpuWarp);
    size_t size = sizeof(SimtSaved) + warps + shape->shared_len;
    SimtSaved *s;

    size = (size + 63) / 64 * 64;
    s = take_spare(cu, size);
    if (!s) {
        s = aligned_alloc(64, size);
    }
    if (s) {
        memset(s, 0, sizeof(*s));
        s->size = size;
        s->block = *shape;
        s->shared = (uint8_t *)s->warps + warps;
    }
    return s;
}

void mxgpu_saved_free(MxgpuCu *cu, SimtSaved *s)
{
    for (unsigned i = 0; i < s->block.num_warps; i++) {
        free(s->private[i].index);
        free(s->private[i].bytes);
    }
    if (cu->spare_bytes + s->size > SPARE_BYTES) {
        free_spare(cu); /* they are of other shapes */
    }
    if (s->size > SPARE_BYTES) {
        free(s);
        return;
    }
    s->next = cu->spare;
    cu->spare = s;
    cu->spare_bytes += s->size;
}

void mxgpu_saved_add(MxgpuCu *cu, SimtSaved *s)
{
    SimtSaved **at = &cu->saved;

    while (*at) { /* first out, first in */
        at = &(*at)->next;
    }
    *at = s;
    s->next = NULL;
    cu->saved_private_kib += s->block.private_kib;
    atomic_fetch_add(&cu->simt->slots[s->block.slot].saved, 1);
}

SimtSaved *mxgpu_saved_take(MxgpuCu *cu, SimtSaved **at)
{
    SimtSaved *s = *at;

    *at = s->next;
    cu->saved_private_kib -= s->block.private_kib;
    atomic_fetch_sub(&cu->simt->slots[s->block.slot].saved, 1);
    return s;
}

void mxgpu_saved_drop(MxgpuCu *cu)
{
    while (cu->saved) {
        mxgpu_saved_free(cu, mxgpu_saved_take(cu, &cu->saved));
    }
    free_spare(cu);
}

/* ---- there and back */

#define COST_SAVE 64 /* of the work budget, for each warp */

/* What can be seen of a warp. Of its registers that is about a tenth: most of
 * them are kept in the shortest form. */
static void copy_warp(MxgpuWarp *to, const MxgpuWarp *from)
{
    for (unsigned r = 0; r < 33; r++) {
        if (from->form[r] & FORM_WIDE) {
            memcpy(to->x[r], from->x[r], sizeof(to->x[r]));
        }
        if (from->form[r] & FORM_WORD) {
            memcpy(to->word[r], from->word[r], sizeof(to->word[r]));
        }
    }
    memcpy(to->line, from->line, sizeof(to->line));
    memcpy(to->form, from->form, sizeof(to->form));
    memcpy(to->f, from->f, sizeof(to->f));
    memcpy(to->narrow, from->narrow, sizeof(to->narrow));
    for (unsigned r = 0; r < FP_SCRATCH; r++) {
        if (from->narrow[r] != ALL_LANES) {
            memcpy(to->d[r], from->d[r], sizeof(to->d[r]));
        }
    }
    to->c.expanded = 0;
    to->c.row_shift = from->c.row_shift; /* whoever visits it widens lines */
    to->s = from->s;
}

/* false: no memory. The block stays, and goes on. */
static bool save(MxgpuCu *cu, SimtBlock *b)
{
    SimtSaved *s = mxgpu_saved_new(cu, b);

    if (!s) {
        return false;
    }
    for (unsigned i = 0; i < b->num_warps; i++) {
        copy_warp(&s->warps[i], &cu->warps[b->warps[i]]);
        if (!mxgpu_private_save(cu, b->warps[i], &s->private[i])) {
            mxgpu_saved_free(cu, s);
            return false;
        }
    }
    memcpy(s->shared, cu->shared + b->shared_at, b->shared_len);
    simt_charge(cu, b->num_warps * COST_SAVE + COST_ZERO(b->shared_len));
    s->block.fault_wait = false; /* the unit that has it again sees to that */
    cu->s.faults -= b->faults;
    b->faults = 0; /* these are where the block is */
    mxgpu_block_end(cu, b);
    mxgpu_saved_add(cu, s);
    return true;
}

static void load(MxgpuCu *cu, SimtSaved *s)
{
    SimtBlock *b = mxgpu_block_place(cu, &s->block);

    for (unsigned i = 0; i < b->num_warps; i++) {
        copy_warp(&cu->warps[b->warps[i]], &s->warps[i]);
    }
    memcpy(cu->shared + b->shared_at, s->shared, b->shared_len);
    mxgpu_block_bind(cu, b);
    for (unsigned i = 0; i < b->num_warps; i++) {
        mxgpu_private_load(cu, b->warps[i], &s->private[i]);
    }
    mxgpu_private_fit(cu);
    simt_charge(cu, b->num_warps * COST_SAVE + COST_ZERO(b->shared_len));
    mxgpu_saved_free(cu, s);
    if (b->grid_wait) { /* that may have opened meanwhile, and nobody says so */
        mxgpu_block_grid_poll(cu, b);
    }
}

/* Its grid was stopped: what is saved of it need not come back for that. */
static void end(MxgpuCu *cu, SimtSaved *saved)
{
    unsigned slot = saved->block.slot;

    mxgpu_slot_cancel(cu->simt, mxgpu_slot_grid(cu->simt, slot));
    simt_count(cu, COUNT_blocks, 1);
    if (cu->simt->slots[slot].dispatch.profile) {
        mxgpu_simt_profile_block(cu, slot, 0);
    }
    if (cu->simt->slots[slot].dispatch.recover) { /* as in run.c */
        cu->simt->config.wake(cu->simt->config.opaque);
    }
    mxgpu_park_forget_saved(cu, saved);
    mxgpu_saved_free(cu, saved);
    mxgpu_slot_count_end(cu, slot);
}

static bool comes_back(MxgpuCu *cu, const SimtSaved *s)
{
    uint64_t needs = atomic_load(&cu->simt->slots[s->block.slot].needs);
    bool fits;

    cu->saved_private_kib -= s->block.private_kib;
    fits = mxgpu_block_fits(cu, needs);
    cu->saved_private_kib += s->block.private_kib;
    return fits;
}

static bool may_save(const MxgpuSimt *simt, const SimtBlock *b)
{
    return !b->faults || !simt_observer(simt);
}

static void save_held(MxgpuCu *cu)
{
    MxgpuSimt *simt = cu->simt;

    if (simt_slot_held(simt, cu->s.held_slot)) {
        if (cu->s.held) {
            mxgpu_slot_return_held(cu);
        } else if (cu->s.held_ended) {
            mxgpu_slot_drop_held(cu); /* counts them */
        }
    }
    for (unsigned i = 0; i < MXGPU_CU_BLOCKS; i++) {
        SimtBlock *b = &cu->s.blocks[i];

        if (b->used && simt_slot_held(simt, b->slot) && may_save(simt, b) &&
            !atomic_load(&simt->slots[b->slot].stop)) {
            (void)save(cu, b);
        }
    }
}

void mxgpu_saved_poll(MxgpuCu *cu)
{
    MxgpuSimt *simt = cu->simt;
    SimtSaved **at = &cu->saved;
    bool room = true;

    save_held(cu);
    while (*at) {
        SimtSaved *s = *at;

        if (s->block.faults && !atomic_load(&simt->slots[s->block.slot].stop)) {
            room = mxgpu_park_poll_saved(cu, s, room);
        }
        if (atomic_load(&simt->slots[s->block.slot].stop)) {
            end(cu, mxgpu_saved_take(cu, at));
        } else if (!simt_slot_held(simt, s->block.slot) && comes_back(cu, s)) {
            load(cu, mxgpu_saved_take(cu, at));
        } else {
            at = &s->next;
        }
    }
}

void mxgpu_simt_hold(MxgpuSimt *simt, unsigned slot, bool hold)
{
    if (slot >= MXGPU_DISPATCH_SLOTS) {
        return;
    }
    if (!hold) {
        atomic_fetch_and(&simt->held_slots, ~(1u << slot));
    } else if (atomic_load(&simt->slots[slot].active)) {
        atomic_fetch_or(&simt->held_slots, 1u << slot);
    }
    simt->config.wake(simt->config.opaque);
}

uint32_t mxgpu_simt_held(MxgpuSimt *simt)
{
    return atomic_load(&simt->held_slots);
}

uint64_t mxgpu_simt_spent(MxgpuSimt *simt, unsigned slot)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        sum += atomic_load_explicit(&simt->cus[i].n.spent[slot],
                                    memory_order_relaxed);
    }
    return sum;
}

uint64_t mxgpu_simt_vmid_ns(MxgpuSimt *simt, unsigned vmid)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        sum += atomic_load_explicit(&simt->cus[i].n.vmid_ns[vmid],
                                    memory_order_relaxed);
    }
    return sum;
}

bool mxgpu_simt_waits(MxgpuSimt *simt, unsigned slot)
{
    SimtSlot *s = &simt->slots[slot];

    return atomic_load(&s->active) &&
           (mxgpu_slot_has_blocks(s) || atomic_load(&s->saved));
}
