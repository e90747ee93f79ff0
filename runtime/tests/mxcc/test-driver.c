/* SPDX-License-Identifier: MIT */
/* mxcc as a command: kinds of output, several files, errors. */
#include "image.h"
#include "run.h"

#include <glib/gstdio.h>
#include <string.h>

static const char kernel[] =
    "#include <mc_runtime.h>\n"
    "#include <vector>\n"
    "#include <string>\n"
    "static __global__ void k(int *p) { p[threadIdx.x] = VALUE; }\n"
    "int NAME() { k<<<1, 1>>>(nullptr); return VALUE; }\n";

static void contains(const char *file, const char *text)
{
    const char *out;

    g_assert_cmpint(test_run(&out, "cat", file, NULL), ==, 0);
    if (!strstr(out, text)) {
        g_error("'%s' is not in %s", text, file);
    }
}

/* Kernels in two files, plain C++ and C beside them. */
static void test_program(void)
{
    const char *out;

    test_file("part.maca", kernel);
    test_file("main.cpp", "extern \"C\" int cee(void); int one(); int two();\n"
                          "int main() { return one() * 10 + two() + cee(); }");
    test_file("cee.c", "#include <mc_runtime_api.h>\n"
                       "int cee(void) { int class = 1; mcStream_t s = 0;\n"
                       "return s ? 0 : class; }\n");
    test_mxcc("-c", "-DVALUE=3", "-DNAME=one", "part.maca", "-o", "one.o",
              NULL);
    test_mxcc("-c", "-DVALUE=7", "-DNAME=two", "-O0", "-g", "part.maca", "-o",
              "two.o", NULL);
    test_mxcc("main.cpp", "cee.c", "one.o", "two.o", "-o", "program", NULL);
    g_assert_cmpint(test_run(&out, "./program", NULL), ==, 38);
    test_mxcc("-x", "maca", "-DVALUE=2", "-DNAME=main", "part.maca", NULL);
    g_assert_cmpint(test_run(&out, "./a.out", NULL), ==, 2);
    g_assert_cmpint(test_run(&out, "nm", "one.o", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "U __mcRegisterFatBinary\n"));
    g_assert_nonnull(strstr(out, "U __mcRegisterFunction\n"));
    g_assert_nonnull(strstr(out, "U __mcPushCallConfiguration\n"));
    g_assert_nonnull(strstr(out, "U __mcPopCallConfiguration\n"));
    g_assert_nonnull(strstr(out, "U mcLaunchKernel\n"));
    g_assert_null(strstr(out, "U __hip"));
    g_assert_null(strstr(out, "U hip"));
    g_assert_cmpint(test_run(&out, "readelf", "-SW", "one.o", NULL), ==, 0);
    g_assert_nonnull(strstr(out, ".mc_fatbin"));
    g_assert_nonnull(strstr(out, " .mcFatBinSegment"));
    /* still those of that section */
    g_assert_nonnull(strstr(out, " .rela.mcFatBinSegment"));
}

/* A kernel launched from a file that has none of its own. */
static void test_declared_kernel(void)
{
    const char *out;

    test_file("declares.maca", "__global__ void k(int *p);\n"
                               "void f(int *p) { k<<<1, 1>>>(p); }\n");
    test_file("defines.maca",
              "__global__ void k(int *p) { *p = 42; }\n"
              "void f(int *);\n"
              "int main() { int *d, h = 0; mcMalloc(&d, 4); f(d);\n"
              "    mcMemcpy(&h, d, 4, mcMemcpyDeviceToHost); return h; }\n");
    test_mxcc("-j2", "declares.maca", "defines.maca", "-o", "declared", NULL);
    g_assert_cmpint(test_run(&out, "./declared", NULL), ==, 42);
}

static void test_shared_library(void)
{
    const char *out;

    test_file("lib.maca", kernel);
    test_file("use.cpp", "int lib(); int main() { return lib(); }\n");
    test_mxcc("-fPIC", "-shared", "-DVALUE=5", "-DNAME=lib", "lib.maca", "-o",
              "libpart.so", NULL);
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "use.cpp", "-L.",
                             "-lpart", "-Wl,-rpath,$ORIGIN", "-o", "use",
                             NULL), ==, 0);
    g_assert_null(strstr(out, "-x none")); /* a warning about it */
    g_assert_cmpint(test_run(&out, "./use", NULL), ==, 5);
}

static void test_outputs(void)
{
    const char *out;

    test_file("out.maca",
              "#ifdef __MACA_ARCH__\nint device_side;\n#else\n"
              "int host_side;\n#endif\n"
              "#if !defined(__MACA__) || !defined(__MXCC__) || defined "
              "__HIP__\n#error\n#endif\n"
              "__global__ void k(int *p) { *p = warpSize; }\n");
    test_mxcc("-E", "out.maca", "-o", "host.i", NULL);
    contains("host.i", "host_side");
    test_mxcc("-E", "-maca-device-only", "out.maca", "-o", "device.i", NULL);
    contains("device.i", "device_side");
    test_mxcc("-S", "out.maca", "-o", "host.s", NULL);
    contains("host.s", "host_side");
    test_mxcc("-S", "-maca-device-only", "out.maca", "-o", "device.s", NULL);
    contains("device.s", "_Z1kPi");
    test_mxcc("-fsyntax-only", "out.maca", NULL);
    test_mxcc("-fatbin", "out.maca", NULL);
    test_image_free(test_image_open("out.fatbin"));
    test_mxcc("--keep", "-c", "out.maca", NULL);
    g_assert_true(g_file_test("out.maca.mxcc/device.bc", G_FILE_TEST_EXISTS));
    test_mxcc("-c", "-MD", "-MF", "out.d", "out.maca", NULL);
    contains("out.d", "mc_runtime_api.h");
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "--version", NULL), ==,
                    0);
    g_assert_nonnull(strstr(out, "mxcc version"));
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-resource-usage", "-c",
                             "out.maca", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "out.maca:9: kernel _Z1kPi:"));
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-v", "-c", "out.maca",
                             NULL), ==, 0);
    g_assert_nonnull(strstr(out, "-cc1"));
}

static void test_options(void)
{
    test_file("opt.maca", "#if FLAG\n__global__ void k() {}\n#endif\n"
                          "#ifndef MACA_API_PER_THREAD_DEFAULT_STREAM\n"
                          "#define LEGACY 1\n#endif\n"
                          "#if __cplusplus < 202002L || LEGACY\n#error\n"
                          "#endif\n");
    test_mxcc("-c", "--offload-arch=xcore1000", "-offload-arch=native",
              "--default-stream", "per-thread", "-DFLAG=1", "-std=c++20",
              "-use-fast-math", "-Wall", "-fPIC", "-march=native",
              "-fvisibility=hidden", "-ffunction-sections", "-pthread",
              "opt.maca", NULL);
    test_mxcc("-Xcompiler", "-fPIC,-DFLAG=0", "--default-stream=per-thread",
              "-std=c++20", "-c", "opt.maca", "-o", "opt.o", NULL);
}

static void test_errors(void)
{
    const char *out, *again;

    test_mxcc_fails("no such file: 'missing.maca'", "missing.maca", NULL);
    test_mxcc_fails("no input files", "-c", NULL);
    test_mxcc_fails("needs a value", "-o", NULL);
    test_file("ok.maca", "__global__ void k() {}\n");
    test_mxcc_fails("unknown argument: '-fnonsense'", "-fnonsense", "-c",
                    "ok.maca", NULL);
    test_mxcc_fails("no such device", "--offload-arch=sm_80", "-c", "ok.maca",
                    NULL);
    test_mxcc_fails("no mxgpu runtime there", "--maca-path=/nonexistent", "-c",
                    "ok.maca", NULL);
    test_file("late.h", "#define MACA_API_PER_THREAD_DEFAULT_STREAM\n");
    test_file("late.maca", "#include \"late.h\"\n#include <mc_runtime.h>\n");
    test_mxcc_fails("is defined too late", "-c", "late.maca", NULL);
    test_file("plain.cpp", "int x;\n");
    test_mxcc_fails("no kernels in it", "-fatbin", "plain.cpp", NULL);

    /* lines of the user's file, and once */
    test_file("wrong.maca", "#include <mc_runtime.h>\n"
                            "__global__ void k(int *p) { *p = nothing; }\n");
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-c", "wrong.maca", NULL),
                    ==, 1);
    again = strstr(out, "wrong.maca:2:34: error: use of undeclared");
    g_assert_nonnull(again);
    g_assert_null(strstr(again + 1, "wrong.maca:2:34: error"));
    g_assert_false(g_file_test("wrong.o", G_FILE_TEST_EXISTS));

    /* warnings too, though the passes name themselves in the sum */
    test_file("warned.maca", "__global__ void k(int *p) { int unused; }\n");
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-Wall", "-c",
                             "warned.maca", NULL), ==, 0);
    again = strstr(out, "warned.maca:1:33: warning: unused variable");
    g_assert_nonnull(again);
    g_assert_null(strstr(again + 1, "warned.maca:1:33: warning"));

    test_file("register.maca", "__global__ void k(int *p)\n"
                               "{ register int i = 1; *p = i; }\n");
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-c", "register.maca",
                             NULL), ==, 0);
    g_assert_nonnull(strstr(out, "register.maca:2:3: warning: ISO C++17 does "
                                 "not allow 'register'"));

    /* what kernels cannot do is said when compiling */
    test_file("print.maca", "#include <cstdio>\n"
                            "__global__ void k() { puts(\"x\"); }\n");
    test_mxcc_fails("call to __host__ function from __global__ function", "-c",
                    "print.maca", NULL);
    test_file("alloc.maca", "__global__ void k(int **p)\n"
                            "{ *p = (int *)realloc(*p, 8); }\n");
    test_mxcc_fails("call to __host__ function from __global__ function", "-c",
                    "alloc.maca", NULL);
    test_file("throw.maca", "__global__ void k(int *p) { throw 1; }\n");
    test_mxcc_fails("throw.maca:1", "-c", "throw.maca", NULL);
    test_file("extern.maca", "extern __device__ int table[];\n"
                             "template <class T> __device__ T get(int i)\n"
                             "{ return table[i]; }\n"
                             "__global__ void k(int *p) { *p = get<int>(1); }"
                             "\n");
    test_mxcc_fails("undefined symbol: table", "-c", "extern.maca", NULL);
    test_file("texture.maca", "__global__ void k(mcTextureObject_t t)\n"
                              "{ tex1Dfetch<double>(t, 1); }\n");
    test_mxcc_fails("__mc_scalar<double>", "-c", "texture.maca", NULL);
    test_file("managed.maca", "extern __managed__ int elsewhere;\n"
                              "__global__ void k() { elsewhere = 1; }\n");
    test_mxcc_fails("undefined symbol: elsewhere", "-c", "managed.maca", NULL);
    /* lanes that a mask of 32 bits does not have */
    test_file("lanes.maca", "__global__ void k(int *p)\n"
                            "{ *p = __shfl_xor_sync(0xffffffff, *p, 1, "
                            "warpSize); }\n");
    test_mxcc_fails("lanes.maca:2:51: error: a mask of 32 bits is about 32 "
                    "lanes", "-c", "lanes.maca", NULL);
    test_file("lane.maca", "__global__ void k(int *p)\n"
                           "{ *p = __shfl_sync(-1, *p, 40); }\n");
    test_mxcc_fails("lane.maca:2:30: error: a mask of 32 bits is about 32 "
                    "lanes", "-c", "lane.maca", NULL);
    test_file("scan.maca", "__global__ void k(int *p)\n"
                           "{ *p = __shfl_up_sync(~0u, *p, 32); }\n");
    test_mxcc_fails("scan.maca:2:34: error: a mask of 32 bits is about 32 "
                    "lanes", "-c", "scan.maca", NULL);
    test_file("long.maca", "__global__ void k(long double x) {}\n");
    test_mxcc_fails("long.maca:1: error: kernel _Z1ke: parameter 1: long "
                    "double", "-c", "long.maca", NULL);
}

static int link(const char *file)
{
    const char *out;
    int status;

    g_remove("damaged.s");
    status = test_run(&out, g_getenv("MX_KERNEL_LINK"), "-o", "damaged.s",
                      "--emit", "asm", "--temps", ".", file, NULL);

    if (status) {
        g_assert_cmpint(status, ==, 1);
        g_assert_cmpuint(strlen(out), >, 0);
        g_assert_false(g_file_test("damaged.s", G_FILE_TEST_EXISTS));
    }
    return status;
}

/* Bitcode that was cut off or has wrong bits ends in an error, never in a
 * crash of the tool; whether a changed bit is noticed depends on the bit. */
static void test_damaged(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    g_autofree char *good = NULL;
    const char *file;
    gsize size;
    unsigned noticed = 0;

    test_file("damage.maca",
              "__device__ float v[8]; struct S { int a; float b[3]; };\n"
              "__global__ void __launch_bounds__(64) k(S s, float *p) {\n"
              "    __shared__ float sh[64]; sh[threadIdx.x] = s.b[1];\n"
              "    __syncthreads(); *p = sh[s.a] + v[s.a]; }\n");
    test_mxcc("--keep", "-fatbin", "damage.maca", NULL);
    g_assert_true(g_file_get_contents("damage.maca.mxcc/device.bc", &good,
                                      &size, NULL));
    g_assert_cmpint(link("damage.maca.mxcc/device.bc"), ==, 0);
    g_assert_cmpint(link(test_file("empty.bc", "")), ==, 1);
    g_assert_cmpint(link(test_file("text.bc", "not bitcode\n")), ==, 1);
    g_assert_cmpint(link("absent.bc"), ==, 1);
    file = test_file("cut.bc", NULL);
    for (gsize part = 1; part < 8; part++) {
        g_assert_true(g_file_set_contents(file, good, size * part / 8, NULL));
        g_assert_cmpint(link(file), ==, 1);
    }
    for (unsigned i = 0; i < 24; i++) {
        g_autofree char *bad = g_memdup2(good, size);

        for (unsigned j = 0; j < 3; j++) {
            bad[g_rand_int_range(random, 0, size)] ^=
                1 << g_rand_int_range(random, 0, 8);
        }
        g_assert_true(g_file_set_contents(file, bad, size, NULL));
        noticed += link(file) != 0;
    }
    g_assert_cmpuint(noticed, >, 6);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    test_run_begin();
    g_test_add_func("/mxcc/driver/program", test_program);
    g_test_add_func("/mxcc/driver/declared-kernel", test_declared_kernel);
    g_test_add_func("/mxcc/driver/shared-library", test_shared_library);
    g_test_add_func("/mxcc/driver/outputs", test_outputs);
    g_test_add_func("/mxcc/driver/options", test_options);
    g_test_add_func("/mxcc/driver/errors", test_errors);
    g_test_add_func("/mxcc/driver/damaged", test_damaged);
    return test_run_end(g_test_run());
}
