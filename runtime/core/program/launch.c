/* SPDX-License-Identifier: MIT */
#include "launch.h"

#include <inttypes.h>
#include <string.h>

#include "core/context/runtime.h"
#include "core/module/arguments.h"
#include "core/stream/capture.h"
#include "core/stream/submit.h"
#include "mxgpu/kernel.h"
#include "mxgpu/launch.h"
#include "mxgpu/occupancy.h"

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

/* All that may be wrong with a launch but its arguments. */
static mcError_t check_launch(McContext *ctx, McFunction *f, dim3 grid,
                              dim3 block, size_t shared, unsigned flags)
{
    mcError_t error = f->handle.ctx == ctx ? check_shape(ctx, f, grid, block)
                                           : mcErrorInvalidResourceHandle;

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

static mcError_t prepare(McStream *stream, McFunction *f, dim3 grid,
                         dim3 block, size_t shared, void **params,
                         const void *buffer, size_t buffer_size,
                         unsigned flags, uint8_t *args)
{
    mcError_t error = check_launch(stream->ctx, f, grid, block, shared, flags);

    return error != mcSuccess
               ? error
               : mc_marshal(f, args, params, buffer, buffer_size);
}

mcError_t mc_launch_check(McStream *stream, McFunction *f, dim3 grid,
                          dim3 block, size_t shared, void **params,
                          unsigned flags)
{
    uint8_t args[MC_ARGS_MAX];

    return prepare(stream, f, grid, block, shared, params, NULL, 0, flags,
                   args);
}

static void dispatch_packet(McContext *ctx, McFunction *f, dim3 grid,
                            dim3 block, size_t shared, const uint8_t *args,
                            union mxgpu_packet *packet)
{
    *packet = (union mxgpu_packet){
        .dispatch = {
            .type = MXGPU_PKT_DISPATCH,
            .dynamic_shared = shared,
            .kernel = f->desc,
            .args = (uintptr_t)args,
            .grid = {grid.x, grid.y, grid.z},
            .block = {block.x, block.y, block.z},
            .private_kib = stack_bytes(ctx, f) / 1024,
        },
    };
}

static unsigned dispatch_flags(const McContext *ctx, const McFunction *f,
                               unsigned flags)
{
    if (ctx->info.pageable) {
        flags |= MXGPU_PKT_RECOVER;
    }
    if (f->uses & MXGPU_KERNEL_USES_LAUNCH) {
        flags |= MXGPU_PKT_LAUNCHES;
    }
    return mc_checking() ? flags | MXGPU_PKT_STRICT_ALIGN : flags;
}

unsigned mc_launch_head(const union mxgpu_packet *packet)
{
    return packet->header.flags & MXGPU_PKT_LAUNCHES ? MXGPU_LAUNCH_ARGS : 0;
}

void mc_launch_record(const union mxgpu_packet *packet, uint8_t *memory)
{
    const struct mxgpu_launch root = {
        .private_kib = packet->dispatch.private_kib,
        .flags = packet->header.flags &
                 (MXGPU_PKT_STRICT_ALIGN | MXGPU_PKT_RECOVER),
    };

    if (mc_launch_head(packet)) {
        memcpy(memory, &root, sizeof(root));
    }
}

mcError_t mc_launch_packet(McContext *ctx, McFunction *f, dim3 grid,
                           dim3 block, size_t shared, unsigned flags,
                           const uint8_t *args, union mxgpu_packet *packet)
{
    mcError_t error = check_launch(ctx, f, grid, block, shared, flags);

    if (error == mcSuccess) {
        dispatch_packet(ctx, f, grid, block, shared, args, packet);
        packet->header.flags = dispatch_flags(ctx, f, flags);
    }
    return error;
}

mcError_t mc_launch_capture(McStream *stream, McFunction *f, dim3 grid,
                            dim3 block, size_t shared, void **params,
                            const void *buffer, size_t buffer_size,
                            unsigned flags, const int *priority)
{
    const void *symbol = atomic_load(&f->symbol);
    McNodeParams node = {
        .type = mcGraphNodeTypeKernel,
        .device = stream->ctx->device,
        .kernel = {
            .func = symbol ? (void *)symbol : f,
            .grid = grid,
            .block = block,
            .shared = shared,
            .cooperative = flags & MXGPU_PKT_COOPERATIVE,
            .has_priority = priority,
            .priority = priority ? *priority : 0,
        },
    };
    mcError_t error = check_launch(stream->ctx, f, grid, block, shared, flags);

    if (error == mcSuccess) {
        error = mc_arguments_of(f, params, buffer, buffer_size,
                                &node.kernel.arguments);
    }
    if (error == mcSuccess) {
        error = mc_capture_node(stream, &node);
        mc_arguments_free(node.kernel.arguments);
    }
    return error;
}

mcError_t mc_launch(McStream *stream, McFunction *f, dim3 grid, dim3 block,
                    size_t shared, void **params, const void *buffer,
                    size_t buffer_size, unsigned flags)
{
    uint8_t args[MC_ARGS_MAX];
    union mxgpu_packet packet;
    McSubmit submit;

    if (mc_capturing(stream)) {
        return mc_launch_capture(stream, f, grid, block, shared, params,
                                 buffer, buffer_size, flags, NULL);
    }
    mcError_t error = prepare(stream, f, grid, block, shared, params, buffer,
                              buffer_size, flags, args);

    if (error != mcSuccess) {
        return error;
    }
    dispatch_packet(stream->ctx, f, grid, block, shared, NULL, &packet);
    packet.header.flags = dispatch_flags(stream->ctx, f, flags);
    unsigned head = mc_launch_head(&packet);
    error = mc_submit_begin(stream, 1, head + (f->arg_size ? f->arg_size : 16),
                            &submit);
    if (error != mcSuccess) {
        return error;
    }
    mc_launch_record(&packet, submit.stage);
    memcpy(submit.stage + head, args, f->arg_size);
    packet.dispatch.args = (uintptr_t)submit.stage + head;
    strncpy(mc_submit_label(&submit), f->name, MC_LABEL_SIZE - 1);
    mc_submit_push(&submit, &packet, packet.header.flags);
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
