/* SPDX-License-Identifier: MIT */
/*
 * Memory behind the addresses of a pool: it may go while pieces are in use that
 * nobody wants now, and comes again at the same addresses, with other contents.
 * Free pieces get it back when they are taken. Not of pools that are files.
 */
#ifndef MC_CORE_POOL_BACKING_H
#define MC_CORE_POOL_BACKING_H

#include "pool.h"

/* With the lock of the device's pools. va: the user's. */
typedef bool (*McPieceIdle)(void *opaque, uint64_t va);

/* Slabs whose pieces in use are all idle lose their memory; false: none did. */
bool mc_pool_unback(McPool *pool, McPieceIdle idle, void *opaque);
/* Whether the allocation has memory. */
bool mc_pool_backed(McContext *ctx, uint64_t va);
/* It has from now on. mcErrorMemoryAllocation: there is none. */
mcError_t mc_pool_back(McContext *ctx, uint64_t va);

/* The same of a slab, under the lock. */
mcError_t mc_slab_back(McSlab *slab);

#endif
