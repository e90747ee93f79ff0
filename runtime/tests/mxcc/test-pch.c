/* SPDX-License-Identifier: MIT */
/* -pch-dir: the same outputs and messages as without, whatever the files there. */
#include "run.h"

#include <string.h>

#define SOURCE                                                                 \
    "#include <cstdio>\n"                                                      \
    "__device__ static int total;\n"                                           \
    "__global__ void k(float *p) { *p = sqrtf(*p); atomicAdd(&total, 1); }\n"  \
    "int main() { k<<<1, 1>>>(nullptr); printf(\"%d\", mcSuccess); }\n"

/* How many files with that ending a folder has, and the name of one. */
static unsigned files(const char *folder, const char *suffix, char **path)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    unsigned count = 0;

    while (dir && (name = g_dir_read_name(dir))) {
        if (g_str_has_suffix(name, suffix)) {
            count++;
            if (path) {
                g_free(*path);
                *path = g_build_filename(folder, name, NULL);
            }
        }
    }
    return count;
}

static void assert_same(const char *a, const char *b)
{
    const char *out;

    g_assert_cmpint(test_run(&out, "cmp", a, b, NULL), ==, 0);
}

static void test_same(void)
{
    const char *out;
    g_autofree char *with = NULL;

    test_file("a.maca", SOURCE);
    for (unsigned i = 0; i < 2; i++) { /* one makes the files, one has them */
        test_mxcc("-S", "a.maca", "-o", "with.s", "-pch-dir", "pch", NULL);
        test_mxcc("-fatbin", "a.maca", "-o", "with.fatbin", "-pch-dir=pch",
                  NULL);
        g_assert_cmpuint(files("pch", ".pch", NULL), ==, 2);
    }
    test_mxcc("-S", "a.maca", "-o", "without.s", NULL);
    test_mxcc("-fatbin", "a.maca", "-o", "without.fatbin", NULL);
    assert_same("with.s", "without.s");
    assert_same("with.fatbin", "without.fatbin");
    /* Other options, other files; what only names things is none of them. */
    test_mxcc("-c", "a.maca", "-o", "b.o", "-MD", "-MF", "b.d", "-pch-dir",
              "pch", NULL);
    g_assert_cmpuint(files("pch", ".pch", NULL), ==, 2);
    g_assert_cmpint(test_run(&out, "cat", "b.d", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "a.maca"));
    g_assert_nonnull(strstr(out, "/mcr/mc_runtime.h"));
    g_assert_null(strstr(out, ".pch "));
    test_mxcc("-c", "a.maca", "-DOTHER", "-pch-dir", "pch", NULL);
    g_assert_cmpuint(files("pch", ".pch", NULL), ==, 4);
    test_mxcc("-c", "a.maca", "-pch", NULL);
    g_assert_cmpuint(files(".", ".pch", NULL), ==, 2);
    test_mxcc_fails("-pch precompiles", "-c", "a.maca", "-create-pch", "x",
                    NULL);
}

static void test_messages(void)
{
    g_autofree char *said = NULL;
    const char *out;

    test_file("wrong.maca", "__global__ void k(int *p) { *p = nothing; }\n");
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-c", "wrong.maca", NULL),
                    ==, 1);
    said = g_strdup(out);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-c", "wrong.maca",
                                 "-pch-dir", "wrong", NULL), ==, 1);
        g_assert_cmpstr(out, ==, said);
        g_assert_cmpuint(files("wrong", ".pch", NULL), ==, 2);
    }
}

static void test_damaged(void)
{
    g_autofree char *path = NULL, *whole = NULL;
    gsize size;

    test_file("c.maca", SOURCE);
    test_mxcc("-fatbin", "c.maca", "-o", "c.fatbin", NULL);
    test_mxcc("-fatbin", "c.maca", "-o", "d.fatbin", "-pch-dir", "bad", NULL);
    g_assert_cmpuint(files("bad", ".pch", &path), ==, 1);
    g_assert_true(g_file_get_contents(path, &whole, &size, NULL));
    for (gsize part = 0; part < 4; part++) { /* none, cut off, ... */
        g_assert_true(g_file_set_contents(path, whole, size * part / 4, NULL));
        test_mxcc("-fatbin", "c.maca", "-o", "d.fatbin", "-pch-dir", "bad",
                  NULL);
        assert_same("c.fatbin", "d.fatbin");
        g_assert_cmpuint(files("bad", ".pch", NULL), ==, 0);
    }
    test_mxcc("-fatbin", "c.maca", "-o", "d.fatbin", "-pch-dir", "bad", NULL);
    g_assert_cmpuint(files("bad", ".pch", NULL), ==, 1);
    test_file("file", "");
    test_mxcc_fails("file", "-fatbin", "c.maca", "-pch-dir", "file", NULL);
}

/* A header of the runtime is another one, which is seen. */
static void test_changed(void)
{
    g_autofree char *script = g_strdup_printf(
        "conf=%s.conf; folder=$(sed -n 's/^include=//p' $conf | head -n 1); "
        "cp -r $folder runtime && cp %s mxcc && "
        "sed \"s,^include=$folder\\$,include=$PWD/runtime,\" $conf >mxcc.conf",
        g_getenv("MXCC"), g_getenv("MXCC"));
    const char *out, *add =
        "sed -i '$i #define ADDED 7' runtime/mcr/mc_runtime.h && grep -q ADDED "
        "runtime/mcr/mc_runtime.h";
    const char *const compile[] = {
        "./mxcc", "-fatbin", "e.maca", "-pch-dir", "headers",
    };

    g_assert_cmpint(test_run(&out, "sh", "-c", script, NULL), ==, 0);
    test_file("e.maca", "__global__ void k(int *p) { *p = ADDED; }\n");
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmpint(test_run(&out, compile[0], compile[1], compile[2],
                                 compile[3], compile[4], NULL), ==, i == 0);
        if (i == 0) {
            g_assert_cmpuint(files("headers", ".pch", NULL), ==, 1);
            g_assert_cmpint(test_run(&out, "sh", "-c", add, NULL), ==, 0);
        }
    }
    g_assert_cmpuint(files("headers", ".pch", NULL), ==, 1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    test_run_begin();
    g_test_add_func("/mxcc/pch/same", test_same);
    g_test_add_func("/mxcc/pch/messages", test_messages);
    g_test_add_func("/mxcc/pch/damaged", test_damaged);
    g_test_add_func("/mxcc/pch/changed", test_changed);
    return test_run_end(g_test_run());
}
