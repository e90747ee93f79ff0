/* SPDX-License-Identifier: MIT */
/* Where a debugger finds the queues: mxgpu/fw_debug.h. Nothing here runs. */
#include "fw.h"
#include "mxgpu/fw_debug.h"

#define FIELD(member)                                                          \
    {offsetof(FwQueue, member), sizeof(((FwQueue *)0)->member)}

__attribute__((used, aligned(16)))
const volatile struct mxgpu_fw_debug fw_debug = {
    .magic = {MXGPU_FW_DEBUG_MAGIC0, MXGPU_FW_DEBUG_MAGIC1},
    .version = MXGPU_FW_DEBUG_VERSION,
#ifndef FW_HOST
    .queues = (uint32_t)fw.queues,
#endif
    .count = MXGPU_MAX_QUEUES,
    .stride = sizeof(FwQueue),
    .field = {
        [MXGPU_FW_DEBUG_STATE] = FIELD(state),
        [MXGPU_FW_DEBUG_VMID] = FIELD(vmid),
        [MXGPU_FW_DEBUG_PRIORITY] = FIELD(priority),
        [MXGPU_FW_DEBUG_RUNNING] = FIELD(running),
        [MXGPU_FW_DEBUG_VECTOR] = FIELD(vector),
        [MXGPU_FW_DEBUG_MASK] = FIELD(mask),
        [MXGPU_FW_DEBUG_RING] = FIELD(ring),
        [MXGPU_FW_DEBUG_CTL] = FIELD(ctl),
        [MXGPU_FW_DEBUG_WRITE] = FIELD(write_index),
        [MXGPU_FW_DEBUG_READ] = FIELD(read_index),
    },
};

_Static_assert(FW_QUEUE_FREE == 0 && FW_QUEUE_ACTIVE == 1 &&
                   FW_QUEUE_STOPPED == 2 && FW_QUEUE_DYING == 3,
               "states as fw_debug.h names them");
