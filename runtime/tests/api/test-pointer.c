/* SPDX-License-Identifier: MIT */
/* What pointers of each kind are. */
#include <stdlib.h>

#include "env.h"

enum { DEVICE, PINNED, REGISTERED, READ_ONLY, MANAGED, POOL, OTHER, KINDS };

#define SIZE 10000u

static uint8_t *memory[KINDS];
static mcMemPool_t pool;

static void make(void)
{
    for (int kind = REGISTERED; kind <= OTHER; kind++) {
        if (kind <= READ_ONLY || kind == OTHER) {
            memory[kind] = aligned_alloc(4096, 4 * 4096);
            g_assert_nonnull(memory[kind]);
            memset(memory[kind], 0, 4 * 4096);
        }
    }
    memory[DEVICE] = env_malloc(SIZE);
    memory[PINNED] = env_malloc_host(SIZE);
    ok(mcHostRegister(memory[REGISTERED], SIZE, mcHostRegisterDefault));
    ok(mcHostRegister(memory[READ_ONLY], SIZE, mcHostRegisterReadOnly));
    ok(mcMallocManaged((void **)&memory[MANAGED], SIZE, mcMemAttachHost));
    ok(mcMallocAsync((void **)&memory[POOL], SIZE, NULL));
    ok(mcDeviceGetMemPool(&pool, 0));
}

static void drop(void)
{
    ok(mcFree(memory[DEVICE]));
    ok(mcFreeHost(memory[PINNED]));
    ok(mcHostUnregister(memory[REGISTERED]));
    ok(mcHostUnregister(memory[READ_ONLY]));
    ok(mcFree(memory[MANAGED]));
    ok(mcFreeAsync(memory[POOL], NULL));
    free(memory[REGISTERED]);
    free(memory[READ_ONLY]);
    free(memory[OTHER]);
}

static bool is_host(int kind)
{
    return kind != DEVICE && kind != POOL;
}

/* mcErrorInvalidValue where there is none; else *value, of that many bytes. */
static void expect(int kind, mcPointer_attribute attribute, bool there,
                   uint64_t want, size_t size)
{
    uint64_t value = 0x5555555555555555ull, both = 0x5555555555555555ull;
    uint64_t mask = size == 8 ? UINT64_MAX : UINT32_MAX;
    void *data = &both, *p = memory[kind] + 100;

    if (there) {
        ok(mcPointerGetAttribute(&value, attribute, p));
        g_assert_cmpuint(value & mask, ==, want & mask);
        g_assert_cmpuint(value & ~mask, ==, 0x5555555555555555ull & ~mask);
    } else {
        fails(mcErrorInvalidValue, mcPointerGetAttribute(&value, attribute,
                                                         p));
        want = 0;
    }
    ok(mcDrvPointerGetAttributes(1, &attribute, &data, p));
    g_assert_cmpuint(both & mask, ==, want & mask);
    g_assert_cmpuint(both & ~mask, ==, 0x5555555555555555ull & ~mask);
}

static void test_each(void)
{
    mcCtx_t ctx;

    make();
    ok(mcDevicePrimaryCtxRetain(&ctx, 0));
    for (int kind = 0; kind < OTHER; kind++) {
        uint64_t p = (uintptr_t)memory[kind];

        expect(kind, mcPointerAttributeContext, true, (uintptr_t)ctx, 8);
        expect(kind, mcPointerAttributeMemoryType, true,
               is_host(kind) && kind != MANAGED ? mcMemoryTypeHost
                                                : mcMemoryTypeDevice, 4);
        expect(kind, mcPointerAttributeDevicePointer, true, p + 100, 8);
        expect(kind, mcPointerAttributeHostPointer, is_host(kind), p + 100, 8);
        expect(kind, mcPointerAttributeSyncMemops, true, 0, 4);
        expect(kind, mcPointerAttributeIsManaged, true, kind == MANAGED, 4);
        expect(kind, mcPointerAttributeDeviceOrdinal, true, 0, 4);
        expect(kind, mcPointerAttributeRangeStartAddr, true, p, 8);
        expect(kind, mcPointerAttributeRangeSize, true, SIZE, 8);
        expect(kind, mcPointerAttributeMapped, true, 1, 4);
        expect(kind, mcPointerAttributeAllowedHandleTypes, true, 0, 8);
        expect(kind, mcPointerAttributeIsGpuDirectRdmaCapable, true, 0, 4);
        mcIpcMemHandle_t handle;
        expect(kind, mcPointerAttributeIsLegacyIpcCapable, true,
               mcIpcGetMemHandle(&handle, memory[kind]) == mcSuccess, 4);
        expect(kind, mcPointerAttributeAccessFlags, true,
               kind == READ_ONLY ? mcMemAccessFlagsProtRead
                                 : mcMemAccessFlagsProtReadWrite, 4);
        expect(kind, mcPointerAttributeMempoolHandle, true,
               kind == POOL ? (uintptr_t)pool : 0, 8);
        expect(kind, mcPointerAttributeMappingSize, true, SIZE, 8);
        expect(kind, mcPointerAttributeMappingBaseAddr, true, p, 8);
    }
    ok(mcDevicePrimaryCtxRelease(0));
    drop();
}

static void test_unknown(void)
{
    mcPointer_attribute several[] = {
        mcPointerAttributeMemoryType, mcPointerAttributeDevice,
        mcPointerAttributeHostPointer,
    };
    unsigned type = 5;
    int device = 5;
    void *host = &host, *data[] = {&type, &device, &host};
    uint64_t value;

    make();
    for (int a = mcPointerAttributeContext;
         a <= mcPointerAttributeMemoryBlockId; a++) {
        fails(a == mcPointerAttributeP2PTokens ? mcErrorNotSupported
                                               : mcErrorInvalidValue,
              mcPointerGetAttribute(&value, a, memory[OTHER]));
        fails(a == mcPointerAttributeP2PTokens ? mcErrorNotSupported
                                               : mcErrorInvalidValue,
              mcPointerGetAttribute(&value, a, NULL));
    }
    ok(mcDrvPointerGetAttributes(3, several, data, memory[OTHER]));
    g_assert_cmpuint(type, ==, mcMemoryTypeUnregistered);
    g_assert_cmpint(device, ==, mcInvalidDeviceId);
    g_assert_null(host);
    drop();
}

static void test_errors(void)
{
    mcPointer_attribute bad = (mcPointer_attribute)21;
    mcPointer_attribute good = mcPointerAttributeMemoryType;
    uint64_t value;
    void *data = &value, *none = NULL;

    make();
    fails(mcErrorInvalidValue,
          mcPointerGetAttribute(NULL, good, memory[DEVICE]));
    fails(mcErrorInvalidValue,
          mcPointerGetAttribute(&value, bad, memory[DEVICE]));
    fails(mcErrorInvalidValue, mcPointerGetAttribute(
              &value, (mcPointer_attribute)0, memory[DEVICE]));
    fails(mcErrorInvalidValue,
          mcDrvPointerGetAttributes(0, &good, &data, memory[DEVICE]));
    fails(mcErrorInvalidValue,
          mcDrvPointerGetAttributes(1, NULL, &data, memory[DEVICE]));
    fails(mcErrorInvalidValue,
          mcDrvPointerGetAttributes(1, &good, NULL, memory[DEVICE]));
    fails(mcErrorInvalidValue,
          mcDrvPointerGetAttributes(1, &good, &none, memory[DEVICE]));
    fails(mcErrorInvalidValue,
          mcDrvPointerGetAttributes(1, &bad, &data, memory[DEVICE]));
    drop();
}

static uint64_t buffer_id(const void *p)
{
    uint64_t id;

    ok(mcPointerGetAttribute(&id, mcPointerAttributeBufferId, (void *)p));
    return id;
}

static void test_buffer_id(void)
{
    uint64_t last;
    uint8_t *p = env_malloc(SIZE), *q = env_malloc(SIZE);

    g_assert_cmpuint(buffer_id(p), ==, buffer_id(p + SIZE - 1));
    g_assert_cmpuint(buffer_id(p), !=, buffer_id(q));
    last = buffer_id(q);
    ok(mcFree(q));
    q = env_malloc(SIZE); /* perhaps where the other was */
    g_assert_cmpuint(buffer_id(q), !=, last);
    ok(mcFree(p));
    ok(mcFree(q));
}

/* A copy between device memory that is not asynchronous returns before its end,
 * unless it was said that it must not. */
static void test_sync_memops(void)
{
    uint8_t *a = env_malloc(1 << 20), *b = env_malloc(1 << 20), byte;
    unsigned yes = 1, no = 0, two = 2, now;
    int other = 1;
    mcEvent_t event;

    ok(mcEventCreate(&event));
    fails(mcErrorInvalidValue,
          mcPointerSetAttribute(NULL, mcPointerAttributeSyncMemops, a));
    fails(mcErrorInvalidValue,
          mcPointerSetAttribute(&yes, mcPointerAttributeMemoryType, a));
    fails(mcErrorInvalidValue,
          mcPointerSetAttribute(&two, mcPointerAttributeSyncMemops, a));
    fails(mcErrorInvalidValue,
          mcPointerSetAttribute(&yes, mcPointerAttributeSyncMemops, &other));
    ok(mcMemset(a, 1, 1 << 20));
    ok(mcPointerSetAttribute(&yes, mcPointerAttributeSyncMemops, a + 5));
    ok(mcStreamQuery(NULL)); /* it waited for what was before */
    ok(mcPointerGetAttribute(&now, mcPointerAttributeSyncMemops, a));
    g_assert_cmpuint(now, ==, 1);
    ok(mcPointerGetAttribute(&now, mcPointerAttributeSyncMemops, b));
    g_assert_cmpuint(now, ==, 0);
    for (unsigned i = 0; i < 20; i++) {
        ok(mcMemset(a, i, 1 << 20));
        ok(mcStreamQuery(NULL));
        ok(mcMemcpy(b, a, 1 << 20, mcMemcpyDeviceToDevice));
        ok(mcStreamQuery(NULL));
        ok(mcMemcpy(a, b, 1 << 20, mcMemcpyDefault));
        ok(mcStreamQuery(NULL));
        ok(mcMemset2D(a, 2048, i, 1000, 100));
        ok(mcStreamQuery(NULL));
    }
    ok(mcPointerSetAttribute(&no, mcPointerAttributeSyncMemops, a));
    ok(mcPointerGetAttribute(&now, mcPointerAttributeSyncMemops, a));
    g_assert_cmpuint(now, ==, 0);
    ok(mcMemcpy(&byte, a, 1, mcMemcpyDeviceToHost));
    g_assert_cmpuint(byte, ==, 19);
    ok(mcEventDestroy(event));
    ok(mcFree(a));
    ok(mcFree(b));
}

/* Memory mapped in a reservation that is larger. */
static void test_mapped(void)
{
    const size_t size = 2 << 20;
    mcMemAllocationProp prop = {
        .type = mcMemAllocationTypePinned,
        .requestedHandleTypes = mcMemHandleTypePosixFileDescriptor,
        .location = {.type = mcMemLocationTypeDevice, .id = 0},
    };
    mcMemAccessDesc access = {prop.location, mcMemAccessFlagsProtRead};
    mcMemGenericAllocationHandle handle;
    mcDeviceptr_t base;
    unsigned yes = 1;

    ok(mcMemAddressReserve(&base, 3 * size, 0, NULL, 0));
    ok(mcMemCreate(&handle, size, &prop, 0));
    ok(mcMemMap((uint8_t *)base + size, size, 0, handle, 0));
    uint64_t start = (uintptr_t)base, mapped = start + size;
    memory[DEVICE] = (uint8_t *)base + size;
    expect(DEVICE, mcPointerAttributeDevicePointer, false, 0, 8);
    expect(DEVICE, mcPointerAttributeAccessFlags, true,
           mcMemAccessFlagsProtNone, 4);
    ok(mcMemSetAccess((void *)mapped, size, &access, 1));
    expect(DEVICE, mcPointerAttributeDevicePointer, true, mapped + 100, 8);
    expect(DEVICE, mcPointerAttributeHostPointer, false, 0, 8);
    expect(DEVICE, mcPointerAttributeAccessFlags, true,
           mcMemAccessFlagsProtRead, 4);
    expect(DEVICE, mcPointerAttributeMemoryType, true, mcMemoryTypeDevice, 4);
    expect(DEVICE, mcPointerAttributeRangeStartAddr, true, start, 8);
    expect(DEVICE, mcPointerAttributeRangeSize, true, 3 * size, 8);
    expect(DEVICE, mcPointerAttributeMapped, true, 1, 4);
    expect(DEVICE, mcPointerAttributeMappingBaseAddr, true, mapped, 8);
    expect(DEVICE, mcPointerAttributeMappingSize, true, size, 8);
    expect(DEVICE, mcPointerAttributeAllowedHandleTypes, true,
           mcMemHandleTypePosixFileDescriptor, 8);
    ok(mcPointerSetAttribute(&yes, mcPointerAttributeSyncMemops,
                             (void *)mapped));
    expect(DEVICE, mcPointerAttributeSyncMemops, true, 1, 4);

    memory[DEVICE] = base; /* reserved only */
    expect(DEVICE, mcPointerAttributeMapped, true, 0, 4);
    expect(DEVICE, mcPointerAttributeRangeStartAddr, true, start, 8);
    expect(DEVICE, mcPointerAttributeRangeSize, true, 3 * size, 8);
    expect(DEVICE, mcPointerAttributeDevicePointer, false, 0, 8);
    ok(mcMemUnmap((void *)mapped, size));
    ok(mcMemRelease(handle));
    ok(mcMemAddressFree(base, 3 * size));
    fails(mcErrorInvalidValue,
          mcPointerGetAttribute(&start, mcPointerAttributeMapped, base));
}

static void test_struct(void)
{
    mcPointerAttribute_t a;

    make();
    for (int kind = 0; kind < KINDS; kind++) {
        ok(mcPointerGetAttributes(&a, memory[kind] + 1));
        g_assert_cmpint(a.type, ==,
                        kind == OTHER     ? mcMemoryTypeUnregistered
                        : kind == MANAGED ? mcMemoryTypeManaged
                        : is_host(kind)   ? mcMemoryTypeHost
                                          : mcMemoryTypeDevice);
        g_assert_cmpint(a.isManaged, ==, kind == MANAGED);
        g_assert_true(a.devicePointer ==
                      (kind == OTHER ? NULL : memory[kind] + 1));
        g_assert_true(a.hostPointer ==
                      (is_host(kind) ? memory[kind] + 1 : NULL));
        g_assert_cmpint(a.device, ==, kind == OTHER ? mcInvalidDeviceId : 0);
        g_assert_cmpuint(a.allocationFlags, ==,
                         kind == MANAGED     ? mcMemAttachHost
                         : kind == READ_ONLY ? mcHostRegisterReadOnly
                                             : 0);
    }
    drop();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runtime/pointer/each", test_each);
    g_test_add_func("/runtime/pointer/unknown", test_unknown);
    g_test_add_func("/runtime/pointer/errors", test_errors);
    g_test_add_func("/runtime/pointer/buffer-id", test_buffer_id);
    g_test_add_func("/runtime/pointer/sync-memops", test_sync_memops);
    g_test_add_func("/runtime/pointer/mapped", test_mapped);
    g_test_add_func("/runtime/pointer/struct", test_struct);
    return g_test_run();
}
