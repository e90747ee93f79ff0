/* SPDX-License-Identifier: MIT */
/* Sets of nodes of a graph, by handle: a node may be gone. They keep the order
 * in which nodes came. All zero: the empty set. */
#ifndef MC_CORE_NODE_SET_H
#define MC_CORE_NODE_SET_H

#include <stddef.h>

#include "graph.h"

typedef struct McNodeSet {
    mcGraphNode_t *nodes;
    size_t count, room;
} McNodeSet;

/* False: no memory, and nothing was changed. */
bool mc_node_set_copy(McNodeSet *to, const McNodeSet *from);
bool mc_node_set_add(McNodeSet *to, const McNodeSet *from);
/* It has that node and no other. */
bool mc_node_set_only(McNodeSet *set, mcGraphNode_t node);
void mc_node_set_free(McNodeSet *set);

/* Into an empty set. mcErrorInvalidValue: a node is not of the graph. */
mcError_t mc_node_set_of(McNodeSet *set, McGraph *graph,
                         const mcGraphNode_t *nodes, size_t count);

/* Each of "ends" is one of "last" or comes before one; what is gone does not
 * count. mcErrorInvalidValue: it is not so. */
mcError_t mc_nodes_come_before(McGraph *graph, const McNodeSet *ends,
                               const McNodeSet *last);

#endif
