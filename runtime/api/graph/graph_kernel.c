/* SPDX-License-Identifier: MIT */
/* Nodes that run kernels. */
#include <string.h>

#include "core/module/arguments.h"
#include "core/stream/stream_attribute.h"
#include "graph_object.h"

/* What the user says a kernel node is to be, for the current device; arguments
 * are the caller's to free. */
static mcError_t read_params(const mcKernelNodeParams *p, McNodeParams *out)
{
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    const void *buffer = NULL;
    size_t size = 0;
    McFunction *f;
    mcError_t error;

    if (!p || !p->func || (p->kernelParams && p->extra)) {
        return mcErrorInvalidValue;
    }
    if (p->extra && !mc_read_extra(p->extra, &buffer, &size)) {
        return mcErrorInvalidValue;
    }
    error = mc_api_context(&ctx);
    if (error == mcSuccess) {
        error = mc_graph_function(ctx, p->func, &f);
    }
    if (error != mcSuccess) {
        return error;
    }
    *out = (McNodeParams){
        .type = mcGraphNodeTypeKernel,
        .device = ctx->device,
        .kernel = {
            .func = p->func,
            .grid = p->gridDim,
            .block = p->blockDim,
            .shared = p->sharedMemBytes,
        },
    };
    error = mc_arguments_of(f, p->kernelParams, buffer, size,
                            &out->kernel.arguments);
    if (error == mcSuccess) {
        error = mc_graph_check(ctx, out);
        if (error != mcSuccess) {
            mc_arguments_free(out->kernel.arguments);
        }
    }
    return error;
}

/* Attributes of a node are not parameters: they stay. */
static mcError_t keep_attributes(mcGraphNode_t handle, McNodeParams *params)
{
    McGraphNode *node __attribute__((cleanup(mc_api_put_object))) =
        mc_graph_node_get(handle);
    McNodeParams old;
    mcError_t error = node ? mc_graph_params(node, mcGraphNodeTypeKernel, &old)
                           : mcErrorInvalidValue;

    if (error == mcSuccess) {
        params->kernel.cooperative = old.kernel.cooperative;
        params->kernel.has_priority = old.kernel.has_priority;
        params->kernel.priority = old.kernel.priority;
        params->kernel.window = old.kernel.window;
    }
    return error;
}

MC_EXPORT mcError_t mcGraphAddKernelNode(mcGraphNode_t *pGraphNode,
                                         mcGraph_t handle,
                                         const mcGraphNode_t *behind,
                                         size_t count,
                                         const mcKernelNodeParams *pNodeParams)
{
    McNodeParams params;

    API_ENTER("%p, %p, %p, %zu, %p", (void *)pGraphNode, (void *)handle,
              (const void *)behind, count, (const void *)pNodeParams);
    API_GRAPH(graph, handle);
    API_TRY(read_params(pNodeParams, &params));
    mcError_t error = mc_api_add_node(pGraphNode, graph, behind, count,
                                      &params);
    mc_arguments_free(params.kernel.arguments);
    API_RETURN(error);
}

MC_EXPORT mcError_t mcGraphKernelNodeGetParams(mcGraphNode_t handle,
                                               mcKernelNodeParams *pNodeParams)
{
    McNodeParams p;

    API_ENTER("%p, %p", (void *)handle, (void *)pNodeParams);
    API_CHECK(pNodeParams, mcErrorInvalidValue);
    API_NODE(node, handle);
    API_TRY(mc_graph_params(node, mcGraphNodeTypeKernel, &p));
    bool packed = p.kernel.arguments->extra[0] != NULL;
    *pNodeParams = (mcKernelNodeParams){
        .blockDim = p.kernel.block,
        .extra = packed ? p.kernel.arguments->extra : NULL,
        .func = p.kernel.func,
        .gridDim = p.kernel.grid,
        .kernelParams = packed ? NULL : p.kernel.arguments->params,
        .sharedMemBytes = p.kernel.shared,
    };
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGraphKernelNodeSetParams(
    mcGraphNode_t node, const mcKernelNodeParams *pNodeParams)
{
    McNodeParams params;

    API_ENTER("%p, %p", (void *)node, (const void *)pNodeParams);
    API_TRY(read_params(pNodeParams, &params));
    mcError_t error = keep_attributes(node, &params);
    if (error == mcSuccess) {
        error = mc_api_set_node(node, &params);
    }
    mc_arguments_free(params.kernel.arguments);
    API_RETURN(error);
}

MC_EXPORT mcError_t mcGraphExecKernelNodeSetParams(
    mcGraphExec_t exec, mcGraphNode_t node,
    const mcKernelNodeParams *pNodeParams)
{
    McNodeParams params;

    API_ENTER("%p, %p, %p", (void *)exec, (void *)node,
              (const void *)pNodeParams);
    API_TRY(read_params(pNodeParams, &params));
    mcError_t error = keep_attributes(node, &params);
    if (error == mcSuccess) {
        error = mc_api_exec_set(exec, node, &params);
    }
    mc_arguments_free(params.kernel.arguments);
    API_RETURN(error);
}

/* ---- attributes ---- */

MC_EXPORT mcError_t mcGraphKernelNodeGetAttribute(
    mcGraphNode_t handle, mcKernelNodeAttrID attr,
    mcKernelNodeAttrValue *value)
{
    McNodeParams p;

    API_ENTER("%p, %d, %p", (void *)handle, (int)attr, (void *)value);
    API_CHECK(value, mcErrorInvalidValue);
    API_NODE(node, handle);
    API_TRY(mc_graph_params(node, mcGraphNodeTypeKernel, &p));
    switch ((int)attr) {
    case mcKernelNodeAttributeAccessPolicyWindow:
        value->accessPolicyWindow = p.kernel.window;
        API_RETURN(mcSuccess);
    case mcKernelNodeAttributeCooperative:
        value->cooperative = p.kernel.cooperative;
        API_RETURN(mcSuccess);
    case mcKernelNodeAttributePriority:
        value->priority = p.kernel.priority;
        API_RETURN(mcSuccess);
    }
    API_RETURN(mcErrorInvalidValue);
}

MC_EXPORT mcError_t mcGraphKernelNodeSetAttribute(
    mcGraphNode_t handle, mcKernelNodeAttrID attr,
    const mcKernelNodeAttrValue *value)
{
    mcKernelNodeAttrValue v; /* the caller may change its own */
    McNodeParams p;

    API_ENTER("%p, %d, %p", (void *)handle, (int)attr, (const void *)value);
    API_CHECK(value, mcErrorInvalidValue);
    memcpy(&v, value, sizeof(v));
    API_NODE(node, handle);
    API_TRY(mc_graph_params(node, mcGraphNodeTypeKernel, &p));
    switch ((int)attr) {
    case mcKernelNodeAttributeAccessPolicyWindow:
        API_CHECK(mc_window_ok(&v.accessPolicyWindow), mcErrorInvalidValue);
        p.kernel.window = v.accessPolicyWindow;
        break;
    case mcKernelNodeAttributeCooperative:
        API_CHECK((unsigned)v.cooperative <= 1, mcErrorInvalidValue);
        p.kernel.cooperative = v.cooperative;
        break;
    case mcKernelNodeAttributePriority:
        p.kernel.has_priority = true;
        p.kernel.priority = v.priority;
        break;
    default:
        API_RETURN(mcErrorInvalidValue);
    }
    API_RETURN(mc_graph_set(node, &p));
}

MC_EXPORT mcError_t mcGraphKernelNodeCopyAttributes(mcGraphNode_t src,
                                                    mcGraphNode_t dst)
{
    McNodeParams from, to;

    API_ENTER("%p, %p", (void *)src, (void *)dst);
    API_NODE(source, src);
    API_NODE(node, dst);
    API_TRY(mc_graph_params(source, mcGraphNodeTypeKernel, &from));
    API_TRY(mc_graph_params(node, mcGraphNodeTypeKernel, &to));
    to.kernel.cooperative = from.kernel.cooperative;
    to.kernel.has_priority = from.kernel.has_priority;
    to.kernel.priority = from.kernel.priority;
    to.kernel.window = from.kernel.window;
    API_RETURN(mc_graph_set(node, &to));
}
