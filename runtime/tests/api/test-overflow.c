/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous calls do not wait for work that waits for the caller, however
 * much of it there is: each test fills a stream behind a gate that it opens
 * when all calls have returned.
 */
#include <stdlib.h>

#include "env.h"

typedef struct Gate {
    mcStream_t stream;
    uint32_t *word;
} Gate;

static Gate gate_close(unsigned flags)
{
    Gate gate;

    ok(mcStreamCreateWithFlags(&gate.stream, flags));
    gate.word = env_malloc_host(4);
    *gate.word = 0;
    ok(mcStreamWaitValue32(gate.stream, gate.word, 1,
                           MC_STREAM_WAIT_VALUE_EQ));
    return gate;
}

static void gate_open(Gate *gate)
{
    fails(mcErrorNotReady, mcStreamQuery(gate->stream));
    __atomic_store_n(gate->word, 1, __ATOMIC_RELEASE);
    ok(mcStreamSynchronize(gate->stream));
    ok(mcStreamDestroy(gate->stream));
    ok(mcFreeHost(gate->word));
}

static void add(uint32_t *data, uint32_t count, uint32_t value,
                mcStream_t stream)
{
    void *args[] = {&data, &count, &value};

    ok(mcModuleLaunchKernel(env_kernel("k_add"), 1, 1, 1, 64, 1, 1, 0, stream,
                            args, NULL));
}

static uint32_t read_word(const uint32_t *d)
{
    uint32_t value;

    ok(mcMemcpy(&value, d, 4, mcMemcpyDeviceToHost));
    return value;
}

static void test_launches(void)
{
    Gate gate = gate_close(mcStreamNonBlocking);
    uint32_t *d = env_malloc(256);

    ok(mcMemset(d, 0, 256));
    ok(mcStreamSynchronize(NULL));
    for (unsigned i = 1; i <= 3000; i++) {
        add(d, 1, i, gate.stream);
    }
    gate_open(&gate);
    g_assert_cmpuint(read_word(d), ==, 3000 * 3001 / 2);
    ok(mcFree(d));
}

static void test_rows(void)
{
    enum { PITCH = 1024, WIDTH = 1000, ROWS = 2000 };
    Gate gate = gate_close(mcStreamNonBlocking);
    uint8_t *d = env_malloc(PITCH * ROWS), *e = env_malloc(PITCH * ROWS);
    uint8_t *out = env_malloc_host(PITCH * ROWS);

    ok(mcMemset(d, 0, PITCH * ROWS));
    ok(mcMemset(e, 0, PITCH * ROWS));
    ok(mcStreamSynchronize(NULL));
    ok(mcMemset2DAsync(d, PITCH, 7, WIDTH, ROWS, gate.stream));
    ok(mcMemcpy2DAsync(e, PITCH, d, PITCH, WIDTH, ROWS, mcMemcpyDefault,
                       gate.stream));
    ok(mcMemcpy2DAsync(out, PITCH, e, PITCH, PITCH, ROWS, mcMemcpyDefault,
                       gate.stream));
    gate_open(&gate);
    for (unsigned i = 0; i < PITCH * ROWS; i++) {
        g_assert_cmpuint(out[i], ==, i % PITCH < WIDTH ? 7 : 0);
    }
    ok(mcFree(d));
    ok(mcFree(e));
    ok(mcFreeHost(out));
}

/* Each source is used again at once. */
static void test_uploads(void)
{
    enum { LARGE = 40 << 20, SMALL = 3000 };
    Gate gate = gate_close(mcStreamNonBlocking);
    uint32_t *d = env_malloc(LARGE), *in = g_malloc(LARGE);
    uint32_t *e = env_malloc(SMALL * 4), *out = g_malloc(LARGE);

    for (unsigned i = 0; i < LARGE / 4; i++) {
        in[i] = i * 3;
    }
    ok(mcMemcpyAsync(d, in, LARGE, mcMemcpyHostToDevice, gate.stream));
    memset(in, 0xff, LARGE);
    for (unsigned i = 0; i < SMALL; i++) {
        ok(mcMemcpyAsync(e + i, &i, 4, mcMemcpyHostToDevice, gate.stream));
    }
    gate_open(&gate);
    ok(mcMemcpy(out, d, LARGE, mcMemcpyDeviceToHost));
    for (unsigned i = 0; i < LARGE / 4; i++) {
        g_assert_cmpuint(out[i], ==, i * 3);
    }
    ok(mcMemcpy(out, e, SMALL * 4, mcMemcpyDeviceToHost));
    for (unsigned i = 0; i < SMALL; i++) {
        g_assert_cmpuint(out[i], ==, i);
    }
    ok(mcFree(d));
    ok(mcFree(e));
    g_free(in);
    g_free(out);
}

typedef struct Calls {
    unsigned count, last;
} Calls;

static Calls calls;

static void function(void *opaque)
{
    unsigned number = GPOINTER_TO_UINT(opaque);

    g_assert_cmpuint(number, ==, calls.last + 1);
    calls.last = number;
    calls.count++;
}

/* Kernels, functions, events and other streams' waits in between keep their
 * order. */
static void test_mixed(void)
{
    enum { ROUNDS = 1500 };
    Gate gate = gate_close(mcStreamDefault);
    uint32_t *d = env_malloc(256);
    mcStream_t other;
    mcEvent_t event;

    calls = (Calls){0, 0};
    ok(mcStreamCreateWithFlags(&other, mcStreamNonBlocking));
    ok(mcEventCreate(&event));
    ok(mcMemsetAsync(d, 0, 256, other));
    ok(mcStreamSynchronize(other));
    for (unsigned i = 1; i <= ROUNDS; i++) {
        add(d, 1, 1, gate.stream);
        ok(mcLaunchHostFunc(gate.stream, function, GUINT_TO_POINTER(i)));
        add(d, 1, 1, NULL); /* after the stream, which comes after it */
        ok(mcEventRecord(event, gate.stream));
        ok(mcStreamWaitEvent(other, event, 0));
    }
    ok(mcMemcpyAsync(d + 1, d, 4, mcMemcpyDeviceToDevice, other));
    fails(mcErrorNotReady, mcEventQuery(event));
    fails(mcErrorNotReady, mcStreamQuery(other));
    gate_open(&gate);
    ok(mcEventSynchronize(event));
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(calls.count, ==, ROUNDS);
    g_assert_cmpuint(read_word(d), ==, 2 * ROUNDS);
    g_assert_cmpuint(read_word(d + 1), ==, 2 * ROUNDS);
    ok(mcEventDestroy(event));
    ok(mcStreamDestroy(other));
    ok(mcFree(d));
}

/* Nobody waits: the stream's own thread feeds the ring. */
static void test_unwatched(void)
{
    Gate gate = gate_close(mcStreamNonBlocking);
    uint32_t *word = env_malloc_host(4);

    *word = 0;
    for (unsigned i = 1; i <= 5000; i++) {
        ok(mcStreamWriteValue32(gate.stream, word, i, 0));
    }
    __atomic_store_n(gate.word, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != 5000) {
        g_usleep(1000);
    }
    ok(mcStreamSynchronize(gate.stream));
    ok(mcStreamDestroy(gate.stream));
    ok(mcFreeHost(gate.word));
    ok(mcFreeHost(word));
}

/* What was not begun goes with the context. */
static void test_reset(void)
{
    Gate gate = gate_close(mcStreamNonBlocking);
    uint32_t *d = env_malloc(256);

    for (unsigned i = 0; i < 3000; i++) {
        add(d, 1, 1, gate.stream);
    }
    ok(mcDeviceReset());
    env_forget();
    d = env_malloc(256);
    ok(mcMemset(d, 0, 256));
    add(d, 1, 1, NULL);
    g_assert_cmpuint(read_word(d), ==, 1);
    ok(mcFree(d));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/overflow/launches", test_launches);
    g_test_add_func("/overflow/rows", test_rows);
    g_test_add_func("/overflow/uploads", test_uploads);
    g_test_add_func("/overflow/mixed", test_mixed);
    g_test_add_func("/overflow/unwatched", test_unwatched);
    g_test_add_func("/overflow/reset", test_reset);
    return g_test_run();
}
