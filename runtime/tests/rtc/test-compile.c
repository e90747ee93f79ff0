/* SPDX-License-Identifier: MIT */
/* Compiles with mxcc at run time, and runs what came of it. */
#include <glib.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <string.h>

#include "mcr/mc_runtime_api.h"
#include "mcr/mcrtc.h"

static void expect(int got, int want, const char *call, int line)
{
    if (got != want) {
        g_error("line %d: %s: %d, expected %d", line, call, got, want);
    }
}
#define ok(call)            expect(call, 0, #call, __LINE__)
#define gives(result, call) expect(call, result, #call, __LINE__)

static mcrtcProgram create(const char *source)
{
    mcrtcProgram program;

    ok(mcrtcCreateProgram(&program, source, "program.cu", 0, NULL, NULL));
    return program;
}

static char *log_of(mcrtcProgram program)
{
    size_t size;

    ok(mcrtcGetProgramLogSize(program, &size));
    char *log = g_malloc0(size);
    ok(mcrtcGetProgramLog(program, log));
    return log;
}

static void compile(mcrtcProgram program, int count, const char **options)
{
    mcrtcResult result = mcrtcCompileProgram(program, count, options);

    if (result != MCRTC_SUCCESS) {
        g_error("%s: %s", mcrtcGetErrorString(result), log_of(program));
    }
}

static char *code_of(mcrtcProgram program, size_t *size)
{
    ok(mcrtcGetCodeSize(program, size));
    char *code = g_malloc(*size);
    ok(mcrtcGetCode(program, code));
    return code;
}

static mcModule_t load(mcrtcProgram program)
{
    size_t size;
    g_autofree char *code = code_of(program, &size);
    mcModule_t module;

    ok(mcModuleLoadData(&module, code));
    return module;
}

static const char *lowered(mcrtcProgram program, const char *expression)
{
    const char *name = NULL;

    ok(mcrtcGetLoweredName(program, expression, &name));
    return name;
}

/* What a kernel with one int * writes there. */
static int run(mcModule_t module, const char *kernel)
{
    mcFunction_t function;
    int *out, value = -1;

    ok(mcMalloc((void **)&out, sizeof(*out)));
    void *args[] = {&out};
    ok(mcModuleGetFunction(&function, module, kernel));
    ok(mcModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    ok(mcMemcpy(&value, out, sizeof(value), mcMemcpyDeviceToHost));
    ok(mcFree(out));
    return value;
}

/* ---- tests ---- */

static void test_names(void)
{
    static const char *const expressions[] = {
        "&f1", "N1::N2::f2", "f3<int>", "f3<double>", "(void(*)(int *))f4",
        "N1::hidden", "&V1", "&N1::N2::V2", "&N1::V3", "V4<char>",
    };
    mcrtcProgram p = create(
        "__device__ int V1;\n"
        "static __global__ void f1(int *result) { *result = V1 + 10; }\n"
        "template <typename T> __device__ T V4 = 4;\n"
        "namespace N1 {\n"
        "namespace N2 {\n"
        "__constant__ int V2;\n"
        "__global__ void f2(int *result) { *result = V2 + 20; }\n"
        "}\n"
        "namespace { __device__ int V3;\n"
        "__global__ void hidden(int *r) { *r = V3 + V4<char>; } }\n"
        "}\n"
        "template <typename T>\n"
        "__global__ void f3(int *result) { *result = sizeof(T); }\n"
        "__global__ void f4(int *result) { *result = 4; }\n"
        "__global__ void f4(float *result) { *result = 4; }\n"
        "#undef V2 // the end");
    const int values[] = {1, 2, 3};
    mcDeviceptr_t address;
    size_t size;

    for (unsigned i = 0; i < G_N_ELEMENTS(expressions); i++) {
        ok(mcrtcAddNameExpression(p, expressions[i]));
    }
    compile(p, 0, NULL);
    g_assert_cmpstr(lowered(p, "f3<int>"), ==, "_Z2f3IiEvPi");
    mcModule_t module = load(p);
    for (unsigned i = 0; i < 3; i++) {
        ok(mcModuleGetGlobal(&address, &size, module,
                             lowered(p, expressions[6 + i])));
        g_assert_cmpuint(size, ==, sizeof(int));
        ok(mcMemcpy(address, &values[i], size, mcMemcpyHostToDevice));
    }
    ok(mcModuleGetGlobal(&address, &size, module, lowered(p, "V4<char>")));
    g_assert_cmpuint(size, ==, 1);
    g_assert_cmpint(run(module, lowered(p, "&f1")), ==, 11);
    g_assert_cmpint(run(module, lowered(p, "N1::N2::f2")), ==, 22);
    g_assert_cmpint(run(module, lowered(p, "f3<int>")), ==, 4);
    g_assert_cmpint(run(module, lowered(p, "f3<double>")), ==, 8);
    g_assert_cmpint(run(module, lowered(p, "(void(*)(int *))f4")), ==, 4);
    g_assert_cmpint(run(module, lowered(p, "N1::hidden")), ==, 7);
    ok(mcModuleUnload(module));
    ok(mcrtcDestroyProgram(&p));
}

static void test_bad_name(void)
{
    static const char *const bad[] = {"no_such<int>", "helper", "k) + (1"};

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        mcrtcProgram p = create("__device__ int helper() { return 1; }\n"
                                "__global__ void k(int *p) { *p = helper(); }");
        const char *name;

        ok(mcrtcAddNameExpression(p, bad[i]));
        gives(MCRTC_ERROR_COMPILATION, mcrtcCompileProgram(p, 0, NULL));
        g_autofree char *log = log_of(p);
        g_assert_nonnull(strstr(log, bad[i]));
        gives(MCRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION,
              mcrtcGetLoweredName(p, bad[i], &name));
        ok(mcrtcDestroyProgram(&p));
    }
}

/* Headers in memory; a replacement for a standard one does no harm. */
static void test_headers(void)
{
    const char *names[] = {"a.h", "sub/b.h", "type_traits", "/absolute/c.h",
                           "../up.h", "common/maca_none.h"};
    const char *text[] = {
        "#pragma once\n#include \"sub/b.h\"\n",
        "#ifndef B_H\n#define B_H\n#include \"../up.h\"\n"
        "inline __device__ int b() { return UP * 10; }\n#endif\n",
        "#error not this one\n", "#define C 3\n", "#define UP 4\n",
        "#define NONE 5\n",
    };
    mcrtcProgram p;

    ok(mcrtcCreateProgram(&p,
                          "#include \"a.h\"\n#include <a.h>\n"
                          "#include <type_traits>\n#include <sub/b.h>\n"
                          "#include \"/absolute/c.h\"\n#include <cstdint>\n"
                          "#include <common/maca_none.h>\n"
                          "#include <common/maca_fp16.h>\n"
                          "static_assert(std::is_same_v<int32_t, int>);\n"
                          "extern \"C\" __global__ void k(int *p)\n"
                          "{\n    *p = b() + C + NONE + D;\n}\n",
                          NULL, 6, text, names));
    const char *options[] = {"-D", "D=100", "--gpu-architecture=compute_75"};
    compile(p, 3, options);
    g_autofree char *log = log_of(p);
    g_assert_cmpstr(log, ==, "");
    mcModule_t module = load(p);
    g_assert_cmpint(run(module, "k"), ==, 148);
    ok(mcModuleUnload(module));
    ok(mcrtcDestroyProgram(&p));
}

static void test_messages(void)
{
    const char *names[] = {"a.h"}, *text[] = {"\n\nint a = missing;\n"};
    mcrtcProgram p;

    ok(mcrtcCreateProgram(&p, "#include \"a.h\"\n__global__ void k() { x(); }",
                          "dir/some name.cu", 1, text, names));
    gives(MCRTC_ERROR_COMPILATION, mcrtcCompileProgram(p, 0, NULL));
    g_autofree char *log = log_of(p);
    g_assert_nonnull(strstr(log, "a.h:3:9: error: use of undeclared"));
    g_assert_nonnull(strstr(log, "dir/some name.cu:2:"));
    g_assert_null(strstr(log, "mcrtc-"));
    const char *options[] = {"-fno-such-option"};
    gives(MCRTC_ERROR_INVALID_OPTION, mcrtcCompileProgram(p, 1, options));
    ok(mcrtcDestroyProgram(&p));
    p = create("__global__ void k() { int unused; }");
    options[0] = "-Wunused-variable";
    compile(p, 1, options);
    g_autofree char *warning = log_of(p);
    g_assert_nonnull(strstr(warning, "program.cu:1:27: warning:"));
    ok(mcrtcDestroyProgram(&p));
}

/* Functions that say nothing are the device's with -default-device only. */
static void test_default_device(void)
{
    mcrtcProgram p = create("int twice(int x) { return 2 * x; }\n"
                            "extern \"C\" __global__ void k(int *p)\n"
                            "{ *p = twice(21); }");
    const char *options[] = {"-default-device"};

    gives(MCRTC_ERROR_COMPILATION, mcrtcCompileProgram(p, 0, NULL));
    compile(p, 1, options);
    mcModule_t module = load(p);
    g_assert_cmpint(run(module, "k"), ==, 42);
    ok(mcModuleUnload(module));
    ok(mcrtcDestroyProgram(&p));
}

/* Nor are those of the system's headers, whatever a source includes. */
static void test_default_device_headers(void)
{
    const char *source =
        "#include <algorithm>\n#include <iostream>\n#include <map>\n"
        "#include <memory>\n#include <string>\n#include <vector>\n"
        "#include <cstdio>\n"
        "int twice(int x) { return 2 * std::min(x, 21); }\n"
        "extern \"C\" __global__ void k(int *p)\n"
        "{ *p = twice(50); }\n";
    char *wrong = g_strconcat(source, "int f() { return nothing; }", NULL);
    const char *options[] = {"-default-device", "-std=c++17"};
    mcrtcProgram p = create(source), q = create(wrong);
    size_t size;

    compile(p, 2, options);
    mcModule_t module = load(p);
    g_assert_cmpint(run(module, "k"), ==, 42);
    ok(mcModuleUnload(module));
    ok(mcrtcDestroyProgram(&p));

    gives(MCRTC_ERROR_COMPILATION, mcrtcCompileProgram(q, 2, options));
    ok(mcrtcGetProgramLogSize(q, &size));
    char *log = g_malloc(size);
    ok(mcrtcGetProgramLog(q, log));
    g_assert_nonnull(strstr(log, ":11:")); /* its line */
    g_free(log);
    g_free(wrong);
    ok(mcrtcDestroyProgram(&q));
}

/* Two programs become one module. */
static void test_relocatable(void)
{
    mcrtcProgram part = create("__device__ int half(int x) { return x / 2; }");
    mcrtcProgram p = create("extern __device__ int half(int);\n"
                            "template <int n> __global__ void k(int *p)\n"
                            "{ *p = half(n); }");
    const char *options[] = {"-rdc=true"};
    mcLinkState_t state;
    mcModule_t module;
    void *image;
    size_t sizes[2], size;

    ok(mcrtcAddNameExpression(p, "k<14>"));
    compile(part, 1, options);
    compile(p, 1, options);
    g_autofree char *first = code_of(part, &sizes[0]);
    g_autofree char *second = code_of(p, &sizes[1]);
    ok(mcLinkCreate(0, NULL, NULL, &state));
    ok(mcLinkAddData(state, mcJitInputObject, first, sizes[0], "first", 0,
                     NULL, NULL));
    ok(mcLinkAddData(state, mcJitInputObject, second, sizes[1], "second", 0,
                     NULL, NULL));
    ok(mcLinkComplete(state, &image, &size));
    ok(mcModuleLoadData(&module, image));
    ok(mcLinkDestroy(state));
    g_assert_cmpint(run(module, lowered(p, "k<14>")), ==, 7);
    ok(mcModuleUnload(module));
    ok(mcrtcDestroyProgram(&part));
    ok(mcrtcDestroyProgram(&p));
}

/* Several at once, of which one is destroyed while it is compiled. */
static void *one_of_many(void *number)
{
    g_autofree char *source = g_strdup_printf(
        "extern \"C\" __global__ void k(int *p) { *p = %u; }",
        GPOINTER_TO_UINT(number));
    mcrtcProgram p = create(source);

    compile(p, 0, NULL);
    mcModule_t module = load(p);
    g_assert_cmpint(run(module, "k"), ==, (int)GPOINTER_TO_UINT(number));
    ok(mcModuleUnload(module));
    ok(mcrtcDestroyProgram(&p));
    return NULL;
}

static void *destroy(void *program)
{
    mcrtcProgram p = program;

    ok(mcrtcDestroyProgram(&p));
    return NULL;
}

static void test_threads(void)
{
    mcrtcProgram p = create("__global__ void k() {}");
    pthread_t threads[3], end;

    for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++) {
        pthread_create(&threads[i], NULL, one_of_many, GUINT_TO_POINTER(i));
    }
    pthread_create(&end, NULL, destroy, p);
    mcrtcResult result = mcrtcCompileProgram(p, 0, NULL);
    g_assert_true(result == MCRTC_SUCCESS ||
                  result == MCRTC_ERROR_INVALID_PROGRAM);
    pthread_join(end, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++) {
        pthread_join(threads[i], NULL);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rtc/compile/names", test_names);
    g_test_add_func("/rtc/compile/bad-name", test_bad_name);
    g_test_add_func("/rtc/compile/headers", test_headers);
    g_test_add_func("/rtc/compile/messages", test_messages);
    g_test_add_func("/rtc/compile/default-device", test_default_device);
    g_test_add_func("/rtc/compile/default-device-headers",
                    test_default_device_headers);
    g_test_add_func("/rtc/compile/relocatable", test_relocatable);
    g_test_add_func("/rtc/compile/threads", test_threads);
    return g_test_run();
}
