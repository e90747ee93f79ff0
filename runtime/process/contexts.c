/* SPDX-License-Identifier: MIT */
#include "contexts.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "core/memory/alloc.h"
#include "core/copy/check.h"
#include "core/context/error.h"
#include "core/stream/event.h"
#include "core/mapping/foreign.h"
#include "core/exec/graph_exec.h"
#include "core/exec/graph_memory.h"
#include "core/context/handle.h"
#include "core/mapping/host_memory.h"
#include "core/module/module.h"
#include "core/context/observer.h"
#include "core/context/peer.h"
#include "core/pool/pool.h"
#include "core/program/program.h"
#include "core/queue/queues.h"
#include "core/context/runtime.h"
#include "core/queue/staging.h"
#include "core/stream/stream.h"
#include "core/texture/texture.h"
#include "core/queue/wait.h"
#include "core/mapping/vmm.h"
#include "current.h"
#include "mxgpu/kernel.h"
#include "services/services.h"

static atomic_ullong context_serial;

/* What pools hold back, then what graphs do not use between launches. */
static bool reclaim(McContext *ctx)
{
    bool any = mc_pools_reclaim(ctx);

    return mc_graph_memory_trim(ctx) || any;
}

/* What a context consists of, in the order it is made. */
static mcError_t context_fill(McContext *ctx)
{
    mc_peers_attach(ctx);
    mcError_t error = mc_allocator_new(ctx, &ctx->allocator);

    if (error == mcSuccess) {
        error = mc_pools_new(ctx, &ctx->pools);
    }
    if (error == mcSuccess) {
        ctx->synced = mc_pools_synced;
        ctx->reclaim = reclaim;
        error = mc_slots_new(ctx, &ctx->slots);
    }
    if (error == mcSuccess) {
        error = mc_staging_new(ctx, &ctx->staging);
    }
    if (error == mcSuccess) {
        error = mc_services_new(ctx, &ctx->services);
    }
    if (error == mcSuccess) {
        ctx->services_ops = &mc_services_ops;
        ctx->check = mc_check_context;
    }
    if (error == mcSuccess) {
        error = mc_stream_new_internal(ctx, mcStreamDefault, true,
                                       &ctx->null_stream);
    }
    if (error == mcSuccess) {
        error = mc_host_memory_attach(ctx);
    }
    if (error == mcSuccess) {
        mc_vmm_attach(ctx);
    }
    return error;
}

/* Nobody uses it: what is left was made by it or through it. */
static void context_free(McContext *ctx)
{
    mc_observe_closing(ctx);
    mc_pools_forget(ctx);
    mc_handle_purge(ctx, MC_HANDLE_EVENT);
    mc_handle_purge(ctx, MC_HANDLE_STREAM);
    mc_queue_free_all(ctx);
    if (ctx->null_stream) {
        mc_stream_free_internal(ctx->null_stream);
    }
    mc_handle_purge(ctx, MC_HANDLE_GRAPH_EXEC);
    mc_graph_execs_detach(ctx);
    mc_graph_memory_detach(ctx);
    mc_services_free(ctx->services);
    mc_handle_purge(ctx, MC_HANDLE_EXTERNAL_SEMAPHORE);
    mc_handle_purge(ctx, MC_HANDLE_EXTERNAL_MEMORY);
    mc_textures_detach(ctx);
    mc_handle_purge(ctx, MC_HANDLE_ARRAY);
    mc_handle_purge(ctx, MC_HANDLE_MIPMAP);
    mc_handle_purge(ctx, MC_HANDLE_FUNCTION);
    mc_handle_purge(ctx, MC_HANDLE_MODULE);
    mc_staging_free(ctx->staging);
    mc_slots_free(ctx->slots);
    mc_check_context(ctx, mcSuccess);
    mc_host_memory_detach(ctx);
    mc_peers_detach(ctx);
    mc_vmm_detach(ctx);
    mc_handle_purge(ctx, MC_HANDLE_POOL);
    mc_pools_free(ctx->pools);
    mc_foreign_detach(ctx);
    mc_allocator_free(ctx->allocator);
    mc_observe_context(ctx, false);
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
    atomic_init(&ctx->schedule, mc_device_slot(device)->flags);
    mc_wait_init(ctx);
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
    mc_observe_context(ctx, true);
    *out = ctx;
    return mcSuccess;
}

mcError_t mc_context_open(int device, McContext **ctx)
{
    McDeviceSlot *slot = mc_device_slot(device);
    mcError_t error = mcSuccess;
    bool fresh = false;

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
        fresh = error == mcSuccess;
    }
    if (error == mcSuccess) {
        mc_context_hold(slot->ctx);
        *ctx = slot->ctx;
    }
    pthread_mutex_unlock(&slot->lock);
    if (fresh && mc_load_eagerly()) {
        mc_program_load_all(*ctx);
    }
    return error;
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
    McDeviceSlot *slot = mc_device_slot(device);
    bool closed = true;

    mc_observe_leaving();
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
static void close_all(void)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        context_close(i, 500);
    }
}

/* In a child, whose only thread this is: a lock that is held was another
 * thread's, which was opening the device. */
static bool any_used(void)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        McDeviceSlot *slot = mc_device_slot(i);

        if (slot->ctx || pthread_mutex_trylock(&slot->lock)) {
            return true;
        }
        pthread_mutex_unlock(&slot->lock);
    }
    return false;
}

/* ---- the process ---- */

static void thread_end(McThread *thread)
{
    if (mc_runtime_is_child()) {
        return;
    }
    mc_stream_thread_end(thread);
    mc_ctx_thread_end(thread);
}

static void in_child(void)
{
    if (mc_runtime_was_starting() || any_used()) {
        mc_runtime_forked();
    }
}

static void __attribute__((constructor)) process_start(void)
{
    mc_thread_at_end(thread_end);
    pthread_atfork(NULL, NULL, in_child);
}

/*
 * Runs when the library is finalized: after atexit handlers and destructors of
 * the program, so that both may still use devices. Work in flight is aborted.
 */
static void __attribute__((destructor)) process_end(void)
{
    if (mc_runtime_end()) {
        close_all();
        mc_observe_end();
    }
}
