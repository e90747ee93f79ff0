/* SPDX-License-Identifier: MIT */
/*
 * Two devices: access to each other's memory where they reach it, and the
 * errors of who asks for it without that.
 */
#include <semaphore.h>

#include "env.h"

#define SIZE (5u << 20) /* whole large pages, and a piece of a shared one */

/* In a guest the platform says whether they do. */
static bool reach(void)
{
    int can = -1;

    ok(mcDeviceCanAccessPeer(&can, 0, 1));
    g_assert_true(can == 1 || (can == 0 && env_vfio()));
    return can;
}

static uint32_t *on(int device, size_t size, int fill)
{
    ok(mcSetDevice(device));
    uint32_t *p = env_malloc(size);
    ok(mcMemset(p, fill, size));
    ok(mcDeviceSynchronize());
    ok(mcSetDevice(0));
    return p;
}

/* A kernel of the current device, which uses any memory. */
static void add(uint32_t *data, uint32_t count, uint32_t value,
                mcStream_t stream)
{
    static mcFunction_t f[2];
    static mcModule_t m[2];
    void *args[] = {&data, &count, &value};
    int device;

    ok(mcGetDevice(&device));
    if (!m[device] ||
        mcModuleGetFunction(&f[device], m[device], "k_add") != mcSuccess) {
        ok(mcModuleLoadData(&m[device], env_image));
        ok(mcModuleGetFunction(&f[device], m[device], "k_add"));
    }
    ok(mcModuleLaunchKernel(f[device], (count + 63) / 64, 1, 1, 64, 1, 1, 0,
                            stream, args, NULL));
}

static uint32_t word(const uint32_t *device)
{
    uint32_t value;

    ok(mcMemcpy(&value, device, 4, mcMemcpyDefault));
    return value;
}

/* What the question says is what the call does. */
static void test_answers(void)
{
    int value;

    env_two_devices();
    bool can = reach();
    for (int i = mcDevP2PAttrPerformanceRank;
         i <= mcDevP2PAttrMcArrayAccessSupported; i++) {
        value = -1;
        ok(mcDeviceGetP2PAttribute(&value, (mcDeviceP2PAttr)i, 0, 1));
        g_assert_cmpint(value, ==,
                        i == mcDevP2PAttrPerformanceRank ? 0 : can);
    }
    fails(mcErrorInvalidValue,
          mcDeviceGetP2PAttribute(&value, (mcDeviceP2PAttr)0, 0, 1));
    fails(mcErrorInvalidValue,
          mcDeviceGetP2PAttribute(&value, (mcDeviceP2PAttr)5, 0, 1));
    fails(mcErrorInvalidValue,
          mcDeviceGetP2PAttribute(NULL, mcDevP2PAttrAccessSupported, 0, 1));
    fails(mcErrorInvalidDevice,
          mcDeviceGetP2PAttribute(&value, mcDevP2PAttrAccessSupported, 0, 0));
    fails(mcErrorInvalidDevice,
          mcDeviceGetP2PAttribute(&value, mcDevP2PAttrAccessSupported, 0,
                                  99));
    fails(mcErrorInvalidValue, mcDeviceEnablePeerAccess(1, 1));
    fails(mcErrorPeerAccessNotEnabled, mcDeviceDisablePeerAccess(1));
    if (!can) {
        fails(mcErrorPeerAccessUnsupported, mcDeviceEnablePeerAccess(1, 0));
        return;
    }
    ok(mcDeviceEnablePeerAccess(1, 0));
    fails(mcErrorPeerAccessAlreadyEnabled, mcDeviceEnablePeerAccess(1, 0));
    ok(mcSetDevice(1)); /* the other direction is not enabled */
    fails(mcErrorPeerAccessNotEnabled, mcDeviceDisablePeerAccess(0));
    ok(mcSetDevice(0));
    ok(mcDeviceDisablePeerAccess(1));
    fails(mcErrorPeerAccessNotEnabled, mcDeviceDisablePeerAccess(1));
}

static void test_contexts(void)
{
    mcCtx_t other;

    env_two_devices();
    ok(mcFree(NULL));
    ok(mcDevicePrimaryCtxRetain(&other, 1));
    fails(mcErrorInvalidValue, mcCtxEnablePeerAccess(other, 1));
    fails(mcErrorPeerAccessNotEnabled, mcCtxDisablePeerAccess(other));
    if (reach()) {
        ok(mcCtxEnablePeerAccess(other, 0));
        fails(mcErrorPeerAccessAlreadyEnabled,
              mcCtxEnablePeerAccess(other, 0));
        fails(mcErrorPeerAccessAlreadyEnabled,
              mcDeviceEnablePeerAccess(1, 0));
        ok(mcCtxDisablePeerAccess(other));
    } else {
        fails(mcErrorPeerAccessUnsupported, mcCtxEnablePeerAccess(other, 0));
    }
    ok(mcDevicePrimaryCtxRelease(1));
}

/* Kernels of one device on memory of the other: what was there before, and
 * what came later. */
static void test_kernels(void)
{
    env_two_devices();
    if (!reach()) {
        return;
    }
    uint32_t *before = on(1, SIZE, 0);
    ok(mcDeviceEnablePeerAccess(1, 0));
    uint32_t *after = on(1, SIZE, 0), *small = on(1, 256, 0);

    add(before, SIZE / 4, 3, NULL);
    add(after, SIZE / 4, 4, NULL);
    add(small, 64, 5, NULL);
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(word(before), ==, 3);
    g_assert_cmpuint(word(before + SIZE / 4 - 1), ==, 3);
    g_assert_cmpuint(word(after + SIZE / 4 - 1), ==, 4);
    g_assert_cmpuint(word(small + 63), ==, 5);
    /* The owner sees it, too. */
    ok(mcSetDevice(1));
    add(small, 64, 1, NULL);
    ok(mcDeviceSynchronize());
    ok(mcSetDevice(0));
    g_assert_cmpuint(word(small), ==, 6);
    ok(mcFree(before));
    ok(mcFree(after));
    ok(mcDeviceDisablePeerAccess(1));
    ok(mcFree(small));
}

/* Without access, and after it ended, a kernel faults. */
static void test_no_access(void)
{
    env_two_devices();
    if (!reach()) {
        return;
    }
    uint32_t *d = on(1, 4096, 0);
    for (unsigned round = 0; round < 2; round++) {
        if (round) {
            ok(mcDeviceEnablePeerAccess(1, 0));
            add(d, 64, 1, NULL);
            ok(mcDeviceSynchronize());
            ok(mcDeviceDisablePeerAccess(1));
        }
        add(d, 64, 1, NULL);
        fails(mcErrorIllegalAddress, mcDeviceSynchronize());
        ok(mcDeviceReset());
    }
    g_assert_cmpuint(word(d), ==, 1);
    ok(mcFree(d));
}

/* Access ends with either device. */
static void test_resets(void)
{
    env_two_devices();
    if (!reach()) {
        return;
    }
    for (int reset = 0; reset < 2; reset++) {
        uint32_t *mine = on(0, SIZE, 1), *other = on(1, SIZE, 1);

        ok(mcDeviceEnablePeerAccess(1, 0));
        ok(mcSetDevice(1));
        ok(mcDeviceEnablePeerAccess(0, 0));
        ok(mcSetDevice(reset));
        ok(mcDeviceReset());
        ok(mcSetDevice(1));
        fails(mcErrorPeerAccessNotEnabled, mcDeviceDisablePeerAccess(0));
        ok(mcSetDevice(0));
        fails(mcErrorPeerAccessNotEnabled, mcDeviceDisablePeerAccess(1));
        ok(mcDeviceEnablePeerAccess(1, 0));
        uint32_t *again = on(1, 256, 7);
        add(again, 64, 1, NULL);
        ok(mcDeviceSynchronize());
        g_assert_cmphex(word(again), ==, 0x07070708);
        ok(mcDeviceDisablePeerAccess(1));
        ok(mcFree(again));
        ok(mcFree(reset ? mine : other));
    }
}

/* ---- copies: the same with and without access ---- */

static void copies(uint32_t *a, uint32_t *b)
{
    uint8_t *in = g_malloc(SIZE), *out = g_malloc(SIZE);
    mcStream_t s;

    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    env_pattern(in, SIZE, 1);
    ok(mcMemcpy(a, in, SIZE, mcMemcpyHostToDevice));
    ok(mcMemcpyPeer(b, 1, a, 0, SIZE));
    ok(mcMemcpy(out, b, SIZE, mcMemcpyDeviceToHost));
    g_assert_cmpint(memcmp(in, out, SIZE), ==, 0);
    /* Back, in stream order, behind what is before it. */
    ok(mcMemset(a, 0, SIZE));
    ok(mcDeviceSynchronize());
    ok(mcMemcpyPeerAsync(a, 0, b, 1, SIZE, s));
    ok(mcMemcpyAsync(out, a, SIZE, mcMemcpyDeviceToHost, s));
    ok(mcStreamSynchronize(s));
    g_assert_cmpint(memcmp(in, out, SIZE), ==, 0);
    /* Rows, either way. */
    ok(mcMemcpy2DAsync(b, 300, a, 200, 100, 1000, mcMemcpyDeviceToDevice, s));
    ok(mcStreamSynchronize(s));
    ok(mcMemcpy(out, b, SIZE, mcMemcpyDefault));
    for (unsigned y = 0; y < 1000; y++) {
        g_assert_cmpint(memcmp(out + y * 300, in + y * 200, 100), ==, 0);
        g_assert_cmpint(memcmp(out + y * 300 + 100, in + y * 300 + 100, 200),
                        ==, 0);
    }
    ok(mcStreamDestroy(s));
    g_free(in);
    g_free(out);
}

/* A copy that is not asynchronous waits for what the other device does. */
static void ordered(uint32_t *a, uint32_t *b)
{
    uint64_t *gate = env_malloc_host(8);
    mcStream_t s;

    *gate = 0;
    ok(mcSetDevice(1));
    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    ok(mcMemset(b, 1, 4096));
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < 200; i++) {
        add(b, 64, 1, s);
    }
    ok(mcSetDevice(0));
    ok(mcMemcpyPeer(a, 0, b, 1, 256));
    g_assert_cmphex(word(a), ==, 0x01010101 + 200);
    ok(mcStreamDestroy(s));
    ok(mcFreeHost(gate));
}

static void test_copies(void)
{
    env_two_devices();
    uint32_t *a = on(0, SIZE, 0), *b = on(1, SIZE, 0);
    copies(a, b);
    ordered(a, b);
    fails(mcErrorInvalidValue, mcMemset(b, 1, 16));
    if (reach()) {
        ok(mcDeviceEnablePeerAccess(1, 0));
        copies(a, b);
        ordered(a, b);
        ok(mcMemset(b, 1, 16));
        ok(mcStreamWriteValue32(NULL, b + 4, 9, 0));
        ok(mcDeviceSynchronize());
        g_assert_cmphex(word(b + 3), ==, 0x01010101);
        g_assert_cmpuint(word(b + 4), ==, 9);
        ok(mcDeviceDisablePeerAccess(1));
        /* The other device alone has access. */
        ok(mcSetDevice(1));
        ok(mcDeviceEnablePeerAccess(0, 0));
        ok(mcSetDevice(0));
        copies(a, b);
        ordered(a, b);
        ok(mcSetDevice(1));
        ok(mcDeviceDisablePeerAccess(0));
        ok(mcSetDevice(0));
    }
    fails(mcErrorInvalidValue, mcMemset(b, 1, 16));
    ok(mcFree(a));
    ok(mcFree(b));
}

typedef struct Reader {
    const uint32_t *data; /* of the device that is not current */
    sem_t begins;
    mcError_t error;
} Reader;

static gpointer read_other(gpointer opaque)
{
    Reader *reader = opaque;
    uint8_t out[64];

    ok(mcSetDevice(0));
    sem_post(&reader->begins);
    reader->error = mcMemcpy(out, reader->data, sizeof(out),
                             mcMemcpyDeviceToHost);
    return NULL;
}

/* A copy waits for its stream, then another device makes it, of memory that is
 * no longer there: the host does not read there instead. */
static void test_freed_meanwhile(void)
{
    env_two_devices();
    uint64_t *gate = env_malloc_host(8);
    Reader reader = {.data = on(1, SIZE, 0)};

    *gate = 0;
    ok(mcStreamWaitValue64(NULL, gate, 1, MC_STREAM_WAIT_VALUE_EQ));
    g_assert_cmpint(sem_init(&reader.begins, 0, 0), ==, 0);
    GThread *thread = g_thread_new(NULL, read_other, &reader);
    while (sem_wait(&reader.begins)) {
    }
    g_usleep(20000); /* it is freed before the copy begins, or under it */
    ok(mcFree((void *)reader.data));
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    g_thread_join(thread);
    sem_destroy(&reader.begins);
    g_assert_cmpint(reader.error, ==, mcErrorInvalidValue);
    ok(mcDeviceSynchronize());
    ok(mcFreeHost(gate));
}

/* Allocations of one thread while another turns access on and off. */
static gpointer allocate(gpointer stop)
{
    ok(mcSetDevice(1));
    while (!g_atomic_int_get((gint *)stop)) {
        void *small = env_malloc(1000), *large = env_malloc(3 << 20);

        ok(mcFree(small));
        ok(mcFree(large));
    }
    return NULL;
}

static void test_threads(void)
{
    gint stop = 0;

    env_two_devices();
    if (!reach()) {
        return;
    }
    GThread *thread = g_thread_new("allocate", allocate, &stop);
    for (unsigned i = 0; i < 50; i++) {
        ok(mcDeviceEnablePeerAccess(1, 0));
        ok(mcDeviceDisablePeerAccess(1));
    }
    g_atomic_int_set(&stop, 1);
    g_thread_join(thread);
}

/* ---- pools ---- */

static mcMemPool_t pool_on(int device, mcMemAllocationHandleType types)
{
    mcMemPoolProps props = {
        .allocType = mcMemAllocationTypePinned,
        .handleTypes = types,
        .location = {mcMemLocationTypeDevice, device},
    };
    mcMemPool_t pool;

    ok(mcMemPoolCreate(&pool, &props));
    return pool;
}

static mcError_t let(mcMemPool_t pool, int device, mcMemAccessFlags flags)
{
    mcMemAccessDesc desc = {{mcMemLocationTypeDevice, device}, flags};

    return mcMemPoolSetAccess(pool, &desc, 1);
}

static mcMemAccessFlags access_of(mcMemPool_t pool, int device)
{
    mcMemLocation where = {mcMemLocationTypeDevice, device};
    mcMemAccessFlags flags;

    ok(mcMemPoolGetAccess(&flags, pool, &where));
    return flags;
}

static uint32_t *from_pool(mcMemPool_t pool, size_t size)
{
    uint32_t *p;

    ok(mcSetDevice(1));
    ok(mcMallocFromPoolAsync((void **)&p, size, pool, NULL));
    ok(mcMemsetAsync(p, 0, size, NULL));
    ok(mcDeviceSynchronize());
    ok(mcSetDevice(0));
    return p;
}

/* What an address says of the current device's access is what there is. */
static void seen(const void *p, bool yes)
{
    unsigned flags = 77;
    void *pointer;

    ok(mcPointerGetAttribute(&flags, mcPointerAttributeAccessFlags,
                             (mcDeviceptr_t)p));
    g_assert_cmpuint(flags, ==, yes ? mcMemAccessFlagsProtReadWrite
                                    : mcMemAccessFlagsProtNone);
    env_expect(mcPointerGetAttribute(&pointer,
                                     mcPointerAttributeDevicePointer,
                                     (mcDeviceptr_t)p),
               yes ? mcSuccess : mcErrorInvalidValue, "DevicePointer",
               __FILE__, __LINE__);
}

static void test_pointers(void)
{
    env_two_devices();
    uint32_t *d = on(1, 64, 0);
    seen(d, false);
    if (reach()) {
        ok(mcDeviceEnablePeerAccess(1, 0));
        seen(d, true);
        ok(mcDeviceDisablePeerAccess(1));
        seen(d, false);
    }
    ok(mcFree(d));
}

/* Device 0 uses a pool of device 1: what is there, and what comes. */
static void use_pool(mcMemAllocationHandleType types)
{
    const mcMemAccessFlags rw = mcMemAccessFlagsProtReadWrite;
    const mcMemAccessFlags none = mcMemAccessFlagsProtNone;
    mcMemPool_t pool = pool_on(1, types);
    uint32_t *p = from_pool(pool, 3u << 20), *q;

    g_assert_cmpint(access_of(pool, 1), ==, rw);
    g_assert_cmpint(access_of(pool, 0), ==, none);
    ok(let(pool, 0, none));
    seen(p, false);
    ok(let(pool, 0, rw));
    ok(let(pool, 0, rw));
    seen(p, true);
    g_assert_cmpint(access_of(pool, 0), ==, rw);
    add(p, 1000, 5, NULL);
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(word(p + 999), ==, 5);
    q = from_pool(pool, 9u << 20);
    add(q, 1000, 6, NULL);
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(word(q), ==, 6);
    /* A bad one in the list: nothing is done. */
    mcMemAccessDesc list[2] = {{{mcMemLocationTypeDevice, 0}, none},
                               {{mcMemLocationTypeDevice, 99}, rw}};
    fails(mcErrorInvalidValue, mcMemPoolSetAccess(pool, list, 2));
    g_assert_cmpint(access_of(pool, 0), ==, rw);
    /* Taken away, after what runs. */
    add(q, 1000, 1, NULL);
    ok(let(pool, 0, none));
    g_assert_cmpint(access_of(pool, 0), ==, none);
    g_assert_cmpuint(word(q), ==, 7);
    add(q, 1000, 1, NULL);
    fails(mcErrorIllegalAddress, mcDeviceSynchronize());
    ok(mcDeviceReset());
    env_forget();
    /* A reset of the one that sees it ends it, too. */
    ok(let(pool, 0, rw));
    ok(mcDeviceReset());
    env_forget();
    g_assert_cmpint(access_of(pool, 0), ==, none);
    ok(let(pool, 0, rw));
    add(p, 1, 1, NULL);
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(word(p), ==, 6);
    ok(mcFree(p));
    ok(mcFree(q));
    ok(mcMemPoolDestroy(pool));
}

static void test_pools(void)
{
    env_two_devices();
    if (!reach()) {
        mcMemPool_t pool = pool_on(1, mcMemHandleTypeNone);

        fails(mcErrorPeerAccessUnsupported,
              let(pool, 0, mcMemAccessFlagsProtReadWrite));
        ok(let(pool, 0, mcMemAccessFlagsProtNone));
        ok(mcMemPoolDestroy(pool));
        return;
    }
    use_pool(mcMemHandleTypeNone);
    use_pool(mcMemHandleTypePosixFileDescriptor);
    /* Access to the device is not access to its pools. */
    mcMemPool_t pool = pool_on(1, mcMemHandleTypeNone);
    uint32_t *p = from_pool(pool, 4096);
    ok(mcDeviceEnablePeerAccess(1, 0));
    g_assert_cmpint(access_of(pool, 0), ==, mcMemAccessFlagsProtNone);
    ok(let(pool, 0, mcMemAccessFlagsProtReadWrite));
    ok(mcDeviceDisablePeerAccess(1)); /* and the other way */
    add(p, 1, 3, NULL);
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(word(p), ==, 3);
    ok(mcFree(p));
    ok(mcMemPoolDestroy(pool));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/peer/answers", test_answers);
    g_test_add_func("/peer/contexts", test_contexts);
    g_test_add_func("/peer/kernels", test_kernels);
    g_test_add_func("/peer/no-access", test_no_access);
    g_test_add_func("/peer/resets", test_resets);
    g_test_add_func("/peer/copies", test_copies);
    g_test_add_func("/peer/freed-meanwhile", test_freed_meanwhile);
    g_test_add_func("/peer/threads", test_threads);
    g_test_add_func("/peer/pointers", test_pointers);
    g_test_add_func("/peer/pools", test_pools);
    return g_test_run();
}
