/* SPDX-License-Identifier: MIT */
/*
 * What units count. Instructions, branches, blocks, barriers and atomics are
 * counted always, a turn or a rare event at a time; accesses where a dispatch
 * wants it (simt/slow/access.c).
 */
#include "counters.h"

#include "simt/warp/count.h"
#include "simt/warp/warp.h"

void mxgpu_simt_count_turn(MxgpuCu *cu, uint64_t instructions)
{
    simt_count(cu, COUNT_warp_instructions, instructions);
    simt_count(cu, COUNT_lane_instructions, cu->n.lanes_now);
    simt_count(cu, COUNT_divergent_branches, cu->n.divergent_now);
    cu->n.lanes_now = cu->n.divergent_now = 0;
}

void mxgpu_simt_profile_start(MxgpuSimt *simt, unsigned slot)
{
    atomic_store(&simt->slots[slot].samples, 0);
    atomic_store(&simt->slots[slot].span_begun, false);
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        SimtSlotProfile *profile = &simt->cus[i].n.profile[slot];

        for (unsigned n = 0; n < COUNTS; n++) {
            atomic_store_explicit(&profile->count[n], 0,
                                  memory_order_relaxed);
        }
        profile->first = profile->last = 0;
    }
}

void mxgpu_simt_profile_block(MxgpuCu *cu, unsigned slot, unsigned warps)
{
    SimtSlotProfile *profile = &cu->n.profile[slot];

    if (warps) {
        if (!profile->count[COUNT_warps]) {
            profile->first = simt_clock(cu);
        }
        profile->count[COUNT_warps] += warps;
    } else {
        profile->count[COUNT_blocks] += 1;
        profile->last = simt_clock(cu);
    }
}

/* ---- reading */

static void add_counts(const _Atomic uint64_t *count, MxgpuSimtCounters *out)
{
#define F(name, index)                                                         \
    out->name += atomic_load_explicit(&count[COUNT_##name],                    \
                                      memory_order_relaxed);
    MXGPU_SIMT_COUNTERS(F)
#undef F
}

void mxgpu_simt_counters(MxgpuSimt *simt, MxgpuSimtCounters *out)
{
    *out = (MxgpuSimtCounters){.dispatches = atomic_load(&simt->dispatches)};
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        add_counts(simt->cus[i].n.count, out);
    }
}

void mxgpu_simt_unit_counters(MxgpuSimt *simt, unsigned cu,
                              MxgpuSimtCounters *out)
{
    *out = (MxgpuSimtCounters){.dispatches = 0};
    if (cu < simt->config.compute_units) {
        add_counts(simt->cus[cu].n.count, out);
    }
}

uint64_t mxgpu_simt_unit_pc(MxgpuSimt *simt, unsigned cu)
{
    return cu < simt->config.compute_units ? atomic_load(&simt->cus[cu].n.where)
                                           : 0;
}

uint32_t mxgpu_simt_unit_slots(MxgpuSimt *simt, unsigned cu)
{
    return cu < simt->config.compute_units ? atomic_load(&simt->cus[cu].n.slots)
                                           : 0;
}

void mxgpu_simt_slot_counters(MxgpuSimt *simt, unsigned slot,
                              MxgpuSimtCounters *out)
{
    *out = (MxgpuSimtCounters){.dispatches = 1};
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        add_counts(simt->cus[i].n.profile[slot].count, out);
    }
}

uint64_t mxgpu_simt_slot_samples(MxgpuSimt *simt, unsigned slot)
{
    return atomic_load(&simt->slots[slot].samples);
}

void mxgpu_simt_slot_times(MxgpuSimt *simt, unsigned slot, unsigned cu,
                           MxgpuSimtTimes *out)
{
    *out = (MxgpuSimtTimes){.blocks = 0};
    if (cu < simt->config.compute_units) {
        const SimtSlotProfile *profile = &simt->cus[cu].n.profile[slot];

        out->blocks = profile->count[COUNT_blocks];
        out->first = profile->first;
        out->last = profile->last;
        out->busy = profile->count[COUNT_busy_ns];
    }
}
