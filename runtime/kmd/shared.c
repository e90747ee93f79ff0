/* SPDX-License-Identifier: MIT */
/* Small pieces of memory that both sides have: kmd.h, shared_alloc. */
#include <errno.h>

#include "priv.h"

static const KmdArenaOps arena_ops = {
    .pin = kmd_bo_pin,
    .map = kmd_bo_map,
    .unmap = kmd_vm_unmap,
    .free = kmd_bo_free,
};

void kmd_shared_init(KmdDevice *dev)
{
    kmd_arena_init(&dev->arena, dev, &arena_ops);
}

void kmd_shared_fini(KmdDevice *dev)
{
    kmd_arena_fini(&dev->arena);
}

int kmd_shared_alloc(KmdDevice *dev, uint64_t size, void **memory)
{
    return kmd_lost(dev) ? -ENODEV
                         : kmd_arena_alloc(&dev->arena, size, memory);
}

void kmd_shared_free(KmdDevice *dev, void *memory, uint64_t size)
{
    kmd_arena_free(&dev->arena, memory, size);
}
