/* SPDX-License-Identifier: MIT */
/* How every packet that a copy engine executes starts there. */
#ifndef FW_CMD_COPY_H
#define FW_CMD_COPY_H

#include "fw.h"

/* What the engine is to do: a box of rows, a linear operation one row. */
typedef struct CopySide {
    uint64_t addr;
    uint32_t pitch, slice;
} CopySide;

typedef struct CopyBox {
    enum mxgpu_copy_op op;
    uint32_t pattern;      /* of fills: offset in the packet, 16 bytes */
    uint32_t pattern_size; /* of linear ones */
    uint64_t width;
    uint32_t height, depth;
    CopySide dst, src;
} CopyBox;

/*
 * Starts the queue's packet, which is that box; for FwCommand.start. In line,
 * so that each type of packet writes what its operation reads, and the box is
 * never in memory.
 */
static inline __attribute__((always_inline)) FwStart
copy_start(FwQueue *queue, const CopyBox box)
{
    bool rows = box.op == MXGPU_COPY_RECT || box.op == MXGPU_COPY_FILL_RECT;
    const uint32_t *pattern = &queue->packet.words[box.pattern / 4];
    uint32_t base;
    FwJob *job;

    if (!box.width || !box.height || !box.depth) {
        return FW_START_DONE;
    }
    job = unit_claim(FW_UNIT_COPY, queue);
    if (!job) {
        return FW_START_NEEDS_COPY;
    }
    base = job->index * MXGPU_CE_CFG_STRIDE;
    reg_write64(base + MXGPU_CE_DST_LO, box.dst.addr);
    reg_write64(base + MXGPU_CE_SIZE_LO, box.width);
    for (unsigned i = 0; box.pattern && i < 4; i++) {
        reg_write(base + MXGPU_CE_PATTERN + i * 4, pattern[i]);
    }
    if (!box.pattern) {
        reg_write64(base + MXGPU_CE_SRC_LO, box.src.addr);
    }
    if (rows) {
        reg_write(base + MXGPU_CE_HEIGHT, box.height);
        reg_write(base + MXGPU_CE_DEPTH, box.depth);
        reg_write(base + MXGPU_CE_DST_PITCH, box.dst.pitch);
        reg_write(base + MXGPU_CE_DST_SLICE, box.dst.slice);
    }
    if (rows && !box.pattern) {
        reg_write(base + MXGPU_CE_SRC_PITCH, box.src.pitch);
        reg_write(base + MXGPU_CE_SRC_SLICE, box.src.slice);
    }
    if (unlikely(queue->packet.header.flags & MXGPU_PKT_RECOVER)) {
        reg_write(base + MXGPU_CE_QUEUE, queue_id(queue));
    }
    reg_write(base + MXGPU_CE_CFG,
              MXGPU_SET(MXGPU_CE_CFG_OP, box.op) |
                  MXGPU_SET(MXGPU_CE_CFG_VMID, queue->vmid) |
                  MXGPU_SET(MXGPU_CE_CFG_PATTERN_SIZE, box.pattern_size) |
                  MXGPU_SET(MXGPU_CE_CFG_RECOVER,
                            queue->packet.header.flags / MXGPU_PKT_RECOVER));
    reg_write(base + MXGPU_CE_CTRL, FW_BIT(MXGPU_CE_CTRL_START));
    unit_run(FW_UNIT_COPY, job, queue);
    return FW_START_RUNNING;
}

#endif
