/* SPDX-License-Identifier: MIT */
/* Blocks that units took, did not begin and gave back: see returned.c. */
#ifndef MXGPU_SIMT_SCHED_RETURNED_H
#define MXGPU_SIMT_SCHED_RETURNED_H

#include "simt/state.h"

/* A grid, told from earlier and later ones of the slot: the generation of
 * SimtSlot.next, and the slot's number. */
static inline uint64_t simt_grid(uint64_t next, unsigned slot)
{
    return (next & ~SLOT_NEXT) | slot;
}

static inline unsigned simt_grid_slot(uint64_t grid)
{
    return grid & SLOT_NEXT;
}

typedef enum SimtTake { TAKE_NONE, TAKE_NO_ROOM, TAKE_BLOCK } SimtTake;

/* The unit gives n blocks of a grid, from "first" on, to whichever unit has
 * room for them. */
void mxgpu_returned_add(MxgpuCu *cu, uint64_t grid, uint64_t first, unsigned n);
/* Takes the first block that units gave back of the slot's grid, if this unit
 * has room for it. */
SimtTake mxgpu_returned_take(MxgpuCu *cu, unsigned slot, uint64_t *block);
/* Blocks of the grid that were given back will not be run; returns how many. */
unsigned mxgpu_returned_drop(MxgpuSimt *simt, uint64_t grid);

#endif
