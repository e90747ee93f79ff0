/* SPDX-License-Identifier: MIT */
/*
 * What the process does with memory and queues, for live.h: where it is allocated
 * and freed, and which work may still use what was freed.
 */
#ifndef MC_CHECK_WATCH_H
#define MC_CHECK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "live.h"

typedef struct McQueue McQueue;

/* Starts watching. */
void mc_watch_start(void);
/* Of the calling thread, without frames of the runtime. */
void mc_trace_take(McTrace *trace);

void mc_watch_queue(McQueue *queue, bool start);
/* A packet with that value was submitted. */
void mc_watch_submitted(McQueue *queue, uint64_t value);
/* Tells a checker in QEMU which work has ended since. */
void mc_watch_settle(void);

#endif
