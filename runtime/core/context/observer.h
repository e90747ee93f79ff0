/* SPDX-License-Identifier: MIT */
/*
 * Who watches the objects, for recordings (profile/). There is one observer or
 * none, from before the first context is opened to the end of the process:
 * without one, each of these is a load and a branch.
 */
#ifndef MC_CORE_OBSERVER_H
#define MC_CORE_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct McContext McContext;
typedef struct McModule McModule;
typedef struct McQueue McQueue;
typedef struct McSubmit McSubmit;
union mxgpu_packet;

typedef struct McObserver {
    void (*context)(McContext *ctx, bool opened);
    /* A context may be about to be closed; all that it has is still found.
     * NULL: not wanted. */
    void (*leaving)(void);
    /* It is about to be closed, and what the program did not free is still
     * there. NULL: not wanted. */
    void (*closing)(McContext *ctx);
    /* A module was loaded from that file. */
    void (*module)(McModule *module, const void *file, size_t size);
    /* queue->observed is the observer's; stop: the device does not use it any
     * more. */
    void (*queue_start)(McQueue *queue);
    void (*queue_stop)(McQueue *queue);
    /* Under the submit lock: before a packet gets its place, which may be in
     * the overflow, and when one with MXGPU_PKT_PROFILE goes into the ring. */
    void (*packet)(McSubmit *submit, union mxgpu_packet *packet,
                   uint64_t value);
    void (*placed)(McQueue *queue, uint64_t value);
    /* Under the submit lock, of a queue whose "observed" is set: to read what
     * complete packets have left, before their slots are used again. */
    void (*collect)(McQueue *queue);
    /* The process ends. */
    void (*end)(void);
} McObserver;

extern const McObserver *mc_observer;

static inline void mc_observe_context(McContext *ctx, bool opened)
{
    if (mc_observer) {
        mc_observer->context(ctx, opened);
    }
}

static inline void mc_observe_leaving(void)
{
    if (mc_observer && mc_observer->leaving) {
        mc_observer->leaving();
    }
}

static inline void mc_observe_closing(McContext *ctx)
{
    if (mc_observer && mc_observer->closing) {
        mc_observer->closing(ctx);
    }
}

static inline void mc_observe_module(McModule *module, const void *file,
                                     size_t size)
{
    if (mc_observer) {
        mc_observer->module(module, file, size);
    }
}

static inline void mc_observe_queue(McQueue *queue, bool start)
{
    if (mc_observer) {
        (start ? mc_observer->queue_start : mc_observer->queue_stop)(queue);
    }
}

static inline void mc_observe_packet(McSubmit *submit,
                                     union mxgpu_packet *packet,
                                     uint64_t value)
{
    if (__builtin_expect(mc_observer != NULL, 0)) {
        mc_observer->packet(submit, packet, value);
    }
}

static inline void mc_observe_end(void)
{
    if (mc_observer) {
        mc_observer->end();
    }
}

#endif
