/* SPDX-License-Identifier: MIT */
/* Pools and their memory in two processes, or twice in one. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "env.h"
#include "peer_process.h"

#define MIB   (1ull << 20)
#define FD    mcMemHandleTypePosixFileDescriptor
#define LARGE (5 * MIB + 12344)
#define SMALL 1000

static void *as_handle(int fd)
{
    return (void *)(intptr_t)fd;
}

static mcMemPool_t pool_new(mcMemAllocationHandleType types, size_t max)
{
    mcMemPoolProps props = {
        .allocType = mcMemAllocationTypePinned,
        .handleTypes = types,
        .maxSize = max,
    };
    mcMemPool_t pool;

    ok(mcGetDevice(&props.location.id));
    props.location.type = mcMemLocationTypeDevice;
    ok(mcMemPoolCreate(&pool, &props));
    return pool;
}

/* The caller closes it. */
static int export(mcMemPool_t pool)
{
    int fd = -1;

    ok(mcMemPoolExportToShareableHandle(&fd, pool, FD, 0));
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(fcntl(fd, F_GETFD), ==, FD_CLOEXEC);
    return fd;
}

/* The pool as another process would see it. */
static mcMemPool_t twin(mcMemPool_t pool)
{
    int fd = export(pool);
    mcMemPool_t imported;

    ok(mcMemPoolImportFromShareableHandle(&imported, as_handle(fd), FD, 0));
    close(fd);
    return imported;
}

static void *from(mcMemPool_t pool, size_t size)
{
    void *p = NULL;

    ok(mcMallocFromPoolAsync(&p, size, pool, NULL));
    return p;
}

static mcMemPoolPtrExportData data_of(void *p)
{
    mcMemPoolPtrExportData data;

    ok(mcMemPoolExportPointer(&data, p));
    return data;
}

static void *import(mcMemPool_t pool, mcMemPoolPtrExportData data)
{
    void *p = NULL;

    ok(mcMemPoolImportPointer(&p, pool, &data));
    g_assert_nonnull(p);
    return p;
}

static uint64_t get(mcMemPool_t pool, mcMemPoolAttr attr)
{
    uint64_t value = 0;

    ok(mcMemPoolGetAttribute(pool, attr, &value));
    return value;
}

static void fill(void *d, size_t size, unsigned seed)
{
    uint8_t *host = g_malloc(size);

    env_pattern(host, size, seed);
    ok(mcMemcpy(d, host, size, mcMemcpyHostToDevice));
    g_free(host);
}

static void check(void *d, size_t size, unsigned seed)
{
    uint8_t *want = g_malloc(size), *got = g_malloc(size);

    env_pattern(want, size, seed);
    ok(mcMemcpy(got, d, size, mcMemcpyDeviceToHost));
    g_assert_cmpmem(want, size, got, size);
    g_free(want);
    g_free(got);
}

/* ---- pools ---- */

static void test_pools(void)
{
    mcMemPool_t pool = pool_new(FD, 0), none = pool_new(mcMemHandleTypeNone, 0);
    mcMemPool_t standard, now, imported;
    int types = 0, fd = -1;
    void *p;

    ok(mcDeviceGetAttribute(&types,
                            mcDevAttrMemoryPoolSupportedHandleTypes, 0));
    g_assert_cmpint(types, ==, FD);
    fails(mcErrorInvalidValue,
          mcMemPoolExportToShareableHandle(NULL, pool, FD, 0));
    fails(mcErrorInvalidValue,
          mcMemPoolExportToShareableHandle(&fd, NULL, FD, 0));
    fails(mcErrorInvalidValue,
          mcMemPoolExportToShareableHandle(&fd, pool, FD, 1));
    fails(mcErrorInvalidValue,
          mcMemPoolExportToShareableHandle(&fd, pool, mcMemHandleTypeNone, 0));
    fails(mcErrorInvalidValue,
          mcMemPoolExportToShareableHandle(
              &fd, pool, (mcMemAllocationHandleType)64, 0));
    fails(mcErrorNotSupported,
          mcMemPoolExportToShareableHandle(&fd, pool, mcMemHandleTypeWin32,
                                           0));
    fails(mcErrorInvalidValue,
          mcMemPoolExportToShareableHandle(&fd, none, FD, 0));
    ok(mcDeviceGetDefaultMemPool(&standard, 0));
    fails(mcErrorInvalidValue,
          mcMemPoolExportToShareableHandle(&fd, standard, FD, 0));
    g_assert_cmpint(fd, ==, -1);

    /* What an imported pool is not for. */
    imported = twin(pool);
    fails(mcErrorInvalidValue,
          mcMemPoolExportToShareableHandle(&fd, imported, FD, 0));
    fails(mcErrorInvalidValue,
          mcMallocFromPoolAsync(&p, SMALL, imported, NULL));
    fails(mcErrorInvalidValue, mcDeviceSetMemPool(0, imported));
    ok(mcDeviceGetMemPool(&now, 0));
    g_assert_true(now == standard);
    uint64_t keep = 1;
    int no = 0;
    fails(mcErrorNotSupported,
          mcMemPoolSetAttribute(imported, mcMemPoolAttrReleaseThreshold,
                                &keep));
    fails(mcErrorNotSupported,
          mcMemPoolSetAttribute(imported, mcMemPoolReuseAllowOpportunistic,
                                &no));
    ok(mcMemPoolTrimTo(imported, 0));
    ok(mcMemPoolDestroy(imported));
    fails(mcErrorInvalidValue, mcMemPoolDestroy(imported));
    ok(mcMemPoolDestroy(pool));
    fails(mcErrorInvalidValue,
          mcMemPoolExportToShareableHandle(&fd, pool, FD, 0));
    ok(mcMemPoolDestroy(none));
}

/* What is no pool's file descriptor. */
static void test_bad_descriptors(void)
{
    mcMemAllocationProp prop = {
        .type = mcMemAllocationTypePinned,
        .requestedHandleTypes = FD,
        .location = {mcMemLocationTypeDevice, 0},
    };
    mcMemGenericAllocationHandle memory;
    mcMemPool_t pool = pool_new(FD, 0), out;
    int fd, table = memfd_create("mxgpu-test", MFD_ALLOW_SEALING);

    fails(mcErrorInvalidValue,
          mcMemPoolImportFromShareableHandle(&out, as_handle(-1), FD, 0));
    fails(mcErrorInvalidValue,
          mcMemPoolImportFromShareableHandle(&out, as_handle(1000), FD, 0));
    fd = open("/dev/null", O_RDWR);
    fails(mcErrorInvalidValue,
          mcMemPoolImportFromShareableHandle(&out, as_handle(fd), FD, 0));
    close(fd);
    /* Memory, and the other way round. */
    ok(mcMemCreate(&memory, 2 * MIB, &prop, 0));
    ok(mcMemExportToShareableHandle(&fd, memory, FD, 0));
    fails(mcErrorInvalidValue,
          mcMemPoolImportFromShareableHandle(&out, as_handle(fd), FD, 0));
    close(fd);
    ok(mcMemRelease(memory));
    fd = export(pool);
    fails(mcErrorInvalidValue,
          mcMemImportFromShareableHandle(&memory, as_handle(fd), FD));
    fails(mcErrorInvalidValue,
          mcMemPoolImportFromShareableHandle(NULL, as_handle(fd), FD, 0));
    fails(mcErrorInvalidValue,
          mcMemPoolImportFromShareableHandle(&out, as_handle(fd), FD, 1));
    fails(mcErrorInvalidValue,
          mcMemPoolImportFromShareableHandle(&out, as_handle(fd),
                                             mcMemHandleTypeNone, 0));
    fails(mcErrorNotSupported,
          mcMemPoolImportFromShareableHandle(&out, as_handle(fd),
                                             mcMemHandleTypeFabric, 0));
    close(fd);
    /* As long as one, with nothing in it. */
    g_assert_cmpint(ftruncate(table, 3 * MIB), ==, 0);
    fails(mcErrorInvalidValue,
          mcMemPoolImportFromShareableHandle(&out, as_handle(table), FD, 0));
    close(table);
    ok(mcMemPoolDestroy(pool));
}

/* ---- pointers ---- */

static void test_pointer_errors(void)
{
    mcMemPool_t pool = pool_new(FD, 0), other = pool_new(FD, 0);
    mcMemPool_t a = twin(pool), b = twin(other);
    void *p = from(pool, SMALL), *q = env_malloc(SMALL), *r;
    mcMemPoolPtrExportData data, bad;

    fails(mcErrorInvalidValue, mcMemPoolExportPointer(NULL, p));
    fails(mcErrorInvalidValue, mcMemPoolExportPointer(&data, NULL));
    fails(mcErrorInvalidValue, mcMemPoolExportPointer(&data, q));
    fails(mcErrorInvalidValue, mcMemPoolExportPointer(&data, (char *)p + 8));
    ok(mcFree(q));
    ok(mcMallocAsync(&q, SMALL, NULL)); /* of the default pool */
    fails(mcErrorInvalidValue, mcMemPoolExportPointer(&data, q));
    ok(mcFree(q));
    data = data_of(p);
    bad = data_of(p);
    g_assert_cmpmem(&data, sizeof(data), &bad, sizeof(bad));
    fails(mcErrorInvalidValue, mcMemPoolImportPointer(NULL, a, &data));
    fails(mcErrorInvalidValue, mcMemPoolImportPointer(&r, NULL, &data));
    fails(mcErrorInvalidValue, mcMemPoolImportPointer(&r, a, NULL));
    fails(mcErrorInvalidValue, mcMemPoolImportPointer(&r, pool, &data));
    fails(mcErrorInvalidValue, mcMemPoolImportPointer(&r, b, &data));
    for (unsigned i = 0; i < 32; i++) { /* all that means something */
        bad = data;
        bad.reserved[i] ^= 0x80;
        fails(mcErrorInvalidValue, mcMemPoolImportPointer(&r, a, &bad));
    }
    /* Imported memory is not exported again. */
    r = import(a, data);
    fails(mcErrorInvalidValue, mcMemPoolExportPointer(&bad, r));
    ok(mcFree(r));
    fails(mcErrorInvalidDevicePointer, mcFree(r));
    fails(mcErrorInvalidValue, mcFreeAsync(r, NULL));
    /* Nor is what was freed, however. */
    ok(mcFreeAsync(p, NULL));
    fails(mcErrorInvalidValue, mcMemPoolImportPointer(&r, a, &data));
    p = from(pool, SMALL);
    data = data_of(p);
    ok(mcFree(p));
    fails(mcErrorInvalidValue, mcMemPoolImportPointer(&r, a, &data));
    fails(mcErrorInvalidValue, mcMemPoolExportPointer(&data, p));
    ok(mcMemPoolDestroy(a));
    ok(mcMemPoolDestroy(b));
    ok(mcMemPoolDestroy(pool));
    ok(mcMemPoolDestroy(other));
}

static void test_attributes(void)
{
    mcMemPool_t pool = pool_new(FD, 0), imported = twin(pool), of;
    void *p = from(pool, LARGE), *q = import(imported, data_of(p));
    unsigned long long types = 0;
    mcPointerAttribute_t attr;
    mcDeviceptr_t base;
    size_t size;

    ok(mcPointerGetAttributes(&attr, q));
    g_assert_cmpint(attr.type, ==, mcMemoryTypeDevice);
    g_assert_true(attr.devicePointer == q);
    ok(mcMemGetAddressRange(&base, &size, (char *)q + 4096));
    g_assert_true(base == q);
    g_assert_cmpuint(size, ==, LARGE);
    ok(mcPointerGetAttribute(&of, mcPointerAttributeMempoolHandle, q));
    g_assert_true(of == imported);
    ok(mcPointerGetAttribute(&types, mcPointerAttributeAllowedHandleTypes,
                             q));
    g_assert_cmpuint(types, ==, 0);
    ok(mcPointerGetAttribute(&types, mcPointerAttributeAllowedHandleTypes,
                             p));
    g_assert_cmpuint(types, ==, FD);
    /* Each counts its own. */
    uint64_t used = get(imported, mcMemPoolAttrUsedMemCurrent);
    g_assert_cmpuint(used, >=, LARGE);
    g_assert_cmpuint(used, <, LARGE + 8192);
    g_assert_cmpuint(get(imported, mcMemPoolAttrReservedMemCurrent), ==,
                     used);
    void *r = import(imported, data_of(p));
    g_assert_true(r != q);
    g_assert_cmpuint(get(imported, mcMemPoolAttrUsedMemCurrent), ==,
                     2 * used);
    ok(mcFree(r));
    ok(mcFree(q));
    g_assert_cmpuint(get(imported, mcMemPoolAttrUsedMemCurrent), ==, 0);
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(get(imported, mcMemPoolAttrReservedMemCurrent), ==, 0);
    g_assert_cmpuint(get(imported, mcMemPoolAttrUsedMemHigh), ==, 2 * used);
    g_assert_cmpuint(get(pool, mcMemPoolAttrUsedMemCurrent), >=, LARGE);
    ok(mcFree(p));
    ok(mcMemPoolDestroy(imported));
    ok(mcMemPoolDestroy(pool));
}

/* It goes in stream order, and the pool with it. */
static void test_free_in_order(void)
{
    mcMemPool_t pool = pool_new(FD, 0), imported = twin(pool);
    uint64_t *gate = env_malloc_host(8);
    void *p = from(pool, SMALL), *q = import(imported, data_of(p));
    mcStream_t s;

    *gate = 0;
    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    ok(mcStreamWaitValue64(s, gate, 1, MC_STREAM_WAIT_VALUE_GEQ));
    ok(mcMemsetAsync(q, 9, SMALL, s));
    ok(mcFreeAsync(q, s));
    ok(mcMemPoolDestroy(imported));
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    ok(mcStreamSynchronize(s));
    uint8_t host[SMALL], nine[SMALL];
    memset(nine, 9, SMALL);
    ok(mcMemcpy(host, p, SMALL, mcMemcpyDeviceToHost));
    g_assert_cmpmem(host, SMALL, nine, SMALL);
    ok(mcFree(p));
    ok(mcMemPoolDestroy(pool));
    ok(mcStreamDestroy(s));
    ok(mcFreeHost(gate));
}

/* A limit holds, slabs go back, and what comes again is zero pages or was
 * written since. */
static void test_slabs(void)
{
    mcMemPool_t pool = pool_new(FD, 8 * MIB);
    void *p, *q;

    fails(mcErrorMemoryAllocation,
          mcMallocFromPoolAsync(&p, 8 * MIB + 1, pool, NULL));
    for (unsigned i = 0; i < 20; i++) {
        p = from(pool, (1 + i % 3) * 2 * MIB);
        q = from(pool, 64);
        fill(p, 2 * MIB, i);
        fill(q, 64, i + 1);
        check(p, 2 * MIB, i);
        check(q, 64, i + 1);
        ok(mcFreeAsync(p, NULL));
        ok(mcFreeAsync(q, NULL));
        if (i % 3 == 0) {
            ok(mcDeviceSynchronize());
            g_assert_cmpuint(get(pool, mcMemPoolAttrReservedMemCurrent), ==,
                             0);
        }
        if (i % 4 == 3) {
            ok(mcDeviceSynchronize());
        }
    }
    ok(mcMemPoolDestroy(pool));
}

/* More than there is room for in the table: the rest is refused, and freed
 * numbers are used again. */
static void test_many(void)
{
    enum { COUNT = 40000 };
    mcMemPool_t pool = pool_new(FD, 0), imported = twin(pool);
    mcMemPoolPtrExportData data, first;
    void **p = g_new(void *, COUNT), *q;
    unsigned refused = 0;

    for (unsigned i = 0; i < COUNT; i++) {
        p[i] = from(pool, 16);
        mcError_t error = mcMemPoolExportPointer(&data, p[i]);
        if (error == mcErrorMemoryAllocation) {
            refused++;
        } else {
            ok(error);
        }
        first = i == 0 ? data : first;
    }
    g_assert_cmpuint(refused, >, 0);
    g_assert_cmpuint(refused, <, COUNT / 2);
    ok(mcFreeAsync(p[0], NULL));
    data = data_of(p[COUNT - 1]); /* in its place */
    q = import(imported, data);
    ok(mcFree(q));
    fails(mcErrorInvalidValue, mcMemPoolImportPointer(&q, imported, &first));
    for (unsigned i = 1; i < COUNT; i++) {
        ok(mcFreeAsync(p[i], NULL));
    }
    ok(mcMemPoolDestroy(imported));
    ok(mcMemPoolDestroy(pool));
    ok(mcDeviceSynchronize());
    g_free(p);
}

/* ---- two processes ---- */

typedef struct Gift {
    mcMemPoolPtrExportData data;
    uint64_t size;
} Gift;

static int user(int socket)
{
    mcMemPool_t pool;
    mcStream_t s;
    char byte = 0;
    Gift gift;
    void *p;

    peer_device();
    int fd = peer_receive_fd(socket);
    ok(mcMemPoolImportFromShareableHandle(&pool, as_handle(fd), FD, 0));
    close(fd);
    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    for (unsigned i = 0; i < 3; i++) {
        g_assert_true(peer_read(socket, &gift, sizeof(gift)));
        p = import(pool, gift.data);
        check(p, gift.size, i);
        fill(p, gift.size, 10 + i);
        if (i == 0) {
            ok(env_launch("k_store", 1, p, s));
        }
        ok(mcFreeAsync(p, s));
        ok(mcStreamSynchronize(s));
        peer_write(socket, &byte, 1);
    }
    /* What was freed there, then the end of the other one. */
    g_assert_true(peer_read(socket, &byte, 1));
    fails(mcErrorInvalidValue, mcMemPoolImportPointer(&p, pool, &gift.data));
    g_assert_true(peer_read(socket, &gift, sizeof(gift)));
    p = import(pool, gift.data);
    check(p, gift.size, 99);
    peer_write(socket, &byte, 1);
    g_assert_false(peer_read(socket, &byte, 1));
    check(p, gift.size, 99); /* still there */
    ok(mcMemPoolDestroy(pool));
    ok(mcFree(p));
    ok(mcDeviceReset());
    return 0;
}


/* To the second process, which has used it then. */
static void give(const Peer *peer, void *p, uint64_t size)
{
    Gift gift = {.data = data_of(p), .size = size};
    char byte;

    peer_write(peer->socket, &gift, sizeof(gift));
    g_assert_true(peer_read(peer->socket, &byte, 1));
}

static void test_processes(void)
{
    static const uint64_t sizes[] = {SMALL, LARGE, 4096};
    mcMemPool_t pool = pool_new(FD, 0);
    Peer peer = peer_start("user");
    void *p = NULL;
    char byte = 0;
    int fd = export(pool);

    peer_send_fd(peer.socket, fd);
    close(fd);
    for (unsigned i = 0; i < 3; i++) {
        p = from(pool, sizes[i]);
        fill(p, sizes[i], i);
        give(&peer, p, sizes[i]);
        if (i == 0) { /* the kernel's word */
            uint64_t word;

            ok(mcMemcpy(&word, p, 8, mcMemcpyDeviceToHost));
            g_assert_cmphex(word, ==, 0x1234);
        } else {
            check(p, sizes[i], 10 + i);
        }
        if (i < 2) {
            ok(mcFreeAsync(p, NULL));
        }
    }
    ok(mcFree(p));
    peer_write(peer.socket, &byte, 1);
    p = from(pool, SMALL);
    fill(p, SMALL, 99);
    give(&peer, p, SMALL);
    /* Its pool and its memory end first, which is allowed to no program. */
    ok(mcDeviceReset());
    env_forget();
    g_assert_cmpint(peer_end(&peer), ==, 0);
}

int main(int argc, char **argv)
{
    static const PeerMode modes[] = {{"user", user}, {NULL, NULL}};

    peer_process_main(argc, argv, modes);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pool-share/pools", test_pools);
    g_test_add_func("/pool-share/bad-descriptors", test_bad_descriptors);
    g_test_add_func("/pool-share/pointer-errors", test_pointer_errors);
    g_test_add_func("/pool-share/attributes", test_attributes);
    g_test_add_func("/pool-share/free-in-order", test_free_in_order);
    g_test_add_func("/pool-share/slabs", test_slabs);
    g_test_add_func("/pool-share/many", test_many);
    g_test_add_func("/pool-share/processes", test_processes);
    return g_test_run();
}
