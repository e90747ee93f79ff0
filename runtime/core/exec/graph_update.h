/* SPDX-License-Identifier: MIT */
/* Changes of executable graphs. Launches that were made before do not see
 * them. */
#ifndef MC_CORE_GRAPH_UPDATE_H
#define MC_CORE_GRAPH_UPDATE_H

#include "graph_exec.h"

/* What is in the node that was copied of "node" from now on.
 * mcErrorInvalidValue: it is not one of the executable graph, or of another
 * type; else what making the work would return. */
mcError_t mc_graph_exec_set(McGraphExec *exec, const McGraphNode *node,
                            const McNodeParams *params);
/* The same of all nodes of a child graph, which has to have the same order. */
mcError_t mc_graph_exec_set_child(McGraphExec *exec, const McGraphNode *node,
                                  McGraph *child);
/* A kernel, copy or fill: whether its work is done. */
mcError_t mc_graph_exec_enable(McGraphExec *exec, const McGraphNode *node,
                               bool on);
mcError_t mc_graph_exec_enabled(McGraphExec *exec, const McGraphNode *node,
                                bool *on);

/* All that is in the nodes from now on is that of the graph, whose nodes were
 * added in the same order. mcErrorGraphExecUpdateFailure: *result says why,
 * *bad where; nothing is changed. */
mcError_t mc_graph_exec_update(McGraphExec *exec, McGraph *graph,
                               mcGraphNode_t *bad,
                               mcGraphExecUpdateResult *result);

#endif
