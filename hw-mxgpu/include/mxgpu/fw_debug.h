/* SPDX-License-Identifier: MIT */
/*
 * What firmware tells a debugger of its queues, and of dispatches that have left
 * their slot. It is not an interface between
 * firmware and hardware: firmware without it runs as well, but then nobody can
 * show its rings.
 *
 * One struct mxgpu_fw_debug lies at a multiple of 16 in the image. A debugger
 * finds it by its magic, which code does not hold as one word, and reads the
 * firmware's own tables where it says. All of it may be anything: a reader
 * checks every number.
 */
#ifndef MXGPU_FW_DEBUG_H
#define MXGPU_FW_DEBUG_H

#include "types.h"

#define MXGPU_FW_DEBUG_MAGIC0 0x4447584du /* "MXGD" */
#define MXGPU_FW_DEBUG_MAGIC1 0x51474245u /* "EBGQ" */
#define MXGPU_FW_DEBUG_VERSION 2

/* What is known of a queue. */
enum mxgpu_fw_debug_field {
    MXGPU_FW_DEBUG_STATE = 0,     /* 0 free, 1 active, 2 stopped, 3 dying */
    MXGPU_FW_DEBUG_VMID = 1,
    MXGPU_FW_DEBUG_PRIORITY = 2,
    MXGPU_FW_DEBUG_RUNNING = 3,   /* packets in flight in units */
    MXGPU_FW_DEBUG_VECTOR = 4,
    MXGPU_FW_DEBUG_MASK = 5,      /* packets in the ring - 1 */
    MXGPU_FW_DEBUG_RING = 6,
    MXGPU_FW_DEBUG_CTL = 7,       /* struct mxgpu_queue_ctl */
    MXGPU_FW_DEBUG_WRITE = 8,     /* index, as rung */
    MXGPU_FW_DEBUG_READ = 9,      /* index: packets fetched */
    MXGPU_FW_DEBUG_PAUSED = 10,   /* by QUEUE_HOLD */
    MXGPU_FW_DEBUG_FIELDS = 11
};

/* And of a context (docs/queues.md). */
enum mxgpu_fw_debug_context {
    MXGPU_FW_DEBUG_OWNER = 0,    /* address of its queue's record; 0: none */
    MXGPU_FW_DEBUG_PACKET = 1,   /* index in that queue */
    MXGPU_FW_DEBUG_ADDR = 2,     /* of its bytes, in the VMID of the queue */
    MXGPU_FW_DEBUG_SIZE = 3,
    MXGPU_FW_DEBUG_RECORD = 4,   /* struct mxgpu_launch of its grid, or 0 */
    MXGPU_FW_DEBUG_RUNNABLE = 5, /* with one: 0: waits for those it launched */
    MXGPU_FW_DEBUG_CONTEXT_FIELDS = 6
};

struct mxgpu_fw_debug_member {
    uint16_t offset; /* in the record */
    uint16_t size;   /* bytes: 1, 2, 4 or 8, little-endian */
};

struct mxgpu_fw_debug {
    uint32_t magic[2];
    uint32_t version;
    uint32_t queues; /* address of the first record in SRAM */
    uint32_t count;  /* records, one for each queue */
    uint32_t stride; /* bytes of a record */
    struct mxgpu_fw_debug_member field[MXGPU_FW_DEBUG_FIELDS];
    uint32_t contexts; /* likewise */
    uint32_t context_count;
    uint32_t context_stride;
    struct mxgpu_fw_debug_member
        context_field[MXGPU_FW_DEBUG_CONTEXT_FIELDS];
};
MXGPU_ASSERT_SIZE(struct mxgpu_fw_debug, 104);

#endif
