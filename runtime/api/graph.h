/* SPDX-License-Identifier: MIT */
/* What the entry points of graphs share. */
#ifndef MC_API_GRAPH_H
#define MC_API_GRAPH_H

#include "api.h"
#include "core/graph.h"

#define API_GRAPH(graph, handle)                                               \
    API_OBJECT(McGraph, graph, handle, MC_HANDLE_GRAPH, mcErrorInvalidValue)
#define API_NODE(node, handle)                                                 \
    API_OBJECT(McGraphNode, node, handle, MC_HANDLE_GRAPH_NODE,                \
               mcErrorInvalidValue)

/* Adds a node of which everything but that was checked. */
mcError_t mc_api_add_node(mcGraphNode_t *out, McGraph *graph,
                          const mcGraphNode_t *behind, size_t count,
                          const McNodeParams *params);

#endif
