/* SPDX-License-Identifier: MIT */
#include "alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/extents.h"
#include "base/log.h"
#include "base/va.h"
#include "core/context/error.h"
#include "core/context/peer.h"
#include "file_memory.h"
#include "range.h"
#include "watch.h"

#define CHUNK_SIZE KMD_LARGE_PAGE_SIZE

/* One large page, shared. */
typedef struct Chunk {
    McNode node; /* by address */
    McMapping mapping;
    uint64_t used; /* bytes */
} Chunk;

/* Owner of a range: whole large pages of its own, then bytes of a chunk; each
 * may be missing. */
typedef struct Block {
    struct Block *next, **link; /* of the context's list */
    McMapping body;
    uint64_t va;
    Chunk *chunk;
    uint64_t piece, piece_size; /* of the chunk */
    uint64_t size;  /* that the user may use, from va */
    uint64_t front; /* zone before that */
    bool damaged;   /* and reported */
    McCaller caller;
    unsigned number; /* in the directory for other processes, or 0 */
} Block;

struct McAllocator {
    McContext *ctx;
    pthread_mutex_t lock;
    McTree chunks;
    McExtents room; /* free pieces of all chunks, which never touch */
    Chunk *spare;   /* an empty one: saves mapping the next */
    Block *blocks;
};

static Chunk *chunk_of(const McNode *node)
{
    return mc_container_of(node, Chunk, node);
}

static int chunk_compare(const McNode *a, const McNode *b)
{
    return mc_order(chunk_of(a)->mapping.va, chunk_of(b)->mapping.va);
}

static int chunk_ends_by(const McNode *node, const void *key)
{
    return chunk_of(node)->mapping.va + CHUNK_SIZE <= *(const uint64_t *)key
               ? -1
               : 1;
}

/* ---- address ranges ---- */

static uint64_t align_up(uint64_t size, uint64_t align)
{
    return (size + align - 1) & ~(align - 1);
}

/* Memory for a part of the address space that is reserved already. */
static mcError_t mapping_fill(McContext *ctx, uint64_t va, uint64_t size,
                              uint64_t reserved, uint64_t perms,
                              McMapping *out)
{
    McMapping m = {.va = va, .size = size, .reserved = reserved};
    int err = ctx->ops->alloc(ctx->kmd, size, &m.bo);

    if (!err && perms) {
        err = ctx->ops->map(m.bo, va, 0, size, perms);
        if (err) {
            ctx->ops->free(m.bo);
        }
    }
    if (err) {
        return mc_error_from_kmd(err);
    }
    *out = m;
    return mcSuccess;
}

mcError_t mc_mapping_new(McContext *ctx, uint64_t size, uint64_t perms,
                         McMapping *out)
{
    if (size == 0 || size > MXGPU_VA_LIMIT) {
        return mcErrorMemoryAllocation;
    }
    size = align_up(size, KMD_PAGE_SIZE);
    uint64_t reserved = size + KMD_PAGE_SIZE; /* a page that faults */
    void *va = mc_va_reserve(reserved, size >= KMD_LARGE_PAGE_SIZE
                                           ? KMD_LARGE_PAGE_SIZE
                                           : KMD_PAGE_SIZE);
    if (!va) {
        return mcErrorMemoryAllocation;
    }
    mcError_t error = mapping_fill(ctx, (uintptr_t)va, size, reserved, perms,
                                   out);
    if (error != mcSuccess) {
        mc_va_release(va, reserved);
    }
    return error;
}

bool mc_mapping_empty(McContext *ctx, McMapping *mapping)
{
    int err = ctx->ops->unmap(ctx->kmd, mapping->va, mapping->size);
    if (err) {
        /* Still visible to the device: neither may be used again. */
        mc_error("device %d: unmapping failed: %s", ctx->device,
                 strerror(-err));
        return false;
    }
    ctx->ops->free(mapping->bo);
    if (mapping->memory) {
        mc_file_unmap(mapping->memory, mapping->size);
    }
    mapping->bo = NULL;
    return true;
}

mcError_t mc_mapping_refill(McContext *ctx, McMapping *mapping)
{
    return mapping_fill(ctx, mapping->va, mapping->size, mapping->reserved,
                        MC_DATA_PERMS, mapping);
}

void mc_mapping_free(McContext *ctx, McMapping *mapping)
{
    if (mapping->bo && mc_mapping_empty(ctx, mapping)) {
        mc_va_release((void *)(uintptr_t)mapping->va, mapping->reserved);
    }
}

/* The same for data, which devices with access see, too. */
static mcError_t data_fill(McContext *ctx, uint64_t va, uint64_t size,
                           uint64_t reserved, McMapping *out)
{
    mcError_t error = mapping_fill(ctx, va, size, reserved,
                                   MC_DATA_PERMS, out);

    if (error == mcSuccess) {
        error = mc_peer_add(ctx, out->bo, va, size);
        if (error != mcSuccess && ctx->ops->unmap(ctx->kmd, va, size) == 0) {
            ctx->ops->free(out->bo);
            out->bo = NULL;
        }
    }
    if (error == mcSuccess) {
        mc_watch_arena(va, size, true);
    }
    return error;
}

static mcError_t data_new(McContext *ctx, uint64_t size, McMapping *out)
{
    mcError_t error = mc_mapping_new(ctx, size, MC_DATA_PERMS, out);

    if (error == mcSuccess) {
        error = mc_peer_add(ctx, out->bo, out->va, out->size);
        if (error != mcSuccess) {
            mc_mapping_free(ctx, out);
        } else {
            mc_watch_arena(out->va, out->size, true);
        }
    }
    return error;
}

static void data_free(McContext *ctx, McMapping *mapping)
{
    if (mapping->bo) {
        mc_watch_arena(mapping->va, mapping->size, false);
        mc_peer_remove(mapping->va);
        mc_mapping_free(ctx, mapping);
    }
}

/* ---- chunks ---- */

static void chunk_take(McAllocator *allocator, Chunk *chunk, Block *block,
                       uint64_t piece)
{
    if (chunk == allocator->spare) {
        allocator->spare = NULL;
    }
    chunk->used += block->piece_size;
    block->chunk = chunk;
    block->piece = piece;
}

static void chunk_free(McAllocator *allocator, Chunk *chunk)
{
    mc_tree_remove(&allocator->chunks, &chunk->node);
    data_free(allocator->ctx, &chunk->mapping);
    free(chunk);
}

/* A chunk at an address of its own, or at va, which is reserved. */
static mcError_t chunk_new(McAllocator *allocator, uint64_t va, Chunk **out)
{
    Chunk *chunk = calloc(1, sizeof(*chunk));
    mcError_t error = mcErrorMemoryAllocation;

    if (chunk && va) {
        error = data_fill(allocator->ctx, va, CHUNK_SIZE,
                          CHUNK_SIZE + KMD_PAGE_SIZE, &chunk->mapping);
    } else if (chunk) {
        error = data_new(allocator->ctx, CHUNK_SIZE, &chunk->mapping);
    }
    if (error != mcSuccess) {
        free(chunk);
        return error;
    }
    if (mc_extents_add(&allocator->room, chunk->mapping.va, CHUNK_SIZE)) {
        data_free(allocator->ctx, &chunk->mapping);
        free(chunk);
        return mcErrorMemoryAllocation;
    }
    mc_tree_insert(&allocator->chunks, &chunk->node);
    *out = chunk;
    return mcSuccess;
}

/* The first piece that fits, of a new chunk when there is none. */
static mcError_t chunk_alloc(McAllocator *allocator, Block *block)
{
    uint64_t piece;
    Chunk *chunk;
    int err = mc_extents_alloc(&allocator->room, block->piece_size, MC_ALIGN,
                               0, &piece);

    if (err == -ENOSPC) {
        mcError_t error = chunk_new(allocator, 0, &chunk);
        if (error != mcSuccess) {
            return error;
        }
        allocator->spare = allocator->spare ? allocator->spare : chunk;
        err = mc_extents_alloc(&allocator->room, block->piece_size, MC_ALIGN,
                               0, &piece);
    }
    if (err) {
        return mcErrorMemoryAllocation;
    }
    chunk = chunk_of(mc_tree_lower(&allocator->chunks, &piece, chunk_ends_by));
    chunk_take(allocator, chunk, block, piece);
    block->va = piece;
    return mcSuccess;
}

/* Empty chunks go, but for one. */
static void chunk_release(McAllocator *allocator, Block *block)
{
    Chunk *chunk = block->chunk;

    mc_extents_free(&allocator->room, block->piece, block->piece_size);
    chunk->used -= block->piece_size;
    if (chunk->used > 0) {
        return;
    }
    if (!allocator->spare) {
        allocator->spare = chunk;
    } else if (!mc_extents_exclude(&allocator->room, chunk->mapping.va,
                                   CHUNK_SIZE)) {
        chunk_free(allocator, chunk);
    }
}

/* ---- allocations ---- */

/* Large pages with a chunk behind them for what is left over; the rest of that
 * chunk serves other requests. */
static mcError_t large_alloc(McAllocator *allocator, uint64_t size,
                             Block *block)
{
    McContext *ctx = allocator->ctx;
    uint64_t body = size & ~(KMD_LARGE_PAGE_SIZE - 1);
    uint64_t tail = block->piece_size ? CHUNK_SIZE : 0;
    uint64_t reserved = body + tail + KMD_PAGE_SIZE; /* a page that faults */
    uint8_t *va = mc_va_reserve(reserved, KMD_LARGE_PAGE_SIZE);
    Chunk *chunk;

    if (!va) {
        return mcErrorMemoryAllocation;
    }
    block->va = (uintptr_t)va;
    mcError_t error = data_fill(ctx, block->va, body, tail ? body : reserved,
                                &block->body);
    if (error != mcSuccess) {
        mc_va_release(va, reserved);
        return error;
    }
    if (!tail) {
        return mcSuccess;
    }
    error = chunk_new(allocator, block->va + body, &chunk);
    if (error != mcSuccess) {
        mc_va_release(va + body, reserved - body);
        data_free(ctx, &block->body);
        return error;
    }
    if (mc_extents_take(&allocator->room, block->va + body,
                        block->piece_size)) {
        mc_extents_exclude(&allocator->room, block->va + body, CHUNK_SIZE);
        chunk_free(allocator, chunk);
        data_free(ctx, &block->body);
        return mcErrorMemoryAllocation;
    }
    chunk_take(allocator, chunk, block, block->va + body);
    return mcSuccess;
}

/* Large pages if possible; when there is no room for them, what is needed. */
static mcError_t block_alloc(McAllocator *allocator, uint64_t size,
                             Block *block)
{
    uint64_t rest = size % CHUNK_SIZE;
    mcError_t error;

    block->piece_size = align_up(rest, MC_ALIGN);
    error = size < CHUNK_SIZE ? chunk_alloc(allocator, block)
                              : large_alloc(allocator, size, block);
    if (error == mcErrorMemoryAllocation && block->piece_size) {
        block->piece_size = 0;
        error = data_new(allocator->ctx, size, &block->body);
        block->va = block->body.va;
    }
    return error;
}

static void block_drop(McAllocator *allocator, Block *block)
{
    mc_directory_withdraw(block->number);
    if (block->chunk) {
        chunk_release(allocator, block);
    }
    data_free(allocator->ctx, &block->body);
}

mcError_t mc_allocator_new(McContext *ctx, McAllocator **out)
{
    McAllocator *allocator = calloc(1, sizeof(*allocator));

    if (!allocator) {
        return mcErrorMemoryAllocation;
    }
    allocator->ctx = ctx;
    allocator->chunks.compare = chunk_compare;
    mc_extents_init(&allocator->room);
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

/* ---- zones: the bytes of a block before and behind what the user has ---- */

/* Fills [from, to), or looks at it. */
static void zone(McContext *ctx, const Block *block, uint64_t from,
                 uint64_t to, McDamage *damage)
{
    while (from < to) {
        const McMapping *m = &block->body;

        if (!m->bo || from - m->va >= m->size) {
            m = &block->chunk->mapping;
        }
        uint64_t rest = m->va + m->size - from;
        uint64_t bytes = rest < to - from ? rest : to - from;
        uint8_t *cpu = (uint8_t *)ctx->ops->cpu(m->bo) + (from - m->va);
        if (damage) {
            mc_zone_look(cpu, from, bytes, damage);
        } else {
            mc_zone_fill(cpu, from, bytes);
        }
        from += bytes;
    }
}

static void zones(McContext *ctx, const Block *block, McDamage *damage)
{
    uint64_t end = block->chunk ? block->piece + block->piece_size
                                : block->body.va + block->body.size;

    zone(ctx, block, block->va - block->front, block->va, damage);
    zone(ctx, block, block->va + block->size, end, damage);
}

bool mc_device_damaged(McAllocator *allocator)
{
    bool any = false;

    pthread_mutex_lock(&allocator->lock);
    for (Block *block = allocator->blocks; block; block = block->next) {
        McDamage damage = {.bytes = 0};

        if (block->damaged) {
            continue;
        }
        zones(allocator->ctx, block, &damage);
        if (damage.bytes) {
            mc_damage_report(&damage, block->va, block->size, &block->caller);
            any = block->damaged = true;
        }
    }
    pthread_mutex_unlock(&allocator->lock);
    return any;
}

/* Under the lock. */
static void block_free(McAllocator *allocator, Block *block)
{
    *block->link = block->next;
    if (block->next) {
        block->next->link = block->link;
    }
    block_drop(allocator, block);
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
    while (allocator->chunks.root) {
        chunk_free(allocator, chunk_of(allocator->chunks.root));
    }
    mc_extents_fini(&allocator->room);
    pthread_mutex_destroy(&allocator->lock);
    free(allocator);
}

mcError_t mc_device_alloc(McContext *ctx, uint64_t size, unsigned flags,
                          McCaller caller, uint64_t *va)
{
    McAllocator *allocator = ctx->allocator;
    /* Large ones begin, and whole large pages end, with a page that faults. */
    uint64_t front = mc_checking() && size < CHUNK_SIZE ? MC_ZONE : 0;
    uint64_t back = mc_checking() && size % CHUNK_SIZE ? MC_ZONE : 0;

    if (size == 0 || size > ctx->info.vram_size) {
        return mcErrorMemoryAllocation;
    }
    Block *block = calloc(1, sizeof(*block));
    if (!block) {
        return mcErrorMemoryAllocation;
    }
    pthread_mutex_lock(&allocator->lock);
    mcError_t error = block_alloc(allocator, front + size + back, block);
    if (error != mcSuccess) {
        pthread_mutex_unlock(&allocator->lock);
        free(block);
        return error;
    }
    block_link(allocator, block);
    block->va += front;
    block->size = size;
    block->front = front;
    block->caller = caller;
    if (mc_checking()) {
        zones(ctx, block, NULL);
    }
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

void *mc_device_retire(McContext *ctx, uint64_t va)
{
    McAllocator *allocator = ctx->allocator;
    void *block = NULL;
    McRange range;

    pthread_mutex_lock(&allocator->lock);
    if (mc_range_find(va, &range) && range.base == va &&
        range.kind == MC_RANGE_DEVICE && range.device == ctx->device) {
        mc_range_remove(va, NULL);
        block = range.owner;
    }
    pthread_mutex_unlock(&allocator->lock);
    return block;
}

void mc_device_drop(McContext *ctx, void *block)
{
    pthread_mutex_lock(&ctx->allocator->lock);
    block_free(ctx->allocator, block);
    pthread_mutex_unlock(&ctx->allocator->lock);
}

mcError_t mc_device_free(McContext *ctx, uint64_t va)
{
    void *block = mc_device_retire(ctx, va);

    if (!block) {
        return mcErrorInvalidValue;
    }
    mc_device_drop(ctx, block);
    return mcSuccess;
}

/* ---- for other processes ---- */

/* The pages of a mapping that hold [from, to). */
static mcError_t share_pages(McContext *ctx, const McMapping *m, uint64_t from,
                             uint64_t to, McFilePiece *piece)
{
    uint64_t offset;
    int err = ctx->ops->share(m->bo, &piece->fd, &offset);

    from &= ~(KMD_PAGE_SIZE - 1);
    piece->offset = offset + (from - m->va);
    piece->size = align_up(to, KMD_PAGE_SIZE) - from;
    return mc_error_from_kmd(err);
}

static mcError_t block_share(McContext *ctx, Block *block)
{
    McShare share = {.size = block->size};
    mcError_t error = mcSuccess;
    uint64_t start = 0;

    if (block->body.bo) {
        start = block->body.va;
        error = share_pages(ctx, &block->body, start, start + block->body.size,
                            &share.piece[share.pieces++]);
    }
    if (block->chunk && error == mcSuccess) {
        start = start ? start : block->piece & ~(KMD_PAGE_SIZE - 1);
        error = share_pages(ctx, &block->chunk->mapping, block->piece,
                            block->piece + block->piece_size,
                            &share.piece[share.pieces++]);
    }
    if (error != mcSuccess) {
        return error;
    }
    share.skip = block->va - start;
    block->number = mc_directory_publish(MC_RECORD_MEMORY, &share);
    return block->number ? mcSuccess : mcErrorMemoryAllocation;
}

mcError_t mc_device_share(McContext *ctx, uint64_t va, McToken *token)
{
    McAllocator *allocator = ctx->allocator;
    mcError_t error = mcErrorInvalidValue;
    McRange range;

    pthread_mutex_lock(&allocator->lock);
    if (mc_range_find(va, &range) && range.kind == MC_RANGE_DEVICE &&
        range.device == ctx->device) {
        Block *block = range.owner;

        error = block->number ? mcSuccess : block_share(ctx, block);
        if (error == mcSuccess) {
            mc_directory_token(block->number, token);
        }
    }
    pthread_mutex_unlock(&allocator->lock);
    return error;
}

bool mc_device_can_share(McContext *ctx, uint64_t va)
{
    McAllocator *allocator = ctx->allocator;
    bool can = false;
    McRange range;

    pthread_mutex_lock(&allocator->lock);
    if (mc_range_find(va, &range) && range.kind == MC_RANGE_DEVICE &&
        range.device == ctx->device) {
        Block *block = range.owner;
        KmdBo *bo = block->body.bo ? block->body.bo : block->chunk->mapping.bo;
        uint64_t offset;
        int fd;

        can = ctx->ops->share(bo, &fd, &offset) == 0;
    }
    pthread_mutex_unlock(&allocator->lock);
    return can;
}

void mc_device_memory(McContext *ctx, uint64_t *free_bytes, uint64_t *total)
{
    ctx->ops->memory(ctx->kmd, free_bytes, total);
    pthread_mutex_lock(&ctx->allocator->lock);
    *free_bytes += ctx->allocator->room.total;
    pthread_mutex_unlock(&ctx->allocator->lock);
}
