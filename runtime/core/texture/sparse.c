/* SPDX-License-Identifier: MIT */
#include "sparse.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/va.h"
#include "core/context/error.h"
#include "core/memory/alloc.h"
#include "core/memory/range.h"

struct McSparse {
    atomic_int refs; /* of the array, and of work in streams */
    McContext *ctx;
    McSparseShape shape;
    uint64_t va, size;
    uint64_t tail_first, tiles; /* numbers */
    McPhysical **tile;          /* where each is; NULL: nowhere */
};

/* Zeros of a device, which tiles that are nowhere read. Under
 * mc_physical_lock, as is all that follows. */
static struct {
    KmdBo *bo;
    unsigned users;
} zeros[MC_MAX_DEVICES];

static mcError_t zeros_get(McContext *ctx, KmdBo **out)
{
    KmdBo **bo = &zeros[ctx->device].bo;

    if (!zeros[ctx->device].users) {
        int err = ctx->ops->alloc(ctx->kmd, KMD_LARGE_PAGE_SIZE, bo);

        if (err) {
            return mc_error_from_kmd(err);
        }
        memset(ctx->ops->cpu(*bo), 0, KMD_LARGE_PAGE_SIZE);
    }
    zeros[ctx->device].users++;
    *out = *bo;
    return mcSuccess;
}

static void zeros_put(McContext *ctx)
{
    if (--zeros[ctx->device].users == 0) {
        ctx->ops->free(zeros[ctx->device].bo);
    }
}

/* ---- making ---- */

static uint64_t across(const McSparseLevel *level)
{
    return level->pitch / MC_TILE_WIDTH;
}

static uint64_t down(const McSparseLevel *level)
{
    return (level->rows + MC_TILE_ROWS - 1) / MC_TILE_ROWS;
}

/* Numbers of tiles, and all bytes. */
static void count_tiles(McSparse *sparse)
{
    McSparseShape *shape = &sparse->shape;

    for (unsigned i = 0; i < shape->levels; i++) {
        McSparseLevel *level = &shape->level[i];

        level->first = sparse->tiles;
        sparse->tiles += across(level) * down(level) * level->slices;
    }
    sparse->tail_first = sparse->tiles;
    sparse->tiles += shape->tail_size / MC_TILE_SIZE;
    sparse->size = shape->tail_at + shape->tail_size;
}

static mcError_t map_zeros(McSparse *sparse, KmdBo *bo)
{
    McContext *ctx = sparse->ctx;

    for (uint64_t at = 0; at < sparse->size; at += KMD_LARGE_PAGE_SIZE) {
        uint64_t left = sparse->size - at;
        int err = ctx->ops->map(bo, sparse->va + at, 0,
                                left < KMD_LARGE_PAGE_SIZE
                                    ? left
                                    : KMD_LARGE_PAGE_SIZE,
                                MXGPU_PTE_READ);

        if (err) {
            if (at) {
                ctx->ops->unmap(ctx->kmd, sparse->va, at);
            }
            return mc_error_from_kmd(err);
        }
    }
    return mcSuccess;
}

/* Under the lock; the addresses are reserved. */
static mcError_t fill(McSparse *sparse)
{
    McRange range = {
        .base = sparse->va,
        .size = sparse->size,
        .kind = MC_RANGE_SPARSE,
        .device = sparse->ctx->device,
        .owner = sparse,
    };
    KmdBo *bo = NULL;
    mcError_t error = zeros_get(sparse->ctx, &bo);

    if (error != mcSuccess) {
        return error;
    }
    error = map_zeros(sparse, bo);
    if (error == mcSuccess && !mc_range_add(&range)) {
        sparse->ctx->ops->unmap(sparse->ctx->kmd, sparse->va, sparse->size);
        error = mcErrorMemoryAllocation;
    }
    if (error != mcSuccess) {
        zeros_put(sparse->ctx);
    }
    return error;
}

mcError_t mc_sparse_new(McContext *ctx, const McSparseShape *shape,
                        McSparse **out, uint64_t *va)
{
    McSparse *sparse = calloc(1, sizeof(*sparse));
    mcError_t error = mcErrorMemoryAllocation;

    if (!sparse) {
        return error;
    }
    atomic_init(&sparse->refs, 1);
    sparse->ctx = ctx;
    sparse->shape = *shape;
    count_tiles(sparse);
    sparse->tile = calloc(sparse->tiles, sizeof(*sparse->tile));
    if (sparse->tile) {
        sparse->va = (uintptr_t)mc_va_reserve(sparse->size,
                                              KMD_LARGE_PAGE_SIZE);
    }
    if (sparse->va) {
        pthread_mutex_lock(&mc_physical_lock);
        error = fill(sparse);
        pthread_mutex_unlock(&mc_physical_lock);
    }
    if (error != mcSuccess) {
        mc_va_release((void *)(uintptr_t)sparse->va, sparse->size);
        free(sparse->tile);
        free(sparse);
        return error;
    }
    *out = sparse;
    *va = sparse->va;
    return mcSuccess;
}

static void take_out(McContext *ctx, McPhysical *physical)
{
    if (physical) {
        mc_physical_detach(physical, ctx);
        physical->mappings--;
        mc_physical_settle(physical);
    }
}

void mc_sparse_put(McSparse *sparse)
{
    McContext *ctx = sparse->ctx;

    if (atomic_fetch_sub(&sparse->refs, 1) != 1) {
        return;
    }
    pthread_mutex_lock(&mc_physical_lock);
    mc_range_remove(sparse->va, NULL);
    int err = ctx->ops->unmap(ctx->kmd, sparse->va, sparse->size);
    if (err) {
        mc_error("device %d: unmapping failed: %s", ctx->device,
                 strerror(-err));
    }
    for (uint64_t i = 0; i < sparse->tiles; i++) {
        take_out(ctx, sparse->tile[i]);
    }
    zeros_put(ctx);
    pthread_mutex_unlock(&mc_physical_lock);
    mc_va_release((void *)(uintptr_t)sparse->va, sparse->size);
    free(sparse->tile);
    free(sparse);
}

const McSparseShape *mc_sparse_shape(const McSparse *sparse)
{
    return &sparse->shape;
}

/* ---- changing ---- */

typedef struct Change {
    McSparse *sparse;     /* held */
    McPhysical *physical; /* one mapping and attachment, for the time; NULL:
                             zeros */
    KmdBo *bo;
    uint64_t offset; /* of the next tile in it */
    McTiles tiles;
    KmdPlace *places;
    unsigned count;
} Change;

struct McTileWork {
    McContext *ctx;
    unsigned count;
    Change change[];
};

McTileWork *mc_tile_work_new(McContext *ctx, unsigned most)
{
    McTileWork *work = calloc(1, sizeof(*work) + most * sizeof(Change));

    if (work) {
        work->ctx = ctx;
    }
    return work;
}

void mc_tile_work_free(McTileWork *work)
{
    pthread_mutex_lock(&mc_physical_lock);
    for (unsigned i = 0; i < work->count; i++) {
        take_out(work->ctx, work->change[i].physical);
    }
    pthread_mutex_unlock(&mc_physical_lock);
    for (unsigned i = 0; i < work->count; i++) {
        free(work->change[i].places);
        mc_sparse_put(work->change[i].sparse);
    }
    free(work);
}

/* Visits the tiles of a change: their numbers, and where they are. */
typedef void (*TileCall)(Change *change, uint64_t number, uint64_t va,
                         uint64_t pitch, unsigned rows);

static void each_of_level(Change *change, TileCall call)
{
    const McTiles *t = &change->tiles;
    const McSparse *sparse = change->sparse;
    const McSparseLevel *level = &sparse->shape.level[t->level];

    for (uint64_t z = t->z; z < t->z + t->deep; z++) {
        for (uint64_t y = t->y; y < t->y + t->down; y++) {
            uint64_t row = y * MC_TILE_ROWS, left = level->rows - row;
            uint64_t va = sparse->va + level->at +
                          (z * level->rows + row) * level->pitch;
            uint64_t number = level->first +
                              (z * down(level) + y) * across(level);

            for (uint64_t x = t->x; x < t->x + t->across; x++) {
                call(change, number + x, va + x * MC_TILE_WIDTH, level->pitch,
                     left < MC_TILE_ROWS ? (unsigned)left : MC_TILE_ROWS);
            }
        }
    }
}

static void each_tile(Change *change, TileCall call)
{
    const McTiles *t = &change->tiles;
    const McSparse *sparse = change->sparse;

    if (!t->tail) {
        each_of_level(change, call);
        return;
    }
    for (uint64_t x = t->x; x < t->x + t->across; x++) {
        call(change, sparse->tail_first + x,
             sparse->va + sparse->shape.tail_at + x * MC_TILE_SIZE,
             MC_TILE_WIDTH, MC_TILE_ROWS);
    }
}

/* Pages of a tile; in one piece where they follow each other. */
static void place_tile(Change *change, uint64_t number, uint64_t va,
                       uint64_t pitch, unsigned rows)
{
    unsigned pieces = pitch == MC_TILE_WIDTH ? 1 : rows;
    bool nowhere = !change->physical;

    (void)number;
    for (unsigned i = 0; i < pieces; i++) {
        change->places[change->count++] = (KmdPlace){
            .bo = change->bo,
            .va = va + i * pitch,
            .offset = nowhere ? 0 : change->offset + i * MC_TILE_WIDTH,
            .size = (uint64_t)rows / pieces * MC_TILE_WIDTH,
            .perms = nowhere ? MXGPU_PTE_READ : MC_DATA_PERMS,
        };
    }
    change->offset += MC_TILE_SIZE;
}

/* The tiles have moved. */
static void settle_tile(Change *change, uint64_t number, uint64_t va,
                        uint64_t pitch, unsigned rows)
{
    McContext *ctx = change->sparse->ctx;
    McPhysical **tile = &change->sparse->tile[number];
    McPhysical *before = *tile;
    KmdBo *bo;

    (void)va, (void)pitch, (void)rows;
    *tile = change->physical;
    if (*tile) {
        (*tile)->mappings++;
        /* The change has it attached, so there is nothing that could fail. */
        if (mc_physical_attach(*tile, ctx, &bo) != mcSuccess) {
            abort();
        }
    }
    take_out(ctx, before);
}

/* Under the lock: what the change maps, with a mapping of its own. */
static mcError_t hold_pool(McContext *ctx, Change *change, uint64_t handle,
                           uint64_t bytes)
{
    McPhysical *physical = mc_physical_find(handle);

    if (!handle) {
        change->bo = zeros[ctx->device].bo;
        return mcSuccess;
    }
    if (!physical || physical->ctx != ctx ||
        physical->prop.allocFlags.usage != MC_MEM_CREATE_USAGE_TILE_POOL ||
        change->offset > physical->size ||
        bytes > physical->size - change->offset) {
        mc_error("handle %llu: no tile pool of the device with %llu bytes from "
                 "%llu on", (unsigned long long)handle,
                 (unsigned long long)bytes,
                 (unsigned long long)change->offset);
        return mcErrorInvalidValue;
    }
    mcError_t error = mc_physical_attach(physical, ctx, &change->bo);
    if (error == mcSuccess) {
        physical->mappings++;
        change->physical = physical;
    }
    return error;
}

mcError_t mc_tile_work_add(McTileWork *work, McSparse *sparse,
                           const McTiles *tiles, uint64_t handle,
                           uint64_t offset)
{
    uint64_t count = tiles->across * tiles->down * tiles->deep;
    Change *change = &work->change[work->count];

    *change = (Change){.sparse = sparse, .tiles = *tiles, .offset = offset};
    change->places = calloc(count, (tiles->tail ? 1 : MC_TILE_ROWS) *
                                       sizeof(*change->places));
    if (!change->places) {
        return mcErrorMemoryAllocation;
    }
    pthread_mutex_lock(&mc_physical_lock);
    mcError_t error = hold_pool(work->ctx, change, handle,
                                count * MC_TILE_SIZE);
    pthread_mutex_unlock(&mc_physical_lock);
    if (error != mcSuccess) {
        free(change->places);
        return error;
    }
    each_tile(change, place_tile);
    atomic_fetch_add(&sparse->refs, 1);
    work->count++;
    return mcSuccess;
}

/* In stream order. Where memory for tables runs out, nothing can be told to the
 * caller any more: as any work that fails, it is the device's error. */
static void work_call(void *opaque, mcError_t status)
{
    McTileWork *work = opaque;

    for (unsigned i = 0; i < work->count && status == mcSuccess; i++) {
        Change *change = &work->change[i];

        pthread_mutex_lock(&mc_physical_lock);
        int err = work->ctx->ops->replace(work->ctx->kmd, change->places,
                                          change->count);
        if (!err) {
            each_tile(change, settle_tile);
        }
        pthread_mutex_unlock(&mc_physical_lock);
        if (err) {
            mc_error("device %d: mapping tiles failed: %s", work->ctx->device,
                     strerror(-err));
            status = mc_error_from_kmd(err);
            mc_context_fail(work->ctx, status);
        }
    }
    mc_tile_work_free(work);
}

mcError_t mc_tile_work_submit(McTileWork *work, McStream *stream)
{
    mcError_t error = mc_stream_host_call(stream, work_call, work, true, false);

    if (error != mcSuccess) {
        mc_tile_work_free(work);
    }
    return error;
}
