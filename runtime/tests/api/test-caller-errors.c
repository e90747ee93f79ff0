/* SPDX-License-Identifier: MIT */
/*
 * Mistakes of callers that have no place in the test of a chapter: of functions
 * that few programs use, and those that every function answers alike.
 */
#include <stdlib.h>

#include "env.h"

static const mcStream_t no_stream = (mcStream_t)0x77;
static const mcMemcpyKind no_kind = (mcMemcpyKind)5;

/* ---- every function ---- */

/* They need no device. */
static const char *const free_of_devices[] = {
    "mcRuntimeGetVersion", "mcDriverGetVersion", "mcGetLastError",
    "mcPeekAtLastError",   "mcGetErrorName",     "mcGetErrorString",
    "mcCreateChannelDesc", "mcDrvGetErrorName",  "mcDrvGetErrorString",
    "mcGetProcAddress",    "mcGetDriverEntryPoint",
};

static const struct {
    const char *name;
    bool works;
    void (*function)(void);
} functions[] = {
#define MC_SECTION(title)
#define MC_API(status, result, name, parameters, text)                         \
    {#name, status, (void (*)(void))name},
#define WORKS true
#define UNSUPPORTED false
#include "api.def"
#undef MC_API
#undef WORKS
#undef UNSUPPORTED
};

static bool needs_device(const char *name)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(free_of_devices); i++) {
        if (strcmp(free_of_devices[i], name) == 0) {
            return false;
        }
    }
    return true;
}

/* From a function that a stream calls: whatever the arguments, the first thing
 * that is looked at is who calls. */
static void call_all(void *opaque)
{
    typedef mcError_t (*Any)(uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                             uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                             uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    unsigned *called = opaque;

    for (unsigned i = 0; i < G_N_ELEMENTS(functions); i++) {
        if (!functions[i].works || !needs_device(functions[i].name)) {
            continue;
        }
        mcError_t error = ((Any)functions[i].function)(0, 0, 0, 0, 0, 0, 0, 0,
                                                       0, 0, 0, 0);
        if (error != mcErrorNotPermitted) {
            g_error("%s in a host function: %s", functions[i].name,
                    mcGetErrorName(error));
        }
        (*called)++;
    }
}

static void test_host_function(void)
{
    unsigned called = 0;

    ok(mcLaunchHostFunc(NULL, call_all, &called));
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(called, >=, 200);
}

/* After a kernel failed, what asks or uses the device says so. */
static void test_failed_device(void)
{
    const mcError_t error = mcErrorIllegalAddress;
    mcFunction_t f = env_kernel("k_store");
    void *null = NULL, *args[] = {&null}, *p;
    size_t bytes, total;
    int least, greatest;
    mcArray_t array;
    mcEvent_t event;

    ok(mcModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    fails(error, mcDeviceSynchronize());
    fails(error, mcThreadSynchronize());
    fails(error, mcMemGetInfo(&bytes, &total));
    fails(error, mcDeviceGetStreamPriorityRange(&least, &greatest));
    fails(error, mcCtxGetStreamPriorityRange(&least, &greatest));
    fails(error, mcMemset(&null, 0, 1));
    fails(error, mcEventCreate(&event));
    fails(error, mcMemAllocAsync(&p, 256, NULL));
    fails(error, mcArrayCreate(&array, &(mcArrayDescriptor){
                                           4, 4, MC_AD_FORMAT_FLOAT, 1}));
    ok(mcThreadExit()); /* the old name of the reset */
    env_forget();
    ok(mcMemGetInfo(NULL, NULL));
    ok(mcDeviceGetStreamPriorityRange(NULL, NULL));
    ok(mcThreadSynchronize());
}

/* ---- devices ---- */

static void test_devices(void)
{
    mcSharedMemConfig config;
    mcDeviceProp_t want = {0};
    mcUuid_t uuid;
    char name[8];
    size_t bytes;
    int count, device;

    ok(mcGetDeviceCount(&count));
    fails(mcErrorInvalidValue, mcDeviceGetUuid(NULL, 0));
    fails(mcErrorInvalidDevice, mcDeviceGetUuid(&uuid, count));
    fails(mcErrorInvalidDevice, mcDeviceGetUuid(&uuid, -1));
    fails(mcErrorInvalidValue, mcChooseDevice(NULL, &want));
    fails(mcErrorInvalidValue, mcChooseDevice(&device, NULL));
    fails(mcErrorInvalidValue, mcDeviceGetName(NULL, 8, 0));
    fails(mcErrorInvalidValue, mcDeviceGetName(name, 0, 0));
    fails(mcErrorInvalidValue, mcDeviceGetName(name, -1, 0));
    fails(mcErrorInvalidDevice, mcDeviceGetName(name, 8, count));
    fails(mcErrorInvalidValue, mcDeviceTotalMem(NULL, 0));
    fails(mcErrorInvalidDevice, mcDeviceTotalMem(&bytes, count));
    fails(mcErrorInvalidValue, mcDeviceGetSharedMemConfig(NULL));
    fails(mcErrorInvalidValue, mcCtxGetSharedMemConfig(NULL));
    ok(mcCtxGetSharedMemConfig(&config));
    fails(mcErrorInvalidValue, mcGetDeviceFlags(NULL));
    fails(mcErrorInvalidValue, mcDriverGetVersion(NULL));
    fails(mcErrorInvalidValue, mcCtxSetCacheConfig((mcFuncCache_t)4));
    fails(mcErrorInvalidValue,
          mcThreadSetLimit(mcLimitStackSize, (size_t)2 << 20));
    fails(mcErrorInvalidValue,
          mcThreadSetLimit(mcLimitDevRuntimeSyncDepth, 25));
}

/* ---- streams, events, launches ---- */

static void test_streams(void)
{
    mcStream_t stream;
    mcLaunchParams one = {0};

    fails(mcErrorInvalidValue, mcStreamCreateWithPriority(NULL, 0, 0));
    fails(mcErrorInvalidValue, mcStreamCreateWithPriority(&stream, 2, 0));
    fails(mcErrorInvalidValue, mcEventCreate(NULL));
    fails(mcErrorInvalidValue, mcExtLaunchMultiKernelMultiDevice(NULL, 1, 0));
    fails(mcErrorInvalidValue, mcExtLaunchMultiKernelMultiDevice(&one, 0, 0));
    fails(mcErrorInvalidValue,
          mcExtLaunchMultiKernelMultiDevice(&one, -1, 0));
    fails(mcErrorInvalidValue,
          mcExtLaunchMultiKernelMultiDevice(&one, 1, 0x80));
    /* a default stream */
    fails(mcErrorInvalidResourceHandle,
          mcExtLaunchMultiKernelMultiDevice(&one, 1, 0));
}

/* ---- memory ---- */

static void test_allocations(void)
{
    mcPitchedPtr box;
    unsigned flags;
    void *p;
    int host;

    fails(mcErrorInvalidValue, mcMalloc3D(NULL, make_mcExtent(1, 1, 1)));
    fails(mcErrorMemoryAllocation,
          mcMalloc3D(&box, make_mcExtent(SIZE_MAX, 1, 1)));
    fails(mcErrorMemoryAllocation,
          mcMalloc3D(&box, make_mcExtent(1, SIZE_MAX, SIZE_MAX)));
    fails(mcErrorInvalidValue, mcHostGetFlags(NULL, &host));
    fails(mcErrorInvalidValue, mcHostGetFlags(&flags, &host));
    fails(mcErrorInvalidValue, mcHostGetFlags(&flags, NULL));
    fails(mcErrorInvalidValue, mcMemAllocAsync(NULL, 256, NULL));
    fails(mcErrorInvalidResourceHandle, mcMemAllocAsync(&p, 256, no_stream));
    fails(mcErrorMemoryAllocation,
          mcMemAllocAsync(&p, SIZE_MAX / 2, NULL));
}

static void test_symbols(void)
{
    const void *none = "no variable";
    char host[16];
    void *p;
    size_t size;

    fails(mcErrorInvalidValue, mcGetSymbolAddress(NULL, none));
    fails(mcErrorInvalidSymbol, mcGetSymbolAddress(&p, NULL));
    fails(mcErrorInvalidSymbol, mcGetSymbolAddress(&p, none));
    fails(mcErrorInvalidValue, mcGetSymbolSize(NULL, none));
    fails(mcErrorInvalidSymbol, mcGetSymbolSize(&size, NULL));
    fails(mcErrorInvalidSymbol, mcGetSymbolSize(&size, none));
    fails(mcErrorInvalidSymbol,
          mcMemcpyFromSymbol(host, none, 4, 0, mcMemcpyDeviceToHost));
    fails(mcErrorInvalidSymbol,
          mcMemcpyFromSymbol(host, NULL, 4, 0, mcMemcpyDeviceToHost));
    fails(mcErrorInvalidMemcpyDirection,
          mcMemcpyFromSymbol(host, none, 4, 0, mcMemcpyHostToDevice));
    fails(mcErrorInvalidMemcpyDirection,
          mcMemcpyFromSymbol(host, none, 4, 0, no_kind));
    fails(mcErrorInvalidSymbol,
          mcMemcpyToSymbolAsync(none, host, 4, 0, mcMemcpyHostToDevice, NULL));
    fails(mcErrorInvalidMemcpyDirection,
          mcMemcpyToSymbolAsync(none, host, 4, 0, mcMemcpyDeviceToHost, NULL));
}

static void test_copies(void)
{
    uint8_t *d = env_malloc(4096), host[64];
    mcMemcpy3DParms box = {
        .srcPtr = {host, 8, 8, 2},
        .dstPtr = {d, 8, 8, 2},
        .extent = {8, 2, 2},
        .kind = mcMemcpyHostToDevice,
    };

    fails(mcErrorInvalidValue, mcMemcpyDtoD(NULL, d, 8));
    fails(mcErrorInvalidValue, mcMemcpyDtoD(d, NULL, 8));
    fails(mcErrorInvalidValue, mcMemcpyDtoD(d, host, 8));
    fails(mcErrorInvalidValue, mcMemcpyDtoD(d, d + 4095, 8));
    fails(mcErrorInvalidValue, mcMemcpyHtoD(NULL, host, 8));
    fails(mcErrorInvalidValue, mcMemcpyHtoD(d, NULL, 8));
    fails(mcErrorInvalidValue, mcMemcpyHtoD(host, host, 8));
    fails(mcErrorInvalidValue, mcMemcpyHtoD(d + 4090, host, 8));
    fails(mcErrorInvalidValue, mcMemcpy3DAsync(NULL, NULL));
    fails(mcErrorInvalidResourceHandle, mcMemcpy3DAsync(&box, no_stream));
    box.kind = no_kind;
    fails(mcErrorInvalidMemcpyDirection, mcMemcpy3DAsync(&box, NULL));
    ok(mcFree(d));
}

static void test_sets(void)
{
    uint8_t *d = env_malloc(4096);
    mcPitchedPtr box = {d, 64, 64, 8};

    fails(mcErrorInvalidValue, mcMemsetD16(NULL, 1, 1));
    fails(mcErrorInvalidValue, mcMemsetD16(d + 1, 1, 1));
    fails(mcErrorInvalidValue, mcMemsetD16(d, 1, SIZE_MAX / 2 + 1));
    fails(mcErrorInvalidValue, mcMemsetD16(d, 1, 2049));
    fails(mcErrorInvalidValue, mcMemsetD32Async(d + 2, 1, 1, NULL));
    fails(mcErrorInvalidValue, mcMemsetD32Async(d, 1, SIZE_MAX / 4 + 1, NULL));
    fails(mcErrorInvalidResourceHandle, mcMemsetD32Async(d, 1, 1, no_stream));
    fails(mcErrorInvalidValue, mcMemsetD2D16(NULL, 64, 1, 4, 4));
    fails(mcErrorInvalidValue, mcMemsetD2D16(d, 63, 1, 4, 4));
    fails(mcErrorInvalidPitchValue, mcMemsetD2D16(d, 64, 1, 33, 4));
    fails(mcErrorInvalidValue, mcMemsetD2D16(d, 64, 1, SIZE_MAX / 2 + 1, 4));
    fails(mcErrorInvalidValue, mcMemsetD2D16(d, 64, 1, 32, 65));
    fails(mcErrorInvalidPitchValue,
          mcMemset3DAsync(box, 1, make_mcExtent(65, 1, 1), NULL));
    fails(mcErrorInvalidValue,
          mcMemset3DAsync(box, 1, make_mcExtent(64, 9, 2), NULL));
    fails(mcErrorInvalidValue,
          mcMemset3DAsync(box, 1, make_mcExtent(64, 8, 9), NULL));
    fails(mcErrorInvalidResourceHandle,
          mcMemset3DAsync(box, 1, make_mcExtent(64, 8, 8), no_stream));
    box.ptr = NULL;
    fails(mcErrorInvalidValue,
          mcMemset3DAsync(box, 1, make_mcExtent(64, 8, 8), NULL));
    ok(mcFree(d));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/caller-errors/host-function", test_host_function);
    g_test_add_func("/caller-errors/failed-device", test_failed_device);
    g_test_add_func("/caller-errors/devices", test_devices);
    g_test_add_func("/caller-errors/streams", test_streams);
    g_test_add_func("/caller-errors/allocations", test_allocations);
    g_test_add_func("/caller-errors/symbols", test_symbols);
    g_test_add_func("/caller-errors/copies", test_copies);
    g_test_add_func("/caller-errors/sets", test_sets);
    return g_test_run();
}
