/* SPDX-License-Identifier: MIT */
/*
 * The order of a graph's work: levels, of which each comes behind all earlier
 * ones. What is in one level is independent.
 */
#ifndef MC_CORE_GRAPH_PLAN_H
#define MC_CORE_GRAPH_PLAN_H

#include "graph.h"

typedef struct McPlanned {
    McGraphNode *node; /* with work: also one of a child graph */
    unsigned level;
} McPlanned;

typedef struct McPlan {
    McPlanned *work; /* by level; in a level, in the order they were added */
    unsigned count, room;
    McGraphNode *cycle; /* one of the nodes of a circle */
} McPlan;

/* Of a graph that is the caller's alone. mcErrorInvalidValue: there is a
 * circle. */
mcError_t mc_graph_plan(McGraph *graph, McPlan *plan);
void mc_graph_plan_free(McPlan *plan);

#endif
