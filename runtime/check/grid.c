/* SPDX-License-Identifier: MIT */
#include "grid.h"

#include "options.h"
#include "report.h"

static McGrid grids[MC_DEVICES][MXGPU_DISPATCH_SLOTS];
static atomic_ullong numbers;
static atomic_uint wanted; /* grids that the filters let through */

McGrid *mc_grid(void *opaque, unsigned slot)
{
    return &grids[(uintptr_t)opaque % MC_DEVICES][slot];
}

void mc_grid_event(void *opaque, unsigned slot, uint64_t entry, uint64_t args,
                   bool begins)
{
    const McCheckOptions *o = &mc_check_options;
    McGrid *grid = mc_grid(opaque, slot);
    bool checked;

    (void)args;
    if (!begins) {
        return;
    }
    checked = mc_kernels_wanted(entry);
    if (checked && (o->launch_skip || o->launch_count)) {
        unsigned number = atomic_fetch_add(&wanted, 1);

        checked = number >= o->launch_skip &&
                  (!o->launch_count ||
                   number - o->launch_skip < o->launch_count);
    }
    atomic_store(&grid->ignored, !checked);
    atomic_store(&grid->told, false);
    grid->number = atomic_fetch_add(&numbers, 1) + 1;
}
