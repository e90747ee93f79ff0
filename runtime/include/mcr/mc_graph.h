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
mcError_t mcGraphClone(mcGraph_t *pGraphClone, mcGraph_t originalGraph);
mcError_t mcGraphNodeFindInClone(mcGraphNode_t *pNode,
                                 mcGraphNode_t originalNode,
                                 mcGraph_t clonedGraph);
/* A kernel of the current device, a host symbol or a function of a module.
 * mcErrorInvalidDeviceFunction: it is neither; other errors are those of
 * mcLaunchKernel(). What Get gives back points into the node, until that is
 * changed. Setting them leaves attributes as they are. */
mcError_t mcGraphAddKernelNode(mcGraphNode_t *pGraphNode, mcGraph_t graph,
                               const mcGraphNode_t *pDependencies,
                               size_t numDependencies,
                               const mcKernelNodeParams *pNodeParams);
mcError_t mcGraphKernelNodeGetParams(mcGraphNode_t node,
                                     mcKernelNodeParams *pNodeParams);
mcError_t mcGraphKernelNodeSetParams(mcGraphNode_t node,
                                     const mcKernelNodeParams *pNodeParams);
mcError_t mcGraphExecKernelNodeSetParams(mcGraphExec_t hGraphExec,
                                         mcGraphNode_t node,
                                         const mcKernelNodeParams *pNodeParams);
/* As attributes of launches. A graph runs with the priority of its stream, but
 * for kernels that have one of their own. */
mcError_t mcGraphKernelNodeGetAttribute(mcGraphNode_t node,
                                        mcKernelNodeAttrID attr,
                                        mcKernelNodeAttrValue *value_out);
mcError_t mcGraphKernelNodeSetAttribute(mcGraphNode_t node,
                                        mcKernelNodeAttrID attr,
                                        const mcKernelNodeAttrValue *value);
mcError_t mcGraphKernelNodeCopyAttributes(mcGraphNode_t hSrc,
                                          mcGraphNode_t hDst);
/* Copies and fills of the current device; symbols are its variables. Pageable
 * memory is read and written when the node runs, not when the graph is
 * launched. What the addresses are is looked at when the graph is instantiated:
 * mcErrorInvalidValue there, when they are not what the kind says. A count of 0
 * is mcErrorInvalidValue. */
mcError_t mcGraphAddMemcpyNode(mcGraphNode_t *pGraphNode, mcGraph_t graph,
                               const mcGraphNode_t *pDependencies,
                               size_t numDependencies,
                               const mcMemcpy3DParms *pCopyParams);
mcError_t mcGraphAddMemcpyNode1D(mcGraphNode_t *pGraphNode, mcGraph_t graph,
                                 const mcGraphNode_t *pDependencies,
                                 size_t numDependencies, void *dst,
                                 const void *src, size_t count,
                                 mcMemcpyKind kind);
mcError_t mcGraphAddMemcpyNodeToSymbol(mcGraphNode_t *pGraphNode,
                                       mcGraph_t graph,
                                       const mcGraphNode_t *pDependencies,
                                       size_t numDependencies,
                                       const void *symbol, const void *src,
                                       size_t count, size_t offset,
                                       mcMemcpyKind kind);
mcError_t mcGraphAddMemcpyNodeFromSymbol(mcGraphNode_t *pGraphNode,
                                         mcGraph_t graph,
                                         const mcGraphNode_t *pDependencies,
                                         size_t numDependencies, void *dst,
                                         const void *symbol, size_t count,
                                         size_t offset, mcMemcpyKind kind);
mcError_t mcGraphMemcpyNodeGetParams(mcGraphNode_t node,
                                     mcMemcpy3DParms *pNodeParams);
mcError_t mcGraphMemcpyNodeSetParams(mcGraphNode_t node,
                                     const mcMemcpy3DParms *pNodeParams);
mcError_t mcGraphMemcpyNodeSetParams1D(mcGraphNode_t node, void *dst,
                                       const void *src, size_t count,
                                       mcMemcpyKind kind);
mcError_t mcGraphMemcpyNodeSetParamsToSymbol(mcGraphNode_t node,
                                             const void *symbol,
                                             const void *src, size_t count,
                                             size_t offset, mcMemcpyKind kind);
mcError_t mcGraphMemcpyNodeSetParamsFromSymbol(mcGraphNode_t node, void *dst,
                                               const void *symbol, size_t count,
                                               size_t offset,
                                               mcMemcpyKind kind);
mcError_t mcGraphExecMemcpyNodeSetParams(mcGraphExec_t hGraphExec,
                                         mcGraphNode_t node,
                                         const mcMemcpy3DParms *pNodeParams);
mcError_t mcGraphExecMemcpyNodeSetParams1D(mcGraphExec_t hGraphExec,
                                           mcGraphNode_t node, void *dst,
                                           const void *src, size_t count,
                                           mcMemcpyKind kind);
mcError_t mcGraphExecMemcpyNodeSetParamsToSymbol(mcGraphExec_t hGraphExec,
                                                 mcGraphNode_t node,
                                                 const void *symbol,
                                                 const void *src, size_t count,
                                                 size_t offset,
                                                 mcMemcpyKind kind);
mcError_t mcGraphExecMemcpyNodeSetParamsFromSymbol(mcGraphExec_t hGraphExec,
                                                   mcGraphNode_t node,
                                                   void *dst,
                                                   const void *symbol,
                                                   size_t count, size_t offset,
                                                   mcMemcpyKind kind);
mcError_t mcGraphAddMemsetNode(mcGraphNode_t *pGraphNode, mcGraph_t graph,
                               const mcGraphNode_t *pDependencies,
                               size_t numDependencies,
                               const mcMemsetParams *pMemsetParams);
mcError_t mcGraphMemsetNodeGetParams(mcGraphNode_t node,
                                     mcMemsetParams *pNodeParams);
mcError_t mcGraphMemsetNodeSetParams(mcGraphNode_t node,
                                     const mcMemsetParams *pNodeParams);
mcError_t mcGraphExecMemsetNodeSetParams(mcGraphExec_t hGraphExec,
                                         mcGraphNode_t node,
                                         const mcMemsetParams *pNodeParams);
/* A function of the host, which must not call this interface. */
mcError_t mcGraphAddHostNode(mcGraphNode_t *pGraphNode, mcGraph_t graph,
                             const mcGraphNode_t *pDependencies,
                             size_t numDependencies,
                             const mcHostNodeParams *pNodeParams);
mcError_t mcGraphHostNodeGetParams(mcGraphNode_t node,
                                   mcHostNodeParams *pNodeParams);
mcError_t mcGraphHostNodeSetParams(mcGraphNode_t node,
                                   const mcHostNodeParams *pNodeParams);
mcError_t mcGraphExecHostNodeSetParams(mcGraphExec_t hGraphExec,
                                       mcGraphNode_t node,
                                       const mcHostNodeParams *pNodeParams);
/* All of another graph, which is copied. mcErrorNotSupported: it has memory
 * nodes. The graph that is given back is the node's: it can be changed, and
 * goes with it. */
mcError_t mcGraphAddChildGraphNode(mcGraphNode_t *pGraphNode, mcGraph_t graph,
                                   const mcGraphNode_t *pDependencies,
                                   size_t numDependencies,
                                   mcGraph_t childGraph);
mcError_t mcGraphChildGraphNodeGetGraph(mcGraphNode_t node, mcGraph_t *pGraph);
mcError_t mcGraphExecChildGraphNodeSetParams(mcGraphExec_t hGraphExec,
                                             mcGraphNode_t node,
                                             mcGraph_t childGraph);
/* Events of any device. mcErrorInvalidHandle: there is no such event; it has to
 * be there, too, when the graph is launched. */
mcError_t mcGraphAddEventRecordNode(mcGraphNode_t *pGraphNode, mcGraph_t graph,
                                    const mcGraphNode_t *pDependencies,
                                    size_t numDependencies, mcEvent_t event);
mcError_t mcGraphEventRecordNodeGetEvent(mcGraphNode_t node,
                                         mcEvent_t *event_out);
mcError_t mcGraphEventRecordNodeSetEvent(mcGraphNode_t node, mcEvent_t event);
mcError_t mcGraphExecEventRecordNodeSetEvent(mcGraphExec_t hGraphExec,
                                             mcGraphNode_t node,
                                             mcEvent_t event);
mcError_t mcGraphAddEventWaitNode(mcGraphNode_t *pGraphNode, mcGraph_t graph,
                                  const mcGraphNode_t *pDependencies,
                                  size_t numDependencies, mcEvent_t event);
mcError_t mcGraphEventWaitNodeGetEvent(mcGraphNode_t node,
                                       mcEvent_t *event_out);
mcError_t mcGraphEventWaitNodeSetEvent(mcGraphNode_t node, mcEvent_t event);
mcError_t mcGraphExecEventWaitNodeSetEvent(mcGraphExec_t hGraphExec,
                                           mcGraphNode_t node, mcEvent_t event);
/* External semaphores: mcErrorInvalidResourceHandle when there is no such one;
 * they have to be there, too, when the graph is launched. */
mcError_t mcGraphAddExternalSemaphoresSignalNode(
    mcGraphNode_t *pGraphNode, mcGraph_t graph,
    const mcGraphNode_t *pDependencies, size_t numDependencies,
    const mcExternalSemaphoreSignalNodeParams *nodeParams);
mcError_t mcGraphExternalSemaphoresSignalNodeGetParams(
    mcGraphNode_t node, mcExternalSemaphoreSignalNodeParams *params_out);
mcError_t mcGraphExternalSemaphoresSignalNodeSetParams(
    mcGraphNode_t node, const mcExternalSemaphoreSignalNodeParams *nodeParams);
mcError_t mcGraphExecExternalSemaphoresSignalNodeSetParams(
    mcGraphExec_t hGraphExec, mcGraphNode_t node,
    const mcExternalSemaphoreSignalNodeParams *nodeParams);
mcError_t mcGraphAddExternalSemaphoresWaitNode(
    mcGraphNode_t *pGraphNode, mcGraph_t graph,
    const mcGraphNode_t *pDependencies, size_t numDependencies,
    const mcExternalSemaphoreWaitNodeParams *nodeParams);
mcError_t mcGraphExternalSemaphoresWaitNodeGetParams(
    mcGraphNode_t node, mcExternalSemaphoreWaitNodeParams *params_out);
mcError_t mcGraphExternalSemaphoresWaitNodeSetParams(
    mcGraphNode_t node, const mcExternalSemaphoreWaitNodeParams *nodeParams);
mcError_t mcGraphExecExternalSemaphoresWaitNodeSetParams(
    mcGraphExec_t hGraphExec, mcGraphNode_t node,
    const mcExternalSemaphoreWaitNodeParams *nodeParams);
/* Memory operations as mcStreamBatchMemOp(), for the current device. */
mcError_t mcGraphAddBatchMemOpNode(mcGraphNode_t *pGraphNode, mcGraph_t graph,
                                   const mcGraphNode_t *pDependencies,
                                   size_t numDependencies,
                                   const mcBatchMemOpNodeParams *nodeParams);
mcError_t mcGraphBatchMemOpNodeGetParams(
    mcGraphNode_t node, mcBatchMemOpNodeParams *nodeParams_out);
mcError_t mcGraphBatchMemOpNodeSetParams(
    mcGraphNode_t node, const mcBatchMemOpNodeParams *nodeParams);
mcError_t mcGraphExecBatchMemOpNodeSetParams(
    mcGraphExec_t hGraphExec, mcGraphNode_t node,
    const mcBatchMemOpNodeParams *nodeParams);

/* ---- executable graphs ---- */

/* Of the graph as it is now, for the current device. mcErrorInvalidValue: there
 * is a circle, or an address is not what a copy says; pErrorNode is a node of
 * it, pLogBuffer a text. */
mcError_t mcGraphInstantiate(mcGraphExec_t *pGraphExec, mcGraph_t graph,
                             mcGraphNode_t *pErrorNode, char *pLogBuffer,
                             size_t bufferSize);
/* flags: 0 or mcGraphInstantiateFlagAutoFreeOnLaunch. */
mcError_t mcGraphInstantiateWithFlags(mcGraphExec_t *pGraphExec,
                                      mcGraph_t graph,
                                      unsigned long long flags);
/* Also while it runs, which it does to its end. */
mcError_t mcGraphExecDestroy(mcGraphExec_t graphExec);
/* Runs behind what is in the stream, and behind earlier launches of the same
 * executable graph in whichever stream; returns at once. mcErrorInvalidValue:
 * it allocates memory that is not freed since its last launch;
 * mcErrorMemoryAllocation: there is none for what was trimmed. */
mcError_t mcGraphLaunch(mcGraphExec_t graphExec, mcStream_t stream);
/* Makes ready what the next launch would have to make. */
mcError_t mcGraphUpload(mcGraphExec_t graphExec, mcStream_t stream);
/* Later launches do what the nodes of another graph say, which were added in
 * the same order and have the same edges. mcErrorGraphExecUpdateFailure: they
 * have not, or cannot be; nothing is changed, and the result says why:
 * TopologyChanged, NodeTypeChanged, ParametersChanged (also another device),
 * NotSupported (other memory). */
mcError_t mcGraphExecUpdate(mcGraphExec_t hGraphExec, mcGraph_t hGraph,
                            mcGraphNode_t *hErrorNode_out,
                            mcGraphExecUpdateResult *updateResult_out);
/* Whether a kernel, copy or fill is done by later launches; those of other
 * kinds are mcErrorInvalidValue. */
mcError_t mcGraphNodeSetEnabled(mcGraphExec_t hGraphExec, mcGraphNode_t hNode,
                                unsigned int isEnabled);
mcError_t mcGraphNodeGetEnabled(mcGraphExec_t hGraphExec, mcGraphNode_t hNode,
                                unsigned int *isEnabled);

/* ---- memory of graphs ---- */

/* Memory of a device, whose address is set in nodeParams and stays the same for
 * as long as there is the node. It is in use from the launch of its graph on
 * until a node of that or another graph, mcFree() or mcFreeAsync() frees it.
 * Graphs with memory nodes are neither cloned nor child graphs, and lose no
 * nodes or edges: mcErrorNotSupported, also for use by other devices. */
mcError_t mcGraphAddMemAllocNode(mcGraphNode_t *pGraphNode, mcGraph_t graph,
                                 const mcGraphNode_t *pDependencies,
                                 size_t numDependencies,
                                 mcMemAllocNodeParams *nodeParams);
mcError_t mcGraphMemAllocNodeGetParams(mcGraphNode_t node,
                                       mcMemAllocNodeParams *params_out);
/* mcErrorInvalidValue: not memory of a graph, or the graph frees it already. */
mcError_t mcGraphAddMemFreeNode(mcGraphNode_t *pGraphNode, mcGraph_t graph,
                                const mcGraphNode_t *pDependencies,
                                size_t numDependencies, void *dptr);
/* dptr_out: a void *. */
mcError_t mcGraphMemFreeNodeGetParams(mcGraphNode_t node, void *dptr_out);
/* value: unsigned long long, bytes. Highs can be set, to 0: then they are what
 * is current. */
mcError_t mcDeviceGetGraphMemAttribute(int device, mcGraphMemAttributeType attr,
                                       void *value);
mcError_t mcDeviceSetGraphMemAttribute(int device, mcGraphMemAttributeType attr,
                                       void *value);
/* Memory of nodes that is not in use, nor used by what still runs, goes back to
 * the device until a launch needs it; addresses stay. Does not wait. */
mcError_t mcDeviceGraphMemTrim(int device);

/* ---- objects of the user, and texts ---- */

/* An object with references, of which a graph can have some; with the last one
 * destroy(ptr) is called, by whichever thread gave it up; it must not call this
 * interface. flags: mcUserObjectNoDestructorSync. Counts are 1 to INT_MAX;
 * mcErrorInvalidValue for others, and for more than there are. */
mcError_t mcUserObjectCreate(mcUserObject_t *object_out, void *ptr,
                             mcHostFn_t destroy, unsigned int initialRefcount,
                             unsigned int flags);
mcError_t mcUserObjectRetain(mcUserObject_t object,
                             unsigned int count __dparm(1));
mcError_t mcUserObjectRelease(mcUserObject_t object,
                              unsigned int count __dparm(1));
/* References of a graph, and of what is cloned or instantiated of it. With
 * mcGraphUserObjectMove they are those of the caller. */
mcError_t mcGraphRetainUserObject(mcGraph_t graph, mcUserObject_t object,
                                  unsigned int count __dparm(1),
                                  unsigned int flags __dparm(0));
mcError_t mcGraphReleaseUserObject(mcGraph_t graph, mcUserObject_t object,
                                   unsigned int count __dparm(1));
/* A file for the program dot; flags say what of each node.
 * mcErrorOperatingSystem: it cannot be written. */
mcError_t mcGraphDebugDotPrint(mcGraph_t graph, const char *path,
                               unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif
