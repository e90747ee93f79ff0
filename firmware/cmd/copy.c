/* SPDX-License-Identifier: MIT */
/* COPY: bytes from src to dst, by a copy engine. */
#include "cmd/commands.h"
#include "cmd/copy.h"

static uint32_t copy_check(const union mxgpu_packet *packet)
{
    const struct mxgpu_packet_copy *copy = &packet->copy;

    if (copy->reserved0) {
        return FIELD(copy, reserved0);
    }
    if (copy->src + copy->size < copy->src ||
        copy->dst + copy->size < copy->dst) {
        return FIELD(copy, size);
    }
    return cmd_check_zero(packet, FIELD(copy, reserved1) / 4, 11);
}

static FwStart copy_start_packet(FwQueue *queue)
{
    const struct mxgpu_packet_copy *copy = &queue->packet.copy;

    return copy_start(queue, (CopyBox){
        .op = MXGPU_COPY_LINEAR,
        .width = copy->size,
        .height = 1,
        .depth = 1,
        .dst = {.addr = copy->dst},
        .src = {.addr = copy->src},
    });
}

/* Of all packets that copy engines execute. */
void copy_fault(unsigned index, uint32_t status, struct mxgpu_queue_error *e)
{
    uint32_t base = index * MXGPU_CE_DONE_LO_STRIDE;

    e->done[0] = reg_read(MXGPU_CE_DONE_LO + base);
    e->done[1] = reg_read(MXGPU_CE_DONE_HI + base);
    e->access = MXGPU_GET(MXGPU_CE_STATUS_WRITE, status) ? MXGPU_ACCESS_WRITE
                                                         : MXGPU_ACCESS_READ;
    e->fault_addr =
        reg_read64(MXGPU_CE_FAULT_LO + index * MXGPU_CE_FAULT_LO_STRIDE);
}

const FwCommand cmd_copy = {
    .name = "copy",
    .flags = MXGPU_PKT_PROFILE | MXGPU_PKT_RECOVER,
    .check = copy_check,
    .start = copy_start_packet,
};
