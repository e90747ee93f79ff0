/* SPDX-License-Identifier: MIT */
/* What pools consist of, for those files alone that work on them. */
#ifndef MC_CORE_POOL_STATE_H
#define MC_CORE_POOL_STATE_H

#include "pool_space.h"

typedef struct McPool McPool;

struct McPool {
    McHandle handle;
    McPools *pools;
    McPool *next;
    McSpace space;
    uint64_t max; /* bytes of slabs; 0: no limit */
    mcMemAllocationHandleType handles;
    uint64_t threshold, reserved_high, used_high;
    bool follow, opportunistic, internal; /* mcMemPoolReuse* */
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

static inline McPool *mc_pool_of_space(McSpace *space)
{
    return mc_container_of(space, McPool, space);
}

#endif
