/* SPDX-License-Identifier: MIT */
/* Queues of a device of the kernel driver: rings and control blocks are ours,
 * and so is the page with the doorbell; the driver sees no packet. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "drm_priv.h"

typedef struct DrmQueue {
    KmdQueue pub; /* first: the runtime has a pointer to it */
    volatile uint64_t *doorbell;
    void *memory; /* ring, then control block */
    uint64_t size;
} DrmQueue;

static DrmQueue *queue_of(KmdQueue *queue)
{
    return (DrmQueue *)(void *)queue;
}

/* Takes memory and queue number; what there is on failure is for the caller to
 * give back. */
static int queue_fill(DrmDevice *d, DrmQueue *q, unsigned priority,
                      unsigned packets)
{
    uint64_t ring = (uint64_t)packets * MXGPU_PACKET_SIZE;
    struct drm_mxgpu_queue_create args = {
        .packets = packets,
        /* Urgent levels are for who may disturb others. */
        .priority = priority > d->min_priority ? priority : d->min_priority,
    };
    void *page;
    int ret;

    ring = (ring + KMD_PAGE_SIZE - 1) & ~(KMD_PAGE_SIZE - 1);
    q->size = ring + KMD_PAGE_SIZE;
    ret = drm_shared_alloc(q->pub.dev, q->size, &q->memory);
    if (ret) {
        return ret;
    }
    q->pub.ring = q->memory;
    q->pub.ctl = (void *)((char *)q->memory + ring);
    args.ring = (uintptr_t)q->pub.ring;
    args.ctl = (uintptr_t)q->pub.ctl;
    ret = drm_call(d, DRM_IOCTL_MXGPU_QUEUE_CREATE, &args);
    if (ret) {
        mc_error("a queue of %u packets: %s", packets, strerror(-ret));
        return drm_error(d, ret);
    }
    q->pub.id = args.queue;
    page = mmap(NULL, KMD_PAGE_SIZE, PROT_WRITE, MAP_SHARED, d->fd,
                (off_t)args.doorbell_offset);
    if (page == MAP_FAILED) {
        struct drm_mxgpu_queue_destroy destroy = {.queue = args.queue};

        ret = -errno;
        mc_error("the doorbell cannot be mapped: %s", strerror(-ret));
        (void)drm_call(d, DRM_IOCTL_MXGPU_QUEUE_DESTROY, &destroy);
        return ret;
    }
    q->doorbell = page;
    return 0;
}

int drm_queue_create(KmdDevice *dev, unsigned priority, unsigned packets,
                     KmdQueue **out)
{
    DrmQueue *q = calloc(1, sizeof(*q));
    int ret;

    if (!q) {
        return -ENOMEM;
    }
    q->pub.dev = dev;
    q->pub.packets = packets;
    ret = queue_fill(drm_of(dev), q, priority, packets);
    if (ret) {
        if (q->memory) {
            drm_shared_free(dev, q->memory, q->size);
        }
        free(q);
        return ret;
    }
    *out = &q->pub;
    return 0;
}

void drm_queue_ring(KmdQueue *queue, uint64_t write_index)
{
    /* Packets first. */
    atomic_thread_fence(memory_order_seq_cst);
    *queue_of(queue)->doorbell = write_index;
}

int drm_queue_profile(KmdQueue *queue, const KmdProfile *profile)
{
    struct drm_mxgpu_queue_profile args = {
        .queue = queue->id,
        .log2_records = (uint32_t)__builtin_ctz(profile->records),
        .base = (uintptr_t)profile->memory,
        .stride = profile->stride,
        .samples = profile->samples,
        .interval = profile->interval,
        .flags = profile->exact,
    };
    DrmDevice *d = drm_of(queue->dev);

    return drm_error(d, drm_call(d, DRM_IOCTL_MXGPU_QUEUE_PROFILE, &args));
}

int drm_queue_launch(KmdQueue *queue, uint64_t ring, unsigned log2_records)
{
    struct drm_mxgpu_queue_launch args = {
        .queue = queue->id, .log2_records = log2_records, .ring = ring,
    };
    DrmDevice *d = drm_of(queue->dev);

    return drm_error(d, drm_call(d, DRM_IOCTL_MXGPU_QUEUE_LAUNCH, &args));
}

int drm_contexts(KmdDevice *dev, uint64_t addr, uint64_t size)
{
    struct drm_mxgpu_contexts args = { .addr = addr, .size = size };
    DrmDevice *d = drm_of(dev);

    return drm_error(d, drm_call(d, DRM_IOCTL_MXGPU_CONTEXTS, &args));
}

void drm_queue_destroy(KmdQueue *queue)
{
    DrmQueue *q = queue_of(queue);
    DrmDevice *d = drm_of(queue->dev);
    struct drm_mxgpu_queue_destroy args = {.queue = queue->id};

    munmap((void *)(uintptr_t)q->doorbell, KMD_PAGE_SIZE);
    (void)drm_error(d, drm_call(d, DRM_IOCTL_MXGPU_QUEUE_DESTROY, &args));
    drm_shared_free(queue->dev, q->memory, q->size);
    free(q);
}

uint32_t drm_queue_irq_count(KmdQueue *queue)
{
    return drm_of(queue->dev)->status->irqs[queue->id];
}

int drm_queue_irq_wait(KmdQueue *queue, uint32_t seen, uint64_t timeout_ns)
{
    struct drm_mxgpu_queue_wait args = {
        .queue = queue->id, .seen = seen, .deadline = INT64_MAX,
    };
    DrmDevice *d = drm_of(queue->dev);
    struct timespec now;
    int ret;

    if (drm_queue_irq_count(queue) != seen) {
        return 0;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (timeout_ns < (uint64_t)INT64_MAX / 2) {
        args.deadline = now.tv_sec * 1000000000ll + now.tv_nsec +
                        (int64_t)timeout_ns;
    }
    ret = drm_call(d, DRM_IOCTL_MXGPU_QUEUE_WAIT, &args);
    return ret == -ETIME ? -ETIMEDOUT : drm_error(d, ret);
}
