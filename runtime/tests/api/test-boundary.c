/* SPDX-License-Identifier: MIT */
/* What functions do at the ends of what they take: nothing, all there is, one
 * more, the same again. Beside the tests of what they are for. */
#include "env.h"

/* ---- devices and contexts ---- */

/* A call leaves what is not its to write. */
static void test_settings(void)
{
    mcSharedMemConfig bank = (mcSharedMemConfig)77;
    mcFuncCache_t cache = (mcFuncCache_t)77;
    unsigned flags = 77;
    int count = 77;
    size_t stack;

    ok(mcFree(NULL)); /* makes the context */
    ok(mcDeviceSetSharedMemConfig(mcSharedMemBankSizeDefault));
    ok(mcDeviceSetSharedMemConfig(mcSharedMemBankSizeFourByte));
    ok(mcDeviceGetSharedMemConfig(&bank));
    g_assert_cmpint(bank, ==, mcSharedMemBankSizeFourByte);
    ok(mcCtxSetSharedMemConfig(mcSharedMemBankSizeDefault));
    fails(mcErrorInvalidValue, mcCtxSetSharedMemConfig((mcSharedMemConfig)-1));
    fails(mcErrorInvalidValue,
          mcDeviceSetSharedMemConfig((mcSharedMemConfig)-1));
    for (mcFuncCache_t c = mcFuncCachePreferNone; c <= mcFuncCachePreferEqual;
         c = (mcFuncCache_t)(c + 1)) {
        ok(mcCtxSetCacheConfig(c));
        ok(mcThreadSetCacheConfig(c));
    }
    const mcFuncCache_t above = (mcFuncCache_t)(mcFuncCachePreferEqual + 1);
    fails(mcErrorInvalidValue, mcCtxSetCacheConfig(above));
    fails(mcErrorInvalidValue, mcThreadSetCacheConfig(above));
    mcFuncCache_t *own = &cache;
    ok(mcCtxGetCacheConfig(own));
    ok(mcThreadGetCacheConfig(own));
    g_assert_cmpint(cache, ==, mcFuncCachePreferNone);
    fails(mcErrorInvalidValue, mcCtxGetCacheConfig(NULL));
    fails(mcErrorInvalidValue, mcThreadGetCacheConfig(NULL));
    fails(mcErrorInvalidValue, mcDeviceGetSharedMemConfig(NULL));

    ok(mcGetDeviceFlags(&flags));
    g_assert_cmpuint(flags, !=, 77);
    fails(mcErrorInvalidValue, mcGetDeviceFlags(NULL));
    fails(mcErrorInvalidValue, mcDeviceGetCount(NULL));
    ok(mcDeviceGetCount(&count));
    g_assert_cmpint(count, >=, 1);
    g_assert_cmpint(count, !=, 77);

    ok(mcCtxGetLimit(&stack, mcLimitStackSize));
    ok(mcCtxSetLimit(mcLimitStackSize, stack)); /* what it is already */
    fails(mcErrorInvalidValue, mcCtxSetLimit(mcLimitStackSize, SIZE_MAX));
    size_t after = 0;
    ok(mcCtxGetLimit(&after, mcLimitStackSize));
    g_assert_cmpuint(after, ==, stack);

    /* Each of the two ends may be left out. */
    int least = 77, greatest = 77;
    ok(mcCtxGetStreamPriorityRange(&least, NULL));
    ok(mcCtxGetStreamPriorityRange(NULL, &greatest));
    ok(mcCtxGetStreamPriorityRange(NULL, NULL));
    g_assert_cmpint(least, >=, greatest);
    g_assert_cmpint(least, !=, 77);
}

static void test_streams(void)
{
    mcModuleLoadingMode mode = (mcModuleLoadingMode)77, *place = &mode;
    mcCtx_t ctx = NULL, other = NULL;
    mcStream_t s;

    ok(mcModuleGetLoadingMode(place));
    g_assert_cmpint(mode, !=, 77);
    ok(mcStreamCreate(&s));
    ok(mcStreamGetCtx(s, &ctx));
    ok(mcStreamGetCtx(NULL, &other)); /* the default stream has one, too */
    g_assert_true(ctx == other && ctx);
    fails(mcErrorInvalidValue, mcStreamGetCtx(s, NULL));

    /* Only the status is a must; a stream that does not capture says no more.
     */
    mcStreamCaptureStatus status = (mcStreamCaptureStatus)77;
    unsigned long long id = 77;
    ok(mcStreamGetCaptureInfo_v2(s, &status, &id, NULL, NULL, NULL));
    g_assert_cmpint(status, ==, mcStreamCaptureStatusNone);
    ok(mcStreamDestroy(s));
}

/* ---- memory ---- */

static void test_memory(void)
{
    size_t free_bytes, total;
    uint8_t *p = NULL;
    void *none;

    none = &p;
    ok(mcHostMalloc(&none, 0, mcMallocHostDefault));
    g_assert_null(none);
    none = &p;
    ok(mcMemAllocHost(&none, 0));
    g_assert_null(none);
    none = &p;
    ok(mcExtMallocWithFlags(&none, 0, mcDeviceMallocDefault));
    g_assert_null(none);
    ok(mcMemGetInfo(&free_bytes, &total));
    fails(mcErrorMemoryAllocation,
          mcExtMallocWithFlags(&none, total + 1, mcDeviceMallocFinegrained));
    fails(mcErrorMemoryAllocation, mcMemAllocHost(&none, SIZE_MAX));
    fails(mcErrorMemoryAllocation, mcHostMalloc(&none, SIZE_MAX, 0));
    /* One byte is one byte, and can be used. */
    ok(mcHostMalloc((void **)&p, 1, mcMallocHostPortable));
    p[0] = 1;
    ok(mcFreeHost(p));
    ok(mcMemAllocHost((void **)&p, 1));
    p[0] = 1;
    ok(mcFreeHost(p));
}

static void test_pool(void)
{
    mcMemPool_t pool;
    mcStream_t s;
    void *p = NULL;

    ok(mcStreamCreate(&s));
    ok(mcDeviceGetDefaultMemPool(&pool, 0));
    ok(mcMemAllocFromPoolAsync(&p, 1, pool, s));
    g_assert_nonnull(p);
    ok(mcMemFreeAsync(p, s));
    fails(mcErrorInvalidValue, mcMemFreeAsync(p, s)); /* again */
    fails(mcErrorInvalidValue, mcMemAllocFromPoolAsync(NULL, 1, pool, s));
    fails(mcErrorMemoryAllocation,
          mcMemAllocFromPoolAsync(&p, 1ull << 50, pool, s));
    /* In the default stream, which is none's handle. */
    ok(mcMemAllocFromPoolAsync(&p, 256, pool, NULL));
    ok(mcMemFreeAsync(p, NULL));
    ok(mcStreamDestroy(s));
}

static void test_boxes(void)
{
    uint16_t *d = env_malloc(64), out[32];
    mc_Memcpy2D flat = {
        .srcMemoryType = mcMemoryTypeDevice, .srcDevice = d, .srcPitch = 4,
        .dstMemoryType = mcMemoryTypeHost, .dstHost = out, .dstPitch = 4,
    };
    mc_Memcpy3D solid = {
        .srcMemoryType = mcMemoryTypeDevice, .srcDevice = d, .srcPitch = 4,
        .srcHeight = 1,
        .dstMemoryType = mcMemoryTypeHost, .dstHost = out, .dstPitch = 4,
        .dstHeight = 1,
    };

    ok(mcMemset(d, 0x11, 64));
    memset(out, 0x77, sizeof(out));
    /* Nothing, then the least. */
    ok(mcMemsetD2D16Async(d, 4, 5, 0, 3, NULL));
    ok(mcMemsetD2D16Async(d, 4, 5, 2, 0, NULL));
    ok(mcMemcpy2DUnaligned(&flat));
    ok(mcDrvMemcpy3DAsync(&solid, NULL));
    ok(mcStreamSynchronize(NULL));
    g_assert_cmphex(out[0], ==, 0x7777);
    ok(mcMemsetD2D16Async(d, 4, 0x2222, 1, 2, NULL));
    flat.WidthInBytes = solid.WidthInBytes = 2;
    flat.Height = solid.Height = 3;
    solid.Depth = 1;
    solid.srcHeight = solid.dstHeight = 3;
    ok(mcMemcpy2DUnaligned(&flat));
    g_assert_cmphex(out[0], ==, 0x2222);
    g_assert_cmphex(out[1], ==, 0x7777);
    g_assert_cmphex(out[2], ==, 0x2222);
    g_assert_cmphex(out[4], ==, 0x1111);
    memset(out, 0x77, sizeof(out));
    ok(mcDrvMemcpy3DAsync(&solid, NULL));
    ok(mcStreamSynchronize(NULL));
    g_assert_cmphex(out[2], ==, 0x2222);
    g_assert_cmphex(out[4], ==, 0x1111);
    /* A row that is longer than the way to the next one. */
    flat.WidthInBytes = solid.WidthInBytes = 5;
    fails(mcErrorInvalidPitchValue, mcMemcpy2DUnaligned(&flat));
    fails(mcErrorInvalidPitchValue, mcDrvMemcpy3DAsync(&solid, NULL));
    fails(mcErrorInvalidValue, mcMemsetD2D16Async(d, 4, 5, 1, 17, NULL));
    ok(mcFree(d));
}

static void test_array_end(void)
{
    const mcChannelFormatDesc byte = {8, 0, 0, 0, mcChannelFormatKindUnsigned};
    uint8_t in[100], out[100] = {0};
    mcArray_t array;

    env_pattern(in, sizeof(in), 3);
    ok(mcMallocArray(&array, &byte, sizeof(in), 0, 0));
    ok(mcMemcpyHtoA(array, 0, in, sizeof(in)));
    ok(mcMemcpyAtoHAsync(out, array, 99, 1, NULL)); /* the last one */
    ok(mcMemcpyAtoHAsync(out + 1, array, 100, 0, NULL));
    fails(mcErrorInvalidValue,
          mcMemcpyAtoHAsync(out + 1, array, 100, 1, NULL));
    ok(mcStreamSynchronize(NULL));
    g_assert_cmpuint(out[0], ==, in[99]);
    g_assert_cmpuint(out[1], ==, 0);
    ok(mcFreeArray(array));
}

/* ---- graphs ---- */

static void count_call(void *opaque)
{
    ++*(unsigned *)opaque;
}

static void test_nodes(void)
{
    unsigned first = 0, second = 0;
    mcHostNodeParams host = {count_call, &first};
    mcMemAllocNodeParams alloc = {.bytesize = 1}, got;
    uint32_t words[2] = {1, 2}, out[2] = {0, 0};
    mcGraphNode_t call, copy, made, freed, waits, records;
    mcEvent_t event, other;
    mcGraphExec_t exec;
    mcGraph_t graph;
    void *p = NULL;

    alloc.poolProps.allocType = mcMemAllocationTypePinned;
    alloc.poolProps.location.type = mcMemLocationTypeDevice;
    ok(mcEventCreate(&event));
    ok(mcEventCreate(&other));
    ok(mcGraphCreate(&graph, 0));
    ok(mcGraphAddHostNode(&call, graph, NULL, 0, &host));
    ok(mcGraphAddMemcpyNode1D(&copy, graph, &call, 1, out, words, 4,
                              mcMemcpyHostToHost));
    ok(mcGraphAddMemAllocNode(&made, graph, &copy, 1, &alloc));
    ok(mcGraphAddMemFreeNode(&freed, graph, &made, 1, alloc.dptr));
    ok(mcGraphAddEventRecordNode(&records, graph, &freed, 1, event));
    ok(mcGraphAddEventWaitNode(&waits, graph, &records, 1, event));
    ok(mcGraphInstantiate(&exec, graph, NULL, NULL, 0));

    ok(mcGraphMemAllocNodeGetParams(made, &got));
    g_assert_true(got.dptr == alloc.dptr);
    fails(mcErrorInvalidValue, mcGraphMemAllocNodeGetParams(made, NULL));
    fails(mcErrorInvalidValue, mcGraphMemAllocNodeGetParams(freed, &got));
    ok(mcGraphMemFreeNodeGetParams(freed, &p));
    g_assert_true(p == alloc.dptr);
    fails(mcErrorInvalidValue, mcGraphMemFreeNodeGetParams(freed, NULL));
    fails(mcErrorInvalidValue, mcGraphMemFreeNodeGetParams(made, &p));

    /* The same again changes nothing; another one does. */
    ok(mcGraphExecHostNodeSetParams(exec, call, &host));
    ok(mcGraphExecMemcpyNodeSetParams1D(exec, copy, out, words, 4,
                                        mcMemcpyHostToHost));
    ok(mcGraphEventWaitNodeSetEvent(waits, event));
    ok(mcGraphExecEventWaitNodeSetEvent(exec, waits, event));
    ok(mcGraphLaunch(exec, NULL));
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(first, ==, 1);
    g_assert_cmpuint(out[0], ==, 1);
    const mcHostNodeParams changed = {count_call, &second};
    ok(mcGraphExecHostNodeSetParams(exec, call, &changed));
    ok(mcGraphExecMemcpyNodeSetParams1D(exec, copy, out + 1, words + 1, 4,
                                        mcMemcpyDefault));
    ok(mcGraphEventWaitNodeSetEvent(waits, other));
    ok(mcGraphExecEventWaitNodeSetEvent(exec, waits, other));
    ok(mcGraphLaunch(exec, NULL));
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(first, ==, 1);
    g_assert_cmpuint(second, ==, 1);
    g_assert_cmpuint(out[1], ==, 2);
    fails(mcErrorInvalidValue, mcGraphExecHostNodeSetParams(exec, copy, &host));
    fails(mcErrorInvalidValue, mcGraphEventWaitNodeSetEvent(call, event));
    fails(mcErrorInvalidValue,
          mcGraphExecEventWaitNodeSetEvent(exec, call, event));
    fails(mcErrorInvalidValue,
          mcGraphExecMemcpyNodeSetParams1D(exec, call, out, words, 4,
                                           mcMemcpyHostToHost));
    ok(mcGraphExecDestroy(exec));
    ok(mcGraphDestroy(graph));
    ok(mcEventDestroy(event));
    ok(mcEventDestroy(other));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/boundary/settings", test_settings);
    g_test_add_func("/boundary/streams", test_streams);
    g_test_add_func("/boundary/memory", test_memory);
    g_test_add_func("/boundary/pool", test_pool);
    g_test_add_func("/boundary/boxes", test_boxes);
    g_test_add_func("/boundary/array-end", test_array_end);
    g_test_add_func("/boundary/nodes", test_nodes);
    return g_test_run();
}
