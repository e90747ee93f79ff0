/* SPDX-License-Identifier: MIT */
/*
 * Devices as the process sees them, and the context of each: everything that
 * exists while a device is open. Whoever uses one holds it. They are opened and
 * closed in process/contexts.c.
 */
#ifndef MC_CORE_CONTEXT_H
#define MC_CORE_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "kmd/kmd.h"
#include "mcr/mc_runtime_types.h"
#include "thread.h"

typedef struct McContext McContext;
typedef struct McFunction McFunction;
typedef struct McQueue McQueue;
typedef struct McAllocator McAllocator;
typedef struct McStaging McStaging;
typedef struct McPools McPools;
typedef struct McSlots McSlots;
typedef struct McServices McServices;
typedef struct McTextures McTextures;

/* What is above the objects and serves kernels (services/). */
typedef struct McServicesOps {
    /* Before a launch: makes what the kernel uses and tells its module where
     * it is. */
    mcError_t (*bind)(McFunction *function);
    /* Work of the context was waited for: prints what kernels have left. */
    void (*flush)(McContext *ctx);
    /* There are more queues than dispatch slots: what runs in these may have to
     * leave them. */
    void (*crowded)(McContext *ctx);
    /* Queues are gone: what kernels launched ends. */
    void (*stop)(McContext *ctx);
} McServicesOps;

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
    atomic_uint spin_ns;     /* how long waiters spin (wait.c) */
    unsigned yield_ns;       /* and how long before they yield */
    atomic_size_t stack;     /* mcLimitStackSize, bytes */
    /* Streams that capture, and those of them that are ordered with the legacy
     * default stream. */
    atomic_int capturing, capturing_blocking;

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
    McTextures *textures; /* once there were some */
    McServices *services;
    const McServicesOps *services_ops; /* once there are services */
    /* mc_check_context(), once there is memory that it looks at. */
    mcError_t (*check)(McContext *ctx, mcError_t error);
    /* Pools of memory, and what they do when the host knows that a queue, or
     * with NULL all queues, came so far: once there is something to do. */
    McPools *pools;
    void (*synced)(McContext *ctx, McQueue *queue);
    /* See mc_context_reclaim(): once there is something to give back. */
    bool (*reclaim)(McContext *ctx);
};

/* Only if it is open; else NULL. */
McContext *mc_context_peek(int device);
/* By the calling thread, which also puts it. */
void mc_context_hold(McContext *ctx);
void mc_context_put(McContext *ctx);

/* Records a sticky error, unless there is one. */
void mc_context_fail(McContext *ctx, mcError_t error);
/* The same, when the device is lost. */
void mc_context_lost(McContext *ctx);

/* Work was waited for, and the caller goes on. */
static inline void mc_context_flush(McContext *ctx)
{
    if (ctx->services_ops) {
        ctx->services_ops->flush(ctx);
    }
}

/* The same, with the error of that: returns it, or what was found then. */
static inline mcError_t mc_context_checked(McContext *ctx, mcError_t error)
{
    return ctx->check ? ctx->check(ctx, error) : error;
}

/* Somebody waited for a queue of the context, or NULL: for all of them. */
static inline void mc_context_synced(McContext *ctx, McQueue *queue)
{
    if (ctx->synced) {
        ctx->synced(ctx, queue);
    }
}

/* Somebody lacks memory of the device: gives back what is kept in reserve and
 * nobody uses. False: there was nothing. No lock may be held but the
 * caller's own. */
static inline bool mc_context_reclaim(McContext *ctx)
{
    return ctx->reclaim && ctx->reclaim(ctx);
}

/* Flags of a device may be set before its context is made. */
unsigned mc_device_flags(int device);
mcError_t mc_device_set_flags(int device, unsigned flags);

/* ---- for who opens and closes them ---- */

typedef struct McDeviceSlot {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* closing, or users reached 0 */
    McContext *ctx;
    bool closing;
    unsigned flags;
} McDeviceSlot;

McDeviceSlot *mc_device_slot(int device);

#endif
