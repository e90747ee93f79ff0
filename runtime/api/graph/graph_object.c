/* SPDX-License-Identifier: MIT */
#include "graph_object.h"

#include "core/exec/graph_update.h"

mcError_t mc_api_add_node(mcGraphNode_t *out, McGraph *graph,
                          const mcGraphNode_t *behind, size_t count,
                          const McNodeParams *params)
{
    McGraphNode *node;

    if (!out || (count && !behind)) {
        return mcErrorInvalidValue;
    }
    mcError_t error = mc_graph_add(graph, behind, count, params, &node);
    if (error == mcSuccess) {
        *out = (mcGraphNode_t)node;
    }
    return error;
}

mcError_t mc_api_set_node(mcGraphNode_t handle, const McNodeParams *params)
{
    McGraphNode *node __attribute__((cleanup(mc_api_put_object))) =
        mc_graph_node_get(handle);

    return node ? mc_graph_set(node, params) : mcErrorInvalidValue;
}

mcError_t mc_api_exec_set(mcGraphExec_t exec_handle, mcGraphNode_t node_handle,
                          const McNodeParams *params)
{
    McGraphExec *exec __attribute__((cleanup(mc_api_put_object))) =
        exec_handle ? mc_handle_get(exec_handle, MC_HANDLE_GRAPH_EXEC) : NULL;
    McGraphNode *node __attribute__((cleanup(mc_api_put_object))) =
        mc_graph_node_get(node_handle);

    return exec && node ? mc_graph_exec_set(exec, node, params)
                        : mcErrorInvalidValue;
}
