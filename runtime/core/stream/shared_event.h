/* SPDX-License-Identifier: MIT */
/*
 * The state of an event that several processes use: a page of a file, with a
 * count of records and, for each of the last ones, how far it is. Records are
 * completed by host functions in their streams, and others sleep on the page.
 * A process that ends leaves its records incomplete; who waits for one of those
 * notices. Thread-safe. The page is other processes' too: nothing in it is
 * trusted.
 */
#ifndef MC_CORE_SHARED_EVENT_H
#define MC_CORE_SHARED_EVENT_H

#include "core/memory/directory.h"
#include "stream.h"

typedef struct McSharedEvent McSharedEvent;

mcError_t mc_shared_event_new(McSharedEvent **out);
/* What another process gave; share stays the caller's. */
mcError_t mc_shared_event_open(const McShare *share, McSharedEvent **out);
/* Work in streams keeps what it needs. */
void mc_shared_event_free(McSharedEvent *event);
/* What names it in other processes. False: no memory. */
bool mc_shared_event_token(McSharedEvent *event, McToken *token);

mcError_t mc_shared_event_record(McSharedEvent *event, McStream *stream);
/* Of the last record, whoever made it: mcErrorNotReady. */
mcError_t mc_shared_event_query(McSharedEvent *event);
/* On behalf of a context, whose errors end it. mcErrorUnknown: the process that
 * made the record ended before it was complete. */
mcError_t mc_shared_event_sync(McSharedEvent *event, McContext *ctx);
/* Later work of the stream waits; where the other process ended, no longer. */
mcError_t mc_shared_event_wait(McSharedEvent *event, McStream *stream);

#endif
