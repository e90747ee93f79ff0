/* SPDX-License-Identifier: MIT */
/* COPY: bytes from src to dst, by a copy engine; and how every packet that an
 * engine executes starts there. */
#include "cmd/commands.h"

static uint32_t engine_reg(const FwJob *job, uint32_t reg)
{
    return reg + job->index * MXGPU_CE_CFG_STRIDE;
}

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

static void program_side(const FwJob *job, const CopySide *side, bool rows,
                         uint32_t addr, uint32_t pitch, uint32_t slice)
{
    reg_write64(engine_reg(job, addr), side->addr);
    if (rows) {
        reg_write(engine_reg(job, pitch), side->pitch);
        reg_write(engine_reg(job, slice), side->slice);
    }
}

static void program_pattern(const FwQueue *queue, const FwJob *job,
                            uint32_t field)
{
    const uint32_t *pattern = &queue->packet.words[field / 4];

    for (unsigned i = 0; i < 4; i++) {
        reg_write(engine_reg(job, MXGPU_CE_PATTERN) + i * 4, pattern[i]);
    }
}

FwStart copy_start(FwQueue *queue, const CopyBox *box)
{
    bool rows = box->op == MXGPU_COPY_RECT || box->op == MXGPU_COPY_FILL_RECT;
    FwJob *job;

    if (!box->width || !box->height || !box->depth) {
        return FW_START_DONE;
    }
    job = unit_claim(FW_UNIT_COPY, queue);
    if (!job) {
        return FW_START_NEEDS_COPY;
    }
    program_side(job, &box->dst, rows, MXGPU_CE_DST_LO, MXGPU_CE_DST_PITCH,
                 MXGPU_CE_DST_SLICE);
    if (box->pattern) {
        program_pattern(queue, job, box->pattern);
    } else {
        program_side(job, &box->src, rows, MXGPU_CE_SRC_LO, MXGPU_CE_SRC_PITCH,
                     MXGPU_CE_SRC_SLICE);
    }
    reg_write64(engine_reg(job, MXGPU_CE_SIZE_LO), box->width);
    if (rows) {
        reg_write(engine_reg(job, MXGPU_CE_HEIGHT), box->height);
        reg_write(engine_reg(job, MXGPU_CE_DEPTH), box->depth);
    }
    reg_write(engine_reg(job, MXGPU_CE_CFG),
              MXGPU_SET(MXGPU_CE_CFG_OP, box->op) |
                  MXGPU_SET(MXGPU_CE_CFG_VMID, queue->vmid) |
                  MXGPU_SET(MXGPU_CE_CFG_PATTERN_SIZE, box->pattern_size));
    reg_write(engine_reg(job, MXGPU_CE_CTRL), FW_BIT(MXGPU_CE_CTRL_START));
    unit_run(FW_UNIT_COPY, job, queue);
    return FW_START_RUNNING;
}

static FwStart copy_start_packet(FwQueue *queue)
{
    const struct mxgpu_packet_copy *copy = &queue->packet.copy;

    return copy_start(queue, &(CopyBox){
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
    .flags = MXGPU_PKT_PROFILE,
    .check = copy_check,
    .start = copy_start_packet,
};
