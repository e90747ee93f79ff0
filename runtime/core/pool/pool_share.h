/* SPDX-License-Identifier: MIT */
/*
 * Pools and their memory in several processes. An imported pool has a slab for
 * each allocation that was imported, with one piece in use; it is freed like any
 * other, and its slab goes with it. Nothing is allocated from such a pool.
 */
#ifndef MC_CORE_POOL_SHARE_H
#define MC_CORE_POOL_SHARE_H

#include "pool.h"

/* A file descriptor of the caller's. mcErrorInvalidValue: a pool that was made
 * without mcMemHandleTypePosixFileDescriptor, or imported. */
mcError_t mc_pool_export(McPool *pool, int *fd);
/* For memory of ctx. fd stays the caller's. mcErrorInvalidValue: not of a
 * pool. */
mcError_t mc_pool_import(McContext *ctx, int fd, McPool **out);

/* mcErrorInvalidValue: va is not the start of an allocation of such a pool. */
mcError_t mc_pool_export_at(McContext *ctx, uint64_t va, McToken *token);
/* By what the pool of the allocation at va can be exported. */
mcMemAllocationHandleType mc_pool_handle_type(McContext *ctx, uint64_t va);
/* mcErrorInvalidValue: not an imported pool, not a token of one of its
 * allocations, or it was freed. */
mcError_t mc_pool_import_at(McPool *pool, const McToken *token,
                            McCaller caller, uint64_t *va);

#endif
