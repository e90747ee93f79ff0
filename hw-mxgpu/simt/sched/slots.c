/* SPDX-License-Identifier: MIT */
/*
 * Dispatch slots, and how units take blocks from them. All units share the
 * slots: a unit takes a block by a compare-and-swap of SimtSlot.next, whose
 * upper bits count the grids that the slot has had. When the swap succeeds, the
 * slot's parameters that were read before it are those of the grid that the
 * block belongs to.
 */
#include "slots.h"

#include "barrier.h"
#include "block.h"
#include "returned.h"
#include "simt/warp/budget.h"
#include "simt/warp/observe.h"

#include <limits.h>

/* ---- slots */

bool mxgpu_slot_has_blocks(SimtSlot *s)
{
    return (atomic_load(&s->next) & SLOT_NEXT) != SLOT_NONE ||
           atomic_load(&s->returned);
}

/*
 * A cooperative grid needs all its blocks resident at once, so two of them must
 * not share the units: one of them at a time is the "gang" (gang scheduling)
 * whose blocks units take. While it has blocks left, units take blocks of other
 * grids only from slots that are more urgent. The token names the grid, not
 * only the slot, so that a claim that comes late is told from one of the slot's
 * next grid.
 */
static uint64_t gang_token(const MxgpuSimt *simt, const SimtSlot *s,
                           uint64_t next)
{
    return (next & ~SLOT_NEXT) | (s - simt->slots + 1);
}

static bool gang_drop(MxgpuSimt *simt, uint64_t token)
{
    return atomic_compare_exchange_strong(&simt->gang, &token, 0);
}

/* Whether the slot's grid is the gang now; makes it the gang if there is none.
 * What is claimed here while it has blocks left is dropped by slot_done(). */
static bool gang_claim(MxgpuSimt *simt, SimtSlot *s, uint64_t next)
{
    uint64_t token = gang_token(simt, s, next), gang = 0;

    while (!atomic_compare_exchange_strong(&simt->gang, &gang, token)) {
        if (gang == token ||
            !simt_slot_held(simt, (unsigned)(gang & SLOT_NEXT) - 1)) {
            return gang == token;
        }
        (void)gang_drop(simt, gang); /* that one claims it again */
        gang = 0;
    }
    next = atomic_load(&s->next);
    if ((next & SLOT_NEXT) != SLOT_NONE && gang_token(simt, s, next) == token) {
        return true;
    }
    if (gang_drop(simt, token)) {
        simt->config.wake(simt->config.opaque);
    }
    return false;
}

/* The slot of a gang that has blocks left; MXGPU_DISPATCH_SLOTS: none. */
static unsigned gang_slot(MxgpuSimt *simt)
{
    uint64_t gang = atomic_load(&simt->gang), next;
    SimtSlot *s;

    if (!gang) {
        return MXGPU_DISPATCH_SLOTS;
    }
    s = &simt->slots[(gang & SLOT_NEXT) - 1];
    next = atomic_load(&s->next);
    return !simt_slot_held(simt, s - simt->slots) &&
                   (next & SLOT_NEXT) != SLOT_NONE &&
                   gang_token(simt, s, next) == gang
               ? s - simt->slots
               : MXGPU_DISPATCH_SLOTS;
}

bool mxgpu_slot_gang_ok(MxgpuSimt *simt)
{
    uint64_t gang = atomic_load(&simt->gang);
    SimtSlot *s;

    if (!gang || (gang & SLOT_NEXT) > MXGPU_DISPATCH_SLOTS ||
        !(gang & SLOT_NEXT)) {
        return !gang;
    }
    s = &simt->slots[(gang & SLOT_NEXT) - 1];
    return atomic_load(&s->active) && s->dispatch.cooperative &&
           gang_token(simt, s, atomic_load(&s->next)) == gang;
}

/* The last block has ended: the slot is free before done is called. */
static void slot_done(MxgpuSimt *simt, SimtSlot *s)
{
    bool gang = gang_drop(simt, gang_token(simt, s, atomic_load(&s->next)));
    unsigned code = atomic_load(&s->stop_code);

    if (code && !atomic_exchange(&s->fault_taken, true)) {
        s->fault = (MxgpuDispatchFault){.code = code}; /* nothing ran */
    }
    if (simt_observer(simt) && simt_observer(simt)->grid) {
        simt_observer(simt)->grid(simt->config.observer_opaque,
                                  s - simt->slots, s->dispatch.entry,
                                  s->dispatch.args, false);
    }
    atomic_store(&s->active, false);
    atomic_fetch_and(&simt->held_slots, ~(1u << (s - simt->slots)));
    simt->config.done(simt->config.opaque, s - simt->slots);
    if (gang) {
        simt->config.wake(simt->config.opaque);
    }
}

static void slot_left(MxgpuSimt *simt, SimtSlot *s, uint64_t blocks)
{
    if (blocks && atomic_fetch_sub(&s->left, blocks) == blocks) {
        slot_done(simt, s);
    }
}

/* Blocks of a grid that no unit has taken, or that were given back, will not be
 * run. The grid may have ended meanwhile, and the slot have another one. */
void mxgpu_slot_cancel(MxgpuSimt *simt, uint64_t grid)
{
    SimtSlot *s = &simt->slots[simt_grid_slot(grid)];
    uint64_t next = atomic_load(&s->next), blocks;

    do {
        blocks = 0;
        if ((next & SLOT_NEXT) == SLOT_NONE ||
            simt_grid(next, simt_grid_slot(grid)) != grid) {
            break;
        }
        blocks = atomic_load(&s->total) - (next & SLOT_NEXT);
    } while (!atomic_compare_exchange_weak(&s->next, &next, next | SLOT_NONE));
    slot_left(simt, s, blocks + mxgpu_returned_drop(simt, grid));
}

uint64_t mxgpu_slot_grid(MxgpuSimt *simt, unsigned slot)
{
    return simt_grid(atomic_load(&simt->slots[slot].next), slot);
}

/*
 * Ends a grid from outside. The first unit that ends a block of it says where a
 * warp of that was. This counts as one more block meanwhile, so that the grid
 * cannot end, and its fault be read, before stop_code is set.
 */
void mxgpu_slot_stop(MxgpuSimt *simt, SimtSlot *s, enum mxgpu_fault code)
{
    uint64_t left = atomic_load(&s->left);

    do {
        if (!left) {
            return; /* it has just ended */
        }
    } while (!atomic_compare_exchange_weak(&s->left, &left, left + 1));
    atomic_store(&s->stop_code, code);
    atomic_store(&s->stop, true);
    mxgpu_slot_cancel(simt, mxgpu_slot_grid(simt, s - simt->slots));
    slot_left(simt, s, 1);
    simt->config.wake(simt->config.opaque); /* units that wait at its barrier */
}

/* ---- taking blocks */

/*
 * Held blocks. Units that take blocks of few instructions one at a time would
 * spend their time waiting for the cache line of SimtSlot.next. When the last
 * block of the slot was a short one, a unit takes several: it begins one and
 * holds the others, which it begins before it takes more of that slot.
 *
 * A unit that takes a block of another slot, has no room for a held one, or has
 * run BLOCK_QUANTUM instructions since it took a block, gives its held blocks
 * back (returned.c): blocks that run may wait for them. Blocks given back are
 * the next ones of their slot for any unit that has room, lowest number first.
 * So a block begins when some unit has room. And where blocks wait for earlier
 * ones only, the grid makes progress: take the first block that has not ended.
 * It runs; or the unit that holds it, or gave it back, has begun none behind
 * it.
 */
static unsigned take_count(const MxgpuCu *cu, uint64_t from, uint64_t needs,
                           uint64_t left)
{
    uint64_t fair = left / (2 * cu->simt->config.compute_units);
    uint64_t n = cu->s.since_take ? HELD_INSTRUCTIONS / cu->s.since_take : 1;

    if (cu->s.held || atomic_load(&cu->s.returned.blocks) ||
        (needs & NEEDS_GANG) || cu->s.taken_from != from) {
        return 1;
    }
    n = n < fair ? n : fair;
    n = n < HELD_MAX ? n : HELD_MAX;
    return n ? n : 1;
}

void mxgpu_slot_return_held(MxgpuCu *cu)
{
    MxgpuSimt *simt = cu->simt;
    SimtSlot *s = &simt->slots[cu->s.held_slot];
    uint64_t grid = mxgpu_slot_grid(simt, cu->s.held_slot);
    unsigned n = cu->s.held, ended = cu->s.held_ended;

    cu->s.held = cu->s.held_ended = 0;
    mxgpu_returned_add(cu, grid, cu->s.held_next, n);
    if (atomic_load(&s->stop)) { /* the grid may have been cancelled before */
        mxgpu_slot_cancel(simt, grid);
    }
    slot_left(simt, s, ended);
    simt->config.wake(simt->config.opaque);
}

/* Takes a block that fits the unit, and maybe some to hold. */
static bool slot_take(MxgpuCu *cu, unsigned slot, uint64_t *block)
{
    SimtSlot *s = &cu->simt->slots[slot];
    uint64_t next = atomic_load(&s->next), n, after, needs, total, from;
    unsigned count;

    do {
        n = next & SLOT_NEXT;
        needs = atomic_load(&s->needs);
        if (n == SLOT_NONE ||
            ((needs & NEEDS_GANG) && !gang_claim(cu->simt, s, next)) ||
            !mxgpu_block_fits(cu, needs)) {
            return false;
        }
        total = atomic_load(&s->total);
        from = simt_grid(next, slot);
        count = take_count(cu, from, needs, total - n);
        after = n + count < total ? next + count : next | SLOT_NONE;
    } while (!atomic_compare_exchange_weak(&s->next, &next, after));
    if ((needs & NEEDS_GANG) && (after & SLOT_NEXT) == SLOT_NONE) {
        /* units that were kept for it may take other blocks now */
        cu->simt->config.wake(cu->simt->config.opaque);
    }
    *block = n;
    cu->s.taken_from = from;
    if (cu->s.held) { /* of another slot */
        mxgpu_slot_return_held(cu);
    }
    if (count > 1) {
        slot_left(cu->simt, &cu->simt->slots[cu->s.held_slot],
                  cu->s.held_ended);
        cu->s.held_slot = slot;
        cu->s.held_next = n + 1;
        cu->s.held = count - 1;
        cu->s.held_ended = 0;
    }
    return true;
}

static bool holds(const MxgpuCu *cu, unsigned slot)
{
    return cu->s.held && cu->s.held_slot == slot;
}

bool mxgpu_slot_restart_block(MxgpuCu *cu, SimtBlock *block)
{
    MxgpuSimt *simt = cu->simt;

    if (block->exited || !mxgpu_block_may_convoy(cu, block) ||
        !holds(cu, block->slot) || cu->s.num_blocks != 1 ||
        simt_slot_held(simt, block->slot) ||
        atomic_load(&simt->slots[block->slot].stop) ||
        atomic_load(&simt->code_check) != cu->c.dispatches_seen) {
        return false;
    }
    cu->s.held--;
    cu->s.held_ended++;
    cu->n.restarts++;
    mxgpu_block_restart(cu, block, cu->s.held_next++);
    return true;
}

void mxgpu_slot_drop_held(MxgpuCu *cu)
{
    unsigned n = cu->s.held + cu->s.held_ended;

    cu->s.held = cu->s.held_ended = 0;
    slot_left(cu->simt, &cu->simt->slots[cu->s.held_slot], n);
}

/* The slot's next block for this unit: one that it holds, one that was given
 * back, or a new one. */
static bool take_from(MxgpuCu *cu, unsigned slot, uint64_t *block)
{
    SimtTake take;

    if (!holds(cu, slot)) {
        take = mxgpu_returned_take(cu, slot, block);
        return take == TAKE_NONE ? slot_take(cu, slot, block)
                                 : take == TAKE_BLOCK;
    }
    if (!mxgpu_block_fits(cu, atomic_load(&cu->simt->slots[slot].needs))) {
        mxgpu_slot_return_held(cu);
        return false;
    }
    *block = cu->s.held_next++;
    cu->s.held--;
    return true;
}

void mxgpu_slot_count_end(MxgpuCu *cu, unsigned slot)
{
    unsigned n = 1;

    if (holds(cu, slot)) { /* not the last one */
        cu->s.held_ended++;
        return;
    }
    if (cu->s.held_slot == slot) {
        n += cu->s.held_ended;
        cu->s.held_ended = 0;
    }
    slot_left(cu->simt, &cu->simt->slots[slot], n);
}

bool mxgpu_slot_take_block(MxgpuCu *cu)
{
    MxgpuSimt *simt = cu->simt;
    uint64_t block;
    unsigned tried = 0, gang = gang_slot(simt);
    unsigned reserved = gang == MXGPU_DISPATCH_SLOTS
                            ? UINT_MAX
                            : atomic_load(&simt->slots[gang].priority);

    if (cu->s.held && cu->s.since_take >= BLOCK_QUANTUM) {
        mxgpu_slot_return_held(cu);
    }
    while (tried != (1u << MXGPU_DISPATCH_SLOTS) - 1) {
        unsigned best = MXGPU_DISPATCH_SLOTS, priority = 0;
        uint64_t grid;

        for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
            unsigned n = (i + cu->s.last_slot + 1) % MXGPU_DISPATCH_SLOTS;
            SimtSlot *s = &simt->slots[n];
            unsigned p = atomic_load(&s->priority);

            if (!(tried >> n & 1) && !simt_slot_held(simt, n) &&
                (mxgpu_slot_has_blocks(s) || holds(cu, n)) &&
                (p < reserved || n == gang) &&
                (best == MXGPU_DISPATCH_SLOTS || p < priority)) {
                best = n;
                priority = p;
            }
        }
        if (best == MXGPU_DISPATCH_SLOTS) {
            return false;
        }
        tried |= 1u << best;
        /* Read before stop: if that is a later grid's, nothing is cancelled. */
        grid = mxgpu_slot_grid(simt, best);
        if (atomic_load(&simt->slots[best].stop)) {
            mxgpu_slot_cancel(simt, grid);
            if (holds(cu, best)) {
                mxgpu_slot_drop_held(cu);
            }
        } else if (take_from(cu, best, &block)) {
            cu->s.last_slot = best;
            mxgpu_block_start(cu, best, block);
            return true;
        }
    }
    return false;
}

bool mxgpu_simt_has_work(MxgpuSimt *simt)
{
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        if (atomic_load(&simt->slots[i].active)) {
            return true;
        }
    }
    return false;
}
