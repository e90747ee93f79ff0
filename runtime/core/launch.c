/* SPDX-License-Identifier: MIT */
#include "launch.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "mxgpu/occupancy.h"
#include "runtime.h"
#include "submit.h"

/* Why it is not launched, with its name as in the source. */
#define KERNEL_ERROR(f, format, ...)                                           \
    do {                                                                       \
        if (mc_log_enabled(MC_LOG_ERROR)) {                                    \
            char name_[256];                                                   \
                                                                               \
            mc_source_name((f)->name, name_, sizeof(name_));                   \
            mc_error("kernel %s: " format, name_, __VA_ARGS__);                \
        }                                                                      \
    } while (0)

/* Private memory of a thread. */
static size_t stack_bytes(const McContext *ctx, const McFunction *f)
{
    size_t stack = atomic_load_explicit(&ctx->stack, memory_order_relaxed);

    stack = stack > f->private_bytes ? stack : f->private_bytes;
    return (stack + 1023) & ~(size_t)1023;
}

static mcError_t check_shape(const McContext *ctx, const McFunction *f,
                             dim3 grid, dim3 block)
{
    uint64_t threads = (uint64_t)block.x * block.y;
    unsigned most = ctx->info.block_threads;

    if (block.x > most || block.y > most || block.z > most ||
        threads * block.z == 0 || grid.x == 0 || grid.y == 0 || grid.z == 0) {
        goto bad;
    }
    threads *= block.z;
    if (threads > ctx->info.block_threads ||
        (f->max_threads && threads > f->max_threads) || grid.x > INT32_MAX ||
        grid.y > INT32_MAX || grid.z > INT32_MAX) {
        goto bad;
    }
    /* Warps are whole. */
    uint64_t lanes = (threads + ctx->info.warp_size - 1) /
                     ctx->info.warp_size * ctx->info.warp_size;
    if (lanes * f->registers > ctx->info.cu_registers) {
        KERNEL_ERROR(f, "%" PRIu64 " threads of %u registers, a compute unit "
                     "has %u", threads, f->registers, ctx->info.cu_registers);
        return mcErrorLaunchOutOfResources;
    }
    if (lanes * stack_bytes(ctx, f) > ctx->info.cu_private) {
        KERNEL_ERROR(f, "%" PRIu64 " threads with stacks of %zu bytes, a "
                     "compute unit has %" PRIu64 " for them", lanes,
                     stack_bytes(ctx, f), ctx->info.cu_private);
        return mcErrorLaunchOutOfResources;
    }
    return mcSuccess;
bad:
    KERNEL_ERROR(f, "grid %u,%u,%u of blocks %u,%u,%u, at most %u threads",
                 grid.x, grid.y, grid.z, block.x, block.y, block.z,
                 f->max_threads ? f->max_threads : ctx->info.block_threads);
    return mcErrorInvalidConfiguration;
}

/* All blocks have to be resident at once. */
static mcError_t check_cooperative(const McContext *ctx, const McFunction *f,
                                   dim3 grid, dim3 block, size_t shared)
{
    uint64_t most = (uint64_t)ctx->info.compute_units *
                    mc_occupancy(ctx, f, block.x * block.y * block.z, shared);

    /* Each dimension is below 2^31: the third product could overflow. */
    if ((uint64_t)grid.x * grid.y > most ||
        (uint64_t)grid.x * grid.y * grid.z > most) {
        KERNEL_ERROR(f, "%u,%u,%u cooperating blocks, at most %" PRIu64
                     " run at once", grid.x, grid.y, grid.z, most);
        return mcErrorCooperativeLaunchTooLarge;
    }
    return mcSuccess;
}

/* Arguments as the kernel takes them, in f->arg_size bytes. What params says is
 * read once: it is the caller's, who may change it. */
static mcError_t marshal(const McFunction *f, uint8_t *block, void **params,
                         const void *buffer, size_t buffer_size)
{
    memset(block, 0, f->arg_size);
    if (buffer) {
        if (buffer_size < f->arg_end ||
            buffer_size > ((f->arg_size + 15u) & ~15u)) {
            KERNEL_ERROR(f, "%zu bytes of arguments, it takes %u",
                         buffer_size, f->arg_size);
            return mcErrorInvalidValue;
        }
        memcpy(block, buffer, buffer_size < f->arg_size ? buffer_size
                                                        : f->arg_size);
        return mcSuccess;
    }
    if (f->arg_count && !params) {
        KERNEL_ERROR(f, "no arguments, it takes %u", f->arg_count);
        return mcErrorInvalidValue;
    }
    for (uint32_t i = 0; i < f->arg_count; i++) {
        const void *from = __atomic_load_n(&params[i], __ATOMIC_RELAXED);

        if (!from) {
            KERNEL_ERROR(f, "argument %u of %u is missing", i, f->arg_count);
            return mcErrorInvalidValue;
        }
        memcpy(block + f->args[i].offset, from, f->args[i].size);
    }
    return mcSuccess;
}

/* All that may be wrong with a launch, and its arguments. */
static mcError_t prepare(McStream *stream, McFunction *f, dim3 grid,
                         dim3 block, size_t shared, void **params,
                         const void *buffer, size_t buffer_size,
                         unsigned flags, uint8_t *args)
{
    McContext *ctx = stream->ctx;
    mcError_t error;

    if (f->handle.ctx != ctx) {
        return mcErrorInvalidResourceHandle;
    }
    error = check_shape(ctx, f, grid, block);
    if (error == mcSuccess) {
        error = marshal(f, args, params, buffer, buffer_size);
    }
    if (error != mcSuccess) {
        return error;
    }
    if (shared > atomic_load_explicit(&f->max_dynamic, memory_order_relaxed)) {
        KERNEL_ERROR(f, "%zu bytes of dynamic shared memory, at most %u",
                     shared, atomic_load(&f->max_dynamic));
        return mcErrorInvalidValue;
    }
    if (f->uses & ~atomic_load_explicit(&f->module->bound,
                                        memory_order_acquire)) {
        error = ctx->services_ops->bind(f);
        if (error != mcSuccess) {
            return error;
        }
    }
    return flags & MXGPU_PKT_COOPERATIVE
               ? check_cooperative(ctx, f, grid, block, shared)
               : mcSuccess;
}

mcError_t mc_launch_check(McStream *stream, McFunction *f, dim3 grid,
                          dim3 block, size_t shared, void **params,
                          unsigned flags)
{
    uint8_t args[MC_ARGS_MAX];

    return prepare(stream, f, grid, block, shared, params, NULL, 0, flags,
                   args);
}

mcError_t mc_launch(McStream *stream, McFunction *f, dim3 grid, dim3 block,
                    size_t shared, void **params, const void *buffer,
                    size_t buffer_size, unsigned flags)
{
    McContext *ctx = stream->ctx;
    uint8_t args[MC_ARGS_MAX];
    McSubmit submit;
    mcError_t error = prepare(stream, f, grid, block, shared, params, buffer,
                              buffer_size, flags, args);

    if (error != mcSuccess) {
        return error;
    }
    error = mc_submit_begin(stream, 1, f->arg_size ? f->arg_size : 16,
                            &submit);
    if (error != mcSuccess) {
        return error;
    }
    memcpy(submit.stage, args, f->arg_size);
    union mxgpu_packet packet = {
        .dispatch = {
            .type = MXGPU_PKT_DISPATCH,
            .dynamic_shared = shared,
            .kernel = f->desc,
            .args = (uintptr_t)submit.stage,
            .grid = {grid.x, grid.y, grid.z},
            .block = {block.x, block.y, block.z},
            .private_kib = stack_bytes(ctx, f) / 1024,
        },
    };
    if (mc_checking()) {
        flags |= MXGPU_PKT_STRICT_ALIGN;
    }
    strncpy(mc_submit_label(&submit), f->name, MC_LABEL_SIZE - 1);
    mc_submit_push(&submit, &packet, flags);
    mc_submit_end(&submit);
    if (mc_launch_blocking()) {
        error = mc_stream_sync(stream);
    }
    return error;
}

unsigned mc_max_threads(const McContext *ctx, const McFunction *f)
{
    unsigned most = ctx->info.block_threads;
    unsigned warps = ctx->info.cu_registers / f->registers /
                     ctx->info.warp_size;

    most = warps * ctx->info.warp_size < most ? warps * ctx->info.warp_size
                                              : most;
    return f->max_threads && f->max_threads < most ? f->max_threads : most;
}

unsigned mc_occupancy(const McContext *ctx, const McFunction *f,
                      unsigned threads, size_t dynamic_shared)
{
    const KmdInfo *info = &ctx->info;
    const struct mxgpu_cu cu = {
        .warp_size = info->warp_size,
        .threads = info->cu_threads,
        .blocks = info->cu_blocks,
        .registers = info->cu_registers,
        .shared = info->cu_shared,
        .private_bytes = info->cu_private,
    };
    const struct mxgpu_block_needs needs = {
        .threads = threads,
        .registers = f->registers,
        .shared = f->static_shared + dynamic_shared,
        .private_bytes = stack_bytes(ctx, f),
    };

    return threads > info->block_threads || dynamic_shared > info->cu_shared ||
                   (f->max_threads && threads > f->max_threads)
               ? 0
               : mxgpu_occupancy(&cu, &needs);
}
