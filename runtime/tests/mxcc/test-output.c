/* SPDX-License-Identifier: MIT */
/* Files that mxcc and mx-kernel-link write: what survives, what is left. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void assert_content(const char *file, const char *expected)
{
    g_autofree char *text = NULL;

    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, expected);
}

/* Nothing but what the test made. */
static void assert_folder(const char *folder, const char *const *names)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;

    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        if (!g_strv_contains(names, name)) {
            g_error("%s/%s was left", folder, name);
        }
    }
}

static mode_t kind(const char *path)
{
    struct stat st;

    return lstat(path, &st) ? 0 : st.st_mode & S_IFMT;
}

#define KERNEL "__global__ void k(int *p) { *p = 1; }\n"
#define WRONG  "__global__ void k(int *p) { *p = nothing; }\n"

/* Every kind of output, with one step or another failing. */
static void test_survives(void)
{
    static const char *const names[] = {
        "wrong.maca", "link.maca", "wrong.cpp", "old", "pipe", "link",
        "target", "wrong.bc", "object.maca", NULL,
    };
    static const char *const options[][3] = {
        { "-c", "wrong.maca" }, { "-fatbin", "wrong.maca" },
        { "-cubin", "wrong.maca" }, { "-S", "wrong.maca" },
        { "-c", "wrong.cpp" }, { "-S", "wrong.cpp" },
        { "-O2", "wrong.maca" }, { "-O2", "wrong.cpp" },
        { "-lib", "wrong.maca" }, { "-dc", "wrong.maca" },
        { "-shared", "link.maca" }, { "-c", "link.maca" },
    };
    const char *out;

    g_assert_cmpint(g_mkdir("survives", 0700), ==, 0);
    g_assert_cmpint(g_chdir("survives"), ==, 0);
    test_file("wrong.maca", WRONG);
    test_file("wrong.cpp", "int x = nothing;\n");
    test_file("link.maca", "extern __device__ int nowhere;\n"
                           "__global__ void k(int *p) { *p = nowhere; }\n");
    test_file("wrong.bc", "no bitcode");
    test_file("old", "old");
    g_assert_cmpint(mkfifo("pipe", 0600), ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        for (unsigned j = 0; j < 2; j++) {
            const char *target = j ? "pipe" : "old";

            g_assert_cmpint(test_run(&out, g_getenv("MXCC"), options[i][0],
                                     options[i][1], "-o", target,
                                     options[i][2], NULL), ==, 1);
            g_assert_true(kind("pipe") == S_IFIFO);
            assert_content("old", "old");
        }
    }
    g_assert_cmpint(test_run(&out, g_getenv("MX_KERNEL_LINK"), "-o", "old",
                             "--temps", ".", "wrong.bc", NULL), ==, 1);
    g_assert_cmpint(test_run(&out, g_getenv("MX_KERNEL_LINK"), "-o", "pipe",
                             "--temps", ".", "wrong.bc", NULL), ==, 1);
    g_assert_true(kind("pipe") == S_IFIFO);
    assert_content("old", "old");
    assert_folder(".", names);
    g_assert_cmpint(g_chdir(".."), ==, 0);
}

/* What is no regular file is written to; links stay links. */
static void test_streams(void)
{
    static const char *const names[] = {
        "ok.maca", "plain.c", "pipe", "link", "target", "got", NULL,
    };
    const char *out;
    g_autofree char *script = NULL;

    g_assert_cmpint(g_mkdir("streams", 0700), ==, 0);
    g_assert_cmpint(g_chdir("streams"), ==, 0);
    test_file("ok.maca", KERNEL);
    test_file("plain.c", "int plain;\n");
    g_assert_cmpint(mkfifo("pipe", 0600), ==, 0);
    script = g_strdup_printf("cat pipe >got & %s -fatbin ok.maca -o pipe && "
                             "wait", g_getenv("MXCC"));
    g_assert_cmpint(test_run(&out, "sh", "-c", script, NULL), ==, 0);
    g_assert_true(kind("pipe") == S_IFIFO);
    g_assert_cmpint(test_run(&out, "head", "-c7", "got", NULL), ==, 0);
    g_assert_cmpstr(out, ==, "MXGPUFB");
    test_file("target", "old");
    g_assert_cmpint(symlink("target", "link"), ==, 0);
    test_mxcc("-fatbin", "ok.maca", "-o", "link", NULL);
    g_assert_true(kind("link") == S_IFLNK);
    g_assert_cmpint(test_run(&out, "head", "-c7", "target", NULL), ==, 0);
    g_assert_cmpstr(out, ==, "MXGPUFB");

    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-S", "ok.maca", "-o",
                             "-", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "_Z16__device_stub__kPi"));
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-S", "-o", "-",
                             "-maca-device-only", "ok.maca", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "_Z1kPi:"));
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-S", "ok.maca", "-o",
                             "/dev/stdout", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "_Z16__device_stub__kPi"));
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-E", "plain.c", "-o",
                             "-", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "int plain;"));
    g_assert_cmpint(test_run(&out, g_getenv("MXCC"), "-S", "plain.c", "-o",
                             "-", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "plain"));
    g_assert_true(kind("/dev/stdout") == S_IFLNK);
    test_mxcc_fails("is a directory", "-c", "ok.maca", "-o", ".", NULL);
    test_mxcc_fails("No such file", "-c", "ok.maca", "-o", "no/where", NULL);
    assert_folder(".", names);
    g_assert_cmpint(g_chdir(".."), ==, 0);
}

static void wait_for_end(GPid pid, int status, gpointer loop)
{
    g_assert_true(WIFSIGNALED(status));
    g_assert_cmpint(WTERMSIG(status), ==, SIGTERM);
    g_main_loop_quit(loop);
}

/* Both passes wait for the end of a file that does not come. */
static void test_signals(void)
{
    static const char *const names[] = { "endless.maca", "pipe", "old", "tmp",
                                         NULL };
    static const char *const none[] = { NULL };
    g_autoptr(GMainLoop) loop = g_main_loop_new(NULL, FALSE);
    char *argv[] = { (char *)g_getenv("MXCC"), "-c", "endless.maca", "-o",
                     "old", NULL };
    g_auto(GStrv) env = g_get_environ();
    g_autoptr(GError) error = NULL;
    GPid pid;
    int fd;

    g_assert_cmpint(g_mkdir("signals", 0700), ==, 0);
    g_assert_cmpint(g_chdir("signals"), ==, 0);
    g_assert_cmpint(g_mkdir("tmp", 0700), ==, 0);
    test_file("endless.maca", "#include \"pipe\"\n");
    test_file("old", "old");
    g_assert_cmpint(mkfifo("pipe", 0600), ==, 0);
    env = g_environ_setenv(env, "TMPDIR", "tmp", TRUE);
    g_spawn_async(NULL, argv, env, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                  &pid, &error);
    g_assert_no_error(error);
    fd = open("pipe", O_WRONLY); /* a compiler opens the other end */
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(kill(pid, SIGTERM), ==, 0);
    g_child_watch_add(pid, wait_for_end, loop);
    g_main_loop_run(loop);
    assert_content("old", "old");
    assert_folder(".", names);
    assert_folder("tmp", none);
    /* nor does a compiler go on: nobody reads */
    signal(SIGPIPE, SIG_IGN);
    g_assert_cmpint(write(fd, "\n", 1), ==, -1);
    g_assert_cmpint(errno, ==, EPIPE);
    close(fd);
    g_assert_cmpint(g_chdir(".."), ==, 0);
}

/* What is not there when the device's pass wants it, in a thread of its own,
 * ends mxcc as everywhere else. */
static void test_incomplete(void)
{
    static const char *const names[] = { "ok.maca", "mxcc", "mxcc.conf", NULL };
    g_autofree char *script = NULL;
    const char *out;

    g_assert_cmpint(g_mkdir("incomplete", 0700), ==, 0);
    g_assert_cmpint(g_chdir("incomplete"), ==, 0);
    test_file("ok.maca", KERNEL);
    script = g_strdup_printf("cp %s mxcc && sed 's,^link=.*,link=./nowhere,' "
                             "%s.conf >mxcc.conf",
                             g_getenv("MXCC"), g_getenv("MXCC"));
    g_assert_cmpint(test_run(&out, "sh", "-c", script, NULL), ==, 0);
    g_assert_cmpint(test_run(&out, "./mxcc", "-c", "ok.maca", NULL), ==, 1);
    g_assert_nonnull(strstr(out, "mxcc: error: "));
    g_assert_nonnull(strstr(out, "'./nowhere'"));
    g_assert_null(strstr(out, "Traceback"));
    assert_folder(".", names);
    g_assert_cmpint(g_chdir(".."), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    test_run_begin();
    g_test_add_func("/mxcc/output/survives", test_survives);
    g_test_add_func("/mxcc/output/streams", test_streams);
    g_test_add_func("/mxcc/output/signals", test_signals);
    g_test_add_func("/mxcc/output/incomplete", test_incomplete);
    return test_run_end(g_test_run());
}
