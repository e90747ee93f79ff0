/* SPDX-License-Identifier: MIT */
/* Arrays in nodes of graphs that copy, made by hand and captured. */
#include "env.h"

enum { W = 30, H = 6, D = 3, PLANE = W * H, ALL = PLANE * D };

typedef struct Fixture {
    mcStream_t stream;
    mcGraph_t graph;
    mcArray_t array, other;
    uint32_t *pinned, *device, out[ALL];
} Fixture;

static mcArray_t make(unsigned bits, size_t width, size_t height, size_t depth)
{
    const mcChannelFormatDesc desc = {(int)bits, 0, 0, 0,
                                      mcChannelFormatKindUnsigned};
    mcArray_t array = NULL;

    ok(mcMalloc3DArray(&array, &desc, (mcExtent){width, height, depth}, 0));
    return array;
}

static void set_up(Fixture *f)
{
    ok(mcStreamCreateWithFlags(&f->stream, mcStreamNonBlocking));
    ok(mcGraphCreate(&f->graph, 0));
    f->array = make(32, W, H, D);
    f->other = make(32, W, H, D);
    f->pinned = env_malloc_host(ALL * 4);
    f->device = env_malloc(ALL * 4);
    for (unsigned i = 0; i < ALL; i++) {
        f->pinned[i] = i + 1;
    }
    memset(f->out, 0, sizeof(f->out));
}

static void tear_down(Fixture *f)
{
    ok(mcStreamDestroy(f->stream));
    ok(mcGraphDestroy(f->graph));
    ok(mcFreeArray(f->array));
    ok(mcFreeArray(f->other));
    ok(mcFreeHost(f->pinned));
    ok(mcFree(f->device));
}

static mcPitchedPtr rows(void *memory)
{
    return (mcPitchedPtr){memory, W * 4, W, H};
}

static mcGraphNode_t copy_node(Fixture *f, mcGraphNode_t behind,
                               const mcMemcpy3DParms *p)
{
    mcGraphNode_t node = NULL;

    ok(mcGraphAddMemcpyNode(&node, f->graph, &behind, behind != NULL, p));
    return node;
}

static mcGraphExec_t instantiate(Fixture *f)
{
    mcGraphExec_t exec = NULL;

    ok(mcGraphInstantiate(&exec, f->graph, NULL, NULL, 0));
    return exec;
}

static void run(Fixture *f, mcGraphExec_t exec)
{
    ok(mcGraphLaunch(exec, f->stream));
    ok(mcStreamSynchronize(f->stream));
}

/* Pinned memory to an array, to another one, to device memory, to the program's
 * own; the last one moves a box. */
static void test_chain(void)
{
    Fixture f;

    set_up(&f);
    mcMemcpy3DParms p = {
        .srcPtr = rows(f.pinned), .dstArray = f.array, .extent = {W, H, D},
        .kind = mcMemcpyHostToDevice,
    };
    mcMemcpy3DParms got;
    mcGraphNode_t first = copy_node(&f, NULL, &p), node;
    ok(mcGraphMemcpyNodeGetParams(first, &got));
    g_assert_true(got.dstArray == f.array && got.srcPtr.ptr == f.pinned);
    g_assert_cmpuint(got.extent.width, ==, W);
    p = (mcMemcpy3DParms){
        .srcArray = f.array, .dstArray = f.other, .extent = {W, H, D},
        .kind = mcMemcpyDeviceToDevice,
    };
    node = copy_node(&f, first, &p);
    p = (mcMemcpy3DParms){
        .srcArray = f.other, .dstPtr = rows(f.device), .extent = {W, H, D},
        .kind = mcMemcpyDefault,
    };
    node = copy_node(&f, node, &p);
    p = (mcMemcpy3DParms){
        .srcArray = f.other, .srcPos = {3, 1, 1}, .dstPtr = rows(f.out),
        .dstPos = {2 * 4, 0, 1}, .extent = {5, 4, 2},
        .kind = mcMemcpyDeviceToHost,
    };
    copy_node(&f, node, &p);
    mcGraphExec_t exec = instantiate(&f);
    for (unsigned round = 0; round < 3; round++) {
        f.pinned[PLANE + W + 3] = 1000 + round;
        memset(f.out, 0, sizeof(f.out));
        run(&f, exec);
        g_assert_cmpuint(f.out[PLANE + 2], ==, 1000 + round);
        g_assert_cmpuint(f.out[2 * PLANE + 3 * W + 6], ==,
                         f.pinned[2 * PLANE + 4 * W + 7]);
        g_assert_cmpuint(f.out[PLANE + 1] | f.out[PLANE + 7], ==, 0);
    }
    ok(mcMemcpy(f.out, f.device, sizeof(f.out), mcMemcpyDeviceToHost));
    g_assert_cmpmem(f.out, sizeof(f.out), f.pinned, ALL * 4);
    /* The other array is filled from now on. */
    p = (mcMemcpy3DParms){
        .srcPtr = rows(f.out), .dstArray = f.array, .extent = {W, H, D},
        .kind = mcMemcpyHostToDevice,
    };
    ok(mcGraphExecMemcpyNodeSetParams(exec, first, &p));
    f.out[0] = 77;
    run(&f, exec);
    ok(mcMemcpy(f.pinned, f.device, 4, mcMemcpyDeviceToHost));
    g_assert_cmpuint(f.pinned[0], ==, 77);
    ok(mcGraphExecDestroy(exec));
    tear_down(&f);
}

/* An array of another device than the one that runs the graph. */
static void test_devices(void)
{
    mcArray_t far;
    Fixture f;

    env_two_devices();
    set_up(&f);
    ok(mcSetDevice(1));
    far = make(32, W, H, D);
    ok(mcSetDevice(0));
    mcMemcpy3DParms p = {
        .srcPtr = rows(f.pinned), .dstArray = f.array, .extent = {W, H, D},
        .kind = mcMemcpyHostToDevice,
    };
    mcGraphNode_t node = copy_node(&f, NULL, &p);
    p = (mcMemcpy3DParms){
        .srcArray = f.array, .dstArray = far, .extent = {W, H, D},
        .kind = mcMemcpyDefault,
    };
    node = copy_node(&f, node, &p);
    p = (mcMemcpy3DParms){
        .srcArray = far, .dstPtr = rows(f.out), .extent = {W, H, D},
        .kind = mcMemcpyDeviceToHost,
    };
    copy_node(&f, node, &p);
    mcGraphExec_t exec = instantiate(&f);
    run(&f, exec);
    g_assert_cmpmem(f.out, sizeof(f.out), f.pinned, ALL * 4);
    ok(mcGraphExecDestroy(exec));
    ok(mcFreeArray(far));
    tear_down(&f);
}

static void test_errors(void)
{
    mcArray_t narrow, gone = make(32, W, H, D);
    mcGraphNode_t node, bad = NULL;
    mcGraphExec_t exec;
    Fixture f;

    set_up(&f);
    narrow = make(8, W, H, D);
    mcMemcpy3DParms p = {
        .srcArray = f.array, .dstArray = narrow, .extent = {W, H, D},
        .kind = mcMemcpyDeviceToDevice,
    };
    /* Elements of two sizes. */
    fails(mcErrorInvalidValue,
          mcGraphAddMemcpyNode(&node, f.graph, NULL, 0, &p));
    p.dstArray = f.other;
    p.dstPos.x = 1; /* beyond its rows */
    fails(mcErrorInvalidValue,
          mcGraphAddMemcpyNode(&node, f.graph, NULL, 0, &p));
    p.dstPos.x = 0;
    p.dstPtr = rows(f.device); /* both */
    fails(mcErrorInvalidValue,
          mcGraphAddMemcpyNode(&node, f.graph, NULL, 0, &p));
    p.dstPtr.ptr = NULL;
    p.kind = mcMemcpyHostToDevice; /* an array is device memory */
    ok(mcGraphAddMemcpyNode(&node, f.graph, NULL, 0, &p));
    fails(mcErrorInvalidValue,
          mcGraphInstantiate(&exec, f.graph, &bad, NULL, 0));
    g_assert_true(bad == node);
    p.kind = mcMemcpyDeviceToDevice;
    p.srcArray = gone;
    ok(mcGraphMemcpyNodeSetParams(node, &p));
    ok(mcFreeArray(gone));
    fails(mcErrorInvalidResourceHandle, mcGraphMemcpyNodeSetParams(node, &p));
    fails(mcErrorInvalidResourceHandle,
          mcGraphInstantiate(&exec, f.graph, &bad, NULL, 0));
    g_assert_true(bad == node);
    p.srcArray = f.array;
    ok(mcGraphMemcpyNodeSetParams(node, &p));
    p.extent.height = 0; /* nothing to do */
    ok(mcGraphMemcpyNodeSetParams(node, &p));
    ok(mcGraphInstantiate(&exec, f.graph, NULL, NULL, 0));
    run(&f, exec);
    ok(mcGraphExecDestroy(exec));
    ok(mcFreeArray(narrow));
    tear_down(&f);
}

/* Every kind of asynchronous copy with arrays becomes nodes. */
static void test_capture(void)
{
    const size_t bytes = PLANE * 4 - 24;
    mcArray_t plane = make(32, W, H, 0);
    mcGraph_t graph;
    size_t nodes = 0;
    Fixture f;

    set_up(&f);
    mcMemcpy3DParms p = {
        .srcPtr = rows(f.pinned), .dstArray = f.array, .extent = {W, H, D},
        .kind = mcMemcpyHostToDevice,
    };
    ok(mcStreamBeginCapture(f.stream, mcStreamCaptureModeGlobal));
    ok(mcMemcpy3DAsync(&p, f.stream));
    p = (mcMemcpy3DParms){
        .srcArray = f.array, .srcPos = {0, 0, 1}, .dstPtr = rows(f.device),
        .extent = {W, H, 1}, .kind = mcMemcpyDeviceToDevice,
    };
    ok(mcMemcpy3DAsync(&p, f.stream));
    ok(mcMemcpy2DToArrayAsync(plane, 0, 0, f.device, W * 4, W * 4, H,
                              mcMemcpyDeviceToDevice, f.stream));
    /* From the middle of a row on: the rest of it, rows, the start of one. */
    ok(mcMemcpyToArrayAsync(plane, 12, 0, f.pinned, bytes,
                            mcMemcpyHostToDevice, f.stream));
    ok(mcMemcpyFromArrayAsync(f.device, plane, 0, 0, PLANE * 4,
                              mcMemcpyDeviceToDevice, f.stream));
    ok(mcMemcpyAsync(f.out, f.device, PLANE * 4, mcMemcpyDeviceToHost,
                     f.stream));
    ok(mcStreamEndCapture(f.stream, &graph));
    ok(mcGraphGetNodes(graph, NULL, &nodes));
    g_assert_cmpuint(nodes, >=, 6);
    ok(mcMemset(f.device, 0, PLANE * 4));
    ok(mcDeviceSynchronize()); /* the graph's stream would not wait for it */
    mcGraphExec_t exec;
    ok(mcGraphInstantiate(&exec, graph, NULL, NULL, 0));
    for (unsigned round = 0; round < 2; round++) {
        f.pinned[0] = 500 + round;
        f.pinned[PLANE] = 600 + round;
        run(&f, exec);
        g_assert_cmpuint(f.out[0], ==, 600 + round);
        g_assert_cmpuint(f.out[3], ==, 500 + round);
        g_assert_cmpmem(f.out + 4, bytes - 4, f.pinned + 1, bytes - 4);
        g_assert_cmpuint(f.out[PLANE - 1], ==, f.pinned[2 * PLANE - 1]);
    }
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(graph));
    ok(mcFreeArray(plane));
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/graph-array/chain", test_chain);
    g_test_add_func("/graph-array/devices", test_devices);
    g_test_add_func("/graph-array/errors", test_errors);
    g_test_add_func("/graph-array/capture", test_capture);
    return g_test_run();
}
