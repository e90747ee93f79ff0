/* SPDX-License-Identifier: MIT */
/*
 * Memory of sparse arrays: addresses whose tiles are put into tile pools, and
 * taken out of them, in stream order. A tile that is nowhere reads as 0 and
 * cannot be written. Thread-safe.
 */
#ifndef MC_CORE_SPARSE_H
#define MC_CORE_SPARSE_H

#include "core/memory/physical.h"
#include "core/stream/stream.h"

/* Bytes of a tile: rows of one page each, in one slice. */
#define MC_TILE_ROWS  16u
#define MC_TILE_WIDTH ((uint32_t)KMD_PAGE_SIZE)
#define MC_TILE_SIZE  (MC_TILE_ROWS * MC_TILE_WIDTH)

/* A level that has at least one tile in each dimension. */
typedef struct McSparseLevel {
    uint64_t at; /* offset of it */
    size_t pitch, rows, slices;
    uint64_t first; /* number of its first tile */
} McSparseLevel;

#define MC_SPARSE_LEVELS 32

/* Levels, and behind them the tail: what is smaller, tile behind tile. */
typedef struct McSparseShape {
    unsigned levels;
    McSparseLevel level[MC_SPARSE_LEVELS];
    uint64_t tail_at, tail_size; /* size: a multiple of MC_TILE_SIZE */
} McSparseShape;

typedef struct McSparse McSparse;

/* No tile is anywhere. mcErrorMemoryAllocation. */
mcError_t mc_sparse_new(McContext *ctx, const McSparseShape *shape,
                        McSparse **out, uint64_t *va);
/* Its owner is done with it, and the device with the addresses. */
void mc_sparse_put(McSparse *sparse);
const McSparseShape *mc_sparse_shape(const McSparse *sparse);

/* Some tiles of a level, or of the tail, which has one dimension: x. All of
 * them exist. */
typedef struct McTiles {
    bool tail;
    unsigned level;
    uint64_t x, y, z, across, down, deep;
} McTiles;

/* Tiles that change together; holds what they are of. */
typedef struct McTileWork McTileWork;

McTileWork *mc_tile_work_new(McContext *ctx, unsigned most);
/* One more change, for mc_tile_work_submit(). handle 0: the tiles are taken out;
 * else they are put to offset of that tile pool, row behind row. The caller
 * keeps the owner. mcErrorInvalidValue: no such pool of the device, or it is
 * smaller. */
mcError_t mc_tile_work_add(McTileWork *work, McSparse *sparse,
                           const McTiles *tiles, uint64_t handle,
                           uint64_t offset);
/* Frees the work, unless it was submitted. */
mcError_t mc_tile_work_submit(McTileWork *work, McStream *stream);
void mc_tile_work_free(McTileWork *work);

#endif
