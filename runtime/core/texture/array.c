/* SPDX-License-Identifier: MIT */
#include "array.h"

#include <limits.h>
#include <stdlib.h>

#include "base/log.h"
#include "core/mapping/foreign.h"
#include "core/memory/alloc.h"
#include "core/memory/range.h"
#include "core/pool/pool_alloc.h"

/* ---- shapes ---- */

/* Rows of what the runtime allocates begin at multiples of this. */
#define PITCH 256u

static bool is_sparse(const McArrayShape *shape)
{
    return shape->flags & mcArraySparse;
}

unsigned mc_element_size(const mcChannelFormatDesc *d)
{
    const int bits[] = {d->x, d->y, d->z, d->w};
    unsigned channels = 0;

    while (channels < 4 && bits[channels] == bits[0]) {
        channels++;
    }
    for (unsigned i = channels; i < 4; i++) {
        if (bits[i] != 0) {
            return 0;
        }
    }
    if (channels == 3 || (bits[0] != 8 && bits[0] != 16 && bits[0] != 32) ||
        d->f < 0 || d->f > mcChannelFormatKindFloat ||
        (d->f == mcChannelFormatKindFloat && bits[0] == 8)) {
        return 0;
    }
    return channels * (unsigned)bits[0] / 8;
}

static size_t at_least_1(size_t n)
{
    return n ? n : 1;
}

static bool at_most(mcExtent e, size_t width, size_t height, size_t depth)
{
    return e.width <= width && e.height <= height && e.depth <= depth;
}

/* Whether flags fit the extent. */
static mcError_t check_flags(const McArrayShape *shape)
{
    const unsigned works = mcArrayLayered | mcArrayCubemap |
                           mcArraySurfaceLoadStore | mcArrayTextureGather |
                           mcArraySparse;
    const unsigned known = works | mcArrayColorAttachment |
                           mcArrayDeferredMapping;
    bool layered = shape->flags & mcArrayLayered;
    mcExtent e = shape->extent;
    bool fits = !(shape->flags & ~known) && e.width;

    if (fits && shape->flags & ~works) {
        mc_error("array: flags 0x%x are of arrays whose memory comes later "
                 "and of other interfaces'", shape->flags);
        return mcErrorNotSupported;
    }
    if (shape->flags & mcArrayCubemap) {
        fits &= e.width == e.height && e.depth && e.depth % 6 == 0 &&
                (layered ? at_most(e, MC_LAYERED_WIDTH, MC_LAYERED_WIDTH,
                                   MC_CUBEMAP_LAYERS)
                         : at_most(e, MC_LAYERED_WIDTH, MC_LAYERED_WIDTH, 6));
    } else if (layered) {
        fits &= e.depth && at_most(e, MC_LAYERED_WIDTH, MC_LAYERED_WIDTH,
                                   MC_LAYERS);
    } else {
        fits &= !e.depth || e.height;
    }
    if (is_sparse(shape)) {
        fits &= e.height && !(shape->flags & mcArrayCubemap);
    }
    if (shape->flags & mcArrayTextureGather) {
        fits &= e.height && !e.depth &&
                at_most(e, MC_GATHER_WIDTH, MC_GATHER_WIDTH, 0);
    }
    return fits ? mcSuccess : mcErrorInvalidValue;
}

/* Smaller than a tile in some dimension; row and rows are set. */
static bool in_tail(const McArray *array)
{
    return array->row < MC_TILE_WIDTH || array->rows < MC_TILE_ROWS;
}

/* Numbers of a shape, and its bytes in all. */
static mcError_t lay_out(const McArrayShape *shape, unsigned align,
                         McArray *array, uint64_t *size)
{
    mcExtent e = shape->extent;

    array->element = mc_element_size(&shape->channels);
    if (!array->element) {
        return mcErrorInvalidChannelDescriptor;
    }
    mcError_t error = check_flags(shape);
    if (error != mcSuccess) {
        return error;
    }
    array->shape = *shape;
    array->rows = at_least_1(e.height);
    array->slices = at_least_1(e.depth);
    if (__builtin_mul_overflow(e.width, array->element, &array->row) ||
        array->row > INT_MAX - MC_TILE_WIDTH || array->rows > UINT32_MAX ||
        array->slices > UINT32_MAX) {
        return mcErrorInvalidValue;
    }
    if (is_sparse(shape) && !in_tail(array)) {
        align = MC_TILE_WIDTH; /* a page has bytes of one row only */
    }
    array->pitch = (array->row + align - 1) / align * align;
    if (__builtin_mul_overflow(array->pitch, array->rows, size) ||
        __builtin_mul_overflow(*size, array->slices, size)) {
        return mcErrorInvalidValue;
    }
    return mcSuccess;
}

static mcError_t allocate(McContext *ctx, uint64_t size, McCaller caller,
                          uint64_t *va)
{
    mcError_t error = mc_device_alloc(ctx, size, 0, caller, va);

    if (error == mcErrorMemoryAllocation && mc_context_reclaim(ctx)) {
        error = mc_device_alloc(ctx, size, 0, caller, va);
    }
    return error;
}

/* Levels that have addresses from 0 on, to sparse memory of size bytes. */
static mcError_t allocate_sparse(McContext *ctx, McArray *const *level,
                                 unsigned levels, uint64_t size,
                                 McSparse **out, uint64_t *va)
{
    McSparseShape shape = {.tail_at = size};

    for (unsigned i = 0; i < levels && !in_tail(level[i]); i++) {
        shape.level[shape.levels++] = (McSparseLevel){
            .at = level[i]->va,
            .pitch = level[i]->pitch,
            .rows = level[i]->rows,
            .slices = level[i]->slices,
        };
    }
    if (shape.levels < levels) {
        uint64_t tail;

        shape.tail_at = level[shape.levels]->va;
        tail = size - shape.tail_at + MC_TILE_SIZE - 1;
        shape.tail_size = tail / MC_TILE_SIZE * MC_TILE_SIZE;
    }
    mcError_t error = mc_sparse_new(ctx, &shape, out, va);
    if (error == mcErrorMemoryAllocation && mc_context_reclaim(ctx)) {
        error = mc_sparse_new(ctx, &shape, out, va);
    }
    return error;
}

/* ---- arrays ---- */

static void array_destroy(McHandle *handle)
{
    McArray *array = (McArray *)handle;

    if (array->sparse) {
        mc_sparse_put(array->sparse);
    } else if (!array->mipmap && !atomic_load(&handle->ctx->dying)) {
        mc_device_free(handle->ctx, array->va);
    }
    free(array);
}

mcError_t mc_array_new(McContext *ctx, const McArrayShape *shape,
                       McCaller caller, McArray **out)
{
    McArray *array = calloc(1, sizeof(*array));
    uint64_t size;

    if (!array) {
        return mcErrorMemoryAllocation;
    }
    mcError_t error = lay_out(shape, PITCH, array, &size);
    if (error == mcSuccess && is_sparse(shape)) {
        error = allocate_sparse(ctx, &array, 1, size, &array->sparse,
                                &array->va);
    } else if (error == mcSuccess) {
        error = allocate(ctx, size, caller, &array->va);
    }
    if (error != mcSuccess) {
        free(array);
        return error;
    }
    mc_handle_add(&array->handle, MC_HANDLE_ARRAY, ctx, array_destroy);
    *out = array;
    return mcSuccess;
}

mcError_t mc_array_free(McArray *array)
{
    if (array->mipmap || !mc_handle_remove(array)) {
        return mcErrorInvalidResourceHandle;
    }
    return mc_context_sync(array->handle.ctx);
}

/* ---- mipmapped arrays ---- */

static size_t half(size_t n)
{
    return n > 1 ? n / 2 : n;
}

/* Layers and faces are no dimension that halves. */
static bool has_layers(const McArrayShape *shape)
{
    return shape->flags & (mcArrayLayered | mcArrayCubemap);
}

static unsigned most_levels(const McArrayShape *shape)
{
    mcExtent e = shape->extent;
    size_t largest = e.width | e.height | (has_layers(shape) ? 0 : e.depth);
    unsigned levels = 0;

    for (; largest; largest /= 2) {
        levels++;
    }
    return levels;
}

static void drop_levels(McMipmap *mipmap)
{
    for (unsigned i = 0; i < mipmap->levels; i++) {
        McArray *held = mc_handle_get(mipmap->level[i], MC_HANDLE_ARRAY);

        if (held) {
            mc_handle_remove(held);
            mc_handle_put(held);
        }
    }
}

static void free_memory(McContext *ctx, uint64_t va, bool external)
{
    if (external) {
        mc_foreign_unmap(va, MC_RANGE_EXTERNAL);
    } else {
        mc_device_free(ctx, va);
    }
}

static void mipmap_destroy(McHandle *handle)
{
    McMipmap *mipmap = (McMipmap *)handle;

    if (mipmap->sparse) {
        mc_sparse_put(mipmap->sparse);
    } else if (!atomic_load(&handle->ctx->dying)) {
        free_memory(handle->ctx, mipmap->va, mipmap->external);
    }
    free(mipmap);
}

/* Makes the levels; their addresses count from 0. */
static mcError_t make_levels(McMipmap *mipmap, McArrayShape shape,
                             unsigned levels, unsigned align, uint64_t *total)
{
    *total = 0;
    for (unsigned i = 0; i < levels; i++) {
        McArray *array = calloc(1, sizeof(*array));
        uint64_t size;

        if (!array) {
            return mcErrorMemoryAllocation;
        }
        mipmap->level[i] = array;
        mcError_t error = lay_out(&shape, align, array, &size);
        if (error != mcSuccess) {
            return error;
        }
        array->mipmap = mipmap;
        array->va = *total;
        if (__builtin_add_overflow(*total, size, total)) {
            return mcErrorInvalidValue;
        }
        shape.extent.width = half(shape.extent.width);
        shape.extent.height = half(shape.extent.height);
        if (!has_layers(&shape)) {
            shape.extent.depth = half(shape.extent.depth);
        }
    }
    return mcSuccess;
}

mcError_t mc_mipmap_new(McContext *ctx, const McArrayShape *shape,
                        unsigned levels, McExternalMemory *memory,
                        uint64_t offset, McCaller caller, McMipmap **out)
{
    uint64_t size;

    if (!levels || levels > MC_ARRAY_LEVELS ||
        levels > most_levels(shape)) {
        return mcErrorInvalidValue;
    }
    McMipmap *mipmap = calloc(1, sizeof(*mipmap));
    if (!mipmap) {
        return mcErrorMemoryAllocation;
    }
    mipmap->external = memory;
    mcError_t error = make_levels(mipmap, *shape, levels, memory ? 1 : PITCH,
                                  &size);
    if (error == mcSuccess && memory && is_sparse(shape)) {
        error = mcErrorInvalidValue;
    } else if (error == mcSuccess && is_sparse(shape)) {
        error = allocate_sparse(ctx, mipmap->level, levels, size,
                                &mipmap->sparse, &mipmap->va);
    } else if (error == mcSuccess) {
        error = memory ? mc_external_memory_map(memory, offset, size,
                                                &mipmap->va)
                       : allocate(ctx, size, caller, &mipmap->va);
    }
    if (error != mcSuccess) {
        for (unsigned i = 0; i < levels; i++) {
            free(mipmap->level[i]);
        }
        free(mipmap);
        return error;
    }
    for (unsigned i = 0; i < levels; i++) {
        mipmap->level[i]->va += mipmap->va;
        mc_handle_add(&mipmap->level[i]->handle, MC_HANDLE_ARRAY, ctx,
                      array_destroy);
    }
    mipmap->levels = levels;
    mc_handle_add(&mipmap->handle, MC_HANDLE_MIPMAP, ctx, mipmap_destroy);
    *out = mipmap;
    return mcSuccess;
}

mcError_t mc_mipmap_free(McMipmap *mipmap)
{
    if (!mc_handle_remove(mipmap)) {
        return mcErrorInvalidResourceHandle;
    }
    drop_levels(mipmap);
    return mc_context_sync(mipmap->handle.ctx);
}

/* ---- copies ---- */

static bool lies_in(size_t start, size_t length, size_t most)
{
    return start <= most && length <= most - start;
}

mcError_t mc_array_side(const McArray *array, mcPos pos, mcExtent extent,
                        McSide *side)
{
    if (!lies_in(pos.x, extent.width, array->row) ||
        !lies_in(pos.y, extent.height, array->rows) ||
        !lies_in(pos.z, extent.depth, array->slices)) {
        mc_error("array of %zu bytes, %zu rows, %zu slices: copy of %zu, %zu, "
                 "%zu from %zu, %zu, %zu on", array->row, array->rows,
                 array->slices, extent.width, extent.height, extent.depth,
                 pos.x, pos.y, pos.z);
        return mcErrorInvalidValue;
    }
    *side = (McSide){
        .start = (void *)(uintptr_t)(array->va + pos.x +
                                     (pos.z * array->rows + pos.y) *
                                         array->pitch),
        .pitch = array->pitch,
        .slice = array->rows,
    };
    return mcSuccess;
}

mcError_t mc_array_line(const McArray *array, size_t x, size_t y, size_t count,
                        McRun *line)
{
    if (array->slices != 1 || x > array->row || y > array->rows ||
        !lies_in(y * array->row + x, count, array->rows * array->row)) {
        mc_error("array of %zu bytes, %zu rows, %zu slices: %zu bytes from %zu "
                 "of row %zu on", array->row, array->rows, array->slices,
                 count, x, y);
        return mcErrorInvalidValue;
    }
    *line = (McRun){array, y * array->row + x};
    return mcSuccess;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Bytes of the row that a line is in. */
static size_t room(const McRun *line, size_t count)
{
    return line->array
               ? least(count, line->array->row - line->at % line->array->row)
               : count;
}

static void *line_address(const McRun *line)
{
    const McArray *a = line->array;

    return (void *)(a ? a->va + line->at / a->row * a->pitch + line->at % a->row
                      : line->at);
}

/* The rest of a row, or as many whole rows as there are: of two arrays where
 * both begin one of the same length. */
static McBox line_box(const McRun *dst, const McRun *src, size_t count)
{
    McBox box = {
        .dst = line_address(dst),
        .src = line_address(src),
        .width = least(room(dst, count), room(src, count)),
        .height = 1,
        .depth = 1,
    };
    bool whole = (!dst->array || box.width == dst->array->row) &&
                 (!src->array || box.width == src->array->row);

    if (whole && box.width) {
        box.height = count / box.width;
    }
    box.dst_pitch = dst->array ? dst->array->pitch : box.width;
    box.src_pitch = src->array ? src->array->pitch : box.width;
    return box;
}

mcError_t mc_copy_line(McStream *stream, McRun dst, McRun src, size_t count,
                       mcMemcpyKind kind, bool sync)
{
    mcError_t error = mcSuccess;

    do {
        McBox box = line_box(&dst, &src, count);
        size_t done = box.width * box.height;

        error = mc_copy_box(stream, &box, kind, sync);
        dst.at += done;
        src.at += done;
        count -= done;
    } while (error == mcSuccess && count);
    return error;
}
