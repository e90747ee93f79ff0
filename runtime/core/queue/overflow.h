/* SPDX-License-Identifier: MIT */
/*
 * Packets that wait on the host for room in their queue's ring, with their
 * arguments: nobody who submits waits, unless memory is short. They keep their
 * order and have their values; the queue's thread moves them, woken by the
 * interrupts of every 256th packet, and so does everybody who submits to the
 * queue or looks at the context's queues meanwhile. While there are none,
 * submitting costs one comparison more and nothing is locked or allocated.
 *
 * All functions are called with the context's submit lock held.
 */
#ifndef MC_CORE_OVERFLOW_H
#define MC_CORE_OVERFLOW_H

#include "queue.h"

/* Of a queue; more than that is being short of memory. */
#define MC_OVERFLOW_BYTES (256u << 20)

struct McPending {
    struct McPending *next;
    union mxgpu_packet packet;
    char label[MC_LABEL_SIZE];
    unsigned stage_size; /* multiple of 64 */
    uint8_t stage[] __attribute__((aligned(16)));
};

/* Makes "total" entries for a submission: first the waits that order it, then
 * the caller's packets, the first with stage_size bytes. False: no memory. */
bool mc_overflow_reserve(McSubmit *submit, unsigned total, unsigned packets,
                         unsigned stage_size);
/* Frees the entries for waits that turned out to be unnecessary. */
void mc_overflow_skip(McSubmit *submit, unsigned packets);
/* Appends a packet, flags and signal set, by the next of these entries. */
void mc_overflow_push(McSubmit *submit, const union mxgpu_packet *packet);
/* What was reserved and not used. */
void mc_overflow_end(McSubmit *submit);
/* Moves what fits and rings. False: some are left. */
bool mc_overflow_feed(McQueue *queue);
void mc_overflow_free(McQueue *queue);

#endif
