/* SPDX-License-Identifier: MIT */
/* Events, and the words their time stamps are written to. */
#ifndef MC_CORE_EVENT_H
#define MC_CORE_EVENT_H

#include "capture.h"
#include "shared_event.h"
#include "stream.h"

mcError_t mc_slots_new(McContext *ctx, McSlots **out);
void mc_slots_free(McSlots *slots);

typedef struct McEvent {
    McHandle handle;
    unsigned flags;
    McCapturedPoint captured; /* when that is set, nothing else counts */
    McSharedEvent *shared; /* of several processes: nothing else counts */
    pthread_mutex_t lock; /* of the rest */
    uint64_t *stamp;      /* device clock, ns */
    McQueue *queue;       /* NULL: never recorded */
    uint64_t value;
} McEvent;

mcError_t mc_event_new(McContext *ctx, unsigned flags, McEvent **out);
/* Of another process: takes shared over, also when it fails. */
mcError_t mc_event_import(McContext *ctx, McSharedEvent *shared,
                          McEvent **out);
/* In a capturing stream it is captured. */
mcError_t mc_event_record(McEvent *event, McStream *stream);
mcError_t mc_event_wait(McStream *stream, McEvent *event);
/* The same as work of the graph that the stream captures;
 * mcErrorInvalidValue: it does not. */
mcError_t mc_event_record_external(McEvent *event, McStream *stream);
mcError_t mc_event_wait_external(McStream *stream, McEvent *event);
/* These of an event that was captured: mcErrorCapturedEvent. */
mcError_t mc_event_query(McEvent *event);
mcError_t mc_event_sync(McEvent *event);
mcError_t mc_event_elapsed(float *ms, McEvent *start, McEvent *stop);

#endif
