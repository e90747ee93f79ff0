/* SPDX-License-Identifier: MIT */
/* The queues of a context: made as streams need them, shared when the device
 * has no more, freed with the context. */
#ifndef MC_CORE_QUEUES_H
#define MC_CORE_QUEUES_H

#include "queue.h"

/* The queue for a new stream: its own while the device has more. */
mcError_t mc_queue_acquire(McContext *ctx, unsigned priority, McQueue **out);
void mc_queue_release(McQueue *queue);
/* Waits for the functions that streams are calling; those that have not begun
 * are not called. False: one takes longer. limit_ms 0: as long as it takes. */
bool mc_queue_stop_functions(McContext *ctx, unsigned limit_ms);
/* Nobody uses the context any more. */
void mc_queue_free_all(McContext *ctx);

#endif
