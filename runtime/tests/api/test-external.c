/* SPDX-License-Identifier: MIT */
/* External memory and semaphores, with files of our own and a process that has
 * no device. tests/interop has the same against Vulkan. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "env.h"
#include "peer_process.h"

#define SIZE 100000

/* What a timeline is: docs/external.md. */
typedef struct Timeline {
    _Atomic uint64_t value;
    _Atomic uint32_t changes;
} Timeline;

static int file(size_t size)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    g_assert_cmpint(ftruncate(fd, (off_t)size), ==, 0);
    return fd;
}

static mcExternalMemoryHandleDesc memory_desc(int fd, size_t size)
{
    return (mcExternalMemoryHandleDesc){
        .type = mcExternalMemoryHandleTypeOpaqueFd,
        .handle = {.fd = fd},
        .size = size,
    };
}

static mcExternalMemory_t import(int fd, size_t size)
{
    mcExternalMemoryHandleDesc desc = memory_desc(fd, size);
    mcExternalMemory_t memory = NULL;

    ok(mcImportExternalMemory(&memory, &desc));
    return memory;
}

static void *buffer(mcExternalMemory_t memory, size_t offset, size_t size)
{
    mcExternalMemoryBufferDesc desc = {offset, size, 0};
    void *d = NULL;

    ok(mcExternalMemoryGetMappedBuffer(&d, memory, &desc));
    return d;
}

static void test_memory(void)
{
    int fd = file(SIZE);
    uint8_t *host = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint8_t *in = g_malloc(SIZE), *out = g_malloc(SIZE);
    mcExternalMemory_t memory = import(fd, SIZE); /* takes fd */
    mcPointerAttribute_t attr;

    g_assert_cmpint(fcntl(fd, F_GETFD), >=, 0);
    env_pattern(in, SIZE, 1);
    uint8_t *all = buffer(memory, 0, SIZE);
    uint8_t *part = buffer(memory, 4096 + 40, 8192); /* need not be aligned */
    ok(mcPointerGetAttributes(&attr, all));
    g_assert_cmpint(attr.type, ==, mcMemoryTypeDevice);
    ok(mcMemcpy(all, in, SIZE, mcMemcpyHostToDevice));
    ok(mcDeviceSynchronize());
    g_assert_cmpmem(host, SIZE, in, SIZE);
    host[4096 + 40] ^= 0xff;
    ok(mcMemcpy(out, part, 8192, mcMemcpyDeviceToHost));
    g_assert_cmphex(out[0], ==, (uint8_t)~in[4096 + 40]);
    g_assert_cmpmem(out + 1, 8191, in + 4096 + 41, 8191);
    ok(env_launch("k_store", 1, all, NULL));
    ok(mcDeviceSynchronize());
    g_assert_cmpint(memcmp(host, in, 8), !=, 0);
    fails(mcErrorInvalidValue, mcMemset(part, 0, 8193));

    /* Buffers outlive the object. */
    ok(mcDestroyExternalMemory(memory));
    fails(mcErrorInvalidResourceHandle, mcDestroyExternalMemory(memory));
    ok(mcMemset(part, 0x33, 16));
    ok(mcDeviceSynchronize());
    g_assert_cmphex(host[4096 + 40], ==, 0x33);
    fails(mcErrorInvalidDevicePointer, mcFree(part + 1));
    ok(mcFree(part));
    ok(mcFree(all));
    fails(mcErrorInvalidDevicePointer, mcFree(all));
    munmap(host, SIZE);
    g_free(in);
    g_free(out);
}

static void test_memory_errors(void)
{
    int fd = file(SIZE), odd = memfd_create("odd", MFD_CLOEXEC), null;
    mcExternalMemoryHandleDesc desc = memory_desc(fd, SIZE), bad = desc;
    mcExternalMemoryBufferDesc range = {0, SIZE, 0};
    mcExternalMemory_t memory = NULL;
    void *d;

    fails(mcErrorInvalidValue, mcImportExternalMemory(NULL, &desc));
    fails(mcErrorInvalidValue, mcImportExternalMemory(&memory, NULL));
    bad.type = 0;
    fails(mcErrorInvalidValue, mcImportExternalMemory(&memory, &bad));
    for (int type = mcExternalMemoryHandleTypeOpaqueWin32;
         type <= mcExternalMemoryHandleTypeNvSciBuf; type++) {
        bad.type = type;
        fails(mcErrorNotSupported, mcImportExternalMemory(&memory, &bad));
    }
    bad = desc;
    bad.flags = 2;
    fails(mcErrorInvalidValue, mcImportExternalMemory(&memory, &bad));
    bad = desc;
    bad.size = 0;
    fails(mcErrorInvalidValue, mcImportExternalMemory(&memory, &bad));
    bad.size = SIZE + 1;
    fails(mcErrorInvalidValue, mcImportExternalMemory(&memory, &bad));
    bad = desc;
    bad.handle.fd = -1;
    fails(mcErrorInvalidValue, mcImportExternalMemory(&memory, &bad));
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    bad.handle.fd = null;
    fails(mcErrorInvalidValue, mcImportExternalMemory(&memory, &bad));
    close(null);
    fails(mcErrorInvalidValue, mcImportExternalMemory(&memory, &bad));
    /* Its owner could make it smaller. */
    g_assert_cmpint(ftruncate(odd, SIZE), ==, 0);
    bad.handle.fd = odd;
    fails(mcErrorInvalidValue, mcImportExternalMemory(&memory, &bad));
    close(odd);

    desc.flags = mcExternalMemoryDedicated;
    ok(mcImportExternalMemory(&memory, &desc));
    g_assert_cmpint(ftruncate(fd, 0), ==, -1); /* sealed now */
    fails(mcErrorInvalidValue,
          mcExternalMemoryGetMappedBuffer(NULL, memory, &range));
    fails(mcErrorInvalidValue,
          mcExternalMemoryGetMappedBuffer(&d, memory, NULL));
    fails(mcErrorInvalidResourceHandle,
          mcExternalMemoryGetMappedBuffer(&d, NULL, &range));
    range.flags = 1;
    fails(mcErrorInvalidValue,
          mcExternalMemoryGetMappedBuffer(&d, memory, &range));
    range = (mcExternalMemoryBufferDesc){1, SIZE, 0};
    fails(mcErrorInvalidValue,
          mcExternalMemoryGetMappedBuffer(&d, memory, &range));
    range = (mcExternalMemoryBufferDesc){~0ull, 2, 0};
    fails(mcErrorInvalidValue,
          mcExternalMemoryGetMappedBuffer(&d, memory, &range));
    range = (mcExternalMemoryBufferDesc){0, 0, 0};
    fails(mcErrorInvalidValue,
          mcExternalMemoryGetMappedBuffer(&d, memory, &range));
    /* What is left goes with the device. */
    d = buffer(memory, 0, SIZE);
    ok(mcDeviceReset());
    env_forget();
    fails(mcErrorInvalidDevicePointer, mcFree(d));
    fails(mcErrorInvalidResourceHandle, mcDestroyExternalMemory(memory));
}

/* ---- semaphores ---- */

static mcExternalSemaphore_t import_semaphore(int type, int fd)
{
    mcExternalSemaphoreHandleDesc desc = {.type = type, .handle = {.fd = fd}};
    mcExternalSemaphore_t semaphore = NULL;

    ok(mcImportExternalSemaphore(&semaphore, &desc));
    return semaphore;
}

static void signal_it(mcExternalSemaphore_t s, uint64_t value,
                      mcStream_t stream)
{
    mcExternalSemaphoreSignalParams params = {
        .params = {.fence = {value}}};

    ok(mcSignalExternalSemaphoresAsync(&s, &params, 1, stream));
}

static void wait_it(mcExternalSemaphore_t s, uint64_t value, mcStream_t stream)
{
    mcExternalSemaphoreWaitParams params = {.params = {.fence = {value}}};

    ok(mcWaitExternalSemaphoresAsync(&s, &params, 1, stream));
}

static void test_binary(void)
{
    int fd = eventfd(0, EFD_CLOEXEC), mine = dup(fd);
    mcExternalSemaphore_t s =
        import_semaphore(mcExternalSemaphoreHandleTypeOpaqueFd, fd);
    uint32_t *gate = env_malloc_host(sizeof(*gate));
    mcStream_t a, b;
    uint64_t n = 1;

    *gate = 0;
    ok(mcStreamCreateWithFlags(&a, mcStreamNonBlocking));
    ok(mcStreamCreateWithFlags(&b, mcStreamNonBlocking));
    /* From outside: each signal lets one wait pass. */
    wait_it(s, 0, a);
    fails(mcErrorNotReady, mcStreamQuery(a));
    g_assert_cmpint(write(mine, &n, 8), ==, 8);
    ok(mcStreamSynchronize(a));
    wait_it(s, 0, a);
    fails(mcErrorNotReady, mcStreamQuery(a));
    /* In stream order: not before what comes before it. */
    ok(mcStreamWaitValue32(b, gate, 1, MC_STREAM_WAIT_VALUE_EQ));
    signal_it(s, 0, b);
    fails(mcErrorNotReady, mcStreamQuery(a));
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    ok(mcStreamSynchronize(a));
    ok(mcStreamSynchronize(b));
    /* Signalled twice it is signalled. */
    signal_it(s, 0, b);
    signal_it(s, 0, b);
    ok(mcStreamSynchronize(b));
    g_assert_cmpint(read(mine, &n, 8), ==, 8);
    wait_it(s, 0, a);
    fails(mcErrorNotReady, mcStreamQuery(a));
    /* Work in streams keeps it. */
    ok(mcDestroyExternalSemaphore(s));
    n = 1;
    g_assert_cmpint(write(mine, &n, 8), ==, 8);
    ok(mcStreamSynchronize(a));
    close(mine);
    ok(mcStreamDestroy(a));
    ok(mcStreamDestroy(b));
    ok(mcFreeHost(gate));
}

static void test_timeline(void)
{
    int fd = file(4096);
    Timeline *t = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    mcExternalSemaphore_t s =
        import_semaphore(mcExternalSemaphoreHandleTypeTimelineSemaphoreFd, fd);
    mcStream_t a;

    ok(mcStreamCreateWithFlags(&a, mcStreamNonBlocking));
    wait_it(s, 0, a); /* reached */
    ok(mcStreamSynchronize(a));
    signal_it(s, 5, a);
    wait_it(s, 4, a); /* waiting does not reset it */
    wait_it(s, 5, a);
    ok(mcStreamSynchronize(a));
    g_assert_cmpuint(t->value, ==, 5);
    wait_it(s, 7, a);
    fails(mcErrorNotReady, mcStreamQuery(a));
    atomic_store(&t->value, 6);
    fails(mcErrorNotReady, mcStreamQuery(a));
    atomic_store(&t->value, 8); /* even without a call */
    ok(mcStreamSynchronize(a));
    ok(mcDestroyExternalSemaphore(s));
    ok(mcStreamDestroy(a));
    munmap(t, 4096);
}

static void test_semaphore_errors(void)
{
    int fd = eventfd(0, EFD_CLOEXEC), memory = file(4096), small = file(8);
    mcExternalSemaphoreHandleDesc desc = {
        .type = mcExternalSemaphoreHandleTypeOpaqueFd, .handle = {.fd = fd}};
    mcExternalSemaphoreHandleDesc bad = desc;
    mcExternalSemaphoreSignalParams signals[2] = {{.flags = 0}};
    mcExternalSemaphoreWaitParams waits[2] = {{.flags = 0}};
    mcExternalSemaphore_t s[2] = {NULL, NULL};
    uint64_t n;

    fails(mcErrorInvalidValue, mcImportExternalSemaphore(NULL, &desc));
    fails(mcErrorInvalidValue, mcImportExternalSemaphore(&s[0], NULL));
    bad.type = 0;
    fails(mcErrorInvalidValue, mcImportExternalSemaphore(&s[0], &bad));
    bad.type = mcExternalSemaphoreHandleTypeD3D12Fence;
    fails(mcErrorNotSupported, mcImportExternalSemaphore(&s[0], &bad));
    bad.type = mcExternalSemaphoreHandleTypeTimelineSemaphoreWin32;
    fails(mcErrorNotSupported, mcImportExternalSemaphore(&s[0], &bad));
    bad = desc;
    bad.flags = 1;
    fails(mcErrorInvalidValue, mcImportExternalSemaphore(&s[0], &bad));
    bad = desc;
    bad.handle.fd = -1;
    fails(mcErrorInvalidValue, mcImportExternalSemaphore(&s[0], &bad));
    bad.handle.fd = memory; /* not an eventfd */
    fails(mcErrorInvalidValue, mcImportExternalSemaphore(&s[0], &bad));
    bad.type = mcExternalSemaphoreHandleTypeTimelineSemaphoreFd;
    bad.handle.fd = fd; /* not memory */
    fails(mcErrorInvalidValue, mcImportExternalSemaphore(&s[0], &bad));
    bad.handle.fd = small;
    fails(mcErrorInvalidValue, mcImportExternalSemaphore(&s[0], &bad));
    close(memory);
    close(small);

    ok(mcImportExternalSemaphore(&s[0], &desc));
    fails(mcErrorInvalidValue,
          mcSignalExternalSemaphoresAsync(NULL, signals, 1, NULL));
    fails(mcErrorInvalidValue,
          mcSignalExternalSemaphoresAsync(s, NULL, 1, NULL));
    fails(mcErrorInvalidValue,
          mcWaitExternalSemaphoresAsync(NULL, waits, 1, NULL));
    fails(mcErrorInvalidValue,
          mcWaitExternalSemaphoresAsync(s, NULL, 1, NULL));
    ok(mcSignalExternalSemaphoresAsync(NULL, NULL, 0, NULL));
    ok(mcWaitExternalSemaphoresAsync(NULL, NULL, 0, NULL));
    /* One that is none: nothing happens to the others. */
    fails(mcErrorInvalidResourceHandle,
          mcSignalExternalSemaphoresAsync(s, signals, 2, NULL));
    fails(mcErrorInvalidResourceHandle,
          mcWaitExternalSemaphoresAsync(s, waits, 2, NULL));
    signals[0].flags = 1;
    fails(mcErrorInvalidValue,
          mcSignalExternalSemaphoresAsync(s, signals, 1, NULL));
    waits[0].flags = 2;
    fails(mcErrorInvalidValue,
          mcWaitExternalSemaphoresAsync(s, waits, 1, NULL));
    ok(mcDeviceSynchronize());
    g_assert_cmpint(fcntl(fd, F_SETFL, O_NONBLOCK), ==, 0);
    g_assert_cmpint(read(fd, &n, 8), ==, -1);
    fails(mcErrorInvalidResourceHandle,
          mcSignalExternalSemaphoresAsync(s, signals, 1, (mcStream_t)s));
    ok(mcDestroyExternalSemaphore(s[0]));
    fails(mcErrorInvalidResourceHandle, mcDestroyExternalSemaphore(s[0]));
    fails(mcErrorInvalidResourceHandle, mcDestroyExternalSemaphore(NULL));
}

/* A wait that nobody ends is over with the device. */
static void test_reset(void)
{
    mcExternalSemaphore_t s = import_semaphore(
        mcExternalSemaphoreHandleTypeOpaqueFd, eventfd(0, EFD_CLOEXEC));

    wait_it(s, 0, NULL);
    ok(mcDeviceReset());
    env_forget();
    fails(mcErrorInvalidResourceHandle, mcDestroyExternalSemaphore(s));
}

/* ---- a process without a device ---- */

static void timeline_wait(Timeline *t, uint64_t value)
{
    while (atomic_load(&t->value) < value) {
        uint32_t changes = atomic_load(&t->changes);

        if (atomic_load(&t->value) < value) {
            syscall(SYS_futex, &t->changes, FUTEX_WAIT, changes, NULL, NULL, 0);
        }
    }
}

static void timeline_signal(Timeline *t, uint64_t value)
{
    atomic_store(&t->value, value);
    atomic_fetch_add(&t->changes, 1);
    syscall(SYS_futex, &t->changes, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Adds one to each word, in turns with the device. */
static int adder(int socket)
{
    int memory = peer_receive_fd(socket), timeline = peer_receive_fd(socket);
    uint32_t *words = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
                           memory, 0);
    Timeline *t = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, timeline,
                       0);

    for (uint64_t turn = 1; turn < 20; turn += 2) {
        timeline_wait(t, turn);
        for (unsigned i = 0; i < SIZE / 4; i++) {
            words[i]++;
        }
        timeline_signal(t, turn + 1);
    }
    return 0;
}

static void test_turns(void)
{
    int memory = file(SIZE), timeline = file(4096);
    Peer peer = peer_start("adder");
    uint32_t *host = g_malloc0(SIZE);

    peer_send_fd(peer.socket, memory);
    peer_send_fd(peer.socket, timeline);
    mcExternalMemory_t m = import(memory, SIZE);
    mcExternalSemaphore_t s = import_semaphore(
        mcExternalSemaphoreHandleTypeTimelineSemaphoreFd, timeline);
    uint8_t *d = buffer(m, 0, SIZE), *twice = env_malloc(SIZE);
    mcStream_t stream;

    ok(mcStreamCreateWithFlags(&stream, mcStreamNonBlocking));
    ok(mcMemsetAsync(d, 0, SIZE, stream));
    for (uint64_t turn = 1; turn < 20; turn += 2) {
        signal_it(s, turn, stream);
        wait_it(s, turn + 1, stream);
        /* All of it has been counted: there and back, on the device. */
        ok(mcMemcpyAsync(twice, d, SIZE, mcMemcpyDeviceToDevice, stream));
        ok(mcMemsetAsync(d, 0xff, SIZE, stream));
        ok(mcMemcpyAsync(d, twice, SIZE, mcMemcpyDeviceToDevice, stream));
    }
    ok(mcStreamSynchronize(stream));
    ok(mcMemcpy(host, d, SIZE, mcMemcpyDeviceToHost));
    for (unsigned i = 0; i < SIZE / 4; i++) {
        g_assert_cmpuint(host[i], ==, 10);
    }
    g_assert_cmpint(peer_end(&peer), ==, 0);
    ok(mcFree(d));
    ok(mcFree(twice));
    ok(mcDestroyExternalMemory(m));
    ok(mcDestroyExternalSemaphore(s));
    ok(mcStreamDestroy(stream));
    g_free(host);
}

int main(int argc, char **argv)
{
    static const PeerMode modes[] = {{"adder", adder}, {NULL, NULL}};

    peer_process_main(argc, argv, modes);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/external/memory", test_memory);
    g_test_add_func("/external/memory-errors", test_memory_errors);
    g_test_add_func("/external/binary", test_binary);
    g_test_add_func("/external/timeline", test_timeline);
    g_test_add_func("/external/semaphore-errors", test_semaphore_errors);
    g_test_add_func("/external/reset", test_reset);
    g_test_add_func("/external/turns", test_turns);
    return g_test_run();
}
