/* SPDX-License-Identifier: MIT */
/* Grids that run: what checkers keep of each, by its slot of its device. */
#ifndef MC_CHECK_GRID_H
#define MC_CHECK_GRID_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mxgpu/limits.h"

#define MC_DEVICES 16 /* simulated ones of a process */

typedef struct McGrid {
    atomic_bool ignored; /* by the user's filters */
    atomic_bool told;    /* why it will end: nothing more has to be said */
    uint64_t number;     /* of the process, in the order of beginning */
    uint64_t began;      /* racecheck: when (order.h) */
} McGrid;

/* opaque is what the device gives its observer. */
McGrid *mc_grid(void *opaque, unsigned slot);
/* For MxgpuObserver.grid. */
void mc_grid_event(void *opaque, unsigned slot, uint64_t entry, uint64_t args,
                   bool begins);

#endif
