/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <glib/gstdio.h>
#include <stdarg.h>
#include <string.h>

static char *folder;
static char *output;

void test_run_begin(void)
{
    g_autoptr(GError) error = NULL;

    folder = g_dir_make_tmp("test-mxcc-XXXXXX", &error);
    g_assert_no_error(error);
    g_assert_cmpint(g_chdir(folder), ==, 0);
}

int test_run_end(int status)
{
    const char *argv[] = { "rm", "-rf", folder, NULL };

    g_assert_cmpint(g_chdir("/"), ==, 0);
    g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
                 NULL, NULL, NULL, NULL);
    g_free(folder);
    g_free(output);
    return status;
}

const char *test_file(const char *name, const char *text)
{
    g_autoptr(GError) error = NULL;

    if (text) {
        g_file_set_contents(name, text, -1, &error);
        g_assert_no_error(error);
    }
    return name;
}

static int spawn(GPtrArray *argv)
{
    g_autofree char *out = NULL, *err = NULL;
    g_autoptr(GError) error = NULL;
    int status;

    g_ptr_array_add(argv, NULL);
    g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL,
                 NULL, &out, &err, &status, &error);
    g_assert_no_error(error);
    g_free(output);
    output = g_strconcat(out, err, NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static GPtrArray *words(const char *first, va_list ap)
{
    GPtrArray *argv = g_ptr_array_new();

    for (const char *w = first; w; w = va_arg(ap, const char *)) {
        g_ptr_array_add(argv, (char *)w);
    }
    return argv;
}

int test_run(const char **out, ...)
{
    g_autoptr(GPtrArray) argv = NULL;
    va_list ap;
    int status;

    va_start(ap, out);
    argv = words(va_arg(ap, const char *), ap);
    va_end(ap);
    status = spawn(argv);
    *out = output;
    return status;
}

void test_mxcc(const char *first, ...)
{
    g_autoptr(GPtrArray) argv = NULL;
    va_list ap;
    int status;

    va_start(ap, first);
    argv = words(first, ap);
    va_end(ap);
    g_ptr_array_insert(argv, 0, (char *)g_getenv("MXCC"));
    status = spawn(argv);
    if (status) {
        g_test_message("%s", output);
    }
    g_assert_cmpint(status, ==, 0);
}

void test_mxcc_fails(const char *text, ...)
{
    g_autoptr(GPtrArray) argv = NULL;
    va_list ap;
    int status;

    va_start(ap, text);
    argv = words(g_getenv("MXCC"), ap);
    va_end(ap);
    status = spawn(argv);
    g_assert_cmpint(status, ==, 1);
    if (!strstr(output, text)) {
        g_error("'%s' is not in: %s", text, output);
    }
}
