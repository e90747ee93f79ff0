/* SPDX-License-Identifier: MIT */
/* A device of the fake back end, and its memory. */
#ifndef MC_TESTS_FAKE_DEVICE_H
#define MC_TESTS_FAKE_DEVICE_H

#include "fake.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct Mapping {
    struct Mapping *next;
    uint64_t va, size, perms;
    uint8_t *memory;
} Mapping;

/* VRAM: a sparse file, used from its start and never again. */
#define FILE_SIZE (1ull << 42)

struct FakeDevice {
    unsigned index;
    int file;
    atomic_ullong file_used;
    pthread_rwlock_t lock; /* of the mappings */
    Mapping *mappings;
    atomic_ullong used;
    atomic_uint queues;
    atomic_bool seen_reset;
};

static inline FakeDevice *of(KmdDevice *dev)
{
    return (FakeDevice *)dev;
}

/* ---- memory.c ---- */

int fake_alloc(KmdDevice *dev, uint64_t size, KmdBo **bo);
int fake_pin(KmdDevice *dev, void *ptr, uint64_t size, KmdBo **bo);
int fake_peer(KmdDevice *dev, KmdBo *of, uint64_t offset, uint64_t size,
              KmdBo **bo);
bool fake_reaches(KmdDevice *dev, KmdDevice *other);
int fake_share(KmdBo *bo, int *fd, uint64_t *offset);
void fake_free(KmdBo *bo);
void *fake_cpu(KmdBo *bo);
void fake_memory(KmdDevice *dev, uint64_t *free_bytes, uint64_t *total);
int fake_map(KmdBo *bo, uint64_t va, uint64_t offset, uint64_t size,
             uint64_t perms);
int fake_unmap(KmdDevice *dev, uint64_t va, uint64_t size);
int fake_replace(KmdDevice *dev, const KmdPlace *places, unsigned count);
int fake_shared_alloc(KmdDevice *dev, uint64_t size, void **memory);
void fake_shared_free(KmdDevice *dev, void *memory, uint64_t size);

/* Fills *error and returns false. */
bool fake_fault(struct mxgpu_queue_error *error, enum mxgpu_fault code,
                uint64_t va, uint64_t perms);

#define FAKE_MEMORY_OPS                                                        \
    .alloc = fake_alloc, .pin = fake_pin, .peer = fake_peer,                   \
    .reaches = fake_reaches, .share = fake_share, .free = fake_free,           \
    .cpu = fake_cpu, .memory = fake_memory, .map = fake_map,                   \
    .unmap = fake_unmap, .replace = fake_replace,                              \
    .shared_alloc = fake_shared_alloc, .shared_free = fake_shared_free

#endif
