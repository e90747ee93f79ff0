/* SPDX-License-Identifier: MIT */
#include "internal.h"

static uint64_t counter_value(MxgpuDevice *dev, unsigned index)
{
    MxgpuSimtCounters c;

    if (index > MXGPU_COUNTER_DIVERGENT_BRANCHES &&
        index != MXGPU_COUNTER_TLB_MISSES) {
        return atomic_load_explicit(&dev->counter[index],
                                    memory_order_relaxed);
    }
    mxgpu_simt_counters(dev->simt, &c);
    switch (index) {
    case MXGPU_COUNTER_WARP_INSTRUCTIONS:
        return c.warp_instructions - dev->simt_base.warp_instructions;
    case MXGPU_COUNTER_LANE_INSTRUCTIONS:
        return c.lane_instructions - dev->simt_base.lane_instructions;
    case MXGPU_COUNTER_BLOCKS:
        return c.blocks - dev->simt_base.blocks;
    case MXGPU_COUNTER_DISPATCHES:
        return c.dispatches - dev->simt_base.dispatches;
    case MXGPU_COUNTER_DIVERGENT_BRANCHES:
        return c.divergent_branches - dev->simt_base.divergent_branches;
    default: /* those of the other units are counted here */
        return c.tlb_misses - dev->simt_base.tlb_misses +
               atomic_load_explicit(&dev->counter[index],
                                    memory_order_relaxed);
    }
}

uint32_t mxgpu_counter_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    uint64_t value = counter_value(dev, a->index);

    dev->latch[a->party].counter_hi[a->index] = (uint32_t)(value >> 32);
    return (uint32_t)value;
}

uint32_t mxgpu_counter_hi_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return dev->latch[a->party].counter_hi[a->index];
}

void mxgpu_counters_reset(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < MXGPU_COUNTERS; i++) {
        atomic_store(&dev->counter[i], 0);
    }
    mxgpu_simt_counters(dev->simt, &dev->simt_base);
}
