/* SPDX-License-Identifier: MIT */
/* Every packet type, once. */
#include "cmd/commands.h"

const FwCommand *const fw_commands[MXGPU_PKT_TYPES] = {
    [MXGPU_PKT_NOP] = &cmd_nop,
    [MXGPU_PKT_COPY] = &cmd_copy,
    [MXGPU_PKT_FILL] = &cmd_fill,
    [MXGPU_PKT_DISPATCH] = &cmd_dispatch,
    [MXGPU_PKT_WRITE] = &cmd_write,
    [MXGPU_PKT_WAIT] = &cmd_wait,
    [MXGPU_PKT_TIMESTAMP] = &cmd_timestamp,
    [MXGPU_PKT_TLB_INVALIDATE] = &cmd_tlb_invalidate,
    [MXGPU_PKT_COPY_RECT] = &cmd_copy_rect,
    [MXGPU_PKT_FILL_RECT] = &cmd_fill_rect,
    [MXGPU_PKT_INDIRECT] = &cmd_indirect,
};
