/* SPDX-License-Identifier: MIT */
/*
 * A graph as a device takes it: lists of packets with what they read, and
 * between them steps that are no packets. It is made once and submitted often;
 * what is in it does not change.
 */
#ifndef MC_CORE_GRAPH_IMAGE_H
#define MC_CORE_GRAPH_IMAGE_H

#include "core/copy/copy.h"
#include "core/graph/graph_plan.h"
#include "core/memory/pinned.h"

typedef struct McGraphImage McGraphImage;

/* A part of a step of the host: a function, or a copy. */
typedef struct McGraphCall {
    mcHostFn_t fn; /* NULL: a copy */
    void *data;
    McBox box;
} McGraphCall;

typedef enum McStepKind {
    MC_STEP_LIST,  /* packets */
    MC_STEP_CALLS, /* of the host, in stream order */
    MC_STEP_NODE,  /* one that streams have a function for */
} McStepKind;

typedef struct McGraphStep {
    McStepKind kind;
    McGraphImage *image;
    unsigned first, count; /* packets, calls */
    McGraphNode *node;
} McGraphStep;

struct McGraphImage {
    McContext *ctx;
    McGraphImage *next;  /* waits for its last launch */
    McGraph *graph;      /* goes with it, once it waits; or NULL */
    McPinned memory;
    union mxgpu_packet *list; /* in memory, in front of arguments and staging */
    unsigned packets;
    McGraphCall *calls;
    unsigned call_count;
    McGraphStep *steps;
    unsigned step_count;
    /* Of its last launch; NULL: there was none. */
    McQueue *queue;
    uint64_t value;
};

/* Of a graph that is the caller's alone, and outlives all launches of the image.
 * *bad: the node that cannot be, or NULL. Nothing waits. */
mcError_t mc_graph_image_new(McContext *ctx, McGraph *graph,
                             McGraphImage **out, McGraphNode **bad);
void mc_graph_image_free(McGraphImage *image);

/* Whether a node of that could be in an image. */
mcError_t mc_graph_check(McContext *ctx, const McNodeParams *params);

/* What a kernel node names, on a device. mcErrorInvalidDeviceFunction. */
mcError_t mc_graph_function(McContext *ctx, void *func, McFunction **out);

#endif
