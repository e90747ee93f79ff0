/* SPDX-License-Identifier: MIT */
/* COPY_RECT and FILL_RECT: boxes of rows, by a copy engine. */
#include "cmd/commands.h"
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
    uint32_t base;
    FwJob *job;

    if (!copy->width || !copy->height || !copy->depth) {
        return FW_START_DONE;
    }
    job = unit_claim(FW_UNIT_COPY, queue);
    if (!job) {
        return FW_START_NEEDS_COPY;
    }
    base = job->index * MXGPU_CE_CFG_STRIDE;
    reg_write64(MXGPU_CE_SRC_LO + base, copy->src);
    reg_write64(MXGPU_CE_DST_LO + base, copy->dst);
    reg_write64(MXGPU_CE_SIZE_LO + base, copy->width);
    reg_write(MXGPU_CE_HEIGHT + base, copy->height);
    reg_write(MXGPU_CE_DEPTH + base, copy->depth);
    reg_write(MXGPU_CE_SRC_PITCH + base, copy->src_pitch);
    reg_write(MXGPU_CE_DST_PITCH + base, copy->dst_pitch);
    reg_write(MXGPU_CE_SRC_SLICE + base, copy->src_slice);
    reg_write(MXGPU_CE_DST_SLICE + base, copy->dst_slice);
    copy_start(queue, job, MXGPU_COPY_RECT, 0);
    return FW_START_RUNNING;
}

static FwStart fill_rect_start(FwQueue *queue)
{
    const struct mxgpu_packet_fill_rect *fill = &queue->packet.fill_rect;
    uint32_t base;
    FwJob *job;

    if (!fill->width || !fill->height || !fill->depth) {
        return FW_START_DONE;
    }
    job = unit_claim(FW_UNIT_COPY, queue);
    if (!job) {
        return FW_START_NEEDS_COPY;
    }
    base = job->index * MXGPU_CE_CFG_STRIDE;
    reg_write64(MXGPU_CE_DST_LO + base, fill->dst);
    reg_write64(MXGPU_CE_SIZE_LO + base, fill->width);
    reg_write(MXGPU_CE_HEIGHT + base, fill->height);
    reg_write(MXGPU_CE_DEPTH + base, fill->depth);
    reg_write(MXGPU_CE_DST_PITCH + base, fill->pitch);
    reg_write(MXGPU_CE_DST_SLICE + base, fill->slice);
    copy_set_pattern(queue, job, FIELD(fill_rect, pattern));
    copy_start(queue, job, MXGPU_COPY_FILL_RECT, 0);
    return FW_START_RUNNING;
}

const FwCommand cmd_copy_rect = {
    .name = "copy rect",
    .flags = MXGPU_PKT_PROFILE,
    .check = copy_rect_check,
    .start = copy_rect_start,
};

const FwCommand cmd_fill_rect = {
    .name = "fill rect",
    .flags = MXGPU_PKT_PROFILE,
    .check = fill_rect_check,
    .start = fill_rect_start,
};
