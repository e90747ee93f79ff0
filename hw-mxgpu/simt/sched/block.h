/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SCHED_BLOCK_H
#define MXGPU_SIMT_SCHED_BLOCK_H

#include "simt/state.h"

/* What a block of the dispatch takes of a unit, in one word that can be read
 * while it changes; NEEDS_GANG: all blocks of the grid are resident at once. */
uint64_t mxgpu_block_needs(const MxgpuDispatch *d);
#define NEEDS_GANG (1ull << 63)
/* How many such blocks an empty unit holds. */
unsigned mxgpu_block_capacity(const MxgpuSimt *simt, const MxgpuDispatch *d);
/* Whether such a block can be placed on the unit now. */
bool mxgpu_block_fits(const MxgpuCu *cu, uint64_t needs);

/* Places block "number" of the slot's grid, for which there is room. */
void mxgpu_block_start(MxgpuCu *cu, unsigned slot, uint64_t number);
/* All threads of the unit's only block have ended at once: block "number" of
 * its grid, the next one, starts in its place, with the same warps and
 * memory. */
void mxgpu_block_restart(MxgpuCu *cu, SimtBlock *block, uint64_t number);
/* Sets x registers of a block that has not run: a convoy does not need them. */
void mxgpu_block_init_x(MxgpuCu *cu, SimtBlock *block);
/* Places a block that was saved as *shape, for which there is room: the caller
 * fills its warps and its memory. */
SimtBlock *mxgpu_block_place(MxgpuCu *cu, const SimtBlock *shape);
/* Gives its resources back. */
void mxgpu_block_end(MxgpuCu *cu, SimtBlock *block);

/* For loading state (units/visit.c). What a block of the dispatch takes: sizes,
 * not places. */
void mxgpu_block_shape(const MxgpuDispatch *d, SimtBlock *block);
/* Whether what it takes is free, but for its warps. */
bool mxgpu_block_may_lie(const MxgpuCu *cu, const SimtBlock *block);
/* Takes that. */
void mxgpu_block_account(MxgpuCu *cu, const SimtBlock *block);
/* Fills in what its warps cache of it and of its dispatch (SimtWarpCache). */
void mxgpu_block_bind(MxgpuCu *cu, const SimtBlock *block);

#endif
