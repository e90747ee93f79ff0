/* SPDX-License-Identifier: MIT */
/* A warp's turn: in the interpreter of convoys or of warps, or in the build of
 * the latter that counts accesses. */
#include "turn.h"

#include "block.h"
#include "counters.h"
#include "parked.h"
#include "simt/warp/count.h"
#include "simt/warp/observe.h"
#include "simt/warp/warp.h"

uint64_t mxgpu_simt_run_fast(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget)
{
    uint64_t before = w->s.instructions, ran;
    SimtBlock *block = &cu->s.blocks[w->c.block];

    if (block->convoy) {
        ran = cu->simt->convoy(cu, block, budget / block->num_warps + 1);
        mxgpu_simt_count_turn(cu, ran);
        if (ran || block->convoy) {
            return ran;
        }
    }
    mxgpu_block_init_x(cu, block);
    if (__builtin_expect(simt_watched(cu->simt, &simt_slot(cu, w)->dispatch),
                         0)) {
        cu->c.sample_at = UINT64_MAX;
        (void)cu->simt->count(cu, w, before + budget);
    } else {
        (void)cu->simt->exec(cu, w, before + budget);
    }
    if (__builtin_expect(cu->c.parks, 0)) {
        mxgpu_park_group(cu, w);
    }
    mxgpu_simt_count_turn(cu, w->s.instructions - before);
    return w->s.instructions - before;
}

uint64_t mxgpu_simt_run_counted(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget)
{
    const MxgpuDispatch *d = &simt_slot(cu, w)->dispatch;
    uint64_t start = w->s.instructions;

    mxgpu_block_init_x(cu, &cu->s.blocks[w->c.block]);
    cu->c.sample_at = UINT64_MAX;
    if (d->profile && d->sample_interval) {
        if (cu->s.sample_left > d->sample_interval) {
            cu->s.sample_left = d->sample_interval;
        }
        cu->c.sample_at = start + cu->s.sample_left;
    }
    cu->c.counting = true;
    (void)cu->simt->count(cu, w, start + budget);
    if (cu->c.parks) {
        mxgpu_park_group(cu, w);
    }
    cu->c.counting = false;
    if (cu->c.sample_at != UINT64_MAX) {
        cu->s.sample_left = cu->c.sample_at > w->s.instructions
                              ? cu->c.sample_at - w->s.instructions
                              : 0;
    }
    mxgpu_simt_count_turn(cu, w->s.instructions - start);
    simt_count(cu, COUNT_counted_instructions, w->s.instructions - start);
    return w->s.instructions - start;
}
