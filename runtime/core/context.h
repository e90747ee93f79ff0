/* SPDX-License-Identifier: MIT */
/*
 * Devices as the process sees them, and the context of each: everything that
 * exists while a device is open. A context is opened by the first call that
 * needs it and goes with mcDeviceReset or the process. Whoever uses one holds
 * it; closing waits until nobody does.
 */
#ifndef MC_CORE_CONTEXT_H
#define MC_CORE_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "handle.h"
#include "kmd/kmd.h"
#include "mcr/mc_runtime_types.h"

#define MC_MAX_DEVICES 32

typedef struct McQueue McQueue;
typedef struct McStream McStream;
typedef struct McAllocator McAllocator;
typedef struct McStaging McStaging;
typedef struct McSlots McSlots;
typedef struct McServices McServices;

struct McContext {
    int device;       /* number the user knows */
    uint64_t serial;  /* differs for every context of the process */
    const KmdOps *ops;
    KmdDevice *kmd;
    KmdInfo info;
    atomic_int users;
    atomic_bool dying;
    atomic_int error; /* sticky mcError_t */
    atomic_uint schedule;    /* mcDeviceSchedule* */
    atomic_size_t stack;     /* mcLimitStackSize, bytes */

    /* Orders submissions to all queues; guards queues and their producer
     * state. Never held while waiting. */
    pthread_mutex_t submit;
    McQueue *queues;
    unsigned queue_count;
    bool queues_exhausted; /* the device gave all it has */

    McStream *null_stream;
    McAllocator *allocator;
    McStaging *staging;
    McSlots *slots;
    McServices *services;
};

/* ---- the process ---- */

/* Selects the back end and counts devices, once. */
mcError_t mc_runtime_init(void);
/* Devices the user may see. */
int mc_device_count(void);
/* mcErrorDeinitialized while the process ends, mcErrorInitializationError in
 * the child of a fork, mcErrorNotPermitted in a stream's host function. */
mcError_t mc_runtime_gate(void);
bool mc_launch_blocking(void);

/* ---- the thread ---- */

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
    unsigned held;       /* contexts it holds, by themselves or by objects */
    uint64_t call_start; /* of the call being made, for profiles */
    unsigned configs;
    McCallConfig config[MC_CALL_DEPTH];
    /* mcStreamPerThread of each device, valid while serial matches. */
    struct {
        McStream *stream;
        uint64_t serial;
    } stream[MC_MAX_DEVICES];
} McThread;

McThread *mc_thread(void);
mcError_t mc_set_valid_devices(const int *devices, int count);

/* ---- contexts ---- */

/*
 * Opens the device when needed. The caller holds the context afterwards. A
 * sticky error of the device is not looked at.
 *
 * A context that is being closed is waited for, but only by a thread that
 * holds nothing: closing waits for all holders, and one that waited for a close
 * in turn would wait for ever. Who holds a context, or an object of one, in
 * whatever order it was taken, gets mcErrorContextIsDestroyed instead.
 */
mcError_t mc_context_open(int device, McContext **ctx);
/* Only if it is open; else NULL. */
McContext *mc_context_peek(int device);
/* By the calling thread, which also puts it. */
void mc_context_hold(McContext *ctx);
void mc_context_put(McContext *ctx);

/* The sticky error, after a look at the queues. */
mcError_t mc_context_check(McContext *ctx);
/* Records a sticky error, unless there is one. */
void mc_context_fail(McContext *ctx, mcError_t error);
/* The same, when the device is lost. */
void mc_context_lost(McContext *ctx);

/* Ends everything and closes the device, for which the caller holds no context
 * and waits until nobody does; the device's flags are the default again. */
mcError_t mc_context_reset(int device);

/* Flags of a device may be set before its context is made. */
unsigned mc_device_flags(int device);
mcError_t mc_device_set_flags(int device, unsigned flags);

#endif
