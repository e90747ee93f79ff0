/* SPDX-License-Identifier: MIT */
/*
 * Queues. Ring and control block are one piece of shared memory (arena.c), at
 * the same address on both sides, as user-mode queues usually are: the
 * producer writes packets and reads progress at the speed of its own memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <stdlib.h>

#include "base/va.h"
#include "priv.h"

#define MIN_PACKETS 4u
#define MAX_PACKETS 65536u

static int id_get(KmdDevice *dev, unsigned *id)
{
    unsigned i;

    for (i = 0; i < dev->info.queues; i++) {
        if (!(dev->queue_ids[i / 64] & 1ull << (i % 64))) {
            dev->queue_ids[i / 64] |= 1ull << (i % 64);
            *id = i;
            return 0;
        }
    }
    mc_error("all %u queues are in use", dev->info.queues);
    return -ENOSPC;
}

static void id_put(KmdDevice *dev, unsigned id)
{
    dev->queue_ids[id / 64] &= ~(1ull << (id % 64));
}

/* Vector 0 is the device's own; the others go round. */
static unsigned vector_of(KmdDevice *dev, unsigned id)
{
    unsigned vectors = dev->t->vectors;

    return vectors > 1 ? 1 + id % (vectors - 1) : 0;
}

static void queue_free(KmdQueueImpl *q)
{
    if (q->memory) {
        kmd_shared_free(q->pub.dev, q->memory, q->size);
    }
    free(q);
}

static int queue_tell(KmdDevice *dev, KmdQueueImpl *q, unsigned priority)
{
    uint64_t ring = (uintptr_t)q->pub.ring, ctl = (uintptr_t)q->pub.ctl;
    struct mxgpu_msg_queue_create req = {
        .op = MXGPU_MSG_QUEUE_CREATE,
        .queue = q->pub.id,
        .vmid = KMD_VMID,
        .priority = priority,
        .ring_lo = (uint32_t)ring,
        .ring_hi = (uint32_t)(ring >> 32),
        .log2_packets = (uint32_t)__builtin_ctz(q->pub.packets),
        .ctl_lo = (uint32_t)ctl,
        .ctl_hi = (uint32_t)(ctl >> 32),
        .vector = q->vector,
    };

    return kmd_mbox_call(dev, &req, sizeof(req) / 4, NULL, 0);
}

static void list_add(KmdDevice *dev, KmdQueueImpl *q)
{
    pthread_mutex_lock(&dev->queue_lock);
    q->next = dev->queues;
    dev->queues = q;
    pthread_mutex_unlock(&dev->queue_lock);
}

int kmd_queue_create(KmdDevice *dev, unsigned priority, unsigned packets,
                     KmdQueue **out)
{
    uint64_t ring_size = (uint64_t)packets * MXGPU_PACKET_SIZE;
    KmdQueueImpl *q;
    unsigned id;
    int ret;

    if (packets < MIN_PACKETS || packets > MAX_PACKETS ||
        (packets & (packets - 1)) || priority >= dev->info.priorities) {
        mc_error("queue of %u packets with priority %u: 4 to 65536, a power "
                 "of two, and below %u are possible", packets, priority,
                 dev->info.priorities);
        return -EINVAL;
    }
    if (kmd_lost(dev)) {
        return -ENODEV;
    }
    pthread_mutex_lock(&dev->queue_lock);
    ret = id_get(dev, &id);
    pthread_mutex_unlock(&dev->queue_lock);
    if (ret) {
        return ret;
    }
    q = calloc(1, sizeof(*q));
    if (!q) {
        ret = -ENOMEM;
        goto fail;
    }
    q->pub.dev = dev;
    q->pub.packets = packets;
    q->pub.id = id;
    q->vector = vector_of(dev, id);
    ring_size = (ring_size + KMD_PAGE_SIZE - 1) & ~(KMD_PAGE_SIZE - 1);
    q->size = ring_size + KMD_PAGE_SIZE;
    ret = kmd_shared_alloc(dev, q->size, &q->memory);
    if (!ret) {
        q->pub.ring = q->memory;
        q->pub.ctl = (void *)((char *)q->memory + ring_size);
        ret = queue_tell(dev, q, priority);
    }
    if (ret) {
        queue_free(q);
        goto fail;
    }
    list_add(dev, q);
    *out = &q->pub;
    return 0;

fail:
    pthread_mutex_lock(&dev->queue_lock);
    id_put(dev, id);
    pthread_mutex_unlock(&dev->queue_lock);
    return ret;
}

void kmd_queue_ring(KmdQueue *queue, uint64_t write_index)
{
    KmdTransport *t = queue->dev->t;

    kmd_write_barrier();
    t->ops->doorbell(t, queue->id, write_index);
}

int kmd_queue_profile(KmdQueue *queue, const KmdProfile *profile)
{
    uint64_t base = (uintptr_t)profile->memory;
    struct mxgpu_msg_queue_profile req = {
        .op = MXGPU_MSG_QUEUE_PROFILE,
        .queue = queue->id,
        .base_lo = (uint32_t)base,
        .base_hi = (uint32_t)(base >> 32),
        .log2_records = (uint32_t)__builtin_ctz(profile->records),
        .stride = profile->stride,
        .samples = profile->samples,
        .interval = profile->interval,
        .flags = profile->exact ? MXGPU_PROFILE_EXACT : 0,
    };

    return kmd_mbox_call(queue->dev, &req, sizeof(req) / 4, NULL, 0);
}

int kmd_queue_launch(KmdQueue *queue, uint64_t ring, unsigned log2_records)
{
    struct mxgpu_msg_queue_launch req = {
        .op = MXGPU_MSG_QUEUE_LAUNCH,
        .queue = queue->id,
        .ring_lo = (uint32_t)ring,
        .ring_hi = (uint32_t)(ring >> 32),
        .log2_records = log2_records,
    };

    return kmd_mbox_call(queue->dev, &req, sizeof(req) / 4, NULL, 0);
}

int kmd_contexts(KmdDevice *dev, uint64_t addr, uint64_t size)
{
    struct mxgpu_msg_contexts req = {
        .op = MXGPU_MSG_CONTEXTS,
        .vmid = KMD_VMID,
        .addr_lo = (uint32_t)addr,
        .addr_hi = (uint32_t)(addr >> 32),
        .size_lo = (uint32_t)size,
        .size_hi = (uint32_t)(size >> 32),
    };

    return kmd_mbox_call(dev, &req, sizeof(req) / 4, NULL, 0);
}

void kmd_queue_destroy(KmdQueue *queue)
{
    KmdQueueImpl *q = (KmdQueueImpl *)(void *)queue, **link;
    KmdDevice *dev = queue->dev;
    struct mxgpu_msg_queue_destroy req = {
        MXGPU_MSG_QUEUE_DESTROY, queue->id,
    };
    unsigned id = queue->id;
    int ret;

    ret = kmd_mbox_call(dev, &req, sizeof(req) / 4, NULL, 0);
    if (ret && ret != -ENODEV) {
        /* Its memory must not be taken away from a queue that may run. */
        kmd_device_lose(dev, "queue %u could not be destroyed", id);
    }
    pthread_mutex_lock(&dev->queue_lock);
    for (link = &dev->queues; *link; link = &(*link)->next) {
        if (*link == q) {
            *link = q->next;
            break;
        }
    }
    pthread_mutex_unlock(&dev->queue_lock);
    queue_free(q);
    pthread_mutex_lock(&dev->queue_lock);
    id_put(dev, id);
    pthread_mutex_unlock(&dev->queue_lock);
}

void kmd_queue_destroy_all(KmdDevice *dev)
{
    while (dev->queues) {
        kmd_queue_destroy(&dev->queues->pub);
    }
}

uint32_t kmd_queue_irq_count(KmdQueue *queue)
{
    KmdQueueImpl *q = (KmdQueueImpl *)(void *)queue;

    return atomic_load(&queue->dev->irq.counts[q->vector]);
}

int kmd_queue_irq_wait(KmdQueue *queue, uint32_t seen, uint64_t timeout_ns)
{
    KmdQueueImpl *q = (KmdQueueImpl *)(void *)queue;
    KmdDevice *dev = queue->dev;
    _Atomic uint32_t *count = &dev->irq.counts[q->vector];
    uint64_t start = kmd_now_ns(), passed = 0, slice;

    for (;;) {
        if (kmd_lost(dev)) {
            return -ENODEV;
        }
        if (atomic_load(count) != seen) {
            return 0;
        }
        if (passed >= timeout_ns) {
            return -ETIMEDOUT;
        }
        slice = timeout_ns - passed;
        slice = slice < KMD_LOOK_NS ? slice : KMD_LOOK_NS;
        kmd_futex_wait(count, seen, slice);
        passed = kmd_now_ns() - start;
        if (atomic_load(count) == seen) {
            kmd_device_look(dev, true);
        }
    }
}
