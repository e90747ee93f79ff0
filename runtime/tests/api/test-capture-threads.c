/* SPDX-License-Identifier: MIT */
/* Captures and other threads; what goes while it captures. */
#include <pthread.h>

#include "env.h"

#define THREADS 4
#define ROUNDS  20

static mcStream_t s, other;
static mcEvent_t event;

static void launch(mcStream_t stream)
{
    ok(mcModuleLaunchKernel(env_kernel("k_empty"), 1, 1, 1, 1, 1, 1, 0, stream,
                            NULL, NULL));
}

/* b waits for what is in a. */
static void follow(mcStream_t b, mcStream_t a)
{
    mcEvent_t e;

    ok(mcEventCreate(&e));
    ok(mcEventRecord(e, a));
    ok(mcStreamWaitEvent(b, e, 0));
    ok(mcEventDestroy(e));
}

/* Ends it; without an error it has that many nodes. */
static void end(mcError_t error, size_t nodes)
{
    mcGraph_t graph = (mcGraph_t)&graph;
    size_t n = 99;

    fails(error, mcStreamEndCapture(s, &graph));
    if (error == mcSuccess) {
        ok(mcGraphGetNodes(graph, NULL, &n));
        g_assert_cmpuint(n, ==, nodes);
        ok(mcGraphDestroy(graph));
    } else {
        g_assert_null(graph);
    }
}

/* ---- modes ---- */

typedef struct Call {
    mcError_t (*call)(void);
    mcStreamCaptureMode mode; /* of the thread */
    mcError_t result;
} Call;

static mcError_t sync_stream(void)
{
    return mcStreamSynchronize(other);
}

static mcError_t query_event(void)
{
    return mcEventQuery(event);
}

static mcError_t allocate(void)
{
    void *p = NULL;
    mcError_t error = mcMalloc(&p, 8);

    return error == mcSuccess ? mcFree(p) : error;
}

static mcError_t sync_device(void)
{
    return mcDeviceSynchronize();
}

static mcError_t work(void)
{
    launch(other);
    return mcEventRecord(event, other);
}

static mcError_t end_there(void)
{
    mcGraph_t graph = NULL;
    mcError_t error = mcStreamEndCapture(s, &graph);

    return error == mcSuccess ? mcGraphDestroy(graph) : error;
}

static void *caller(void *opaque)
{
    Call *call = opaque;
    mcStreamCaptureMode mode = call->mode;

    ok(mcThreadExchangeStreamCaptureMode(&mode));
    g_assert_cmpint(mode, ==, mcStreamCaptureModeGlobal);
    call->result = call->call();
    return NULL;
}

/* What another thread in that mode is told. */
static mcError_t elsewhere(mcError_t (*f)(void), mcStreamCaptureMode mode)
{
    Call call = {f, mode, mcErrorUnknown};
    pthread_t t;

    pthread_create(&t, NULL, caller, &call);
    pthread_join(t, NULL);
    return call.result;
}

static void test_modes(void)
{
    static mcError_t (*const calls[])(void) = {
        sync_stream, query_event, allocate,
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
        for (int mine = 0; mine < 3; mine++) {
            for (int theirs = 0; theirs < 3; theirs++) {
                bool good = mine || theirs;

                ok(mcStreamBeginCapture(s, (mcStreamCaptureMode)mine));
                fails(good ? mcSuccess : mcErrorStreamCaptureUnsupported,
                      elsewhere(calls[i], (mcStreamCaptureMode)theirs));
                end(good ? mcSuccess : mcErrorStreamCaptureInvalidated, 0);
            }
        }
    }
    for (int mode = 0; mode < 3; mode++) {
        /* What concerns nobody, and what concerns all. */
        ok(mcStreamBeginCapture(s, (mcStreamCaptureMode)mode));
        ok(elsewhere(work, mcStreamCaptureModeGlobal));
        end(mcSuccess, 0);
        ok(mcStreamBeginCapture(s, (mcStreamCaptureMode)mode));
        fails(mcErrorStreamCaptureUnsupported,
              elsewhere(sync_device, mcStreamCaptureModeRelaxed));
        end(mcErrorStreamCaptureInvalidated, 0);
    }
}

static void test_wrong_thread(void)
{
    for (int mode = 0; mode < 2; mode++) {
        ok(mcStreamBeginCapture(s, (mcStreamCaptureMode)mode));
        launch(s);
        fails(mcErrorStreamCaptureWrongThread,
              elsewhere(end_there, mcStreamCaptureModeRelaxed));
        end(mcSuccess, 1); /* it goes on */
    }
    ok(mcStreamBeginCapture(s, mcStreamCaptureModeRelaxed));
    ok(elsewhere(end_there, mcStreamCaptureModeGlobal));
    fails(mcErrorIllegalState, mcStreamEndCapture(s, NULL));
}

/* ---- many at once ---- */

/* A capture of its own. */
static void *capturer(void *opaque)
{
    mcStreamCaptureMode mode = GPOINTER_TO_UINT(opaque) % 3;
    mcStream_t mine, side;

    ok(mcStreamCreateWithFlags(&mine, mcStreamNonBlocking));
    ok(mcStreamCreateWithFlags(&side, mcStreamNonBlocking));
    for (unsigned round = 0; round < ROUNDS; round++) {
        mcGraph_t graph = NULL;
        size_t n;

        ok(mcStreamBeginCapture(mine, mode));
        for (unsigned i = 0; i < round; i++) {
            launch(mine);
            follow(side, mine);
            launch(side);
            follow(mine, side);
        }
        ok(mcStreamEndCapture(mine, &graph));
        ok(mcGraphGetNodes(graph, NULL, &n));
        g_assert_cmpuint(n, ==, 2 * round);
        ok(mcGraphDestroy(graph));
    }
    ok(mcStreamDestroy(mine));
    ok(mcStreamDestroy(side));
    return NULL;
}

/* A branch of one capture. */
static void *branch(void *opaque)
{
    mcStream_t stream = opaque;
    mcStreamCaptureStatus status;
    mcGraph_t graph;
    size_t n;

    for (unsigned i = 0; i < ROUNDS; i++) {
        launch(stream);
        ok(mcStreamGetCaptureInfo(stream, &status, NULL, &graph, NULL, &n));
        g_assert_cmpint(status, ==, mcStreamCaptureStatusActive);
        g_assert_cmpuint(n, ==, 1);
    }
    return NULL;
}

static void test_parallel(void)
{
    pthread_t t[THREADS];
    mcStream_t streams[THREADS];

    launch(other); /* the module is there */
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_create(&t[i], NULL, capturer, GUINT_TO_POINTER(i));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
    }
    ok(mcStreamBeginCapture(s, mcStreamCaptureModeThreadLocal));
    for (unsigned i = 0; i < THREADS; i++) {
        ok(mcStreamCreate(&streams[i]));
        follow(streams[i], s);
        pthread_create(&t[i], NULL, branch, streams[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        follow(s, streams[i]);
        ok(mcStreamDestroy(streams[i]));
    }
    end(mcSuccess, THREADS * ROUNDS);
}

/* ---- what goes meanwhile ---- */

/* Streams come and go as others begin and end. */
static void test_destroyed(void)
{
    mcStreamCaptureStatus status;
    mcStream_t first, side;

    /* The origin: it is over, for all. */
    ok(mcStreamCreate(&first));
    ok(mcStreamCreate(&side));
    ok(mcStreamBeginCapture(first, mcStreamCaptureModeGlobal));
    launch(first);
    follow(side, first);
    launch(side);
    ok(mcStreamDestroy(first));
    ok(mcStreamIsCapturing(side, &status));
    g_assert_cmpint(status, ==, mcStreamCaptureStatusNone);
    launch(side);
    ok(mcStreamSynchronize(side));
    ok(mcDeviceSynchronize());

    /* Another one, joined before and not. */
    ok(mcStreamBeginCapture(s, mcStreamCaptureModeGlobal));
    follow(side, s);
    launch(side);
    follow(s, side);
    ok(mcStreamDestroy(side));
    end(mcSuccess, 1);
    ok(mcStreamCreate(&side));
    ok(mcStreamBeginCapture(s, mcStreamCaptureModeGlobal));
    follow(side, s);
    launch(side);
    ok(mcStreamDestroy(side));
    end(mcErrorStreamCaptureUnjoined, 0);

    /* An event outlives the stream it was recorded in. */
    ok(mcStreamCreate(&side));
    ok(mcStreamBeginCapture(s, mcStreamCaptureModeGlobal));
    follow(side, s);
    launch(side);
    ok(mcEventRecord(event, side));
    ok(mcStreamDestroy(side));
    ok(mcStreamWaitEvent(s, event, 0));
    launch(s);
    end(mcSuccess, 2);
    ok(mcEventRecord(event, s));
}

static void *leave_capturing(void *opaque)
{
    ok(mcStreamBeginCapture(mcStreamPerThread, mcStreamCaptureModeGlobal));
    launch(mcStreamPerThread);
    return NULL;
}

static void test_thread_ends(void)
{
    pthread_t t;

    pthread_create(&t, NULL, leave_capturing, NULL);
    pthread_join(t, NULL);
    ok(mcDeviceSynchronize()); /* its stream went with it */
    ok(allocate());
}

static void test_reset(void)
{
    mcGraph_t graph = NULL;
    mcStream_t mine, side;

    ok(mcStreamCreate(&mine));
    ok(mcStreamCreate(&side));
    ok(mcStreamBeginCapture(mine, mcStreamCaptureModeGlobal));
    launch(mine);
    follow(side, mine);
    launch(side);
    ok(mcDeviceReset());
    env_forget();
    fails(mcErrorInvalidResourceHandle, mcStreamEndCapture(mine, &graph));
    ok(allocate());
    ok(mcDeviceSynchronize());
    ok(mcStreamCreate(&mine));
    ok(mcStreamBeginCapture(mine, mcStreamCaptureModeGlobal));
    ok(mcStreamEndCapture(mine, &graph));
    ok(mcGraphDestroy(graph));
    ok(mcStreamDestroy(mine));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    ok(mcStreamCreateWithFlags(&other, mcStreamNonBlocking));
    ok(mcEventCreate(&event));
    ok(mcEventRecord(event, other));
    ok(mcDeviceSynchronize());
    g_test_add_func("/capture-threads/modes", test_modes);
    g_test_add_func("/capture-threads/wrong-thread", test_wrong_thread);
    g_test_add_func("/capture-threads/parallel", test_parallel);
    g_test_add_func("/capture-threads/destroyed", test_destroyed);
    g_test_add_func("/capture-threads/thread-ends", test_thread_ends);
    g_test_add_func("/capture-threads/reset", test_reset);
    return g_test_run();
}
