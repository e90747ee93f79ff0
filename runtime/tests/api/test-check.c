/* SPDX-License-Identifier: MIT */
/* MXGPU_CHECK: what is written around allocations is found, and by whom they
 * were made is said. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "env.h"

static char *log_path;

/* The messages about overruns since the last call; free them. */
static char **messages(void)
{
    g_autofree char *text = NULL;
    GPtrArray *found = g_ptr_array_new();

    g_assert_true(g_file_get_contents(log_path, &text, NULL, NULL));
    g_assert_cmpint(truncate(log_path, 0), ==, 0);
    char **lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        if (strstr(*line, "overrun of")) {
            g_ptr_array_add(found, g_strdup(*line));
        }
    }
    g_strfreev(lines);
    g_ptr_array_add(found, NULL);
    return (char **)g_ptr_array_free(found, FALSE);
}

/* There is one message, of p as call made it. */
static void expect(const void *p, size_t size, const char *call, long first,
                   long last)
{
    g_autofree char *head = g_strdup_printf(
        "overrun of the %zu bytes at 0x%llx from %s", size,
        (unsigned long long)(uintptr_t)p, call);
    g_autofree char *tail = g_strdup_printf(
        ": %ld bytes around it were written, at offsets %ld to %ld",
        last - first + 1, first, last);
    g_auto(GStrv) lines = messages();

    g_assert_cmpuint(g_strv_length(lines), ==, 1);
    g_assert_nonnull(strstr(lines[0], head));
    g_assert_true(g_str_has_suffix(lines[0], tail));
    /* ... called from here. */
    g_assert_nonnull(strstr(lines[0], ", called "));
}

static void expect_none(void)
{
    g_auto(GStrv) lines = messages();

    g_assert_null(lines[0]);
}

static void reset(void)
{
    ok(mcDeviceReset());
    env_forget();
}

/* Eight bytes, of which none is as it was in a zone. */
static void store(void *p, mcStream_t stream)
{
    ok(env_launch("k_store", 1, p, stream));
}

/* One byte behind sizes that are one below a multiple of 8, and eight before;
 * in front of large ones nothing is mapped. */
static void test_ends(void)
{
    static const size_t sizes[] = {
        7, 247, 255, 263, 1007, (2 << 20) - 513, (2 << 20) - 257,
        (2 << 20) - 1, (2 << 20) + 7, (4 << 20) - 1, (5 << 20) + 1007,
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        size_t size = sizes[i];
        uint8_t *p = env_malloc(size);

        g_assert_cmpuint((uintptr_t)p % 256, ==, 0);
        store(p + size - 7, NULL);
        fails(mcErrorIllegalAddress, mcDeviceSynchronize());
        expect(p, size, "mcMalloc", (long)size, (long)size);
        reset();
        p = env_malloc(size);
        store(p - 8, NULL);
        fails(mcErrorIllegalAddress, mcDeviceSynchronize());
        if (size < 2 << 20) {
            expect(p, size, "mcMalloc", -8, -1);
        }
        reset();
        expect_none();
    }
}

/* Every call that waits finds it. */
static void test_calls(void)
{
    enum { DEVICE, STREAM, NULL_STREAM, EVENT, COPY, FREE, FREE_OTHER, CALLS };

    for (int call = 0; call < CALLS; call++) {
        uint8_t *p = env_malloc(1007), *other = env_malloc(8);
        mcStream_t stream;
        mcEvent_t event;
        mcError_t error = mcSuccess;
        uint64_t word;

        ok(mcStreamCreate(&stream));
        ok(mcEventCreate(&event));
        store(p + 1000, call == NULL_STREAM ? NULL : stream);
        ok(mcEventRecord(event, stream));
        switch (call) {
        case DEVICE:
            error = mcDeviceSynchronize();
            break;
        case STREAM:
            error = mcStreamSynchronize(stream);
            break;
        case NULL_STREAM:
            error = mcStreamSynchronize(NULL);
            break;
        case EVENT:
            error = mcEventSynchronize(event);
            break;
        case COPY:
            error = mcMemcpy(&word, other, sizeof(word),
                             mcMemcpyDeviceToHost);
            break;
        case FREE:
            error = mcFree(p);
            break;
        case FREE_OTHER:
            error = mcFree(other);
            break;
        }
        fails(mcErrorIllegalAddress, error);
        expect(p, 1007, "mcMalloc", 1007, 1007);
        /* It stays, and is said once. */
        fails(mcErrorIllegalAddress, mcDeviceSynchronize());
        fails(mcErrorIllegalAddress, mcGetLastError());
        expect_none();
        reset();
        expect_none();
    }
}

static void test_context_end(void)
{
    uint8_t *p = env_malloc(1007);
    mcEvent_t event;

    ok(mcEventCreate(&event));
    store(p + 1000, NULL);
    ok(mcEventRecord(event, NULL));
    while (mcEventQuery(event) == mcErrorNotReady) {
    }
    expect_none();
    reset();
    expect(p, 1007, "mcMalloc", 1007, 1007);
}

static void test_several(void)
{
    uint8_t *a = env_malloc(1007), *b = env_malloc(15);

    store(a + 1000, NULL);
    store(b + 8, NULL);
    fails(mcErrorIllegalAddress, mcDeviceSynchronize());
    g_auto(GStrv) lines = messages();
    g_assert_cmpuint(g_strv_length(lines), ==, 2);
    reset();
    expect_none();
}

/* Neighbours lie apart: what one lacks is not taken for the other's. */
static void test_neighbours(void)
{
    uint8_t *p[100];

    for (unsigned i = 0; i < 100; i++) {
        p[i] = env_malloc(1 + 97 * i);
    }
    store(p[50] + 4856, NULL);
    fails(mcErrorIllegalAddress, mcDeviceSynchronize());
    expect(p[50], 4851, "mcMalloc", 4856, 4863);
    reset();
}

static void test_pitched(void)
{
    uint8_t *p;
    size_t pitch;
    mcPitchedPtr box;

    ok(mcMallocPitch((void **)&p, &pitch, 100, 3));
    g_assert_cmpuint(pitch, ==, 256);
    store(p + 3 * pitch - 8, NULL); /* padding is the user's */
    ok(mcDeviceSynchronize());
    store(p + 3 * pitch, NULL);
    fails(mcErrorIllegalAddress, mcDeviceSynchronize());
    expect(p, 768, "mcMallocPitch", 768, 775);
    reset();
    ok(mcMalloc3D(&box, (mcExtent){100, 3, 2}));
    store((uint8_t *)box.ptr - 8, NULL);
    fails(mcErrorIllegalAddress, mcDeviceSynchronize());
    expect(box.ptr, 1536, "mcMalloc3D", -8, -1);
    reset();
    ok(mcExtMallocWithFlags((void **)&p, 8, mcDeviceMallocDefault));
    store(p + 8, NULL);
    fails(mcErrorIllegalAddress, mcDeviceSynchronize());
    expect(p, 8, "mcExtMallocWithFlags", 8, 15);
    reset();
}

/* In stream order: also what is freed before the kernel that overruns it has
 * run, and memory that was somebody else's before. */
static void test_pool(void)
{
    uint64_t *gate = env_malloc_host(8), keep = UINT64_MAX;
    mcMemPool_t pool;
    uint8_t *p, *q;

    ok(mcMallocAsync((void **)&p, 1007, NULL));
    store(p + 1000, NULL);
    fails(mcErrorIllegalAddress, mcDeviceSynchronize());
    expect(p, 1007, "mcMallocAsync", 1007, 1007);
    reset();
    ok(mcMallocAsync((void **)&p, 4 << 20, NULL));
    store(p - 8, NULL);
    fails(mcErrorIllegalAddress, mcStreamSynchronize(NULL));
    expect(p, 4 << 20, "mcMallocAsync", -8, -1);
    reset();

    *gate = 0;
    ok(mcMallocAsync((void **)&p, 100, NULL));
    ok(mcStreamWaitValue64(NULL, gate, 1, MC_STREAM_WAIT_VALUE_GEQ));
    store(p + 96, NULL);
    ok(mcFreeAsync(p, NULL));
    ok(mcMallocAsync((void **)&q, 100, NULL));
    g_assert_true(p != q);
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    fails(mcErrorIllegalAddress, mcDeviceSynchronize());
    expect(p, 100, "mcMallocAsync", 100, 103);
    reset();

    ok(mcDeviceGetDefaultMemPool(&pool, 0));
    ok(mcMemPoolSetAttribute(pool, mcMemPoolAttrReleaseThreshold, &keep));
    for (unsigned i = 0; i < 50; i++) {
        unsigned size = 1 + i * 7919;

        ok(mcMallocFromPoolAsync((void **)&p, size, pool, NULL));
        ok(mcMemsetAsync(p, 0x55, size, NULL));
        ok(mcFreeAsync(p, NULL));
        if (i % 3 == 0) {
            ok(mcStreamSynchronize(NULL));
        }
    }
    ok(mcDeviceSynchronize());
    reset();
    expect_none();
    ok(mcFreeHost(gate));
}

/* The rest of the last page; by the device, and by the program. */
static void test_pinned(void)
{
    uint8_t *h = env_malloc_host(1007);

    store(h + 1000, NULL);
    fails(mcErrorIllegalAddress, mcDeviceSynchronize());
    expect(h, 1007, "mcMallocHost", 1007, 1007);
    reset(); /* which keeps it */
    fails(mcErrorIllegalAddress, mcFreeHost(h));
    expect_none();
    h = env_malloc_host(5000);
    h[8191] = 1;
    fails(mcErrorIllegalAddress, mcFreeHost(h));
    expect(h, 5000, "mcMallocHost", 8191, 8191);
    fails(mcErrorInvalidValue, mcFreeHost(h));
    reset();
    h = env_malloc_host(4096);
    memset(h, 1, 4096);
    ok(mcFreeHost(h));
}

/* All that is the user's may be written. */
static void test_right(void)
{
    uint8_t *p[300], *h[8];

    for (unsigned i = 0; i < 300; i++) {
        p[i] = env_malloc(i < 290 ? i + 1 : (i - 288) * ((1u << 20) - 3));
        ok(mcMemset(p[i], 0x55,
                    i < 290 ? i + 1 : (i - 288) * ((1u << 20) - 3)));
    }
    for (unsigned i = 0; i < 8; i++) {
        h[i] = env_malloc_host(1 + 1000 * i);
        memset(h[i], 0x55, 1 + 1000 * i);
        ok(mcMemcpyAsync(h[i], p[299], 1 + 1000 * i, mcMemcpyDeviceToHost,
                         NULL));
    }
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < 300; i++) {
        ok(mcFree(p[299 - i]));
    }
    for (unsigned i = 0; i < 8; i++) {
        ok(mcFreeHost(h[i]));
    }
    reset();
    expect_none();
}

int main(int argc, char **argv)
{
    int fd = g_file_open_tmp("mxgpu-check-XXXXXX", &log_path, NULL);
    g_autofree char *log = g_strdup_printf("error:%s", log_path);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    g_setenv("MXGPU_CHECK", "1", TRUE);
    g_setenv("MXGPU_LOG", log, TRUE);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/check/ends", test_ends);
    g_test_add_func("/check/calls", test_calls);
    g_test_add_func("/check/context-end", test_context_end);
    g_test_add_func("/check/several", test_several);
    g_test_add_func("/check/neighbours", test_neighbours);
    g_test_add_func("/check/pitched", test_pitched);
    g_test_add_func("/check/pool", test_pool);
    g_test_add_func("/check/pinned", test_pinned);
    g_test_add_func("/check/right", test_right);
    int status = g_test_run();
    unlink(log_path);
    g_free(log_path);
    return status;
}
