/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_WARP_FAULT_H
#define MXGPU_SIMT_WARP_FAULT_H

#include "simt/state.h"

/*
 * The lane of w faults at the instruction at pc, whose access was to addr. The
 * instruction has not been executed, and its group's pc is that of it. Whether
 * the grid ends is decided here: the caller ends the warp's turn in any case.
 */
void mxgpu_simt_fault_at(MxgpuCu *cu, const MxgpuWarp *w, unsigned lane,
                         enum mxgpu_fault code, enum mxgpu_access access,
                         uint64_t addr, uint64_t pc);

/* The fault ends the slot's grid, unless another one has before. w: whose it is;
 * NULL: a warp of a block that is saved. */
void mxgpu_simt_stop_slot(MxgpuCu *cu, SimtSlot *slot, const MxgpuWarp *w,
                          const MxgpuDispatchFault *fault);
/* The same for a warp of a block that the unit has. */
void mxgpu_simt_stop_grid(MxgpuCu *cu, const MxgpuWarp *w,
                          const MxgpuDispatchFault *fault);

/* Whether faults of the dispatch that can be mended park their lanes. */
static inline bool simt_recovers(const MxgpuSimt *simt, const MxgpuDispatch *d)
{
    return d->recover && simt->config.park;
}

#endif
