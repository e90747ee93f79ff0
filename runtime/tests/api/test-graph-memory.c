/* SPDX-License-Identifier: MIT */
/* What memory of graphs takes of a device, and when it goes back. */
#include "env.h"

#define WORDS 1024
#define SIZE  (WORDS * sizeof(uint32_t))

typedef struct Fixture {
    mcStream_t stream;
    mcGraph_t graph;
    mcGraphExec_t exec;
    uint32_t *words; /* pinned: what was in the memory */
    void *memory;
    uint64_t *gate;
} Fixture;

static unsigned long long reserved(void)
{
    unsigned long long bytes = ~0ull;

    ok(mcDeviceGetGraphMemAttribute(0, mcGraphMemAttrReservedMemCurrent,
                                    &bytes));
    return bytes;
}

static unsigned long long trimmed(void)
{
    ok(mcDeviceGraphMemTrim(0));
    return reserved();
}

static mcGraphNode_t alloc_node(mcGraph_t graph, size_t size, void **memory)
{
    mcMemAllocNodeParams p = {.bytesize = size};
    mcGraphNode_t node;

    p.poolProps.allocType = mcMemAllocationTypePinned;
    p.poolProps.location.type = mcMemLocationTypeDevice;
    ok(mcGraphAddMemAllocNode(&node, graph, NULL, 0, &p));
    *memory = p.dptr;
    return node;
}

/* Allocates, fills with the byte, copies to words, and, if it is to, frees. */
static void set_up(Fixture *f, int byte, bool frees)
{
    mcMemsetParams fill = {.elementSize = 1, .height = 1, .value = byte,
                           .width = SIZE};
    mcStreamAttrValue sleeps = {.syncPolicy = mcSyncPolicyBlockingSync};
    mcGraphNode_t node;

    ok(mcStreamCreateWithFlags(&f->stream, mcStreamNonBlocking));
    ok(mcStreamSetAttribute(f->stream,
                            mcStreamAttributeSynchronizationPolicy, &sleeps));
    f->words = env_malloc_host(SIZE);
    f->gate = env_malloc_host(sizeof(*f->gate));
    *f->gate = 1;
    ok(mcGraphCreate(&f->graph, 0));
    node = alloc_node(f->graph, SIZE, &f->memory);
    fill.dst = f->memory;
    ok(mcGraphAddMemsetNode(&node, f->graph, &node, 1, &fill));
    ok(mcGraphAddMemcpyNode1D(&node, f->graph, &node, 1, f->words, f->memory,
                              SIZE, mcMemcpyDeviceToHost));
    if (frees) {
        ok(mcGraphAddMemFreeNode(&node, f->graph, &node, 1, f->memory));
    }
    ok(mcGraphInstantiate(&f->exec, f->graph, NULL, NULL, 0));
}

static void tear_down(Fixture *f)
{
    ok(mcGraphExecDestroy(f->exec));
    ok(mcGraphDestroy(f->graph));
    ok(mcStreamDestroy(f->stream));
    ok(mcFreeHost(f->words));
    ok(mcFreeHost(f->gate));
    g_assert_cmpuint(trimmed(), ==, 0);
}

static void run(Fixture *f, uint32_t word)
{
    memset(f->words, 0xee, SIZE);
    ok(mcGraphLaunch(f->exec, f->stream));
    ok(mcStreamSynchronize(f->stream));
    g_assert_cmphex(f->words[0], ==, word);
    g_assert_cmphex(f->words[WORDS - 1], ==, word);
}

static void close_gate(Fixture *f, mcStream_t stream)
{
    *f->gate = 0;
    ok(mcStreamWaitValue64(stream, f->gate, 1, MC_STREAM_WAIT_VALUE_EQ));
}

static void open_gate(Fixture *f)
{
    __atomic_store_n(f->gate, 1, __ATOMIC_RELEASE);
}

/* At once after the stream was waited for, whatever of it is still there. */
static void test_trim(void)
{
    for (unsigned i = 0; i < 40; i++) {
        Fixture f;

        set_up(&f, 7, true);
        void *before = f.memory;
        g_assert_cmpuint(reserved(), >=, SIZE);
        run(&f, 0x07070707);
        run(&f, 0x07070707);
        g_assert_cmpuint(trimmed(), ==, 0);
        /* It comes back for a launch, at the same address. */
        run(&f, 0x07070707);
        g_assert_cmpuint(reserved(), >=, SIZE);
        g_assert_true(f.memory == before);
        ok(mcGraphExecDestroy(f.exec));
        g_assert_cmpuint(trimmed(), ==, 0);
        ok(mcGraphInstantiate(&f.exec, f.graph, NULL, NULL, 0));
        run(&f, 0x07070707);
        tear_down(&f);
    }
}

/* Not before a launch is over; other streams do not matter. */
static void test_busy(void)
{
    mcStream_t other;
    Fixture f;

    set_up(&f, 5, true);
    ok(mcStreamCreateWithFlags(&other, mcStreamNonBlocking));
    close_gate(&f, f.stream);
    ok(mcGraphLaunch(f.exec, f.stream));
    g_assert_cmpuint(trimmed(), >=, SIZE);
    ok(mcGraphExecDestroy(f.exec));
    g_assert_cmpuint(trimmed(), >=, SIZE);
    open_gate(&f);
    ok(mcStreamSynchronize(f.stream));
    g_assert_cmphex(f.words[7], ==, 0x05050505);
    close_gate(&f, other);
    g_assert_cmpuint(trimmed(), ==, 0);
    ok(mcGraphInstantiate(&f.exec, f.graph, NULL, NULL, 0));
    run(&f, 0x05050505);
    open_gate(&f);
    ok(mcStreamDestroy(other));
    tear_down(&f);
}

/* What a launch has left is somebody's until it is freed, and, as nobody says
 * who has used it meanwhile, until all streams have come so far. */
static void test_left(void)
{
    uint32_t word = 0;
    Fixture f;

    set_up(&f, 9, false);
    run(&f, 0x09090909);
    g_assert_cmpuint(trimmed(), >=, SIZE);
    ok(mcMemcpy(&word, f.memory, 4, mcMemcpyDeviceToHost));
    g_assert_cmphex(word, ==, 0x09090909);
    close_gate(&f, f.stream);
    ok(mcFreeAsync(f.memory, f.stream));
    g_assert_cmpuint(trimmed(), >=, SIZE);
    open_gate(&f);
    ok(mcStreamSynchronize(f.stream));
    g_assert_cmpuint(trimmed(), ==, 0);
    run(&f, 0x09090909);
    ok(mcFree(f.memory));
    g_assert_cmpuint(trimmed(), ==, 0);
    tear_down(&f);
}

/* Several allocations: those in use keep theirs. */
static void test_neighbours(void)
{
    const size_t large = 5u << 20;
    void *idle;
    Fixture f, g;

    set_up(&f, 1, false);
    alloc_node(f.graph, large, &idle); /* of no executable graph */
    set_up(&g, 2, true);
    run(&f, 0x01010101);
    run(&g, 0x02020202);
    unsigned long long all = reserved();
    g_assert_cmpuint(all, >=, large + 2 * SIZE);
    g_assert_cmpuint(trimmed(), <=, all - large);
    g_assert_cmpuint(reserved(), >=, SIZE);
    run(&g, 0x02020202);
    /* A new one where a trimmed one was. */
    ok(mcFree(f.memory));
    g_assert_cmpuint(trimmed(), ==, 0);
    Fixture h;
    set_up(&h, 3, true);
    g_assert_true(h.memory != f.memory && h.memory != g.memory);
    run(&h, 0x03030303);
    run(&g, 0x02020202);
    run(&f, 0x01010101);
    run(&h, 0x03030303);
    ok(mcFree(f.memory));
    ok(mcGraphExecDestroy(h.exec));
    ok(mcGraphDestroy(h.graph));
    ok(mcStreamDestroy(h.stream));
    ok(mcFreeHost(h.words));
    ok(mcFreeHost(h.gate));
    ok(mcGraphExecDestroy(g.exec));
    ok(mcGraphDestroy(g.graph));
    ok(mcStreamDestroy(g.stream));
    ok(mcFreeHost(g.words));
    ok(mcFreeHost(g.gate));
    tear_down(&f);
}

/* The device has no memory left for what was trimmed: the launch fails, nothing
 * has changed, and it works when there is some. */
static void test_short(void)
{
    unsigned long long used = 1;
    size_t free_bytes, total;
    void *rest[64];
    unsigned count = 0;
    Fixture f;

    set_up(&f, 6, true);
    run(&f, 0x06060606);
    g_assert_cmpuint(trimmed(), ==, 0);
    ok(mcMemGetInfo(&free_bytes, &total));
    for (size_t size = free_bytes; size >= 1u << 20 && count < 64;) {
        if (mcMalloc(&rest[count], size) == mcSuccess) {
            count++;
        } else {
            size /= 2;
        }
    }
    mcGetLastError();
    fails(mcErrorMemoryAllocation, mcGraphLaunch(f.exec, f.stream));
    ok(mcDeviceGetGraphMemAttribute(0, mcGraphMemAttrUsedMemCurrent, &used));
    g_assert_cmpuint(used, ==, 0);
    g_assert_cmpuint(reserved(), ==, 0);
    while (count) {
        ok(mcFree(rest[--count]));
    }
    run(&f, 0x06060606);
    tear_down(&f);
}

static mcError_t take(size_t bytes, void **memory)
{
    return mcMalloc(memory, bytes);
}

static mcError_t take_pool(size_t bytes, void **memory)
{
    mcError_t error = mcMallocAsync(memory, bytes, NULL);

    return error == mcSuccess ? mcStreamSynchronize(NULL) : error;
}

static mcError_t take_physical(size_t bytes, void **memory)
{
    mcMemAllocationProp prop = {
        .type = mcMemAllocationTypePinned,
        .location = {mcMemLocationTypeDevice, 0},
    };
    mcMemGenericAllocationHandle handle;
    mcError_t error = mcMemCreate(&handle, bytes, &prop, 0);

    *memory = NULL;
    return error == mcSuccess ? mcMemRelease(handle) : error;
}

static mcError_t take_array(size_t bytes, void **memory)
{
    const mcChannelFormatDesc word = {32, 0, 0, 0, mcChannelFormatKindUnsigned};
    mcArray_t array;
    mcError_t error = mcMallocArray(&array, &word, 1 << 14,
                                    bytes / (4 << 14), 0);

    *memory = NULL;
    return error == mcSuccess ? mcFreeArray(array) : error;
}

/* What idle graphs keep is there for everybody who lacks memory, and comes back
 * for the next launch; what is in use is not. */
static void test_lack(void)
{
    static mcError_t (*const takers[])(size_t bytes, void **memory) = {
        take, take_pool, take_physical, take_array,
    };
    const size_t keep = 64 << 20;
    mcMemsetParams fill = {.elementSize = 1, .height = 1, .width = SIZE};
    size_t free_bytes, total;
    void *graphs, *rest, *more;
    mcGraphExec_t exec;
    mcGraphNode_t node;
    mcGraph_t graph;
    Fixture f;

    set_up(&f, 9, true);
    run(&f, 0x09090909);
    ok(mcGraphCreate(&graph, 0));
    node = alloc_node(graph, keep, &graphs);
    fill.dst = graphs;
    ok(mcGraphAddMemsetNode(&node, graph, &node, 1, &fill));
    ok(mcGraphAddMemFreeNode(&node, graph, &node, 1, graphs));
    ok(mcGraphInstantiate(&exec, graph, NULL, NULL, 0));
    for (unsigned i = 0; i < G_N_ELEMENTS(takers); i++) {
        ok(mcGraphLaunch(exec, f.stream));
        ok(mcStreamSynchronize(f.stream));
        g_assert_cmpuint(reserved(), >=, keep);
        ok(mcMemGetInfo(&free_bytes, &total));
        rest = env_malloc((free_bytes & ~(size_t)0x1fffff) - (4 << 20));
        g_assert_cmpuint(reserved(), >=, keep);
        ok(takers[i](keep, &more));
        g_assert_cmpuint(reserved(), <, keep);
        ok(mcFree(more));
        ok(mcDeviceSynchronize());
        ok(mcFree(rest));
        run(&f, 0x09090909);
    }
    /* Gated: the launch is not over. */
    close_gate(&f, f.stream);
    ok(mcGraphLaunch(exec, f.stream));
    ok(mcMemGetInfo(&free_bytes, &total));
    rest = env_malloc((free_bytes & ~(size_t)0x1fffff) - (4 << 20));
    fails(mcErrorMemoryAllocation, mcMalloc(&more, keep));
    g_assert_cmpuint(reserved(), >=, keep);
    open_gate(&f);
    ok(mcStreamSynchronize(f.stream));
    ok(mcMalloc(&more, keep));
    /* Now there is none for a launch; then again. */
    fails(mcErrorMemoryAllocation, mcGraphLaunch(exec, f.stream));
    ok(mcFree(more));
    ok(mcGraphLaunch(exec, f.stream));
    ok(mcStreamSynchronize(f.stream));
    ok(mcFree(rest));
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(graph));
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/graph-memory/trim", test_trim);
    g_test_add_func("/graph-memory/busy", test_busy);
    g_test_add_func("/graph-memory/left", test_left);
    g_test_add_func("/graph-memory/neighbours", test_neighbours);
    g_test_add_func("/graph-memory/short", test_short);
    g_test_add_func("/graph-memory/lack", test_lack);
    return g_test_run();
}
