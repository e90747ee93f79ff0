/* SPDX-License-Identifier: MIT */
/* What pools consist of, for those files alone that work on them. */
#ifndef MC_CORE_POOL_STATE_H
#define MC_CORE_POOL_STATE_H

#include "pool_file.h"
#include "pool_space.h"

typedef struct McPool McPool;

struct McPool {
    McHandle handle;
    McPools *pools;
    McPool *next;
    McSpace space;
    uint64_t max; /* bytes of slabs; 0: no limit */
    McPoolFile *file; /* whose parts its slabs are; NULL: VRAM */
    bool imported;    /* of another process's pool */
    uint64_t threshold, reserved_high, used_high;
    bool follow, opportunistic, internal; /* mcMemPoolReuse* */
    uint32_t access; /* other devices that see it, a bit each */
    bool dropped; /* has no handle any more */
};

/* Memory that no call finds any more, and that is free when queues have come so
 * far: of mcMalloc, or a piece that was freed in no stream. */
typedef struct McRetired {
    struct McRetired *next;
    void *block;    /* of the allocator, or NULL */
    McPiece *piece; /* in use as far as the space knows */
    unsigned count;
    struct McRetiredBy {
        McQueue *queue; /* NULL: came so far */
        uint64_t serial, value;
    } by[];
} McRetired;

struct McPools {
    McContext *ctx;
    McPools *next; /* of the process */
    pthread_mutex_t lock;
    McPool *first; /* the default pool is the last */
    McPool *standard, *current, *graph;
    McRetired *retired;
    /* A sync may find something to do. */
    atomic_bool waiting;
};

/* With file, which it takes over on success, or NULL; no limit, no handle. */
McPool *mc_pool_make(McPools *pools, McPoolFile *file);
/* With a handle: from here on others find it. */
void mc_pool_publish(McPool *pool);

/* Without the lock: a slab that is in no space any more. */
void mc_pool_slab_free(McContext *ctx, McMapping *mapping);

/* Under the lock, below. Makes mapping a slab of the pool, unless it fails. */
mcError_t mc_pool_slab_add(McPool *pool, const McMapping *mapping);
/* The allocation that starts at va, or NULL. */
McPiece *mc_pool_piece_at(McContext *ctx, uint64_t va);
/* No call finds the piece any more, and no other process. */
void mc_piece_conceal(McPiece *piece);
/* What is reserved or used may be more than ever. */
void mc_pool_note_high(McPool *pool);

static inline McPool *mc_pool_of_space(McSpace *space)
{
    return mc_container_of(space, McPool, space);
}

#endif
