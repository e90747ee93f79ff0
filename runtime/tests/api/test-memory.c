/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "env.h"

static void test_alloc(void)
{
    size_t free_before, free_after, total;
    void *p[200];

    ok(mcMemGetInfo(&free_before, &total));
    g_assert_cmpuint(total, >, 0);
    g_assert_cmpuint(free_before, <=, total);
    for (unsigned i = 0; i < 200; i++) {
        p[i] = env_malloc(1 + i * i * 37);
        g_assert_cmpuint((uintptr_t)p[i] % 256, ==, 0);
        for (unsigned j = 0; j < i; j++) {
            uintptr_t a = (uintptr_t)p[i], b = (uintptr_t)p[j];
            g_assert_true(a + 1 + i * i * 37 <= b || b + 1 + j * j * 37 <= a);
        }
    }
    for (unsigned i = 0; i < 200; i += 2) {
        ok(mcFree(p[i]));
    }
    for (unsigned i = 0; i < 200; i += 2) {
        p[i] = env_malloc(1 + i * 100);
    }
    for (unsigned i = 0; i < 200; i++) {
        ok(mcFree(p[i]));
        fails(mcErrorInvalidDevicePointer, mcFree(p[i]));
    }
    ok(mcMemGetInfo(&free_after, NULL));
    g_assert_cmpuint(free_after + (4 << 20), >=, free_before);
}

/* What one large page can map is in one, and starts one from that size on. */
static void test_alloc_large_pages(void)
{
    static const size_t sizes[] = {
        512 << 10, (512 << 10) + 1, 1 << 20, 3 << 19, (2 << 20) - 1, 2 << 20,
        (2 << 20) + 1, 3 << 20, (5 << 20) + 13,
    };
    void *p[2][G_N_ELEMENTS(sizes)];

    for (unsigned i = 0; i < 2 * G_N_ELEMENTS(sizes); i++) {
        size_t size = sizes[i / 2];
        uintptr_t va = (uintptr_t)(p[i % 2][i / 2] = env_malloc(size));

        g_assert_cmpuint(va % 256, ==, 0);
        if (size < 2 << 20) {
            g_assert_cmpuint(va >> 21, ==, (va + size - 1) >> 21);
        } else {
            g_assert_cmpuint(va % (2 << 20), ==, 0);
        }
        ok(mcMemsetAsync((void *)va, i + 1, size, NULL));
    }
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < 2 * G_N_ELEMENTS(sizes); i++) {
        size_t size = sizes[i / 2];
        uint8_t *d = p[i % 2][i / 2], ends[2];

        ok(mcMemcpy(&ends[0], d, 1, mcMemcpyDeviceToHost));
        ok(mcMemcpy(&ends[1], d + size - 1, 1, mcMemcpyDeviceToHost));
        g_assert_cmpuint(ends[0], ==, i + 1);
        g_assert_cmpuint(ends[1], ==, i + 1);
        ok(mcFree(d));
    }
}

/* What large pages leave over is not lost, in whatever order it is freed. */
static void test_alloc_waste(void)
{
    enum { COUNT = 32 };
    const size_t size = (2 << 20) + 100000, slack = 6 << 20;
    size_t start, now;
    void *p[COUNT], *small[COUNT];

    ok(mcMemGetInfo(&start, NULL));
    for (unsigned i = 0; i < COUNT; i++) {
        p[i] = env_malloc(size);
        small[i] = env_malloc(1 << 20);
    }
    ok(mcMemGetInfo(&now, NULL));
    g_assert_cmpuint(start - now, >=, COUNT * (size + (1 << 20)));
    g_assert_cmpuint(start - now, <, COUNT * (size + (1 << 20)) + slack);
    for (unsigned i = 0; i < COUNT; i++) {
        ok(mcFree(p[i])); /* its end is in use by others */
    }
    ok(mcMemGetInfo(&now, NULL));
    g_assert_cmpuint(start - now, >=, COUNT << 20);
    g_assert_cmpuint(start - now, <, (COUNT << 20) + slack);
    void *all = env_malloc(now - COUNT * (3 << 20) - slack);
    ok(mcFree(all)); /* nothing large is held back */
    for (unsigned i = 0; i < COUNT; i++) {
        ok(mcFree(small[i]));
    }
    ok(mcMemGetInfo(&now, NULL));
    g_assert_cmpuint(start - now, <, slack);
}

static void test_alloc_errors(void)
{
    size_t total, pitch;
    void *p = (void *)1;

    ok(mcMemGetInfo(NULL, &total));
    fails(mcErrorInvalidValue, mcMalloc(NULL, 1));
    fails(mcErrorMemoryAllocation, mcMalloc(&p, total + 1));
    fails(mcErrorMemoryAllocation, mcMalloc(&p, SIZE_MAX));
    fails(mcErrorMemoryAllocation, mcMallocPitch(&p, &pitch, SIZE_MAX, 2));
    fails(mcErrorMemoryAllocation, mcMallocPitch(&p, &pitch, 1 << 20,
                                                 SIZE_MAX / 2));
    ok(mcMalloc(&p, 0));
    g_assert_null(p);
    ok(mcFree(NULL));
    fails(mcErrorInvalidDevicePointer, mcFree(&total));
    p = env_malloc(4096);
    fails(mcErrorInvalidDevicePointer, mcFree((char *)p + 256));
    ok(mcFree(p));
    ok(mcMallocPitch(&p, &pitch, 300, 5));
    g_assert_cmpuint(pitch, ==, 512);
    ok(mcFree(p));
    fails(mcErrorNotSupported, mcExtMallocWithFlags(&p, 1,
          mcDeviceMallocMapPcieDefault));
    fails(mcErrorNotSupported, mcGetLastError());
    ok(mcGetLastError());
}

/* All directions and sizes around every boundary of the implementation. */
static void copy_roundtrip(size_t size, bool pinned)
{
    uint8_t *in = pinned ? env_malloc_host(size) : malloc(size);
    uint8_t *out = pinned ? env_malloc_host(size) : malloc(size);
    uint8_t *a = env_malloc(size), *b = env_malloc(size);

    env_pattern(in, size, size);
    memset(out, 0, size);
    ok(mcMemcpy(a, in, size, mcMemcpyHostToDevice));
    ok(mcMemcpy(b, a, size, mcMemcpyDeviceToDevice));
    ok(mcMemcpy(out, b, size, mcMemcpyDeviceToHost));
    g_assert_cmpint(memcmp(in, out, size), ==, 0);

    memset(out, 0, size);
    env_pattern(in, size, size + 1);
    ok(mcMemcpyAsync(a, in, size, mcMemcpyDefault, NULL));
    ok(mcMemcpyAsync(b, a, size, mcMemcpyDefault, NULL));
    ok(mcMemcpyAsync(out, b, size, mcMemcpyDefault, NULL));
    ok(mcStreamSynchronize(NULL));
    g_assert_cmpint(memcmp(in, out, size), ==, 0);
    ok(mcMemcpy(out, in, size, mcMemcpyHostToHost));
    ok(mcFree(a));
    ok(mcFree(b));
    if (pinned) {
        ok(mcFreeHost(in));
        ok(mcFreeHost(out));
    } else {
        free(in);
        free(out);
    }
}

static void test_copy(void)
{
    static const size_t sizes[] = {1, 7, 4095, 4096, 4097, 65536, 524288,
                                   524289, 2 << 20, (5 << 20) + 13};

    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        copy_roundtrip(sizes[i], false);
        copy_roundtrip(sizes[i], true);
    }
}

static void test_copy_unaligned(void)
{
    uint8_t in[300], out[300];
    uint8_t *d = env_malloc(1000);

    for (unsigned i = 0; i < 16; i++) {
        env_pattern(in, 300, i);
        ok(mcMemcpyHtoD(d + i, in + i, 200 + i));
        ok(mcMemcpyDtoD(d + 500 + 2 * i, d + i, 200 + i));
        ok(mcMemcpyDtoH(out, d + 500 + 2 * i, 200 + i));
        g_assert_cmpint(memcmp(in + i, out, 200 + i), ==, 0);
    }
    ok(mcFree(d));
}

static void test_copy_errors(void)
{
    uint8_t host[64];
    uint8_t *d = env_malloc(64);

    fails(mcErrorInvalidMemcpyDirection, mcMemcpy(d, host, 1,
                                                  (mcMemcpyKind)9));
    fails(mcErrorInvalidMemcpyDirection, mcMemcpy(d, host, 1,
                                                  (mcMemcpyKind)-1));
    fails(mcErrorInvalidValue, mcMemcpy(d, host, 65, mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue, mcMemcpy(host, d + 1, 64,
                                        mcMemcpyDeviceToHost));
    fails(mcErrorInvalidValue, mcMemcpy(d, host, SIZE_MAX,
                                        mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue, mcMemcpy(host, d, 8, mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue, mcMemcpy(host, d, 8, mcMemcpyDeviceToDevice));
    fails(mcErrorInvalidValue, mcMemcpy(host, d, 8, mcMemcpyHostToHost));
    fails(mcErrorInvalidValue, mcMemcpy(d, NULL, 8, mcMemcpyDefault));
    ok(mcMemcpy(d, host, 0, mcMemcpyHostToDevice));
    ok(mcFree(d));
    fails(mcErrorInvalidValue, mcMemcpy(d, host, 8, mcMemcpyHostToDevice));
}

static void check_fill(const uint8_t *device, size_t size, const void *pattern,
                       unsigned n)
{
    g_autofree uint8_t *out = malloc(size + 2);

    ok(mcMemcpy(out, device - 1, size + 2, mcMemcpyDeviceToHost));
    g_assert_cmpint(out[0], ==, 0xee);
    g_assert_cmpint(out[size + 1], ==, 0xee);
    for (size_t i = 0; i < size; i++) {
        g_assert_cmpint(out[i + 1], ==, ((const uint8_t *)pattern)[i % n]);
    }
}

static void test_fill(void)
{
    uint8_t *d = env_malloc(1 << 20);
    uint16_t w16 = 0x1234;
    uint32_t w32 = 0xdeadbeef;
    uint8_t w8 = 0x5a;

    for (unsigned off = 16; off < 32; off++) {
        size_t size = 1000 + off * 3;

        ok(mcMemset(d, 0xee, 1 << 20));
        ok(mcMemset(d + off, 0x15a, size));
        check_fill(d + off, size, &w8, 1);
    }
    ok(mcMemset(d, 0xee, 1 << 20));
    ok(mcMemsetD16(d + 2, w16, 777));
    check_fill(d + 2, 2 * 777, &w16, 2);
    ok(mcMemset(d, 0xee, 1 << 20));
    ok(mcMemsetD32Async(d + 4, w32, 70001, NULL));
    check_fill(d + 4, 4 * 70001, &w32, 4);
    ok(mcMemset(d, 0xee, 1 << 20));
    ok(mcMemsetD16Async(d + 2, w16, 333, NULL));
    check_fill(d + 2, 2 * 333, &w16, 2);
    ok(mcMemset(d, 0xee, 1 << 20));
    ok(mcMemsetD8(d + 5, w8, 333));
    check_fill(d + 5, 333, &w8, 1);
    ok(mcMemset(d, 0xee, 1 << 20));
    ok(mcMemsetD8Async(d + 7, w8, 70, NULL));
    check_fill(d + 7, 70, &w8, 1);
    fails(mcErrorInvalidValue, mcMemsetD8(d, 0, (1 << 20) + 1));
    fails(mcErrorInvalidValue, mcMemsetD8Async(NULL, 0, 1, NULL));
    fails(mcErrorInvalidValue, mcMemsetD16Async(d + 1, 0, 4, NULL));
    fails(mcErrorInvalidResourceHandle,
          mcMemsetD8Async(d, 0, 1, (mcStream_t)&d));
    fails(mcErrorInvalidValue, mcMemsetD32(d + 2, 0, 4));
    fails(mcErrorInvalidValue, mcMemsetD32(d, 0, SIZE_MAX / 2));
    fails(mcErrorInvalidValue, mcMemset(d, 0, (1 << 20) + 1));
    fails(mcErrorInvalidValue, mcMemset(&w32, 0, 4));
    ok(mcMemset(d, 0, 0));
    ok(mcFree(d));

    uint8_t *h = env_malloc_host(100);
    ok(mcMemset(h, 3, 100)); /* synchronous for host memory */
    g_assert_cmpint(h[99], ==, 3);
    ok(mcFreeHost(h));
}

/* Rows of the host that far apart cannot be its memory. */
static void test_pitch_beyond_max(uint8_t *d, size_t pitch)
{
    static uint8_t host[256];
    int max;

    ok(mcDeviceGetAttribute(&max, mcDeviceAttributeMaxPitch, 0));
    size_t beyond = (size_t)max + 1;
    fails(mcErrorInvalidPitchValue, mcMemcpy2D(host, beyond, d, pitch, 8, 2,
                                               mcMemcpyDeviceToHost));
    fails(mcErrorInvalidPitchValue, mcMemcpy2D(d, pitch, host, beyond, 8, 2,
                                               mcMemcpyHostToDevice));
    fails(mcErrorInvalidPitchValue, mcMemcpy2D(host, beyond, host, 8, 8, 2,
                                               mcMemcpyHostToHost));
    fails(mcErrorInvalidPitchValue,
          mcMemcpy2DAsync(host, beyond, d, pitch, 8, 2, mcMemcpyDefault,
                          NULL));
    fails(mcErrorInvalidPitchValue, mcMemset2D(d, beyond, 0, 8, 2));
    fails(mcErrorInvalidPitchValue, mcMemset2D(d, SIZE_MAX / 2, 0, 8, 4));
}

static void test_rows(void)
{
    enum { W = 100, H = 37, HOST = 128 };
    uint8_t in[HOST * (H + 1)], out[W * H];
    uint8_t *d;
    size_t pitch;

    env_pattern(in, sizeof(in), 9);
    ok(mcMallocPitch((void **)&d, &pitch, W, H));
    ok(mcMemset(d, 0xee, pitch * H));
    ok(mcMemcpy2D(d, pitch, in, HOST, W, H, mcMemcpyHostToDevice));
    ok(mcMemcpy2D(out, W, d, pitch, W, H, mcMemcpyDeviceToHost));
    for (unsigned y = 0; y < H; y++) {
        g_assert_cmpint(memcmp(out + y * W, in + y * HOST, W), ==, 0);
    }
    /* between the rows nothing changed */
    ok(mcMemcpy2DAsync(out, W, d + W, pitch, 1, H, mcMemcpyDefault, NULL));
    for (unsigned y = 0; y < H; y++) {
        g_assert_cmpint(out[y * W], ==, 0xee);
    }
    ok(mcMemsetD2D16(d + 2, pitch, 0x0201, 10, H));
    ok(mcMemcpy2D(out, W, d, pitch, W, H, mcMemcpyDeviceToHost));
    for (unsigned y = 0; y < H; y++) {
        g_assert_cmpint(out[y * W + 1], ==, in[y * HOST + 1]);
        g_assert_cmpint(out[y * W + 2], ==, 1);
        g_assert_cmpint(out[y * W + 21], ==, 2);
        g_assert_cmpint(out[y * W + 22], ==, in[y * HOST + 22]);
    }
    fails(mcErrorInvalidPitchValue,
          mcMemcpy2D(d, W - 1, in, HOST, W, H, mcMemcpyHostToDevice));
    fails(mcErrorInvalidPitchValue, mcMemset2D(d, W - 1, 0, W, H));
    fails(mcErrorInvalidValue, mcMemset2D(d, pitch, 0, W, H + 1));
    test_pitch_beyond_max(d, pitch);
    fails(mcErrorInvalidValue,
          mcMemcpy2D(d, pitch, in, HOST, W, H + 1, mcMemcpyHostToDevice));
    ok(mcMemcpy2D(d, pitch, in, HOST, W, 0, mcMemcpyHostToDevice));
    ok(mcFree(d));
}

static void test_host_register(void)
{
    uint8_t *memory = malloc(100000), *device = env_malloc(100000);
    unsigned flags = 99;
    void *p = NULL;

    memory[5] = 9;
    ok(mcHostRegister(memory + 5, 90000, mcHostRegisterPortable));
    fails(mcErrorHostMemoryAlreadyRegistered,
          mcHostRegister(memory + 50, 10, 0));
    ok(mcHostGetDevicePointer(&p, memory + 77, 0));
    g_assert_true(p == memory + 77);
    ok(mcHostGetFlags(&flags, memory + 5));
    g_assert_cmpuint(flags, ==, mcHostRegisterPortable);
    env_pattern(memory, 100000, 3);
    ok(mcMemcpyAsync(device, memory + 5, 90000, mcMemcpyDefault, NULL));
    ok(env_launch("k_store", 1, (void *)(((uintptr_t)memory + 4096) & ~7ul),
                  NULL));
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(*(uint64_t *)(((uintptr_t)memory + 4096) & ~7ul), ==,
                     0x1234);
    ok(mcHostUnregister(memory + 5));
    fails(mcErrorHostMemoryNotRegistered, mcHostUnregister(memory + 5));
    fails(mcErrorInvalidValue, mcHostGetDevicePointer(&p, memory + 5, 0));
    ok(mcHostRegister(memory, 100000, 0));
    ok(mcHostUnregister(memory));
    free(memory);
    fails(mcErrorInvalidValue, mcHostRegister(NULL, 10, 0));
    fails(mcErrorInvalidValue, mcHostRegister((void *)-8192l, 16384, 0));
    fails(mcErrorInvalidValue, mcFreeHost(device));
    ok(mcFree(device));
}

/* Parts of one page are registered on their own, and read and written by the
 * device until the last of them goes. */
static void test_register_shared_page(void)
{
    uint8_t *page = aligned_alloc(4096, 3 * 4096), *d = env_malloc(4096);
    uint64_t *words = (uint64_t *)page;

    env_pattern(page, 3 * 4096, 9);
    ok(mcHostRegister(page, 8, 0));
    ok(mcHostRegister(page + 8, 8, mcHostRegisterReadOnly));
    ok(mcHostRegister(page + 4000, 4096, 0)); /* two pages, both in part */
    fails(mcErrorHostMemoryAlreadyRegistered, mcHostRegister(page + 15, 2, 0));
    ok(env_launch("k_store", 1, words, NULL));
    ok(mcDeviceSynchronize());
    g_assert_cmphex(words[0], ==, 0x1234);
    ok(mcHostUnregister(page));
    ok(mcMemcpyAsync(d, page + 4000, 4096, mcMemcpyDefault, NULL));
    ok(mcDeviceSynchronize());
    ok(env_launch("k_store", 1, page + 4096, NULL));
    ok(mcDeviceSynchronize());
    g_assert_cmphex(words[512], ==, 0x1234);
    ok(mcHostUnregister(page + 4000));
    ok(mcHostUnregister(page + 8));
    /* A page that was only read is written once somebody wants to. */
    ok(mcHostRegister(page, 8, mcHostRegisterReadOnly));
    ok(mcHostRegister(page + 8, 8, 0));
    ok(env_launch("k_store", 1, words + 1, NULL));
    ok(mcDeviceSynchronize());
    g_assert_cmphex(words[1], ==, 0x1234);
    /* Outlives the context, as all pinned memory. */
    ok(mcDeviceReset());
    env_forget();
    words[1] = 0;
    ok(env_launch("k_store", 1, words + 1, NULL));
    ok(mcDeviceSynchronize());
    g_assert_cmphex(words[1], ==, 0x1234);
    ok(mcHostUnregister(page));
    ok(mcHostUnregister(page + 8));
    ok(mcHostRegister(page, 3 * 4096, 0));
    ok(mcHostUnregister(page));
    free(page);
}

/* What is not memory of the process cannot be registered, and what was and no
 * longer is cannot be copied. */
static void test_register_unmapped(void)
{
    uint8_t *d = env_malloc(4096);
    uint8_t *p = mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    munmap(p + (32 << 10), 4096); /* a hole */
    fails(mcErrorInvalidValue, mcHostRegister(p, 64 << 10, 0));
    fails(mcErrorInvalidValue, mcHostRegister(p + (32 << 10), 4096, 0));
    fails(mcErrorInvalidValue, mcHostRegister((void *)0x10000, 4096, 0));
    mprotect(p, 4096, PROT_NONE);
    fails(mcErrorInvalidValue, mcHostRegister(p, 8192, 0));
    fails(mcErrorInvalidValue,
          mcHostRegister(p, 8192, mcHostRegisterReadOnly));
    mprotect(p, 4096, PROT_READ);
    fails(mcErrorInvalidValue, mcHostRegister(p, 8192, 0));
    mprotect(p, 4096, PROT_READ | PROT_WRITE);
    ok(mcHostRegister(p, 8192, 0));
    ok(mcMemcpy(d, p, 4096, mcMemcpyHostToDevice));
    munmap(p, 4096);
    fails(mcErrorInvalidValue, mcMemcpy(d, p, 4096, mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue, mcMemcpy(p, d, 4096, mcMemcpyDeviceToHost));
    fails(mcErrorInvalidValue, mcMemset(p, 0, 4096));
    ok(mcMemcpy(d, p + 4096, 4096, mcMemcpyHostToDevice));
    ok(mcHostUnregister(p));
    munmap(p, 64 << 10);
    ok(mcFree(d));
}

static void test_attributes(void)
{
    mcPointerAttribute_t a;
    uint8_t *d = env_malloc(1000), *h = env_malloc_host(1000);
    mcDeviceptr_t base;
    size_t size;
    int local;

    ok(mcPointerGetAttributes(&a, d + 10));
    g_assert_cmpint(a.type, ==, mcMemoryTypeDevice);
    g_assert_true(a.devicePointer == d + 10 && !a.hostPointer);
    ok(mcPointerGetAttributes(&a, h + 10));
    g_assert_cmpint(a.type, ==, mcMemoryTypeHost);
    g_assert_true(a.hostPointer == h + 10);
    /* Pageable memory is nothing wrong. */
    memset(&a, 0xff, sizeof(a));
    ok(mcPointerGetAttributes(&a, &local));
    g_assert_cmpint(a.type, ==, mcMemoryTypeUnregistered);
    g_assert_true(a.hostPointer == &local && !a.devicePointer);
    g_assert_cmpint(a.device, ==, mcInvalidDeviceId);
    g_assert_cmpuint(a.allocationFlags, ==, 0);
    fails(mcErrorInvalidValue, mcPointerGetAttributes(&a, NULL));
    fails(mcErrorInvalidValue, mcPointerGetAttributes(NULL, d));
    ok(mcMemGetAddressRange(&base, &size, d + 999));
    g_assert_true(base == d && size == 1000);
    fails(mcErrorNotFound, mcMemGetAddressRange(&base, &size, &local));
    ok(mcFree(d));
    ok(mcFreeHost(h));
}

/* In a stream, one after the other. */
static void test_copy_async(void)
{
    mcStream_t s;
    uint8_t *in = env_malloc_host(1000), *out = env_malloc_host(1000);
    uint8_t *a = env_malloc(1000), *b = env_malloc(1000);

    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    env_pattern(in, 1000, 3);
    ok(mcMemcpyHtoDAsync(a, in, 1000, s));
    ok(mcMemcpyDtoDAsync(b, a, 1000, s));
    ok(mcMemcpyDtoHAsync(out, b, 1000, s));
    ok(mcStreamSynchronize(s));
    g_assert_cmpint(memcmp(in, out, 1000), ==, 0);
    fails(mcErrorInvalidValue, mcMemcpyDtoDAsync(b, a, 1001, s));
    fails(mcErrorInvalidValue, mcMemcpyDtoHAsync(out, NULL, 1, s));
    fails(mcErrorInvalidValue, mcMemcpyDtoHAsync(a, b, 8, s));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpyDtoDAsync(b, a, 8, (mcStream_t)&s));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpyDtoHAsync(out, a, 8, (mcStream_t)&s));
    ok(mcMemcpyDtoDAsync(NULL, NULL, 0, s));
    ok(mcStreamDestroy(s));
    ok(mcFree(a));
    ok(mcFree(b));
    ok(mcFreeHost(in));
    ok(mcFreeHost(out));
}

/* The second device. */
static void test_peer(void)
{
    const int other = 1;
    int count;
    uint8_t *in = malloc(9 << 20), *out = malloc(9 << 20);

    env_two_devices();
    ok(mcGetDeviceCount(&count));
    env_pattern(in, 9 << 20, 1);
    uint8_t *a = env_malloc(9 << 20);
    ok(mcSetDevice(other));
    uint8_t *b = env_malloc(9 << 20);
    ok(mcSetDevice(0));
    ok(mcMemcpy(a, in, 9 << 20, mcMemcpyHostToDevice));
    ok(mcMemcpyPeer(b, other, a, 0, 9 << 20));
    ok(mcMemcpy(out, b, 9 << 20, mcMemcpyDefault));
    g_assert_cmpint(memcmp(in, out, 9 << 20), ==, 0);
    fails(mcErrorInvalidDevice, mcMemcpyPeer(b, count, a, 0, 1));
    ok(mcMemcpyPeerAsync(b + 1, other, a, 0, 5000, NULL));
    ok(mcDeviceSynchronize());
    ok(mcMemcpy(out, b + 1, 5000, mcMemcpyDefault));
    g_assert_cmpint(memcmp(in, out, 5000), ==, 0);
    fails(mcErrorInvalidDevice,
          mcMemcpyPeerAsync(b, other, a, -1, 1, NULL));
    fails(mcErrorInvalidValue,
          mcMemcpyPeerAsync(b, other, a, 0, (9 << 20) + 1, NULL));
    ok(mcFree(a));
    ok(mcFree(b));
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/memory/alloc", test_alloc);
    g_test_add_func("/memory/alloc/large-pages", test_alloc_large_pages);
    g_test_add_func("/memory/alloc/waste", test_alloc_waste);
    g_test_add_func("/memory/alloc-errors", test_alloc_errors);
    g_test_add_func("/memory/copy", test_copy);
    g_test_add_func("/memory/copy-unaligned", test_copy_unaligned);
    g_test_add_func("/memory/copy-errors", test_copy_errors);
    g_test_add_func("/memory/copy-async", test_copy_async);
    g_test_add_func("/memory/fill", test_fill);
    g_test_add_func("/memory/rows", test_rows);
    g_test_add_func("/memory/host-register", test_host_register);
    g_test_add_func("/memory/register-shared-page",
                    test_register_shared_page);
    g_test_add_func("/memory/register-unmapped", test_register_unmapped);
    g_test_add_func("/memory/attributes", test_attributes);
    g_test_add_func("/memory/peer", test_peer);
    return g_test_run();
}
