/* SPDX-License-Identifier: MIT */
/* Captured graphs, from the capture to the results of many launches. */
#include "env.h"

#define N      1000
#define ROUNDS 20

static mcStream_t s;

static void begin(void)
{
    ok(mcStreamBeginCapture(s, mcStreamCaptureModeGlobal));
}

static mcGraph_t end(void)
{
    mcGraph_t graph = NULL;

    ok(mcStreamEndCapture(s, &graph));
    return graph;
}

/* Takes the graph. */
static mcGraphExec_t ready(mcGraph_t graph)
{
    mcGraphExec_t exec = NULL;

    ok(mcGraphInstantiate(&exec, graph, NULL, NULL, 0));
    ok(mcGraphDestroy(graph));
    return exec;
}

static void run(mcGraphExec_t exec)
{
    ok(mcGraphLaunch(exec, s));
    ok(mcStreamSynchronize(s));
}

static void add(uint32_t *d, uint32_t value, mcStream_t stream)
{
    uint32_t n = N;
    void *args[] = {&d, &n, &value};

    ok(mcModuleLaunchKernel(env_kernel("k_add"), (N + 63) / 64, 1, 1, 64, 1, 1,
                            0, stream, args, NULL));
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

static size_t node_count(mcGraph_t graph)
{
    size_t n = 0;

    ok(mcGraphGetNodes(graph, NULL, &n));
    return n;
}

/* In and out, by memory that is pinned and that is not. */
static void test_line(void)
{
    uint32_t *pinned = env_malloc_host(4 * N), *d = env_malloc(4 * N);
    g_autofree uint32_t *pageable = g_malloc(4 * N);

    for (int i = 0; i < 4; i++) {
        uint32_t *in = i & 1 ? pinned : pageable;
        uint32_t *out = i & 2 ? pinned : pageable;

        begin();
        ok(mcMemcpyAsync(d, in, 4 * N, mcMemcpyHostToDevice, s));
        add(d, 3, s);
        add(d, 4, s);
        ok(mcMemcpyAsync(out, d, 4 * N, mcMemcpyDeviceToHost, s));
        mcGraphExec_t exec = ready(end());
        for (uint32_t round = 0; round < ROUNDS; round++) {
            for (uint32_t k = 0; k < N; k++) {
                in[k] = k * round;
            }
            run(exec);
            for (uint32_t k = 0; k < N; k++) {
                g_assert_cmpuint(out[k], ==, k * round + 7);
            }
        }
        ok(mcGraphExecDestroy(exec));
    }
    ok(mcFree(d));
    ok(mcFreeHost(pinned));
}

/* Two branches, made as a library would, that meet again; in one launch each is
 * done once, and the order holds from launch to launch. */
static mcGraph_t capture_fork(uint32_t *a, uint32_t *b, uint32_t *out,
                              uint32_t value)
{
    mcStream_t side;

    ok(mcStreamCreateWithFlags(&side, mcStreamNonBlocking));
    begin();
    add(a, 1, s);
    follow(side, s);
    ok(mcMemcpyAsync(b, a, 4 * N, mcMemcpyDeviceToDevice, side));
    add(b, value, side);
    ok(mcMemcpyAsync(out, a, 4 * N, mcMemcpyDeviceToHost, s));
    follow(s, side);
    ok(mcMemcpyAsync(out + N, b, 4 * N, mcMemcpyDeviceToHost, s));
    mcGraph_t graph = end();
    ok(mcStreamDestroy(side));
    return graph;
}

static void check_fork(mcGraphExec_t exec, uint32_t *a, const uint32_t *out,
                       uint32_t value)
{
    ok(mcMemset(a, 0, 4 * N));
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        run(exec);
        for (uint32_t k = 0; k < N; k++) {
            g_assert_cmpuint(out[k], ==, round);
            g_assert_cmpuint(out[N + k], ==, round + value);
        }
    }
    /* Many at once, and not one of them waited for. */
    for (uint32_t round = 0; round < ROUNDS; round++) {
        ok(mcGraphLaunch(exec, s));
    }
    ok(mcStreamSynchronize(s));
    g_assert_cmpuint(out[2 * N - 1], ==, 2 * ROUNDS + value);
}

/* ... and captured again each time, what has changed goes into the executable
 * graph. */
static void test_update(void)
{
    uint32_t *out = env_malloc_host(8 * N);
    uint32_t *a = env_malloc(4 * N), *b = env_malloc(4 * N);
    mcGraphExecUpdateResult result;
    mcGraphNode_t bad;
    mcGraph_t graph = capture_fork(a, b, out, 10);

    g_assert_cmpuint(node_count(graph), ==, 5);
    mcGraphExec_t exec = ready(graph);
    check_fork(exec, a, out, 10);
    for (uint32_t value = 20; value < 25; value++) {
        graph = capture_fork(a, b, out, value);
        ok(mcGraphExecUpdate(exec, graph, &bad, &result));
        g_assert_cmpint(result, ==, mcGraphExecUpdateSuccess);
        ok(mcGraphDestroy(graph));
        check_fork(exec, a, out, value);
    }
    /* Other work in the capture: it has to be made anew. */
    begin();
    add(a, 1, s);
    graph = end();
    fails(mcErrorGraphExecUpdateFailure,
          mcGraphExecUpdate(exec, graph, &bad, &result));
    g_assert_cmpint(result, ==, mcGraphExecUpdateErrorTopologyChanged);
    ok(mcGraphDestroy(graph));
    check_fork(exec, a, out, 24); /* as it was */
    ok(mcGraphExecDestroy(exec));
    ok(mcFree(a));
    ok(mcFree(b));
    ok(mcFreeHost(out));
}

/* ---- the other kinds ---- */

typedef struct Calls {
    uint32_t *word; /* pinned */
    unsigned count;
    uint32_t seen;
} Calls;

static void called(void *opaque)
{
    Calls *calls = opaque;

    calls->count++;
    calls->seen = *calls->word;
}

/* Fills of all shapes, words, and a function between them. */
static void test_kinds(void)
{
    uint32_t *h = env_malloc_host(4096), *d = env_malloc(4096);
    Calls calls = {h + 1000, 0, 0};

    begin();
    ok(mcMemsetAsync(d, 0, 4096, s));
    ok(mcMemsetD32Async(d, 0x01020304, 16, s));
    ok(mcMemset2DAsync(d + 16, 32, 5, 4, 4, s));
    ok(mcMemset3DAsync((mcPitchedPtr){d + 64, 16, 16, 4}, 6,
                       (mcExtent){4, 2, 3}, s));
    ok(mcMemcpy2DAsync(h + 512, 8, d, 4, 4, 16, mcMemcpyDeviceToHost, s));
    ok(mcMemcpyAsync(h, d, 1024, mcMemcpyDeviceToHost, s));
    ok(mcStreamWriteValue32(s, calls.word, 77, 0));
    ok(mcLaunchHostFunc(s, called, &calls));
    ok(mcStreamWriteValue32(s, calls.word, 78, 0));
    ok(mcStreamWaitValue32(s, calls.word, 78, MC_STREAM_WAIT_VALUE_EQ));
    mcGraphExec_t exec = ready(end());
    for (unsigned round = 1; round <= ROUNDS; round++) {
        memset(h, 0xff, 4096);
        run(exec);
        g_assert_cmpuint(calls.count, ==, round);
        g_assert_cmpuint(calls.seen, ==, 77);
        g_assert_cmpuint(*calls.word, ==, 78);
        for (unsigned i = 0; i < 256; i++) {
            unsigned z = (i - 64) / 16, y = (i - 64) % 16 / 4;
            uint32_t want = i < 16                           ? 0x01020304
                            : i < 48 && i % 8 == 0           ? 0x05050505
                            : i >= 64 && z < 3 && y < 2 && i % 4 == 0
                                ? 0x06060606
                                : 0;

            g_assert_cmphex(h[i], ==, want);
        }
        for (unsigned i = 0; i < 16; i++) {
            g_assert_cmphex(h[512 + 2 * i], ==, 0x01020304);
            g_assert_cmphex(h[513 + 2 * i], ==, 0xffffffff);
        }
    }
    ok(mcGraphExecDestroy(exec));
    ok(mcFree(d));
    ok(mcFreeHost(h));
}

/* Events of the world outside. */
static void test_external_events(void)
{
    uint32_t *gate = env_malloc_host(8), *out = env_malloc_host(8);
    mcStream_t other;
    mcEvent_t go, done;

    *gate = *out = 0;
    ok(mcStreamCreateWithFlags(&other, mcStreamNonBlocking));
    ok(mcEventCreate(&go));
    ok(mcEventCreate(&done));
    begin();
    ok(mcStreamWaitEvent(s, go, mcEventWaitExternal));
    ok(mcStreamWriteValue32(s, out, 1, 0));
    ok(mcEventRecordWithFlags(done, s, mcEventRecordExternal));
    mcGraphExec_t exec = ready(end());
    ok(mcStreamWaitValue32(other, gate, 1, MC_STREAM_WAIT_VALUE_EQ));
    ok(mcEventRecord(go, other));
    ok(mcGraphLaunch(exec, s));
    fails(mcErrorNotReady, mcEventQuery(done));
    g_assert_cmpuint(__atomic_load_n(out, __ATOMIC_ACQUIRE), ==, 0);
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    ok(mcEventSynchronize(done));
    g_assert_cmpuint(__atomic_load_n(out, __ATOMIC_ACQUIRE), ==, 1);
    ok(mcStreamSynchronize(s));
    ok(mcGraphExecDestroy(exec));
    ok(mcEventDestroy(go));
    ok(mcEventDestroy(done));
    ok(mcStreamDestroy(other));
    ok(mcFreeHost(gate));
    ok(mcFreeHost(out));
}

/* A graph that is launched in a capture is a part of the captured one. */
static void test_child(void)
{
    uint64_t out = 0, *d = env_malloc(8);
    mcGraphNode_t node;
    mcGraphNodeType type;
    size_t n = 1;

    begin();
    ok(env_launch("k_atomic", 1, d, s));
    ok(env_launch("k_atomic", 1, d, s));
    mcGraphExec_t inner = ready(end());
    begin();
    ok(mcGraphLaunch(inner, s));
    ok(env_launch("k_atomic", 1, d, s));
    ok(mcGraphLaunch(inner, s));
    mcGraph_t graph = end();
    g_assert_cmpuint(node_count(graph), ==, 3);
    ok(mcGraphGetNodes(graph, &node, &n));
    ok(mcGraphNodeGetType(node, &type));
    g_assert_cmpint(type, ==, mcGraphNodeTypeGraph);
    mcGraphExec_t outer = ready(graph);
    ok(mcGraphExecDestroy(inner)); /* it has a copy */
    ok(mcMemset(d, 0, 8));
    for (unsigned round = 0; round < ROUNDS; round++) {
        run(outer);
    }
    ok(mcMemcpy(&out, d, 8, mcMemcpyDeviceToHost));
    g_assert_cmpuint(out, ==, 5 * ROUNDS);
    ok(mcGraphExecDestroy(outer));
    ok(mcFree(d));
}

/* Memory that lives in the graph, and memory that outlives a launch. */
static void test_memory(void)
{
    uint32_t *h = env_malloc_host(4 * N);
    void *inside = NULL, *beyond = NULL, *plain = NULL;

    ok(mcMallocAsync(&plain, 64, s));
    begin();
    ok(mcMallocAsync(&inside, 4 * N, s));
    g_assert_nonnull(inside);
    ok(mcMemsetAsync(inside, 0, 4 * N, s));
    add(inside, 5, s);
    ok(mcMallocAsync(&beyond, 4 * N, s));
    ok(mcMemcpyAsync(beyond, inside, 4 * N, mcMemcpyDeviceToDevice, s));
    ok(mcFreeAsync(inside, s));
    /* What no graph has allocated, no graph frees. */
    fails(mcErrorInvalidValue, mcFreeAsync(plain, s));
    mcGraph_t graph = end();
    g_assert_cmpuint(node_count(graph), ==, 6);
    mcGraphExec_t exec = ready(graph);
    for (unsigned round = 0; round < ROUNDS; round++) {
        memset(h, 0, 4 * N);
        ok(mcGraphLaunch(exec, s));
        ok(mcMemcpyAsync(h, beyond, 4 * N, mcMemcpyDeviceToHost, s));
        ok(mcFreeAsync(beyond, s));
        ok(mcStreamSynchronize(s));
        for (unsigned i = 0; i < N; i++) {
            g_assert_cmpuint(h[i], ==, 5);
        }
    }
    ok(mcGraphExecDestroy(exec));
    ok(mcFreeAsync(plain, s));
    ok(mcStreamSynchronize(s));
    ok(mcFreeHost(h));
}

/* A stream of another device joins. */
static void test_devices(void)
{
    uint32_t *h, *here, *there;
    mcStream_t far;
    mcEvent_t e;

    env_two_devices();
    h = env_malloc_host(4 * N);
    here = env_malloc(4 * N);
    ok(mcSetDevice(1));
    there = env_malloc(4 * N);
    ok(mcStreamCreate(&far));
    ok(mcEventCreate(&e));
    ok(mcSetDevice(0));
    begin();
    ok(mcMemsetAsync(here, 0, 4 * N, s));
    add(here, 1, s);
    follow(far, s);
    ok(mcMemsetD32Async(there, 40, N, far));
    ok(mcEventRecord(e, far));
    ok(mcStreamWaitEvent(s, e, 0));
    add(here, 1, s);
    ok(mcMemcpyAsync(h, here, 4 * N, mcMemcpyDeviceToHost, s));
    mcGraph_t graph = end();
    g_assert_cmpuint(node_count(graph), ==, 5);
    mcGraphExec_t exec = ready(graph);
    for (unsigned round = 0; round < 3; round++) {
        uint32_t got = 0;

        ok(mcSetDevice(1));
        ok(mcMemset(there, 0, 4 * N));
        ok(mcDeviceSynchronize());
        ok(mcSetDevice(0));
        run(exec);
        g_assert_cmpuint(h[N - 1], ==, 2);
        ok(mcMemcpy(&got, there + N - 1, 4, mcMemcpyDeviceToHost));
        g_assert_cmpuint(got, ==, 40);
    }
    ok(mcGraphExecDestroy(exec));
    ok(mcEventDestroy(e));
    ok(mcStreamDestroy(far));
    ok(mcFree(there));
    ok(mcFree(here));
    ok(mcFreeHost(h));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ok(mcStreamCreate(&s));
    g_test_add_func("/capture-replay/line", test_line);
    g_test_add_func("/capture-replay/update", test_update);
    g_test_add_func("/capture-replay/kinds", test_kinds);
    g_test_add_func("/capture-replay/external-events", test_external_events);
    g_test_add_func("/capture-replay/child", test_child);
    g_test_add_func("/capture-replay/memory", test_memory);
    g_test_add_func("/capture-replay/devices", test_devices);
    return g_test_run();
}
