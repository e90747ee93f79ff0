/* SPDX-License-Identifier: MIT */
/*
 * The thread of a queue, made when it is first needed. It runs host functions
 * in stream order, and moves packets from the queue's overflow to its ring.
 * While it is inside a function the ring's first packet waits for that: there
 * is nothing to feed that could run.
 */
#ifndef MC_CORE_HOST_THREAD_H
#define MC_CORE_HOST_THREAD_H

#include "queue.h"

typedef void (*McHostCall)(void *opaque, mcError_t status);

typedef struct McHostOp {
    struct McHostOp *next;
    uint64_t value;  /* of the queue, which is waited for */
    uint64_t number; /* of the function: queue->called when it has returned */
    McHostCall call;
    void *opaque;
    bool on_error, user; /* see mc_stream_host_call() */
} McHostOp;

/* Under the submit lock. NULL: there is none to be had. */
McHostThread *mc_host_thread(McQueue *queue);
/* In the order of their values; frees op when the function has returned. */
void mc_host_thread_add(McHostThread *host, McHostOp *op);
/* Under the submit lock: the overflow is not empty. False: no thread. */
bool mc_host_thread_feeds(McQueue *queue);
/* False: it is inside a function for longer than limit_ms; 0: as long as it
 * takes. */
bool mc_host_thread_stop(McQueue *queue, unsigned limit_ms);

#endif
