/* SPDX-License-Identifier: MIT */
#include "graph_image.h"

#include <stdlib.h>
#include <string.h>

#include "core/context/error.h"
#include "core/program/launch.h"
#include "core/program/program.h"
#include "mxgpu/launch.h"
#include "params.h"

#define ARGUMENTS_ALIGN 16u
#define STAGING_ALIGN   64u

/* ---- what each node needs ---- */

typedef enum WorkKind {
    WORK_NONE,
    WORK_PACKETS,
    WORK_UPLOAD,   /* a call gathers, then the packet */
    WORK_DOWNLOAD, /* the packet, then a call scatters */
    WORK_CALL,
    WORK_NODE,
} WorkKind;

typedef struct Work {
    McGraphNode *node;
    unsigned level;
    WorkKind kind;
    unsigned packets;
    union mxgpu_packet packet; /* of one; addresses of the image are missing */
    bool alone;                /* nothing runs beside it */
    McBox box;                 /* of a copy */
    size_t size, align, at;    /* what it has of the image's memory */
} Work;

mcError_t mc_graph_function(McContext *ctx, void *func, McFunction **out)
{
    McFunction *f = mc_handle_get(func, MC_HANDLE_FUNCTION);

    if (!f) {
        return mc_symbol_function(ctx, func, out);
    }
    bool own = f->handle.ctx == ctx;
    mc_handle_put(f); /* its module keeps it */
    *out = f;
    return own ? mcSuccess : mcErrorInvalidResourceHandle;
}

static mcError_t look_at_kernel(McContext *ctx, Work *w)
{
    const McKernelNode *k = &w->node->params.kernel;
    McFunction *f;
    mcError_t error = mc_graph_function(ctx, k->func, &f);

    if (error == mcSuccess && f->arg_size != k->arguments->size) {
        error = mcErrorInvalidDeviceFunction; /* another one by that name */
    }
    if (error == mcSuccess) {
        error = mc_launch_packet(ctx, f, k->grid, k->block, k->shared,
                                 k->cooperative ? MXGPU_PKT_COOPERATIVE : 0,
                                 NULL, &w->packet);
    }
    if (k->has_priority) {
        /* Queues have priorities: it is launched in one of that. */
        w->kind = WORK_NODE;
        return error;
    }
    w->kind = WORK_PACKETS;
    w->packets = 1;
    w->alone = k->cooperative || mc_launch_head(&w->packet);
    w->size = mc_launch_head(&w->packet) +
              (k->arguments->size ? k->arguments->size : ARGUMENTS_ALIGN);
    w->align = mc_launch_head(&w->packet) ? MXGPU_LAUNCH_ALIGN
                                          : ARGUMENTS_ALIGN;
    return error;
}

static mcError_t look_at_copy(McContext *ctx, Work *w)
{
    static const WorkKind kinds[] = {
        [MC_COPY_NOTHING] = WORK_NONE,      [MC_COPY_DIRECT] = WORK_PACKETS,
        [MC_COPY_UPLOAD] = WORK_UPLOAD,     [MC_COPY_DOWNLOAD] = WORK_DOWNLOAD,
        [MC_COPY_HOST] = WORK_CALL,         [MC_COPY_REMOTE] = WORK_NODE,
    };
    const mcMemcpy3DParms *p = &w->node->params.copy;
    McCopyHow how;
    mcError_t error = mc_box_of_copy(p, &w->box);

    if (error == mcSuccess) {
        error = mc_copy_plan(ctx->device, &w->box, p->kind, &how);
    }
    if (error != mcSuccess) {
        return error;
    }
    w->kind = kinds[how];
    w->packets = w->kind == WORK_PACKETS || w->kind == WORK_UPLOAD ||
                 w->kind == WORK_DOWNLOAD;
    if (w->kind == WORK_UPLOAD || w->kind == WORK_DOWNLOAD) {
        w->size = mc_box_size(&w->box);
        w->align = STAGING_ALIGN;
    } else if (w->kind == WORK_PACKETS) {
        mc_copy_packet(&w->box, &w->packet);
    }
    return mcSuccess;
}

static mcError_t look_at_fill(McContext *ctx, Work *w)
{
    const mcMemsetParams *p = &w->node->params.fill;
    McBox box;
    bool some;
    mcError_t error = mc_box_of_fill(p, &box);

    if (error == mcSuccess) {
        error = mc_fill_plan(ctx->device, &box, p->value, p->elementSize,
                             &w->packet, &some);
    }
    if (error == mcSuccess && some) {
        w->kind = WORK_PACKETS;
        w->packets = 1;
    }
    return error;
}

/* The words of a batch, as packets; count of them when packets is NULL. */
static mcError_t batch_packets(McContext *ctx,
                               const mcBatchMemOpNodeParams *batch,
                               union mxgpu_packet *packets, unsigned *count)
{
    union mxgpu_packet one;
    mcError_t error = mcSuccess;

    *count = 0;
    for (unsigned i = 0; i < batch->count && error == mcSuccess; i++) {
        McWordOp op;
        bool word;

        error = mc_batch_op(&batch->paramArray[i], &op, &word);
        if (error == mcSuccess && word) {
            error = mc_word_plan(ctx->device, &op, &one);
            if (packets) {
                packets[*count] = one;
                packets[*count].header.flags = MXGPU_PKT_BARRIER;
            }
            ++*count;
        }
    }
    return error;
}

static mcError_t look_at(McContext *ctx, Work *w)
{
    const McNodeParams *p = &w->node->params;

    switch ((int)p->type) {
    case mcGraphNodeTypeHost:
        w->kind = WORK_CALL;
        return mcSuccess;
    case mcGraphNodeTypeWaitEvent:
    case mcGraphNodeTypeEventRecord:
    case mcGraphNodeTypeExtSemaphoreSignal:
    case mcGraphNodeTypeExtSemaphoreWait:
        w->kind = WORK_NODE;
        return mcSuccess;
    }
    if (p->device != ctx->device) {
        w->kind = WORK_NODE;
        return mcSuccess;
    }
    switch ((int)p->type) {
    case mcGraphNodeTypeKernel:
        return look_at_kernel(ctx, w);
    case mcGraphNodeTypeMemcpy:
        return look_at_copy(ctx, w);
    case mcGraphNodeTypeMemset:
        return look_at_fill(ctx, w);
    case mcGraphNodeTypeBatchMemOp:
        w->kind = WORK_PACKETS;
        w->alone = true;
        return batch_packets(ctx, &p->batch, NULL, &w->packets);
    }
    return mcErrorInvalidValue;
}

mcError_t mc_graph_check(McContext *ctx, const McNodeParams *params)
{
    McGraphNode probe = {.params = *params};
    Work w = {.node = &probe};

    switch ((int)params->type) {
    case mcGraphNodeTypeKernel:
    case mcGraphNodeTypeMemcpy:
    case mcGraphNodeTypeMemset:
    case mcGraphNodeTypeBatchMemOp:
        return look_at(ctx, &w);
    }
    return mcSuccess;
}

/* ---- making one ---- */

typedef struct Builder {
    McGraphImage *image;
    Work *work;
    unsigned count;
    bool open; /* packets of the list's end may still run */
} Builder;

static McGraphStep *last_step(Builder *b, McStepKind kind)
{
    McGraphImage *image = b->image;
    McGraphStep *step = image->step_count
                            ? &image->steps[image->step_count - 1]
                            : NULL;

    if (!step || step->kind != kind || kind == MC_STEP_NODE ||
        (kind == MC_STEP_LIST && step->count == MXGPU_INDIRECT_MAX)) {
        step = &image->steps[image->step_count++];
        *step = (McGraphStep){
            .kind = kind,
            .image = image,
            .first = kind == MC_STEP_LIST ? image->packets
                                          : image->call_count,
        };
        b->open = false; /* each step is behind the last one */
    }
    return step;
}

static void put_packet(Builder *b, const union mxgpu_packet *packet,
                       bool barrier)
{
    McGraphStep *step = last_step(b, MC_STEP_LIST);
    union mxgpu_packet *at = &b->image->list[b->image->packets++];

    *at = *packet;
    if (barrier) {
        at->header.flags |= MXGPU_PKT_BARRIER;
    }
    step->count++;
    b->open = !barrier;
}

static void put_call(Builder *b, mcHostFn_t fn, void *data, const McBox *box)
{
    McGraphStep *step = last_step(b, MC_STEP_CALLS);

    b->image->calls[b->image->call_count++] = (McGraphCall){
        .fn = fn,
        .data = data,
        .box = box ? *box : (McBox){0},
    };
    step->count++;
}

static void *memory_of(const Builder *b, const Work *w)
{
    return (uint8_t *)b->image->memory.memory + w->at;
}

/* The packets of one node, with what they read. */
static void put_work(Builder *b, Work *w, bool barrier)
{
    union mxgpu_packet packet = w->packet;
    const McNodeParams *p = &w->node->params;

    if (p->type == mcGraphNodeTypeBatchMemOp) {
        union mxgpu_packet packets[MC_BATCH_MAX];
        unsigned count;

        batch_packets(b->image->ctx, &p->batch, packets, &count);
        for (unsigned i = 0; i < count && i < w->packets; i++) {
            put_packet(b, &packets[i], true);
        }
        return;
    }
    if (p->type == mcGraphNodeTypeKernel) {
        uint8_t *args = (uint8_t *)memory_of(b, w) + mc_launch_head(&packet);

        mc_launch_record(&packet, memory_of(b, w));
        memcpy(args, p->kernel.arguments->block, p->kernel.arguments->size);
        packet.dispatch.args = (uintptr_t)args;
        barrier |= mc_launch_head(&packet) != 0;
    } else if (w->kind == WORK_UPLOAD || w->kind == WORK_DOWNLOAD) {
        McBox box = w->kind == WORK_UPLOAD
                        ? mc_box_from(w->box, memory_of(b, w))
                        : mc_box_to(w->box, memory_of(b, w));

        mc_copy_packet(&box, &packet);
    }
    put_packet(b, &packet, barrier);
}

static bool has_packets(const Work *w)
{
    return w->packets != 0;
}

/* Packets of a level may overlap, unless there is but one; they come behind all
 * of the level before. */
static void put_packets(Builder *b, Work *work, unsigned count)
{
    const union mxgpu_packet fence = {.header = {.type = MXGPU_PKT_NOP}};
    unsigned packets = 0;

    for (unsigned i = 0; i < count; i++) {
        packets += has_packets(&work[i]);
    }
    if (packets > 1 && b->open) {
        put_packet(b, &fence, true);
    }
    /* What waits for memory comes last: who writes it may be beside it. */
    for (int alone = 0; alone < 2; alone++) {
        for (unsigned i = 0; i < count; i++) {
            if (has_packets(&work[i]) && work[i].alone == (alone == 1)) {
                put_work(b, &work[i], packets == 1 || alone);
            }
        }
    }
}

static void put_level(Builder *b, Work *work, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (work[i].kind == WORK_UPLOAD) {
            McBox gather = mc_box_to(work[i].box, memory_of(b, &work[i]));

            put_call(b, NULL, NULL, &gather);
        }
    }
    put_packets(b, work, count);
    for (unsigned i = 0; i < count; i++) {
        Work *w = &work[i];
        const mcHostNodeParams *host = &w->node->params.host;

        if (w->kind == WORK_DOWNLOAD) {
            McBox scatter = mc_box_from(w->box, memory_of(b, w));

            put_call(b, NULL, NULL, &scatter);
        } else if (w->kind == WORK_CALL &&
                   w->node->params.type == mcGraphNodeTypeHost) {
            put_call(b, host->fn, host->userData, NULL);
        } else if (w->kind == WORK_CALL) {
            put_call(b, NULL, NULL, &w->box);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (work[i].kind == WORK_NODE) {
            last_step(b, MC_STEP_NODE)->node = work[i].node;
        }
    }
}

/* Looks at all nodes, and says where in the image's memory each one has its
 * part: behind the list. Returns the end. */
static mcError_t look_at_all(Builder *b, const McPlan *plan, size_t *size,
                             McGraphNode **bad)
{
    unsigned levels = 0;
    size_t packets = 0;

    for (unsigned i = 0; i < plan->count; i++) {
        Work *w = &b->work[i];

        *w = (Work){
            .node = plan->work[i].node,
            .level = plan->work[i].level,
        };
        mcError_t error = look_at(b->image->ctx, w);
        if (error != mcSuccess) {
            *bad = w->node;
            return error;
        }
        packets += w->packets;
        levels = w->level + 1;
    }
    /* A fence a level at most. */
    *size = (packets + levels) * sizeof(union mxgpu_packet);
    for (unsigned i = 0; i < plan->count; i++) {
        Work *w = &b->work[i];

        if (w->size) {
            w->at = (*size + w->align - 1) & ~(w->align - 1);
            *size = w->at + w->size;
        }
    }
    return mcSuccess;
}

static mcError_t make_room(McGraphImage *image, unsigned nodes, size_t size)
{
    /* A node has two calls at most, and takes three steps with its packets. */
    image->calls = calloc(nodes + 1, 2 * sizeof(*image->calls));
    image->steps = calloc(nodes + 1, 3 * sizeof(*image->steps));
    if (!image->calls || !image->steps) {
        return mcErrorMemoryAllocation;
    }
    size = (size + KMD_PAGE_SIZE - 1) & ~(size_t)(KMD_PAGE_SIZE - 1);
    if (!size) {
        return mcSuccess;
    }
    int err = mc_pinned_new(image->ctx, size, &image->memory);
    image->list = image->memory.memory;
    return err ? mc_error_from_kmd(err) : mcSuccess;
}

static mcError_t build(McGraphImage *image, const McPlan *plan,
                       McGraphNode **bad)
{
    Builder b = {.image = image, .count = plan->count};
    size_t size;

    b.work = malloc((plan->count + 1) * sizeof(*b.work));
    if (!b.work) {
        return mcErrorMemoryAllocation;
    }
    mcError_t error = look_at_all(&b, plan, &size, bad);
    if (error == mcSuccess) {
        error = make_room(image, plan->count, size);
    }
    for (unsigned i = 0, n; i < b.count && error == mcSuccess; i += n) {
        n = 1;
        while (i + n < b.count && b.work[i + n].level == b.work[i].level) {
            n++;
        }
        put_level(&b, &b.work[i], n);
    }
    free(b.work);
    return error;
}

mcError_t mc_graph_image_new(McContext *ctx, McGraph *graph,
                             McGraphImage **out, McGraphNode **bad)
{
    McGraphImage *image = calloc(1, sizeof(*image));
    McPlan plan;

    *bad = NULL;
    if (!image) {
        return mcErrorMemoryAllocation;
    }
    image->ctx = ctx;
    mcError_t error = mc_graph_plan(graph, &plan);
    if (error == mcSuccess) {
        error = build(image, &plan, bad);
        mc_graph_plan_free(&plan);
    } else {
        *bad = plan.cycle;
    }
    if (error != mcSuccess) {
        mc_graph_image_free(image);
        return error;
    }
    *out = image;
    return mcSuccess;
}

void mc_graph_image_free(McGraphImage *image)
{
    if (image->graph) {
        mc_graph_drop(image->graph);
        mc_handle_put(image->graph);
    }
    mc_pinned_free(image->ctx, &image->memory);
    free(image->calls);
    free(image->steps);
    free(image);
}
