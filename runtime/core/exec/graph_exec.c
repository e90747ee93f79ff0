/* SPDX-License-Identifier: MIT */
#include "graph_exec.h"

#include <stdlib.h>

/* ---- images that are no longer wanted ---- */

static pthread_mutex_t retired_lock = PTHREAD_MUTEX_INITIALIZER;
static McGraphImage *retired;

/* Under the lock: takes out those of the context whose launches are over; with
 * "all" set the queues are gone. */
static McGraphImage *take_over(McContext *ctx, bool all)
{
    McGraphImage **at = &retired, *over = NULL;

    while (*at) {
        McGraphImage *image = *at;

        if (image->ctx == ctx &&
            (all || mc_queue_reached(image->queue, image->value))) {
            *at = image->next;
            image->next = over;
            over = image;
        } else {
            at = &image->next;
        }
    }
    return over;
}

static void free_list(McGraphImage *image)
{
    while (image) {
        McGraphImage *next = image->next;

        mc_graph_image_free(image);
        image = next;
    }
}

static void retire(McGraphImage *image)
{
    McGraphImage *over = NULL;

    if (!image->queue) {
        mc_graph_image_free(image);
        return;
    }
    pthread_mutex_lock(&retired_lock);
    image->next = retired;
    retired = image;
    /* The queues of a context that is closed may be gone already. */
    if (!atomic_load(&image->ctx->dying)) {
        over = take_over(image->ctx, false);
    }
    pthread_mutex_unlock(&retired_lock);
    free_list(over);
}

void mc_graph_execs_reap(McContext *ctx)
{
    pthread_mutex_lock(&retired_lock);
    McGraphImage *over = take_over(ctx, false);
    pthread_mutex_unlock(&retired_lock);
    free_list(over);
}

void mc_graph_execs_detach(McContext *ctx)
{
    pthread_mutex_lock(&retired_lock);
    McGraphImage *over = take_over(ctx, true);
    pthread_mutex_unlock(&retired_lock);
    free_list(over);
}

/* ---- executable graphs ---- */

static void exec_destroy(McHandle *handle)
{
    McGraphExec *exec = (McGraphExec *)handle;

    if (exec->image) {
        /* Objects of the user stay while it runs. */
        exec->image->graph = exec->graph;
        retire(exec->image);
    } else {
        mc_graph_drop(exec->graph);
        mc_handle_put(exec->graph);
    }
    pthread_mutex_destroy(&exec->lock);
    free(exec);
}

mcError_t mc_graph_exec_new(McContext *ctx, McGraph *graph, unsigned flags,
                            McGraphExec **out, mcGraphNode_t *bad)
{
    McGraphExec *exec = calloc(1, sizeof(*exec));
    McGraphNode *node = NULL;

    *bad = NULL;
    if (!exec) {
        return mcErrorMemoryAllocation;
    }
    mcError_t error = mc_graph_copy(graph, false, &exec->graph);
    if (error != mcSuccess) {
        free(exec);
        return error;
    }
    error = mc_graph_image_new(ctx, exec->graph, &exec->image, &node);
    if (node) {
        mc_graphs_lock();
        *bad = (mcGraphNode_t)mc_graph_find(graph, node->origin, false);
        mc_graphs_unlock();
    }
    exec->flags = flags;
    pthread_mutex_init(&exec->lock, NULL);
    if (error != mcSuccess) {
        exec_destroy(&exec->handle);
        return error;
    }
    mc_handle_add(&exec->handle, MC_HANDLE_GRAPH_EXEC, ctx, exec_destroy);
    *out = exec;
    return mcSuccess;
}

mcError_t mc_graph_exec_ready(McGraphExec *exec)
{
    McGraphImage *image;
    McGraphNode *bad;

    if (!exec->stale) {
        return mcSuccess;
    }
    mcError_t error = mc_graph_image_new(exec->handle.ctx, exec->graph, &image,
                                         &bad);
    if (error == mcSuccess) {
        /* Launches stay in order, whichever image they use. */
        image->queue = exec->image->queue;
        image->value = exec->image->value;
        retire(exec->image);
        exec->image = image;
        exec->stale = false;
    }
    return error;
}
