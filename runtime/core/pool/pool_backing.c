/* SPDX-License-Identifier: MIT */
#include "pool_backing.h"

#include "base/log.h"
#include "core/context/peer.h"
#include "pool_state.h"

static McPool *pool_of(const McSlab *slab)
{
    return mc_pool_of_space(slab->space);
}

static bool wanted(const McSlab *slab, McPieceIdle idle, void *opaque)
{
    const McPiece *p = slab->first;

    while (p && (p->line ? p->line == &slab->space->past
                         : idle(opaque, p->va + p->front))) {
        p = p->behind;
    }
    return p != NULL;
}

static void unback(McSlab *slab)
{
    McContext *ctx = pool_of(slab)->pools->ctx;
    bool damaged = false;

    /* Their zones go with it. */
    for (McPiece *p = slab->first; p && mc_checking(); p = p->behind) {
        damaged |= mc_piece_damaged(ctx, p);
    }
    if (damaged) {
        mc_context_fail(ctx, mcErrorIllegalAddress);
    }
    mc_peer_remove(slab->mapping.va);
    if (mc_mapping_empty(ctx, &slab->mapping)) {
        slab->space->reserved -= slab->mapping.size;
        slab->space->empty++;
    }
}

bool mc_pool_unback(McPool *pool, McPieceIdle idle, void *opaque)
{
    bool any = false;

    pthread_mutex_lock(&pool->pools->lock);
    mc_pools_unretire(pool->pools);
    mc_pool_settle(pool, NULL);
    for (McSlab *s = pool->space.slabs; s; s = s->next) {
        if (s->mapping.bo && !wanted(s, idle, opaque)) {
            unback(s);
            any |= !s->mapping.bo;
        }
    }
    pthread_mutex_unlock(&pool->pools->lock);
    return any;
}

mcError_t mc_slab_back(McSlab *slab)
{
    McPool *pool = pool_of(slab);
    McContext *ctx = pool->pools->ctx;
    McMapping *m = &slab->mapping;

    if (m->bo) {
        return mcSuccess;
    }
    mcError_t error = mc_mapping_refill(ctx, m);
    if (error != mcSuccess) {
        return error;
    }
    error = mc_peer_add_for(ctx, m->bo, m->va, m->size, pool->access);
    if (error != mcSuccess) {
        mc_mapping_empty(ctx, m);
        return error;
    }
    slab->space->reserved += m->size;
    slab->space->empty--;
    mc_pool_note_high(pool);
    for (McPiece *p = slab->first; p && mc_checking(); p = p->behind) {
        if (!p->line) {
            mc_piece_zones(ctx, p, NULL);
        }
    }
    return mcSuccess;
}

bool mc_pool_backed(McContext *ctx, uint64_t va)
{
    pthread_mutex_lock(&ctx->pools->lock);
    McPiece *piece = mc_pool_piece_at(ctx, va);
    bool backed = piece && piece->slab->mapping.bo;
    pthread_mutex_unlock(&ctx->pools->lock);
    return backed;
}

mcError_t mc_pool_back(McContext *ctx, uint64_t va)
{
    pthread_mutex_lock(&ctx->pools->lock);
    McPiece *piece = mc_pool_piece_at(ctx, va);
    mcError_t error = piece ? mc_slab_back(piece->slab) : mcErrorInvalidValue;
    pthread_mutex_unlock(&ctx->pools->lock);
    return error;
}
