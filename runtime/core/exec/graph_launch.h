/* SPDX-License-Identifier: MIT */
/* Launches of executable graphs. */
#ifndef MC_CORE_GRAPH_LAUNCH_H
#define MC_CORE_GRAPH_LAUNCH_H

#include "core/stream/stream.h"
#include "graph_exec.h"

/*
 * Behind the work of the stream, and behind earlier launches of the graph; the
 * stream may be of another device. mcErrorInvalidValue: memory that the graph
 * allocates is still in use.
 */
mcError_t mc_graph_launch(McGraphExec *exec, McStream *stream);
/* Makes what the next launch would have to make. */
mcError_t mc_graph_upload(McGraphExec *exec);

#endif
