/* SPDX-License-Identifier: MIT */
/*
 * Tells the observer of MxgpuSimtConfig, if there is one, what warps do. Callers
 * ask simt_observer() first: these are for those who have one.
 */
#ifndef MXGPU_SIMT_WARP_OBSERVE_H
#define MXGPU_SIMT_WARP_OBSERVE_H

#include "mxgpu/observer.h"
#include "simt/state.h"

static inline const MxgpuObserver *simt_observer(const MxgpuSimt *simt)
{
    return simt->config.observer;
}

/* Whether each load and store is looked at: such a dispatch runs in the
 * interpreter of MxgpuSimt.count. */
static inline bool simt_watched(const MxgpuSimt *simt, const MxgpuDispatch *d)
{
    return d->accesses | d->strict_align | (simt_observer(simt) != NULL);
}

/* What the observer gets with all it is told: of mask's lanes at pc. */
void mxgpu_simt_view(const MxgpuCu *cu, const MxgpuWarp *w, uint64_t pc,
                     uint64_t mask, MxgpuObservedWarp *out);
/* Of lanes at pc. */
void mxgpu_simt_observe_event(const MxgpuCu *cu, const MxgpuWarp *w,
                              MxgpuObservedEvent event, uint64_t pc,
                              uint64_t mask, uint64_t value);
/* Lanes at a barrier of theirs; sets: of each. */
void mxgpu_simt_observe_sync(const MxgpuCu *cu, const MxgpuWarp *w, uint64_t pc,
                             uint64_t mask, const uint64_t *sets);
/* Of a block: no lanes do it. */
void mxgpu_simt_observe_block(const MxgpuCu *cu, const SimtBlock *block,
                              MxgpuObservedEvent event, uint64_t value);
void mxgpu_simt_observe_fault(const MxgpuCu *cu, const MxgpuWarp *w,
                              const MxgpuDispatchFault *fault);

#endif
