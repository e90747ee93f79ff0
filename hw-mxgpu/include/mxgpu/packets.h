/* SPDX-License-Identifier: MIT */
/*
 * Queues and packets.
 *
 * A queue is a ring of 2^n packets of 64 bytes and a control block, both in
 * memory of the queue's address space (VMID), created through the mailbox
 * (msg.h). The producer writes packets, then the new write index to the queue's
 * doorbell. Indices count packets since the queue was created and never wrap;
 * the slot is index mod ring size. The producer must not run more than the
 * ring size ahead of read_index.
 *
 * Packets start in order. One with MXGPU_PKT_BARRIER starts only when all
 * earlier packets of its queue are complete, and later packets do not start
 * before it is complete; others may overlap. Memory effects of a complete
 * packet are visible to every packet, unit and CPU that observes completion.
 *
 * When a packet is complete and signal_addr is not 0, signal_value (64 bit) is
 * written to signal_addr, which must be a multiple of 8; then, with
 * MXGPU_PKT_IRQ, the MSI-X vector of the queue is raised.
 *
 * A packet that is malformed or whose execution faults stops its queue: the
 * error record is written to the control block (fields first, then state), the
 * queue's vector is raised, no later packet starts, packets in flight end or
 * are aborted. Other queues go on. A stopped queue is destroyed and made anew.
 * Fields are little-endian, reserved ones 0, addresses the VMID's, sizes bytes.
 */
#ifndef MXGPU_PACKETS_H
#define MXGPU_PACKETS_H

#include "regs.h"
#include "types.h"

#define MXGPU_PACKET_SIZE 64

enum mxgpu_packet_type {
    MXGPU_PKT_NOP = 0,       /* completes at once: a fence with BARRIER */
    MXGPU_PKT_COPY = 1,
    MXGPU_PKT_FILL = 2,
    MXGPU_PKT_DISPATCH = 3,
    MXGPU_PKT_WRITE = 4,
    MXGPU_PKT_WAIT = 5,
    MXGPU_PKT_TIMESTAMP = 6,
    MXGPU_PKT_TLB_INVALIDATE = 7,
    MXGPU_PKT_COPY_RECT = 8,
    MXGPU_PKT_FILL_RECT = 9,
    MXGPU_PKT_INDIRECT = 10,
    MXGPU_PKT_TYPES
};

/* flags */
#define MXGPU_PKT_BARRIER 0x0001u
#define MXGPU_PKT_IRQ     0x0002u
#define MXGPU_PKT_FLAGS   0x0003u /* of every type; others must be 0, but: */
#define MXGPU_PKT_COOPERATIVE 0x0004u /* DISPATCH: all blocks run at once, or
                                         it fails with QERR_RESOURCES */
#define MXGPU_PKT_PROFILE 0x0008u /* COPY*, FILL*, DISPATCH: leave a record,
                                     on a queue set up by QUEUE_PROFILE */
#define MXGPU_PKT_STRICT_ALIGN 0x0010u /* DISPATCH: loads and stores that are
                                          not naturally aligned fault */
#define MXGPU_PKT_LAUNCHES 0x0020u /* DISPATCH, with BARRIER: the kernel may
                                      launch grids (launch.h), and the packet
                                      is complete when these are */

#define MXGPU_PKT_RECOVER 0x0040u /* COPY*, FILL*, DISPATCH: NOT_PRESENT and
                                     PERMISSION go to the fault ring, which is
                                     enabled: struct mxgpu_fault_record */

struct mxgpu_packet_header {
    uint16_t type;
    uint16_t flags;
};

/* Copies size bytes, any alignment; 0: done at once. Ranges do not overlap. */
struct mxgpu_packet_copy {
    uint16_t type, flags;
    uint32_t reserved0;
    uint64_t src;
    uint64_t dst;
    uint64_t size;
    uint64_t reserved1[2];
    uint64_t signal_addr, signal_value;
};

/* Repeats pattern_size bytes of pattern over size bytes at dst. */
struct mxgpu_packet_fill {
    uint16_t type, flags;
    uint32_t pattern_size; /* 1, 2, 4, 8 or 16; divides dst and size */
    uint64_t dst;
    uint64_t size;
    uint8_t pattern[16];
    uint64_t reserved;
    uint64_t signal_addr, signal_value;
};

/*
 * Copies a box: depth slices of height rows of width bytes. Rows start a pitch
 * apart, slices a number of rows. An extent of 0 completes at once. With more
 * than one row, a pitch is at least width; with more than one slice, a slice at
 * least height (rect.h). Any alignment.
 */
struct mxgpu_packet_copy_rect {
    uint16_t type, flags;
    uint32_t width;                /* bytes of a row */
    uint64_t src;
    uint64_t dst;
    uint32_t height, depth;        /* rows of a slice, slices */
    uint32_t src_pitch, dst_pitch; /* bytes between starts of rows */
    uint32_t src_slice, dst_slice; /* rows between starts of slices */
    uint64_t signal_addr, signal_value;
};

/* The same for a fill. Each row starts with the first byte of pattern; a
 * shorter one is given repeated. Any alignment. */
struct mxgpu_packet_fill_rect {
    uint16_t type, flags;
    uint32_t width;
    uint64_t dst;
    uint32_t height, depth;
    uint32_t pitch, slice;
    uint8_t pattern[16];
    uint64_t signal_addr, signal_value;
};

/* Runs a kernel. */
struct mxgpu_packet_dispatch {
    uint16_t type, flags;
    uint32_t dynamic_shared; /* bytes beside the kernel's own; 64 KiB in all */
    uint64_t kernel;         /* struct mxgpu_kernel_desc (kernel.h) */
    uint64_t args;           /* argument block, multiple of 16 */
    uint32_t grid[3];        /* blocks, each at least 1 */
    uint16_t block[3];       /* threads, product 1 to 1024 */
    uint16_t private_kib;    /* stack of a thread in KiB; 0 is the default */
    uint32_t reserved;
    uint64_t signal_addr, signal_value;
};

/* Writes value (size 4: its low half) to addr as one access. */
struct mxgpu_packet_write {
    uint16_t type, flags;
    uint32_t size;  /* 4 or 8 */
    uint64_t addr;  /* multiple of size */
    uint64_t value;
    uint64_t reserved[3];
    uint64_t signal_addr, signal_value;
};

enum mxgpu_wait_cond {
    MXGPU_WAIT_GEQ = 0, /* (signed difference) *addr - value >= 0 */
    MXGPU_WAIT_EQ = 1,
    MXGPU_WAIT_AND = 2, /* (*addr & value) != 0 */
    MXGPU_WAIT_NOR = 3, /* ~(*addr | value) != 0 */
    MXGPU_WAIT_CONDS
};

/* Completes when size bytes at addr meet cond; implies MXGPU_PKT_BARRIER. */
struct mxgpu_packet_wait {
    uint16_t type, flags;
    uint16_t size;  /* 4 or 8 */
    uint16_t cond;  /* enum mxgpu_wait_cond */
    uint64_t addr;  /* multiple of size */
    uint64_t value;
    uint64_t reserved[3];
    uint64_t signal_addr, signal_value;
};

/* Writes the device clock (ns, 64 bit) to addr; implies MXGPU_PKT_BARRIER. */
struct mxgpu_packet_timestamp {
    uint16_t type, flags;
    uint32_t reserved0;
    uint64_t addr; /* multiple of 8 */
    uint64_t reserved1[4];
    uint64_t signal_addr, signal_value;
};

/* Drops translations of the queue's VMID; implies MXGPU_PKT_BARRIER. */
struct mxgpu_packet_tlb_invalidate {
    uint16_t type, flags;
    uint32_t reserved0;
    uint64_t addr;
    uint64_t size; /* 0: the whole address space */
    uint64_t reserved1[3];
    uint64_t signal_addr, signal_value;
};

/*
 * Executes the count packets at list as if they stood in the ring, in its
 * place; implies MXGPU_PKT_BARRIER, and is complete when they all are. They are
 * read one after the other while it runs, may have every flag but PROFILE and
 * signals of their own, and are not INDIRECT. Records and events of them have
 * the index of this packet. A count of 0 completes at once.
 */
#define MXGPU_INDIRECT_MAX 65536u
struct mxgpu_packet_indirect {
    uint16_t type, flags;
    uint32_t count; /* at most MXGPU_INDIRECT_MAX */
    uint64_t list;  /* multiple of 64 */
    uint64_t reserved[4];
    uint64_t signal_addr, signal_value;
};

union mxgpu_packet {
    struct mxgpu_packet_header header;
    struct mxgpu_packet_copy copy;
    struct mxgpu_packet_fill fill;
    struct mxgpu_packet_copy_rect copy_rect;
    struct mxgpu_packet_fill_rect fill_rect;
    struct mxgpu_packet_dispatch dispatch;
    struct mxgpu_packet_write write;
    struct mxgpu_packet_wait wait;
    struct mxgpu_packet_timestamp timestamp;
    struct mxgpu_packet_tlb_invalidate tlb_invalidate;
    struct mxgpu_packet_indirect indirect;
    uint32_t words[16];
};

MXGPU_ASSERT_SIZE(struct mxgpu_packet_copy, 64);
MXGPU_ASSERT_SIZE(struct mxgpu_packet_fill, 64);
MXGPU_ASSERT_SIZE(struct mxgpu_packet_copy_rect, 64);
MXGPU_ASSERT_OFFSET(struct mxgpu_packet_copy_rect, signal_addr, 48);
MXGPU_ASSERT_SIZE(struct mxgpu_packet_fill_rect, 64);
MXGPU_ASSERT_OFFSET(struct mxgpu_packet_fill_rect, signal_addr, 48);
MXGPU_ASSERT_SIZE(struct mxgpu_packet_dispatch, 64);
MXGPU_ASSERT_OFFSET(struct mxgpu_packet_dispatch, block, 36);
MXGPU_ASSERT_OFFSET(struct mxgpu_packet_dispatch, signal_addr, 48);
MXGPU_ASSERT_SIZE(struct mxgpu_packet_write, 64);
MXGPU_ASSERT_SIZE(struct mxgpu_packet_wait, 64);
MXGPU_ASSERT_SIZE(struct mxgpu_packet_timestamp, 64);
MXGPU_ASSERT_SIZE(struct mxgpu_packet_tlb_invalidate, 64);
MXGPU_ASSERT_SIZE(struct mxgpu_packet_indirect, 64);
MXGPU_ASSERT_OFFSET(struct mxgpu_packet_indirect, signal_addr, 48);
MXGPU_ASSERT_SIZE(union mxgpu_packet, 64);

/* struct mxgpu_queue_ctl.state */
enum mxgpu_queue_state {
    MXGPU_QUEUE_ACTIVE = 0,
    MXGPU_QUEUE_ERROR = 1,
};

/* struct mxgpu_queue_error.code */
enum mxgpu_queue_error_code {
    MXGPU_QERR_NONE = 0,
    MXGPU_QERR_FETCH = 1,    /* reading the ring or control block faulted */
    MXGPU_QERR_PACKET = 2,   /* unknown type or flags, nonzero reserved field,
                                parameter out of range: see field */
    MXGPU_QERR_INDEX = 3,    /* doorbell moved back or overran the ring */
    MXGPU_QERR_FAULT = 4,    /* a unit faulted while executing the packet */
    MXGPU_QERR_KERNEL = 5,   /* kernel descriptor unreadable or malformed */
    MXGPU_QERR_RESOURCES = 6,/* a block, or a cooperative grid, never fits */
    MXGPU_QERR_TIMEOUT = 7,  /* dispatch ran longer than WATCHDOG_MS */
    MXGPU_QERR_SIGNAL = 8,   /* signal_addr misaligned or not writable */
};

/* Why a queue stopped. */
struct mxgpu_queue_error {
    uint32_t code;          /* enum mxgpu_queue_error_code */
    uint32_t fault;         /* enum mxgpu_fault */
    uint64_t packet_index;  /* the packet's; FETCH, INDEX: the next to fetch;
                               of a list: that of INDIRECT, see inner */
    uint32_t packet_type;
    uint32_t field;         /* byte offset in the packet of a bad field */
    uint64_t fault_addr;
    uint64_t fault_pc;      /* dispatches only, as thread and block */
    uint32_t access;        /* enum mxgpu_access */
    uint32_t thread;        /* index in its block */
    union {
        uint32_t block[3];
        uint32_t done[2];   /* COPY*, FILL*: bytes moved before it, low half
                               first; in order of rows, then of slices */
    };
    uint32_t inner; /* which packet of an INDIRECT list, the first is 1; 0: the
                       one in the ring */
};
MXGPU_ASSERT_SIZE(struct mxgpu_queue_error, 64);

/* Control block of a queue, multiple of 64. The device writes all of it. */
struct mxgpu_queue_ctl {
    uint64_t read_index; /* packets that have begun, and of INDIRECT ended:
                            their slots are free */
    uint32_t state;      /* enum mxgpu_queue_state */
    uint32_t reserved0;
    uint64_t reserved1[6];
    struct mxgpu_queue_error error;
};
MXGPU_ASSERT_SIZE(struct mxgpu_queue_ctl, 128);
MXGPU_ASSERT_OFFSET(struct mxgpu_queue_ctl, error, 64);

/*
 * A recoverable fault: what of a packet with MXGPU_PKT_RECOVER is parked in
 * front of an access, and goes on when software replays it. Of a kernel that is
 * the group of lanes of one warp that executes the instruction, none of which
 * has done any of it; of a copy engine, the engine. docs/faults.md tells how
 * the ring is served.
 */
enum mxgpu_fault_source {
    MXGPU_FAULT_COMPUTE = 0,
    MXGPU_FAULT_COPY = 1,
};
struct mxgpu_fault_record {
    uint32_t sequence; /* its number, counted since reset */
    uint8_t source;    /* enum mxgpu_fault_source */
    uint8_t fault;     /* enum mxgpu_fault: NOT_PRESENT or PERMISSION */
    uint8_t access;    /* enum mxgpu_access */
    uint8_t vmid;
    uint64_t addr;     /* first byte that could not be reached */
    uint64_t pc;       /* COMPUTE: of the instruction */
    union {
        uint64_t lanes; /* COMPUTE: those that are parked, a bit each */
        uint64_t done;  /* COPY: bytes moved before it */
    };
    uint32_t queue;
    uint16_t unit;     /* compute unit or copy engine */
    uint16_t slot;     /* COMPUTE: dispatch slot */
    uint32_t thread;   /* COMPUTE: the first one that faulted: index in its
                          block; its warp is thread / 64 */
    uint32_t block[3]; /* COMPUTE */
    uint64_t time;     /* device clock when it was reported */
};
MXGPU_ASSERT_SIZE(struct mxgpu_fault_record, 64);
MXGPU_ASSERT_OFFSET(struct mxgpu_fault_record, time, 56);

/* One compute unit's part in a dispatch; times are of the device clock. */
struct mxgpu_profile_unit {
    uint32_t unit;
    uint32_t blocks;
    uint64_t first; /* its first block started */
    uint64_t last;  /* its last block ended */
    uint64_t busy;  /* ns in which it ran warps of the dispatch */
};
MXGPU_ASSERT_SIZE(struct mxgpu_profile_unit, 32);

/*
 * What a packet with MXGPU_PKT_PROFILE leaves, before it is signalled or stops
 * its queue. Of COPY* and FILL* only the part before counter[] is written.
 * Behind counter[] there is room for UNIT_CAPS.COMPUTE_UNITS entries of struct
 * mxgpu_profile_unit, of which "units" are written, and then for the samples.
 */
struct mxgpu_profile {
    uint64_t sequence;    /* packet index + 1, written last */
    uint32_t packet_type;
    uint32_t fault;       /* enum mxgpu_fault */
    uint64_t start, end;  /* device clock */
    uint64_t samples;     /* taken: a random choice is kept where room lacks */
    uint32_t units;
    uint32_t interval;    /* CP_SAMPLE_INTERVAL */
    uint64_t reserved[2];
    /* enum mxgpu_counter. Those of accesses are of COUNTED_INSTRUCTIONS of the
     * WARP_INSTRUCTIONS: scaled by the ratio, they are estimates. */
    uint64_t counter[MXGPU_COUNTERS];
};
MXGPU_ASSERT_SIZE(struct mxgpu_profile, 64 + 8 * MXGPU_COUNTERS);
MXGPU_ASSERT_OFFSET(struct mxgpu_profile, counter, 64);

/* Bytes of a record on a device with that many compute units. */
#define MXGPU_PROFILE_SIZE(compute_units, samples)                             \
    (sizeof(struct mxgpu_profile) +                                            \
     (uint64_t)(compute_units) * sizeof(struct mxgpu_profile_unit) +           \
     (uint64_t)(samples) * 8)

/* A sample: where a warp was, with how many lanes, on which unit. */
#define MXGPU_SAMPLE_PC(s)    ((s) & 0x0000ffffffffffffull)
#define MXGPU_SAMPLE_LANES(s) ((uint32_t)((s) >> 48) & 0xff)
#define MXGPU_SAMPLE_UNIT(s)  ((uint32_t)((s) >> 56))

#endif
