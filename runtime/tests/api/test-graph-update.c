/* SPDX-License-Identifier: MIT */
/* What is in nodes: read, changed in graphs and in executable graphs; copies of
 * graphs, memory of graphs, objects of the user, texts. */
#include <glib/gstdio.h>
#include <unistd.h>

#include "env.h"

#define WORDS 32

static uint32_t *words; /* pinned */
static mcStream_t stream;

static void set_up(void)
{
    ok(mcStreamCreate(&stream));
    words = env_malloc_host(WORDS * sizeof(uint32_t));
    memset(words, 0, WORDS * sizeof(uint32_t));
}

static void tear_down(void)
{
    ok(mcStreamDestroy(stream));
    ok(mcFreeHost(words));
}

static mcGraph_t new_graph(void)
{
    mcGraph_t graph = NULL;

    ok(mcGraphCreate(&graph, 0));
    return graph;
}

static mcGraphExec_t instantiate(mcGraph_t graph)
{
    mcGraphExec_t exec = NULL;

    ok(mcGraphInstantiate(&exec, graph, NULL, NULL, 0));
    return exec;
}

static void run(mcGraphExec_t exec)
{
    ok(mcGraphLaunch(exec, stream));
    ok(mcStreamSynchronize(stream));
}

/* Arguments of k_add: data[0..WORDS) += value */
typedef struct Add {
    uint32_t *data, count, value;
    void *args[3];
    mcKernelNodeParams params;
} Add;

static mcKernelNodeParams *add_params(Add *a, uint32_t *data, uint32_t value)
{
    *a = (Add){.data = data, .count = WORDS, .value = value};
    a->args[0] = &a->data;
    a->args[1] = &a->count;
    a->args[2] = &a->value;
    a->params = (mcKernelNodeParams){
        .func = env_kernel("k_add"),
        .gridDim = {1, 1, 1},
        .blockDim = {WORDS, 1, 1},
        .kernelParams = a->args,
    };
    return &a->params;
}

static mcGraphNode_t add_kernel(mcGraph_t graph, mcGraphNode_t behind,
                                uint32_t value)
{
    mcGraphNode_t node = NULL;
    Add a;

    ok(mcGraphAddKernelNode(&node, graph, &behind, behind != NULL,
                            add_params(&a, words, value)));
    return node;
}

static void test_kernel(void)
{
    mcGraph_t graph;
    mcGraphNode_t node, empty;
    mcKernelNodeParams got;
    Add a;

    set_up();
    graph = new_graph();
    node = add_kernel(graph, NULL, 5);
    ok(mcGraphAddEmptyNode(&empty, graph, NULL, 0));
    ok(mcGraphKernelNodeGetParams(node, &got));
    g_assert_true(got.func == (void *)env_kernel("k_add"));
    g_assert_cmpuint(got.blockDim.x, ==, WORDS);
    g_assert_null(got.extra);
    g_assert_cmpuint(*(uint32_t *)got.kernelParams[2], ==, 5);
    mcGraphExec_t exec = instantiate(graph);
    /* The graph changes, what was instantiated does not. */
    ok(mcGraphKernelNodeSetParams(node, add_params(&a, words, 6)));
    ok(mcGraphKernelNodeGetParams(node, &got));
    g_assert_cmpuint(*(uint32_t *)got.kernelParams[2], ==, 6);
    run(exec);
    g_assert_cmpuint(words[3], ==, 5);
    /* The other way round, while a launch is under way. */
    ok(mcGraphLaunch(exec, stream));
    ok(mcGraphExecKernelNodeSetParams(exec, node,
                                      add_params(&a, words, 100)));
    run(exec);
    g_assert_cmpuint(words[3], ==, 110);
    /* Packed. */
    uint8_t packed[16];
    size_t size = sizeof(packed);
    void *extra[] = {MC_LAUNCH_PARAM_BUFFER_POINTER, packed,
                     MC_LAUNCH_PARAM_BUFFER_SIZE, &size, MC_LAUNCH_PARAM_END};
    memcpy(packed, &a.data, 8);
    memcpy(packed + 8, &a.count, 4);
    memcpy(packed + 12, &a.value, 4);
    mcKernelNodeParams p = a.params;
    p.extra = extra;
    fails(mcErrorInvalidValue, mcGraphKernelNodeSetParams(node, &p));
    p.kernelParams = NULL;
    ok(mcGraphExecKernelNodeSetParams(exec, node, &p));
    ok(mcGraphKernelNodeSetParams(node, &p));
    ok(mcGraphKernelNodeGetParams(node, &got));
    g_assert_nonnull(got.extra);
    ok(mcGraphKernelNodeSetParams(node, &got));
    run(exec);
    g_assert_cmpuint(words[3], ==, 210);

    p = *add_params(&a, words, 1);
    fails(mcErrorInvalidValue, mcGraphKernelNodeSetParams(empty, &p));
    fails(mcErrorInvalidValue, mcGraphKernelNodeGetParams(empty, &got));
    fails(mcErrorInvalidValue, mcGraphKernelNodeGetParams(node, NULL));
    fails(mcErrorInvalidValue, mcGraphKernelNodeSetParams(node, NULL));
    fails(mcErrorInvalidValue,
          mcGraphExecKernelNodeSetParams(exec, empty, &p));
    fails(mcErrorInvalidValue, mcGraphExecKernelNodeSetParams(NULL, node, &p));
    p.func = &a;
    fails(mcErrorInvalidDeviceFunction, mcGraphKernelNodeSetParams(node, &p));
    p.func = NULL;
    fails(mcErrorInvalidValue, mcGraphKernelNodeSetParams(node, &p));
    p = a.params;
    p.blockDim.x = 4096;
    fails(mcErrorInvalidConfiguration, mcGraphKernelNodeSetParams(node, &p));
    fails(mcErrorInvalidConfiguration,
          mcGraphExecKernelNodeSetParams(exec, node, &p));
    p = a.params;
    a.args[1] = NULL;
    fails(mcErrorInvalidValue,
          mcGraphAddKernelNode(&node, graph, NULL, 0, &p));
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(graph));
    tear_down();
}

static void test_attributes(void)
{
    mcGraph_t graph;
    mcGraphNode_t node, other, empty;
    mcKernelNodeAttrValue v = {.cooperative = 1};
    Add a;

    set_up();
    graph = new_graph();
    node = add_kernel(graph, NULL, 1);
    other = add_kernel(graph, node, 1);
    ok(mcGraphAddEmptyNode(&empty, graph, NULL, 0));
    ok(mcGraphKernelNodeSetAttribute(node, mcKernelNodeAttributeCooperative,
                                     &v));
    v.priority = -1;
    ok(mcGraphKernelNodeSetAttribute(node, mcKernelNodeAttributePriority, &v));
    ok(mcGraphKernelNodeCopyAttributes(node, other));
    /* Parameters are something else. */
    ok(mcGraphKernelNodeSetParams(other, add_params(&a, words, 2)));
    ok(mcGraphKernelNodeGetAttribute(other, mcKernelNodeAttributePriority,
                                     &v));
    g_assert_cmpint(v.priority, ==, -1);
    ok(mcGraphKernelNodeGetAttribute(other, mcKernelNodeAttributeCooperative,
                                     &v));
    g_assert_cmpint(v.cooperative, ==, 1);
    ok(mcGraphKernelNodeGetAttribute(
        other, mcKernelNodeAttributeAccessPolicyWindow, &v));
    g_assert_cmpuint(v.accessPolicyWindow.num_bytes, ==, 0);
    ok(mcGraphKernelNodeSetAttribute(
        other, mcKernelNodeAttributeAccessPolicyWindow, &v));
    mcGraphExec_t exec = instantiate(graph);
    run(exec);
    g_assert_cmpuint(words[0], ==, 3);
    v.cooperative = 2;
    fails(mcErrorInvalidValue,
          mcGraphKernelNodeSetAttribute(
              node, mcKernelNodeAttributeCooperative, &v));
    fails(mcErrorInvalidValue,
          mcGraphKernelNodeSetAttribute(node, (mcKernelNodeAttrID)99, &v));
    fails(mcErrorInvalidValue,
          mcGraphKernelNodeGetAttribute(node, (mcKernelNodeAttrID)99, &v));
    fails(mcErrorInvalidValue,
          mcGraphKernelNodeGetAttribute(
              empty, mcKernelNodeAttributePriority, &v));
    fails(mcErrorInvalidValue, mcGraphKernelNodeCopyAttributes(node, empty));
    fails(mcErrorInvalidValue, mcGraphKernelNodeCopyAttributes(empty, node));
    fails(mcErrorInvalidValue,
          mcGraphKernelNodeSetAttribute(
              node, mcKernelNodeAttributePriority, NULL));
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(graph));
    tear_down();
}

static void test_copies(void)
{
    mcMemcpy3DParms p;
    mcMemsetParams fill = {.elementSize = 4, .height = 1, .value = 9,
                           .width = WORDS}, got;
    mcGraphNode_t set, copy;
    mcGraph_t graph;

    set_up();
    uint32_t *device = env_malloc(WORDS * 4), *more = env_malloc(WORDS * 4);
    ok(mcMemset(more, 0x11, WORDS * 4));
    fill.dst = device;
    graph = new_graph();
    ok(mcGraphAddMemsetNode(&set, graph, NULL, 0, &fill));
    ok(mcGraphAddMemcpyNode1D(&copy, graph, &set, 1, words, device, WORDS * 4,
                              mcMemcpyDeviceToHost));
    mcGraphExec_t exec = instantiate(graph);
    run(exec);
    g_assert_cmpuint(words[WORDS - 1], ==, 9);
    ok(mcGraphMemcpyNodeGetParams(copy, &p));
    g_assert_true(p.dstPtr.ptr == words && p.srcPtr.ptr == device);
    g_assert_cmpuint(p.extent.width, ==, WORDS * 4);
    ok(mcGraphExecMemcpyNodeSetParams1D(exec, copy, words, more, 4,
                                        mcMemcpyDefault));
    run(exec);
    g_assert_cmphex(words[0], ==, 0x11111111);
    g_assert_cmpuint(words[1], ==, 9);
    p.extent.width = 8;
    ok(mcGraphExecMemcpyNodeSetParams(exec, copy, &p));
    ok(mcGraphMemcpyNodeSetParams(copy, &p));
    ok(mcGraphMemsetNodeGetParams(set, &got));
    g_assert_cmpuint(got.value, ==, 9);
    got.value = 4;
    ok(mcGraphMemsetNodeSetParams(set, &got));
    ok(mcGraphExecMemsetNodeSetParams(exec, set, &got));
    run(exec);
    g_assert_cmpuint(words[0], ==, 4);
    g_assert_cmpuint(words[1], ==, 4);
    g_assert_cmpuint(words[2], ==, 9);
    ok(mcGraphMemcpyNodeSetParams1D(copy, words, more, 4, mcMemcpyDefault));

    /* Leaving work out. */
    unsigned on = 9;
    ok(mcGraphNodeGetEnabled(exec, copy, &on));
    g_assert_cmpuint(on, ==, 1);
    ok(mcGraphNodeSetEnabled(exec, copy, 0));
    words[0] = 77;
    run(exec);
    g_assert_cmpuint(words[0], ==, 77);
    ok(mcGraphNodeGetEnabled(exec, copy, &on));
    g_assert_cmpuint(on, ==, 0);
    ok(mcGraphNodeSetEnabled(exec, copy, 1));
    run(exec);
    g_assert_cmpuint(words[0], ==, 4);

    fails(mcErrorInvalidMemcpyDirection,
          mcGraphMemcpyNodeSetParams1D(copy, words, more, 4,
                                       (mcMemcpyKind)9));
    fails(mcErrorInvalidValue,
          mcGraphMemcpyNodeSetParams1D(copy, NULL, more, 4, mcMemcpyDefault));
    fails(mcErrorInvalidValue,
          mcGraphMemcpyNodeSetParams1D(copy, words, more, 0,
                                       mcMemcpyDefault));
    fails(mcErrorInvalidValue,
          mcGraphMemcpyNodeSetParams1D(set, words, more, 4, mcMemcpyDefault));
    fails(mcErrorInvalidValue, mcGraphMemcpyNodeSetParams(copy, NULL));
    fails(mcErrorInvalidValue, mcGraphMemcpyNodeGetParams(set, &p));
    fails(mcErrorInvalidValue, mcGraphMemsetNodeGetParams(copy, &got));
    fails(mcErrorInvalidValue, mcGraphMemsetNodeSetParams(set, NULL));
    got.elementSize = 3;
    fails(mcErrorInvalidValue, mcGraphMemsetNodeSetParams(set, &got));
    /* No longer memory: the executable graph stays as it was. */
    fails(mcErrorInvalidValue,
          mcGraphExecMemcpyNodeSetParams1D(exec, copy, words, more,
                                           1ull << 30, mcMemcpyDefault));
    run(exec);
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(graph));
    ok(mcFree(device));
    ok(mcFree(more));
    tear_down();
}

static void count_call(void *data)
{
    ++*(unsigned *)data;
}

static void test_host(void)
{
    unsigned calls[2] = {0, 0};
    mcHostNodeParams p = {count_call, &calls[0]}, got;
    mcGraphNode_t node, empty;
    mcGraph_t graph;

    set_up();
    graph = new_graph();
    ok(mcGraphAddEmptyNode(&empty, graph, NULL, 0));
    ok(mcGraphAddHostNode(&node, graph, &empty, 1, &p));
    ok(mcGraphHostNodeGetParams(node, &got));
    g_assert_true(got.fn == count_call && got.userData == &calls[0]);
    mcGraphExec_t exec = instantiate(graph);
    run(exec);
    p.userData = &calls[1];
    ok(mcGraphExecHostNodeSetParams(exec, node, &p));
    ok(mcGraphHostNodeSetParams(node, &p));
    run(exec);
    g_assert_cmpuint(calls[0], ==, 1);
    g_assert_cmpuint(calls[1], ==, 1);
    unsigned on;
    fails(mcErrorInvalidValue, mcGraphNodeSetEnabled(exec, node, 0));
    fails(mcErrorInvalidValue, mcGraphNodeGetEnabled(exec, node, &on));
    fails(mcErrorInvalidValue, mcGraphHostNodeGetParams(empty, &got));
    fails(mcErrorInvalidValue, mcGraphHostNodeSetParams(empty, &p));
    p.fn = NULL;
    fails(mcErrorInvalidValue, mcGraphHostNodeSetParams(node, &p));
    fails(mcErrorInvalidValue, mcGraphExecHostNodeSetParams(exec, node, &p));
    fails(mcErrorInvalidValue, mcGraphAddHostNode(&node, graph, NULL, 0, NULL));
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(graph));
    tear_down();
}

static void test_update(void)
{
    mcGraphExecUpdateResult result;
    mcGraphNode_t node[2], bad;
    mcGraph_t graph, other;

    set_up();
    graph = new_graph();
    node[0] = add_kernel(graph, NULL, 1);
    add_kernel(graph, node[0], 2);
    mcGraphExec_t exec = instantiate(graph);
    other = new_graph();
    node[1] = add_kernel(other, add_kernel(other, NULL, 10), 20);
    ok(mcGraphExecUpdate(exec, other, &bad, &result));
    g_assert_cmpint(result, ==, mcGraphExecUpdateSuccess);
    g_assert_null(bad);
    run(exec);
    g_assert_cmpuint(words[0], ==, 30);
    /* Its nodes are still known by those of the first graph. */
    ok(mcGraphNodeSetEnabled(exec, node[0], 0));
    fails(mcErrorInvalidValue, mcGraphNodeSetEnabled(exec, node[1], 0));
    run(exec);
    g_assert_cmpuint(words[0], ==, 50);
    /* One more, other edges, another kind: as it was. */
    add_kernel(other, NULL, 1);
    fails(mcErrorGraphExecUpdateFailure,
          mcGraphExecUpdate(exec, other, &bad, &result));
    g_assert_cmpint(result, ==, mcGraphExecUpdateErrorTopologyChanged);
    ok(mcGraphDestroy(other));
    other = new_graph();
    add_kernel(other, NULL, 1);
    node[1] = add_kernel(other, NULL, 1);
    fails(mcErrorGraphExecUpdateFailure,
          mcGraphExecUpdate(exec, other, &bad, &result));
    g_assert_cmpint(result, ==, mcGraphExecUpdateErrorTopologyChanged);
    g_assert_true(bad == node[1]);
    ok(mcGraphDestroy(other));
    other = new_graph();
    ok(mcGraphAddEmptyNode(&node[1], other, NULL, 0));
    add_kernel(other, node[1], 1);
    fails(mcErrorGraphExecUpdateFailure,
          mcGraphExecUpdate(exec, other, &bad, &result));
    g_assert_cmpint(result, ==, mcGraphExecUpdateErrorNodeTypeChanged);
    g_assert_true(bad == node[1]);
    fails(mcErrorGraphExecUpdateFailure,
          mcGraphExecUpdate(exec, other, NULL, NULL));
    fails(mcErrorInvalidValue, mcGraphExecUpdate(exec, NULL, &bad, &result));
    fails(mcErrorInvalidValue, mcGraphExecUpdate(NULL, other, &bad, &result));
    run(exec);
    g_assert_cmpuint(words[0], ==, 70);
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(other));
    ok(mcGraphDestroy(graph));
    tear_down();
}

static void test_child(void)
{
    mcGraphNode_t child, inner, found;
    mcGraph_t graph, part, clone;
    mcGraphNodeType type;
    Add a;

    set_up();
    part = new_graph();
    inner = add_kernel(part, NULL, 1);
    graph = new_graph();
    ok(mcGraphAddChildGraphNode(&child, graph, NULL, 0, part));
    mcGraphExec_t exec = instantiate(graph);
    ok(mcGraphKernelNodeSetParams(inner, add_params(&a, words, 50)));
    ok(mcGraphExecChildGraphNodeSetParams(exec, child, part));
    run(exec);
    g_assert_cmpuint(words[0], ==, 50);
    add_kernel(part, NULL, 1);
    fails(mcErrorInvalidValue,
          mcGraphExecChildGraphNodeSetParams(exec, child, part));
    fails(mcErrorInvalidValue,
          mcGraphExecChildGraphNodeSetParams(exec, inner, part));
    run(exec);
    g_assert_cmpuint(words[0], ==, 100);
    ok(mcGraphExecDestroy(exec));

    ok(mcGraphClone(&clone, graph));
    ok(mcGraphNodeFindInClone(&found, child, clone));
    g_assert_true(found != child);
    ok(mcGraphNodeGetType(found, &type));
    g_assert_cmpint(type, ==, mcGraphNodeTypeGraph);
    fails(mcErrorInvalidValue, mcGraphNodeFindInClone(&found, inner, clone));
    fails(mcErrorInvalidValue, mcGraphNodeFindInClone(NULL, child, clone));
    fails(mcErrorInvalidValue, mcGraphNodeFindInClone(&found, child, NULL));
    fails(mcErrorInvalidValue, mcGraphClone(NULL, graph));
    fails(mcErrorInvalidValue, mcGraphClone(&clone, NULL));
    ok(mcGraphDestroy(graph));
    exec = instantiate(clone);
    run(exec);
    g_assert_cmpuint(words[0], ==, 101);
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(clone));
    ok(mcGraphDestroy(part));
    tear_down();
}

static unsigned long long used(mcGraphMemAttributeType attr)
{
    unsigned long long value = 99;

    ok(mcDeviceGetGraphMemAttribute(0, attr, &value));
    return value;
}

static void test_memory(void)
{
    mcMemAllocNodeParams p = {.bytesize = WORDS * 4}, got;
    mcGraphNode_t alloc, set, copy, node;
    mcGraph_t graph, freeing, clone;
    mcMemsetParams fill = {.elementSize = 1, .height = 1, .value = 3,
                           .width = WORDS * 4};
    unsigned long long zero = 0;
    void *address;

    set_up();
    graph = new_graph();
    freeing = new_graph();
    p.poolProps.allocType = mcMemAllocationTypePinned;
    p.poolProps.location.type = mcMemLocationTypeDevice;
    ok(mcGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    g_assert_nonnull(p.dptr);
    ok(mcGraphMemAllocNodeGetParams(alloc, &got));
    g_assert_true(got.dptr == p.dptr);
    fill.dst = p.dptr;
    ok(mcGraphAddMemsetNode(&set, graph, &alloc, 1, &fill));
    ok(mcGraphAddMemcpyNode1D(&copy, graph, &set, 1, words, p.dptr, WORDS * 4,
                              mcMemcpyDefault));
    mcGraphExec_t exec = instantiate(graph);
    g_assert_cmpuint(used(mcGraphMemAttrUsedMemCurrent), ==, 0);
    g_assert_cmpuint(used(mcGraphMemAttrReservedMemCurrent), >, 0);
    run(exec);
    g_assert_cmphex(words[5], ==, 0x03030303);
    g_assert_cmpuint(used(mcGraphMemAttrUsedMemCurrent), ==, WORDS * 4);
    /* Not freed: not again. */
    fails(mcErrorInvalidValue, mcGraphLaunch(exec, stream));
    ok(mcFreeAsync(p.dptr, stream));
    fails(mcErrorInvalidValue, mcFreeAsync(p.dptr, stream));
    fails(mcErrorInvalidDevicePointer, mcFree(p.dptr));
    run(exec);
    ok(mcFree(p.dptr));
    run(exec);
    /* By another graph. */
    ok(mcGraphAddMemFreeNode(&node, freeing, NULL, 0, p.dptr));
    ok(mcGraphMemFreeNodeGetParams(node, &address));
    g_assert_true(address == p.dptr);
    fails(mcErrorInvalidValue,
          mcGraphAddMemFreeNode(&node, freeing, NULL, 0, p.dptr));
    mcGraphExec_t free_exec = instantiate(freeing);
    run(free_exec);
    fails(mcErrorInvalidValue, mcGraphLaunch(free_exec, stream));
    g_assert_cmpuint(used(mcGraphMemAttrUsedMemCurrent), ==, 0);
    g_assert_cmpuint(used(mcGraphMemAttrUsedMemHigh), ==, WORDS * 4);
    ok(mcDeviceSetGraphMemAttribute(0, mcGraphMemAttrUsedMemHigh, &zero));
    g_assert_cmpuint(used(mcGraphMemAttrUsedMemHigh), ==, 0);
    ok(mcDeviceSetGraphMemAttribute(0, mcGraphMemAttrReservedMemHigh, &zero));
    g_assert_cmpuint(used(mcGraphMemAttrReservedMemHigh), >, 0);
    /* Freed by the next launch. */
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphInstantiateWithFlags(&exec, graph,
                                   mcGraphInstantiateFlagAutoFreeOnLaunch));
    run(exec);
    run(exec);
    /* Of the same graph. */
    ok(mcGraphExecDestroy(free_exec));
    ok(mcGraphExecDestroy(exec));
    ok(mcFree(p.dptr));
    ok(mcGraphAddMemFreeNode(&node, graph, &copy, 1, p.dptr));
    exec = instantiate(graph);
    run(exec);
    run(exec);
    g_assert_cmpuint(used(mcGraphMemAttrUsedMemCurrent), ==, 0);

    fails(mcErrorNotSupported, mcGraphClone(&clone, graph));
    fails(mcErrorNotSupported,
          mcGraphAddChildGraphNode(&node, freeing, NULL, 0, graph));
    fails(mcErrorNotSupported, mcGraphDestroyNode(set));
    fails(mcErrorNotSupported,
          mcGraphRemoveDependencies(graph, &alloc, &set, 1));
    fails(mcErrorInvalidValue,
          mcGraphAddMemFreeNode(&node, freeing, NULL, 0, words));
    fails(mcErrorInvalidValue, mcGraphMemAllocNodeGetParams(set, &got));
    fails(mcErrorInvalidValue, mcGraphMemFreeNodeGetParams(set, &address));
    fails(mcErrorInvalidValue,
          mcGraphAddMemAllocNode(&node, graph, NULL, 0, NULL));
    p.bytesize = 0;
    fails(mcErrorInvalidValue,
          mcGraphAddMemAllocNode(&node, graph, NULL, 0, &p));
    p.bytesize = 8;
    p.poolProps.location.type = (mcMemLocationType)9;
    fails(mcErrorInvalidValue,
          mcGraphAddMemAllocNode(&node, graph, NULL, 0, &p));
    fails(mcErrorInvalidDevice,
          mcDeviceGetGraphMemAttribute(99, mcGraphMemAttrUsedMemHigh, &zero));
    fails(mcErrorInvalidValue,
          mcDeviceGetGraphMemAttribute(0, (mcGraphMemAttributeType)9, &zero));
    fails(mcErrorInvalidValue,
          mcDeviceSetGraphMemAttribute(0, mcGraphMemAttrUsedMemCurrent,
                                       &zero));
    fails(mcErrorInvalidDevice, mcDeviceGraphMemTrim(99));
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(graph));
    ok(mcGraphDestroy(freeing));
    ok(mcDeviceSynchronize());
    ok(mcDeviceGraphMemTrim(0));
    g_assert_cmpuint(used(mcGraphMemAttrReservedMemCurrent), ==, 0);
    tear_down();
}

static void test_user_objects(void)
{
    unsigned gone[2] = {0, 0};
    mcUserObject_t a, b;
    mcGraph_t graph = new_graph(), clone;
    const unsigned flags = mcUserObjectNoDestructorSync;

    fails(mcErrorInvalidValue,
          mcUserObjectCreate(NULL, gone, count_call, 1, flags));
    fails(mcErrorInvalidValue,
          mcUserObjectCreate(&a, gone, NULL, 1, flags));
    fails(mcErrorInvalidValue,
          mcUserObjectCreate(&a, gone, count_call, 0, flags));
    fails(mcErrorInvalidValue, mcUserObjectCreate(&a, gone, count_call, 1, 0));
    ok(mcUserObjectCreate(&a, &gone[0], count_call, 1, flags));
    ok(mcUserObjectRetain(a, 2));
    ok(mcUserObjectRelease(a, 1));
    fails(mcErrorInvalidValue, mcUserObjectRelease(a, 3));
    fails(mcErrorInvalidValue, mcUserObjectRetain(a, 0));
    fails(mcErrorInvalidValue, mcUserObjectRelease(a, 0));
    ok(mcUserObjectRelease(a, 2));
    g_assert_cmpuint(gone[0], ==, 1);
    fails(mcErrorInvalidValue, mcUserObjectRetain(a, 1));
    fails(mcErrorInvalidValue, mcUserObjectRelease(a, 1));

    ok(mcUserObjectCreate(&b, &gone[1], count_call, 1, flags));
    ok(mcGraphRetainUserObject(graph, b, 2, 0));
    fails(mcErrorInvalidValue, mcGraphReleaseUserObject(graph, b, 3));
    ok(mcGraphReleaseUserObject(graph, b, 1));
    ok(mcGraphRetainUserObject(graph, b, 1, mcGraphUserObjectMove));
    fails(mcErrorInvalidValue, mcGraphRetainUserObject(graph, b, 1, 2));
    fails(mcErrorInvalidValue, mcGraphRetainUserObject(NULL, b, 1, 0));
    fails(mcErrorInvalidValue, mcGraphReleaseUserObject(graph, NULL, 1));
    ok(mcGraphClone(&clone, graph));
    mcGraphExec_t exec = instantiate(clone);
    ok(mcGraphDestroy(graph));
    ok(mcGraphDestroy(clone));
    g_assert_cmpuint(gone[1], ==, 0);
    ok(mcGraphExecDestroy(exec));
    g_assert_cmpuint(gone[1], ==, 1);
}

static void test_dot(void)
{
    const mcHostNodeParams host = {count_call, NULL};
    g_autofree char *text = NULL;
    g_autofree char *path = NULL;
    mcGraph_t graph, child;
    mcGraphNode_t node;
    int fd = g_file_open_tmp("graph-XXXXXX.dot", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    set_up();
    graph = new_graph();
    child = new_graph();
    ok(mcGraphAddHostNode(&node, child, NULL, 0, &host));
    node = add_kernel(graph, NULL, 1);
    ok(mcGraphAddChildGraphNode(&node, graph, &node, 1, child));
    ok(mcGraphDebugDotPrint(graph, path, mcGraphDebugDotFlagsVerbose));
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_true(g_str_has_prefix(text, "digraph "));
    g_assert_nonnull(strstr(text, "kernel"));
    g_assert_nonnull(strstr(text, "block 32,1,1"));
    g_assert_nonnull(strstr(text, "subgraph"));
    g_assert_nonnull(strstr(text, "->"));
    fails(mcErrorInvalidValue, mcGraphDebugDotPrint(graph, NULL, 0));
    fails(mcErrorInvalidValue, mcGraphDebugDotPrint(graph, path, 1u << 30));
    fails(mcErrorInvalidValue, mcGraphDebugDotPrint(NULL, path, 0));
    fails(mcErrorOperatingSystem,
          mcGraphDebugDotPrint(graph, "/nowhere/graph.dot", 0));
    ok(mcGraphDestroy(graph));
    ok(mcGraphDestroy(child));
    close(fd);
    g_unlink(path);
    tear_down();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/graph-update/kernel", test_kernel);
    g_test_add_func("/graph-update/attributes", test_attributes);
    g_test_add_func("/graph-update/copies", test_copies);
    g_test_add_func("/graph-update/host", test_host);
    g_test_add_func("/graph-update/update", test_update);
    g_test_add_func("/graph-update/child", test_child);
    g_test_add_func("/graph-update/memory", test_memory);
    g_test_add_func("/graph-update/user-objects", test_user_objects);
    g_test_add_func("/graph-update/dot", test_dot);
    return g_test_run();
}
