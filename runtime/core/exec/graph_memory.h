/* SPDX-License-Identifier: MIT */
/*
 * Memory of nodes that allocate. It has its address, and is taken of the
 * device's pool for graphs, from the making of the node on; what changes with
 * launches is whether it is in use. It goes back when no graph has it and it is
 * not in use, and between launches when it is trimmed. Thread-safe.
 */
#ifndef MC_CORE_GRAPH_MEMORY_H
#define MC_CORE_GRAPH_MEMORY_H

#include "core/graph/graph.h"
#include "core/pool/pool_alloc.h"

/* With one reference. */
mcError_t mc_graph_memory_new(McContext *ctx, uint64_t size, McCaller caller,
                              McGraphMemory **out, void **address);

/* Whether it is the address of such memory, in use or not. */
bool mc_graph_memory_is(const void *address);
/* Frees what a launch has left in use. mcErrorInvalidValue: it is not. */
mcError_t mc_graph_memory_free(const void *address);

/* A launch begins of a graph that is the caller's alone. mcErrorInvalidValue,
 * and nothing is changed: it allocates what is in use (unless that may be freed
 * first), or frees what is not. mcErrorMemoryAllocation: so, too. */
mcError_t mc_graph_memory_launch(McGraph *graph, bool auto_free);
/* It has been submitted, up to value of a queue of that context; NULL: nothing
 * was. */
void mc_graph_memory_launched(McGraph *graph, McContext *ctx, McQueue *queue,
                              uint64_t value);

/* Memory that is not in use, nor is used by what was submitted, goes back to the
 * device until a launch needs it; the addresses stay. False: there is none. */
bool mc_graph_memory_trim(McContext *ctx);

/* Bytes; highs go back to what is now. */
uint64_t mc_graph_memory_used(McContext *ctx, bool high);
void mc_graph_memory_reset_high(McContext *ctx);

/* The context goes: nothing of it is in use any more. */
void mc_graph_memory_detach(McContext *ctx);

#endif
