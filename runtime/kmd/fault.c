/* SPDX-License-Identifier: MIT */
/*
 * Recoverable faults: the ring of records that the device fills
 * (hw-mxgpu/docs/faults.md), and a thread that shows each to whoever mends
 * it. A thread of its own, because mending may unmap something else, which waits
 * for the interrupt thread.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "priv.h"

#define FAULT_MINOR  3 /* of the interface version: it has the registers */
#define LOG2_RECORDS 8u
#define RECORDS      (1u << LOG2_RECORDS)
#define RING_SIZE    (RECORDS * sizeof(struct mxgpu_fault_record))
#define BUSY_NS      100000u

static void serve(KmdDevice *dev, uint32_t head)
{
    KmdFaults *f = &dev->faults;
    struct mxgpu_fault_record record;

    memcpy(&record, (const void *)&f->ring[head % RECORDS], sizeof(record));
    if (!f->mend(f->opaque, &record)) {
        kmd_write(dev->t, MXGPU_FAULT_KILL, head);
    }
    kmd_write_barrier(); /* page tables before the replay */
    kmd_write(dev->t, MXGPU_FAULT_HEAD, head + 1);
}

/* A device that was reset, or is gone, has another tail than it can have. */
static void serve_all(KmdDevice *dev)
{
    uint32_t head = kmd_read(dev->t, MXGPU_FAULT_HEAD);

    while (!kmd_lost(dev) && !atomic_load(&dev->faults.stop)) {
        uint32_t tail = kmd_read(dev->t, MXGPU_FAULT_TAIL);

        if (tail == head || tail - head > RECORDS) {
            return;
        }
        while (head != tail && !kmd_lost(dev)) {
            serve(dev, head++);
        }
    }
}

static void *fault_thread(void *opaque)
{
    KmdDevice *dev = opaque;
    KmdFaults *f = &dev->faults;

    pthread_setname_np(pthread_self(), "mxgpu-fault");
    while (!atomic_load(&f->stop)) {
        uint32_t seen = atomic_load(&f->told);

        serve_all(dev);
        if (!atomic_load(&f->stop)) {
            kmd_futex_wait(&f->told, seen, UINT64_MAX);
        }
    }
    return NULL;
}

static int start_thread(KmdDevice *dev)
{
    sigset_t all, old;
    int ret;

    /* Signals belong to the program's own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    ret = -pthread_create(&dev->faults.thread, NULL, fault_thread, dev);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return ret;
}

int kmd_device_faults(KmdDevice *dev, KmdMendFn *mend, void *opaque)
{
    KmdFaults *f = &dev->faults;
    uint64_t va;
    void *ring;
    int ret;

    if (dev->minor < FAULT_MINOR) {
        return -EOPNOTSUPP;
    }
    if (f->ring) {
        return -EBUSY;
    }
    ret = kmd_shared_alloc(dev, RING_SIZE, &ring);
    if (ret) {
        return ret;
    }
    *f = (KmdFaults){.ring = ring, .mend = mend, .opaque = opaque};
    ret = start_thread(dev);
    if (ret) {
        mc_error("fault thread: %s", strerror(-ret));
        kmd_shared_free(dev, ring, RING_SIZE);
        f->ring = NULL;
        return ret;
    }
    va = (uintptr_t)ring;
    kmd_write(dev->t, MXGPU_FAULT_RING_LO, (uint32_t)va);
    kmd_write(dev->t, MXGPU_FAULT_RING_HI, (uint32_t)(va >> 32));
    kmd_write(dev->t, MXGPU_FAULT_CFG,
              MXGPU_SET(MXGPU_FAULT_CFG_ENABLE, 1) |
                  MXGPU_SET(MXGPU_FAULT_CFG_VMID, KMD_VMID) |
                  MXGPU_SET(MXGPU_FAULT_CFG_LOG2_RECORDS, LOG2_RECORDS));
    return 0;
}

void kmd_fault_told(KmdDevice *dev)
{
    kmd_count(&dev->faults.told);
}

void kmd_faults_stop(KmdDevice *dev)
{
    KmdFaults *f = &dev->faults;

    if (!f->ring) {
        return;
    }
    atomic_store(&f->stop, true);
    kmd_count(&f->told);
    pthread_join(f->thread, NULL);
    kmd_write(dev->t, MXGPU_FAULT_CFG, 0);
    while (!kmd_lost(dev) &&
           MXGPU_GET(MXGPU_FAULT_STATUS_BUSY,
                     kmd_read(dev->t, MXGPU_FAULT_STATUS))) {
        kmd_sleep_ns(BUSY_NS);
        (void)kmd_device_alive(dev);
    }
    kmd_shared_free(dev, (void *)f->ring, RING_SIZE);
    f->ring = NULL;
}
