/* SPDX-License-Identifier: MIT */
/* Counters, compute units and their warps, the firmware's log. */
#include <inttypes.h>

#include "console_log.h"
#include "inspect_unit.h"
#include "internal.h"

static const char *const counter_names[MXGPU_COUNTERS] = {
#define F(name) [MXGPU_COUNTER_##name] = #name
    F(WARP_INSTRUCTIONS), F(LANE_INSTRUCTIONS), F(BLOCKS), F(DISPATCHES),
    F(DIVERGENT_BRANCHES), F(TLB_MISSES), F(COPY_BYTES), F(COPIES),
    F(DOORBELLS), F(INTERRUPTS), F(FAULTS), F(WARPS), F(BARRIER_WAITS),
    F(ATOMICS), F(BUSY_NS), F(MEM_REQUESTS), F(MEM_TRANSACTIONS), F(MEM_BYTES),
    F(TLB_LOOKUPS), F(SHARED_REQUESTS), F(BANK_CONFLICTS),
    F(COUNTED_INSTRUCTIONS), F(COUNTED_SPANS),
#undef F
};

void mxgpu_inspect_counters(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    for (unsigned i = 0; i < MXGPU_COUNTERS; i++) {
        MxgpuAccess a = {.index = i};

        if (counter_names[i]) {
            mxgpu_put(t, "%-20s %" PRIu64 "\n", counter_names[i],
                      mxgpu_counter_read(dev, &a));
        }
    }
}

void mxgpu_inspect_units(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    for (unsigned i = 0; i < dev->config.compute_units; i++) {
        uint64_t pc = mxgpu_simt_unit_pc(dev->simt, i);
        MxgpuSimtCounters c;

        mxgpu_simt_unit_counters(dev->simt, i, &c);
        mxgpu_put(t, "unit %u: ", i);
        if (pc) {
            mxgpu_put(t, "vmid %u pc 0x%" PRIx64, (unsigned)(pc >> 48) & 0xf,
                      (uint64_t)(pc & 0x0000ffffffffffffull));
        } else {
            mxgpu_put(t, "idle");
        }
        mxgpu_put(t, ", %" PRIu64 " blocks, %" PRIu64 " warp instructions\n",
                  c.blocks, c.warp_instructions);
    }
}

typedef struct Warps {
    MxgpuText t;
    unsigned left;
    bool any;
} Warps;

static void put_group(void *opaque, const MxgpuSimtGroup *g)
{
    Warps *w = opaque;

    w->any = true;
    if (w->left) {
        w->left--;
        mxgpu_put(w->t, "unit %u warp %u: slot %u vmid %u block %" PRIu32
                  ",%" PRIu32 ",%" PRIu32 " threads %u.. pc 0x%" PRIx64
                  " lanes %016" PRIx64 " %s\n", g->cu, g->warp, g->slot,
                  g->vmid, g->block[0], g->block[1], g->block[2],
                  g->first_thread, g->pc, g->lanes, g->state);
    }
}

#define WARPS_MOST 4096

void mxgpu_inspect_warps(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    Warps w = {t, WARPS_MOST, false};
    uint64_t first = 0, last = dev->config.compute_units - 1;

    if (!t.held) {
        mxgpu_put(t, "warps are shown while the device stands: not here\n");
        return;
    }
    if (mxgpu_inspect_number(&args, &first)) {
        last = first;
    }
    for (; first <= last && first < dev->config.compute_units; first++) {
        mxgpu_simt_groups(dev->simt, (unsigned)first, put_group, &w);
    }
    if (!w.any) {
        mxgpu_put(t, "no warp is resident\n");
    } else if (!w.left) {
        mxgpu_put(t, "... \"warps UNIT\" shows those of one unit\n");
    }
}

void mxgpu_inspect_log(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    mxgpu_console_log_show(&dev->console_log, t.put, t.opaque);
}
