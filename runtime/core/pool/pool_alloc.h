/* SPDX-License-Identifier: MIT */
/*
 * Memory that is allocated and freed in the order of streams. A free piece
 * carries the point in the order of a queue from which on it is free, and
 * whoever comes after that point may have it: nothing is waited for, and
 * nothing submitted but where the order would not be that of packets
 * (docs/pools.md). Only growing and shrinking a pool maps and unmaps memory.
 */
#ifndef MC_CORE_POOL_ALLOC_H
#define MC_CORE_POOL_ALLOC_H

#include "pool.h"

/* For work that is submitted to the stream from now on, and for what comes
 * after it. stream NULL: for anybody, as memory nodes of graphs need it, whose
 * addresses are fixed when they are made. size is not 0. */
mcError_t mc_pool_alloc(McPool *pool, McStream *stream, uint64_t size,
                        McCaller caller, uint64_t *va);
/* Frees memory of any pool of the context behind what was submitted to the
 * stream, which may be of another device; the caller holds both.
 * mcErrorInvalidValue: va is not the start of an allocation. */
mcError_t mc_pool_free(McContext *ctx, uint64_t va, McStream *stream);
/* The same behind all that was submitted to the context; idle: at once, nothing
 * uses it. */
mcError_t mc_pool_free_now(McContext *ctx, uint64_t va, bool idle);
/* As the first, of memory of mcMalloc, which goes back when somebody synchronises. */
mcError_t mc_pool_free_device(McContext *ctx, uint64_t va, McStream *stream);

/* The pool of the allocation that starts at va; NULL: there is none, or its
 * pool has no handle. */
mcMemPool_t mc_pool_at(McContext *ctx, uint64_t va);
/* Whether another device sees that allocation. */
bool mc_pool_seen(McContext *ctx, uint64_t va, int device);

#endif
