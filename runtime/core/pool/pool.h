/* SPDX-License-Identifier: MIT */
/*
 * Pools of device memory, from which pool_alloc.h allocates in the order of
 * streams. One lock a device guards its pools. It is taken before the submit lock of a
 * context, never after it, and nobody waits for a device with it.
 */
#ifndef MC_CORE_POOL_H
#define MC_CORE_POOL_H

#include "core/stream/stream.h"
#include "pool_space.h"

typedef struct McPool McPool; /* begins with a McHandle, MC_HANDLE_POOL */

/* ---- the pools of a context ---- */

mcError_t mc_pools_new(McContext *ctx, McPools **out);
/* With everything in them; no queue of the context is left. */
void mc_pools_free(McPools *pools);
/* Before the queues of a context go: no pool of any device refers to them
 * afterwards. */
void mc_pools_forget(McContext *ctx);

/* McContext.synced: memory that is free now is known to be, and what exceeds
 * the thresholds goes back. */
void mc_pools_synced(McContext *ctx, McQueue *queue);
/* Gives back what can be given back, whatever the thresholds: somebody lacks
 * memory. False: nothing was found. */
bool mc_pools_reclaim(McContext *ctx);
/* As mc_device_damaged(), of memory of pools. */
bool mc_pools_damaged(McContext *ctx);

/* The default pool, the one mcMallocAsync uses, and the one of memory that
 * belongs to graphs, for which no handle is given out. */
McPool *mc_pools_default(McContext *ctx);
/* Held as a handle is. */
McPool *mc_pools_current(McContext *ctx);
McPool *mc_pools_graph(McContext *ctx);
/* mcErrorInvalidValue: not a pool of that context, or one that was imported. */
mcError_t mc_pools_set_current(McContext *ctx, McPool *pool);

/* ---- a pool ---- */

/* max 0: no limit, in bytes. One for other processes has its memory in a file,
 * and at most as much as there is VRAM. */
mcError_t mc_pool_new(McContext *ctx, uint64_t max,
                      mcMemAllocationHandleType handles, McPool **out);
int mc_pool_device(const McPool *pool);
/* Makes its handle invalid; it goes when nothing of it is in use. */
mcError_t mc_pool_drop(McPool *pool);

/* As mcMemPoolGetAttribute and mcMemPoolSetAttribute, their values being as
 * wide as they should. */
mcError_t mc_pool_get(McPool *pool, mcMemPoolAttr attr, uint64_t *value);
mcError_t mc_pool_set(McPool *pool, mcMemPoolAttr attr, uint64_t value);
/* Whether another device sees the pool's memory; false waits for its work.
 * mcErrorPeerAccessUnsupported, mcErrorMemoryAllocation: it does not. */
mcError_t mc_pool_set_access(McPool *pool, McContext *ctx, bool allowed);
bool mc_pool_has_access(McPool *pool, int device);
/* Unmaps while more than "keep" bytes stay. */
void mc_pool_trim(McPool *pool, uint64_t keep);

/* ---- for those that look into pool_state.h ---- */

/* Under the lock: what lines of all queues, or of one, have that is free. */
void mc_pool_settle(McPool *pool, const McQueue *only);

/* Under the lock: pieces that were retired and are free by now are past. */
void mc_pools_unretire(McPools *pools);

/* Fills the zones of a piece, or looks at them. */
void mc_piece_zones(McContext *ctx, const McPiece *piece, McDamage *damage);
/* Looks at them once more; true: they are damaged, which is reported. */
bool mc_piece_damaged(McContext *ctx, McPiece *piece);

#endif
