/* SPDX-License-Identifier: MIT */
/*
 * TRACE_*: the firmware tells the host of queues and packets, of which the rest
 * of the device knows nothing. It finds out whether anybody listens with a
 * register that it reads anyway, INT_PENDING. On the MCU's thread.
 */
#include "internal.h"

bool mxgpu_trace_listens(MxgpuDevice *dev)
{
    return dev->ops->queue_listens && dev->ops->queue_listens(dev->host);
}

void mxgpu_trace_event_write(MxgpuDevice *dev, const MxgpuAccess *a,
                             uint32_t value)
{
    uint32_t info = *mxgpu_reg(dev, MXGPU_TRACE_INFO);
    MxgpuQueueEvent e = {
        .event = value,
        .queue = MXGPU_GET(MXGPU_TRACE_INFO_QUEUE, info),
        .type = MXGPU_GET(MXGPU_TRACE_INFO_TYPE, info),
        .unit = MXGPU_GET(MXGPU_TRACE_INFO_UNIT, info),
        .index = mxgpu_reg64(dev, MXGPU_TRACE_INDEX_LO),
        .value = mxgpu_reg64(dev, MXGPU_TRACE_VALUE_LO),
    };

    if (mxgpu_trace_listens(dev)) {
        dev->ops->queue_event(dev->host, &e);
    }
}
