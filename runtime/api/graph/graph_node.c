/* SPDX-License-Identifier: MIT */
/* Nodes that call the host, are graphs themselves, or order work with what is
 * outside of the graph. */
#include "core/exec/params.h"
#include "core/mapping/external.h"
#include "graph_object.h"

/* ---- what the user says one is to be ---- */

static mcError_t read_host(const mcHostNodeParams *p, McNodeParams *out)
{
    if (!p || !p->fn) {
        return mcErrorInvalidValue;
    }
    *out = (McNodeParams){.type = mcGraphNodeTypeHost, .host = *p};
    return mcSuccess;
}

static mcError_t read_event(mcEvent_t handle, mcGraphNodeType type,
                            McNodeParams *out)
{
    McEvent *event __attribute__((cleanup(mc_api_put_object))) =
        handle ? mc_handle_get(handle, MC_HANDLE_EVENT) : NULL;

    *out = (McNodeParams){.type = type, .event = handle};
    return event ? mcSuccess : mcErrorInvalidHandle;
}

/* The handles are of semaphores, and flags 0. */
static mcError_t check_semaphores(const mcExternalSemaphore_t *handles,
                                  unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        void *semaphore = handles[i] ? mc_handle_get(
                                           handles[i],
                                           MC_HANDLE_EXTERNAL_SEMAPHORE)
                                     : NULL;

        if (!semaphore) {
            return mcErrorInvalidResourceHandle;
        }
        mc_handle_put(semaphore);
    }
    return mcSuccess;
}

static mcError_t read_signal(const mcExternalSemaphoreSignalNodeParams *p,
                             McNodeParams *out)
{
    if (!p || (p->numExtSems && (!p->extSemArray || !p->paramsArray))) {
        return mcErrorInvalidValue;
    }
    *out = (McNodeParams){
        .type = mcGraphNodeTypeExtSemaphoreSignal,
        .signal = *p,
    };
    for (unsigned i = 0; i < p->numExtSems; i++) {
        if (p->paramsArray[i].flags) {
            return mcErrorInvalidValue;
        }
    }
    return check_semaphores(p->extSemArray, p->numExtSems);
}

static mcError_t read_wait(const mcExternalSemaphoreWaitNodeParams *p,
                           McNodeParams *out)
{
    if (!p || (p->numExtSems && (!p->extSemArray || !p->paramsArray))) {
        return mcErrorInvalidValue;
    }
    *out = (McNodeParams){
        .type = mcGraphNodeTypeExtSemaphoreWait,
        .wait = *p,
    };
    for (unsigned i = 0; i < p->numExtSems; i++) {
        if (p->paramsArray[i].flags) {
            return mcErrorInvalidValue;
        }
    }
    return check_semaphores(p->extSemArray, p->numExtSems);
}

static mcError_t read_batch(const mcBatchMemOpNodeParams *p, McNodeParams *out)
{
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    mcError_t error;

    if (!p || p->flags || p->count > MC_BATCH_MAX ||
        (p->count && !p->paramArray)) {
        return mcErrorInvalidValue;
    }
    error = mc_api_context(&ctx);
    if (error != mcSuccess) {
        return error;
    }
    *out = (McNodeParams){
        .type = mcGraphNodeTypeBatchMemOp,
        .device = ctx->device,
        .batch = *p,
    };
    return mc_graph_check(ctx, out);
}

/* ---- entry points: what is read, then where it goes ---- */

#define NODE(name, type, parameter, read)                                      \
    MC_EXPORT mcError_t mcGraphAdd##name##Node(                                \
        mcGraphNode_t *pGraphNode, mcGraph_t handle,                           \
        const mcGraphNode_t *behind, size_t count, type parameter)             \
    {                                                                          \
        McNodeParams params;                                                   \
                                                                               \
        API_ENTER("%p, %p, %p, %zu, %p", (void *)pGraphNode, (void *)handle,   \
                  (const void *)behind, count, (const void *)(parameter));     \
        API_GRAPH(graph, handle);                                              \
        API_TRY(read);                                                         \
        API_RETURN(mc_api_add_node(pGraphNode, graph, behind, count,           \
                                   &params));                                  \
    }
#define SETTERS(name, what, type, parameter, read)                             \
    MC_EXPORT mcError_t mcGraph##name##Node##what(mcGraphNode_t node,          \
                                                  type parameter)              \
    {                                                                          \
        McNodeParams params;                                                   \
                                                                               \
        API_ENTER("%p, %p", (void *)node, (const void *)(parameter));          \
        API_TRY(read);                                                         \
        API_RETURN(mc_api_set_node(node, &params));                            \
    }                                                                          \
    MC_EXPORT mcError_t mcGraphExec##name##Node##what(                         \
        mcGraphExec_t exec, mcGraphNode_t node, type parameter)                \
    {                                                                          \
        McNodeParams params;                                                   \
                                                                               \
        API_ENTER("%p, %p, %p", (void *)exec, (void *)node,                    \
                  (const void *)(parameter));                                  \
        API_TRY(read);                                                         \
        API_RETURN(mc_api_exec_set(exec, node, &params));                      \
    }
#define GETTER(name, kind, type, member)                                       \
    MC_EXPORT mcError_t mcGraph##name(mcGraphNode_t handle, type *out)         \
    {                                                                          \
        McNodeParams params;                                                   \
                                                                               \
        API_ENTER("%p, %p", (void *)handle, (void *)out);                      \
        API_CHECK(out, mcErrorInvalidValue);                                   \
        API_NODE(node, handle);                                                \
        API_TRY(mc_graph_params(node, kind, &params));                         \
        *out = params.member;                                                  \
        API_RETURN(mcSuccess);                                                 \
    }

NODE(Host, const mcHostNodeParams *, p, read_host(p, &params))
SETTERS(Host, SetParams, const mcHostNodeParams *, p, read_host(p, &params))
GETTER(HostNodeGetParams, mcGraphNodeTypeHost, mcHostNodeParams, host)

NODE(EventRecord, mcEvent_t, event,
     read_event(event, mcGraphNodeTypeEventRecord, &params))
SETTERS(EventRecord, SetEvent, mcEvent_t, event,
        read_event(event, mcGraphNodeTypeEventRecord, &params))
GETTER(EventRecordNodeGetEvent, mcGraphNodeTypeEventRecord, mcEvent_t, event)

NODE(EventWait, mcEvent_t, event,
     read_event(event, mcGraphNodeTypeWaitEvent, &params))
SETTERS(EventWait, SetEvent, mcEvent_t, event,
        read_event(event, mcGraphNodeTypeWaitEvent, &params))
GETTER(EventWaitNodeGetEvent, mcGraphNodeTypeWaitEvent, mcEvent_t, event)

NODE(ExternalSemaphoresSignal, const mcExternalSemaphoreSignalNodeParams *, p,
     read_signal(p, &params))
SETTERS(ExternalSemaphoresSignal, SetParams,
        const mcExternalSemaphoreSignalNodeParams *, p,
        read_signal(p, &params))
GETTER(ExternalSemaphoresSignalNodeGetParams,
       mcGraphNodeTypeExtSemaphoreSignal, mcExternalSemaphoreSignalNodeParams,
       signal)

NODE(ExternalSemaphoresWait, const mcExternalSemaphoreWaitNodeParams *, p,
     read_wait(p, &params))
SETTERS(ExternalSemaphoresWait, SetParams,
        const mcExternalSemaphoreWaitNodeParams *, p, read_wait(p, &params))
GETTER(ExternalSemaphoresWaitNodeGetParams, mcGraphNodeTypeExtSemaphoreWait,
       mcExternalSemaphoreWaitNodeParams, wait)

NODE(BatchMemOp, const mcBatchMemOpNodeParams *, p, read_batch(p, &params))
SETTERS(BatchMemOp, SetParams, const mcBatchMemOpNodeParams *, p,
        read_batch(p, &params))
GETTER(BatchMemOpNodeGetParams, mcGraphNodeTypeBatchMemOp,
       mcBatchMemOpNodeParams, batch)

/* ---- child graphs ---- */

MC_EXPORT mcError_t mcGraphAddChildGraphNode(mcGraphNode_t *pGraphNode,
                                             mcGraph_t handle,
                                             const mcGraphNode_t *behind,
                                             size_t count, mcGraph_t child)
{
    API_ENTER("%p, %p, %p, %zu, %p", (void *)pGraphNode, (void *)handle,
              (const void *)behind, count, (void *)child);
    API_GRAPH(graph, handle);
    API_GRAPH(inner, child);
    const McNodeParams params = {
        .type = mcGraphNodeTypeGraph,
        .child = inner,
    };
    API_RETURN(mc_api_add_node(pGraphNode, graph, behind, count, &params));
}

MC_EXPORT mcError_t mcGraphChildGraphNodeGetGraph(mcGraphNode_t handle,
                                                  mcGraph_t *pGraph)
{
    McNodeParams params;

    API_ENTER("%p, %p", (void *)handle, (void *)pGraph);
    API_CHECK(pGraph, mcErrorInvalidValue);
    API_NODE(node, handle);
    API_TRY(mc_graph_params(node, mcGraphNodeTypeGraph, &params));
    *pGraph = (mcGraph_t)params.child;
    API_RETURN(mcSuccess);
}
