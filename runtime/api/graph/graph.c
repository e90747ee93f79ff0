/* SPDX-License-Identifier: MIT */
/* Graphs, their nodes whatever is in them, and edges. */
#include "graph_object.h"

MC_EXPORT mcError_t mcGraphCreate(mcGraph_t *pGraph, unsigned int flags)
{
    McGraph *graph;

    API_ENTER("%p, 0x%x", (void *)pGraph, flags);
    API_CHECK(pGraph && flags == 0, mcErrorInvalidValue);
    API_TRY(mc_graph_new(&graph));
    *pGraph = (mcGraph_t)graph;
    mc_handle_put(graph);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGraphDestroy(mcGraph_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_GRAPH(graph, handle);
    API_RETURN(mc_graph_drop(graph));
}

MC_EXPORT mcError_t mcGraphDestroyNode(mcGraphNode_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_NODE(node, handle);
    API_RETURN(mc_graph_remove(node));
}

MC_EXPORT mcError_t mcGraphAddDependencies(mcGraph_t handle,
                                           const mcGraphNode_t *from,
                                           const mcGraphNode_t *to,
                                           size_t count)
{
    API_ENTER("%p, %p, %p, %zu", (void *)handle, (const void *)from,
              (const void *)to, count);
    API_CHECK(count == 0 || (from && to), mcErrorInvalidValue);
    API_GRAPH(graph, handle);
    API_RETURN(mc_graph_connect(graph, from, to, count));
}

MC_EXPORT mcError_t mcGraphRemoveDependencies(mcGraph_t handle,
                                              const mcGraphNode_t *from,
                                              const mcGraphNode_t *to,
                                              size_t count)
{
    API_ENTER("%p, %p, %p, %zu", (void *)handle, (const void *)from,
              (const void *)to, count);
    API_CHECK(count == 0 || (from && to), mcErrorInvalidValue);
    API_GRAPH(graph, handle);
    API_RETURN(mc_graph_disconnect(graph, from, to, count));
}

MC_EXPORT mcError_t mcGraphGetNodes(mcGraph_t handle, mcGraphNode_t *nodes,
                                    size_t *numNodes)
{
    API_ENTER("%p, %p, %p", (void *)handle, (void *)nodes, (void *)numNodes);
    API_CHECK(numNodes, mcErrorInvalidValue);
    API_GRAPH(graph, handle);
    API_RETURN(mc_graph_nodes(graph, false, nodes, numNodes));
}

MC_EXPORT mcError_t mcGraphGetRootNodes(mcGraph_t handle, mcGraphNode_t *nodes,
                                        size_t *numNodes)
{
    API_ENTER("%p, %p, %p", (void *)handle, (void *)nodes, (void *)numNodes);
    API_CHECK(numNodes, mcErrorInvalidValue);
    API_GRAPH(graph, handle);
    API_RETURN(mc_graph_nodes(graph, true, nodes, numNodes));
}

MC_EXPORT mcError_t mcGraphGetEdges(mcGraph_t handle, mcGraphNode_t *from,
                                    mcGraphNode_t *to, size_t *numEdges)
{
    API_ENTER("%p, %p, %p, %p", (void *)handle, (void *)from, (void *)to,
              (void *)numEdges);
    API_CHECK(numEdges && !from == !to, mcErrorInvalidValue);
    API_GRAPH(graph, handle);
    API_RETURN(mc_graph_edges(graph, from, to, numEdges));
}

MC_EXPORT mcError_t mcGraphNodeGetDependencies(mcGraphNode_t handle,
                                               mcGraphNode_t *nodes,
                                               size_t *numNodes)
{
    API_ENTER("%p, %p, %p", (void *)handle, (void *)nodes, (void *)numNodes);
    API_CHECK(numNodes, mcErrorInvalidValue);
    API_NODE(node, handle);
    API_RETURN(mc_graph_neighbours(node, false, nodes, numNodes));
}

MC_EXPORT mcError_t mcGraphNodeGetDependentNodes(mcGraphNode_t handle,
                                                 mcGraphNode_t *nodes,
                                                 size_t *numNodes)
{
    API_ENTER("%p, %p, %p", (void *)handle, (void *)nodes, (void *)numNodes);
    API_CHECK(numNodes, mcErrorInvalidValue);
    API_NODE(node, handle);
    API_RETURN(mc_graph_neighbours(node, true, nodes, numNodes));
}

MC_EXPORT mcError_t mcGraphNodeGetType(mcGraphNode_t handle,
                                       mcGraphNodeType *pType)
{
    API_ENTER("%p, %p", (void *)handle, (void *)pType);
    API_CHECK(pType, mcErrorInvalidValue);
    API_NODE(node, handle);
    mc_graphs_lock();
    *pType = node->params.type;
    mc_graphs_unlock();
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGraphClone(mcGraph_t *pGraphClone, mcGraph_t original)
{
    McGraph *copy;

    API_ENTER("%p, %p", (void *)pGraphClone, (void *)original);
    API_CHECK(pGraphClone, mcErrorInvalidValue);
    API_GRAPH(graph, original);
    API_TRY(mc_graph_copy(graph, true, &copy));
    *pGraphClone = (mcGraph_t)copy;
    mc_handle_put(copy);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGraphNodeFindInClone(mcGraphNode_t *pNode,
                                           mcGraphNode_t original,
                                           mcGraph_t clone)
{
    API_ENTER("%p, %p, %p", (void *)pNode, (void *)original, (void *)clone);
    API_CHECK(pNode, mcErrorInvalidValue);
    API_NODE(node, original);
    API_GRAPH(graph, clone);
    mc_graphs_lock();
    McGraphNode *found = graph->dropped
                             ? NULL
                             : mc_graph_find(graph, node->id, true);
    mc_graphs_unlock();
    API_CHECK(found, mcErrorInvalidValue);
    *pNode = (mcGraphNode_t)found;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGraphAddEmptyNode(mcGraphNode_t *pGraphNode,
                                        mcGraph_t handle,
                                        const mcGraphNode_t *behind,
                                        size_t count)
{
    const McNodeParams params = {.type = mcGraphNodeTypeEmpty};

    API_ENTER("%p, %p, %p, %zu", (void *)pGraphNode, (void *)handle,
              (const void *)behind, count);
    API_GRAPH(graph, handle);
    API_RETURN(mc_api_add_node(pGraphNode, graph, behind, count, &params));
}
