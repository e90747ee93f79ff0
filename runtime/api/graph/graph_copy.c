/* SPDX-License-Identifier: MIT */
/* Nodes that copy and fill memory. */
#include "core/exec/params.h"
#include "core/program/program.h"
#include "graph_object.h"

/* ---- what the user says one is to be ---- */

/* For the current device. */
static mcError_t with_device(McNodeParams *params)
{
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    mcError_t error = mc_api_context(&ctx);

    if (error == mcSuccess) {
        params->device = ctx->device;
    }
    return error;
}

static mcError_t read_copy(const mcMemcpy3DParms *p, McNodeParams *out)
{
    McBox box;

    if (!p) {
        return mcErrorInvalidValue;
    }
    *out = (McNodeParams){.type = mcGraphNodeTypeMemcpy, .copy = *p};
    mcError_t error = mc_box_of_copy(&out->copy, &box);
    return error != mcSuccess ? error : with_device(out);
}

static mcError_t read_row(void *dst, const void *src, size_t count,
                          mcMemcpyKind kind, McNodeParams *out)
{
    const mcMemcpy3DParms row = {
        .srcPtr = {(void *)src, count, count, 1},
        .dstPtr = {dst, count, count, 1},
        .extent = {count, 1, 1},
        .kind = kind,
    };

    *out = (McNodeParams){.type = mcGraphNodeTypeMemcpy, .copy = row};
    if ((unsigned)kind > mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    /* Rows have no largest pitch. */
    return !dst || !src || !count ? mcErrorInvalidValue : with_device(out);
}

/* size bytes at offset in a variable of the current device. */
static mcError_t symbol_range(const void *symbol, size_t size, size_t offset,
                              void **address)
{
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    uint64_t base, room;
    mcError_t error = symbol ? mc_api_context(&ctx) : mcErrorInvalidSymbol;

    if (error == mcSuccess) {
        error = mc_symbol_variable(ctx, symbol, &base, &room);
    }
    if (error != mcSuccess) {
        return error;
    }
    *address = (void *)(uintptr_t)(base + offset);
    return offset > room || size > room - offset ? mcErrorInvalidValue
                                                 : mcSuccess;
}

static mcError_t read_to_symbol(const void *symbol, const void *src,
                                size_t count, size_t offset, mcMemcpyKind kind,
                                McNodeParams *out)
{
    void *address;

    if (kind != mcMemcpyHostToDevice && kind != mcMemcpyDeviceToDevice &&
        kind != mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    mcError_t error = symbol_range(symbol, count, offset, &address);
    return error != mcSuccess ? error
                              : read_row(address, src, count, kind, out);
}

static mcError_t read_from_symbol(void *dst, const void *symbol, size_t count,
                                  size_t offset, mcMemcpyKind kind,
                                  McNodeParams *out)
{
    void *address;

    if (kind != mcMemcpyDeviceToHost && kind != mcMemcpyDeviceToDevice &&
        kind != mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    mcError_t error = symbol_range(symbol, count, offset, &address);
    return error != mcSuccess ? error
                              : read_row(dst, address, count, kind, out);
}

static mcError_t read_fill(const mcMemsetParams *p, McNodeParams *out)
{
    McBox box;

    if (!p) {
        return mcErrorInvalidValue;
    }
    *out = (McNodeParams){.type = mcGraphNodeTypeMemset, .fill = *p};
    mcError_t error = mc_box_of_fill(&out->fill, &box);
    return error != mcSuccess ? error : with_device(out);
}

/* ---- entry points: what is read, then where it goes ---- */

#define ADD(name, parameters, read)                                            \
    MC_EXPORT mcError_t mcGraphAdd##name parameters                            \
    {                                                                          \
        McNodeParams params;                                                   \
                                                                               \
        API_ENTER("%p, %p, %p, %zu", (void *)pGraphNode, (void *)handle,       \
                  (const void *)behind, numBehind);                            \
        API_GRAPH(graph, handle);                                              \
        API_TRY(read);                                                         \
        API_RETURN(mc_api_add_node(pGraphNode, graph, behind, numBehind,       \
                                   &params));                                  \
    }
#define SET(name, parameters, read)                                            \
    MC_EXPORT mcError_t mcGraph##name parameters                               \
    {                                                                          \
        McNodeParams params;                                                   \
                                                                               \
        API_ENTER("%p", (void *)node);                                         \
        API_TRY(read);                                                         \
        API_RETURN(mc_api_set_node(node, &params));                            \
    }
#define EXEC_SET(name, parameters, read)                                       \
    MC_EXPORT mcError_t mcGraphExec##name parameters                           \
    {                                                                          \
        McNodeParams params;                                                   \
                                                                               \
        API_ENTER("%p, %p", (void *)exec, (void *)node);                       \
        API_TRY(read);                                                         \
        API_RETURN(mc_api_exec_set(exec, node, &params));                      \
    }
#define NEW_NODE                                                               \
    mcGraphNode_t *pGraphNode, mcGraph_t handle, const mcGraphNode_t *behind,  \
        size_t numBehind

#define ROW void *dst, const void *src, size_t count, mcMemcpyKind kind
#define TO_SYMBOL                                                              \
    const void *symbol, const void *src, size_t count, size_t offset,          \
        mcMemcpyKind kind
#define FROM_SYMBOL                                                            \
    void *dst, const void *symbol, size_t count, size_t offset,                \
        mcMemcpyKind kind

ADD(MemcpyNode, (NEW_NODE, const mcMemcpy3DParms *copy),
    read_copy(copy, &params))
ADD(MemcpyNode1D, (NEW_NODE, ROW), read_row(dst, src, count, kind, &params))
ADD(MemcpyNodeToSymbol, (NEW_NODE, TO_SYMBOL),
    read_to_symbol(symbol, src, count, offset, kind, &params))
ADD(MemcpyNodeFromSymbol, (NEW_NODE, FROM_SYMBOL),
    read_from_symbol(dst, symbol, count, offset, kind, &params))
ADD(MemsetNode, (NEW_NODE, const mcMemsetParams *fill),
    read_fill(fill, &params))

SET(MemcpyNodeSetParams, (mcGraphNode_t node, const mcMemcpy3DParms *copy),
    read_copy(copy, &params))
SET(MemcpyNodeSetParams1D, (mcGraphNode_t node, ROW),
    read_row(dst, src, count, kind, &params))
SET(MemcpyNodeSetParamsToSymbol, (mcGraphNode_t node, TO_SYMBOL),
    read_to_symbol(symbol, src, count, offset, kind, &params))
SET(MemcpyNodeSetParamsFromSymbol, (mcGraphNode_t node, FROM_SYMBOL),
    read_from_symbol(dst, symbol, count, offset, kind, &params))
SET(MemsetNodeSetParams, (mcGraphNode_t node, const mcMemsetParams *fill),
    read_fill(fill, &params))

EXEC_SET(MemcpyNodeSetParams,
         (mcGraphExec_t exec, mcGraphNode_t node, const mcMemcpy3DParms *copy),
         read_copy(copy, &params))
EXEC_SET(MemcpyNodeSetParams1D,
         (mcGraphExec_t exec, mcGraphNode_t node, ROW),
         read_row(dst, src, count, kind, &params))
EXEC_SET(MemcpyNodeSetParamsToSymbol,
         (mcGraphExec_t exec, mcGraphNode_t node, TO_SYMBOL),
         read_to_symbol(symbol, src, count, offset, kind, &params))
EXEC_SET(MemcpyNodeSetParamsFromSymbol,
         (mcGraphExec_t exec, mcGraphNode_t node, FROM_SYMBOL),
         read_from_symbol(dst, symbol, count, offset, kind, &params))
EXEC_SET(MemsetNodeSetParams,
         (mcGraphExec_t exec, mcGraphNode_t node, const mcMemsetParams *fill),
         read_fill(fill, &params))

MC_EXPORT mcError_t mcGraphMemcpyNodeGetParams(mcGraphNode_t handle,
                                               mcMemcpy3DParms *pNodeParams)
{
    McNodeParams params;

    API_ENTER("%p, %p", (void *)handle, (void *)pNodeParams);
    API_CHECK(pNodeParams, mcErrorInvalidValue);
    API_NODE(node, handle);
    API_TRY(mc_graph_params(node, mcGraphNodeTypeMemcpy, &params));
    *pNodeParams = params.copy;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGraphMemsetNodeGetParams(mcGraphNode_t handle,
                                               mcMemsetParams *pNodeParams)
{
    McNodeParams params;

    API_ENTER("%p, %p", (void *)handle, (void *)pNodeParams);
    API_CHECK(pNodeParams, mcErrorInvalidValue);
    API_NODE(node, handle);
    API_TRY(mc_graph_params(node, mcGraphNodeTypeMemset, &params));
    *pNodeParams = params.fill;
    API_RETURN(mcSuccess);
}
