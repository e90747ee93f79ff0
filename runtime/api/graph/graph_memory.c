/* SPDX-License-Identifier: MIT */
/* Nodes that allocate and free, and the memory of graphs of a device. */
#include "core/exec/graph_memory.h"

#include "core/graph/graph_dot.h"
#include "graph_object.h"

/* Of the entry point that says so. */
#define CALLER ((McCaller){__func__, __builtin_return_address(0)})

/* The device of the memory; others may not use it. */
static mcError_t check_alloc(const mcMemAllocNodeParams *p)
{
    if (p->poolProps.allocType != mcMemAllocationTypePinned ||
        p->poolProps.location.type != mcMemLocationTypeDevice ||
        !p->bytesize || (p->accessDescCount && !p->accessDescs)) {
        return mcErrorInvalidValue;
    }
    if (p->poolProps.handleTypes != mcMemHandleTypeNone) {
        return mcErrorNotSupported;
    }
    for (size_t i = 0; i < p->accessDescCount; i++) {
        const mcMemAccessDesc *d = &p->accessDescs[i];

        if (d->location.type != mcMemLocationTypeDevice ||
            !mc_api_is_device(d->location.id)) {
            return mcErrorInvalidValue;
        }
        if (d->location.id != p->poolProps.location.id) {
            return mcErrorNotSupported;
        }
    }
    return mcSuccess;
}

MC_EXPORT mcError_t mcGraphAddMemAllocNode(mcGraphNode_t *pGraphNode,
                                           mcGraph_t handle,
                                           const mcGraphNode_t *behind,
                                           size_t count,
                                           mcMemAllocNodeParams *nodeParams)
{
    McNodeParams params = {.type = mcGraphNodeTypeMemAlloc};
    void *address;

    API_ENTER("%p, %p, %p, %zu, %p", (void *)pGraphNode, (void *)handle,
              (const void *)behind, count, (void *)nodeParams);
    API_CHECK(nodeParams, mcErrorInvalidValue);
    params.alloc.params = *nodeParams;
    API_TRY(check_alloc(&params.alloc.params));
    API_GRAPH(graph, handle);
    API_CHECK(!graph->parent, mcErrorNotSupported);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(params.alloc.params.poolProps.location.id, &ctx));
    API_TRY(mc_graph_memory_new(ctx, params.alloc.params.bytesize, CALLER,
                                &params.alloc.memory, &address));
    params.device = ctx->device;
    params.alloc.params.dptr = address;
    mcError_t error = mc_api_add_node(pGraphNode, graph, behind, count,
                                      &params);
    mc_graph_memory_put(params.alloc.memory); /* the node has its own */
    if (error == mcSuccess) {
        nodeParams->dptr = address;
    }
    API_RETURN(error);
}

MC_EXPORT mcError_t mcGraphMemAllocNodeGetParams(
    mcGraphNode_t handle, mcMemAllocNodeParams *params_out)
{
    McNodeParams params;

    API_ENTER("%p, %p", (void *)handle, (void *)params_out);
    API_CHECK(params_out, mcErrorInvalidValue);
    API_NODE(node, handle);
    API_TRY(mc_graph_params(node, mcGraphNodeTypeMemAlloc, &params));
    *params_out = params.alloc.params;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGraphAddMemFreeNode(mcGraphNode_t *pGraphNode,
                                          mcGraph_t handle,
                                          const mcGraphNode_t *behind,
                                          size_t count, void *dptr)
{
    const McNodeParams params = {
        .type = mcGraphNodeTypeMemFree,
        .free = dptr,
    };

    API_ENTER("%p, %p, %p, %zu, %p", (void *)pGraphNode, (void *)handle,
              (const void *)behind, count, dptr);
    API_GRAPH(graph, handle);
    API_CHECK(!graph->parent, mcErrorNotSupported);
    API_CHECK(mc_graph_memory_is(dptr), mcErrorInvalidValue);
    API_RETURN(mc_api_add_node(pGraphNode, graph, behind, count, &params));
}

MC_EXPORT mcError_t mcGraphMemFreeNodeGetParams(mcGraphNode_t handle,
                                                void *dptr_out)
{
    McNodeParams params;

    API_ENTER("%p, %p", (void *)handle, dptr_out);
    API_CHECK(dptr_out, mcErrorInvalidValue);
    API_NODE(node, handle);
    API_TRY(mc_graph_params(node, mcGraphNodeTypeMemFree, &params));
    *(void **)dptr_out = params.free;
    API_RETURN(mcSuccess);
}

/* ---- of a device ---- */

MC_EXPORT mcError_t mcDeviceGetGraphMemAttribute(int device,
                                                 mcGraphMemAttributeType attr,
                                                 void *value)
{
    uint64_t bytes;

    API_ENTER("%d, %d, %p", device, (int)attr, value);
    API_DEVICE(device);
    API_CHECK(value, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    switch ((int)attr) {
    case mcGraphMemAttrUsedMemCurrent:
    case mcGraphMemAttrUsedMemHigh:
        bytes = mc_graph_memory_used(ctx, attr == mcGraphMemAttrUsedMemHigh);
        break;
    case mcGraphMemAttrReservedMemCurrent:
        API_TRY(mc_pool_get(mc_pools_graph(ctx),
                            mcMemPoolAttrReservedMemCurrent, &bytes));
        break;
    case mcGraphMemAttrReservedMemHigh:
        API_TRY(mc_pool_get(mc_pools_graph(ctx), mcMemPoolAttrReservedMemHigh,
                            &bytes));
        break;
    default:
        API_RETURN(mcErrorInvalidValue);
    }
    *(unsigned long long *)value = bytes;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceSetGraphMemAttribute(int device,
                                                 mcGraphMemAttributeType attr,
                                                 void *value)
{
    API_ENTER("%d, %d, %p", device, (int)attr, value);
    API_DEVICE(device);
    API_CHECK(value && *(unsigned long long *)value == 0, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    switch ((int)attr) {
    case mcGraphMemAttrUsedMemHigh:
        mc_graph_memory_reset_high(ctx);
        API_RETURN(mcSuccess);
    case mcGraphMemAttrReservedMemHigh:
        API_RETURN(mc_pool_set(mc_pools_graph(ctx),
                               mcMemPoolAttrReservedMemHigh, 0));
    }
    API_RETURN(mcErrorInvalidValue);
}

MC_EXPORT mcError_t mcDeviceGraphMemTrim(int device)
{
    API_ENTER("%d", device);
    API_DEVICE(device);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    mc_graph_execs_reap(ctx);
    mc_graph_memory_trim(ctx);
    API_RETURN(mcSuccess);
}

/* ---- as text ---- */

#define DOT_FLAGS                                                              \
    ((unsigned)mcGraphDebugDotFlagsHandles * 2 - 1 - (1u << 1))

MC_EXPORT mcError_t mcGraphDebugDotPrint(mcGraph_t handle, const char *path,
                                         unsigned int flags)
{
    API_ENTER("%p, %s, 0x%x", (void *)handle, path ? path : "NULL", flags);
    API_CHECK(path && !(flags & ~DOT_FLAGS), mcErrorInvalidValue);
    API_GRAPH(graph, handle);
    API_RETURN(mc_graph_dot(graph, path, flags));
}
