/* SPDX-License-Identifier: MIT */
/* hip/hiprtc.h: compiling, linking, and each error. */
#include <dlfcn.h>
#include <glib.h>

#include "adaptors/hip/hip/hiprtc.h"

#define ok(call) g_assert_cmpint(call, ==, 0)

static char *bitcode_of(const char *source, size_t *size)
{
    const char *options[] = {"-fgpu-rdc", "--offload-arch=gfx906"};
    hiprtcProgram prog;

    ok(hiprtcCreateProgram(&prog, source, "part", 0, NULL, NULL));
    ok(hiprtcCompileProgram(prog, 2, options));
    ok(hiprtcGetBitcodeSize(prog, size));
    char *bitcode = g_malloc(*size);
    ok(hiprtcGetBitcode(prog, bitcode));
    ok(hiprtcDestroyProgram(&prog));
    return bitcode;
}

static void test_link(void)
{
    size_t sizes[2], size;
    g_autofree char *a = bitcode_of("__device__ int f() { return 6; }",
                                    &sizes[0]);
    g_autofree char *b = bitcode_of(
        "extern __device__ int f();\n"
        "extern \"C\" __global__ void k(int *p) { *p = 7 * f(); }", &sizes[1]);
    hiprtcLinkState state;
    mcModule_t module;
    mcFunction_t function;
    int *out, value;
    void *code;

    ok(hiprtcLinkCreate(0, NULL, NULL, &state));
    ok(hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, b, sizes[1],
                         "b", 0, NULL, NULL));
    g_assert_cmpint(hiprtcLinkComplete(state, &code, &size), ==,
                    HIPRTC_ERROR_LINKING); /* f() is missing */
    ok(hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, a, sizes[0],
                         "a", 0, NULL, NULL));
    g_assert_cmpint(hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_OBJECT,
                                      (void *)"junk", 4, "junk", 0, NULL,
                                      NULL), ==, HIPRTC_ERROR_LINKING);
    g_assert_cmpint(hiprtcLinkAddFile(state, HIPRTC_JIT_INPUT_OBJECT,
                                      "/nowhere.o", 0, NULL, NULL), ==,
                    HIPRTC_ERROR_INVALID_INPUT);
    ok(hiprtcLinkComplete(state, &code, &size));
    ok(mcModuleLoadData(&module, code));
    ok(hiprtcLinkDestroy(state));
    g_assert_cmpint(hiprtcLinkDestroy(state), ==, HIPRTC_ERROR_INVALID_INPUT);
    ok(mcMalloc((void **)&out, sizeof(*out)));
    void *args[] = {&out};
    ok(mcModuleGetFunction(&function, module, "k"));
    ok(mcModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    ok(mcMemcpy(&value, out, sizeof(value), mcMemcpyDeviceToHost));
    g_assert_cmpint(value, ==, 42);
    ok(mcFree(out));
    ok(mcModuleUnload(module));
}

static void test_errors(void)
{
    hiprtcProgram prog;
    size_t size;
    int major, minor;

    ok(hiprtcVersion(&major, &minor));
    g_assert_cmpint(hiprtcVersion(&major, NULL), ==,
                    HIPRTC_ERROR_INVALID_INPUT);
    g_assert_cmpstr(hiprtcGetErrorString(HIPRTC_ERROR_INVALID_OPTION), ==,
                    "HIPRTC_ERROR_INVALID_OPTION");
    g_assert_cmpstr(hiprtcGetErrorString(HIPRTC_ERROR_LINKING), ==,
                    "HIPRTC_ERROR_LINKING");
    ok(hiprtcCreateProgram(&prog, "no program", "x", 0, NULL, NULL));
    g_assert_cmpint(hiprtcGetCodeSize(prog, &size), ==,
                    HIPRTC_ERROR_INVALID_PROGRAM);
    g_assert_cmpint(hiprtcCompileProgram(prog, 0, NULL), ==,
                    HIPRTC_ERROR_COMPILATION);
    ok(hiprtcGetProgramLogSize(prog, &size));
    g_autofree char *log = g_malloc(size);
    ok(hiprtcGetProgramLog(prog, log));
    g_assert_cmpuint(size, >, 1);
    ok(hiprtcDestroyProgram(&prog));
}

static void test_library(void)
{
    void *library = dlopen(HIPRTC_PATH, RTLD_NOW | RTLD_LOCAL);

    g_assert_nonnull(library);
    g_assert_nonnull(dlsym(library, "hiprtcGetCode"));
    g_assert_nonnull(dlsym(library, "hiprtcCompileProgram"));
    g_assert_nonnull(dlsym(library, "hiprtcLinkAddData"));
    dlclose(library);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rtc/hiprtc/link", test_link);
    g_test_add_func("/rtc/hiprtc/errors", test_errors);
    g_test_add_func("/rtc/hiprtc/library", test_library);
    return g_test_run();
}
