/* SPDX-License-Identifier: MIT */
/* Managed memory: one pointer and one content for host and devices, and what is
 * said about it. */
#include <stdlib.h>

#include "env.h"

#define PAGE 4096u

static void *managed(size_t size)
{
    void *p = NULL;

    ok(mcMallocManaged(&p, size, mcMemAttachGlobal));
    g_assert_nonnull(p);
    return p;
}

static void add(uint32_t *data, uint32_t count, uint32_t value,
                mcStream_t stream)
{
    void *args[] = {&data, &count, &value};

    ok(mcModuleLaunchKernel(env_kernel("k_add"), (count + 63) / 64, 1, 1, 64,
                            1, 1, 0, stream, args, NULL));
}

static void test_alloc(void)
{
    size_t free_before, free_after, total;
    uint8_t *p = (uint8_t *)1;
    mcDeviceptr_t base;
    size_t size;

    ok(mcMemGetInfo(&free_before, &total));
    fails(mcErrorInvalidValue, mcMallocManaged(NULL, 1, mcMemAttachGlobal));
    fails(mcErrorInvalidValue,
          mcMallocManaged((void **)&p, 0, mcMemAttachGlobal));
    fails(mcErrorInvalidValue, mcMallocManaged((void **)&p, 1, 0));
    fails(mcErrorInvalidValue,
          mcMallocManaged((void **)&p, 1, mcMemAttachSingle));
    fails(mcErrorInvalidValue, mcMallocManaged(
              (void **)&p, 1, mcMemAttachGlobal | mcMemAttachHost));
    fails(mcErrorMemoryAllocation,
          mcMallocManaged((void **)&p, SIZE_MAX, mcMemAttachGlobal));
    fails(mcErrorMemoryAllocation,
          mcMallocManaged((void **)&p, 1ull << 60, mcMemAttachGlobal));
    p = managed(3 * PAGE + 5);
    g_assert_cmpuint(p[0], ==, 0);
    g_assert_cmpuint(p[3 * PAGE + 4], ==, 0);
    ok(mcMemGetAddressRange(&base, &size, p + PAGE));
    g_assert_true(base == p);
    g_assert_cmpuint(size, ==, 3 * PAGE + 5);
    ok(mcMemGetInfo(&free_after, NULL));
    g_assert_cmpuint(free_before, ==, free_after);
    fails(mcErrorInvalidValue, mcFreeHost(p));
    fails(mcErrorInvalidDevicePointer, mcFree(p + PAGE));
    fails(mcErrorInvalidValue, mcFreeAsync(p, NULL));
    fails(mcErrorHostMemoryAlreadyRegistered, mcHostRegister(p, PAGE, 0));
    fails(mcErrorHostMemoryNotRegistered, mcHostUnregister(p));
    fails(mcErrorInvalidValue, mcHostGetDevicePointer(&base, p, 0));
    ok(mcFree(p));
    fails(mcErrorInvalidDevicePointer, mcFree(p));
    ok(mcMallocManaged((void **)&p, 1, mcMemAttachHost));
    ok(mcFree(p));
}

/* Kernels and the host take turns, without copies. */
static void test_shared(void)
{
    enum { COUNT = 10000 };
    uint32_t *data = managed(COUNT * 4);
    int count;

    ok(mcGetDeviceCount(&count));
    for (unsigned i = 0; i < COUNT; i++) {
        data[i] = i;
    }
    for (unsigned round = 1; round <= 3; round++) {
        add(data, COUNT, 7, NULL);
        ok(mcDeviceSynchronize());
        for (unsigned i = 0; i < COUNT; i++) {
            g_assert_cmpuint(data[i], ==, i + 8 * round - 1);
            data[i]++;
        }
    }
    for (int d = count - 1; d >= 0; d--) { /* every device, then the first */
        uint32_t before = data[5];

        ok(mcSetDevice(d));
        env_forget();
        add(data, COUNT, 100, NULL);
        ok(mcDeviceSynchronize());
        g_assert_cmpuint(data[5], ==, before + 100);
    }
    env_forget();
    ok(mcFree(data));
}

/* While a kernel works on one part the host works on another. */
static void test_concurrent(void)
{
    uint32_t *data = managed(2 * PAGE);
    uint64_t *gate = managed(16);
    mcStream_t s;
    int yes = 0;

    ok(mcDeviceGetAttribute(&yes, mcDeviceAttributeConcurrentManagedAccess,
                            0));
    g_assert_cmpint(yes, ==, 1);
    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    ok(mcStreamWaitValue64(s, gate, 1, MC_STREAM_WAIT_VALUE_GEQ));
    add(data, 64, 1, s);
    ok(mcStreamWriteValue64(s, &gate[1], 1, 0));
    data[PAGE / 4] = 5;
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&gate[1], __ATOMIC_ACQUIRE) != 1) {
        g_thread_yield(); /* seen without synchronising */
    }
    g_assert_cmpuint(data[0], ==, 1);
    g_assert_cmpuint(data[63], ==, 1);
    ok(mcStreamSynchronize(s));
    g_assert_cmpuint(data[PAGE / 4], ==, 5);
    ok(mcStreamDestroy(s));
    ok(mcFree(gate));
    ok(mcFree(data));
}

/* Any kind is right: it is memory of the host and of devices. */
static void test_copies(void)
{
    enum { SIZE = 100000 };
    static uint8_t host[SIZE], back[SIZE];
    uint8_t *a = managed(SIZE), *b = managed(SIZE), *d = env_malloc(SIZE);

    env_pattern(host, SIZE, 3);
    for (int kind = mcMemcpyHostToHost; kind <= mcMemcpyDefault; kind++) {
        memset(a, 0, SIZE);
        memset(b, 0, SIZE);
        ok(mcMemcpy(a, host, SIZE,
                    kind == mcMemcpyDeviceToHost ||
                            kind == mcMemcpyDeviceToDevice
                        ? mcMemcpyHostToDevice
                        : kind));
        ok(mcMemcpy(b, a, SIZE, kind));
        g_assert_cmpint(memcmp(b, host, SIZE), ==, 0);
    }
    ok(mcMemcpy(d, a, SIZE, mcMemcpyHostToDevice));
    ok(mcMemset(a, 0, SIZE));
    ok(mcMemcpy(a, d, SIZE, mcMemcpyDeviceToHost));
    g_assert_cmpint(memcmp(a, host, SIZE), ==, 0);
    ok(mcMemset(b, 0x11, SIZE));
    g_assert_cmpuint(b[SIZE - 1], ==, 0x11);
    ok(mcMemcpy(b, d, SIZE, mcMemcpyDeviceToDevice));
    g_assert_cmpint(memcmp(b, host, SIZE), ==, 0);
    ok(mcMemcpy(back, a, SIZE, mcMemcpyDeviceToHost));
    g_assert_cmpint(memcmp(back, host, SIZE), ==, 0);
    ok(mcMemset2D(a, 1000, 0x22, 500, 100));
    g_assert_cmpuint(a[1499], ==, 0x22);
    g_assert_cmpuint(a[1500], ==, host[1500]);
    ok(mcFree(a));
    ok(mcFree(b));
    ok(mcFree(d));
}

/* Twice what the device has. */
static void test_oversubscription(void)
{
    enum { PARTS = 8 };
    uint32_t *p[PARTS];
    size_t total;

    ok(mcMemGetInfo(NULL, &total));
    size_t size = total / PARTS * 2;
    for (unsigned i = 0; i < PARTS; i++) {
        p[i] = managed(size);
        p[i][0] = i;
        p[i][size / 4 - 64] = i;
        add(p[i], 64, 10, NULL);
        add(p[i] + size / 4 - 64, 64, 20, NULL);
    }
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < PARTS; i++) {
        g_assert_cmpuint(p[i][0], ==, 10 + i);
        g_assert_cmpuint(p[i][size / 4 - 64], ==, 20 + i);
        ok(mcFree(p[i]));
    }
}

/* Devices opened later have it, and a reset leaves it. */
static void test_reset(void)
{
    uint32_t *data = managed(PAGE);

    env_two_devices();
    data[0] = 5;
    ok(mcDeviceReset());
    env_forget();
    add(data, 1, 1, NULL);
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(data[0], ==, 6);
    ok(mcSetDevice(1));
    ok(mcDeviceReset());
    ok(mcSetDevice(0));
    ok(mcFree(data));
}

static int ask(mcMemRangeAttribute attribute, const void *p, size_t size)
{
    int value = 12345;

    ok(mcMemRangeGetAttribute(&value, sizeof(value), attribute, p, size));
    return value;
}

static void test_advise(void)
{
    uint8_t *p = managed(10 * PAGE - 100);
    const size_t all = 10 * PAGE - 100;
    mcMemLocation where = {mcMemLocationTypeHostNuma, 0};
    int by[3];

    g_assert_cmpint(ask(mcMemRangeAttributeReadMostly, p, all), ==, 0);
    g_assert_cmpint(ask(mcMemRangeAttributePreferredLocation, p, all), ==,
                    mcInvalidDeviceId);
    g_assert_cmpint(ask(mcMemRangeAttributeLastPrefetchLocation, p, all), ==,
                    mcInvalidDeviceId);
    g_assert_cmpint(ask(mcMemRangeAttributePreferredLocationType, p, all), ==,
                    mcMemLocationTypeInvalid);

    /* Whole pages around what is named. */
    ok(mcMemAdvise(p + 2 * PAGE + 5, PAGE, mcMemAdviseSetReadMostly, 1000));
    g_assert_cmpint(ask(mcMemRangeAttributeReadMostly, p + 2 * PAGE, 2 * PAGE),
                    ==, 1);
    g_assert_cmpint(ask(mcMemRangeAttributeReadMostly, p + 2 * PAGE,
                        2 * PAGE + 1), ==, 0);
    g_assert_cmpint(ask(mcMemRangeAttributeReadMostly, p + 2 * PAGE - 1, 1),
                    ==, 0);
    ok(mcMemAdvise(p + 3 * PAGE, 1, mcMemAdviseUnsetReadMostly, 0));
    g_assert_cmpint(ask(mcMemRangeAttributeReadMostly, p + 2 * PAGE, PAGE), ==,
                    1);
    g_assert_cmpint(ask(mcMemRangeAttributeReadMostly, p + 3 * PAGE, PAGE), ==,
                    0);

    ok(mcMemAdvise(p, all, mcMemAdviseSetPreferredLocation, 0));
    g_assert_cmpint(ask(mcMemRangeAttributePreferredLocation, p, all), ==, 0);
    g_assert_cmpint(ask(mcMemRangeAttributePreferredLocationType, p, all), ==,
                    mcMemLocationTypeDevice);
    g_assert_cmpint(ask(mcMemRangeAttributePreferredLocationId, p, all), ==,
                    0);
    ok(mcMemAdvise(p, PAGE, mcMemAdviseSetPreferredLocation, mcCpuDeviceId));
    g_assert_cmpint(ask(mcMemRangeAttributePreferredLocation, p, PAGE), ==,
                    mcCpuDeviceId);
    g_assert_cmpint(ask(mcMemRangeAttributePreferredLocation, p, all), ==,
                    mcInvalidDeviceId);
    ok(mcMemAdvise_v2(p, PAGE, mcMemAdviseSetPreferredLocation, where));
    g_assert_cmpint(ask(mcMemRangeAttributePreferredLocationType, p, PAGE), ==,
                    mcMemLocationTypeHostNuma);
    where.type = mcMemLocationTypeHostNumaCurrent;
    ok(mcMemAdvise_v2(p, PAGE, mcMemAdviseSetPreferredLocation, where));
    g_assert_cmpint(ask(mcMemRangeAttributePreferredLocationType, p, PAGE), ==,
                    mcMemLocationTypeHostNuma);
    ok(mcMemAdvise(p, all, mcMemAdviseUnsetPreferredLocation, 0));
    g_assert_cmpint(ask(mcMemRangeAttributePreferredLocation, p, all), ==,
                    mcInvalidDeviceId);

    ok(mcMemAdvise(p, all, mcMemAdviseSetAccessedBy, 0));
    ok(mcMemAdvise(p, PAGE, mcMemAdviseSetAccessedBy, mcCpuDeviceId));
    ok(mcMemRangeGetAttribute(by, sizeof(by), mcMemRangeAttributeAccessedBy,
                              p, PAGE));
    g_assert_cmpint(by[0], ==, 0);
    g_assert_cmpint(by[1], ==, mcCpuDeviceId);
    g_assert_cmpint(by[2], ==, mcInvalidDeviceId);
    ok(mcMemRangeGetAttribute(by, 8, mcMemRangeAttributeAccessedBy, p, all));
    g_assert_cmpint(by[0], ==, 0);
    g_assert_cmpint(by[1], ==, mcInvalidDeviceId);
    ok(mcMemAdvise(p, all, mcMemAdviseUnsetAccessedBy, 0));
    ok(mcMemRangeGetAttribute(by, 4, mcMemRangeAttributeAccessedBy, p, PAGE));
    g_assert_cmpint(by[0], ==, mcCpuDeviceId);
    ok(mcFree(p));
}

static void test_advise_errors(void)
{
    uint8_t *p = managed(2 * PAGE), *d = env_malloc(PAGE);
    uint8_t *h = env_malloc_host(PAGE), local[8];
    mcMemLocation where = {mcMemLocationTypeInvalid, 0};
    int count, value;

    ok(mcGetDeviceCount(&count));
    fails(mcErrorInvalidValue, mcMemAdvise(p, 0, mcMemAdviseSetReadMostly, 0));
    fails(mcErrorInvalidValue, mcMemAdvise(p, 1, (mcMemoryAdvise)0, 0));
    fails(mcErrorInvalidValue, mcMemAdvise(p, 1, (mcMemoryAdvise)7, 0));
    fails(mcErrorInvalidValue, mcMemAdvise(d, 1, mcMemAdviseSetReadMostly, 0));
    fails(mcErrorInvalidValue, mcMemAdvise(h, 1, mcMemAdviseSetReadMostly, 0));
    fails(mcErrorInvalidValue,
          mcMemAdvise(local, 1, mcMemAdviseSetReadMostly, 0));
    fails(mcErrorInvalidValue,
          mcMemAdvise(NULL, 1, mcMemAdviseSetReadMostly, 0));
    fails(mcErrorInvalidValue,
          mcMemAdvise(p, SIZE_MAX, mcMemAdviseSetReadMostly, 0));
    fails(mcErrorInvalidValue,
          mcMemAdvise(p, 1ull << 40, mcMemAdviseSetReadMostly, 0));
    fails(mcErrorInvalidDevice,
          mcMemAdvise(p, 1, mcMemAdviseSetPreferredLocation, count));
    fails(mcErrorInvalidDevice,
          mcMemAdvise(p, 1, mcMemAdviseSetAccessedBy, -2));
    fails(mcErrorInvalidValue,
          mcMemAdvise_v2(p, 1, mcMemAdviseSetPreferredLocation, where));
    ok(mcMemAdvise_v2(p, 1, mcMemAdviseSetReadMostly, where));
    where.type = mcMemLocationTypeHostNuma;
    fails(mcErrorInvalidValue,
          mcMemAdvise_v2(p, 1, mcMemAdviseSetAccessedBy, where));
    where.id = 100000;
    fails(mcErrorInvalidValue,
          mcMemAdvise_v2(p, 1, mcMemAdviseSetPreferredLocation, where));

    fails(mcErrorInvalidValue, mcMemRangeGetAttribute(
              NULL, 4, mcMemRangeAttributeReadMostly, p, 1));
    fails(mcErrorInvalidValue, mcMemRangeGetAttribute(
              &value, 8, mcMemRangeAttributeReadMostly, p, 1));
    fails(mcErrorInvalidValue, mcMemRangeGetAttribute(
              &value, 0, mcMemRangeAttributeAccessedBy, p, 1));
    fails(mcErrorInvalidValue, mcMemRangeGetAttribute(
              &value, 3, mcMemRangeAttributeAccessedBy, p, 1));
    fails(mcErrorInvalidValue,
          mcMemRangeGetAttribute(&value, 4, (mcMemRangeAttribute)9, p, 1));
    fails(mcErrorInvalidValue,
          mcMemRangeGetAttribute(&value, 4, (mcMemRangeAttribute)0, p, 1));
    fails(mcErrorInvalidValue, mcMemRangeGetAttribute(
              &value, 4, mcMemRangeAttributeReadMostly, p, 0));
    fails(mcErrorInvalidValue, mcMemRangeGetAttribute(
              &value, 4, mcMemRangeAttributeReadMostly, d, 1));
    ok(mcFree(p));
    fails(mcErrorInvalidValue, mcMemAdvise(p, 1, mcMemAdviseSetReadMostly, 0));
    ok(mcFree(d));
    ok(mcFreeHost(h));
}

static void test_several_attributes(void)
{
    uint8_t *p = managed(PAGE);
    int mostly = 5, preferred = 5, by[2] = {5, 5};
    void *data[] = {&mostly, &preferred, by};
    size_t sizes[] = {4, 4, 8};
    mcMemRangeAttribute which[] = {
        mcMemRangeAttributeReadMostly, mcMemRangeAttributePreferredLocation,
        mcMemRangeAttributeAccessedBy,
    };

    ok(mcMemAdvise(p, 1, mcMemAdviseSetReadMostly, 0));
    ok(mcMemAdvise(p, 1, mcMemAdviseSetAccessedBy, 0));
    ok(mcMemRangeGetAttributes(data, sizes, which, 3, p, PAGE));
    g_assert_cmpint(mostly, ==, 1);
    g_assert_cmpint(preferred, ==, mcInvalidDeviceId);
    g_assert_cmpint(by[0], ==, 0);
    g_assert_cmpint(by[1], ==, mcInvalidDeviceId);
    fails(mcErrorInvalidValue,
          mcMemRangeGetAttributes(NULL, sizes, which, 3, p, PAGE));
    fails(mcErrorInvalidValue,
          mcMemRangeGetAttributes(data, NULL, which, 3, p, PAGE));
    fails(mcErrorInvalidValue,
          mcMemRangeGetAttributes(data, sizes, NULL, 3, p, PAGE));
    fails(mcErrorInvalidValue,
          mcMemRangeGetAttributes(data, sizes, which, 0, p, PAGE));
    data[1] = NULL;
    fails(mcErrorInvalidValue,
          mcMemRangeGetAttributes(data, sizes, which, 3, p, PAGE));
    data[1] = &preferred;
    sizes[2] = 7; /* none is answered */
    mostly = preferred = 5;
    fails(mcErrorInvalidValue,
          mcMemRangeGetAttributes(data, sizes, which, 3, p, PAGE));
    g_assert_cmpint(mostly, ==, 5);
    sizes[2] = 8;
    fails(mcErrorInvalidValue,
          mcMemRangeGetAttributes(data, sizes, which, 3, p, PAGE + 1));
    which[0] = (mcMemRangeAttribute)0;
    fails(mcErrorInvalidValue,
          mcMemRangeGetAttributes(data, sizes, which, 3, p, PAGE));
    g_assert_cmpint(preferred, ==, 5);
    ok(mcFree(p));
}

static void test_prefetch(void)
{
    uint32_t *p = managed(4 * PAGE), *d = env_malloc(PAGE);
    mcMemLocation where = {mcMemLocationTypeDevice, 0};
    mcStream_t s;
    int count;

    ok(mcGetDeviceCount(&count));
    ok(mcStreamCreate(&s));
    p[0] = 1;
    ok(mcMemPrefetchAsync(p, 4 * PAGE, 0, s));
    g_assert_cmpint(ask(mcMemRangeAttributeLastPrefetchLocation, p, 4 * PAGE),
                    ==, 0);
    add(p, 64, 1, s);
    ok(mcMemPrefetchAsync(p, PAGE, mcCpuDeviceId, s));
    ok(mcStreamSynchronize(s));
    g_assert_cmpuint(p[0], ==, 2);
    g_assert_cmpint(ask(mcMemRangeAttributeLastPrefetchLocation, p, PAGE), ==,
                    mcCpuDeviceId);
    g_assert_cmpint(ask(mcMemRangeAttributeLastPrefetchLocationType, p, PAGE),
                    ==, mcMemLocationTypeHost);
    g_assert_cmpint(ask(mcMemRangeAttributeLastPrefetchLocation, p, 4 * PAGE),
                    ==, mcInvalidDeviceId);
    ok(mcMemPrefetchAsync_v2(p, PAGE, where, 0, s));
    g_assert_cmpint(ask(mcMemRangeAttributeLastPrefetchLocationType, p,
                        4 * PAGE), ==, mcMemLocationTypeDevice);
    g_assert_cmpint(ask(mcMemRangeAttributeLastPrefetchLocationId, p,
                        4 * PAGE), ==, 0);
    fails(mcErrorInvalidValue, mcMemPrefetchAsync(p, 0, 0, s));
    fails(mcErrorInvalidValue, mcMemPrefetchAsync(p, 5 * PAGE, 0, s));
    fails(mcErrorInvalidValue, mcMemPrefetchAsync(d, PAGE, 0, s));
    fails(mcErrorInvalidValue, mcMemPrefetchAsync(&where, 1, 0, s));
    fails(mcErrorInvalidDevice, mcMemPrefetchAsync(p, PAGE, count, s));
    fails(mcErrorInvalidDevice,
          mcMemPrefetchAsync(p, PAGE, mcInvalidDeviceId, s));
    fails(mcErrorInvalidResourceHandle,
          mcMemPrefetchAsync(p, PAGE, 0, (mcStream_t)p));
    fails(mcErrorInvalidValue, mcMemPrefetchAsync_v2(p, PAGE, where, 1, s));
    where.type = mcMemLocationTypeInvalid;
    fails(mcErrorInvalidValue, mcMemPrefetchAsync_v2(p, PAGE, where, 0, s));
    ok(mcStreamDestroy(s));
    ok(mcFree(p));
    ok(mcFree(d));
}

static void test_attach(void)
{
    uint32_t *p = managed(PAGE + 8), *d = env_malloc(PAGE);
    mcStream_t s;

    ok(mcStreamCreate(&s));
    ok(mcStreamAttachMemAsync(s, p, 0, mcMemAttachSingle));
    ok(mcStreamAttachMemAsync(s, p, PAGE + 8, mcMemAttachHost));
    ok(mcStreamAttachMemAsync(NULL, p, 0, mcMemAttachGlobal));
    ok(mcStreamSynchronize(s));
    p[0] = 1;
    fails(mcErrorInvalidValue,
          mcStreamAttachMemAsync(NULL, p, 0, mcMemAttachSingle));
    fails(mcErrorInvalidValue,
          mcStreamAttachMemAsync(s, p, PAGE, mcMemAttachSingle));
    fails(mcErrorInvalidValue,
          mcStreamAttachMemAsync(s, p + 1, 0, mcMemAttachSingle));
    fails(mcErrorInvalidValue,
          mcStreamAttachMemAsync(s, d, 0, mcMemAttachSingle));
    fails(mcErrorInvalidValue,
          mcStreamAttachMemAsync(s, NULL, 0, mcMemAttachSingle));
    fails(mcErrorInvalidValue, mcStreamAttachMemAsync(s, p, 0, 0));
    fails(mcErrorInvalidValue, mcStreamAttachMemAsync(s, p, 0, 3));
    fails(mcErrorInvalidResourceHandle,
          mcStreamAttachMemAsync((mcStream_t)d, p, 0, mcMemAttachSingle));
    ok(mcStreamDestroy(s));
    ok(mcFree(p));
    ok(mcFree(d));
}

static void test_properties(void)
{
    const struct {
        mcDeviceAttribute_t attribute;
        int value;
    } want[] = {
        {mcDeviceAttributeManagedMemory, 1},
        {mcDeviceAttributeConcurrentManagedAccess, 1},
        {mcDeviceAttributeDirectManagedMemAccessFromHost, 1},
        {mcDeviceAttributePageableMemoryAccess, env_driver()},
        {mcDeviceAttributePageableMemoryAccessUsesHostPageTables, 0},
        {mcDeviceAttributeMemoryPoolsSupported, 1},
    };
    mcDeviceProp_t p;

    for (unsigned i = 0; i < G_N_ELEMENTS(want); i++) {
        int value = -1;

        ok(mcDeviceGetAttribute(&value, want[i].attribute, 0));
        g_assert_cmpint(value, ==, want[i].value);
    }
    ok(mcGetDeviceProperties(&p, 0));
    g_assert_cmpint(p.managedMemory, ==, 1);
    g_assert_cmpint(p.concurrentManagedAccess, ==, 1);
    g_assert_cmpint(p.pageableMemoryAccess, ==, env_driver());
    g_assert_cmpint(p.memoryPoolsSupported, ==, 1);
}

static gpointer churn(gpointer data)
{
    for (unsigned i = 0; i < 200; i++) {
        uint8_t *p = managed(PAGE * (1 + i % 5));

        ok(mcMemAdvise(p, 1, mcMemAdviseSetReadMostly, 0));
        ok(mcMemsetAsync(p, i, 1, NULL));
        g_assert_cmpint(ask(mcMemRangeAttributeReadMostly, p, 1), ==, 1);
        ok(mcFree(p));
    }
    return data;
}

static void test_threads(void)
{
    GThread *threads[4];

    for (unsigned i = 0; i < 4; i++) {
        threads[i] = g_thread_new(NULL, churn, NULL);
    }
    for (unsigned i = 0; i < 4; i++) {
        g_thread_join(threads[i]);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runtime/managed/alloc", test_alloc);
    g_test_add_func("/runtime/managed/shared", test_shared);
    g_test_add_func("/runtime/managed/concurrent", test_concurrent);
    g_test_add_func("/runtime/managed/copies", test_copies);
    g_test_add_func("/runtime/managed/oversubscription",
                    test_oversubscription);
    g_test_add_func("/runtime/managed/reset", test_reset);
    g_test_add_func("/runtime/managed/advise", test_advise);
    g_test_add_func("/runtime/managed/advise-errors", test_advise_errors);
    g_test_add_func("/runtime/managed/several-attributes",
                    test_several_attributes);
    g_test_add_func("/runtime/managed/prefetch", test_prefetch);
    g_test_add_func("/runtime/managed/attach", test_attach);
    g_test_add_func("/runtime/managed/properties", test_properties);
    g_test_add_func("/runtime/managed/threads", test_threads);
    return g_test_run();
}
