/* SPDX-License-Identifier: MIT */
/* Several host threads, on their own streams and on shared ones. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "env.h"

#define THREADS 4
#define ROUNDS  60

static mcStream_t shared_stream;
static mcFunction_t k_add;

static void *worker(void *opaque)
{
    unsigned id = GPOINTER_TO_UINT(opaque);
    int count;

    ok(mcGetDeviceCount(&count));
    for (unsigned round = 0; round < ROUNDS; round++) {
        mcStream_t s;
        mcEvent_t e;
        uint32_t *d = env_malloc(4096), n = 1024, v = id + round;
        uint32_t out[1024];
        void *args[] = {&d, &n, &v};

        switch (round % 3) {
        case 0:
            ok(mcStreamCreateWithFlags(&s, round % 2));
            break;
        case 1:
            s = shared_stream;
            break;
        default:
            s = mcStreamPerThread;
        }
        ok(mcEventCreate(&e));
        ok(mcMemsetAsync(d, 0, 4096, s));
        ok(mcModuleLaunchKernel(k_add, 16, 1, 1, 64, 1, 1, 0, s, args, NULL));
        ok(mcEventRecord(e, s));
        ok(mcEventSynchronize(e));
        ok(mcMemcpyAsync(out, d, 4096, mcMemcpyDeviceToHost, s));
        ok(mcStreamSynchronize(s));
        for (unsigned i = 0; i < 1024; i++) {
            g_assert_cmpuint(out[i], ==, v);
        }
        ok(mcEventDestroy(e));
        if (round % 3 == 0) {
            ok(mcStreamDestroy(s));
        }
        ok(mcFree(d));
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t t[THREADS];

    ok(mcStreamCreate(&shared_stream));
    k_add = env_kernel("k_add");
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_create(&t[i], NULL, worker, GUINT_TO_POINTER(i));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
    }
    ok(mcDeviceSynchronize());
    ok(mcStreamDestroy(shared_stream));
}

/* One kernel after the other, each waited for. */
static void *waiter(void *opaque)
{
    uint32_t *d = env_malloc(256), n = 64, v = 1, out[64];
    void *args[] = {&d, &n, &v};
    atomic_bool *done = opaque;

    ok(mcMemset(d, 0, 256));
    for (unsigned round = 1; round <= 400; round++) {
        ok(mcModuleLaunchKernel(k_add, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
        ok(mcMemcpy(out, d, 256, mcMemcpyDeviceToHost));
        for (unsigned i = 0; i < 64; i++) {
            g_assert_cmpuint(out[i], ==, round);
        }
    }
    ok(mcFree(d));
    atomic_store(done, true);
    return NULL;
}

static atomic_uint signals;

static void count_signal(int number)
{
    atomic_fetch_add(&signals, 1);
}

/* Threads that wait may work for a device in this process meanwhile: those of small
 * stacks, too, and signals come. */
static void test_waiting(void)
{
    static const size_t stacks[] = {96 << 10, 8 << 20};

    k_add = env_kernel("k_add");
    g_assert_true(signal(SIGUSR1, count_signal) != SIG_ERR);
    for (unsigned i = 0; i < G_N_ELEMENTS(stacks); i++) {
        atomic_bool done = false;
        unsigned before = signals;
        pthread_attr_t attr;
        pthread_t t;

        pthread_attr_init(&attr);
        g_assert_cmpint(pthread_attr_setstacksize(&attr, stacks[i]), ==, 0);
        g_assert_cmpint(pthread_create(&t, &attr, waiter, &done), ==, 0);
        while (!atomic_load(&done)) {
            pthread_kill(t, SIGUSR1);
            g_usleep(300);
        }
        pthread_join(t, NULL);
        pthread_attr_destroy(&attr);
        g_assert_cmpuint(signals, >, before);
    }
    signal(SIGUSR1, SIG_DFL);
}

/* Staging chunks are fewer than what the threads want together. */
static void *copier(void *opaque)
{
    unsigned id = GPOINTER_TO_UINT(opaque);
    size_t size = 6 << 20;
    uint8_t *in = malloc(size), *out = malloc(size), *d = env_malloc(size);
    mcStream_t s;

    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    for (unsigned round = 0; round < 4; round++) {
        env_pattern(in, size, id * 100 + round);
        ok(mcMemcpyAsync(d, in, size, mcMemcpyHostToDevice, s));
        ok(mcMemcpyAsync(out, d, size, mcMemcpyDeviceToHost, s));
        g_assert_cmpint(memcmp(in, out, size), ==, 0);
    }
    ok(mcStreamDestroy(s));
    ok(mcFree(d));
    free(in);
    free(out);
    return NULL;
}

static void test_copies(void)
{
    pthread_t t[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        pthread_create(&t[i], NULL, copier, GUINT_TO_POINTER(i));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
    }
}

static void *device_thread(void *opaque)
{
    int count, device;

    ok(mcGetDeviceCount(&count));
    ok(mcSetDevice(GPOINTER_TO_UINT(opaque) % count));
    for (unsigned i = 0; i < 50; i++) {
        uint32_t *d = env_malloc(1 << i % 20), out;

        ok(mcMemset(d, i, 1));
        out = 0;
        ok(mcMemcpy(&out, d, 1, mcMemcpyDeviceToHost));
        g_assert_cmpuint(out, ==, i);
        ok(mcGetDevice(&device));
        g_assert_cmpint(device, ==, GPOINTER_TO_INT(opaque) % count);
        ok(mcFree(d));
    }
    return NULL;
}

static void test_devices(void)
{
    pthread_t t[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        pthread_create(&t[i], NULL, device_thread, GUINT_TO_POINTER(i));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
    }
}

/* ---- every family of calls against resets ---- */

#define RESETS 25

static int resets_left;

/* The device may be reset between any two calls, and under each of them. A
 * handle of before may be another thread's object by now: also a kernel whose
 * module that thread unloads. */
static bool gone_well(mcError_t error)
{
    switch ((int)error) {
    case mcSuccess:
    case mcErrorNotReady:
    case mcErrorContextIsDestroyed:
    case mcErrorInvalidHandle:
    case mcErrorInvalidResourceHandle:
    case mcErrorInvalidValue:
    case mcErrorInvalidDevicePointer:
    case mcErrorNotFound:
    case mcErrorHostMemoryNotRegistered:
    case mcErrorLaunchFailure:
    case mcErrorIllegalAddress:
        return true;
    default:
        g_error("%s under a reset", mcGetErrorName(error));
    }
}

#define any(call) gone_well(call)

static void use_events(mcEvent_t e, mcEvent_t f, mcStream_t s)
{
    float ms;

    any(mcEventRecord(e, NULL));
    any(mcEventRecordWithFlags(f, NULL, 0));
    any(mcEventRecord(f, mcStreamPerThread));
    any(mcStreamWaitEvent(NULL, e, 0));
    any(mcStreamWaitEvent(s, f, 0));
    any(mcEventQuery(e));
    any(mcEventSynchronize(f));
    any(mcEventElapsedTime(&ms, e, f));
}

static void nothing(void *data)
{
}

static void use_streams(mcStream_t s)
{
    unsigned flags;
    int priority;

    any(mcLaunchHostFunc(s, nothing, NULL));
    any(mcLaunchHostFunc(NULL, nothing, NULL));
    any(mcStreamGetFlags(s, &flags));
    any(mcStreamGetPriority(NULL, &priority));
    any(mcStreamQuery(s));
    any(mcStreamQuery(NULL));
    any(mcStreamSynchronize(s));
    any(mcStreamSynchronize(mcStreamPerThread));
}

static void use_memory(void)
{
    static __thread uint8_t own[8192];
    void *p = NULL, *h = NULL;
    uint8_t out[64];
    size_t n, total;

    any(mcHostRegister(own, sizeof(own), 0));
    any(mcMallocHost(&h, 5000, 0));
    any(mcMalloc(&p, 5000));
    if (p) {
        any(mcMemset(p, 1, 5000));
        any(mcMemcpy(out, p, 64, mcMemcpyDeviceToHost));
        any(mcMemcpyAsync(p, out, 64, mcMemcpyHostToDevice, NULL));
        any(mcMemcpy2D(out, 8, p, 64, 8, 4, mcMemcpyDeviceToHost));
        any(mcFree(p));
    }
    any(mcMemGetInfo(&n, &total));
    any(mcHostUnregister(own));
    if (h) {
        ok(mcFreeHost(h)); /* it outlives contexts */
    }
}

static void use_modules(mcStream_t s)
{
    uint64_t zero[8] = {0};
    void *params[] = {zero, zero, zero, zero};
    mcModule_t m = NULL;
    mcFunction_t f = NULL;
    mcDeviceptr_t address;
    size_t size;
    int value;

    any(mcModuleLoadData(&m, env_image));
    if (!m) {
        return;
    }
    any(mcModuleGetFunction(&f, m, "k_empty"));
    any(mcModuleGetGlobal(&address, &size, m, "table"));
    if (f) {
        any(mcFuncGetAttribute(&value, MC_FUNC_ATTRIBUTE_NUM_REGS, f));
        any(mcModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
        any(mcModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, params, NULL));
    }
    any(mcModuleUnload(m));
}

static void use_device(void)
{
    mcDeviceProp_t p;
    size_t value;
    int number;

    any(mcGetDeviceProperties(&p, 0));
    any(mcDeviceGetAttribute(&number, mcDevAttrWarpSize, 0));
    any(mcDeviceGetLimit(&value, mcLimitStackSize));
    any(mcDeviceGetStreamPriorityRange(&number, NULL));
    any(mcDeviceSynchronize());
}

static void *user(void *opaque)
{
    int count;

    ok(mcGetDeviceCount(&count));
    while (__atomic_load_n(&resets_left, __ATOMIC_RELAXED) > 0) {
        mcStream_t s = NULL;
        mcEvent_t e = NULL, f = NULL;

        /* Objects of one device, the default stream of another. */
        ok(mcSetDevice(0));
        any(mcStreamCreate(&s));
        any(mcEventCreate(&e));
        any(mcEventCreateWithFlags(&f, mcEventBlockingSync));
        ok(mcSetDevice(GPOINTER_TO_UINT(opaque) % count));
        if (e && f) {
            use_events(e, f, s);
        }
        if (s) {
            use_streams(s);
        }
        use_memory();
        use_modules(s);
        use_device();
        ok(mcSetDevice(0));
        if (e) {
            any(mcEventDestroy(e));
        }
        if (f) {
            any(mcEventDestroy(f));
        }
        if (s) {
            any(mcStreamDestroy(s));
        }
    }
    return NULL;
}

static void test_resets(void)
{
    pthread_t t[2 * THREADS];
    int count;

    ok(mcGetDeviceCount(&count));
    resets_left = RESETS;
    for (unsigned i = 0; i < G_N_ELEMENTS(t); i++) {
        pthread_create(&t[i], NULL, user, GUINT_TO_POINTER(i));
    }
    for (int i = 0; i < RESETS; i++) {
        ok(mcSetDevice(i % count));
        any(mcDeviceSynchronize());
        ok(mcDeviceReset());
        __atomic_fetch_sub(&resets_left, 1, __ATOMIC_RELAXED);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(t); i++) {
        pthread_join(t[i], NULL);
    }
    ok(mcSetDevice(0));
    ok(mcDeviceReset());
    env_forget();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/thread/threads", test_threads);
    g_test_add_func("/thread/waiting", test_waiting);
    g_test_add_func("/thread/copies", test_copies);
    g_test_add_func("/thread/devices", test_devices);
    g_test_add_func("/thread/resets", test_resets);
    return g_test_run();
}
