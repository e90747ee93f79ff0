/* SPDX-License-Identifier: MIT */
/*
 * Graphs as users build them: nodes and edges. Nothing here knows of streams or
 * packets.
 *
 * Graphs belong to no context. One lock guards all of them; it is held for
 * short, and never while a device is waited for. mc_graph_* take it.
 */
#ifndef MC_CORE_GRAPH_H
#define MC_CORE_GRAPH_H

#include "core/context/handle.h"
#include "graph_node.h"
#include "user_object.h"

struct McGraphNode {
    McHandle handle;
    McGraph *graph;            /* NULL: it was removed */
    uint64_t id;               /* ascending; of the process */
    uint64_t origin;           /* id of the node it was copied of, or 0 */
    McNodeParams params;
    bool disabled;             /* of executable graphs */
    McGraphNode **in, **out;   /* edges, in the order they were added */
    unsigned in_count, out_count, in_room, out_room;
    unsigned mark;             /* of whoever walks the graph */
    McGraphNode *twin;         /* while its graph is copied */
    unsigned end;              /* while it is planned: the level behind it */
};

struct McGraph {
    McHandle handle;
    bool named;          /* has a handle, and so have its nodes */
    bool dropped;
    McGraphNode **nodes; /* in the order they were added, that of their ids */
    unsigned count, room;
    unsigned memory_nodes; /* that allocate or free */
    McGraphNode *parent;   /* the node whose child graph it is */
    McUserRef *objects;    /* of the user, which live as long as it does */
};

/* Held by the caller, who gives it back with mc_handle_put(). */
mcError_t mc_graph_new(McGraph **out);
McGraph *mc_graph_get(mcGraph_t handle);
McGraphNode *mc_graph_node_get(mcGraphNode_t handle);
/* Makes the handles invalid, of its nodes too. mcErrorInvalidValue: it is a
 * child graph, or gone. The caller still holds it. */
mcError_t mc_graph_drop(McGraph *graph);

/* A node behind count others. params is copied, with its child graph.
 * mcErrorInvalidValue: one of the others is not of this graph, or named twice;
 * the child graph is the graph itself, or has memory nodes. */
mcError_t mc_graph_add(McGraph *graph, const mcGraphNode_t *behind,
                       size_t count, const McNodeParams *params,
                       McGraphNode **out);
/* As mcGraphDestroyNode and its neighbours (mc_graph.h). */
mcError_t mc_graph_remove(McGraphNode *node);
/* What is in it from now on: params of its type, copied. mcErrorInvalidValue. */
mcError_t mc_graph_set(McGraphNode *node, const McNodeParams *params);
/* What is in it, if it is of that type; arrays stay the node's. */
mcError_t mc_graph_params(McGraphNode *node, mcGraphNodeType type,
                          McNodeParams *params);
mcError_t mc_graph_connect(McGraph *graph, const mcGraphNode_t *from,
                           const mcGraphNode_t *to, size_t count);
mcError_t mc_graph_disconnect(McGraph *graph, const mcGraphNode_t *from,
                              const mcGraphNode_t *to, size_t count);
mcError_t mc_graph_nodes(McGraph *graph, bool roots, mcGraphNode_t *nodes,
                         size_t *count);
mcError_t mc_graph_edges(McGraph *graph, mcGraphNode_t *from,
                         mcGraphNode_t *to, size_t *count);
mcError_t mc_graph_neighbours(McGraphNode *node, bool behind,
                              mcGraphNode_t *nodes, size_t *count);

/* A copy, with child graphs. Named: it has a handle; held. Else it is for the
 * caller alone, who frees it with mc_graph_drop() and mc_handle_put().
 * mcErrorNotSupported: named, and there are memory nodes. */
mcError_t mc_graph_copy(McGraph *graph, bool named, McGraph **out);

/* ---- under the lock ---- */

void mc_graphs_lock(void);
void mc_graphs_unlock(void);
/* mc_graph_set(); of a graph that is the caller's alone without the lock. */
mcError_t mc_graph_replace(McGraphNode *node, const McNodeParams *params);
/* The node of graph, or of one of its child graphs, with that id, or that was
 * copied of the one with it; NULL: there is none. */
McGraphNode *mc_graph_find(const McGraph *graph, uint64_t id, bool origin);

#endif
