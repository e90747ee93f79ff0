/* SPDX-License-Identifier: MIT */
#include "graph_plan.h"

#include <stdlib.h>

static bool has_work(const McGraphNode *node)
{
    return !node->disabled && node->params.type != mcGraphNodeTypeEmpty &&
           node->params.type != mcGraphNodeTypeMemAlloc &&
           node->params.type != mcGraphNodeTypeMemFree;
}

static bool add(McPlan *plan, McGraphNode *node, unsigned level)
{
    if (plan->count == plan->room) {
        unsigned room = plan->room ? plan->room * 2 : 16;
        McPlanned *work = realloc(plan->work, room * sizeof(*work));

        if (!work) {
            return false;
        }
        plan->work = work;
        plan->room = room;
    }
    plan->work[plan->count++] = (McPlanned){node, level};
    return true;
}

static mcError_t walk(McGraph *graph, unsigned base, McPlan *plan,
                      unsigned *end);

/* One whose dependencies have been visited. */
static mcError_t visit(McGraphNode *node, unsigned base, McPlan *plan)
{
    unsigned level = base;

    for (unsigned i = 0; i < node->in_count; i++) {
        level = node->in[i]->end > level ? node->in[i]->end : level;
    }
    node->end = level;
    if (node->params.type == mcGraphNodeTypeGraph) {
        return walk(node->params.child, level, plan, &node->end);
    }
    if (has_work(node)) {
        node->end = level + 1;
        return add(plan, node, level) ? mcSuccess : mcErrorMemoryAllocation;
    }
    return mcSuccess;
}

/* Visits each node behind its dependencies. *end: the level behind all. */
static mcError_t walk(McGraph *graph, unsigned base, McPlan *plan,
                      unsigned *end)
{
    McGraphNode **ready = malloc((graph->count + 1) * sizeof(*ready));
    unsigned first = 0, last = 0;
    mcError_t error = ready ? mcSuccess : mcErrorMemoryAllocation;

    for (unsigned i = 0; i < graph->count && ready; i++) {
        graph->nodes[i]->mark = graph->nodes[i]->in_count;
        if (!graph->nodes[i]->in_count) {
            ready[last++] = graph->nodes[i];
        }
    }
    while (first < last && error == mcSuccess) {
        McGraphNode *node = ready[first++];

        error = visit(node, base, plan);
        *end = node->end > *end ? node->end : *end;
        for (unsigned i = 0; i < node->out_count; i++) {
            if (--node->out[i]->mark == 0) {
                ready[last++] = node->out[i];
            }
        }
    }
    for (unsigned i = 0; i < graph->count && error == mcSuccess; i++) {
        if (graph->nodes[i]->mark) {
            plan->cycle = graph->nodes[i];
            error = mcErrorInvalidValue;
        }
    }
    free(ready);
    return error;
}

static int compare(const void *a, const void *b)
{
    const McPlanned *x = a, *y = b;

    if (x->level != y->level) {
        return x->level < y->level ? -1 : 1;
    }
    return x->node->id < y->node->id ? -1 : 1;
}

mcError_t mc_graph_plan(McGraph *graph, McPlan *plan)
{
    unsigned end = 0;

    *plan = (McPlan){NULL, 0, 0, NULL};
    mcError_t error = walk(graph, 0, plan, &end);
    if (error != mcSuccess) {
        mc_graph_plan_free(plan);
    } else if (plan->count) {
        qsort(plan->work, plan->count, sizeof(*plan->work), compare);
    }
    return error;
}

void mc_graph_plan_free(McPlan *plan)
{
    free(plan->work);
    plan->work = NULL;
    plan->count = plan->room = 0;
}
