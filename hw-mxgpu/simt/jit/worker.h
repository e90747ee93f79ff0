/* SPDX-License-Identifier: MIT */
/*
 * The threads that get code of regions, each from a process of the compiler's:
 * one looks for what has been compiled before, the other has what is hot
 * compiled. So what takes a millisecond does not wait for what takes a second.
 */
#ifndef MXGPU_SIMT_JIT_WORKER_H
#define MXGPU_SIMT_JIT_WORKER_H

#include "code.h"

/* Of a device; what is compiled is kept. */
#define JIT_REGIONS 1024

/* Each region is in it once. */
typedef struct JitQueue {
    JitRegion *region[JIT_REGIONS];
    unsigned head, tail;
} JitQueue;

typedef struct JitWorker {
    struct JitWorkers *of;
    bool started, has_thread;
    pthread_t thread;
    struct JitProcess *process; /* of the thread; others stop it */
    JitQueue queue[JIT_SORTS];  /* the first first */
} JitWorker;

typedef struct JitWorkers {
    pthread_mutex_t lock;  /* of all here, and of regions */
    pthread_cond_t change; /* of a region's states */
    char *program;         /* NULL: there is none */
    size_t bytes;          /* of code */
    unsigned looked, found;
    atomic_bool looks; /* looking is worth the time */
    bool stop;
    JitWorker looker, compiler;
} JitWorkers;

void mxgpu_jit_workers_init(JitWorkers *ws);
/* What is to be compiled yet is left to the compiler's process, for the next
 * device. */
void mxgpu_jit_workers_stop(JitWorkers *ws);
/* There will be something to look for: the process is there by then. */
void mxgpu_jit_workers_prepare(JitWorkers *ws);
/* Looks for the region; what is hot is compiled if it is not there. With the lock. */
void mxgpu_jit_workers_ask(JitWorkers *ws, JitRegion *r, bool hot);

#endif
