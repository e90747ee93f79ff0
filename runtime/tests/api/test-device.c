/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "env.h"

static void test_choice(void)
{
    int count = -1, device = -1;

    ok(mcInit(0));
    fails(mcErrorInvalidValue, mcInit(1));
    ok(mcGetDeviceCount(&count));
    g_assert_cmpint(count, >=, 1);
    ok(mcGetDevice(&device));
    g_assert_cmpint(device, ==, 0);
    fails(mcErrorInvalidDevice, mcSetDevice(count));
    fails(mcErrorInvalidValue, mcGetDeviceCount(NULL));
    ok(mcSetDevice(count - 1));
    ok(mcGetDevice(&device));
    g_assert_cmpint(device, ==, count - 1);
    ok(mcSetDevice(0));
    ok(mcDeviceGet(&device, 0));
    fails(mcErrorInvalidDevice, mcDeviceGet(&device, count));
    fails(mcErrorInvalidDevice, mcDeviceGet(&device, -1));
    fails(mcErrorInvalidValue, mcDeviceGet(NULL, 0));
    fails(mcErrorInvalidValue, mcGetDevice(NULL));
    ok(mcDeviceGetCount(&device));
    g_assert_cmpint(device, ==, count);
    fails(mcErrorInvalidValue, mcDeviceGetCount(NULL));
}

static gpointer chooses_none(gpointer device)
{
    ok(mcGetDevice(device));
    return NULL;
}

/* A list of devices is for threads that have not chosen one. */
static void test_valid_devices(void)
{
    int count, list[40] = {0}, device;

    ok(mcGetDeviceCount(&count));
    list[0] = count - 1;
    fails(mcErrorInvalidValue, mcSetValidDevices(NULL, 1));
    fails(mcErrorInvalidValue, mcSetValidDevices(list, -1));
    fails(mcErrorInvalidValue, mcSetValidDevices(list, count + 1));
    list[0] = count;
    fails(mcErrorInvalidDevice, mcSetValidDevices(list, 1));
    list[0] = -1;
    fails(mcErrorInvalidDevice, mcSetValidDevices(list, 1));
    list[0] = count - 1;
    ok(mcSetDevice(0));
    ok(mcSetValidDevices(list, 1));
    ok(mcGetDevice(&device));
    g_assert_cmpint(device, ==, 0);
    g_thread_join(g_thread_new("new", chooses_none, &device));
    g_assert_cmpint(device, ==, count - 1);
    ok(mcSetValidDevices(NULL, 0));
    g_thread_join(g_thread_new("new", chooses_none, &device));
    g_assert_cmpint(device, ==, 0);
}

/* Caches of one kind only. */
static void test_cache_config(void)
{
    mcFuncCache_t config = mcFuncCachePreferL1;

    for (int i = mcFuncCachePreferNone; i <= mcFuncCachePreferEqual; i++) {
        ok(mcDeviceSetCacheConfig((mcFuncCache_t)i));
        ok(mcDeviceGetCacheConfig(&config));
        g_assert_cmpint(config, ==, mcFuncCachePreferNone);
    }
    fails(mcErrorInvalidValue, mcDeviceSetCacheConfig((mcFuncCache_t)4));
    fails(mcErrorInvalidValue, mcDeviceSetCacheConfig((mcFuncCache_t)-1));
    fails(mcErrorInvalidValue, mcDeviceGetCacheConfig(NULL));
}

static void test_properties(void)
{
    mcDeviceProp_t p;
    char name[300], bus[20];
    mcUuid_t uuid;
    size_t total;
    int value, device;

    ok(mcGetDeviceProperties(&p, 0));
    g_assert_cmpint(p.warpSize, ==, 64);
    g_assert_cmpint(p.maxThreadsPerBlock, ==, 1024);
    g_assert_cmpuint(p.sharedMemPerBlock, ==, 65536);
    g_assert_cmpint(p.unifiedAddressing, ==, 1);
    g_assert_cmpuint(p.totalGlobalMem, >, 1 << 20);
    ok(mcDeviceGetName(name, sizeof(name), 0));
    g_assert_cmpstr(name, ==, p.name);
    ok(mcDeviceGetName(name, 3, 0));
    g_assert_cmpuint(strlen(name), ==, 2);
    ok(mcDeviceGetUuid(&uuid, 0));
    g_assert_cmpint(memcmp(&uuid, &p.uuid, 16), ==, 0);
    char luid[8];
    unsigned mask = 0;
    ok(mcDeviceGetLuid(luid, &mask, 0));
    g_assert_cmpuint(mask, ==, 1);
    for (unsigned i = 0; i < 8; i++) {
        g_assert_cmpint(luid[i], ==,
                        (char)(uuid.bytes[i] ^ uuid.bytes[i + 8]));
    }
    fails(mcErrorInvalidValue, mcDeviceGetLuid(NULL, &mask, 0));
    fails(mcErrorInvalidValue, mcDeviceGetLuid(luid, NULL, 0));
    fails(mcErrorInvalidDevice, mcDeviceGetLuid(luid, &mask, 99));
    ok(mcDeviceTotalMem(&total, 0));
    g_assert_cmpuint(total, >, 0);
    ok(mcDeviceGetPCIBusId(bus, sizeof(bus), 0));
    g_assert_cmpuint(strlen(bus), ==, 12);
    ok(mcDeviceGetByPCIBusId(&device, bus));
    g_assert_cmpint(device, ==, 0);
    for (int len = 1; len < 13; len++) {
        memset(bus, 'x', sizeof(bus));
        fails(mcErrorInvalidValue, mcDeviceGetPCIBusId(bus, len, 0));
        g_assert_cmpstr(bus, ==, "");
    }
    fails(mcErrorInvalidDevice, mcDeviceGetByPCIBusId(&device,
                                                      "ffff:ff:1f.7"));
    fails(mcErrorInvalidValue, mcDeviceGetByPCIBusId(&device, "hello"));
    ok(mcDeviceGetAttribute(&value, mcDeviceAttributeMultiProcessorCount, 0));
    g_assert_cmpint(value, ==, p.multiProcessorCount);
    ok(mcDeviceGetAttribute(&value, mcDevAttrWarpSize, 0));
    g_assert_cmpint(value, ==, 64);
    ok(mcDeviceGetAttribute(&value, mcDeviceAttributePageableMemoryAccess, 0));
    g_assert_cmpint(value, ==, 0);
    fails(mcErrorInvalidValue, mcDeviceGetAttribute(&value,
          mcDeviceAttributeMax, 0));
    fails(mcErrorInvalidValue, mcDeviceGetAttribute(&value,
          (mcDeviceAttribute_t)-1, 0));
    fails(mcErrorInvalidDevice, mcDeviceGetAttribute(&value,
          mcDevAttrWarpSize, 99));
    fails(mcErrorInvalidDevice, mcGetDeviceProperties(&p, -1));
    memset(&p, 0, sizeof(p));
    p.warpSize = 64;
    ok(mcChooseDevice(&device, &p));
    g_assert_cmpint(device, ==, 0);
}

static void test_limits(void)
{
    size_t value;
    unsigned flags;
    mcSharedMemConfig config;

    ok(mcDeviceGetLimit(&value, mcLimitStackSize));
    g_assert_cmpuint(value, ==, 8192);
    ok(mcDeviceSetLimit(mcLimitStackSize, 10000));
    ok(mcDeviceGetLimit(&value, mcLimitStackSize));
    g_assert_cmpuint(value, ==, 10240);
    ok(env_launch("k_empty", 64, NULL, NULL));
    ok(mcDeviceSynchronize());
    fails(mcErrorInvalidValue, mcDeviceSetLimit(mcLimitStackSize, 2 << 20));
    /* A warp's stacks fit a unit, those of the largest block do not. */
    ok(mcDeviceSetLimit(mcLimitStackSize, 1 << 20));
    ok(env_launch("k_empty", 64, NULL, NULL));
    ok(mcDeviceSynchronize());
    fails(mcErrorLaunchOutOfResources,
          mcModuleLaunchKernel(env_kernel("k_empty"), 1, 1, 1, 1024, 1, 1, 0,
                               NULL, NULL, NULL));
    fails(mcErrorLaunchOutOfResources, mcGetLastError());
    ok(mcDeviceSetLimit(mcLimitStackSize, 10000));
    ok(mcDeviceGetLimit(&value, mcLimitPrintfFifoSize));
    g_assert_cmpuint(value, ==, 1 << 20);
    ok(mcDeviceGetLimit(&value, mcLimitMallocHeapSize));
    g_assert_cmpuint(value, ==, 8 << 20);
    ok(mcDeviceSetLimit(mcLimitMallocHeapSize, 1));
    ok(mcDeviceGetLimit(&value, mcLimitMallocHeapSize));
    g_assert_cmpuint(value, ==, 4096);
    ok(mcDeviceSetLimit(mcLimitMallocHeapSize, 8 << 20));
    fails(mcErrorMemoryAllocation,
          mcDeviceSetLimit(mcLimitPrintfFifoSize, SIZE_MAX));
    fails(mcErrorUnsupportedLimit,
          mcDeviceSetLimit(mcLimitDevRuntimeSyncDepth, 2));
    fails(mcErrorUnsupportedLimit,
          mcDeviceGetLimit(&value, mcLimitPersistingL2CacheSize));
    fails(mcErrorInvalidValue, mcDeviceGetLimit(&value, mcLimitMax));
    ok(mcDeviceGetSharedMemConfig(&config));
    g_assert_cmpint(config, ==, mcSharedMemBankSizeFourByte);
    ok(mcDeviceSetSharedMemConfig(mcSharedMemBankSizeFourByte));
    fails(mcErrorNotSupported,
          mcDeviceSetSharedMemConfig(mcSharedMemBankSizeEightByte));
    ok(mcSetDeviceFlags(mcDeviceScheduleBlockingSync));
    ok(mcGetDeviceFlags(&flags));
    g_assert_cmpuint(flags, ==, mcDeviceScheduleBlockingSync |
                     mcDeviceMapHost);
    fails(mcErrorInvalidValue, mcSetDeviceFlags(3));
    for (unsigned i = 0; i < 4; i++) {
        ok(mcSetDeviceFlags(i ? 1u << (i - 1) : 0));
        ok(env_launch("k_empty", 64, NULL, NULL));
        ok(mcDeviceSynchronize());
    }
    ok(mcSetDeviceFlags(mcDeviceScheduleBlockingSync));
    ok(mcDeviceReset());
    env_forget();
    ok(mcGetDeviceFlags(&flags));
    g_assert_cmpuint(flags, ==, mcDeviceMapHost);
}

static void test_versions(void)
{
    int version = -1;

    ok(mcRuntimeGetVersion(&version));
    g_assert_cmpint(version, ==, MACART_VERSION);
    ok(mcDriverGetVersion(&version));
    g_assert_cmpint(version, >, 0);
    fails(mcErrorInvalidValue, mcRuntimeGetVersion(NULL));
}

static void test_not_supported(void)
{
    mcGraph_t graph;

    fails(mcErrorNotSupported, mcStreamEndCapture(NULL, &graph));
    fails(mcErrorNotSupported, mcGetLastError());
}

/* MACA_VISIBLE_DEVICES is read once a process. */
static void visible(const char *list, int expected)
{
    if (g_test_subprocess()) {
        g_assert_not_reached();
    }
    g_autofree char *old = g_strdup(g_getenv("MACA_VISIBLE_DEVICES"));
    g_autofree char *want = g_strdup_printf("%d", expected);

    g_setenv("MACA_VISIBLE_DEVICES", list, TRUE);
    g_setenv("TEST_EXPECTED", want, TRUE);
    g_test_trap_subprocess("/device/visible/child",
                           300 * G_TIME_SPAN_SECOND, 0);
    g_test_trap_assert_passed();
    g_unsetenv("MACA_VISIBLE_DEVICES");
}

static void test_visible_child(void)
{
    int count, expected;

    if (!g_test_subprocess()) {
        return;
    }
    expected = atoi(g_getenv("TEST_EXPECTED"));
    if (expected == 0) {
        fails(mcErrorNoDevice, mcGetDeviceCount(&count));
        g_assert_cmpint(count, ==, 0);
        return;
    }
    ok(mcGetDeviceCount(&count));
    g_assert_cmpint(count, ==, expected);
}

static void test_visible(void)
{
    int count;

    ok(mcGetDeviceCount(&count));
    visible("0", 1);
    visible("", 0);
    visible("-1", 0);
    visible("0,0", 0);
    visible("0,x,1", 1);
    visible("99,0", 0);
    if (count > 1) {
        visible("1,0", 2);
        visible("1", 1);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/device/choice", test_choice);
    g_test_add_func("/device/valid-devices", test_valid_devices);
    g_test_add_func("/device/cache-config", test_cache_config);
    g_test_add_func("/device/properties", test_properties);
    g_test_add_func("/device/limits", test_limits);
    g_test_add_func("/device/versions", test_versions);
    g_test_add_func("/device/not-supported", test_not_supported);
    g_test_add_func("/device/visible", test_visible);
    g_test_add_func("/device/visible/child", test_visible_child);
    return g_test_run();
}
