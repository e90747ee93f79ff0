/* SPDX-License-Identifier: MIT */
#include "current.h"

#include <stdlib.h>

#include "core/context/runtime.h"

struct McCtx {
    McCtx *next;
    int device;
    bool primary;
    atomic_bool destroyed;
    unsigned refs; /* under the lock: the handle, stacks, calls */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static McCtx primaries[MC_MAX_DEVICES];
static McCtx *created; /* have handles */

static void __attribute__((constructor)) primaries_init(void)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        primaries[i] = (McCtx){.device = i, .primary = true, .refs = 1};
    }
}

McCtx *mc_ctx_primary(int device)
{
    return &primaries[device];
}

McCtx *mc_ctx_new(int device)
{
    McCtx *ctx = calloc(1, sizeof(*ctx));

    if (ctx) {
        ctx->device = device;
        ctx->refs = 1;
        pthread_mutex_lock(&lock);
        ctx->next = created;
        created = ctx;
        pthread_mutex_unlock(&lock);
    }
    return ctx;
}

static void hold(McCtx *ctx)
{
    pthread_mutex_lock(&lock);
    ctx->refs++;
    pthread_mutex_unlock(&lock);
}

McCtx *mc_ctx_get(const void *handle)
{
    for (int i = 0; i < mc_device_count(); i++) {
        if (handle == &primaries[i]) {
            hold(&primaries[i]);
            return &primaries[i];
        }
    }
    pthread_mutex_lock(&lock);
    McCtx *ctx = created;
    while (ctx && ctx != handle) {
        ctx = ctx->next;
    }
    if (ctx) {
        ctx->refs++;
    }
    pthread_mutex_unlock(&lock);
    return ctx;
}

void mc_ctx_put(McCtx *ctx)
{
    pthread_mutex_lock(&lock);
    bool last = --ctx->refs == 0;
    pthread_mutex_unlock(&lock);
    if (last) {
        free(ctx);
    }
}

bool mc_ctx_destroy(McCtx *ctx)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (McCtx **p = &created; *p && !found; p = found ? p : &(*p)->next) {
        if (*p == ctx) {
            *p = ctx->next;
            found = true;
        }
    }
    atomic_store(&ctx->destroyed, found || atomic_load(&ctx->destroyed));
    pthread_mutex_unlock(&lock);
    if (found) {
        mc_ctx_put(ctx); /* the handle's */
    }
    return found;
}

int mc_ctx_device(const McCtx *ctx)
{
    return ctx->device;
}

bool mc_ctx_destroyed(const McCtx *ctx)
{
    return atomic_load_explicit(&ctx->destroyed, memory_order_relaxed);
}

/* ---- stacks ---- */

McCtx *mc_ctx_top(void)
{
    McThread *thread = mc_thread();

    return thread->depth ? thread->contexts[thread->depth - 1] : NULL;
}

/* Calls look at the thread's device only. */
static void follow(McThread *thread)
{
    thread->device = thread->depth
                         ? thread->contexts[thread->depth - 1]->device
                         : thread->base_device;
}

bool mc_ctx_push(McCtx *ctx)
{
    McThread *thread = mc_thread();

    if (thread->depth == thread->room) {
        unsigned room = thread->room ? 2 * thread->room : 4;
        McCtx **more = realloc(thread->contexts, room * sizeof(*more));

        if (!more) {
            return false;
        }
        thread->contexts = more;
        thread->room = room;
    }
    if (thread->depth == 0) {
        thread->base_device = thread->device;
    }
    hold(ctx);
    thread->contexts[thread->depth++] = ctx;
    follow(thread);
    return true;
}

void mc_ctx_pop(void)
{
    McThread *thread = mc_thread();

    mc_ctx_put(thread->contexts[--thread->depth]);
    follow(thread);
}

void mc_ctx_replace(McCtx *ctx)
{
    McThread *thread = mc_thread();

    hold(ctx);
    mc_ctx_put(thread->contexts[thread->depth - 1]);
    thread->contexts[thread->depth - 1] = ctx;
    follow(thread);
}

void mc_ctx_thread_end(McThread *thread)
{
    while (thread->depth) {
        mc_ctx_put(thread->contexts[--thread->depth]);
    }
    free(thread->contexts);
    thread->contexts = NULL;
    thread->room = 0;
}
