/* SPDX-License-Identifier: MIT */
/* Graphs as text for the program dot. */
#ifndef MC_CORE_GRAPH_DOT_H
#define MC_CORE_GRAPH_DOT_H

#include "graph.h"

/* flags: mcGraphDebugDotFlags. mcErrorOperatingSystem: the file cannot be
 * written. */
mcError_t mc_graph_dot(McGraph *graph, const char *path, unsigned flags);

#endif
