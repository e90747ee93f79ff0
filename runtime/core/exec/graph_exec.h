/* SPDX-License-Identifier: MIT */
/*
 * Executable graphs. One has a copy of the graph, which changes with it, and an
 * image of that. When a node changes, a new image is made at the next launch;
 * the old one goes when its last launch is over.
 */
#ifndef MC_CORE_GRAPH_EXEC_H
#define MC_CORE_GRAPH_EXEC_H

#include "graph_image.h"

typedef struct McGraphExec {
    McHandle handle;
    pthread_mutex_t lock; /* of the rest, and of what is in the graph */
    McGraph *graph;
    McGraphImage *image;
    bool stale;           /* the graph is no longer that of the image */
    unsigned flags;       /* mcGraphInstantiateFlag* */
} McGraphExec;

/* Held. mcErrorInvalidValue: the graph has a circle. *bad: the node of graph
 * that cannot be, or NULL. */
mcError_t mc_graph_exec_new(McContext *ctx, McGraph *graph, unsigned flags,
                            McGraphExec **out, mcGraphNode_t *bad);

/* Under its lock. The image as it is to be. */
mcError_t mc_graph_exec_ready(McGraphExec *exec);
/* Of executable graphs that are gone, what no launch uses any more goes now. */
void mc_graph_execs_reap(McContext *ctx);
/* All executable graphs of the context are gone, and its queues. */
void mc_graph_execs_detach(McContext *ctx);

#endif
