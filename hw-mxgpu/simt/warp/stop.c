/* SPDX-License-Identifier: MIT */
#include "stop.h"

void mxgpu_simt_stop(MxgpuCu *cu, const MxgpuSimtStop *stop)
{
    SimtDebug *d = cu->simt->debug;

    if (!atomic_exchange(&d->stopped, true)) {
        d->stop = *stop;
        d->prefer = stop->at;
        d->ops->stopped(d->opaque);
    }
}

/* Whether the debugger has seen it, and lets it happen. A break instruction
 * would stop for ever. */
static bool passes(const SimtDebug *d, MxgpuSimtLane at,
                   const MxgpuDispatchFault *fault)
{
    return (d->go.pass || fault->code == MXGPU_FAULT_BREAKPOINT) &&
           d->stop.cause == MXGPU_SIMT_STOP_FAULT && d->stop.at.cu == at.cu &&
           d->stop.at.warp == at.warp && d->stop.fault.pc == fault->pc;
}

bool mxgpu_simt_stop_fault(MxgpuCu *cu, const MxgpuWarp *w, unsigned lane,
                           const MxgpuDispatchFault *fault)
{
    MxgpuSimtStop stop = {
        .cause = MXGPU_SIMT_STOP_FAULT,
        .at = simt_lane(cu, w, lane),
        .addr = fault->addr,
        .fault = *fault,
    };

    if (!cu->simt->debugged || passes(cu->simt->debug, stop.at, fault)) {
        return false;
    }
    mxgpu_simt_stop(cu, &stop);
    return true;
}
