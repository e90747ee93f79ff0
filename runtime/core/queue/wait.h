/* SPDX-License-Identifier: MIT */
/* Waiting for a value of a queue. */
#ifndef MC_CORE_WAIT_H
#define MC_CORE_WAIT_H

#include "queue.h"

/* How long a waiter spins before it sleeps. */
#define MC_SPIN_MIN_NS 30000u
#define MC_SPIN_MAX_NS 480000u

/* How long the next ones spin, after one that spun for ns slept, too, and
 * waited nanoseconds in all. What a sleep costs differs widely: microseconds
 * on bare metal, half a millisecond where a virtual processor is halted and
 * woken. A wait that was over within the time that one may spin would have
 * ended sooner awake, and shows that the next ones are likely as short. */
static inline unsigned mc_wait_spin_next(unsigned ns, uint64_t waited)
{
    if (waited <= MC_SPIN_MAX_NS) {
        return ns > MC_SPIN_MAX_NS / 2 ? MC_SPIN_MAX_NS : ns * 2;
    }
    return ns / 2 < MC_SPIN_MIN_NS ? MC_SPIN_MIN_NS : ns / 2;
}

/* Of a new context. */
void mc_wait_init(McContext *ctx);

/* Waits until the word reaches value, the device fails, or the context dies
 * (mcErrorContextIsDestroyed). blocking: sleep at once instead of spinning. */
mcError_t mc_queue_wait(McQueue *queue, uint64_t value, bool blocking);

/* The same as one mcDeviceSchedule* says; Auto: as the context's flags do. */
mcError_t mc_queue_wait_as(McQueue *queue, uint64_t value, unsigned schedule);

/* The same, asleep, on behalf of another context: also until that one fails or
 * dies. */
mcError_t mc_queue_wait_for(McContext *waiter, McQueue *queue, uint64_t value);

/* mcErrorNotReady until the word reaches value or the device fails. */
mcError_t mc_queue_query(McQueue *queue, uint64_t value);

#endif
