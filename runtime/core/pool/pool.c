/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/va.h"
#include "core/context/peer.h"
#include "core/memory/range.h"
#include "core/memory/watch.h"
#include "pool_state.h"

/* All there are, so that none keeps a queue that goes. Taken before the lock of
 * pools. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static McPools *registry;

/* ---- zones ---- */

void mc_piece_zones(McContext *ctx, const McPiece *piece, McDamage *damage)
{
    const McMapping *m = &piece->slab->mapping;
    uint8_t *cpu = (uint8_t *)ctx->ops->cpu(m->bo) + (piece->va - m->va);
    uint64_t va = piece->va + piece->front, end = va + piece->used;
    uint64_t back = piece->va + piece->size - end;

    if (damage) {
        mc_zone_look(cpu, piece->va, piece->front, damage);
        mc_zone_look(cpu + (end - piece->va), end, back, damage);
    } else {
        mc_zone_fill(cpu, piece->va, piece->front);
        mc_zone_fill(cpu + (end - piece->va), end, back);
    }
}

bool mc_piece_damaged(McContext *ctx, McPiece *piece)
{
    McDamage damage = {.bytes = 0};

    if (piece->used && !piece->damaged && piece->slab->mapping.bo) {
        mc_piece_zones(ctx, piece, &damage);
    }
    if (damage.bytes) {
        mc_damage_report(&damage, piece->va + piece->front, piece->used,
                         &piece->caller);
        piece->damaged = true;
    }
    return damage.bytes != 0;
}

/* Nothing is submitted any more that may use it: a last look. */
static void settled(McSpace *space, McPiece *piece)
{
    McContext *ctx = mc_pool_of_space(space)->pools->ctx;

    if (mc_piece_damaged(ctx, piece)) {
        mc_context_fail(ctx, mcErrorIllegalAddress);
    }
}

static bool space_damaged(McContext *ctx, McSpace *space)
{
    bool any = false;

    for (McSlab *slab = space->slabs; slab; slab = slab->next) {
        for (McPiece *p = slab->first; p; p = p->behind) {
            any |= mc_piece_damaged(ctx, p);
        }
    }
    return any;
}

bool mc_pools_damaged(McContext *ctx)
{
    bool any = false;

    pthread_mutex_lock(&ctx->pools->lock);
    for (McPool *p = ctx->pools->first; p; p = p->next) {
        any |= !p->imported && space_damaged(ctx, &p->space);
    }
    pthread_mutex_unlock(&ctx->pools->lock);
    return any;
}

/* ---- pools ---- */

McPiece *mc_pool_piece_at(McContext *ctx, uint64_t va)
{
    McRange range;

    return mc_range_find(va, &range) && range.base == va &&
                   range.kind == MC_RANGE_POOL && range.device == ctx->device
               ? range.owner
               : NULL;
}

void mc_piece_conceal(McPiece *piece)
{
    mc_range_remove(piece->va + piece->front, NULL);
    if (piece->exported) {
        McPool *pool = mc_pool_of_space(piece->slab->space);

        mc_pool_file_withdraw(pool->file, piece->exported);
        piece->exported = 0;
    }
}

void mc_pool_note_high(McPool *pool)
{
    if (pool->space.used > pool->used_high) {
        pool->used_high = pool->space.used;
    }
    if (pool->space.reserved > pool->reserved_high) {
        pool->reserved_high = pool->space.reserved;
    }
}

/* Under the lock. */
static bool pool_empty(const McPool *pool)
{
    return pool->dropped && !pool->space.used && !pool->space.pending;
}

static void pool_unlink(McPool *pool)
{
    McPool **link = &pool->pools->first;

    while (*link != pool) {
        link = &(*link)->next;
    }
    *link = pool->next;
}

/* Nobody else knows it any more. */
static void pool_free(McPool *pool)
{
    McMapping mapping;

    while (mc_space_remove_any(&pool->space, &mapping)) {
        mc_pool_slab_free(pool->pools->ctx, &mapping);
    }
    mc_space_fini(&pool->space);
    mc_pool_file_free(pool->file);
    free(pool);
}

/* The last who held the handle is done. */
static void pool_destroy(McHandle *handle)
{
    McPool *pool = (McPool *)handle;
    McPools *pools = pool->pools;

    pthread_mutex_lock(&pools->lock);
    pool->dropped = true;
    if (pools->current == pool) {
        pools->current = pools->standard;
    }
    bool empty = pool_empty(pool);
    if (empty) {
        pool_unlink(pool);
    }
    atomic_store(&pools->waiting, true);
    pthread_mutex_unlock(&pools->lock);
    if (empty) {
        pool_free(pool);
    }
}

McPool *mc_pool_make(McPools *pools, McPoolFile *file)
{
    McPool *pool = calloc(1, sizeof(*pool));

    if (!pool) {
        return NULL;
    }
    pool->pools = pools;
    pool->file = file;
    pool->follow = pool->opportunistic = pool->internal = true;
    mc_space_init(&pool->space);
    pool->space.settled = mc_checking() ? settled : NULL;
    return pool;
}

static void pool_link(McPool *pool)
{
    pthread_mutex_lock(&pool->pools->lock);
    pool->next = pool->pools->first;
    pool->pools->first = pool;
    pthread_mutex_unlock(&pool->pools->lock);
}

void mc_pool_publish(McPool *pool)
{
    pool_link(pool);
    mc_handle_add(&pool->handle, MC_HANDLE_POOL, pool->pools->ctx,
                  pool_destroy);
}

mcError_t mc_pool_new(McContext *ctx, uint64_t max,
                      mcMemAllocationHandleType handles, McPool **out)
{
    McPoolFile *file = NULL;

    if (handles == mcMemHandleTypePosixFileDescriptor) {
        max = max && max < ctx->info.vram_size ? max : ctx->info.vram_size;
        mcError_t error = mc_pool_file_new(max, &file);
        if (error != mcSuccess) {
            return error;
        }
    }
    McPool *pool = mc_pool_make(ctx->pools, file);
    if (!pool) {
        mc_pool_file_free(file);
        return mcErrorMemoryAllocation;
    }
    pool->max = max;
    mc_pool_publish(pool);
    *out = pool;
    return mcSuccess;
}

int mc_pool_device(const McPool *pool)
{
    return pool->pools->ctx->device;
}

mcError_t mc_pool_drop(McPool *pool)
{
    McPools *pools = pool->pools;

    if (pool == pools->standard) {
        return mcErrorInvalidValue;
    }
    pthread_mutex_lock(&pools->lock);
    if (pools->current == pool) {
        pools->current = pools->standard;
    }
    pthread_mutex_unlock(&pools->lock);
    return mc_handle_remove(pool) ? mcSuccess : mcErrorInvalidValue;
}

/* ---- the pools of a context ---- */

mcError_t mc_pools_new(McContext *ctx, McPools **out)
{
    McPools *pools = calloc(1, sizeof(*pools));

    if (!pools) {
        return mcErrorMemoryAllocation;
    }
    pools->ctx = ctx;
    pthread_mutex_init(&pools->lock, NULL);
    pools->standard = mc_pool_make(pools, NULL);
    pools->graph = mc_pool_make(pools, NULL);
    if (!pools->standard || !pools->graph) {
        free(pools->standard);
        free(pools->graph);
        pthread_mutex_destroy(&pools->lock);
        free(pools);
        return mcErrorMemoryAllocation;
    }
    pools->current = pools->standard;
    mc_pool_publish(pools->standard);
    pool_link(pools->graph);
    pthread_mutex_lock(&registry_lock);
    pools->next = registry;
    registry = pools;
    pthread_mutex_unlock(&registry_lock);
    *out = pools;
    return mcSuccess;
}

static void remove_ranges(McSpace *space)
{
    for (McSlab *slab = space->slabs; slab; slab = slab->next) {
        for (McPiece *p = slab->first; p; p = p->behind) {
            if (!p->line) {
                mc_piece_conceal(p);
            }
        }
    }
}

void mc_pools_free(McPools *pools)
{
    if (!pools) {
        return;
    }
    pthread_mutex_lock(&registry_lock);
    McPools **link = &registry;
    while (*link != pools) {
        link = &(*link)->next;
    }
    *link = pools->next;
    pthread_mutex_unlock(&registry_lock);
    while (pools->first) {
        McPool *pool = pools->first;

        pools->first = pool->next;
        remove_ranges(&pool->space);
        pool_free(pool);
    }
    while (pools->retired) {
        McRetired *r = pools->retired;

        pools->retired = r->next; /* its block goes with the allocator */
        free(r);
    }
    pthread_mutex_destroy(&pools->lock);
    free(pools);
}

void mc_pool_slab_free(McContext *ctx, McMapping *mapping)
{
    mc_watch_arena(mapping->va, mapping->size, false);
    if (mapping->bo) {
        mc_peer_remove(mapping->va);
        mc_mapping_free(ctx, mapping);
    } else {
        mc_va_release((void *)(uintptr_t)mapping->va, mapping->reserved);
    }
}

mcError_t mc_pool_slab_add(McPool *pool, const McMapping *m)
{
    mcError_t error = mc_peer_add_for(pool->pools->ctx, m->bo, m->va, m->size,
                                      pool->access);

    if (error == mcSuccess && !mc_space_add(&pool->space, m)) {
        mc_peer_remove(m->va);
        error = mcErrorMemoryAllocation;
    }
    if (error == mcSuccess) {
        mc_watch_arena(m->va, m->size, true);
    }
    return error;
}

static void space_forget(McSpace *space, uint64_t serial)
{
    for (McLine **link = &space->lines, *line; (line = *link) != NULL;) {
        if (line->serial != serial) {
            link = &line->next;
            continue;
        }
        mc_space_settle(space, line, UINT64_MAX);
        *link = line->next;
        free(line);
    }
}

void mc_pools_forget(McContext *ctx)
{
    pthread_mutex_lock(&registry_lock);
    for (McPools *pools = registry; pools; pools = pools->next) {
        pthread_mutex_lock(&pools->lock);
        for (McPool *p = pools->first; p; p = p->next) {
            space_forget(&p->space, ctx->serial);
            p->access &= ~(1u << ctx->device);
        }
        for (McRetired *r = pools->retired; r; r = r->next) {
            for (unsigned i = 0; i < r->count; i++) {
                if (r->by[i].serial == ctx->serial) {
                    r->by[i].queue = NULL;
                }
            }
        }
        pthread_mutex_unlock(&pools->lock);
    }
    pthread_mutex_unlock(&registry_lock);
}

McPool *mc_pools_default(McContext *ctx)
{
    return ctx->pools->standard;
}

McPool *mc_pools_graph(McContext *ctx)
{
    return ctx->pools->graph;
}

McPool *mc_pools_current(McContext *ctx)
{
    McPools *pools = ctx->pools;

    pthread_mutex_lock(&pools->lock);
    McPool *pool = mc_handle_get(pools->current, MC_HANDLE_POOL);
    if (!pool) { /* being dropped */
        pool = mc_handle_get(pools->standard, MC_HANDLE_POOL);
    }
    pthread_mutex_unlock(&pools->lock);
    return pool;
}

mcError_t mc_pools_set_current(McContext *ctx, McPool *pool)
{
    if (pool->pools != ctx->pools || pool->imported) {
        return mcErrorInvalidValue;
    }
    pthread_mutex_lock(&ctx->pools->lock);
    ctx->pools->current = pool;
    pthread_mutex_unlock(&ctx->pools->lock);
    return mcSuccess;
}

/* ---- attributes ---- */

mcError_t mc_pool_get(McPool *pool, mcMemPoolAttr attr, uint64_t *value)
{
    mcError_t error = mcSuccess;

    pthread_mutex_lock(&pool->pools->lock);
    switch ((int)attr) {
    case mcMemPoolReuseFollowEventDependencies:
        *value = pool->follow;
        break;
    case mcMemPoolReuseAllowOpportunistic:
        *value = pool->opportunistic;
        break;
    case mcMemPoolReuseAllowInternalDependencies:
        *value = pool->internal;
        break;
    case mcMemPoolAttrReleaseThreshold:
        *value = pool->threshold;
        break;
    case mcMemPoolAttrReservedMemCurrent:
        *value = pool->space.reserved;
        break;
    case mcMemPoolAttrReservedMemHigh:
        *value = pool->reserved_high;
        break;
    case mcMemPoolAttrUsedMemCurrent:
        *value = pool->space.used;
        break;
    case mcMemPoolAttrUsedMemHigh:
        *value = pool->used_high;
        break;
    default:
        error = mcErrorInvalidValue;
    }
    pthread_mutex_unlock(&pool->pools->lock);
    return error;
}

mcError_t mc_pool_set(McPool *pool, mcMemPoolAttr attr, uint64_t value)
{
    mcError_t error = mcSuccess;

    /* It reuses nothing, and has nothing to hold back. */
    if (pool->imported && attr >= mcMemPoolReuseFollowEventDependencies &&
        attr <= mcMemPoolAttrReleaseThreshold) {
        return mcErrorNotSupported;
    }
    pthread_mutex_lock(&pool->pools->lock);
    switch ((int)attr) {
    case mcMemPoolReuseFollowEventDependencies:
        pool->follow = value;
        break;
    case mcMemPoolReuseAllowOpportunistic:
        pool->opportunistic = value;
        break;
    case mcMemPoolReuseAllowInternalDependencies:
        pool->internal = value;
        break;
    case mcMemPoolAttrReleaseThreshold:
        pool->threshold = value;
        atomic_store(&pool->pools->waiting, true);
        break;
    case mcMemPoolAttrReservedMemHigh:
        error = value ? mcErrorInvalidValue : mcSuccess;
        pool->reserved_high = value ? pool->reserved_high
                                    : pool->space.reserved;
        break;
    case mcMemPoolAttrUsedMemHigh:
        error = value ? mcErrorInvalidValue : mcSuccess;
        pool->used_high = value ? pool->used_high : pool->space.used;
        break;
    default:
        error = mcErrorInvalidValue;
    }
    pthread_mutex_unlock(&pool->pools->lock);
    return error;
}

/* ---- access of other devices ---- */

/* Under the lock: all slabs, or, when one cannot, none. */
static mcError_t allow(McPool *pool, McContext *ctx)
{
    mcError_t error = mcSuccess;
    McSlab *slab;

    for (slab = pool->space.slabs; slab && error == mcSuccess;
         slab = slab->next) {
        error = mc_peer_allow(slab->mapping.va, ctx, true);
    }
    return error;
}

static void deny(McPool *pool, McContext *ctx)
{
    for (McSlab *slab = pool->space.slabs; slab; slab = slab->next) {
        mc_peer_allow(slab->mapping.va, ctx, false);
    }
}

mcError_t mc_pool_set_access(McPool *pool, McContext *ctx, bool allowed)
{
    uint32_t bit = 1u << ctx->device;
    mcError_t error = mcSuccess;

    if (!mc_peer_reaches(ctx, pool->pools->ctx)) {
        return allowed ? mcErrorPeerAccessUnsupported : mcSuccess;
    }
    if (!allowed) {
        mc_context_sync(ctx); /* its error is told to who waits for it */
    }
    pthread_mutex_lock(&pool->pools->lock);
    if (allowed && !(pool->access & bit)) {
        error = allow(pool, ctx);
    }
    if (!allowed || error != mcSuccess) {
        deny(pool, ctx);
        pool->access &= ~bit;
    } else {
        pool->access |= bit;
    }
    pthread_mutex_unlock(&pool->pools->lock);
    return error;
}

bool mc_pool_has_access(McPool *pool, int device)
{
    pthread_mutex_lock(&pool->pools->lock);
    bool has = device == pool->pools->ctx->device ||
               (pool->access >> device & 1);
    pthread_mutex_unlock(&pool->pools->lock);
    return has;
}

/* ---- what is free by now, and giving it back ---- */

void mc_pool_settle(McPool *pool, const McQueue *only)
{
    if (!pool->space.pending) {
        return;
    }
    for (McLine *line = pool->space.lines; line; line = line->next) {
        if (line->oldest && (!only || line->queue == only)) {
            mc_space_settle(&pool->space, line, mc_queue_word(line->queue));
        }
    }
}

#define HARVEST 16

/* Taken out under the lock, to be given back without it. */
typedef struct Harvest {
    McMapping mapping[HARVEST];
    unsigned count;
    McPool *gone;
    McRetired *retired;
    bool more; /* there was no room for all */
} Harvest;

static void gather(McPool *pool, uint64_t keep, Harvest *h)
{
    McSpace *space = &pool->space;

    while ((space->reserved > keep || space->empty) &&
           !(h->more = h->count == HARVEST) &&
           mc_space_remove_idle(
               space, space->reserved > keep ? space->reserved - keep : 0,
               &h->mapping[h->count])) {
        const McMapping *m = &h->mapping[h->count++];

        if (pool->file && !pool->imported) {
            mc_pool_file_release(pool->file, m->offset, m->size);
        }
    }
}

static bool retired_free(McRetired *r)
{
    unsigned waits = 0;

    for (unsigned i = 0; i < r->count; i++) {
        if (r->by[i].queue &&
            !mc_queue_reached(r->by[i].queue, r->by[i].value)) {
            r->by[waits++] = r->by[i];
        }
    }
    r->count = waits;
    return waits == 0;
}

/* Takes those out that are free: pieces at once, the rest by "blocks". */
static void unretire(McPools *pools, McRetired **blocks)
{
    for (McRetired **link = &pools->retired, *r; (r = *link) != NULL;) {
        if (!retired_free(r) || (r->block && !blocks)) {
            link = &r->next;
            continue;
        }
        *link = r->next;
        if (r->block) {
            r->next = *blocks;
            *blocks = r;
        } else {
            McSpace *space = r->piece->slab->space;

            mc_space_give(space, r->piece, &space->past, 0);
            free(r);
        }
    }
}

void mc_pools_unretire(McPools *pools)
{
    unretire(pools, NULL);
}

/* Of all pools; what is above their thresholds, or everything. */
static void gather_all(McPools *pools, const McQueue *queue, bool everything,
                       Harvest *h)
{
    bool pending = false;

    unretire(pools, &h->retired);
    for (McPool **link = &pools->first, *p; (p = *link) != NULL;) {
        mc_pool_settle(p, p->opportunistic || everything ? NULL : queue);
        gather(p, everything || p->dropped ? 0 : p->threshold, h);
        pending |= p->space.pending != 0;
        if (!h->gone && pool_empty(p)) {
            *link = p->next;
            h->gone = p;
            h->more = true;
        } else {
            link = &p->next;
        }
    }
    atomic_store(&pools->waiting, pending || pools->retired || h->more);
}

static bool give_back(McPools *pools, Harvest *h)
{
    bool any = h->count || h->gone || h->retired;

    for (unsigned i = 0; i < h->count; i++) {
        mc_pool_slab_free(pools->ctx, &h->mapping[i]);
    }
    if (h->gone) {
        pool_free(h->gone);
    }
    while (h->retired) {
        McRetired *r = h->retired;

        h->retired = r->next;
        mc_device_drop(pools->ctx, r->block);
        free(r);
    }
    return any;
}

static bool release(McPools *pools, const McQueue *queue, bool everything)
{
    bool any = false, more;

    do {
        Harvest h = {.count = 0};

        pthread_mutex_lock(&pools->lock);
        gather_all(pools, queue, everything, &h);
        pthread_mutex_unlock(&pools->lock);
        more = h.more;
        any |= give_back(pools, &h);
    } while (more);
    return any;
}

void mc_pools_synced(McContext *ctx, McQueue *queue)
{
    if (atomic_load_explicit(&ctx->pools->waiting, memory_order_relaxed)) {
        release(ctx->pools, queue, false);
    }
}

bool mc_pools_reclaim(McContext *ctx)
{
    return release(ctx->pools, NULL, true);
}

void mc_pool_trim(McPool *pool, uint64_t keep)
{
    bool more;

    do {
        Harvest h = {.count = 0};

        pthread_mutex_lock(&pool->pools->lock);
        mc_pools_unretire(pool->pools);
        mc_pool_settle(pool, NULL);
        gather(pool, keep, &h);
        pthread_mutex_unlock(&pool->pools->lock);
        more = h.more;
        give_back(pool->pools, &h);
    } while (more);
}
