/* SPDX-License-Identifier: MIT */
#include "graph_launch.h"

#include "core/context/runtime.h"
#include "core/mapping/external.h"
#include "core/program/launch_attribute.h"
#include "core/stream/capture.h"
#include "core/stream/event.h"
#include "core/stream/submit.h"
#include "graph_memory.h"
#include "params.h"

/* ---- steps of packets and of the host ---- */

/* Records of a profile are those of packets in the ring: there each goes. */
static mcError_t run_packets(McStream *stream, const McGraphStep *step)
{
    mcError_t error = mcSuccess;

    for (unsigned i = 0; i < step->count && error == mcSuccess; i++) {
        union mxgpu_packet packet = step->image->list[step->first + i];
        McSubmit submit;

        error = mc_submit_begin(stream, 1, 0, &submit);
        if (error == mcSuccess) {
            mc_submit_push(&submit, &packet,
                           packet.header.flags & ~MXGPU_PKT_BARRIER);
            mc_submit_end(&submit);
        }
    }
    return error;
}

static mcError_t run_list(McStream *stream, const McGraphStep *step)
{
    if (stream->queue->observed) {
        return run_packets(stream, step);
    }
    union mxgpu_packet packet = {
        .indirect = {
            .type = MXGPU_PKT_INDIRECT,
            .count = step->count,
            .list = (uintptr_t)&step->image->list[step->first],
        },
    };
    McSubmit submit;
    mcError_t error = mc_submit_begin(stream, 1, 0, &submit);

    if (error == mcSuccess) {
        mc_submit_push(&submit, &packet, 0);
        mc_submit_end(&submit);
    }
    return error;
}

/* By the thread of the queue. */
static void run_calls(void *opaque, mcError_t status)
{
    const McGraphStep *step = opaque;
    const McGraphCall *calls = &step->image->calls[step->first];

    (void)status; /* it is not called when the device failed */
    for (unsigned i = 0; i < step->count; i++) {
        if (calls[i].fn) {
            calls[i].fn(calls[i].data);
        } else {
            mc_box_move(&calls[i].box);
        }
    }
}

/* ---- steps that streams have functions for ---- */

static mcError_t run_kernel(McStream *stream, const McKernelNode *k)
{
    const McLaunchHow how = {
        .flags = k->cooperative ? MXGPU_PKT_COOPERATIVE : 0,
        .has_priority = k->has_priority,
        .priority = k->priority,
    };
    McFunction *f;
    mcError_t error = mc_graph_function(stream->ctx, k->func, &f);

    return error != mcSuccess
               ? error
               : mc_launch_as(stream, f, k->grid, k->block, k->shared, NULL,
                              k->arguments->block, k->arguments->size, &how);
}

static mcError_t run_copy(McStream *stream, const mcMemcpy3DParms *p)
{
    McBox box;
    mcError_t error = mc_box_of_copy(p, &box);

    return error != mcSuccess ? error
                              : mc_copy_box(stream, &box, p->kind, false);
}

static mcError_t run_fill(McStream *stream, const mcMemsetParams *p)
{
    McBox box;
    mcError_t error = mc_box_of_fill(p, &box);

    return error != mcSuccess ? error
                              : mc_fill_box(stream, &box, p->value,
                                            p->elementSize, false);
}

static mcError_t run_batch(McStream *stream, const mcBatchMemOpNodeParams *p)
{
    McWordOp ops[MC_BATCH_MAX];
    unsigned words = 0;
    mcError_t error = mcSuccess;

    for (unsigned i = 0; i < p->count && error == mcSuccess; i++) {
        bool word;

        error = mc_batch_op(&p->paramArray[i], &ops[words], &word);
        words += word;
    }
    return error != mcSuccess ? error : mc_word_ops(stream, ops, words);
}

static mcError_t run_event(McStream *stream, const McNodeParams *p)
{
    McEvent *event = mc_handle_get(p->event, MC_HANDLE_EVENT);

    if (!event) {
        return mcErrorInvalidHandle;
    }
    mcError_t error = p->type == mcGraphNodeTypeEventRecord
                          ? mc_event_record(event, stream)
                          : mc_event_wait(stream, event);
    mc_handle_put(event);
    return error;
}

static mcError_t run_semaphores(McStream *stream, const McNodeParams *p)
{
    bool signal = p->type == mcGraphNodeTypeExtSemaphoreSignal;
    unsigned count = signal ? p->signal.numExtSems : p->wait.numExtSems;
    mcError_t error = mcSuccess;

    for (unsigned i = 0; i < count && error == mcSuccess; i++) {
        McExternalSemaphore *s = mc_handle_get(
            signal ? p->signal.extSemArray[i] : p->wait.extSemArray[i],
            MC_HANDLE_EXTERNAL_SEMAPHORE);

        if (!s) {
            return mcErrorInvalidResourceHandle;
        }
        McSemaphoreOp op = {
            .semaphore = s->semaphore,
            .value = signal
                         ? p->signal.paramsArray[i].params.fence.value
                         : p->wait.paramsArray[i].params.fence.value,
        };
        error = signal ? mc_semaphores_signal(stream, &op, 1)
                       : mc_semaphores_wait(stream, &op, 1);
        mc_handle_put(s);
    }
    return error;
}

static mcError_t run_node(McStream *stream, const McNodeParams *p)
{
    switch ((int)p->type) {
    case mcGraphNodeTypeKernel:
        return run_kernel(stream, &p->kernel);
    case mcGraphNodeTypeMemcpy:
        return run_copy(stream, &p->copy);
    case mcGraphNodeTypeMemset:
        return run_fill(stream, &p->fill);
    case mcGraphNodeTypeBatchMemOp:
        return run_batch(stream, &p->batch);
    case mcGraphNodeTypeEventRecord:
    case mcGraphNodeTypeWaitEvent:
        return run_event(stream, p);
    case mcGraphNodeTypeExtSemaphoreSignal:
    case mcGraphNodeTypeExtSemaphoreWait:
        return run_semaphores(stream, p);
    }
    return mcErrorInvalidValue;
}

/* ---- on other devices ---- */

/* A stream of a device, for what is to run there in order with another stream.
 * Both directions are a wait for all that is in the one. */
static mcError_t side_begin(McContext *ctx, McStream *stream, McStream **side)
{
    uint64_t value;
    mcError_t error = mc_stream_new(ctx, mcStreamNonBlocking, stream->priority,
                                    side);

    if (error != mcSuccess) {
        return error;
    }
    error = mc_stream_mark(stream, &value);
    if (error == mcSuccess) {
        error = mc_stream_wait_queue(*side, stream->ctx, stream->queue, value);
    }
    if (error != mcSuccess) {
        mc_stream_drop(*side);
    }
    return error;
}

static mcError_t side_end(McStream *side, McStream *stream, mcError_t error)
{
    uint64_t value;

    if (error == mcSuccess) {
        error = mc_stream_mark(side, &value);
    }
    if (error == mcSuccess) {
        error = mc_stream_wait_queue(stream, side->ctx, side->queue, value);
    }
    mc_stream_drop(side);
    return error;
}

/* The device whose stream does the work of a node; -1: any. */
static int device_of(const McNodeParams *p)
{
    int device = p->device;

    if (p->type == mcGraphNodeTypeEventRecord) {
        McEvent *event = mc_handle_get(p->event, MC_HANDLE_EVENT);

        if (event) {
            device = event->handle.ctx->device;
            mc_handle_put(event);
        }
    } else if (p->type == mcGraphNodeTypeWaitEvent ||
               p->type == mcGraphNodeTypeExtSemaphoreSignal ||
               p->type == mcGraphNodeTypeExtSemaphoreWait) {
        device = -1;
    }
    return device;
}

static mcError_t run_node_step(McStream *stream, const McNodeParams *p)
{
    int device = device_of(p);
    McStream *side;

    if (device < 0 || device == stream->ctx->device) {
        return run_node(stream, p);
    }
    McContext *ctx = mc_context_peek(device);
    if (!ctx) {
        return mcErrorContextIsDestroyed; /* and with it what the node names */
    }
    mcError_t error = side_begin(ctx, stream, &side);
    if (error == mcSuccess) {
        error = side_end(side, stream, run_node(side, p));
    }
    mc_context_put(ctx);
    return error;
}

/* ---- launches ---- */

static mcError_t run_steps(McGraphImage *image, McStream *stream)
{
    mcError_t error = mcSuccess;

    if (image->queue && image->queue != stream->queue) {
        error = mc_stream_wait_queue(stream, image->ctx, image->queue,
                                     image->value);
    }
    for (unsigned i = 0; i < image->step_count && error == mcSuccess; i++) {
        McGraphStep *step = &image->steps[i];

        switch (step->kind) {
        case MC_STEP_LIST:
            error = run_list(stream, step);
            break;
        case MC_STEP_CALLS:
            error = mc_stream_host_call(stream, run_calls, step, false, true);
            break;
        case MC_STEP_NODE:
            error = run_node_step(stream, &step->node->params);
            break;
        }
        /* Also when it fails later: what was submitted uses the image. */
        image->queue = stream->queue;
        image->value = atomic_load(&stream->last);
    }
    return error;
}

/* The stream is one of the graph's device. */
static mcError_t launch(McGraphExec *exec, McStream *stream)
{
    pthread_mutex_lock(&exec->lock);
    mcError_t error = mc_graph_exec_ready(exec);
    if (error == mcSuccess) {
        error = mc_graph_memory_launch(
            exec->graph,
            exec->flags & mcGraphInstantiateFlagAutoFreeOnLaunch);
    }
    if (error == mcSuccess) {
        error = run_steps(exec->image, stream);
        mc_graph_memory_launched(exec->graph, stream->ctx, exec->image->queue,
                                 exec->image->value);
    }
    pthread_mutex_unlock(&exec->lock);
    return error;
}

/* A graph in a graph, as it is now. */
static mcError_t capture(McGraphExec *exec, McStream *stream)
{
    pthread_mutex_lock(&exec->lock);
    const McNodeParams params = {
        .type = mcGraphNodeTypeGraph,
        .device = exec->handle.ctx->device,
        .child = exec->graph,
    };
    mcError_t error = mc_capture_node(stream, &params);
    pthread_mutex_unlock(&exec->lock);
    return error;
}

mcError_t mc_graph_launch(McGraphExec *exec, McStream *stream)
{
    McContext *ctx = exec->handle.ctx;
    McStream *side;
    mcError_t error;

    if (mc_capturing(stream)) {
        return capture(exec, stream);
    }
    if (stream->ctx == ctx) {
        error = launch(exec, stream);
    } else {
        error = side_begin(ctx, stream, &side);
        if (error == mcSuccess) {
            error = side_end(side, stream, launch(exec, side));
        }
    }
    return error == mcSuccess && mc_launch_blocking() ? mc_stream_sync(stream)
                                                      : error;
}

mcError_t mc_graph_upload(McGraphExec *exec)
{
    pthread_mutex_lock(&exec->lock);
    mcError_t error = mc_graph_exec_ready(exec);
    pthread_mutex_unlock(&exec->lock);
    return error;
}
