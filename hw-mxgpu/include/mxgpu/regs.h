/* SPDX-License-Identifier: MIT */
/*
 * PCI identity, BAR layout and register map. Register offsets and fields come
 * from regs.def: MXGPU_<REG> is an offset, MXGPU_<REG>_<FIELD>_SHIFT and _MASK
 * describe a field (see MXGPU_GET and MXGPU_SET in types.h).
 */
#ifndef MXGPU_REGS_H
#define MXGPU_REGS_H

#include "limits.h"
#include "types.h"

#define MXGPU_PCI_VENDOR 0x1234
#define MXGPU_PCI_DEVICE 0x6d78
#define MXGPU_PCI_CLASS  0x0302 /* 3D controller */
#define MXGPU_PCI_SUBSYSTEM 0x0001 /* of subsystem vendor MXGPU_PCI_VENDOR */

#define MXGPU_ID_MAGIC          0x5047584du /* "MXGP" */
#define MXGPU_INTERFACE_VERSION 0x00010003u /* 1.3 */

/*
 * BAR 0: registers. BAR 2: VRAM aperture, all of VRAM; software may make it
 * smaller (Resizable BAR), it then shows the beginning. BAR 4: doorbells.
 */
#define MXGPU_BAR_REGS  0
#define MXGPU_BAR_VRAM  2
#define MXGPU_BAR_DOORBELL 4
#define MXGPU_REGS_SIZE 0x10000u

/*
 * BAR 4: the doorbell of queue q is the 64-bit word at q * 4096, so that each
 * can be mapped to one process. Written with one 64-bit or two 32-bit stores
 * (low half first; the high half, or a 64-bit store, rings). Reads give 0.
 * A lone 32-bit store to the low half also rings, with the high half of the
 * value taken as 0: for queues whose index never passes 2^32 - 1.
 */
#define MXGPU_DOORBELL_STRIDE 0x1000u
#define MXGPU_MSIX_TABLE      0x100000u /* offset in BAR 4 */
#define MXGPU_MSIX_PBA        0x101000u
#define MXGPU_DOORBELL_SIZE   0x200000u /* size of BAR 4 */

#define MXGPU_RESET_MAGIC 0x52455345u

#define MXGPU_FAULT_LOG2_MAX 12u /* FAULT_CFG.LOG2_RECORDS */

/* Register offsets; MXGPU_<REG> of an array is that of element 0. */
enum {
#define MXGPU_REG(name, offset, count, stride, host, mcu, reset, doc)          \
    MXGPU_##name = (offset),                                                   \
    MXGPU_##name##_COUNT = (count),                                            \
    MXGPU_##name##_STRIDE = (stride),
#define MXGPU_FIELD(reg, name, shift, width, doc)
#include "regs.def"
#undef MXGPU_REG
#undef MXGPU_FIELD
    MXGPU_REGS_END_
};

enum {
#define MXGPU_REG(name, offset, count, stride, host, mcu, reset, doc)
#define MXGPU_FIELD(reg, name, shift, width, doc)                              \
    MXGPU_##reg##_##name##_SHIFT = (shift),                                    \
    MXGPU_##reg##_##name##_MASK = (1u << (width)) - 1,
#include "regs.def"
#undef MXGPU_REG
#undef MXGPU_FIELD
    MXGPU_FIELDS_END_
};

/* RESET_STATUS.CAUSE */
enum mxgpu_reset_cause {
    MXGPU_RESET_POWER_ON = 0,
    MXGPU_RESET_HOST = 1, /* RESET register */
    MXGPU_RESET_BUS = 2,  /* PCI reset: hot reset, FLR, D3hot to D0 */
};

/* MCU_STATUS.STATE */
enum mxgpu_mcu_state {
    MXGPU_MCU_RESET = 0,      /* waiting for an image */
    MXGPU_MCU_RUNNING = 1,
    MXGPU_MCU_BOOT_ERROR = 2, /* image refused: MCU_STATUS.BOOT_ERROR */
    MXGPU_MCU_CRASHED = 3,    /* stopped on a trap: MCU_TRAP_* */
};

/* MCU_STATUS.BOOT_ERROR */
enum mxgpu_boot_error {
    MXGPU_BOOT_OK = 0,
    MXGPU_BOOT_BAD_MAGIC = 1,
    MXGPU_BOOT_BAD_HEADER = 2, /* header or image size, entry point */
    MXGPU_BOOT_BAD_ISA = 3,
    MXGPU_BOOT_BAD_CRC = 4,
};

/* CE_STATUS.STATE and CD_STATUS.STATE */
enum mxgpu_unit_state {
    MXGPU_UNIT_IDLE = 0,
    MXGPU_UNIT_BUSY = 1,
    MXGPU_UNIT_DONE = 2,
    MXGPU_UNIT_FAULT = 3,
};

/* CX_RESULT.STATE */
typedef enum MxgpuContextState {
    MXGPU_CONTEXT_DONE = 0,
    MXGPU_CONTEXT_BUSY = 1,    /* not now: SAVE: the slot is not held, or units
                                  have not saved all blocks of it yet; LOAD: no
                                  place for blocks that did not begin */
    MXGPU_CONTEXT_ROOM = 2,    /* CX_SIZE is too small: CX_USED is needed */
    MXGPU_CONTEXT_FAULT = 3,   /* CX_RESULT.FAULT, at or behind CX_ADDR */
    MXGPU_CONTEXT_REFUSED = 4, /* SAVE: the slot has no dispatch that can be
                                  saved; LOAD: the slot is not IDLE, or that is
                                  no context */
} MxgpuContextState;

/* FE_RESULT.STATE */
enum mxgpu_front_state {
    MXGPU_FRONT_OTHER = 0, /* nothing happened: this is for the firmware. The
                              packet is no DISPATCH, or one with other flags
                              than IRQ, BARRIER, STRICT_ALIGN and RECOVER, or
                              it cannot be read, or started */
    MXGPU_FRONT_LAUNCHED = 1,
    MXGPU_FRONT_NO_SLOT = 2, /* it would have been */
    MXGPU_FRONT_BARRIER = 3, /* it would have been, but for BUSY */
    MXGPU_FRONT_RETIRED = 4,
    MXGPU_FRONT_CHAINED = 5, /* LAUNCHED, and others may follow it */
};

/* CE_CFG.OP */
enum mxgpu_copy_op {
    MXGPU_COPY_LINEAR = 0, /* regions must not overlap unless identical */
    MXGPU_COPY_FILL = 1,   /* SIZE a multiple of PATTERN_SIZE, DST aligned */
    MXGPU_COPY_RECT = 2,   /* rows of SIZE bytes, HEIGHT by DEPTH of them */
    MXGPU_COPY_FILL_RECT = 3, /* all 16 bytes of PATTERN, from each row's
                                 start */
};

/* MEM_CMD.OP */
enum mxgpu_mem_op {
    MXGPU_MEM_READ = 0,
    MXGPU_MEM_WRITE = 1,
};

/* What kind of access faulted. */
enum mxgpu_access {
    MXGPU_ACCESS_READ = 0,
    MXGPU_ACCESS_WRITE = 1,
    MXGPU_ACCESS_EXECUTE = 2,
    MXGPU_ACCESS_ATOMIC = 3,
};

/* Fault codes of every unit, and of error records: faults.def. */
enum mxgpu_fault {
#define MXGPU_FAULT(name, value, text) MXGPU_FAULT_##name = (value),
#include "faults.def"
#undef MXGPU_FAULT
};

/*
 * TRACE_EVENT: what the firmware tells whoever listens of queues and packets.
 * TRACE_INFO.QUEUE is the queue. TYPE and TRACE_INDEX are the packet's, where
 * there is one.
 */
enum mxgpu_queue_event {
    MXGPU_QEV_CREATE = 1,       /* VALUE: VMID | priority << 8 */
    MXGPU_QEV_DESTROY = 2,
    MXGPU_QEV_ERROR = 3,        /* VALUE: enum mxgpu_queue_error_code |
                                 * enum mxgpu_fault << 8 */
    MXGPU_QEV_PACKET_START = 4, /* UNIT executes it */
    MXGPU_QEV_PACKET_END = 5,   /* VALUE: signal_value; 0 without a signal */
};

/* TRACE_INFO.UNIT; the number is or'ed to the kind. */
#define MXGPU_QEV_UNIT_NONE 0x00 /* the firmware itself */
#define MXGPU_QEV_UNIT_COPY 0x10
#define MXGPU_QEV_UNIT_SLOT 0x20

/*
 * Index of COUNTER_LO/HI, CU_COUNTER_LO/HI and of struct mxgpu_profile. All
 * count from device reset; docs/profiling.md says what exactly. Those from
 * MEM_REQUESTS on count only COUNTED_INSTRUCTIONS: all of dispatches that count
 * accesses, spans of those that are profiled, none of others.
 */
#define MXGPU_COUNTERS 32
enum mxgpu_counter {
    MXGPU_COUNTER_WARP_INSTRUCTIONS = 0,
    MXGPU_COUNTER_LANE_INSTRUCTIONS = 1,
    MXGPU_COUNTER_BLOCKS = 2,
    MXGPU_COUNTER_DISPATCHES = 3,
    MXGPU_COUNTER_DIVERGENT_BRANCHES = 4,
    MXGPU_COUNTER_TLB_MISSES = 5,
    MXGPU_COUNTER_COPY_BYTES = 6,
    MXGPU_COUNTER_COPIES = 7,
    MXGPU_COUNTER_DOORBELLS = 8,
    MXGPU_COUNTER_INTERRUPTS = 9,
    MXGPU_COUNTER_FAULTS = 10,
    MXGPU_COUNTER_WARPS = 11,
    MXGPU_COUNTER_BARRIER_WAITS = 12,
    MXGPU_COUNTER_ATOMICS = 13,
    MXGPU_COUNTER_BUSY_NS = 14,
    MXGPU_COUNTER_MEM_REQUESTS = 16,
    MXGPU_COUNTER_MEM_TRANSACTIONS = 17,
    MXGPU_COUNTER_MEM_BYTES = 18,
    MXGPU_COUNTER_TLB_LOOKUPS = 19,
    MXGPU_COUNTER_SHARED_REQUESTS = 20,
    MXGPU_COUNTER_BANK_CONFLICTS = 21,
    MXGPU_COUNTER_COUNTED_INSTRUCTIONS = 22,
    MXGPU_COUNTER_COUNTED_SPANS = 23,
};

/*
 * Firmware image: this header, then code and data, loaded as one to SRAM
 * offset 0. START checks it: magic, header_size, isa, image_size (header
 * included, multiple of 4, at most SRAM_SIZE), entry inside the image, and the
 * CRC-32 (IEEE 802.3, as zlib's) of the image_size - header_size bytes that
 * follow the header. SRAM behind the image is not cleared by the hardware.
 */
#define MXGPU_FW_MAGIC 0x5746584du /* "MXFW" */
#define MXGPU_FW_ISA_RV32IMAC 1
struct mxgpu_fw_header {
    uint32_t magic;
    uint32_t header_size; /* sizeof(struct mxgpu_fw_header) */
    uint32_t image_size;
    uint32_t crc32;
    uint32_t isa;
    uint32_t entry; /* address of the first instruction */
    uint32_t version; /* as MCU_FW_VERSION: major << 16 | minor << 8 | patch */
    uint32_t abi;     /* as MCU_FW_ABI: MXGPU_MSG_ABI of msg.h */
    char build[32];   /* build id: printable text, NUL padded, at most 31 */
};
MXGPU_ASSERT_SIZE(struct mxgpu_fw_header, 64);

#endif
