/* SPDX-License-Identifier: MIT */
/* Forms for programs that load modules themselves. */
#include "env.h"

static mcModule_t load(mcFunction_t *function, const char *name)
{
    mcModule_t module;

    ok(mcModuleLoadData(&module, env_image));
    ok(mcModuleGetFunction(function, module, name));
    return module;
}

static void test_errors(void)
{
    const char *text = "";

    ok(mcDrvGetErrorName(mcErrorInvalidValue, &text));
    g_assert_cmpstr(text, ==, "mcErrorInvalidValue");
    ok(mcDrvGetErrorName(mcSuccess, &text));
    g_assert_cmpstr(text, ==, "mcSuccess");
    ok(mcDrvGetErrorString(mcErrorInvalidValue, &text));
    g_assert_cmpstr(text, ==, mcGetErrorString(mcErrorInvalidValue));
    fails(mcErrorInvalidValue, mcDrvGetErrorString((mcError_t)12345, &text));
    g_assert_null(text);
    text = "";
    fails(mcErrorInvalidValue, mcDrvGetErrorName((mcError_t)-1, &text));
    g_assert_null(text);
    fails(mcErrorInvalidValue, mcDrvGetErrorName(mcSuccess, NULL));
    fails(mcErrorInvalidValue, mcDrvGetErrorString(mcSuccess, NULL));
}

static void test_device(void)
{
    int major = -1, minor = -1;
    mcDeviceProp_t p;

    ok(mcGetDeviceProperties(&p, 0));
    ok(mcDeviceComputeCapability(&major, &minor, 0));
    g_assert_cmpint(major, ==, p.major);
    g_assert_cmpint(minor, ==, p.minor);
    fails(mcErrorInvalidValue, mcDeviceComputeCapability(NULL, &minor, 0));
    fails(mcErrorInvalidValue, mcDeviceComputeCapability(&major, NULL, 0));
    fails(mcErrorInvalidDevice, mcDeviceComputeCapability(&major, &minor, 99));
}

static void test_context(void)
{
    mcCtx_t ctx, attached = NULL;

    ok(mcCtxCreate(&ctx, 0, 0));
    ok(mcCtxAttach(&attached, 0));
    g_assert_true(attached == ctx);
    fails(mcErrorInvalidValue, mcCtxAttach(NULL, 0));
    fails(mcErrorInvalidValue, mcCtxAttach(&attached, 1));
    ok(mcCtxResetPersistingL2Cache());
    ok(mcCtxDetach(ctx));
    ok(mcCtxDetach(ctx)); /* it is still there */
    fails(mcErrorInvalidContext, mcCtxDetach(NULL));
    fails(mcErrorDeviceUninitialized, mcCtxDetach((mcCtx_t)&ctx));
    ok(mcCtxDestroy(ctx));
    mcError_t error = mcCtxDetach(ctx);
    g_assert_cmpint(error, !=, mcSuccess);
}

static void test_memory(void)
{
    mcDeviceptr_t p = NULL;
    size_t pitch = 0;
    void *host = NULL;

    ok(mcMemAllocPitch(&p, &pitch, 100, 7, 4));
    g_assert_cmpuint(pitch, >=, 100);
    ok(mcMemsetD2D8(p, pitch, 7, 100, 7));
    ok(mcFree(p));
    fails(mcErrorInvalidValue, mcMemAllocPitch(&p, &pitch, 100, 7, 3));
    fails(mcErrorInvalidValue, mcMemAllocPitch(&p, &pitch, 0, 7, 4));
    fails(mcErrorInvalidValue, mcMemAllocPitch(&p, &pitch, 100, 0, 4));
    fails(mcErrorInvalidValue, mcMemAllocPitch(NULL, &pitch, 100, 7, 4));
    fails(mcErrorInvalidValue, mcMemAllocPitch(&p, NULL, 100, 7, 16));
    ok(mcMemAllocHost(&host, 100));
    memset(host, 1, 100);
    ok(mcFreeHost(host));
    fails(mcErrorInvalidValue, mcMemAllocHost(NULL, 100));
}

enum { W = 24, H = 5, D = 4, PITCH = 32, ROWS = 6 };

/* A box of memory within rows and slices of it, there and back. */
static void test_copy_3d(void)
{
    static uint8_t from[PITCH * ROWS * D], to[PITCH * ROWS * D];
    uint8_t *device = env_malloc(2 * sizeof(from));
    mc_Memcpy3D c = {
        .srcXInBytes = 3, .srcY = 1, .srcZ = 1,
        .srcMemoryType = mcMemoryTypeHost, .srcHost = from,
        .srcPitch = PITCH, .srcHeight = ROWS,
        .dstXInBytes = 8, .dstY = 2, .dstZ = 1,
        .dstMemoryType = mcMemoryTypeDevice, .dstDevice = device,
        .dstPitch = 64, .dstHeight = ROWS,
        .WidthInBytes = 20, .Height = 3, .Depth = 2,
    };
    mc_Memcpy3D back = {
        .srcXInBytes = 8, .srcY = 2, .srcZ = 1,
        .srcMemoryType = mcMemoryTypeDevice, .srcDevice = device,
        .srcPitch = 64, .srcHeight = ROWS,
        .dstXInBytes = 3, .dstY = 1, .dstZ = 1,
        .dstMemoryType = mcMemoryTypeHost, .dstHost = to,
        .dstPitch = PITCH, .dstHeight = ROWS,
        .WidthInBytes = 20, .Height = 3, .Depth = 2,
    };

    env_pattern(from, sizeof(from), 1);
    ok(mcDrvMemcpy3D(&c));
    ok(mcDrvMemcpy3DAsync(&back, NULL));
    ok(mcDeviceSynchronize());
    for (unsigned z = 0; z < D; z++) {
        for (unsigned y = 0; y < ROWS; y++) {
            for (unsigned x = 0; x < PITCH; x++) {
                unsigned i = (z * ROWS + y) * PITCH + x;
                bool inside = x >= 3 && x < 23 && y >= 1 && y < 4 && z >= 1 &&
                              z < 3;

                g_assert_cmpuint(to[i], ==, inside ? from[i] : 0);
            }
        }
    }
    /* Nothing to copy, from nowhere. */
    c.Depth = 0;
    c.srcHost = NULL;
    ok(mcDrvMemcpy3D(&c));
    ok(mcFree(device));
}

static void test_copy_3d_array(void)
{
    static uint8_t from[W * H * D], to[W * H * D];
    mcArray3DDescriptor desc = {.Width = W / 4, .Height = H, .Depth = D,
                                .Format = MC_AD_FORMAT_FLOAT,
                                .NumChannels = 1};
    mcArray_t array;

    env_pattern(from, sizeof(from), 2);
    ok(mcArray3DCreate(&array, &desc));
    mc_Memcpy3D c = {
        .srcMemoryType = mcMemoryTypeHost, .srcHost = from, .srcPitch = W,
        .srcHeight = H, .dstMemoryType = mcMemoryTypeArray, .dstArray = array,
        .WidthInBytes = W, .Height = H, .Depth = D,
    };
    ok(mcDrvMemcpy3D(&c));
    mc_Memcpy3D back = {
        .srcMemoryType = mcMemoryTypeArray, .srcArray = array,
        .dstMemoryType = mcMemoryTypeHost, .dstHost = to, .dstPitch = W,
        .dstHeight = H, .WidthInBytes = W, .Height = H, .Depth = D,
    };
    ok(mcDrvMemcpy3D(&back));
    g_assert_cmpint(memcmp(from, to, sizeof(from)), ==, 0);
    c.dstZ = 1;
    fails(mcErrorInvalidValue, mcDrvMemcpy3D(&c));
    c.dstZ = 0;
    c.dstArray = NULL;
    fails(mcErrorInvalidResourceHandle, mcDrvMemcpy3D(&c));
    ok(mcArrayDestroy(array));
}

static void test_copy_3d_errors(void)
{
    static uint8_t host[PITCH * ROWS * D];
    void *device = env_malloc(sizeof(host));
    const mc_Memcpy3D good = {
        .srcMemoryType = mcMemoryTypeHost, .srcHost = host, .srcPitch = PITCH,
        .srcHeight = ROWS, .dstMemoryType = mcMemoryTypeDevice,
        .dstDevice = device, .dstPitch = PITCH, .dstHeight = ROWS,
        .WidthInBytes = W, .Height = H, .Depth = D,
    };
    mc_Memcpy3D c = good;

    ok(mcDrvMemcpy3D(&c));
    fails(mcErrorInvalidValue, mcDrvMemcpy3D(NULL));
    fails(mcErrorInvalidValue, mcDrvMemcpy3DAsync(NULL, NULL));
    c.srcLOD = 1;
    fails(mcErrorInvalidValue, mcDrvMemcpy3D(&c));
    c = good;
    c.reserved1 = host;
    fails(mcErrorInvalidValue, mcDrvMemcpy3D(&c));
    c = good;
    c.srcXInBytes = PITCH - W + 1;
    fails(mcErrorInvalidPitchValue, mcDrvMemcpy3D(&c));
    c = good;
    c.dstPitch = W - 1;
    fails(mcErrorInvalidPitchValue, mcDrvMemcpy3D(&c));
    c = good;
    c.dstY = 2; /* reaches into the next slice */
    fails(mcErrorInvalidValue, mcDrvMemcpy3D(&c));
    c = good;
    c.srcZ = SIZE_MAX;
    fails(mcErrorInvalidValue, mcDrvMemcpy3D(&c));
    c = good;
    c.dstDevice = NULL;
    fails(mcErrorInvalidValue, mcDrvMemcpy3D(&c));
    c = good;
    c.srcMemoryType = (mcMemoryType)7;
    fails(mcErrorInvalidValue, mcDrvMemcpy3D(&c));
    ok(mcFree(device));
}

static void test_function(void)
{
    mcFunction_t function, gone;
    mcModule_t module = load(&function, "k_mixed");
    const char *name = NULL;
    int value = 0;

    ok(mcFuncGetName(&name, function));
    g_assert_cmpstr(name, ==, "k_mixed");
    fails(mcErrorInvalidValue, mcFuncGetName(NULL, function));
    ok(mcDrvFuncSetAttribute(
        function, MC_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 4096));
    ok(mcFuncGetAttribute(
        &value, MC_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    g_assert_cmpint(value, ==, 4096);
    ok(mcDrvFuncSetAttribute(
        function, MC_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    fails(mcErrorInvalidValue,
          mcDrvFuncSetAttribute(
              function, MC_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
              101));
    fails(mcErrorInvalidValue,
          mcDrvFuncSetAttribute(
              function, MC_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
              1 << 30));
    fails(mcErrorInvalidValue,
          mcDrvFuncSetAttribute(function, MC_FUNC_ATTRIBUTE_NUM_REGS, 1));
    ok(mcDrvFuncSetCacheConfig(function, mcFuncCachePreferL1));
    fails(mcErrorInvalidValue,
          mcDrvFuncSetCacheConfig(function, (mcFuncCache_t)9));
    ok(mcDrvFuncSetSharedMemConfig(function, mcSharedMemBankSizeFourByte));
    ok(mcDrvFuncSetSharedMemConfig(function, mcSharedMemBankSizeEightByte));
    fails(mcErrorInvalidValue,
          mcDrvFuncSetSharedMemConfig(function, (mcSharedMemConfig)9));
    ok(mcModuleUnload(module));
    gone = function;
    fails(mcErrorInvalidResourceHandle, mcFuncGetName(&name, gone));
    fails(mcErrorInvalidResourceHandle,
          mcDrvFuncSetAttribute(
              gone, MC_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
    fails(mcErrorInvalidResourceHandle,
          mcDrvFuncSetCacheConfig(gone, mcFuncCachePreferNone));
    fails(mcErrorInvalidResourceHandle,
          mcDrvFuncSetSharedMemConfig(gone, mcSharedMemBankSizeDefault));
}

static void test_occupancy(void)
{
    mcFunction_t function;
    mcModule_t module = load(&function, "k_mixed");
    const void *symbol = env_symbol("k_mixed");
    int blocks, same, grid, block, other_grid, other_block;
    size_t size, other;

    ok(mcModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64,
                                                         0));
    ok(mcModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &same, function, 64, 0, mcOccupancyDisableCachingOverride));
    g_assert_cmpint(blocks, ==, same);
    ok(mcModuleOccupancyMaxPotentialBlockSize(&grid, &block, function, 0, 0));
    ok(mcOccupancyMaxPotentialBlockSize(&other_grid, &other_block, symbol, 0,
                                        0));
    g_assert_cmpint(grid, ==, other_grid);
    g_assert_cmpint(block, ==, other_block);
    ok(mcModuleOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, function,
                                                       0, 32, 0));
    g_assert_cmpint(block, ==, 32);
    ok(mcModuleOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, function,
                                                       0, 1, 1));
    g_assert_cmpint(block, ==, 1);
    ok(mcModuleOccupancyAvailableDynamicSMemPerBlock(&size, function, 2, 64));
    ok(mcOccupancyAvailableDynamicSMemPerBlock(&other, symbol, 2, 64));
    g_assert_cmpuint(size, ==, other);
    fails(mcErrorInvalidValue,
          mcModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
              &same, function, 64, 0, 2));
    fails(mcErrorInvalidValue,
          mcModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
              NULL, function, 64, 0, 0));
    fails(mcErrorInvalidValue, mcModuleOccupancyMaxPotentialBlockSize(
                                   NULL, &block, function, 0, 0));
    fails(mcErrorInvalidValue, mcModuleOccupancyMaxPotentialBlockSize(
                                   &grid, &block, function, 1 << 30, 0));
    fails(mcErrorInvalidValue, mcModuleOccupancyMaxPotentialBlockSizeWithFlags(
                                   &grid, &block, function, 0, 0, 2));
    fails(mcErrorInvalidValue, mcModuleOccupancyAvailableDynamicSMemPerBlock(
                                   &size, function, 1000000, 64));
    fails(mcErrorInvalidValue, mcModuleOccupancyAvailableDynamicSMemPerBlock(
                                   &size, function, 0, 64));
    ok(mcModuleUnload(module));
    fails(mcErrorInvalidResourceHandle,
          mcModuleOccupancyMaxPotentialBlockSize(&grid, &block, function, 0,
                                                 0));
}

static void test_module(void)
{
    mcJitOption options[] = {
        mcJitOptionErrorLogBuffer, mcJitOptionErrorLogBufferSizeBytes,
        mcJitOptionInfoLogBuffer, mcJitOptionInfoLogBufferSizeBytes,
        mcJitOptionMaxRegisters,
    };
    char errors[200] = "old", info[200] = "old";
    void *values[] = {errors, (void *)sizeof(errors), info,
                      (void *)sizeof(info), (void *)32};
    mcModuleLoadingMode mode;
    mcModule_t module;

    ok(mcModuleLoadDataEx(&module, env_image, 5, options, values));
    g_assert_cmpstr(errors, ==, "");
    g_assert_cmpstr(info, ==, "");
    g_assert_cmpuint((size_t)values[1], ==, 0);
    ok(mcModuleUnload(module));
    values[1] = values[3] = (void *)sizeof(info);
    fails(mcErrorInvalidKernelImage,
          mcModuleLoadDataEx(&module, "no image, but text", 5, options,
                             values));
    g_assert_nonnull(strstr(errors, "not loaded"));
    g_assert_cmpuint((size_t)values[1], ==, strlen(errors));
    options[4] = (mcJitOption)999;
    fails(mcErrorInvalidValue,
          mcModuleLoadDataEx(&module, env_image, 5, options, values));
    ok(mcModuleGetLoadingMode(&mode));
    g_assert_cmpint(mode, ==, mcModuleLazyLoading);
    fails(mcErrorInvalidValue, mcModuleGetLoadingMode(NULL));
}

static void test_entries(void)
{
    mcError_t (*count)(int *) = NULL;
    void *entry = &count;
    int devices = -1;

    ok(mcGetProcAddress("mcGetDeviceCount", (void **)&count, 11060, 0));
    ok(count(&devices));
    g_assert_cmpint(devices, >, 0);
    ok(mcGetDriverEntryPoint("mcMalloc", &entry,
                             mcGetProcAddressLegacyStream));
    g_assert_nonnull(entry);
    fails(mcErrorNotFound, mcGetProcAddress("mcNoSuch", &entry, 11060, 0));
    g_assert_null(entry);
    fails(mcErrorNotFound, mcGetDriverEntryPoint("", &entry, 0));
    fails(mcErrorInvalidValue, mcGetProcAddress(NULL, &entry, 11060, 0));
    fails(mcErrorInvalidValue, mcGetProcAddress("mcInit", NULL, 11060, 0));
    fails(mcErrorInvalidValue, mcGetProcAddress("mcInit", &entry, -1, 0));
    fails(mcErrorInvalidValue, mcGetProcAddress("mcInit", &entry, 11060, 4));
    fails(mcErrorInvalidValue, mcGetDriverEntryPoint(NULL, &entry, 0));
    fails(mcErrorNotSupported,
          mcGetDriverEntryPoint("mcMemcpy", &entry,
                                mcGetProcAddressPerThreadDefaultStream));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/driver/errors", test_errors);
    g_test_add_func("/driver/device", test_device);
    g_test_add_func("/driver/context", test_context);
    g_test_add_func("/driver/memory", test_memory);
    g_test_add_func("/driver/copy-3d", test_copy_3d);
    g_test_add_func("/driver/copy-3d-array", test_copy_3d_array);
    g_test_add_func("/driver/copy-3d-errors", test_copy_3d_errors);
    g_test_add_func("/driver/function", test_function);
    g_test_add_func("/driver/occupancy", test_occupancy);
    g_test_add_func("/driver/module", test_module);
    g_test_add_func("/driver/entries", test_entries);
    return g_test_run();
}
