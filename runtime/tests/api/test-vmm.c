/* SPDX-License-Identifier: MIT */
/* Virtual memory management: every rule of it, and every error. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>

#include "env.h"
#include "peer_process.h"

#define GRAIN (2ull << 20)

static const mcMemAllocationProp device_prop = {
    .type = mcMemAllocationTypePinned,
    .location = {mcMemLocationTypeDevice, 0},
};
static const mcMemAllocationProp shared_prop = {
    .type = mcMemAllocationTypePinned,
    .requestedHandleTypes = mcMemHandleTypePosixFileDescriptor,
    .location = {mcMemLocationTypeDevice, 0},
};
static const mcMemAllocationProp host_prop = {
    .type = mcMemAllocationTypePinned,
    .location = {mcMemLocationTypeHost, 1234},
};

static const mcMemLocation on_device = {mcMemLocationTypeDevice, 0};
static const mcMemLocation on_host = {mcMemLocationTypeHost, 0};

static uint8_t *at(mcDeviceptr_t base, size_t offset)
{
    return (uint8_t *)base + offset;
}

static mcDeviceptr_t reserve(size_t size)
{
    mcDeviceptr_t va = NULL;

    ok(mcMemAddressReserve(&va, size, 0, NULL, 0));
    g_assert_cmphex((uintptr_t)va % GRAIN, ==, 0);
    return va;
}

static mcMemGenericAllocationHandle create(const mcMemAllocationProp *prop,
                                           size_t size)
{
    mcMemGenericAllocationHandle handle = 0;

    ok(mcMemCreate(&handle, size, prop, 0));
    return handle;
}

static mcError_t access_of(mcMemLocationType type, int id, mcDeviceptr_t va,
                           size_t size, mcMemAccessFlags flags)
{
    mcMemAccessDesc desc = {{type, id}, flags};

    return mcMemSetAccess(va, size, &desc, 1);
}

#define allow(va, size)                                                        \
    ok(access_of(mcMemLocationTypeDevice, 0, va, size,                         \
                 mcMemAccessFlagsProtReadWrite))

static void check_access(mcDeviceptr_t va, mcMemLocation where,
                         mcMemAccessFlags want)
{
    unsigned long long flags = 77;

    ok(mcMemGetAccess(&flags, &where, va));
    g_assert_cmpuint(flags, ==, want);
}

/* Through the device, to and fro. */
static void check_memory(mcDeviceptr_t va, size_t size, unsigned seed)
{
    uint8_t *in = g_malloc(size), *out = g_malloc0(size);

    env_pattern(in, size, seed);
    ok(mcMemcpy(va, in, size, mcMemcpyHostToDevice));
    ok(mcMemcpy(out, va, size, mcMemcpyDeviceToHost));
    g_assert_cmpmem(in, size, out, size);
    g_free(in);
    g_free(out);
}

static void reset(void)
{
    ok(mcDeviceReset());
    env_forget();
}

static void test_granularity(void)
{
    mcMemAllocationProp bad = device_prop;
    size_t grain = 0;

    ok(mcMemGetAllocationGranularity(&grain, &device_prop,
                                     MC_MEM_ALLOC_GRANULARITY_MINIMUM));
    g_assert_cmpuint(grain, ==, GRAIN);
    ok(mcMemGetAllocationGranularity(&grain, &host_prop,
                                     MC_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    g_assert_cmpuint(grain, ==, GRAIN);
    fails(mcErrorInvalidValue,
          mcMemGetAllocationGranularity(NULL, &device_prop, 0));
    fails(mcErrorInvalidValue, mcMemGetAllocationGranularity(&grain, NULL, 0));
    fails(mcErrorInvalidValue,
          mcMemGetAllocationGranularity(&grain, &device_prop, 2));
    bad.type = mcMemAllocationTypeInvalid;
    fails(mcErrorInvalidValue, mcMemGetAllocationGranularity(&grain, &bad, 0));
    bad = device_prop;
    bad.location.id = 99;
    fails(mcErrorInvalidDevice, mcMemGetAllocationGranularity(&grain, &bad, 0));

    int value = 0;
    ok(mcDeviceGetAttribute(
        &value, mcDeviceAttributeVirtualMemoryManagementSupported, 0));
    g_assert_cmpint(value, ==, 1);
    value = 0;
    ok(mcDeviceGetAttribute(
        &value, mcDeviceAttributeHandleTypePosixFileDescriptorSupported, 0));
    g_assert_cmpint(value, ==, 1);
}

static void test_reserve(void)
{
    mcDeviceptr_t a = reserve(3 * GRAIN), b = NULL, c = NULL;

    /* A hint that is taken is only a hint; a free one is followed. */
    ok(mcMemAddressReserve(&b, GRAIN, 0, a, 0));
    g_assert_true(b != a);
    ok(mcMemAddressFree(b, GRAIN));
    ok(mcMemAddressFree(a, 3 * GRAIN));
    ok(mcMemAddressReserve(&b, GRAIN, 0, a, 0));
    g_assert_true(b == a);
    ok(mcMemAddressReserve(&c, 4096, 64 * GRAIN, NULL, 0));
    g_assert_cmphex((uintptr_t)c % (64 * GRAIN), ==, 0);

    fails(mcErrorInvalidValue, mcMemAddressFree(b, 2 * GRAIN));
    fails(mcErrorInvalidValue, mcMemAddressFree(at(b, 4096), GRAIN - 4096));
    fails(mcErrorInvalidValue, mcMemAddressFree(NULL, GRAIN));
    ok(mcMemAddressFree(b, GRAIN));
    fails(mcErrorInvalidValue, mcMemAddressFree(b, GRAIN));
    ok(mcMemAddressFree(c, 4096));

    fails(mcErrorInvalidValue, mcMemAddressReserve(NULL, GRAIN, 0, NULL, 0));
    fails(mcErrorInvalidValue, mcMemAddressReserve(&a, 0, 0, NULL, 0));
    fails(mcErrorInvalidValue, mcMemAddressReserve(&a, 4095, 0, NULL, 0));
    fails(mcErrorInvalidValue, mcMemAddressReserve(&a, GRAIN, 3, NULL, 0));
    fails(mcErrorInvalidValue,
          mcMemAddressReserve(&a, GRAIN, 0, (mcDeviceptr_t)100, 0));
    fails(mcErrorInvalidValue, mcMemAddressReserve(&a, GRAIN, 0, NULL, 1));
    fails(mcErrorMemoryAllocation,
          mcMemAddressReserve(&a, 1ull << 62, 0, NULL, 0));
}

static void test_create(void)
{
    mcMemGenericAllocationHandle h = create(&device_prop, GRAIN), other;
    mcMemAllocationProp got, bad = device_prop;
    size_t before, after, total;

    ok(mcMemGetAllocationPropertiesFromHandle(&got, h));
    g_assert_cmpint(got.type, ==, mcMemAllocationTypePinned);
    g_assert_cmpint(got.location.type, ==, mcMemLocationTypeDevice);
    g_assert_cmpint(got.location.id, ==, 0);
    fails(mcErrorInvalidValue,
          mcMemGetAllocationPropertiesFromHandle(NULL, h));
    ok(mcMemRelease(h));
    fails(mcErrorInvalidValue,
          mcMemGetAllocationPropertiesFromHandle(&got, h));
    fails(mcErrorInvalidValue, mcMemRelease(h));
    fails(mcErrorInvalidValue, mcMemRelease(0));

    /* VRAM comes and goes. */
    ok(mcMemGetInfo(&before, &total));
    h = create(&device_prop, 4 * GRAIN);
    ok(mcMemGetInfo(&after, &total));
    g_assert_cmpuint(before - after, ==, 4 * GRAIN);
    ok(mcMemRelease(h));
    ok(mcMemGetInfo(&after, &total));
    g_assert_cmpuint(before, ==, after);

    fails(mcErrorInvalidValue, mcMemCreate(NULL, GRAIN, &device_prop, 0));
    fails(mcErrorInvalidValue, mcMemCreate(&h, GRAIN, NULL, 0));
    fails(mcErrorInvalidValue, mcMemCreate(&h, 0, &device_prop, 0));
    fails(mcErrorInvalidValue, mcMemCreate(&h, GRAIN / 2, &device_prop, 0));
    fails(mcErrorInvalidValue, mcMemCreate(&h, GRAIN, &device_prop, 1));
    fails(mcErrorMemoryAllocation,
          mcMemCreate(&h, 1ull << 50, &device_prop, 0));
    fails(mcErrorMemoryAllocation,
          mcMemCreate(&h, total + GRAIN - total % GRAIN, &device_prop, 0));
    bad.location.id = -1;
    fails(mcErrorInvalidDevice, mcMemCreate(&h, GRAIN, &bad, 0));
    bad.location.type = mcMemLocationTypeInvalid;
    fails(mcErrorInvalidValue, mcMemCreate(&h, GRAIN, &bad, 0));
    bad.location = (mcMemLocation){mcMemLocationTypeHostNuma, 1};
    fails(mcErrorInvalidValue, mcMemCreate(&h, GRAIN, &bad, 0));
    bad.location = (mcMemLocation){mcMemLocationTypeHostNumaCurrent, 0};
    fails(mcErrorInvalidValue, mcMemCreate(&h, GRAIN, &bad, 0));
    bad = host_prop;
    bad.requestedHandleTypes = mcMemHandleTypePosixFileDescriptor;
    fails(mcErrorInvalidValue, mcMemCreate(&h, GRAIN, &bad, 0));
    bad = device_prop;
    bad.requestedHandleTypes = mcMemHandleTypeFabric;
    fails(mcErrorNotSupported, mcMemCreate(&h, GRAIN, &bad, 0));
    bad.requestedHandleTypes = 64;
    fails(mcErrorInvalidValue, mcMemCreate(&h, GRAIN, &bad, 0));
    bad = device_prop;
    bad.allocFlags.usage = 2;
    fails(mcErrorInvalidValue, mcMemCreate(&h, GRAIN, &bad, 0));
    bad = host_prop;
    bad.allocFlags.usage = MC_MEM_CREATE_USAGE_TILE_POOL;
    fails(mcErrorInvalidValue, mcMemCreate(&h, GRAIN, &bad, 0));
    bad = device_prop;
    bad.allocFlags.gpuDirectRDMACapable = 1;
    fails(mcErrorNotSupported, mcMemCreate(&h, GRAIN, &bad, 0));
    bad.allocFlags.gpuDirectRDMACapable = 0;
    bad.allocFlags.compressionType = 1; /* a wish */
    h = create(&bad, GRAIN);
    ok(mcMemGetAllocationPropertiesFromHandle(&got, h));
    g_assert_cmpint(got.allocFlags.compressionType, ==, 0);
    other = create(&host_prop, GRAIN);
    g_assert_cmpuint(h, !=, other);
    ok(mcMemRelease(h));
    ok(mcMemRelease(other));
}

static void test_map(void)
{
    mcDeviceptr_t va = reserve(4 * GRAIN);
    mcMemGenericAllocationHandle h = create(&device_prop, 2 * GRAIN), again;
    unsigned long long flags;

    fails(mcErrorInvalidValue, mcMemMap(at(va, 4096), GRAIN, 0, h, 0));
    fails(mcErrorInvalidValue, mcMemMap(va, GRAIN / 2, 0, h, 0));
    fails(mcErrorInvalidValue, mcMemMap(va, 0, 0, h, 0));
    fails(mcErrorInvalidValue, mcMemMap(va, GRAIN, GRAIN, h, 0));
    fails(mcErrorInvalidValue, mcMemMap(va, GRAIN, 0, h, 1));
    fails(mcErrorInvalidValue, mcMemMap(va, GRAIN, 0, 0, 0));
    fails(mcErrorInvalidValue, mcMemMap(va, 3 * GRAIN, 0, h, 0));
    fails(mcErrorInvalidValue, mcMemMap(at(va, 3 * GRAIN), 2 * GRAIN, 0, h, 0));
    fails(mcErrorInvalidValue, mcMemMap(NULL, GRAIN, 0, h, 0));
    ok(mcMemMap(at(va, GRAIN), 2 * GRAIN, 0, h, 0));
    /* Nothing may overlay it; around it there is room. */
    fails(mcErrorInvalidValue, mcMemMap(va, 2 * GRAIN, 0, h, 0));
    fails(mcErrorInvalidValue, mcMemMap(at(va, 2 * GRAIN), GRAIN, 0, h, 0));
    ok(mcMemMap(va, GRAIN, 0, h, 0));
    fails(mcErrorInvalidValue, mcMemAddressFree(va, 4 * GRAIN));

    /* The handle of what is mapped, at any address of it. */
    ok(mcMemRetainAllocationHandle(&again, at(va, 2 * GRAIN + 5)));
    g_assert_cmpuint(again, ==, h);
    ok(mcMemRelease(again));
    fails(mcErrorInvalidValue,
          mcMemRetainAllocationHandle(&again, at(va, 3 * GRAIN)));
    fails(mcErrorInvalidValue, mcMemRetainAllocationHandle(NULL, va));
    fails(mcErrorInvalidValue, mcMemRetainAllocationHandle(&again, &again));

    /* The same memory at two addresses. */
    allow(va, 3 * GRAIN);
    check_memory(va, 4096, 1);
    uint32_t word = 0xabcd1234, got = 0;
    ok(mcMemcpy(at(va, 8), &word, 4, mcMemcpyHostToDevice));
    ok(mcMemcpy(&got, at(va, GRAIN + 8), 4, mcMemcpyDeviceToHost));
    g_assert_cmphex(got, ==, word);

    /* Released while it is mapped: it stays, and can be retained again. */
    ok(mcMemRelease(h));
    fails(mcErrorInvalidValue, mcMemRelease(h));
    check_memory(at(va, GRAIN), 2 * GRAIN, 2);
    ok(mcMemRetainAllocationHandle(&again, va));
    g_assert_cmpuint(again, ==, h);
    ok(mcMemRelease(again));

    fails(mcErrorInvalidValue, mcMemUnmap(at(va, GRAIN), GRAIN));
    fails(mcErrorInvalidValue, mcMemUnmap(at(va, 2 * GRAIN), GRAIN));
    fails(mcErrorInvalidValue, mcMemUnmap(va, 4 * GRAIN));
    fails(mcErrorInvalidValue, mcMemUnmap(va, GRAIN / 2));
    fails(mcErrorInvalidValue, mcMemUnmap(va, 0));
    ok(mcMemUnmap(va, 3 * GRAIN)); /* two whole mappings */
    fails(mcErrorInvalidValue, mcMemUnmap(va, GRAIN));
    fails(mcErrorInvalidValue, mcMemGetAccess(&flags, &on_device, va));
    ok(mcMemAddressFree(va, 4 * GRAIN));
}

static void test_unmap_frees(void)
{
    size_t before, now, total;
    mcDeviceptr_t va = reserve(2 * GRAIN);

    ok(mcFree(env_malloc(1)));
    ok(mcMemGetInfo(&before, &total));
    mcMemGenericAllocationHandle h = create(&device_prop, 2 * GRAIN);
    ok(mcMemMap(va, 2 * GRAIN, 0, h, 0));
    allow(va, 2 * GRAIN);
    ok(mcMemRelease(h));
    ok(mcMemGetInfo(&now, &total));
    g_assert_cmpuint(before - now, >=, 2 * GRAIN);
    ok(mcMemUnmap(va, 2 * GRAIN));
    ok(mcMemGetInfo(&now, &total));
    g_assert_cmpuint(before - now, <, GRAIN); /* but for page tables */
    ok(mcMemAddressFree(va, 2 * GRAIN));
}

static void test_access(void)
{
    mcDeviceptr_t va = reserve(3 * GRAIN);
    mcMemGenericAllocationHandle a = create(&device_prop, GRAIN),
                                 b = create(&device_prop, 2 * GRAIN);
    mcMemAccessDesc desc = {on_device, mcMemAccessFlagsProtReadWrite};
    mcMemAccessDesc both[2] = {desc, desc};
    unsigned long long flags;

    ok(mcMemMap(va, GRAIN, 0, a, 0));
    fails(mcErrorInvalidValue, mcMemSetAccess(va, 3 * GRAIN, &desc, 1));
    ok(mcMemMap(at(va, GRAIN), 2 * GRAIN, 0, b, 0));
    check_access(va, on_device, mcMemAccessFlagsProtNone);
    check_access(va, on_host, mcMemAccessFlagsProtNone);

    fails(mcErrorInvalidValue, mcMemSetAccess(va, GRAIN, NULL, 1));
    fails(mcErrorInvalidValue, mcMemSetAccess(va, GRAIN, &desc, 0));
    fails(mcErrorInvalidValue, mcMemSetAccess(va, 0, &desc, 1));
    fails(mcErrorInvalidValue, mcMemSetAccess(at(va, 4096), GRAIN, &desc, 1));
    fails(mcErrorInvalidValue, mcMemSetAccess(va, GRAIN / 2, &desc, 1));
    fails(mcErrorInvalidValue, mcMemSetAccess(va, 2 * GRAIN, &desc, 1));
    fails(mcErrorInvalidValue,
          mcMemSetAccess(at(va, 2 * GRAIN), GRAIN, &desc, 1));
    fails(mcErrorInvalidDevice,
          access_of(mcMemLocationTypeDevice, 99, va, GRAIN, 3));
    fails(mcErrorInvalidValue,
          access_of(mcMemLocationTypeInvalid, 0, va, GRAIN, 3));
    fails(mcErrorInvalidValue,
          access_of(mcMemLocationTypeDevice, 0, va, GRAIN, 2));
    /* Memory of a device is not the host's; all or nothing. */
    both[1].location = on_host;
    fails(mcErrorInvalidValue, mcMemSetAccess(va, GRAIN, both, 2));
    check_access(va, on_device, mcMemAccessFlagsProtNone);

    allow(va, 3 * GRAIN);
    check_access(at(va, 3 * GRAIN - 1), on_device,
                 mcMemAccessFlagsProtReadWrite);
    fails(mcErrorInvalidValue, mcMemGetAccess(NULL, &on_device, va));
    fails(mcErrorInvalidValue, mcMemGetAccess(&flags, NULL, va));
    fails(mcErrorInvalidValue,
          mcMemGetAccess(&flags, &on_device, at(va, 3 * GRAIN)));
    mcMemLocation none = {mcMemLocationTypeDevice, 99};
    fails(mcErrorInvalidDevice, mcMemGetAccess(&flags, &none, va));

    /* Across the border of two mappings: copies, sets, kernels. */
    check_memory(at(va, GRAIN - 100), 300, 3);
    check_memory(va, 3 * GRAIN, 4);
    ok(mcMemset(at(va, GRAIN - 64), 0x5a, 128));
    uint8_t got[128];
    ok(mcMemcpy(got, at(va, GRAIN - 64), 128, mcMemcpyDefault));
    g_assert_cmphex(got[0], ==, 0x5a);
    g_assert_cmphex(got[127], ==, 0x5a);
    fails(mcErrorInvalidValue,
          mcMemcpy(got, at(va, 3 * GRAIN - 64), 128, mcMemcpyDeviceToHost));
    ok(env_launch("k_store", 1, at(va, GRAIN), NULL));
    ok(mcDeviceSynchronize());

    /* None again, then new access to one of them. */
    ok(access_of(mcMemLocationTypeDevice, 0, va, 3 * GRAIN, 0));
    check_access(va, on_device, mcMemAccessFlagsProtNone);
    fails(mcErrorInvalidValue,
          mcMemcpy(got, va, 128, mcMemcpyDeviceToHost));
    ok(access_of(mcMemLocationTypeDevice, 0, va, GRAIN,
                 mcMemAccessFlagsProtRead));
    check_access(va, on_device, mcMemAccessFlagsProtRead);
    check_access(at(va, GRAIN), on_device, mcMemAccessFlagsProtNone);
    ok(mcMemcpy(got, va, 128, mcMemcpyDeviceToHost));

    ok(mcMemRelease(a));
    ok(mcMemRelease(b));
    ok(mcMemUnmap(va, GRAIN));
    /* What is mapped anew begins without access. */
    a = create(&device_prop, GRAIN);
    ok(mcMemMap(va, GRAIN, 0, a, 0));
    check_access(va, on_device, mcMemAccessFlagsProtNone);
    ok(mcMemRelease(a));
    ok(mcMemUnmap(va, 3 * GRAIN));
    ok(mcMemAddressFree(va, 3 * GRAIN));
}

/* A device that uses what it has no access to fails, like at any address. */
static void use_wrongly(mcMemAccessFlags flags, size_t offset)
{
    mcDeviceptr_t va = reserve(2 * GRAIN);
    mcMemGenericAllocationHandle h = create(&device_prop, GRAIN);

    env_kernel("k_store"); /* loaded before anything can fail */
    ok(mcMemMap(va, GRAIN, 0, h, 0));
    ok(access_of(mcMemLocationTypeDevice, 0, va, GRAIN, flags));
    ok(env_launch("k_store", 1, at(va, offset), NULL));
    fails(mcErrorIllegalAddress, mcDeviceSynchronize());
    reset();
    /* The memory went with the device, the addresses did not. */
    fails(mcErrorInvalidValue, mcMemRelease(h));
    fails(mcErrorInvalidValue, mcMemUnmap(va, GRAIN));
    ok(mcMemAddressFree(va, 2 * GRAIN));
}

/* Copies and sets, too: they are the device's work. */
static void write_wrongly(bool set)
{
    mcDeviceptr_t va = reserve(GRAIN);
    mcMemGenericAllocationHandle h = create(&device_prop, GRAIN);
    uint8_t *host = env_malloc_host(64);

    ok(mcMemMap(va, GRAIN, 0, h, 0));
    ok(access_of(mcMemLocationTypeDevice, 0, va, GRAIN,
                 mcMemAccessFlagsProtRead));
    if (set) {
        ok(mcMemsetAsync(va, 1, 64, NULL));
    } else {
        ok(mcMemcpyAsync(va, host, 64, mcMemcpyHostToDevice, NULL));
    }
    fails(mcErrorIllegalAddress, mcDeviceSynchronize());
    reset();
    ok(mcMemAddressFree(va, GRAIN));
}

static void test_faults(void)
{
    write_wrongly(true);
    write_wrongly(false);
    use_wrongly(mcMemAccessFlagsProtNone, 0);
    use_wrongly(mcMemAccessFlagsProtRead, 8);
    use_wrongly(mcMemAccessFlagsProtReadWrite, GRAIN); /* not mapped */
}

static void test_unmapped(void)
{
    mcDeviceptr_t va = reserve(GRAIN);
    mcPointerAttribute_t attr;
    uint8_t byte = 0;

    fails(mcErrorInvalidValue, mcMemcpy(va, &byte, 1, mcMemcpyDefault));
    fails(mcErrorInvalidValue, mcMemcpy(&byte, va, 1, mcMemcpyDefault));
    fails(mcErrorInvalidValue, mcMemset(va, 0, 1));
    ok(mcPointerGetAttributes(&attr, va));
    g_assert_cmpint(attr.type, ==, mcMemoryTypeUnregistered);
    ok(mcMemAddressFree(va, GRAIN));
}

static void test_pointers(void)
{
    mcDeviceptr_t va = reserve(GRAIN), base;
    mcMemGenericAllocationHandle h = create(&device_prop, GRAIN);
    mcPointerAttribute_t attr;
    size_t size;

    ok(mcMemMap(va, GRAIN, 0, h, 0));
    ok(mcPointerGetAttributes(&attr, at(va, 5)));
    g_assert_null(attr.devicePointer);
    allow(va, GRAIN);
    ok(mcPointerGetAttributes(&attr, at(va, 5)));
    g_assert_cmpint(attr.type, ==, mcMemoryTypeDevice);
    g_assert_cmpint(attr.device, ==, 0);
    g_assert_true(attr.devicePointer == at(va, 5));
    g_assert_null(attr.hostPointer);
    ok(mcMemGetAddressRange(&base, &size, at(va, 77)));
    g_assert_true(base == va);
    g_assert_cmpuint(size, ==, GRAIN);
    fails(mcErrorInvalidDevicePointer, mcFree(va));
    ok(mcMemUnmap(va, GRAIN));
    ok(mcMemRelease(h));
    ok(mcMemAddressFree(va, GRAIN));
}

/* Memory of the host, which host and device use at one address. */
static void test_host(void)
{
    mcDeviceptr_t va = reserve(2 * GRAIN);
    mcMemGenericAllocationHandle h = create(&host_prop, 2 * GRAIN);
    mcMemAccessDesc desc[2] = {{on_host, mcMemAccessFlagsProtReadWrite},
                               {on_device, mcMemAccessFlagsProtReadWrite}};
    mcPointerAttribute_t attr;

    ok(mcMemMap(va, 2 * GRAIN, 0, h, 0));
    ok(mcMemSetAccess(va, 2 * GRAIN, desc, 2));
    check_access(va, on_host, mcMemAccessFlagsProtReadWrite);
    ok(mcPointerGetAttributes(&attr, va));
    g_assert_cmpint(attr.type, ==, mcMemoryTypeHost);
    g_assert_cmpint(attr.device, ==, mcCpuDeviceId);
    g_assert_true(attr.hostPointer == va && attr.devicePointer == va);
    memset(va, 0x11, 64);
    ok(mcMemset(at(va, 32), 0x22, 16));
    ok(mcDeviceSynchronize());
    g_assert_cmphex(*at(va, 31), ==, 0x11);
    g_assert_cmphex(*at(va, 32), ==, 0x22);
    check_memory(at(va, GRAIN - 50), 100, 5);

    /* The host alone: copies are the host's. */
    ok(access_of(mcMemLocationTypeDevice, 0, va, 2 * GRAIN, 0));
    void *d = env_malloc(64);
    uint8_t out[64];
    ok(mcMemcpy(d, va, 64, mcMemcpyHostToDevice));
    ok(mcMemcpy(out, d, 64, mcMemcpyDeviceToHost));
    g_assert_cmphex(out[31], ==, 0x11);
    ok(mcFree(d));
    /* It survives the device. */
    reset();
    g_assert_cmphex(*at(va, 31), ==, 0x11);
    check_access(va, on_host, mcMemAccessFlagsProtReadWrite);
    /* Of NUMA nodes the number does not count here. */
    ok(access_of(mcMemLocationTypeHostNuma, 3, va, 2 * GRAIN,
                 mcMemAccessFlagsProtRead));
    check_access(va, on_host, mcMemAccessFlagsProtRead);
    ok(mcMemRelease(h));
    ok(mcMemUnmap(va, 2 * GRAIN));
    fails(mcErrorInvalidValue, mcMemset(va, 0, 1)); /* hidden, too */
    ok(mcMemAddressFree(va, 2 * GRAIN));
}

/* Access waits for work in flight before it takes anything away. */
static void test_waits(void)
{
    mcDeviceptr_t va = reserve(2 * GRAIN);
    mcMemGenericAllocationHandle h = create(&device_prop, 2 * GRAIN);
    mcStream_t stream;
    uint8_t *host = env_malloc_host(2 * GRAIN);

    ok(mcStreamCreateWithFlags(&stream, mcStreamNonBlocking));
    ok(mcMemMap(va, 2 * GRAIN, 0, h, 0));
    allow(va, 2 * GRAIN);
    for (int i = 0; i < 8; i++) {
        ok(mcMemcpyAsync(va, host, 2 * GRAIN, mcMemcpyHostToDevice, stream));
    }
    ok(access_of(mcMemLocationTypeDevice, 0, va, 2 * GRAIN,
                 mcMemAccessFlagsProtRead));
    ok(mcStreamQuery(stream));
    for (int i = 0; i < 8; i++) {
        ok(mcMemcpyAsync(host, va, 2 * GRAIN, mcMemcpyDeviceToHost, stream));
    }
    ok(mcMemUnmap(va, 2 * GRAIN));
    ok(mcStreamQuery(stream));
    ok(mcMemRelease(h));
    ok(mcMemAddressFree(va, 2 * GRAIN));
    ok(mcStreamDestroy(stream));
    ok(mcFreeHost(host));
}

/* Memory of one device, mapped for both. */
static void test_two_devices(void)
{
    mcMemAccessDesc desc[2] = {
        {{mcMemLocationTypeDevice, 0}, mcMemAccessFlagsProtReadWrite},
        {{mcMemLocationTypeDevice, 1}, mcMemAccessFlagsProtReadWrite},
    };
    mcDeviceptr_t va = reserve(2 * GRAIN);
    mcMemGenericAllocationHandle h;
    uint32_t in[4] = {1, 2, 3, 4}, out[4] = {0};

    env_two_devices();
    h = create(&device_prop, 2 * GRAIN);
    ok(mcMemMap(va, 2 * GRAIN, 0, h, 0));
    ok(mcMemSetAccess(va, 2 * GRAIN, desc, 1));
    mcError_t error = mcMemSetAccess(va, 2 * GRAIN, desc, 2);
    if (error == mcErrorNotSupported) {
        /* Nothing has changed. */
        check_access(va, desc[0].location, mcMemAccessFlagsProtReadWrite);
        check_access(va, desc[1].location, mcMemAccessFlagsProtNone);
    } else {
        ok(error);
        ok(mcSetDevice(1));
        ok(mcMemcpy(at(va, GRAIN - 8), in, 16, mcMemcpyHostToDevice));
        ok(env_launch("k_store", 1, va, NULL));
        ok(mcDeviceSynchronize());
        ok(mcSetDevice(0));
        ok(mcMemcpy(out, at(va, GRAIN - 8), 16, mcMemcpyDeviceToHost));
        g_assert_cmpmem(in, 16, out, 16);
        /* The second device leaves: the first keeps what it has. */
        ok(mcSetDevice(1));
        reset();
        check_access(va, desc[1].location, mcMemAccessFlagsProtNone);
        ok(mcSetDevice(0));
        check_memory(va, 4096, 6);
        ok(mcMemSetAccess(va, 2 * GRAIN, desc, 2));
    }
    /* The first one leaves: the memory is gone for all. */
    reset();
    fails(mcErrorInvalidValue, mcMemUnmap(va, 2 * GRAIN));
    fails(mcErrorInvalidValue, mcMemRelease(h));
    ok(mcMemAddressFree(va, 2 * GRAIN));
}

/* ---- other processes ---- */

static void test_export(void)
{
    mcMemGenericAllocationHandle h = create(&shared_prop, GRAIN),
                                 plain = create(&device_prop, GRAIN), twin;
    mcDeviceptr_t va = reserve(2 * GRAIN);
    mcMemAllocationProp prop;
    uint32_t word = 4711, got = 0;
    int fd = -1, other;

    fails(mcErrorInvalidValue, mcMemExportToShareableHandle(
              NULL, h, mcMemHandleTypePosixFileDescriptor, 0));
    fails(mcErrorInvalidValue, mcMemExportToShareableHandle(
              &fd, h, mcMemHandleTypePosixFileDescriptor, 1));
    fails(mcErrorInvalidValue, mcMemExportToShareableHandle(
              &fd, 0, mcMemHandleTypePosixFileDescriptor, 0));
    fails(mcErrorInvalidValue, mcMemExportToShareableHandle(
              &fd, plain, mcMemHandleTypePosixFileDescriptor, 0));
    fails(mcErrorInvalidValue,
          mcMemExportToShareableHandle(&fd, h, mcMemHandleTypeNone, 0));
    fails(mcErrorNotSupported,
          mcMemExportToShareableHandle(&fd, h, mcMemHandleTypeFabric, 0));
    ok(mcMemRelease(plain));
    ok(mcMemExportToShareableHandle(&fd, h, mcMemHandleTypePosixFileDescriptor,
                                    0));
    g_assert_cmpint(fcntl(fd, F_GETFD) & FD_CLOEXEC, !=, 0);

    /* Imported here it is another handle of the same memory. */
    void *handle = (void *)(intptr_t)fd;
    fails(mcErrorInvalidValue, mcMemImportFromShareableHandle(
              NULL, handle, mcMemHandleTypePosixFileDescriptor));
    fails(mcErrorNotSupported, mcMemImportFromShareableHandle(
              &twin, handle, mcMemHandleTypeFabric));
    fails(mcErrorInvalidValue, mcMemImportFromShareableHandle(
              &twin, handle, mcMemHandleTypeNone));
    ok(mcMemImportFromShareableHandle(&twin, handle,
                                      mcMemHandleTypePosixFileDescriptor));
    close(fd); /* the file descriptor stayed ours */
    ok(mcMemGetAllocationPropertiesFromHandle(&prop, twin));
    g_assert_cmpint(prop.requestedHandleTypes, ==,
                    mcMemHandleTypePosixFileDescriptor);
    ok(mcMemMap(va, GRAIN, 0, h, 0));
    ok(mcMemMap(at(va, GRAIN), GRAIN, 0, twin, 0));
    allow(va, 2 * GRAIN);
    ok(mcMemcpy(at(va, 40), &word, 4, mcMemcpyHostToDevice));
    ok(mcMemcpy(&got, at(va, GRAIN + 40), 4, mcMemcpyDeviceToHost));
    g_assert_cmpuint(got, ==, word);
    ok(mcMemRelease(h));
    ok(mcMemRelease(twin));
    ok(mcMemUnmap(va, 2 * GRAIN));
    ok(mcMemAddressFree(va, 2 * GRAIN));

    /* Files that are not such memory. */
    other = open("/dev/null", O_RDWR | O_CLOEXEC);
    fails(mcErrorInvalidValue, mcMemImportFromShareableHandle(
              &twin, (void *)(intptr_t)other,
              mcMemHandleTypePosixFileDescriptor));
    close(other);
    fails(mcErrorInvalidValue, mcMemImportFromShareableHandle(
              &twin, (void *)(intptr_t)other,
              mcMemHandleTypePosixFileDescriptor));
    fails(mcErrorInvalidValue, mcMemImportFromShareableHandle(
              &twin, (void *)(intptr_t)-1,
              mcMemHandleTypePosixFileDescriptor));
    other = memfd_create("odd", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    g_assert_cmpint(ftruncate(other, 4096), ==, 0);
    fails(mcErrorInvalidValue, mcMemImportFromShareableHandle(
              &twin, (void *)(intptr_t)other,
              mcMemHandleTypePosixFileDescriptor));
    close(other);
    other = memfd_create("open end", MFD_CLOEXEC); /* cannot be sealed */
    g_assert_cmpint(ftruncate(other, GRAIN), ==, 0);
    fails(mcErrorInvalidValue, mcMemImportFromShareableHandle(
              &twin, (void *)(intptr_t)other,
              mcMemHandleTypePosixFileDescriptor));
    close(other);
}

/* The second process: uses what it gets, and again when the first one has let
 * go of it. */
static int importer(int socket)
{
    mcMemGenericAllocationHandle h;
    mcMemAllocationProp prop;
    int device, fd = peer_receive_fd(socket);
    mcDeviceptr_t va = NULL;
    uint32_t word = 0;
    char byte;

    peer_device();
    ok(mcGetDevice(&device));
    ok(mcMemImportFromShareableHandle(&h, (void *)(intptr_t)fd,
                                      mcMemHandleTypePosixFileDescriptor));
    close(fd);
    ok(mcMemGetAllocationPropertiesFromHandle(&prop, h));
    g_assert_cmpint(prop.location.id, ==, device);
    ok(mcMemAddressReserve(&va, GRAIN, 0, NULL, 0));
    ok(mcMemMap(va, GRAIN, 0, h, 0));
    ok(access_of(mcMemLocationTypeDevice, device, va, GRAIN,
                 mcMemAccessFlagsProtReadWrite));
    ok(mcMemcpy(&word, va, 4, mcMemcpyDeviceToHost));
    g_assert_cmphex(word, ==, 0x1234);
    word = 0x5678;
    ok(mcMemcpy(at(va, 4), &word, 4, mcMemcpyHostToDevice));
    peer_write(socket, "m", 1);
    g_assert_true(peer_read(socket, &byte, 1)); /* it has let go */
    ok(mcMemcpy(&word, va, 4, mcMemcpyDeviceToHost));
    g_assert_cmphex(word, ==, 0x1234);
    ok(env_launch("k_atomic", 5, va, NULL));
    ok(mcMemcpy(&word, va, 4, mcMemcpyDeviceToHost));
    g_assert_cmphex(word, ==, 0x1239);
    ok(mcMemUnmap(va, GRAIN));
    ok(mcMemRelease(h));
    ok(mcMemAddressFree(va, GRAIN));
    return 0;
}

static void test_processes(void)
{
    mcMemGenericAllocationHandle h = create(&shared_prop, GRAIN);
    mcDeviceptr_t va = reserve(GRAIN);
    uint32_t word = 0x1234;
    Peer peer = peer_start("importer");
    char byte;
    int fd;

    ok(mcMemMap(va, GRAIN, 0, h, 0));
    allow(va, GRAIN);
    ok(mcMemcpy(va, &word, 4, mcMemcpyHostToDevice));
    ok(mcMemExportToShareableHandle(&fd, h, mcMemHandleTypePosixFileDescriptor,
                                    0));
    peer_send_fd(peer.socket, fd);
    close(fd);
    g_assert_true(peer_read(peer.socket, &byte, 1));
    ok(mcMemcpy(&word, at(va, 4), 4, mcMemcpyDeviceToHost));
    g_assert_cmphex(word, ==, 0x5678);
    ok(mcMemUnmap(va, GRAIN));
    ok(mcMemRelease(h));
    ok(mcMemAddressFree(va, GRAIN));
    peer_write(peer.socket, "g", 1);
    g_assert_cmpint(peer_end(&peer), ==, 0);
}

/* ---- threads ---- */

static void *work(void *opaque)
{
    mcDeviceptr_t shared = opaque;

    for (int i = 0; i < 20; i++) {
        mcDeviceptr_t va = reserve(GRAIN);
        mcMemGenericAllocationHandle h = create(&device_prop, GRAIN), other;

        ok(mcMemMap(va, GRAIN, 0, h, 0));
        allow(va, GRAIN);
        ok(mcMemRelease(h));
        check_memory(va, 5000, i);
        ok(mcMemRetainAllocationHandle(&other, shared));
        check_memory(at(shared, 4096), 1, i); /* others write the same */
        ok(mcMemRelease(other));
        ok(mcMemUnmap(va, GRAIN));
        ok(mcMemAddressFree(va, GRAIN));
    }
    return NULL;
}

static void test_threads(void)
{
    mcDeviceptr_t va = reserve(GRAIN);
    mcMemGenericAllocationHandle h = create(&device_prop, GRAIN);
    GThread *threads[3];

    ok(mcMemMap(va, GRAIN, 0, h, 0));
    allow(va, GRAIN);
    for (unsigned i = 0; i < 3; i++) {
        threads[i] = g_thread_new("work", work, at(va, i * 8192));
    }
    for (unsigned i = 0; i < 3; i++) {
        g_thread_join(threads[i]);
    }
    ok(mcMemRelease(h));
    ok(mcMemUnmap(va, GRAIN));
    ok(mcMemAddressFree(va, GRAIN));
}

int main(int argc, char **argv)
{
    static const PeerMode modes[] = {{"importer", importer}, {NULL, NULL}};

    peer_process_main(argc, argv, modes);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/vmm/granularity", test_granularity);
    g_test_add_func("/vmm/reserve", test_reserve);
    g_test_add_func("/vmm/create", test_create);
    g_test_add_func("/vmm/map", test_map);
    g_test_add_func("/vmm/unmap-frees", test_unmap_frees);
    g_test_add_func("/vmm/access", test_access);
    g_test_add_func("/vmm/faults", test_faults);
    g_test_add_func("/vmm/unmapped", test_unmapped);
    g_test_add_func("/vmm/pointers", test_pointers);
    g_test_add_func("/vmm/host", test_host);
    g_test_add_func("/vmm/waits", test_waits);
    g_test_add_func("/vmm/two-devices", test_two_devices);
    g_test_add_func("/vmm/export", test_export);
    g_test_add_func("/vmm/processes", test_processes);
    g_test_add_func("/vmm/threads", test_threads);
    return g_test_run();
}
