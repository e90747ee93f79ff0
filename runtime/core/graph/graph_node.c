/* SPDX-License-Identifier: MIT */
#include "graph_node.h"

#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

McArguments *mc_arguments_new(uint32_t size, uint32_t count)
{
    /* The block is what kernels want aligned; one allocation holds all. */
    size_t block = (size + 15u) & ~(size_t)15;
    size_t params = (count * sizeof(void *) + 15) & ~(size_t)15;
    uint8_t *memory = aligned_alloc(
        16, (block + params + sizeof(McArguments) + 15) & ~(size_t)15);

    if (!memory) {
        return NULL;
    }
    McArguments *a = (McArguments *)(memory + block + params);
    memset(memory, 0, block);
    *a = (McArguments){
        .params = (void **)(memory + block),
        .count = count,
        .size = size,
        .block = memory,
    };
    return a;
}

void mc_arguments_pack(McArguments *a, size_t packed_size)
{
    a->packed_size = packed_size;
    a->extra[0] = MC_LAUNCH_PARAM_BUFFER_POINTER;
    a->extra[1] = a->block;
    a->extra[2] = MC_LAUNCH_PARAM_BUFFER_SIZE;
    a->extra[3] = &a->packed_size;
    a->extra[4] = MC_LAUNCH_PARAM_END;
}

static McArguments *arguments_copy(const McArguments *from)
{
    McArguments *to = mc_arguments_new(from->size, from->count);

    if (to) {
        memcpy(to->block, from->block, from->size);
        for (uint32_t i = 0; i < from->count; i++) {
            to->params[i] =
                to->block + ((uint8_t *)from->params[i] - from->block);
        }
        if (from->extra[0]) {
            mc_arguments_pack(to, from->packed_size);
        }
    }
    return to;
}

void mc_arguments_free(McArguments *arguments)
{
    if (arguments) {
        free(arguments->block);
    }
}

/* ---- nodes ---- */

/* A copy of an array; of none, NULL. False: no memory. */
static bool array_copy(void **to, const void *from, size_t count, size_t size)
{
    *to = NULL;
    if (!count) {
        return true;
    }
    *to = malloc(count * size);
    if (*to) {
        memcpy(*to, from, count * size);
    }
    return *to != NULL;
}

static bool semaphores_copy(mcExternalSemaphore_t **handles,
                            const void **params, unsigned count,
                            size_t params_size)
{
    void *copy[2];

    if (!array_copy(&copy[0], *handles, count, sizeof(**handles))) {
        return false;
    }
    if (!array_copy(&copy[1], *params, count, params_size)) {
        free(copy[0]);
        return false;
    }
    *handles = copy[0];
    *params = copy[1];
    return true;
}

static bool alloc_copy(McAllocNode *node)
{
    void *descs;

    if (!array_copy(&descs, node->params.accessDescs,
                    node->params.accessDescCount,
                    sizeof(*node->params.accessDescs))) {
        return false;
    }
    node->params.accessDescs = descs;
    atomic_fetch_add(&node->memory->refs, 1);
    return true;
}

static bool batch_copy(mcBatchMemOpNodeParams *batch)
{
    void *ops;

    if (!array_copy(&ops, batch->paramArray, batch->count,
                    sizeof(*batch->paramArray))) {
        return false;
    }
    batch->paramArray = ops;
    return true;
}

static bool kernel_copy(McKernelNode *kernel)
{
    kernel->arguments = arguments_copy(kernel->arguments);
    return kernel->arguments != NULL;
}

mcError_t mc_node_params_copy(McNodeParams *to, const McNodeParams *from)
{
    McNodeParams p = *from;
    const void *params;
    bool done = true;

    switch ((int)p.type) {
    case mcGraphNodeTypeKernel:
        done = kernel_copy(&p.kernel);
        break;
    case mcGraphNodeTypeExtSemaphoreSignal:
        params = p.signal.paramsArray;
        done = semaphores_copy(&p.signal.extSemArray, &params,
                               p.signal.numExtSems,
                               sizeof(*p.signal.paramsArray));
        p.signal.paramsArray = params;
        break;
    case mcGraphNodeTypeExtSemaphoreWait:
        params = p.wait.paramsArray;
        done = semaphores_copy(&p.wait.extSemArray, &params,
                               p.wait.numExtSems,
                               sizeof(*p.wait.paramsArray));
        p.wait.paramsArray = params;
        break;
    case mcGraphNodeTypeMemAlloc:
        done = alloc_copy(&p.alloc);
        break;
    case mcGraphNodeTypeBatchMemOp:
        done = batch_copy(&p.batch);
        break;
    }
    if (!done) {
        return mcErrorMemoryAllocation;
    }
    *to = p;
    return mcSuccess;
}

void mc_node_params_free(McNodeParams *p)
{
    switch ((int)p->type) {
    case mcGraphNodeTypeKernel:
        mc_arguments_free(p->kernel.arguments);
        break;
    case mcGraphNodeTypeExtSemaphoreSignal:
        free(p->signal.extSemArray);
        free((void *)p->signal.paramsArray);
        break;
    case mcGraphNodeTypeExtSemaphoreWait:
        free(p->wait.extSemArray);
        free((void *)p->wait.paramsArray);
        break;
    case mcGraphNodeTypeMemAlloc:
        free((void *)p->alloc.params.accessDescs);
        mc_graph_memory_put(p->alloc.memory);
        break;
    case mcGraphNodeTypeBatchMemOp:
        free(p->batch.paramArray);
        break;
    }
}

void mc_graph_memory_put(McGraphMemory *memory)
{
    if (atomic_fetch_sub(&memory->refs, 1) == 1) {
        memory->destroy(memory);
    }
}
