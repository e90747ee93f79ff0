/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a lane that faults: the one place that decides. A tool's hook
 * (MxgpuSimtConfig.trap) may emulate the instruction for the lane; a dispatch
 * may have faults parked that software can mend (sched/parked.c); otherwise the
 * first fault of a grid is kept and stops the grid.
 */
#include "fault.h"

#include "observe.h"
#include "stop.h"
#include "warp.h"

/* Whether the hook emulates the instruction: the lane then leaves its group,
 * and is a ready one where the hook says. */
static bool trapped(MxgpuCu *cu, MxgpuWarp *w, MxgpuSimtTrap *trap)
{
    unsigned lane = trap->lane;

    for (unsigned i = 0; i < 32; i++) {
        mxgpu_warp_widen(w, i);
        trap->x[i] = w->x[i][lane];
    }
    if (!cu->simt->config.trap(cu->simt->config.opaque, trap)) {
        return false;
    }
    for (unsigned i = 1; i < 32; i++) {
        w->x[i][lane] = trap->x[i];
        simt_wrote_wide(w, i);
    }
    w->s.cur.mask &= ~(1ull << lane);
    mxgpu_warp_park(w, &(SimtGroup){trap->pc, 1ull << lane, w->s.stamps,
                                    w->s.cur.depth});
    return true;
}

void mxgpu_simt_stop_slot(MxgpuCu *cu, SimtSlot *slot, const MxgpuWarp *w,
                          const MxgpuDispatchFault *fault)
{
    if (atomic_exchange(&slot->fault_taken, true)) {
        return;
    }
    slot->fault = *fault;
    if (w && simt_observer(cu->simt)) {
        mxgpu_simt_observe_fault(cu, w, fault);
    }
    atomic_store(&slot->stop, true);
}

void mxgpu_simt_stop_grid(MxgpuCu *cu, const MxgpuWarp *w,
                          const MxgpuDispatchFault *fault)
{
    mxgpu_simt_stop_slot(cu, simt_slot(cu, w), w, fault);
}

/*
 * Whether the group that runs parks. In a convoy nothing is kept of the fault:
 * the convoy ends with it, and the warp faults again when it runs alone.
 */
static bool parks(MxgpuCu *cu, const MxgpuWarp *w,
                  const MxgpuDispatchFault *fault)
{
    if (!simt_recovers(cu->simt, &simt_slot(cu, w)->dispatch) ||
        (fault->code != MXGPU_FAULT_NOT_PRESENT &&
         fault->code != MXGPU_FAULT_PERMISSION)) {
        return false;
    }
    /* What counts accesses runs warps one by one, whatever the block may do. */
    if (!cu->s.blocks[w->c.block].convoy || cu->c.counting) {
        cu->c.parks = true;
        cu->c.fault = *fault;
    }
    return true;
}

void mxgpu_simt_fault_at(MxgpuCu *cu, const MxgpuWarp *w, unsigned lane,
                         enum mxgpu_fault code, enum mxgpu_access access,
                         uint64_t addr, uint64_t pc)
{
    const SimtBlock *block = &cu->s.blocks[w->c.block];
    MxgpuSimtTrap trap = {
        .code = code,
        .access = access,
        .addr = addr,
        .pc = pc,
        .instructions = w->s.instructions,
        .lane = lane,
    };
    MxgpuDispatchFault fault = {
        .code = code,
        .access = access,
        .addr = addr,
        .pc = pc,
        .block = {block->id[0], block->id[1], block->id[2]},
        .thread = w->c.index * LANES + lane,
    };

    /* A lane that does not run now (it waits, or has been stopped) executes no
     * instruction that a hook could emulate. */
    if (cu->simt->config.trap && (w->s.cur.mask >> lane & 1) &&
        trapped(cu, &cu->warps[w - cu->warps], &trap)) {
        return;
    }
    if (!parks(cu, w, &fault) && !mxgpu_simt_stop_fault(cu, w, lane, &fault)) {
        mxgpu_simt_stop_grid(cu, w, &fault);
    }
}
