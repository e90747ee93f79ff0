/* SPDX-License-Identifier: MIT */
/* Sparse arrays: their tiles, and which of them have memory. */
#include "api/memory/rows.h"

/* ---- properties ---- */

static unsigned tile_width(const McArray *level)
{
    return MC_TILE_WIDTH / level->element;
}

static mcArraySparseProperties properties(const McArray *first,
                                          const McSparse *sparse)
{
    const McSparseShape *shape = mc_sparse_shape(sparse);
    mcArraySparseProperties p = {
        .tileExtent = {tile_width(first), MC_TILE_ROWS, 1},
        .miptailFirstLevel = shape->tail_size ? shape->levels : 0,
        .miptailSize = shape->tail_size,
        .flags = shape->tail_size ? mcArraySparsePropertiesSingleMipTail : 0,
    };

    return p;
}

MC_EXPORT mcError_t mcArrayGetSparseProperties(mcArraySparseProperties *out,
                                               mcArray_t handle)
{
    API_ENTER("%p, %p", (void *)out, (void *)handle);
    API_CHECK(out, mcErrorInvalidValue);
    API_ARRAY(array, handle);
    API_CHECK(array->sparse, mcErrorInvalidValue);
    *out = properties(array, array->sparse);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMipmappedArrayGetSparseProperties(
    mcArraySparseProperties *out, mcMipmappedArray_t handle)
{
    API_ENTER("%p, %p", (void *)out, (void *)handle);
    API_CHECK(out, mcErrorInvalidValue);
    API_OBJECT(McMipmap, mipmap, handle, MC_HANDLE_MIPMAP,
               mcErrorInvalidResourceHandle);
    API_CHECK(mipmap->sparse, mcErrorInvalidValue);
    *out = properties(mipmap->level[0], mipmap->sparse);
    API_RETURN(mcSuccess);
}

/* ---- which tiles ---- */

/* Elements or rows, as tiles: all of them, but those at the edge, are whole. */
static bool whole_tiles(unsigned offset, unsigned extent, size_t tile,
                        size_t edge, uint64_t *first, uint64_t *count)
{
    uint64_t end = (uint64_t)offset + extent;
    uint64_t tiles = (edge + tile - 1) / tile;

    *first = offset / tile;
    *count = (end + tile - 1) / tile - *first;
    return extent && offset % tile == 0 && (end % tile == 0 || end == edge) &&
           end <= tiles * tile;
}

static bool level_tiles(const mcArrayMapInfo *info, McArray *const *levels,
                        const McSparse *sparse, McTiles *tiles)
{
    unsigned number = info->subresource.sparseLevel.level;
    unsigned layer = info->subresource.sparseLevel.layer;
    unsigned z = info->subresource.sparseLevel.offsetZ;
    unsigned deep = info->subresource.sparseLevel.extentDepth;

    if (number >= mc_sparse_shape(sparse)->levels) {
        return false;
    }
    const McArray *level = levels[number];
    bool layered = level->shape.flags & mcArrayLayered;

    if (layered ? z || deep != 1 || layer >= level->slices
                : layer || !deep || z >= level->slices ||
                      deep > level->slices - z) {
        return false;
    }
    tiles->level = number;
    tiles->z = layered ? layer : z;
    tiles->deep = deep;
    return whole_tiles(info->subresource.sparseLevel.offsetX,
                       info->subresource.sparseLevel.extentWidth,
                       tile_width(level), level->row / level->element,
                       &tiles->x, &tiles->across) &&
           whole_tiles(info->subresource.sparseLevel.offsetY,
                       info->subresource.sparseLevel.extentHeight, MC_TILE_ROWS,
                       level->rows, &tiles->y, &tiles->down);
}

static bool tail_tiles(const mcArrayMapInfo *info, const McSparse *sparse,
                       McTiles *tiles)
{
    uint64_t offset = info->subresource.miptail.offset;
    uint64_t size = info->subresource.miptail.size;
    uint64_t most = mc_sparse_shape(sparse)->tail_size;

    if (info->subresource.miptail.layer || !size ||
        (offset | size) % MC_TILE_SIZE || offset > most ||
        size > most - offset) {
        return false;
    }
    *tiles = (McTiles){
        .tail = true,
        .x = offset / MC_TILE_SIZE,
        .across = size / MC_TILE_SIZE,
        .down = 1,
        .deep = 1,
    };
    return true;
}

static bool find_tiles(const mcArrayMapInfo *info, McArray *const *levels,
                       const McSparse *sparse, McTiles *tiles)
{
    *tiles = (McTiles){0};
    switch ((int)info->subresourceType) {
    case MC_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL:
        return level_tiles(info, levels, sparse, tiles);
    case MC_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL:
        return tail_tiles(info, sparse, tiles);
    default:
        return false;
    }
}

/* ---- which array ---- */

static mcError_t add(McTileWork *work, McStream *stream,
                     const mcArrayMapInfo *info, McContext *owner,
                     McArray *const *levels, McSparse *sparse)
{
    bool map = info->memOperationType == MC_MEM_OPERATION_TYPE_MAP;
    McTiles tiles;

    if (!sparse || owner != stream->ctx ||
        info->deviceBitMask != 1u << stream->ctx->device ||
        info->memHandleType != MC_MEM_HANDLE_TYPE_GENERIC || info->flags ||
        info->reserved[0] || info->reserved[1] ||
        info->offset % MC_TILE_SIZE ||
        (!map && info->memOperationType != MC_MEM_OPERATION_TYPE_UNMAP) ||
        map != (info->memHandle.memHandle != 0) ||
        !find_tiles(info, levels, sparse, &tiles)) {
        return mcErrorInvalidValue;
    }
    return mc_tile_work_add(work, sparse, &tiles, info->memHandle.memHandle,
                            info->offset);
}

static mcError_t add_array(McTileWork *work, McStream *stream,
                           const mcArrayMapInfo *info)
{
    McArray *array = mc_handle_get(info->resource.array, MC_HANDLE_ARRAY);
    mcError_t error = mcErrorInvalidResourceHandle;

    if (array) {
        error = add(work, stream, info, array->handle.ctx, &array,
                    array->sparse);
        mc_handle_put(array);
    }
    return error;
}

static mcError_t add_mipmap(McTileWork *work, McStream *stream,
                            const mcArrayMapInfo *info)
{
    McMipmap *mipmap = mc_handle_get(info->resource.mipmap, MC_HANDLE_MIPMAP);
    mcError_t error = mcErrorInvalidResourceHandle;

    if (mipmap) {
        error = add(work, stream, info, mipmap->handle.ctx, mipmap->level,
                    mipmap->sparse);
        mc_handle_put(mipmap);
    }
    return error;
}

static mcError_t add_all(McTileWork *work, McStream *stream,
                         const mcArrayMapInfo *list, unsigned count)
{
    mcError_t error = mcSuccess;

    for (unsigned i = 0; i < count && error == mcSuccess; i++) {
        mcArrayMapInfo info = list[i]; /* the caller may change its own */

        switch ((int)info.resourceType) {
        case mcResourceTypeArray:
            error = add_array(work, stream, &info);
            break;
        case mcResourceTypeMipmappedArray:
            error = add_mipmap(work, stream, &info);
            break;
        default:
            error = mcErrorInvalidValue;
        }
    }
    return error;
}

MC_EXPORT mcError_t mcMemMapArrayAsync(mcArrayMapInfo *list, unsigned int count,
                                       mcStream_t handle)
{
    API_ENTER("%p, %u, %p", (void *)list, count, (void *)handle);
    API_CHECK(list || !count, mcErrorInvalidValue);
    API_STREAM(stream, handle);
    API_TRY(mc_capture_none(stream));
    if (!count) {
        API_RETURN(mcSuccess);
    }
    McTileWork *work = mc_tile_work_new(stream->ctx, count);
    API_CHECK(work, mcErrorMemoryAllocation);
    mcError_t error = add_all(work, stream, list, count);
    if (error != mcSuccess) {
        mc_tile_work_free(work);
        API_RETURN(error);
    }
    API_RETURN(mc_tile_work_submit(work, stream));
}
