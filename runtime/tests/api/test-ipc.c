/* SPDX-License-Identifier: MIT */
/* Memory and events of other processes. */
#define _GNU_SOURCE
#include <stdio.h>

#include "env.h"
#include "peer_process.h"

#define LARGE ((5u << 20) + 12345) /* whole large pages, and a part of one */
#define SMALL 1000

/* What the first process gives the second. */
typedef struct Gift {
    mcIpcMemHandle_t memory;
    mcIpcEventHandle_t event;
    uint64_t size;
} Gift;

static mcError_t open_memory(void **p, const mcIpcMemHandle_t *handle)
{
    return mcIpcOpenMemHandle(p, *handle, mcIpcMemLazyEnablePeerAccess);
}

static void fill(void *d, size_t size, unsigned seed)
{
    uint8_t *host = g_malloc(size);

    env_pattern(host, size, seed);
    ok(mcMemcpy(d, host, size, mcMemcpyHostToDevice));
    ok(mcDeviceSynchronize());
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

/* Whether device memory can be shared here; else that is what it says. */
static bool can_share(void)
{
    void *d = env_malloc(SMALL);
    mcIpcMemHandle_t handle;
    mcError_t error = mcIpcGetMemHandle(&handle, d);

    ok(mcFree(d));
    if (error == mcErrorNotSupported) {
        g_assert_true(env_vfio()); /* that is documented of it */
        return false;
    }
    ok(error);
    return true;
}

static void end(Peer *peer)
{
    g_assert_cmpint(peer_end(peer), ==, 0);
}

static void test_handles(void)
{
    void *d = env_malloc(SMALL), *host = env_malloc_host(64), *p;
    mcIpcMemHandle_t a, b;
    char zero[64] = {0};

    fails(mcErrorInvalidValue, mcIpcGetMemHandle(NULL, d));
    fails(mcErrorInvalidValue, mcIpcGetMemHandle(&a, NULL));
    fails(mcErrorInvalidValue, mcIpcGetMemHandle(&a, host));
    fails(mcErrorInvalidValue, mcIpcGetMemHandle(&a, &a));
    fails(mcErrorInvalidValue, mcIpcCloseMemHandle(d));
    fails(mcErrorInvalidValue, mcIpcCloseMemHandle(NULL));
    memset(&a, 0, sizeof(a));
    fails(mcErrorInvalidValue, open_memory(&p, &a));
    memset(&a, 0xff, sizeof(a));
    fails(mcErrorInvalidValue, open_memory(&p, &a));
    if (can_share()) {
        /* Any address of it, and always the same. */
        ok(mcIpcGetMemHandle(&a, d));
        ok(mcIpcGetMemHandle(&b, (char *)d + 500));
        g_assert_cmpmem(&a, sizeof(a), &b, sizeof(b));
        g_assert_cmpint(memcmp(&a, zero, sizeof(a)), !=, 0);
        fails(mcErrorDeviceUninitialized, open_memory(&p, &a));
        fails(mcErrorInvalidValue, mcIpcOpenMemHandle(&p, a, 0));
        fails(mcErrorInvalidValue, mcIpcOpenMemHandle(&p, a, 2));
        fails(mcErrorInvalidValue,
              mcIpcOpenMemHandle(NULL, a, mcIpcMemLazyEnablePeerAccess));
    }
    ok(mcFree(d));
    ok(mcFreeHost(host));
}

/* ---- memory ---- */

static int user(int socket)
{
    void *p, *again;
    char byte = 0;
    Gift gift;

    peer_device();
    for (unsigned i = 0; i < 2; i++) {
        mcPointerAttribute_t attr;
        int device;

        g_assert_true(peer_read(socket, &gift, sizeof(gift)));
        ok(open_memory(&p, &gift.memory));
        ok(mcGetDevice(&device));
        ok(mcPointerGetAttributes(&attr, p));
        g_assert_cmpint(attr.type, ==, mcMemoryTypeDevice);
        g_assert_cmpint(attr.device, ==, device);
        check(p, gift.size, 1 + i);
        /* Again it is the same, closed as often. */
        ok(open_memory(&again, &gift.memory));
        g_assert_true(p == again);
        ok(mcIpcCloseMemHandle(again));
        fails(mcErrorInvalidDevicePointer, mcFree(p));
        fails(mcErrorInvalidValue, mcIpcCloseMemHandle((char *)p + 256));
        fill(p, gift.size, 11 + i);
        if (gift.size == SMALL) {
            ok(env_launch("k_store", 1, p, NULL));
            ok(mcDeviceSynchronize());
            fill(p, gift.size, 11 + i);
        }
        ok(mcIpcCloseMemHandle(p));
        fails(mcErrorInvalidValue, mcIpcCloseMemHandle(p));
        peer_write(socket, &byte, 1);
    }
    /* Of what was freed. */
    g_assert_true(peer_read(socket, &byte, 1));
    fails(mcErrorInvalidResourceHandle, open_memory(&p, &gift.memory));
    /* Damaged ones. */
    Gift bad = gift;
    bad.memory.reserved[20] ^= 1; /* the secret */
    fails(mcErrorMapBufferObjectFailed, open_memory(&p, &bad.memory));
    bad = gift;
    bad.memory.reserved[39] ^= 1; /* the number */
    fails(mcErrorInvalidValue, open_memory(&p, &bad.memory));
    bad = gift;
    bad.memory.reserved[4] ^= 3; /* an event's */
    fails(mcErrorInvalidValue, open_memory(&p, &bad.memory));
    ok(mcDeviceReset());
    return 0;
}

static void test_memory(void)
{
    static const uint64_t sizes[] = {SMALL, LARGE};
    void *d[2];
    char byte = 0;

    if (!can_share()) {
        return;
    }
    Peer peer = peer_start("user");
    for (unsigned i = 0; i < 2; i++) {
        Gift gift = {.size = sizes[i]};

        d[i] = env_malloc(sizes[i]);
        fill(d[i], sizes[i], 1 + i);
        ok(mcIpcGetMemHandle(&gift.memory, d[i]));
        peer_write(peer.socket, &gift, sizeof(gift));
        g_assert_true(peer_read(peer.socket, &byte, 1));
        check(d[i], sizes[i], 11 + i);
    }
    ok(mcFree(d[1]));
    peer_write(peer.socket, &byte, 1);
    end(&peer);
    ok(mcFree(d[0]));
}

/* The second process gives, and ends. */
static int giver(int socket)
{
    Gift gift = {.size = SMALL};
    mcEvent_t event;
    mcStream_t stream;
    char byte;

    peer_device();
    void *d = env_malloc(SMALL);
    uint32_t *gate = env_malloc_host(sizeof(*gate));
    fill(d, SMALL, 21);
    ok(mcIpcGetMemHandle(&gift.memory, d));
    ok(mcEventCreateWithFlags(&event, mcEventDisableTiming |
                                          mcEventInterprocess));
    ok(mcIpcGetEventHandle(&gift.event, event));
    ok(mcStreamCreateWithFlags(&stream, mcStreamNonBlocking));
    *gate = 0;
    ok(mcStreamWaitValue32(stream, gate, 1, MC_STREAM_WAIT_VALUE_EQ));
    ok(mcEventRecord(event, stream)); /* never complete */
    peer_write(socket, &gift, sizeof(gift));
    peer_read(socket, &byte, 1);
    _exit(0); /* without a word to anybody */
}

static void test_giver_ends(void)
{
    mcEvent_t event;
    mcStream_t stream;
    void *p, *q;
    Gift gift;

    if (!can_share()) {
        return;
    }
    Peer peer = peer_start("giver");
    g_assert_true(peer_read(peer.socket, &gift, sizeof(gift)));
    ok(mcStreamCreateWithFlags(&stream, mcStreamNonBlocking));
    ok(open_memory(&p, &gift.memory));
    ok(mcIpcOpenEventHandle(&event, gift.event));
    fails(mcErrorNotReady, mcEventQuery(event));
    ok(mcStreamWaitEvent(stream, event, 0));
    check(p, SMALL, 21);
    end(&peer);
    /* What is mapped stays; nothing new can be. Who waits for the process is
     * told, streams go on. */
    check(p, SMALL, 21);
    fails(mcErrorUnknown, mcEventSynchronize(event));
    ok(mcStreamSynchronize(stream));
    ok(mcIpcCloseMemHandle(p));
    fails(mcErrorMapBufferObjectFailed, open_memory(&q, &gift.memory));
    fails(mcErrorMapBufferObjectFailed,
          mcIpcOpenEventHandle(&event, gift.event));
    ok(mcStreamDestroy(stream));
}

/* ---- events ---- */

static void test_event_handles(void)
{
    mcEvent_t event, plain, other;
    mcIpcEventHandle_t handle;
    float ms;

    fails(mcErrorInvalidValue,
          mcEventCreateWithFlags(&event, mcEventInterprocess));
    ok(mcEventCreateWithFlags(&event, mcEventDisableTiming |
                                          mcEventInterprocess));
    ok(mcEventCreateWithFlags(&plain, mcEventDisableTiming));
    ok(mcEventQuery(event));
    ok(mcEventSynchronize(event));
    ok(mcEventRecord(event, NULL));
    ok(mcEventSynchronize(event));
    ok(mcEventQuery(event));
    ok(mcStreamWaitEvent(NULL, event, 0));
    fails(mcErrorInvalidHandle, mcEventElapsedTime(&ms, event, event));
    fails(mcErrorInvalidValue, mcIpcGetEventHandle(NULL, event));
    fails(mcErrorInvalidResourceHandle, mcIpcGetEventHandle(&handle, plain));
    fails(mcErrorInvalidResourceHandle, mcIpcGetEventHandle(&handle, NULL));
    ok(mcIpcGetEventHandle(&handle, event));
    fails(mcErrorInvalidValue, mcIpcOpenEventHandle(NULL, handle));
    fails(mcErrorDeviceUninitialized, mcIpcOpenEventHandle(&other, handle));
    memset(&handle, 0, sizeof(handle));
    fails(mcErrorInvalidValue, mcIpcOpenEventHandle(&other, handle));
    ok(mcEventDestroy(event));
    ok(mcEventDestroy(plain));
}

/* Records of one event, from several streams, in whatever order they end. */
static void test_event_order(void)
{
    uint32_t *gate = env_malloc_host(sizeof(*gate));
    mcStream_t slow, fast;
    mcEvent_t event;

    *gate = 0;
    ok(mcStreamCreateWithFlags(&slow, mcStreamNonBlocking));
    ok(mcStreamCreateWithFlags(&fast, mcStreamNonBlocking));
    ok(mcEventCreateWithFlags(&event, mcEventDisableTiming |
                                          mcEventInterprocess));
    ok(mcStreamWaitValue32(slow, gate, 1, MC_STREAM_WAIT_VALUE_EQ));
    ok(mcEventRecord(event, slow));
    fails(mcErrorNotReady, mcEventQuery(event));
    ok(mcEventRecord(event, fast)); /* the last one counts */
    ok(mcEventSynchronize(event));
    ok(mcEventQuery(event));
    ok(mcEventRecord(event, slow));
    fails(mcErrorNotReady, mcEventQuery(event));
    ok(mcStreamWaitEvent(fast, event, 0));
    fails(mcErrorNotReady, mcStreamQuery(fast));
    /* What is in streams keeps the event. */
    ok(mcEventDestroy(event));
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    ok(mcStreamSynchronize(fast));
    ok(mcStreamSynchronize(slow));
    ok(mcStreamDestroy(slow));
    ok(mcStreamDestroy(fast));
    ok(mcFreeHost(gate));
}

/* Waits for the first one's record with a stream of its own, and records. */
static int follower(int socket)
{
    mcEvent_t event;
    mcStream_t stream;
    Gift gift;
    char byte = 0;

    peer_device();
    ok(mcStreamCreateWithFlags(&stream, mcStreamNonBlocking));
    g_assert_true(peer_read(socket, &gift, sizeof(gift)));
    fails(mcErrorInvalidValue,
          mcIpcOpenEventHandle(&event, *(mcIpcEventHandle_t *)&gift.memory));
    ok(mcIpcOpenEventHandle(&event, gift.event));
    fails(mcErrorNotReady, mcEventQuery(event));
    ok(mcStreamWaitEvent(stream, event, 0));
    fails(mcErrorNotReady, mcStreamQuery(stream));
    peer_write(socket, &byte, 1); /* now it may end */
    ok(mcStreamSynchronize(stream));
    ok(mcEventSynchronize(event));
    ok(mcEventQuery(event));
    /* The other way. */
    ok(mcEventRecord(event, stream));
    peer_write(socket, &byte, 1);
    g_assert_true(peer_read(socket, &byte, 1));
    ok(mcEventDestroy(event));
    fails(mcErrorInvalidResourceHandle,
          mcIpcOpenEventHandle(&event, gift.event)); /* destroyed there */
    return 0;
}

static void test_events(void)
{
    uint32_t *gate = env_malloc_host(sizeof(*gate));
    Peer peer = peer_start("follower");
    mcStream_t stream;
    mcEvent_t event;
    Gift gift = {.size = 0};
    char byte;

    *gate = 0;
    ok(mcStreamCreateWithFlags(&stream, mcStreamNonBlocking));
    ok(mcEventCreateWithFlags(&event, mcEventDisableTiming |
                                          mcEventInterprocess));
    ok(mcIpcGetEventHandle(&gift.event, event));
    ok(mcStreamWaitValue32(stream, gate, 1, MC_STREAM_WAIT_VALUE_EQ));
    ok(mcEventRecord(event, stream));
    peer_write(peer.socket, &gift, sizeof(gift));
    g_assert_true(peer_read(peer.socket, &byte, 1));
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    ok(mcStreamSynchronize(stream));
    g_assert_true(peer_read(peer.socket, &byte, 1));
    ok(mcEventSynchronize(event)); /* the other's record */
    ok(mcEventDestroy(event));
    peer_write(peer.socket, &byte, 1);
    end(&peer);
    ok(mcStreamDestroy(stream));
    ok(mcFreeHost(gate));
}

/* ---- a device that another process uses ---- */

static int visitor(int socket)
{
    (void)socket;
    peer_device();
    return 0;
}

static void test_busy(void)
{
    env_two_devices();
    ok(mcSetDevice(1));
    ok(mcFree(NULL));
    ok(mcSetDevice(0));
    Peer peer = peer_start_beside("visitor");
    g_assert_cmpint(peer_end(&peer), ==, env_vfio() ? PEER_BUSY : 0);
    peer = peer_start("visitor"); /* this one has let go of it */
    end(&peer);
}

int main(int argc, char **argv)
{
    static const PeerMode modes[] = {
        {"user", user},         {"giver", giver},
        {"follower", follower}, {"visitor", visitor},
        {NULL, NULL},
    };

    peer_process_main(argc, argv, modes);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ipc/handles", test_handles);
    g_test_add_func("/ipc/memory", test_memory);
    g_test_add_func("/ipc/giver-ends", test_giver_ends);
    g_test_add_func("/ipc/event-handles", test_event_handles);
    g_test_add_func("/ipc/event-order", test_event_order);
    g_test_add_func("/ipc/events", test_events);
    g_test_add_func("/ipc/busy", test_busy);
    return g_test_run();
}
