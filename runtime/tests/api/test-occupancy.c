/* SPDX-License-Identifier: MIT */
/* Occupancy is what the limits of a compute unit leave, and attributes of
 * functions say what a kernel takes of them. */
#include "env.h"

typedef struct Needs {
    const char *kernel;
    int registers, shared, threads;
} Needs;

/* As kernels/kernels.c has them. */
static const Needs kernels[] = {
    {"k_empty", 32, 0, 1024},
    {"k_add", 32, 0, 1024},
    {"k_mixed", 255, 1024, 64},
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

static mcDeviceProp_t properties(void)
{
    mcDeviceProp_t p;

    ok(mcGetDeviceProperties(&p, 0));
    return p;
}

/* Warps are whole, shared memory comes in granules of 64 bytes. */
static int expected(const mcDeviceProp_t *p, const Needs *k, int threads,
                    size_t dynamic)
{
    int lanes = (threads + p->warpSize - 1) / p->warpSize * p->warpSize;
    int shared = (k->shared + (int)dynamic + 63) / 64 * 64;
    int blocks = p->maxBlocksPerMultiProcessor;

    if (threads > k->threads) {
        return 0;
    }
    blocks = least(blocks, p->maxThreadsPerMultiProcessor / lanes);
    blocks = least(blocks, p->regsPerMultiprocessor / (lanes * k->registers));
    return shared ? least(blocks, (int)p->sharedMemPerMultiprocessor / shared)
                  : blocks;
}

static void test_blocks(void)
{
    static const int sizes[] = {1, 63, 64, 65, 128, 250, 512, 1000, 1024};
    static const size_t dynamic[] = {0, 1, 64, 65, 4096, 30000, 64512};
    mcDeviceProp_t p = properties();

    for (unsigned i = 0; i < G_N_ELEMENTS(kernels); i++) {
        const Needs *k = &kernels[i];
        const void *symbol = env_symbol(k->kernel);

        for (unsigned j = 0; j < G_N_ELEMENTS(sizes); j++) {
            for (unsigned l = 0; l < G_N_ELEMENTS(dynamic); l++) {
                int want = expected(&p, k, sizes[j], dynamic[l]), blocks = -1;

                ok(mcOccupancyMaxActiveBlocksPerMultiprocessor(
                    &blocks, symbol, sizes[j], dynamic[l]));
                g_assert_cmpint(blocks, ==, want);
                blocks = -1;
                ok(mcOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                    &blocks, symbol, sizes[j], dynamic[l],
                    mcOccupancyDisableCachingOverride));
                g_assert_cmpint(blocks, ==, want);
                blocks = -1;
                ok(mcModuleOccupancyMaxActiveBlocksPerMultiprocessor(
                    &blocks, env_kernel(k->kernel), sizes[j], dynamic[l]));
                g_assert_cmpint(blocks, ==, want);
            }
        }
    }
}

/* No other size of block keeps more threads on a compute unit. */
static void best(const Needs *k, size_t dynamic, int limit)
{
    mcDeviceProp_t p = properties();
    const void *symbol = env_symbol(k->kernel);
    int grid, block, again, again_block, resident;
    int most = limit ? least(limit, k->threads) : k->threads;

    ok(mcOccupancyMaxPotentialBlockSize(&grid, &block, symbol, dynamic,
                                        limit));
    ok(mcOccupancyMaxPotentialBlockSizeWithFlags(&again, &again_block, symbol,
                                                 dynamic, limit, 0));
    g_assert_cmpint(again, ==, grid);
    g_assert_cmpint(again_block, ==, block);
    g_assert_cmpint(block, <=, most);
    resident = expected(&p, k, block, dynamic);
    g_assert_cmpint(grid, ==, resident * p.multiProcessorCount);
    for (int threads = p.warpSize; threads <= most; threads += p.warpSize) {
        g_assert_cmpint(resident * block, >=,
                        expected(&p, k, threads, dynamic) * threads);
    }
}

static void test_potential(void)
{
    static const size_t dynamic[] = {0, 4096, 30000};
    static const int limits[] = {0, 1, 50, 64, 100, 256, 5000};

    for (unsigned i = 0; i < G_N_ELEMENTS(kernels); i++) {
        for (unsigned j = 0; j < G_N_ELEMENTS(dynamic); j++) {
            for (unsigned l = 0; l < G_N_ELEMENTS(limits); l++) {
                best(&kernels[i], dynamic[j], limits[l]);
            }
        }
    }
}

/* So many blocks run with what is said to be left, and not with more. */
static void test_available(void)
{
    mcDeviceProp_t p = properties();

    for (unsigned i = 0; i < G_N_ELEMENTS(kernels); i++) {
        const Needs *k = &kernels[i];
        const void *symbol = env_symbol(k->kernel);
        int most = expected(&p, k, 64, 0);
        size_t size;

        for (int blocks = 1; blocks <= most; blocks++) {
            ok(mcOccupancyAvailableDynamicSMemPerBlock(&size, symbol, blocks,
                                                       64));
            g_assert_cmpint(expected(&p, k, 64, size), >=, blocks);
            g_assert_cmpint(expected(&p, k, 64, size + 1), <, blocks);
        }
        fails(mcErrorInvalidValue,
              mcOccupancyAvailableDynamicSMemPerBlock(&size, symbol, most + 1,
                                                      64));
    }
}

static void test_errors(void)
{
    const void *symbol = env_symbol("k_add");
    int a, b;
    size_t size;

    for (int threads = -1; threads <= 0; threads++) {
        fails(mcErrorInvalidValue, mcOccupancyMaxActiveBlocksPerMultiprocessor(
            &a, symbol, threads, 0));
        fails(mcErrorInvalidValue,
              mcModuleOccupancyMaxActiveBlocksPerMultiprocessor(
                  &a, env_kernel("k_add"), threads, 0));
        fails(mcErrorInvalidValue, mcOccupancyAvailableDynamicSMemPerBlock(
            &size, symbol, 1, threads));
        fails(mcErrorInvalidValue, mcOccupancyAvailableDynamicSMemPerBlock(
            &size, symbol, threads, 64));
    }
    fails(mcErrorInvalidValue, mcOccupancyMaxActiveBlocksPerMultiprocessor(
        NULL, symbol, 64, 0));
    fails(mcErrorInvalidValue,
          mcOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
              &a, symbol, 64, 0, 2));
    fails(mcErrorInvalidDeviceFunction,
          mcOccupancyMaxActiveBlocksPerMultiprocessor(&a, &a, 64, 0));
    fails(mcErrorInvalidDeviceFunction,
          mcOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&a, NULL, 64, 0,
                                                               0));
    fails(mcErrorInvalidResourceHandle,
          mcModuleOccupancyMaxActiveBlocksPerMultiprocessor(
              &a, (mcFunction_t)&a, 64, 0));
    fails(mcErrorInvalidValue,
          mcOccupancyMaxPotentialBlockSize(NULL, &b, symbol, 0, 0));
    fails(mcErrorInvalidValue,
          mcOccupancyMaxPotentialBlockSize(&a, NULL, symbol, 0, 0));
    fails(mcErrorInvalidValue,
          mcOccupancyMaxPotentialBlockSize(&a, &b, symbol, 0, -1));
    fails(mcErrorInvalidValue, /* none fits */
          mcOccupancyMaxPotentialBlockSize(&a, &b, symbol, 65537, 0));
    fails(mcErrorInvalidDeviceFunction,
          mcOccupancyMaxPotentialBlockSize(&a, &b, &a, 0, 0));
    fails(mcErrorInvalidValue,
          mcOccupancyMaxPotentialBlockSizeWithFlags(&a, &b, symbol, 0, 0, 2));
    fails(mcErrorInvalidValue,
          mcOccupancyAvailableDynamicSMemPerBlock(NULL, symbol, 1, 64));
    fails(mcErrorInvalidDeviceFunction,
          mcOccupancyAvailableDynamicSMemPerBlock(&size, &a, 1, 64));
}

/* ---- attributes of functions ---- */

static void test_attributes(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(kernels); i++) {
        const Needs *k = &kernels[i];
        mcFunction_t f = env_kernel(k->kernel);
        mcFuncAttributes a;
        int v[MC_FUNC_ATTRIBUTE_MAX];

        memset(&a, 0xff, sizeof(a));
        ok(mcFuncGetAttributes(&a, env_symbol(k->kernel)));
        for (int j = 0; j < MC_FUNC_ATTRIBUTE_MAX; j++) {
            ok(mcFuncGetAttribute(&v[j], (mcFunction_attribute)j, f));
        }
        g_assert_cmpint(a.maxThreadsPerBlock, ==, k->threads);
        g_assert_cmpint(a.numRegs, ==, k->registers);
        g_assert_cmpint((int)a.sharedSizeBytes, ==, k->shared);
        g_assert_cmpint(a.maxDynamicSharedSizeBytes, ==, 65536 - k->shared);
        g_assert_cmpint(a.preferredShmemCarveout, ==, -1);
        g_assert_cmpint(v[MC_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK], ==,
                        a.maxThreadsPerBlock);
        g_assert_cmpint(v[MC_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES], ==,
                        (int)a.sharedSizeBytes);
        g_assert_cmpint(v[MC_FUNC_ATTRIBUTE_CONST_SIZE_BYTES], ==,
                        (int)a.constSizeBytes);
        g_assert_cmpint(v[MC_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES], ==,
                        (int)a.localSizeBytes);
        g_assert_cmpint(v[MC_FUNC_ATTRIBUTE_NUM_REGS], ==, a.numRegs);
        g_assert_cmpint(v[MC_FUNC_ATTRIBUTE_PTX_VERSION], ==, a.ptxVersion);
        g_assert_cmpint(a.ptxVersion, ==, 80); /* as __CUDA_ARCH__ */
        g_assert_cmpint(v[MC_FUNC_ATTRIBUTE_BINARY_VERSION], ==,
                        a.binaryVersion);
        g_assert_cmpint(v[MC_FUNC_CACHE_MODE_CA], ==, a.cacheModeCA);
        g_assert_cmpint(v[MC_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES],
                        ==, a.maxDynamicSharedSizeBytes);
        g_assert_cmpint(v[MC_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT],
                        ==, a.preferredShmemCarveout);
    }
}

static void test_set_attribute(void)
{
    const void *symbol = env_symbol("k_mixed");
    mcFuncAttributes a;
    int value;

    ok(mcFuncSetAttribute(symbol, mcFuncAttributeMaxDynamicSharedMemorySize,
                          0));
    ok(mcFuncGetAttributes(&a, symbol));
    g_assert_cmpint(a.maxDynamicSharedSizeBytes, ==, 0);
    ok(mcFuncSetAttribute(symbol, mcFuncAttributeMaxDynamicSharedMemorySize,
                          64512));
    fails(mcErrorInvalidValue,
          mcFuncSetAttribute(symbol,
                             mcFuncAttributeMaxDynamicSharedMemorySize,
                             64513));
    fails(mcErrorInvalidValue,
          mcFuncSetAttribute(symbol,
                             mcFuncAttributeMaxDynamicSharedMemorySize, -1));
    for (value = -1; value <= 100; value++) {
        ok(mcFuncSetAttribute(symbol,
                              mcFuncAttributePreferredSharedMemoryCarveout,
                              value));
    }
    fails(mcErrorInvalidValue,
          mcFuncSetAttribute(symbol,
                             mcFuncAttributePreferredSharedMemoryCarveout,
                             -2));
    fails(mcErrorInvalidValue,
          mcFuncSetAttribute(symbol, (mcFuncAttribute)7, 0));
    fails(mcErrorInvalidValue,
          mcFuncSetAttribute(symbol, mcFuncAttributeMax, 0));
    fails(mcErrorInvalidDeviceFunction,
          mcFuncSetAttribute(&a, mcFuncAttributeMaxDynamicSharedMemorySize,
                             0));
    fails(mcErrorInvalidDeviceFunction, mcFuncGetAttributes(&a, &a));
    fails(mcErrorInvalidValue, mcFuncGetAttributes(NULL, symbol));
    fails(mcErrorInvalidValue,
          mcFuncGetAttribute(NULL, MC_FUNC_ATTRIBUTE_NUM_REGS,
                             env_kernel("k_mixed")));
    fails(mcErrorInvalidValue,
          mcFuncGetAttribute(&value, (mcFunction_attribute)-1,
                             env_kernel("k_mixed")));
    fails(mcErrorInvalidResourceHandle,
          mcFuncGetAttribute(&value, MC_FUNC_ATTRIBUTE_NUM_REGS, NULL));
    for (int i = 0; i <= mcFuncCachePreferEqual; i++) {
        ok(mcFuncSetCacheConfig(symbol, (mcFuncCache_t)i));
    }
    fails(mcErrorInvalidValue,
          mcFuncSetCacheConfig(symbol, (mcFuncCache_t)4));
    fails(mcErrorInvalidDeviceFunction,
          mcFuncSetCacheConfig(&a, mcFuncCachePreferL1));
    ok(mcFuncSetSharedMemConfig(symbol, mcSharedMemBankSizeFourByte));
    ok(mcFuncSetSharedMemConfig(symbol, mcSharedMemBankSizeEightByte));
    fails(mcErrorInvalidValue,
          mcFuncSetSharedMemConfig(symbol, (mcSharedMemConfig)3));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/occupancy/blocks", test_blocks);
    g_test_add_func("/occupancy/potential", test_potential);
    g_test_add_func("/occupancy/available", test_available);
    g_test_add_func("/occupancy/errors", test_errors);
    g_test_add_func("/function/attributes", test_attributes);
    g_test_add_func("/function/set-attribute", test_set_attribute);
    return g_test_run();
}
