/* SPDX-License-Identifier: MIT */
/* The stream-ordered allocator. Streams that wait for a gate show what is
 * reused before they have come so far. */
#include <stdlib.h>

#include "env.h"

#define MIB (1ull << 20)

/* Work behind it in a stream waits until it is opened. */
static uint64_t *gate_close(mcStream_t stream)
{
    uint64_t *gate = env_malloc_host(8);

    *gate = 0;
    ok(mcStreamWaitValue64(stream, gate, 1, MC_STREAM_WAIT_VALUE_GEQ));
    return gate;
}

/* Frees it, too: everything is over. */
static void gate_open(uint64_t *gate)
{
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    ok(mcDeviceSynchronize());
    ok(mcFreeHost(gate));
}

/* Returns when the stream has come so far, without synchronising. */
static void pass(mcStream_t stream)
{
    static uint64_t *word;
    static uint64_t number;

    word = word ? word : env_malloc_host(8);
    ok(mcStreamWriteValue64(stream, word, ++number, 0));
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < number) {
        g_thread_yield();
    }
}

static mcStream_t stream_new(void)
{
    mcStream_t s;

    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    return s;
}

static mcMemPool_t pool_new(size_t max)
{
    mcMemPoolProps props = {
        .allocType = mcMemAllocationTypePinned,
        .location = {.type = mcMemLocationTypeDevice, .id = 0},
        .maxSize = max,
    };
    mcMemPool_t pool;

    ok(mcMemPoolCreate(&pool, &props));
    return pool;
}

static void set(mcMemPool_t pool, mcMemPoolAttr attr, uint64_t value)
{
    int word = (int)value;

    ok(mcMemPoolSetAttribute(pool, attr,
                             attr <= mcMemPoolReuseAllowInternalDependencies
                                 ? (void *)&word
                                 : (void *)&value));
}

static uint64_t get(mcMemPool_t pool, mcMemPoolAttr attr)
{
    uint64_t value = 0;
    int word = 0;

    if (attr <= mcMemPoolReuseAllowInternalDependencies) {
        ok(mcMemPoolGetAttribute(pool, attr, &word));
        return word;
    }
    ok(mcMemPoolGetAttribute(pool, attr, &value));
    return value;
}

/* One that keeps what it has. */
static mcMemPool_t keeping_pool(void)
{
    mcMemPool_t pool = pool_new(0);

    set(pool, mcMemPoolAttrReleaseThreshold, UINT64_MAX);
    return pool;
}

static void *from(mcMemPool_t pool, size_t size, mcStream_t stream)
{
    void *p = NULL;

    ok(mcMallocFromPoolAsync(&p, size, pool, stream));
    g_assert_nonnull(p);
    return p;
}

static void test_basic(void)
{
    mcStream_t s = stream_new();
    uint8_t in[1000], out[1000];
    mcPointerAttribute_t a;
    mcDeviceptr_t base;
    size_t size;
    void *p, *q;

    env_pattern(in, sizeof(in), 1);
    ok(mcMallocAsync(&p, sizeof(in), s));
    ok(mcMemAllocAsync(&q, sizeof(in), s));
    g_assert_cmpuint((uintptr_t)p % 256, ==, 0);
    g_assert_true(p != q);
    ok(mcMemcpyAsync(p, in, sizeof(in), mcMemcpyHostToDevice, s));
    ok(mcMemcpyAsync(q, p, sizeof(in), mcMemcpyDeviceToDevice, s));
    ok(mcMemcpyAsync(out, q, sizeof(in), mcMemcpyDeviceToHost, s));
    ok(mcPointerGetAttributes(&a, (char *)q + 3));
    g_assert_cmpint(a.type, ==, mcMemoryTypeDevice);
    g_assert_cmpint(a.device, ==, 0);
    ok(mcMemGetAddressRange(&base, &size, (char *)q + 3));
    g_assert_true(base == q);
    g_assert_cmpuint(size, ==, sizeof(in));
    fails(mcErrorInvalidValue, mcMemset(p, 0, sizeof(in) + 1));
    ok(mcFreeAsync(p, s));
    ok(mcMemFreeAsync(q, s));
    ok(mcStreamSynchronize(s));
    g_assert_cmpmem(in, sizeof(in), out, sizeof(out));
    /* In the default streams, too. */
    ok(mcMallocAsync(&p, 1, NULL));
    ok(mcFreeAsync(p, mcStreamPerThread));
    ok(mcMallocAsync(&p, 5 * MIB + 1, mcStreamPerThread));
    ok(mcMemsetAsync(p, 1, 5 * MIB + 1, mcStreamPerThread));
    ok(mcFreeAsync(p, mcStreamLegacy));
    ok(mcDeviceSynchronize());
    ok(mcStreamDestroy(s));
}

static void test_errors(void)
{
    mcMemPool_t pool = pool_new(0);
    mcStream_t s = stream_new();
    void *p = NULL, *host = env_malloc_host(100);
    size_t total;
    int local;

    ok(mcMemGetInfo(NULL, &total));
    fails(mcErrorInvalidValue, mcMallocAsync(NULL, 1, s));
    fails(mcErrorInvalidValue, mcMallocFromPoolAsync(NULL, 1, pool, s));
    fails(mcErrorInvalidValue, mcMallocFromPoolAsync(&p, 1, NULL, s));
    fails(mcErrorInvalidValue,
          mcMemAllocFromPoolAsync(&p, 1, (mcMemPool_t)s, s));
    fails(mcErrorInvalidResourceHandle,
          mcMallocAsync(&p, 1, (mcStream_t)pool));
    fails(mcErrorInvalidResourceHandle,
          mcMallocFromPoolAsync(&p, 1, pool, (mcStream_t)&local));
    fails(mcErrorMemoryAllocation, mcMallocAsync(&p, total + 1, s));
    fails(mcErrorMemoryAllocation, mcMallocAsync(&p, SIZE_MAX, s));
    fails(mcErrorMemoryAllocation, mcMallocAsync(&p, SIZE_MAX - 100, s));
    ok(mcMallocAsync(&p, 0, s));
    g_assert_null(p);
    fails(mcErrorInvalidValue, mcFreeAsync(NULL, s));
    fails(mcErrorInvalidValue, mcFreeAsync(&local, s));
    fails(mcErrorInvalidValue, mcFreeAsync(host, s));
    p = from(pool, 1000, s);
    fails(mcErrorInvalidValue, mcFreeAsync((char *)p + 256, s));
    fails(mcErrorInvalidResourceHandle, mcFreeAsync(p, (mcStream_t)&local));
    ok(mcFreeAsync(p, s));
    fails(mcErrorInvalidValue, mcFreeAsync(p, s));
    fails(mcErrorInvalidValue, mcMemFreeAsync(p, s));
    fails(mcErrorInvalidDevicePointer, mcFree(p));
    ok(mcFreeHost(host));
    ok(mcMemPoolDestroy(pool));
    ok(mcStreamDestroy(s));
}

static void test_same_stream(void)
{
    mcMemPool_t pool = keeping_pool();
    mcStream_t s = stream_new(), t = stream_new();
    uint64_t *gate = gate_close(s);
    void *p = from(pool, 1000, s), *q;

    ok(mcMemsetAsync(p, 1, 1000, s));
    ok(mcFreeAsync(p, s));
    q = from(pool, 1000, t); /* s is not done with the other */
    g_assert_true(p != q);
    g_assert_true(from(pool, 900, s) == p);
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 2 * MIB);
    gate_open(gate);
    ok(mcFreeAsync(p, s));
    ok(mcFreeAsync(q, t));
    ok(mcStreamDestroy(s));
    ok(mcStreamDestroy(t));
    ok(mcMemPoolDestroy(pool));
}

/* How t may come behind what s has freed. */
typedef enum Way { DIRECT, TRANSITIVE, TOO_EARLY } Way;

static void *reuse_by_event(mcMemPool_t pool, Way way, void **first)
{
    mcStream_t s = stream_new(), t = stream_new(), between = stream_new();
    uint64_t *gate = gate_close(s);
    uint8_t byte = 0;
    mcEvent_t event, other;

    ok(mcEventCreateWithFlags(&event, mcEventDisableTiming));
    ok(mcEventCreateWithFlags(&other, mcEventDisableTiming));
    void *p = from(pool, 2 * MIB, s);
    ok(mcMemsetAsync(p, 1, 2 * MIB, s));
    if (way == TOO_EARLY) {
        ok(mcEventRecord(event, s));
    }
    ok(mcMemsetAsync(p, 2, 2 * MIB, s));
    ok(mcFreeAsync(p, s));
    if (way != TOO_EARLY) {
        ok(mcEventRecord(event, s));
    }
    if (way == TRANSITIVE) {
        ok(mcStreamWaitEvent(between, event, 0));
        ok(mcEventRecord(other, between));
    }
    ok(mcStreamWaitEvent(t, way == TRANSITIVE ? other : event, 0));
    void *q = from(pool, 2 * MIB, t);
    ok(mcMemsetAsync(q, 3, 2 * MIB, t));
    fails(mcErrorNotReady, mcStreamQuery(t));
    gate_open(gate);
    ok(mcMemcpy(&byte, (char *)q + MIB, 1, mcMemcpyDeviceToHost));
    g_assert_cmpuint(byte, ==, 3);
    ok(mcFreeAsync(q, t));
    ok(mcDeviceSynchronize());
    ok(mcEventDestroy(event));
    ok(mcEventDestroy(other));
    ok(mcStreamDestroy(s));
    ok(mcStreamDestroy(t));
    ok(mcStreamDestroy(between));
    *first = p;
    return q;
}

static void test_event(void)
{
    mcMemPool_t pool = keeping_pool();
    void *p;

    g_assert_true(reuse_by_event(pool, DIRECT, &p) == p);
    g_assert_true(reuse_by_event(pool, TRANSITIVE, &p) == p);
    g_assert_true(reuse_by_event(pool, TOO_EARLY, &p) != p);
    ok(mcMemPoolTrimTo(pool, 0));
    set(pool, mcMemPoolReuseFollowEventDependencies, 0);
    g_assert_true(reuse_by_event(pool, DIRECT, &p) != p);
    ok(mcMemPoolDestroy(pool));
}

static void test_opportunistic(void)
{
    for (int allowed = 1; allowed >= 0; allowed--) {
        mcMemPool_t pool = keeping_pool();
        mcStream_t s = stream_new(), t = stream_new();
        void *p = from(pool, 2 * MIB, s);

        set(pool, mcMemPoolReuseAllowOpportunistic, allowed);
        ok(mcMemsetAsync(p, 1, 1000, s));
        ok(mcFreeAsync(p, s));
        pass(s);
        void *q = from(pool, 2 * MIB, t);
        g_assert_true((p == q) == allowed);
        if (!allowed) { /* the host knows it now */
            void *other = from(pool, 2 * MIB, t);

            g_assert_true(other != p);
            ok(mcFreeAsync(other, t));
            ok(mcStreamSynchronize(s));
            other = from(pool, 2 * MIB, t);
            ok(mcStreamSynchronize(s));
            ok(mcFreeAsync(other, t));
            g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==,
                             6 * MIB);
        }
        ok(mcFreeAsync(q, t));
        ok(mcStreamDestroy(s));
        ok(mcStreamDestroy(t));
        ok(mcMemPoolDestroy(pool));
    }
}

/* Without opportunism, synchronising is what makes memory anybody's. */
static void test_synchronised(void)
{
    mcMemPool_t pool = keeping_pool();
    mcStream_t s = stream_new(), t = stream_new();
    void *p = from(pool, 2 * MIB, s);

    set(pool, mcMemPoolReuseAllowOpportunistic, 0);
    ok(mcMemsetAsync(p, 1, 1000, s));
    ok(mcFreeAsync(p, s));
    pass(s);
    ok(mcStreamSynchronize(t)); /* another one */
    ok(mcStreamSynchronize(s));
    g_assert_true(from(pool, 2 * MIB, t) == p);
    ok(mcFreeAsync(p, t));
    ok(mcStreamDestroy(s));
    ok(mcStreamDestroy(t));
    ok(mcMemPoolDestroy(pool));
}

static void test_internal(void)
{
    mcMemPool_t pool = pool_new(4 * MIB);
    mcStream_t s = stream_new(), t = stream_new();
    void *p, *q;

    for (int allowed = 1; allowed >= 0; allowed--) {
        uint64_t *gate = gate_close(s);
        uint8_t byte = 0;

        p = from(pool, 4 * MIB, s);
        set(pool, mcMemPoolReuseAllowInternalDependencies, allowed);
        ok(mcMemsetAsync(p, 1, 4 * MIB, s));
        fails(mcErrorMemoryAllocation,
              mcMallocFromPoolAsync(&q, 4 * MIB, pool, t));
        ok(mcFreeAsync(p, s));
        if (allowed) {
            q = from(pool, 4 * MIB, t);
            g_assert_true(p == q);
            ok(mcMemsetAsync(q, 2, 4 * MIB, t));
            fails(mcErrorNotReady, mcStreamQuery(t));
        } else {
            fails(mcErrorMemoryAllocation,
                  mcMallocFromPoolAsync(&q, 4 * MIB, pool, t));
            q = from(pool, 4 * MIB, s);
            ok(mcMemsetAsync(q, 2, 4 * MIB, s));
        }
        gate_open(gate);
        ok(mcMemcpy(&byte, (char *)q + MIB, 1, mcMemcpyDeviceToHost));
        g_assert_cmpuint(byte, ==, 2);
        ok(mcFreeAsync(q, t));
        ok(mcStreamSynchronize(t));
    }
    ok(mcStreamDestroy(s));
    ok(mcStreamDestroy(t));
    ok(mcMemPoolDestroy(pool));
}

/* What the default stream waits for, and who waits for it, counts. */
static void test_default_stream(void)
{
    mcMemPool_t pool = keeping_pool();
    mcStream_t apart = stream_new(), s;
    void *p, *q;

    ok(mcStreamCreate(&s));
    uint64_t *gate = gate_close(s);
    p = from(pool, 2 * MIB, s);
    ok(mcMemsetAsync(p, 1, 1000, s));
    ok(mcFreeAsync(p, NULL)); /* behind s */
    q = from(pool, 2 * MIB, apart);
    g_assert_true(q != p);
    g_assert_true(from(pool, 2 * MIB, s) == p); /* in order with it */
    gate_open(gate);
    ok(mcFreeAsync(p, s));
    ok(mcFreeAsync(q, apart));
    ok(mcDeviceSynchronize());
    ok(mcMemPoolTrimTo(pool, 0));

    gate = gate_close(NULL);
    p = from(pool, 2 * MIB, NULL);
    ok(mcMemsetAsync(p, 1, 1000, NULL));
    ok(mcFreeAsync(p, s)); /* which waits for the default stream */
    q = from(pool, 2 * MIB, apart);
    g_assert_true(q != p);
    g_assert_true(from(pool, 2 * MIB, NULL) == p);
    gate_open(gate);
    ok(mcFree(p));
    ok(mcFree(q));
    ok(mcStreamDestroy(s));
    ok(mcStreamDestroy(apart));
    ok(mcMemPoolDestroy(pool));
}

/* A stream whose memory comes from another one is done when that is. */
static void test_sync_covers_reuse(void)
{
    mcMemPool_t pool = keeping_pool();
    mcStream_t s, t = stream_new();
    void *p;

    ok(mcStreamCreate(&s));
    uint64_t *gate = gate_close(s);
    p = from(pool, 2 * MIB, s);
    ok(mcFreeAsync(p, s));
    g_assert_true(from(pool, 2 * MIB, NULL) == p);
    fails(mcErrorNotReady, mcStreamQuery(NULL));
    gate_open(gate);
    ok(mcFree(p));
    ok(mcStreamDestroy(s));
    ok(mcStreamDestroy(t));
    ok(mcMemPoolDestroy(pool));
}

static void test_join(void)
{
    mcMemPool_t pool = pool_new(2 * MIB);
    mcStream_t s = stream_new();
    uint64_t *gate = gate_close(s);
    enum { COUNT = 16 };
    void *p[COUNT];

    for (unsigned i = 0; i < COUNT; i++) {
        p[i] = from(pool, 2 * MIB / COUNT, s);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        ok(mcFreeAsync(p[i * 7 % COUNT], s));
    }
    void *all = from(pool, 2 * MIB, s); /* s is not done with any */
    gate_open(gate);
    ok(mcFreeAsync(all, s));
    g_assert_cmpuint(get(pool, mcMemPoolAttrUsedMemHigh), ==, 2 * MIB);
    ok(mcStreamDestroy(s));
    ok(mcMemPoolDestroy(pool));
}

static void test_threshold(void)
{
    mcMemPool_t pool = pool_new(0);
    mcStream_t s = stream_new();
    mcEvent_t event;
    size_t before, now;

    ok(mcEventCreate(&event));
    ok(mcDeviceSynchronize());
    ok(mcMemGetInfo(&before, NULL));
    for (unsigned how = 0; how < 3; how++) {
        void *p = from(pool, 8 * MIB, s), *q = from(pool, 100, s);

        g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==,
                         10 * MIB);
        ok(mcFreeAsync(p, s));
        ok(mcFreeAsync(q, s));
        g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==,
                         10 * MIB);
        ok(mcEventRecord(event, s));
        ok(how == 0   ? mcStreamSynchronize(s)
           : how == 1 ? mcEventSynchronize(event)
                      : mcDeviceSynchronize());
        g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 0);
        ok(mcMemGetInfo(&now, NULL));
        g_assert_cmpuint(now, ==, before);
    }
    set(pool, mcMemPoolAttrReleaseThreshold, 2 * MIB);
    void *p = from(pool, 8 * MIB, s), *q = from(pool, 100, s);
    ok(mcFreeAsync(p, s));
    ok(mcFreeAsync(q, s));
    ok(mcStreamSynchronize(s));
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 2 * MIB);
    set(pool, mcMemPoolAttrReleaseThreshold, 0);
    ok(mcStreamSynchronize(s));
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 0);
    ok(mcEventDestroy(event));
    ok(mcStreamDestroy(s));
    ok(mcMemPoolDestroy(pool));
}

static void test_trim(void)
{
    mcMemPool_t pool = keeping_pool();
    mcStream_t s = stream_new();
    void *p[4];

    for (unsigned i = 0; i < 4; i++) {
        p[i] = from(pool, 4 * MIB, s);
    }
    uint64_t *gate = gate_close(s);
    ok(mcFreeAsync(p[0], s));
    ok(mcFreeAsync(p[1], s));
    ok(mcMemPoolTrimTo(pool, 0)); /* s has not come so far */
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 16 * MIB);
    gate_open(gate);
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 16 * MIB);
    ok(mcMemPoolTrimTo(pool, 20 * MIB));
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 16 * MIB);
    ok(mcMemPoolTrimTo(pool, 11 * MIB)); /* at least so many stay */
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 12 * MIB);
    ok(mcMemPoolTrimTo(pool, 0)); /* what is in use stays */
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 8 * MIB);
    ok(mcMemset(p[2], 1, 4 * MIB));
    ok(mcFree(p[2]));
    ok(mcFree(p[3]));
    pass(NULL); /* the fill */
    ok(mcMemPoolTrimTo(pool, 0));
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 0);
    fails(mcErrorInvalidValue, mcMemPoolTrimTo(NULL, 0));
    ok(mcStreamDestroy(s));
    ok(mcMemPoolDestroy(pool));
    fails(mcErrorInvalidValue, mcMemPoolTrimTo(pool, 0));
}

static void test_attributes(void)
{
    mcMemPool_t pool = pool_new(0);
    mcStream_t s = stream_new();
    uint64_t value = 1;

    for (int a = mcMemPoolReuseFollowEventDependencies;
         a <= mcMemPoolReuseAllowInternalDependencies; a++) {
        g_assert_cmpuint(get(pool, a), ==, 1);
        set(pool, a, 0);
        g_assert_cmpuint(get(pool, a), ==, 0);
        set(pool, a, 1);
        g_assert_cmpuint(get(pool, a), ==, 1);
    }
    g_assert_cmpuint(get(pool, mcMemPoolAttrReleaseThreshold), ==, 0);
    set(pool, mcMemPoolAttrReleaseThreshold, UINT64_MAX);
    g_assert_cmpuint(get(pool, mcMemPoolAttrReleaseThreshold), ==, UINT64_MAX);
    for (int a = mcMemPoolAttrReservedMemCurrent; a <= mcMemPoolAttrUsedMemHigh;
         a++) {
        g_assert_cmpuint(get(pool, a), ==, 0);
    }
    void *p = from(pool, MIB, s), *q = from(pool, 100, s);
    g_assert_cmpuint(get(pool, mcMemPoolAttrUsedMemCurrent), ==, MIB + 256);
    ok(mcFreeAsync(p, s));
    g_assert_cmpuint(get(pool, mcMemPoolAttrUsedMemCurrent), ==, 256);
    g_assert_cmpuint(get(pool, mcMemPoolAttrUsedMemHigh), ==, MIB + 256);
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemHigh), ==, 2 * MIB);
    set(pool, mcMemPoolAttrUsedMemHigh, 0);
    g_assert_cmpuint(get(pool, mcMemPoolAttrUsedMemHigh), ==, 256);
    ok(mcFreeAsync(q, s));
    ok(mcStreamSynchronize(s));
    ok(mcMemPoolTrimTo(pool, 0));
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemHigh), ==, 2 * MIB);
    set(pool, mcMemPoolAttrReservedMemHigh, 0);
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemHigh), ==, 0);

    fails(mcErrorInvalidValue, mcMemPoolSetAttribute(
              pool, mcMemPoolAttrReservedMemCurrent, &value));
    fails(mcErrorInvalidValue, mcMemPoolSetAttribute(
              pool, mcMemPoolAttrUsedMemCurrent, &value));
    fails(mcErrorInvalidValue, mcMemPoolSetAttribute(
              pool, mcMemPoolAttrReservedMemHigh, &value));
    fails(mcErrorInvalidValue, mcMemPoolSetAttribute(
              pool, mcMemPoolAttrUsedMemHigh, &value));
    fails(mcErrorInvalidValue,
          mcMemPoolSetAttribute(pool, (mcMemPoolAttr)0, &value));
    fails(mcErrorInvalidValue,
          mcMemPoolGetAttribute(pool, (mcMemPoolAttr)9, &value));
    fails(mcErrorInvalidValue, mcMemPoolGetAttribute(
              pool, mcMemPoolAttrReleaseThreshold, NULL));
    fails(mcErrorInvalidValue, mcMemPoolSetAttribute(
              pool, mcMemPoolAttrReleaseThreshold, NULL));
    fails(mcErrorInvalidValue, mcMemPoolGetAttribute(
              NULL, mcMemPoolAttrReleaseThreshold, &value));
    fails(mcErrorInvalidValue, mcMemPoolSetAttribute(
              (mcMemPool_t)s, mcMemPoolAttrReleaseThreshold, &value));
    ok(mcStreamDestroy(s));
    ok(mcMemPoolDestroy(pool));
}

static void test_create(void)
{
    mcMemPoolProps props = {
        .allocType = mcMemAllocationTypePinned,
        .location = {.type = mcMemLocationTypeDevice, .id = 0},
    }, bad;
    mcMemPool_t pool;
    int count;

    ok(mcGetDeviceCount(&count));
    ok(mcMemPoolCreate(&pool, &props));
    ok(mcMemPoolDestroy(pool));
    fails(mcErrorInvalidValue, mcMemPoolCreate(NULL, &props));
    fails(mcErrorInvalidValue, mcMemPoolCreate(&pool, NULL));
    bad = props;
    bad.allocType = mcMemAllocationTypeInvalid;
    fails(mcErrorInvalidValue, mcMemPoolCreate(&pool, &bad));
    bad = props;
    bad.location.type = mcMemLocationTypeInvalid;
    fails(mcErrorInvalidValue, mcMemPoolCreate(&pool, &bad));
    bad = props;
    bad.location.id = count;
    fails(mcErrorInvalidDevice, mcMemPoolCreate(&pool, &bad));
    bad.location.id = -1;
    fails(mcErrorInvalidDevice, mcMemPoolCreate(&pool, &bad));
    bad = props;
    bad.handleTypes = mcMemHandleTypeWin32;
    fails(mcErrorNotSupported, mcMemPoolCreate(&pool, &bad));
    bad.handleTypes = (mcMemAllocationHandleType)16;
    fails(mcErrorInvalidValue, mcMemPoolCreate(&pool, &bad));
}

static void test_destroy(void)
{
    mcMemPool_t pool, standard, now;
    mcStream_t s = stream_new();
    uint64_t *gate;
    size_t before, after;
    uint8_t byte;

    ok(mcDeviceGetDefaultMemPool(&standard, 0));
    ok(mcDeviceGetMemPool(&now, 0));
    g_assert_true(now == standard);
    fails(mcErrorInvalidValue, mcMemPoolDestroy(standard));
    fails(mcErrorInvalidValue, mcMemPoolDestroy(NULL));
    ok(mcDeviceSynchronize());
    ok(mcMemGetInfo(&before, NULL));
    pool = pool_new(0);
    ok(mcDeviceSetMemPool(0, pool));
    ok(mcDeviceGetMemPool(&now, 0));
    g_assert_true(now == pool);
    void *p, *q = from(pool, 2 * MIB, s);
    ok(mcMallocAsync(&p, 2 * MIB, s));
    g_assert_cmpuint(get(pool, mcMemPoolAttrUsedMemCurrent), ==, 4 * MIB);
    gate = gate_close(s);
    ok(mcFreeAsync(q, s));
    ok(mcMemPoolDestroy(pool));
    fails(mcErrorInvalidValue, mcMemPoolDestroy(pool));
    fails(mcErrorInvalidValue, mcMallocFromPoolAsync(&q, 1, pool, s));
    fails(mcErrorInvalidValue, mcDeviceSetMemPool(0, pool));
    ok(mcDeviceGetMemPool(&now, 0));
    g_assert_true(now == standard);
    ok(mcMemsetAsync(p, 7, 2 * MIB, s)); /* still there */
    gate_open(gate);
    ok(mcMemcpy(&byte, p, 1, mcMemcpyDeviceToHost));
    g_assert_cmpuint(byte, ==, 7);
    ok(mcMemGetInfo(&after, NULL));
    g_assert_cmpuint(before - after, ==, 2 * MIB);
    ok(mcFreeAsync(p, s));
    ok(mcStreamSynchronize(s));
    ok(mcMemGetInfo(&after, NULL));
    g_assert_cmpuint(after, ==, before);
    ok(mcStreamDestroy(s));
}

static void test_out_of_memory(void)
{
    mcMemPool_t pool = keeping_pool();
    mcStream_t s = stream_new(), t = stream_new();
    size_t left;
    void *p, *q;

    ok(mcMemGetInfo(&left, NULL));
    left = left - 16 * MIB;
    p = from(pool, left, s);
    fails(mcErrorMemoryAllocation, mcMallocAsync(&q, 32 * MIB, t));
    fails(mcErrorMemoryAllocation, mcMalloc(&q, 32 * MIB));
    ok(mcMallocAsync(&q, MIB, t)); /* the error is gone */
    ok(mcFreeAsync(q, t));
    ok(mcFreeAsync(p, s));
    ok(mcStreamSynchronize(s));
    /* What a pool holds back is there for others. */
    ok(mcMalloc(&q, left));
    ok(mcFree(q));
    p = from(pool, left, s);
    ok(mcFreeAsync(p, s));
    ok(mcStreamSynchronize(s));
    ok(mcMallocAsync(&q, left, t));
    ok(mcFreeAsync(q, t));
    ok(mcStreamSynchronize(t));
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 0);
    ok(mcStreamDestroy(s));
    ok(mcStreamDestroy(t));
    ok(mcMemPoolDestroy(pool));
}

static void test_both_kinds(void)
{
    mcStream_t s = stream_new();
    size_t before, now;
    void *p, *q;

    ok(mcDeviceSynchronize());
    ok(mcMemGetInfo(&before, NULL));
    p = env_malloc(8 * MIB);
    uint64_t *gate = gate_close(s);
    ok(mcMemsetAsync(p, 1, 8 * MIB, s));
    ok(mcFreeAsync(p, s));
    fails(mcErrorInvalidDevicePointer, mcFree(p));
    fails(mcErrorInvalidValue, mcFreeAsync(p, s));
    ok(mcMemGetInfo(&now, NULL));
    g_assert_cmpuint(before - now, >=, 8 * MIB);
    gate_open(gate);
    ok(mcMemGetInfo(&now, NULL));
    g_assert_cmpuint(now, ==, before);
    /* And the other way: nothing is waited for, but nobody gets it yet. */
    mcMemPool_t pool = pool_new(2 * MIB);
    gate = gate_close(s);
    q = from(pool, 2 * MIB, s);
    ok(mcMemsetAsync(q, 1, 2 * MIB, s));
    ok(mcFree(q));
    fails(mcErrorInvalidDevicePointer, mcFree(q));
    fails(mcErrorInvalidValue, mcFreeAsync(q, s));
    fails(mcErrorMemoryAllocation,
          mcMallocFromPoolAsync(&p, 2 * MIB, pool, NULL));
    ok(mcMemPoolTrimTo(pool, 0));
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 2 * MIB);
    gate_open(gate);
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 0);
    ok(mcFree(from(pool, 2 * MIB, NULL)));
    ok(mcMemPoolDestroy(pool));
    ok(mcStreamDestroy(s));
}

static void test_access(void)
{
    mcMemPool_t pool = pool_new(0);
    mcMemAccessFlags flags;
    mcMemLocation here = {mcMemLocationTypeDevice, 0}, bad = here;
    mcMemAccessDesc desc = {here, mcMemAccessFlagsProtReadWrite};

    ok(mcMemPoolGetAccess(&flags, pool, &here));
    g_assert_cmpint(flags, ==, mcMemAccessFlagsProtReadWrite);
    ok(mcMemPoolSetAccess(pool, &desc, 1));
    ok(mcMemPoolSetAccess(pool, NULL, 0));
    desc.flags = mcMemAccessFlagsProtNone;
    fails(mcErrorInvalidValue, mcMemPoolSetAccess(pool, &desc, 1));
    desc.flags = (mcMemAccessFlags)2;
    fails(mcErrorInvalidValue, mcMemPoolSetAccess(pool, &desc, 1));
    fails(mcErrorInvalidValue, mcMemPoolSetAccess(pool, NULL, 1));
    fails(mcErrorInvalidValue, mcMemPoolSetAccess(NULL, &desc, 1));
    fails(mcErrorInvalidValue, mcMemPoolGetAccess(NULL, pool, &here));
    fails(mcErrorInvalidValue, mcMemPoolGetAccess(&flags, pool, NULL));
    fails(mcErrorInvalidValue, mcMemPoolGetAccess(&flags, NULL, &here));
    bad.id = 1000;
    fails(mcErrorInvalidValue, mcMemPoolGetAccess(&flags, pool, &bad));
    desc = (mcMemAccessDesc){bad, mcMemAccessFlagsProtReadWrite};
    fails(mcErrorInvalidValue, mcMemPoolSetAccess(pool, &desc, 1));
    bad = (mcMemLocation){mcMemLocationTypeInvalid, 0};
    fails(mcErrorInvalidValue, mcMemPoolGetAccess(&flags, pool, &bad));
    ok(mcMemPoolDestroy(pool));
}

static void test_device_pools(void)
{
    mcMemPool_t a, b;
    int count;

    ok(mcGetDeviceCount(&count));
    fails(mcErrorInvalidValue, mcDeviceGetDefaultMemPool(NULL, 0));
    fails(mcErrorInvalidDevice, mcDeviceGetDefaultMemPool(&a, count));
    fails(mcErrorInvalidValue, mcDeviceGetMemPool(NULL, 0));
    fails(mcErrorInvalidDevice, mcDeviceGetMemPool(&a, -1));
    ok(mcDeviceGetDefaultMemPool(&a, 0));
    fails(mcErrorInvalidValue, mcDeviceSetMemPool(0, NULL));
    fails(mcErrorInvalidDevice, mcDeviceSetMemPool(count, a));
    ok(mcDeviceSetMemPool(0, a));
    env_two_devices();
    ok(mcDeviceGetDefaultMemPool(&b, 1));
    g_assert_true(a != b);
    fails(mcErrorInvalidValue, mcDeviceSetMemPool(0, b));
    /* A pool of one device in streams of another, which then goes. */
    mcStream_t s = stream_new();
    uint64_t *gate = gate_close(s);
    uint64_t keep = UINT64_MAX, zero = 0;
    ok(mcMemPoolSetAttribute(b, mcMemPoolAttrReleaseThreshold, &keep));
    void *p = from(b, 2 * MIB, s), *q = from(b, 2 * MIB, s);
    mcPointerAttribute_t attributes;
    ok(mcPointerGetAttributes(&attributes, p));
    g_assert_cmpint(attributes.device, ==, 1);
    ok(mcFreeAsync(p, s));
    g_assert_true(from(b, 2 * MIB, s) == p);
    ok(mcFreeAsync(p, s));
    ok(mcSetDevice(1));
    g_assert_true(from(b, 2 * MIB, NULL) != p);
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    ok(mcSetDevice(0));
    ok(mcDeviceReset());
    env_forget();
    fails(mcErrorInvalidValue, mcMemPoolTrimTo(a, 0));
    ok(mcSetDevice(1));
    g_assert_true(from(b, 2 * MIB, NULL) == p); /* nobody waits for it */
    ok(mcFree(q));
    ok(mcMemPoolSetAttribute(b, mcMemPoolAttrReleaseThreshold, &zero));
    ok(mcDeviceReset());
    ok(mcSetDevice(0));
    ok(mcFreeHost(gate));
}

enum { THREADS = 4, ROUNDS = 400 };

static gpointer churn(gpointer data)
{
    mcMemPool_t pool = data;
    mcStream_t s[2] = {stream_new(), stream_new()};
    mcEvent_t event;
    GRand *rand = g_rand_new_with_seed(GPOINTER_TO_UINT(&event) & 0xff);

    ok(mcEventCreateWithFlags(&event, mcEventDisableTiming));
    for (unsigned i = 0; i < ROUNDS; i++) {
        mcStream_t from_s = s[i & 1], to_s = s[g_rand_int(rand) & 1];
        size_t size = 4 * (1 + g_rand_int_range(rand, 0, 20000));
        uint32_t want = g_rand_int(rand), first = 0, last = 0;
        uint32_t *p = from(pool, size, from_s);

        ok(mcMemsetD32Async(p, want, size / 4, from_s));
        ok(mcEventRecord(event, from_s));
        ok(mcStreamWaitEvent(to_s, event, 0));
        ok(mcMemcpyAsync(&first, p, 4, mcMemcpyDeviceToHost, to_s));
        ok(mcMemcpyAsync(&last, p + size / 4 - 1, 4, mcMemcpyDeviceToHost,
                         to_s));
        ok(mcFreeAsync(p, to_s));
        g_assert_cmpuint(first, ==, want);
        g_assert_cmpuint(last, ==, want);
    }
    for (unsigned i = 0; i < 2; i++) {
        ok(mcStreamSynchronize(s[i]));
        ok(mcStreamDestroy(s[i]));
    }
    ok(mcEventDestroy(event));
    g_rand_free(rand);
    return NULL;
}

static void test_threads(void)
{
    mcMemPool_t pool = pool_new(0);
    GThread *threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        threads[i] = g_thread_new(NULL, churn, pool);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        g_thread_join(threads[i]);
    }
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(get(pool, mcMemPoolAttrUsedMemCurrent), ==, 0);
    g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==, 0);
    ok(mcMemPoolDestroy(pool));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runtime/mem-pool/basic", test_basic);
    g_test_add_func("/runtime/mem-pool/errors", test_errors);
    g_test_add_func("/runtime/mem-pool/same-stream", test_same_stream);
    g_test_add_func("/runtime/mem-pool/event", test_event);
    g_test_add_func("/runtime/mem-pool/opportunistic", test_opportunistic);
    g_test_add_func("/runtime/mem-pool/synchronised", test_synchronised);
    g_test_add_func("/runtime/mem-pool/internal", test_internal);
    g_test_add_func("/runtime/mem-pool/default-stream", test_default_stream);
    g_test_add_func("/runtime/mem-pool/sync-covers-reuse",
                    test_sync_covers_reuse);
    g_test_add_func("/runtime/mem-pool/join", test_join);
    g_test_add_func("/runtime/mem-pool/threshold", test_threshold);
    g_test_add_func("/runtime/mem-pool/trim", test_trim);
    g_test_add_func("/runtime/mem-pool/attributes", test_attributes);
    g_test_add_func("/runtime/mem-pool/create", test_create);
    g_test_add_func("/runtime/mem-pool/destroy", test_destroy);
    g_test_add_func("/runtime/mem-pool/out-of-memory", test_out_of_memory);
    g_test_add_func("/runtime/mem-pool/both-kinds", test_both_kinds);
    g_test_add_func("/runtime/mem-pool/access", test_access);
    g_test_add_func("/runtime/mem-pool/threads", test_threads);
    g_test_add_func("/runtime/mem-pool/device-pools", test_device_pools);
    return g_test_run();
}
