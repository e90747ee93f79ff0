/* SPDX-License-Identifier: MIT */
/* What calls cost with many objects alive, counted in nodes of trees that are
 * looked at: a few paths each, whatever the number of objects. */
#include <stdlib.h>

#include "base/tree.h"
#include "env.h"
#include "fake.h"

/* Paths of trees of 10^5 nodes; a call goes down a handful of them. */
#define LIMIT (12 * 25)

static uint64_t most, all, calls;

#define counted(call)                                                          \
    do {                                                                       \
        uint64_t before_ = mc_tree_steps();                                    \
        ok(call);                                                              \
        before_ = mc_tree_steps() - before_;                                   \
        most = before_ > most ? before_ : most;                                \
        all += before_;                                                        \
        calls++;                                                               \
    } while (0)

/* Every number below count once, neighbours far apart. */
static unsigned scattered(unsigned i, unsigned count)
{
    return (i * 7919ull) % count;
}

static void test_malloc(void)
{
    enum { COUNT = 50000 };
    void **p = g_new0(void *, COUNT);

    most = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        counted(mcMalloc(&p[i], 256 + 256 * (i % 3)));
    }
    for (unsigned i = 0; i < COUNT; i += 2) {
        counted(mcFree(p[scattered(i, COUNT)]));
        p[scattered(i, COUNT)] = NULL;
    }
    for (unsigned i = 0; i < COUNT; i += 2) {
        counted(mcMalloc(&p[scattered(i, COUNT)], 700 + i % 5000));
    }
    for (unsigned i = 0; i < COUNT; i++) {
        counted(mcFree(p[scattered(i, COUNT)]));
    }
    g_assert_cmpuint(most, >, 0);
    g_assert_cmpuint(most, <, LIMIT);
    g_free(p);
}

/* What is pending, and in which order it was freed, costs nothing either. Now
 * and then one call tidies up what many have left. */
static void test_pool(void)
{
    enum { COUNT = 50000 };
    void **p = g_new0(void *, COUNT);
    uint64_t *gate;
    mcStream_t s[2];

    ok(mcMallocHost((void **)&gate, 8, 0));
    *gate = 0;
    all = calls = 0;
    for (unsigned i = 0; i < 2; i++) {
        ok(mcStreamCreateWithFlags(&s[i], mcStreamNonBlocking));
        ok(mcStreamWaitValue64(s[i], gate, 1, MC_STREAM_WAIT_VALUE_GEQ));
    }
    for (unsigned i = 0; i < COUNT; i++) {
        counted(mcMallocAsync(&p[i], 256 + 256 * (i % 3), s[i & 1]));
    }
    for (unsigned i = 0; i < COUNT; i += 2) {
        counted(mcFreeAsync(p[scattered(i, COUNT)], s[i >> 1 & 1]));
    }
    for (unsigned i = 0; i < COUNT; i += 2) {
        counted(mcMallocAsync(&p[scattered(i, COUNT)], 256 + i % 1000,
                              s[i >> 2 & 1]));
    }
    for (unsigned i = 0; i < COUNT; i++) {
        counted(mcFreeAsync(p[scattered(i, COUNT)], s[i & 1]));
    }
    g_assert_cmpuint(all, >, 0);
    g_assert_cmpuint(all / calls, <, LIMIT);
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < 2; i++) {
        ok(mcStreamDestroy(s[i]));
    }
    ok(mcFreeHost(gate));
    g_free(p);
}

static void test_events(void)
{
    enum { COUNT = 50000 };
    mcEvent_t *e = g_new0(mcEvent_t, COUNT);

    most = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        counted(mcEventCreate(&e[i]));
    }
    for (unsigned i = 0; i < COUNT; i += 100) {
        counted(mcEventRecord(e[i], NULL));
        counted(mcEventSynchronize(e[i]));
    }
    for (unsigned i = 0; i < COUNT; i++) {
        counted(mcEventDestroy(e[scattered(i, COUNT)]));
    }
    g_assert_cmpuint(most, <, LIMIT);
    g_free(e);
}

/* Streams beyond the queues share them. */
static void test_streams(void)
{
    enum { COUNT = 50000 };
    mcStream_t *s = g_new0(mcStream_t, COUNT);

    most = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        counted(mcStreamCreate(&s[i]));
    }
    for (unsigned i = 0; i < COUNT; i += 1000) {
        counted(mcStreamSynchronize(s[i]));
    }
    for (unsigned i = 0; i < COUNT; i++) {
        counted(mcStreamDestroy(s[scattered(i, COUNT)]));
    }
    g_assert_cmpuint(most, <, LIMIT);
    g_free(s);
}

static void test_registrations(void)
{
    enum { COUNT = 5120, SIZE = 64 }; /* whole pages */
    uint8_t *memory = aligned_alloc(4096, COUNT * SIZE);
    void *device;

    g_assert_nonnull(memory);
    memset(memory, 0, COUNT * SIZE);
    most = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        counted(mcHostRegister(memory + SIZE * scattered(i, COUNT), SIZE, 0));
        counted(mcHostGetDevicePointer(&device,
                                       memory + SIZE * scattered(i, COUNT),
                                       0));
    }
    for (unsigned i = 0; i < COUNT; i++) {
        counted(mcHostUnregister(memory + SIZE * i));
    }
    g_assert_cmpuint(most, <, LIMIT);
    free(memory);
}

static void test_modules(void)
{
    enum { COUNT = 300 };
    mcModule_t m[COUNT];
    mcFunction_t f;

    most = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        /* Each of its kernels is an object. */
        ok(mcModuleLoadData(&m[i], env_image));
        counted(mcModuleGetFunction(&f, m[i], "k_empty"));
    }
    for (unsigned i = 0; i < COUNT; i++) {
        ok(mcModuleUnload(m[scattered(i, COUNT)]));
    }
    g_assert_cmpuint(most, <, LIMIT);
}

/* ---- what is asked of the device, which in a guest costs microseconds ---- */

static void expect_asked(unsigned rings)
{
    g_assert_cmpuint(__atomic_exchange_n(&fake.rings, 0, __ATOMIC_RELAXED), ==,
                     rings);
    g_assert_cmpuint(fake.sleeps, ==, 0);
    g_assert_cmpuint(fake.looks, ==, 0);
}

/* One doorbell a launch that finds room; nothing of what is over, or of memory
 * that is there. */
static void test_asked(void)
{
    enum { COUNT = 400 };
    void *p;

    ok(env_launch("k_empty", 1, NULL, NULL));
    ok(mcMalloc(&p, 256));
    while (mcStreamQuery(NULL) == mcErrorNotReady) {
        g_thread_yield();
    }
    ok(mcDeviceSynchronize());
    fake.rings = fake.sleeps = fake.looks = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        ok(env_launch("k_empty", 1, NULL, NULL));
    }
    expect_asked(COUNT);
    while (mcStreamQuery(NULL) == mcErrorNotReady) {
        g_thread_yield();
    }
    fake.rings = fake.sleeps = fake.looks = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        void *q;

        ok(mcStreamSynchronize(NULL));
        ok(mcDeviceSynchronize());
        ok(mcMalloc(&q, 256));
        ok(mcFree(q));
    }
    expect_asked(0);
    ok(mcFree(p));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    fake.vram = 1ull << 30;
    g_test_add_func("/cost/malloc", test_malloc);
    g_test_add_func("/cost/pool", test_pool);
    g_test_add_func("/cost/events", test_events);
    g_test_add_func("/cost/streams", test_streams);
    g_test_add_func("/cost/registrations", test_registrations);
    g_test_add_func("/cost/modules", test_modules);
    g_test_add_func("/cost/asked", test_asked);
    return g_test_run();
}
