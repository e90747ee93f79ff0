/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t graphs = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_id;
static unsigned last_mark;

void mc_graphs_lock(void)
{
    pthread_mutex_lock(&graphs);
}

void mc_graphs_unlock(void)
{
    pthread_mutex_unlock(&graphs);
}

/* Room for one more. */
static bool grow(McGraphNode ***array, unsigned count, unsigned *room)
{
    if (count < *room) {
        return true;
    }
    unsigned more = *room ? *room * 2 : 4;
    McGraphNode **bigger = realloc(*array, more * sizeof(**array));
    if (!bigger) {
        return false;
    }
    *array = bigger;
    *room = more;
    return true;
}

static unsigned find(McGraphNode *const *array, unsigned count,
                     const McGraphNode *node)
{
    unsigned i = 0;

    while (i < count && array[i] != node) {
        i++;
    }
    return i;
}

/* False: it was not there. */
static bool take_out(McGraphNode **array, unsigned *count,
                     const McGraphNode *node)
{
    unsigned i = find(array, *count, node);

    if (i == *count) {
        return false;
    }
    --*count;
    memmove(&array[i], &array[i + 1], (*count - i) * sizeof(*array));
    return true;
}

/* ---- making and freeing ---- */

static void graph_destroy(McHandle *handle)
{
    McGraph *graph = (McGraph *)handle;

    mc_user_refs_free(graph->objects);
    free(graph->nodes);
    free(graph);
}

static void node_destroy(McHandle *handle)
{
    McGraphNode *node = (McGraphNode *)handle;

    if (node->params.type == mcGraphNodeTypeGraph && node->params.child) {
        mc_handle_put(node->params.child);
    }
    mc_node_params_free(&node->params);
    free(node->in);
    free(node->out);
    free(node);
}

/* Held by whoever made it, and by its handle if it has one. */
static void name(McHandle *handle, McHandleType type, bool named,
                 void (*destroy)(McHandle *handle))
{
    if (named) {
        mc_handle_add(handle, type, NULL, destroy);
        atomic_fetch_add(&handle->refs, 1);
    } else {
        handle->type = type;
        handle->destroy = destroy;
        atomic_init(&handle->refs, 1);
    }
}

static McGraph *graph_make(bool named)
{
    McGraph *graph = calloc(1, sizeof(*graph));

    if (graph) {
        graph->named = named;
        name(&graph->handle, MC_HANDLE_GRAPH, named, graph_destroy);
    }
    return graph;
}

/* Under the lock: makes the handles invalid. What it consists of is put by
 * release(). */
static void forget(McGraph *graph)
{
    graph->dropped = true;
    graph->parent = NULL;
    if (graph->named) {
        mc_handle_remove(graph);
    }
    for (unsigned i = 0; i < graph->count; i++) {
        McGraphNode *node = graph->nodes[i];

        node->graph = NULL;
        if (graph->named) {
            mc_handle_remove(node);
        }
        if (node->params.type == mcGraphNodeTypeGraph) {
            forget(node->params.child);
        }
    }
}

/* Gives back the nodes of a graph that was forgotten. Others may still hold
 * some: they find that those are in no graph. */
static void release(McGraph *graph)
{
    for (unsigned i = 0; i < graph->count; i++) {
        McGraphNode *node = graph->nodes[i];

        if (node->params.type == mcGraphNodeTypeGraph) {
            release(node->params.child);
        }
        mc_handle_put(node);
    }
    graph->count = 0;
}

mcError_t mc_graph_new(McGraph **out)
{
    *out = graph_make(true);
    return *out ? mcSuccess : mcErrorMemoryAllocation;
}

McGraph *mc_graph_get(mcGraph_t handle)
{
    return handle ? mc_handle_get(handle, MC_HANDLE_GRAPH) : NULL;
}

McGraphNode *mc_graph_node_get(mcGraphNode_t handle)
{
    return handle ? mc_handle_get(handle, MC_HANDLE_GRAPH_NODE) : NULL;
}

mcError_t mc_graph_drop(McGraph *graph)
{
    mc_graphs_lock();
    bool there = !graph->dropped && !graph->parent;
    if (there) {
        forget(graph);
    }
    mc_graphs_unlock();
    if (there) {
        release(graph);
    }
    return there ? mcSuccess : mcErrorInvalidValue;
}

/* ---- edges ---- */

/* Under the lock. */
static mcError_t connect(McGraphNode *from, McGraphNode *to)
{
    if (!grow(&from->out, from->out_count, &from->out_room) ||
        !grow(&to->in, to->in_count, &to->in_room)) {
        return mcErrorMemoryAllocation;
    }
    from->out[from->out_count++] = to;
    to->in[to->in_count++] = from;
    return mcSuccess;
}

static bool connected(const McGraphNode *from, const McGraphNode *to)
{
    return from->out_count < to->in_count
               ? find(from->out, from->out_count, to) < from->out_count
               : find(to->in, to->in_count, from) < to->in_count;
}

static void disconnect(McGraphNode *from, McGraphNode *to)
{
    take_out(from->out, &from->out_count, to);
    take_out(to->in, &to->in_count, from);
}

/* Under the lock: the node of that handle, if it is one of the graph. */
static McGraphNode *member(const McGraph *graph, mcGraphNode_t handle)
{
    McGraphNode *node = mc_graph_node_get(handle);

    if (!node) {
        return NULL;
    }
    bool good = node->graph == graph;
    mc_handle_put(node); /* its graph holds it */
    return good ? node : NULL;
}

/* Under the lock: makes an edge, or removes one. */
static mcError_t edge(McGraph *graph, mcGraphNode_t from, mcGraphNode_t to,
                      bool make)
{
    McGraphNode *a = member(graph, from), *b = member(graph, to);

    if (!a || !b || a == b || connected(a, b) == make) {
        return mcErrorInvalidValue;
    }
    if (make) {
        return connect(a, b);
    }
    disconnect(a, b);
    return mcSuccess;
}

/* All of them, or none. */
static mcError_t edges(McGraph *graph, const mcGraphNode_t *from,
                       const mcGraphNode_t *to, size_t count, bool make)
{
    mcError_t error = graph->dropped ? mcErrorInvalidValue : mcSuccess;
    size_t done = 0;

    for (; done < count && error == mcSuccess; done++) {
        error = edge(graph, from[done], to[done], make);
    }
    if (error != mcSuccess && done) {
        /* There is room for what is put back. */
        for (done--; done; done--) {
            edge(graph, from[done - 1], to[done - 1], !make);
        }
    }
    return error;
}

mcError_t mc_graph_connect(McGraph *graph, const mcGraphNode_t *from,
                           const mcGraphNode_t *to, size_t count)
{
    mc_graphs_lock();
    mcError_t error = edges(graph, from, to, count, true);
    mc_graphs_unlock();
    return error;
}

mcError_t mc_graph_disconnect(McGraph *graph, const mcGraphNode_t *from,
                              const mcGraphNode_t *to, size_t count)
{
    mc_graphs_lock();
    mcError_t error = graph->memory_nodes && count
                          ? mcErrorNotSupported
                          : edges(graph, from, to, count, false);
    mc_graphs_unlock();
    return error;
}

/* ---- nodes ---- */

/* Under the lock: appends a node without edges. */
static mcError_t append(McGraph *graph, const McNodeParams *params,
                        McGraphNode **out)
{
    McGraphNode *node = calloc(1, sizeof(*node));

    if (!node || !grow(&graph->nodes, graph->count, &graph->room) ||
        mc_node_params_copy(&node->params, params) != mcSuccess) {
        free(node);
        return mcErrorMemoryAllocation;
    }
    if (params->type == mcGraphNodeTypeGraph) {
        node->params.child = NULL;
    }
    node->graph = graph;
    node->id = ++last_id;
    graph->nodes[graph->count++] = node;
    graph->memory_nodes += params->type == mcGraphNodeTypeMemAlloc ||
                           params->type == mcGraphNodeTypeMemFree;
    name(&node->handle, MC_HANDLE_GRAPH_NODE, graph->named, node_destroy);
    *out = node;
    return mcSuccess;
}

/* Under the lock: takes it out of its graph. The caller releases its child
 * graph, and the node itself. */
static void detach(McGraphNode *node)
{
    McGraph *graph = node->graph;

    while (node->in_count) {
        disconnect(node->in[0], node);
    }
    while (node->out_count) {
        disconnect(node, node->out[0]);
    }
    take_out(graph->nodes, &graph->count, node);
    node->graph = NULL;
    if (graph->named) {
        mc_handle_remove(node);
    }
    if (node->params.type == mcGraphNodeTypeGraph && node->params.child) {
        forget(node->params.child);
    }
}

static void let_go(McGraphNode *node)
{
    if (node->params.type == mcGraphNodeTypeGraph && node->params.child) {
        release(node->params.child);
    }
    mc_handle_put(node);
}

/* Under the lock: the nodes it comes behind, each once. */
static mcError_t put_behind(McGraphNode *node, const mcGraphNode_t *behind,
                            size_t count)
{
    unsigned mark = ++last_mark;

    for (size_t i = 0; i < count; i++) {
        McGraphNode *before = member(node->graph, behind[i]);

        if (!before || before == node || before->mark == mark) {
            return mcErrorInvalidValue;
        }
        before->mark = mark;
        mcError_t error = connect(before, node);
        if (error != mcSuccess) {
            return error;
        }
    }
    return mcSuccess;
}

static mcError_t copy_into(McGraph *to, McGraph *from);

/* Under the lock: a node of a copy has a child graph of its own. */
static mcError_t adopt(McGraphNode *node, McGraph *child)
{
    McGraph *copy = graph_make(node->graph->named);

    if (!copy) {
        return mcErrorMemoryAllocation;
    }
    node->params.child = copy;
    copy->parent = node;
    return copy_into(copy, child);
}

/* Under the lock. What it leaves behind when it fails goes with "to". */
static mcError_t copy_into(McGraph *to, McGraph *from)
{
    mcError_t error = mc_user_refs_copy(&to->objects, from->objects);

    for (unsigned i = 0; i < from->count && error == mcSuccess; i++) {
        McGraphNode *old = from->nodes[i], *node;

        error = append(to, &old->params, &node);
        if (error != mcSuccess) {
            break;
        }
        node->origin = old->id;
        old->twin = node;
        if (old->params.type == mcGraphNodeTypeGraph) {
            error = adopt(node, old->params.child);
        }
    }
    /* Edges may lead to nodes that were added earlier. */
    for (unsigned i = 0; i < from->count && error == mcSuccess; i++) {
        McGraphNode *old = from->nodes[i];

        for (unsigned k = 0; k < old->in_count && error == mcSuccess; k++) {
            error = connect(old->in[k]->twin, old->twin);
        }
    }
    return error;
}

/* Under the lock. */
static bool frees(const McGraph *graph, const void *address)
{
    for (unsigned i = 0; i < graph->count && graph->memory_nodes; i++) {
        if (graph->nodes[i]->params.type == mcGraphNodeTypeMemFree &&
            graph->nodes[i]->params.free == address) {
            return true;
        }
    }
    return false;
}

mcError_t mc_graph_add(McGraph *graph, const mcGraphNode_t *behind,
                       size_t count, const McNodeParams *params,
                       McGraphNode **out)
{
    McGraph *child = params->type == mcGraphNodeTypeGraph ? params->child
                                                          : NULL;
    McGraphNode *node = NULL;
    mcError_t error = mcErrorInvalidValue;

    mc_graphs_lock();
    if (!graph->dropped && (!child || (!child->dropped && child != graph)) &&
        (params->type != mcGraphNodeTypeMemFree ||
         !frees(graph, params->free))) {
        error = child && child->memory_nodes ? mcErrorNotSupported
                                             : append(graph, params, &node);
    }
    if (error == mcSuccess) {
        error = put_behind(node, behind, count);
    }
    if (error == mcSuccess && child) {
        error = adopt(node, child);
    }
    if (error != mcSuccess && node) {
        detach(node);
    }
    mc_graphs_unlock();
    if (error != mcSuccess && node) {
        let_go(node);
        node = NULL;
    }
    *out = node;
    return error;
}

mcError_t mc_graph_remove(McGraphNode *node)
{
    mcError_t error = mcErrorInvalidValue;

    mc_graphs_lock();
    if (node->graph) {
        error = node->graph->memory_nodes ? mcErrorNotSupported : mcSuccess;
    }
    if (error == mcSuccess) {
        detach(node);
    }
    mc_graphs_unlock();
    if (error == mcSuccess) {
        let_go(node);
    }
    return error;
}

/* Under the lock that guards the node. */
mcError_t mc_graph_replace(McGraphNode *node, const McNodeParams *params)
{
    McNodeParams copy, old = node->params;

    if (old.type != params->type) {
        return mcErrorInvalidValue;
    }
    mcError_t error = mc_node_params_copy(&copy, params);
    if (error == mcSuccess) {
        node->params = copy;
        mc_node_params_free(&old);
    }
    return error;
}

mcError_t mc_graph_set(McGraphNode *node, const McNodeParams *params)
{
    mc_graphs_lock();
    mcError_t error = node->graph ? mc_graph_replace(node, params)
                                  : mcErrorInvalidValue;
    mc_graphs_unlock();
    return error;
}

mcError_t mc_graph_params(McGraphNode *node, mcGraphNodeType type,
                          McNodeParams *params)
{
    mcError_t error = mcErrorInvalidValue;

    mc_graphs_lock();
    if (node->graph && node->params.type == type) {
        *params = node->params;
        error = mcSuccess;
    }
    mc_graphs_unlock();
    return error;
}

mcError_t mc_graph_copy(McGraph *graph, bool named, McGraph **out)
{
    mcError_t error = mcErrorInvalidValue;
    McGraph *copy = NULL;

    mc_graphs_lock();
    if (!graph->dropped) {
        error = named && graph->memory_nodes ? mcErrorNotSupported
                                             : mcSuccess;
    }
    if (error == mcSuccess) {
        copy = graph_make(named);
        error = copy ? copy_into(copy, graph) : mcErrorMemoryAllocation;
    }
    mc_graphs_unlock();
    if (error != mcSuccess && copy) {
        mc_graph_drop(copy);
        mc_handle_put(copy);
        copy = NULL;
    }
    *out = copy;
    return error;
}

/* ---- what is there ---- */

/* A list for the user: see mcGraphGetNodes(). */
typedef struct List {
    mcGraphNode_t *nodes;
    size_t room, count;
} List;

static void list_add(List *list, McGraphNode *node)
{
    if (!list->nodes) {
        list->count++;
    } else if (list->count < list->room) {
        list->nodes[list->count++] = (mcGraphNode_t)node;
    }
}

static void list_end(List *list)
{
    for (size_t i = list->count; list->nodes && i < list->room; i++) {
        list->nodes[i] = NULL;
    }
}

mcError_t mc_graph_nodes(McGraph *graph, bool roots, mcGraphNode_t *nodes,
                         size_t *count)
{
    List list = {nodes, *count, 0};
    mcError_t error = mcErrorInvalidValue;

    mc_graphs_lock();
    if (!graph->dropped) {
        for (unsigned i = 0; i < graph->count; i++) {
            if (!roots || !graph->nodes[i]->in_count) {
                list_add(&list, graph->nodes[i]);
            }
        }
        list_end(&list);
        *count = list.count;
        error = mcSuccess;
    }
    mc_graphs_unlock();
    return error;
}

mcError_t mc_graph_edges(McGraph *graph, mcGraphNode_t *from,
                         mcGraphNode_t *to, size_t *count)
{
    List first = {from, *count, 0}, second = {to, *count, 0};
    mcError_t error = mcErrorInvalidValue;

    mc_graphs_lock();
    if (!graph->dropped) {
        for (unsigned i = 0; i < graph->count; i++) {
            McGraphNode *node = graph->nodes[i];

            for (unsigned k = 0; k < node->out_count; k++) {
                list_add(&first, node);
                list_add(&second, node->out[k]);
            }
        }
        list_end(&first);
        list_end(&second);
        *count = first.count;
        error = mcSuccess;
    }
    mc_graphs_unlock();
    return error;
}

mcError_t mc_graph_neighbours(McGraphNode *node, bool behind,
                              mcGraphNode_t *nodes, size_t *count)
{
    List list = {nodes, *count, 0};
    mcError_t error = mcErrorInvalidValue;

    mc_graphs_lock();
    if (node->graph) {
        unsigned n = behind ? node->out_count : node->in_count;

        for (unsigned i = 0; i < n; i++) {
            list_add(&list, behind ? node->out[i] : node->in[i]);
        }
        list_end(&list);
        *count = list.count;
        error = mcSuccess;
    }
    mc_graphs_unlock();
    return error;
}

static uint64_t key_of(const McGraphNode *node, bool origin)
{
    return origin ? node->origin : node->id;
}

McGraphNode *mc_graph_find(const McGraph *graph, uint64_t id, bool origin)
{
    unsigned low = 0, high = graph->count;

    /* Copies have the order of what they were copied of. */
    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (key_of(graph->nodes[middle], origin) < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < graph->count && key_of(graph->nodes[low], origin) == id) {
        return graph->nodes[low];
    }
    for (unsigned i = 0; i < graph->count; i++) {
        McGraphNode *node = graph->nodes[i];

        if (node->params.type == mcGraphNodeTypeGraph) {
            node = mc_graph_find(node->params.child, id, origin);
            if (node) {
                return node;
            }
        }
    }
    return NULL;
}
