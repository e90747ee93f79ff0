/* SPDX-License-Identifier: MIT */
/* What a tool keeps of each block that runs, by its place on its unit. */
#ifndef MC_CHECK_BLOCK_H
#define MC_CHECK_BLOCK_H

#include "mxgpu/observer.h"

/* Begins each such state: of which block it is. */
typedef struct McBlockState {
    uint64_t grid;   /* McGrid.number; 0: of none */
    uint32_t number; /* of the block in its grid */
} McBlockState;

/*
 * The state of the block of w, of that size; *fresh: it was another block's, or
 * nobody's, and only its first fields are set: the block begins, or it goes on
 * here what it began elsewhere. NULL: there is no memory. For the thread that
 * drives the unit.
 */
void *mc_block(void *opaque, const MxgpuObservedWarp *w, size_t size,
               bool *fresh);
/* The block has ended. */
void mc_block_end(void *opaque, const MxgpuObservedWarp *w);

/* The number of the block, and where a block of that number is. */
uint32_t mc_block_number(const MxgpuObservedWarp *w);
void mc_block_place(const uint32_t grid[3], uint32_t number, uint32_t out[3]);

#endif
