/* SPDX-License-Identifier: MIT */
/*
 * Contexts: all that a held slot has, in a form that goes to memory and comes
 * back to any slot, later. Units that have saved their blocks of it have nothing
 * else of the grid; so what is left are those, blocks that were given back, and
 * the slot itself.
 *
 * What is loaded may come from anybody. It is checked as a state is (visit.c);
 * whose work it is, and how urgent, is not asked of it but of the caller; and
 * whether its lanes wait for software is known to who keeps the verdicts.
 */
#include "simt/context.h"

#include "parts.h"
#include "simt/sched/parked.h"
#include "simt/sched/private.h"
#include "simt/sched/returned.h"
#include "simt/sched/saved.h"
#include "simt/sched/slots.h"
#include "simt/warp/observe.h"

#include <string.h>

#define CONTEXT_VERSION 2

/* ---- from a slot */

static bool at_rest(MxgpuSimt *simt, unsigned slot)
{
    SimtSlot *s = &simt->slots[slot];

    return simt_slot_held(simt, slot) && !atomic_load(&s->stop) &&
           atomic_load(&s->left) == mxgpu_slot_untaken(s) +
                                        atomic_load(&s->saved) +
                                        atomic_load(&s->returned);
}

MxgpuContextState mxgpu_simt_context_ready(MxgpuSimt *simt, unsigned slot)
{
    SimtSlot *s = &simt->slots[slot];

    if (slot >= MXGPU_DISPATCH_SLOTS || !atomic_load(&s->active) ||
        s->dispatch.cooperative || simt_observer(simt)) {
        return MXGPU_CONTEXT_REFUSED;
    }
    return at_rest(simt, slot) ? MXGPU_CONTEXT_DONE : MXGPU_CONTEXT_BUSY;
}

/* The range of blocks that the unit gave back of that grid. */
static bool gave_back(const MxgpuCu *cu, uint64_t grid)
{
    const SimtReturned *r = &cu->s.returned;

    return atomic_load(&r->blocks) && r->grid == grid;
}

static void save_unit(MxgpuVisit *v, MxgpuCu *cu, unsigned slot)
{
    uint64_t grid = mxgpu_slot_grid(cu->simt, slot), first = 0;
    uint32_t n = 0, blocks = 0;

    for (SimtSaved *s = cu->saved; s; s = s->next) {
        n += s->block.slot == slot;
    }
    VISIT(v, n);
    for (SimtSaved *s = cu->saved; s; s = s->next) {
        if (s->block.slot == slot) {
            mxgpu_visit_saved(v, cu, s);
        }
    }
    if (gave_back(cu, grid)) {
        blocks = atomic_load(&cu->s.returned.blocks);
        first = cu->s.returned.next;
    }
    VISIT(v, blocks);
    VISIT(v, first);
    mxgpu_visit_profile(v, &cu->n.profile[slot]);
}

void mxgpu_simt_context_save(MxgpuSimt *simt, unsigned slot, MxgpuVisit *v)
{
    visit_section(v, "context", CONTEXT_VERSION);
    mxgpu_visit_slot(v, simt, &simt->slots[slot]);
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        save_unit(v, &simt->cus[i], slot);
    }
}

/* ---- the slot has nothing any more */

static void drop_saved(MxgpuCu *cu, unsigned slot)
{
    SimtSaved **at = &cu->saved;

    while (*at) {
        if ((*at)->block.slot == slot) {
            mxgpu_saved_free(cu, mxgpu_saved_take(cu, at));
        } else {
            at = &(*at)->next;
        }
    }
}

static void drop_slot(MxgpuSimt *simt, unsigned slot)
{
    SimtSlot *s = &simt->slots[slot];

    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        drop_saved(&simt->cus[i], slot);
    }
    (void)mxgpu_returned_drop(simt, mxgpu_slot_grid(simt, slot));
    atomic_store(&s->next, atomic_load(&s->next) | SLOT_NONE);
    atomic_store(&s->left, 0);
    atomic_store(&s->active, false);
    atomic_fetch_and(&simt->held_slots, ~(1u << slot));
}

void mxgpu_simt_context_drop(MxgpuSimt *simt, unsigned slot)
{
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        MxgpuCu *cu = &simt->cus[i];

        for (SimtSaved *s = cu->saved; s; s = s->next) {
            if (s->block.slot == slot) {
                mxgpu_park_away(cu, s);
            }
        }
    }
    drop_slot(simt, slot);
}

/* ---- to a slot */

/* To a unit that has given nothing back itself; false: there is none now. */
static bool give(MxgpuSimt *simt, uint64_t grid, uint64_t first, unsigned blocks)
{
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        if (!atomic_load(&simt->cus[i].s.returned.blocks)) {
            mxgpu_returned_add(&simt->cus[i], grid, first, blocks);
            return true;
        }
    }
    return false;
}

/* Private memory is whose the slot is, whatever the tables were meanwhile. */
static void own(MxgpuCu *cu, const MxgpuDispatch *d, unsigned slot)
{
    for (SimtSaved *s = cu->saved; s; s = s->next) {
        for (unsigned i = 0; s->block.slot == slot && i < s->block.num_warps;
             i++) {
            s->private[i].owner = mxgpu_private_owner(cu, d->vmid);
        }
    }
}

static bool load_unit(MxgpuVisit *v, MxgpuCu *cu, unsigned slot)
{
    SimtSlot *s = &cu->simt->slots[slot];
    uint32_t n = 0, blocks = 0;
    uint64_t first = 0, total = atomic_load(&s->total);

    VISIT_BELOW(v, n, MXGPU_CU_BLOCKS + 1);
    for (; n && !v->error; n--) {
        mxgpu_load_saved(v, cu, slot);
    }
    if (!mxgpu_private_reserve(cu)) {
        v->error = -ENOMEM;
    }
    VISIT(v, blocks);
    VISIT(v, first);
    visit_check(v, first <= total && blocks <= total - first);
    mxgpu_visit_profile(v, &cu->n.profile[slot]);
    if (v->error) {
        return true;
    }
    own(cu, &s->dispatch, slot);
    /* Code that is not decoded here any more may have written any. */
    cu->c.written_x = cu->c.written_d = ~0u;
    return !blocks ||
           give(cu->simt, mxgpu_slot_grid(cu->simt, slot), first, blocks);
}

static void load_slot(MxgpuSimt *simt, unsigned slot, const MxgpuDispatch *whose,
                      MxgpuVisit *v)
{
    SimtSlot *s = &simt->slots[slot];
    uint64_t generation = (atomic_load(&s->next) & ~SLOT_NEXT) + SLOT_NEXT + 1;

    mxgpu_visit_slot(v, simt, s);
    atomic_store(&s->next, generation | (atomic_load(&s->next) & SLOT_NEXT));
    visit_check(v, s->active && !s->dispatch.cooperative &&
                       !atomic_load(&s->stop) && !atomic_load(&s->stop_code) &&
                       !atomic_load(&s->fault_taken));
    s->dispatch.vmid = whose->vmid;
    s->dispatch.priority = whose->priority;
    s->dispatch.queue = whose->queue;
    atomic_store(&s->priority, whose->priority);
}

/* Its blocks are there to stay. */
static void arrived(MxgpuSimt *simt, unsigned slot)
{
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        MxgpuCu *cu = &simt->cus[i];

        for (SimtSaved *s = cu->saved; s; s = s->next) {
            if (s->block.slot == slot) {
                mxgpu_park_back(cu, s);
            }
        }
    }
    if (simt->debug) {
        atomic_store(&simt->debug->launched[slot], true);
    }
    atomic_fetch_add(&simt->code_check, 1);
}

MxgpuContextState mxgpu_simt_context_load(MxgpuSimt *simt, unsigned slot,
                                          const MxgpuDispatch *whose,
                                          MxgpuVisit *v)
{
    bool room = true;

    if (slot >= MXGPU_DISPATCH_SLOTS || simt_observer(simt) ||
        atomic_load(&simt->slots[slot].active)) {
        return MXGPU_CONTEXT_REFUSED;
    }
    visit_section(v, "context", CONTEXT_VERSION);
    atomic_fetch_or(&simt->held_slots, 1u << slot);
    load_slot(simt, slot, whose, v);
    for (unsigned i = 0; i < simt->config.compute_units && !v->error && room;
         i++) {
        room = load_unit(v, &simt->cus[i], slot);
    }
    if (room && !v->error) {
        visit_check(v, at_rest(simt, slot));
    }
    if (room && !v->error) {
        arrived(simt, slot);
        return MXGPU_CONTEXT_DONE;
    }
    drop_slot(simt, slot);
    return room ? MXGPU_CONTEXT_REFUSED : MXGPU_CONTEXT_BUSY;
}
