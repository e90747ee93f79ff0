/* SPDX-License-Identifier: MIT */
#include "services.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/mapping/multicast.h"
#include "core/context/error.h"
#include "core/module/module.h"
#include "core/queue/queue.h"
#include "core/memory/range.h"
#include "core/context/runtime.h"
#include "device/heap.h"
#include "device/launch.h"
#include "fifo.h"
#include "mxgpu/pte.h"

#define PERMS (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC)

struct McServices {
    McContext *ctx;
    pthread_mutex_t lock; /* sizes; making and telling */
    size_t fifo_bytes, heap_bytes, launch_count;
    size_t sync_depth;
    McMapping fifo, heap, launch, contexts;
    KmdQueue *launch_queue;

    pthread_mutex_t print; /* reader */
    McFifo reader;
    atomic_bool reads; /* there is a FIFO */
};

mcError_t mc_services_new(McContext *ctx, McServices **out)
{
    McServices *s = calloc(1, sizeof(*s));

    if (!s) {
        return mcErrorMemoryAllocation;
    }
    s->ctx = ctx;
    s->fifo_bytes = MC_FIFO_DEFAULT;
    s->heap_bytes = MC_HEAP_DEFAULT;
    s->launch_count = MC_LAUNCH_DEFAULT;
    s->sync_depth = MC_SYNC_DEPTH_DEFAULT;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->print, NULL);
    *out = s;
    return mcSuccess;
}

static void drop(McServices *s, McMapping *mapping)
{
    if (mapping->bo) {
        mc_range_remove(mapping->va, NULL);
        mc_mapping_free(s->ctx, mapping);
    }
}

/* ---- making ---- */

/* Copies may name it, mcFree may not. */
static mcError_t make(McServices *s, uint64_t size, McMapping *out)
{
    mcError_t error = mc_mapping_new(s->ctx, size, PERMS, out);
    McRange range = {
        .base = out->va,
        .size = out->size,
        .kind = MC_RANGE_MODULE,
        .device = s->ctx->device,
    };

    if (error == mcSuccess && !mc_range_add(&range)) {
        mc_mapping_free(s->ctx, out);
        error = mcErrorMemoryAllocation;
    }
    return error;
}

static mcError_t make_fifo(McServices *s)
{
    uint64_t size = s->fifo_bytes + MC_FIFO_SPARE;
    mcError_t error = make(s, sizeof(struct mc_fifo) + size, &s->fifo);

    if (error != mcSuccess) {
        mc_error("device %d: no memory for a printf FIFO of %zu bytes",
                 s->ctx->device, s->fifo_bytes);
        return error;
    }
    mc_fifo_init(&s->reader, s->ctx->ops->cpu(s->fifo.bo), s->fifo_bytes);
    atomic_store(&s->reads, true);
    return mcSuccess;
}

static mcError_t make_heap(McServices *s)
{
    uint64_t pages = s->heap_bytes / MC_HEAP_PAGE;
    uint64_t start = sizeof(struct mc_heap) +
                     pages * sizeof(struct mc_heap_page);

    start = (start + MC_HEAP_PAGE - 1) & ~(uint64_t)(MC_HEAP_PAGE - 1);
    mcError_t error = make(s, start + pages * MC_HEAP_PAGE, &s->heap);
    if (error != mcSuccess) {
        mc_error("device %d: no memory for a heap of %zu bytes",
                 s->ctx->device, s->heap_bytes);
        return error;
    }
    struct mc_heap *h = s->ctx->ops->cpu(s->heap.bo);
    memset(h, 0, start);
    h->pages = pages;
    h->base = s->heap.va + start;
    h->run_top = pages;
    return mcSuccess;
}

/* Bytes in front of the records, and log2 of the ring's entries. */
static uint64_t launch_head(uint64_t count, unsigned *log2)
{
    for (*log2 = 3; 1ull << *log2 < count;) {
        (*log2)++;
    }
    return (sizeof(struct mc_launch_area) + (8ull << *log2) + 63) & ~63ull;
}

static void fill_launch(McServices *s, uint64_t count, unsigned log2)
{
    const KmdInfo *info = &s->ctx->info;
    struct mc_launch_area *area = s->ctx->ops->cpu(s->launch.bo);
    uint64_t head = launch_head(count, &log2);

    memset(area, 0, head);
    for (uint64_t i = 0; i < count; i++) {
        memset((uint8_t *)area + head + i * MC_LAUNCH_STRIDE, 0,
               sizeof(struct mxgpu_launch));
    }
    area->ring = s->launch.va + sizeof(*area);
    area->records = s->launch.va + head;
    area->mask = (1u << log2) - 1;
    area->count = (uint32_t)count;
    area->device = (uint32_t)s->ctx->device;
    area->devices = (uint32_t)mc_device_count();
    area->block_threads = info->block_threads;
    area->cu_registers = info->cu_registers;
    area->cu_shared = info->cu_shared;
    area->warp_size = info->warp_size;
    area->cu_private = info->cu_private;
    area->compute_units = info->compute_units;
}

/* What a level of waiting grids may need when they have to leave the units: what
 * fills 16 of these. */
#define LEVEL_BYTES (24ull << 20)

#define CROWD_BYTES (64ull << 20)

/* Memory for dispatches that leave their slot: grids that wait in kernels of other
 * grids, and what shares slots. false: the program goes on without. */
static bool make_contexts(McServices *s, uint64_t size)
{
    const KmdOps *ops = s->ctx->ops;
    uint64_t unused, total;

    if (s->contexts.bo) {
        return true;
    }
    ops->memory(s->ctx->kmd, &unused, &total);
    size = size < total / 8 ? size : total / 8;
    if (make(s, size, &s->contexts) != mcSuccess) {
        return false;
    }
    int err = ops->contexts(s->ctx->kmd, s->contexts.va,
                            s->contexts.size & ~(uint64_t)63);
    if (err) {
        mc_info("device %d: no memory for contexts: %s", s->ctx->device,
                strerror(-err));
        drop(s, &s->contexts);
    }
    return !err;
}

/* How deep kernels may wait. */
static uint32_t wait_depth(McServices *s)
{
    if (s->sync_depth <= MXGPU_LAUNCH_WAIT_DEPTH ||
        make_contexts(s, (s->sync_depth - 1) * LEVEL_BYTES)) {
        return (uint32_t)s->sync_depth;
    }
    mc_warn("device %d: no memory for kernels that wait deeper than the first "
            "level: they will not", s->ctx->device);
    return MXGPU_LAUNCH_WAIT_DEPTH;
}

/* Without it, as many endless kernels as there are slots keep others out: of this
 * program, and of the device's other users. */
static void services_crowded(McContext *ctx)
{
    McServices *s = ctx->services;

    pthread_mutex_lock(&s->lock);
    if (!make_contexts(s, CROWD_BYTES)) {
        mc_warn("device %d: no memory for %u kernels without an end",
                ctx->device, MXGPU_DISPATCH_SLOTS);
    }
    pthread_mutex_unlock(&s->lock);
}

/* The memory, and the queue that runs what is put there, with the priority of
 * streams that were given none. */
static mcError_t make_launch(McServices *s)
{
    const KmdOps *ops = s->ctx->ops;
    unsigned log2;
    uint64_t head = launch_head(s->launch_count, &log2);
    mcError_t error = make(s, head + s->launch_count * MC_LAUNCH_STRIDE,
                           &s->launch);

    if (error != mcSuccess) {
        mc_error("device %d: no memory for %zu launches by kernels",
                 s->ctx->device, s->launch_count);
        return error;
    }
    fill_launch(s, s->launch_count, log2);
    int err = ops->queue_create(s->ctx->kmd, s->ctx->info.priorities - 1, 4,
                                &s->launch_queue);
    if (!err) {
        err = ops->queue_launch(s->launch_queue,
                                s->launch.va + sizeof(struct mc_launch_area),
                                log2);
    }
    if (err) {
        mc_error("device %d: no queue for what kernels launch: %s",
                 s->ctx->device, strerror(-err));
        if (s->launch_queue) {
            ops->queue_destroy(s->launch_queue);
            s->launch_queue = NULL;
        }
        drop(s, &s->launch);
        return err == -EOPNOTSUPP ? mcErrorNotSupported
                                  : mc_error_from_kmd(err);
    }
    ((struct mc_launch_area *)ops->cpu(s->launch.bo))->sync_depth =
        wait_depth(s);
    return mcSuccess;
}

/* Writes an address to a variable of the device's library. */
static mcError_t tell(McModule *module, const char *name, uint64_t address)
{
    if (!mc_module_set_address(module, name, address)) {
        mc_error("the module has no variable %s: not linked by this mxcc",
                 name);
        return mcErrorInvalidKernelImage;
    }
    return mcSuccess;
}

static mcError_t services_bind(McFunction *function)
{
    McModule *module = function->module;
    McServices *s = module->ctx->services;
    unsigned missing = function->uses & ~atomic_load(&module->bound);
    mcError_t error = mcSuccess;

    pthread_mutex_lock(&s->lock);
    if (missing & MXGPU_KERNEL_USES_FIFO) {
        error = s->fifo.bo ? mcSuccess : make_fifo(s);
        if (error == mcSuccess) {
            error = tell(module, "__mx_fifo", s->fifo.va);
        }
    }
    if (error == mcSuccess && (missing & MXGPU_KERNEL_USES_HEAP)) {
        error = s->heap.bo ? mcSuccess : make_heap(s);
        if (error == mcSuccess) {
            error = tell(module, "__mx_heap", s->heap.va);
        }
    }
    if (error == mcSuccess && (missing & MXGPU_KERNEL_USES_LAUNCH)) {
        error = s->launch.bo ? mcSuccess : make_launch(s);
        if (error == mcSuccess) {
            error = tell(module, "__mx_launch", s->launch.va);
        }
    }
    if (error == mcSuccess && (missing & MXGPU_KERNEL_USES_MULTIMEM)) {
        uint64_t table;

        error = mc_multicast_table(module->ctx, &table);
        if (error == mcSuccess) {
            error = tell(module, "__mx_multimem", table);
        }
    }
    if (error == mcSuccess) {
        atomic_fetch_or(&module->bound, missing);
    }
    pthread_mutex_unlock(&s->lock);
    return error;
}

/* ---- limits ---- */

static mcError_t set(McServices *s, size_t *bytes, const McMapping *made,
                     size_t value)
{
    mcError_t error = mcErrorInvalidValue;
    uint64_t unused, total;

    s->ctx->ops->memory(s->ctx->kmd, &unused, &total);
    if (value > total) {
        return mcErrorMemoryAllocation;
    }
    value = (value + KMD_PAGE_SIZE - 1) & ~(size_t)(KMD_PAGE_SIZE - 1);
    pthread_mutex_lock(&s->lock);
    if (!made->bo) {
        *bytes = value ? value : KMD_PAGE_SIZE;
        error = mcSuccess;
    }
    pthread_mutex_unlock(&s->lock);
    return error;
}

mcError_t mc_services_set_fifo(McServices *s, size_t bytes)
{
    return set(s, &s->fifo_bytes, &s->fifo, bytes);
}

mcError_t mc_services_set_heap(McServices *s, size_t bytes)
{
    return set(s, &s->heap_bytes, &s->heap, bytes);
}

mcError_t mc_services_set_launches(McServices *s, size_t count)
{
    mcError_t error = mcErrorInvalidValue;
    uint64_t unused, total;

    s->ctx->ops->memory(s->ctx->kmd, &unused, &total);
    if (count > MC_LAUNCH_MOST) {
        return error;
    }
    if (count * MC_LAUNCH_STRIDE > total) {
        return mcErrorMemoryAllocation;
    }
    pthread_mutex_lock(&s->lock);
    if (!s->launch.bo) {
        s->launch_count = count ? count : 1;
        error = mcSuccess;
    }
    pthread_mutex_unlock(&s->lock);
    return error;
}

mcError_t mc_services_set_sync_depth(McServices *s, size_t depth)
{
    mcError_t error = mcErrorInvalidValue;

    pthread_mutex_lock(&s->lock);
    if (!s->launch.bo && depth <= MXGPU_LAUNCH_DEPTH) {
        s->sync_depth = depth;
        error = mcSuccess;
    }
    pthread_mutex_unlock(&s->lock);
    return error;
}

static size_t get(McServices *s, const size_t *bytes)
{
    pthread_mutex_lock(&s->lock);
    size_t value = *bytes;
    pthread_mutex_unlock(&s->lock);
    return value;
}

size_t mc_services_fifo(McServices *s)
{
    return get(s, &s->fifo_bytes);
}

size_t mc_services_heap(McServices *s)
{
    return get(s, &s->heap_bytes);
}

size_t mc_services_launches(McServices *s)
{
    return get(s, &s->launch_count);
}

size_t mc_services_sync_depth(McServices *s)
{
    return get(s, &s->sync_depth);
}

/* ---- printing ---- */

/* aborted: no kernel runs any more, some may not have ended well. */
static void flush(McServices *s, bool aborted)
{
    if (!atomic_load(&s->reads) || !mc_fifo_news(&s->reader)) {
        return;
    }
    /* The program may hold stdout while it synchronises: that lock comes first.
     * It may hold stderr as well: messages are written when neither is held. */
    char *text = NULL;
    size_t length = 0;
    FILE *messages = open_memstream(&text, &length);
    flockfile(stdout);
    pthread_mutex_lock(&s->print);
    uint64_t head = mc_fifo_head(&s->reader);
    mc_fifo_drain(&s->reader, head,
                  aborted                    ? MC_FIFO_ABORTED
                  : mc_queues_empty(s->ctx) ? MC_FIFO_ENDED
                                             : MC_FIFO_RUN,
                  stdout, messages ? messages : stderr);
    fflush(stdout);
    pthread_mutex_unlock(&s->print);
    funlockfile(stdout);
    if (messages) {
        fclose(messages);
        fwrite(text, 1, length, stderr);
        free(text);
    }
}

static void services_flush(McContext *ctx)
{
    flush(ctx->services, atomic_load(&ctx->error) != mcSuccess);
}

static void services_stop(McContext *ctx)
{
    McServices *s = ctx->services;

    if (s->launch_queue) {
        ctx->ops->queue_destroy(s->launch_queue);
        s->launch_queue = NULL;
    }
    if (s->contexts.bo) { /* nobody is in it, without queues */
        (void)ctx->ops->contexts(ctx->kmd, 0, 0);
    }
}

const McServicesOps mc_services_ops = {
    .bind = services_bind,
    .flush = services_flush,
    .crowded = services_crowded,
    .stop = services_stop,
};

void mc_services_free(McServices *s)
{
    if (!s) {
        return;
    }
    flush(s, true);
    drop(s, &s->fifo);
    drop(s, &s->heap);
    drop(s, &s->launch);
    drop(s, &s->contexts);
    mc_fifo_free(&s->reader);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->print);
    free(s);
}
