/* SPDX-License-Identifier: MIT */
#include "graph_memory.h"

#include <stdlib.h>

#include "core/context/runtime.h"
#include "core/pool/pool_backing.h"

typedef struct Memory {
    McGraphMemory base;
    struct Memory *next, **link;
    int device;
    uint64_t serial; /* of the context */
    uint64_t va, size;
    bool used;  /* which is a reference */
    bool empty; /* a trim has taken its memory away */
    /* Who may be busy with it, beside who has it in use: */
    unsigned launches; /* that are being submitted */
    McQueue *queue;    /* of the last one; NULL: there was none */
    uint64_t value;
    bool anybody;      /* work in any stream of its context, too */
} Memory;

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static Memory *all;
static struct {
    uint64_t serial, now, high;
} usage[MC_MAX_DEVICES];

/* Under the lock, as all up to the next section. */
static Memory *find(const void *address)
{
    Memory *m = all;

    while (m && m->va != (uintptr_t)address) {
        m = m->next;
    }
    return m;
}

/* Nothing that was submitted uses it. The context is the memory's. */
static bool idle(Memory *m, McContext *ctx)
{
    if (m->used || m->launches ||
        (m->queue && !mc_queue_reached(m->queue, m->value))) {
        return false;
    }
    m->anybody = m->anybody && !mc_queues_empty(ctx);
    return !m->anybody;
}

static void start_use(Memory *m)
{
    if (usage[m->device].serial != m->serial) {
        usage[m->device].serial = m->serial;
        usage[m->device].now = usage[m->device].high = 0;
    }
    m->used = true;
    atomic_fetch_add(&m->base.refs, 1);
    usage[m->device].now += m->size;
    if (usage[m->device].now > usage[m->device].high) {
        usage[m->device].high = usage[m->device].now;
    }
}

/* The caller puts the reference, without the lock. */
static void end_use(Memory *m)
{
    m->used = false;
    if (usage[m->device].serial == m->serial) {
        usage[m->device].now -= m->size;
    }
}

/* ---- making and freeing ---- */

static void destroy(McGraphMemory *base)
{
    Memory *m = (Memory *)base;
    McContext *ctx = mc_context_peek(m->device);

    pthread_mutex_lock(&memory_lock);
    *m->link = m->next;
    if (m->next) {
        m->next->link = m->link;
    }
    pthread_mutex_unlock(&memory_lock);
    if (ctx) {
        if (ctx->serial == m->serial) {
            mc_pool_free_now(ctx, m->va, idle(m, ctx));
        }
        mc_context_put(ctx);
    }
    free(m);
}

mcError_t mc_graph_memory_new(McContext *ctx, uint64_t size, McCaller caller,
                              McGraphMemory **out, void **address)
{
    Memory *m = calloc(1, sizeof(*m));

    if (!m) {
        return mcErrorMemoryAllocation;
    }
    mcError_t error = mc_pool_alloc(mc_pools_graph(ctx), NULL, size, caller,
                                    &m->va);
    if (error != mcSuccess) {
        free(m);
        return error;
    }
    atomic_init(&m->base.refs, 1);
    m->base.destroy = destroy;
    m->device = ctx->device;
    m->serial = ctx->serial;
    m->size = size;
    pthread_mutex_lock(&memory_lock);
    m->next = all;
    m->link = &all;
    if (all) {
        all->link = &m->next;
    }
    all = m;
    pthread_mutex_unlock(&memory_lock);
    *out = &m->base;
    *address = (void *)(uintptr_t)m->va;
    return mcSuccess;
}

bool mc_graph_memory_is(const void *address)
{
    pthread_mutex_lock(&memory_lock);
    bool is = find(address) != NULL;
    pthread_mutex_unlock(&memory_lock);
    return is;
}

mcError_t mc_graph_memory_free(const void *address)
{
    pthread_mutex_lock(&memory_lock);
    Memory *m = find(address);
    bool used = m && m->used;
    if (used) {
        m->anybody = true; /* it is said nowhere what used it meanwhile */
        end_use(m);
    }
    pthread_mutex_unlock(&memory_lock);
    if (used) {
        mc_graph_memory_put(&m->base);
    }
    return used ? mcSuccess : mcErrorInvalidValue;
}

/* ---- going back to the device ---- */

static bool piece_idle(void *opaque, uint64_t va)
{
    McContext *ctx = opaque;
    Memory *m = find((void *)(uintptr_t)va);

    return m && m->serial == ctx->serial && idle(m, ctx);
}

static bool trim(McContext *ctx)
{
    bool any = mc_pool_unback(mc_pools_graph(ctx), piece_idle, ctx);

    for (Memory *m = all; m && any; m = m->next) {
        if (m->serial == ctx->serial) {
            m->empty = !mc_pool_backed(ctx, m->va);
        }
    }
    return any;
}

bool mc_graph_memory_trim(McContext *ctx)
{
    pthread_mutex_lock(&memory_lock);
    bool any = trim(ctx);
    pthread_mutex_unlock(&memory_lock);
    mc_pool_trim(mc_pools_graph(ctx), 0);
    return any;
}

/* ---- launches ---- */

/* Under the lock: the graph allocates what the address is of. */
static bool allocates(const McGraph *graph, const Memory *m)
{
    for (unsigned i = 0; i < graph->count; i++) {
        const McNodeParams *p = &graph->nodes[i]->params;

        if (p->type == mcGraphNodeTypeMemAlloc &&
            p->alloc.memory == &m->base) {
            return true;
        }
    }
    return false;
}

static bool may_launch(const McGraph *graph, bool auto_free)
{
    for (unsigned i = 0; i < graph->count; i++) {
        const McNodeParams *p = &graph->nodes[i]->params;

        if (p->type == mcGraphNodeTypeMemAlloc) {
            if (((Memory *)p->alloc.memory)->used && !auto_free) {
                return false;
            }
        } else if (p->type == mcGraphNodeTypeMemFree) {
            const Memory *m = find(p->free);

            if (!m || (!m->used && !allocates(graph, m))) {
                return false;
            }
        }
    }
    return true;
}

/* Memory that a trim took comes back. */
static mcError_t refill(Memory *m)
{
    McContext *ctx = m->empty ? mc_context_peek(m->device) : NULL;
    mcError_t error = mcSuccess;

    if (ctx && ctx->serial == m->serial) {
        error = mc_pool_back(ctx, m->va);
        /* Not mc_context_reclaim(): the lock is held. */
        if (error == mcErrorMemoryAllocation && mc_pools_reclaim(ctx)) {
            error = mc_pool_back(ctx, m->va);
        }
        if (error == mcErrorMemoryAllocation && trim(ctx)) {
            error = mc_pool_back(ctx, m->va);
        }
        m->empty = error != mcSuccess;
    }
    if (ctx) {
        mc_context_put(ctx);
    }
    return error;
}

/* The memory of the graph's nodes is wanted, or no more. */
static void want(const McGraph *graph, bool wanted)
{
    for (unsigned i = 0; i < graph->count; i++) {
        const McNodeParams *p = &graph->nodes[i]->params;

        if (p->type == mcGraphNodeTypeMemAlloc) {
            ((Memory *)p->alloc.memory)->launches += wanted ? 1 : -1;
        }
    }
}

static mcError_t refill_all(const McGraph *graph)
{
    mcError_t error = mcSuccess;

    want(graph, true); /* so that one does not take that of another */
    for (unsigned i = 0; i < graph->count && error == mcSuccess; i++) {
        const McNodeParams *p = &graph->nodes[i]->params;

        if (p->type == mcGraphNodeTypeMemAlloc) {
            error = refill((Memory *)p->alloc.memory);
        }
    }
    want(graph, false);
    return error;
}

/* Those in use that the graph frees; the caller puts their references. */
static void change(const McGraph *graph, Memory **freed, unsigned *count)
{
    for (unsigned i = 0; i < graph->count; i++) {
        const McNodeParams *p = &graph->nodes[i]->params;

        if (p->type == mcGraphNodeTypeMemAlloc) {
            Memory *m = (Memory *)p->alloc.memory;

            m->launches++;
            if (!m->used) {
                start_use(m);
            }
        }
    }
    for (unsigned i = 0; i < graph->count; i++) {
        const McNodeParams *p = &graph->nodes[i]->params;

        if (p->type == mcGraphNodeTypeMemFree) {
            Memory *m = find(p->free);

            if (m && m->used) {
                m->anybody |= !allocates(graph, m);
                end_use(m);
                freed[(*count)++] = m;
            }
        }
    }
}

mcError_t mc_graph_memory_launch(McGraph *graph, bool auto_free)
{
    if (!graph->memory_nodes) {
        return mcSuccess;
    }
    Memory **freed = malloc(graph->memory_nodes * sizeof(*freed));
    unsigned count = 0;
    if (!freed) {
        return mcErrorMemoryAllocation;
    }
    pthread_mutex_lock(&memory_lock);
    mcError_t error = may_launch(graph, auto_free) ? refill_all(graph)
                                                   : mcErrorInvalidValue;
    if (error == mcSuccess) {
        change(graph, freed, &count);
    }
    pthread_mutex_unlock(&memory_lock);
    for (unsigned i = 0; i < count; i++) {
        mc_graph_memory_put(&freed[i]->base);
    }
    free(freed);
    return error;
}

void mc_graph_memory_launched(McGraph *graph, McContext *ctx, McQueue *queue,
                              uint64_t value)
{
    if (!graph->memory_nodes) {
        return;
    }
    pthread_mutex_lock(&memory_lock);
    for (unsigned i = 0; i < graph->count; i++) {
        const McNodeParams *p = &graph->nodes[i]->params;

        if (p->type == mcGraphNodeTypeMemAlloc) {
            Memory *m = (Memory *)p->alloc.memory;

            m->launches--;
            /* Another executable graph need not have waited for the last. */
            m->anybody |= m->serial != ctx->serial ||
                          (m->queue && m->queue != queue &&
                           !mc_queue_reached(m->queue, m->value));
            if (m->serial == ctx->serial && queue) {
                m->queue = queue;
                m->value = value;
            }
        }
    }
    pthread_mutex_unlock(&memory_lock);
}

uint64_t mc_graph_memory_used(McContext *ctx, bool high)
{
    uint64_t bytes = 0;

    pthread_mutex_lock(&memory_lock);
    if (usage[ctx->device].serial == ctx->serial) {
        bytes = high ? usage[ctx->device].high : usage[ctx->device].now;
    }
    pthread_mutex_unlock(&memory_lock);
    return bytes;
}

void mc_graph_memory_reset_high(McContext *ctx)
{
    pthread_mutex_lock(&memory_lock);
    usage[ctx->device].high = usage[ctx->device].now;
    pthread_mutex_unlock(&memory_lock);
}

void mc_graph_memory_detach(McContext *ctx)
{
    Memory *m;

    do {
        pthread_mutex_lock(&memory_lock);
        for (m = all; m && !(m->serial == ctx->serial && m->used);) {
            m = m->next;
        }
        if (m) {
            end_use(m);
        }
        pthread_mutex_unlock(&memory_lock);
        if (m) {
            mc_graph_memory_put(&m->base);
        }
    } while (m);
}
