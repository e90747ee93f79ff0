/* SPDX-License-Identifier: MIT */
/* What the runtime knows of a thread. */
#ifndef MC_CORE_THREAD_H
#define MC_CORE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "mcr/mc_runtime_types.h"

#define MC_MAX_DEVICES 32

typedef struct McStream McStream;

typedef struct McCallConfig {
    dim3 grid, block;
    size_t shared;
    mcStream_t stream;
} McCallConfig;

#define MC_CALL_DEPTH 8

typedef struct McThread {
    mcError_t last_error;
    int device;
    int base_device; /* while there are contexts on the stack: below them */
    struct McCtx **contexts; /* the stack: current.h */
    unsigned depth, room;
    bool device_chosen;
    bool in_callback;
    bool per_thread; /* the call being made: NULL is mcStreamPerThread */
    unsigned held;       /* contexts it holds, by themselves or by objects */
    uint64_t call_start; /* of the call being made, if it is noted */
    uint64_t number;     /* of the process; 0: it has none yet */
    mcStreamCaptureMode capture_mode;
    unsigned configs;
    McCallConfig config[MC_CALL_DEPTH];
    /* mcStreamPerThread of each device, valid while serial matches. */
    struct {
        McStream *stream;
        uint64_t serial;
    } stream[MC_MAX_DEVICES];
} McThread;

McThread *mc_thread(void);
/* The device of threads that are not known yet. */
void mc_thread_set_default(int device);
/* Called when a thread that was known ends; set once, at the start. */
void mc_thread_at_end(void (*call)(McThread *thread));

#endif
