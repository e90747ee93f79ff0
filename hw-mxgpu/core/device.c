/* SPDX-License-Identifier: MIT */
/* The device as a whole: what it is made of, its life, deterministic runs. */
#include "debug/gdb.h"
#include "internal.h"
#include "mxgpu/properties.h"
#include "simt/simt.h"

#include <stdlib.h>
#include <unistd.h>

/* Steps of a thread: a few microseconds of MCU, about a millisecond of
 * compute. They bound how long a pause takes and how late a line is seen. */
#define MCU_BUDGET     1000
#define COMPUTE_BUDGET 4096

/* Threads that run longer kernels than that let others go first. */
#define COMPUTE_LONG_AFTER 16

/* A host that waits for each request before it makes the next does so within
 * this time: so long the MCU's thread looks for work before it sleeps. */
#define MCU_SPIN_NS 30000

/* ---- the bus behind */

void mxgpu_device_bus_invalidate(MxgpuDevice *dev, uint64_t addr, uint64_t len)
{
    mxgpu_mmu_invalidate(dev->mmu);
}

bool mxgpu_device_stands(const MxgpuDevice *dev)
{
    return mxgpu_stepper_stands(&dev->steppers[MXGPU_STEPPER_MCU]) ||
           mxgpu_stepper_sleeps(&dev->steppers[mxgpu_worker(dev, 0)]);
}

void mxgpu_device_help(MxgpuDevice *dev)
{
    MxgpuStepper *worker = &dev->steppers[mxgpu_worker(dev, 0)];

    mxgpu_stepper_help(&dev->steppers[MXGPU_STEPPER_MCU]);
    if (mxgpu_stepper_sleeps(worker)) {
        mxgpu_stepper_help(worker);
    }
}

bool mxgpu_device_bus_busy(MxgpuDevice *dev)
{
    return mxgpu_mmu_invalidate_busy(dev->mmu);
}

void mxgpu_device_log_writes(MxgpuDevice *dev, MxgpuVramUsed *used)
{
    mxgpu_mmu_log_writes(dev->mmu, used);
}

/* ---- deterministic mode */

bool mxgpu_device_run(MxgpuDevice *dev, unsigned budget, uint64_t *deadline)
{
    unsigned runnable = 0;
    bool more = false;

    *deadline = MXGPU_NEVER;
    for (unsigned i = 0; i < dev->num_steppers; i++) {
        runnable += mxgpu_stepper_runnable(&dev->steppers[i]);
    }
    /* Units that have work share the budget. One that is woken during this
     * turn gets a share as well: the sum may then exceed the budget. */
    budget = runnable > 1 && budget > runnable ? budget / runnable : budget;
    for (unsigned i = 0; i < dev->num_steppers; i++) {
        more |= mxgpu_stepper_try(&dev->steppers[i], budget, deadline);
    }
    /* A unit may have given work to one that had its turn before it. */
    for (unsigned i = 0; i < dev->num_steppers; i++) {
        more |= mxgpu_stepper_runnable(&dev->steppers[i]);
    }
    if (more) {
        atomic_store(&dev->kick, false);
    }
    return more;
}

/* ---- life */

/* Checks the configuration against the ranges of mxgpu/properties.def; a size
 * of 0 becomes the default. How many vectors there are is for the host to
 * say. */
static const char *check_ranges(const MxgpuConfig *c)
{
#define TEXT(number) TEXT_(number)
#define TEXT_(number) #number
#define MXGPU_NUMBER(field, name, min, max, card, sim, text)                   \
    if (!mxgpu_property_ok(MXGPU_PROPERTY_##field, c->field)) {                \
        return name " must be " TEXT(min) " to " TEXT(max);                    \
    }
#define MXGPU_SIZE(field, name, min, max, card, sim, text)                     \
    if (c->field && !mxgpu_property_ok(MXGPU_PROPERTY_##field, c->field)) {    \
        return name " must be " TEXT(min) " to " TEXT(max) " KiB";             \
    }
#define MXGPU_SWITCH(...)
#include "mxgpu/properties.def"
#undef MXGPU_NUMBER
#undef MXGPU_SIZE
#undef MXGPU_SWITCH
    if (c->vectors < 1 || c->vectors > MXGPU_MAX_VECTORS) {
        return "vectors must be 1 to " TEXT(MXGPU_MAX_VECTORS);
    }
    return NULL;
}

static const char *check_config(const MxgpuConfig *c)
{
    const char *error = check_ranges(c);

    if (error) {
        return error;
    }
    if (!c->vram || (uintptr_t)c->vram % 4096 || !c->vram_size ||
        c->vram_size % (1u << 20)) {
        return "vram must be a multiple of 1 MiB, page-aligned";
    }
    if (c->private_memory &&
        c->private_memory / c->compute_units < MXGPU_PRIVATE_GRAIN) {
        return "private-memory must be at least 64 KiB for each compute unit";
    }
    if (!mxgpu_simt_runs_here()) {
        return "its interpreter was compiled for another processor: "
               "meson configure -Dsimt_isa=all";
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

#define FOLLOW_MOST 32 /* of a step, which somebody may wait for */

/* What ended meanwhile may be followed by others without the firmware. */
static bool follow(MxgpuDevice *dev)
{
    const _Atomic bool *held = &dev->steppers[MXGPU_STEPPER_MCU].held;

    for (unsigned i = 0; i < FOLLOW_MOST; i++) {
        if (!atomic_load_explicit(&dev->chain_pending, memory_order_relaxed)) {
            return false;
        }
        if (atomic_load_explicit(held, memory_order_relaxed)) {
            break;
        }
        mxgpu_fe_follow(dev);
        mxgpu_compute_inline(dev);
    }
    return atomic_load(&dev->chain_pending) != 0;
}

/* A small copy or a kernel of one block that the firmware started in this step
 * may be run by the same thread right after it, without waking another one
 * (copy.c, compute.c). */
static bool mcu_step(void *opaque, unsigned index, unsigned budget,
                     uint64_t *deadline)
{
    MxgpuDevice *dev = opaque;
    bool more = mxgpu_mcu_step(dev, index, budget, deadline);

    mxgpu_copy_inline(dev);
    mxgpu_compute_inline(dev);
    more = follow(dev) || more;
    if (!more && !mxgpu_stepper_runnable(&dev->steppers[MXGPU_STEPPER_MCU])) {
        mxgpu_compute_inline_idle(dev, deadline);
    }
    return more;
}

static MxgpuStepper *add_stepper(MxgpuDevice *dev, MxgpuStep *step,
                                 unsigned index)
{
    MxgpuStepper *s = &dev->steppers[dev->num_steppers++];

    mxgpu_stepper_init(s, dev->ops, dev->host, step, dev, index);
    return s;
}

static bool init_steppers(MxgpuDevice *dev)
{
    unsigned copies = dev->config.copy_engines;
    MxgpuStepper *mcu;

    dev->steppers = calloc(MXGPU_STEPPER_COPY + copies + dev->num_workers,
                        sizeof(*dev->steppers));
    if (!dev->steppers) {
        return false;
    }
    add_stepper(dev, mxgpu_control_step, 0);
    mcu = add_stepper(dev, mcu_step, 0);
    mcu->budget = MCU_BUDGET;
    mcu->spin_ns = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? MCU_SPIN_NS : 0;
    for (unsigned i = 0; i < copies; i++) {
        add_stepper(dev, mxgpu_copy_step, i);
    }
    for (unsigned i = 0; i < dev->num_workers; i++) {
        MxgpuStepper *worker = add_stepper(dev, mxgpu_compute_step, i);

        worker->budget = COMPUTE_BUDGET;
        worker->long_after = COMPUTE_LONG_AFTER;
        worker->helps = mcu;
        worker->alerts = &dev->alerts;
    }
    return true;
}

static bool start_steppers(MxgpuDevice *dev)
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
    if (dev->mmu && dev->config.log_host) {
        mxgpu_mmu_log_host(dev->mmu, dev->config.log_host);
    }
    return dev->mmu && init_steppers(dev) && mxgpu_copy_init(dev) &&
           mxgpu_mcu_driver_init(dev, &mxgpu_mcu_bus) && mxgpu_compute_init(dev);
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
        dev->config.private_memory = MXGPU_DEFAULT(card, private_memory);
    }
    dev->ops = ops;
    dev->host = host;
    dev->num_workers = count_workers(config);
    pthread_mutex_init(&dev->control, NULL);
    pthread_mutex_init(&dev->lock, NULL);
    pthread_mutex_init(&dev->faults.writer, NULL);
    pthread_mutex_init(&dev->debug.port.lock, NULL);
    pthread_mutex_init(&dev->kernels.port.lock, NULL);
    pthread_mutex_init(&dev->kernels.lock, NULL);
    mxgpu_console_log_init(&dev->console_log);
    if (!init_blocks(dev)) {
        mxgpu_device_free(dev);
        return NULL;
    }
    mxgpu_regs_init(dev);
    mxgpu_device_reset(dev, MXGPU_RESET_POWER_ON);
    if (!config->deterministic && !start_steppers(dev)) {
        *error = "the system has no more threads";
        mxgpu_device_free(dev);
        return NULL;
    }
    *error = NULL;
    return dev;
}

static void free_debuggers(MxgpuDevice *dev)
{
    MxgpuDebugPort *ports[] = {&dev->debug.port, &dev->kernels.port};

    for (unsigned i = 0; i < 2; i++) {
        mxgpu_gdb_free(ports[i]->gdb);
        free(ports[i]->text);
        pthread_mutex_destroy(&ports[i]->lock);
    }
    for (MxgpuModule *m = dev->kernels.modules, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    pthread_mutex_destroy(&dev->kernels.lock);
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
    free_debuggers(dev);
    mxgpu_compute_free(dev);
    mxgpu_mcu_driver_free(dev);
    mxgpu_copy_free(dev);
    mxgpu_mmu_free(dev->mmu);
    for (unsigned i = 0; i < dev->num_steppers; i++) {
        mxgpu_stepper_destroy(&dev->steppers[i]);
    }
    free(dev->steppers);
    pthread_mutex_destroy(&dev->faults.writer);
    mxgpu_console_log_free(&dev->console_log);
    pthread_mutex_destroy(&dev->lock);
    pthread_mutex_destroy(&dev->control);
    free(dev);
}
