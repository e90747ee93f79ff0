/* SPDX-License-Identifier: MIT */
/* A device from open to close. */
#include <errno.h>
#include <stdlib.h>

#include "priv.h"

#define MBOX_TIMEOUT_MS 15000

static void locks_init(KmdDevice *dev)
{
    pthread_mutex_init(&dev->mbox_lock, NULL);
    pthread_mutex_init(&dev->vram_lock, NULL);
    pthread_mutex_init(&dev->vm_lock, NULL);
    pthread_mutex_init(&dev->queue_lock, NULL);
    pthread_mutex_init(&dev->clock_lock, NULL);
    kmd_shared_init(dev);
}

static void locks_fini(KmdDevice *dev)
{
    pthread_mutex_destroy(&dev->mbox_lock);
    pthread_mutex_destroy(&dev->vram_lock);
    pthread_mutex_destroy(&dev->vm_lock);
    pthread_mutex_destroy(&dev->queue_lock);
    pthread_mutex_destroy(&dev->clock_lock);
}

static int device_start(KmdDevice *dev)
{
    int ret;

    if ((ret = kmd_bringup_identify(dev)) ||
        (ret = kmd_bringup_reset(dev)) ||
        (ret = kmd_vram_init(dev)) ||
        (ret = kmd_vm_init(dev)) ||
        (ret = kmd_irq_start(dev)) ||
        (ret = kmd_bringup_firmware(dev)) ||
        (ret = kmd_bringup_hello(dev)) ||
        (ret = kmd_vm_start(dev))) {
        return ret;
    }
    atomic_store(&dev->up, true);
    return 0;
}

/* Works from any state that device_start() left. */
static void device_stop(KmdDevice *dev)
{
    atomic_store(&dev->up, false);
    kmd_irq_stop(dev);
    if (dev->info.queues) { /* it was identified: the register is there */
        kmd_write(dev->t, MXGPU_RESET, MXGPU_RESET_MAGIC);
    }
    kmd_bo_free_all(dev);
    kmd_shared_fini(dev);
    kmd_vm_fini(dev);
    kmd_vram_fini(dev);
    dev->t->ops->close(dev->t);
    locks_fini(dev);
    free(dev);
}

int kmd_device_open(KmdTransport *t, KmdDevice **out)
{
    KmdDevice *dev = calloc(1, sizeof(*dev));
    int ret;

    if (!dev) {
        t->ops->close(t);
        return -ENOMEM;
    }
    dev->t = t;
    dev->vram_is_zero = t->vram_is_zero;
    dev->mbox_timeout_ms = MBOX_TIMEOUT_MS;
    dev->irq.epoll_fd = -1;
    dev->irq.stop_fd = -1;
    locks_init(dev);
    ret = device_start(dev);
    if (ret) {
        device_stop(dev);
        return ret;
    }
    *out = dev;
    return 0;
}

void kmd_device_close(KmdDevice *dev)
{
    kmd_faults_stop(dev);
    kmd_queue_destroy_all(dev);
    device_stop(dev);
}

void kmd_device_info(KmdDevice *dev, KmdInfo *info)
{
    *info = dev->info;
}

uint64_t kmd_device_clock(KmdDevice *dev)
{
    uint64_t lo, hi;

    if (kmd_lost(dev)) {
        return 0;
    }
    pthread_mutex_lock(&dev->clock_lock);
    lo = kmd_read(dev->t, MXGPU_CLOCK_LO);
    hi = kmd_read(dev->t, MXGPU_CLOCK_HI);
    pthread_mutex_unlock(&dev->clock_lock);
    if (hi == UINT32_MAX && !kmd_device_alive(dev)) {
        return 0;
    }
    return lo | hi << 32;
}

#define WHERE_MINOR 2 /* the version that has CU_PC */

static uint64_t unit_pc(KmdDevice *dev, unsigned unit)
{
    uint32_t at = unit * MXGPU_CU_PC_LO_STRIDE, hi;
    uint64_t lo;

    pthread_mutex_lock(&dev->clock_lock);
    lo = kmd_read(dev->t, MXGPU_CU_PC_LO + at);
    hi = kmd_read(dev->t, MXGPU_CU_PC_HI + at);
    pthread_mutex_unlock(&dev->clock_lock);
    if (!MXGPU_GET(MXGPU_CU_PC_HI_VALID, hi) ||
        MXGPU_GET(MXGPU_CU_PC_HI_VMID, hi) != KMD_VMID) {
        return 0;
    }
    return lo | (uint64_t)MXGPU_GET(MXGPU_CU_PC_HI_PC, hi) << 32;
}

unsigned kmd_device_where(KmdDevice *dev, uint64_t *pcs, unsigned room)
{
    unsigned units = dev->info.compute_units, n = 0;

    if (kmd_lost(dev) || dev->minor < WHERE_MINOR) {
        return 0;
    }
    for (unsigned i = 0; i < units && i < MXGPU_CU_PC_LO_COUNT && n < room;
         i++) {
        pcs[n] = unit_pc(dev, i);
        n += pcs[n] != 0;
    }
    return n;
}

void kmd_device_help(KmdDevice *dev)
{
    if (dev->t->ops->help) {
        dev->t->ops->help(dev->t);
    }
}

void kmd_device_module(KmdDevice *dev, uint64_t address, const char *path)
{
    if (dev->t->ops->module) {
        dev->t->ops->module(dev->t, address, path);
    }
}
