/* SPDX-License-Identifier: MIT */
#include "params.h"

#include "core/texture/array.h"

/* ---- boxes ---- */

/* Where a position of a pitched pointer is; the box behind it must lie in rows
 * and slices. */
mcError_t mc_pitched(const mcPitchedPtr *p, mcPos pos, mcExtent extent,
                     void **start)
{
    size_t end_x, end_y, row, at;

    if (__builtin_add_overflow(pos.x, extent.width, &end_x) ||
        __builtin_add_overflow(pos.y, extent.height, &end_y) ||
        __builtin_mul_overflow(pos.z, p->ysize, &row) ||
        __builtin_add_overflow(row, pos.y, &row) ||
        __builtin_mul_overflow(row, p->pitch, &at) ||
        __builtin_add_overflow(at, pos.x, &at) ||
        __builtin_add_overflow(at, (uintptr_t)p->ptr, &at)) {
        return mcErrorInvalidValue;
    }
    if (end_x > p->pitch || p->pitch > MC_MAX_PITCH) {
        return mcErrorInvalidPitchValue;
    }
    if (extent.depth > 1 && end_y > p->ysize) {
        return mcErrorInvalidValue;
    }
    *start = (void *)at;
    return mcSuccess;
}

bool mc_extent_empty(mcExtent extent)
{
    return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

static bool is_start(mcPos pos)
{
    return pos.x == 0 && pos.y == 0 && pos.z == 0;
}

/* A copy without rows, which may be longer than the largest pitch. */
static bool is_row(const mcMemcpy3DParms *p)
{
    return p->extent.height == 1 && p->extent.depth == 1 &&
           is_start(p->dstPos) && is_start(p->srcPos) &&
           p->dstPtr.pitch == p->extent.width &&
           p->srcPtr.pitch == p->extent.width;
}

static mcError_t side_of(const McArray *array, const mcPitchedPtr *p,
                         mcPos pos, mcExtent extent, McSide *side)
{
    if (array) {
        return mc_array_side(array, pos, extent, side);
    }
    *side = (McSide){.pitch = p->pitch, .slice = p->ysize};
    return mc_pitched(p, pos, extent, &side->start);
}

/* Where there are arrays, the width of the extent and the positions in them are
 * elements; from here on they are bytes. */
static mcError_t box_of(const mcMemcpy3DParms *p, const McArray *to,
                        const McArray *from, McBox *box)
{
    const McArray *array = to ? to : from;
    unsigned element = array ? array->element : 1;
    mcPos dst_pos = p->dstPos, src_pos = p->srcPos;
    mcExtent extent = p->extent;
    McSide dst, src;

    if ((to && from && to->element != from->element) ||
        __builtin_mul_overflow(extent.width, element, &extent.width) ||
        (to && __builtin_mul_overflow(dst_pos.x, element, &dst_pos.x)) ||
        (from && __builtin_mul_overflow(src_pos.x, element, &src_pos.x))) {
        return mcErrorInvalidValue;
    }
    if (mc_extent_empty(extent)) {
        return mcSuccess;
    }
    if (!array && is_row(p)) {
        *box = (McBox){p->dstPtr.ptr, p->srcPtr.ptr, .width = extent.width,
                       .height = 1, .depth = 1};
        return mcSuccess;
    }
    mcError_t error = side_of(to, &p->dstPtr, dst_pos, extent, &dst);
    if (error == mcSuccess) {
        error = side_of(from, &p->srcPtr, src_pos, extent, &src);
    }
    if (error == mcSuccess) {
        *box = (McBox){
            .dst = dst.start,
            .src = src.start,
            .dst_pitch = dst.pitch,
            .src_pitch = src.pitch,
            .dst_slice = dst.slice,
            .src_slice = src.slice,
            .width = extent.width,
            .height = extent.height,
            .depth = extent.depth,
        };
    }
    return error;
}

mcError_t mc_box_of_copy(const mcMemcpy3DParms *p, McBox *box)
{
    mcError_t error = mcErrorInvalidResourceHandle;

    *box = (McBox){.width = 0};
    if (!p->srcArray == !p->srcPtr.ptr || !p->dstArray == !p->dstPtr.ptr) {
        return mcErrorInvalidValue;
    }
    if ((unsigned)p->kind > mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    McArray *to = p->dstArray ? mc_handle_get(p->dstArray, MC_HANDLE_ARRAY)
                              : NULL;
    McArray *from = p->srcArray ? mc_handle_get(p->srcArray, MC_HANDLE_ARRAY)
                                : NULL;
    if (!to == !p->dstArray && !from == !p->srcArray) {
        error = box_of(p, to, from, box);
    }
    if (to) {
        mc_handle_put(to);
    }
    if (from) {
        mc_handle_put(from);
    }
    return error;
}

mcError_t mc_box_of_fill(const mcMemsetParams *p, McBox *box)
{
    *box = (McBox){
        .dst = p->dst,
        .dst_pitch = p->pitch,
        .height = p->height,
        .depth = 1,
    };
    if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) {
        return mcErrorInvalidValue;
    }
    if (__builtin_mul_overflow(p->width, p->elementSize, &box->width) ||
        (box->width && box->height && !p->dst)) {
        return mcErrorInvalidValue;
    }
    if (p->height > 1 &&
        (p->pitch > MC_MAX_PITCH || p->pitch < box->width ||
         p->pitch % p->elementSize)) {
        return mcErrorInvalidValue;
    }
    return mcSuccess;
}

/* ---- words ---- */

#define WAIT_FLAGS                                                             \
    ((unsigned)MC_STREAM_WAIT_VALUE_NOR | MC_STREAM_WAIT_VALUE_FLUSH)

/* Whatever was written before the value can be seen with it: there is nothing
 * to flush. */
mcError_t mc_wait_op(McWordOp *op, void *ptr, uint64_t value, unsigned size,
                     unsigned flags)
{
    *op = (McWordOp){
        .ptr = ptr,
        .value = value,
        .size = size,
        .wait = true,
        .cond = (enum mxgpu_wait_cond)(flags & MC_STREAM_WAIT_VALUE_NOR),
    };
    return flags & ~WAIT_FLAGS ? mcErrorInvalidValue : mcSuccess;
}

/* Packets are in order with or without a barrier. */
mcError_t mc_write_op(McWordOp *op, void *ptr, uint64_t value, unsigned size,
                      unsigned flags)
{
    *op = (McWordOp){.ptr = ptr, .value = value, .size = size};
    return flags & ~(unsigned)MC_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER
               ? mcErrorInvalidValue
               : mcSuccess;
}

/* Of what a batch names, only words need a packet: each one is a barrier.
 * False in *word: nothing to do. */
mcError_t mc_batch_op(const mcStreamBatchMemOpParams *p, McWordOp *op,
                      bool *word)
{
    *word = true;
    switch ((int)p->operation) {
    case MC_STREAM_MEM_OP_WAIT_VALUE_32:
        return mc_wait_op(op, p->waitValue.address, p->waitValue.value, 4,
                       p->waitValue.flags);
    case MC_STREAM_MEM_OP_WAIT_VALUE_64:
        return mc_wait_op(op, p->waitValue.address, p->waitValue.value64, 8,
                       p->waitValue.flags);
    case MC_STREAM_MEM_OP_WRITE_VALUE_32:
        return mc_write_op(op, p->writeValue.address, p->writeValue.value, 4,
                        p->writeValue.flags);
    case MC_STREAM_MEM_OP_WRITE_VALUE_64:
        return mc_write_op(op, p->writeValue.address, p->writeValue.value64, 8,
                        p->writeValue.flags);
    case MC_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        *word = false;
        return p->flushRemoteWrites.flags ? mcErrorInvalidValue : mcSuccess;
    case MC_STREAM_MEM_OP_BARRIER:
        *word = false;
        return p->memoryBarrier.flags > 1 ? mcErrorInvalidValue : mcSuccess;
    }
    return mcErrorInvalidValue;
}
