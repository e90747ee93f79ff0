/* SPDX-License-Identifier: MIT */
#include "capture.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/context/thread.h"

typedef struct Capture {
    struct Capture *next;
    uint64_t id;
    McGraph *graph;
    mcStreamCaptureMode mode;
    uint64_t thread; /* that began it */
    bool invalid;
    McStream *origin;
    McMember *members; /* of its streams */
    McNodeSet dropped; /* what sets were made to forget: it counts as joined */
} Capture;

/* A stream of a capture. */
struct McMember {
    McMember *next;
    Capture *capture;
    McStream *stream; /* NULL: destroyed since; its work may still be joined */
    McNodeSet set;    /* what its next node comes behind */
};

atomic_uint mc_captures_strict;

/* Of all captures. The lock of graphs is taken below it. */
static pthread_mutex_t capture_lock = PTHREAD_MUTEX_INITIALIZER;
static Capture *captures;
static uint64_t capture_ids;
static atomic_ullong thread_ids;

/* Under the lock, as what follows. NULL: it is over, or there was none. */
static Capture *capture_of(const McCapturedPoint *point)
{
    Capture *c = atomic_load(&point->set) ? captures : NULL;

    while (c && c->id != point->capture) {
        c = c->next;
    }
    return c;
}

static mcError_t invalidate(Capture *c, mcError_t error)
{
    if (!c->invalid) {
        mc_error("capture %llu is invalid: %d", (unsigned long long)c->id,
                 (int)error);
    }
    c->invalid = true;
    return error;
}

static McMember *member_of(const McStream *stream)
{
    return atomic_load_explicit(&stream->member, memory_order_relaxed);
}

/* Of those with that property, one more or less. */
static void count(McStream *stream, int more)
{
    atomic_fetch_add(&stream->ctx->capturing, more);
    if (!(stream->flags & mcStreamNonBlocking)) {
        atomic_fetch_add(&stream->ctx->capturing_blocking, more);
    }
}

static mcError_t join(Capture *c, McStream *stream, const McNodeSet *set)
{
    McMember *member = calloc(1, sizeof(*member));

    if (!member || (set && !mc_node_set_copy(&member->set, set))) {
        free(member);
        return mcErrorMemoryAllocation;
    }
    member->capture = c;
    member->stream = stream;
    member->next = c->members;
    c->members = member;
    count(stream, 1);
    atomic_store(&stream->member, member);
    return mcSuccess;
}

/* Takes it out of the list, and its streams out of it. */
static void capture_over(Capture *c)
{
    Capture **link = &captures;

    while (*link != c) {
        link = &(*link)->next;
    }
    *link = c->next;
    if (c->mode != mcStreamCaptureModeRelaxed) {
        atomic_fetch_sub(&mc_captures_strict, 1);
    }
    while (c->members) {
        McMember *member = c->members;

        c->members = member->next;
        if (member->stream) {
            count(member->stream, -1);
            atomic_store(&member->stream->member, NULL);
        }
        mc_node_set_free(&member->set);
        free(member);
    }
    mc_node_set_free(&c->dropped);
}

/* ... and out of the world; not under the lock. */
static void capture_free(Capture *c, bool keep_graph)
{
    if (!keep_graph) {
        mc_graph_drop(c->graph);
    }
    mc_handle_put(c->graph);
    free(c);
}

/* ---- what may not be ---- */

mcError_t mc_capture_refuse(McStream *stream)
{
    mcError_t error = mcSuccess;

    pthread_mutex_lock(&capture_lock);
    McMember *member = member_of(stream);
    if (member) {
        error = member->capture->invalid
                    ? mcErrorStreamCaptureInvalidated
                    : invalidate(member->capture,
                                 mcErrorStreamCaptureUnsupported);
    }
    pthread_mutex_unlock(&capture_lock);
    return error;
}

static uint64_t this_thread(void)
{
    McThread *thread = mc_thread();

    if (!thread->number) {
        thread->number = atomic_fetch_add(&thread_ids, 1) + 1;
    }
    return thread->number;
}

mcError_t mc_capture_check_unsafe(void)
{
    mcStreamCaptureMode mode = mc_thread()->capture_mode;
    uint64_t thread = this_thread();
    mcError_t error = mcSuccess;

    if (mode == mcStreamCaptureModeRelaxed) {
        return mcSuccess;
    }
    pthread_mutex_lock(&capture_lock);
    for (Capture *c = captures; c; c = c->next) {
        bool other = c->mode == mcStreamCaptureModeGlobal &&
                     mode == mcStreamCaptureModeGlobal;

        if (c->mode != mcStreamCaptureModeRelaxed &&
            (c->thread == thread || other)) {
            error = invalidate(c, mcErrorStreamCaptureUnsupported);
        }
    }
    pthread_mutex_unlock(&capture_lock);
    return error;
}

/* A stream of the capture belongs to the context; blocking: and is ordered with
 * its legacy default stream. */
static bool concerns(const Capture *c, const McContext *ctx, bool blocking)
{
    for (const McMember *m = c->members; m; m = m->next) {
        if (m->stream && m->stream->ctx == ctx &&
            !(blocking && m->stream->flags & mcStreamNonBlocking)) {
            return true;
        }
    }
    return false;
}

static void invalidate_of(const McContext *ctx, bool blocking, mcError_t error)
{
    pthread_mutex_lock(&capture_lock);
    for (Capture *c = captures; c; c = c->next) {
        if (concerns(c, ctx, blocking)) {
            invalidate(c, error);
        }
    }
    pthread_mutex_unlock(&capture_lock);
}

mcError_t mc_capture_legacy(McContext *ctx, bool change)
{
    if (__builtin_expect(!atomic_load(&ctx->capturing_blocking), 1)) {
        return mcSuccess;
    }
    if (change) {
        invalidate_of(ctx, true, mcErrorStreamCaptureImplicit);
    }
    return mcErrorStreamCaptureImplicit;
}

mcError_t mc_capture_device(McContext *ctx)
{
    if (__builtin_expect(!atomic_load(&ctx->capturing), 1)) {
        return mcSuccess;
    }
    invalidate_of(ctx, false, mcErrorStreamCaptureUnsupported);
    return mcErrorStreamCaptureUnsupported;
}

/* ---- work ---- */

/* Under the lock: why nothing can be added, if so. */
static mcError_t check_member(const McMember *member)
{
    if (!member) {
        return mcErrorIllegalState; /* another thread has just ended it */
    }
    return member->capture->invalid ? mcErrorStreamCaptureInvalidated
                                    : mcSuccess;
}

mcError_t mc_capture_node(McStream *stream, const McNodeParams *params)
{
    McGraphNode *node;

    pthread_mutex_lock(&capture_lock);
    McMember *member = member_of(stream);
    mcError_t error = check_member(member);
    if (error == mcSuccess) {
        error = mc_graph_add(member->capture->graph, member->set.nodes,
                             member->set.count, params, &node);
        if (error == mcSuccess &&
            !mc_node_set_only(&member->set, (mcGraphNode_t)node)) {
            error = mcErrorMemoryAllocation;
        }
        if (error != mcSuccess) {
            invalidate(member->capture, error);
        }
    }
    pthread_mutex_unlock(&capture_lock);
    return error;
}

/* ---- events ---- */

mcError_t mc_capture_record(McStream *stream, McCapturedPoint *point)
{
    pthread_mutex_lock(&capture_lock);
    McMember *member = member_of(stream);
    mcError_t error = check_member(member);
    if (error == mcSuccess) {
        mc_node_set_free(&point->nodes);
        if (mc_node_set_copy(&point->nodes, &member->set)) {
            point->capture = member->capture->id;
            atomic_store(&point->set, true);
        } else {
            error = invalidate(member->capture, mcErrorMemoryAllocation);
        }
    }
    pthread_mutex_unlock(&capture_lock);
    return error;
}

/* from: the capture of the event, if it is there still. */
static mcError_t wait_member(McMember *member, Capture *from,
                             const McCapturedPoint *point)
{
    mcError_t error = check_member(member);

    if (error != mcSuccess) {
        return error;
    }
    if (!from) {
        return invalidate(member->capture, mcErrorStreamCaptureIsolation);
    }
    if (from != member->capture) {
        invalidate(from, mcErrorStreamCaptureMerge);
        return invalidate(member->capture, mcErrorStreamCaptureMerge);
    }
    return mc_node_set_add(&member->set, &point->nodes)
               ? mcSuccess
               : invalidate(from, mcErrorMemoryAllocation);
}

static mcError_t wait_other(McStream *stream, Capture *from,
                            const McCapturedPoint *point)
{
    if (!from) {
        return mcErrorCapturedEvent;
    }
    if (from->invalid) {
        return mcErrorStreamCaptureInvalidated;
    }
    /* It cannot capture, and to wait would mean to. */
    if (stream->null) {
        return invalidate(from, mcErrorStreamCaptureImplicit);
    }
    mcError_t error = join(from, stream, &point->nodes);
    return error == mcSuccess ? error : invalidate(from, error);
}

mcError_t mc_capture_wait(McStream *stream, const McCapturedPoint *point)
{
    mcError_t error;

    pthread_mutex_lock(&capture_lock);
    McMember *member = member_of(stream);
    Capture *from = capture_of(point);
    if (member) {
        error = wait_member(member, from, point);
    } else {
        error = wait_other(stream, from, point);
    }
    pthread_mutex_unlock(&capture_lock);
    return error;
}

mcError_t mc_capture_point_used(const McCapturedPoint *point)
{
    pthread_mutex_lock(&capture_lock);
    Capture *from = capture_of(point);
    if (from) {
        invalidate(from, mcErrorCapturedEvent);
    }
    pthread_mutex_unlock(&capture_lock);
    return mcErrorCapturedEvent;
}

void mc_capture_point_clear(McCapturedPoint *point)
{
    pthread_mutex_lock(&capture_lock);
    atomic_store(&point->set, false);
    mc_node_set_free(&point->nodes);
    pthread_mutex_unlock(&capture_lock);
}

void mc_capture_point_free(McCapturedPoint *point)
{
    mc_node_set_free(&point->nodes);
}

/* ---- captures ---- */

mcError_t mc_capture_begin(McStream *stream, mcStreamCaptureMode mode)
{
    if (stream->null) {
        return mcErrorStreamCaptureUnsupported;
    }
    Capture *c = calloc(1, sizeof(*c));
    if (!c) {
        return mcErrorMemoryAllocation;
    }
    mcError_t error = mc_graph_new(&c->graph);
    if (error != mcSuccess) {
        free(c);
        return error;
    }
    c->mode = mode;
    c->thread = this_thread();
    c->origin = stream;
    pthread_mutex_lock(&capture_lock);
    error = member_of(stream) ? mcErrorIllegalState : join(c, stream, NULL);
    if (error == mcSuccess) {
        c->id = ++capture_ids;
        c->next = captures;
        captures = c;
        if (mode != mcStreamCaptureModeRelaxed) {
            atomic_fetch_add(&mc_captures_strict, 1);
        }
    }
    pthread_mutex_unlock(&capture_lock);
    if (error != mcSuccess) {
        capture_free(c, false);
    }
    return error;
}

/* Whether all that its streams captured comes before the last node of its
 * origin, but what somebody has dropped. */
static mcError_t check_joined(const Capture *c)
{
    McNodeSet ends = {0}, before = {0};
    bool enough = mc_node_set_add(&before, &c->dropped);

    for (const McMember *m = c->members; m && enough; m = m->next) {
        enough = mc_node_set_add(m->stream == c->origin ? &before : &ends,
                                 &m->set);
    }
    mcError_t error = mcErrorMemoryAllocation;
    if (enough) {
        error = mc_nodes_come_before(c->graph, &ends, &before);
    }
    mc_node_set_free(&ends);
    mc_node_set_free(&before);
    return error == mcErrorInvalidValue ? mcErrorStreamCaptureUnjoined : error;
}

/* The user may have destroyed it. */
static bool graph_there(const Capture *c)
{
    size_t nodes = 0;

    return mc_graph_nodes(c->graph, false, NULL, &nodes) == mcSuccess;
}

static mcError_t check_end(const McMember *member, const mcGraph_t *graph)
{
    if (!member) {
        return mcErrorIllegalState;
    }
    if (member->stream != member->capture->origin) {
        return mcErrorStreamCaptureUnmatched;
    }
    if (member->capture->mode != mcStreamCaptureModeRelaxed &&
        member->capture->thread != this_thread()) {
        return mcErrorStreamCaptureWrongThread;
    }
    return graph ? mcSuccess : mcErrorInvalidValue;
}

mcError_t mc_capture_end(McStream *stream, mcGraph_t *graph)
{
    Capture *c = NULL;

    pthread_mutex_lock(&capture_lock);
    McMember *member = member_of(stream);
    mcError_t error = check_end(member, graph);
    if (error == mcSuccess) {
        c = member->capture;
        error = c->invalid || !graph_there(c)
                    ? mcErrorStreamCaptureInvalidated
                    : check_joined(c);
        capture_over(c);
    }
    pthread_mutex_unlock(&capture_lock);
    if (c) {
        *graph = error == mcSuccess ? (mcGraph_t)c->graph : NULL;
        capture_free(c, error == mcSuccess);
    }
    return error;
}

void mc_capture_leave(McStream *stream)
{
    Capture *over = NULL;

    pthread_mutex_lock(&capture_lock);
    McMember *member = member_of(stream);
    if (member && member->capture->origin == stream) {
        over = member->capture;
        capture_over(over);
    } else if (member) {
        count(stream, -1);
        atomic_store(&stream->member, NULL);
        member->stream = NULL;
    }
    pthread_mutex_unlock(&capture_lock);
    if (over) {
        capture_free(over, false);
    }
}

void mc_capture_info(McStream *stream, McCaptureInfo *info)
{
    *info = (McCaptureInfo){.status = mcStreamCaptureStatusNone};
    pthread_mutex_lock(&capture_lock);
    McMember *member = member_of(stream);
    if (member && member->capture->invalid) {
        info->status = mcStreamCaptureStatusInvalidated;
    } else if (member) {
        *info = (McCaptureInfo){
            .status = mcStreamCaptureStatusActive,
            .id = member->capture->id,
            .graph = (mcGraph_t)member->capture->graph,
            .nodes = member->set.nodes,
            .count = member->set.count,
        };
    }
    pthread_mutex_unlock(&capture_lock);
}

mcError_t mc_capture_update(McStream *stream, const mcGraphNode_t *nodes,
                            size_t count, bool replace)
{
    McNodeSet given = {0};

    pthread_mutex_lock(&capture_lock);
    McMember *member = member_of(stream);
    mcError_t error = check_member(member);
    if (error == mcSuccess) {
        error = mc_node_set_of(&given, member->capture->graph, nodes, count);
    }
    if (error == mcSuccess && replace) {
        if (mc_node_set_add(&member->capture->dropped, &member->set)) {
            McNodeSet old = member->set;

            member->set = given;
            given = old;
        } else {
            error = mcErrorMemoryAllocation;
        }
    } else if (error == mcSuccess && !mc_node_set_add(&member->set, &given)) {
        error = mcErrorMemoryAllocation;
    }
    pthread_mutex_unlock(&capture_lock);
    mc_node_set_free(&given);
    return error;
}

mcStreamCaptureMode mc_capture_exchange(mcStreamCaptureMode mode)
{
    McThread *thread = mc_thread();
    mcStreamCaptureMode old = thread->capture_mode;

    thread->capture_mode = mode;
    return old;
}
