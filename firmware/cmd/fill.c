/* SPDX-License-Identifier: MIT */
/*
 * FILL: a pattern over a range, by a copy engine. Pattern bytes behind
 * pattern_size are ignored.
 */
#include "cmd/commands.h"
#include "cmd/copy.h"

static uint32_t fill_check(const union mxgpu_packet *packet)
{
    const struct mxgpu_packet_fill *fill = &packet->fill;
    uint32_t n = fill->pattern_size;

    if (n != 1 && n != 2 && n != 4 && n != 8 && n != 16) {
        return FIELD(fill, pattern_size);
    }
    if (fill->dst & (n - 1)) {
        return FIELD(fill, dst);
    }
    if ((fill->size & (n - 1)) || fill->dst + fill->size < fill->dst) {
        return FIELD(fill, size);
    }
    return cmd_check_zero(packet, FIELD(fill, reserved) / 4, 11);
}

static FwStart fill_start(FwQueue *queue)
{
    const struct mxgpu_packet_fill *fill = &queue->packet.fill;

    return copy_start(queue, (CopyBox){
        .op = MXGPU_COPY_FILL,
        .pattern = FIELD(fill, pattern),
        .pattern_size = fill->pattern_size,
        .width = fill->size,
        .height = 1,
        .depth = 1,
        .dst = {.addr = fill->dst},
    });
}

const FwCommand cmd_fill = {
    .name = "fill",
    .flags = MXGPU_PKT_PROFILE | MXGPU_PKT_RECOVER,
    .check = fill_check,
    .start = fill_start,
};
