/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SLOTS_H
#define MXGPU_SIMT_SLOTS_H

#include "simt/internal.h"

/*
 * A unit has one host thread: more blocks at once only spoil its cache. It
 * takes another one when those it has still run after so many instructions,
 * for they may wait for blocks that have not begun.
 */
#define BLOCK_QUANTUM 250000

bool mxgpu_slot_has_blocks(SimtSlot *s);
/* The slot's grid, or the last one it had. */
uint64_t mxgpu_slot_grid(MxgpuSimt *simt, unsigned slot);
/* Blocks of the grid that nobody has taken will not be run. */
void mxgpu_slot_cancel(MxgpuSimt *simt, uint64_t grid);
/* Whether the gang is a grid that will end, or there is none. */
bool mxgpu_slot_gang_ok(MxgpuSimt *simt);
/* Ends the slot's grid from outside. */
void mxgpu_slot_stop(MxgpuSimt *simt, SimtSlot *s, enum mxgpu_fault code);

/* Takes and starts one block of the most urgent slot that has one that fits. */
bool mxgpu_slot_take_block(MxgpuCu *cu);
/* The next block that the unit holds of the slot, in place of its only one,
 * which has ended; false: there is none, or the unit has something to see to. */
bool mxgpu_slot_next_held(MxgpuCu *cu, unsigned slot, uint64_t *block);
/* Begins no more of the blocks that the unit holds. */
void mxgpu_slot_drop_held(MxgpuCu *cu);
/* A block of the slot has ended. */
void mxgpu_slot_count_end(MxgpuCu *cu, unsigned slot);

#endif
