/* SPDX-License-Identifier: MIT */
/*
 * Graphs: work with its order, described once and launched often. A chapter of
 * mc_runtime_api.h, which includes it and has the general rules;
 * docs/graphs.md says how they run.
 */
#ifndef MCR_MC_GRAPH_H
#define MCR_MC_GRAPH_H

#include "mc_external.h"
#include "mc_runtime_types.h"
#include "mc_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MCuserObject_st *mcUserObject_t;

typedef enum mcGraphNodeType {
    mcGraphNodeTypeKernel = 0,
    mcGraphNodeTypeMemcpy = 1,
    mcGraphNodeTypeMemset = 2,
    mcGraphNodeTypeHost = 3,
    mcGraphNodeTypeGraph = 4, /* a child graph */
    mcGraphNodeTypeEmpty = 5,
    mcGraphNodeTypeWaitEvent = 6,
    mcGraphNodeTypeEventRecord = 7,
    mcGraphNodeTypeExtSemaphoreSignal = 8,
    mcGraphNodeTypeExtSemaphoreWait = 9,
    mcGraphNodeTypeMemAlloc = 10,
    mcGraphNodeTypeMemFree = 11,
    mcGraphNodeTypeBatchMemOp = 12,
    mcGraphNodeTypeCount = 13
} mcGraphNodeType;

/* height rows of width elements of elementSize (1, 2 or 4) bytes. pitch, bytes
 * from row to row, means nothing of a single row. */
typedef struct mcMemsetParams {
    void *dst;
    unsigned int elementSize;
    size_t height;
    size_t pitch;
    unsigned int value;
    size_t width;
} mcMemsetParams;

typedef struct mcHostNodeParams {
    mcHostFn_t fn;
    void *userData;
} mcHostNodeParams;

typedef struct mcExternalSemaphoreSignalNodeParams {
    mcExternalSemaphore_t *extSemArray;
    const mcExternalSemaphoreSignalParams *paramsArray;
    unsigned int numExtSems;
} mcExternalSemaphoreSignalNodeParams;

typedef struct mcExternalSemaphoreWaitNodeParams {
    mcExternalSemaphore_t *extSemArray;
    const mcExternalSemaphoreWaitParams *paramsArray;
    unsigned int numExtSems;
} mcExternalSemaphoreWaitNodeParams;

/* poolProps: of which only the location counts. accessDescs: devices beside it
 * that use the memory. dptr is set when the node is made. */
typedef struct mcMemAllocNodeParams {
    mcMemPoolProps poolProps;
    const mcMemAccessDesc *accessDescs;
    size_t accessDescCount;
    size_t bytesize;
    void *dptr;
} mcMemAllocNodeParams;

/* ctx: NULL, or that of the device. */
typedef struct mcBatchMemOpNodeParams {
    mcCtx_t ctx;
    unsigned int count;
    mcStreamBatchMemOpParams *paramArray;
    unsigned int flags; /* 0 */
} mcBatchMemOpNodeParams;

/* The numbers of mcLaunchAttributeID. */
typedef enum mcKernelNodeAttrID {
    mcKernelNodeAttributeAccessPolicyWindow = 1,
    mcKernelNodeAttributeCooperative = 2,
    mcKernelNodeAttributePriority = 8
} mcKernelNodeAttrID;

typedef mcLaunchAttributeValue mcKernelNodeAttrValue;

typedef enum mcGraphExecUpdateResult {
    mcGraphExecUpdateSuccess = 0,
    mcGraphExecUpdateError = 1,
    mcGraphExecUpdateErrorTopologyChanged = 2,
    mcGraphExecUpdateErrorNodeTypeChanged = 3,
    mcGraphExecUpdateErrorFunctionChanged = 4,
    mcGraphExecUpdateErrorParametersChanged = 5,
    mcGraphExecUpdateErrorNotSupported = 6,
    mcGraphExecUpdateErrorUnsupportedFunctionChange = 7
} mcGraphExecUpdateResult;

typedef enum mcGraphInstantiateFlags {
    mcGraphInstantiateFlagAutoFreeOnLaunch = 1
} mcGraphInstantiateFlags;

/* Bytes; unsigned long long. */
typedef enum mcGraphMemAttributeType {
    mcGraphMemAttrUsedMemCurrent = 0,
    mcGraphMemAttrUsedMemHigh = 1,
    mcGraphMemAttrReservedMemCurrent = 2,
    mcGraphMemAttrReservedMemHigh = 3
} mcGraphMemAttributeType;

typedef enum mcGraphDebugDotFlags {
    mcGraphDebugDotFlagsVerbose = 1 << 0,
    mcGraphDebugDotFlagsKernelNodeParams = 1 << 2,
    mcGraphDebugDotFlagsMemcpyNodeParams = 1 << 3,
    mcGraphDebugDotFlagsMemsetNodeParams = 1 << 4,
    mcGraphDebugDotFlagsHostNodeParams = 1 << 5,
    mcGraphDebugDotFlagsEventNodeParams = 1 << 6,
    mcGraphDebugDotFlagsExtSemasSignalNodeParams = 1 << 7,
    mcGraphDebugDotFlagsExtSemasWaitNodeParams = 1 << 8,
    mcGraphDebugDotFlagsKernelNodeAttributes = 1 << 9,
    mcGraphDebugDotFlagsHandles = 1 << 10
} mcGraphDebugDotFlags;

typedef enum mcUserObjectFlags {
    mcUserObjectNoDestructorSync = 1
} mcUserObjectFlags;

typedef enum mcUserObjectRetainFlags {
    mcGraphUserObjectMove = 1
} mcUserObjectRetainFlags;

/*
 * Errors of this chapter, unless said otherwise: mcErrorInvalidValue for what
 * is no graph, node or executable graph, for nodes of different graphs, and for
 * null pointers. Graphs belong to no device and outlive mcDeviceReset();
 * executable graphs are those of the current device.
 */

/* ---- graphs, nodes and edges ---- */

/* flags: 0 */
mcError_t mcGraphCreate(mcGraph_t *pGraph, unsigned int flags);
/* With its nodes. What was instantiated of it stays. */
mcError_t mcGraphDestroy(mcGraph_t graph);
/* With its edges. mcErrorNotSupported: a node of a graph with memory nodes. */
mcError_t mcGraphDestroyNode(mcGraphNode_t node);

/* Edges from[i] to to[i]. mcErrorInvalidValue: one is there already, or leads
 * to its own node; of removing: one is not there. Then none is made or removed.
 * mcErrorNotSupported: removes one of a graph with memory nodes. */
mcError_t mcGraphAddDependencies(mcGraph_t graph, const mcGraphNode_t *from,
                                 const mcGraphNode_t *to,
                                 size_t numDependencies);
mcError_t mcGraphRemoveDependencies(mcGraph_t graph, const mcGraphNode_t *from,
                                    const mcGraphNode_t *to,
                                    size_t numDependencies);

/* Each of these: with a null pointer for the array, their number. Else up to
 * that number of them; what is left of the array is NULL, and the number the
 * one of those that were written. */
mcError_t mcGraphGetNodes(mcGraph_t graph, mcGraphNode_t *nodes,
                          size_t *numNodes);
mcError_t mcGraphGetRootNodes(mcGraph_t graph, mcGraphNode_t *pRootNodes,
                              size_t *pNumRootNodes);
mcError_t mcGraphGetEdges(mcGraph_t graph, mcGraphNode_t *from,
                          mcGraphNode_t *to, size_t *numEdges);
mcError_t mcGraphNodeGetDependencies(mcGraphNode_t node,
                                     mcGraphNode_t *pDependencies,
                                     size_t *pNumDependencies);
mcError_t mcGraphNodeGetDependentNodes(mcGraphNode_t node,
                                       mcGraphNode_t *pDependentNodes,
                                       size_t *pNumDependentNodes);
mcError_t mcGraphNodeGetType(mcGraphNode_t node, mcGraphNodeType *pType);

/* Of each kind of node: it is added behind the dependencies, which are nodes of
 * the graph, each named once. All that the parameters point to is copied. */
mcError_t mcGraphAddEmptyNode(mcGraphNode_t *pGraphNode, mcGraph_t graph,
                              const mcGraphNode_t *pDependencies,
                              size_t numDependencies);

#ifdef __cplusplus
}
#endif

#endif
