/* SPDX-License-Identifier: MIT */
/*
 * Streams that capture: their work is not submitted, it becomes nodes of a
 * graph. A capture begins in one stream, its origin; other streams join it by
 * waiting for an event that was recorded in one of its streams.
 *
 * Each stream of a capture has a set of nodes, those its next node comes
 * behind; an event takes a copy of the set, a wait adds it to another one. One
 * lock guards all captures. It is taken only where something captures: all else
 * sees that nothing does by one load.
 */
#ifndef MC_CORE_CAPTURE_H
#define MC_CORE_CAPTURE_H

#include "core/graph/node_set.h"
#include "core/queue/queue.h"

/* What an event stands for that was last recorded in a capturing stream; part
 * of the event. All zero: it was not. */
typedef struct McCapturedPoint {
    atomic_bool set;
    uint64_t capture; /* id; under the lock, as what follows */
    McNodeSet nodes;
} McCapturedPoint;

/* ---- for everybody ---- */

/* Captures under way that are not relaxed. */
extern atomic_uint mc_captures_strict;

static inline bool mc_capturing(const McStream *stream)
{
    return __builtin_expect(
        atomic_load_explicit(&stream->member, memory_order_relaxed) != NULL,
        0);
}

/* Something the stream would do or is asked for that captures do not know:
 * mcErrorStreamCaptureUnsupported, and its capture is invalid. */
mcError_t mc_capture_refuse(McStream *stream);

static inline mcError_t mc_capture_none(McStream *stream)
{
    return mc_capturing(stream) ? mc_capture_refuse(stream) : mcSuccess;
}

/* A call of this thread that captures do not see: modes say who may make it
 * while which captures are under way. mcErrorStreamCaptureUnsupported: it may
 * not, and they are invalid. */
mcError_t mc_capture_check_unsafe(void);

static inline mcError_t mc_capture_unsafe(void)
{
    return __builtin_expect(atomic_load(&mc_captures_strict) != 0, 0)
               ? mc_capture_check_unsafe()
               : mcSuccess;
}

/* The legacy default stream is used. mcErrorStreamCaptureImplicit: a stream
 * that is ordered with it captures; with "invalidate", no more. */
mcError_t mc_capture_legacy(McContext *ctx, bool invalidate);
/* The whole device is waited for: mcErrorStreamCaptureUnsupported when one of
 * its streams captures, and those captures are invalid. */
mcError_t mc_capture_device(McContext *ctx);

/* ---- of streams that capture ---- */

/*
 * Work of the stream, as a node behind what it captured before. On every error
 * the capture is invalid: the work is missing in it.
 * mcErrorStreamCaptureInvalidated: it was before.
 */
mcError_t mc_capture_node(McStream *stream, const McNodeParams *params);

/* An event is recorded in the capturing stream. */
mcError_t mc_capture_record(McStream *stream, McCapturedPoint *point);
/*
 * The stream waits for an event; it captures, or the event was recorded while
 * one did. mcErrorStreamCaptureIsolation: it was not in this capture;
 * mcErrorStreamCaptureMerge: it was in another one; mcErrorCapturedEvent: in
 * one that has ended; mcErrorStreamCaptureImplicit: this is the legacy default
 * stream.
 */
mcError_t mc_capture_wait(McStream *stream, const McCapturedPoint *point);
/* The event is asked for: mcErrorCapturedEvent, and its capture is invalid. */
mcError_t mc_capture_point_used(const McCapturedPoint *point);
/* The event is recorded in a stream that does not capture. */
void mc_capture_point_clear(McCapturedPoint *point);
/* Nobody has the event any more. */
void mc_capture_point_free(McCapturedPoint *point);

/* The stream goes. If a capture began in it, that is over. */
void mc_capture_leave(McStream *stream);

/* ---- captures ---- */

/* mcErrorIllegalState: it captures already; mcErrorStreamCaptureUnsupported:
 * the legacy default stream. */
mcError_t mc_capture_begin(McStream *stream, mcStreamCaptureMode mode);
/*
 * These change nothing: mcErrorIllegalState, it does not capture;
 * mcErrorStreamCaptureUnmatched, it is not the origin;
 * mcErrorStreamCaptureWrongThread; mcErrorInvalidValue, graph is NULL. With
 * mcErrorStreamCaptureInvalidated and mcErrorStreamCaptureUnjoined the capture
 * is over too, and there is no graph.
 */
mcError_t mc_capture_end(McStream *stream, mcGraph_t *graph);

typedef struct McCaptureInfo {
    mcStreamCaptureStatus status;
    unsigned long long id; /* the rest: when it is active */
    mcGraph_t graph;
    const mcGraphNode_t *nodes; /* until the set changes */
    size_t count;
} McCaptureInfo;

void mc_capture_info(McStream *stream, McCaptureInfo *info);
/* The nodes its next one comes behind: more, or others. mcErrorIllegalState: it
 * does not capture; mcErrorInvalidValue: a node is not of its graph. */
mcError_t mc_capture_update(McStream *stream, const mcGraphNode_t *nodes,
                            size_t count, bool replace);

/* Returns the thread's mode, which is then another. */
mcStreamCaptureMode mc_capture_exchange(mcStreamCaptureMode mode);

#endif
