/* SPDX-License-Identifier: MIT */
/*
 * Blocks that a unit took, did not begin and gave back for any unit to take.
 * That is rare, hence a lock; SimtSlot.returned tells units without it whether
 * the slot has any.
 */
#include "returned.h"

#include "block.h"

/* A unit gives back one range at a time: take_count() holds no more blocks
 * while there is one. */
void mxgpu_returned_add(MxgpuCu *cu, uint64_t grid, uint64_t first, unsigned n)
{
    MxgpuSimt *simt = cu->simt;
    SimtReturned *r = &cu->s.returned;

    pthread_mutex_lock(&simt->returned_lock);
    r->grid = grid;
    r->next = first;
    atomic_store(&r->blocks, n);
    atomic_fetch_add(&simt->slots[simt_grid_slot(grid)].returned, n);
    pthread_mutex_unlock(&simt->returned_lock);
}

/* The range of the slot that begins first. */
static SimtReturned *first_of(MxgpuSimt *simt, unsigned slot)
{
    SimtReturned *best = NULL;

    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        SimtReturned *r = &simt->cus[i].s.returned;

        if (atomic_load(&r->blocks) && simt_grid_slot(r->grid) == slot &&
            (!best || r->next < best->next)) {
            best = r;
        }
    }
    return best;
}

/* A block that was given back has not ended, nor has its grid: the slot's needs
 * are that grid's. */
SimtTake mxgpu_returned_take(MxgpuCu *cu, unsigned slot, uint64_t *block)
{
    MxgpuSimt *simt = cu->simt;
    SimtSlot *s = &simt->slots[slot];
    SimtTake take = TAKE_NONE;
    SimtReturned *r;

    if (!atomic_load(&s->returned)) {
        return TAKE_NONE;
    }
    pthread_mutex_lock(&simt->returned_lock);
    r = first_of(simt, slot);
    if (r) {
        take = mxgpu_block_fits(cu, atomic_load(&s->needs)) ? TAKE_BLOCK
                                                            : TAKE_NO_ROOM;
    }
    if (take == TAKE_BLOCK) {
        *block = r->next++;
        atomic_fetch_sub(&r->blocks, 1);
        atomic_fetch_sub(&s->returned, 1);
    }
    pthread_mutex_unlock(&simt->returned_lock);
    return take;
}

unsigned mxgpu_returned_drop(MxgpuSimt *simt, uint64_t grid)
{
    SimtSlot *s = &simt->slots[simt_grid_slot(grid)];
    unsigned n = 0;

    if (!atomic_load(&s->returned)) {
        return 0;
    }
    pthread_mutex_lock(&simt->returned_lock);
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        SimtReturned *r = &simt->cus[i].s.returned;

        if (r->grid == grid) {
            n += atomic_exchange(&r->blocks, 0);
        }
    }
    atomic_fetch_sub(&s->returned, n);
    pthread_mutex_unlock(&simt->returned_lock);
    return n;
}
