/* SPDX-License-Identifier: MIT */
/*
 * A device through the kernel driver (driver-stub/mxgpu): an open render node.
 * The driver has the address space, the memory and the queues of a file; here
 * are their numbers. The kernel ends all of it with the file, whatever becomes
 * of the process.
 */
#ifndef MC_KMD_DRM_PRIV_H
#define MC_KMD_DRM_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "../../driver-stub/include/uapi/mxgpu_drm.h"
#include "arena.h"
#include "base/log.h"
#include "kmd.h"

typedef struct DrmFaults DrmFaults;

/* What a KmdDevice and a KmdBo are for this back end. */
typedef struct DrmDevice {
    int fd;
    KmdInfo info;
    unsigned min_priority; /* the most urgent one that we may use */
    const volatile struct drm_mxgpu_status *status;
    KmdArena arena;
    pthread_mutex_t import_lock;
    struct DrmImport *imports; /* handles of what others have exported */
    DrmFaults *faults;       /* NULL: nobody has asked */
    _Atomic bool lost;       /* and it was said */
    _Atomic uint64_t looked; /* when a waiter last looked at it */
} DrmDevice;

typedef struct DrmBo {
    DrmDevice *dev;
    uint64_t size;
    uint64_t offset; /* of its start in what the handle means */
    uint32_t handle;
    bool system;   /* memory of the process */
    bool imported; /* its handle is counted */
    int file;      /* it, for other processes; -1: nobody has asked */
    void *cpu;     /* memory, or VRAM as it is mapped; NULL: imported */
} DrmBo;

static inline DrmDevice *drm_of(KmdDevice *dev)
{
    return (DrmDevice *)(void *)dev;
}

static inline KmdDevice *drm_device(DrmDevice *d)
{
    return (KmdDevice *)(void *)d;
}

static inline DrmBo *drm_bo(KmdBo *bo)
{
    return (DrmBo *)(void *)bo;
}

/* ---- drm_call.c ---- */

/* -errno; signals are nobody's business. */
int drm_call(const DrmDevice *d, unsigned long request, void *args);
/* Says once that the device is lost, if that is the error; returns it. */
int drm_error(DrmDevice *d, int error);

/* ---- drm_memory.c ---- */

int drm_bo_alloc(KmdDevice *dev, uint64_t size, KmdBo **bo);
int drm_bo_pin(KmdDevice *dev, void *ptr, uint64_t size, KmdBo **bo);
int drm_bo_peer(KmdDevice *dev, KmdBo *of, uint64_t offset, uint64_t size,
                KmdBo **bo);
bool drm_device_reaches(KmdDevice *dev, KmdDevice *other);
int drm_bo_share(KmdBo *bo, int *fd, uint64_t *offset);
int drm_bo_import(KmdDevice *dev, int fd, uint64_t offset, uint64_t size,
                  KmdBo **bo);
void drm_bo_free(KmdBo *bo);
void *drm_bo_cpu(KmdBo *bo);
void drm_memory(KmdDevice *dev, uint64_t *free, uint64_t *total);
int drm_bo_map(KmdBo *bo, uint64_t va, uint64_t offset, uint64_t size,
               uint64_t perms);
int drm_unmap(KmdDevice *dev, uint64_t va, uint64_t size);
int drm_replace(KmdDevice *dev, const KmdPlace *places, unsigned count);
int drm_shared_alloc(KmdDevice *dev, uint64_t size, void **memory);
void drm_shared_free(KmdDevice *dev, void *memory, uint64_t size);

/* ---- drm_fault.c ---- */

int drm_faults(KmdDevice *dev, KmdMendFn *mend, void *opaque);
void drm_faults_stop(DrmDevice *d);
/* From now on the process's memory is the device's, too. */
bool drm_pageable(DrmDevice *d);

/* ---- drm_queue.c ---- */

int drm_queue_create(KmdDevice *dev, unsigned priority, unsigned packets,
                     KmdQueue **queue);
void drm_queue_ring(KmdQueue *queue, uint64_t write_index);
int drm_queue_profile(KmdQueue *queue, const KmdProfile *profile);
int drm_queue_launch(KmdQueue *queue, uint64_t ring, unsigned log2_records);
int drm_contexts(KmdDevice *dev, uint64_t addr, uint64_t size);
void drm_queue_destroy(KmdQueue *queue);
uint32_t drm_queue_irq_count(KmdQueue *queue);
int drm_queue_irq_wait(KmdQueue *queue, uint32_t seen, uint64_t timeout_ns);

#endif
