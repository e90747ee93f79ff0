/* SPDX-License-Identifier: MIT */
/*
 * What a stream of NULL means, and the stream of copies and sets that name
 * none: the legacy default stream, or where test-per-thread.c includes this,
 * that of the calling thread. Other streams that are held up tell them apart:
 * the legacy one waits for them.
 */
#include <stdlib.h>

#include "env.h"

#ifdef MACA_API_PER_THREAD_DEFAULT_STREAM
#define PER_THREAD true
#define DEFAULT_STREAM mcStreamPerThread
#else
#define PER_THREAD false
#define DEFAULT_STREAM mcStreamLegacy
#endif

enum { SIZE = 4096, ROW = 64 };

/* A stream that is ordered with the legacy one and has not got on. */
static mcStream_t held;
static uint64_t *gate;

static void hold(void)
{
    ok(mcStreamCreate(&held));
    gate = env_malloc_host(8);
    *gate = 0;
    ok(mcStreamWaitValue64(held, gate, 1, MC_STREAM_WAIT_VALUE_GEQ));
}

static void let_go(void)
{
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    ok(mcDeviceSynchronize());
    ok(mcStreamDestroy(held));
    ok(mcFreeHost(gate));
}

/* Work in the default stream, by whatever call, while another stream is held
 * up: with a stream of the thread's own it gets done, else it does not. */
static void expect_free(void)
{
    if (PER_THREAD) {
        ok(mcStreamSynchronize(NULL));
    } else {
        fails(mcErrorNotReady, mcStreamQuery(NULL));
    }
    fails(mcErrorNotReady, mcStreamQuery(held));
}

static void test_same(void)
{
    unsigned long long null_id, default_id;

    ok(mcStreamGetId(NULL, &null_id));
    ok(mcStreamGetId(DEFAULT_STREAM, &default_id));
    g_assert_cmpuint(null_id, ==, default_id);
    fails(mcErrorInvalidResourceHandle, mcStreamDestroy(NULL));
    fails(mcErrorInvalidResourceHandle, mcStreamQuery((mcStream_t)0x77));
}

static void *other_id(void *id)
{
    ok(mcStreamGetId(NULL, id));
    return NULL;
}

/* Each thread has its own, or all have one. */
static void test_threads(void)
{
    unsigned long long mine, other;

    ok(mcStreamGetId(NULL, &mine));
    g_thread_join(g_thread_new("other", other_id, &other));
    g_assert_cmpint(mine != other, ==, PER_THREAD);
}

static void test_launches(void)
{
    uint32_t *d = env_malloc(SIZE), count = 1, value = 1;
    void *args[] = {&d, &count, &value};
    const dim3 one = {1, 1, 1};
    const void *symbol = env_symbol("k_add");
    mcFunction_t f = env_kernel("k_add");
    mcLaunchConfig_t config = {.gridDim = one, .blockDim = one};
    mcLaunchConfigExtension wide = {1, 1, 1, 1, 1, 1, 0, NULL, NULL, 0};

    ok(mcMemset(d, 0, SIZE));
    ok(mcLaunchKernel(symbol, one, one, args, 0, NULL)); /* loads it */
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < 6; i++) {
        hold();
        switch (i) {
        case 0:
            ok(mcLaunchKernel(symbol, one, one, args, 0, NULL));
            break;
        case 1:
            ok(mcModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
            break;
        case 2:
            ok(mcLaunchCooperativeKernel(symbol, one, one, args, 0, NULL));
            break;
        case 3:
            ok(mcModuleLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL,
                                               args));
            break;
        case 4:
            ok(mcLaunchKernelExC(&config, symbol, args));
            break;
        case 5:
            ok(mcModuleLaunchKernelEx(&wide, f, args, NULL));
            break;
        }
        expect_free();
        let_go();
        uint32_t out;
        ok(mcMemcpy(&out, d, 4, mcMemcpyDeviceToHost));
        g_assert_cmpuint(out, ==, i + 2);
    }
    ok(mcFree(d));
}

/* Those that do not wait for device memory: each is done, or held up. */
static void test_sets(void)
{
    uint8_t *d = env_malloc(SIZE);
    mcPitchedPtr box = {d, ROW, ROW, 8};
    const mcExtent extent = {ROW, 8, 2};

    for (unsigned i = 0; i < 16; i++) {
        hold();
        switch (i) {
        case 0: ok(mcMemset(d, 1, SIZE)); break;
        case 1: ok(mcMemsetAsync(d, 2, SIZE, NULL)); break;
        case 2: ok(mcMemset2D(d, ROW, 3, 32, 8)); break;
        case 3: ok(mcMemset2DAsync(d, ROW, 4, 32, 8, NULL)); break;
        case 4: ok(mcMemset3D(box, 5, extent)); break;
        case 5: ok(mcMemset3DAsync(box, 6, extent, NULL)); break;
        case 6: ok(mcMemsetD8(d, 7, SIZE)); break;
        case 7: ok(mcMemsetD8Async(d, 8, SIZE, NULL)); break;
        case 8: ok(mcMemsetD16(d, 0x909, SIZE / 2)); break;
        case 9: ok(mcMemsetD16Async(d, 0xa0a, SIZE / 2, NULL)); break;
        case 10: ok(mcMemsetD32(d, 0x0b0b0b0b, SIZE / 4)); break;
        case 11: ok(mcMemsetD32Async(d, 0x0c0c0c0c, SIZE / 4, NULL)); break;
        case 12: ok(mcMemsetD2D8(d, ROW, 13, 8, 2)); break;
        case 13: ok(mcMemsetD2D16(d, ROW, 0x0e0e, 8, 2)); break;
        case 14: ok(mcMemsetD2D32(d, ROW, 0x0f0f0f0f, 8, 2)); break;
        case 15: ok(mcMemsetD2D32Async(d, ROW, 0x10101010, 8, 2, NULL)); break;
        }
        expect_free();
        let_go();
        uint8_t out;
        ok(mcMemcpy(&out, d, 1, mcMemcpyDeviceToHost));
        g_assert_cmpuint(out, ==, i + 1);
    }
    ok(mcFree(d));
}

static void test_copies(void)
{
    uint8_t *a = env_malloc(SIZE), *b = env_malloc(SIZE);
    mcMemcpy3DParms box = {
        .srcPtr = {a, ROW, ROW, 8},
        .dstPtr = {b, ROW, ROW, 8},
        .extent = {32, 8, 2},
        .kind = mcMemcpyDeviceToDevice,
    };

    for (unsigned i = 0; i < 10; i++) {
        ok(mcMemset(a, i + 1, SIZE));
        ok(mcDeviceSynchronize());
        hold();
        switch (i) {
        case 0: ok(mcMemcpy(b, a, SIZE, mcMemcpyDefault)); break;
        case 1: ok(mcMemcpyAsync(b, a, SIZE, mcMemcpyDefault, NULL)); break;
        case 2: ok(mcMemcpyDtoD(b, a, SIZE)); break;
        case 3: ok(mcMemcpyDtoDAsync(b, a, SIZE, NULL)); break;
        case 4:
            ok(mcMemcpy2D(b, ROW, a, ROW, 32, 4, mcMemcpyDeviceToDevice));
            break;
        case 5:
            ok(mcMemcpy2DAsync(b, ROW, a, ROW, 32, 4, mcMemcpyDeviceToDevice,
                               NULL));
            break;
        case 6: ok(mcMemcpy3D(&box)); break;
        case 7: ok(mcMemcpy3DAsync(&box, NULL)); break;
        case 8: ok(mcMemcpyPeer(b, 0, a, 0, SIZE)); break;
        case 9: ok(mcMemcpyPeerAsync(b, 0, a, 0, SIZE, NULL)); break;
        }
        expect_free();
        let_go();
        uint8_t out;
        ok(mcMemcpy(&out, b, 1, mcMemcpyDeviceToHost));
        g_assert_cmpuint(out, ==, i + 1);
    }
    ok(mcFree(a));
    ok(mcFree(b));
}

/* Copies to the host wait for the default stream. With a stream of the
 * thread's own they return though another stream is held up. */
static void test_waiting_copies(void)
{
    uint32_t *d = env_malloc(SIZE), out = 0, *pinned = env_malloc_host(4);

    ok(mcMemset(d, 0x11, SIZE));
    ok(mcDeviceSynchronize());
    if (PER_THREAD) {
        hold();
        ok(mcMemcpy(&out, d, 4, mcMemcpyDeviceToHost));
        g_assert_cmpuint(out, ==, 0x11111111);
        ok(mcMemcpy(pinned, d, 4, mcMemcpyDeviceToHost));
        g_assert_cmpuint(*pinned, ==, 0x11111111);
        out = 0;
        ok(mcMemcpyDtoH(&out, d, 4));
        g_assert_cmpuint(out, ==, 0x11111111);
        *pinned = 0x22222222;
        ok(mcMemcpyHtoD(d, pinned, 4));
        ok(mcMemcpyWithStream(&out, d, 4, mcMemcpyDefault, NULL));
        g_assert_cmpuint(out, ==, 0x22222222);
        fails(mcErrorNotReady, mcStreamQuery(held));
        let_go();
    }
    ok(mcFree(d));
    ok(mcFreeHost(pinned));
}

/* The two default streams wait for each other's work. */
static void test_with_legacy(void)
{
    uint64_t *word = env_malloc_host(8);

    *word = 0;
    ok(mcStreamWaitValue64(mcStreamPerThread, word, 1,
                           MC_STREAM_WAIT_VALUE_GEQ));
    ok(mcStreamWriteValue64(mcStreamLegacy, word, 2, 0));
    fails(mcErrorNotReady, mcStreamQuery(mcStreamLegacy));
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    ok(mcStreamSynchronize(mcStreamLegacy));
    g_assert_cmpuint(*word, ==, 2);

    *word = 0;
    ok(mcStreamWaitValue64(mcStreamLegacy, word, 1, MC_STREAM_WAIT_VALUE_GEQ));
    ok(mcStreamWriteValue64(mcStreamPerThread, word, 2, 0));
    fails(mcErrorNotReady, mcStreamQuery(mcStreamPerThread));
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    ok(mcStreamSynchronize(mcStreamPerThread));
    g_assert_cmpuint(*word, ==, 2);
    ok(mcFreeHost(word));
}

static void called(void *data)
{
    *(int *)data = 1;
}

/* Events, host functions, memory in stream order, words. */
static void test_others(void)
{
    uint32_t *word = env_malloc_host(4);
    int count = 0;
    mcEvent_t event;
    void *p;

    ok(mcEventCreate(&event));
    *word = 0;
    hold();
    ok(mcMallocAsync(&p, SIZE, NULL));
    ok(mcMemsetAsync(p, 1, SIZE, NULL));
    ok(mcFreeAsync(p, NULL));
    ok(mcStreamWriteValue32(NULL, word, 7, 0));
    ok(mcLaunchHostFunc(NULL, called, &count));
    ok(mcEventRecord(event, NULL));
    ok(mcStreamWaitEvent(NULL, event, 0));
    if (PER_THREAD) {
        ok(mcEventSynchronize(event));
        g_assert_cmpuint(*word, ==, 7);
        g_assert_cmpint(count, ==, 1);
    } else {
        fails(mcErrorNotReady, mcEventQuery(event));
    }
    expect_free();
    let_go();
    g_assert_cmpuint(*word, ==, 7);
    g_assert_cmpint(count, ==, 1);
    ok(mcEventDestroy(event));
    ok(mcFreeHost(word));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/default-stream/same", test_same);
    g_test_add_func("/default-stream/threads", test_threads);
    g_test_add_func("/default-stream/launches", test_launches);
    g_test_add_func("/default-stream/sets", test_sets);
    g_test_add_func("/default-stream/copies", test_copies);
    g_test_add_func("/default-stream/waiting-copies", test_waiting_copies);
    g_test_add_func("/default-stream/with-legacy", test_with_legacy);
    g_test_add_func("/default-stream/others", test_others);
    return g_test_run();
}
