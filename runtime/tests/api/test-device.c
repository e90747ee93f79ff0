/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stddef.h>
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
    g_assert_cmpint(value, ==, env_driver());
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

#define SAME(attribute, member)                                                \
    {attribute, #attribute, offsetof(mcDeviceProp_t, member),                  \
     sizeof(((mcDeviceProp_t *)0)->member), 0}
#define IS(attribute, value) {attribute, #attribute, 0, 0, value}

/* Every attribute: the property it is the same as, or its value. Those that are
 * not here do not exist. */
static const struct {
    int attribute;
    const char *name;
    size_t offset, size; /* of the property; size 0: none */
    int value;
} attributes[] = {
    SAME(mcDeviceAttributeMaxThreadsPerBlock, maxThreadsPerBlock),
    SAME(mcDeviceAttributeMaxBlockDimX, maxThreadsDim[0]),
    SAME(mcDeviceAttributeMaxBlockDimY, maxThreadsDim[1]),
    SAME(mcDeviceAttributeMaxBlockDimZ, maxThreadsDim[2]),
    SAME(mcDeviceAttributeMaxGridDimX, maxGridSize[0]),
    SAME(mcDeviceAttributeMaxGridDimY, maxGridSize[1]),
    SAME(mcDeviceAttributeMaxGridDimZ, maxGridSize[2]),
    SAME(mcDeviceAttributeMaxSharedMemoryPerBlock, sharedMemPerBlock),
    SAME(mcDeviceAttributeTotalConstantMemory, totalConstMem),
    SAME(mcDeviceAttributeWarpSize, warpSize),
    SAME(mcDeviceAttributeWaveSize, warpSize),
    SAME(mcDeviceAttributeMaxRegistersPerBlock, regsPerBlock),
    SAME(mcDeviceAttributeMaxRegistersPerMultiprocessor,
         regsPerMultiprocessor),
    SAME(mcDeviceAttributeClockRate, clockRate),
    SAME(mcDeviceAttributeMemoryClockRate, memoryClockRate),
    SAME(mcDeviceAttributeMemoryBusWidth, memoryBusWidth),
    SAME(mcDeviceAttributeMultiProcessorCount, multiProcessorCount),
    SAME(mcDeviceAttributeComputeMode, computeMode),
    SAME(mcDeviceAttributeL2CacheSize, l2CacheSize),
    SAME(mcDeviceAttributeMaxThreadsPerMultiProcessor,
         maxThreadsPerMultiProcessor),
    SAME(mcDevAttrMaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor),
    SAME(mcDeviceAttributeComputeCapabilityMajor, major),
    SAME(mcDeviceAttributeComputeCapabilityMinor, minor),
    SAME(mcDeviceAttributeConcurrentKernels, concurrentKernels),
    SAME(mcDeviceAttributePciBusId, pciBusID),
    SAME(mcDeviceAttributePciDeviceId, pciDeviceID),
    SAME(mcDeviceAttributePciDomainId, pciDomainID),
    SAME(mcDeviceAttributeMaxSharedMemoryPerMultiprocessor,
         sharedMemPerMultiprocessor),
    SAME(mcDeviceAttributeMaxSharedMemoryPerBlockOptin,
         sharedMemPerBlockOptin),
    SAME(mcDeviceAttributeIntegrated, integrated),
    SAME(mcDeviceAttributeCooperativeLaunch, cooperativeLaunch),
    SAME(mcDeviceAttributeCooperativeMultiDeviceLaunch,
         cooperativeMultiDeviceLaunch),
    SAME(mcDeviceAttributeMaxPitch, memPitch),
    SAME(mcDeviceAttributeTextureAlignment, textureAlignment),
    SAME(mcDeviceAttributeTexturePitchAlignment, texturePitchAlignment),
    SAME(mcDeviceAttributeKernelExecTimeout, kernelExecTimeoutEnabled),
    SAME(mcDeviceAttributeCanMapHostMemory, canMapHostMemory),
    SAME(mcDeviceAttributeEccEnabled, ECCEnabled),
    SAME(mcDeviceAttributeUnifiedAddressing, unifiedAddressing),
    SAME(mcDeviceAttributeGpuOverlap, deviceOverlap),
    SAME(mcDeviceAttributeAsyncEngineCount, asyncEngineCount),
    SAME(mcDeviceAttributeManagedMemory, managedMemory),
    SAME(mcDeviceAttributeConcurrentManagedAccess, concurrentManagedAccess),
    SAME(mcDeviceAttributePageableMemoryAccess, pageableMemoryAccess),
    SAME(mcDeviceAttributeMemoryPoolsSupported, memoryPoolsSupported),
    SAME(mcDevAttrStreamPrioritiesSupported, streamPrioritiesSupported),
    IS(mcDeviceAttributeDirectManagedMemAccessFromHost, 1),
    IS(mcDeviceAttributeVirtualMemoryManagementSupported, 1),
    IS(mcDeviceAttributeHandleTypePosixFileDescriptorSupported, 1),
    IS(mcDeviceAttributeMemoryPoolSupportedHandleTypes,
       mcMemHandleTypePosixFileDescriptor),
    IS(mcDeviceAttributeCanUseStreamWaitValue, 1),
    IS(mcDeviceAttributeCanUseStreamMemOps, 1),
    IS(mcDeviceAttributeCanUseStreamWaitWaitValueNor, 1),
    IS(mcDeviceAttributeCanFlushRemoteWrites, 1),
    IS(mcDeviceAttributeHostNativeAtomicSupported, 1),
    IS(mcDevAttrHostRegisterSupported, 1),
    IS(mcDevAttrHostRegisterReadOnlySupported, 1),
    IS(mcDevAttrCanUseHostPointerForRegisteredMem, 1),
    IS(mcDevAttrSingleToDoublePrecisionPerfRatio, 1),
    /* What there is not. */
    IS(mcDeviceAttributeIsMultiGpuBoard, 0),
    IS(mcDeviceAttributePageableMemoryAccessUsesHostPageTables, 0),
    IS(mcDeviceAttributeCooperativeMultiDeviceUnmatchedFunc, 0),
    IS(mcDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim, 0),
    IS(mcDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim, 0),
    IS(mcDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem, 0),
    IS(mcDeviceAttributeHandleTypeWin32HandleSupported, 0),
    IS(mcDeviceAttributeHandleTypeFabricSupported, 0),
    IS(mcDeviceAttributeGenericCompressionSupported, 0),
    IS(mcDeviceAttributeMaxAccessPolicyWindowSize, 0),
    IS(mcDeviceAttributeMaxPersistingL2CacheSize, 0),
    IS(mcDeviceAttributeComputePreemptionSupported, 0),
    IS(mcDeviceAttributeTccDriver, 0),
    SAME(mcDeviceAttributeSurfaceAligement, surfaceAlignment),
    SAME(mcDeviceAttributeMaxTexture1DWidth, maxTexture1D),
    SAME(mcDeviceAttributeMaxTexture2DWidth, maxTexture2D[0]),
    SAME(mcDeviceAttributeMaxTexture2DHeight, maxTexture2D[1]),
    SAME(mcDeviceAttributeMaxTexture3DWidth, maxTexture3D[0]),
    SAME(mcDeviceAttributeMaxTexture3DHeight, maxTexture3D[1]),
    SAME(mcDeviceAttributeMaxTexture3DDepth, maxTexture3D[2]),
    SAME(mcDevAttrMaxTexture3DWidthAlt, maxTexture3DAlt[0]),
    SAME(mcDevAttrMaxTexture3DHeightAlt, maxTexture3DAlt[1]),
    SAME(mcDevAttrMaxTexture3DDepthAlt, maxTexture3DAlt[2]),
    SAME(mcDeviceAttributeTexture1DLinearWidth, maxTexture1DLinear),
    SAME(mcDeviceAttributeTexture2DLinearWidth, maxTexture2DLinear[0]),
    SAME(mcDeviceAttributeTexture2DLinearHeight, maxTexture2DLinear[1]),
    SAME(mcDeviceAttributeTexture2DLinearPitch, maxTexture2DLinear[2]),
    SAME(mcDeviceAttributeMaxTexture1DLayeredWidth, maxTexture1DLayered[0]),
    SAME(mcDeviceAttributeMaxTexture1DLayeredLayers, maxTexture1DLayered[1]),
    SAME(mcDeviceAttributeMaxTexture2DLayeredWidth, maxTexture2DLayered[0]),
    SAME(mcDeviceAttributeMaxTexture2DLayeredHeight, maxTexture2DLayered[1]),
    SAME(mcDeviceAttributeMaxTexture2DLayeredLayers, maxTexture2DLayered[2]),
    SAME(mcDevAttrMaxTextureCubemapWidth, maxTextureCubemap),
    SAME(mcDevAttrMaxTextureCubemapLayeredWidth, maxTextureCubemapLayered[0]),
    SAME(mcDevAttrMaxTextureCubemapLayeredLayers, maxTextureCubemapLayered[1]),
    SAME(mcDevAttrMaxTexture1DMipmappedWidth, maxTexture1DMipmap),
    SAME(mcDevAttrMaxTexture2DMipmappedWidth, maxTexture2DMipmap[0]),
    SAME(mcDevAttrMaxTexture2DMipmappedHeight, maxTexture2DMipmap[1]),
    SAME(mcDevAttrMaxSurface1DWidth, maxSurface1D),
    SAME(mcDevAttrMaxSurface2DWidth, maxSurface2D[0]),
    SAME(mcDevAttrMaxSurface2DHeight, maxSurface2D[1]),
    SAME(mcDevAttrMaxSurface3DWidth, maxSurface3D[0]),
    SAME(mcDevAttrMaxSurface3DHeight, maxSurface3D[1]),
    SAME(mcDevAttrMaxSurface3DDepth, maxSurface3D[2]),
    SAME(mcDevAttrMaxSurface1DLayeredWidth, maxSurface1DLayered[0]),
    SAME(mcDevAttrMaxSurface1DLayeredLayers, maxSurface1DLayered[1]),
    SAME(mcDevAttrMaxSurface2DLayeredWidth, maxSurface2DLayered[0]),
    SAME(mcDevAttrMaxSurface2DLayeredHeight, maxSurface2DLayered[1]),
    SAME(mcDevAttrMaxSurface2DLayeredLayers, maxSurface2DLayered[2]),
    SAME(mcDevAttrMaxSurfaceCubemapWidth, maxSurfaceCubemap),
    SAME(mcDevAttrMaxSurfaceCubemapLayeredWidth, maxSurfaceCubemapLayered[0]),
    SAME(mcDevAttrMaxSurfaceCubemapLayeredLayers, maxSurfaceCubemapLayered[1]),
    IS(mcDevAttrGlobalL1CacheSupported, 0),
    IS(mcDevAttrLocalL1CacheSupported, 0),
    IS(mcDevAttrGPUDirectRDMASupported, 0),
    IS(mcDevAttrGPUDirectRDMAFlushWritesOptions, 0),
    IS(mcDevAttrGPUDirectRDMAWritesOrdering, 0),
    IS(mcDevAttrReservedSharedMemoryPerBlock, 0),
    IS(mcDevAttrSparseMcArraySupported, 1),
    IS(mcDevAttrDeferredMappingMcArraySupported, 0),
};

/* A property, cut to what an attribute can say. */
static int property(const mcDeviceProp_t *p, size_t offset, size_t size)
{
    const char *at = (const char *)p + offset;
    size_t wide;
    int value;

    if (size == sizeof(int)) {
        memcpy(&value, at, sizeof(value));
        return value;
    }
    g_assert_cmpuint(size, ==, sizeof(wide));
    memcpy(&wide, at, sizeof(wide));
    return wide > INT_MAX ? INT_MAX : (int)wide;
}

static void test_attributes(void)
{
    int count;

    ok(mcGetDeviceCount(&count));
    for (int device = 0; device < count; device++) {
        mcDeviceProp_t p;
        int value;

        ok(mcGetDeviceProperties(&p, device));
        for (unsigned i = 0; i < G_N_ELEMENTS(attributes); i++) {
            int want = attributes[i].size
                           ? property(&p, attributes[i].offset,
                                      attributes[i].size)
                           : attributes[i].value;

            value = -1;
            ok(mcDeviceGetAttribute(
                &value, (mcDeviceAttribute_t)attributes[i].attribute, device));
            if (value != want) {
                g_error("device %d: %s is %d, not %d", device,
                        attributes[i].name, value, want);
            }
        }
        /* Of the board it is alone on. */
        ok(mcDeviceGetAttribute(&value, mcDevAttrMultiGpuBoardGroupID,
                                device));
        g_assert_cmpint(value, ==, device);
    }
}

/* Of the numbers in between none is an attribute. */
static void test_attribute_numbers(void)
{
    static const int gaps[][2] = {
        {INT_MIN, INT_MIN}, {-10, -1},
        {mcDeviceAttributeUnknow, mcDeviceAttributeMaxSharedMemoryPerBlockOptin
                                  - 1},
        {mcDeviceAttributeMulticastSupported + 1,
         mcDevAttrMaxTexture3DWidthAlt - 1},
        {2050, 2051}, {2069, 2072}, {2075, 2076}, {2081, 2084}, {2086, 2086},
        {2088, 2090}, {2092, 2098}, {2100, 2110}, {2114, 2115}, {2119, 2120},
        {2122, 2200}, {INT_MAX, INT_MAX},
    };
    int value;

    for (unsigned i = 0; i < G_N_ELEMENTS(gaps); i++) {
        for (long n = gaps[i][0]; n <= gaps[i][1]; n++) {
            fails(mcErrorInvalidValue,
                  mcDeviceGetAttribute(&value, (mcDeviceAttribute_t)n, 0));
        }
    }
    fails(mcErrorInvalidValue,
          mcDeviceGetAttribute(NULL, mcDeviceAttributeWarpSize, 0));
    fails(mcErrorInvalidValue, mcGetDeviceProperties(NULL, 0));
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
    ok(mcDeviceGetLimit(&value, mcLimitDevRuntimePendingLaunchCount));
    g_assert_cmpuint(value, ==, 2048);
    ok(mcDeviceSetLimit(mcLimitDevRuntimePendingLaunchCount, 0));
    ok(mcDeviceGetLimit(&value, mcLimitDevRuntimePendingLaunchCount));
    g_assert_cmpuint(value, ==, 1);
    ok(mcDeviceSetLimit(mcLimitDevRuntimePendingLaunchCount, 2048));
    fails(mcErrorInvalidValue,
          mcDeviceSetLimit(mcLimitDevRuntimePendingLaunchCount, 65537));
    ok(mcDeviceGetLimit(&value, mcLimitDevRuntimeSyncDepth));
    g_assert_cmpuint(value, ==, 2);
    fails(mcErrorInvalidValue,
          mcDeviceSetLimit(mcLimitDevRuntimeSyncDepth, 25));
    ok(mcDeviceSetLimit(mcLimitDevRuntimeSyncDepth, 24));
    ok(mcDeviceGetLimit(&value, mcLimitDevRuntimeSyncDepth));
    g_assert_cmpuint(value, ==, 24);
    ok(mcDeviceSetLimit(mcLimitDevRuntimeSyncDepth, 2));
    fails(mcErrorUnsupportedLimit,
          mcDeviceGetLimit(&value, mcLimitPersistingL2CacheSize));
    fails(mcErrorInvalidValue, mcDeviceGetLimit(&value, mcLimitMax));
    ok(mcDeviceGetSharedMemConfig(&config));
    g_assert_cmpint(config, ==, mcSharedMemBankSizeFourByte);
    ok(mcDeviceSetSharedMemConfig(mcSharedMemBankSizeFourByte));
    ok(mcDeviceSetSharedMemConfig(mcSharedMemBankSizeEightByte));
    fails(mcErrorInvalidValue,
          mcDeviceSetSharedMemConfig((mcSharedMemConfig)9));
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

/* Of the UUID; closes the device, which another process is to use. */
static char *digits_of(int device)
{
    GString *s = g_string_new(NULL);
    mcUuid_t uuid;

    ok(mcDeviceGetUuid(&uuid, device));
    for (unsigned i = 0; i < 16; i++) {
        g_string_append_printf(s, "%02x", (uint8_t)uuid.bytes[i]);
    }
    ok(mcDevicePrimaryCtxReset(device));
    env_forget();
    return g_string_free(s, FALSE);
}

/* MACA_VISIBLE_DEVICES is read once a process. */
static void visible_by(const char *variable, const char *list, int expected,
                       int last)
{
    if (g_test_subprocess()) {
        g_assert_not_reached();
    }
    g_autofree char *want = g_strdup_printf("%d", expected);

    g_setenv(variable, list, TRUE);
    g_setenv("TEST_EXPECTED", want, TRUE);
    if (last >= 0) { /* the UUID of the last one */
        g_autofree char *digits = digits_of(last);

        g_setenv("TEST_UUID", digits, TRUE);
    } else {
        g_unsetenv("TEST_UUID");
    }
    g_test_trap_subprocess("/device/visible/child",
                           300 * G_TIME_SPAN_SECOND, 0);
    g_test_trap_assert_passed();
    g_unsetenv(variable);
}

static void visible(const char *list, int expected)
{
    visible_by("MACA_VISIBLE_DEVICES", list, expected, -1);
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
    if (g_getenv("TEST_UUID")) {
        g_autofree char *digits = digits_of(count - 1);

        g_assert_cmpstr(digits, ==, g_getenv("TEST_UUID"));
    }
}

static void test_visible_uuids(int count)
{
    const char *name = "MACA_VISIBLE_DEVICES";
    g_autofree char *digits = digits_of(0);
    g_autofree char *whole = g_strdup_printf(
        "GPU-%.8s-%.4s-%.4s-%.4s-%s", digits, digits + 8, digits + 12,
        digits + 16, digits + 20);
    g_autofree char *upper = g_ascii_strup(whole, -1);
    g_autofree char *wrong = g_strdup_printf("%s,GPU-%sf", whole, digits);
    g_autofree char *twice = g_strdup_printf("0,%s", whole);

    visible_by(name, whole, 1, -1);
    visible_by(name, upper, 1, -1);
    visible_by(name, wrong, 1, -1); /* too many digits: the list ends */
    visible(twice, 0);
    visible("GPU-", 0);
    visible("GPU-xyz", 0);
    visible("GPU", 0);
    visible("MIG-1234", 0);
    visible_by(name, "GPU-ffffffffffffffffffffffffffffffff", 0, -1);
    env_two_devices();
    g_autofree char *more = digits_of(1);
    g_autofree char *both = g_strdup_printf(" 1 ,GPU-%s", digits);
    unsigned same = 0;

    while (digits[same] == more[same]) {
        same++;
    }
    g_autofree char *shared = g_strdup_printf("GPU-%.*s", (int)same, more);
    g_autofree char *first = g_strdup_printf("GPU-%.*s", (int)same + 1,
                                             more);
    visible_by(name, first, 1, 1);
    visible_by(name, both, 2, 0);
    if (same) {
        visible(shared, 0); /* fits both */
    }
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
    visible("1,0", 2);
    visible("1", 1);
    visible_by("CUDA_VISIBLE_DEVICES", "1", 1, 1);
    visible(" 0 ", 1);
    visible("00", 1);
    visible("0x0", 0);
    visible("4294967296", 0);
    visible_by("CUDA_VISIBLE_DEVICES", "0", 1, 0);
    visible_by("MC_VISIBLE_DEVICES", "", count, -1); /* not looked at */
    g_setenv("CUDA_VISIBLE_DEVICES", "", TRUE);
    visible("0", 1); /* before the other */
    g_unsetenv("CUDA_VISIBLE_DEVICES");
    test_visible_uuids(count);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/device/choice", test_choice);
    g_test_add_func("/device/valid-devices", test_valid_devices);
    g_test_add_func("/device/cache-config", test_cache_config);
    g_test_add_func("/device/properties", test_properties);
    g_test_add_func("/device/attributes", test_attributes);
    g_test_add_func("/device/attribute-numbers", test_attribute_numbers);
    g_test_add_func("/device/limits", test_limits);
    g_test_add_func("/device/versions", test_versions);
    g_test_add_func("/device/visible", test_visible);
    g_test_add_func("/device/visible/child", test_visible_child);
    return g_test_run();
}
