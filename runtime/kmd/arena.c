/* SPDX-License-Identifier: MIT */
/*
 * Small pieces of pinned memory at one address for both sides: rings, control
 * blocks, progress words, stages. They come from large chunks, each pinned and
 * mapped once, because a piece of its own costs two calls of the kernel, a
 * fault a page and, behind an IOMMU, a translation a page. Chunks lie like
 * large pages, on both sides and on the bus, so that each may be one there.
 * They stay until the device is closed; pieces too large for them are chunks of
 * their own, which go when they are freed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arena.h"
#include "base/log.h"
#include "base/va.h"
#include "mxgpu/pte.h"

#define CHUNK_SIZE  KMD_LARGE_PAGE_SIZE
#define PIECE_LIMIT (CHUNK_SIZE / 4)

struct KmdChunk {
    KmdChunk *next;
    uint8_t *memory;
    uint64_t size;
    KmdBo *bo;
    bool mapped;
};

static void chunk_free(KmdArena *arena, KmdChunk *chunk)
{
    if (chunk->mapped) {
        arena->ops->unmap(arena->dev, (uintptr_t)chunk->memory, chunk->size);
    }
    if (chunk->bo) {
        arena->ops->free(chunk->bo);
    }
    mc_va_release(chunk->memory, chunk->size);
    free(chunk);
}

/* Accessible and pinned; what is there on failure is chunk_free()'s. */
static int chunk_fill(KmdArena *arena, KmdChunk *chunk)
{
    void *p = mmap(chunk->memory, chunk->size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    int ret;

    if (p == MAP_FAILED) {
        return -ENOMEM;
    }
    madvise(chunk->memory, chunk->size, MADV_HUGEPAGE);
    /* A child process must not make the parent's copy another page. */
    madvise(chunk->memory, chunk->size, MADV_DONTFORK);
    ret = arena->ops->pin(arena->dev, chunk->memory, chunk->size, &chunk->bo);
    if (ret) {
        return ret;
    }
    ret = arena->ops->map(chunk->bo, (uintptr_t)chunk->memory, 0, chunk->size,
                          MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC);
    chunk->mapped = !ret;
    return ret;
}

static int chunk_new(KmdArena *arena, uint64_t size, KmdChunk **out)
{
    KmdChunk *chunk = calloc(1, sizeof(*chunk));
    int ret;

    if (!chunk) {
        return -ENOMEM;
    }
    chunk->size = size;
    chunk->memory = mc_va_reserve(size, size < CHUNK_SIZE ? KMD_PAGE_SIZE
                                                          : CHUNK_SIZE);
    if (!chunk->memory) {
        mc_error("no address space for %llu bytes", (unsigned long long)size);
        free(chunk);
        return -ENOMEM;
    }
    ret = chunk_fill(arena, chunk);
    if (ret) {
        chunk_free(arena, chunk);
        return ret;
    }
    *out = chunk;
    return 0;
}

static void chunk_link(KmdArena *arena, KmdChunk *chunk)
{
    chunk->next = arena->chunks;
    arena->chunks = chunk;
}

/* Adds a chunk to the free memory. */
static int arena_grow(KmdArena *arena)
{
    KmdChunk *chunk;
    int ret = chunk_new(arena, CHUNK_SIZE, &chunk);

    if (ret) {
        return ret;
    }
    ret = mc_extents_add(&arena->free, (uintptr_t)chunk->memory, chunk->size);
    if (ret) {
        chunk_free(arena, chunk);
        return ret;
    }
    chunk_link(arena, chunk);
    return 0;
}

static int piece_alloc(KmdArena *arena, uint64_t size, uint64_t *va)
{
    McExtents *extents = &arena->free;
    int ret = mc_extents_alloc(extents, size, KMD_PAGE_SIZE, 0, va);

    if (ret == -ENOSPC) {
        ret = arena_grow(arena);
        if (!ret) {
            ret = mc_extents_alloc(extents, size, KMD_PAGE_SIZE, 0, va);
        }
    }
    return ret;
}

int kmd_arena_alloc(KmdArena *arena, uint64_t size, void **memory)
{
    KmdChunk *chunk;
    uint64_t va;
    int ret;

    if (size == 0 || size % KMD_PAGE_SIZE) {
        return -EINVAL;
    }
    if (size > PIECE_LIMIT) {
        ret = chunk_new(arena, size, &chunk);
        if (ret) {
            return ret;
        }
        va = (uintptr_t)chunk->memory;
        pthread_mutex_lock(&arena->lock);
        chunk_link(arena, chunk);
    } else {
        pthread_mutex_lock(&arena->lock);
        ret = piece_alloc(arena, size, &va);
    }
    pthread_mutex_unlock(&arena->lock);
    if (!ret) {
        *memory = (void *)(uintptr_t)va;
    }
    return ret;
}

void kmd_arena_free(KmdArena *arena, void *memory, uint64_t size)
{
    KmdChunk *chunk = NULL, **link;

    if (size <= PIECE_LIMIT) {
        memset(memory, 0, size); /* for the next one */
        pthread_mutex_lock(&arena->lock);
        mc_extents_free(&arena->free, (uintptr_t)memory, size);
        pthread_mutex_unlock(&arena->lock);
        return;
    }
    pthread_mutex_lock(&arena->lock);
    for (link = &arena->chunks; *link; link = &(*link)->next) {
        if ((*link)->memory == memory) {
            chunk = *link;
            *link = chunk->next;
            break;
        }
    }
    pthread_mutex_unlock(&arena->lock);
    if (chunk) {
        chunk_free(arena, chunk);
    }
}

void kmd_arena_init(KmdArena *arena, KmdDevice *dev, const KmdArenaOps *ops)
{
    arena->dev = dev;
    arena->ops = ops;
    arena->chunks = NULL;
    pthread_mutex_init(&arena->lock, NULL);
    mc_extents_init(&arena->free);
}

void kmd_arena_fini(KmdArena *arena)
{
    while (arena->chunks) {
        KmdChunk *chunk = arena->chunks;

        arena->chunks = chunk->next;
        mc_va_release(chunk->memory, chunk->size);
        free(chunk);
    }
    mc_extents_fini(&arena->free);
    pthread_mutex_destroy(&arena->lock);
}
