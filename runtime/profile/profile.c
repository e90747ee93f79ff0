/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* secure_getenv */
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "annotation.h"
#include "base/log.h"
#include "core/module/module.h"
#include "core/context/observer.h"
#include "core/queue/queue.h"
#include "core/memory/range.h"
#include "mxgpu/kernel.h"
#include "profile_format.h"

#define FILE_MAX     256u /* MiB, if nothing else is said */
#define LIMIT_MAX    (1u << 20)
#define FILE_STEP    (1ull << 20)
#define MODULE_MAX   (64ull << 20)
#define INTERVAL     1009u /* no loop's length */
#define SAMPLES      256u
#define SAMPLES_MAX  65536u
#define END_MS       1000 /* that the end waits for other threads */

atomic_bool mc_profile_active;

static struct {
    atomic_bool open;
    int fd;
    uint8_t *map;
    uint64_t max;
    atomic_ullong at;     /* bytes given out */
    atomic_ullong backed; /* bytes that the file system has */
    atomic_bool full;     /* or ended: nothing more is written */
    atomic_uint writers;  /* threads that may not have seen that */
    pthread_mutex_t grow;
    unsigned interval, samples;
    unsigned limit; /* MiB */
    bool exact;
} profile = {.fd = -1, .grow = PTHREAD_MUTEX_INITIALIZER};

uint64_t mc_profile_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* ---- the file ---- */

/* Blocks of the file are there before they are written to: a full disk is no
 * bus error. */
static bool grow(uint64_t end)
{
    int err = 0;

    if (atomic_load(&profile.backed) >= end) {
        return true;
    }
    pthread_mutex_lock(&profile.grow);
    uint64_t from = atomic_load(&profile.backed);
    if (from < end) {
        uint64_t most = end + FILE_STEP < profile.max ? end + FILE_STEP
                                                      : profile.max;

        err = posix_fallocate(profile.fd, from, most - from);
        if (err && most > end) { /* nearly full: what is needed now */
            most = end;
            err = posix_fallocate(profile.fd, from, most - from);
        }
        if (!err) {
            atomic_store(&profile.backed, most);
        }
    }
    pthread_mutex_unlock(&profile.grow);
    errno = err;
    return !err;
}

typedef struct Part {
    const void *data;
    size_t size;
} Part;

static bool write_entry(uint32_t type, const Part *parts, unsigned count,
                        uint64_t size)
{
    uint64_t at = atomic_fetch_add(&profile.at, size);

    if (size > profile.max || at > profile.max - size || !grow(at + size)) {
        return false;
    }
    struct mc_profile_entry *entry = (void *)(profile.map + at);
    uint8_t *to = (uint8_t *)(entry + 1);

    /* First: a reader finds what is behind an entry that is never finished. */
    __atomic_store_n(&entry->size, (uint32_t)size, __ATOMIC_RELAXED);
    atomic_signal_fence(memory_order_seq_cst);
    for (unsigned i = 0; i < count; i++) {
        memcpy(to, parts[i].data, parts[i].size);
        to += parts[i].size;
    }
    __atomic_store_n(&entry->type, type, __ATOMIC_RELEASE);
    return true;
}

static void append(uint32_t type, const Part *parts, unsigned count)
{
    struct mc_profile_head *head = (void *)profile.map;
    uint64_t size = sizeof(struct mc_profile_entry);
    bool done = false;

    for (unsigned i = 0; i < count; i++) {
        size += parts[i].size;
    }
    size = (size + 7) & ~7ull;
    atomic_fetch_add(&profile.writers, 1);
    if (!atomic_load(&profile.full)) {
        done = write_entry(type, parts, count, size);
        if (!done && !atomic_exchange(&profile.full, true)) {
            mc_warn("profile: no more room, the rest is not recorded");
        }
    }
    if (!done) {
        __atomic_fetch_add(&head->dropped, 1, __ATOMIC_RELAXED);
    }
    atomic_fetch_sub(&profile.writers, 1);
}

#define APPEND(type, ...)                                                      \
    do {                                                                       \
        const Part parts_[] = {__VA_ARGS__};                                   \
        append((type), parts_, sizeof(parts_) / sizeof(parts_[0]));            \
    } while (0)

/* ---- start and end ---- */

static void parse_options(const char *text)
{
    while (text && *text) {
        unsigned length = strcspn(text, ",");

        if (strncmp(text, "interval=", 9) == 0) {
            profile.interval = strtoul(text + 9, NULL, 0);
        } else if (strncmp(text, "samples=", 8) == 0) {
            unsigned long n = strtoul(text + 8, NULL, 0);

            profile.samples = n < SAMPLES_MAX ? n : SAMPLES_MAX;
        } else if (strncmp(text, "limit=", 6) == 0) {
            unsigned long n = strtoul(text + 6, NULL, 0);

            profile.limit = n && n < LIMIT_MAX ? n : LIMIT_MAX;
        } else if (length == 5 && strncmp(text, "exact", 5) == 0) {
            profile.exact = true;
        } else if (length == 6 && strncmp(text, "paused", 6) == 0) {
            atomic_store(&mc_profile_active, false);
        } else {
            mc_warn("MXGPU_PROFILE_OPTIONS: \"%s\" is not understood", text);
        }
        text += length + (text[length] == ',');
    }
    if (!profile.interval || !profile.samples) {
        profile.interval = profile.samples = 0;
    }
}

/* A child does not write to its parent's file; if it executes a program, that
 * one has a file of its own. */
static void in_child(void)
{
    atomic_store(&mc_profile_active, false);
    profile.open = false;
}

static bool make_name(const char *pattern, char *name, size_t size)
{
    const char *percent = strstr(pattern, "%p");
    int n = percent ? snprintf(name, size, "%.*s%d%s",
                               (int)(percent - pattern), pattern,
                               (int)getpid(), percent + 2)
                    : snprintf(name, size, "%s", pattern);

    return n > 0 && (size_t)n < size;
}

static bool open_file(const char *name)
{
    struct rlimit limit;

    profile.max = (uint64_t)profile.limit << 20;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < profile.max) {
        profile.max = limit.rlim_cur & ~7ull;
    }
    profile.fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (profile.fd < 0 || !grow(sizeof(struct mc_profile_head))) {
        return false;
    }
    profile.map = mmap(NULL, profile.max, PROT_READ | PROT_WRITE, MAP_SHARED,
                       profile.fd, 0);
    if (profile.map == MAP_FAILED) {
        return false;
    }
    madvise(profile.map, profile.max, MADV_DONTFORK);
    return true;
}

static const McObserver observer;

static void __attribute__((constructor)) profile_start(void)
{
    const char *pattern = secure_getenv("MXGPU_PROFILE");
    struct mc_profile_head head = {
        .magic = MC_PROFILE_MAGIC,
        .version = MC_PROFILE_VERSION,
        .pid = getpid(),
        .start = mc_profile_now(),
    };
    char name[1024];

    if (!pattern || !*pattern) {
        return;
    }
    profile.interval = INTERVAL;
    profile.samples = SAMPLES;
    profile.limit = FILE_MAX;
    atomic_store(&mc_profile_active, true);
    parse_options(secure_getenv("MXGPU_PROFILE_OPTIONS"));
    if (!make_name(pattern, name, sizeof(name)) || !open_file(name)) {
        atomic_store(&mc_profile_active, false);
        mc_error("profile: %s: %s", pattern, strerror(errno));
        if (profile.fd >= 0) {
            close(profile.fd);
        }
        return;
    }
    strncpy(head.program, program_invocation_short_name,
            sizeof(head.program) - 1);
    memcpy(profile.map, &head, sizeof(head));
    atomic_store(&profile.at, sizeof(head));
    profile.open = true;
    mc_observer = &observer;
    pthread_atfork(NULL, NULL, in_child);
}

void mc_profile_switch(bool on)
{
    if (profile.open) {
        atomic_store(&mc_profile_active, on);
    }
}

/* The mapping stays: another thread may count what is dropped. The file is cut
 * when none is writing an entry any more; one that takes long is left alone. */
void mc_profile_end(void)
{
    if (!atomic_exchange(&profile.open, false)) {
        return;
    }
    atomic_store(&mc_profile_active, false);
    if (atomic_exchange(&profile.full, true)) {
        return; /* as long as it can be */
    }
    for (unsigned ms = 0; atomic_load(&profile.writers); ms++) {
        if (ms == END_MS) {
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    uint64_t used = (atomic_load(&profile.at) + 4095) & ~4095ull;
    if (used < atomic_load(&profile.backed) &&
        ftruncate(profile.fd, used) != 0) {
        mc_warn("profile: %s", strerror(errno));
    }
}

/* ---- calls, contexts, modules ---- */

static uint32_t thread_id(void)
{
    static _Thread_local uint32_t id;

    if (!id) {
        id = (uint32_t)syscall(SYS_gettid);
    }
    return id;
}

void mc_profile_api(const char *name, uint64_t start, mcError_t result)
{
    struct mc_profile_api api = {
        .start = start,
        .end = mc_profile_now(),
        .thread = thread_id(),
        .result = result,
    };

    if (start) {
        APPEND(MC_PROFILE_API, {&api, sizeof(api)}, {name, strlen(name) + 1});
    }
}

/* Without a file neither flag is set. */
int mc_profile_state(void)
{
    if (__builtin_expect(!atomic_load_explicit(&profile.open,
                                               memory_order_relaxed), 1)) {
        return 0;
    }
    return MC_ANNOTATE_OPEN | (mc_profiling() ? MC_ANNOTATE_ACTIVE : 0);
}

void mc_profile_note(uint32_t type, const void *head, size_t size,
                     const char *text)
{
    if (profile.open) {
        APPEND(type, {head, size}, {text, strlen(text) + 1});
    }
}

/* Modules are recorded although recording is paused: kernels of them may be
 * launched when it is not. */
static void see_context(McContext *ctx, bool opened)
{
    uint64_t before, clock;

    if (!profile.open) {
        return;
    }
    before = mc_profile_now();
    clock = ctx->ops->clock(ctx->kmd);
    uint64_t host = before + (mc_profile_now() - before) / 2;
    if (opened) {
        struct mc_profile_device device = {
            .context = ctx->serial,
            .device = ctx->device,
            .compute_units = ctx->info.compute_units,
            .host = host,
            .clock = clock,
            .memory = ctx->info.vram_size,
        };

        memcpy(device.name, ctx->info.name, sizeof(device.name) - 1);
        APPEND(MC_PROFILE_DEVICE, {&device, sizeof(device)});
    } else {
        struct mc_profile_clock c = {ctx->serial, host, clock};

        APPEND(MC_PROFILE_CLOCK, {&c, sizeof(c)});
    }
}

static void see_module(McModule *module, const void *file, size_t size)
{
    struct mc_profile_module m = {
        .context = module->ctx->serial,
        .id = (uintptr_t)module,
        .base = module->image.base,
        .size = module->image.size,
        .link = module->image.link,
        .file_size = size <= MODULE_MAX ? size : 0,
    };

    if (!profile.open) {
        return;
    }
    APPEND(MC_PROFILE_MODULE, {&m, sizeof(m)}, {file, m.file_size});
    for (uint32_t i = 0; i < module->function_count; i++) {
        McKernelInfo info;

        if (mc_image_kernel(&module->image, i, &info)) {
            struct mc_profile_kernel k = {
                .context = m.context,
                .module = m.id,
                .desc = info.desc,
                .entry = info.d.entry,
                .registers = info.d.registers,
                .static_shared = info.d.static_shared,
            };

            APPEND(MC_PROFILE_KERNEL, {&k, sizeof(k)},
                   {info.name, strlen(info.name) + 1});
        }
    }
}

/* ---- queues ---- */

/* What a queue leaves records in: queue->observed. */
typedef struct Records {
    McPinned pinned;
    uint32_t stride;
    uint64_t collected; /* packets whose records were looked for */
    uint64_t pending[MC_QUEUE_PACKETS]; /* values that leave records */
} Records;

static uint32_t stride(const McQueue *queue)
{
    uint64_t size = MXGPU_PROFILE_SIZE(queue->ctx->info.compute_units,
                                       profile.samples);

    return (uint32_t)((size + 63) & ~63ull);
}

static const struct mxgpu_profile *record(const McQueue *queue, uint64_t index)
{
    const Records *records = queue->observed;

    return (const void *)((uint8_t *)records->pinned.memory +
                          (uint64_t)MC_QUEUE_SLOT(index) * records->stride);
}

static void start_queue(McQueue *queue)
{
    McContext *ctx = queue->ctx;
    KmdProfile setup = {.records = MC_QUEUE_PACKETS};

    if (!profile.open) {
        return;
    }
    setup.stride = stride(queue);
    setup.samples = profile.samples;
    setup.interval = profile.interval;
    setup.exact = profile.exact;
    uint64_t size = (uint64_t)setup.stride * setup.records;
    size = (size + KMD_PAGE_SIZE - 1) & ~(KMD_PAGE_SIZE - 1);
    Records *records = calloc(1, sizeof(*records));
    int err = records ? mc_pinned_new(ctx, size, &records->pinned) : -ENOMEM;
    if (!err) {
        records->stride = setup.stride;
        setup.memory = records->pinned.memory;
        err = ctx->ops->queue_profile(queue->kq, &setup);
    }
    if (err) {
        mc_warn("device %d: a queue is not profiled: %s", ctx->device,
                strerror(-err));
        if (records) {
            mc_pinned_free(ctx, &records->pinned);
        }
        free(records);
        return;
    }
    queue->observed = records;
}

static uint32_t place(uint64_t address)
{
    McRange range;

    return mc_range_find(address, &range) &&
                   (range.kind == MC_RANGE_DEVICE ||
                    range.kind == MC_RANGE_POOL ||
                    range.kind == MC_RANGE_MODULE)
               ? MC_PROFILE_ON_DEVICE
               : MC_PROFILE_HOST;
}

static void see_packet(McSubmit *submit, union mxgpu_packet *packet,
                       uint64_t value)
{
    McQueue *queue = submit->queue;
    struct mc_profile_work work = {
        .context = queue->ctx->serial,
        .value = value,
        .stream = submit->stream->null ? 0 : (uintptr_t)submit->stream,
        .host = mc_profile_now(),
        .queue = queue->kq->id,
        .thread = thread_id(),
        .type = packet->header.type,
    };

    if (!queue->observed || !mc_profiling()) {
        return;
    }
    switch (packet->header.type) {
    case MXGPU_PKT_DISPATCH:
        work.desc = packet->dispatch.kernel;
        work.shared = packet->dispatch.dynamic_shared;
        for (unsigned i = 0; i < 3; i++) {
            work.grid[i] = packet->dispatch.grid[i];
            work.block[i] = packet->dispatch.block[i];
        }
        break;
    case MXGPU_PKT_COPY:
        work.bytes = packet->copy.size;
        work.src = place(packet->copy.src);
        work.dst = place(packet->copy.dst);
        break;
    case MXGPU_PKT_FILL:
        work.bytes = packet->fill.size;
        work.src = work.dst = place(packet->fill.dst);
        break;
    case MXGPU_PKT_COPY_RECT:
        work.type = MXGPU_PKT_COPY;
        work.bytes = (uint64_t)packet->copy_rect.width *
                     packet->copy_rect.height * packet->copy_rect.depth;
        work.src = place(packet->copy_rect.src);
        work.dst = place(packet->copy_rect.dst);
        break;
    case MXGPU_PKT_FILL_RECT:
        work.type = MXGPU_PKT_FILL;
        work.bytes = (uint64_t)packet->fill_rect.width *
                     packet->fill_rect.height * packet->fill_rect.depth;
        work.src = work.dst = place(packet->fill_rect.dst);
        break;
    default:
        return;
    }
    packet->header.flags |= MXGPU_PKT_PROFILE;
    APPEND(MC_PROFILE_WORK, {&work, sizeof(work)});
}

static void see_placed(McQueue *queue, uint64_t value)
{
    Records *records = queue->observed;

    records->pending[MC_QUEUE_SLOT(value - 1)] = value;
}

static void write_done(McQueue *queue, const struct mxgpu_profile *r,
                       uint64_t value)
{
    const McContext *ctx = queue->ctx;
    struct mc_profile_done done = {
        .context = ctx->serial,
        .value = value,
        .queue = queue->kq->id,
        .room = profile.samples,
    };
    size_t counters = 0, units = 0, samples = 0;

    if (r->packet_type == MXGPU_PKT_DISPATCH) {
        /* Kernels could change these between two looks. */
        uint64_t n = __atomic_load_n(&r->units, __ATOMIC_RELAXED);
        uint64_t taken = __atomic_load_n(&r->samples, __ATOMIC_RELAXED);

        counters = sizeof(r->counter);
        units = (n < ctx->info.compute_units ? n : ctx->info.compute_units) *
                sizeof(struct mxgpu_profile_unit);
        samples = (taken < profile.samples ? taken : profile.samples) * 8;
    }
    APPEND(MC_PROFILE_DONE, {&done, sizeof(done)},
           {r, offsetof(struct mxgpu_profile, counter)},
           {r->counter, counters}, {r + 1, units},
           {(const uint8_t *)r + MXGPU_PROFILE_SIZE(ctx->info.compute_units,
                                                    0), samples});
}

/* Records of complete packets; of a queue that stopped also the one of the
 * packet that failed, whose value never comes. */
static void collect(McQueue *queue)
{
    Records *records = queue->observed;
    uint64_t end = mc_queue_word(queue);

    if (!queue->kq) {
        return;
    }
    if (end > queue->head || /* a kernel wrote there */
        mc_queue_stopped(queue)) {
        end = queue->head;
    }
    for (; records->collected < end; records->collected++) {
        uint64_t index = records->collected;
        const struct mxgpu_profile *r = record(queue, index);

        if (profile.open &&
            records->pending[MC_QUEUE_SLOT(index)] == index + 1 &&
            r->sequence == index + 1) {
            write_done(queue, r, index + 1);
        }
    }
}

/* The device does not use it any more. */
static void stop_queue(McQueue *queue)
{
    Records *records = queue->observed;

    if (records) {
        collect(queue);
        mc_pinned_free(queue->ctx, &records->pinned);
        free(records);
        queue->observed = NULL;
    }
}

static const McObserver observer = {
    .context = see_context,
    .module = see_module,
    .queue_start = start_queue,
    .queue_stop = stop_queue,
    .packet = see_packet,
    .placed = see_placed,
    .collect = collect,
    .end = mc_profile_end,
};
