/* SPDX-License-Identifier: MIT */
/* Graphs that run: each kind of node, order, launches one behind the other. */
#include <sys/eventfd.h>
#include <unistd.h>

#include "env.h"

#define WORDS 64

typedef struct Fixture {
    mcGraph_t graph;
    mcStream_t stream;
    uint32_t *words;  /* pinned */
    uint32_t *device;
} Fixture;

static void set_up(Fixture *f)
{
    ok(mcGraphCreate(&f->graph, 0));
    ok(mcStreamCreate(&f->stream));
    f->words = env_malloc_host(WORDS * sizeof(uint32_t));
    f->device = env_malloc(WORDS * sizeof(uint32_t));
    memset(f->words, 0, WORDS * sizeof(uint32_t));
    ok(mcMemset(f->device, 0, WORDS * sizeof(uint32_t)));
}

static void tear_down(Fixture *f)
{
    ok(mcGraphDestroy(f->graph));
    ok(mcStreamDestroy(f->stream));
    ok(mcFreeHost(f->words));
    ok(mcFree(f->device));
}

static mcGraphExec_t instantiate(mcGraph_t graph)
{
    mcGraphExec_t exec = NULL;

    ok(mcGraphInstantiate(&exec, graph, NULL, NULL, 0));
    g_assert_nonnull(exec);
    return exec;
}

static void run(Fixture *f, mcGraphExec_t exec, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        ok(mcGraphLaunch(exec, f->stream));
    }
    ok(mcStreamSynchronize(f->stream));
}

static void run_once(Fixture *f)
{
    mcGraphExec_t exec = instantiate(f->graph);

    run(f, exec, 1);
    ok(mcGraphExecDestroy(exec));
}

/* data[0..WORDS) += value, behind one node or none */
static mcGraphNode_t add_kernel(mcGraph_t graph, mcGraphNode_t behind,
                                uint32_t *data, uint32_t value)
{
    uint32_t count = WORDS;
    void *args[] = {&data, &count, &value};
    const mcKernelNodeParams params = {
        .func = (void *)env_symbol("k_add"),
        .gridDim = {1, 1, 1},
        .blockDim = {WORDS, 1, 1},
        .kernelParams = args,
    };
    mcGraphNode_t node = NULL;

    ok(mcGraphAddKernelNode(&node, graph, &behind, behind != NULL, &params));
    return node;
}

static mcGraphNode_t add_copy(mcGraph_t graph, mcGraphNode_t behind, void *dst,
                              const void *src, size_t size)
{
    mcGraphNode_t node = NULL;

    ok(mcGraphAddMemcpyNode1D(&node, graph, &behind, behind != NULL, dst, src,
                              size, mcMemcpyDefault));
    return node;
}

static void increment(void *data)
{
    ++*(uint32_t *)data;
}

static mcGraphNode_t add_host(mcGraph_t graph, mcGraphNode_t behind,
                              mcHostFn_t fn, void *data)
{
    const mcHostNodeParams params = {fn, data};
    mcGraphNode_t node = NULL;

    ok(mcGraphAddHostNode(&node, graph, &behind, behind != NULL, &params));
    return node;
}

static void test_empty(void)
{
    Fixture f;
    mcGraphNode_t node;

    set_up(&f);
    run_once(&f);
    ok(mcGraphAddEmptyNode(&node, f.graph, NULL, 0));
    run_once(&f);
    tear_down(&f);
}

static void test_kernels(void)
{
    Fixture f;
    mcGraphNode_t node = NULL;

    set_up(&f);
    for (uint32_t i = 1; i <= 4; i++) {
        node = add_kernel(f.graph, node, f.words, i);
    }
    mcGraphExec_t exec = instantiate(f.graph);
    run(&f, exec, 1);
    g_assert_cmpuint(f.words[0], ==, 10);
    g_assert_cmpuint(f.words[WORDS - 1], ==, 10);
    run(&f, exec, 5);
    g_assert_cmpuint(f.words[WORDS - 1], ==, 60);
    /* It has all it needs of the graph. */
    ok(mcGraphUpload(exec, f.stream));
    ok(mcGraphDestroy(f.graph));
    run(&f, exec, 1);
    g_assert_cmpuint(f.words[0], ==, 70);
    ok(mcGraphExecDestroy(exec));
    fails(mcErrorInvalidValue, mcGraphExecDestroy(exec));
    fails(mcErrorInvalidValue, mcGraphLaunch(exec, f.stream));
    fails(mcErrorInvalidValue, mcGraphUpload(exec, f.stream));
    ok(mcGraphCreate(&f.graph, 0));
    tear_down(&f);
}

/* Fill, copy, kernel, copy: each sees what the one before did. */
static void test_pipeline(void)
{
    const mcMemsetParams fill = {
        .elementSize = 4, .height = 1, .value = 7, .width = WORDS,
    };
    uint32_t pageable[WORDS] = {0};
    mcMemsetParams mine = fill;
    mcGraphNode_t node = NULL;
    Fixture f;

    set_up(&f);
    mine.dst = f.device;
    ok(mcGraphAddMemsetNode(&node, f.graph, NULL, 0, &mine));
    node = add_kernel(f.graph, node, f.device, 3);
    node = add_copy(f.graph, node, f.words, f.device, sizeof(pageable));
    node = add_host(f.graph, node, increment, &f.words[5]);
    node = add_copy(f.graph, node, f.device, f.words, sizeof(pageable));
    node = add_copy(f.graph, node, pageable, f.device, sizeof(pageable));
    mcGraphExec_t exec = instantiate(f.graph);
    run(&f, exec, 2);
    g_assert_cmpuint(f.words[4], ==, 10);
    g_assert_cmpuint(pageable[4], ==, 10);
    g_assert_cmpuint(pageable[5], ==, 11);
    ok(mcGraphExecDestroy(exec));
    tear_down(&f);
}

/* Pageable memory is read when the node runs. */
/* Two slices of two rows of eight bytes, from the middle of larger ones. */
static void test_slices(void)
{
    Fixture f;
    mcGraphNode_t node;
    mcMemcpy3DParms p = {.extent = {8, 2, 2}, .kind = mcMemcpyDefault};
    uint8_t *from, *to;

    set_up(&f);
    from = (uint8_t *)f.words;
    to = (uint8_t *)f.device;
    for (unsigned i = 0; i < WORDS * sizeof(uint32_t); i++) {
        from[i] = (uint8_t)i;
    }
    p.srcPtr = (mcPitchedPtr){from, 16, 16, 3};
    p.srcPos = (mcPos){4, 1, 1};
    p.dstPtr = (mcPitchedPtr){to, 8, 8, 2};
    ok(mcGraphAddMemcpyNode(&node, f.graph, NULL, 0, &p));
    add_copy(f.graph, node, f.words, f.device, 32);
    run_once(&f);
    for (unsigned i = 0; i < 32; i++) {
        unsigned row = i / 8;

        g_assert_cmpuint(from[i], ==,
                         4 + 16 * (1 + row % 2 + 3 * (1 + row / 2)) + i % 8);
    }
    fails(mcErrorInvalidValue,
          mcGraphAddMemcpyNode(&node, f.graph, NULL, 0, NULL));
    p.srcPtr.pitch = 8;
    fails(mcErrorInvalidPitchValue,
          mcGraphAddMemcpyNode(&node, f.graph, NULL, 0, &p));
    p.srcPtr.ptr = NULL;
    fails(mcErrorInvalidValue,
          mcGraphAddMemcpyNode(&node, f.graph, NULL, 0, &p));
    tear_down(&f);
}

static void test_pageable(void)
{
    static uint32_t source[WORDS], target[WORDS];
    mcGraphNode_t node;
    Fixture f;

    set_up(&f);
    memset(source, 0, sizeof(source));
    node = add_host(f.graph, NULL, increment, source);
    node = add_copy(f.graph, node, f.device, source, sizeof(source));
    node = add_copy(f.graph, node, target, f.device, sizeof(target));
    add_host(f.graph, node, increment, target);
    mcGraphExec_t exec = instantiate(f.graph);
    run(&f, exec, 1);
    g_assert_cmpuint(target[0], ==, 2);
    run(&f, exec, 3);
    g_assert_cmpuint(source[0], ==, 4);
    g_assert_cmpuint(target[0], ==, 5);
    /* From the host to the host. */
    ok(mcGraphExecDestroy(exec));
    add_copy(f.graph, node, f.words, source, sizeof(source));
    run_once(&f);
    g_assert_cmpuint(f.words[0], ==, 5);
    tear_down(&f);
}

/* Many branches between two nodes; nothing runs too early. */
static void test_branches(void)
{
    enum { BRANCHES = 24 };
    uint32_t *data[BRANCHES];
    mcGraphNode_t first, node[BRANCHES], last;
    Fixture f;

    set_up(&f);
    ok(mcGraphAddEmptyNode(&first, f.graph, NULL, 0));
    first = add_kernel(f.graph, first, f.words, 1);
    for (int i = 0; i < BRANCHES; i++) {
        data[i] = env_malloc(WORDS * sizeof(uint32_t));
        node[i] = add_copy(f.graph, first, data[i], f.words,
                           WORDS * sizeof(uint32_t));
        node[i] = add_kernel(f.graph, node[i], data[i], i);
        node[i] = add_copy(f.graph, node[i], &f.words[1 + i], data[i],
                           sizeof(uint32_t));
    }
    ok(mcGraphAddEmptyNode(&last, f.graph, node, BRANCHES));
    add_kernel(f.graph, last, f.words, 100);
    mcGraphExec_t exec = instantiate(f.graph);
    run(&f, exec, 1);
    for (int i = 0; i < BRANCHES; i++) {
        g_assert_cmpuint(f.words[1 + i], ==, 101 + i);
    }
    run(&f, exec, 1);
    for (int i = 0; i < BRANCHES; i++) {
        g_assert_cmpuint(f.words[1 + i], ==, 202 + i);
        ok(mcFree(data[i]));
    }
    ok(mcGraphExecDestroy(exec));
    tear_down(&f);
}

/* Launches of one executable graph do not overlap, whatever their streams. */
static void test_relaunch(void)
{
    volatile uint64_t *gate = env_malloc_host(sizeof(*gate));
    void *pointer = (void *)gate;
    void *args[] = {&pointer};
    mcGraphNode_t node;
    mcStream_t other;
    Fixture f;

    set_up(&f);
    *gate = 0;
    const mcKernelNodeParams spin = {
        .func = env_kernel("k_spin"),
        .gridDim = {1, 1, 1},
        .blockDim = {1, 1, 1},
        .kernelParams = args,
    };
    ok(mcStreamCreateWithFlags(&other, mcStreamNonBlocking));
    ok(mcGraphAddKernelNode(&node, f.graph, NULL, 0, &spin));
    add_kernel(f.graph, node, f.words, 1);
    mcGraphExec_t exec = instantiate(f.graph);
    ok(mcGraphLaunch(exec, f.stream));
    ok(mcGraphLaunch(exec, other));
    fails(mcErrorNotReady, mcStreamQuery(other));
    /* Destroyed while it runs: it runs to its end. */
    ok(mcGraphExecDestroy(exec));
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    ok(mcStreamSynchronize(other));
    g_assert_cmpuint(f.words[0], ==, 2);
    ok(mcStreamQuery(f.stream));
    ok(mcStreamDestroy(other));
    ok(mcFreeHost((void *)gate));
    tear_down(&f);
}

/* In order with the default stream, and in it. */
static void test_default_stream(void)
{
    Fixture f;

    set_up(&f);
    add_kernel(f.graph, NULL, f.device, 1);
    mcGraphExec_t exec = instantiate(f.graph);
    ok(mcGraphLaunch(exec, f.stream));
    ok(mcGraphLaunch(exec, NULL));
    ok(mcGraphLaunch(exec, mcStreamPerThread));
    ok(mcMemcpy(f.words, f.device, 4, mcMemcpyDeviceToHost));
    g_assert_cmpuint(f.words[0], ==, 3);
    ok(mcGraphExecDestroy(exec));
    tear_down(&f);
}

static void test_child(void)
{
    mcGraph_t child, inner;
    mcGraphNode_t node, a, b;
    Fixture f;
    size_t n;

    set_up(&f);
    ok(mcGraphCreate(&child, 0));
    a = add_kernel(child, NULL, f.words, 1);
    b = add_copy(child, a, f.device, f.words, WORDS * 4);
    add_kernel(child, b, f.device, 10);
    a = add_kernel(f.graph, NULL, f.words, 5);
    ok(mcGraphAddChildGraphNode(&node, f.graph, &a, 1, child));
    add_copy(f.graph, node, f.words, f.device, WORDS * 4);
    /* A copy: what is done to the other one is not seen. */
    add_kernel(child, NULL, f.words, 1000);
    ok(mcGraphDestroy(child));
    ok(mcGraphChildGraphNodeGetGraph(node, &inner));
    ok(mcGraphGetNodes(inner, NULL, &n));
    g_assert_cmpuint(n, ==, 3);
    fails(mcErrorInvalidValue, mcGraphDestroy(inner));
    run_once(&f);
    g_assert_cmpuint(f.words[WORDS - 1], ==, 16);
    /* ... but it can be changed where it is. */
    add_kernel(inner, NULL, f.device, 0);
    fails(mcErrorInvalidValue,
          mcGraphAddChildGraphNode(&node, f.graph, NULL, 0, f.graph));
    fails(mcErrorInvalidValue,
          mcGraphAddChildGraphNode(&node, f.graph, NULL, 0, NULL));
    fails(mcErrorInvalidValue, mcGraphChildGraphNodeGetGraph(a, &inner));
    fails(mcErrorInvalidValue, mcGraphChildGraphNodeGetGraph(node, NULL));
    ok(mcGraphDestroyNode(node));
    fails(mcErrorInvalidValue, mcGraphGetNodes(inner, NULL, &n));
    tear_down(&f);
}

static void test_events(void)
{
    mcEvent_t start, stop, got;
    mcGraphNode_t a, b, c;
    Fixture f;
    float ms;

    set_up(&f);
    ok(mcEventCreate(&start));
    ok(mcEventCreate(&stop));
    ok(mcGraphAddEventRecordNode(&a, f.graph, NULL, 0, start));
    b = add_kernel(f.graph, a, f.words, 1);
    ok(mcGraphAddEventRecordNode(&b, f.graph, &b, 1, stop));
    ok(mcGraphAddEventWaitNode(&c, f.graph, &b, 1, stop));
    run_once(&f);
    ok(mcEventQuery(stop));
    ok(mcEventElapsedTime(&ms, start, stop));
    g_assert_cmpfloat(ms, >=, 0);
    ok(mcGraphEventRecordNodeGetEvent(a, &got));
    g_assert_true(got == start);
    ok(mcGraphEventWaitNodeGetEvent(c, &got));
    g_assert_true(got == stop);
    fails(mcErrorInvalidValue, mcGraphEventWaitNodeGetEvent(a, &got));
    fails(mcErrorInvalidValue, mcGraphEventRecordNodeGetEvent(a, NULL));
    ok(mcGraphEventWaitNodeSetEvent(c, start));
    ok(mcGraphEventRecordNodeSetEvent(b, start));
    fails(mcErrorInvalidHandle, mcGraphEventWaitNodeSetEvent(c, NULL));
    fails(mcErrorInvalidHandle, mcGraphEventRecordNodeSetEvent(b, NULL));
    fails(mcErrorInvalidHandle,
          mcGraphAddEventWaitNode(&c, f.graph, NULL, 0, NULL));
    fails(mcErrorInvalidHandle,
          mcGraphAddEventRecordNode(&c, f.graph, NULL, 0, NULL));
    mcGraphExec_t exec = instantiate(f.graph);
    ok(mcGraphExecEventRecordNodeSetEvent(exec, b, stop));
    ok(mcGraphExecEventWaitNodeSetEvent(exec, c, stop));
    fails(mcErrorInvalidValue,
          mcGraphExecEventWaitNodeSetEvent(exec, b, stop));
    run(&f, exec, 1);
    ok(mcEventElapsedTime(&ms, start, stop));
    /* It has to be there when the graph is launched. */
    ok(mcEventDestroy(stop));
    fails(mcErrorInvalidHandle, mcGraphLaunch(exec, f.stream));
    ok(mcGraphExecDestroy(exec));
    ok(mcEventDestroy(start));
    tear_down(&f);
}

static void test_words(void)
{
    uint64_t *word = env_malloc_host(2 * sizeof(*word));
    mcStreamBatchMemOpParams ops[2] = {{.pad = {0}}, {.pad = {0}}};
    mcBatchMemOpNodeParams batch = {.count = 2, .paramArray = ops}, got;
    mcGraphNode_t node, last;
    Fixture f;

    set_up(&f);
    memset(word, 0, 2 * sizeof(*word));
    ops[0].writeValue.operation = MC_STREAM_MEM_OP_WRITE_VALUE_64;
    ops[0].writeValue.address = &word[0];
    ops[0].writeValue.value64 = 5;
    ops[1].waitValue.operation = MC_STREAM_MEM_OP_WAIT_VALUE_64;
    ops[1].waitValue.address = &word[0];
    ops[1].waitValue.value64 = 5;
    ok(mcGraphAddBatchMemOpNode(&node, f.graph, NULL, 0, &batch));
    last = add_kernel(f.graph, node, f.words, 1);
    mcGraphExec_t exec = instantiate(f.graph);
    run(&f, exec, 1);
    g_assert_cmpuint(word[0], ==, 5);
    g_assert_cmpuint(f.words[0], ==, 1);
    ok(mcGraphBatchMemOpNodeGetParams(node, &got));
    g_assert_cmpuint(got.count, ==, 2);
    g_assert_true(got.paramArray != ops);
    g_assert_true(got.paramArray[0].writeValue.address == &word[0]);
    batch.count = 1;
    ops[0].writeValue.address = &word[1];
    ok(mcGraphExecBatchMemOpNodeSetParams(exec, node, &batch));
    run(&f, exec, 1);
    g_assert_cmpuint(word[1], ==, 5);
    ok(mcGraphBatchMemOpNodeSetParams(node, &batch));
    ops[0].operation = (mcStreamBatchMemOpType)99;
    fails(mcErrorInvalidValue, mcGraphBatchMemOpNodeSetParams(node, &batch));
    fails(mcErrorInvalidValue, mcGraphBatchMemOpNodeSetParams(node, NULL));
    batch.flags = 1;
    fails(mcErrorInvalidValue, mcGraphBatchMemOpNodeSetParams(node, &batch));
    fails(mcErrorInvalidValue, mcGraphBatchMemOpNodeGetParams(last, &got));
    fails(mcErrorInvalidValue, mcGraphBatchMemOpNodeGetParams(node, NULL));
    ok(mcGraphExecDestroy(exec));
    ok(mcFreeHost(word));
    tear_down(&f);
}

static void test_semaphores(void)
{
    int fd = eventfd(0, EFD_CLOEXEC);
    const mcExternalSemaphoreHandleDesc desc = {
        .type = mcExternalSemaphoreHandleTypeOpaqueFd,
        .handle = {.fd = fd},
    };
    mcExternalSemaphore_t semaphore, none = NULL;
    mcExternalSemaphoreSignalParams up = {.flags = 0};
    mcExternalSemaphoreWaitParams down = {.flags = 0};
    mcExternalSemaphoreSignalNodeParams signal = {&semaphore, &up, 1}, got_up;
    mcExternalSemaphoreWaitNodeParams wait = {&semaphore, &down, 1}, got_down;
    mcGraphNode_t a, b, node;
    Fixture f;

    set_up(&f);
    ok(mcImportExternalSemaphore(&semaphore, &desc));
    ok(mcGraphAddExternalSemaphoresSignalNode(&a, f.graph, NULL, 0, &signal));
    ok(mcGraphAddExternalSemaphoresWaitNode(&b, f.graph, &a, 1, &wait));
    add_kernel(f.graph, b, f.words, 1);
    ok(mcGraphExternalSemaphoresSignalNodeGetParams(a, &got_up));
    g_assert_true(got_up.extSemArray[0] == semaphore);
    ok(mcGraphExternalSemaphoresWaitNodeGetParams(b, &got_down));
    g_assert_cmpuint(got_down.numExtSems, ==, 1);
    ok(mcGraphExternalSemaphoresSignalNodeSetParams(a, &signal));
    ok(mcGraphExternalSemaphoresWaitNodeSetParams(b, &wait));
    mcGraphExec_t exec = instantiate(f.graph);
    run(&f, exec, 3);
    g_assert_cmpuint(f.words[0], ==, 3);
    ok(mcGraphExecExternalSemaphoresSignalNodeSetParams(exec, a, &signal));
    ok(mcGraphExecExternalSemaphoresWaitNodeSetParams(exec, b, &wait));
    run(&f, exec, 1);
    g_assert_cmpuint(f.words[0], ==, 4);
    fails(mcErrorInvalidValue,
          mcGraphExecExternalSemaphoresWaitNodeSetParams(exec, a, &wait));
    fails(mcErrorInvalidValue,
          mcGraphExternalSemaphoresSignalNodeGetParams(b, &got_up));
    fails(mcErrorInvalidValue,
          mcGraphExternalSemaphoresWaitNodeGetParams(a, &got_down));
    fails(mcErrorInvalidValue,
          mcGraphAddExternalSemaphoresSignalNode(&node, f.graph, NULL, 0,
                                                 NULL));
    fails(mcErrorInvalidValue,
          mcGraphAddExternalSemaphoresSignalNode(NULL, f.graph, NULL, 0,
                                                 &signal));
    fails(mcErrorInvalidValue,
          mcGraphAddExternalSemaphoresWaitNode(NULL, f.graph, NULL, 0, &wait));
    fails(mcErrorInvalidValue,
          mcGraphExternalSemaphoresSignalNodeGetParams(a, NULL));
    fails(mcErrorInvalidValue,
          mcGraphExternalSemaphoresWaitNodeGetParams(b, NULL));
    fails(mcErrorInvalidValue,
          mcGraphExternalSemaphoresSignalNodeSetParams(b, &signal));
    fails(mcErrorInvalidValue,
          mcGraphExecExternalSemaphoresWaitNodeSetParams(exec, b, NULL));
    up.flags = down.flags = 1;
    fails(mcErrorInvalidValue,
          mcGraphExternalSemaphoresSignalNodeSetParams(a, &signal));
    fails(mcErrorInvalidValue,
          mcGraphAddExternalSemaphoresWaitNode(&node, f.graph, NULL, 0,
                                               &wait));
    up.flags = 0;
    signal.extSemArray = &none;
    fails(mcErrorInvalidResourceHandle,
          mcGraphExternalSemaphoresSignalNodeSetParams(a, &signal));
    /* It has to be there when the graph is launched. */
    ok(mcDestroyExternalSemaphore(semaphore));
    fails(mcErrorInvalidResourceHandle, mcGraphLaunch(exec, f.stream));
    ok(mcGraphExecDestroy(exec));
    tear_down(&f);
}

/* Nodes of two devices, launched in a stream of each. */
static void test_devices(void)
{
    mcGraphNode_t node;
    mcStream_t other;
    Fixture f;

    env_two_devices();
    set_up(&f);
    node = add_kernel(f.graph, NULL, f.words, 1);
    ok(mcSetDevice(1));
    ok(mcStreamCreate(&other));
    uint32_t *there = env_malloc(WORDS * sizeof(uint32_t));
    node = add_copy(f.graph, node, there, f.words, WORDS * sizeof(uint32_t));
    node = add_kernel(f.graph, node, there, 10);
    node = add_copy(f.graph, node, f.words, there, WORDS * sizeof(uint32_t));
    ok(mcSetDevice(0));
    add_kernel(f.graph, node, f.words, 100);
    mcGraphExec_t exec = instantiate(f.graph);
    run(&f, exec, 1);
    g_assert_cmpuint(f.words[WORDS - 1], ==, 111);
    ok(mcGraphLaunch(exec, other));
    ok(mcStreamSynchronize(other));
    g_assert_cmpuint(f.words[WORDS - 1], ==, 222);
    ok(mcGraphExecDestroy(exec));
    ok(mcFree(there));
    ok(mcStreamDestroy(other));
    tear_down(&f);
}

/* Kernels of a priority of their own are in order with the others, and run while
 * those of less priority in other streams do. */
static void test_priority(void)
{
    uint64_t *flag = env_malloc(8);
    mcStream_t low[4], first;
    mcKernelNodeAttrValue urgent = {.cooperative = 0};
    uint32_t *seen = env_malloc_host(2 * sizeof(uint32_t));
    mcGraphNode_t node, release;
    void *args[] = {&flag};
    mcKernelNodeParams p = {
        .func = env_kernel("k_atomic"), .gridDim = {1, 1, 1},
        .blockDim = {1, 1, 1}, .kernelParams = args,
    };
    Fixture f;
    int least;

    set_up(&f);
    ok(mcDeviceGetStreamPriorityRange(&least, &urgent.priority));
    ok(mcMemset(flag, 0, 8));
    ok(mcStreamCreateWithPriority(&first, mcStreamNonBlocking,
                                  urgent.priority));
    node = add_kernel(f.graph, NULL, f.words, 1);
    node = add_copy(f.graph, node, &seen[0], f.words, sizeof(uint32_t));
    node = add_kernel(f.graph, node, f.words, 10);
    ok(mcGraphKernelNodeSetAttribute(node, mcKernelNodeAttributePriority,
                                     &urgent));
    node = add_copy(f.graph, node, &seen[1], f.words, sizeof(uint32_t));
    ok(mcGraphAddKernelNode(&release, f.graph, &node, 1, &p));
    ok(mcGraphKernelNodeSetAttribute(release, mcKernelNodeAttributePriority,
                                     &urgent));
    node = add_kernel(f.graph, release, f.words, 100);
    mcGraphExec_t exec = instantiate(f.graph);
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < G_N_ELEMENTS(low); i++) {
        ok(mcStreamCreateWithPriority(&low[i], mcStreamNonBlocking, least));
        ok(env_launch("k_spin", 1, flag, low[i]));
    }
    run(&f, exec, 1);
    g_assert_cmpuint(seen[0], ==, 1);
    g_assert_cmpuint(seen[1], ==, 11);
    g_assert_cmpuint(f.words[WORDS - 1], ==, 111);
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < G_N_ELEMENTS(low); i++) {
        ok(mcStreamDestroy(low[i]));
    }
    run(&f, exec, 1);
    g_assert_cmpuint(f.words[0], ==, 222);
    ok(mcGraphExecDestroy(exec));
    ok(mcStreamDestroy(first));
    ok(mcFree(flag));
    ok(mcFreeHost(seen));
    tear_down(&f);
}

static void test_instantiate_errors(void)
{
    mcGraphExec_t exec = NULL;
    mcGraphNode_t a, b, bad = NULL;
    char log[80] = "x";
    Fixture f;

    set_up(&f);
    fails(mcErrorInvalidValue,
          mcGraphInstantiate(NULL, f.graph, NULL, NULL, 0));
    fails(mcErrorInvalidValue,
          mcGraphInstantiate(&exec, NULL, NULL, NULL, 0));
    fails(mcErrorInvalidValue,
          mcGraphInstantiateWithFlags(&exec, f.graph, 6));
    ok(mcGraphAddEmptyNode(&a, f.graph, NULL, 0));
    ok(mcGraphAddEmptyNode(&b, f.graph, &a, 1));
    ok(mcGraphAddDependencies(f.graph, &b, &a, 1));
    fails(mcErrorInvalidValue,
          mcGraphInstantiate(&exec, f.graph, &bad, log, sizeof(log)));
    g_assert_true(bad == a || bad == b);
    g_assert_cmpuint(strlen(log), >, 5);
    ok(mcGraphRemoveDependencies(f.graph, &b, &a, 1));
    ok(mcGraphInstantiate(&exec, f.graph, &bad, log, sizeof(log)));
    g_assert_null(bad);
    g_assert_cmpstr(log, ==, "");
    ok(mcGraphExecDestroy(exec));
    /* The kind says something else than the addresses. */
    ok(mcGraphAddMemcpyNode1D(&a, f.graph, NULL, 0, f.device, f.device + 8, 4,
                              mcMemcpyHostToHost));
    exec = NULL;
    fails(mcErrorInvalidValue,
          mcGraphInstantiate(&exec, f.graph, &bad, NULL, 0));
    g_assert_true(bad == a);
    g_assert_null(exec);
    tear_down(&f);
}

/* A kernel that fails, in a list. */
static void test_fault(void)
{
    const mcKernelNodeParams params = {
        .func = env_kernel("k_illegal"),
        .gridDim = {1, 1, 1},
        .blockDim = {1, 1, 1},
    };
    mcGraphNode_t node;
    Fixture f;

    set_up(&f);
    add_kernel(f.graph, NULL, f.words, 1);
    ok(mcGraphAddKernelNode(&node, f.graph, NULL, 0, &params));
    mcGraphExec_t exec = instantiate(f.graph);
    ok(mcGraphLaunch(exec, f.stream));
    mcError_t error = mcStreamSynchronize(f.stream);
    g_assert_cmpint(error, !=, mcSuccess);
    fails(error, mcGraphLaunch(exec, f.stream));
    env_forget();
    ok(mcDeviceReset());
    /* Executable graphs go with their device, graphs do not. */
    fails(mcErrorInvalidValue, mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(f.graph));
}

/* Threads that build, run and destroy graphs of their own, and launch one that
 * they share. */
typedef struct Shared {
    mcGraphExec_t exec;
    uint32_t *words;
} Shared;

static void *worker(void *data)
{
    Shared *s = data;
    Fixture f;

    set_up(&f);
    add_kernel(f.graph, add_kernel(f.graph, NULL, f.words, 1), f.words, 2);
    for (unsigned i = 0; i < 20; i++) {
        run_once(&f);
        ok(mcGraphLaunch(s->exec, f.stream));
    }
    ok(mcStreamSynchronize(f.stream));
    g_assert_cmpuint(f.words[0], ==, 60);
    tear_down(&f);
    return NULL;
}

static void test_threads(void)
{
    GThread *thread[4];
    Fixture f;

    set_up(&f);
    add_kernel(f.graph, NULL, f.words, 1);
    Shared s = {.exec = instantiate(f.graph)};
    for (int i = 0; i < 4; i++) {
        thread[i] = g_thread_new("graph", worker, &s);
    }
    for (int i = 0; i < 4; i++) {
        g_thread_join(thread[i]);
    }
    g_assert_cmpuint(f.words[0], ==, 80);
    ok(mcGraphExecDestroy(s.exec));
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/graph-launch/empty", test_empty);
    g_test_add_func("/graph-launch/kernels", test_kernels);
    g_test_add_func("/graph-launch/pipeline", test_pipeline);
    g_test_add_func("/graph-launch/slices", test_slices);
    g_test_add_func("/graph-launch/pageable", test_pageable);
    g_test_add_func("/graph-launch/branches", test_branches);
    g_test_add_func("/graph-launch/relaunch", test_relaunch);
    g_test_add_func("/graph-launch/default-stream", test_default_stream);
    g_test_add_func("/graph-launch/child", test_child);
    g_test_add_func("/graph-launch/events", test_events);
    g_test_add_func("/graph-launch/words", test_words);
    g_test_add_func("/graph-launch/semaphores", test_semaphores);
    g_test_add_func("/graph-launch/devices", test_devices);
    g_test_add_func("/graph-launch/priority", test_priority);
    g_test_add_func("/graph-launch/instantiate-errors",
                    test_instantiate_errors);
    g_test_add_func("/graph-launch/threads", test_threads);
    g_test_add_func("/graph-launch/fault", test_fault);
    return g_test_run();
}
