/* SPDX-License-Identifier: MIT */
/* COPY_RECT and FILL_RECT: boxes of rows, by a copy engine. */
#include "cmd/commands.h"
#include "cmd/copy.h"
#include "mxgpu/rect.h"

/* Where the fields of one side of a box are in its packet. */
typedef struct Side {
    uint32_t base, pitch, slice;
} Side;

static uint32_t check_side(const union mxgpu_packet *packet, uint32_t width,
                           uint32_t height, uint32_t depth, Side at)
{
    const uint32_t *words = packet->words;
    uint64_t base = words[at.base / 4] |
                    (uint64_t)words[at.base / 4 + 1] << 32;
    uint64_t reach;

    switch (mxgpu_rect_reach(width, height, depth, words[at.pitch / 4],
                             words[at.slice / 4], &reach)) {
    case MXGPU_RECT_OK:
        return base + reach < base ? at.base : FW_FIELD_OK;
    case MXGPU_RECT_PITCH:
        return at.pitch;
    case MXGPU_RECT_SLICE:
        return at.slice;
    default:
        return at.base;
    }
}

static uint32_t copy_rect_check(const union mxgpu_packet *packet)
{
    const struct mxgpu_packet_copy_rect *copy = &packet->copy_rect;
    uint32_t field = check_side(
        packet, copy->width, copy->height, copy->depth,
        (Side){FIELD(copy_rect, src), FIELD(copy_rect, src_pitch),
               FIELD(copy_rect, src_slice)});

    if (field != FW_FIELD_OK) {
        return field;
    }
    return check_side(packet, copy->width, copy->height, copy->depth,
                      (Side){FIELD(copy_rect, dst), FIELD(copy_rect, dst_pitch),
                             FIELD(copy_rect, dst_slice)});
}

static uint32_t fill_rect_check(const union mxgpu_packet *packet)
{
    const struct mxgpu_packet_fill_rect *fill = &packet->fill_rect;

    return check_side(packet, fill->width, fill->height, fill->depth,
                      (Side){FIELD(fill_rect, dst), FIELD(fill_rect, pitch),
                             FIELD(fill_rect, slice)});
}

static FwStart copy_rect_start(FwQueue *queue)
{
    const struct mxgpu_packet_copy_rect *copy = &queue->packet.copy_rect;

    return copy_start(queue, (CopyBox){
        .op = MXGPU_COPY_RECT,
        .width = copy->width,
        .height = copy->height,
        .depth = copy->depth,
        .dst = {copy->dst, copy->dst_pitch, copy->dst_slice},
        .src = {copy->src, copy->src_pitch, copy->src_slice},
    });
}

static FwStart fill_rect_start(FwQueue *queue)
{
    const struct mxgpu_packet_fill_rect *fill = &queue->packet.fill_rect;

    return copy_start(queue, (CopyBox){
        .op = MXGPU_COPY_FILL_RECT,
        .pattern = FIELD(fill_rect, pattern),
        .width = fill->width,
        .height = fill->height,
        .depth = fill->depth,
        .dst = {fill->dst, fill->pitch, fill->slice},
    });
}

const FwCommand cmd_copy_rect = {
    .name = "copy rect",
    .flags = MXGPU_PKT_PROFILE | MXGPU_PKT_RECOVER,
    .check = copy_rect_check,
    .start = copy_rect_start,
};

const FwCommand cmd_fill_rect = {
    .name = "fill rect",
    .flags = MXGPU_PKT_PROFILE | MXGPU_PKT_RECOVER,
    .check = fill_rect_check,
    .start = fill_rect_start,
};
