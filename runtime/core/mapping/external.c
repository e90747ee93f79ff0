/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "external.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "core/context/error.h"
#include "core/memory/file_memory.h"
#include "core/queue/poll.h"
#include "foreign.h"

/* Who waits looks after its own device so often. */
#define LOOK_NS 10000000
#define LOOK_MS 10

/* ---- memory ---- */

/*
 * Mesa's software drivers export a memfd that begins with its size, the offset
 * of the data and 16 bytes that name the driver; the word before the data is the
 * offset again.
 */
static bool mesa_offset(int fd, uint64_t file_size, uint64_t *offset)
{
    uint64_t head[2], again;

    if (pread(fd, head, sizeof(head), 0) != sizeof(head) ||
        head[0] != file_size || head[1] < 40 || head[1] > file_size ||
        head[1] % 8 ||
        pread(fd, &again, 8, (off_t)(head[1] - 8)) != 8 || again != head[1]) {
        return false;
    }
    *offset = head[1];
    return true;
}

static void memory_destroy(McHandle *handle)
{
    McExternalMemory *memory = (McExternalMemory *)handle;

    close(memory->fd);
    free(memory);
}

mcError_t mc_external_memory_new(McContext *ctx, int fd, uint64_t size,
                                 McExternalMemory **out)
{
    uint64_t file_size, offset = 0;

    if (mc_file_accept(fd, &file_size)) {
        return mcErrorInvalidValue;
    }
    if (size < file_size && mesa_offset(fd, file_size, &offset)) {
        mc_info("file descriptor %d: memory of Mesa at offset %llu", fd,
                (unsigned long long)offset);
    }
    if (size > file_size - offset) {
        mc_error("file descriptor %d has %llu bytes, not %llu", fd,
                 (unsigned long long)(file_size - offset),
                 (unsigned long long)size);
        return mcErrorInvalidValue;
    }
    McExternalMemory *memory = calloc(1, sizeof(*memory));
    if (!memory) {
        return mcErrorMemoryAllocation;
    }
    memory->fd = fd;
    memory->offset = offset;
    memory->size = size;
    mc_handle_add(&memory->handle, MC_HANDLE_EXTERNAL_MEMORY, ctx,
                  memory_destroy);
    *out = memory;
    return mcSuccess;
}

mcError_t mc_external_memory_map(McExternalMemory *memory, uint64_t offset,
                                 uint64_t size, uint64_t *va)
{
    if (!size || offset > memory->size || size > memory->size - offset) {
        return mcErrorInvalidValue;
    }
    uint64_t from = memory->offset + offset;
    uint64_t first = from & ~(KMD_PAGE_SIZE - 1);
    uint64_t end = (from + size + KMD_PAGE_SIZE - 1) & ~(KMD_PAGE_SIZE - 1);
    McShare share = {
        .piece = {{memory->fd, first, end - first}},
        .pieces = 1,
        .skip = from - first,
        .size = size,
    };

    return mc_foreign_map(memory->handle.ctx, &share, MC_RANGE_EXTERNAL, NULL,
                          va);
}

/* ---- semaphores ---- */

/* The page of a timeline, as its peers see it. */
typedef struct Timeline {
    _Atomic uint64_t value;
    _Atomic uint32_t changes; /* futex of who waits */
} Timeline;

struct McSemaphore {
    atomic_int refs; /* of the handle, and of work in streams */
    int fd;
    Timeline *timeline; /* NULL: an eventfd */
};

static void semaphore_put(McSemaphore *semaphore)
{
    if (atomic_fetch_sub(&semaphore->refs, 1) == 1) {
        if (semaphore->timeline) {
            mc_file_unmap(semaphore->timeline, KMD_PAGE_SIZE);
        }
        close(semaphore->fd);
        free(semaphore);
    }
}

static void semaphore_destroy(McHandle *handle)
{
    semaphore_put(((McExternalSemaphore *)handle)->semaphore);
    free(handle);
}

static bool is_eventfd(int fd)
{
    static const char kind[] = "anon_inode:[eventfd]";
    char path[64], text[64];
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    n = readlink(path, text, sizeof(text));
    return n == sizeof(kind) - 1 && !memcmp(text, kind, (size_t)n);
}

static mcError_t open_timeline(int fd, Timeline **out)
{
    uint64_t size;

    if (mc_file_accept(fd, &size) || size < sizeof(Timeline)) {
        return mcErrorInvalidValue;
    }
    *out = mc_file_map(fd, 0, KMD_PAGE_SIZE);
    return *out ? mcSuccess : mcErrorInvalidValue;
}

mcError_t mc_external_semaphore_new(McContext *ctx, int fd, bool timeline,
                                    McExternalSemaphore **out)
{
    McExternalSemaphore *handle = calloc(1, sizeof(*handle));
    McSemaphore *semaphore = calloc(1, sizeof(*semaphore));
    mcError_t error = mcErrorMemoryAllocation;

    if (handle && semaphore && timeline) {
        error = open_timeline(fd, &semaphore->timeline);
    } else if (handle && semaphore) {
        error = is_eventfd(fd) ? mcSuccess : mcErrorInvalidValue;
    }
    if (error != mcSuccess) {
        free(handle);
        free(semaphore);
        return error;
    }
    atomic_init(&semaphore->refs, 1);
    semaphore->fd = fd;
    handle->semaphore = semaphore;
    mc_handle_add(&handle->handle, MC_HANDLE_EXTERNAL_SEMAPHORE, ctx,
                  semaphore_destroy);
    *out = handle;
    return mcSuccess;
}

/* Without waiting, though others may have the file in another mode. */
static bool eventfd_take(int fd)
{
    uint64_t value;
    struct iovec iov = {&value, sizeof(value)};

    return preadv2(fd, &iov, 1, -1, RWF_NOWAIT) == sizeof(value);
}

static void eventfd_set(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    const uint64_t one = 1;

    /* Full means set. */
    if (poll(&p, 1, 0) == 1 && (p.revents & POLLOUT) &&
        write(fd, &one, sizeof(one)) != sizeof(one)) {
        mc_error("external semaphore: %s", strerror(errno));
    }
}

static void signal_one(const McSemaphoreOp *op)
{
    Timeline *t = op->semaphore->timeline;

    if (!t) {
        eventfd_set(op->semaphore->fd);
        return;
    }
    atomic_store(&t->value, op->value);
    atomic_fetch_add(&t->changes, 1);
    syscall(SYS_futex, &t->changes, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Whether it is there; if not, sleeps a little or until something happens. */
static bool wait_one(const McSemaphoreOp *op)
{
    const struct timespec nap = {.tv_nsec = LOOK_NS};
    Timeline *t = op->semaphore->timeline;

    if (!t) {
        struct pollfd p = {.fd = op->semaphore->fd, .events = POLLIN};

        if (eventfd_take(op->semaphore->fd)) {
            return true;
        }
        poll(&p, 1, LOOK_MS);
        return false;
    }
    uint32_t changes = atomic_load(&t->changes);
    if (atomic_load(&t->value) >= op->value) {
        return true;
    }
    syscall(SYS_futex, &t->changes, FUTEX_WAIT, changes, &nap, NULL, 0);
    return false;
}

/* ---- in streams ---- */

typedef struct Work {
    McContext *ctx;
    unsigned count;
    McSemaphoreOp op[];
} Work;

static void work_free(Work *work)
{
    for (unsigned i = 0; i < work->count; i++) {
        semaphore_put(work->op[i].semaphore);
    }
    free(work);
}

/* A device that failed signals nothing: what it should have done is not
 * there. */
static void signal_call(void *opaque, mcError_t status)
{
    Work *work = opaque;

    for (unsigned i = 0; i < work->count && status == mcSuccess; i++) {
        signal_one(&work->op[i]);
    }
    work_free(work);
}

static bool over(McContext *ctx)
{
    return atomic_load(&ctx->dying) || mc_context_check(ctx) != mcSuccess;
}

static void wait_call(void *opaque, mcError_t status)
{
    Work *work = opaque;

    for (unsigned i = 0; i < work->count && status == mcSuccess; i++) {
        while (!wait_one(&work->op[i]) && !over(work->ctx)) {
        }
    }
    work_free(work);
}

static mcError_t submit(McStream *stream, const McSemaphoreOp *ops,
                        unsigned count, McHostCall call)
{
    Work *work = calloc(1, sizeof(*work) + count * sizeof(*ops));

    if (!work) {
        return mcErrorMemoryAllocation;
    }
    work->ctx = stream->ctx;
    work->count = count;
    for (unsigned i = 0; i < count; i++) {
        work->op[i] = ops[i];
        atomic_fetch_add(&ops[i].semaphore->refs, 1);
    }
    mcError_t error = mc_stream_host_call(stream, call, work, true, false);
    if (error != mcSuccess) {
        work_free(work);
    }
    return error;
}

mcError_t mc_semaphores_signal(McStream *stream, const McSemaphoreOp *ops,
                               unsigned count)
{
    return submit(stream, ops, count, signal_call);
}

mcError_t mc_semaphores_wait(McStream *stream, const McSemaphoreOp *ops,
                             unsigned count)
{
    return submit(stream, ops, count, wait_call);
}
