/* SPDX-License-Identifier: MIT */
/* What a capturing stream records: nodes, and the order between them. */
#include <sys/eventfd.h>

#include "env.h"

static mcStream_t s;

static void begin(void)
{
    ok(mcStreamCreate(&s));
    ok(mcStreamBeginCapture(s, mcStreamCaptureModeGlobal));
}

static mcGraph_t end(void)
{
    mcGraph_t graph = NULL;

    ok(mcStreamEndCapture(s, &graph));
    g_assert_nonnull(graph);
    ok(mcStreamDestroy(s));
    return graph;
}

static mcStreamCaptureStatus status_of(mcStream_t stream)
{
    mcStreamCaptureStatus status = 99;

    ok(mcStreamIsCapturing(stream, &status));
    return status;
}

/* The types of its nodes, in the order they were added, are these; without
 * edges "edges" says otherwise. */
static void check_graph(mcGraph_t graph, const mcGraphNodeType *types,
                        size_t count, size_t edges)
{
    mcGraphNode_t nodes[64];
    size_t n = G_N_ELEMENTS(nodes), e = 0;

    ok(mcGraphGetNodes(graph, nodes, &n));
    g_assert_cmpuint(n, ==, count);
    for (size_t i = 0; i < n; i++) {
        mcGraphNodeType type = mcGraphNodeTypeCount;

        ok(mcGraphNodeGetType(nodes[i], &type));
        g_assert_cmpint(type, ==, types[i]);
    }
    ok(mcGraphGetEdges(graph, NULL, NULL, &e));
    g_assert_cmpuint(e, ==, edges);
}

/* Whether there is an edge from one node to another, by their numbers. */
static bool edge(mcGraph_t graph, unsigned from, unsigned to)
{
    mcGraphNode_t nodes[64], first[64], second[64];
    size_t n = 64, e = 64;

    ok(mcGraphGetNodes(graph, nodes, &n));
    ok(mcGraphGetEdges(graph, first, second, &e));
    for (size_t i = 0; i < e; i++) {
        if (first[i] == nodes[from] && second[i] == nodes[to]) {
            return true;
        }
    }
    return false;
}

/* All are of that type, and in a row. */
static void check_row(mcGraph_t graph, mcGraphNodeType type, size_t count)
{
    mcGraphNodeType types[64];

    for (size_t i = 0; i < count; i++) {
        types[i] = type;
    }
    check_graph(graph, types, count, count ? count - 1 : 0);
    for (unsigned i = 1; i < count; i++) {
        g_assert_true(edge(graph, i - 1, i));
    }
    ok(mcGraphDestroy(graph));
}

static void test_empty(void)
{
    unsigned long long id = 0, again = 0;
    mcStreamCaptureStatus status;
    mcGraph_t graph = NULL;

    ok(mcStreamCreate(&s));
    g_assert_cmpint(status_of(s), ==, mcStreamCaptureStatusNone);
    for (int mode = 0; mode < 3; mode++) {
        ok(mcStreamBeginCapture(s, (mcStreamCaptureMode)mode));
        g_assert_cmpint(status_of(s), ==, mcStreamCaptureStatusActive);
        ok(mcStreamGetCaptureInfo(s, &status, &id, NULL, NULL, NULL));
        g_assert_cmpuint(id, >, again);
        again = id;
        ok(mcStreamEndCapture(s, &graph));
        g_assert_cmpint(status_of(s), ==, mcStreamCaptureStatusNone);
        check_graph(graph, NULL, 0, 0);
        ok(mcGraphDestroy(graph));
    }
    ok(mcStreamBeginCapture(mcStreamPerThread, mcStreamCaptureModeGlobal));
    g_assert_cmpint(status_of(mcStreamPerThread), ==,
                    mcStreamCaptureStatusActive);
    ok(mcStreamEndCapture(mcStreamPerThread, &graph));
    ok(mcGraphDestroy(graph));
    ok(mcStreamDestroy(s));
}

static void never(void *data)
{
    *(bool *)data = true;
}

/* One of each of the most usual kinds; nothing of it is done. */
static void test_line(void)
{
    static const mcGraphNodeType types[] = {
        mcGraphNodeTypeMemset, mcGraphNodeTypeMemcpy, mcGraphNodeTypeKernel,
        mcGraphNodeTypeHost, mcGraphNodeTypeMemcpy,
    };
    uint64_t in = 5, out = 7, *d = env_malloc(8);
    bool called = false;

    ok(mcMemcpy(d, &out, 8, mcMemcpyHostToDevice));
    begin();
    ok(mcMemsetAsync(d, 0, 8, s));
    ok(mcMemcpyAsync(d, &in, 8, mcMemcpyHostToDevice, s));
    ok(env_launch("k_store", 1, d, s));
    ok(mcLaunchHostFunc(s, never, &called));
    ok(mcMemcpyAsync(&out, d, 8, mcMemcpyDeviceToHost, s));
    mcGraph_t graph = end();
    check_graph(graph, types, 5, 4);
    for (unsigned i = 1; i < 5; i++) {
        g_assert_true(edge(graph, i - 1, i));
    }
    ok(mcDeviceSynchronize());
    g_assert_false(called);
    g_assert_cmpuint(out, ==, 7);
    ok(mcMemcpy(&in, d, 8, mcMemcpyDeviceToHost));
    g_assert_cmpuint(in, ==, 7);
    ok(mcGraphDestroy(graph));
    ok(mcFree(d));
}

static void test_kernels(void)
{
    uint64_t *d = env_malloc(8);
    void *args[] = {&d};
    size_t size = sizeof(d);
    void *extra[] = {MC_LAUNCH_PARAM_BUFFER_POINTER, &d,
                     MC_LAUNCH_PARAM_BUFFER_SIZE, &size, MC_LAUNCH_PARAM_END};
    mcFunction_t f = env_kernel("k_atomic");
    const void *symbol = env_symbol("k_atomic");
    dim3 one = {1, 1, 1};
    mcLaunchAttribute attributes[] = {
        {.id = mcLaunchAttributeCooperative, .val = {.cooperative = 1}},
        {.id = mcLaunchAttributePriority, .val = {.priority = -1}},
    };

    begin();
    mcLaunchConfig_t config = {one, one, 0, s, attributes, 2};
    mcLaunchConfigExtension driver = {.gridDimX = 1, .gridDimY = 1,
                                      .gridDimZ = 1, .blockDimX = 1,
                                      .blockDimY = 1, .blockDimZ = 1,
                                      .hStream = s, .attrs = attributes,
                                      .numAttrs = 2};
    ok(mcLaunchKernel(symbol, one, one, args, 0, s));
    ok(mcLaunchCooperativeKernel(symbol, one, one, args, 0, s));
    ok(mcModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
    ok(mcModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, extra));
    ok(mcModuleLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, s, args));
    ok(mcLaunchKernelExC(&config, symbol, args));
    ok(mcModuleLaunchKernelEx(&driver, f, args, NULL));
    /* What is wrong at once is no node, and the capture goes on. */
    fails(mcErrorInvalidConfiguration,
          mcModuleLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, s, args, NULL));
    fails(mcErrorInvalidValue,
          mcModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    check_row(end(), mcGraphNodeTypeKernel, 7);
    ok(mcFree(d));
}

static void test_copies(void)
{
    uint8_t *d = env_malloc(4096), *h = env_malloc_host(4096);
    uint8_t pageable[512];
    mcMemcpy3DParms box = {
        .srcPtr = {pageable, 8, 8, 8}, .dstPtr = {d, 64, 64, 8},
        .extent = {8, 8, 4}, .kind = mcMemcpyHostToDevice,
    };

    begin();
    ok(mcMemcpyAsync(d, pageable, 512, mcMemcpyHostToDevice, s));
    ok(mcMemcpyAsync(pageable, d, 512, mcMemcpyDeviceToHost, s));
    ok(mcMemcpyAsync(h, d, 512, mcMemcpyDefault, s));
    ok(mcMemcpyAsync(h, pageable, 512, mcMemcpyHostToHost, s));
    ok(mcMemcpyDtoDAsync(d, d + 2048, 512, s));
    ok(mcMemcpyDtoHAsync(h, d, 512, s));
    ok(mcMemcpyHtoDAsync(d, h, 512, s));
    ok(mcMemcpyPeerAsync(d, 0, d + 2048, 0, 512, s));
    ok(mcMemcpy2DAsync(d, 64, h, 32, 32, 8, mcMemcpyHostToDevice, s));
    ok(mcMemcpy3DAsync(&box, s));
    ok(mcMemcpyAsync(d, h, 0, mcMemcpyDefault, s)); /* no node */
    fails(mcErrorInvalidValue,
          mcMemcpyAsync(d, h, 512, mcMemcpyDeviceToHost, s));
    fails(mcErrorInvalidValue,
          mcMemcpyAsync(d, h, 4097, mcMemcpyHostToDevice, s));
    check_row(end(), mcGraphNodeTypeMemcpy, 10);
    ok(mcFree(d));
    ok(mcFreeHost(h));
}

static void test_fills(void)
{
    uint8_t *d = env_malloc(4096);
    mcPitchedPtr cube = {d, 64, 64, 8};

    begin();
    ok(mcMemsetAsync(d, 1, 64, s));
    ok(mcMemsetD8Async(d, 1, 64, s));
    ok(mcMemsetD16Async(d, 1, 64, s));
    ok(mcMemsetD32Async(d, 1, 64, s));
    ok(mcMemset2DAsync(d, 64, 1, 32, 8, s));
    ok(mcMemsetD2D32Async(d, 64, 1, 8, 8, s));
    ok(mcMemset3DAsync(cube, 1, (mcExtent){32, 8, 4}, s)); /* rows of one */
    ok(mcMemset3DAsync(cube, 1, (mcExtent){32, 4, 3}, s)); /* three slices */
    ok(mcMemsetAsync(d, 1, 0, s));                         /* no node */
    fails(mcErrorInvalidValue, mcMemsetD32Async(d + 1, 1, 8, s));
    check_row(end(), mcGraphNodeTypeMemset, 10);
    ok(mcFree(d));
}

static void test_words(void)
{
    uint64_t *h = env_malloc_host(64);
    mcStreamBatchMemOpParams ops[3] = {{.pad = {0}}};

    ops[0].operation = MC_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[0].writeValue.address = h;
    ops[1].operation = MC_STREAM_MEM_OP_BARRIER;
    ops[2].operation = MC_STREAM_MEM_OP_WAIT_VALUE_64;
    ops[2].waitValue.address = h;
    begin();
    ok(mcStreamWriteValue32(s, h, 1, 0));
    ok(mcStreamWriteValue64(s, h, 1, 0));
    ok(mcStreamWaitValue32(s, h, 1, MC_STREAM_WAIT_VALUE_EQ));
    ok(mcStreamWaitValue64(s, h, 1, MC_STREAM_WAIT_VALUE_GEQ));
    ok(mcStreamBatchMemOp(s, 3, ops, 0));
    ok(mcStreamBatchMemOp(s, 1, &ops[1], 0)); /* nothing to do: no node */
    fails(mcErrorInvalidValue, mcStreamWriteValue32(s, NULL, 1, 0));
    check_row(end(), mcGraphNodeTypeBatchMemOp, 5);
    ok(mcFreeHost(h));
}

/* Events and semaphores of others, as work of the graph. */
static void test_external(void)
{
    static const mcGraphNodeType types[] = {
        mcGraphNodeTypeEventRecord, mcGraphNodeTypeWaitEvent,
        mcGraphNodeTypeExtSemaphoreSignal, mcGraphNodeTypeExtSemaphoreWait,
    };
    mcExternalSemaphoreHandleDesc desc = {
        .type = mcExternalSemaphoreHandleTypeOpaqueFd,
        .handle = {.fd = eventfd(0, EFD_CLOEXEC)},
    };
    mcExternalSemaphoreSignalParams signal = {.flags = 0};
    mcExternalSemaphoreWaitParams wait = {.flags = 0};
    mcExternalSemaphore_t semaphore;
    mcEvent_t e;

    ok(mcImportExternalSemaphore(&semaphore, &desc));
    ok(mcEventCreate(&e));
    begin();
    ok(mcEventRecordWithFlags(e, s, mcEventRecordExternal));
    ok(mcStreamWaitEvent(s, e, mcEventWaitExternal));
    ok(mcSignalExternalSemaphoresAsync(&semaphore, &signal, 1, s));
    ok(mcWaitExternalSemaphoresAsync(&semaphore, &wait, 1, s));
    ok(mcWaitExternalSemaphoresAsync(NULL, NULL, 0, s)); /* no node */
    /* It is not captured, only named: it may be asked for. */
    ok(mcEventQuery(e));
    mcGraph_t graph = end();
    check_graph(graph, types, 4, 3);
    ok(mcGraphDestroy(graph));

    /* Nothing else has an outside. */
    fails(mcErrorInvalidValue,
          mcEventRecordWithFlags(e, NULL, mcEventRecordExternal));
    fails(mcErrorInvalidValue,
          mcStreamWaitEvent(NULL, e, mcEventWaitExternal));
    fails(mcErrorInvalidValue, mcEventRecordWithFlags(e, NULL, 2));
    fails(mcErrorInvalidValue, mcStreamWaitEvent(NULL, e, 2));
    ok(mcEventDestroy(e));
    ok(mcDestroyExternalSemaphore(semaphore));
}

/* ---- several streams ---- */

static void launch(mcStream_t stream)
{
    ok(mcModuleLaunchKernel(env_kernel("k_empty"), 1, 1, 1, 1, 1, 1, 0, stream,
                            NULL, NULL));
}

/* b waits for what is in a. */
static void follow(mcStream_t b, mcStream_t a)
{
    mcEvent_t e;

    ok(mcEventCreateWithFlags(&e, mcEventDisableTiming));
    ok(mcEventRecord(e, a));
    ok(mcStreamWaitEvent(b, e, 0));
    ok(mcEventDestroy(e));
}

/* 0 before 1 (s) and 2 (side), both before 3. */
static void test_fork(void)
{
    static const mcGraphNodeType types[4] = {0};
    mcStream_t side;

    ok(mcStreamCreateWithFlags(&side, mcStreamNonBlocking));
    begin();
    launch(s);
    follow(side, s);
    g_assert_cmpint(status_of(side), ==, mcStreamCaptureStatusActive);
    launch(s);
    launch(side);
    follow(s, side);
    launch(s);
    mcGraph_t graph = end();
    g_assert_cmpint(status_of(side), ==, mcStreamCaptureStatusNone);
    check_graph(graph, types, 4, 4);
    g_assert_true(edge(graph, 0, 1) && edge(graph, 0, 2));
    g_assert_true(edge(graph, 1, 3) && edge(graph, 2, 3));
    ok(mcGraphDestroy(graph));
    /* It is a stream like any other again. */
    launch(side);
    ok(mcStreamSynchronize(side));
    ok(mcStreamDestroy(side));
}

/* A stream that joins before anything was captured begins a root, and one that
 * joins through another one is of the same capture. */
static void test_fork_first(void)
{
    static const mcGraphNodeType types[3] = {0};
    unsigned long long id = 0, other = 1;
    mcStreamCaptureStatus status;
    mcStream_t a, b;

    ok(mcStreamCreate(&a));
    ok(mcStreamCreate(&b));
    begin();
    follow(a, s);
    follow(b, a);
    ok(mcStreamGetCaptureInfo(s, &status, &id, NULL, NULL, NULL));
    ok(mcStreamGetCaptureInfo(b, &status, &other, NULL, NULL, NULL));
    g_assert_cmpuint(id, ==, other);
    launch(b);
    launch(s);
    follow(s, b); /* and through it what a did: nothing */
    launch(s);
    follow(a, s); /* again; it has no work of its own */
    mcGraph_t graph = end();
    check_graph(graph, types, 3, 2);
    g_assert_true(edge(graph, 0, 2) && edge(graph, 1, 2));
    ok(mcGraphDestroy(graph));
    ok(mcStreamDestroy(a));
    ok(mcStreamDestroy(b));
}

/* An event stands for what was before its last record. */
static void test_event_again(void)
{
    static const mcGraphNodeType types[4] = {0};
    mcStream_t side;
    mcEvent_t e;

    ok(mcStreamCreate(&side));
    ok(mcEventCreate(&e));
    begin();
    launch(s);
    ok(mcEventRecord(e, s));
    launch(s);
    ok(mcStreamWaitEvent(side, e, 0));
    launch(side); /* behind 0 alone */
    ok(mcEventRecord(e, side));
    ok(mcStreamWaitEvent(s, e, 0));
    ok(mcStreamWaitEvent(s, e, 0));
    launch(s);
    mcGraph_t graph = end();
    check_graph(graph, types, 4, 4);
    g_assert_true(edge(graph, 0, 2) && !edge(graph, 1, 2));
    g_assert_true(edge(graph, 1, 3) && edge(graph, 2, 3));
    ok(mcGraphDestroy(graph));
    /* Recorded elsewhere it is an event like any other. */
    ok(mcEventRecord(e, side));
    ok(mcEventSynchronize(e));
    ok(mcStreamWaitEvent(NULL, e, 0));
    ok(mcEventDestroy(e));
    ok(mcStreamDestroy(side));
}

/* ---- the set of nodes that the next one comes behind ---- */

static void test_info(void)
{
    mcStreamCaptureStatus status = 99;
    unsigned long long id = 7;
    mcGraph_t graph = NULL, got = NULL;
    const mcGraphNode_t *nodes = NULL;
    mcGraphNode_t first;
    size_t n = 7;

    ok(mcStreamCreate(&s));
    ok(mcStreamGetCaptureInfo(s, &status, &id, &graph, &nodes, &n));
    g_assert_cmpint(status, ==, mcStreamCaptureStatusNone);
    g_assert_true(id == 7 && !graph && !nodes && n == 7);
    fails(mcErrorInvalidValue,
          mcStreamGetCaptureInfo(s, NULL, &id, &graph, &nodes, &n));
    fails(mcErrorInvalidValue,
          mcStreamGetCaptureInfo_v2(s, NULL, NULL, NULL, NULL, NULL));
    ok(mcStreamBeginCapture(s, mcStreamCaptureModeGlobal));
    ok(mcStreamGetCaptureInfo(s, &status, &id, &graph, &nodes, &n));
    g_assert_cmpint(status, ==, mcStreamCaptureStatusActive);
    g_assert_true(id != 7 && graph && n == 0);
    launch(s);
    ok(mcStreamGetCaptureInfo_v2(s, &status, NULL, &got, &nodes, &n));
    g_assert_true(got == graph && n == 1);
    first = nodes[0];
    launch(s);
    ok(mcStreamGetCaptureInfo(s, &status, NULL, NULL, &nodes, &n));
    g_assert_true(n == 1 && nodes[0] != first);
    ok(mcStreamGetCaptureInfo(s, &status, NULL, NULL, NULL, NULL));
    /* Once it is invalid only that is told. */
    id = 7;
    fails(mcErrorStreamCaptureUnsupported, mcStreamQuery(s));
    ok(mcStreamGetCaptureInfo(s, &status, &id, NULL, NULL, NULL));
    g_assert_cmpint(status, ==, mcStreamCaptureStatusInvalidated);
    g_assert_cmpuint(id, ==, 7);
    fails(mcErrorStreamCaptureInvalidated, mcStreamEndCapture(s, &got));
    /* Its graph is gone with it. */
    fails(mcErrorInvalidValue, mcGraphDestroy(graph));
    ok(mcStreamDestroy(s));
}

/* Nodes added by hand, in the order of the stream. */
static void test_update(void)
{
    static const mcGraphNodeType types[] = {
        mcGraphNodeTypeKernel, mcGraphNodeTypeEmpty, mcGraphNodeTypeKernel,
        mcGraphNodeTypeEmpty, mcGraphNodeTypeKernel,
    };
    mcStreamCaptureStatus status;
    mcGraph_t graph;
    const mcGraphNode_t *nodes;
    mcGraphNode_t added;
    mcStream_t side;
    size_t n;

    ok(mcStreamCreate(&side));
    begin();
    launch(s); /* 0 */
    ok(mcStreamGetCaptureInfo(s, &status, NULL, &graph, &nodes, &n));
    ok(mcGraphAddEmptyNode(&added, graph, NULL, 0)); /* 1 */
    ok(mcStreamUpdateCaptureDependencies(s, &added, 1,
                                         mcStreamAddCaptureDependencies));
    ok(mcStreamUpdateCaptureDependencies(s, &added, 1,
                                         mcStreamAddCaptureDependencies));
    ok(mcStreamGetCaptureInfo(s, &status, NULL, &graph, &nodes, &n));
    g_assert_true(n == 2 && nodes[1] == added);
    ok(mcStreamUpdateCaptureDependencies(s, NULL, 0,
                                         mcStreamAddCaptureDependencies));
    follow(side, s);
    launch(side); /* 2, behind 0 and 1 */
    follow(s, side);
    ok(mcGraphAddEmptyNode(&added, graph, &added, 1)); /* 3, behind 1 */
    ok(mcStreamUpdateCaptureDependencies(s, &added, 1,
                                         mcStreamSetCaptureDependencies));
    launch(s); /* 4, behind 3 alone: 2 was joined all the same */
    graph = end();
    check_graph(graph, types, 5, 4);
    g_assert_true(edge(graph, 0, 2) && edge(graph, 1, 2));
    g_assert_true(edge(graph, 1, 3) && edge(graph, 3, 4));
    ok(mcGraphDestroy(graph));

    /* Without any, the next one is a root. */
    begin();
    launch(s);
    ok(mcStreamUpdateCaptureDependencies(s, NULL, 0,
                                         mcStreamSetCaptureDependencies));
    launch(s);
    graph = end();
    check_graph(graph, (mcGraphNodeType[2]){0}, 2, 0);
    ok(mcGraphDestroy(graph));
    ok(mcStreamDestroy(side));
}

static void test_update_errors(void)
{
    mcGraphNode_t nodes[2] = {NULL, NULL};
    mcGraph_t graph, other;
    mcStreamCaptureStatus status;

    ok(mcGraphCreate(&other, 0));
    ok(mcGraphAddEmptyNode(&nodes[1], other, NULL, 0));
    ok(mcStreamCreate(&s));
    fails(mcErrorIllegalState,
          mcStreamUpdateCaptureDependencies(s, nodes, 1, 0));
    fails(mcErrorIllegalState,
          mcStreamUpdateCaptureDependencies(NULL, nodes, 1, 0));
    ok(mcStreamBeginCapture(s, mcStreamCaptureModeGlobal));
    ok(mcStreamGetCaptureInfo(s, &status, NULL, &graph, NULL, NULL));
    ok(mcGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    fails(mcErrorInvalidValue,
          mcStreamUpdateCaptureDependencies(s, NULL, 1, 0));
    fails(mcErrorInvalidValue,
          mcStreamUpdateCaptureDependencies(s, nodes, 1, 2));
    for (unsigned flags = 0; flags < 2; flags++) {
        /* One is of another graph, or gone: neither is taken. */
        fails(mcErrorInvalidValue,
              mcStreamUpdateCaptureDependencies(s, nodes, 2, flags));
    }
    ok(mcGraphDestroy(other));
    fails(mcErrorInvalidValue,
          mcStreamUpdateCaptureDependencies(s, nodes, 2, 0));
    launch(s);
    size_t edges;
    ok(mcGraphGetEdges(graph, NULL, NULL, &edges));
    g_assert_cmpuint(edges, ==, 0);
    ok(mcGraphDestroy(end()));

    /* What the user takes away is missing. */
    const mcGraphNode_t *tips;
    begin();
    launch(s);
    ok(mcStreamGetCaptureInfo(s, &status, NULL, &graph, &tips, NULL));
    ok(mcGraphDestroyNode(tips[0]));
    fails(mcErrorInvalidValue, env_launch("k_store", 1, NULL, s));
    fails(mcErrorStreamCaptureInvalidated, mcStreamEndCapture(s, &graph));
    ok(mcStreamBeginCapture(s, mcStreamCaptureModeGlobal));
    ok(mcStreamGetCaptureInfo(s, &status, NULL, &graph, NULL, NULL));
    ok(mcGraphDestroy(graph));
    fails(mcErrorInvalidValue, env_launch("k_store", 1, NULL, s));
    fails(mcErrorStreamCaptureInvalidated, mcStreamEndCapture(s, &graph));
    ok(mcStreamBeginCapture(s, mcStreamCaptureModeGlobal));
    ok(mcStreamGetCaptureInfo(s, &status, NULL, &graph, NULL, NULL));
    ok(mcGraphDestroy(graph));
    fails(mcErrorStreamCaptureInvalidated, mcStreamEndCapture(s, &graph));
    g_assert_null(graph);
    ok(mcStreamDestroy(s));
}

/* Work before and behind the capture, and of other streams, is not in it. */
static void test_around(void)
{
    uint64_t out = 9, *d = env_malloc(8);
    mcStream_t other;

    ok(mcStreamCreateWithFlags(&other, mcStreamNonBlocking));
    ok(mcMemset(d, 0, 8));
    ok(mcStreamCreate(&s));
    ok(env_launch("k_atomic", 1, d, s));
    ok(mcStreamSynchronize(s));
    ok(mcStreamDestroy(s));
    begin();
    ok(env_launch("k_atomic", 1, d, s));
    ok(env_launch("k_atomic", 1, d, other));
    check_row(end(), mcGraphNodeTypeKernel, 1);
    ok(mcStreamSynchronize(other));
    ok(env_launch("k_atomic", 1, d, other));
    ok(mcStreamSynchronize(other));
    ok(mcMemcpy(&out, d, 8, mcMemcpyDeviceToHost));
    g_assert_cmpuint(out, ==, 3);
    ok(mcStreamDestroy(other));
    ok(mcFree(d));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/capture/empty", test_empty);
    g_test_add_func("/capture/line", test_line);
    g_test_add_func("/capture/kernels", test_kernels);
    g_test_add_func("/capture/copies", test_copies);
    g_test_add_func("/capture/fills", test_fills);
    g_test_add_func("/capture/words", test_words);
    g_test_add_func("/capture/external", test_external);
    g_test_add_func("/capture/fork", test_fork);
    g_test_add_func("/capture/fork-first", test_fork_first);
    g_test_add_func("/capture/event-again", test_event_again);
    g_test_add_func("/capture/info", test_info);
    g_test_add_func("/capture/update", test_update);
    g_test_add_func("/capture/update-errors", test_update_errors);
    g_test_add_func("/capture/around", test_around);
    return g_test_run();
}
