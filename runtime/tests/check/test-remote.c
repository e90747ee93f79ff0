/* SPDX-License-Identifier: MIT */
/*
 * The checkers in QEMU without QEMU: a process that tells them of its memory over
 * a socket, kernels that access it, and what the process is told.
 */
#include <glib.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check/link.h"
#include "check/remote/step.h"
#include "core/memory/range.h"
#include "mxgpu/observer_entry.h"

MxgpuObserverEntry mxgpu_observer_entry;

#define BASE 0x7f0000000000ull

static const MxgpuObserver *checker;
static int peer; /* the process's end */

static void send_record(uint32_t type, uint32_t flags, uint64_t a, uint64_t b,
                        uint64_t c)
{
    const McLinkRecord r = {type, flags, a, b, c};

    g_assert_cmpint(send(peer, &r, sizeof(r), 0), ==, sizeof(r));
}

static McLinkRecord get(void)
{
    McLinkRecord r;

    g_assert_cmpint(recv(peer, &r, sizeof(r), MSG_WAITALL), ==, sizeof(r));
    return r;
}

static char *get_text(enum McLinkType type)
{
    McLinkRecord r = get();
    char *text;

    g_assert_cmpuint(r.type, ==, type);
    g_assert_cmpuint(r.flags, <=, MC_LINK_TEXT_MAX);
    text = g_malloc0(r.flags + 1);
    g_assert_cmpint(recv(peer, text, r.flags, MSG_WAITALL), ==, r.flags);
    return text;
}

static void sync_with(void)
{
    static uint64_t number;
    McLinkRecord r;

    send_record(MC_LINK_SYNC, 0, ++number, 0, 0);
    r = get();
    g_assert_cmpuint(r.type, ==, MC_LINK_SYNC);
    g_assert_cmpuint(r.a, ==, number);
}

static void hello(void)
{
    McLinkRecord r;

    send_record(MC_LINK_HELLO, 0, MC_LINK_VERSION, 0x1234567890, 0);
    r = get();
    g_assert_cmpuint(r.type, ==, MC_LINK_HELLO);
    g_assert_cmpuint(r.a, ==, MC_LINK_VERSION);
    g_assert_cmpuint(r.b, ==, 0x1234567890);
}

/* The lane that is refused, of two: the first at addr. */
static int store(uint64_t addr, uint64_t other)
{
    uint64_t at[64] = {addr, other};
    const MxgpuObservedWarp w = {
        .entry = 0x5000, .args = 0x6000, .grid = {3, 1, 1},
        .size = {64, 1, 1}, .block = {2, 0, 0}, .lanes = 3, .live = 3,
        .pc = 0x5010, .shared = 256,
    };
    const MxgpuObservedAccess a = {
        .access = MXGPU_ACCESS_WRITE, .size = 4, .addr = at,
    };

    checker->grid(NULL, 0, w.entry, w.args, true);
    return checker->access(NULL, &w, &a);
}

static void add(uint64_t base, uint64_t size)
{
    send_record(MC_LINK_ADD, MC_RANGE_DEVICE, base, size, 1);
}

static void test_report(void)
{
    g_autofree char *text = NULL;
    g_autofree char *expected = NULL;

    hello();
    send_record(MC_LINK_ARENA, 1, BASE, 0x10000, 0);
    add(BASE, 400);
    sync_with();
    g_assert_true(checker->range(NULL, 0, MXGPU_ACCESS_READ, BASE, BASE + 400));
    g_assert_false(checker->range(NULL, 0, MXGPU_ACCESS_READ, BASE,
                                  BASE + 401));
    g_assert_cmpint(store(BASE, BASE + 396), ==, -1);
    g_assert_cmpint(store(BASE, BASE + 400), ==, 1);
    text = get_text(MC_LINK_REPORT);
    expected = g_strdup_printf(
        "========= Invalid __global__ write of size 4 bytes\n"
        "%cp5010 at\n"
        "=========     by thread (1,0,0) in block (2,0,0)\n"
        "%ca%llx 4\n"
        "%ck5000 6000 3 1 1 64 1 1\n", MC_STEP, MC_STEP, BASE + 400, MC_STEP);
    g_assert_cmpstr(text, ==, expected);
}

static void test_freed(void)
{
    hello();
    send_record(MC_LINK_ARENA, 1, BASE, 0x10000, 0);
    add(BASE, 400);
    send_record(MC_LINK_REMOVE, 1, BASE, 7, 0);
    sync_with();
    /* Work from before may use it. */
    g_assert_cmpint(store(BASE, BASE + 4), ==, -1);
    send_record(MC_LINK_SETTLED, 0, 8, 0, 0); /* another one's */
    sync_with();
    g_assert_cmpint(store(BASE, BASE + 4), ==, -1);
    send_record(MC_LINK_SETTLED, 0, 7, 0, 0);
    sync_with();
    g_assert_cmpint(store(BASE, BASE + 4), ==, 0);
    g_free(get_text(MC_LINK_REPORT));
    add(BASE, 400); /* again */
    sync_with();
    g_assert_cmpint(store(BASE, BASE + 4), ==, -1);
    send_record(MC_LINK_REMOVE, 0, BASE, 9, 0);
    sync_with();
    g_assert_cmpint(store(BASE, BASE + 4), ==, 0);
    g_free(get_text(MC_LINK_REPORT));
}

/* The user's filters are the process's: it knows names. */
static void test_unwanted(void)
{
    hello();
    send_record(MC_LINK_ARENA, 1, BASE, 0x10000, 0);
    send_record(MC_LINK_KERNEL, 0, 0x5000, 0, 0);
    sync_with();
    g_assert_cmpint(store(BASE, BASE), ==, -1);
    send_record(MC_LINK_KERNEL, 1, 0x5000, 0, 0);
    sync_with();
    g_assert_cmpint(store(BASE, BASE), ==, 0);
    g_free(get_text(MC_LINK_REPORT));
}

/* Without a process, and between two, nothing is refused. */
static void test_nobody(void)
{
    hello();
    send_record(MC_LINK_ARENA, 1, BASE, 0x10000, 0);
    sync_with();
    send_record(MC_LINK_BYE, 0, 0, 0, 0);
    add(BASE, 4); /* nobody's */
    hello();
    sync_with();
    g_assert_cmpint(store(BASE, BASE + 400), ==, -1);
    send_record(MC_LINK_HELLO, 0, MC_LINK_VERSION + 1, 5, 0);
    g_assert_cmpuint(get().b, ==, 5);
    send_record(MC_LINK_ARENA, 1, BASE, 0x10000, 0);
    hello();
    g_assert_cmpint(store(BASE, BASE + 400), ==, -1);
}

/* What cannot be is not taken, and harms nothing else. */
static void test_nonsense(void)
{
    McLinkRecord r = {.type = MC_LINK_SYNC, .a = 77};
    const char *bytes = (const char *)&r;

    hello();
    add(BASE, 0);
    add(BASE, UINT64_MAX);
    add(UINT64_MAX, 16);
    add(1ull << 47, 4096);
    add((1ull << 47) - 4096, 8192);
    send_record(MC_LINK_ADD, 99, BASE, 400, 1);
    send_record(MC_LINK_ARENA, 1, UINT64_MAX - 4, 8, 0);
    send_record(MC_LINK_ARENA, 0, 0x123000, 0, 0);
    send_record(MC_LINK_REMOVE, 1, 0x123000, 5, 0);
    send_record(MC_LINK_LOG, UINT32_MAX, 0x2020202020202020,
                0x2020202020202020, 0x2020202020202020);
    send_record(0, 0, 0, 0, 0);
    send_record(UINT32_MAX, 0, 0, 0, 0);
    for (size_t i = 0; i < sizeof(r); i++) {
        g_assert_cmpint(send(peer, bytes + i, 1, 0), ==, 1);
        g_usleep(100);
    }
    g_assert_cmpuint(get().a, ==, 77);
    g_assert_cmpint(store(BASE, BASE + 400), ==, -1);
}

/* A process that does not read loses reports, and is told how many; the device
 * does not wait for it. */
static void test_full(void)
{
    enum { REPORTS = 60000 };
    unsigned got = 0, lost = 0;

    hello();
    send_record(MC_LINK_ARENA, 1, BASE, 0x10000, 0);
    sync_with();
    for (unsigned i = 0; i < REPORTS; i++) {
        g_assert_cmpint(store(BASE, BASE), ==, 0);
    }
    while (!lost) {
        McLinkRecord r = get();
        g_autofree char *text = g_malloc0(r.flags + 1);

        g_assert_cmpint(recv(peer, text, r.flags, MSG_WAITALL), ==, r.flags);
        got += r.type == MC_LINK_REPORT;
        if (r.type == MC_LINK_NOTE) {
            g_assert_cmpint(sscanf(text, "%u reports were lost", &lost), ==,
                            1);
        }
    }
    g_assert_cmpuint(got + lost, ==, REPORTS);
    g_assert_cmpuint(got, >, 1000);
    hello();
}

static void test_entry(gconstpointer socket_path)
{
    const char *why = NULL;

    g_assert_null(mxgpu_observer_entry(MXGPU_OBSERVER_ABI + 1, &why));
    g_assert_nonnull(strstr(why, "version"));
    g_unsetenv("MXGPU_MEMCHECK");
    g_assert_null(mxgpu_observer_entry(MXGPU_OBSERVER_ABI, &why));
    g_assert_nonnull(strstr(why, "MXGPU_MEMCHECK"));
    g_setenv("MXGPU_MEMCHECK", "memcheck", true);
    g_unsetenv("MXGPU_MEMCHECK_SOCKET");
    g_assert_null(mxgpu_observer_entry(MXGPU_OBSERVER_ABI, &why));
    g_assert_nonnull(strstr(why, "MXGPU_MEMCHECK_SOCKET"));
    g_setenv("MXGPU_MEMCHECK_SOCKET", "/nowhere/at/all", true);
    g_assert_null(mxgpu_observer_entry(MXGPU_OBSERVER_ABI, &why));
    g_assert_nonnull(strstr(why, "No such file"));
    g_setenv("MXGPU_MEMCHECK_SOCKET", socket_path, true);
    checker = mxgpu_observer_entry(MXGPU_OBSERVER_ABI, &why);
    g_assert_nonnull(checker);
    /* A second device. */
    g_assert_true(mxgpu_observer_entry(MXGPU_OBSERVER_ABI, &why) == checker);
}

static int listen_at(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    g_strlcpy(at.sun_path, path, sizeof(at.sun_path));
    g_assert_cmpint(bind(fd, (struct sockaddr *)&at, sizeof(at)), ==, 0);
    g_assert_cmpint(listen(fd, 1), ==, 0);
    return fd;
}

int main(int argc, char **argv)
{
    g_autofree char *folder = g_dir_make_tmp("mxgpu-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "socket", NULL);
    int listener, status;

    g_test_init(&argc, &argv, NULL);
    listener = listen_at(path);
    test_entry(path);
    peer = accept(listener, NULL, NULL);
    g_test_add_func("/remote/report", test_report);
    g_test_add_func("/remote/freed", test_freed);
    g_test_add_func("/remote/unwanted", test_unwanted);
    g_test_add_func("/remote/nobody", test_nobody);
    g_test_add_func("/remote/nonsense", test_nonsense);
    g_test_add_func("/remote/full", test_full);
    status = g_test_run();
    unlink(path);
    rmdir(folder);
    return status;
}
