/* SPDX-License-Identifier: MIT */
/* What may not be while a stream captures, and what becomes of the capture. */
#include "env.h"

static mcStream_t s;

static void begin(mcStreamCaptureMode mode, unsigned flags)
{
    ok(mcStreamCreateWithFlags(&s, flags));
    ok(mcStreamBeginCapture(s, mode));
}

static mcStreamCaptureStatus status_of(mcStream_t stream)
{
    mcStreamCaptureStatus status = 99;

    ok(mcStreamIsCapturing(stream, &status));
    return status;
}

/* Ends it with that error; after one there is no graph. */
static void end(mcError_t error)
{
    mcGraph_t graph = (mcGraph_t)&graph;

    fails(error, mcStreamEndCapture(s, &graph));
    g_assert_cmpint(status_of(s), ==, mcStreamCaptureStatusNone);
    if (error == mcSuccess) {
        ok(mcGraphDestroy(graph));
    } else {
        g_assert_null(graph);
    }
    ok(mcStreamDestroy(s));
}

static void launch(mcStream_t stream)
{
    ok(mcModuleLaunchKernel(env_kernel("k_empty"), 1, 1, 1, 1, 1, 1, 0, stream,
                            NULL, NULL));
}

static mcEvent_t recorded(mcStream_t stream)
{
    mcEvent_t e;

    ok(mcEventCreate(&e));
    ok(mcEventRecord(e, stream));
    return e;
}

/* b waits for what is in a. */
static void follow(mcStream_t b, mcStream_t a)
{
    mcEvent_t e = recorded(a);

    ok(mcStreamWaitEvent(b, e, 0));
    ok(mcEventDestroy(e));
}

static void test_begin_end(void)
{
    mcGraph_t graph = NULL;
    mcStream_t side;

    fails(mcErrorStreamCaptureUnsupported,
          mcStreamBeginCapture(NULL, mcStreamCaptureModeGlobal));
    fails(mcErrorStreamCaptureUnsupported,
          mcStreamBeginCapture(mcStreamLegacy, mcStreamCaptureModeRelaxed));
    fails(mcErrorIllegalState, mcStreamEndCapture(NULL, &graph));
    ok(mcStreamCreate(&side));
    fails(mcErrorInvalidValue, mcStreamBeginCapture(side, -1));
    fails(mcErrorInvalidValue, mcStreamBeginCapture(side, 3));
    fails(mcErrorIllegalState, mcStreamEndCapture(side, &graph));
    fails(mcErrorIllegalState, mcStreamEndCapture(side, NULL));
    fails(mcErrorInvalidResourceHandle,
          mcStreamBeginCapture((mcStream_t)&graph, 0));
    fails(mcErrorInvalidResourceHandle,
          mcStreamEndCapture((mcStream_t)&graph, &graph));
    begin(mcStreamCaptureModeGlobal, 0);
    fails(mcErrorIllegalState, mcStreamBeginCapture(s, 0));
    fails(mcErrorInvalidValue, mcStreamEndCapture(s, NULL));
    follow(side, s);
    fails(mcErrorIllegalState, mcStreamBeginCapture(side, 0));
    fails(mcErrorStreamCaptureUnmatched, mcStreamEndCapture(side, &graph));
    g_assert_cmpint(status_of(side), ==, mcStreamCaptureStatusActive);
    end(mcSuccess); /* nothing of it did harm */
    ok(mcStreamDestroy(side));
}

/* Asking for a stream that captures, or waiting for it, in any mode. */
static void test_sync(void)
{
    for (int mode = 0; mode < 3; mode++) {
        for (unsigned flags = 0; flags < 2; flags++) {
            begin((mcStreamCaptureMode)mode, flags);
            fails(mcErrorStreamCaptureUnsupported, mcStreamSynchronize(s));
            g_assert_cmpint(status_of(s), ==,
                            mcStreamCaptureStatusInvalidated);
            end(mcErrorStreamCaptureInvalidated);

            begin((mcStreamCaptureMode)mode, flags);
            fails(mcErrorStreamCaptureUnsupported, mcStreamQuery(s));
            end(mcErrorStreamCaptureInvalidated);

            begin((mcStreamCaptureMode)mode, flags);
            fails(mcErrorStreamCaptureUnsupported, mcDeviceSynchronize());
            end(mcErrorStreamCaptureInvalidated);
            ok(mcDeviceSynchronize());
        }
    }
}

/* The same of an event that was captured. */
static void test_events(void)
{
    mcEvent_t before, e;
    float ms;

    ok(mcStreamCreate(&s));
    before = recorded(s);
    ok(mcStreamSynchronize(s));
    ok(mcStreamDestroy(s));
    for (int what = 0; what < 4; what++) {
        begin(mcStreamCaptureModeRelaxed, 0);
        e = recorded(s);
        fails(mcErrorCapturedEvent,
              what == 0   ? mcEventQuery(e)
              : what == 1 ? mcEventSynchronize(e)
              : what == 2 ? mcEventElapsedTime(&ms, before, e)
                          : mcEventElapsedTime(&ms, e, before));
        end(mcErrorStreamCaptureInvalidated);
        /* It is still not what anything can wait for. */
        fails(mcErrorCapturedEvent, mcEventQuery(e));
        fails(mcErrorCapturedEvent, mcStreamWaitEvent(NULL, e, 0));
        ok(mcEventDestroy(e));
    }
    ok(mcEventDestroy(before));
}

/* Waits that would leave the capture, or lead into it. */
static void test_waits(void)
{
    mcStream_t other, blocked;
    mcEvent_t outside, never, a, b;
    mcGraph_t graph = (mcGraph_t)&graph;

    ok(mcStreamCreateWithFlags(&other, mcStreamNonBlocking));
    ok(mcStreamCreateWithFlags(&blocked, mcStreamNonBlocking));
    outside = recorded(other);
    ok(mcEventCreate(&never));

    begin(mcStreamCaptureModeGlobal, 0);
    fails(mcErrorStreamCaptureIsolation, mcStreamWaitEvent(s, outside, 0));
    end(mcErrorStreamCaptureInvalidated);
    begin(mcStreamCaptureModeGlobal, 0);
    fails(mcErrorStreamCaptureIsolation, mcStreamWaitEvent(s, never, 0));
    end(mcErrorStreamCaptureInvalidated);

    /* Of a capture that has ended. */
    begin(mcStreamCaptureModeGlobal, 0);
    a = recorded(s);
    end(mcSuccess);
    begin(mcStreamCaptureModeGlobal, 0);
    fails(mcErrorStreamCaptureIsolation, mcStreamWaitEvent(s, a, 0));
    end(mcErrorStreamCaptureInvalidated);

    /* Of another one: that is invalid too. */
    ok(mcStreamBeginCapture(other, mcStreamCaptureModeGlobal));
    begin(mcStreamCaptureModeGlobal, 0);
    b = recorded(other);
    fails(mcErrorStreamCaptureMerge, mcStreamWaitEvent(s, b, 0));
    end(mcErrorStreamCaptureInvalidated);
    fails(mcErrorStreamCaptureInvalidated, mcStreamWaitEvent(blocked, b, 0));
    fails(mcErrorStreamCaptureInvalidated, mcStreamEndCapture(other, &graph));
    g_assert_null(graph);
    g_assert_cmpint(status_of(blocked), ==, mcStreamCaptureStatusNone);

    /* The legacy default stream cannot be drawn in. */
    begin(mcStreamCaptureModeGlobal, mcStreamNonBlocking);
    ok(mcEventRecord(b, s));
    fails(mcErrorStreamCaptureImplicit, mcStreamWaitEvent(NULL, b, 0));
    end(mcErrorStreamCaptureInvalidated);
    ok(mcEventDestroy(outside));
    ok(mcEventDestroy(never));
    ok(mcEventDestroy(a));
    ok(mcEventDestroy(b));
    ok(mcStreamDestroy(other));
    ok(mcStreamDestroy(blocked));
}

static void test_unjoined(void)
{
    mcStream_t side, third;

    ok(mcStreamCreate(&side));
    ok(mcStreamCreate(&third));
    /* Never joined. */
    begin(mcStreamCaptureModeGlobal, 0);
    launch(s);
    follow(side, s);
    launch(side);
    end(mcErrorStreamCaptureUnjoined);
    g_assert_cmpint(status_of(side), ==, mcStreamCaptureStatusNone);

    /* Joined, and then it went on. */
    begin(mcStreamCaptureModeGlobal, 0);
    launch(s);
    follow(side, s);
    launch(side);
    follow(s, side);
    launch(side);
    end(mcErrorStreamCaptureUnjoined);

    /* Joined by a stream that is not. */
    begin(mcStreamCaptureModeGlobal, 0);
    follow(side, s);
    follow(third, s);
    launch(side);
    follow(third, side);
    end(mcErrorStreamCaptureUnjoined);

    /* ... and that is. */
    begin(mcStreamCaptureModeGlobal, 0);
    follow(side, s);
    follow(third, s);
    launch(side);
    follow(third, side);
    launch(third);
    follow(s, third);
    end(mcSuccess);
    ok(mcStreamDestroy(side));
    ok(mcStreamDestroy(third));
}

/* ---- the legacy default stream ---- */

typedef mcError_t (*Call)(void *d);

static mcError_t copy(void *d)
{
    uint64_t word = 1;

    return mcMemcpy(d, &word, 8, mcMemcpyHostToDevice);
}

static mcError_t copy_rows(void *d)
{
    uint64_t word = 1;

    return mcMemcpy2D(d, 8, &word, 8, 8, 1, mcMemcpyHostToDevice);
}

static mcError_t set(void *d)
{
    return mcMemset(d, 1, 8);
}

static mcError_t set_rows(void *d)
{
    return mcMemset2D(d, 8, 1, 8, 1);
}

static mcError_t set_async(void *d)
{
    return mcMemsetAsync(d, 1, 8, NULL);
}

static mcError_t legacy_launch(void *d)
{
    return env_launch("k_store", 1, d, NULL);
}

static mcError_t legacy_sync(void *d)
{
    return mcStreamSynchronize(mcStreamLegacy);
}

static mcError_t legacy_query(void *d)
{
    return mcStreamQuery(NULL);
}

static mcError_t legacy_record(void *d)
{
    mcEvent_t e;

    ok(mcEventCreate(&e));
    mcError_t error = mcEventRecord(e, NULL);
    ok(mcEventDestroy(e));
    return error;
}

static void test_legacy(void)
{
    static const Call calls[] = {
        copy, copy_rows, set, set_rows, set_async, legacy_launch, legacy_sync,
        legacy_query, legacy_record,
    };
    uint64_t *d = env_malloc(8), word = 3;
    mcStreamCaptureStatus status;

    ok(mcMemcpy(d, &word, 8, mcMemcpyHostToDevice));
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
        for (int mode = 0; mode < 3; mode++) {
            begin((mcStreamCaptureMode)mode, mcStreamDefault);
            fails(mcErrorStreamCaptureImplicit, calls[i](d));
            end(mcErrorStreamCaptureInvalidated);
        }
        /* A stream that is not ordered with it leaves it alone. */
        begin(mcStreamCaptureModeRelaxed, mcStreamNonBlocking);
        ok(env_launch("k_atomic", 1, d, NULL));
        ok(mcMemcpy(&word, d, 8, mcMemcpyDeviceToHost));
        g_assert_cmpuint(word, ==, 4 + i); /* none of the calls came so far */
        end(mcSuccess);
    }
    /* To look at it does no harm. */
    begin(mcStreamCaptureModeGlobal, mcStreamDefault);
    unsigned flags;
    unsigned long long id = 7;
    fails(mcErrorStreamCaptureImplicit, mcStreamIsCapturing(NULL, &status));
    fails(mcErrorStreamCaptureImplicit,
          mcStreamGetCaptureInfo(NULL, &status, &id, NULL, NULL, NULL));
    g_assert_cmpuint(id, ==, 7);
    ok(mcStreamGetFlags(NULL, &flags));
    end(mcSuccess);
    ok(mcStreamIsCapturing(NULL, &status));
    g_assert_cmpint(status, ==, mcStreamCaptureStatusNone);
    ok(mcFree(d));
}

/* ---- calls that captures do not see ---- */

static mcStream_t bystander;
static mcEvent_t bystander_event;

static mcError_t allocate(void *d)
{
    void *p = NULL;
    mcError_t error = mcMalloc(&p, 8);

    ok(mcFree(NULL)); /* nothing happens there */
    g_assert_true(error == mcSuccess || !p);
    return error == mcSuccess ? mcFree(p) : error;
}

static mcError_t allocate_host(void *d)
{
    void *p = NULL;
    mcError_t error = mcMallocHost(&p, 8, 0);

    g_assert_true(error == mcSuccess || !p);
    return error == mcSuccess ? mcFreeHost(p) : error;
}

static mcError_t allocate_managed(void *d)
{
    void *p = NULL;
    mcError_t error = mcMallocManaged(&p, 8, mcMemAttachGlobal);

    g_assert_true(error == mcSuccess || !p);
    return error == mcSuccess ? mcFree(p) : error;
}

static mcError_t allocate_array(void *d)
{
    const mcChannelFormatDesc desc = {8, 0, 0, 0, mcChannelFormatKindUnsigned};
    mcArray_t array = NULL;
    mcError_t error = mcMallocArray(&array, &desc, 8, 0, 0);

    return error == mcSuccess ? mcFreeArray(array) : error;
}

static mcError_t register_host(void *d)
{
    static uint64_t page[1024];
    mcError_t error = mcHostRegister(page, sizeof(page), 0);

    return error == mcSuccess ? mcHostUnregister(page) : error;
}

static mcError_t query_other(void *d)
{
    return mcStreamQuery(bystander);
}

static mcError_t sync_other(void *d)
{
    return mcStreamSynchronize(bystander);
}

static mcError_t query_event(void *d)
{
    return mcEventQuery(bystander_event);
}

static mcError_t sync_event(void *d)
{
    return mcEventSynchronize(bystander_event);
}

static void test_unsafe(void)
{
    static const Call calls[] = {
        allocate, allocate_host, allocate_managed, allocate_array,
        register_host, query_other, sync_other, query_event, sync_event, copy,
        set,
    };
    uint64_t *d = env_malloc(8);
    mcEvent_t never;

    ok(mcEventCreate(&never));
    ok(mcStreamCreate(&bystander));
    bystander_event = recorded(bystander);
    ok(mcStreamSynchronize(bystander));
    for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
        for (int mode = 0; mode < 2; mode++) {
            begin((mcStreamCaptureMode)mode, mcStreamNonBlocking);
            fails(mcErrorStreamCaptureUnsupported, calls[i](d));
            end(mcErrorStreamCaptureInvalidated);
        }
        begin(mcStreamCaptureModeRelaxed, mcStreamNonBlocking);
        ok(calls[i](d));
        end(mcSuccess);

        /* The same by the mode of the thread. */
        mcStreamCaptureMode mode = mcStreamCaptureModeRelaxed;
        begin(mcStreamCaptureModeGlobal, mcStreamNonBlocking);
        ok(mcThreadExchangeStreamCaptureMode(&mode));
        g_assert_cmpint(mode, ==, mcStreamCaptureModeGlobal);
        ok(calls[i](d));
        mode = mcStreamCaptureModeThreadLocal;
        ok(mcThreadExchangeStreamCaptureMode(&mode));
        g_assert_cmpint(mode, ==, mcStreamCaptureModeRelaxed);
        fails(mcErrorStreamCaptureUnsupported, calls[i](d));
        mode = mcStreamCaptureModeGlobal;
        ok(mcThreadExchangeStreamCaptureMode(&mode));
        end(mcErrorStreamCaptureInvalidated);
        ok(calls[i](d));
    }
    /* An event that was never recorded stands for nothing. */
    begin(mcStreamCaptureModeGlobal, 0);
    ok(mcEventQuery(never));
    ok(mcEventSynchronize(never));
    end(mcSuccess);
    ok(mcEventDestroy(never));
    ok(mcEventDestroy(bystander_event));
    ok(mcStreamDestroy(bystander));
    ok(mcFree(d));
}

static void test_exchange(void)
{
    mcStreamCaptureMode mode = (mcStreamCaptureMode)-1;

    fails(mcErrorInvalidValue, mcThreadExchangeStreamCaptureMode(NULL));
    fails(mcErrorInvalidValue, mcThreadExchangeStreamCaptureMode(&mode));
    mode = mcStreamCaptureModeRelaxed + 1;
    fails(mcErrorInvalidValue, mcThreadExchangeStreamCaptureMode(&mode));
    mode = mcStreamCaptureModeGlobal;
    ok(mcThreadExchangeStreamCaptureMode(&mode));
    g_assert_cmpint(mode, ==, mcStreamCaptureModeGlobal);
}

/* ---- work that is not captured ---- */

static void callback(mcStream_t stream, mcError_t status, void *data)
{
    g_assert_not_reached();
}

static void test_unsupported(void)
{
    uint64_t *managed = NULL, *d = env_malloc(8), word = 0;

    ok(mcMallocManaged((void **)&managed, 4096, mcMemAttachGlobal));
    begin(mcStreamCaptureModeRelaxed, mcStreamNonBlocking);
    fails(mcErrorStreamCaptureUnsupported,
          mcStreamAddCallback(s, callback, NULL, 0));
    /* From now on everything is refused. */
    fails(mcErrorStreamCaptureInvalidated, mcMemsetAsync(d, 0, 8, s));
    fails(mcErrorStreamCaptureInvalidated, env_launch("k_store", 1, d, s));
    fails(mcErrorStreamCaptureInvalidated, mcStreamSynchronize(s));
    mcEvent_t e;
    ok(mcEventCreate(&e));
    fails(mcErrorStreamCaptureInvalidated, mcEventRecord(e, s));
    ok(mcEventQuery(e));
    fails(mcErrorStreamCaptureInvalidated, mcStreamWaitEvent(s, e, 0));
    ok(mcEventDestroy(e));
    fails(mcErrorStreamCaptureInvalidated,
          mcStreamUpdateCaptureDependencies(s, NULL, 0, 0));
    end(mcErrorStreamCaptureInvalidated);

    begin(mcStreamCaptureModeRelaxed, mcStreamNonBlocking);
    fails(mcErrorStreamCaptureUnsupported,
          mcMemPrefetchAsync(managed, 4096, 0, s));
    end(mcErrorStreamCaptureInvalidated);
    begin(mcStreamCaptureModeRelaxed, mcStreamNonBlocking);
    fails(mcErrorStreamCaptureUnsupported,
          mcStreamAttachMemAsync(s, managed, 0, mcMemAttachGlobal));
    end(mcErrorStreamCaptureInvalidated);
    begin(mcStreamCaptureModeRelaxed, mcStreamNonBlocking);
    fails(mcErrorStreamCaptureUnsupported,
          mcMemcpyWithStream(d, &word, 8, mcMemcpyHostToDevice, s));
    end(mcErrorStreamCaptureInvalidated);
    begin(mcStreamCaptureModeRelaxed, mcStreamNonBlocking);
    mcLaunchParams params = {.func = (void *)env_symbol("k_empty"),
                             .gridDim = {1, 1, 1},
                             .blockDim = {1, 1, 1},
                             .stream = s};
    fails(mcErrorStreamCaptureUnsupported,
          mcExtLaunchMultiKernelMultiDevice(&params, 1, 0));
    end(mcErrorStreamCaptureInvalidated);

    /* The source would be read when the graph is launched. */
    mcMemcpyAttributes attrs = {.srcAccessOrder =
                                    mcMemcpySrcAccessOrderDuringApiCall};
    void *dst = d, *src = &word;
    size_t size = 8, from = 0;
    begin(mcStreamCaptureModeRelaxed, mcStreamNonBlocking);
    fails(mcErrorStreamCaptureUnsupported,
          mcMemcpyBatchAsync(&dst, &src, &size, 1, &attrs, &from, 1, NULL, s));
    end(mcErrorStreamCaptureInvalidated);
    ok(mcFree(managed));
    ok(mcFree(d));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/capture-rules/begin-end", test_begin_end);
    g_test_add_func("/capture-rules/sync", test_sync);
    g_test_add_func("/capture-rules/events", test_events);
    g_test_add_func("/capture-rules/waits", test_waits);
    g_test_add_func("/capture-rules/unjoined", test_unjoined);
    g_test_add_func("/capture-rules/legacy", test_legacy);
    g_test_add_func("/capture-rules/unsafe", test_unsafe);
    g_test_add_func("/capture-rules/exchange", test_exchange);
    g_test_add_func("/capture-rules/unsupported", test_unsupported);
    return g_test_run();
}
