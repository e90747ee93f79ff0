/* SPDX-License-Identifier: MIT */
/*
 * synccheck: threads of a block wait at the same barrier, and those that name a
 * set of lanes are in it. What a device refuses by itself (a barrier's number or
 * count, threads that would wait for ever) comes as a fault.
 */
#include <inttypes.h>

#include "block.h"
#include "once.h"
#include "tools.h"

typedef struct Sync {
    McBlockState state;
    bool waits; /* somebody is at the barrier of the block: the first one is */
    MxgpuObservedWarp first;
} Sync;

static void report_divergent(const MxgpuObservedWarp *a,
                             const MxgpuObservedWarp *b)
{
    McReport r;

    mc_report_begin(&r, "Barrier error: threads of a block wait at different "
                    "barriers");
    mc_report_pc(&r, "One at", a->pc);
    mc_report_threads(&r, a, a->lanes);
    mc_report_pc(&r, "Another one at", b->pc);
    mc_report_threads(&r, b, b->lanes);
    mc_report_kernel(&r, b);
    mc_report_end(&r);
}

static void arrive(Sync *s, uint64_t grid, const MxgpuObservedWarp *w)
{
    if (!s->waits) {
        s->waits = true;
        s->first = *w;
    } else if (s->first.pc != w->pc && mc_once(s->first.pc, w->pc, grid)) {
        report_divergent(&s->first, w);
    }
}

static void check_mask(uint64_t grid, const MxgpuObservedWarp *w, uint64_t set)
{
    uint64_t wrong = w->lanes & ~set;
    McReport r;

    if (!wrong || !mc_once(w->pc, set, grid)) {
        return;
    }
    mc_report_begin(&r, "Invalid mask 0x%" PRIx64 ": threads are not in the "
                    "set of lanes that they name", set);
    mc_report_pc(&r, "at", w->pc);
    mc_report_threads(&r, w, wrong);
    mc_report_kernel(&r, w);
    mc_report_end(&r);
}

static void event(void *opaque, const MxgpuObservedWarp *w,
                  MxgpuObservedEvent what, uint64_t value)
{
    McGrid *grid = mc_grid(opaque, w->slot);
    bool fresh;
    Sync *s;

    if (what == MXGPU_OBSERVED_WARPSYNC && !atomic_load(&grid->ignored)) {
        check_mask(grid->number, w, value);
        return;
    }
    if (what == MXGPU_OBSERVED_BLOCK_END) {
        mc_block_end(opaque, w);
        return;
    }
    if (what != MXGPU_OBSERVED_BLOCK && what != MXGPU_OBSERVED_BARRIER &&
        what != MXGPU_OBSERVED_BARRIER_OPEN) {
        return;
    }
    s = mc_block(opaque, w, sizeof(*s), &fresh);
    if (!s) {
        return;
    }
    if (fresh || what != MXGPU_OBSERVED_BARRIER) {
        s->waits = false;
    }
    if (what == MXGPU_OBSERVED_BARRIER && !atomic_load(&grid->ignored)) {
        arrive(s, grid->number, w);
    }
}

static bool range(void *opaque, unsigned unit, enum mxgpu_access access,
                  uint64_t low, uint64_t high)
{
    return true;
}

static int access(void *opaque, const MxgpuObservedWarp *w,
                  const MxgpuObservedAccess *a)
{
    return -1;
}

const MxgpuObserver mc_synccheck = {
    .range = range,
    .access = access,
    .fault = mc_fault_report,
    .event = event,
    .grid = mc_grid_event,
};
