/* SPDX-License-Identifier: MIT */
#include "capture_copy.h"

#include <stdlib.h>

/* A side of a box; of a single row, pitch and slice are no numbers. */
static mcPitchedPtr side(const McBox *box, const void *ptr, size_t pitch,
                         size_t slice)
{
    bool row = box->height == 1 && box->depth == 1;

    return (mcPitchedPtr){
        .ptr = (void *)ptr,
        .pitch = row ? box->width : pitch,
        .xsize = box->width,
        .ysize = box->depth == 1 ? box->height : slice,
    };
}

mcError_t mc_capture_copy(McStream *stream, const McBox *box,
                          mcMemcpyKind kind)
{
    McNodeParams params = {
        .type = mcGraphNodeTypeMemcpy,
        .device = stream->ctx->device,
        .copy = {
            .srcPtr = side(box, box->src, box->src_pitch, box->src_slice),
            .dstPtr = side(box, box->dst, box->dst_pitch, box->dst_slice),
            .extent = {box->width, box->height, box->depth},
            .kind = kind,
        },
    };

    return mc_capture_node(stream, &params);
}

mcError_t mc_capture_fill(McStream *stream, const McBox *box, uint32_t pattern,
                          unsigned pattern_size)
{
    size_t height = box->height, depth = box->depth;
    mcError_t error = mcSuccess;

    /* Slices that follow each other are rows of one. */
    if (box->dst_slice == height) {
        height *= depth;
        depth = 1;
    }
    for (size_t z = 0; z < depth && error == mcSuccess; z++) {
        McNodeParams params = {
            .type = mcGraphNodeTypeMemset,
            .device = stream->ctx->device,
            .fill = {
                .dst = (uint8_t *)box->dst +
                       z * box->dst_slice * box->dst_pitch,
                .elementSize = pattern_size,
                .height = height,
                .pitch = height > 1 ? box->dst_pitch : 0,
                .value = pattern,
                .width = box->width / pattern_size,
            },
        };

        error = mc_capture_node(stream, &params);
    }
    return error;
}

static mcStreamBatchMemOpParams word_op(const McWordOp *op)
{
    mcStreamBatchMemOpParams p = {.pad = {0}};
    bool wide = op->size == 8;

    /* Wait and write have the same fields at the same places. */
    if (op->wait) {
        p.operation = wide ? MC_STREAM_MEM_OP_WAIT_VALUE_64
                           : MC_STREAM_MEM_OP_WAIT_VALUE_32;
        p.waitValue.flags = op->cond;
    } else {
        p.operation = wide ? MC_STREAM_MEM_OP_WRITE_VALUE_64
                           : MC_STREAM_MEM_OP_WRITE_VALUE_32;
    }
    p.waitValue.address = op->ptr;
    p.waitValue.value64 = op->value;
    return p;
}

mcError_t mc_capture_words(McStream *stream, const McWordOp *ops,
                           unsigned count)
{
    mcStreamBatchMemOpParams *list = calloc(count, sizeof(*list));

    if (!list) {
        return mcErrorMemoryAllocation;
    }
    for (unsigned i = 0; i < count; i++) {
        list[i] = word_op(&ops[i]);
    }
    McNodeParams params = {
        .type = mcGraphNodeTypeBatchMemOp,
        .device = stream->ctx->device,
        .batch = {.count = count, .paramArray = list},
    };
    mcError_t error = mc_capture_node(stream, &params);
    free(list);
    return error;
}
