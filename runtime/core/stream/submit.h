/* SPDX-License-Identifier: MIT */
/* Packets on their way to a queue, in order with the default stream. */
#ifndef MC_CORE_SUBMIT_H
#define MC_CORE_SUBMIT_H

#include "core/queue/queue.h"

/*
 * Makes room for that many packets and stage bytes, puts the waits in front
 * that order the stream with the default stream, and takes the submit lock,
 * which mc_submit_end releases. On error nothing is held.
 */
mcError_t mc_submit_begin(McStream *stream, unsigned packets,
                          unsigned stage_bytes, McSubmit *submit);
/* Completes header flags and signal, and writes the packet. Returns its value:
 * the queue's word reaches it when the packet is complete. */
uint64_t mc_submit_push(McSubmit *submit, union mxgpu_packet *packet,
                        unsigned flags);
/* The name under which errors of the packet pushed next are reported. */
char *mc_submit_label(McSubmit *submit);
void mc_submit_end(McSubmit *submit);

/* A value of the stream's queue that is reached when all is complete that the
 * stream's next packet would wait for. Nearly always that of its last packet;
 * only when the default stream has still to be waited for, or with "now" set,
 * an empty packet is submitted. */
mcError_t mc_submit_point(McStream *stream, bool now, uint64_t *value);

#endif
