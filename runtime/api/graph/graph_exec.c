/* SPDX-License-Identifier: MIT */
/* Executable graphs. */
#include "core/exec/graph_exec.h"

#include <stdio.h>

#include "core/context/error.h"
#include "core/exec/graph_launch.h"
#include "core/exec/graph_update.h"
#include "graph_object.h"

static mcError_t instantiate(mcGraphExec_t *out, mcGraph_t handle,
                             unsigned long long flags, mcGraphNode_t *bad)
{
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    McGraph *graph __attribute__((cleanup(mc_api_put_object))) =
        mc_graph_get(handle);
    McGraphExec *exec;
    mcError_t error;

    *bad = NULL;
    if (!out || !graph ||
        flags & ~(unsigned long long)mcGraphInstantiateFlagAutoFreeOnLaunch) {
        return mcErrorInvalidValue;
    }
    error = mc_api_context(&ctx);
    if (error == mcSuccess) {
        error = mc_graph_exec_new(ctx, graph, (unsigned)flags, &exec, bad);
    }
    if (error == mcSuccess) {
        *out = (mcGraphExec_t)exec;
    }
    return error;
}

MC_EXPORT mcError_t mcGraphInstantiate(mcGraphExec_t *pGraphExec,
                                       mcGraph_t graph,
                                       mcGraphNode_t *pErrorNode,
                                       char *pLogBuffer, size_t bufferSize)
{
    mcGraphNode_t bad;

    API_ENTER("%p, %p, %p, %p, %zu", (void *)pGraphExec, (void *)graph,
              (void *)pErrorNode, (void *)pLogBuffer, bufferSize);
    mcError_t error = instantiate(pGraphExec, graph, 0, &bad);
    if (pErrorNode) {
        *pErrorNode = bad;
    }
    if (pLogBuffer && bufferSize) {
        pLogBuffer[0] = 0;
        if (error != mcSuccess) {
            snprintf(pLogBuffer, bufferSize, "%s: %s", mc_error_name(error),
                     bad ? "a node cannot be, or is in a circle"
                         : "the graph cannot be");
        }
    }
    API_RETURN(error);
}

MC_EXPORT mcError_t mcGraphInstantiateWithFlags(mcGraphExec_t *pGraphExec,
                                                mcGraph_t graph,
                                                unsigned long long flags)
{
    mcGraphNode_t bad;

    API_ENTER("%p, %p, 0x%llx", (void *)pGraphExec, (void *)graph, flags);
    API_RETURN(instantiate(pGraphExec, graph, flags, &bad));
}

MC_EXPORT mcError_t mcGraphExecDestroy(mcGraphExec_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_EXEC(exec, handle);
    API_CHECK(mc_handle_remove(exec), mcErrorInvalidValue);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGraphLaunch(mcGraphExec_t handle, mcStream_t stream_handle)
{
    API_ENTER("%p, %p", (void *)handle, (void *)stream_handle);
    API_EXEC(exec, handle);
    API_STREAM(stream, stream_handle);
    API_RETURN(mc_graph_launch(exec, stream));
}

MC_EXPORT mcError_t mcGraphUpload(mcGraphExec_t handle, mcStream_t stream_handle)
{
    API_ENTER("%p, %p", (void *)handle, (void *)stream_handle);
    API_EXEC(exec, handle);
    API_STREAM(stream, stream_handle);
    API_RETURN(mc_graph_upload(exec));
}

/* ---- changes ---- */

MC_EXPORT mcError_t mcGraphExecChildGraphNodeSetParams(mcGraphExec_t handle,
                                                       mcGraphNode_t node_handle,
                                                       mcGraph_t child)
{
    API_ENTER("%p, %p, %p", (void *)handle, (void *)node_handle,
              (void *)child);
    API_EXEC(exec, handle);
    API_NODE(node, node_handle);
    API_GRAPH(graph, child);
    API_RETURN(mc_graph_exec_set_child(exec, node, graph));
}

MC_EXPORT mcError_t mcGraphNodeSetEnabled(mcGraphExec_t handle,
                                          mcGraphNode_t node_handle,
                                          unsigned int isEnabled)
{
    API_ENTER("%p, %p, %u", (void *)handle, (void *)node_handle, isEnabled);
    API_EXEC(exec, handle);
    API_NODE(node, node_handle);
    API_RETURN(mc_graph_exec_enable(exec, node, isEnabled != 0));
}

MC_EXPORT mcError_t mcGraphNodeGetEnabled(mcGraphExec_t handle,
                                          mcGraphNode_t node_handle,
                                          unsigned int *isEnabled)
{
    bool on;

    API_ENTER("%p, %p, %p", (void *)handle, (void *)node_handle,
              (void *)isEnabled);
    API_CHECK(isEnabled, mcErrorInvalidValue);
    API_EXEC(exec, handle);
    API_NODE(node, node_handle);
    API_TRY(mc_graph_exec_enabled(exec, node, &on));
    *isEnabled = on;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGraphExecUpdate(mcGraphExec_t handle, mcGraph_t from,
                                      mcGraphNode_t *hErrorNode_out,
                                      mcGraphExecUpdateResult *result_out)
{
    mcGraphExecUpdateResult result;
    mcGraphNode_t bad;

    API_ENTER("%p, %p, %p, %p", (void *)handle, (void *)from,
              (void *)hErrorNode_out, (void *)result_out);
    API_EXEC(exec, handle);
    API_GRAPH(graph, from);
    mcError_t error = mc_graph_exec_update(exec, graph, &bad, &result);
    if (hErrorNode_out) {
        *hErrorNode_out = bad;
    }
    if (result_out) {
        *result_out = result;
    }
    API_RETURN(error);
}
