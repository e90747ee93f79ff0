/* SPDX-License-Identifier: MIT */
#include "graph_update.h"

/* ---- one node ---- */

mcError_t mc_graph_exec_set(McGraphExec *exec, const McGraphNode *node,
                            const McNodeParams *params)
{
    McContext *ctx = exec->handle.ctx;
    mcError_t error = mcErrorInvalidValue;

    pthread_mutex_lock(&exec->lock);
    McGraphNode *own = mc_graph_find(exec->graph, node->id, true);
    if (own && own->params.type == params->type) {
        error = params->device == ctx->device ? mc_graph_check(ctx, params)
                                              : mcSuccess;
    }
    if (error == mcSuccess) {
        error = mc_graph_replace(own, params);
        exec->stale = true;
    }
    pthread_mutex_unlock(&exec->lock);
    return error;
}

static bool can_disable(const McGraphNode *node)
{
    return node && (node->params.type == mcGraphNodeTypeKernel ||
                    node->params.type == mcGraphNodeTypeMemcpy ||
                    node->params.type == mcGraphNodeTypeMemset);
}

mcError_t mc_graph_exec_enable(McGraphExec *exec, const McGraphNode *node,
                               bool on)
{
    pthread_mutex_lock(&exec->lock);
    McGraphNode *own = mc_graph_find(exec->graph, node->id, true);
    bool can = can_disable(own);
    if (can && own->disabled == on) {
        own->disabled = !on;
        exec->stale = true;
    }
    pthread_mutex_unlock(&exec->lock);
    return can ? mcSuccess : mcErrorInvalidValue;
}

mcError_t mc_graph_exec_enabled(McGraphExec *exec, const McGraphNode *node,
                                bool *on)
{
    pthread_mutex_lock(&exec->lock);
    McGraphNode *own = mc_graph_find(exec->graph, node->id, true);
    bool can = can_disable(own);
    if (can) {
        *on = !own->disabled;
    }
    pthread_mutex_unlock(&exec->lock);
    return can ? mcSuccess : mcErrorInvalidValue;
}

/* ---- all nodes ---- */

typedef struct Update {
    McContext *ctx;
    mcGraphExecUpdateResult result;
    McGraphNode *bad; /* of the new graph */
} Update;

static bool differ(Update *u, mcGraphExecUpdateResult result, McGraphNode *bad)
{
    u->result = result;
    u->bad = bad;
    return false;
}

/* Places of nodes in their graphs: marks. */
static void number(McGraph *graph)
{
    for (unsigned i = 0; i < graph->count; i++) {
        graph->nodes[i]->mark = i;
    }
}

static bool same_edges(const McGraphNode *old, const McGraphNode *new)
{
    if (old->in_count != new->in_count) {
        return false;
    }
    for (unsigned i = 0; i < old->in_count; i++) {
        unsigned k = 0;

        while (k < new->in_count && new->in[k]->mark != old->in[i]->mark) {
            k++;
        }
        if (k == new->in_count) {
            return false;
        }
    }
    return true;
}

static bool same_memory(const McNodeParams *old, const McNodeParams *new)
{
    switch ((int)old->type) {
    case mcGraphNodeTypeMemAlloc:
        return old->alloc.memory == new->alloc.memory;
    case mcGraphNodeTypeMemFree:
        return old->free == new->free;
    }
    return true;
}

/* Makes "new" the successor of "old", if it is of the same kind. */
static bool succeed(Update *u, McGraph *old, McGraph *new);

static bool succeed_node(Update *u, McGraphNode *old, McGraphNode *new)
{
    if (old->params.type != new->params.type) {
        return differ(u, mcGraphExecUpdateErrorNodeTypeChanged, new);
    }
    if (!same_edges(old, new)) {
        return differ(u, mcGraphExecUpdateErrorTopologyChanged, new);
    }
    if (!same_memory(&old->params, &new->params)) {
        return differ(u, mcGraphExecUpdateErrorNotSupported, new);
    }
    if (old->params.device != new->params.device ||
        (new->params.device == u->ctx->device &&
         mc_graph_check(u->ctx, &new->params) != mcSuccess)) {
        return differ(u, mcGraphExecUpdateErrorParametersChanged, new);
    }
    if (old->params.type == mcGraphNodeTypeGraph &&
        !succeed(u, old->params.child, new->params.child)) {
        return false;
    }
    new->disabled = old->disabled;
    return true;
}

static bool succeed(Update *u, McGraph *old, McGraph *new)
{
    if (old->count != new->count) {
        return differ(u, mcGraphExecUpdateErrorTopologyChanged, NULL);
    }
    number(old);
    number(new);
    for (unsigned i = 0; i < old->count; i++) {
        if (!succeed_node(u, old->nodes[i], new->nodes[i])) {
            return false;
        }
    }
    return true;
}

/* Nodes are still found by those of the graph that was instantiated. */
static void inherit(McGraph *old, McGraph *new)
{
    for (unsigned i = 0; i < old->count; i++) {
        new->nodes[i]->origin = old->nodes[i]->origin;
        if (old->nodes[i]->params.type == mcGraphNodeTypeGraph) {
            inherit(old->nodes[i]->params.child, new->nodes[i]->params.child);
        }
    }
}

static void let_go(McGraph *graph)
{
    mc_graph_drop(graph);
    mc_handle_put(graph);
}

mcError_t mc_graph_exec_update(McGraphExec *exec, McGraph *graph,
                               mcGraphNode_t *bad,
                               mcGraphExecUpdateResult *result)
{
    Update u = {.ctx = exec->handle.ctx};
    McGraph *new;
    mcError_t error = mc_graph_copy(graph, false, &new);

    *bad = NULL;
    *result = mcGraphExecUpdateError;
    if (error != mcSuccess) {
        return error;
    }
    pthread_mutex_lock(&exec->lock);
    bool good = succeed(&u, exec->graph, new);
    if (good) {
        McGraph *old = exec->graph;

        inherit(old, new);
        exec->graph = new;
        exec->stale = true;
        new = old;
    }
    pthread_mutex_unlock(&exec->lock);
    *result = u.result;
    if (u.bad) {
        mc_graphs_lock();
        *bad = (mcGraphNode_t)mc_graph_find(graph, u.bad->origin, false);
        mc_graphs_unlock();
    }
    let_go(new);
    return good ? mcSuccess : mcErrorGraphExecUpdateFailure;
}

mcError_t mc_graph_exec_set_child(McGraphExec *exec, const McGraphNode *node,
                                  McGraph *child)
{
    Update u = {.ctx = exec->handle.ctx};
    McGraph *new;
    mcError_t error = mc_graph_copy(child, false, &new);

    if (error != mcSuccess) {
        return error;
    }
    pthread_mutex_lock(&exec->lock);
    McGraphNode *own = mc_graph_find(exec->graph, node->id, true);
    error = own && own->params.type == mcGraphNodeTypeGraph &&
                    succeed(&u, own->params.child, new)
                ? mcSuccess
                : mcErrorInvalidValue;
    if (error == mcSuccess) {
        McGraph *old = own->params.child;

        inherit(old, new);
        own->params.child = new;
        new->parent = own;
        old->parent = NULL;
        new = old;
        exec->stale = true;
    }
    pthread_mutex_unlock(&exec->lock);
    let_go(new);
    return error;
}
