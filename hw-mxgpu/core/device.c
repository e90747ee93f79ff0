/* SPDX-License-Identifier: MIT */
/* The device as a whole: creation, the BARs, what reaches the host. */
#include "internal.h"

#include <stdlib.h>
#include <unistd.h>

/* Steps of a thread: a few microseconds of MCU, about a millisecond of
 * compute. They bound how long a pause takes and how late a line is seen. */
#define MCU_BUDGET     1000
#define COMPUTE_BUDGET 4096

/* The next request of a host that waits for each comes within this time. */
#define MCU_SPIN_NS 30000

/* ---- what reaches the host --------------------------------------------------- */

void mxgpu_lock(MxgpuDevice *dev)
{
    pthread_mutex_lock(&dev->lock);
}

static void send_outbox(MxgpuDevice *dev, const MxgpuOutbox *out)
{
    for (unsigned i = 0; i < out->traces; i++) {
        dev->ops->trace(dev->host, out->trace[i].event, out->trace[i].a,
                        out->trace[i].b);
    }
    for (unsigned i = 0; i < 8; i++) {
        for (uint32_t bits = out->vectors[i]; bits; bits &= bits - 1) {
            unsigned vector = i * 32 + (unsigned)__builtin_ctz(bits);

            mxgpu_count(dev, MXGPU_COUNTER_INTERRUPTS, 1);
            if (dev->ops->trace) {
                dev->ops->trace(dev->host, MXGPU_TRACE_IRQ, vector, 0);
            }
            dev->ops->irq(dev->host, vector);
        }
    }
}

void mxgpu_unlock(MxgpuDevice *dev)
{
    MxgpuOutbox out;

    if (!dev->out.any) {
        pthread_mutex_unlock(&dev->lock);
        return;
    }
    out = dev->out;
    memset(&dev->out, 0, sizeof(dev->out));
    pthread_mutex_unlock(&dev->lock);
    send_outbox(dev, &out);
}

void mxgpu_out_vector(MxgpuDevice *dev, unsigned vector)
{
    dev->out.any = true;
    dev->out.vectors[vector / 32] |= 1u << vector % 32;
}

void mxgpu_out_trace(MxgpuDevice *dev, MxgpuTraceEvent event, uint64_t a,
                     uint64_t b)
{
    MxgpuOutbox *out = &dev->out;

    if (dev->ops->trace &&
        out->traces < sizeof(out->trace) / sizeof(out->trace[0])) {
        out->any = true;
        out->trace[out->traces].event = event;
        out->trace[out->traces].a = a;
        out->trace[out->traces++].b = b;
    }
}

void mxgpu_wake(MxgpuDevice *dev, unsigned unit)
{
    mxgpu_stepper_wake(&dev->steppers[unit]);
    if (dev->config.deterministic) {
        atomic_store(&dev->kick, true);
    }
}

void mxgpu_wake_compute(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < dev->num_workers; i++) {
        mxgpu_wake(dev, MXGPU_STEPPER_COPY + dev->config.copy_engines + i);
    }
}

void mxgpu_send_kick(MxgpuDevice *dev)
{
    if (dev->config.deterministic && atomic_exchange(&dev->kick, false) &&
        dev->ops->kick) {
        dev->ops->kick(dev->host);
    }
}

/* ---- BAR 0 -------------------------------------------------------------------- */

static void trace_sram_end(MxgpuDevice *dev)
{
    uint64_t bytes = atomic_exchange(&dev->sram_bytes, 0);

    if (bytes) {
        dev->ops->trace(dev->host, MXGPU_TRACE_SRAM, dev->sram_first,
                        bytes | (uint64_t)dev->sram_write << 32);
    }
}

/* An image is thousands of words: they are one event, which comes with the
 * next access to another register. */
static void trace_mmio(MxgpuDevice *dev, uint64_t offset, uint64_t value,
                       bool write)
{
    if (!dev->ops->trace) {
        return;
    }
    if (dev->sram_bytes &&
        (offset != MXGPU_MCU_SRAM_DATA || dev->sram_write != write)) {
        trace_sram_end(dev);
    }
    if (offset == MXGPU_MCU_SRAM_DATA) {
        if (!dev->sram_bytes) {
            dev->sram_first = mxgpu_regs_peek(dev, MXGPU_MCU_SRAM_ADDR);
            dev->sram_write = write;
        }
        dev->sram_bytes += 4;
        return;
    }
    dev->ops->trace(dev->host,
                    write ? MXGPU_TRACE_MMIO_WRITE : MXGPU_TRACE_MMIO_READ,
                    offset, value);
}

uint64_t mxgpu_device_mmio_read(MxgpuDevice *dev, uint64_t offset,
                                unsigned size)
{
    uint32_t value;

    if (size != 4 || offset % 4 || offset >= MXGPU_REGS_SIZE) {
        mxgpu_bad_access(dev, offset, size, false);
        return 0;
    }
    if (offset == MXGPU_MCU_SRAM_DATA) { /* moves SRAM_ADDR on */
        trace_mmio(dev, offset, 0, false);
        return mxgpu_regs_read(dev, MXGPU_PARTY_HOST, (uint32_t)offset);
    }
    value = mxgpu_regs_read(dev, MXGPU_PARTY_HOST, (uint32_t)offset);
    trace_mmio(dev, offset, value, false);
    return value;
}

uint64_t mxgpu_device_mmio_peek(MxgpuDevice *dev, uint64_t offset,
                                unsigned size)
{
    uint64_t value = 0;
    uint32_t word = 0;

    for (unsigned i = 0; i < size && offset < MXGPU_REGS_SIZE - i; i++) {
        uint32_t at = (uint32_t)offset + i;

        if (i == 0 || at % 4 == 0) {
            word = mxgpu_regs_peek(dev, at & ~3u);
        }
        value |= (uint64_t)(word >> at % 4 * 8 & 0xff) << i * 8;
    }
    return value;
}

void mxgpu_device_mmio_write(MxgpuDevice *dev, uint64_t offset, uint64_t value,
                             unsigned size)
{
    if (size != 4 || offset % 4 || offset >= MXGPU_REGS_SIZE) {
        mxgpu_bad_access(dev, offset, size, true);
        return;
    }
    trace_mmio(dev, offset, value, true);
    mxgpu_regs_write(dev, MXGPU_PARTY_HOST, (uint32_t)offset, (uint32_t)value);
    mxgpu_send_kick(dev);
}

/* ---- the bus behind --------------------------------------------------------------- */

void mxgpu_device_bus_invalidate(MxgpuDevice *dev, uint64_t addr, uint64_t len)
{
    mxgpu_mmu_invalidate(dev->mmu);
}

bool mxgpu_device_bus_busy(MxgpuDevice *dev)
{
    return mxgpu_mmu_invalidate_busy(dev->mmu);
}

/* ---- deterministic mode -------------------------------------------------------------- */

bool mxgpu_device_run(MxgpuDevice *dev, unsigned budget, uint64_t *deadline)
{
    bool more = false;

    *deadline = MXGPU_NEVER;
    for (unsigned i = 0; i < dev->num_steppers; i++) {
        more |= mxgpu_stepper_try(&dev->steppers[i], budget, deadline);
    }
    /* A unit may have woken one that had its turn. */
    for (unsigned i = 0; i < dev->num_steppers; i++) {
        more |= mxgpu_stepper_runnable(&dev->steppers[i]);
    }
    if (more) {
        atomic_store(&dev->kick, false);
    }
    return more;
}

/* ---- life ---------------------------------------------------------------------------- */

static const char *check_config(const MxgpuConfig *c)
{
    if (!c->vram || (uintptr_t)c->vram % 4096 || !c->vram_size ||
        c->vram_size % (1u << 20)) {
        return "vram must be a multiple of 1 MiB, page-aligned";
    }
    if (c->queues < 1 || c->queues > MXGPU_MAX_QUEUES) {
        return "queues must be 1 to 256";
    }
    if (c->vectors < 1 || c->vectors > 256) {
        return "vectors must be 1 to 256";
    }
    if (c->compute_units < 1 || c->compute_units > 128) {
        return "compute-units must be 1 to 128";
    }
    if (c->copy_engines < 1 || c->copy_engines > MXGPU_MAX_COPY_ENGINES) {
        return "copy-engines must be 1 to 8";
    }
    if (c->private_memory &&
        c->private_memory / c->compute_units < MXGPU_PRIVATE_GRAIN) {
        return "private-memory must be at least 64 KiB for each compute unit";
    }
    if (c->threads > 1024) {
        return "threads must be 0 to 1024";
    }
    return NULL;
}

/* No more workers than compute units: each drives one at a time. */
static unsigned count_workers(const MxgpuConfig *c)
{
    long threads = c->threads ? (long)c->threads : sysconf(_SC_NPROCESSORS_ONLN);

    if (c->deterministic || threads < 1) {
        threads = 1;
    }
    return threads > (long)c->compute_units ? c->compute_units
                                            : (unsigned)threads;
}

static bool init_units(MxgpuDevice *dev)
{
    unsigned copies = dev->config.copy_engines, n = 0;

    dev->steppers = calloc(MXGPU_STEPPER_COPY + copies + dev->num_workers,
                        sizeof(*dev->steppers));
    if (!dev->steppers) {
        return false;
    }
    mxgpu_stepper_init(&dev->steppers[n++], dev->ops, dev->host, mxgpu_control_step,
                    dev, 0);
    mxgpu_stepper_init(&dev->steppers[n], dev->ops, dev->host, mxgpu_mcu_step, dev,
                    0);
    dev->steppers[n].budget = MCU_BUDGET;
    dev->steppers[n++].spin_ns =
        sysconf(_SC_NPROCESSORS_ONLN) > 1 ? MCU_SPIN_NS : 0;
    for (unsigned i = 0; i < copies; i++) {
        mxgpu_stepper_init(&dev->steppers[n++], dev->ops, dev->host, mxgpu_copy_step,
                        dev, i);
    }
    for (unsigned i = 0; i < dev->num_workers; i++) {
        mxgpu_stepper_init(&dev->steppers[n], dev->ops, dev->host,
                        mxgpu_compute_step, dev, i);
        dev->steppers[n++].budget = COMPUTE_BUDGET;
    }
    dev->num_steppers = n;
    return true;
}

static bool start_units(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < dev->num_steppers; i++) {
        if (!mxgpu_stepper_start(&dev->steppers[i])) {
            return false;
        }
    }
    return true;
}

static bool init_blocks(MxgpuDevice *dev)
{
    dev->mmu = mxgpu_mmu_new(dev->config.vram, dev->config.vram_size, dev->ops,
                             dev->host);
    return dev->mmu && init_units(dev) && mxgpu_copy_init(dev) &&
           mxgpu_mcu_driver_init(dev) && mxgpu_compute_init(dev);
}

MxgpuDevice *mxgpu_device_new(const MxgpuConfig *config,
                              const MxgpuHostOps *ops, void *host,
                              const char **error)
{
    const char *unused;
    MxgpuDevice *dev;

    error = error ? error : &unused;
    *error = check_config(config);
    if (*error) {
        return NULL;
    }
    *error = "out of memory";
    dev = calloc(1, sizeof(*dev));
    if (!dev) {
        return NULL;
    }
    dev->config = *config;
    if (!config->private_memory) {
        dev->config.private_memory = MXGPU_PRIVATE_MEMORY;
    }
    dev->ops = ops;
    dev->host = host;
    dev->num_workers = count_workers(config);
    pthread_mutex_init(&dev->control, NULL);
    pthread_mutex_init(&dev->lock, NULL);
    if (!init_blocks(dev)) {
        mxgpu_device_free(dev);
        return NULL;
    }
    mxgpu_regs_init(dev);
    mxgpu_device_reset(dev, MXGPU_RESET_POWER_ON);
    if (!config->deterministic && !start_units(dev)) {
        *error = "the system has no more threads";
        mxgpu_device_free(dev);
        return NULL;
    }
    *error = NULL;
    return dev;
}

void mxgpu_device_free(MxgpuDevice *dev)
{
    if (!dev) {
        return;
    }
    /* The control unit first: it waits for others. */
    for (unsigned i = 0; i < dev->num_steppers; i++) {
        mxgpu_stepper_stop(&dev->steppers[i]);
    }
    mxgpu_compute_free(dev);
    mxgpu_mcu_driver_free(dev);
    mxgpu_copy_free(dev);
    mxgpu_mmu_free(dev->mmu);
    for (unsigned i = 0; i < dev->num_steppers; i++) {
        mxgpu_stepper_destroy(&dev->steppers[i]);
    }
    free(dev->steppers);
    pthread_mutex_destroy(&dev->lock);
    pthread_mutex_destroy(&dev->control);
    free(dev);
}
