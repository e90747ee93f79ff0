/* SPDX-License-Identifier: MIT */
/*
 * The back end without a PCI function: libmxgpu-sim.so, loaded on demand, is
 * the same hardware in this process. Its properties come from the environment.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/kernel_watch.h"
#include "mxgpu/properties.h"
#include "priv.h"
#include "sim/sim.h"

#define LIBRARY_NAME "libmxgpu-sim.so"
#define MAX_DEVICES  16
#define MIN_VRAM     (8ull << 20)
#define MIN_PRIVATE  (8ull << 20) /* 64 KiB for each of 128 units */

typedef struct SimTransport {
    KmdTransport base; /* first */
    const MxgpuSimOps *ops;
    MxgpuSim *sim;
    int *irq_fds;
    pthread_mutex_t iova_lock;
    McExtents iova;
} SimTransport;

/* ---- environment ------------------------------------------------------------ */

static int bad_value(const char *name, const char *text, const char *what)
{
    mc_error("%s=%s: %s", name, text, what);
    return -EINVAL;
}

/* A number in [min, max]; leaves *value alone when the variable is not set. */
static int env_number(const char *name, unsigned long min, unsigned long max,
                      unsigned *value)
{
    const char *text = getenv(name);
    unsigned long n;
    char what[80], *end;

    if (!text || !*text) {
        return 0;
    }
    errno = 0;
    n = strtoul(text, &end, 10);
    if (errno || *end || text[0] < '0' || text[0] > '9' || n < min ||
        n > max) {
        snprintf(what, sizeof(what), "a number from %lu to %lu is expected",
                 min, max);
        return bad_value(name, text, what);
    }
    *value = (unsigned)n;
    return 0;
}

/* Bytes with an optional suffix K, M, G or T: a multiple of 1M in [min, max]. */
static int env_size(const char *name, uint64_t min, uint64_t max,
                    uint64_t *size)
{
    static const char suffixes[] = "KMGT";
    const char *text = getenv(name);
    unsigned long long n;
    unsigned shift = 0;
    char what[80], *end;

    if (!text || !*text) {
        return 0;
    }
    errno = 0;
    n = strtoull(text, &end, 10);
    if (errno || text[0] < '0' || text[0] > '9') {
        return bad_value(name, text, "a size like 512M or 4G is expected");
    }
    if (*end) {
        const char *s = strchr(suffixes, *end >= 'a' ? *end - 32 : *end);

        if (!s || end[1]) {
            return bad_value(name, text, "a size like 512M or 4G is expected");
        }
        shift = 10 * (unsigned)(s - suffixes + 1);
    }
    if (n > max >> shift || n << shift < min || (n << shift) % (1u << 20)) {
        snprintf(what, sizeof(what), "%lluM to %lluG in steps of 1M are "
                 "possible", (unsigned long long)(min >> 20),
                 (unsigned long long)(max >> 30));
        return bad_value(name, text, what);
    }
    *size = n << shift;
    return 0;
}

#define MAX_OF(field) mxgpu_property[MXGPU_PROPERTY_##field].max

static int env_config(MxgpuSimOptions *config)
{
    unsigned deterministic = 0, strict = 0, packets = 0;
    int ret;

    config->jit = MXGPU_DEFAULT(sim, jit);
    if ((ret = env_size("MXGPU_VRAM", MIN_VRAM, MAX_OF(vram_size),
                        &config->vram_size)) ||
        (ret = env_size("MXGPU_PRIVATE_MEMORY", MIN_PRIVATE,
                        MAX_OF(private_memory),
                        &config->private_memory)) ||
        (ret = env_number("MXGPU_COMPUTE_UNITS", 1, MAX_OF(compute_units),
                          &config->compute_units)) ||
        (ret = env_number("MXGPU_THREADS", 1, MAX_OF(threads),
                          &config->threads)) ||
        (ret = env_number("MXGPU_WATCHDOG_MS", 0, MAX_OF(watchdog_ms),
                          &config->watchdog_ms)) ||
        (ret = env_number("MXGPU_FIRMWARE_WATCHDOG_MS", 0,
                          MAX_OF(firmware_watchdog_ms),
                          &config->firmware_watchdog_ms)) ||
        (ret = env_number("MXGPU_JIT", 0, MAX_OF(jit), &config->jit)) ||
        (ret = env_number("MXGPU_DETERMINISTIC", 0, 1, &deterministic)) ||
        (ret = env_number("MXGPU_STRICT_ALIGNMENT", 0, 1, &strict)) ||
        (ret = env_number("MXGPU_LOG_PACKETS", 0, 1, &packets))) {
        return ret;
    }
    config->log_packets = packets != 0;
    config->deterministic = deterministic != 0;
    config->strict_alignment = strict != 0;
    config->fw_gdb = getenv("MXGPU_FW_GDB");
    config->kernel_gdb = getenv("MXGPU_GDB");
    config->observer = mc_kernel_watch.observer;
    config->strict_alignment |= mc_kernel_watch.strict;
    return 0;
}

/* ---- library ----------------------------------------------------------------- */

static void *library_open(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        mc_error("%s", dlerror());
    }
    return handle;
}

/* Named; installed beside this code; in a build tree; wherever the loader looks. */
static void *library_find(void)
{
    static const char *const beside[] = {
        LIBRARY_NAME,
        "../lib/" LIBRARY_NAME, /* of a program in bin/ */
        "../hw-mxgpu/sim/" LIBRARY_NAME,
        "../../../hw-mxgpu/sim/" LIBRARY_NAME,
    };
    const char *env = getenv("MXGPU_SIM_LIBRARY");
    char dir[256], path[512];
    size_t i;

    if (env && *env) {
        return library_open(env);
    }
    if (kmd_own_directory(dir, sizeof(dir))) {
        for (i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
            snprintf(path, sizeof(path), "%s/%s", dir, beside[i]);
            if (access(path, R_OK) == 0) {
                return library_open(path);
            }
        }
    }
    return library_open(LIBRARY_NAME);
}

/* Loaded once and kept: its threads may outlive any one device. */
static const MxgpuSimOps *library(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const MxgpuSimOps *ops;
    const MxgpuSimOps *(*entry)(unsigned abi);
    void *handle;

    pthread_mutex_lock(&lock);
    if (!ops && (handle = library_find())) {
        *(void **)(void *)&entry = dlsym(handle, "mxgpu_sim_entry");
        ops = entry ? entry(MXGPU_SIM_ABI) : NULL;
        if (!ops) {
            mc_error("the simulator library does not offer interface %d",
                     MXGPU_SIM_ABI);
            dlclose(handle);
        }
    }
    pthread_mutex_unlock(&lock);
    return ops;
}

/* ---- transport ------------------------------------------------------------------ */

static SimTransport *from_base(KmdTransport *t)
{
    return (SimTransport *)(void *)t;
}

static uint32_t sim_read(KmdTransport *t, uint32_t offset)
{
    return from_base(t)->ops->read(from_base(t)->sim, offset);
}

static void sim_write(KmdTransport *t, uint32_t offset, uint32_t value)
{
    from_base(t)->ops->write(from_base(t)->sim, offset, value);
}

static void sim_doorbell(KmdTransport *t, unsigned queue, uint64_t value)
{
    from_base(t)->ops->doorbell(from_base(t)->sim, queue, value);
}

static int sim_dma_map(KmdTransport *t, void *ptr, uint64_t size,
                       uint64_t *iova)
{
    SimTransport *s = from_base(t);
    int ret;

    pthread_mutex_lock(&s->iova_lock);
    ret = kmd_iova_alloc(&s->iova, ptr, size, iova);
    if (!ret) {
        ret = s->ops->dma_map(s->sim, *iova, ptr, size);
        if (ret) {
            mc_extents_free(&s->iova, *iova, size);
        }
    }
    pthread_mutex_unlock(&s->iova_lock);
    if (ret) {
        mc_error("pinning %llu bytes: %s", (unsigned long long)size,
                 strerror(-ret));
    }
    return ret == -ENOSPC ? -ENOMEM : ret;
}

static int sim_dma_unmap(KmdTransport *t, uint64_t iova, uint64_t size)
{
    SimTransport *s = from_base(t);
    /* Not locked: it waits for the device. */
    int ret = s->ops->dma_unmap(s->sim, iova, size);

    if (ret) {
        /* The bus address stays taken, so that nothing else gets it. */
        mc_error("unpinning %llu bytes: %s", (unsigned long long)size,
                 strerror(-ret));
        return ret;
    }
    pthread_mutex_lock(&s->iova_lock);
    mc_extents_free(&s->iova, iova, size);
    pthread_mutex_unlock(&s->iova_lock);
    return 0;
}

static int sim_reset(KmdTransport *t)
{
    return from_base(t)->ops->reset(from_base(t)->sim);
}

static void sim_help(KmdTransport *t)
{
    from_base(t)->ops->help(from_base(t)->sim);
}

static void sim_module(KmdTransport *t, uint64_t address, const char *path)
{
    if (from_base(t)->ops->module(from_base(t)->sim, address, path)) {
        mc_warn("no memory for the debugger's list of modules");
    }
}

static void sim_close(KmdTransport *t)
{
    SimTransport *s = from_base(t);

    if (s->sim) {
        s->ops->close(s->sim);
    }
    free(s->irq_fds);
    mc_extents_fini(&s->iova);
    pthread_mutex_destroy(&s->iova_lock);
    free(s);
}

static const KmdTransportOps sim_transport_ops = {
    .read = sim_read,
    .write = sim_write,
    .doorbell = sim_doorbell,
    .dma_map = sim_dma_map,
    .dma_unmap = sim_dma_unmap,
    .reset = sim_reset,
    .help = sim_help,
    .module = sim_module,
    .close = sim_close,
};

static void sim_log(void *opaque, const char *line)
{
    mc_info("sim: %s", line);
}

static int collect_vectors(SimTransport *s)
{
    unsigned i, n = s->ops->vectors(s->sim);

    if (n == 0 || n > 4096) {
        mc_error("the simulator offers %u interrupt vectors", n);
        return -EIO;
    }
    s->irq_fds = calloc(n, sizeof(*s->irq_fds));
    if (!s->irq_fds) {
        return -ENOMEM;
    }
    for (i = 0; i < n; i++) {
        s->irq_fds[i] = s->ops->irq_fd(s->sim, i);
        if (s->irq_fds[i] < 0) {
            mc_error("interrupt vector %u: %s", i,
                     strerror(-s->irq_fds[i]));
            return s->irq_fds[i];
        }
    }
    s->base.irq_fds = s->irq_fds;
    s->base.vectors = n;
    return 0;
}

static int transport_start(SimTransport *s, const MxgpuSimOptions *config)
{
    int ret = s->ops->open(config, &s->sim);

    if (ret) {
        mc_error("starting the simulator: %s", strerror(-ret));
        s->sim = NULL;
        return ret;
    }
    s->base.vram = s->ops->vram(s->sim, &s->base.aperture_size);
    if (!s->base.vram) {
        mc_error("the simulator has no VRAM");
        return -EIO;
    }
    s->base.vram_fd = s->ops->vram_fd(s->sim);
    /* Bus addresses: anything but 0, so that a forgotten one faults. */
    ret = mc_extents_add(&s->iova, 1ull << 32, (1ull << 46) - (1ull << 32));
    return ret ? ret : collect_vectors(s);
}

/* ---- operations -------------------------------------------------------------------- */

static int sim_count(unsigned *count)
{
    MxgpuSimOptions config = { 0 };
    unsigned n = 1;
    int ret;

    if ((ret = env_number("MXGPU_SIM_DEVICES", 0, MAX_DEVICES, &n)) ||
        (ret = env_config(&config))) {
        return ret;
    }
    if (!library()) {
        return -ENODEV;
    }
    *count = n;
    return 0;
}

static int sim_open(unsigned index, KmdDevice **dev)
{
    MxgpuSimOptions config = { .index = index, .log = sim_log };
    SimTransport *s;
    unsigned count;
    int ret;

    ret = sim_count(&count);
    if (!ret && index >= count) {
        mc_error("there is no simulated device %u", index);
        ret = -ENODEV;
    }
    if (ret || (ret = env_config(&config))) {
        return ret;
    }
    s = calloc(1, sizeof(*s));
    if (!s) {
        return -ENOMEM;
    }
    config.observer_opaque = (void *)(uintptr_t)index;
    s->base.ops = &sim_transport_ops;
    s->base.simulated = true;
    s->base.vram_is_zero = true;
    s->base.gone_fd = -1;
    s->base.vram_fd = -1;
    s->base.pci_bus = index;
    s->ops = library();
    pthread_mutex_init(&s->iova_lock, NULL);
    mc_extents_init(&s->iova);
    ret = transport_start(s, &config);
    if (ret) {
        sim_close(&s->base);
        return ret;
    }
    return kmd_device_open(&s->base, dev);
}

const KmdOps kmd_sim_ops = {
    .name = "sim",
    .count = sim_count,
    .open = sim_open,
    KMD_COMMON_OPS,
};
