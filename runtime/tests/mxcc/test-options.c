/* SPDX-License-Identifier: MIT */
/* Options of nvcc and clang: what they do here, and which are refused. */
#include "image.h"
#include "run.h"

#include <glib/gstdio.h>
#include <string.h>

#define KERNEL "__global__ void k(int *p) { *p = 1; }\n"

static const char loop[] =
    "#if defined(__MACA_ARCH__) != defined(FOR_DEVICE)\n#error device\n"
    "#endif\n"
    "#if defined(__MACA_ARCH__) == defined(FOR_HOST)\n#error host\n#endif\n"
    "extern \"C\" __global__ void k(const float *a, const float *b,\n"
    "                             float *c) {\n"
    "    float sum = *c;\n"
    "    for (int i = 0; i < 512; i++) sum += a[i] * b[i];\n"
    "    *c = sum / a[3]; }\n";

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;

    for (; (text = strstr(text, part)); text += strlen(part)) {
        n++;
    }
    return n;
}

/* The assembly of loop.maca, with more options. */
static const char *assembly(const char *a, const char *b, const char *c,
                            const char *d)
{
    const char *out;
    int status = test_run(&out, g_getenv("MXCC"), "-S", "-maca-device-only",
                          "-Xarch_device", "-DFOR_DEVICE", "-Xarch_host",
                          "-DFOR_HOST", "loop.maca", "-o", "-", a, b, c, d,
                          NULL);

    if (status) {
        g_error("%s", out);
    }
    return out;
}

/* Options of the code generator, and those of one side only. */
static void test_code_generation(void)
{
    test_file("loop.maca", loop);
    g_assert_cmpuint(count(assembly(NULL, NULL, NULL, NULL), "fmadd.s"), ==,
                     8);
    g_assert_cmpuint(count(assembly("-mllvm", "-unroll-max-count=2", NULL,
                                    NULL), "fmadd.s"), ==, 2);
    g_assert_cmpuint(count(assembly("-Xarch_device", "-mllvm=-unroll-max-"
                                    "count=4", NULL, NULL), "fmadd.s"), ==, 4);
    g_assert_cmpuint(count(assembly("-Xarch_device", "-mllvm",
                                    "-Xarch_device", "-unroll-max-count=2"),
                           "fmadd.s"), ==, 2);
    /* ours, with and without a value */
    g_assert_cmpuint(count(assembly("-mllvm", "-disable-block-placement=false",
                                    "-mllvm", "-disable-tail-duplicate"),
                           "fmadd.s"), ==, 8);
    g_assert_cmpuint(count(assembly("-Xarch_host", "-O0", NULL, NULL),
                           "fmadd.s"), ==, 8);
    g_assert_cmpuint(count(assembly("-Xptxas", "-O0", NULL, NULL), "fmadd.s"),
                     ==, 1);
    g_assert_cmpuint(count(assembly("-Xarch_device", "-O0", NULL, NULL),
                           "fmadd.s"), ==, 1);
    g_assert_cmpuint(count(assembly("-fmad=false", NULL, NULL, NULL),
                           "fmadd.s"), ==, 0);
    g_assert_cmpuint(count(assembly("-fmad", "true", NULL, NULL), "fmadd.s"),
                     ==, 8);
    g_assert_nonnull(strstr(assembly("-prec-div=true", "-ftz=false",
                                     "-prec-sqrt=true", NULL), "fdiv.s"));
    test_file("mma.maca", "#include <mma.h>\n" KERNEL);
    test_mxcc("-c", "mma.maca", NULL);
    test_mxcc("-c", "--warp-size=32", "mma.maca", NULL);
    test_mxcc_fails("nonsense", "-mllvm", "-nonsense", "-fatbin",
                    "-Xarch_device", "-DFOR_DEVICE", "loop.maca", NULL);
    test_mxcc("-c", "-Xarch_device", "-DFOR_DEVICE", "-Xarch_host",
              "-DFOR_HOST", "loop.maca", NULL);
}

/* Build lines written for nvcc. */
static void test_build_lines(void)
{
    const char *out;
    TestImage *im;

    test_file("line.cu", "#if !defined(TWO_WORDS) || ONE != 1 || HOST != 2\n"
                         "#error\n#endif\n" KERNEL);
    g_assert_cmpint(
        test_run(&out, g_getenv("MXCC"), "-c", "-arch=sm_70", "-gencode",
                 "arch=compute_70,code=[sm_70,compute_70]",
                 "--generate-code=arch=compute_80,code=sm_80", "-std", "c++17",
                 "-O", "3", "-Xcompiler", "-Wall,-fPIC,-DHOST=2",
                 "-Xcompiler=-fno-strict-aliasing", "--compiler-options",
                 "-Wextra -fopenmp", "-Xptxas", "-v,-dlcm=ca,-warn-spills",
                 "-use_fast_math", "-ftz=true", "-prec-div=false",
                 "-prec-sqrt", "false", "-fmad=true", "-lineinfo",
                 "--expt-relaxed-constexpr", "--extended-lambda",
                 "-forward-unknown-to-host-compiler", "-rdc=false",
                 "-maxrregcount=32", "-cudart", "shared", "-m64",
                 "--define-macro", "ONE=1", "--define-macro=TWO_WORDS",
                 "-isystem", ".", "-t", "2", "--threads=2", "-j2",
                 "-Wno-deprecated-gpu-targets", "-Xcudafe",
                 "--diag_suppress=177", "--output-file", "line.o", "line.cu",
                 NULL), ==, 0);
    g_assert_cmpuint(count(out, "-maxrregcount has no effect"), ==, 1);
    g_assert_nonnull(strstr(out, "xcore1000"));
    g_assert_nonnull(strstr(out, "line.cu:4: kernel _Z1kPi")); /* -Xptxas -v */
    g_assert_true(g_file_test("line.o", G_FILE_TEST_EXISTS));

    test_file("words.txt", "-O2 -DTWO_WORDS '-DONE=1'\n -DHOST=2 -G \"-x\" cu");
    test_mxcc("@words.txt", "-fatbin", "line.cu", NULL);
    im = test_image_open("line.fatbin");
    g_assert_true(test_image_has_section(im, ".debug_info")); /* -G */
    test_image_free(im);
    g_assert_cmpint(g_mkdir("folder", 0700), ==, 0);
    test_mxcc("-optf", "words.txt", "-cubin", "-odir", "folder", "line.cu",
              NULL);
    g_assert_cmpint(test_run(&out, "readelf", "-h", "folder/line.cubin",
                             NULL), ==, 0);
    g_assert_nonnull(strstr(out, "RISC-V"));
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "--dryrun", "-c",
                             "@words.txt", "line.cu", "-o", "dry.o", NULL),
                    ==, 0);
    g_assert_nonnull(strstr(out, "mx-kernel-link"));
    g_assert_false(g_file_test("dry.o", G_FILE_TEST_EXISTS));

    test_file("line.hip", KERNEL);
    g_assert_cmpint(
        test_run(&out, g_getenv("MXCC"), "--genco",
                 "--offload-arch=gfx906,gfx90a:xnack-",
                 "--amdgpu-target=gfx1030", "--rocm-path=/opt/rocm",
                 "line.hip", "-o", "line.co", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "gfx90a:xnack-"));
}

static void test_refused(void)
{
    static const char *const options[] = {
        "-ptx", "--ptx", "-optix-ir", "-cuda", "-run", "-m32", "-emit-llvm",
        "--cuda-path=/usr", "-flto", "-Xarch_gfx90a", "-opt-info=inline",
        "-Xcudafe=--diag_error=1", "-Xptxas=--nonsense", "-Xnvlink=--nonsense",
        "-Xfatbin=--nonsense", "-diag-error=20", "-gencode=nonsense",
        "-arch=armv8", "-code=gfx90a", "-ftz=yes", "-cudart=dynamic",
        "-dopt=off", "--default-stream=own", "--warp-size=16",
        "-Xarch_device=-march=native",
        "-Xarch_device=-fsanitize=address", "-rdc=maybe", "--c-is-unknown",
        "-fnonsense", "--nonsense", "--threads=x", "-lineinfo=1",
    };
    const char *out;

    test_file("ok.maca", KERNEL);
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        g_autofree char *name = g_strdup(options[i]);
        int status = test_run(&out, g_getenv("MXCC"), options[i], "-c",
                              "ok.maca", NULL);

        name[strcspn(name, "=")] = 0;
        if (status != 1 || !strstr(out, name) || !strstr(out, "error:") ||
            g_file_test("ok.o", G_FILE_TEST_EXISTS)) {
            g_error("%s: status %d: %s", options[i], status, out);
        }
    }
    test_mxcc_fails("no such file: '@absent.txt'", "@absent.txt", NULL);
    test_file("round.txt", "@round.txt");
    test_mxcc_fails("within each other", "@round.txt", NULL);
    test_file("open.txt", "'");
    test_mxcc_fails("open.txt: No closing quotation", "@open.txt", NULL);
    test_file("x.cui", KERNEL);
    test_mxcc_fails("does not take .cui files", "-c", "x.cui", NULL);
}

static void depends(const char *file, const char *target)
{
    g_autofree char *text = NULL, *head = g_strconcat(target, ": ", NULL);

    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    if (!g_str_has_prefix(text, head) || !strstr(text, "dep.h")) {
        g_error("%s: '%s' expected: %.60s", file, head, text);
    }
}

/* Names as clang's driver chooses them, and make understands the contents. */
static void test_dependencies(void)
{
    const char *out;

    test_file("dep.h", "");
    test_file("dep.maca", "#include \"dep.h\"\n" KERNEL
                          "int main() { return 0; }\n");
    test_file("plain.cpp", "#include \"dep.h\"\nint plain;\n");
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-M", "dep.maca", NULL),
                    ==, 0);
    g_assert_true(g_str_has_prefix(out, "dep.o: dep.maca"));
    g_assert_nonnull(strstr(out, "mc_runtime.h"));
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-MM", "-MT", "goal",
                             "plain.cpp", NULL), ==, 0);
    g_assert_cmpstr(out, ==, "goal: plain.cpp dep.h\n");
    test_mxcc("-M", "-MF", "m.d", "dep.maca", NULL);
    depends("m.d", "dep.o");
    test_mxcc("--generate-dependencies", "dep.maca", "-o", "n.d", NULL);
    depends("n.d", "dep.o");
    test_mxcc("-c", "-MD", "dep.maca", "-o", "sub.o", NULL);
    depends("sub.d", "sub.o");
    test_mxcc("-c", "-MMD", "plain.cpp", NULL);
    depends("plain.d", "plain.o");
    test_mxcc("-MD", "-MP", "-MF", "p.d", "-MT", "goal", "dep.maca",
              "plain.cpp", "-o", "whole", NULL);
    depends("p.d", "goal");
    test_mxcc("-MD", "dep.maca", "-o", "whole", NULL);
    depends("whole.d", "whole");
    test_file("Makefile", "goal:\n\ttouch made\n-include p.d\n");
    g_assert_cmpint(test_run(&out, "make", "goal", NULL), ==, 0);
    g_assert_true(g_file_test("made", G_FILE_TEST_EXISTS));
}

/* As CMake finds out what a compiler is. */
static void test_detection(void)
{
    const char *out;

    test_file("id.cpp",
              "const char *id = \"INFO:compiler[\"\n#ifdef __clang__\n"
              "\"Clang\"\n#endif\n\"]\";\n"
              "int main(int argc, char **argv) { return id[argc] == 0; }\n");
    test_mxcc("id.cpp", NULL);
    g_assert_cmpint(test_run(&out, "strings", "a.out", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "INFO:compiler[Clang]"));
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-v", "-o", "abi.o", "-c",
                             "id.cpp", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "#include <...> search starts here:"));
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-dumpmachine", NULL), ==,
                    0);
    g_assert_nonnull(strstr(out, "linux-gnu"));
    test_mxcc("-E", "-dM", "-x", "c++", "/dev/null", "-o", "macros", NULL);
    g_assert_true(g_file_test("macros", G_FILE_TEST_EXISTS));
}

/* The documentation has each option that mxcc knows by itself. */
static void test_documented(void)
{
    static const char script[] =
        "import sys; sys.dont_write_bytecode = True\n"
        "sys.path.insert(0, sys.argv[1] + '/tools/mxcc')\n"
        "from driver import table\n"
        "text = open(sys.argv[1] + '/docs/mxcc.md').read()\n"
        "print(*(n for n in [*table.TABLE, *table.ALIASES]\n"
        "        if f'`-{n}' not in text and f'`--{n}' not in text))\n";
    g_autofree char *top = g_build_filename(g_getenv("MXCC_TESTS"), "../..",
                                            NULL);
    const char *out;

    g_assert_cmpint(test_run(&out, "python3", "-c", script, top, NULL), ==, 0);
    g_assert_cmpstr(out, ==, "\n");
}

/* Makefiles name the folder of headers of a toolkit that is installed, too: the
 * adaptors come before them, and others of its headers are found. */
static void test_other_toolkit(void)
{
    g_assert_cmpint(g_mkdir("toolkit", 0700), ==, 0);
    g_assert_cmpint(g_mkdir("toolkit/hip", 0700), ==, 0);
    test_file("toolkit/cuda_runtime_api.h", "#error\n");
    test_file("toolkit/cuda_runtime.h", "#error\n");
    test_file("toolkit/hip/hip_runtime_api.h", "#error\n");
    test_file("toolkit/hip/hip_runtime.h", "#error\n");
    test_file("toolkit/own.h", "#define OWN cudaSuccess\n");
    test_file("other.cu", "#include <cuda_runtime.h>\n#include <own.h>\n"
                          "int own = OWN;\n" KERNEL);
    test_mxcc("-c", "-Itoolkit", "other.cu", NULL);
    test_mxcc("-c", "--include-path=toolkit", "other.cu", NULL);
    test_mxcc("-c", "-isystem", "toolkit", "other.cu", NULL);
    test_file("other.cpp", "#include <cuda_runtime.h>\n#include <own.h>\n"
                           "int own = OWN;\n");
    test_mxcc("-c", "-I", "toolkit", "other.cpp", NULL);
    test_file("other.hip", "#include <hip/hip_runtime.h>\n" KERNEL);
    test_mxcc("-c", "-Itoolkit", "other.hip", NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    test_run_begin();
    g_test_add_func("/mxcc/options/code-generation", test_code_generation);
    g_test_add_func("/mxcc/options/build-lines", test_build_lines);
    g_test_add_func("/mxcc/options/other-toolkit", test_other_toolkit);
    g_test_add_func("/mxcc/options/refused", test_refused);
    g_test_add_func("/mxcc/options/dependencies", test_dependencies);
    g_test_add_func("/mxcc/options/detection", test_detection);
    g_test_add_func("/mxcc/options/documented", test_documented);
    return test_run_end(g_test_run());
}
