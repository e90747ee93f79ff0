/* SPDX-License-Identifier: MIT */
/* nvrtc.h: a program as CUDA's documentation shows it, and each error. */
#include <dlfcn.h>
#include <glib.h>
#include <string.h>

#include "adaptors/cuda/nvrtc.h"
#include "mcr/mc_runtime_api.h"

#define ok(call) g_assert_cmpint(call, ==, 0)

static const char saxpy[] =
    "extern \"C\" __global__\n"
    "void saxpy(float a, float *x, float *y, float *out, size_t n)\n"
    "{\n"
    "    size_t tid = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (tid < n) {\n"
    "        out[tid] = a * x[tid] + y[tid];\n"
    "    }\n"
    "}\n"
    "__constant__ int c;\n"
    "template <typename T> __global__ void set(T *p) { *p = T(c); }\n";

enum { N = 500 };

static void run(mcModule_t module)
{
    mcFunction_t function;
    float a = 5.1f, x[N], y[N], *dx, *dy;
    size_t n = N;

    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = 2 * i;
    }
    ok(mcMalloc((void **)&dx, sizeof(x)));
    ok(mcMalloc((void **)&dy, sizeof(y)));
    ok(mcMemcpy(dx, x, sizeof(x), mcMemcpyHostToDevice));
    ok(mcMemcpy(dy, y, sizeof(y), mcMemcpyHostToDevice));
    void *args[] = {&a, &dx, &dy, &dy, &n};
    ok(mcModuleGetFunction(&function, module, "saxpy"));
    ok(mcModuleLaunchKernel(function, 4, 1, 1, 128, 1, 1, 0, NULL, args,
                            NULL));
    ok(mcMemcpy(y, dy, sizeof(y), mcMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        float want = a * x[i] + 2 * i;

        g_assert_cmpfloat_with_epsilon(y[i], want, 1e-3f);
    }
    ok(mcFree(dx));
    ok(mcFree(dy));
}

static void test_program(void)
{
    const char *options[] = {"--gpu-architecture=compute_80", "--fmad=false"};
    nvrtcProgram prog;
    mcModule_t module;
    mcFunction_t function;
    const char *name;
    size_t size, other;

    ok(nvrtcCreateProgram(&prog, saxpy, "saxpy.cu", 0, NULL, NULL));
    ok(nvrtcAddNameExpression(prog, "set<double>"));
    ok(nvrtcAddNameExpression(prog, "&c"));
    ok(nvrtcCompileProgram(prog, 2, options));
    ok(nvrtcGetProgramLogSize(prog, &size));
    g_autofree char *log = g_malloc(size);
    ok(nvrtcGetProgramLog(prog, log));
    ok(nvrtcGetPTXSize(prog, &size));
    g_autofree char *ptx = g_malloc(size);
    ok(nvrtcGetPTX(prog, ptx));
    ok(nvrtcGetCUBINSize(prog, &other));
    g_assert_cmpuint(size, ==, other);
    g_autofree char *cubin = g_malloc(size);
    ok(nvrtcGetCUBIN(prog, cubin));
    g_assert_cmpint(memcmp(ptx, cubin, size), ==, 0);
    ok(nvrtcGetNVVMSize(prog, &other));
    ok(nvrtcGetNVVM(prog, cubin));
    ok(nvrtcGetLTOIRSize(prog, &other));
    ok(nvrtcGetLTOIR(prog, cubin));
    g_assert_cmpuint(size, ==, other);
    ok(mcModuleLoadDataEx(&module, ptx, 0, NULL, NULL));
    run(module);
    ok(nvrtcGetLoweredName(prog, "set<double>", &name));
    ok(mcModuleGetFunction(&function, module, name));
    ok(nvrtcGetLoweredName(prog, "&c", &name));
    ok(mcModuleGetGlobal(NULL, &size, module, name));
    g_assert_cmpuint(size, ==, 4);
    ok(mcModuleUnload(module));
    ok(nvrtcDestroyProgram(&prog));
    g_assert_null(prog);
}

/* Types and parts of std that a source defines, and those of the library. */
static const char own[] =
    "#include <cooperative_groups.h>\n"
    "#include <cuComplex.h>\n"
    "#include <cuda_fp16.h>\n"
    "typedef signed char int8_t; typedef unsigned char uint8_t;\n"
    "typedef unsigned int uint32_t; typedef long long int64_t;\n"
    "typedef unsigned long long uint64_t;\n"
    "namespace std {\n"
    "template <class A, class B> struct is_same { enum { value = 0 }; };\n"
    "template <class A> struct is_same<A, A> { enum { value = 1 }; };\n"
    "template <class T> struct numeric_limits;\n"
    "template <class T> struct complex { T re, im; };\n"
    "}\n"
    "extern \"C\" __global__ void f(int64_t *p)\n"
    "{\n"
    "    std::complex<float> z = {1, sinf(0)};\n"
    "    *p = std::is_same<int64_t, long long>::value + (int64_t)z.re;\n"
    "}\n";
static const char libraries[] =
    "#include <cstdint>\n"
    "#include <limits>\n"
    "#include <tuple>\n"
    "#include <type_traits>\n"
    "struct H {};\n"
    "namespace std { template <> struct is_floating_point<H> : true_type {}; }\n"
    "template <> struct std::numeric_limits<H> { enum { digits = 11 }; };\n"
    "extern \"C\" __global__ void f(std::int64_t *p)\n"
    "{\n"
    "    std::tuple<int, uint32_t> t(1, 2);\n"
    "    *p = std::get<1>(t) + std::is_floating_point<H>::value +\n"
    "         std::numeric_limits<H>::digits;\n"
    "}\n";

static void test_std(void)
{
    const char *const sources[] = {own, libraries};
    const char *const dialects[] = {"-std=c++11", "-std=c++14", "-std=c++17"};

    for (unsigned i = 0; i < 6; i++) {
        nvrtcProgram prog;
        size_t size;

        ok(nvrtcCreateProgram(&prog, sources[i % 2], "own.cu", 0, NULL, NULL));
        ok(nvrtcCompileProgram(prog, 1, &dialects[i / 2]));
        ok(nvrtcGetProgramLogSize(prog, &size));
        g_assert_cmpuint(size, ==, 1); /* no warnings */
        ok(nvrtcDestroyProgram(&prog));
    }
}

static void test_errors(void)
{
    const char *options[] = {"--bogus"};
    nvrtcProgram prog;
    size_t size;
    int major, minor, archs[2] = {0};

    ok(nvrtcVersion(&major, &minor));
    g_assert_cmpint(major * 10 + minor, ==, 116);
    g_assert_cmpint(nvrtcVersion(NULL, &minor), ==,
                    NVRTC_ERROR_INVALID_INPUT);
    ok(nvrtcGetNumSupportedArchs(&major));
    g_assert_cmpint(major, ==, 1);
    ok(nvrtcGetSupportedArchs(archs));
    g_assert_cmpstr(nvrtcGetErrorString(NVRTC_ERROR_COMPILATION), ==,
                    "NVRTC_ERROR_COMPILATION");
    g_assert_cmpstr(nvrtcGetErrorString((nvrtcResult)99), ==,
                    "NVRTC_ERROR unknown");
    g_assert_cmpint(nvrtcCreateProgram(&prog, NULL, "x", 0, NULL, NULL), ==,
                    NVRTC_ERROR_INVALID_INPUT);
    g_assert_cmpint(nvrtcCreateProgram(NULL, saxpy, "x", 0, NULL, NULL), ==,
                    NVRTC_ERROR_INVALID_INPUT);
    ok(nvrtcCreateProgram(&prog, "no program", "x", 0, NULL, NULL));
    g_assert_cmpint(nvrtcGetPTXSize(prog, &size), ==,
                    NVRTC_ERROR_INVALID_PROGRAM);
    g_assert_cmpint(nvrtcCompileProgram(prog, 1, options), ==,
                    NVRTC_ERROR_INVALID_OPTION);
    g_assert_cmpint(nvrtcCompileProgram(prog, 0, NULL), ==,
                    NVRTC_ERROR_COMPILATION);
    ok(nvrtcDestroyProgram(&prog));
    g_assert_cmpint(nvrtcDestroyProgram(&prog), ==,
                    NVRTC_ERROR_INVALID_PROGRAM);
}

/* Who loads the library finds all of them there. */
static void test_library(void)
{
    static const char *const names[] = {
        "nvrtcGetErrorString", "nvrtcVersion", "nvrtcGetNumSupportedArchs",
        "nvrtcGetSupportedArchs", "nvrtcCreateProgram", "nvrtcDestroyProgram",
        "nvrtcCompileProgram", "nvrtcGetPTXSize", "nvrtcGetPTX",
        "nvrtcGetCUBINSize", "nvrtcGetCUBIN", "nvrtcGetProgramLogSize",
        "nvrtcGetProgramLog", "nvrtcAddNameExpression", "nvrtcGetLoweredName",
    };
    void *library = dlopen(NVRTC_PATH, RTLD_NOW | RTLD_LOCAL);
    nvrtcResult (*version)(int *, int *);
    int major, minor;

    g_assert_nonnull(library);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        g_assert_nonnull(dlsym(library, names[i]));
    }
    *(void **)&version = dlsym(library, "nvrtcVersion");
    ok(version(&major, &minor));
    g_assert_cmpint(major, ==, 11);
    dlclose(library);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rtc/nvrtc/program", test_program);
    g_test_add_func("/rtc/nvrtc/std", test_std);
    g_test_add_func("/rtc/nvrtc/errors", test_errors);
    g_test_add_func("/rtc/nvrtc/library", test_library);
    return g_test_run();
}
