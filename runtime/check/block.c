/* SPDX-License-Identifier: MIT */
#include "block.h"

#include <stdlib.h>

#include "grid.h"

static McBlockState *states[MC_DEVICES][MXGPU_MAX_COMPUTE_UNITS]
                           [MXGPU_CU_BLOCKS];

static McBlockState **state_of(void *opaque, const MxgpuObservedWarp *w)
{
    return &states[(uintptr_t)opaque % MC_DEVICES]
                  [w->unit % MXGPU_MAX_COMPUTE_UNITS]
                  [w->place % MXGPU_CU_BLOCKS];
}

uint32_t mc_block_number(const MxgpuObservedWarp *w)
{
    return w->block[0] + w->grid[0] * (w->block[1] + w->grid[1] * w->block[2]);
}

void mc_block_place(const uint32_t grid[3], uint32_t number, uint32_t out[3])
{
    uint32_t x = grid[0] ? grid[0] : 1, y = grid[1] ? grid[1] : 1;

    out[0] = number % x;
    out[1] = number / x % y;
    out[2] = number / x / y;
}

void *mc_block(void *opaque, const MxgpuObservedWarp *w, size_t size,
               bool *fresh)
{
    McBlockState **at = state_of(opaque, w);
    uint64_t grid = mc_grid(opaque, w->slot)->number;
    uint32_t number = mc_block_number(w);

    *fresh = false;
    if (!*at) {
        *at = calloc(1, size);
        if (!*at) {
            return NULL;
        }
    }
    if ((*at)->grid != grid || (*at)->number != number) {
        **at = (McBlockState){.grid = grid, .number = number};
        *fresh = true;
    }
    return *at;
}

void mc_block_end(void *opaque, const MxgpuObservedWarp *w)
{
    McBlockState *s = *state_of(opaque, w);

    if (s) {
        s->grid = 0;
    }
}
