/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <assert.h>

#include "base/log.h"

static McDeviceSlot device_slots[MC_MAX_DEVICES];

static void __attribute__((constructor)) slots_init(void)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        pthread_mutex_init(&device_slots[i].lock, NULL);
        pthread_cond_init(&device_slots[i].changed, NULL);
    }
}

McDeviceSlot *mc_device_slot(int device)
{
    return &device_slots[device];
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
