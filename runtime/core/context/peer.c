/* SPDX-License-Identifier: MIT */
#include "peer.h"

#include <stdlib.h>

#include "base/tree.h"
#include "error.h"
#include "mxgpu/pte.h"
#include "thread.h"

#define PEER_PERMS (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC)

typedef struct Shown {
    McNode node; /* by address */
    uint64_t va, size;
    McContext *owner;
    KmdBo *bo;
    bool named; /* seen by the devices that were named, no others */
    KmdBo *on[MC_MAX_DEVICES]; /* as objects of others */
} Shown;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static McContext *attached[MC_MAX_DEVICES];
/* By device and owner. */
static atomic_bool granted[MC_MAX_DEVICES][MC_MAX_DEVICES];

static Shown *of(const McNode *node)
{
    return mc_container_of(node, Shown, node);
}

static int compare(const McNode *a, const McNode *b)
{
    return mc_order(of(a)->va, of(b)->va);
}

static int order(const McNode *node, const void *key)
{
    return mc_order(of(node)->va, *(const uint64_t *)key);
}

static McTree all = {.compare = compare};

/* ---- one mapping on one device, under the lock ---- */

static int show(Shown *s, McContext *ctx)
{
    KmdBo **bo = &s->on[ctx->device];
    int err = ctx->ops->peer(ctx->kmd, s->bo, 0, s->size, bo);

    if (err) {
        *bo = NULL;
        return err;
    }
    err = ctx->ops->map(*bo, s->va, 0, s->size, PEER_PERMS);
    if (err) {
        ctx->ops->free(*bo);
        *bo = NULL;
    }
    return err;
}

static void hide(Shown *s, McContext *ctx)
{
    KmdBo **bo = &s->on[ctx->device];

    if (*bo) {
        ctx->ops->unmap(ctx->kmd, s->va, s->size);
        ctx->ops->free(*bo);
        *bo = NULL;
    }
}

static void hide_everywhere(Shown *s)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        if (attached[i]) {
            hide(s, attached[i]);
        }
    }
}

/* What owner has for all devices, or everything, is not to be seen on ctx any
 * more. */
static void hide_all(McContext *ctx, const McContext *owner)
{
    for (McNode *n = mc_tree_first(&all); n; n = mc_tree_next(n)) {
        if (!owner || (of(n)->owner == owner && !of(n)->named)) {
            hide(of(n), ctx);
        }
    }
}

/* ---- access ---- */

bool mc_peer_sees(int device, int owner)
{
    return device == owner ||
           atomic_load_explicit(&granted[device][owner], memory_order_acquire);
}

bool mc_peer_reaches(McContext *ctx, McContext *other)
{
    enum { UNKNOWN, NO, YES };
    static atomic_char answers[MC_MAX_DEVICES][MC_MAX_DEVICES];
    atomic_char *answer = &answers[ctx->device][other->device];

    if (ctx == other) {
        return false;
    }
    /* It is found out by trying. */
    if (atomic_load(answer) == UNKNOWN) {
        atomic_store(answer, ctx->ops->reaches(ctx->kmd, other->kmd) ? YES
                                                                     : NO);
    }
    return atomic_load(answer) == YES;
}

mcError_t mc_peer_enable(McContext *ctx, McContext *other)
{
    mcError_t error = mcSuccess;

    if (!mc_peer_reaches(ctx, other)) {
        return mcErrorPeerAccessUnsupported;
    }
    pthread_mutex_lock(&lock);
    if (granted[ctx->device][other->device]) {
        error = mcErrorPeerAccessAlreadyEnabled;
    }
    for (McNode *n = mc_tree_first(&all); n && error == mcSuccess;
         n = mc_tree_next(n)) {
        if (of(n)->owner == other && !of(n)->named) {
            error = mc_error_from_kmd(show(of(n), ctx));
        }
    }
    if (error == mcSuccess) {
        granted[ctx->device][other->device] = true;
    } else if (error != mcErrorPeerAccessAlreadyEnabled) {
        hide_all(ctx, other);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

mcError_t mc_peer_disable(McContext *ctx, int other)
{
    mcError_t error = mcErrorPeerAccessNotEnabled;

    pthread_mutex_lock(&lock);
    if (granted[ctx->device][other]) {
        granted[ctx->device][other] = false;
        if (attached[other]) {
            hide_all(ctx, attached[other]);
        }
        error = mcSuccess;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

void mc_peers_attach(McContext *ctx)
{
    pthread_mutex_lock(&lock);
    attached[ctx->device] = ctx;
    pthread_mutex_unlock(&lock);
}

void mc_peers_detach(McContext *ctx)
{
    pthread_mutex_lock(&lock);
    if (attached[ctx->device] == ctx) {
        hide_all(ctx, NULL);
        for (McNode *n = mc_tree_first(&all); n; n = mc_tree_next(n)) {
            if (of(n)->owner == ctx) {
                hide_everywhere(of(n));
            }
        }
        for (int i = 0; i < MC_MAX_DEVICES; i++) {
            granted[ctx->device][i] = granted[i][ctx->device] = false;
        }
        attached[ctx->device] = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- memory ---- */

/* Takes s over. */
static mcError_t add(Shown *s, uint32_t devices)
{
    int err = 0;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < MC_MAX_DEVICES && !err; i++) {
        if (attached[i] && (s->named ? devices >> i & 1
                                     : granted[i][s->owner->device])) {
            err = show(s, attached[i]);
        }
    }
    if (err) {
        hide_everywhere(s);
    } else {
        mc_tree_insert(&all, &s->node);
    }
    pthread_mutex_unlock(&lock);
    if (err) {
        free(s);
    }
    return mc_error_from_kmd(err);
}

mcError_t mc_peer_add(McContext *owner, KmdBo *bo, uint64_t va, uint64_t size)
{
    Shown *s = calloc(1, sizeof(*s));

    if (!s) {
        return mcErrorMemoryAllocation;
    }
    *s = (Shown){.va = va, .size = size, .owner = owner, .bo = bo};
    return add(s, 0);
}

mcError_t mc_peer_add_for(McContext *owner, KmdBo *bo, uint64_t va,
                          uint64_t size, uint32_t devices)
{
    Shown *s = calloc(1, sizeof(*s));

    if (!s) {
        return mcErrorMemoryAllocation;
    }
    *s = (Shown){
        .va = va, .size = size, .owner = owner, .bo = bo, .named = true,
    };
    return add(s, devices);
}

/* Under the lock: what was added at va, or NULL. */
static Shown *find(uint64_t va)
{
    McNode *node = mc_tree_lower(&all, &va, order);

    return node && of(node)->va == va ? of(node) : NULL;
}

void mc_peer_remove(uint64_t va)
{
    pthread_mutex_lock(&lock);
    Shown *s = find(va);
    if (s) {
        mc_tree_remove(&all, &s->node);
        hide_everywhere(s);
        free(s);
    }
    pthread_mutex_unlock(&lock);
}

mcError_t mc_peer_allow(uint64_t va, McContext *ctx, bool allowed)
{
    int err = 0;

    pthread_mutex_lock(&lock);
    Shown *s = find(va);
    if (s && allowed && !s->on[ctx->device]) {
        err = show(s, ctx);
    } else if (s && !allowed) {
        hide(s, ctx);
    }
    pthread_mutex_unlock(&lock);
    return mc_error_from_kmd(err);
}
