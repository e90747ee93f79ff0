/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "base/log.h"
#include "error.h"
#include "event.h"
#include "host_memory.h"
#include "module.h"
#include "mxgpu/kernel.h"
#include "profile/profile.h"
#include "runtime.h"
#include "services/services.h"
#include "staging.h"
#include "stream.h"

typedef struct McDeviceSlot {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* closing, or users reached 0 */
    McContext *ctx;
    bool closing;
    unsigned flags;
} McDeviceSlot;

static McDeviceSlot device_slots[MC_MAX_DEVICES];
static atomic_ullong context_serial;

static void __attribute__((constructor)) slots_init(void)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        pthread_mutex_init(&device_slots[i].lock, NULL);
        pthread_cond_init(&device_slots[i].changed, NULL);
    }
}

/* What a context consists of, in the order it is made. */
static mcError_t context_fill(McContext *ctx)
{
    mcError_t error = mc_allocator_new(ctx, &ctx->allocator);

    if (error == mcSuccess) {
        error = mc_slots_new(ctx, &ctx->slots);
    }
    if (error == mcSuccess) {
        error = mc_staging_new(ctx, &ctx->staging);
    }
    if (error == mcSuccess) {
        error = mc_services_new(ctx, &ctx->services);
    }
    if (error == mcSuccess) {
        error = mc_stream_new_internal(ctx, mcStreamDefault, true,
                                       &ctx->null_stream);
    }
    if (error == mcSuccess) {
        error = mc_host_memory_attach(ctx);
    }
    return error;
}

/* Nobody uses it: what is left was made by it or through it. */
static void context_free(McContext *ctx)
{
    mc_handle_purge(ctx, MC_HANDLE_EVENT);
    mc_handle_purge(ctx, MC_HANDLE_STREAM);
    mc_queue_free_all(ctx);
    if (ctx->null_stream) {
        mc_stream_free_internal(ctx->null_stream);
    }
    mc_services_free(ctx->services);
    mc_handle_purge(ctx, MC_HANDLE_FUNCTION);
    mc_handle_purge(ctx, MC_HANDLE_MODULE);
    mc_staging_free(ctx->staging);
    mc_slots_free(ctx->slots);
    mc_host_memory_detach(ctx);
    mc_allocator_free(ctx->allocator);
    mc_profile_context(ctx, false);
    ctx->ops->close(ctx->kmd);
    pthread_mutex_destroy(&ctx->submit);
    free(ctx);
}

static mcError_t context_new(int device, McContext **out)
{
    if (mc_runtime_ending()) {
        return mcErrorDeinitialized;
    }
    McContext *ctx = calloc(1, sizeof(*ctx));
    if (!ctx) {
        return mcErrorMemoryAllocation;
    }
    ctx->device = device;
    ctx->serial = atomic_fetch_add(&context_serial, 1) + 1;
    ctx->ops = mc_runtime_ops();
    atomic_init(&ctx->schedule, device_slots[device].flags);
    atomic_init(&ctx->stack, MXGPU_PRIVATE_DEFAULT_KIB * 1024);
    pthread_mutex_init(&ctx->submit, NULL);
    int err = ctx->ops->open(mc_runtime_physical(device), &ctx->kmd);
    if (err) {
        mc_error("device %d could not be opened: %s", device, strerror(-err));
        pthread_mutex_destroy(&ctx->submit);
        free(ctx);
        return mc_error_from_open(err);
    }
    ctx->ops->info(ctx->kmd, &ctx->info);
    mcError_t error = context_fill(ctx);
    if (error != mcSuccess) {
        mc_error("device %d opened but not usable: %s", device,
                 mc_error_string(error));
        atomic_store(&ctx->dying, true);
        context_free(ctx);
        return error;
    }
    mc_info("device %d: %s, %llu MiB, %u compute units, firmware %u.%u.%u %s",
            device, ctx->info.name,
            (unsigned long long)ctx->info.vram_size >> 20,
            ctx->info.compute_units, ctx->info.fw_version >> 16,
            ctx->info.fw_version >> 8 & 0xff, ctx->info.fw_version & 0xff,
            ctx->info.fw_build);
    mc_profile_context(ctx, true);
    *out = ctx;
    return mcSuccess;
}

mcError_t mc_context_open(int device, McContext **ctx)
{
    McDeviceSlot *slot = &device_slots[device];
    mcError_t error = mcSuccess;

    *ctx = NULL;
    pthread_mutex_lock(&slot->lock);
    while (slot->closing && error == mcSuccess) {
        if (mc_thread()->held) {
            error = mcErrorContextIsDestroyed;
        } else {
            pthread_cond_wait(&slot->changed, &slot->lock);
        }
    }
    if (error == mcSuccess && !slot->ctx) {
        error = context_new(device, &slot->ctx);
    }
    if (error == mcSuccess) {
        mc_context_hold(slot->ctx);
        *ctx = slot->ctx;
    }
    pthread_mutex_unlock(&slot->lock);
    return error;
}

McContext *mc_context_peek(int device)
{
    McDeviceSlot *slot = &device_slots[device];
    McContext *ctx = NULL;

    pthread_mutex_lock(&slot->lock);
    if (slot->ctx && !slot->closing) {
        ctx = slot->ctx;
        mc_context_hold(ctx);
    }
    pthread_mutex_unlock(&slot->lock);
    return ctx;
}

void mc_context_hold(McContext *ctx)
{
    mc_thread()->held++;
    atomic_fetch_add(&ctx->users, 1);
}

void mc_context_put(McContext *ctx)
{
    McDeviceSlot *slot = &device_slots[ctx->device];

    assert(mc_thread()->held > 0);
    mc_thread()->held--;
    /* The last user of a dying context may find it freed after this. */
    bool dying = atomic_load(&ctx->dying);
    if (atomic_fetch_sub(&ctx->users, 1) == 1 && dying) {
        pthread_mutex_lock(&slot->lock);
        pthread_cond_broadcast(&slot->changed);
        pthread_mutex_unlock(&slot->lock);
    }
}

mcError_t mc_context_check(McContext *ctx)
{
    mcError_t error = atomic_load_explicit(&ctx->error, memory_order_acquire);

    if (error == mcSuccess) {
        mc_queue_poll(ctx);
        if (!ctx->ops->alive(ctx->kmd, false)) {
            mc_context_lost(ctx);
        }
        error = atomic_load_explicit(&ctx->error, memory_order_acquire);
    }
    return error;
}

void mc_context_fail(McContext *ctx, mcError_t error)
{
    int none = mcSuccess;

    atomic_compare_exchange_strong(&ctx->error, &none, error);
}

void mc_context_lost(McContext *ctx)
{
    if (atomic_load(&ctx->error) == mcSuccess) {
        mc_error("device %d is lost", ctx->device);
        mc_context_fail(ctx, mcErrorDevicesUnavailable);
    }
}

static void timed_wait(McDeviceSlot *slot, unsigned ms)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms * 1000000l;
    until.tv_sec += until.tv_nsec / 1000000000l;
    until.tv_nsec %= 1000000000l;
    pthread_cond_timedwait(&slot->changed, &slot->lock, &until);
}

/* limit_ms 0: as long as it takes. False when users were left. */
static bool context_close(int device, unsigned limit_ms)
{
    McDeviceSlot *slot = &device_slots[device];
    bool closed = true;

    pthread_mutex_lock(&slot->lock);
    for (unsigned ms = 0; slot->closing; ms += 10) {
        if (limit_ms && ms > limit_ms) {
            pthread_mutex_unlock(&slot->lock);
            return false;
        }
        timed_wait(slot, 10);
    }
    McContext *ctx = slot->ctx;
    if (ctx) {
        slot->closing = true;
        mc_handle_block(ctx);
        for (unsigned ms = 0; atomic_load(&ctx->users) > 0; ms += 10) {
            if (limit_ms && ms > limit_ms) {
                closed = false;
                break;
            }
            timed_wait(slot, 10);
        }
        pthread_mutex_unlock(&slot->lock);
        if (closed && limit_ms) {
            closed = mc_queue_stop_functions(ctx, limit_ms);
        }
        if (closed) {
            context_free(ctx);
        }
        pthread_mutex_lock(&slot->lock);
        if (closed) {
            slot->ctx = NULL;
            slot->closing = false;
        }
        pthread_cond_broadcast(&slot->changed);
    }
    pthread_mutex_unlock(&slot->lock);
    return closed;
}

mcError_t mc_context_reset(int device)
{
    assert(mc_thread()->held == 0);
    context_close(device, 0);
    return mc_device_set_flags(device, 0);
}

/* The process ends: other threads may still be inside calls. They notice
 * within milliseconds; one that does not, or a function called by a stream that
 * does not return, is left to the kernel. */
void mc_context_close_all(void)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        context_close(i, 500);
    }
}

bool mc_context_any(void)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        if (device_slots[i].ctx) {
            return true;
        }
    }
    return false;
}

unsigned mc_device_flags(int device)
{
    McDeviceSlot *slot = &device_slots[device];

    pthread_mutex_lock(&slot->lock);
    unsigned flags = slot->flags;
    pthread_mutex_unlock(&slot->lock);
    return flags;
}

mcError_t mc_device_set_flags(int device, unsigned flags)
{
    McDeviceSlot *slot = &device_slots[device];

    pthread_mutex_lock(&slot->lock);
    slot->flags = flags;
    if (slot->ctx) {
        atomic_store(&slot->ctx->schedule, flags);
    }
    pthread_mutex_unlock(&slot->lock);
    return mcSuccess;
}
