/* SPDX-License-Identifier: MIT */
/* Commands about queues and rings. */
#ifndef MXGPU_CORE_INSPECT_QUEUE_H
#define MXGPU_CORE_INSPECT_QUEUE_H

#include "inspect_text.h"
#include "mxgpu/packets.h"

MxgpuInspectFn mxgpu_inspect_queues, mxgpu_inspect_ring;

/* A packet of a ring as it is now; false: the firmware does not tell where it
 * is, or it cannot be read. */
bool mxgpu_inspect_packet(MxgpuDevice *dev, unsigned queue, uint64_t index,
                          union mxgpu_packet *packet);

#endif
