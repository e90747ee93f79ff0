/* SPDX-License-Identifier: MIT */
#include "api/api.h"
#include "core/module/arguments.h"
#include "core/program/launch_attribute.h"
#include "core/program/launch_devices.h"
#include "core/program/program.h"

/* The stream of a launch: one of the current device. */
#define API_LAUNCH_STREAM(stream, handle)                                      \
    API_STREAM(stream, handle);                                                \
    API_CHECK(stream->ctx->device == mc_thread()->device,                      \
              mcErrorInvalidResourceHandle)

MC_EXPORT mcError_t mcLaunchKernel(const void *symbol, dim3 grid, dim3 block,
                                   void **args, size_t shared,
                                   mcStream_t handle)
{
    McFunction *function;

    API_ENTER("%p, %u,%u,%u, %u,%u,%u, %p, %zu, %p", symbol, grid.x, grid.y,
              grid.z, block.x, block.y, block.z, (void *)args, shared,
              (void *)handle);
    API_LAUNCH_STREAM(stream, handle);
    API_TRY(mc_symbol_function(stream->ctx, symbol, &function));
    API_RETURN(mc_launch(stream, function, grid, block, shared, args, NULL,
                         0, 0));
}

MC_EXPORT mcError_t mcLaunchCooperativeKernel(const void *symbol, dim3 grid,
                                              dim3 block, void **args,
                                              unsigned int shared,
                                              mcStream_t handle)
{
    McFunction *function;

    API_ENTER("%p, %u,%u,%u, %u,%u,%u, %p, %u, %p", symbol, grid.x, grid.y,
              grid.z, block.x, block.y, block.z, (void *)args, shared,
              (void *)handle);
    API_LAUNCH_STREAM(stream, handle);
    API_TRY(mc_symbol_function(stream->ctx, symbol, &function));
    API_RETURN(mc_launch(stream, function, grid, block, shared, args, NULL,
                         0, MXGPU_PKT_COOPERATIVE));
}

MC_EXPORT mcError_t mcModuleLaunchKernel(
    mcFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
    unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
    unsigned int blockDimZ, unsigned int sharedMemBytes, mcStream_t handle,
    void **kernelParams, void **extra)
{
    const void *buffer = NULL;
    size_t size = 0;

    API_ENTER("%p, %u,%u,%u, %u,%u,%u, %u, %p, %p, %p", (void *)f, gridDimX,
              gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
              sharedMemBytes, (void *)handle, (void *)kernelParams,
              (void *)extra);
    API_FUNCTION(function, f);
    API_CHECK(!kernelParams || !extra, mcErrorInvalidValue);
    API_CHECK(!extra || mc_read_extra(extra, &buffer, &size),
              mcErrorInvalidValue);
    API_LAUNCH_STREAM(stream, handle);
    dim3 grid = {gridDimX, gridDimY, gridDimZ};
    dim3 block = {blockDimX, blockDimY, blockDimZ};
    API_RETURN(mc_launch(stream, function, grid, block, sharedMemBytes,
                         kernelParams, buffer, size, 0));
}

MC_EXPORT mcError_t mcModuleLaunchCooperativeKernel(
    mcFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
    unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
    unsigned int blockDimZ, unsigned int sharedMemBytes, mcStream_t handle,
    void **kernelParams)
{
    API_ENTER("%p, %u,%u,%u, %u,%u,%u, %u, %p, %p", (void *)f, gridDimX,
              gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
              sharedMemBytes, (void *)handle, (void *)kernelParams);
    API_FUNCTION(function, f);
    API_LAUNCH_STREAM(stream, handle);
    dim3 grid = {gridDimX, gridDimY, gridDimZ};
    dim3 block = {blockDimX, blockDimY, blockDimZ};
    API_RETURN(mc_launch(stream, function, grid, block, sharedMemBytes,
                         kernelParams, NULL, 0, MXGPU_PKT_COOPERATIVE));
}

/* ---- with attributes ---- */

MC_EXPORT mcError_t mcLaunchKernelExC(const mcLaunchConfig_t *config,
                                      const void *symbol, void **args)
{
    McFunction *function;
    McLaunchHow how;
    mcLaunchConfig_t c; /* the caller may change its own */

    API_ENTER("%p, %p, %p", (const void *)config, symbol, (void *)args);
    API_CHECK(config, mcErrorInvalidValue);
    c = *config;
    API_TRY(mc_launch_how(c.attrs, c.numAttrs, &how));
    API_LAUNCH_STREAM(stream, c.stream);
    API_TRY(mc_symbol_function(stream->ctx, symbol, &function));
    API_RETURN(mc_launch_as(stream, function, c.gridDim, c.blockDim,
                            c.dynamicSmemBytes, args, NULL, 0, &how));
}

MC_EXPORT mcError_t mcModuleLaunchKernelEx(
    const mcLaunchConfigExtension *config, mcFunction_t f, void **kernelParams,
    void **extra)
{
    const void *buffer = NULL;
    size_t size = 0;
    McLaunchHow how;
    mcLaunchConfigExtension c; /* the caller may change its own */

    API_ENTER("%p, %p, %p, %p", (const void *)config, (void *)f,
              (void *)kernelParams, (void *)extra);
    API_CHECK(config && (!kernelParams || !extra), mcErrorInvalidValue);
    c = *config;
    API_TRY(mc_launch_how(c.attrs, c.numAttrs, &how));
    API_FUNCTION(function, f);
    API_CHECK(!extra || mc_read_extra(extra, &buffer, &size),
              mcErrorInvalidValue);
    API_LAUNCH_STREAM(stream, c.hStream);
    dim3 grid = {c.gridDimX, c.gridDimY, c.gridDimZ};
    dim3 block = {c.blockDimX, c.blockDimY, c.blockDimZ};
    API_RETURN(mc_launch_as(stream, function, grid, block, c.sharedMemBytes,
                            kernelParams, buffer, size, &how));
}

/* ---- on several devices ---- */

/* Gives back what was taken for the first so many. */
typedef struct Taken {
    McDeviceLaunch *launches;
    unsigned count;
} Taken;

static void give_back(Taken *taken)
{
    while (taken->count) {
        mc_stream_put(taken->launches[--taken->count].stream);
    }
}

/* The streams and kernels of a list, on a device each. */
static mcError_t take(const mcLaunchParams *list, unsigned count, Taken *taken)
{
    for (unsigned i = 0; i < count; i++) {
        McDeviceLaunch *launch = &taken->launches[i];
        mcLaunchParams p = list[i]; /* the caller may change its own */

        /* The default streams of devices cannot be told apart by a handle. */
        if (!p.stream || p.stream == mcStreamLegacy ||
            p.stream == mcStreamPerThread) {
            return mcErrorInvalidResourceHandle;
        }
        mcError_t error = mc_api_stream(p.stream, &launch->stream);
        if (error != mcSuccess) {
            return error;
        }
        taken->count++;
        error = mc_symbol_function(launch->stream->ctx, p.func,
                                   &launch->function);
        if (error != mcSuccess) {
            return error;
        }
        launch->symbol = p.func;
        launch->grid = p.gridDim;
        launch->block = p.blockDim;
        launch->shared = p.sharedMem;
        launch->params = p.args;
    }
    return mcSuccess;
}

static mcError_t launch_devices(const mcLaunchParams *list, int count,
                                unsigned flags, bool cooperative)
{
    McDeviceLaunch launches[MC_MAX_DEVICES];
    Taken taken __attribute__((cleanup(give_back))) = {launches, 0};

    if (!list || count < 1 || count > mc_device_count() ||
        flags & ~(unsigned)(mcCooperativeLaunchMultiDeviceNoPreSync |
                            mcCooperativeLaunchMultiDeviceNoPostSync)) {
        return mcErrorInvalidValue;
    }
    mcError_t error = take(list, count, &taken);
    return error != mcSuccess ? error
                              : mc_launch_devices(launches, count, flags,
                                                  cooperative);
}

MC_EXPORT mcError_t mcLaunchCooperativeKernelMultiDevice(mcLaunchParams *list,
                                                         int count,
                                                         unsigned int flags)
{
    API_ENTER("%p, %d, 0x%x", (void *)list, count, flags);
    API_RETURN(launch_devices(list, count, flags, true));
}

MC_EXPORT mcError_t mcExtLaunchMultiKernelMultiDevice(mcLaunchParams *list,
                                                      int count,
                                                      unsigned int flags)
{
    API_ENTER("%p, %d, 0x%x", (void *)list, count, flags);
    API_RETURN(launch_devices(list, count, flags, false));
}
