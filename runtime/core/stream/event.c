/* SPDX-License-Identifier: MIT */
#include "event.h"

#include <stdlib.h>

#include "core/context/error.h"
#include "core/queue/poll.h"
#include "core/queue/wait.h"
#include "submit.h"

/* ---- words for time stamps ---- */

#define SLOT_TRIES 4
#define SLOT_PAGE  KMD_PAGE_SIZE
#define PAGE_SLOTS (SLOT_PAGE / sizeof(uint64_t))

typedef struct FreeSlot {
    struct FreeSlot *next;
    uint64_t *word;
    McQueue *queue; /* writes it when value is reached; NULL: nobody does */
    uint64_t value;
} FreeSlot;

typedef struct SlotPage {
    struct SlotPage *next;
    McPinned pinned;
    unsigned used;
} SlotPage;

struct McSlots {
    McContext *ctx;
    pthread_mutex_t lock;
    SlotPage *pages;
    FreeSlot *free, *last; /* in the order they were given back */
};

mcError_t mc_slots_new(McContext *ctx, McSlots **out)
{
    McSlots *slots = calloc(1, sizeof(*slots));

    if (!slots) {
        return mcErrorMemoryAllocation;
    }
    slots->ctx = ctx;
    pthread_mutex_init(&slots->lock, NULL);
    *out = slots;
    return mcSuccess;
}

void mc_slots_free(McSlots *slots)
{
    if (!slots) {
        return;
    }
    while (slots->pages) {
        SlotPage *page = slots->pages;

        slots->pages = page->next;
        mc_pinned_free(slots->ctx, &page->pinned);
        free(page);
    }
    while (slots->free) {
        FreeSlot *slot = slots->free;

        slots->free = slot->next;
        free(slot);
    }
    pthread_mutex_destroy(&slots->lock);
    free(slots);
}

static mcError_t page_add(McSlots *slots)
{
    SlotPage *page = calloc(1, sizeof(*page));

    if (!page) {
        return mcErrorMemoryAllocation;
    }
    int err = mc_pinned_new(slots->ctx, SLOT_PAGE, &page->pinned);
    if (err) {
        free(page);
        return mc_error_from_kmd(err);
    }
    page->next = slots->pages;
    slots->pages = page;
    return mcSuccess;
}

/* Under the lock. */
static void slot_append(McSlots *slots, FreeSlot *slot)
{
    slot->next = NULL;
    if (slots->free) {
        slots->last->next = slot;
    } else {
        slots->free = slot;
    }
    slots->last = slot;
}

static mcError_t slot_get(McSlots *slots, uint64_t **word)
{
    mcError_t error = mcSuccess;

    pthread_mutex_lock(&slots->lock);
    /* A word is free for use when the packet that was to write it is complete.
     * Words are queued by age: if the oldest few are not free, none may be. */
    for (unsigned i = 0; slots->free && i < SLOT_TRIES; i++) {
        FreeSlot *slot = slots->free;

        slots->free = slot->next;
        if (!slot->queue || mc_queue_reached(slot->queue, slot->value)) {
            *word = slot->word;
            free(slot);
            goto out;
        }
        slot_append(slots, slot);
    }
    if (!slots->pages || slots->pages->used == PAGE_SLOTS) {
        error = page_add(slots);
        if (error != mcSuccess) {
            goto out;
        }
    }
    *word = (uint64_t *)slots->pages->pinned.memory + slots->pages->used++;
out:
    pthread_mutex_unlock(&slots->lock);
    return error;
}

static void slot_put(McSlots *slots, uint64_t *word, McQueue *queue,
                     uint64_t value)
{
    FreeSlot *slot = malloc(sizeof(*slot));

    if (!slot) {
        return; /* the word is lost until the context goes */
    }
    *slot = (FreeSlot){.word = word, .queue = queue, .value = value};
    pthread_mutex_lock(&slots->lock);
    slot_append(slots, slot);
    pthread_mutex_unlock(&slots->lock);
}

/* ---- events ---- */

static void event_destroy(McHandle *handle)
{
    McEvent *event = (McEvent *)handle;
    McContext *ctx = event->handle.ctx;

    mc_capture_point_free(&event->captured);
    if (event->shared) {
        mc_shared_event_free(event->shared);
    }
    if (event->stamp && !atomic_load(&ctx->dying)) {
        slot_put(ctx->slots, event->stamp, event->queue, event->value);
    }
    pthread_mutex_destroy(&event->lock);
    free(event);
}

static void event_add(McContext *ctx, McEvent *event)
{
    pthread_mutex_init(&event->lock, NULL);
    mc_handle_add(&event->handle, MC_HANDLE_EVENT, ctx, event_destroy);
}

mcError_t mc_event_new(McContext *ctx, unsigned flags, McEvent **out)
{
    McEvent *event = calloc(1, sizeof(*event));
    mcError_t error = mcSuccess;

    if (!event) {
        return mcErrorMemoryAllocation;
    }
    event->flags = flags;
    if (flags & mcEventInterprocess) {
        error = mc_shared_event_new(&event->shared);
    } else if (!(flags & mcEventDisableTiming)) {
        error = slot_get(ctx->slots, &event->stamp);
    }
    if (error != mcSuccess) {
        free(event);
        return error;
    }
    event_add(ctx, event);
    *out = event;
    return mcSuccess;
}

mcError_t mc_event_import(McContext *ctx, McSharedEvent *shared, McEvent **out)
{
    McEvent *event = calloc(1, sizeof(*event));

    if (!event) {
        mc_shared_event_free(shared);
        return mcErrorMemoryAllocation;
    }
    event->flags = mcEventInterprocess | mcEventDisableTiming;
    event->shared = shared;
    event_add(ctx, event);
    *out = event;
    return mcSuccess;
}

/* The node of a graph that records it or waits for it. */
static mcError_t capture_external(McEvent *event, McStream *stream,
                                  mcGraphNodeType type)
{
    McNodeParams params = {
        .type = type,
        .device = stream->ctx->device,
        .event = (mcEvent_t)event,
    };

    return mc_capturing(stream) ? mc_capture_node(stream, &params)
                                : mcErrorInvalidValue;
}

static bool is_captured(const McEvent *event)
{
    return __builtin_expect(atomic_load(&event->captured.set), 0);
}

mcError_t mc_event_record_external(McEvent *event, McStream *stream)
{
    return event->handle.ctx == stream->ctx
               ? capture_external(event, stream, mcGraphNodeTypeEventRecord)
               : mcErrorInvalidHandle;
}

mcError_t mc_event_wait_external(McStream *stream, McEvent *event)
{
    return capture_external(event, stream, mcGraphNodeTypeWaitEvent);
}

mcError_t mc_event_record(McEvent *event, McStream *stream)
{
    McSubmit submit;
    union mxgpu_packet packet = {.header = {.type = MXGPU_PKT_NOP}};

    if (stream->ctx != event->handle.ctx) {
        return mcErrorInvalidHandle;
    }
    if (mc_capturing(stream)) {
        return mc_capture_record(stream, &event->captured);
    }
    if (is_captured(event)) {
        mc_capture_point_clear(&event->captured);
    }
    if (event->shared) {
        return mc_shared_event_record(event->shared, stream);
    }
    mcError_t error = mc_submit_begin(stream, 1, 0, &submit);
    if (error != mcSuccess) {
        return error;
    }
    if (event->stamp) {
        packet.timestamp.type = MXGPU_PKT_TIMESTAMP;
        packet.timestamp.addr = (uintptr_t)event->stamp;
    }
    /* Others are found by spinning, or by the packet a sleeper adds. */
    uint64_t value = mc_submit_push(&submit, &packet,
                                    event->flags & mcEventBlockingSync
                                        ? MXGPU_PKT_IRQ
                                        : 0);
    /* Still under the submit lock: records of several threads are in order. */
    pthread_mutex_lock(&event->lock);
    event->queue = submit.queue;
    event->value = value;
    pthread_mutex_unlock(&event->lock);
    mc_submit_end(&submit);
    return mcSuccess;
}

static McQueue *event_point(McEvent *event, uint64_t *value)
{
    pthread_mutex_lock(&event->lock);
    McQueue *queue = event->queue;
    *value = event->value;
    pthread_mutex_unlock(&event->lock);
    return queue;
}

/* Captures do not see who asks for work; of an event that was never recorded,
 * nobody does. */
static mcError_t check_unsafe(const McEvent *event, const McQueue *queue)
{
    return queue || event->shared ? mc_capture_unsafe() : mcSuccess;
}

mcError_t mc_event_query(McEvent *event)
{
    uint64_t value;

    if (is_captured(event)) {
        return mc_capture_point_used(&event->captured);
    }
    McQueue *queue = event_point(event, &value);
    mcError_t error = check_unsafe(event, queue);

    if (error == mcSuccess) {
        error = mc_context_check(event->handle.ctx);
    }
    if (error == mcSuccess && event->shared) {
        error = mc_shared_event_query(event->shared);
    }
    if (error != mcSuccess) {
        return error;
    }
    return queue ? mc_queue_query(queue, value) : mcSuccess;
}

mcError_t mc_event_sync(McEvent *event)
{
    uint64_t value;

    if (is_captured(event)) {
        return mc_capture_point_used(&event->captured);
    }
    McQueue *queue = event_point(event, &value);
    mcError_t error = check_unsafe(event, queue);

    if (error != mcSuccess) {
        return error;
    }
    if (event->shared) {
        error = mc_shared_event_sync(event->shared, event->handle.ctx);
    } else if (queue) {
        error = mc_queue_wait(queue, value,
                              event->flags & mcEventBlockingSync);
    }
    mcError_t sticky = mc_context_check(event->handle.ctx);
    mc_context_flush(event->handle.ctx);
    error = mc_context_checked(event->handle.ctx,
                               sticky != mcSuccess ? sticky : error);
    if (queue) {
        mc_context_synced(event->handle.ctx, queue);
    }
    return error;
}

mcError_t mc_event_wait(McStream *stream, McEvent *event)
{
    uint64_t value;

    if (mc_capturing(stream) || is_captured(event)) {
        return mc_capture_wait(stream, &event->captured);
    }
    McQueue *queue = event_point(event, &value);

    if (event->shared) {
        return mc_shared_event_wait(event->shared, stream);
    }
    if (!queue) {
        return mcSuccess;
    }
    return mc_stream_wait_queue(stream, event->handle.ctx, queue, value);
}

mcError_t mc_event_elapsed(float *ms, McEvent *start, McEvent *stop)
{
    uint64_t first_value, last_value;

    if (is_captured(start)) {
        return mc_capture_point_used(&start->captured);
    }
    if (is_captured(stop)) {
        return mc_capture_point_used(&stop->captured);
    }
    McQueue *first = event_point(start, &first_value);
    McQueue *last = event_point(stop, &last_value);

    if (!first || !last || !start->stamp || !stop->stamp ||
        start->handle.ctx != stop->handle.ctx) {
        return mcErrorInvalidHandle;
    }
    mcError_t error = mc_context_check(start->handle.ctx);
    if (error != mcSuccess) {
        return error;
    }
    if (!mc_queue_reached(first, first_value) ||
        !mc_queue_reached(last, last_value)) {
        return mcErrorNotReady;
    }
    int64_t ns = __atomic_load_n(stop->stamp, __ATOMIC_RELAXED) -
                 __atomic_load_n(start->stamp, __ATOMIC_RELAXED);
    *ms = ns / 1e6;
    return mcSuccess;
}
