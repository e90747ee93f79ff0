/* SPDX-License-Identifier: MIT */
/* The just-in-time linker with the real mxcc; the result runs on the
 * simulator. */
#define _GNU_SOURCE /* memmem */
#include <string.h>

#include "mcr/mc_runtime_api.h"
#include "run.h"

#define ok(call) g_assert_cmpint(call, ==, mcSuccess)
#define fails(error, call) g_assert_cmpint(call, ==, error)

/* 42, if everything is where it belongs. */
static const char main_source[] =
    "extern __device__ int number;\n"
    "extern __constant__ int two;\n"
    "__device__ int times(int x, int y);\n"
    "extern \"C\" __device__ int counter = 0;\n"
    "extern \"C\" __global__ void answer(int *p)\n"
    "{ counter++; *p = times(number, two); }\n";
static const char data_source[] =
    "__device__ int number = 21;\n__constant__ int two = 2;\n";
static const char code_source[] =
    "__device__ int product(int x, int y);\n"
    "__device__ int times(int x, int y) { return product(x, y); }\n";
static const char deep_source[] =
    "__device__ int product(int x, int y) { return x * y; }\n";
/* Nobody needs it; it could not be linked. */
static const char unused_source[] =
    "__device__ int nowhere();\n"
    "__global__ void unused(int *p) { *p = nowhere(); }\n";

static void compile_all(void)
{
    test_file("main.maca", main_source);
    test_file("data.maca", data_source);
    test_file("code.maca", code_source);
    test_file("deep.maca", deep_source);
    test_file("unused.maca", unused_source);
    test_mxcc("-dc", "main.maca", "data.maca", "code.maca", "deep.maca",
              "unused.maca", NULL);
    test_mxcc("-lib", "code.o", "deep.o", "unused.o", "-o", "libcode.a", NULL);
}

typedef struct Logs {
    char info[4096], errors[4096];
} Logs;

/* options: as many as are not 0, and their values. */
static mcLinkState_t begin(Logs *logs, mcJitOption option, uintptr_t value)
{
    static void *values[5]; /* one state at a time */
    mcJitOption options[5] = {
        mcJitOptionInfoLogBuffer, mcJitOptionInfoLogBufferSizeBytes,
        mcJitOptionErrorLogBuffer, mcJitOptionErrorLogBufferSizeBytes, option,
    };
    mcLinkState_t state;

    values[0] = logs->info;
    values[1] = (void *)sizeof(logs->info);
    values[2] = logs->errors;
    values[3] = (void *)sizeof(logs->errors);
    values[4] = (void *)value;
    ok(mcLinkCreate(5, options, values, &state));
    return state;
}

static void add(mcLinkState_t state, const char *path)
{
    ok(mcLinkAddFile(state, mcJitInputObject, path, 0, NULL, NULL));
}

/* Links, loads, runs. */
static void passes(mcLinkState_t state, const Logs *logs)
{
    mcModule_t module;
    mcFunction_t function;
    mcDeviceptr_t counter;
    int *device, result = 0;
    void *image, *args[] = {&device};
    size_t size;
    mcError_t error = mcLinkComplete(state, &image, &size);

    g_test_message("%s%s", logs->info, logs->errors);
    ok(error);
    ok(mcModuleLoadData(&module, image));
    ok(mcLinkDestroy(state));
    ok(mcModuleGetFunction(&function, module, "answer"));
    fails(mcErrorNotFound, mcModuleGetFunction(&function, module, "unused"));
    ok(mcModuleGetFunction(&function, module, "answer"));
    ok(mcMalloc((void **)&device, sizeof(int)));
    ok(mcModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    ok(mcMemcpy(&result, device, sizeof(int), mcMemcpyDeviceToHost));
    g_assert_cmpint(result, ==, 42);
    ok(mcModuleGetGlobal(&counter, &size, module, "counter"));
    g_assert_cmpuint(size, ==, sizeof(int));
    ok(mcMemcpyDtoH(&result, counter, sizeof(int)));
    g_assert_cmpint(result, ==, 1);
    ok(mcFree(device));
    ok(mcModuleUnload(module));
}

static void test_objects(void)
{
    Logs logs;
    mcLinkState_t state = begin(&logs, mcJitOptionOptimizationLevel, 4);

    add(state, "main.o");
    add(state, "data.o");
    add(state, "code.o");
    add(state, "deep.o");
    passes(state, &logs);
    g_assert_cmpstr(logs.errors, ==, "");
}

/* In any order, and by what they hold rather than by their names. */
static void test_library(void)
{
    g_autofree char *data = NULL;
    Logs logs;
    mcLinkState_t state = begin(&logs, mcJitOptionOptimizationLevel, 0);
    gsize size;

    g_assert_true(g_file_get_contents("libcode.a", &data, &size, NULL));
    ok(mcLinkAddData(state, mcJitInputLibrary, data, size, "a source.maca", 0,
                     NULL, NULL));
    memset(data, 0, size); /* it has been copied */
    add(state, "data.o");
    add(state, "main.o");
    passes(state, &logs);
}

static void test_code_objects(void)
{
    const char *out;
    Logs logs;
    mcLinkState_t state = begin(&logs, mcJitOptionLogVerbose, 1);
    mcModule_t module;

    test_mxcc("-fatbin", "-dc", "main.maca", "-o", "main.fatbin", NULL);
    test_mxcc("-cubin", "-rdc=true", "data.maca", "-o", "data.cubin", NULL);
    g_assert_cmpint(test_run(&out, "ld", "-r", "code.o", "deep.o", "-o",
                             "joined.o", NULL), ==, 0);
    ok(mcLinkAddFile(state, mcJitInputFatBinary, "main.fatbin", 0, NULL,
                     NULL));
    add(state, "data.cubin");
    add(state, "joined.o");
    passes(state, &logs);
    g_assert_nonnull(strstr(logs.info, "kernel answer: "));
    /* The linker of the command line takes them, too; others do not. */
    test_mxcc("-dlink", "-fatbin", "main.fatbin", "data.cubin", "libcode.a",
              "-o", "linked.fatbin", NULL);
    ok(mcModuleLoad(&module, "linked.fatbin"));
    ok(mcModuleUnload(module));
    fails(mcErrorNoKernelImageForDevice, mcModuleLoad(&module, "main.fatbin"));
    test_mxcc_fails("does not take .fatbin files", "main.fatbin", NULL);
}

/* The log says what is missing; then it is added. */
static void test_undefined(void)
{
    Logs logs;
    mcLinkState_t state = begin(&logs, mcJitOptionOptimizationLevel, 2);
    void *image;
    size_t size;

    add(state, "main.o");
    add(state, "data.o");
    fails(mcErrorInvalidKernelImage, mcLinkComplete(state, &image, &size));
    g_test_message("%s", logs.errors);
    g_assert_nonnull(strstr(logs.errors, "undefined symbol: times(int, int)"));
    g_assert_nonnull(strstr(logs.errors, "main.maca"));
    add(state, "libcode.a");
    passes(state, &logs);
}

static void test_twice(void)
{
    Logs logs;
    mcLinkState_t state = begin(&logs, mcJitOptionOptimizationLevel, 2);
    void *image;
    size_t size;

    add(state, "main.o");
    add(state, "data.o");
    add(state, "data.o");
    fails(mcErrorInvalidKernelImage, mcLinkComplete(state, &image, &size));
    g_test_message("%s", logs.errors);
    g_assert_nonnull(strstr(logs.errors, "number"));
    ok(mcLinkDestroy(state));
}

/* Bitcode that only looks like it, and what is none. */
static void test_damaged(void)
{
    g_autofree char *data = NULL;
    Logs logs;
    mcLinkState_t state = begin(&logs, mcJitOptionOptimizationLevel, 2);
    void *image;
    gsize length;
    size_t size;

    g_assert_true(g_file_get_contents("main.o", &data, &length, NULL));
    char *bitcode = memmem(data, length, "BC\xc0\xde", 4);
    g_assert_nonnull(bitcode);
    for (int i = 8; i < 2000; i += 3) {
        bitcode[i] ^= 0x55;
    }
    ok(mcLinkAddData(state, mcJitInputObject, data, length, "odd", 0, NULL,
                     NULL));
    fails(mcErrorInvalidKernelImage, mcLinkComplete(state, &image, &size));
    g_test_message("%s", logs.errors);
    g_assert_cmpstr(logs.errors, !=, "");
    ok(mcLinkDestroy(state));
    state = begin(&logs, mcJitOptionOptimizationLevel, 2);
    test_mxcc("-c", "deep.maca", "-o", "whole.o", NULL);
    fails(mcErrorNoKernelImageForDevice,
          mcLinkAddFile(state, mcJitInputObject, "whole.o", 0, NULL, NULL));
    g_assert_nonnull(strstr(logs.errors, "whole.o: no device code"));
    ok(mcLinkDestroy(state));
}

/* Nobody would tell such a module where they are. */
static void test_managed(void)
{
    mcModule_t module;

    test_file("managed.maca", "__managed__ int both;\n"
                              "__global__ void k() { both = 1; }\n");
    test_mxcc("-fatbin", "managed.maca", NULL);
    fails(mcErrorNotSupported, mcModuleLoad(&module, "managed.fatbin"));
}

static void test_not_installed(void)
{
    Logs logs;
    mcLinkState_t state = begin(&logs, mcJitOptionOptimizationLevel, 2);
    void *image;
    size_t size;

    add(state, "deep.o");
    g_setenv("MXCC_DEVICE_LIBS", "/no/such/folder", TRUE);
    fails(mcErrorJitCompilerNotFound, mcLinkComplete(state, &image, &size));
    g_assert_nonnull(strstr(logs.errors, "/no/such/folder/libm.a not found"));
    g_unsetenv("MXCC_DEVICE_LIBS");
    ok(mcLinkDestroy(state));
    g_setenv("MACA_PATH", "/no/such/folder", TRUE);
    fails(mcErrorJitCompilerNotFound, mcLinkCreate(0, NULL, NULL, &state));
    g_unsetenv("MACA_PATH");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_unsetenv("MACA_PATH"); /* mxcc is beside the library */
    test_run_begin();
    compile_all();
    g_test_add_func("/link/objects", test_objects);
    g_test_add_func("/link/library", test_library);
    g_test_add_func("/link/code-objects", test_code_objects);
    g_test_add_func("/link/undefined", test_undefined);
    g_test_add_func("/link/twice", test_twice);
    g_test_add_func("/link/damaged", test_damaged);
    g_test_add_func("/link/managed", test_managed);
    g_test_add_func("/link/not-installed", test_not_installed);
    return test_run_end(g_test_run());
}
