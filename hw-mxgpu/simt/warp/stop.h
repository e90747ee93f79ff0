/* SPDX-License-Identifier: MIT */
/* Stops of all units for a debugger (simt/debug.h). */
#ifndef MXGPU_SIMT_WARP_STOP_H
#define MXGPU_SIMT_WARP_STOP_H

#include "simt/state.h"

static inline bool simt_stopped(const MxgpuSimt *simt)
{
    return atomic_load_explicit(&simt->debug->stopped, memory_order_relaxed);
}

static inline MxgpuSimtLane simt_lane(const MxgpuCu *cu, const MxgpuWarp *w,
                                      unsigned lane)
{
    return (MxgpuSimtLane){cu->index, (unsigned)(w - cu->warps), lane};
}

/* Of those who see something at the same time the first is told of; others see
 * it again when units run again. */
void mxgpu_simt_stop(MxgpuCu *cu, const MxgpuSimtStop *stop);
/* A fault that would end the grid. true: a debugger is told first, and the
 * instruction is executed again. */
bool mxgpu_simt_stop_fault(MxgpuCu *cu, const MxgpuWarp *w, unsigned lane,
                           const MxgpuDispatchFault *fault);

#endif
