/* SPDX-License-Identifier: MIT */
/*
 * How long things run. What drives a unit calls it a step at a time, with a
 * number of instructions (mxgpu_simt_run()); there are these limits inside:
 *
 *   step         the caller's number of warp instructions: run.c counts it down
 *                over the turns of warps. Devices give 4096.
 *   turn         WARP_QUANTUM instructions of one warp, then the next warp of
 *                the unit runs: locks between warps make progress. A turn that
 *                a step ends goes on in the next step: SimtCuState.turn. A
 *                convoy's turn is shared by its warps.
 *   slice        GROUP_SLICE instructions of one group of lanes, in a diverged
 *                warp, then the group that has waited longest runs: locks
 *                between lanes make progress. SPIN_SLICE when the group does an
 *                atomic or a fence, for it may wait for a lock.
 *                SimtWarpState.slice_end. Turns do not end slices.
 *   block        BLOCK_QUANTUM instructions of the unit, then it begins one
 *                more block although those it has still run:
 *                SimtCuState.since_take.
 *   short block  fewer than HELD_INSTRUCTIONS instructions: a unit whose last
 *                block was one takes several at a time (slots.c).
 *   work         what an instruction costs beyond that of most: lanes done one
 *                by one, page tables walked, code fetched, memory zeroed. Each
 *                step has a work budget, in units of about the time that one
 *                lane's access takes: below.
 *   span         SPAN instructions of a block whose accesses are counted, in
 *                profiled dispatches (profile.c); samples have an interval of
 *                their own there, SimtCuCache.sample_at.
 *
 * None is a time: what runs does not depend on how fast the host is. The one
 * time is IDLE_NS of private.c, after which an idle unit gives memory back.
 */
#ifndef MXGPU_SIMT_WARP_BUDGET_H
#define MXGPU_SIMT_WARP_BUDGET_H

#include "simt/state.h"

#define WARP_QUANTUM      16384
#define GROUP_SLICE       16384
#define SPIN_SLICE        128
#define BLOCK_QUANTUM     250000
#define HELD_INSTRUCTIONS 8192
#define HELD_MAX          16 /* blocks that a unit takes at a time */

/*
 * The work budget of a step of so many instructions. An instruction that costs
 * much and finds the budget exhausted is not begun: the step ends in front of
 * it, and the next one does it. WORK_LEAST is enough for any instruction and
 * for fetching it, so that each step gets on. When somebody waits for the end
 * of a step (SimtCuCache.hold), the rest above WORK_LEAST is taken away.
 */
#define WORK_BUDGET(instructions) (WORK_LEAST + 4 * (int64_t)(instructions))
#define WORK_LEAST                (2 * (COST_FETCH + 16 * COST_BUS) + 64)
#define COST_WALK  2            /* walking page tables */
#define COST_FETCH 48           /* a page of code */
#define COST_DMA   16           /* an access where the bus has no memory */
#define COST_BUS   16           /* asking the host for a place on the bus */
#define COST_MMA   16
#define COST_WARP  4            /* starting one */
#define COST_ZERO(bytes) ((bytes) / 1024)
#define COST_PIECE 16           /* memory given back to the host */

static inline void simt_charge(MxgpuCu *cu, unsigned work)
{
    cu->c.work -= work;
    if (__builtin_expect(atomic_load_explicit(cu->c.hold, memory_order_relaxed),
                         0)) {
        cu->c.work -= cu->c.work_spare;
        cu->c.work_spare = 0;
    }
}

/* Whether the step's work budget is used up. */
static inline bool simt_exhausted(const MxgpuCu *cu)
{
    return cu->c.work < 0;
}

#endif
