/* SPDX-License-Identifier: MIT */
#include "pool_alloc.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/memory/range.h"
#include "core/stream/submit.h"
#include "pool_backing.h"
#include "pool_state.h"

#define SLAB_SIZE KMD_LARGE_PAGE_SIZE

/* ---- allocations ---- */

typedef struct Request {
    McPool *pool;
    McStream *stream; /* or NULL */
    uint64_t size;    /* of the piece */
    uint64_t front, used;
    McCaller caller;
    /* Found: */
    uint64_t va;
    McQueue *queue; /* its value comes first; NULL: nothing has to */
    uint64_t serial, value;
    bool wait;      /* with an internal dependency */
} Request;

/* The last value of a line that work submitted to the stream from now on is
 * known to come after. */
static uint64_t line_behind(McStream *stream, const McLine *line)
{
    McContext *ctx = stream->ctx;
    McQueue *queue = stream->queue;
    uint64_t value = 0;

    if (line->queue == queue && line->serial == ctx->serial) {
        return UINT64_MAX;
    }
    pthread_mutex_lock(&ctx->submit);
    value = mc_queue_waits_for(queue, line->queue, line->serial);
    if (line->serial == ctx->serial) {
        uint64_t legacy = 0; /* the order with the default stream */

        if (stream->null) {
            legacy = line->queue->blocking_last;
        } else if (!(stream->flags & mcStreamNonBlocking) &&
                   line->queue == ctx->null_stream->queue) {
            legacy = line->queue->null_last;
        }
        value = legacy > value ? legacy : value;
    }
    pthread_mutex_unlock(&ctx->submit);
    return value;
}

/* In any line but "except": behind what the stream waits for already, or, with
 * an internal dependency, behind anything of the stream's own device. */
static McPiece *find_behind(Request *r, bool internal)
{
    for (McLine *l = r->pool->space.lines; l; l = l->next) {
        uint64_t behind = UINT64_MAX;

        if (!l->oldest ||
            (internal && l->serial != r->stream->ctx->serial)) {
            continue;
        }
        if (!internal) {
            behind = line_behind(r->stream, l);
        }
        McPiece *piece = mc_line_fit(l, r->size, behind);
        if (piece) {
            return piece;
        }
    }
    return NULL;
}

/* Under the lock: a piece that the stream's work may have without waiting for
 * more than it does anyway. */
static McPiece *find(Request *r)
{
    McSpace *space = &r->pool->space;
    McLine *own = NULL;
    McPiece *piece = NULL;

    /* Zones are written by the host at once, so checked memory is reused when
     * it is free at once. */
    if (r->stream && space->pending && !mc_checking()) {
        own = mc_space_find_line(space, r->stream->queue,
                                 r->stream->ctx->serial);
        piece = own ? mc_line_fit(own, r->size, UINT64_MAX) : NULL;
    }
    piece = piece ? piece : mc_line_fit(&space->past, r->size, 0);
    if (!piece && r->pool->pools->retired) {
        mc_pools_unretire(r->pool->pools);
        piece = mc_line_fit(&space->past, r->size, 0);
    }
    if (piece || !space->pending) {
        return piece;
    }
    if (r->pool->opportunistic) {
        mc_pool_settle(r->pool, NULL);
        piece = mc_line_fit(&space->past, r->size, 0);
    }
    if (!piece && r->pool->follow && r->stream && !mc_checking()) {
        piece = find_behind(r, false);
    }
    if (!piece && own && mc_space_join(space, own)) {
        piece = mc_line_fit(own, r->size, UINT64_MAX);
    }
    return piece;
}

/* Under the lock: makes it the request's. */
static mcError_t take(Request *r, McPiece *piece, bool wait)
{
    McPool *pool = r->pool;
    McContext *ctx = pool->pools->ctx;
    McLine *line = piece->line;
    uint64_t value = piece->value;
    mcError_t error = mc_slab_back(piece->slab);

    if (error != mcSuccess) {
        return error;
    }
    if (!mc_space_take(&pool->space, piece, r->size)) {
        return mcErrorMemoryAllocation;
    }
    piece->front = r->front;
    piece->used = r->used;
    piece->caller = r->caller;
    piece->exported = 0;
    McRange range = {
        .base = piece->va + r->front,
        .size = r->used,
        .kind = MC_RANGE_POOL,
        .device = ctx->device,
        .owner = piece,
    };
    if (!mc_range_add(&range)) {
        piece->used = 0;
        mc_space_give(&pool->space, piece, line, value);
        return mcErrorMemoryAllocation;
    }
    if (mc_checking()) {
        mc_piece_zones(ctx, piece, NULL);
    }
    mc_pool_note_high(pool);
    r->va = range.base;
    r->queue = line->queue;
    r->serial = line->serial;
    r->value = value;
    r->wait = wait;
    return mcSuccess;
}

/* True: it is over, with *error. */
static bool attempt(Request *r, bool internal, mcError_t *error)
{
    pthread_mutex_lock(&r->pool->pools->lock);
    McPiece *piece = find(r);
    bool wait = false;
    if (!piece && internal && r->pool->internal && r->stream &&
        !mc_checking()) {
        piece = find_behind(r, true);
        wait = piece != NULL;
    }
    if (piece) {
        *error = take(r, piece, wait);
    }
    pthread_mutex_unlock(&r->pool->pools->lock);
    return piece != NULL;
}

/* Part of the pool's file. */
static mcError_t slab_of_file(McPool *pool, uint64_t size, McMapping *out)
{
    uint64_t offset;

    pthread_mutex_lock(&pool->pools->lock);
    mcError_t error = mc_pool_file_alloc(pool->file, size, &offset);
    pthread_mutex_unlock(&pool->pools->lock);
    if (error != mcSuccess) {
        return error;
    }
    error = mc_pool_file_map(pool->file, pool->pools->ctx, offset, size, out);
    if (error != mcSuccess) {
        pthread_mutex_lock(&pool->pools->lock);
        mc_pool_file_release(pool->file, offset, size);
        pthread_mutex_unlock(&pool->pools->lock);
    }
    return error;
}

static mcError_t slab_new(McPool *pool, uint64_t size, McMapping *out)
{
    return pool->file ? slab_of_file(pool, size, out)
                      : mc_mapping_new(pool->pools->ctx, size, MC_DATA_PERMS,
                                       out);
}

/* One slab more, of whole large pages while there are some. */
static mcError_t grow(Request *r)
{
    McPool *pool = r->pool;
    McContext *ctx = pool->pools->ctx;
    uint64_t size = (r->size + SLAB_SIZE - 1) & ~(SLAB_SIZE - 1);
    McMapping mapping;

    if (pool->max && size > pool->max) {
        return mcErrorMemoryAllocation;
    }
    mcError_t error = slab_new(pool, size, &mapping);
    if (error == mcErrorMemoryAllocation && size > r->size && !pool->file) {
        error = slab_new(pool, r->size, &mapping);
    }
    if (error != mcSuccess) {
        return error;
    }
    pthread_mutex_lock(&pool->pools->lock);
    error = pool->max && pool->space.reserved > pool->max - mapping.size
                ? mcErrorMemoryAllocation
                : mc_pool_slab_add(pool, &mapping);
    if (error != mcSuccess && pool->file) {
        mc_pool_file_release(pool->file, mapping.offset, mapping.size);
    }
    mc_pool_note_high(pool);
    pthread_mutex_unlock(&pool->pools->lock);
    if (error != mcSuccess) {
        mc_mapping_free(ctx, &mapping);
    }
    return error;
}

/* What is in the pool; more memory; the memory that pools hold back; memory
 * that another stream is not done with. */
static mcError_t search_once(Request *r)
{
    mcError_t error = mcSuccess;

    while (!attempt(r, false, &error)) {
        error = grow(r);
        if (error == mcErrorMemoryAllocation &&
            mc_context_reclaim(r->pool->pools->ctx)) {
            error = grow(r);
        }
        if (error == mcErrorMemoryAllocation) {
            mcError_t last = error;

            return attempt(r, true, &error) ? error : last;
        }
        if (error != mcSuccess) {
            return error;
        }
    }
    return error;
}

/* A piece that was found may be of a slab whose memory was given back, and there
 * may be none to replace it before others have given back theirs. */
static mcError_t search(Request *r)
{
    mcError_t error = search_once(r);

    return error == mcErrorMemoryAllocation &&
                   mc_context_reclaim(r->pool->pools->ctx)
               ? search_once(r)
               : error;
}

/* Whoever waits for the stream from now on waits for what its memory waits for:
 * a packet of the stream, unless it has one already. */
static mcError_t follow(Request *r)
{
    McStream *stream = r->stream;
    uint64_t value;

    if (!r->queue) {
        return mcSuccess;
    }
    if (r->wait) {
        mcError_t error = mc_stream_wait_queue(stream, stream->ctx, r->queue,
                                               r->value);
        if (error != mcSuccess) {
            return error;
        }
    }
    bool has = r->queue == stream->queue &&
               r->serial == stream->ctx->serial &&
               atomic_load(&stream->last) >= r->value;
    return has ? mcSuccess : mc_submit_point(stream, true, &value);
}

/* As if it had never been. */
static void undo(const Request *r)
{
    McPools *pools = r->pool->pools;
    McRange range;

    pthread_mutex_lock(&pools->lock);
    if (mc_range_find(r->va, &range)) {
        McSpace *space = &r->pool->space;
        McPiece *piece = range.owner;
        McLine *line = mc_space_find_line(space, r->queue, r->serial);

        mc_piece_conceal(piece);
        mc_space_give(space, piece, line ? line : &space->past, r->value);
    }
    pthread_mutex_unlock(&pools->lock);
}

mcError_t mc_pool_alloc(McPool *pool, McStream *stream, uint64_t size,
                        McCaller caller, uint64_t *va)
{
    McContext *ctx = pool->pools->ctx;
    uint64_t zone = mc_checking() ? MC_ZONE : 0;
    Request r = {
        .pool = pool,
        .stream = stream,
        .size = (size + 2 * zone + MC_ALIGN - 1) & ~(uint64_t)(MC_ALIGN - 1),
        .front = zone,
        .used = size,
        .caller = caller,
    };

    if (pool->imported) {
        return mcErrorInvalidValue;
    }
    if (size > ctx->info.vram_size) {
        return mcErrorMemoryAllocation;
    }
    mcError_t error = search(&r);
    if (error == mcSuccess) {
        error = follow(&r);
        if (error != mcSuccess) {
            undo(&r);
        }
    }
    *va = r.va;
    return error;
}

/* ---- freeing ---- */

mcMemPool_t mc_pool_at(McContext *ctx, uint64_t va)
{
    McPool *pool = NULL;

    pthread_mutex_lock(&ctx->pools->lock);
    McPiece *piece = mc_pool_piece_at(ctx, va);
    if (piece) {
        pool = mc_pool_of_space(piece->slab->space);
        pool = pool->dropped || pool == ctx->pools->graph ? NULL : pool;
    }
    pthread_mutex_unlock(&ctx->pools->lock);
    return (mcMemPool_t)pool;
}

bool mc_pool_seen(McContext *ctx, uint64_t va, int device)
{
    pthread_mutex_lock(&ctx->pools->lock);
    McPiece *piece = mc_pool_piece_at(ctx, va);
    bool seen = piece &&
                mc_pool_of_space(piece->slab->space)->access >> device & 1;
    pthread_mutex_unlock(&ctx->pools->lock);
    return seen;
}

static mcError_t free_behind(McContext *ctx, uint64_t va, McStream *stream,
                             uint64_t value)
{
    McPiece *piece = mc_pool_piece_at(ctx, va);

    if (!piece) {
        return mcErrorInvalidValue;
    }
    McSpace *space = piece->slab->space;
    McLine *line = mc_space_line(space, stream->queue, stream->ctx->serial);
    if (!line) {
        return mcErrorMemoryAllocation;
    }
    mc_piece_conceal(piece);
    mc_space_give(space, piece, line, value);
    return mcSuccess;
}

mcError_t mc_pool_free(McContext *ctx, uint64_t va, McStream *stream)
{
    uint64_t value;
    mcError_t error = mc_submit_point(stream, false, &value);

    if (error == mcSuccess) {
        pthread_mutex_lock(&ctx->pools->lock);
        error = free_behind(ctx, va, stream, value);
        atomic_store(&ctx->pools->waiting, true);
        pthread_mutex_unlock(&ctx->pools->lock);
    }
    return error;
}

/* Under the lock. */
static void retire(McPools *pools, McRetired *r)
{
    r->next = pools->retired;
    pools->retired = r;
    atomic_store(&pools->waiting, true);
}

/* What runs of all that was submitted to the context; NULL: no memory. */
static McRetired *behind_all(McContext *ctx)
{
    pthread_mutex_lock(&ctx->submit);
    McRetired *r = malloc(sizeof(*r) + ctx->queue_count * sizeof(r->by[0]));
    if (r) {
        *r = (McRetired){.next = NULL};
        for (McQueue *q = ctx->queues; q; q = q->next) {
            if (!mc_queue_reached(q, q->work)) {
                r->by[r->count++] = (struct McRetiredBy){q, ctx->serial,
                                                         q->work};
            }
        }
    }
    pthread_mutex_unlock(&ctx->submit);
    return r;
}

mcError_t mc_pool_free_now(McContext *ctx, uint64_t va, bool idle)
{
    McPools *pools = ctx->pools;
    McRetired *r = behind_all(ctx);

    if (!r) {
        return mcErrorMemoryAllocation;
    }
    pthread_mutex_lock(&pools->lock);
    r->piece = mc_pool_piece_at(ctx, va);
    bool found = r->piece != NULL;
    if (found) {
        r->count = idle ? 0 : r->count;
        mc_piece_conceal(r->piece);
        retire(pools, r);
        mc_pools_unretire(pools);
    }
    pthread_mutex_unlock(&pools->lock);
    if (!found) {
        free(r);
    }
    return found ? mcSuccess : mcErrorInvalidValue;
}

mcError_t mc_pool_free_device(McContext *ctx, uint64_t va, McStream *stream)
{
    uint64_t value;
    mcError_t error = mc_submit_point(stream, false, &value);

    if (error != mcSuccess) {
        return error;
    }
    McRetired *r = malloc(sizeof(*r) + sizeof(r->by[0]));
    if (!r) {
        return mcErrorMemoryAllocation;
    }
    *r = (McRetired){.block = mc_device_retire(ctx, va), .count = 1};
    r->by[0] = (struct McRetiredBy){stream->queue, stream->ctx->serial, value};
    if (!r->block) {
        free(r);
        return mcErrorInvalidValue;
    }
    pthread_mutex_lock(&ctx->pools->lock);
    retire(ctx->pools, r);
    pthread_mutex_unlock(&ctx->pools->lock);
    return mcSuccess;
}
