/* SPDX-License-Identifier: MIT */
/* Queues that stopped: what they say becomes the context's error. */
#ifndef MC_CORE_POLL_H
#define MC_CORE_POLL_H

#include "queue.h"

/* Under the submit lock: of one queue, before more is submitted to it. */
void mc_queue_look(McQueue *queue);
/* Of all queues of the context; feeds them too. */
void mc_queue_poll(McContext *ctx);
/* The sticky error, after a look at the queues. */
mcError_t mc_context_check(McContext *ctx);

#endif
