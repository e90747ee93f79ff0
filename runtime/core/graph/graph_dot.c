/* SPDX-License-Identifier: MIT */
#include "graph_dot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

static const char *const names[mcGraphNodeTypeCount] = {
    [mcGraphNodeTypeKernel] = "kernel",
    [mcGraphNodeTypeMemcpy] = "memcpy",
    [mcGraphNodeTypeMemset] = "memset",
    [mcGraphNodeTypeHost] = "host",
    [mcGraphNodeTypeGraph] = "graph",
    [mcGraphNodeTypeEmpty] = "empty",
    [mcGraphNodeTypeWaitEvent] = "event wait",
    [mcGraphNodeTypeEventRecord] = "event record",
    [mcGraphNodeTypeExtSemaphoreSignal] = "semaphore signal",
    [mcGraphNodeTypeExtSemaphoreWait] = "semaphore wait",
    [mcGraphNodeTypeMemAlloc] = "memory alloc",
    [mcGraphNodeTypeMemFree] = "memory free",
    [mcGraphNodeTypeBatchMemOp] = "memory operations",
};

static bool wants(unsigned flags, unsigned flag)
{
    return flags & (flag | mcGraphDebugDotFlagsVerbose);
}

static void put_kernel(FILE *file, const McKernelNode *k, unsigned flags)
{
    if (wants(flags, mcGraphDebugDotFlagsKernelNodeParams)) {
        fprintf(file, "\\nfunc %p\\ngrid %u,%u,%u\\nblock %u,%u,%u\\n"
                "shared %u\\narguments %u", k->func, k->grid.x, k->grid.y,
                k->grid.z, k->block.x, k->block.y, k->block.z, k->shared,
                k->arguments->count);
    }
    if (wants(flags, mcGraphDebugDotFlagsKernelNodeAttributes)) {
        fprintf(file, "\\ncooperative %d\\npriority %d", k->cooperative,
                k->priority);
    }
}

static void put_params(FILE *file, const McNodeParams *p, unsigned flags)
{
    const mcMemcpy3DParms *c = &p->copy;

    switch ((int)p->type) {
    case mcGraphNodeTypeKernel:
        put_kernel(file, &p->kernel, flags);
        break;
    case mcGraphNodeTypeMemcpy:
        if (wants(flags, mcGraphDebugDotFlagsMemcpyNodeParams)) {
            fprintf(file, "\\nfrom %p\\nto %p\\nextent %zu,%zu,%zu\\nkind %d",
                    c->srcPtr.ptr, c->dstPtr.ptr, c->extent.width,
                    c->extent.height, c->extent.depth, (int)c->kind);
        }
        break;
    case mcGraphNodeTypeMemset:
        if (wants(flags, mcGraphDebugDotFlagsMemsetNodeParams)) {
            fprintf(file, "\\nto %p\\nvalue 0x%x of %u\\nextent %zu,%zu",
                    p->fill.dst, p->fill.value, p->fill.elementSize,
                    p->fill.width, p->fill.height);
        }
        break;
    case mcGraphNodeTypeHost:
        if (wants(flags, mcGraphDebugDotFlagsHostNodeParams)) {
            fprintf(file, "\\nfunc %p\\ndata %p",
                    __extension__(void *)p->host.fn, p->host.userData);
        }
        break;
    case mcGraphNodeTypeWaitEvent:
    case mcGraphNodeTypeEventRecord:
        if (wants(flags, mcGraphDebugDotFlagsEventNodeParams)) {
            fprintf(file, "\\nevent %p", (void *)p->event);
        }
        break;
    case mcGraphNodeTypeExtSemaphoreSignal:
        if (wants(flags, mcGraphDebugDotFlagsExtSemasSignalNodeParams)) {
            fprintf(file, "\\nsemaphores %u", p->signal.numExtSems);
        }
        break;
    case mcGraphNodeTypeExtSemaphoreWait:
        if (wants(flags, mcGraphDebugDotFlagsExtSemasWaitNodeParams)) {
            fprintf(file, "\\nsemaphores %u", p->wait.numExtSems);
        }
        break;
    }
}

/* Names of nodes are their ids, which differ in the whole process. A child graph
 * is a box beside its node. */
static void put_graph(FILE *file, const McGraph *graph, unsigned flags)
{
    for (unsigned i = 0; i < graph->count; i++) {
        const McGraphNode *node = graph->nodes[i];

        fprintf(file, "n%llu [label=\"%s", (unsigned long long)node->id,
                names[node->params.type]);
        if (wants(flags, mcGraphDebugDotFlagsHandles)) {
            fprintf(file, "\\n%p", (const void *)node);
        }
        put_params(file, &node->params, flags);
        fprintf(file, "\"];\n");
        for (unsigned k = 0; k < node->out_count; k++) {
            fprintf(file, "n%llu -> n%llu;\n", (unsigned long long)node->id,
                    (unsigned long long)node->out[k]->id);
        }
        if (node->params.type == mcGraphNodeTypeGraph) {
            fprintf(file, "subgraph cluster_%llu {\nlabel=\"graph\";\n",
                    (unsigned long long)node->id);
            put_graph(file, node->params.child, flags);
            fprintf(file, "}\n");
        }
    }
}

mcError_t mc_graph_dot(McGraph *graph, const char *path, unsigned flags)
{
    FILE *file = fopen(path, "we");

    if (!file) {
        mc_error("%s: %s", path, strerror(errno));
        return mcErrorOperatingSystem;
    }
    mc_graphs_lock();
    bool there = !graph->dropped;
    fprintf(file, "digraph graph_%p {\nnode [shape=box];\n",
            (const void *)graph);
    if (there) {
        put_graph(file, graph, flags);
    }
    fprintf(file, "}\n");
    mc_graphs_unlock();
    bool written = !ferror(file);
    if (fclose(file) != 0 || !written) {
        return mcErrorOperatingSystem;
    }
    return there ? mcSuccess : mcErrorInvalidValue;
}
