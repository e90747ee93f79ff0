/* SPDX-License-Identifier: MIT */
/*
 * What is in a node of a graph. It names kernels, events and semaphores as the
 * user does; they are looked up when the graph is instantiated.
 */
#ifndef MC_CORE_GRAPH_NODE_H
#define MC_CORE_GRAPH_NODE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "mcr/mc_runtime_api.h"

typedef struct McGraph McGraph;
typedef struct McGraphNode McGraphNode;

/* Arguments of a kernel, laid out as it takes them, and what points there:
 * what the user may read. */
typedef struct McArguments {
    void **params;  /* one each, into block */
    void *extra[5]; /* MC_LAUNCH_PARAM_*, if they were given packed */
    uint32_t count, size;
    size_t packed_size;
    uint8_t *block;
} McArguments;

typedef struct McKernelNode {
    void *func; /* a host symbol, or a function of a module */
    dim3 grid, block;
    unsigned shared;
    bool cooperative, has_priority;
    int priority;
    mcAccessPolicyWindow window;
    McArguments *arguments;
} McKernelNode;

/* Memory of a node that allocates: who has a node of it has a reference. */
typedef struct McGraphMemory {
    atomic_int refs;
    void (*destroy)(struct McGraphMemory *memory);
} McGraphMemory;

void mc_graph_memory_put(McGraphMemory *memory);

typedef struct McAllocNode {
    mcMemAllocNodeParams params;
    McGraphMemory *memory;
} McAllocNode;

typedef struct McNodeParams {
    mcGraphNodeType type;
    int device; /* whose work it is; of host work: the current one */
    union {
        McKernelNode kernel;
        mcMemcpy3DParms copy;
        mcMemsetParams fill;
        mcHostNodeParams host;
        McGraph *child;
        mcEvent_t event;
        mcExternalSemaphoreSignalNodeParams signal;
        mcExternalSemaphoreWaitNodeParams wait;
        McAllocNode alloc;
        void *free;
        mcBatchMemOpNodeParams batch;
    };
} McNodeParams;

/* Into one that is its own: arrays and arguments are copied, a child graph is
 * not. mcErrorMemoryAllocation: nothing was. */
mcError_t mc_node_params_copy(McNodeParams *to, const McNodeParams *from);
void mc_node_params_free(McNodeParams *params);

/* count arguments in size bytes; NULL: no memory. The block is cleared, params
 * is for the caller to fill in. */
McArguments *mc_arguments_new(uint32_t size, uint32_t count);
/* They were given packed, that many bytes. */
void mc_arguments_pack(McArguments *arguments, size_t packed_size);
void mc_arguments_free(McArguments *arguments);

#endif
