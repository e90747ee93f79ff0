/* SPDX-License-Identifier: MIT */
/* MXGPU_LOG=api: a line for every call, when it returns. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "env.h"

static char path[] = "/tmp/mxgpu-api-log-XXXXXX";

/* What was logged since the last time, by lines. */
static char **lines(void)
{
    static gsize seen;
    char *text;
    gsize length;

    g_assert_true(g_file_get_contents(path, &text, &length, NULL));
    g_assert_cmpuint(length, >=, seen);
    char *fresh = g_strndup(text + seen, length - seen);
    seen = length;
    char **split = g_strsplit(g_strchomp(fresh), "\n", -1);
    g_free(fresh);
    g_free(text);
    return split;
}

/* One line matches, and only one. */
static void one(char **log, const char *format, ...)
{
    va_list args;
    unsigned found = 0;

    va_start(args, format);
    char *pattern = g_strdup_vprintf(format, args);
    va_end(args);
    for (char **line = log; *line; line++) {
        found += g_regex_match_simple(pattern, *line, 0, 0);
    }
    if (found != 1) {
        char *all = g_strjoinv("\n", log);

        g_error("%u lines match %s in:\n%s", found, pattern, all);
    }
    g_free(pattern);
}

#define TIME ", [0-9]+\\.[0-9] us$"

static void test_line(void)
{
    void *p = NULL;

    g_strfreev(lines());
    ok(mcMalloc(&p, 4096));
    char **log = lines();
    one(log, "^mxgpu: api: %d mcMalloc\\(%p, 4096\\) = mcSuccess" TIME,
        (int)gettid(), (void *)&p);
    g_strfreev(log);
    ok(mcFree(p));
    log = lines();
    one(log, "^mxgpu: api: %d mcFree\\(%p\\) = mcSuccess" TIME, (int)gettid(),
        p);
    g_strfreev(log);
}

/* Errors, from checks of arguments and from below; the reason stands apart. */
static void test_errors(void)
{
    int n;

    g_strfreev(lines());
    fails(mcErrorInvalidValue, mcMalloc(NULL, 64));
    fails(mcErrorInvalidDevice, mcDeviceGet(&n, 99));
    char **log = lines();
    one(log, " mcMalloc\\(.*, 64\\) = mcErrorInvalidValue" TIME);
    one(log, "^mxgpu: error: mcMalloc: ");
    one(log, " mcDeviceGet\\(%p, 99\\) = mcErrorInvalidDevice" TIME,
        (void *)&n);
    g_strfreev(log);
    g_assert_cmpint(mcPeekAtLastError(), ==, mcErrorInvalidDevice);
    g_assert_cmpint(mcGetLastError(), ==, mcErrorInvalidDevice);
    mcGetErrorName(mcErrorMemoryAllocation);
    mcGetErrorString(mcSuccess);
    log = lines();
    one(log, " mcPeekAtLastError\\(\\) = mcErrorInvalidDevice" TIME);
    one(log, " mcGetLastError\\(\\) = mcErrorInvalidDevice" TIME);
    one(log, " mcGetErrorName\\(2\\) = mcErrorMemoryAllocation" TIME);
    one(log, " mcGetErrorString\\(0\\) = .+" TIME);
    g_strfreev(log);
}

/* Not ready is an answer, and a result. */
static void test_calls(void)
{
    mcStream_t stream;
    mcEvent_t event;
    int version;

    g_strfreev(lines());
    ok(mcStreamCreateWithFlags(&stream, mcStreamNonBlocking));
    ok(mcEventCreate(&event));
    ok(mcEventRecord(event, stream));
    ok(mcStreamSynchronize(stream));
    ok(mcRuntimeGetVersion(&version));
    ok(mcThreadSynchronize());
    ok(mcEventDestroy(event));
    ok(mcStreamDestroy(stream));
    char **log = lines();
    one(log, " mcStreamCreateWithFlags\\(%p, 0x1\\) = mcSuccess" TIME,
        (void *)&stream);
    one(log, " mcEventRecord\\(%p, %p\\) = mcSuccess" TIME, (void *)event,
        (void *)stream);
    one(log, " mcStreamSynchronize\\(%p\\) = mcSuccess" TIME, (void *)stream);
    one(log, " mcRuntimeGetVersion\\(%p\\) = mcSuccess" TIME,
        (void *)&version);
    one(log, " mcDeviceSynchronize\\(\\) = mcSuccess" TIME);
    g_assert_cmpuint(g_strv_length(log), ==, 8);
    g_strfreev(log);
}

static gpointer other_thread(gpointer tid)
{
    int device;

    *(int *)tid = gettid();
    ok(mcGetDevice(&device));
    return NULL;
}

static void test_threads(void)
{
    int tid = 0;

    g_strfreev(lines());
    g_thread_join(g_thread_new("other", other_thread, &tid));
    char **log = lines();
    g_assert_cmpint(tid, !=, gettid());
    one(log, "^mxgpu: api: %d mcGetDevice\\(.*\\) = mcSuccess" TIME, tid);
    g_strfreev(log);
}

int main(int argc, char **argv)
{
    int fd = mkstemp(path);
    char *log = g_strconcat("api:", path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    g_setenv("MXGPU_LOG", log, TRUE);
    g_free(log);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/log/line", test_line);
    g_test_add_func("/log/errors", test_errors);
    g_test_add_func("/log/calls", test_calls);
    g_test_add_func("/log/threads", test_threads);
    int status = g_test_run();
    unlink(path);
    return status;
}
