/* SPDX-License-Identifier: MIT */
/* Small pieces of pinned memory: kmd.h, shared_alloc. */
#ifndef MC_KMD_ARENA_H
#define MC_KMD_ARENA_H

#include <pthread.h>

#include "base/extents.h"
#include "kmd.h"

typedef struct KmdChunk KmdChunk;

/* Those of the back end: KmdOps. */
typedef struct KmdArenaOps {
    int (*pin)(KmdDevice *dev, void *ptr, uint64_t size, KmdBo **bo);
    int (*map)(KmdBo *bo, uint64_t va, uint64_t offset, uint64_t size,
               uint64_t perms);
    int (*unmap)(KmdDevice *dev, uint64_t va, uint64_t size);
    void (*free)(KmdBo *bo);
} KmdArenaOps;

typedef struct KmdArena {
    KmdDevice *dev;
    const KmdArenaOps *ops;
    pthread_mutex_t lock;
    KmdChunk *chunks;
    McExtents free; /* addresses in them */
} KmdArena;

void kmd_arena_init(KmdArena *arena, KmdDevice *dev, const KmdArenaOps *ops);
/* The device has forgotten all memory objects. */
void kmd_arena_fini(KmdArena *arena);
int kmd_arena_alloc(KmdArena *arena, uint64_t size, void **memory);
void kmd_arena_free(KmdArena *arena, void *memory, uint64_t size);

#endif
