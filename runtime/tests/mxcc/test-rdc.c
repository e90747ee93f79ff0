/* SPDX-License-Identifier: MIT */
/* Device code that is linked across files, on the simulator. */
#include "run.h"

#include <glib/gstdio.h>
#include <string.h>

static void object(const char *name, const char *option)
{
    g_autofree char *source = g_strdup_printf("%s/rdc/%s.maca",
                                              g_getenv("MXCC_TESTS"), name);
    g_autofree char *output = g_strdup_printf("%s.o", name);

    test_mxcc(option, "-c", "-std=c++17", source, "-o", output, NULL);
}

static void passes(const char *program)
{
    const char *out;
    int status = test_run(&out, program, NULL);

    g_test_message("%s", out);
    g_assert_cmpint(status, ==, 0);
    g_assert_nonnull(strstr(out, "passed"));
}

/* Functions, variables, shared memory, templates, a static library. */
static void test_program(void)
{
    static const char *const names[] = { "main", "other", "library", "deep",
                                         "unused" };
    const char *out;

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        object(names[i], i % 2 ? "-rdc=true" : "-fgpu-rdc");
    }
    test_mxcc("-lib", "library.o", "deep.o", "unused.o", "-o", "libparts.a",
              NULL);
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "main.o", "other.o",
                             "-L.", "-lparts", "-resource-usage", "-o",
                             "program", NULL), ==, 0);
    /* the linked code as a whole */
    g_assert_nonnull(strstr(out, "launched_elsewherePi: 1"));
    g_assert_nonnull(strstr(out, " 32 bytes shared"));
    g_assert_null(strstr(out, "unused"));
    passes("./program");
}

/* What -dlink makes, for another linker. */
static void test_dlink(void)
{
    const char *out;

    test_mxcc("-dlink", "main.o", "other.o", "library.o", "deep.o", "-o",
              "device.o", NULL);
    test_mxcc("main.o", "other.o", "library.o", "deep.o", "device.o", "-o",
              "dlinked", NULL);
    passes("./dlinked");
    test_mxcc("-dlink", "-cubin", "main.o", "other.o", "library.o", "deep.o",
              "-o", "device.cubin", NULL);
    g_assert_cmpint(test_run(&out, "readelf", "--dyn-syms", "-W",
                             "device.cubin", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "_Z18launched_elsewherePi"));
    test_mxcc("-dlink", "library.o", "deep.o", "-o", "part.o", NULL);
    test_mxcc_fails("its device code is not in what -dlink made", "main.o",
                    "other.o", "library.o", "deep.o", "part.o", NULL);
}

/* One object of several, and a shared library. */
static void test_joined(void)
{
    const char *out;

    g_assert_cmpint(test_run(&out, "ld", "-r", "main.o", "other.o",
                             "library.o", "deep.o", "-o", "joined.o", NULL),
                    ==, 0);
    test_mxcc("joined.o", "-o", "joined", NULL);
    passes("./joined");
    g_assert_cmpint(test_run(&out, "readelf", "-SW", "joined", NULL), ==, 0);
    g_assert_null(strstr(out, ".mc_rdc")); /* bitcode stays behind */
}

/* Two shared libraries have one image each, with variables of one name. */
static void test_libraries(void)
{
    static const char use[] =
        "extern __device__ int number; __device__ int next(int);\n"
        "static __global__ void k(int *p) { *p = next(number); }\n"
        "int NAME() { int *d, h = 0; mcMalloc(&d, 4); k<<<1, 1>>>(d);\n"
        "    mcMemcpy(&h, d, 4, mcMemcpyDeviceToHost); return h; }\n";
    const char *out;

    test_file("use.maca", use);
    test_file("define.maca", "__device__ int number = VALUE;\n"
                             "__device__ int next(int x) { return x + 1; }\n");
    test_file("both.cpp", "int one(), two();\n"
                          "int main() { return one() * 20 + two(); }\n");
    test_mxcc("-fPIC", "-shared", "-rdc=true", "-DNAME=one", "-DVALUE=1",
              "use.maca", "define.maca", "-o", "libone.so", NULL);
    test_mxcc("-fPIC", "-shared", "-rdc=true", "-DNAME=two", "-DVALUE=10",
              "use.maca", "define.maca", "-o", "libtwo.so", NULL);
    test_mxcc("both.cpp", "-L.", "-lone", "-ltwo", "-Wl,-rpath,$ORIGIN", "-o",
              "both", NULL);
    g_assert_cmpint(test_run(&out, "./both", NULL), ==, 51);
}

/* One variable for the hosts and kernels of several files. */
static void test_managed(void)
{
    const char *out;

    test_file("owner.maca",
              "__managed__ int common = 5;\nstatic __managed__ int own = 1;\n"
              "__device__ int *own_of_owner() { return &own; }\n"
              "int *host_own_of_owner() { return &own; }\n");
    test_file("user.maca",
              "extern __managed__ int common;\n"
              "static __managed__ int own = 2;\n"
              "__device__ int *own_of_owner();\nint *host_own_of_owner();\n"
              "__global__ void k(int **p)\n"
              "{ common += own + *own_of_owner(); *p = &common; }\n"
              "int main() { int **p; mcMallocHost(&p, 8); common++;\n"
              "    k<<<1, 1>>>(p);\n"
              "    if (mcDeviceSynchronize()) { return 1; }\n"
              "    puts(common == 9 && *p == &common &&\n"
              "         host_own_of_owner() != &own && own == 2 ?\n"
              "         \"passed\" : \"failed\"); return 0; }\n");
    test_mxcc("-dc", "owner.maca", "user.maca", NULL);
    test_mxcc("user.o", "owner.o", "-o", "managed", NULL);
    passes("./managed");
    test_mxcc("-lib", "owner.o", "-o", "libowner.a", NULL);
    test_mxcc("user.o", "libowner.a", "-o", "managed", NULL);
    passes("./managed");
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "user.o", "-o",
                             "managed", NULL), ==, 1);
    g_assert_nonnull(strstr(out, "common"));
}

/* Without optimisation and with debug information, as the objects say. */
static void test_levels(void)
{
    for (const char *const *name = (const char *const[]){
             "main", "other", "library", "deep", NULL }; *name; name++) {
        g_autofree char *source = g_strdup_printf(
            "%s/rdc/%s.maca", g_getenv("MXCC_TESTS"), *name);
        g_autofree char *output = g_strdup_printf("%s-0.o", *name);

        test_mxcc("-dc", "-O0", "-g", "-std=c++17", source, "-o", output,
                  NULL);
    }
    test_mxcc("main-0.o", "other-0.o", "library-0.o", "deep-0.o", "-o",
              "levels", NULL);
    passes("./levels");
    test_mxcc("-dlink", "-cubin", "main-0.o", "other-0.o", "library-0.o",
              "deep-0.o", "-o", "levels.cubin", NULL);
    g_assert_cmpint(test_run(&(const char *){ NULL }, "sh", "-c",
                             "readelf -SW levels.cubin | grep -q debug_info",
                             NULL), ==, 0);
}

static void test_errors(void)
{
    test_mxcc_fails("undefined symbol: only_for_devices(int)", "main.o",
                    "other.o", "library.o", NULL);
    test_file("again.maca", "__device__ int twice(int x) { return x; }\n");
    test_mxcc("-dc", "again.maca", NULL);
    test_mxcc_fails("twice", "main.o", "other.o", "library.o", "deep.o",
                    "again.o", NULL);
    test_file("plain.maca", "__global__ void k() {}\n");
    test_mxcc("-c", "plain.maca", NULL);
    test_mxcc_fails("no input has relocatable device code", "-dlink",
                    "plain.o", NULL);
    test_file("cut.s", ".section .mc_rdc\n.ascii \"MXGPURDC\"\n.quad 99\n");
    test_mxcc("-c", "cut.s", NULL);
    test_mxcc_fails("cut.o: damaged device code", "cut.o", NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    test_run_begin();
    g_test_add_func("/mxcc/rdc/program", test_program);
    g_test_add_func("/mxcc/rdc/dlink", test_dlink);
    g_test_add_func("/mxcc/rdc/joined", test_joined);
    g_test_add_func("/mxcc/rdc/libraries", test_libraries);
    g_test_add_func("/mxcc/rdc/managed", test_managed);
    g_test_add_func("/mxcc/rdc/levels", test_levels);
    g_test_add_func("/mxcc/rdc/errors", test_errors);
    return test_run_end(g_test_run());
}
