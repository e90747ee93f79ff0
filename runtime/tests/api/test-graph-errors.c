/* SPDX-License-Identifier: MIT */
/* Mistakes with nodes: of another kind, of another graph, no parameters. */
#include "env.h"

static mcGraph_t graph;
static mcGraphExec_t exec;
static mcGraphNode_t empty, copy, set, ops, record;
static uint32_t *device, *words;
static mcStreamBatchMemOpParams op;
static mcEvent_t event;

static mcBatchMemOpNodeParams batch_of(unsigned count)
{
    return (mcBatchMemOpNodeParams){.count = count, .paramArray = &op};
}

static mcMemsetParams fill_of(unsigned element)
{
    return (mcMemsetParams){
        .dst = device, .elementSize = element, .width = 4, .height = 1};
}

static void set_up(void)
{
    mcBatchMemOpNodeParams batch = batch_of(1);

    device = env_malloc(64);
    words = env_malloc_host(64);
    mcMemsetParams fill = fill_of(4);
    op = (mcStreamBatchMemOpParams){0};
    op.writeValue.operation = MC_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = device;
    ok(mcEventCreate(&event));
    ok(mcGraphCreate(&graph, 0));
    ok(mcGraphAddEmptyNode(&empty, graph, NULL, 0));
    ok(mcGraphAddMemcpyNode1D(&copy, graph, NULL, 0, words, device, 64,
                              mcMemcpyDeviceToHost));
    ok(mcGraphAddMemsetNode(&set, graph, NULL, 0, &fill));
    ok(mcGraphAddBatchMemOpNode(&ops, graph, NULL, 0, &batch));
    ok(mcGraphAddEventRecordNode(&record, graph, NULL, 0, event));
    ok(mcGraphInstantiate(&exec, graph, NULL, NULL, 0));
}

static void tear_down(void)
{
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(graph));
    ok(mcEventDestroy(event));
    ok(mcFree(device));
    ok(mcFreeHost(words));
}

static void test_copies(void)
{
    const mcError_t bad = mcErrorInvalidValue;
    mcMemcpy3DParms p = {.extent = {8, 1, 1}, .kind = mcMemcpyDefault};
    mcGraphNode_t node;

    set_up();
    p.dstPtr = (mcPitchedPtr){words, 8, 8, 1};
    p.srcPtr = (mcPitchedPtr){device, 8, 8, 1};
    fails(bad, mcGraphAddMemcpyNode1D(NULL, graph, NULL, 0, words, device, 8,
                                      mcMemcpyDefault));
    fails(bad, mcGraphAddMemcpyNode1D(&node, NULL, NULL, 0, words, device, 8,
                                      mcMemcpyDefault));
    fails(bad, mcGraphAddMemcpyNode1D(&node, graph, NULL, 1, words, device, 8,
                                      mcMemcpyDefault));
    fails(bad, mcGraphAddMemcpyNode1D(&node, graph, NULL, 0, NULL, device, 8,
                                      mcMemcpyDefault));
    fails(mcErrorInvalidMemcpyDirection,
          mcGraphAddMemcpyNode1D(&node, graph, NULL, 0, words, device, 8,
                                 (mcMemcpyKind)7));
    ok(mcGraphExecMemcpyNodeSetParams(exec, copy, &p));
    fails(bad, mcGraphExecMemcpyNodeSetParams(NULL, copy, &p));
    fails(bad, mcGraphExecMemcpyNodeSetParams(exec, NULL, &p));
    fails(bad, mcGraphExecMemcpyNodeSetParams(exec, set, &p));
    fails(bad, mcGraphExecMemcpyNodeSetParams(exec, copy, NULL));
    fails(mcErrorInvalidSymbol,
          mcGraphMemcpyNodeSetParamsFromSymbol(copy, words, &node, 4, 0,
                                               mcMemcpyDefault));
    fails(mcErrorInvalidSymbol,
          mcGraphMemcpyNodeSetParamsFromSymbol(copy, words, NULL, 4, 0,
                                               mcMemcpyDefault));
    fails(mcErrorInvalidSymbol,
          mcGraphExecMemcpyNodeSetParamsToSymbol(exec, copy, &node, words, 4,
                                                 0, mcMemcpyDefault));
    fails(mcErrorInvalidSymbol,
          mcGraphExecMemcpyNodeSetParamsToSymbol(exec, copy, NULL, words, 4, 0,
                                                 mcMemcpyDefault));
    tear_down();
}

static void test_fills(void)
{
    const mcError_t bad = mcErrorInvalidValue;
    mcGraphNode_t node;

    set_up();
    mcMemsetParams fill = fill_of(4), odd = fill_of(3);
    fails(bad, mcGraphAddMemsetNode(NULL, graph, NULL, 0, &fill));
    fails(bad, mcGraphAddMemsetNode(&node, NULL, NULL, 0, &fill));
    fails(bad, mcGraphAddMemsetNode(&node, graph, NULL, 1, &fill));
    fails(bad, mcGraphAddMemsetNode(&node, graph, NULL, 0, NULL));
    fails(bad, mcGraphAddMemsetNode(&node, graph, NULL, 0, &odd));
    ok(mcGraphExecMemsetNodeSetParams(exec, set, &fill));
    fails(bad, mcGraphExecMemsetNodeSetParams(NULL, set, &fill));
    fails(bad, mcGraphExecMemsetNodeSetParams(exec, copy, &fill));
    fails(bad, mcGraphExecMemsetNodeSetParams(exec, set, NULL));
    fails(bad, mcGraphExecMemsetNodeSetParams(exec, set, &odd));
    tear_down();
}

static void test_words(void)
{
    const mcError_t bad = mcErrorInvalidValue;
    mcBatchMemOpNodeParams batch = batch_of(1), many = batch_of(257);
    mcGraphNode_t node;

    set_up();
    fails(bad, mcGraphAddBatchMemOpNode(NULL, graph, NULL, 0, &batch));
    fails(bad, mcGraphAddBatchMemOpNode(&node, NULL, NULL, 0, &batch));
    fails(bad, mcGraphAddBatchMemOpNode(&node, graph, NULL, 0, NULL));
    fails(bad, mcGraphAddBatchMemOpNode(&node, graph, NULL, 0, &many));
    ok(mcGraphExecBatchMemOpNodeSetParams(exec, ops, &batch));
    fails(bad, mcGraphExecBatchMemOpNodeSetParams(NULL, ops, &batch));
    fails(bad, mcGraphExecBatchMemOpNodeSetParams(exec, empty, &batch));
    fails(bad, mcGraphExecBatchMemOpNodeSetParams(exec, ops, NULL));
    fails(bad, mcGraphExecBatchMemOpNodeSetParams(exec, ops, &many));
    tear_down();
}

static void test_events(void)
{
    mcExternalSemaphoreSignalNodeParams signal = {0};
    mcExternalSemaphoreWaitNodeParams wait = {0};
    const mcError_t bad = mcErrorInvalidValue;

    set_up();
    ok(mcGraphExecEventRecordNodeSetEvent(exec, record, event));
    fails(bad, mcGraphExecEventRecordNodeSetEvent(NULL, record, event));
    fails(bad, mcGraphExecEventRecordNodeSetEvent(exec, empty, event));
    fails(mcErrorInvalidHandle,
          mcGraphExecEventRecordNodeSetEvent(exec, record, NULL));
    fails(bad, mcGraphExecExternalSemaphoresSignalNodeSetParams(exec, empty,
                                                                &signal));
    fails(bad, mcGraphExecExternalSemaphoresSignalNodeSetParams(exec, empty,
                                                                NULL));
    fails(bad, mcGraphExternalSemaphoresWaitNodeSetParams(empty, &wait));
    fails(bad, mcGraphExternalSemaphoresWaitNodeSetParams(NULL, &wait));
    tear_down();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/graph-errors/copies", test_copies);
    g_test_add_func("/graph-errors/fills", test_fills);
    g_test_add_func("/graph-errors/words", test_words);
    g_test_add_func("/graph-errors/events", test_events);
    return g_test_run();
}
