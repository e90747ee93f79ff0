/* SPDX-License-Identifier: MIT */
/*
 * A capture of what goes in and out of a device: a pcapng file with one
 * interface of link type USER0 (147) and times in nanoseconds of the device
 * clock. Each packet of the file is a struct mxgpu_capture_record and the data
 * behind it, of which the file may have less than there was. Little-endian.
 */
#ifndef MXGPU_CAPTURE_H
#define MXGPU_CAPTURE_H

#include "types.h"

#define MXGPU_CAPTURE_LINKTYPE 147
#define MXGPU_CAPTURE_VERSION  1

/* F(name, value): what "number", "info", a and b are, and the data. */
#define MXGPU_CAPTURE_KINDS(F)                                                 \
    F(READ, 1)         /* BAR 0. a: offset, b: value */                        \
    F(WRITE, 2)        /* the same */                                          \
    F(DOORBELL, 3)     /* number: queue, a: value; info 1: it is disabled */   \
    F(PACKET_START, 4) /* number: queue, info: type | unit << 8, a: index;     \
                          data: union mxgpu_packet as it stands in the ring,   \
                          or nothing */                                        \
    F(PACKET_END, 5)   /* the same; b: signal value; no data */                \
    F(QUEUE, 6)        /* number: queue, info: enum mxgpu_queue_event |        \
                          type << 8, a: index, b: value */                     \
    F(DMA_READ, 7)     /* a: bus address, b: bytes; info 1: refused; data */   \
    F(DMA_WRITE, 8)    /* the same */                                          \
    F(DMA_MAP, 9)      /* the same without data, info 2: for writing. What is  \
                          read and written there later is not captured */      \
    F(IRQ, 10)         /* number: MSI-X vector */                              \
    F(REQUEST, 11)     /* mailbox. a: sequence; data: MBOX_CMD */              \
    F(ANSWER, 12)      /* when the host sees it. a; data: MBOX_RESP */         \
    F(CONSOLE, 13)     /* data: a line */                                      \
    F(EVENT, 14)       /* number: MxgpuTraceEvent, a, b */                     \
    F(FULL, 15)        /* a: bytes; the file ends here */

enum mxgpu_capture_kind {
#define F(name, value) MXGPU_CAPTURE_##name = (value),
    MXGPU_CAPTURE_KINDS(F)
#undef F
};

struct mxgpu_capture_record {
    uint8_t version;
    uint8_t kind; /* enum mxgpu_capture_kind */
    uint16_t number;
    uint32_t info;
    uint64_t a, b;
};
MXGPU_ASSERT_SIZE(struct mxgpu_capture_record, 24);

#endif
