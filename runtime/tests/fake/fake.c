/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "mxgpu/kernel.h"
#include "mxgpu/pte.h"
#include "mxgpu/rect.h"

FakeControl fake = {.count = 2, .queues = 16, .vram = 512ull << 20};

static struct {
    pthread_mutex_t lock;
    bool armed;
    struct mxgpu_queue_error error;
} injected = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_uint open_devices;

void fake_inject(enum mxgpu_queue_error_code code, enum mxgpu_fault fault,
                 enum mxgpu_access access, uint64_t addr)
{
    pthread_mutex_lock(&injected.lock);
    injected.armed = true;
    injected.error = (struct mxgpu_queue_error){
        .code = code, .fault = fault, .access = access, .fault_addr = addr,
    };
    pthread_mutex_unlock(&injected.lock);
}

unsigned fake_open_devices(void)
{
    return open_devices;
}

/* ---- queues ---- */

typedef struct FakeQueue {
    KmdQueue pub;
    FakeDevice *fdev;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t rung, raised;
    uint64_t write_index;
    uint32_t irqs;
    volatile bool stop;
} FakeQueue;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint64_t fake_clock(KmdDevice *dev)
{
    return now_ns();
}

static void raise_irq(FakeQueue *q)
{
    pthread_mutex_lock(&q->lock);
    q->irqs++;
    pthread_cond_broadcast(&q->raised);
    pthread_mutex_unlock(&q->lock);
}

/* Bytes to the end of the page: beyond it another mapping may begin. */
static uint64_t to_page_end(uint64_t va, uint64_t size)
{
    uint64_t room = KMD_PAGE_SIZE - va % KMD_PAGE_SIZE;

    return size < room ? size : room;
}

static bool run_copy(FakeQueue *q, const struct mxgpu_packet_copy *p,
                     struct mxgpu_queue_error *e)
{
    for (uint64_t at = 0, n; at < p->size; at += n) {
        n = to_page_end(p->src + at, to_page_end(p->dst + at, p->size - at));
        void *src = fake_translate(q->fdev, p->src + at, n, MXGPU_PTE_READ, e);
        void *dst = src ? fake_translate(q->fdev, p->dst + at, n,
                                         MXGPU_PTE_WRITE, e) : NULL;

        if (!dst) {
            return false;
        }
        memmove(dst, src, n);
    }
    return true;
}

static bool run_fill(FakeQueue *q, const struct mxgpu_packet_fill *p,
                     struct mxgpu_queue_error *e)
{
    uint32_t n = p->pattern_size;

    if (n == 0 || n > 16 || n & (n - 1) || p->dst % n || p->size % n) {
        e->code = MXGPU_QERR_PACKET;
        e->field = offsetof(struct mxgpu_packet_fill, pattern_size);
        return false;
    }
    for (uint64_t at = 0, size; at < p->size; at += size) {
        size = to_page_end(p->dst + at, p->size - at);
        uint8_t *dst = fake_translate(q->fdev, p->dst + at, size,
                                      MXGPU_PTE_WRITE, e);
        if (!dst) {
            return false;
        }
        for (uint64_t i = 0; i < size; i++) {
            dst[i] = p->pattern[(at + i) % n];
        }
    }
    return true;
}

/* Rows as packets of their own. */
static bool run_copy_rect(FakeQueue *q, const struct mxgpu_packet_copy_rect *p,
                          struct mxgpu_queue_error *e)
{
    uint64_t reach;

    if (mxgpu_rect_reach(p->width, p->height, p->depth, p->src_pitch,
                         p->src_slice, &reach) != MXGPU_RECT_OK ||
        mxgpu_rect_reach(p->width, p->height, p->depth, p->dst_pitch,
                         p->dst_slice, &reach) != MXGPU_RECT_OK) {
        e->code = MXGPU_QERR_PACKET;
        return false;
    }
    for (uint64_t i = 0; i < (uint64_t)p->height * p->depth; i++) {
        uint64_t y = i % p->height, z = i / p->height;
        struct mxgpu_packet_copy row = {
            .src = p->src + (z * p->src_slice + y) * p->src_pitch,
            .dst = p->dst + (z * p->dst_slice + y) * p->dst_pitch,
            .size = p->width,
        };

        if (!run_copy(q, &row, e)) {
            return false;
        }
    }
    return true;
}

static bool run_fill_rect(FakeQueue *q, const struct mxgpu_packet_fill_rect *p,
                          struct mxgpu_queue_error *e)
{
    uint64_t reach;

    if (mxgpu_rect_reach(p->width, p->height, p->depth, p->pitch, p->slice,
                         &reach) != MXGPU_RECT_OK) {
        e->code = MXGPU_QERR_PACKET;
        return false;
    }
    for (uint64_t i = 0; i < (uint64_t)p->height * p->depth; i++) {
        uint64_t y = i % p->height, z = i / p->height;
        uint64_t dst = p->dst + (z * p->slice + y) * p->pitch;

        for (uint64_t x = 0; x < p->width; x++) {
            uint8_t *byte = fake_translate(q->fdev, dst + x, 1,
                                           MXGPU_PTE_WRITE, e);
            if (!byte) {
                return false;
            }
            *byte = p->pattern[x % 16];
        }
    }
    return true;
}

static bool wait_met(uint64_t now, const struct mxgpu_packet_wait *p)
{
    uint64_t v = p->value;
    uint64_t mask = p->size == 4 ? UINT32_MAX : UINT64_MAX;

    switch (p->cond) {
    case MXGPU_WAIT_GEQ:
        return p->size == 4 ? (int32_t)(uint32_t)(now - v) >= 0
                            : (int64_t)(now - v) >= 0;
    case MXGPU_WAIT_EQ:
        return now == (v & mask);
    case MXGPU_WAIT_AND:
        return (now & v & mask) != 0;
    default:
        return (~(now | v) & mask) != 0;
    }
}

static bool run_wait(FakeQueue *q, const struct mxgpu_packet_wait *p,
                     struct mxgpu_queue_error *e)
{
    void *word = fake_translate(q->fdev, p->addr, p->size, MXGPU_PTE_READ, e);

    if (!word) {
        return false;
    }
    for (;;) {
        uint64_t now = p->size == 4
                           ? __atomic_load_n((uint32_t *)word,
                                             __ATOMIC_ACQUIRE)
                           : __atomic_load_n((uint64_t *)word,
                                             __ATOMIC_ACQUIRE);
        if (wait_met(now, p)) {
            return true;
        }
        if (__atomic_load_n(&q->stop, __ATOMIC_RELAXED)) {
            return fake_fault(e, MXGPU_FAULT_ABORTED, 0, 0);
        }
        usleep(20);
    }
}

static bool run_dispatch(FakeQueue *q, const struct mxgpu_packet_dispatch *p,
                         struct mxgpu_queue_error *e)
{
    struct mxgpu_kernel_desc *desc = fake_translate(
        q->fdev, p->kernel, sizeof(*desc), MXGPU_PTE_READ, e);
    char *name = desc ? fake_translate(q->fdev, desc->name, 1, MXGPU_PTE_READ,
                                       e) : NULL;

    if (!desc || !name || desc->magic != MXGPU_KERNEL_MAGIC) {
        e->code = MXGPU_QERR_KERNEL;
        return false;
    }
    if (p->args % 16) {
        e->code = MXGPU_QERR_PACKET;
        e->field = offsetof(struct mxgpu_packet_dispatch, args);
        return false;
    }
    return fake_kernel(q->fdev, p, name, &q->stop, e);
}

static bool run_list(FakeQueue *q, const struct mxgpu_packet_indirect *p,
                     struct mxgpu_queue_error *e);

static bool execute(FakeQueue *q, const union mxgpu_packet *p,
                    struct mxgpu_queue_error *e)
{
    uint64_t *word;

    pthread_mutex_lock(&injected.lock);
    bool armed = injected.armed;
    injected.armed = false;
    if (armed) {
        *e = injected.error;
    }
    pthread_mutex_unlock(&injected.lock);
    if (armed) {
        return false;
    }
    if (p->header.flags & ~(p->header.type == MXGPU_PKT_DISPATCH
                                ? MXGPU_PKT_FLAGS | MXGPU_PKT_COOPERATIVE |
                                      MXGPU_PKT_STRICT_ALIGN
                                : MXGPU_PKT_FLAGS)) {
        e->code = MXGPU_QERR_PACKET;
        e->field = 2;
        return false;
    }
    switch (p->header.type) {
    case MXGPU_PKT_COPY:
    case MXGPU_PKT_FILL:
    case MXGPU_PKT_COPY_RECT:
    case MXGPU_PKT_FILL_RECT:
        __atomic_add_fetch(&fake.copies, 1, __ATOMIC_RELAXED);
    }
    switch (p->header.type) {
    case MXGPU_PKT_NOP:
    case MXGPU_PKT_TLB_INVALIDATE:
        return true;
    case MXGPU_PKT_COPY:
        return run_copy(q, &p->copy, e);
    case MXGPU_PKT_FILL:
        return run_fill(q, &p->fill, e);
    case MXGPU_PKT_COPY_RECT:
        return run_copy_rect(q, &p->copy_rect, e);
    case MXGPU_PKT_FILL_RECT:
        return run_fill_rect(q, &p->fill_rect, e);
    case MXGPU_PKT_DISPATCH:
        return run_dispatch(q, &p->dispatch, e);
    case MXGPU_PKT_WAIT:
        return run_wait(q, &p->wait, e);
    case MXGPU_PKT_WRITE:
        word = fake_translate(q->fdev, p->write.addr, p->write.size,
                              MXGPU_PTE_WRITE, e);
        if (word && p->write.size == 4) {
            __atomic_store_n((uint32_t *)word, (uint32_t)p->write.value,
                             __ATOMIC_RELEASE);
        } else if (word) {
            __atomic_store_n(word, p->write.value, __ATOMIC_RELEASE);
        }
        return word;
    case MXGPU_PKT_TIMESTAMP:
        word = fake_translate(q->fdev, p->timestamp.addr, 8, MXGPU_PTE_WRITE,
                              e);
        if (word) {
            __atomic_store_n(word, now_ns(), __ATOMIC_RELAXED);
        }
        return word;
    case MXGPU_PKT_INDIRECT:
        return run_list(q, &p->indirect, e);
    }
    e->code = MXGPU_QERR_PACKET;
    return false;
}

/* All packets look alike where the signal is. */
static bool complete(FakeQueue *q, const union mxgpu_packet *p,
                     struct mxgpu_queue_error *e)
{
    if (p->copy.signal_addr) {
        uint64_t *word = fake_translate(q->fdev, p->copy.signal_addr, 8,
                                        MXGPU_PTE_WRITE, e);
        if (!word) {
            e->code = MXGPU_QERR_SIGNAL;
            return false;
        }
        __atomic_store_n(word, p->copy.signal_value, __ATOMIC_RELEASE);
    }
    if (p->header.flags & MXGPU_PKT_IRQ) {
        raise_irq(q);
    }
    return true;
}

static bool run_list(FakeQueue *q, const struct mxgpu_packet_indirect *p,
                     struct mxgpu_queue_error *e)
{
    if (p->count > MXGPU_INDIRECT_MAX || p->list % MXGPU_PACKET_SIZE) {
        e->code = MXGPU_QERR_PACKET;
        return false;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        union mxgpu_packet inner;
        void *from = fake_translate(q->fdev, p->list + i * 64ull, 64,
                                    MXGPU_PTE_READ, e);

        if (!from) {
            e->code = MXGPU_QERR_FETCH;
            e->inner = i + 1;
            return false;
        }
        memcpy(&inner, from, sizeof(inner));
        if (inner.header.type == MXGPU_PKT_INDIRECT) {
            e->code = MXGPU_QERR_PACKET;
            e->inner = i + 1;
            e->packet_type = MXGPU_PKT_INDIRECT;
            return false;
        }
        if (!execute(q, &inner, e) || !complete(q, &inner, e)) {
            e->inner = i + 1;
            e->packet_type = inner.header.type;
            return false;
        }
    }
    return true;
}

static void *queue_main(void *opaque)
{
    FakeQueue *q = opaque;
    volatile struct mxgpu_queue_ctl *ctl = q->pub.ctl;
    uint64_t index = 0;

    for (;;) {
        pthread_mutex_lock(&q->lock);
        while (q->write_index == index && !q->stop) {
            pthread_cond_wait(&q->rung, &q->lock);
        }
        uint64_t end = q->write_index;
        bool stop = q->stop;
        pthread_mutex_unlock(&q->lock);
        if (stop) {
            return NULL;
        }
        for (; index < end && !__atomic_load_n(&q->stop, __ATOMIC_RELAXED);
             index++) {
            struct mxgpu_queue_error error = {0};
            union mxgpu_packet p;

            memcpy(&p, (void *)&q->pub.ring[index & (q->pub.packets - 1)],
                   sizeof(p));
            __atomic_store_n(&ctl->read_index, index + 1, __ATOMIC_RELEASE);
            if (fake.delay_us) {
                usleep(fake.delay_us);
            }
            if (!execute(q, &p, &error) || !complete(q, &p, &error)) {
                error.packet_index = index;
                if (!error.inner) {
                    error.packet_type = p.header.type;
                }
                memcpy((void *)&ctl->error, &error, sizeof(error));
                __atomic_store_n(&ctl->state, MXGPU_QUEUE_ERROR,
                                 __ATOMIC_RELEASE);
                raise_irq(q);
                return NULL;
            }
        }
    }
}

static int fake_queue_create(KmdDevice *kdev, unsigned priority,
                             unsigned packets, KmdQueue **out)
{
    FakeDevice *dev = of(kdev);

    if (fake.fail_queues) {
        return -ENOSPC;
    }
    if (atomic_fetch_add(&dev->queues, 1) >= fake.queues) {
        atomic_fetch_sub(&dev->queues, 1);
        return -ENOSPC;
    }
    FakeQueue *q = calloc(1, sizeof(*q));
    q->fdev = dev;
    q->pub.dev = kdev;
    q->pub.packets = packets;
    q->pub.ring = calloc(packets, sizeof(union mxgpu_packet));
    q->pub.ctl = calloc(1, sizeof(struct mxgpu_queue_ctl));
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->rung, NULL);
    pthread_cond_init(&q->raised, NULL);
    pthread_create(&q->thread, NULL, queue_main, q);
    *out = &q->pub;
    return 0;
}

static unsigned fake_where(KmdDevice *kdev, uint64_t *pcs, unsigned room)
{
    return 0;
}

static int fake_queue_profile(KmdQueue *pub, const KmdProfile *profile)
{
    return -EOPNOTSUPP;
}

static int fake_queue_launch(KmdQueue *pub, uint64_t ring,
                             unsigned log2_records)
{
    return -EOPNOTSUPP;
}

static int fake_contexts(KmdDevice *dev, uint64_t addr, uint64_t size)
{
    return -EOPNOTSUPP;
}

static void fake_queue_ring(KmdQueue *pub, uint64_t index)
{
    FakeQueue *q = (FakeQueue *)pub;

    __atomic_add_fetch(&fake.rings, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&q->lock);
    uint64_t read = __atomic_load_n(&q->pub.ctl->read_index,
                                    __ATOMIC_ACQUIRE);
    if (index - read > q->pub.packets) {
        fprintf(stderr, "fake: ring overrun\n");
        abort();
    }
    q->write_index = index;
    pthread_cond_signal(&q->rung);
    pthread_mutex_unlock(&q->lock);
}

static void fake_queue_destroy(KmdQueue *pub)
{
    FakeQueue *q = (FakeQueue *)pub;

    pthread_mutex_lock(&q->lock);
    __atomic_store_n(&q->stop, true, __ATOMIC_RELAXED);
    pthread_cond_signal(&q->rung);
    pthread_mutex_unlock(&q->lock);
    pthread_join(q->thread, NULL);
    atomic_fetch_sub(&q->fdev->queues, 1);
    free((void *)q->pub.ring);
    free((void *)q->pub.ctl);
    free(q);
}

static uint32_t fake_irq_count(KmdQueue *pub)
{
    FakeQueue *q = (FakeQueue *)pub;

    pthread_mutex_lock(&q->lock);
    uint32_t count = q->irqs;
    pthread_mutex_unlock(&q->lock);
    return count;
}

static int fake_irq_wait(KmdQueue *pub, uint32_t seen, uint64_t timeout_ns)
{
    FakeQueue *q = (FakeQueue *)pub;
    struct timespec until;
    int ret = 0;

    __atomic_add_fetch(&fake.sleeps, 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&fake.lost, __ATOMIC_RELAXED)) {
        return -ENODEV;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t ns = until.tv_nsec + timeout_ns;
    until.tv_sec += ns / 1000000000ull;
    until.tv_nsec = ns % 1000000000ull;
    pthread_mutex_lock(&q->lock);
    while (q->irqs == seen && ret == 0) {
        ret = pthread_cond_timedwait(&q->raised, &q->lock, &until);
    }
    pthread_mutex_unlock(&q->lock);
    return -ret;
}

/* ---- devices ---- */

static bool fake_alive(KmdDevice *kdev, bool look)
{
    __atomic_add_fetch(&fake.looks, look, __ATOMIC_RELAXED);
    if (look && __atomic_load_n(&fake.reset, __ATOMIC_RELAXED)) {
        of(kdev)->seen_reset = true;
    }
    return !__atomic_load_n(&fake.lost, __ATOMIC_RELAXED) &&
           !of(kdev)->seen_reset;
}

static int fake_count(unsigned *count)
{
    *count = fake.count;
    return fake.count_error;
}

static int fake_open(unsigned index, KmdDevice **out)
{
    if (fake.open_error) {
        return fake.open_error;
    }
    FakeDevice *dev = calloc(1, sizeof(*dev));
    dev->index = index;
    dev->file = memfd_create("fake-vram", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (dev->file < 0 || ftruncate(dev->file, FILE_SIZE) ||
        fcntl(dev->file, F_ADD_SEALS, F_SEAL_SHRINK)) {
        abort();
    }
    pthread_rwlock_init(&dev->lock, NULL);
    atomic_fetch_add(&open_devices, 1);
    *out = (KmdDevice *)dev;
    return 0;
}

static void fake_close(KmdDevice *kdev)
{
    FakeDevice *dev = of(kdev);

    if (dev->mappings || dev->used || dev->queues) {
        fprintf(stderr, "fake: closed with %s left\n",
                dev->mappings ? "mappings" : dev->used ? "memory" : "queues");
        abort();
    }
    pthread_rwlock_destroy(&dev->lock);
    close(dev->file);
    free(dev);
    atomic_fetch_sub(&open_devices, 1);
}

static void fake_info(KmdDevice *kdev, KmdInfo *info)
{
    *info = (KmdInfo){
        .vram_size = fake.vram,
        .compute_units = 4,
        .copy_engines = 2,
        .queues = fake.queues,
        .priorities = 3,
        .vectors = 8,
        .warp_size = 64,
        .cu_threads = 2048,
        .cu_blocks = 16,
        .block_threads = 1024,
        .cu_registers = 131072,
        .cu_shared = 65536,
        .cu_private = 64ull << 20,
        .pci_bus = of(kdev)->index + 1,
        .fw_version = 0x010203,
        .simulated = true,
    };
    snprintf(info->name, sizeof(info->name), "fake %u", of(kdev)->index);
    memset(info->uuid, 0xa0 + of(kdev)->index, sizeof(info->uuid));
}

static const KmdOps fake_ops = {
    .name = "fake",
    .count = fake_count,
    .open = fake_open,
    .close = fake_close,
    .info = fake_info,
    FAKE_MEMORY_OPS,
    .queue_create = fake_queue_create,
    .queue_ring = fake_queue_ring,
    .queue_profile = fake_queue_profile,
    .queue_launch = fake_queue_launch,
    .contexts = fake_contexts,
    .where = fake_where,
    .queue_destroy = fake_queue_destroy,
    .irq_count = fake_irq_count,
    .irq_wait = fake_irq_wait,
    .alive = fake_alive,
    .clock = fake_clock,
};

int kmd_select(const KmdOps **ops)
{
    *ops = &fake_ops;
    return fake.select_error;
}
