/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "shared_event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "core/context/error.h"
#include "core/memory/file_memory.h"
#include "core/queue/poll.h"

#define SLOTS 128 /* records that are told apart */
/* A sleeper looks for the other process and at its own device so often. */
#define LOOK_NS 10000000

typedef struct Page {
    _Atomic uint32_t changes; /* futex of who waits */
    uint32_t pad;
    _Atomic uint64_t recorded;
    struct {
        _Atomic uint64_t done; /* the last record here that is complete */
        _Atomic uint64_t pid;  /* who made the last one */
    } slot[SLOTS];
} Page;

_Static_assert(sizeof(Page) <= KMD_PAGE_SIZE, "one page");

struct McSharedEvent {
    atomic_int refs;
    int fd;
    Page *page;
    unsigned number; /* in the directory, or 0 */
};

/* Takes fd over. */
static mcError_t event_make(int fd, McSharedEvent **out)
{
    McSharedEvent *event = calloc(1, sizeof(*event));
    Page *page = event ? mc_file_map(fd, 0, KMD_PAGE_SIZE) : NULL;

    if (!page) {
        free(event);
        close(fd);
        return mcErrorMemoryAllocation;
    }
    atomic_init(&event->refs, 1);
    event->fd = fd;
    event->page = page;
    *out = event;
    return mcSuccess;
}

mcError_t mc_shared_event_new(McSharedEvent **out)
{
    int fd, err = mc_file_new("mxgpu-event", KMD_PAGE_SIZE, &fd);

    return err ? mc_error_from_kmd(err) : event_make(fd, out);
}

mcError_t mc_shared_event_open(const McShare *share, McSharedEvent **out)
{
    if (share->pieces != 1 || share->piece[0].offset ||
        share->piece[0].size != KMD_PAGE_SIZE) {
        return mcErrorInvalidResourceHandle;
    }
    int fd = fcntl(share->piece[0].fd, F_DUPFD_CLOEXEC, 0);
    return fd < 0 ? mcErrorOperatingSystem : event_make(fd, out);
}

static McSharedEvent *event_hold(McSharedEvent *event)
{
    atomic_fetch_add(&event->refs, 1);
    return event;
}

static void event_put(McSharedEvent *event)
{
    if (atomic_fetch_sub(&event->refs, 1) == 1) {
        mc_file_unmap(event->page, KMD_PAGE_SIZE);
        close(event->fd);
        free(event);
    }
}

void mc_shared_event_free(McSharedEvent *event)
{
    mc_directory_withdraw(event->number);
    event_put(event);
}

bool mc_shared_event_token(McSharedEvent *event, McToken *token)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    if (!event->number) {
        McShare share = {
            .piece = {{event->fd, 0, KMD_PAGE_SIZE}},
            .pieces = 1,
            .size = KMD_PAGE_SIZE,
        };

        event->number = mc_directory_publish(MC_RECORD_EVENT, &share);
    }
    bool ok = event->number;
    if (ok) {
        mc_directory_token(event->number, token);
    }
    pthread_mutex_unlock(&lock);
    return ok;
}

/* ---- records ---- */

static bool is_done(const Page *page, uint64_t n)
{
    return n == 0 || page->slot[n % SLOTS].done >= n;
}

static void complete(Page *page, uint64_t n)
{
    _Atomic uint64_t *done = &page->slot[n % SLOTS].done;
    uint64_t old = atomic_load(done);

    /* A later record may have come to its end before. */
    while (old < n && !atomic_compare_exchange_weak(done, &old, n)) {
    }
    atomic_fetch_add(&page->changes, 1);
    syscall(SYS_futex, &page->changes, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Work in a stream. */
typedef struct Op {
    McSharedEvent *event;
    uint64_t n;
    McContext *ctx; /* whose stream waits */
} Op;

static mcError_t submit(McSharedEvent *event, uint64_t n, McStream *stream,
                        McHostCall call)
{
    Op *op = malloc(sizeof(*op));

    if (!op) {
        return mcErrorMemoryAllocation;
    }
    *op = (Op){event_hold(event), n, stream->ctx};
    mcError_t error = mc_stream_host_call(stream, call, op, true, false);
    if (error != mcSuccess) {
        event_put(event);
        free(op);
    }
    return error;
}

static void record_call(void *opaque, mcError_t status)
{
    Op *op = opaque;

    /* Also when the device failed: nothing comes any more. */
    complete(op->event->page, op->n);
    event_put(op->event);
    free(op);
}

mcError_t mc_shared_event_record(McSharedEvent *event, McStream *stream)
{
    Page *page = event->page;
    uint64_t n = atomic_fetch_add(&page->recorded, 1) + 1;

    atomic_store(&page->slot[n % SLOTS].pid, (uint64_t)getpid());
    mcError_t error = submit(event, n, stream, record_call);
    if (error != mcSuccess) {
        complete(page, n);
    }
    return error;
}

mcError_t mc_shared_event_query(McSharedEvent *event)
{
    return is_done(event->page, atomic_load(&event->page->recorded))
               ? mcSuccess
               : mcErrorNotReady;
}

/* ---- waiting ---- */

/* A process that has ended is gone, or waits for its parent to ask. */
static bool process_gone(uint64_t pid)
{
    char path[64], text[512], *p;
    ssize_t n;
    int fd;

    if (pid == 0 || pid > INT32_MAX || pid == (uint64_t)getpid()) {
        return false;
    }
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return kill((pid_t)pid, 0) && errno == ESRCH;
    }
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n < 0 ? 0 : n] = 0;
    p = strrchr(text, ')');
    return n <= 0 || (p && (p[2] == 'Z' || p[2] == 'X'));
}

static mcError_t wait_done(McSharedEvent *event, uint64_t n, McContext *ctx)
{
    const struct timespec nap = {.tv_nsec = LOOK_NS};
    Page *page = event->page;

    for (;;) {
        uint32_t changes = atomic_load(&page->changes);
        uint64_t pid = atomic_load(&page->slot[n % SLOTS].pid);

        if (is_done(page, n)) {
            return mcSuccess;
        }
        if (atomic_load(&ctx->dying)) {
            return mcErrorContextIsDestroyed;
        }
        mcError_t error = mc_context_check(ctx);
        if (error != mcSuccess) {
            return error;
        }
        if (process_gone(pid) && !is_done(page, n)) {
            mc_error("process %d ended before an event that it recorded was "
                     "complete", (int)pid);
            return mcErrorUnknown;
        }
        syscall(SYS_futex, &page->changes, FUTEX_WAIT, changes, &nap, NULL, 0);
    }
}

mcError_t mc_shared_event_sync(McSharedEvent *event, McContext *ctx)
{
    return wait_done(event, atomic_load(&event->page->recorded), ctx);
}

static void wait_call(void *opaque, mcError_t status)
{
    Op *op = opaque;

    if (status == mcSuccess) {
        wait_done(op->event, op->n, op->ctx);
    }
    event_put(op->event);
    free(op);
}

mcError_t mc_shared_event_wait(McSharedEvent *event, McStream *stream)
{
    uint64_t n = atomic_load(&event->page->recorded);

    return is_done(event->page, n) ? mcSuccess
                                   : submit(event, n, stream, wait_call);
}
