/* SPDX-License-Identifier: MIT */
/* Children of a process that uses devices: every call says that they cannot,
 * and nothing waits for what only the parent has. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env.h"

/* All calls that return an error, to be made with zeros: a child is refused
 * before a call looks at its arguments. */
typedef mcError_t (*Call)(void *, void *, void *, void *, void *, void *,
                          void *, void *, void *, void *, void *, void *);
typedef struct Entry {
    const char *name, *result;
    void (*call)(void);
} Entry;

static const Entry entries[] = {
#define MC_SECTION(title)
#define MC_API(status, result, name, parameters, text)                         \
    {#name, #result, (void (*)(void))name},
#include "api.def"
#undef MC_API
};

/* Those that need no device. */
static bool is_free(const char *name)
{
    static const char *const names[] = {
        "mcGetLastError", "mcPeekAtLastError", "mcRuntimeGetVersion",
        "mcDriverGetVersion", "mcDrvGetErrorName", "mcDrvGetErrorString",
        "mcGetProcAddress", "mcGetDriverEntryPoint",
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        if (!strcmp(names[i], name)) {
            return true;
        }
    }
    return false;
}

/* Not g_assert: its output may wait for a lock of the parent's. */
#define demand(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            static const char text[] = "fork: failed: " #condition "\n";       \
            ssize_t n_ = write(STDERR_FILENO, text, sizeof(text) - 1);         \
            _exit(n_ > 0 ? 1 : 2);                                             \
        }                                                                      \
    } while (0)

static void every_call(void)
{
    unsigned calls = 0;

    for (unsigned i = 0; i < G_N_ELEMENTS(entries); i++) {
        const Entry *e = &entries[i];

        if (strcmp(e->result, "mcError_t") || is_free(e->name)) {
            continue;
        }
        mcError_t error = ((Call)e->call)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        if (error != mcErrorInitializationError) {
            dprintf(STDERR_FILENO, "fork: %s: %d\n", e->name, (int)error);
            _exit(1);
        }
        calls++;
    }
    demand(calls > 150);
}

static void *ask(void *opaque)
{
    int count = 0;

    demand(mcGetDeviceCount(&count) == mcErrorInitializationError);
    demand(mcGetLastError() == mcErrorInitializationError);
    return opaque;
}

/* What a child does. The test ends it when it hangs. */
static void child(void)
{
    pthread_t thread;
    int version = 0;

    every_call();
    demand(mcGetLastError() == mcErrorInitializationError);
    demand(mcGetLastError() == mcSuccess);
    demand(mcRuntimeGetVersion(&version) == mcSuccess && version);
    demand(mcGetErrorName(mcErrorInitializationError));
    demand(!pthread_create(&thread, NULL, ask, NULL));
    demand(!pthread_join(thread, NULL));
}

/* Ends by itself, and is not killed because it took too long. */
static void expect_end(pid_t pid)
{
    int status;

    g_assert_cmpint(pid, >, 0);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 0);
}

static bool in_child;

/* LeakSanitizer asks. What the parent's other threads have is no leak of a
 * child's, which has not got these threads. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return in_child;
}

/* ---- children that can allocate ---- */

/* A child in which a lock of the allocator was held by a thread that it has not
 * got can do nothing. The C library's fork() sees to that; AddressSanitizer's
 * allocator does not know of fork. */
#define PROBE_ENDED 77

static void probe_ended(int signal)
{
    _exit(PROBE_ENDED);
}

/* Takes all of its locks: those of each size, from a thread that has nothing
 * kept yet, those of large blocks, and those of what is freed. */
static void *probe(void *opaque)
{
    void *p[64];
    unsigned n = 0;

    for (size_t size = 8; size <= 4u << 20; size += size / 4 + 8) {
        p[n++] = malloc(size);
    }
    while (n) {
        free(p[--n]);
    }
    return opaque;
}

static void probe_allocator(void)
{
    pthread_t thread;

    signal(SIGALRM, probe_ended);
    alarm(5);
    demand(!pthread_create(&thread, NULL, probe, NULL));
    demand(!pthread_join(thread, NULL));
    probe(NULL);
    signal(SIGALRM, SIG_DFL);
}

/* The first one, of as many as it takes, whose allocator works. */
static pid_t fork_child(void)
{
    for (;;) {
        int pipes[2], status;
        char ready;

        g_assert_cmpint(pipe(pipes), ==, 0);
        pid_t pid = fork();
        if (pid == 0) {
            in_child = true;
            probe_allocator();
            demand(write(pipes[1], "", 1) == 1);
            close(pipes[0]);
            close(pipes[1]);
            alarm(50);
            return 0;
        }
        close(pipes[1]);
        bool works = read(pipes[0], &ready, 1) == 1;
        close(pipes[0]);
        if (works || pid < 0) {
            return pid;
        }
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
        g_assert_true(WIFEXITED(status));
        g_assert_cmpint(WEXITSTATUS(status), ==, PROBE_ENDED);
    }
}

static void test_every_call(void)
{
    uint8_t *p = env_malloc(64);

    pid_t pid = fork_child();
    if (pid == 0) {
        child();
        _exit(0);
    }
    expect_end(pid);
    ok(mcMemset(p, 1, 64)); /* the parent goes on */
    ok(mcFree(p));
}

/* A thread that has a stream of its own and contexts ends in the child. */
static void *fork_and_end(void *opaque)
{
    pid_t *pid = opaque;
    uint8_t *p = env_malloc(64);
    mcCtx_t ctx;

    ok(mcDevicePrimaryCtxRetain(&ctx, 0));
    ok(mcCtxPushCurrent(ctx));
    ok(mcMemsetAsync(p, 1, 64, mcStreamPerThread));
    *pid = fork_child();
    if (*pid == 0) {
        child();
        return NULL; /* the last thread: the process ends */
    }
    ok(mcStreamSynchronize(mcStreamPerThread));
    ok(mcFree(p));
    ok(mcCtxPopCurrent(&ctx));
    ok(mcDevicePrimaryCtxRelease(0));
    return NULL;
}

static void test_thread(void)
{
    pthread_t thread;
    pid_t pid;

    g_assert_cmpint(pthread_create(&thread, NULL, fork_and_end, &pid), ==, 0);
    g_assert_cmpint(pthread_join(thread, NULL), ==, 0);
    expect_end(pid);
}

static gint stop;

static gpointer work(gpointer opaque)
{
    while (!g_atomic_int_get(&stop)) {
        uint32_t *p = env_malloc(4096), *q, word = 0;
        mcStream_t s;

        ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
        ok(mcMallocAsync((void **)&q, 100000, s));
        ok(mcMemsetAsync(q, 7, 100000, s));
        ok(mcMemcpyAsync(&word, q, 4, mcMemcpyDeviceToHost, s));
        ok(mcFreeAsync(q, s));
        ok(mcStreamSynchronize(s));
        ok(mcStreamDestroy(s));
        ok(mcFree(p));
    }
    return opaque;
}

/* Whatever other threads hold at the moment: 30 moments. */
static void test_busy(void)
{
    GThread *threads[3];

    ok(mcFree(NULL)); /* there is a device open before the first child */
    g_atomic_int_set(&stop, 0);
    for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++) {
        threads[i] = g_thread_new(NULL, work, NULL);
    }
    for (unsigned i = 0; i < 30; i++) {
        pid_t pid = fork_child();

        if (pid == 0) {
            int count;

            demand(mcGetDeviceCount(&count) == mcErrorInitializationError);
            demand(mcDeviceReset() == mcErrorInitializationError);
            quick_exit(0);
        }
        expect_end(pid);
    }
    g_atomic_int_set(&stop, 1);
    for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++) {
        g_thread_join(threads[i]);
    }
}

static gpointer open_and_close(gpointer opaque)
{
    while (!g_atomic_int_get(&stop)) {
        mcError_t error = mcFree(NULL);

        if (error != mcErrorDevicesUnavailable) { /* a child has its file */
            ok(error);
        }
        ok(mcDeviceReset());
    }
    return opaque;
}

/* While the parent opens a device the child is refused, too; while there is
 * none open, it may use one of its own, or be told why not. */
static void test_opening(void)
{
    g_atomic_int_set(&stop, 0);
    GThread *thread = g_thread_new(NULL, open_and_close, NULL);
    for (unsigned i = 0; i < 30; i++) {
        pid_t pid = fork_child();

        if (pid == 0) {
            int count;
            mcError_t error = mcGetDeviceCount(&count);

            demand(error == mcSuccess || error == mcErrorInitializationError);
            demand(mcGetDeviceCount(&count) == error);
            _exit(0);
        }
        expect_end(pid);
    }
    g_atomic_int_set(&stop, 1);
    g_thread_join(thread);
    env_forget();
}

/* A child may use devices when its parent has none open. */
static void test_before(void)
{
    int count = 0;

    ok(mcGetDeviceCount(&count));
    for (int i = 0; i < count; i++) {
        ok(mcSetDevice(i));
        ok(mcDeviceReset());
    }
    ok(mcSetDevice(0));
    env_forget();
    pid_t pid = fork_child();
    if (pid == 0) {
        uint8_t byte = 0;
        void *p = NULL;

        demand(mcMalloc(&p, 64) == mcSuccess);
        demand(mcMemset(p, 5, 64) == mcSuccess);
        demand(mcMemcpy(&byte, p, 1, mcMemcpyDeviceToHost) == mcSuccess);
        demand(byte == 5);
        demand(mcDeviceReset() == mcSuccess);
        _exit(0);
    }
    expect_end(pid);
    void *p = env_malloc(64);
    ok(mcFree(p));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fork/before", test_before);
    g_test_add_func("/fork/every-call", test_every_call);
    g_test_add_func("/fork/thread", test_thread);
    g_test_add_func("/fork/busy", test_busy);
    g_test_add_func("/fork/opening", test_opening);
    return g_test_run();
}
