/* SPDX-License-Identifier: MIT */
/* Copies between memory of every kind, whose addresses tell the direction, one
 * by one and in batches. */
#include <stdlib.h>

#include "env.h"

#define SIZE (1300u << 10) /* several chunks of staging */

enum { PAGEABLE, PINNED, REGISTERED, MANAGED, NEAR, FAR, PLACES };

static const char *const names[] = {"pageable", "pinned", "registered",
                                    "managed", "device 0", "device 1"};

static uint8_t *memory[PLACES][2];
static uint8_t image[SIZE], out[SIZE];

static void memory_new(void)
{
    env_two_devices();
    for (unsigned i = 0; i < 2; i++) {
        memory[PAGEABLE][i] = g_malloc(SIZE);
        memory[PINNED][i] = env_malloc_host(SIZE);
        memory[REGISTERED][i] = g_malloc(SIZE);
        ok(mcHostRegister(memory[REGISTERED][i], SIZE, mcHostRegisterDefault));
        ok(mcMallocManaged((void **)&memory[MANAGED][i], SIZE,
                           mcMemAttachGlobal));
        memory[NEAR][i] = env_malloc(SIZE);
        ok(mcSetDevice(1));
        memory[FAR][i] = env_malloc(SIZE);
        ok(mcSetDevice(0));
    }
}

static void memory_free(void)
{
    for (unsigned i = 0; i < 2; i++) {
        g_free(memory[PAGEABLE][i]);
        ok(mcFreeHost(memory[PINNED][i]));
        ok(mcHostUnregister(memory[REGISTERED][i]));
        g_free(memory[REGISTERED][i]);
        ok(mcFree(memory[MANAGED][i]));
        ok(mcFree(memory[NEAR][i]));
        ok(mcFree(memory[FAR][i]));
    }
}

static bool is_device(unsigned place)
{
    return place == NEAR || place == FAR;
}

/* What is written and read by the way that belongs to the memory alone. */
static void put(unsigned place, unsigned which, const void *data, size_t size)
{
    if (is_device(place)) {
        ok(mcMemcpy(memory[place][which], data, size, mcMemcpyHostToDevice));
        ok(mcDeviceSynchronize());
    } else {
        memcpy(memory[place][which], data, size);
    }
}

static const void *get(unsigned place, unsigned which, size_t size)
{
    if (!is_device(place)) {
        return memory[place][which];
    }
    ok(mcMemcpy(out, memory[place][which], size, mcMemcpyDeviceToHost));
    return out;
}

static void test_pairs(void)
{
    static const size_t sizes[] = {1, 4096, 5000, SIZE};
    static uint8_t old[SIZE];
    mcStream_t stream;
    unsigned seed = 0;

    memory_new();
    ok(mcStreamCreateWithFlags(&stream, mcStreamNonBlocking));
    memset(old, 0xee, SIZE);
    for (unsigned from = 0; from < PLACES; from++) {
        for (unsigned to = 0; to < PLACES; to++) {
            for (unsigned i = 0; i < 2 * G_N_ELEMENTS(sizes); i++) {
                size_t size = sizes[i / 2];

                env_pattern(image, size, ++seed);
                put(from, 0, image, size);
                put(to, 1, old, size);
                if (i % 2) {
                    ok(mcMemcpy(memory[to][1], memory[from][0], size,
                                mcMemcpyDefault));
                } else {
                    ok(mcMemcpyAsync(memory[to][1], memory[from][0], size,
                                     mcMemcpyDefault, stream));
                    ok(mcStreamSynchronize(stream));
                }
                ok(mcDeviceSynchronize());
                if (memcmp(get(to, 1, size), image, size) != 0) {
                    g_error("%zu bytes from %s to %s", size, names[from],
                            names[to]);
                }
            }
        }
    }
    ok(mcStreamDestroy(stream));
    memory_free();
}

/* A kind that says something must be right. */
static void test_kinds(void)
{
    memory_new();
    for (unsigned from = 0; from < PLACES; from++) {
        for (unsigned to = 0; to < PLACES; to++) {
            for (int kind = mcMemcpyHostToHost; kind <= mcMemcpyDeviceToDevice;
                 kind++) {
                bool to_device = kind == mcMemcpyHostToDevice ||
                                 kind == mcMemcpyDeviceToDevice;
                bool from_device = kind == mcMemcpyDeviceToHost ||
                                   kind == mcMemcpyDeviceToDevice;
                /* what is pinned is both */
                bool fits =
                    (to_device ? to != PAGEABLE : !is_device(to)) &&
                    (from_device ? from != PAGEABLE : !is_device(from));

                env_expect(mcMemcpy(memory[to][1], memory[from][0], 64,
                                    (mcMemcpyKind)kind),
                           fits ? mcSuccess : mcErrorInvalidValue, names[from],
                           names[to], kind);
            }
        }
    }
    fails(mcErrorInvalidMemcpyDirection,
          mcMemcpy(memory[NEAR][0], memory[PINNED][0], 1, (mcMemcpyKind)5));
    memory_free();
}

/* ---- batches ---- */

static mcMemcpyAttributes attributes(mcMemcpySrcAccessOrder order)
{
    return (mcMemcpyAttributes){.srcAccessOrder = order};
}

/* All pairs at once, each to a part of its own. */
static void test_batch(void)
{
    enum { PART = 9000, MOST = PLACES * PLACES };
    void *dsts[MOST], *srcs[MOST];
    size_t sizes[MOST], count = 0, from[2] = {0, 3}, fail = 7;
    mcMemcpyAttributes attrs[2] = {
        attributes(mcMemcpySrcAccessOrderStream),
        attributes(mcMemcpySrcAccessOrderAny),
    };
    mcStream_t stream;

    memory_new();
    ok(mcStreamCreate(&stream));
    env_pattern(image, SIZE, 1);
    for (unsigned a = 0; a < PLACES; a++) {
        put(a, 0, image, SIZE);
        for (unsigned b = 0; b < PLACES; b++) {
            size_t at = (size_t)PART * a;

            srcs[count] = memory[a][0] + at + b;
            dsts[count] = memory[b][1] + at;
            sizes[count++] = b % 2 ? PART : 100;
        }
    }
    sizes[5] = 0;
    ok(mcMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, from, 2, &fail,
                          stream));
    g_assert_cmpuint(fail, ==, SIZE_MAX);
    ok(mcStreamSynchronize(stream));
    for (unsigned i = 0; i < count; i++) {
        unsigned a = i / PLACES, b = i % PLACES;
        const uint8_t *data = get(b, 1, SIZE);

        g_assert_cmpint(memcmp(data + (size_t)PART * a,
                               image + (size_t)PART * a + b, sizes[i]), ==, 0);
    }
    ok(mcStreamDestroy(stream));
    memory_free();
}

/* A source that may go when the call returns, though the stream is held up
 * until then. */
static void release(void *gate)
{
    __atomic_store_n((uint64_t *)gate, 1, __ATOMIC_RELEASE);
}

static void test_during_call(void)
{
    uint64_t *gate = env_malloc_host(8);
    uint8_t *pinned = env_malloc_host(256), *d = env_malloc(256);
    void *dst = d, *src = pinned;
    size_t size = 256, first = 0;
    mcMemcpyAttributes a = attributes(mcMemcpySrcAccessOrderDuringApiCall);
    mcStream_t stream, other;

    ok(mcStreamCreateWithFlags(&stream, mcStreamNonBlocking));
    ok(mcStreamCreateWithFlags(&other, mcStreamNonBlocking));
    *gate = 0;
    memset(pinned, 5, 256);
    ok(mcStreamWaitValue64(stream, gate, 1, MC_STREAM_WAIT_VALUE_GEQ));
    ok(mcLaunchHostFunc(other, release, gate));
    ok(mcMemcpyBatchAsync(&dst, &src, &size, 1, &a, &first, 1, NULL, stream));
    memset(pinned, 6, 256);
    ok(mcMemcpy(out, d, 256, mcMemcpyDeviceToHost));
    for (unsigned i = 0; i < 256; i++) {
        g_assert_cmpuint(out[i], ==, 5);
    }
    ok(mcStreamDestroy(stream));
    ok(mcStreamDestroy(other));
    ok(mcFree(d));
    ok(mcFreeHost(pinned));
    ok(mcFreeHost(gate));
}

static void test_batch_errors(void)
{
    uint8_t *d = env_malloc(4096), host[64] = {1, 2, 3};
    void *dsts[3] = {d, d + 64, d + 128}, *srcs[3] = {host, host, host};
    size_t sizes[3] = {64, 64, 64}, from[2] = {0, 1}, fail;
    mcMemcpyAttributes attrs[2] = {
        attributes(mcMemcpySrcAccessOrderStream),
        attributes(mcMemcpySrcAccessOrderAny),
    };
    mcStream_t s;

    ok(mcStreamCreate(&s));
#define BATCH(dsts, srcs, sizes, count, attrs, from, n, stream)                \
    mcMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, from, n, &fail, stream)
    ok(BATCH(dsts, srcs, sizes, 3, attrs, from, 2, s));
    ok(mcStreamSynchronize(s)); /* they write the same */
    ok(BATCH(dsts, srcs, sizes, 3, attrs, from, 2, mcStreamPerThread));
    ok(mcStreamSynchronize(mcStreamPerThread));
    const mcError_t bad = mcErrorInvalidValue;
    fails(bad, BATCH(NULL, srcs, sizes, 3, attrs, from, 2, s));
    fails(bad, BATCH(dsts, NULL, sizes, 3, attrs, from, 2, s));
    fails(bad, BATCH(dsts, srcs, NULL, 3, attrs, from, 2, s));
    fails(bad, BATCH(dsts, srcs, sizes, 0, attrs, from, 2, s));
    fails(bad, BATCH(dsts, srcs, sizes, 3, NULL, from, 2, s));
    fails(bad, BATCH(dsts, srcs, sizes, 3, attrs, NULL, 2, s));
    fails(bad, BATCH(dsts, srcs, sizes, 3, attrs, from, 0, s));
    fails(bad, BATCH(dsts, srcs, sizes, 1, attrs, from, 2, s));
    fails(bad, BATCH(dsts, srcs, sizes, 3, attrs, from, 2, NULL));
    fails(bad, BATCH(dsts, srcs, sizes, 3, attrs, from, 2, mcStreamLegacy));
    fails(mcErrorInvalidResourceHandle,
          BATCH(dsts, srcs, sizes, 3, attrs, from, 2, (mcStream_t)d));
    from[0] = 1;
    fails(bad, BATCH(dsts, srcs, sizes, 3, attrs, from, 2, s));
    from[0] = 0, from[1] = 0;
    fails(bad, BATCH(dsts, srcs, sizes, 3, attrs, from, 2, s));
    from[1] = 3;
    fails(bad, BATCH(dsts, srcs, sizes, 3, attrs, from, 2, s));
    from[1] = 1;
    for (int order = 0; order <= 4; order += 4) {
        attrs[1].srcAccessOrder = (mcMemcpySrcAccessOrder)order;
        fails(bad, BATCH(dsts, srcs, sizes, 3, attrs, from, 2, s));
    }
    attrs[1] = attributes(mcMemcpySrcAccessOrderAny);
    attrs[1].flags = 2;
    fails(bad, BATCH(dsts, srcs, sizes, 3, attrs, from, 2, s));
    g_assert_cmpuint(fail, ==, SIZE_MAX); /* of no copy */
    attrs[1].flags = mcMemcpyFlagPreferOverlapWithCompute;
    ok(BATCH(dsts, srcs, sizes, 3, attrs, from, 2, s));
    /* One of them is wrong: the first has been queued. */
    ok(mcMemsetAsync(d, 0, 256, s));
    dsts[1] = d + 4090;
    fails(bad, BATCH(dsts, srcs, sizes, 3, attrs, from, 2, s));
    g_assert_cmpuint(fail, ==, 1);
    srcs[1] = NULL;
    fails(bad, mcMemcpyBatchAsync(dsts, srcs, sizes, 3, attrs, from, 2, NULL,
                                  s));
    ok(mcStreamSynchronize(s));
    ok(mcMemcpy(out, d, 256, mcMemcpyDeviceToHost));
    g_assert_cmpuint(out[2], ==, 3);
    g_assert_cmpuint(out[128], ==, 0);
    ok(mcStreamDestroy(s));
    ok(mcFree(d));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/copy-kinds/pairs", test_pairs);
    g_test_add_func("/copy-kinds/kinds", test_kinds);
    g_test_add_func("/copy-kinds/batch", test_batch);
    g_test_add_func("/copy-kinds/during-call", test_during_call);
    g_test_add_func("/copy-kinds/batch-errors", test_batch_errors);
    return g_test_run();
}
