/* SPDX-License-Identifier: MIT */
/* Where a debugger finds queues and contexts: mxgpu/fw_debug.h. Nothing here
 * runs. */
#include "fw.h"
#include "mxgpu/fw_debug.h"

#define FIELD(member)                                                          \
    {offsetof(FwQueue, member), sizeof(((FwQueue *)0)->member)}
#define CONTEXT(member)                                                        \
    {offsetof(FwContext, member), sizeof(((FwContext *)0)->member)}

__attribute__((used, aligned(16)))
const volatile struct mxgpu_fw_debug fw_debug = {
    .magic = {MXGPU_FW_DEBUG_MAGIC0, MXGPU_FW_DEBUG_MAGIC1},
    .version = MXGPU_FW_DEBUG_VERSION,
#ifndef FW_HOST
    .queues = (uint32_t)fw.queues,
    .contexts = (uint32_t)fw.contexts,
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
        [MXGPU_FW_DEBUG_PAUSED] = FIELD(paused),
    },
    .context_count = FW_MAX_CONTEXTS,
    .context_stride = sizeof(FwContext),
    .context_field = {
        [MXGPU_FW_DEBUG_OWNER] = CONTEXT(job.queue),
        [MXGPU_FW_DEBUG_PACKET] = CONTEXT(job.packet_index),
        [MXGPU_FW_DEBUG_ADDR] = CONTEXT(addr),
        [MXGPU_FW_DEBUG_SIZE] = CONTEXT(size),
        [MXGPU_FW_DEBUG_RECORD] = CONTEXT(job.record),
        [MXGPU_FW_DEBUG_RUNNABLE] = CONTEXT(runnable),
    },
};

_Static_assert(FW_QUEUE_FREE == 0 && FW_QUEUE_ACTIVE == 1 &&
                   FW_QUEUE_STOPPED == 2 && FW_QUEUE_DYING == 3,
               "states as fw_debug.h names them");
