/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env.h"
#include "mxgpu/fatbin.h"

#define EM_OFFSET 18 /* of e_machine */

static void test_load(void)
{
    mcModule_t m, other;
    mcFunction_t f;

    ok(mcModuleLoadData(&m, env_image));
    ok(mcModuleGetFunction(&f, m, "k_add"));
    ok(mcFuncGetModule(&other, f));
    g_assert_true(other == m);
    fails(mcErrorNotFound, mcModuleGetFunction(&f, m, "k_missing"));
    fails(mcErrorNotFound, mcModuleGetFunction(&f, m, ""));
    fails(mcErrorInvalidValue, mcModuleGetFunction(&f, m, NULL));
    fails(mcErrorInvalidResourceHandle, mcModuleGetFunction(&f, NULL, "k"));
    fails(mcErrorInvalidResourceHandle,
          mcModuleGetFunction(&f, (mcModule_t)&m, "k_add"));
    ok(mcModuleGetFunction(&f, m, "k_empty"));
    ok(mcModuleUnload(m));
    fails(mcErrorInvalidResourceHandle, mcModuleUnload(m));
    fails(mcErrorInvalidResourceHandle,
          mcModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    mcJitOption option = mcJitOptionOptimizationLevel;
    void *level = NULL;
    ok(mcModuleLoadDataEx(&m, env_image, 0, NULL, NULL));
    ok(mcModuleUnload(m));
    ok(mcModuleLoadDataEx(&m, env_image, 1, &option, &level));
    ok(mcModuleUnload(m));
    fails(mcErrorInvalidValue,
          mcModuleLoadDataEx(&m, env_image, 1, &option, NULL));
    fails(mcErrorInvalidValue,
          mcModuleLoadDataEx(&m, env_image, 1, NULL, &level));
    fails(mcErrorInvalidKernelImage,
          mcModuleLoadDataEx(&m, "no image, but text", 0, NULL, NULL));
    fails(mcErrorInvalidValue, mcModuleLoadData(NULL, env_image));
    fails(mcErrorInvalidValue, mcModuleLoadData(&m, NULL));
}

static void test_load_file(void)
{
    g_autofree char *path = g_strdup_printf("/tmp/mcruntime-test-%d.so",
                                            getpid());
    mcModule_t m;

    g_assert_true(g_file_set_contents(path, (const char *)env_image,
                                      env_image_size, NULL));
    ok(mcModuleLoad(&m, path));
    ok(mcModuleUnload(m));
    g_assert_true(g_file_set_contents(path, (const char *)env_image, 1000,
                                      NULL));
    fails(mcErrorInvalidKernelImage, mcModuleLoad(&m, path));
    g_assert_true(g_file_set_contents(path, "hello", 5, NULL));
    fails(mcErrorInvalidKernelImage, mcModuleLoad(&m, path));
    unlink(path);
    fails(mcErrorFileNotFound, mcModuleLoad(&m, path));
    fails(mcErrorInvalidKernelImage, mcModuleLoad(&m, "/tmp"));
    fails(mcErrorInvalidKernelImage, mcModuleLoad(&m, "/dev/zero"));
    /* Nobody will ever write to it. */
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    fails(mcErrorInvalidKernelImage, mcModuleLoad(&m, path));
    unlink(path);
}

static void test_wrong_image(void)
{
    g_autofree uint8_t *copy = g_memdup2(env_image, env_image_size);
    mcModule_t m;

    copy[EM_OFFSET] = 62; /* x86-64 */
    fails(mcErrorNoKernelImageForDevice, mcModuleLoadData(&m, copy));
    copy[0] = 'x';
    fails(mcErrorInvalidKernelImage, mcModuleLoadData(&m, copy));
    /* The machine running this is not the device. */
    fails(mcErrorNoKernelImageForDevice, mcModuleLoad(&m, "/proc/self/exe"));
}

/* ---- fat binaries ---- */

typedef struct Fat {
    struct mxgpu_fatbin_header header;
    struct mxgpu_fatbin_entry entry[2];
} Fat;

static Fat *fat_new(const char *first, const char *second)
{
    size_t at = MXGPU_FATBIN_ALIGN, size = at + env_image_size;
    Fat *fat = calloc(1, size);

    memcpy(fat->header.magic, MXGPU_FATBIN_MAGIC, 8);
    fat->header.version = MXGPU_FATBIN_VERSION;
    fat->header.count = 2;
    fat->header.total_size = size;
    for (int i = 0; i < 2; i++) {
        fat->entry[i].offset = at;
        fat->entry[i].size = env_image_size;
        strcpy(fat->entry[i].target, i ? second : first);
    }
    memcpy((uint8_t *)fat + at, env_image, env_image_size);
    return fat;
}

static void test_fatbin(void)
{
    Fat *fat = fat_new("other-gpu", MXGPU_FATBIN_TARGET);
    struct mxgpu_fatbin_wrapper wrapper = {
        MXGPU_FATBIN_WRAPPER_MAGIC, MXGPU_FATBIN_WRAPPER_VERSION, fat, NULL,
    };
    mcModule_t m;

    ok(mcModuleLoadFatBinary(&m, fat));
    ok(mcModuleUnload(m));
    ok(mcModuleLoadFatBinary(&m, &wrapper));
    ok(mcModuleUnload(m));
    fat->entry[1].size += 1;
    fails(mcErrorInvalidKernelImage, mcModuleLoadFatBinary(&m, fat));
    fat->entry[1].size = UINT64_MAX;
    fails(mcErrorInvalidKernelImage, mcModuleLoadFatBinary(&m, fat));
    fat->header.count = 1;
    fails(mcErrorNoKernelImageForDevice, mcModuleLoadFatBinary(&m, fat));
    fat->header.count = 65;
    fails(mcErrorInvalidKernelImage, mcModuleLoadFatBinary(&m, fat));
    fat->header.version = 9;
    fails(mcErrorUnsupportedKernelVersion, mcModuleLoadFatBinary(&m, fat));
    wrapper.version = 9;
    fails(mcErrorInvalidKernelImage, mcModuleLoadFatBinary(&m, &wrapper));
    free(fat);
}

/* ---- globals ---- */

static void test_globals(void)
{
    mcModule_t m;
    mcFunction_t f;
    mcDeviceptr_t table;
    size_t size = 0;
    uint32_t values[16];

    ok(mcModuleLoadData(&m, env_image));
    ok(mcModuleGetGlobal(&table, &size, m, "table"));
    g_assert_cmpuint(size, ==, 64);
    ok(mcMemcpyDtoH(values, table, size));
    g_assert_cmpuint(values[3], ==, 4);
    fails(mcErrorInvalidDevicePointer, mcFree(table));
    fails(mcErrorInvalidValue, mcMemcpyDtoH(values, (char *)table + (1 << 20),
                                            4));
    fails(mcErrorNotFound, mcModuleGetGlobal(&table, &size, m, "nothing"));
    fails(mcErrorInvalidValue, mcModuleGetGlobal(NULL, NULL, m, "table"));

    uint64_t *out = env_malloc_host(128);
    void *args[] = {&out};
    ok(mcModuleGetFunction(&f, m, "k_globals"));
    ok(mcModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < 16; i++) {
        g_assert_cmpuint(out[i], ==, (i < 4 ? i + 1 : 0) + (i % 2 ? 20 : 10));
    }
    ok(mcFreeHost(out));
    ok(mcModuleUnload(m));
}

/* ---- launches ---- */

typedef struct Mixed {
    uint64_t *out;
    uint8_t a;
    uint16_t b;
    uint32_t c;
    double d;
    int32_t e[3];
} Mixed;

static void check_mixed(uint64_t *out)
{
    double d = 1.5;

    ok(mcDeviceSynchronize());
    g_assert_cmpuint(out[0], ==, 200);
    g_assert_cmpuint(out[1], ==, 50000);
    g_assert_cmpuint(out[2], ==, 4000000000u);
    g_assert_cmpint(memcmp(&out[3], &d, 8), ==, 0);
    g_assert_cmpint((int64_t)out[4], ==, -1);
    g_assert_cmpint((int64_t)out[5], ==, 7);
    memset(out, 0, 48);
}

static void test_arguments(void)
{
    mcFunction_t f = env_kernel("k_mixed");
    uint64_t *out = env_malloc_host(48);
    Mixed m = {out, 200, 50000, 4000000000u, 1.5, {-1, 3, 7}};
    void *params[] = {&m.out, &m.a, &m.b, &m.c, &m.d, &m.e};
    size_t size = sizeof(m);
    void *extra[] = {
        MC_LAUNCH_PARAM_BUFFER_POINTER, &m, MC_LAUNCH_PARAM_BUFFER_SIZE, &size,
        MC_LAUNCH_PARAM_END,
    };

#define LAUNCH(params, extra)                                                  \
    mcModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra)
    ok(LAUNCH(params, NULL));
    check_mixed(out);
    ok(LAUNCH(NULL, extra));
    check_mixed(out);
    size = 36; /* without the padding behind */
    ok(LAUNCH(NULL, extra));
    check_mixed(out);
    size = 35;
    fails(mcErrorInvalidValue, LAUNCH(NULL, extra));
    size = sizeof(m) + 16;
    fails(mcErrorInvalidValue, LAUNCH(NULL, extra));
    fails(mcErrorInvalidValue, LAUNCH(params, extra));
    fails(mcErrorInvalidValue, LAUNCH(NULL, NULL));
    params[3] = NULL;
    fails(mcErrorInvalidValue, LAUNCH(params, NULL));
    extra[2] = MC_LAUNCH_PARAM_END;
    fails(mcErrorInvalidValue, LAUNCH(NULL, extra));
    extra[2] = (void *)99;
    fails(mcErrorInvalidValue, LAUNCH(NULL, extra));
#undef LAUNCH
    ok(mcFreeHost(out));
}

static mcError_t shape(const char *kernel, unsigned gx, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared)
{
    uint64_t zero[16] = {0};
    void *params[] = {zero, zero, zero, zero, zero, zero};

    return mcModuleLaunchKernel(env_kernel(kernel), gx, 1, 1, bx, by, bz,
                                shared, NULL, params, NULL);
}

static void test_limits(void)
{
    mcFunction_t f = env_kernel("k_mixed");
    int value;

    ok(shape("k_empty", 1, 1024, 1, 1, 0));
    ok(shape("k_empty", 1, 16, 8, 8, 0));
    ok(shape("k_empty", 1, 1, 1, 1, 65536));
    ok(mcDeviceSynchronize());
    fails(mcErrorInvalidConfiguration, shape("k_empty", 1, 1025, 1, 1, 0));
    fails(mcErrorInvalidConfiguration, shape("k_empty", 1, 1024, 2, 1, 0));
    fails(mcErrorInvalidConfiguration, shape("k_empty", 0, 1, 1, 1, 0));
    fails(mcErrorInvalidConfiguration, shape("k_empty", 1, 0, 1, 1, 0));
    fails(mcErrorInvalidConfiguration, shape("k_empty", 1, 1, 1, 0, 0));
    fails(mcErrorInvalidConfiguration, shape("k_empty", 0x80000000u, 1, 1, 1,
                                             0));
    /* 2^32 threads must not look like none */
    fails(mcErrorInvalidConfiguration, shape("k_empty", 1, 65536, 65536, 1,
                                             0));
    fails(mcErrorInvalidValue, shape("k_empty", 1, 1, 1, 1, 65537));
    /* bounds of its own: 64 threads, 1 KiB of shared memory */
    fails(mcErrorInvalidConfiguration, shape("k_mixed", 1, 65, 1, 1, 0));
    fails(mcErrorInvalidValue, shape("k_mixed", 1, 64, 1, 1, 64513));
    ok(mcFuncGetAttribute(&value, MC_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
    g_assert_cmpint(value, ==, 64);
    ok(mcFuncGetAttribute(&value, MC_FUNC_ATTRIBUTE_NUM_REGS, f));
    g_assert_cmpint(value, ==, 255);
    ok(mcFuncGetAttribute(&value, MC_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
    g_assert_cmpint(value, ==, 1024);
    ok(mcFuncGetAttribute(&value, MC_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                          env_kernel("k_empty")));
    g_assert_cmpint(value, ==, 1024);
    ok(shape("k_empty", 1, value, 1, 1, 0));
    ok(mcDeviceSynchronize());
    fails(mcErrorInvalidValue, mcFuncGetAttribute(&value,
          MC_FUNC_ATTRIBUTE_MAX, f));
    ok(mcModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 64, 0));
    g_assert_cmpint(value, ==, 131072 / (255 * 64));
    ok(mcModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 64,
                                                         31 << 10));
    g_assert_cmpint(value, ==, 2);
    ok(mcModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        &value, env_kernel("k_empty"), 1024, 0));
    g_assert_cmpint(value, ==, 2);
}

/* ---- the program's own kernels ---- */

static char kernel_symbol, variable_symbol, missing_symbol, unknown_symbol;

/* Nodes of graphs that copy to and from the variable. */
static void symbol_nodes(void)
{
    const mcMemcpyKind up = mcMemcpyHostToDevice, down = mcMemcpyDeviceToHost;
    static uint32_t value = 66, out[2];
    mcGraphNode_t put, get, node;
    mcGraphExec_t exec;
    mcGraph_t graph;

    ok(mcGraphCreate(&graph, 0));
    ok(mcGraphAddMemcpyNodeToSymbol(&put, graph, NULL, 0, &variable_symbol,
                                    &value, 4, 8, up));
    ok(mcGraphAddMemcpyNodeFromSymbol(&get, graph, &put, 1, out,
                                      &variable_symbol, 4, 8, down));
    ok(mcGraphInstantiate(&exec, graph, NULL, NULL, 0));
    ok(mcGraphLaunch(exec, NULL));
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(out[0], ==, 66);
    ok(mcGraphMemcpyNodeSetParamsToSymbol(put, &variable_symbol, &value, 4, 12,
                                          up));
    ok(mcGraphMemcpyNodeSetParamsFromSymbol(get, out, &variable_symbol, 8, 8,
                                            down));
    ok(mcGraphExecMemcpyNodeSetParamsToSymbol(exec, put, &variable_symbol,
                                              &value, 4, 12, up));
    ok(mcGraphExecMemcpyNodeSetParamsFromSymbol(exec, get, out,
                                                &variable_symbol, 8, 8, down));
    value = 67;
    ok(mcGraphLaunch(exec, NULL));
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(out[0], ==, 66);
    g_assert_cmpuint(out[1], ==, 67);
    fails(mcErrorInvalidSymbol,
          mcGraphAddMemcpyNodeToSymbol(&node, graph, NULL, 0, &unknown_symbol,
                                       &value, 4, 0, up));
    fails(mcErrorInvalidSymbol,
          mcGraphAddMemcpyNodeFromSymbol(&node, graph, NULL, 0, out, NULL, 4,
                                         0, down));
    /* The variable's last word, and a byte more. */
    fails(mcErrorInvalidValue,
          mcGraphMemcpyNodeSetParamsToSymbol(put, &variable_symbol, &value, 4,
                                             61, up));
    fails(mcErrorInvalidValue,
          mcGraphAddMemcpyNodeToSymbol(&node, graph, NULL, 0, &variable_symbol,
                                       &value, 4, 61, up));
    fails(mcErrorInvalidValue,
          mcGraphAddMemcpyNodeFromSymbol(&node, graph, NULL, 0, out,
                                         &variable_symbol, 4, 61, down));
    ok(mcGraphExecMemcpyNodeSetParamsFromSymbol(exec, get, out,
                                                &variable_symbol, 4, 60, down));
    fails(mcErrorInvalidValue,
          mcGraphExecMemcpyNodeSetParamsFromSymbol(
              exec, get, out, &variable_symbol, 4, 61, down));
    fails(mcErrorInvalidMemcpyDirection,
          mcGraphMemcpyNodeSetParamsToSymbol(put, &variable_symbol, &value, 4,
                                             0, down));
    fails(mcErrorInvalidMemcpyDirection,
          mcGraphExecMemcpyNodeSetParamsFromSymbol(
              exec, get, out, &variable_symbol, 4, 0, up));
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(graph));
}

static void test_program(void)
{
    Fat *fat = fat_new(MXGPU_FATBIN_TARGET, "other-gpu");
    struct mxgpu_fatbin_wrapper wrapper = {
        MXGPU_FATBIN_WRAPPER_MAGIC, MXGPU_FATBIN_WRAPPER_VERSION, fat, NULL,
    };
    uint32_t *d = env_malloc(256), count = 64, value = 3, out[64];
    void *args[] = {&d, &count, &value};
    dim3 one = {1, 1, 1}, block = {64, 1, 1}, grid_out, block_out;
    size_t size, shared;
    mcStream_t stream;
    void *address;
    int blocks, threads;

    void **handle = __mcRegisterFatBinary(&wrapper);
    __mcRegisterFunction(handle, &kernel_symbol, (char *)"k_add", "k_add", -1,
                         NULL, NULL, NULL, NULL, NULL);
    __mcRegisterFunction(handle, &missing_symbol, (char *)"k_no", "k_no", -1,
                         NULL, NULL, NULL, NULL, NULL);
    __mcRegisterVar(handle, &variable_symbol, (char *)"table",
                    (char *)"table", 0, 64, 0, 0);
    ok(mcMemset(d, 0, 256));
    ok(__mcPushCallConfiguration(one, block, 16, mcStreamPerThread));
    ok(__mcPopCallConfiguration(&grid_out, &block_out, &shared, &stream));
    g_assert_cmpuint(block_out.x, ==, 64);
    g_assert_cmpuint(shared, ==, 16);
    g_assert_true(stream == mcStreamPerThread);
    fails(mcErrorMissingConfiguration,
          __mcPopCallConfiguration(&grid_out, &block_out, &shared, &stream));
    mcFunction_t function;
    fails(mcErrorInvalidDeviceFunction,
          mcGetFuncBySymbol(&function, &missing_symbol));
    fails(mcErrorInvalidDeviceFunction, mcGetFuncBySymbol(&function, NULL));
    fails(mcErrorInvalidValue, mcGetFuncBySymbol(NULL, &kernel_symbol));
    ok(mcGetFuncBySymbol(&function, &kernel_symbol));
    ok(mcModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, args,
                            NULL));
    ok(mcMemset(d, 0, 256));
    ok(mcLaunchKernel(&kernel_symbol, one, block, args, 0, NULL));
    ok(mcMemcpy(out, d, 256, mcMemcpyDeviceToHost));
    g_assert_cmpuint(out[63], ==, 3);
    fails(mcErrorInvalidDeviceFunction,
          mcLaunchKernel(&unknown_symbol, one, block, args, 0, NULL));
    fails(mcErrorInvalidDeviceFunction,
          mcLaunchKernel(&missing_symbol, one, block, args, 0, NULL));
    fails(mcErrorInvalidDeviceFunction,
          mcLaunchKernel(NULL, one, block, args, 0, NULL));
    ok(mcFuncSetAttribute(&kernel_symbol,
                          mcFuncAttributeMaxDynamicSharedMemorySize, 100));
    fails(mcErrorInvalidValue,
          mcLaunchKernel(&kernel_symbol, one, block, args, 101, NULL));
    mcFuncAttributes attributes;
    ok(mcFuncGetAttributes(&attributes, &kernel_symbol));
    g_assert_cmpint(attributes.preferredShmemCarveout, ==, -1);
    ok(mcFuncSetAttribute(&kernel_symbol,
                          mcFuncAttributePreferredSharedMemoryCarveout, 50));
    ok(mcFuncGetAttributes(&attributes, &kernel_symbol));
    g_assert_cmpint(attributes.preferredShmemCarveout, ==, 50);
    fails(mcErrorInvalidValue,
          mcFuncSetAttribute(&kernel_symbol,
                             mcFuncAttributePreferredSharedMemoryCarveout,
                             101));
    ok(mcOccupancyMaxPotentialBlockSize(&blocks, &threads, &kernel_symbol, 0,
                                        0));
    g_assert_cmpint(threads, ==, 1024); /* without a bound of its own */

    ok(mcGetSymbolSize(&size, &variable_symbol));
    g_assert_cmpuint(size, ==, 64);
    ok(mcGetSymbolAddress(&address, &variable_symbol));
    value = 55;
    ok(mcMemcpyToSymbol(&variable_symbol, &value, 4, 8, mcMemcpyHostToDevice));
    ok(mcMemcpyFromSymbol(out, &variable_symbol, 64, 0, mcMemcpyDeviceToHost));
    g_assert_cmpuint(out[1], ==, 2);
    g_assert_cmpuint(out[2], ==, 55);
    ok(mcMemcpyFromSymbolAsync(out, &variable_symbol, 8, 4,
                               mcMemcpyDeviceToHost, NULL));
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(out[0], ==, 2);
    g_assert_cmpuint(out[1], ==, 55);
    symbol_nodes();
    fails(mcErrorInvalidMemcpyDirection,
          mcMemcpyFromSymbolAsync(out, &variable_symbol, 8, 0,
                                  mcMemcpyHostToDevice, NULL));
    fails(mcErrorInvalidValue,
          mcMemcpyFromSymbolAsync(out, &variable_symbol, 8, 57,
                                  mcMemcpyDefault, NULL));
    fails(mcErrorInvalidSymbol,
          mcMemcpyFromSymbolAsync(out, &unknown_symbol, 8, 0,
                                  mcMemcpyDefault, NULL));
    fails(mcErrorInvalidValue, mcMemcpyToSymbol(&variable_symbol, &value, 4,
                                                61, mcMemcpyHostToDevice));
    fails(mcErrorInvalidSymbol, mcMemcpyToSymbol(&unknown_symbol, &value, 4, 0,
                                                 mcMemcpyHostToDevice));
    fails(mcErrorInvalidMemcpyDirection,
          mcMemcpyToSymbol(&variable_symbol, &value, 4, 0,
                           mcMemcpyDeviceToHost));
    __mcUnregisterFatBinary(handle);
    fails(mcErrorInvalidDeviceFunction,
          mcLaunchKernel(&kernel_symbol, one, block, args, 0, NULL));
    ok(mcFree(d));
    free(fat);
}

static _Atomic(mcFunction_t) current;

static gpointer ask(gpointer opaque)
{
    mcFunction_t f;

    while ((f = current)) {
        mcError_t error;
        int value;

        error = mcFuncGetAttribute(&value, MC_FUNC_ATTRIBUTE_NUM_REGS, f);
        g_assert_true(error == mcSuccess ||
                      error == mcErrorInvalidResourceHandle);
        error = mcOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 64, 0);
        g_assert_true(error == mcSuccess ||
                      error == mcErrorInvalidDeviceFunction ||
                      error == mcErrorInvalidResourceHandle);
    }
    return opaque;
}

/* Who is in a call with a kernel has its module as well, though another thread
 * unloads it. */
static void test_unloaded_meanwhile(void)
{
    GThread *threads[2];
    mcModule_t m;
    mcFunction_t f;

    ok(mcModuleLoadData(&m, env_image));
    ok(mcModuleGetFunction(&f, m, "k_add"));
    current = f;
    for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++) {
        threads[i] = g_thread_new(NULL, ask, NULL);
    }
    for (unsigned i = 0; i < 1000; i++) {
        ok(mcModuleUnload(m));
        ok(mcModuleLoadData(&m, env_image));
        ok(mcModuleGetFunction(&f, m, "k_add"));
        current = f;
    }
    current = NULL;
    for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++) {
        g_thread_join(threads[i]);
    }
    ok(mcModuleUnload(m));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/module/load", test_load);
    g_test_add_func("/module/load-file", test_load_file);
    g_test_add_func("/module/wrong-image", test_wrong_image);
    g_test_add_func("/module/fatbin", test_fatbin);
    g_test_add_func("/module/globals", test_globals);
    g_test_add_func("/module/unloaded-meanwhile", test_unloaded_meanwhile);
    g_test_add_func("/launch/arguments", test_arguments);
    g_test_add_func("/launch/limits", test_limits);
    g_test_add_func("/launch/program", test_program);
    return g_test_run();
}
