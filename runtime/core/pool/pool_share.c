/* SPDX-License-Identifier: MIT */
#include "pool_share.h"

#include "core/context/peer.h"
#include "core/memory/range.h"
#include "pool_file.h"
#include "pool_state.h"

mcError_t mc_pool_export(McPool *pool, int *fd)
{
    return pool->file && !pool->imported ? mc_pool_file_export(pool->file, fd)
                                         : mcErrorInvalidValue;
}

mcError_t mc_pool_import(McContext *ctx, int fd, McPool **out)
{
    McPoolFile *file;
    mcError_t error = mc_pool_file_open(fd, &file);

    if (error != mcSuccess) {
        return error;
    }
    McPool *pool = mc_pool_make(ctx->pools, file);
    if (!pool) {
        mc_pool_file_free(file);
        return mcErrorMemoryAllocation;
    }
    pool->imported = true;
    pool->space.settled = NULL; /* what lies around it is others' */
    mc_pool_publish(pool);
    *out = pool;
    return mcSuccess;
}

/* Under the lock. */
static mcError_t export_piece(McPiece *piece, McToken *token)
{
    McPool *pool = mc_pool_of_space(piece->slab->space);
    const McMapping *m = &piece->slab->mapping;

    if (!pool->file || pool->imported) {
        return mcErrorInvalidValue;
    }
    if (!piece->exported) {
        uint64_t offset = m->offset + (piece->va + piece->front - m->va);

        piece->exported = mc_pool_file_publish(pool->file, offset,
                                               piece->used);
    }
    if (!piece->exported) {
        return mcErrorMemoryAllocation;
    }
    mc_pool_file_token(pool->file, piece->exported, token);
    return mcSuccess;
}

mcError_t mc_pool_export_at(McContext *ctx, uint64_t va, McToken *token)
{
    pthread_mutex_lock(&ctx->pools->lock);
    McPiece *piece = mc_pool_piece_at(ctx, va);
    mcError_t error = piece ? export_piece(piece, token) : mcErrorInvalidValue;
    pthread_mutex_unlock(&ctx->pools->lock);
    return error;
}

mcMemAllocationHandleType mc_pool_handle_type(McContext *ctx, uint64_t va)
{
    pthread_mutex_lock(&ctx->pools->lock);
    McPiece *piece = mc_pool_piece_at(ctx, va);
    McPool *pool = piece ? mc_pool_of_space(piece->slab->space) : NULL;
    bool shared = pool && pool->file && !pool->imported;
    pthread_mutex_unlock(&ctx->pools->lock);
    return shared ? mcMemHandleTypePosixFileDescriptor : mcMemHandleTypeNone;
}

/* Under the lock: the pages as a slab, all of which is one piece in use. */
static mcError_t adopt(McPool *pool, const McMapping *m, uint64_t front,
                       uint64_t size, McCaller caller)
{
    McSpace *space = &pool->space;
    McRange range = {
        .base = m->va + front,
        .size = size,
        .kind = MC_RANGE_POOL,
        .device = pool->pools->ctx->device,
    };

    mcError_t error = mc_pool_slab_add(pool, m);
    if (error != mcSuccess) {
        return error;
    }
    McPiece *piece = space->slabs->first; /* the new one's only piece */
    range.owner = piece;
    if (!mc_space_take(space, piece, m->size) || !mc_range_add(&range)) {
        McMapping same;

        mc_space_remove_any(space, &same);
        mc_peer_remove(m->va);
        return mcErrorMemoryAllocation;
    }
    piece->front = front;
    piece->used = size;
    piece->caller = caller;
    mc_pool_note_high(pool);
    return mcSuccess;
}

mcError_t mc_pool_import_at(McPool *pool, const McToken *token,
                            McCaller caller, uint64_t *va)
{
    McContext *ctx = pool->pools->ctx;
    uint64_t offset, size, front;
    McMapping m;

    if (!pool->imported) {
        return mcErrorInvalidValue;
    }
    mcError_t error = mc_pool_file_find(pool->file, token, &offset, &size);
    if (error != mcSuccess) {
        return error;
    }
    front = offset % KMD_PAGE_SIZE;
    error = mc_pool_file_map(pool->file, ctx, offset - front,
                             (front + size + KMD_PAGE_SIZE - 1) &
                                 ~(uint64_t)(KMD_PAGE_SIZE - 1), &m);
    if (error != mcSuccess) {
        return error;
    }
    pthread_mutex_lock(&pool->pools->lock);
    error = adopt(pool, &m, front, size, caller);
    pthread_mutex_unlock(&pool->pools->lock);
    if (error != mcSuccess) {
        mc_mapping_free(ctx, &m);
        return error;
    }
    *va = m.va + front;
    return mcSuccess;
}
