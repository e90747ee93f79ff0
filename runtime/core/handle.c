/* SPDX-License-Identifier: MIT */
#include "handle.h"

#include <pthread.h>
#include <stdint.h>

#include "context.h"

#define BUCKETS 4096

static pthread_mutex_t handle_lock = PTHREAD_MUTEX_INITIALIZER;
static McHandle *buckets[BUCKETS];

static McHandle **bucket(const void *handle)
{
    uint64_t bits = (uintptr_t)handle >> 4;

    return &buckets[(bits * 0x9e3779b97f4a7c15ull) >> 52];
}

void mc_handle_add(McHandle *handle, McHandleType type, McContext *ctx,
                   void (*destroy)(McHandle *handle))
{
    handle->type = type;
    handle->ctx = ctx;
    handle->destroy = destroy;
    atomic_init(&handle->refs, 1);
    pthread_mutex_lock(&handle_lock);
    McHandle **list = bucket(handle);
    handle->next = *list;
    *list = handle;
    pthread_mutex_unlock(&handle_lock);
}

void *mc_handle_get(const void *handle, McHandleType type)
{
    pthread_mutex_lock(&handle_lock);
    McHandle *h = *bucket(handle);
    while (h && h != handle) {
        h = h->next;
    }
    if (h && (h->type != type || atomic_load(&h->ctx->dying))) {
        h = NULL;
    }
    if (h) {
        atomic_fetch_add(&h->refs, 1);
        mc_context_hold(h->ctx);
    }
    pthread_mutex_unlock(&handle_lock);
    return h;
}

void mc_handle_put(void *handle)
{
    McHandle *h = handle;
    McContext *ctx = h->ctx;

    if (atomic_fetch_sub(&h->refs, 1) == 1) {
        h->destroy(h);
    }
    mc_context_put(ctx);
}

bool mc_handle_remove(void *handle)
{
    bool found = false;

    pthread_mutex_lock(&handle_lock);
    for (McHandle **p = bucket(handle); *p; p = &(*p)->next) {
        if (*p == handle) {
            *p = (*p)->next;
            found = true;
            break;
        }
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
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (McHandle **p = &buckets[i]; *p;) {
            McHandle *h = *p;

            if (h->ctx == ctx && h->type == type) {
                *p = h->next;
                h->next = gone;
                gone = h;
            } else {
                p = &h->next;
            }
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
