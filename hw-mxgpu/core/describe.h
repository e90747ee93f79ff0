/* SPDX-License-Identifier: MIT */
/*
 * Traces in words: registers, fields, faults and work of the units by name.
 * For the trace operation of a host, on the thread that it was called on.
 */
#ifndef MXGPU_CORE_DESCRIBE_H
#define MXGPU_CORE_DESCRIBE_H

#include "device.h"
#include "mxgpu/packets.h"

#define MXGPU_DESCRIBE_MAX 256

typedef struct MxgpuRegName {
    const char *name;
    uint32_t offset, count, stride;
} MxgpuRegName;

/* All registers, in the order of regs.def. */
const MxgpuRegName *mxgpu_describe_registers(size_t *count);
/* "MCU_STATUS STATE=1 READY", "CE_CTRL[1] START"; cut to size bytes. */
void mxgpu_describe_register(uint32_t offset, uint32_t value, char *text,
                             size_t size);
/* What the numbers of the event do not say in words; "" when they say all. */
void mxgpu_describe_event(MxgpuDevice *dev, MxgpuTraceEvent event, uint64_t a,
                          uint64_t b, char *text, size_t size);
/* "DISPATCH on slot 2": what a queue event says besides queue and index. */
void mxgpu_describe_queue_event(const MxgpuQueueEvent *event, char *text,
                                size_t size);
/* "COPY src=0x1000 ... signal *0x2000=7 BARRIER"; of any 64 bytes. */
void mxgpu_describe_packet(const union mxgpu_packet *packet, char *text,
                           size_t size);
const char *mxgpu_describe_fault(uint64_t fault);
const char *mxgpu_describe_access(uint64_t access);
const char *mxgpu_describe_queue_error(unsigned code);

#endif
