/* SPDX-License-Identifier: MIT */
#include "graph_memory.h"

#include <stdlib.h>

#include "runtime.h"

typedef struct Memory {
    McGraphMemory base;
    struct Memory *next, **link;
    int device;
    uint64_t serial; /* of the context */
    uint64_t va, size;
    bool used; /* which is a reference */
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
            mc_pool_free_now(ctx, m->va);
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
        end_use(m);
    }
    pthread_mutex_unlock(&memory_lock);
    if (used) {
        mc_graph_memory_put(&m->base);
    }
    return used ? mcSuccess : mcErrorInvalidValue;
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

/* Those in use that the graph frees; the caller puts their references. */
static void change(const McGraph *graph, Memory **freed, unsigned *count)
{
    for (unsigned i = 0; i < graph->count; i++) {
        const McNodeParams *p = &graph->nodes[i]->params;

        if (p->type == mcGraphNodeTypeMemAlloc &&
            !((Memory *)p->alloc.memory)->used) {
            start_use((Memory *)p->alloc.memory);
        }
    }
    for (unsigned i = 0; i < graph->count; i++) {
        const McNodeParams *p = &graph->nodes[i]->params;

        if (p->type == mcGraphNodeTypeMemFree) {
            Memory *m = find(p->free);

            if (m && m->used) {
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
    bool may = may_launch(graph, auto_free);
    if (may) {
        change(graph, freed, &count);
    }
    pthread_mutex_unlock(&memory_lock);
    for (unsigned i = 0; i < count; i++) {
        mc_graph_memory_put(&freed[i]->base);
    }
    free(freed);
    return may ? mcSuccess : mcErrorInvalidValue;
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
