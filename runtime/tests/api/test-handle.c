/* SPDX-License-Identifier: MIT */
/* Every entry point with handles that name nothing, what is gone, or an object
 * of another kind: the documented error, and nothing else happens. */
#include "env.h"

/* Good ones, for where another argument is bad. */
static mcStream_t stream;
static mcEvent_t event;
static mcModule_t module;

static void nothing(void *data)
{
}

static void callback(mcStream_t s, mcError_t status, void *data)
{
}

static void bad_stream(mcStream_t bad)
{
    const mcError_t error = mcErrorInvalidResourceHandle;
    static uint64_t word;
    unsigned flags;
    int number;
    mcStreamCaptureStatus status;
    mcCtx_t ctx;
    uint64_t zero[8] = {0};
    void *params[] = {zero, zero, zero, zero};
    void *d = env_malloc(64);

    fails(error, mcStreamDestroy(bad));
    fails(error, mcStreamGetFlags(bad, &flags));
    fails(error, mcStreamGetPriority(bad, &number));
    fails(error, mcStreamGetCtx(bad, &ctx));
    fails(error, mcStreamGetDevice(bad, &number));
    fails(error, mcStreamQuery(bad));
    fails(error, mcStreamSynchronize(bad));
    fails(error, mcStreamWaitEvent(bad, event, 0));
    fails(error, mcStreamIsCapturing(bad, &status));
    fails(error, mcStreamBeginCapture(bad, mcStreamCaptureModeGlobal));
    fails(error, mcStreamEndCapture(bad, NULL));
    fails(error, mcStreamGetCaptureInfo(bad, &status, NULL, NULL, NULL, NULL));
    fails(error, mcStreamUpdateCaptureDependencies(bad, NULL, 0, 0));
    fails(error, mcStreamAddCallback(bad, callback, NULL, 0));
    fails(error, mcLaunchHostFunc(bad, nothing, NULL));
    fails(error, mcStreamWaitValue32(bad, &word, 0, 0));
    fails(error, mcStreamWaitValue64(bad, &word, 0, 0));
    fails(error, mcStreamWriteValue32(bad, &word, 0, 0));
    fails(error, mcStreamWriteValue64(bad, &word, 0, 0));
    fails(error, mcEventRecord(event, bad));
    fails(error, mcEventRecordWithFlags(event, bad, 0));
    fails(error, mcMemcpyAsync(d, zero, 8, mcMemcpyHostToDevice, bad));
    fails(error, mcMemcpyWithStream(d, zero, 8, mcMemcpyHostToDevice, bad));
    fails(error, mcMemcpyHtoDAsync(d, zero, 8, bad));
    fails(error, mcMemcpy2DAsync(d, 8, zero, 8, 8, 1, mcMemcpyHostToDevice,
                                 bad));
    fails(error, mcMemsetAsync(d, 0, 8, bad));
    fails(error, mcMemset2DAsync(d, 8, 0, 8, 1, bad));
    fails(error, mcModuleLaunchKernel(env_kernel("k_empty"), 1, 1, 1, 1, 1, 1,
                                      0, bad, params, NULL));
    ok(mcFree(d));
}

static void bad_event(mcEvent_t bad)
{
    const mcError_t error = mcErrorInvalidHandle;
    float ms;

    fails(error, mcEventRecord(bad, stream));
    fails(error, mcEventRecord(bad, NULL));
    fails(error, mcEventRecordWithFlags(bad, stream, 0));
    fails(error, mcEventSynchronize(bad));
    fails(error, mcEventQuery(bad));
    fails(error, mcEventElapsedTime(&ms, bad, event));
    fails(error, mcEventElapsedTime(&ms, event, bad));
    fails(error, mcEventDestroy(bad));
    fails(error, mcStreamWaitEvent(stream, bad, 0));
    fails(error, mcStreamWaitEvent(NULL, bad, 0));
}

static void bad_module(mcModule_t bad)
{
    const mcError_t error = mcErrorInvalidResourceHandle;
    mcFunction_t f;
    mcDeviceptr_t address;
    size_t size;

    fails(error, mcModuleGetFunction(&f, bad, "k_empty"));
    fails(error, mcModuleGetGlobal(&address, &size, bad, "table"));
    fails(error, mcModuleUnload(bad));
}

static void bad_function(mcFunction_t bad)
{
    const mcError_t error = mcErrorInvalidResourceHandle;
    mcModule_t m;
    int value;

    fails(error, mcModuleLaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, stream, NULL,
                                      NULL));
    fails(error, mcFuncGetAttribute(&value, MC_FUNC_ATTRIBUTE_NUM_REGS, bad));
    fails(error, mcFuncGetModule(&m, bad));
    fails(error, mcModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        &value, bad, 64, 0));
}

static void bad_pool(mcMemPool_t bad)
{
    const mcError_t error = mcErrorInvalidValue;
    mcMemLocation where = {mcMemLocationTypeDevice, 0};
    mcMemAccessDesc desc = {where, mcMemAccessFlagsProtReadWrite};
    mcMemPoolPtrExportData data = {{0}};
    mcMemAccessFlags flags;
    uint64_t value = 0;
    void *p;
    int fd;

    fails(error, mcMallocFromPoolAsync(&p, 8, bad, stream));
    fails(error, mcMemAllocFromPoolAsync(&p, 8, bad, stream));
    fails(error, mcDeviceSetMemPool(0, bad));
    fails(error, mcMemPoolGetAttribute(bad, mcMemPoolAttrUsedMemHigh,
                                       &value));
    fails(error, mcMemPoolSetAttribute(bad, mcMemPoolAttrUsedMemHigh,
                                       &value));
    fails(error, mcMemPoolTrimTo(bad, 0));
    fails(error, mcMemPoolSetAccess(bad, &desc, 1));
    fails(error, mcMemPoolGetAccess(&flags, bad, &where));
    fails(error, mcMemPoolExportToShareableHandle(
                     &fd, bad, mcMemHandleTypePosixFileDescriptor, 0));
    fails(error, mcMemPoolImportPointer(&p, bad, &data));
    fails(error, mcMemPoolDestroy(bad));
}

static mcMemPool_t gone_pool(void)
{
    mcMemPoolProps props = {
        .allocType = mcMemAllocationTypePinned,
        .location = {mcMemLocationTypeDevice, 0},
    };
    mcMemPool_t pool;

    ok(mcMemPoolCreate(&pool, &props));
    ok(mcMemPoolDestroy(pool));
    return pool;
}

static void bad_graph(mcGraph_t bad)
{
    const mcError_t error = mcErrorInvalidValue;
    mcGraphNode_t node;
    mcGraphExec_t exec;
    mcGraph_t clone;
    size_t n;

    fails(error, mcGraphDestroy(bad));
    fails(error, mcGraphClone(&clone, bad));
    fails(error, mcGraphInstantiate(&exec, bad, NULL, NULL, 0));
    fails(error, mcGraphInstantiateWithFlags(&exec, bad, 0));
    fails(error, mcGraphGetNodes(bad, NULL, &n));
    fails(error, mcGraphGetRootNodes(bad, NULL, &n));
    fails(error, mcGraphGetEdges(bad, NULL, NULL, &n));
    fails(error, mcGraphAddDependencies(bad, NULL, NULL, 0));
    fails(error, mcGraphRemoveDependencies(bad, NULL, NULL, 0));
    fails(error, mcGraphAddEmptyNode(&node, bad, NULL, 0));
    fails(error, mcGraphAddEventRecordNode(&node, bad, NULL, 0, event));
    fails(error, mcGraphAddChildGraphNode(&node, bad, NULL, 0, bad));
    fails(error, mcGraphDebugDotPrint(bad, "graph.dot", 0));
}

static void bad_node(mcGraphNode_t bad)
{
    const mcError_t error = mcErrorInvalidValue;
    mcGraphNodeType type;
    mcKernelNodeParams kernel;
    mcMemcpy3DParms copy;
    mcMemsetParams fill;
    mcEvent_t got;
    size_t n;

    fails(error, mcGraphDestroyNode(bad));
    fails(error, mcGraphNodeGetType(bad, &type));
    fails(error, mcGraphNodeGetDependencies(bad, NULL, &n));
    fails(error, mcGraphNodeGetDependentNodes(bad, NULL, &n));
    fails(error, mcGraphKernelNodeGetParams(bad, &kernel));
    fails(error, mcGraphMemcpyNodeGetParams(bad, &copy));
    fails(error, mcGraphMemsetNodeGetParams(bad, &fill));
    fails(error, mcGraphEventRecordNodeGetEvent(bad, &got));
    fails(error, mcGraphEventRecordNodeSetEvent(bad, event));
}

static void bad_exec(mcGraphExec_t bad)
{
    const mcError_t error = mcErrorInvalidValue;

    fails(error, mcGraphLaunch(bad, stream));
    fails(error, mcGraphUpload(bad, stream));
    fails(error, mcGraphExecDestroy(bad));
}

static void bad_user_object(mcUserObject_t bad)
{
    fails(mcErrorInvalidValue, mcUserObjectRetain(bad, 1));
    fails(mcErrorInvalidValue, mcUserObjectRelease(bad, 1));
}

static void bad_of_graphs(void *bad)
{
    bad_graph(bad);
    bad_node(bad);
    bad_exec(bad);
    bad_user_object(bad);
}

static void test_handles(void)
{
    static char made_up[64];
    mcStream_t gone_stream;
    mcEvent_t gone_event;
    mcModule_t gone_module;
    mcFunction_t function, gone_function;

    /* Its module could take the place of one that is gone. */
    env_kernel("k_empty");
    ok(mcStreamCreate(&stream));
    ok(mcEventCreate(&event));
    ok(mcEventRecord(event, stream));
    ok(mcModuleLoadData(&module, env_image));
    ok(mcModuleGetFunction(&function, module, "k_empty"));
    ok(mcStreamCreate(&gone_stream));
    ok(mcEventCreate(&gone_event));
    ok(mcModuleLoadData(&gone_module, env_image));
    ok(mcModuleGetFunction(&gone_function, gone_module, "k_empty"));
    ok(mcStreamDestroy(gone_stream));
    ok(mcEventDestroy(gone_event));
    ok(mcModuleUnload(gone_module));

    void *const anything[] = {made_up, (void *)8, (void *)-8l, &stream};
    for (unsigned i = 0; i < G_N_ELEMENTS(anything); i++) {
        bad_stream(anything[i]);
        bad_event(anything[i]);
        bad_module(anything[i]);
        bad_function(anything[i]);
        bad_pool(anything[i]);
        bad_of_graphs(anything[i]);
    }
    void *const objects[] = {stream, event, module, function};
    for (unsigned i = 0; i < G_N_ELEMENTS(objects); i++) {
        if (i != 0) {
            bad_stream(objects[i]);
        }
        if (i != 1) {
            bad_event(objects[i]);
        }
        if (i != 2) {
            bad_module(objects[i]);
        }
        if (i != 3) {
            bad_function(objects[i]);
        }
        bad_pool(objects[i]);
        bad_of_graphs(objects[i]);
    }
    bad_of_graphs(NULL);
    bad_event(NULL);
    bad_module(NULL);
    bad_function(NULL);
    bad_pool(NULL);
    fails(mcErrorInvalidResourceHandle, mcStreamDestroy(NULL));
    fails(mcErrorInvalidResourceHandle, mcStreamDestroy(mcStreamLegacy));
    fails(mcErrorInvalidResourceHandle, mcStreamDestroy(mcStreamPerThread));
    bad_stream(gone_stream);
    bad_event(gone_event);
    bad_module(gone_module);
    bad_function(gone_function);
    bad_pool(gone_pool());
    /* Gone with the context, all of them. */
    ok(mcDeviceReset());
    env_forget();
    fails(mcErrorInvalidResourceHandle, mcStreamSynchronize(stream));
    fails(mcErrorInvalidHandle, mcEventQuery(event));
    fails(mcErrorInvalidResourceHandle, mcModuleUnload(module));
    /* Nothing of it is sticky. */
    ok(env_launch("k_empty", 1, NULL, NULL));
    ok(mcDeviceSynchronize());
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/handle/handles", test_handles);
    return g_test_run();
}
