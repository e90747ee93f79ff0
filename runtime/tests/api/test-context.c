/* SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "env.h"

#define BAD mcErrorDeviceUninitialized

static int devices(void)
{
    int count;

    ok(mcGetDeviceCount(&count));
    return count;
}

static mcCtx_t current(void)
{
    mcCtx_t ctx = (mcCtx_t)&ctx;

    ok(mcCtxGetCurrent(&ctx));
    return ctx;
}

static mcCtx_t primary(int device)
{
    mcCtx_t ctx = NULL;

    ok(mcDevicePrimaryCtxRetain(&ctx, device));
    ok(mcDevicePrimaryCtxRelease(device));
    return ctx;
}

/* First: no device is open yet, and nobody chose one. */
static void test_none(void)
{
    mcCtx_t ctx;
    mcDevice_t device;
    unsigned flags;
    int active = -1;
    size_t size;

    g_assert_null(current());
    ok(mcDevicePrimaryCtxGetState(0, &flags, &active));
    g_assert_cmpint(active, ==, 0);
    fails(BAD, mcCtxGetDevice(&device));
    fails(BAD, mcCtxGetFlags(&flags));
    fails(BAD, mcCtxGetApiVersion(NULL, &flags));
    fails(BAD, mcCtxSynchronize());
    fails(BAD, mcCtxGetLimit(&size, mcLimitStackSize));
    fails(BAD, mcCtxPopCurrent(&ctx));
    fails(BAD, mcDevicePrimaryCtxRelease(0));
    ok(mcCtxSetCurrent(NULL));
    /* The first use makes the primary context current. */
    ok(mcFree(NULL));
    g_assert_true(current() == primary(0));
    ok(mcDevicePrimaryCtxGetState(0, &flags, &active));
    g_assert_cmpint(active, ==, 1);
}

static void test_stack(void)
{
    mcCtx_t a, b, popped = NULL;
    mcDevice_t device;
    int last = devices() - 1, which;

    ok(mcSetDevice(0));
    ok(mcCtxCreate(&a, 0, last));
    g_assert_true(current() == a && a != primary(last));
    ok(mcGetDevice(&which));
    g_assert_cmpint(which, ==, last);
    ok(mcCtxGetDevice(&device));
    g_assert_cmpint(device, ==, last);
    ok(mcCtxCreate(&b, mcDeviceScheduleYield, 0));
    g_assert_true(current() == b && a != b);
    ok(mcGetDevice(&which));
    g_assert_cmpint(which, ==, 0);
    ok(mcCtxPopCurrent(&popped));
    g_assert_true(popped == b && current() == a);
    ok(mcCtxPushCurrent(b));
    ok(mcCtxPushCurrent(b)); /* as often as one likes */
    ok(mcCtxPopCurrent(NULL));
    g_assert_true(current() == b);
    ok(mcCtxSetCurrent(a)); /* in place of b */
    g_assert_true(current() == a);
    ok(mcCtxPopCurrent(NULL));
    g_assert_true(current() == a);
    ok(mcSetDevice(0)); /* is a primary context in place of a */
    g_assert_true(current() == primary(0));
    ok(mcCtxSetCurrent(a));
    ok(mcCtxDestroy(a)); /* current: goes from the stack */
    ok(mcGetDevice(&which));
    g_assert_cmpint(which, ==, 0);
    g_assert_true(current() == primary(0));
    fails(BAD, mcCtxPopCurrent(&popped));
    ok(mcCtxDestroy(b));
    for (int i = 0; i < 100; i++) {
        ok(mcCtxPushCurrent(primary(i % devices())));
    }
    for (int i = 99; i >= 0; i--) {
        g_assert_true(current() == primary(i % devices()));
        ok(mcCtxPopCurrent(&popped));
    }
    fails(BAD, mcCtxPopCurrent(&popped));
    ok(mcSetDeviceFlags(0));
}

static void test_bad(void)
{
    mcCtx_t ctx, none = (mcCtx_t)&ctx;
    unsigned value;

    fails(mcErrorInvalidValue, mcCtxCreate(NULL, 0, 0));
    fails(mcErrorInvalidValue, mcCtxCreate(&ctx, 0x1000, 0));
    fails(mcErrorInvalidValue, mcCtxCreate(&ctx, 0x3, 0));
    fails(mcErrorInvalidDevice, mcCtxCreate(&ctx, 0, -1));
    fails(mcErrorInvalidDevice, mcCtxCreate(&ctx, 0, devices()));
    ok(mcCtxCreate(&ctx, 0, 0));
    ok(mcCtxDestroy(ctx));
    fails(BAD, mcCtxDestroy(ctx));
    fails(BAD, mcCtxDestroy(NULL));
    fails(BAD, mcCtxDestroy(none));
    fails(BAD, mcCtxDestroy(primary(0)));
    fails(BAD, mcCtxPushCurrent(ctx));
    fails(BAD, mcCtxPushCurrent(NULL));
    fails(BAD, mcCtxPushCurrent(none));
    fails(BAD, mcCtxSetCurrent(ctx));
    fails(BAD, mcCtxSetCurrent(none));
    fails(BAD, mcCtxGetApiVersion(none, &value));
    fails(mcErrorInvalidValue, mcCtxGetApiVersion(NULL, NULL));
    fails(mcErrorInvalidValue, mcCtxGetCurrent(NULL));
    fails(mcErrorInvalidValue, mcCtxGetDevice(NULL));
    fails(mcErrorInvalidValue, mcCtxGetFlags(NULL));
}

/* What calls without a handle work with is what is current. */
static void test_objects(void)
{
    mcCtx_t ctx, of_stream;
    mcStream_t s;
    unsigned flags;
    size_t value;
    mcFuncCache_t cache;
    mcSharedMemConfig banks;
    int least, greatest, version;

    ok(mcCtxCreate(&ctx, mcDeviceScheduleBlockingSync, 0));
    ok(mcCtxGetFlags(&flags));
    g_assert_cmpuint(flags & mcDeviceScheduleMask, ==,
                     mcDeviceScheduleBlockingSync);
    ok(mcCtxGetApiVersion(ctx, &flags));
    ok(mcRuntimeGetVersion(&version));
    g_assert_cmpuint(flags, ==, (unsigned)version);
    ok(mcCtxGetApiVersion(NULL, &flags));
    ok(mcCtxGetLimit(&value, mcLimitStackSize));
    ok(mcCtxSetLimit(mcLimitStackSize, value));
    fails(mcErrorInvalidValue,
          mcCtxSetLimit(mcLimitDevRuntimeSyncDepth, 25));
    fails(mcErrorInvalidValue, mcCtxGetLimit(NULL, mcLimitStackSize));
    ok(mcCtxSetCacheConfig(mcFuncCachePreferL1));
    ok(mcCtxGetCacheConfig(&cache));
    fails(mcErrorInvalidValue, mcCtxGetCacheConfig(NULL));
    ok(mcCtxSetSharedMemConfig(mcSharedMemBankSizeFourByte));
    ok(mcCtxSetSharedMemConfig(mcSharedMemBankSizeEightByte));
    fails(mcErrorInvalidValue, mcCtxSetSharedMemConfig((mcSharedMemConfig)9));
    ok(mcCtxGetSharedMemConfig(&banks));
    ok(mcCtxGetStreamPriorityRange(&least, &greatest));
    g_assert_cmpint(least, >=, greatest);
    ok(mcStreamCreate(&s));
    ok(mcStreamGetCtx(s, &of_stream));
    g_assert_true(of_stream == primary(0)); /* whichever was current */
    uint32_t *p = env_malloc(256);
    ok(mcMemsetAsync(p, 1, 256, s));
    ok(mcCtxSynchronize());
    ok(mcStreamQuery(s));
    ok(mcCtxDestroy(ctx));
    /* They are the device's. */
    ok(mcMemsetAsync(p, 2, 256, s));
    ok(mcStreamSynchronize(s));
    ok(mcFree(p));
    ok(mcStreamDestroy(s));
    ok(mcDevicePrimaryCtxSetFlags(0, 0));
}

/* ---- another thread ---- */

static mcCtx_t shared_ctx;

static void *destroys(void *opaque)
{
    ok(mcCtxPushCurrent(shared_ctx)); /* left on the stack */
    ok(mcCtxPushCurrent(shared_ctx));
    ok(mcCtxDestroy(shared_ctx));
    return NULL;
}

static void test_threads(void)
{
    pthread_t t;
    void *p;

    ok(mcCtxCreate(&shared_ctx, 0, 0));
    pthread_create(&t, NULL, destroys, NULL);
    pthread_join(t, NULL);
    g_assert_true(current() == shared_ctx);
    fails(mcErrorContextIsDestroyed, mcCtxSynchronize());
    fails(mcErrorContextIsDestroyed, mcMalloc(&p, 64));
    fails(mcErrorContextIsDestroyed, mcDeviceSynchronize());
    fails(BAD, mcCtxDestroy(shared_ctx));
    ok(mcCtxPopCurrent(&shared_ctx));
    ok(mcMalloc(&p, 64));
    ok(mcFree(p));
}

static void test_primary(void)
{
    mcCtx_t a, b;
    unsigned flags;
    int active;

    fails(mcErrorInvalidValue, mcDevicePrimaryCtxRetain(NULL, 0));
    fails(mcErrorInvalidDevice, mcDevicePrimaryCtxRetain(&a, -1));
    fails(mcErrorInvalidDevice, mcDevicePrimaryCtxRetain(&a, devices()));
    fails(mcErrorInvalidDevice, mcDevicePrimaryCtxRelease(devices()));
    fails(mcErrorInvalidDevice, mcDevicePrimaryCtxReset(-1));
    fails(mcErrorInvalidDevice, mcDevicePrimaryCtxSetFlags(devices(), 0));
    fails(mcErrorInvalidValue, mcDevicePrimaryCtxSetFlags(0, 0x1000));
    fails(mcErrorInvalidDevice,
          mcDevicePrimaryCtxGetState(devices(), &flags, &active));
    fails(mcErrorInvalidValue, mcDevicePrimaryCtxGetState(0, NULL, &active));
    fails(mcErrorInvalidValue, mcDevicePrimaryCtxGetState(0, &flags, NULL));
    ok(mcDevicePrimaryCtxRetain(&a, 0));
    ok(mcDevicePrimaryCtxRetain(&b, 0));
    g_assert_true(a == b);
    ok(mcDevicePrimaryCtxRelease(0));
    ok(mcDevicePrimaryCtxRelease(0));
    fails(BAD, mcDevicePrimaryCtxRelease(0));
    ok(mcDevicePrimaryCtxSetFlags(0, mcDeviceScheduleSpin));
    ok(mcDevicePrimaryCtxGetState(0, &flags, &active));
    g_assert_cmpuint(flags & mcDeviceScheduleMask, ==, mcDeviceScheduleSpin);
    void *p = env_malloc(64);
    ok(mcDevicePrimaryCtxReset(0));
    env_forget();
    ok(mcDevicePrimaryCtxGetState(0, &flags, &active));
    g_assert_cmpint(active, ==, 0);
    g_assert_cmpuint(flags & mcDeviceScheduleMask, ==, 0);
    fails(mcErrorInvalidDevicePointer, mcFree(p));
    g_assert_true(primary(0) == a);
}

static void test_peers(void)
{
    mcCtx_t other;
    int can = -1, count = devices();

    ok(mcSetDevice(0));
    ok(mcFree(NULL));
    fails(mcErrorInvalidDevice, mcDeviceEnablePeerAccess(-1, 0));
    fails(mcErrorInvalidDevice, mcDeviceEnablePeerAccess(count, 0));
    fails(mcErrorInvalidDevice, mcDeviceEnablePeerAccess(0, 0));
    fails(mcErrorInvalidDevice, mcDeviceDisablePeerAccess(-1));
    fails(mcErrorInvalidDevice, mcDeviceDisablePeerAccess(count));
    fails(mcErrorInvalidDevice, mcDeviceDisablePeerAccess(0));
    fails(BAD, mcCtxEnablePeerAccess(primary(0), 0));
    fails(BAD, mcCtxEnablePeerAccess(NULL, 0));
    fails(BAD, mcCtxEnablePeerAccess((mcCtx_t)&other, 0));
    fails(BAD, mcCtxDisablePeerAccess(NULL));
    fails(mcErrorPeerAccessNotEnabled, mcCtxDisablePeerAccess(primary(0)));
    ok(mcDeviceCanAccessPeer(&can, 0, 0));
    g_assert_cmpint(can, ==, 0);
    fails(mcErrorInvalidValue, mcDeviceCanAccessPeer(NULL, 0, 0));
    fails(mcErrorInvalidDevice, mcDeviceCanAccessPeer(&can, 0, count));
    fails(mcErrorInvalidDevice, mcDeviceCanAccessPeer(&can, -1, 0));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/context/none", test_none);
    g_test_add_func("/context/stack", test_stack);
    g_test_add_func("/context/bad", test_bad);
    g_test_add_func("/context/objects", test_objects);
    g_test_add_func("/context/threads", test_threads);
    g_test_add_func("/context/primary", test_primary);
    g_test_add_func("/context/peers", test_peers);
    return g_test_run();
}
