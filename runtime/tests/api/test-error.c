/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env.h"

static void test_names(void)
{
    g_assert_cmpstr(mcGetErrorName(mcSuccess), ==, "mcSuccess");
    g_assert_cmpstr(mcGetErrorName(mcErrorIllegalAddress), ==,
                    "mcErrorIllegalAddress");
    g_assert_cmpstr(mcGetErrorName((mcError_t)10032), ==,
                    "mcErrorKernelExecTimeout");
    g_assert_cmpstr(mcGetErrorString((mcError_t)12345), ==,
                    "unrecoginzed error code");
    g_assert_cmpstr(mcGetErrorName((mcError_t)-1), ==,
                    "unrecoginzed error code");
    g_assert_cmpstr(mcGetErrorString(mcErrorNoDevice), !=,
                    "unrecoginzed error code");
}

static void test_last(void)
{
    mcGetLastError();
    ok(mcGetLastError());
    fails(mcErrorInvalidValue, mcMalloc(NULL, 1));
    fails(mcErrorInvalidValue, mcPeekAtLastError());
    fails(mcErrorInvalidDevice, mcSetDevice(-1));
    fails(mcErrorInvalidDevice, mcGetLastError());
    ok(mcGetLastError());
}

static void *other_thread(void *opaque)
{
    ok(mcGetLastError());
    fails(mcErrorInvalidDevice, mcSetDevice(999));
    return NULL;
}

static void test_last_is_per_thread(void)
{
    pthread_t t;

    fails(mcErrorInvalidValue, mcMalloc(NULL, 1));
    pthread_create(&t, NULL, other_thread, NULL);
    pthread_join(t, NULL);
    fails(mcErrorInvalidValue, mcGetLastError());
}

/* The device works again, with nothing left. */
static void reset(void)
{
    ok(mcDeviceReset());
    env_forget();
    ok(mcGetLastError());
    uint32_t *d = env_malloc(256), out;
    ok(mcMemset(d, 4, 256));
    ok(mcMemcpy(&out, d, 4, mcMemcpyDeviceToHost));
    g_assert_cmpuint(out, ==, 0x04040404);
    ok(mcFree(d));
    ok(env_launch("k_empty", 64, NULL, NULL));
    ok(mcDeviceSynchronize());
}

/* A kernel that fails: every call says so until the reset. */
static void sticky(mcError_t error, const char *kernel, void *pointer)
{
    mcStream_t s;
    mcEvent_t e;
    void *p;
    uint32_t *d = env_malloc(256);

    ok(mcStreamCreate(&s));
    ok(mcEventCreate(&e));
    ok(env_launch(kernel, 1, pointer, s));
    fails(error, mcStreamSynchronize(s));
    fails(error, mcDeviceSynchronize());
    fails(error, mcMalloc(&p, 100));
    fails(error, mcMemset(d, 0, 4));
    fails(error, mcStreamQuery(NULL));
    fails(error, mcEventRecord(e, s));
    fails(error, mcGetLastError());
    fails(error, mcGetLastError()); /* not cleared */
    fails(error, mcPeekAtLastError());
    reset();
    /* what there was is gone */
    fails(mcErrorInvalidResourceHandle, mcStreamSynchronize(s));
    fails(mcErrorInvalidHandle, mcEventQuery(e));
    fails(mcErrorInvalidDevicePointer, mcFree(d));
}

static void test_illegal_address(void)
{
    sticky(mcErrorIllegalAddress, "k_store", NULL);
    sticky(mcErrorIllegalAddress, "k_store", (void *)0x123456789000);
    sticky(mcErrorIllegalAddress, "k_atomic", (void *)64);
}

/* Just behind an allocation, and what was freed. */
static void test_out_of_bounds(void)
{
    char *d = env_malloc(4 << 20);

    sticky(mcErrorIllegalAddress, "k_store", d + (4 << 20));
    d = env_malloc((2 << 20) + 1); /* a chunk behind the large page */
    sticky(mcErrorIllegalAddress, "k_store", d + (4 << 20));
    d = env_malloc(4 << 20);
    ok(mcFree(d));
    sticky(mcErrorIllegalAddress, "k_store", d);
}

static void test_misaligned(void)
{
    char *d = env_malloc(64);

    sticky(mcErrorMisalignedAddress, "k_atomic", d + 4);
}

/* The host's own memory, and read-only memory of a module. */
static void test_not_for_the_device(void)
{
    static uint64_t host;
    mcModule_t m;
    mcDeviceptr_t limits;

    if (!env_driver()) { /* there it is reached */
        sticky(mcErrorIllegalAddress, "k_store", &host);
    }
    ok(mcModuleLoadData(&m, env_image));
    ok(mcModuleGetGlobal(&limits, NULL, m, "limits"));
    sticky(mcErrorIllegalAddress, "k_store", limits);
}

static void test_illegal_instruction(void)
{
    sticky(mcErrorIllegalInstruction, "k_illegal", NULL);
}

static void test_trap(void)
{
    sticky(mcErrorLaunchFailure, "k_trap", NULL);
}

static void test_bad_jump(void)
{
    sticky(mcErrorInvalidPc, "k_call", NULL);
    sticky(mcErrorInvalidPc, "k_call", env_malloc(4096)); /* not executable */
}

/* A stream that waits for the failed one fails too, at once. */
static void test_error_reaches_waiters(void)
{
    mcStream_t s, t;
    mcEvent_t e;

    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    ok(mcStreamCreateWithFlags(&t, mcStreamNonBlocking));
    ok(mcEventCreate(&e));
    uint64_t *gate = env_malloc_host(8);
    *gate = 0;
    ok(mcStreamWaitValue64(s, gate, 1, MC_STREAM_WAIT_VALUE_EQ));
    ok(env_launch("k_store", 1, NULL, s));
    ok(mcEventRecord(e, s));
    ok(mcStreamWaitEvent(t, e, 0));
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    fails(mcErrorIllegalAddress, mcStreamSynchronize(t));
    fails(mcErrorIllegalAddress, mcEventSynchronize(e));
    reset();
    ok(mcFreeHost(gate)); /* pinned memory outlives the reset */
}

static mcError_t callback_status;

static void callback(mcStream_t stream, mcError_t status, void *data)
{
    __atomic_store_n(&callback_status, status, __ATOMIC_RELEASE);
}

static void never(void *data)
{
    g_error("called after an error");
}

static void test_callbacks_after_error(void)
{
    mcStream_t s;

    __atomic_store_n(&callback_status, mcSuccess, __ATOMIC_RELEASE);
    ok(mcStreamCreate(&s));
    uint64_t *gate = env_malloc_host(8);
    *gate = 0;
    ok(mcStreamWaitValue64(s, gate, 1, MC_STREAM_WAIT_VALUE_EQ));
    ok(env_launch("k_trap", 1, NULL, s));
    ok(mcLaunchHostFunc(s, never, NULL));
    ok(mcStreamAddCallback(s, callback, NULL, 0));
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    fails(mcErrorLaunchFailure, mcStreamSynchronize(s));
    reset();
    g_assert_cmpint(__atomic_load_n(&callback_status, __ATOMIC_ACQUIRE), ==, mcErrorLaunchFailure);
    ok(mcFreeHost(gate));
}

/* An endless kernel ends with the reset; functions behind it are not called. */
static void test_reset_ends_work(void)
{
    uint64_t *flag = env_malloc_host(8);

    *flag = 0;
    ok(env_launch("k_spin", 1, flag, NULL));
    ok(mcLaunchHostFunc(NULL, never, NULL));
    usleep(20000);
    fails(mcErrorNotReady, mcStreamQuery(NULL));
    reset();
    ok(mcFreeHost(flag));
}

typedef struct Waiter {
    sem_t begins;
    mcError_t error;
} Waiter;

static void *waiter(void *opaque)
{
    Waiter *w = opaque;

    sem_post(&w->begins);
    w->error = mcDeviceSynchronize();
    return NULL;
}

/* What a wait says that is under way when the device is reset, this long after
 * its thread came to the call; success when it only began behind the reset. */
static mcError_t wait_and_reset(unsigned pause_us)
{
    uint64_t *flag = env_malloc_host(8);
    Waiter w;
    pthread_t t;

    *flag = 0;
    ok(env_launch("k_spin", 1, flag, NULL));
    g_assert_cmpint(sem_init(&w.begins, 0, 0), ==, 0);
    g_assert_cmpint(pthread_create(&t, NULL, waiter, &w), ==, 0);
    while (sem_wait(&w.begins)) {
    }
    usleep(pause_us);
    ok(mcDeviceReset());
    g_assert_cmpint(pthread_join(t, NULL), ==, 0);
    sem_destroy(&w.begins);
    reset();
    ok(mcFreeHost(flag));
    return w.error;
}

/* A thread that did not come into the call in time gets twice the time. */
static void test_reset_ends_waits(void)
{
    unsigned pause_us = 1000;
    mcError_t error = wait_and_reset(pause_us);

    while (error == mcSuccess) {
        pause_us *= 2;
        error = wait_and_reset(pause_us);
    }
    g_assert_cmpint(error, ==, mcErrorContextIsDestroyed);
}

/* ---- the end of the process ---- */

/* Runs this test again as a program of its own, which must end in time. A PCI
 * function has one process at a time: ours lets go of it. */
static void in_child(bool passes)
{
    ok(mcDeviceReset());
    env_forget();
    g_test_trap_subprocess(NULL, 300 * G_TIME_SPAN_SECOND, 0);
    g_assert_false(g_test_trap_reached_timeout());
    if (passes) {
        g_test_trap_assert_passed();
    } else {
        g_test_trap_assert_failed();
    }
}

static void work_in_flight(void)
{
    uint64_t *flag = env_malloc_host(8);

    *flag = 0;
    ok(env_launch("k_spin", 1, flag, NULL));
}

static void test_exit_in_flight(void)
{
    if (g_test_subprocess()) {
        work_in_flight();
        exit(0);
    }
    in_child(true);
}

static void test_interrupt(void)
{
    if (g_test_subprocess()) {
        signal(SIGINT, SIG_DFL);
        work_in_flight();
        raise(SIGINT);
        pause();
    }
    in_child(false);
}

static void *stuck(void *opaque)
{
    mcDeviceSynchronize();
    return NULL;
}

static void test_exit_with_waiter(void)
{
    if (g_test_subprocess()) {
        pthread_t t;

        work_in_flight();
        pthread_create(&t, NULL, stuck, NULL);
        pthread_detach(t);
        usleep(50000);
        exit(0);
    }
    in_child(true);
}

static void sleeps_for_ever(void *began)
{
    __atomic_store_n((int *)began, 1, __ATOMIC_RELEASE);
    for (;;) {
        pause();
    }
}

static void exits(void *unused)
{
    exit(0);
}

static void test_exit_in_function(void)
{
    if (g_test_subprocess()) {
        static int began;
        mcStream_t s;

        ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
        ok(mcLaunchHostFunc(s, sleeps_for_ever, &began));
        ok(mcLaunchHostFunc(s, never, NULL));
        while (!__atomic_load_n(&began, __ATOMIC_ACQUIRE)) {
            usleep(1000);
        }
        work_in_flight();
        exit(0);
    }
    in_child(true);
}

static void test_exit_by_function(void)
{
    if (g_test_subprocess()) {
        ok(mcLaunchHostFunc(NULL, exits, NULL));
        for (;;) {
            pause();
        }
    }
    in_child(true);
}

static void late(void)
{
    void *p;

    ok(mcMalloc(&p, 10)); /* handlers of the program may use devices */
}

static void test_atexit(void)
{
    if (g_test_subprocess()) {
        atexit(late);
        work_in_flight();
        exit(0);
    }
    in_child(true);
}

static void test_fork(void)
{
    void *p = env_malloc(10);
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        void *q;
        _exit(mcMalloc(&q, 10) == mcErrorInitializationError ? 0 : 1);
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
    ok(mcMemset(p, 0, 10));
    ok(mcFree(p));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/error/names", test_names);
    g_test_add_func("/error/last", test_last);
    g_test_add_func("/error/last-is-per-thread", test_last_is_per_thread);
    g_test_add_func("/error/illegal-address", test_illegal_address);
    g_test_add_func("/error/out-of-bounds", test_out_of_bounds);
    g_test_add_func("/error/misaligned", test_misaligned);
    g_test_add_func("/error/not-for-the-device", test_not_for_the_device);
    g_test_add_func("/error/illegal-instruction", test_illegal_instruction);
    g_test_add_func("/error/trap", test_trap);
    g_test_add_func("/error/bad-jump", test_bad_jump);
    g_test_add_func("/error/waiters", test_error_reaches_waiters);
    g_test_add_func("/error/callbacks", test_callbacks_after_error);
    g_test_add_func("/reset/ends-work", test_reset_ends_work);
    g_test_add_func("/reset/ends-waits", test_reset_ends_waits);
    g_test_add_func("/exit/in-flight", test_exit_in_flight);
    g_test_add_func("/exit/interrupt", test_interrupt);
    g_test_add_func("/exit/waiter", test_exit_with_waiter);
    g_test_add_func("/exit/in-function", test_exit_in_function);
    g_test_add_func("/exit/by-function", test_exit_by_function);
    g_test_add_func("/exit/atexit", test_atexit);
    g_test_add_func("/exit/fork", test_fork);
    return g_test_run();
}
