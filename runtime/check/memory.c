/* SPDX-License-Identifier: MIT */
/*
 * memcheck: each access of a kernel is to memory that is allocated. Threads that
 * drive units remember where they found it to be so, until something is
 * allocated or freed.
 */
#include <inttypes.h>

#include "mxgpu/kernel.h"
#include "mxgpu/pte.h"
#include "options.h"
#include "tools.h"

#define KNOWN 4

typedef struct Known {
    uint64_t generation;
    struct {
        uint64_t from, to;
    } at[KNOWN];
    unsigned next;
} Known;

static _Thread_local Known known;

static bool is_known(uint64_t low, uint64_t high)
{
    if (known.generation !=
        atomic_load_explicit(&mc_live_generation, memory_order_acquire)) {
        return false;
    }
    for (unsigned i = 0; i < KNOWN; i++) {
        if (low >= known.at[i].from && high <= known.at[i].to) {
            return true;
        }
    }
    return false;
}

static McLook look(uint64_t low, uint64_t high)
{
    uint64_t generation = atomic_load(&mc_live_generation), from, to;
    McLook result = mc_live_look(low, high, &from, &to);

    if (result != MC_LOOK_OK) {
        return result;
    }
    if (known.generation != generation) {
        known = (Known){.generation = generation};
    }
    known.at[known.next].from = from;
    known.at[known.next].to = to;
    known.next = (known.next + 1) % KNOWN;
    return result;
}

/* Memory that was freed may be used by work from before that. */
static bool good(McLook result)
{
    return result == MC_LOOK_OK || result == MC_LOOK_PENDING;
}

static bool range(void *opaque, unsigned unit, enum mxgpu_access access,
                  uint64_t low, uint64_t high)
{
    return is_known(low, high) || good(look(low, high));
}

static bool lane_good(const MxgpuObservedWarp *w, uint64_t addr, unsigned size)
{
    if (addr < MXGPU_VA_LIMIT) {
        return is_known(addr, addr + size) || good(look(addr, addr + size));
    }
    if (addr >= MXGPU_SHARED_BASE &&
        addr - MXGPU_SHARED_BASE < MXGPU_SHARED_MAX) {
        return addr - MXGPU_SHARED_BASE + size <= w->shared;
    }
    return true; /* the device says more of it */
}

static void report(const MxgpuObservedWarp *w, const MxgpuObservedAccess *a,
                   uint64_t bad)
{
    uint64_t addr = a->addr[__builtin_ctzll(bad)];
    McReport r;

    mc_report_begin(&r, "Invalid %s %s of size %u bytes", mc_space_name(addr),
                    mc_access_name(a->access), a->size);
    mc_report_pc(&r, "at", w->pc);
    mc_report_threads(&r, w, bad);
    if (addr < MXGPU_VA_LIMIT) {
        mc_report_address(&r, addr, a->size);
    } else {
        mc_report_line(&r, "Address 0x%" PRIx64 " is out of bounds: the block "
                       "has %u bytes", (uint64_t)(addr - MXGPU_SHARED_BASE),
                       w->shared);
    }
    mc_report_kernel(&r, w);
    mc_report_end(&r);
}

static int access(void *opaque, const MxgpuObservedWarp *w,
                  const MxgpuObservedAccess *a)
{
    McGrid *grid = mc_grid(opaque, w->slot);
    uint64_t bad = 0;
    unsigned lane;

    if (atomic_load(&grid->ignored)) {
        return -1;
    }
    for (uint64_t m = w->lanes; m; m &= m - 1) {
        lane = __builtin_ctzll(m);
        bad |= (uint64_t)!lane_good(w, a->addr[lane], a->size) << lane;
    }
    if (!bad) {
        return -1;
    }
    report(w, a, bad);
    atomic_store(&grid->told, true);
    lane = __builtin_ctzll(bad);
    /* The device itself refuses what lies in its windows. */
    return a->addr[lane] < MXGPU_VA_LIMIT ? (int)lane : -1;
}

const MxgpuObserver mc_memcheck = {
    .range = range,
    .access = access,
    .fault = mc_fault_report,
    .grid = mc_grid_event,
};
