/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SCHED_SLOTS_H
#define MXGPU_SIMT_SCHED_SLOTS_H

#include "simt/state.h"

/* Whether the slot has blocks that no unit runs or holds. */
bool mxgpu_slot_has_blocks(SimtSlot *s);
/* The slot's grid, or the last one it had: see simt_grid(). */
uint64_t mxgpu_slot_grid(MxgpuSimt *simt, unsigned slot);
/* Blocks of the grid that nobody runs or holds will not be run. */
void mxgpu_slot_cancel(MxgpuSimt *simt, uint64_t grid);
/* Whether MxgpuSimt.gang is a grid that will end, or there is none. */
bool mxgpu_slot_gang_ok(MxgpuSimt *simt);
/* Ends the slot's grid from outside, with this fault. */
void mxgpu_slot_stop(MxgpuSimt *simt, SimtSlot *s, enum mxgpu_fault code);

/* Takes and starts one block of the most urgent slot that has one that fits. */
bool mxgpu_slot_take_block(MxgpuCu *cu);
/* The unit's only block has ended, all its threads at once: it is restarted as
 * the next one that the unit holds of the slot. false: there is none, or the
 * unit should first look whether something has changed. */
bool mxgpu_slot_restart_block(MxgpuCu *cu, SimtBlock *block);
/* Leaves the blocks that the unit holds to any unit, itself included. */
void mxgpu_slot_return_held(MxgpuCu *cu);
/* Begins no more of the blocks that the unit holds. */
void mxgpu_slot_drop_held(MxgpuCu *cu);
/* A block of the slot has ended. */
void mxgpu_slot_count_end(MxgpuCu *cu, unsigned slot);

#endif
