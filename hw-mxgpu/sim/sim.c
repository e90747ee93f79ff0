/* SPDX-License-Identifier: MIT */
/* The in-process host (sim.h): what QEMU is to the device, without QEMU. */
#define _GNU_SOURCE
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "checkpoint.h"
#include "core/capture.h"
#include "core/describe.h"
#include "core/device.h"
#include "core/inspect.h"
#include "gdb.h"
#include "iommu.h"
#include "mxgpu/properties.h"

#define RUN_BUDGET     20000
#define HELP_STACK     (256u << 10)

struct MxgpuSim {
    MxgpuDevice *dev;
    MxgpuCapture *capture; /* NULL: none */
    MxgpuSimOptions config;
    void *vram;
    int vram_fd;
    uint64_t vram_size;
    unsigned vectors;
    int irq_fd[MXGPU_MAX_VECTORS];
    MxgpuSimIommu iommu;
    MxgpuSimGdb *gdb[2]; /* by MxgpuDebugged; NULL: none */
    pthread_mutex_t log_lock;
    _Atomic uint64_t clock_ahead; /* of the host's, after a load */

    /* Deterministic: the one thread that drives every unit. */
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t run_lock;
    pthread_cond_t run_wake;
    bool kicked, quit;
};

/* ---- what the device asks of its host ---------------------------------------- */

static int op_dma_read(void *host, uint64_t addr, void *buf, size_t len)
{
    MxgpuSim *sim = host;

    return mxgpu_sim_iommu_read(&sim->iommu, addr, buf, len);
}

static int op_dma_write(void *host, uint64_t addr, const void *buf, size_t len)
{
    MxgpuSim *sim = host;

    return mxgpu_sim_iommu_write(&sim->iommu, addr, buf, len);
}

static void *op_dma_map(void *host, uint64_t addr, size_t len, bool write)
{
    MxgpuSim *sim = host;

    return mxgpu_sim_iommu_pointer(&sim->iommu, addr, len);
}

static void op_irq(void *host, unsigned vector)
{
    MxgpuSim *sim = host;
    uint64_t one = 1;
    ssize_t n;

    /* Fails only when the counter is full, and then it is not lost. */
    do {
        n = write(sim->irq_fd[vector], &one, sizeof(one));
    } while (n < 0 && errno == EINTR);
}

static uint64_t host_clock(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static uint64_t op_clock(void *host)
{
    MxgpuSim *sim = host;

    return host_clock() + atomic_load_explicit(&sim->clock_ahead,
                                               memory_order_relaxed);
}

static void log_line(MxgpuSim *sim, const char *line)
{
    pthread_mutex_lock(&sim->log_lock);
    sim->config.log(sim->config.opaque, line);
    pthread_mutex_unlock(&sim->log_lock);
}

static void op_console(void *host, const char *line, size_t len)
{
    MxgpuSim *sim = host;
    char text[512];

    if (sim->config.log) {
        snprintf(text, sizeof(text), "fw: %.*s", (int)len, line);
        log_line(sim, text);
    }
}

static void op_kick(void *host)
{
    MxgpuSim *sim = host;

    pthread_mutex_lock(&sim->run_lock);
    sim->kicked = true;
    pthread_cond_signal(&sim->run_wake);
    pthread_mutex_unlock(&sim->run_lock);
}

/* What a driver wants to read when something went wrong. */
static void op_trace(void *host, MxgpuTraceEvent event, uint64_t a, uint64_t b)
{
    MxgpuSim *sim = host;
    char text[160];

    switch (event) {
    case MXGPU_TRACE_BAD_ACCESS:
        snprintf(text, sizeof(text),
                 "hw: bad %s of %" PRIu64 " bytes at offset 0x%" PRIx64,
                 b >> 8 ? "write" : "read", b & 0xff, a);
        break;
    case MXGPU_TRACE_BAD_DOORBELL:
        snprintf(text, sizeof(text),
                 "hw: doorbell of disabled queue %" PRIu64, a);
        break;
    case MXGPU_TRACE_MCU_STATE:
        snprintf(text, sizeof(text),
                 "hw: mcu state %" PRIu64 ", cause %" PRIu64, a, b);
        break;
    case MXGPU_TRACE_FAULT:
        snprintf(text, sizeof(text),
                 "hw: fault %" PRIu64 ", access %" PRIu64
                 ", address 0x%" PRIx64,
                 b & 0xff, b >> 8, a);
        break;
    case MXGPU_TRACE_RESET:
        snprintf(text, sizeof(text), "hw: reset, cause %" PRIu64, a);
        break;
    default:
        return;
    }
    log_line(sim, text);
}

static bool op_queue_listens(void *host)
{
    MxgpuSim *sim = host;

    return sim->config.log_packets;
}

static void op_queue_event(void *host, const MxgpuQueueEvent *e)
{
    static const char *const names[] = {
        [MXGPU_QEV_CREATE] = "created",     [MXGPU_QEV_DESTROY] = "destroyed",
        [MXGPU_QEV_ERROR] = "stopped",      [MXGPU_QEV_PACKET_START] = "start",
        [MXGPU_QEV_PACKET_END] = "end",
    };
    bool known = e->event < sizeof(names) / sizeof(names[0]);
    char what[MXGPU_DESCRIBE_MAX], text[MXGPU_DESCRIBE_MAX + 80];

    mxgpu_describe_queue_event(e, what, sizeof(what));
    snprintf(text, sizeof(text), "hw: queue %u packet %" PRIu64 ": %s %s",
             e->queue, e->index,
             known && names[e->event] ? names[e->event] : "event", what);
    log_line(host, text);
}

static const MxgpuHostOps host_ops = {
    .dma_read = op_dma_read,
    .dma_write = op_dma_write,
    .dma_map = op_dma_map,
    .irq = op_irq,
    .clock = op_clock,
    .console = op_console,
    .kick = op_kick,
};

static const MxgpuHostOps host_ops_log = {
    .dma_read = op_dma_read,
    .dma_write = op_dma_write,
    .dma_map = op_dma_map,
    .irq = op_irq,
    .clock = op_clock,
    .console = op_console,
    .kick = op_kick,
    .trace = op_trace,
    .queue_listens = op_queue_listens,
    .queue_event = op_queue_event,
};

/* ---- deterministic mode --------------------------------------------------------- */

static void run_wait(MxgpuSim *sim, uint64_t deadline)
{
    uint64_t host = deadline - atomic_load(&sim->clock_ahead);
    struct timespec ts = {
        .tv_sec = (time_t)(host / 1000000000ull),
        .tv_nsec = (long)(host % 1000000000ull),
    };

    pthread_mutex_lock(&sim->run_lock);
    while (!sim->kicked && !sim->quit) {
        if (deadline == UINT64_MAX) {
            pthread_cond_wait(&sim->run_wake, &sim->run_lock);
        } else if (pthread_cond_timedwait(&sim->run_wake, &sim->run_lock,
                                          &ts) == ETIMEDOUT) {
            break;
        }
    }
    sim->kicked = false;
    pthread_mutex_unlock(&sim->run_lock);
}

static bool run_quit(MxgpuSim *sim)
{
    bool quit;

    pthread_mutex_lock(&sim->run_lock);
    quit = sim->quit;
    pthread_mutex_unlock(&sim->run_lock);
    return quit;
}

static void *run_main(void *opaque)
{
    MxgpuSim *sim = opaque;
    uint64_t deadline;

    while (!run_quit(sim)) {
        if (!mxgpu_device_run(sim->dev, RUN_BUDGET, &deadline)) {
            run_wait(sim, deadline);
        }
    }
    return NULL;
}

/* ---- the table --------------------------------------------------------------------- */

static void sim_close(MxgpuSim *sim)
{
    if (!sim) {
        return;
    }
    if (sim->dev) {
        mxgpu_device_kernel_gdb_end(sim->dev);
    }
    for (unsigned i = 0; i < 2; i++) {
        mxgpu_sim_gdb_stop(sim->gdb[i]);
    }
    if (sim->has_thread) {
        pthread_mutex_lock(&sim->run_lock);
        sim->quit = true;
        pthread_cond_signal(&sim->run_wake);
        pthread_mutex_unlock(&sim->run_lock);
        pthread_join(sim->thread, NULL);
    }
    mxgpu_device_free(sim->dev);
    for (unsigned i = 0; i < 2; i++) {
        mxgpu_sim_gdb_free(sim->gdb[i]);
    }
    mxgpu_capture_close(sim->capture);
    for (unsigned i = 0; i < sim->vectors; i++) {
        if (sim->irq_fd[i] >= 0) {
            close(sim->irq_fd[i]);
        }
    }
    if (sim->vram) {
        munmap(sim->vram, sim->vram_size);
    }
    if (sim->vram_fd >= 0) {
        close(sim->vram_fd);
    }
    mxgpu_sim_iommu_free(&sim->iommu);
    pthread_cond_destroy(&sim->run_wake);
    pthread_mutex_destroy(&sim->run_lock);
    pthread_mutex_destroy(&sim->log_lock);
    free(sim);
}

static MxgpuSim *sim_alloc(const MxgpuSimOptions *config)
{
    MxgpuSim *sim = calloc(1, sizeof(*sim));
    pthread_condattr_t attr;

    if (!sim) {
        return NULL;
    }
    sim->config = *config;
    sim->vram_fd = -1;
    mxgpu_sim_iommu_init(&sim->iommu);
    pthread_mutex_init(&sim->log_lock, NULL);
    pthread_mutex_init(&sim->run_lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&sim->run_wake, &attr);
    pthread_condattr_destroy(&attr);
    return sim;
}

static int open_resources(MxgpuSim *sim, const MxgpuConfig *device)
{
    void *vram;

    /* A file, so that others may share it; sealed, so that nobody who does can
     * take pages from under the device. */
    sim->vram_fd = memfd_create("mxgpu-vram", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (sim->vram_fd < 0 ||
        ftruncate(sim->vram_fd, (off_t)device->vram_size) ||
        fcntl(sim->vram_fd, F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        return -errno;
    }
    vram = mmap(NULL, device->vram_size, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_NORESERVE, sim->vram_fd, 0);
    if (vram == MAP_FAILED) {
        return -errno;
    }
    /* Lanes that go different ways need fewer translations of the host; where
     * there are no such pages nothing is lost. */
    (void)madvise(vram, device->vram_size, MADV_HUGEPAGE);
    sim->vram = vram;
    sim->vram_size = device->vram_size;
    while (sim->vectors < device->vectors) {
        int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

        if (fd < 0) {
            return -errno;
        }
        sim->irq_fd[sim->vectors++] = fd;
    }
    return 0;
}

/* "mxgpu-sim" and the number, in the layout of a random (version 4) UUID. */
static void make_uuid(uint8_t uuid[16], unsigned index)
{
    static const uint8_t base[16] = {'m', 'x', 'g', 'p', 'u', '-', 0x4d,
                                     's', 0x80, 'i', 'm'};

    memcpy(uuid, base, sizeof(base));
    for (unsigned i = 0; i < 4; i++) {
        uuid[15 - i] = (uint8_t)(index >> 8 * i);
    }
}

#define OR_DEFAULT(field) (c->field ? c->field : MXGPU_DEFAULT(sim, field))

static MxgpuConfig device_config(const MxgpuSimOptions *c)
{
    MxgpuConfig d = {
        .vram_size = OR_DEFAULT(vram_size),
        .queues = OR_DEFAULT(queues),
        .compute_units = OR_DEFAULT(compute_units),
        .copy_engines = OR_DEFAULT(copy_engines),
        .threads = c->threads,
        .private_memory = OR_DEFAULT(private_memory),
        /* A kernel that is stopped is not one that hangs. */
        .watchdog_ms =
            c->kernel_gdb && *c->kernel_gdb ? 0 : c->watchdog_ms,
        .firmware_watchdog_ms = c->firmware_watchdog_ms,
        .jit = c->jit,
        .deterministic = c->deterministic,
        .strict_alignment = c->strict_alignment,
        .observer = c->observer,
        .observer_opaque = c->observer_opaque,
    };

    /* Vector 0 and one for every queue, as far as they go. */
    d.vectors = d.queues < MXGPU_MAX_VECTORS ? d.queues + 1 : MXGPU_MAX_VECTORS;
    make_uuid(d.uuid, c->index);
    return d;
}

static int open_gdb(MxgpuSim *sim, MxgpuDebugged which, const char *where)
{
    const char *of = which == MXGPU_DEBUG_FIRMWARE ? "gdb" : "gdb of kernels";
    char name[128], text[192];
    int err;

    if (!where || !*where) {
        return 0;
    }
    err = mxgpu_sim_gdb_open(where, sim->config.index, sim->dev, which, name,
                             sizeof(name), &sim->gdb[which]);
    if (sim->config.log) {
        if (err) {
            snprintf(text, sizeof(text), "hw: no %s on %.80s: %s", of, where,
                     strerror(-err));
        } else {
            snprintf(text, sizeof(text), "hw: %s: target remote %s", of, name);
        }
        log_line(sim, text);
    }
    return err;
}

/* FILE, with the process id for %p; of device n, not the first, FILE.n. */
static void capture_name(const char *path, unsigned index, char *name,
                         size_t size)
{
    const char *id = strstr(path, "%p");
    int n = id ? snprintf(name, size, "%.*s%d%s", (int)(id - path), path,
                          (int)getpid(), id + 2) :
                 snprintf(name, size, "%s", path);

    if (index && n >= 0 && (size_t)n < size) {
        snprintf(name + n, size - (size_t)n, ".%u", index);
    }
}

static int open_capture(MxgpuSim *sim, const MxgpuHostOps **ops, void **host)
{
    const char *path = getenv("MXGPU_CAPTURE");
    const char *only = getenv("MXGPU_CAPTURE_KINDS");
    uint32_t kinds = UINT32_MAX;
    char name[4096], id[32];
    int err;

    if (!path || !*path) {
        return 0;
    }
    if (only && *only && !(kinds = mxgpu_capture_parse_kinds(only))) {
        snprintf(name, sizeof(name), "hw: MXGPU_CAPTURE_KINDS=%.200s: names of "
                 "kinds with commas between are expected", only);
        if (sim->config.log) {
            log_line(sim, name);
        }
        return -EINVAL;
    }
    snprintf(id, sizeof(id), "mxgpu%u", sim->config.index);
    capture_name(path, sim->config.index, name, sizeof(name));
    err = mxgpu_capture_open(name, id, MXGPU_CAPTURE_MOST, ops, host,
                             &sim->capture);
    if (err && sim->config.log) {
        snprintf(name, sizeof(name), "hw: no capture to %.200s: %s", path,
                 strerror(-err));
        log_line(sim, name);
    }
    if (!err) {
        mxgpu_capture_kinds(sim->capture, kinds);
    }
    return err;
}

static int open_device(MxgpuSim *sim, MxgpuConfig *device)
{
    const MxgpuHostOps *ops = sim->config.log ? &host_ops_log : &host_ops;
    const char *error;
    void *host = sim;
    int err = open_capture(sim, &ops, &host);

    if (err) {
        return err;
    }
    device->log_host = sim;
    sim->dev = mxgpu_device_new(device, ops, host, &error);
    if (!sim->dev) {
        if (sim->config.log) {
            log_line(sim, error);
        }
        return -EINVAL;
    }
    if (sim->capture) {
        mxgpu_capture_device(sim->capture, sim->dev);
    }
    return 0;
}

static int sim_open(const MxgpuSimOptions *config, MxgpuSim **out)
{
    MxgpuConfig device;
    MxgpuSim *sim;
    int err;

    if (!config || !out) {
        return -EINVAL;
    }
    device = device_config(config);
    if (device.vram_size % (1u << 20) ||
        !mxgpu_property_ok(MXGPU_PROPERTY_vram_size, device.vram_size)) {
        return -EINVAL;
    }
    sim = sim_alloc(config);
    if (!sim) {
        return -ENOMEM;
    }
    err = open_resources(sim, &device);
    if (!err) {
        device.vram = sim->vram;
        err = open_device(sim, &device);
    }
    if (!err) {
        err = open_gdb(sim, MXGPU_DEBUG_FIRMWARE, config->fw_gdb);
    }
    if (!err) {
        err = open_gdb(sim, MXGPU_DEBUG_KERNELS, config->kernel_gdb);
    }
    if (!err && config->deterministic) {
        err = -pthread_create(&sim->thread, NULL, run_main, sim);
        sim->has_thread = !err;
    }
    if (err) {
        sim_close(sim);
        return err;
    }
    *out = sim;
    return 0;
}

static uint32_t sim_read(MxgpuSim *sim, uint32_t offset)
{
    return (uint32_t)mxgpu_device_mmio_read(sim->dev, offset, 4);
}

static void sim_write(MxgpuSim *sim, uint32_t offset, uint32_t value)
{
    mxgpu_device_mmio_write(sim->dev, offset, value, 4);
}

static void sim_doorbell(MxgpuSim *sim, unsigned queue, uint64_t value)
{
    mxgpu_device_doorbell_write(
        sim->dev, (uint64_t)queue * MXGPU_DOORBELL_STRIDE, value, 8);
}

static void *sim_vram(MxgpuSim *sim, uint64_t *size)
{
    if (size) {
        *size = sim->vram_size;
    }
    return sim->vram;
}

static int sim_vram_fd(MxgpuSim *sim)
{
    return sim->vram_fd;
}

static unsigned sim_vectors(MxgpuSim *sim)
{
    return sim->vectors;
}

static int sim_irq_fd(MxgpuSim *sim, unsigned vector)
{
    return vector < sim->vectors ? sim->irq_fd[vector] : -EINVAL;
}

static int sim_dma_map(MxgpuSim *sim, uint64_t iova, void *ptr, uint64_t size)
{
    return mxgpu_sim_iommu_add(&sim->iommu, iova, ptr, size);
}

static int sim_dma_unmap(MxgpuSim *sim, uint64_t iova, uint64_t size)
{
    struct timespec pause = {.tv_nsec = 20000};
    int err = mxgpu_sim_iommu_remove(&sim->iommu, iova, size);

    if (err) {
        return err;
    }
    /* No unit finds the range any more; wait for those that had. */
    mxgpu_device_bus_invalidate(sim->dev, iova, size);
    for (unsigned i = 0; mxgpu_device_bus_busy(sim->dev); i++) {
        if (i < 16) {
            sched_yield();
        } else {
            nanosleep(&pause, NULL);
        }
    }
    return 0;
}

static int sim_reset(MxgpuSim *sim)
{
    mxgpu_device_reset(sim->dev, MXGPU_RESET_BUS);
    return 0;
}

static int sim_inspect(MxgpuSim *sim, const char *command,
                       void (*put)(void *opaque, const char *text, size_t len),
                       void *opaque)
{
    MxgpuText text = {put, opaque};
    bool known;

    command = command ? command : "";
    text.held = mxgpu_inspect_holds(command);
    if (text.held) {
        mxgpu_device_pause(sim->dev);
    }
    known = mxgpu_inspect(sim->dev, command, text);
    if (text.held) {
        mxgpu_device_resume(sim->dev);
    }
    return known ? 0 : -EINVAL;
}

/* Whether the thread's stack has room for a step: kernels of few blocks run in it. */
static bool has_room(void)
{
    static _Thread_local uintptr_t from, to; /* the stack; 1, 0: it is unknown */
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (!from) {
        pthread_attr_t attr;
        size_t size;
        void *low;

        from = 1;
        if (!pthread_getattr_np(pthread_self(), &attr)) {
            if (!pthread_attr_getstack(&attr, &low, &size)) {
                from = (uintptr_t)low;
                to = from + size;
            }
            pthread_attr_destroy(&attr);
        }
    }
    return here < to && here - from >= HELP_STACK;
}

/* The thread is the program's. What its signals call may never return, so they wait;
 * nor is it cancelled in the middle of a step. */
static void sim_help(MxgpuSim *sim)
{
    sigset_t all, before;
    int cancel;

    if (!mxgpu_device_stands(sim->dev) || !has_room()) {
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    mxgpu_device_help(sim->dev);
    pthread_setcancelstate(cancel, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void sim_pause(MxgpuSim *sim)
{
    mxgpu_device_pause(sim->dev);
}

static void sim_resume(MxgpuSim *sim)
{
    mxgpu_device_resume(sim->dev);
}

static MxgpuSimCheckpoint checkpoint(MxgpuSim *sim)
{
    return (MxgpuSimCheckpoint){
        .dev = sim->dev,
        .vram = sim->vram,
        .vram_fd = sim->vram_fd,
        .vram_size = sim->vram_size,
        .irq_fd = sim->irq_fd,
        .vectors = sim->vectors,
        .clock = op_clock(sim),
    };
}

static int sim_save(MxgpuSim *sim, int fd)
{
    MxgpuSimCheckpoint c;
    int err;

    mxgpu_device_pause(sim->dev);
    c = checkpoint(sim);
    err = mxgpu_sim_checkpoint_save(&c, fd);
    mxgpu_device_resume(sim->dev);
    return err;
}

static int sim_module(MxgpuSim *sim, uint64_t address, const char *path)
{
    return mxgpu_device_gdb_module(sim->dev, address, path) ? 0 : -ENOMEM;
}

static int sim_load(MxgpuSim *sim, int fd)
{
    MxgpuSimCheckpoint c;
    int err;

    mxgpu_device_pause(sim->dev);
    c = checkpoint(sim);
    err = mxgpu_sim_checkpoint_load(&c, fd);
    if (err) {
        mxgpu_device_reset(sim->dev, MXGPU_RESET_BUS);
    } else {
        atomic_store(&sim->clock_ahead, c.clock - host_clock());
    }
    mxgpu_device_resume(sim->dev);
    return err;
}

__attribute__((visibility("default"))) const MxgpuSimOps *
mxgpu_sim_entry(unsigned abi)
{
    static const MxgpuSimOps ops = {
        .open = sim_open,
        .close = sim_close,
        .read = sim_read,
        .write = sim_write,
        .doorbell = sim_doorbell,
        .vram = sim_vram,
        .vram_fd = sim_vram_fd,
        .vectors = sim_vectors,
        .irq_fd = sim_irq_fd,
        .dma_map = sim_dma_map,
        .dma_unmap = sim_dma_unmap,
        .reset = sim_reset,
        .inspect = sim_inspect,
        .help = sim_help,
        .pause = sim_pause,
        .resume = sim_resume,
        .save = sim_save,
        .load = sim_load,
        .module = sim_module,
    };

    return abi == MXGPU_SIM_ABI ? &ops : NULL;
}
