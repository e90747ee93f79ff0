/* SPDX-License-Identifier: MIT */
/* Multicast objects: every rule of the host's side, and every error. What kernels
 * do with them is in the scenario "multicast". */
#include "env.h"

#define GRAIN (2ull << 20)

static int devices;

static mcMemGenericAllocationHandle memory_of(int device, size_t size)
{
    mcMemAllocationProp prop = {
        .type = mcMemAllocationTypePinned,
        .location = {mcMemLocationTypeDevice, device},
    };
    mcMemGenericAllocationHandle handle = 0;

    ok(mcMemCreate(&handle, size, &prop, 0));
    return handle;
}

static mcMemGenericAllocationHandle object(unsigned count, size_t size)
{
    mcMulticastObjectProp prop = {.numDevices = count, .size = size};
    mcMemGenericAllocationHandle handle = 0;

    ok(mcMulticastCreate(&handle, &prop));
    return handle;
}

static mcError_t allow(mcDeviceptr_t va, int device, size_t size)
{
    mcMemAccessDesc desc = {{mcMemLocationTypeDevice, device},
                            mcMemAccessFlagsProtReadWrite};

    return mcMemSetAccess(va, size, &desc, 1);
}

static void check_word(mcDeviceptr_t va, size_t offset, int want)
{
    int value = 0;

    ok(mcMemcpy(&value, (uint8_t *)va + offset, sizeof(value),
                mcMemcpyDeviceToHost));
    g_assert_cmpint(value, ==, want);
}

static void test_create(void)
{
    mcMulticastObjectProp good = {.numDevices = 1, .size = GRAIN}, p = good;
    mcMemGenericAllocationHandle h = 0;
    mcMemAllocationProp prop;
    size_t grain = 0;
    int fd, value = -1;

    ok(mcMulticastGetGranularity(&grain, &p, MC_MULTICAST_GRANULARITY_MINIMUM));
    g_assert_cmpuint(grain, ==, GRAIN);
    ok(mcMulticastGetGranularity(&grain, &p,
                                 MC_MULTICAST_GRANULARITY_RECOMMENDED));
    g_assert_cmpuint(grain, ==, GRAIN);
    p.size = 1; /* is what is asked */
    ok(mcMulticastGetGranularity(&grain, &p, MC_MULTICAST_GRANULARITY_MINIMUM));
    fails(mcErrorInvalidValue,
          mcMulticastGetGranularity(NULL, &good,
                                    MC_MULTICAST_GRANULARITY_MINIMUM));
    fails(mcErrorInvalidValue,
          mcMulticastGetGranularity(&grain, NULL,
                                    MC_MULTICAST_GRANULARITY_MINIMUM));
    fails(mcErrorInvalidValue,
          mcMulticastGetGranularity(&grain, &good,
                                    (mcMulticastGranularity_flags)2));
    fails(mcErrorInvalidValue, mcMulticastCreate(NULL, &good));
    fails(mcErrorInvalidValue, mcMulticastCreate(&h, NULL));
    fails(mcErrorInvalidValue, mcMulticastCreate(&h, &p));
    p = good;
    p.size = 0;
    fails(mcErrorInvalidValue, mcMulticastCreate(&h, &p));
    p = good;
    p.numDevices = 0;
    fails(mcErrorInvalidValue, mcMulticastCreate(&h, &p));
    p.numDevices = (unsigned)devices + 1;
    fails(mcErrorInvalidValue, mcMulticastCreate(&h, &p));
    p = good;
    p.flags = 1;
    fails(mcErrorInvalidValue, mcMulticastCreate(&h, &p));
    p = good;
    p.handleTypes = mcMemHandleTypePosixFileDescriptor;
    fails(mcErrorNotSupported, mcMulticastCreate(&h, &p));
    fails(mcErrorNotSupported,
          mcMulticastGetGranularity(&grain, &p,
                                    MC_MULTICAST_GRANULARITY_MINIMUM));
    p = good;
    p.size = 1ull << 60;
    fails(mcErrorMemoryAllocation, mcMulticastCreate(&h, &p));
    g_assert_cmpuint(h, ==, 0);
    ok(mcMulticastCreate(&h, &good));
    /* It is no memory. */
    fails(mcErrorInvalidValue, mcMemGetAllocationPropertiesFromHandle(&prop, h));
    fails(mcErrorInvalidValue,
          mcMemExportToShareableHandle(&fd, h,
                                       mcMemHandleTypePosixFileDescriptor, 0));
    ok(mcMemRelease(h));
    fails(mcErrorInvalidValue, mcMemRelease(h));
    ok(mcDeviceGetAttribute(&value, mcDeviceAttributeMulticastSupported, 0));
    g_assert_true(value == 1 || devices > 1);
}

static void test_add(void)
{
    mcMemGenericAllocationHandle h = object(1, GRAIN), mem = memory_of(0, GRAIN);

    fails(mcErrorInvalidDevice, mcMulticastAddDevice(h, -1));
    fails(mcErrorInvalidDevice, mcMulticastAddDevice(h, devices));
    fails(mcErrorInvalidValue, mcMulticastAddDevice(0, 0));
    fails(mcErrorInvalidValue, mcMulticastAddDevice(mem, 0));
    fails(mcErrorIllegalState, mcMulticastBindMem(h, 0, mem, 0, GRAIN, 0));
    ok(mcMulticastAddDevice(h, 0));
    fails(mcErrorInvalidValue, mcMulticastAddDevice(h, 0));
    if (devices > 1) {
        fails(mcErrorInvalidValue, mcMulticastAddDevice(h, 1));
    }
    ok(mcMulticastBindMem(h, 0, mem, 0, GRAIN, 0));
    ok(mcMemRelease(h)); /* and gives the memory back */
    ok(mcMemRelease(mem));
    fails(mcErrorInvalidValue, mcMulticastAddDevice(h, 0));
}

static void test_bind_errors(void)
{
    mcMemGenericAllocationHandle h = object(1, 2 * GRAIN), other,
                                 mem = memory_of(0, 2 * GRAIN);
    mcDeviceptr_t va;

    ok(mcMulticastAddDevice(h, 0));
    fails(mcErrorInvalidValue, mcMulticastBindMem(mem, 0, mem, 0, GRAIN, 0));
    fails(mcErrorInvalidValue, mcMulticastBindMem(h, 0, h, 0, GRAIN, 0));
    fails(mcErrorInvalidValue, mcMulticastBindMem(h, 0, 0, 0, GRAIN, 0));
    fails(mcErrorInvalidValue, mcMulticastBindMem(h, 0, mem, 0, 0, 0));
    fails(mcErrorInvalidValue, mcMulticastBindMem(h, 0, mem, 0, 4096, 0));
    fails(mcErrorInvalidValue, mcMulticastBindMem(h, 4096, mem, 0, GRAIN, 0));
    fails(mcErrorInvalidValue, mcMulticastBindMem(h, 0, mem, 4096, GRAIN, 0));
    fails(mcErrorInvalidValue, mcMulticastBindMem(h, 0, mem, 0, GRAIN, 1));
    fails(mcErrorInvalidValue,
          mcMulticastBindMem(h, 0, mem, GRAIN, 2 * GRAIN, 0));
    fails(mcErrorInvalidValue,
          mcMulticastBindMem(h, GRAIN, mem, 0, 2 * GRAIN, 0));
    fails(mcErrorInvalidValue,
          mcMulticastBindMem(h, -GRAIN, mem, 0, 2 * GRAIN, 0));
    fails(mcErrorInvalidValue, mcMulticastUnbind(h, 0, 0, GRAIN));
    ok(mcMulticastBindMem(h, GRAIN, mem, 0, GRAIN, 0));
    fails(mcErrorInvalidValue,
          mcMulticastBindMem(h, 0, mem, 0, 2 * GRAIN, 0)); /* it is bound */
    ok(mcMulticastBindMem(h, 0, mem, GRAIN, GRAIN, 0));
    fails(mcErrorInvalidDevice, mcMulticastUnbind(h, devices, 0, GRAIN));
    fails(mcErrorInvalidValue, mcMulticastUnbind(mem, 0, 0, GRAIN));
    fails(mcErrorInvalidValue, mcMulticastUnbind(h, 0, 0, 4096));
    fails(mcErrorInvalidValue, mcMulticastUnbind(h, 0, GRAIN, 2 * GRAIN));
    ok(mcMulticastUnbind(h, 0, 0, 2 * GRAIN)); /* both */
    fails(mcErrorInvalidValue, mcMulticastUnbind(h, 0, 0, GRAIN));
    ok(mcMulticastBindMem(h, 0, mem, 0, 2 * GRAIN, 0));
    fails(mcErrorInvalidValue, mcMulticastUnbind(h, 0, 0, GRAIN)); /* a part */
    ok(mcMulticastUnbind(h, 0, 0, 2 * GRAIN));
    /* What is mapped, and what is not. */
    ok(mcMemAddressReserve(&va, 2 * GRAIN, 0, NULL, 0));
    fails(mcErrorInvalidValue, mcMulticastBindAddr(h, 0, va, GRAIN, 0));
    ok(mcMemMap(va, 2 * GRAIN, 0, mem, 0));
    fails(mcErrorInvalidValue,
          mcMulticastBindAddr(h, 0, (uint8_t *)va + 4096, GRAIN, 0));
    fails(mcErrorInvalidValue, mcMulticastBindAddr(h, 0, va, GRAIN, 2));
    fails(mcErrorInvalidValue,
          mcMulticastBindAddr(h, 0, (uint8_t *)va + GRAIN, 2 * GRAIN, 0));
    ok(mcMulticastBindAddr(h, 0, (uint8_t *)va + GRAIN, GRAIN, 0));
    ok(mcMemUnmap(va, 2 * GRAIN));
    ok(mcMemAddressFree(va, 2 * GRAIN));
    if (devices > 1) {
        other = memory_of(1, GRAIN);
        fails(mcErrorInvalidDevice,
              mcMulticastBindMem(h, GRAIN, other, 0, GRAIN, 0));
        ok(mcMemRelease(other));
        ok(mcSetDevice(0));
    }
    ok(mcMemRelease(mem));
    ok(mcMemRelease(h));
}

/* A device finds its own memory at the address, whatever came first. */
static void test_own_memory(void)
{
    mcMemGenericAllocationHandle h = object(1, 2 * GRAIN),
                                 mem = memory_of(0, 2 * GRAIN), twin;
    mcDeviceptr_t va, plain;
    int word = 0;

    ok(mcMemAddressReserve(&va, 4 * GRAIN, 0, NULL, 0));
    plain = (uint8_t *)va + 2 * GRAIN;
    ok(mcMemMap(plain, 2 * GRAIN, 0, mem, 0));
    ok(allow(plain, 0, 2 * GRAIN));
    ok(mcMemMap(va, 2 * GRAIN, 0, h, 0));
    fails(mcErrorInvalidDevice, allow(va, 0, 2 * GRAIN)); /* not in the team */
    ok(mcMulticastAddDevice(h, 0));
    ok(mcMulticastBindMem(h, 0, mem, GRAIN, GRAIN, 0));
    ok(allow(va, 0, 2 * GRAIN));
    ok(mcMulticastBindMem(h, GRAIN, mem, 0, GRAIN, 0));
    for (int i = 0; i < 2; i++) {
        word = 100 + i;
        ok(mcMemcpy((uint8_t *)plain + i * GRAIN, &word, sizeof(word),
                    mcMemcpyHostToDevice));
    }
    check_word(va, 0, 101);
    check_word(va, GRAIN, 100);
    ok(mcMemRetainAllocationHandle(&twin, va));
    g_assert_cmpuint(twin, ==, h);
    ok(mcMemRelease(twin));
    /* The object lives as long as it is mapped, the memory as it is bound. */
    ok(mcMemRelease(h));
    ok(mcMemUnmap(plain, 2 * GRAIN));
    ok(mcMemRelease(mem));
    check_word(va, GRAIN, 100);
    ok(mcMemUnmap(va, 2 * GRAIN));
    ok(mcMemAddressFree(va, 4 * GRAIN));
}

/* A device of the team is reset: what it had bound is gone, the rest stays. */
static void test_reset(void)
{
    mcMemGenericAllocationHandle h, mem[2];
    mcDeviceptr_t va;
    int can = 0, word = 7;

    if (devices > 1) {
        ok(mcDeviceCanAccessPeer(&can, 0, 1));
    }
    if (!can) {
        g_test_message("no two devices that reach each other");
        if (devices > 1) {
            h = object(2, GRAIN);
            ok(mcMulticastAddDevice(h, 0));
            fails(mcErrorNotSupported, mcMulticastAddDevice(h, 1));
            ok(mcMemRelease(h));
            ok(mcSetDevice(0));
        }
        return;
    }
    h = object(2, GRAIN);
    ok(mcMemAddressReserve(&va, GRAIN, 0, NULL, 0));
    ok(mcMemMap(va, GRAIN, 0, h, 0));
    for (int i = 0; i < 2; i++) {
        ok(mcMulticastAddDevice(h, i));
        mem[i] = memory_of(i, GRAIN);
    }
    for (int i = 0; i < 2; i++) {
        ok(mcMulticastBindMem(h, 0, mem[i], 0, GRAIN, 0));
        ok(allow(va, i, GRAIN));
    }
    ok(mcSetDevice(0));
    ok(mcMemcpy(va, &word, sizeof(word), mcMemcpyHostToDevice));
    ok(mcSetDevice(1));
    ok(mcDeviceReset());
    fails(mcErrorInvalidValue, mcMemRelease(mem[1]));
    ok(mcSetDevice(0));
    check_word(va, 0, 7);
    fails(mcErrorInvalidValue, mcMulticastUnbind(h, 1, 0, GRAIN));
    ok(mcMulticastUnbind(h, 0, 0, GRAIN));
    ok(mcMemUnmap(va, GRAIN));
    ok(mcMemAddressFree(va, GRAIN));
    ok(mcMemRelease(mem[0]));
    ok(mcMemRelease(h));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ok(mcGetDeviceCount(&devices));
    g_test_add_func("/multicast/create", test_create);
    g_test_add_func("/multicast/add", test_add);
    g_test_add_func("/multicast/bind-errors", test_bind_errors);
    g_test_add_func("/multicast/own-memory", test_own_memory);
    g_test_add_func("/multicast/reset", test_reset);
    return g_test_run();
}
