/* SPDX-License-Identifier: MIT */
/* Several host threads, on their own streams and on shared ones. */
#include <pthread.h>
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/thread/threads", test_threads);
    g_test_add_func("/thread/copies", test_copies);
    g_test_add_func("/thread/devices", test_devices);
    return g_test_run();
}
