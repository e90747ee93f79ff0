/* SPDX-License-Identifier: MIT */
/* What a tool is told of warps (mxgpu/observer.h) but for their accesses. */
#include "observe.h"

#include "warp.h"

void mxgpu_simt_view(const MxgpuCu *cu, const MxgpuWarp *w, uint64_t pc,
                     uint64_t mask, MxgpuObservedWarp *out)
{
    const MxgpuDispatch *d = &simt_slot(cu, w)->dispatch;
    const SimtBlock *b = &cu->s.blocks[w->c.block];

    *out = (MxgpuObservedWarp){
        .unit = cu->index,
        .slot = w->c.slot,
        .vmid = w->c.vmid,
        .entry = d->entry,
        .args = d->args,
        .grid = {d->grid[0], d->grid[1], d->grid[2]},
        .size = {d->block[0], d->block[1], d->block[2]},
        .block = {b->id[0], b->id[1], b->id[2]},
        .place = w->c.block,
        .warp = w->c.index,
        .shared = d->shared,
        .live = w->s.live,
        .lanes = mask,
        .pc = pc,
    };
}

void mxgpu_simt_observe_event(const MxgpuCu *cu, const MxgpuWarp *w,
                              MxgpuObservedEvent event, uint64_t pc,
                              uint64_t mask, uint64_t value)
{
    const MxgpuSimtConfig *config = &cu->simt->config;
    MxgpuObservedWarp view;

    if (config->observer->event) {
        mxgpu_simt_view(cu, w, pc, mask, &view);
        config->observer->event(config->observer_opaque, &view, event,
                                value);
    }
}

void mxgpu_simt_observe_sync(const MxgpuCu *cu, const MxgpuWarp *w, uint64_t pc,
                             uint64_t mask, const uint64_t *sets)
{
    while (mask) {
        uint64_t set = sets[__builtin_ctzll(mask)], same = 0;

        for (unsigned i = 0; i < LANES; i++) {
            same |= (uint64_t)(sets[i] == set) << i;
        }
        same &= mask;
        mask &= ~same;
        mxgpu_simt_observe_event(cu, w, MXGPU_OBSERVED_WARPSYNC, pc, same, set);
    }
}

void mxgpu_simt_observe_block(const MxgpuCu *cu, const SimtBlock *block,
                              MxgpuObservedEvent event, uint64_t value)
{
    mxgpu_simt_observe_event(cu, &cu->warps[block->warps[0]], event, 0, 0,
                             value);
}

void mxgpu_simt_observe_fault(const MxgpuCu *cu, const MxgpuWarp *w,
                              const MxgpuDispatchFault *fault)
{
    const MxgpuSimtConfig *config = &cu->simt->config;
    MxgpuObservedWarp view;
    unsigned lane = fault->thread % LANES;

    if (config->observer->fault) {
        mxgpu_simt_view(cu, w, fault->pc, 1ull << lane, &view);
        config->observer->fault(config->observer_opaque, &view, lane,
                                fault->code, fault->access, fault->addr);
    }
}
