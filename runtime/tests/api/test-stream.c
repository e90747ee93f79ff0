/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "env.h"

static void add(uint32_t *data, uint32_t count, uint32_t value,
                mcStream_t stream)
{
    void *args[] = {&data, &count, &value};

    ok(mcModuleLaunchKernel(env_kernel("k_add"), (count + 63) / 64, 1, 1, 64,
                            1, 1, 0, stream, args, NULL));
}

/* A gate: work behind it in a stream waits until it is opened. */
static uint64_t *gate_close(mcStream_t stream)
{
    uint64_t *gate = env_malloc_host(8);

    *gate = 0;
    ok(mcStreamWaitValue64(stream, gate, 1, MC_STREAM_WAIT_VALUE_GEQ));
    return gate;
}

static void gate_open(uint64_t *gate)
{
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
}

static void test_create(void)
{
    int least, greatest, priority;
    unsigned flags;
    mcStream_t s;
    mcDevice_t device;

    ok(mcDeviceGetStreamPriorityRange(&least, &greatest));
    g_assert_cmpint(least, ==, 0);
    g_assert_cmpint(greatest, <=, 0);
    ok(mcStreamCreateWithPriority(&s, mcStreamNonBlocking, -1000));
    ok(mcStreamGetPriority(s, &priority));
    g_assert_cmpint(priority, ==, greatest);
    ok(mcStreamGetFlags(s, &flags));
    g_assert_cmpuint(flags, ==, mcStreamNonBlocking);
    ok(mcStreamGetDevice(s, &device));
    ok(mcStreamQuery(s));
    ok(mcStreamDestroy(s));
    fails(mcErrorInvalidResourceHandle, mcStreamDestroy(s));
    fails(mcErrorInvalidResourceHandle, mcStreamQuery(s));
    fails(mcErrorInvalidResourceHandle, mcStreamSynchronize((mcStream_t)0x77));
    fails(mcErrorInvalidValue, mcStreamCreateWithFlags(&s, 2));
    fails(mcErrorInvalidValue, mcStreamCreate(NULL));
    fails(mcErrorInvalidResourceHandle, mcStreamDestroy(NULL));
    fails(mcErrorInvalidResourceHandle, mcStreamDestroy(mcStreamPerThread));
}

/* More kernels than the device runs at once wait for one of an urgent
 * stream. */
static void test_urgent(void)
{
    mcStream_t low[12], urgent;
    int least, greatest;
    uint64_t *flag = env_malloc(8);
    gint64 limit = g_get_monotonic_time() + 300 * G_TIME_SPAN_SECOND;

    ok(mcMemset(flag, 0, 8));
    ok(mcDeviceSynchronize()); /* non-blocking streams do not wait for it */
    ok(mcDeviceGetStreamPriorityRange(&least, &greatest));
    ok(mcStreamCreateWithPriority(&urgent, mcStreamNonBlocking, greatest));
    for (unsigned i = 0; i < G_N_ELEMENTS(low); i++) {
        ok(mcStreamCreateWithPriority(&low[i], mcStreamNonBlocking, least));
        ok(env_launch("k_spin", 1, flag, low[i]));
    }
    ok(env_launch("k_atomic", 1, flag, urgent));
    while (mcStreamQuery(urgent) == mcErrorNotReady) {
        g_assert_cmpint(g_get_monotonic_time(), <, limit);
        g_usleep(1000);
    }
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < G_N_ELEMENTS(low); i++) {
        ok(mcStreamDestroy(low[i]));
    }
    ok(mcStreamDestroy(urgent));
    ok(mcFree(flag));
}

static void wait_for_stream(mcStream_t stream)
{
    gint64 limit = g_get_monotonic_time() + 300 * G_TIME_SPAN_SECOND;

    while (mcStreamQuery(stream) == mcErrorNotReady) {
        g_assert_cmpint(g_get_monotonic_time(), <, limit);
        g_usleep(1000);
    }
    ok(mcStreamQuery(stream));
}

/* Two kernels that wait for the host have all units and more blocks left: one
 * of an urgent stream, and one of their own priority, end all the same. */
static void test_preempt(void)
{
    mcStream_t busy[2], other[2];
    int least, greatest;
    uint64_t *flag = env_malloc_host(8);
    uint32_t *d = env_malloc(65536 * 4), *out = g_new(uint32_t, 65536);

    *flag = 0;
    ok(mcMemset(d, 0, 65536 * 4));
    ok(mcDeviceSynchronize());
    ok(mcDeviceGetStreamPriorityRange(&least, &greatest));
    for (unsigned i = 0; i < 2; i++) {
        ok(mcStreamCreateWithPriority(&busy[i], mcStreamNonBlocking, least));
        ok(mcStreamCreateWithPriority(&other[i], mcStreamNonBlocking,
                                      i ? greatest : least));
        ok(env_launch("k_spin", 64 * 2048, flag, busy[i]));
    }
    for (unsigned i = 0; i < 2; i++) {
        add(d, 65536, 3, other[i]);
        wait_for_stream(other[i]);
        fails(mcErrorNotReady, mcStreamQuery(busy[0]));
        fails(mcErrorNotReady, mcStreamQuery(busy[1]));
    }
    gate_open(flag);
    ok(mcDeviceSynchronize());
    ok(mcMemcpy(out, d, 65536 * 4, mcMemcpyDeviceToHost));
    for (unsigned i = 0; i < 65536; i++) {
        g_assert_cmpuint(out[i], ==, 6);
    }
    for (unsigned i = 0; i < 2; i++) {
        ok(mcStreamDestroy(busy[i]));
        ok(mcStreamDestroy(other[i]));
    }
    g_free(out);
    ok(mcFree(d));
    ok(mcFreeHost(flag));
}

static void test_async(void)
{
    mcStream_t s;

    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    uint32_t *d = env_malloc(4096);
    ok(mcMemset(d, 0, 4096));
    ok(mcDeviceSynchronize());
    uint64_t *gate = gate_close(s);
    add(d, 1024, 5, s);
    mcGetLastError(); /* of earlier tests */
    fails(mcErrorNotReady, mcStreamQuery(s));
    ok(mcPeekAtLastError()); /* not ready is no error */
    gate_open(gate);
    ok(mcStreamSynchronize(s));
    ok(mcStreamQuery(s));
    uint32_t out[1024];
    ok(mcMemcpy(out, d, 4096, mcMemcpyDeviceToHost));
    for (unsigned i = 0; i < 1024; i++) {
        g_assert_cmpuint(out[i], ==, 5);
    }
    ok(mcFree(d));
    ok(mcFreeHost(gate));
    ok(mcStreamDestroy(s));
}

/* More work than rings and stages hold. */
static void test_flow_control(void)
{
    mcStream_t s;
    uint32_t *d = env_malloc(1024), out;

    ok(mcStreamCreate(&s));
    ok(mcMemset(d, 0, 256));
    for (unsigned i = 0; i < 5000; i++) {
        add(d, 64, 1, s);
    }
    for (unsigned i = 0; i < 3000; i++) {
        uint32_t v[256] = {i};
        ok(mcMemcpyAsync(d + 1, v, 4 + i % 250, mcMemcpyHostToDevice, s));
    }
    ok(mcStreamSynchronize(s));
    ok(mcMemcpy(&out, d, 4, mcMemcpyDeviceToHost));
    g_assert_cmpuint(out, ==, 5000);
    ok(mcMemcpy(&out, d + 1, 4, mcMemcpyDeviceToHost));
    g_assert_cmpuint(out, ==, 2999);
    ok(mcStreamDestroy(s));
    ok(mcFree(d));
}

/* The default stream waits for blocking streams, and they for it. */
static void test_legacy_order(void)
{
    mcStream_t blocking, free_stream;
    uint32_t *d = env_malloc(256), *h = env_malloc_host(256);

    ok(mcStreamCreate(&blocking));
    ok(mcStreamCreateWithFlags(&free_stream, mcStreamNonBlocking));
    ok(mcMemset(d, 0, 256));
    ok(mcDeviceSynchronize());

    uint64_t *gate = gate_close(blocking);
    add(d, 1, 1, blocking);
    ok(mcMemcpyAsync(h, d, 4, mcMemcpyDefault, NULL)); /* after blocking */
    fails(mcErrorNotReady, mcStreamQuery(NULL));
    /* A non-blocking stream is not held up. */
    ok(mcMemsetAsync(d + 32, 1, 4, free_stream));
    ok(mcStreamSynchronize(free_stream));
    fails(mcErrorNotReady, mcStreamQuery(NULL));
    gate_open(gate);
    ok(mcStreamSynchronize(NULL));
    g_assert_cmpuint(*h, ==, 1);
    ok(mcFreeHost(gate));

    gate = gate_close(NULL);
    add(d, 1, 1, NULL);
    ok(mcMemcpyAsync(h, d, 4, mcMemcpyDefault, blocking)); /* after null */
    fails(mcErrorNotReady, mcStreamQuery(blocking));
    ok(mcMemsetAsync(d + 32, 2, 4, free_stream));
    ok(mcStreamSynchronize(free_stream));
    gate_open(gate);
    ok(mcStreamSynchronize(blocking));
    g_assert_cmpuint(*h, ==, 2);
    ok(mcFreeHost(gate));
    ok(mcStreamDestroy(blocking));
    ok(mcStreamDestroy(free_stream));
    ok(mcFree(d));
    ok(mcFreeHost(h));
}

static void test_per_thread(void)
{
    uint32_t *d = env_malloc(256), out = 0;

    ok(mcMemset(d, 0, 256));
    add(d, 1, 3, mcStreamPerThread);
    ok(mcMemcpyAsync(&out, d, 4, mcMemcpyDefault, mcStreamPerThread));
    ok(mcStreamSynchronize(mcStreamPerThread));
    g_assert_cmpuint(out, ==, 3);
    ok(mcFree(d));
}

/* More streams than queues; all of them make progress and stay in order. */
static void test_many(void)
{
    enum { N = 300 };
    static mcStream_t s[N];
    uint32_t *d = env_malloc(N * 256), *out = malloc(N * 256);

    ok(mcMemset(d, 0, N * 256));
    for (unsigned i = 0; i < N; i++) {
        ok(mcStreamCreateWithFlags(&s[i], i % 2));
    }
    ok(mcDeviceSynchronize());
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < N; i++) {
            add(d + i * 64, 64, i, s[i]);
        }
    }
    for (unsigned i = 0; i < N; i++) {
        ok(mcStreamSynchronize(s[i]));
        ok(mcStreamDestroy(s[i]));
    }
    ok(mcMemcpy(out, d, N * 256, mcMemcpyDeviceToHost));
    for (unsigned i = 0; i < N * 64; i++) {
        g_assert_cmpuint(out[i], ==, 4 * (i / 64));
    }
    ok(mcFree(d));
    free(out);
}

/* ---- events ---- */

static void test_event(void)
{
    mcStream_t s;
    mcEvent_t a, b, untimed;
    float ms = -1;

    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    ok(mcEventCreate(&a));
    ok(mcEventCreateWithFlags(&b, mcEventBlockingSync));
    ok(mcEventCreateWithFlags(&untimed, mcEventDisableTiming));
    gint64 start = g_get_monotonic_time();
    ok(mcEventQuery(a)); /* never recorded */
    ok(mcEventSynchronize(a));
    fails(mcErrorInvalidHandle, mcEventElapsedTime(&ms, a, b));
    ok(mcEventRecord(a, s));
    ok(mcEventRecord(untimed, s));
    uint64_t *gate = gate_close(s);
    ok(mcEventRecord(b, s));
    ok(mcEventSynchronize(a));
    fails(mcErrorNotReady, mcEventQuery(b));
    fails(mcErrorNotReady, mcEventElapsedTime(&ms, a, b));
    usleep(30000);
    gate_open(gate);
    ok(mcEventSynchronize(b));
    double most = (double)(g_get_monotonic_time() - start) / 1000;
    ok(mcEventElapsedTime(&ms, a, b));
    g_assert_cmpfloat(ms, >=, 25);
    g_assert_cmpfloat(ms, <=, most * 1.01); /* clocks differ a little */
    ok(mcEventElapsedTime(&ms, b, a));
    g_assert_cmpfloat(ms, <, 0);
    ok(mcEventElapsedTimeWithFlags(&ms, a, b, 0));
    g_assert_cmpfloat(ms, >=, 25);
    fails(mcErrorInvalidValue, mcEventElapsedTimeWithFlags(&ms, a, b, 2));
    fails(mcErrorInvalidValue, mcEventElapsedTimeWithFlags(NULL, a, b, 0));
    fails(mcErrorNotSupported,
          mcEventElapsedTimeWithFlags(&ms, a, b,
                                      mcEventElapsedTimeInterDevice));
    fails(mcErrorInvalidHandle,
          mcEventElapsedTimeWithFlags(&ms, a, untimed, 0));
    fails(mcErrorInvalidHandle, mcEventElapsedTime(&ms, a, untimed));
    ok(mcEventDestroy(a));
    fails(mcErrorInvalidHandle, mcEventRecord(a, s));
    fails(mcErrorInvalidHandle, mcEventDestroy(a));
    fails(mcErrorInvalidHandle, mcEventDestroy(NULL));
    fails(mcErrorInvalidValue,
          mcEventCreateWithFlags(&a, mcEventInterprocess));
    fails(mcErrorInvalidValue, mcEventCreateWithFlags(&a, 0x80));
    ok(mcEventDestroy(b));
    ok(mcEventDestroy(untimed));
    ok(mcFreeHost(gate));
    ok(mcStreamDestroy(s));
}

static void test_wait_event(void)
{
    mcStream_t s, t;
    mcEvent_t e;
    uint32_t *d = env_malloc(256), out;

    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    ok(mcStreamCreateWithFlags(&t, mcStreamNonBlocking));
    ok(mcEventCreateWithFlags(&e, mcEventDisableTiming));
    ok(mcStreamWaitEvent(t, e, 0)); /* never recorded: nothing to wait for */
    ok(mcStreamSynchronize(t));
    ok(mcMemset(d, 0, 256));
    ok(mcDeviceSynchronize());
    uint64_t *gate = gate_close(s);
    ok(mcMemsetAsync(d, 7, 4, s));
    ok(mcEventRecord(e, s));
    ok(mcStreamWaitEvent(t, e, 0));
    add(d, 1, 1, t);
    usleep(5000);
    fails(mcErrorNotReady, mcStreamQuery(t));
    gate_open(gate);
    ok(mcStreamSynchronize(t));
    ok(mcMemcpy(&out, d, 4, mcMemcpyDeviceToHost));
    g_assert_cmpuint(out, ==, 0x07070708);
    ok(mcEventDestroy(e));
    ok(mcStreamDestroy(s));
    ok(mcStreamDestroy(t));
    ok(mcFreeHost(gate));
    ok(mcFree(d));
}

/* Of another device. */
static void test_wait_device(void)
{
    mcStream_t s, t;
    mcEvent_t e;

    env_two_devices();
    ok(mcStreamCreate(&s));
    ok(mcEventCreate(&e));
    ok(mcSetDevice(1));
    ok(mcStreamCreate(&t));
    uint64_t *gate = gate_close(s);
    ok(mcSetDevice(0));
    ok(mcEventRecord(e, s));
    ok(mcStreamWaitEvent(t, e, 0));
    usleep(5000);
    fails(mcErrorNotReady, mcStreamQuery(t));
    gate_open(gate);
    ok(mcStreamSynchronize(t));
    ok(mcEventDestroy(e));
    ok(mcStreamDestroy(s));
    ok(mcStreamDestroy(t));
    ok(mcFreeHost(gate));
}

/* ---- host functions ---- */

static int calls[8];
static unsigned call_count;
static mcError_t seen_inside;

static void host_function(void *data)
{
    seen_inside = mcDeviceSynchronize();
    usleep(2000);
    calls[call_count++] = GPOINTER_TO_INT(data);
}

static void callback(mcStream_t stream, mcError_t status, void *data)
{
    ok(status);
    calls[call_count++] = GPOINTER_TO_INT(data);
}

static void test_host_function(void)
{
    mcStream_t s;
    uint32_t *h = env_malloc_host(4), *d = env_malloc(256);

    ok(mcStreamCreate(&s));
    call_count = 0;
    *h = 0;
    ok(mcLaunchHostFunc(s, host_function, GINT_TO_POINTER(1)));
    ok(mcStreamAddCallback(s, callback, GINT_TO_POINTER(2), 0));
    ok(mcLaunchHostFunc(s, host_function, GINT_TO_POINTER(3)));
    ok(mcMemsetAsync(d, 9, 4, s));
    ok(mcMemcpyAsync(h, d, 4, mcMemcpyDefault, s));
    ok(mcStreamSynchronize(s));
    g_assert_cmpuint(call_count, ==, 3);
    for (int i = 0; i < 3; i++) {
        g_assert_cmpint(calls[i], ==, i + 1);
    }
    g_assert_cmpuint(*h, ==, 0x09090909);
    g_assert_cmpint(seen_inside, ==, mcErrorNotPermitted);
    fails(mcErrorInvalidValue, mcLaunchHostFunc(s, NULL, NULL));
    fails(mcErrorInvalidValue, mcStreamAddCallback(s, callback, NULL, 1));
    ok(mcStreamDestroy(s));
    ok(mcFreeHost(h));
    ok(mcFree(d));
}

static void test_values(void)
{
    mcStream_t s;
    uint32_t *h = env_malloc_host(64);

    memset(h, 0, 64);
    ok(mcStreamCreate(&s));
    ok(mcStreamWriteValue32(s, h, 77, 0));
    ok(mcStreamWriteValue64(s, h + 2, 1ull << 40, 0));
    ok(mcStreamWaitValue32(s, h, 77, MC_STREAM_WAIT_VALUE_EQ));
    ok(mcStreamWaitValue64(s, h + 2, 1ull << 40, MC_STREAM_WAIT_VALUE_AND));
    ok(mcStreamSynchronize(s));
    g_assert_cmpuint(h[0], ==, 77);
    g_assert_cmpuint(h[3], ==, 1 << 8);
    fails(mcErrorInvalidValue, mcStreamWriteValue32(s, (char *)h + 2, 0, 0));
    fails(mcErrorInvalidValue, mcStreamWaitValue32(s, h, 0, 4));
    fails(mcErrorInvalidValue, mcStreamWriteValue32(s, &s, 0, 0));
    ok(mcStreamDestroy(s));
    ok(mcFreeHost(h));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stream/create", test_create);
    g_test_add_func("/stream/urgent", test_urgent);
    g_test_add_func("/stream/preempt", test_preempt);
    g_test_add_func("/stream/async", test_async);
    g_test_add_func("/stream/flow-control", test_flow_control);
    g_test_add_func("/stream/legacy-order", test_legacy_order);
    g_test_add_func("/stream/per-thread", test_per_thread);
    g_test_add_func("/stream/many", test_many);
    g_test_add_func("/stream/host-function", test_host_function);
    g_test_add_func("/stream/values", test_values);
    g_test_add_func("/event/event", test_event);
    g_test_add_func("/event/wait", test_wait_event);
    g_test_add_func("/event/wait-device", test_wait_device);
    return g_test_run();
}
