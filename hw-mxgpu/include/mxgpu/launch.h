/* SPDX-License-Identifier: MIT */
/*
 * Grids that kernels launch.
 *
 * Each grid of such a program has a record in front of its arguments: 64 bytes
 * of struct mxgpu_launch, 64 bytes of a DISPATCH packet, then the arguments,
 * so that a kernel finds the record of its own grid below MXGPU_CSR_ARGS. A
 * kernel fills the record of a new grid, adds 1 to "launched" of its own one
 * (atomically), and puts the address of the record into the ring that
 * QUEUE_LAUNCH (msg.h) named: entry (tail & mask), where tail is a count that
 * kernels take numbers from. An entry is 0 until it is written, and the
 * firmware writes 0 to it when it has taken it.
 *
 * The firmware runs the packets of the records in the launch queue. A grid is
 * complete when its own blocks have ended and all grids that it launched are
 * complete. Then the firmware sets "state" to FREE and adds 1 to "sequence" in
 * one access, starts the grid that waits for this one, and adds 1 to
 * "completed" of the parent. A packet with MXGPU_PKT_LAUNCHES is complete, and
 * signalled, when its grid is.
 */
#ifndef MXGPU_LAUNCH_H
#define MXGPU_LAUNCH_H

#include "packets.h"

#define MXGPU_LAUNCH_ARGS  128 /* from a record to its arguments */
#define MXGPU_LAUNCH_ALIGN 64  /* of a record */
#define MXGPU_LAUNCH_DEPTH 24  /* levels below a packet of a queue */
/* Kernels of grids above that depth may wait for what they launched; without an
 * area for contexts (msg.h). */
#define MXGPU_LAUNCH_WAIT_DEPTH 1

enum mxgpu_launch_state {
    MXGPU_LAUNCH_FREE = 0,
    MXGPU_LAUNCH_TAKEN = 1, /* by a kernel, or the grid runs */
    MXGPU_LAUNCH_ENDED = 2, /* its blocks have: it waits for its children */
    MXGPU_LAUNCH_FAILED = 3, /* of a packet that runs: a grid failed, nothing
                                that was launched is complete any more */
};

struct mxgpu_launch {
    uint64_t parent;     /* record of the grid that launched it; 0: the grid is
                            that of a packet in a queue */
    uint32_t launched;   /* by kernels of this grid */
    uint32_t completed;  /* of those; the firmware counts */
    uint32_t state;      /* enum mxgpu_launch_state */
    uint32_t sequence;   /* how often a grid of this record was complete */
    uint64_t after;      /* record of the grid it begins after; 0: none. No
                            other record may name the same one */
    uint32_t after_sequence; /* that grid is complete when its sequence is
                                another one */
    uint32_t depth;      /* 0: of a packet; then 1 more than the parent's */
    uint64_t next;       /* the firmware's: who begins after it; 0 at first */
    uint64_t link;       /* the firmware's: the next that can begin */
    uint16_t private_kib; /* kernels' own: of the packets that they launch */
    uint16_t flags;
    uint32_t waiting;     /* threads of the grid that wait for their children */
};
MXGPU_ASSERT_SIZE(struct mxgpu_launch, 64);
MXGPU_ASSERT_OFFSET(struct mxgpu_launch, state, 16);
MXGPU_ASSERT_OFFSET(struct mxgpu_launch, next, 40);

/* A record; arguments follow. */
struct mxgpu_launch_record {
    struct mxgpu_launch launch;
    struct mxgpu_packet_dispatch packet;
};
MXGPU_ASSERT_SIZE(struct mxgpu_launch_record, MXGPU_LAUNCH_ARGS);

#endif
