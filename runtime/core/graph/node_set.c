/* SPDX-License-Identifier: MIT */
#include "node_set.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(McNodeSet *set, size_t count)
{
    if (count <= set->room) {
        return true;
    }
    size_t room = count > set->room * 2 ? count : set->room * 2;
    mcGraphNode_t *more = realloc(set->nodes, room * sizeof(*more));
    if (!more) {
        return false;
    }
    set->nodes = more;
    set->room = room;
    return true;
}

static bool has(const McNodeSet *set, mcGraphNode_t node)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->nodes[i] == node) {
            return true;
        }
    }
    return false;
}

static void put(McNodeSet *set, mcGraphNode_t node)
{
    if (!has(set, node)) {
        set->nodes[set->count++] = node;
    }
}

bool mc_node_set_add(McNodeSet *to, const McNodeSet *from)
{
    if (!from->count) {
        return true;
    }
    if (!reserve(to, to->count + from->count)) {
        return false;
    }
    for (size_t i = 0; i < from->count; i++) {
        put(to, from->nodes[i]);
    }
    return true;
}

bool mc_node_set_copy(McNodeSet *to, const McNodeSet *from)
{
    size_t old = to->count;

    to->count = 0;
    if (mc_node_set_add(to, from)) {
        return true;
    }
    to->count = old;
    return false;
}

bool mc_node_set_only(McNodeSet *set, mcGraphNode_t node)
{
    if (!reserve(set, 1)) {
        return false;
    }
    set->nodes[0] = node;
    set->count = 1;
    return true;
}

void mc_node_set_free(McNodeSet *set)
{
    free(set->nodes);
    *set = (McNodeSet){0};
}

/* Under the lock of graphs: the node of that handle, if it is in the graph,
 * which then holds it. */
static McGraphNode *member(const McGraph *graph, mcGraphNode_t handle)
{
    McGraphNode *node = mc_graph_node_get(handle);

    if (!node) {
        return NULL;
    }
    bool good = node->graph == graph;
    mc_handle_put(node);
    return good ? node : NULL;
}

mcError_t mc_node_set_of(McNodeSet *set, McGraph *graph,
                         const mcGraphNode_t *nodes, size_t count)
{
    mcError_t error = mcSuccess;

    mc_graphs_lock();
    for (size_t i = 0; i < count && error == mcSuccess; i++) {
        mcGraphNode_t node = nodes[i]; /* the caller may change its own */

        if (!member(graph, node)) {
            error = mcErrorInvalidValue;
        } else if (!reserve(set, set->count + 1)) {
            error = mcErrorMemoryAllocation;
        } else {
            put(set, node);
        }
    }
    mc_graphs_unlock();
    return error;
}

static void mark_all(McGraph *graph, unsigned mark)
{
    for (unsigned i = 0; i < graph->count; i++) {
        graph->nodes[i]->mark = mark;
    }
}

static size_t push(McGraphNode **stack, size_t depth, McGraphNode *node)
{
    if (node && !node->mark) {
        node->mark = 1;
        stack[depth++] = node;
    }
    return depth;
}

/* Marks those of the set, and all before them; the stack has room for the whole
 * graph. */
static void mark_before(McGraph *graph, const McNodeSet *last,
                        McGraphNode **stack)
{
    size_t depth = 0;

    for (size_t i = 0; i < last->count; i++) {
        depth = push(stack, depth, member(graph, last->nodes[i]));
    }
    while (depth) {
        McGraphNode *node = stack[--depth];

        for (unsigned i = 0; i < node->in_count; i++) {
            depth = push(stack, depth, node->in[i]);
        }
    }
}

mcError_t mc_nodes_come_before(McGraph *graph, const McNodeSet *ends,
                               const McNodeSet *last)
{
    mcError_t error = mcSuccess;

    if (!ends->count) {
        return mcSuccess;
    }
    mc_graphs_lock();
    McGraphNode **stack = malloc((graph->count + 1) * sizeof(*stack));
    if (stack) {
        /* Marks of everybody else are not 0. */
        mark_all(graph, 0);
        mark_before(graph, last, stack);
        for (size_t i = 0; i < ends->count && error == mcSuccess; i++) {
            McGraphNode *node = member(graph, ends->nodes[i]);

            error = node && !node->mark ? mcErrorInvalidValue : mcSuccess;
        }
        mark_all(graph, 0);
        free(stack);
    } else {
        error = mcErrorMemoryAllocation;
    }
    mc_graphs_unlock();
    return error;
}
