/* SPDX-License-Identifier: MIT */
/*
 * What orders accesses of a grid, for racecheck. Time is a number that grows
 * with each event that orders. Threads of a block are ordered by its barriers;
 * lanes of a warp by theirs; warps and blocks by atomics, and by stores that
 * follow a fence and who reads them: who was at a place of memory after the
 * other one had been there, is behind what that one did before. Where this is
 * not exact it takes accesses to be ordered, so that what is reported is a race.
 */
#ifndef MC_CHECK_ORDER_H
#define MC_CHECK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "grid.h"

#define MC_MEETINGS 4

/* Where a warp or a block was last to meet others, and when. */
typedef struct McMeetings {
    uint64_t at[MC_MEETINGS];
    uint64_t place[MC_MEETINGS];
    uint64_t anywhere; /* at more places than these */
} McMeetings;

typedef struct McOrderWarp {
    uint64_t synced; /* its lanes, last */
    bool fenced;     /* its next store is one that others wait for */
    unsigned waits;  /* at this named barrier, plus 1; 0: at none */
    McMeetings met;
} McOrderWarp;

typedef struct McOrder {
    McBlockState state;
    uint64_t began, barrier, grid_barrier; /* last; 0: never */
    uint64_t slot;
    McMeetings *blocks; /* of its grid, by number; NULL: of none yet */
    McOrderWarp warps[MXGPU_BLOCK_THREADS / MXGPU_WARP_SIZE];
} McOrder;

uint64_t mc_order_now(void);
/* The grid in that slot begins. */
void mc_order_grid(void *opaque, unsigned slot);
/* The block has begun, or goes on here. */
void mc_order_block(McOrder *o, bool begins);
/* What orders: barriers and fences. */
void mc_order_event(McOrder *o, const MxgpuObservedWarp *w,
                    MxgpuObservedEvent event, uint64_t value);
/* A time that is behind all others so far. */
uint64_t mc_order_tick(void);
/* The warp of w meets others at place, then. */
void mc_order_meet(void *opaque, McOrder *o, const MxgpuObservedWarp *w,
                   uint64_t place, uint64_t time);
/* When threads of a warp of the block were last ordered with anyone. */
uint64_t mc_order_last(void *opaque, const McOrder *o, unsigned warp);
/* Whether what thread of block did at a time is in front of what thread "mine"
 * of the block does now; except: meetings there do not tell, if it is not 0. */
bool mc_order_before(void *opaque, const McOrder *o, unsigned mine,
                     uint64_t time, uint32_t block, unsigned thread,
                     uint64_t except);

#endif
