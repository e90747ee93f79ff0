/* SPDX-License-Identifier: MIT */
/* Waiting for a value of a queue. */
#ifndef MC_CORE_WAIT_H
#define MC_CORE_WAIT_H

#include "queue.h"

/* Waits until the word reaches value, the device fails, or the context dies
 * (mcErrorContextIsDestroyed). blocking: sleep at once instead of spinning. */
mcError_t mc_queue_wait(McQueue *queue, uint64_t value, bool blocking);

/* The same, asleep, on behalf of another context: also until that one fails or
 * dies. */
mcError_t mc_queue_wait_for(McContext *waiter, McQueue *queue, uint64_t value);

/* mcErrorNotReady until the word reaches value or the device fails. */
mcError_t mc_queue_query(McQueue *queue, uint64_t value);

#endif
