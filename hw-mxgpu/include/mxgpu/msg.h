/* SPDX-License-Identifier: MIT */
/*
 * Host-firmware messages through the mailbox.
 *
 * The host writes the request words to MBOX_CMD[], then a sequence number that
 * differs from MBOX_ACK to MBOX_REQ. The firmware writes the answer to
 * MBOX_RESP[], then the sequence number to MBOX_ACK. One request is in flight
 * at a time. MBOX_CMD[0] is the operation, MBOX_RESP[0] an enum
 * mxgpu_msg_status; the words below follow. 64-bit values take two words, low
 * first. Words not named must be 0, and are 0 in answers.
 *
 * Any message may be answered UNKNOWN_OP, NO_HELLO, or BAD_ARGUMENT for a word
 * out of range; the others are named with the message. After any answer but OK
 * all is as before, though memory that the message names may have been written.
 * docs/mailbox.md says what is in range, overview.md how long a driver waits.
 */
#ifndef MXGPU_MSG_H
#define MXGPU_MSG_H

#include "types.h"

#define MXGPU_MSG_ABI 1 /* incompatible changes */

enum mxgpu_msg_op {
    MXGPU_MSG_PING = 1,
    MXGPU_MSG_HELLO = 2,
    MXGPU_MSG_VM_SET = 3,
    MXGPU_MSG_TLB_INVALIDATE = 4,
    MXGPU_MSG_QUEUE_CREATE = 5,
    MXGPU_MSG_QUEUE_DESTROY = 6,
    MXGPU_MSG_LOG_LEVEL = 7,
    MXGPU_MSG_QUEUE_PROFILE = 8,
    MXGPU_MSG_QUEUE_LAUNCH = 9,
    MXGPU_MSG_QUEUE_RESET = 10,
    MXGPU_MSG_CONTEXTS = 11,
    MXGPU_MSG_QUEUE_HOLD = 12,
    MXGPU_MSG_QUEUE_RESUME = 13,
    MXGPU_MSG_UNIT_RESET = 14,
};

/* Their names, for those who show them. */
#define MXGPU_MSG_OPS(F)                                                       \
    F(PING) F(HELLO) F(VM_SET) F(TLB_INVALIDATE) F(QUEUE_CREATE)               \
    F(QUEUE_DESTROY) F(LOG_LEVEL) F(QUEUE_PROFILE) F(QUEUE_LAUNCH)             \
    F(QUEUE_RESET) F(CONTEXTS) F(QUEUE_HOLD) F(QUEUE_RESUME) F(UNIT_RESET)

enum mxgpu_msg_status {
    MXGPU_MSG_OK = 0,
    MXGPU_MSG_UNKNOWN_OP = 1,
    MXGPU_MSG_BAD_ABI = 2,     /* HELLO: the firmware speaks another ABI */
    MXGPU_MSG_NO_HELLO = 3,    /* anything but PING before HELLO */
    MXGPU_MSG_BAD_ARGUMENT = 4,
    MXGPU_MSG_BUSY = 5,        /* queue id in use, VMID in use by a queue */
    MXGPU_MSG_NOT_FOUND = 6,
    MXGPU_MSG_FAULT = 7,       /* ring or control block not accessible */
};

/* PING: answers with the same words. */
struct mxgpu_msg_ping {
    uint32_t op;
    uint32_t word[15];
};

/* HELLO: must come first; a second one is allowed. BAD_ABI: the answer is
 * whole, and abi the one that the firmware speaks. */
struct mxgpu_msg_hello {
    uint32_t op;
    uint32_t abi; /* MXGPU_MSG_ABI */
};
struct mxgpu_msg_hello_resp {
    uint32_t status;
    uint32_t abi;
    uint32_t version;    /* as MCU_FW_VERSION */
    uint32_t queues;     /* queues the firmware serves */
    uint32_t priorities; /* levels, 0 the most urgent */
    uint32_t packets;    /* bit n: packet type n is understood */
    char build[32];      /* as in the image's header, NUL padded */
    /* What the firmware has to say, in SRAM, where the host reads it while the
     * MCU runs and after a crash: a word, the bytes since the start modulo 2^32,
     * and a ring of text. Byte n is at n % log_size of that, if it is among the
     * last log_size. */
    uint32_t log;        /* offset in SRAM, a multiple of 4; 0: there is none */
    uint32_t log_size;   /* bytes of the ring, a power of two */
};

/* VM_SET: names the page table of a VMID (root as MMU_ROOT); 0 removes it.
 * Answered when no unit uses the old one any more. BUSY. */
struct mxgpu_msg_vm_set {
    uint32_t op;
    uint32_t vmid;
    uint32_t root_lo, root_hi;
};

/* TLB_INVALIDATE: of size bytes from addr on; answered when no unit uses the
 * old translations any more. */
struct mxgpu_msg_tlb_invalidate {
    uint32_t op;
    uint32_t vmid;
    uint32_t addr_lo, addr_hi;
    uint32_t size_lo, size_hi; /* 0: the whole address space */
};

/* QUEUE_CREATE: indices start at 0; the control block is cleared. Addresses are
 * of the queue's VMID, and stay mapped until it is destroyed. BUSY: queue is in
 * use. FAULT: the control block is not writable, or the ring not readable. */
struct mxgpu_msg_queue_create {
    uint32_t op;
    uint32_t queue;   /* doorbell number */
    uint32_t vmid;
    uint32_t priority; /* below mxgpu_msg_hello_resp.priorities */
    uint32_t ring_lo, ring_hi; /* multiple of 64 */
    uint32_t log2_packets;     /* 2 to 16 */
    uint32_t ctl_lo, ctl_hi;   /* struct mxgpu_queue_ctl */
    uint32_t vector;           /* MSI-X vector; 0xffffffff: none */
};

/* QUEUE_DESTROY: answered when nothing of the queue runs any more; packets in
 * flight are aborted without a signal. NOT_FOUND. */
struct mxgpu_msg_queue_destroy {
    uint32_t op;
    uint32_t queue;
};

/* QUEUE_RESET: as QUEUE_DESTROY, and then as QUEUE_CREATE with what that was
 * given: the control block is cleared, indices begin at 0, an error is gone.
 * QUEUE_PROFILE and QUEUE_LAUNCH are to be sent again. NOT_FOUND; FAULT: the
 * ring or the control block is not mapped any more, and the queue destroyed. */
struct mxgpu_msg_queue_reset {
    uint32_t op;
    uint32_t queue;
};

/* LOG_LEVEL: 0 errors, 1 warnings, 2 information (default), 3 debug. */
struct mxgpu_msg_log_level {
    uint32_t op;
    uint32_t level;
};

/*
 * QUEUE_PROFILE: where packets with MXGPU_PKT_PROFILE leave their records
 * (struct mxgpu_profile): packet n at base + (n & (records - 1)) * stride.
 * NOT_FOUND; BUSY: the queue has a packet in flight; FAULT: a record is not
 * writable.
 */
#define MXGPU_PROFILE_EXACT 1u /* dispatches count all accesses; it takes time */
struct mxgpu_msg_queue_profile {
    uint32_t op;
    uint32_t queue;
    uint32_t base_lo, base_hi; /* multiple of 64; 0: such packets are errors,
                                  and all that follows is 0 */
    uint32_t log2_records;     /* 0 to 12 */
    uint32_t stride;           /* multiple of 64, at least
                                  MXGPU_PROFILE_SIZE(units, samples) */
    uint32_t samples;          /* room in a record, at most 65536 */
    uint32_t interval;         /* CP_SAMPLE_INTERVAL; 0 with samples 0 */
    uint32_t flags;            /* MXGPU_PROFILE_* */
};

/*
 * QUEUE_LAUNCH: the queue, to which nothing was written yet, becomes the one
 * that runs what kernels of its VMID launch (launch.h). The ring, of addresses
 * of records, is all 0; it stays mapped, readable and writable until the queue
 * is destroyed. An error of the queue stops the queues whose packets wait for
 * grids as well. NOT_FOUND; BUSY: the queue was used, or the VMID has another
 * one; FAULT: the ring is not accessible.
 */
struct mxgpu_msg_queue_launch {
    uint32_t op;
    uint32_t queue;
    uint32_t ring_lo, ring_hi; /* uint64_t[], multiple of 64 */
    uint32_t log2_records;     /* 3 to 16 */
};

/*
 * CONTEXTS: memory of a VMID for dispatches that have to leave their slot in the
 * middle of what they do (docs/queues.md). It stays mapped, readable and writable
 * until another one is named, or VM_SET sent for the VMID; what is in it then is
 * the firmware's, and a dispatch whose context was changed or is not there stops
 * its queue. UNKNOWN_OP: the hardware cannot; BUSY: there is something in it.
 */
struct mxgpu_msg_contexts {
    uint32_t op;
    uint32_t vmid;
    uint32_t addr_lo, addr_hi; /* multiple of 64 */
    uint32_t size_lo, size_hi; /* likewise; 0: there is none any more. A dispatch
                                  that finds no room keeps its slot */
};

/*
 * QUEUE_HOLD: the queue begins no further packet; those in flight go on. The
 * answer says where it is now; it may be asked for as often as one likes.
 * NOT_FOUND.
 */
enum mxgpu_hold_state {
    MXGPU_HOLD_BUSY = 0,  /* packets are in flight, what follows will change */
    MXGPU_HOLD_STILL = 1, /* ... are not */
    MXGPU_HOLD_ERROR = 2, /* the queue has stopped: its control block says why */
};
struct mxgpu_msg_queue_hold {
    uint32_t op;
    uint32_t queue;
};
struct mxgpu_msg_queue_hold_resp {
    uint32_t status;
    uint32_t state;              /* enum mxgpu_hold_state */
    uint32_t index_lo, index_hi; /* the packet that is next */
    uint32_t tail_lo, tail_hi;   /* the doorbell's value */
    uint32_t inner; /* packets of its list that are done, if it is INDIRECT */
    uint32_t head;  /* records that a launch queue has taken from its ring */
};

/*
 * QUEUE_RESUME: a held queue goes on where the answer of a QUEUE_HOLD said,
 * whether it is still there or was created anew since, after a reset of the
 * device for instance: then the control block gets its read_index. The tail is
 * the doorbell's value, unless it has a greater one. NOT_FOUND; BUSY: it is not
 * held, is elsewhere while packets are in flight, or has stopped; FAULT: the
 * control block is not writable, and the queue has stopped.
 * With the index MXGPU_RESUME_HERE, and 0 in the other fields, a queue that was
 * only held goes on where it is: packets in flight may end between the answer and
 * the request, and those of a list would be executed again.
 */
#define MXGPU_RESUME_HERE (~0ull)

struct mxgpu_msg_queue_resume {
    uint32_t op;
    uint32_t queue;
    uint32_t index_lo, index_hi; /* as of the answer, all of them */
    uint32_t tail_lo, tail_hi;
    uint32_t inner;
    uint32_t head;
};

/*
 * UNIT_RESET: ends what a copy engine does, or each dispatch that has a block on
 * a compute unit, at that moment. Its packet is not signalled: its queue stops with
 * QERR_FAULT, fault ABORTED, as after any other fault, unless the packet was
 * complete before. All others go on, on that unit too. Answered when those queues
 * have stopped, and the unit is free of what it did. UNKNOWN_OP for a compute
 * unit: the hardware cannot tell (FEATURES.CU_SLOTS).
 */
enum mxgpu_reset_unit {
    MXGPU_RESET_COPY_ENGINE = 0,
    MXGPU_RESET_COMPUTE_UNIT = 1,
};
struct mxgpu_msg_unit_reset {
    uint32_t op;
    uint32_t kind;  /* enum mxgpu_reset_unit */
    uint32_t index; /* below its number in UNIT_CAPS */
};

MXGPU_ASSERT_SIZE(struct mxgpu_msg_unit_reset, 12);
MXGPU_ASSERT_SIZE(struct mxgpu_msg_queue_hold_resp, 32);
MXGPU_ASSERT_SIZE(struct mxgpu_msg_queue_resume, 32);
MXGPU_ASSERT_SIZE(struct mxgpu_msg_contexts, 24);
MXGPU_ASSERT_SIZE(struct mxgpu_msg_ping, 64);
MXGPU_ASSERT_SIZE(struct mxgpu_msg_queue_profile, 36);
MXGPU_ASSERT_SIZE(struct mxgpu_msg_queue_create, 40);
MXGPU_ASSERT_SIZE(struct mxgpu_msg_queue_launch, 20);

#endif
