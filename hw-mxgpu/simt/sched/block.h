/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_BLOCK_H
#define MXGPU_SIMT_BLOCK_H

#include "simt/internal.h"

/* What a block of the dispatch takes of a unit, in one word. */
uint64_t mxgpu_block_needs(const MxgpuDispatch *d);
#define NEEDS_GANG (1ull << 63) /* all blocks of the grid run at once */
/* How many such blocks an empty unit holds. */
unsigned mxgpu_block_capacity(const MxgpuSimt *simt, const MxgpuDispatch *d);
/* Whether such a block can be placed on the unit now. */
bool mxgpu_block_fits(const MxgpuCu *cu, uint64_t needs);
/* Places block "number" of the slot's grid, for which there is room. */
void mxgpu_block_start(MxgpuCu *cu, unsigned slot, uint64_t number);
/* What a block of the dispatch takes, but where. */
void mxgpu_block_shape(const MxgpuDispatch *d, SimtBlock *block);
/* Whether what it takes is free, but for its warps. */
bool mxgpu_block_may_lie(const MxgpuCu *cu, const SimtBlock *block);
/* It takes that. */
void mxgpu_block_account(MxgpuCu *cu, const SimtBlock *block);
/* Makes again what its warps keep of it and of its dispatch. */
void mxgpu_block_bind(MxgpuCu *cu, const SimtBlock *block);
/* Gives its resources back. */
void mxgpu_block_end(MxgpuCu *cu, SimtBlock *block);

/* ---- private.c */
/* Address space for all that a unit's threads can have; false: none. */
bool mxgpu_private_reserve(MxgpuCu *cu);
void mxgpu_private_free(MxgpuCu *cu);
/* A block begins in the warp. */
void mxgpu_private_start(MxgpuCu *cu, unsigned warp, const MxgpuWarp *w);
/* After that, for all of a block's warps. */
void mxgpu_private_fit(MxgpuCu *cu);
/* What these left to be done, before a warp runs; false: some is left. */
bool mxgpu_private_clean(MxgpuCu *cu);
/* What no block uses is to be given back. */
void mxgpu_private_drop(MxgpuCu *cu);

/* The grid's barrier: lets the block go on when it has opened. */
void mxgpu_block_grid_poll(MxgpuCu *cu, SimtBlock *block);
/* A block of a cooperative grid has ended well. */
void mxgpu_block_grid_end(MxgpuSimt *simt, SimtSlot *slot);

/* Whether none of its threads can go on. */
bool mxgpu_block_stuck(const MxgpuCu *cu, const SimtBlock *block);
void mxgpu_block_fault_stuck(MxgpuCu *cu, const SimtBlock *block);
/* The grid was stopped from outside: says where one of its warps was. */
void mxgpu_block_fault_stopped(MxgpuCu *cu, const SimtBlock *block,
                               enum mxgpu_fault code);

#endif
