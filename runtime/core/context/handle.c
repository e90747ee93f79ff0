/* SPDX-License-Identifier: MIT */
#include "handle.h"

#include <pthread.h>
#include <stdint.h>

#include "context.h"

static McHandle *of(const McNode *node)
{
    return mc_container_of(node, McHandle, node);
}

static int compare(const McNode *a, const McNode *b)
{
    return mc_order((uintptr_t)of(a), (uintptr_t)of(b));
}

static pthread_mutex_t handle_lock = PTHREAD_MUTEX_INITIALIZER;
static McTree handles = {.compare = compare};

static int order(const McNode *node, const void *key)
{
    return mc_order((uintptr_t)of(node), (uintptr_t)key);
}

/* Under the lock. key may be anything: it is not followed. */
static McHandle *find(const void *key)
{
    McNode *node = mc_tree_lower(&handles, key, order);

    return node && of(node) == key ? of(node) : NULL;
}

void mc_handle_add(McHandle *handle, McHandleType type, McContext *ctx,
                   void (*destroy)(McHandle *handle))
{
    handle->type = type;
    handle->ctx = ctx;
    handle->destroy = destroy;
    atomic_init(&handle->refs, 1);
    pthread_mutex_lock(&handle_lock);
    mc_tree_insert(&handles, &handle->node);
    pthread_mutex_unlock(&handle_lock);
}

void *mc_handle_get(const void *handle, McHandleType type)
{
    pthread_mutex_lock(&handle_lock);
    McHandle *h = find(handle);
    if (h && (h->type != type ||
              (h->ctx && atomic_load(&h->ctx->dying)))) {
        h = NULL;
    }
    if (h) {
        atomic_fetch_add(&h->refs, 1);
        if (h->ctx) {
            mc_context_hold(h->ctx);
        }
    }
    pthread_mutex_unlock(&handle_lock);
    return h;
}

void mc_handle_ref(void *handle)
{
    atomic_fetch_add(&((McHandle *)handle)->refs, 1);
}

void mc_handle_unref(void *handle)
{
    McHandle *h = handle;

    if (atomic_fetch_sub(&h->refs, 1) == 1) {
        h->destroy(h);
    }
}

void mc_handle_put(void *handle)
{
    McContext *ctx = ((McHandle *)handle)->ctx;

    mc_handle_unref(handle);
    if (ctx) {
        mc_context_put(ctx);
    }
}

bool mc_handle_remove(void *handle)
{
    pthread_mutex_lock(&handle_lock);
    bool found = find(handle);
    if (found) {
        mc_tree_remove(&handles, &((McHandle *)handle)->node);
    }
    pthread_mutex_unlock(&handle_lock);
    if (found) {
        /* The caller's reference keeps it from being the last one. */
        atomic_fetch_sub(&((McHandle *)handle)->refs, 1);
    }
    return found;
}

void mc_handle_purge(McContext *ctx, McHandleType type)
{
    McHandle *gone = NULL;

    pthread_mutex_lock(&handle_lock);
    for (McNode *n = mc_tree_first(&handles), *next; n; n = next) {
        McHandle *h = of(n);

        next = mc_tree_next(n);
        if (h->ctx == ctx && h->type == type) {
            mc_tree_remove(&handles, n);
            h->next = gone;
            gone = h;
        }
    }
    pthread_mutex_unlock(&handle_lock);
    while (gone) {
        McHandle *h = gone;

        gone = h->next;
        h->destroy(h);
    }
}

void mc_handle_block(McContext *ctx)
{
    pthread_mutex_lock(&handle_lock);
    atomic_store(&ctx->dying, true);
    pthread_mutex_unlock(&handle_lock);
}
