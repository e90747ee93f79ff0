/* SPDX-License-Identifier: MIT */
#include "alloc.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "log.h"
#include "mxgpu/pte.h"
#include "range.h"

#define CHUNK_SIZE  KMD_LARGE_PAGE_SIZE
#define CHUNK_UNITS (CHUNK_SIZE / MC_ALIGN)
#define DATA_PERMS  (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC)

typedef struct Chunk {
    struct Chunk *next;
    McMapping mapping;
    unsigned used_units;
    unsigned hint; /* no free unit below */
    uint64_t used[CHUNK_UNITS / 64]; /* one bit a unit */
} Chunk;

/* Owner of a range: of a chunk, or with memory of its own. */
typedef struct Block {
    struct Block *next, **link; /* of the context's list */
    Chunk *chunk;
    McMapping mapping;
    uint64_t va;
    unsigned units;
} Block;

struct McAllocator {
    McContext *ctx;
    pthread_mutex_t lock;
    Chunk *chunks;
    Block *blocks;
};

/* ---- address ranges ---- */

mcError_t mc_mapping_new(McContext *ctx, uint64_t size, uint64_t perms,
                         McMapping *out)
{
    McMapping m = {0};

    if (size == 0 || size > MXGPU_VA_LIMIT) {
        return mcErrorMemoryAllocation;
    }
    m.size = (size + KMD_PAGE_SIZE - 1) & ~(KMD_PAGE_SIZE - 1);
    m.reserved = m.size + KMD_PAGE_SIZE; /* a page that faults */
    int err = ctx->ops->alloc(ctx->kmd, m.size, &m.bo);
    if (err) {
        return mc_error_from_kmd(err);
    }
    void *va = mc_va_reserve(m.reserved, m.size >= KMD_LARGE_PAGE_SIZE
                                             ? KMD_LARGE_PAGE_SIZE
                                             : KMD_PAGE_SIZE);
    if (!va) {
        ctx->ops->free(m.bo);
        return mcErrorMemoryAllocation;
    }
    m.va = (uintptr_t)va;
    if (perms) {
        err = ctx->ops->map(m.bo, m.va, 0, m.size, perms);
        if (err) {
            mc_va_release(va, m.reserved);
            ctx->ops->free(m.bo);
            return mc_error_from_kmd(err);
        }
    }
    *out = m;
    return mcSuccess;
}

void mc_mapping_free(McContext *ctx, McMapping *mapping)
{
    if (!mapping->bo) {
        return;
    }
    int err = ctx->ops->unmap(ctx->kmd, mapping->va, mapping->size);
    if (err) {
        /* Still visible to the device: neither may be used again. */
        mc_error("device %d: unmapping failed: %s", ctx->device,
                 strerror(-err));
        return;
    }
    ctx->ops->free(mapping->bo);
    mc_va_release((void *)(uintptr_t)mapping->va, mapping->reserved);
    mapping->bo = NULL;
}

/* ---- chunks ---- */

static bool unit_used(const Chunk *chunk, unsigned unit)
{
    return chunk->used[unit / 64] >> (unit % 64) & 1;
}

static void units_set(Chunk *chunk, unsigned first, unsigned count, bool used)
{
    for (unsigned u = first; u < first + count; u++) {
        if (used) {
            chunk->used[u / 64] |= 1ull << (u % 64);
        } else {
            chunk->used[u / 64] &= ~(1ull << (u % 64));
        }
    }
    chunk->used_units += used ? count : -count;
    if (!used && first < chunk->hint) {
        chunk->hint = first;
    } else if (used && first == chunk->hint) {
        chunk->hint = first + count;
    }
}

/* First fit; CHUNK_UNITS when there is no room. */
static unsigned units_find(const Chunk *chunk, unsigned count)
{
    unsigned run = 0;

    if (CHUNK_UNITS - chunk->used_units < count) {
        return CHUNK_UNITS;
    }
    for (unsigned u = chunk->hint; u < CHUNK_UNITS; u++) {
        if (u % 64 == 0 && chunk->used[u / 64] == UINT64_MAX) {
            run = 0;
            u += 63;
        } else if (unit_used(chunk, u)) {
            run = 0;
        } else if (++run == count) {
            return u + 1 - count;
        }
    }
    return CHUNK_UNITS;
}

/* Takes units of a chunk, of a new one when all are full. */
static mcError_t chunk_alloc(McAllocator *allocator, Block *block)
{
    unsigned first;
    Chunk *chunk;

    for (chunk = allocator->chunks; chunk; chunk = chunk->next) {
        first = units_find(chunk, block->units);
        if (first < CHUNK_UNITS) {
            goto found;
        }
    }
    chunk = calloc(1, sizeof(*chunk));
    if (!chunk) {
        return mcErrorMemoryAllocation;
    }
    mcError_t error = mc_mapping_new(allocator->ctx, CHUNK_SIZE, DATA_PERMS,
                                     &chunk->mapping);
    if (error != mcSuccess) {
        free(chunk);
        return error;
    }
    chunk->next = allocator->chunks;
    allocator->chunks = chunk;
    first = 0;
found:
    units_set(chunk, first, block->units, true);
    block->chunk = chunk;
    block->va = chunk->mapping.va + first * MC_ALIGN;
    return mcSuccess;
}

/* Empty chunks go, but for one that saves mapping the next. */
static void chunk_release(McAllocator *allocator, Block *block)
{
    Chunk *chunk = block->chunk;
    unsigned first = (block->va - chunk->mapping.va) / MC_ALIGN;

    units_set(chunk, first, block->units, false);
    if (chunk->used_units > 0) {
        return;
    }
    bool spare = false;
    for (Chunk *c = allocator->chunks; c; c = c->next) {
        spare |= c != chunk && c->used_units == 0;
    }
    if (spare) {
        Chunk **p = &allocator->chunks;

        while (*p != chunk) {
            p = &(*p)->next;
        }
        *p = chunk->next;
        mc_mapping_free(allocator->ctx, &chunk->mapping);
        free(chunk);
    }
}

/* ---- allocations ---- */

mcError_t mc_allocator_new(McContext *ctx, McAllocator **out)
{
    McAllocator *allocator = calloc(1, sizeof(*allocator));

    if (!allocator) {
        return mcErrorMemoryAllocation;
    }
    allocator->ctx = ctx;
    pthread_mutex_init(&allocator->lock, NULL);
    *out = allocator;
    return mcSuccess;
}

static void block_link(McAllocator *allocator, Block *block)
{
    block->next = allocator->blocks;
    block->link = &allocator->blocks;
    if (block->next) {
        block->next->link = &block->next;
    }
    allocator->blocks = block;
}

/* Under the lock. */
static void block_free(McAllocator *allocator, Block *block)
{
    *block->link = block->next;
    if (block->next) {
        block->next->link = block->link;
    }
    if (block->chunk) {
        chunk_release(allocator, block);
    } else {
        mc_mapping_free(allocator->ctx, &block->mapping);
    }
    free(block);
}

void mc_allocator_free(McAllocator *allocator)
{
    if (!allocator) {
        return;
    }
    while (allocator->blocks) {
        mc_range_remove(allocator->blocks->va, NULL);
        block_free(allocator, allocator->blocks);
    }
    while (allocator->chunks) {
        Chunk *chunk = allocator->chunks;

        allocator->chunks = chunk->next;
        mc_mapping_free(allocator->ctx, &chunk->mapping);
        free(chunk);
    }
    pthread_mutex_destroy(&allocator->lock);
    free(allocator);
}

mcError_t mc_device_alloc(McContext *ctx, uint64_t size, unsigned flags,
                          uint64_t *va)
{
    McAllocator *allocator = ctx->allocator;

    if (size == 0 || size > ctx->info.vram_size) {
        return mcErrorMemoryAllocation;
    }
    Block *block = calloc(1, sizeof(*block));
    if (!block) {
        return mcErrorMemoryAllocation;
    }
    pthread_mutex_lock(&allocator->lock);
    mcError_t error;
    if (size <= MC_SMALL) {
        block->units = (size + MC_ALIGN - 1) / MC_ALIGN;
        error = chunk_alloc(allocator, block);
    } else {
        error = mc_mapping_new(ctx, size, DATA_PERMS, &block->mapping);
        block->va = block->mapping.va;
    }
    if (error != mcSuccess) {
        pthread_mutex_unlock(&allocator->lock);
        free(block);
        return error;
    }
    block_link(allocator, block);
    McRange range = {
        .base = block->va,
        .size = size,
        .kind = MC_RANGE_DEVICE,
        .device = ctx->device,
        .flags = flags,
        .owner = block,
    };
    if (!mc_range_add(&range)) {
        block_free(allocator, block);
        error = mcErrorMemoryAllocation;
    } else {
        *va = block->va;
    }
    pthread_mutex_unlock(&allocator->lock);
    return error;
}

mcError_t mc_device_free(McContext *ctx, uint64_t va)
{
    McAllocator *allocator = ctx->allocator;
    mcError_t error = mcErrorInvalidValue;
    McRange range;

    pthread_mutex_lock(&allocator->lock);
    if (mc_range_find(va, &range) && range.base == va &&
        range.kind == MC_RANGE_DEVICE && range.device == ctx->device) {
        mc_range_remove(va, NULL);
        block_free(allocator, range.owner);
        error = mcSuccess;
    }
    pthread_mutex_unlock(&allocator->lock);
    return error;
}

void mc_device_memory(McContext *ctx, uint64_t *free_bytes, uint64_t *total)
{
    ctx->ops->memory(ctx->kmd, free_bytes, total);
    pthread_mutex_lock(&ctx->allocator->lock);
    for (Chunk *c = ctx->allocator->chunks; c; c = c->next) {
        *free_bytes += (CHUNK_UNITS - c->used_units) * (uint64_t)MC_ALIGN;
    }
    pthread_mutex_unlock(&ctx->allocator->lock);
}
