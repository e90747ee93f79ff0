/* SPDX-License-Identifier: MIT */
#include "fw.h"

void trace_send(const FwQueue *queue, enum mxgpu_queue_event event,
                uint32_t type, uint32_t unit, uint64_t index, uint64_t value)
{
    reg_write(MXGPU_TRACE_INFO, MXGPU_SET(MXGPU_TRACE_INFO_QUEUE,
                                          queue_id(queue)) |
                                    MXGPU_SET(MXGPU_TRACE_INFO_TYPE, type) |
                                    MXGPU_SET(MXGPU_TRACE_INFO_UNIT, unit));
    reg_write64(MXGPU_TRACE_INDEX_LO, index);
    reg_write64(MXGPU_TRACE_VALUE_LO, value);
    reg_write(MXGPU_TRACE_EVENT, event);
}
