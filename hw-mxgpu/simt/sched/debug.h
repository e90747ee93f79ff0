/* SPDX-License-Identifier: MIT */
/* What units do while a debugger is there: see simt/debug.h. */
#ifndef MXGPU_SIMT_SCHED_DEBUG_H
#define MXGPU_SIMT_SCHED_DEBUG_H

#include "simt/state.h"

/* Whether the unit may run nothing now: all are stopped, or a lane of another
 * one goes on alone. */
bool mxgpu_simt_debug_waits(MxgpuCu *cu);
static inline bool mxgpu_simt_debug_holds(MxgpuCu *cu)
{
    return __builtin_expect(cu->simt->debugged, 0) &&
           mxgpu_simt_debug_waits(cu);
}

/* A warp's turn; 0: it may not run. */
uint64_t mxgpu_simt_run_debugged(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget);

/* From the interpreter that counts, once the warp has executed
 * SimtCuCache.sample_at instructions: before the lanes of mask execute p, which
 * is at pc. false: they do not, and the turn ends. */
bool mxgpu_simt_look(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                     uint64_t mask, uint64_t instructions);

#endif
