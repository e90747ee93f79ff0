/* SPDX-License-Identifier: MIT */
#include "api/api.h"
#include "core/program/launch.h"
#include "core/program/program.h"
#include "mxgpu/occupancy.h"

/* The kernel of a host symbol or of a module, on its context. */
static mcError_t active_blocks(int *blocks, const void *symbol, int threads,
                               size_t dynamic)
{
    McFunction *function;

    if (!blocks || threads <= 0) {
        return mcErrorInvalidValue;
    }
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    mcError_t error = mc_api_context(&ctx);
    if (error == mcSuccess) {
        error = mc_symbol_function(ctx, symbol, &function);
    }
    if (error == mcSuccess) {
        *blocks = mc_occupancy(ctx, function, threads, dynamic);
    }
    return error;
}

MC_EXPORT mcError_t mcOccupancyMaxActiveBlocksPerMultiprocessor(
    int *numBlocks, const void *f, int blockSize, size_t dynamicSMemSize)
{
    API_ENTER("%p, %p, %d, %zu", (void *)numBlocks, f, blockSize,
              dynamicSMemSize);
    API_RETURN(active_blocks(numBlocks, f, blockSize, dynamicSMemSize));
}

MC_EXPORT mcError_t mcOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, const void *f, int blockSize, size_t dynamicSMemSize,
    unsigned int flags)
{
    API_ENTER("%p, %p, %d, %zu, 0x%x", (void *)numBlocks, f, blockSize,
              dynamicSMemSize, flags);
    API_CHECK(flags <= mcOccupancyDisableCachingOverride, mcErrorInvalidValue);
    API_RETURN(active_blocks(numBlocks, f, blockSize, dynamicSMemSize));
}

MC_EXPORT mcError_t mcModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int *numBlocks, mcFunction_t handle, int blockSize, size_t dynamicSMemSize)
{
    API_ENTER("%p, %p, %d, %zu", (void *)numBlocks, (void *)handle, blockSize,
              dynamicSMemSize);
    API_CHECK(numBlocks && blockSize > 0, mcErrorInvalidValue);
    API_FUNCTION(function, handle);
    *numBlocks = mc_occupancy(function->handle.ctx, function, blockSize,
                              dynamicSMemSize);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, mcFunction_t handle, int blockSize, size_t dynamicSMemSize,
    unsigned int flags)
{
    API_ENTER("%p, %p, %d, %zu, 0x%x", (void *)numBlocks, (void *)handle,
              blockSize, dynamicSMemSize, flags);
    API_CHECK(numBlocks && blockSize > 0 &&
              flags <= mcOccupancyDisableCachingOverride,
              mcErrorInvalidValue);
    API_FUNCTION(function, handle);
    *numBlocks = mc_occupancy(function->handle.ctx, function, blockSize,
                              dynamicSMemSize);
    API_RETURN(mcSuccess);
}

/* The block with which most threads run at once. */
static mcError_t best_block(int *grid, int *block, McContext *ctx,
                            const McFunction *function, size_t dynamic,
                            int limit)
{
    unsigned best = 0, best_threads = 0;
    unsigned top = mc_max_threads(ctx, function);
    top = limit && (unsigned)limit < top ? (unsigned)limit : top;
    unsigned step = ctx->info.warp_size;
    for (unsigned threads = top < step ? top : top / step * step;
         threads > 0 && threads <= top;
         threads = threads > step ? threads - step : 0) {
        unsigned resident = mc_occupancy(ctx, function, threads, dynamic) *
                            threads;

        if (resident > best) {
            best = resident;
            best_threads = threads;
        }
    }
    if (best == 0) {
        return mcErrorInvalidValue; /* no block of it fits */
    }
    *block = best_threads;
    *grid = best / best_threads * ctx->info.compute_units;
    return mcSuccess;
}

static mcError_t potential(int *grid, int *block, const void *symbol,
                           size_t dynamic, int limit)
{
    McFunction *function;

    if (!grid || !block || limit < 0) {
        return mcErrorInvalidValue;
    }
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    mcError_t error = mc_api_context(&ctx);
    if (error == mcSuccess) {
        error = mc_symbol_function(ctx, symbol, &function);
    }
    return error == mcSuccess
               ? best_block(grid, block, ctx, function, dynamic, limit)
               : error;
}

MC_EXPORT mcError_t mcModuleOccupancyMaxPotentialBlockSize(
    int *gridSize, int *blockSize, mcFunction_t handle,
    size_t dynSharedMemPerBlk, int blockSizeLimit)
{
    API_ENTER("%p, %p, %p, %zu, %d", (void *)gridSize, (void *)blockSize,
              (void *)handle, dynSharedMemPerBlk, blockSizeLimit);
    API_CHECK(gridSize && blockSize && blockSizeLimit >= 0,
              mcErrorInvalidValue);
    API_FUNCTION(function, handle);
    API_RETURN(best_block(gridSize, blockSize, function->handle.ctx, function,
                          dynSharedMemPerBlk, blockSizeLimit));
}

MC_EXPORT mcError_t mcModuleOccupancyMaxPotentialBlockSizeWithFlags(
    int *gridSize, int *blockSize, mcFunction_t handle,
    size_t dynSharedMemPerBlk, int blockSizeLimit, unsigned int flags)
{
    API_ENTER("%p, %p, %p, %zu, %d, 0x%x", (void *)gridSize,
              (void *)blockSize, (void *)handle, dynSharedMemPerBlk,
              blockSizeLimit, flags);
    API_CHECK(gridSize && blockSize && blockSizeLimit >= 0 &&
              flags <= mcOccupancyDisableCachingOverride,
              mcErrorInvalidValue);
    API_FUNCTION(function, handle);
    API_RETURN(best_block(gridSize, blockSize, function->handle.ctx, function,
                          dynSharedMemPerBlk, blockSizeLimit));
}

MC_EXPORT mcError_t mcOccupancyMaxPotentialBlockSize(
    int *gridSize, int *blockSize, const void *f, size_t dynSharedMemPerBlk,
    int blockSizeLimit)
{
    API_ENTER("%p, %p, %p, %zu, %d", (void *)gridSize, (void *)blockSize, f,
              dynSharedMemPerBlk, blockSizeLimit);
    API_RETURN(potential(gridSize, blockSize, f, dynSharedMemPerBlk,
                         blockSizeLimit));
}

MC_EXPORT mcError_t mcOccupancyMaxPotentialBlockSizeWithFlags(
    int *gridSize, int *blockSize, const void *f, size_t dynSharedMemPerBlk,
    int blockSizeLimit, unsigned int flags)
{
    API_ENTER("%p, %p, %p, %zu, %d, 0x%x", (void *)gridSize,
              (void *)blockSize, f, dynSharedMemPerBlk, blockSizeLimit, flags);
    API_CHECK(flags <= mcOccupancyDisableCachingOverride, mcErrorInvalidValue);
    API_RETURN(potential(gridSize, blockSize, f, dynSharedMemPerBlk,
                         blockSizeLimit));
}

/* Of a compute unit, shared by so many blocks. */
static mcError_t room_for_dynamic(size_t *size, McContext *ctx,
                                  const McFunction *function, int blocks,
                                  int threads)
{
    if (mc_occupancy(ctx, function, threads, 0) < (unsigned)blocks) {
        return mcErrorInvalidValue;
    }
    *size = ctx->info.cu_shared / MXGPU_SHARED_GRANULE / blocks *
                MXGPU_SHARED_GRANULE - function->static_shared;
    return mcSuccess;
}

MC_EXPORT mcError_t mcOccupancyAvailableDynamicSMemPerBlock(
    size_t *size, const void *f, int numBlocks, int blockSize)
{
    McFunction *function;

    API_ENTER("%p, %p, %d, %d", (void *)size, f, numBlocks, blockSize);
    API_CHECK(size && numBlocks > 0 && blockSize > 0, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_TRY(mc_symbol_function(ctx, f, &function));
    API_RETURN(room_for_dynamic(size, ctx, function, numBlocks, blockSize));
}

MC_EXPORT mcError_t mcModuleOccupancyAvailableDynamicSMemPerBlock(
    size_t *size, mcFunction_t handle, int numBlocks, int blockSize)
{
    API_ENTER("%p, %p, %d, %d", (void *)size, (void *)handle, numBlocks,
              blockSize);
    API_CHECK(size && numBlocks > 0 && blockSize > 0, mcErrorInvalidValue);
    API_FUNCTION(function, handle);
    API_RETURN(room_for_dynamic(size, function->handle.ctx, function,
                                numBlocks, blockSize));
}
