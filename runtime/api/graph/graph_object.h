/* SPDX-License-Identifier: MIT */
/* What the entry points of graphs share. */
#ifndef MC_API_GRAPH_OBJECT_H
#define MC_API_GRAPH_OBJECT_H

#include "api/api.h"
#include "core/exec/graph_exec.h"
#include "core/graph/graph.h"

#define API_GRAPH(graph, handle)                                               \
    API_OBJECT(McGraph, graph, handle, MC_HANDLE_GRAPH, mcErrorInvalidValue)
#define API_NODE(node, handle)                                                 \
    API_OBJECT(McGraphNode, node, handle, MC_HANDLE_GRAPH_NODE,                \
               mcErrorInvalidValue)

#define API_EXEC(exec, handle)                                                 \
    API_OBJECT(McGraphExec, exec, handle, MC_HANDLE_GRAPH_EXEC,                \
               mcErrorInvalidValue)

/* Adds a node of which everything but that was checked. */
mcError_t mc_api_add_node(mcGraphNode_t *out, McGraph *graph,
                          const mcGraphNode_t *behind, size_t count,
                          const McNodeParams *params);

/* What is in a node from now on. */
mcError_t mc_api_set_node(mcGraphNode_t node, const McNodeParams *params);
/* The same of a node of an executable graph, named by that of the graph it was
 * made of. */
mcError_t mc_api_exec_set(mcGraphExec_t exec, mcGraphNode_t node,
                          const McNodeParams *params);

#endif
