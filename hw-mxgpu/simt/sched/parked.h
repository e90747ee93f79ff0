/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SCHED_PARKED_H
#define MXGPU_SIMT_SCHED_PARKED_H

#include "simt/state.h"

/* Behind a turn of w that ended with SimtCuCache.parks: the group that ran
 * waits at its instruction. */
void mxgpu_park_group(MxgpuCu *cu, MxgpuWarp *w);
/* The block has faults and no group that can run: it waits for software. */
void mxgpu_park_block(MxgpuCu *cu, SimtBlock *b);
/*
 * Looks at the faults of a block: those that are to be replayed go on, one that
 * is to be killed stops the grid. With room, those that were not reported are;
 * returns whether there is room for more.
 */
bool mxgpu_park_poll(MxgpuCu *cu, SimtBlock *b, bool room);
/* The block ends: nobody is to decide about its faults any more. */
void mxgpu_park_forget(MxgpuCu *cu, SimtBlock *b);

/* The same for a block that is saved. */
bool mxgpu_park_poll_saved(MxgpuCu *cu, SimtSaved *s, bool room);
void mxgpu_park_forget_saved(MxgpuCu *cu, SimtSaved *s);
/* The block goes to memory; what came from there is a block of this slot. */
void mxgpu_park_away(MxgpuCu *cu, const SimtSaved *s);
void mxgpu_park_back(MxgpuCu *cu, SimtSaved *s);

#endif
