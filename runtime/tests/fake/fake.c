/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "fake.h"

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

/* The nth call from now. */
static bool counted_failure(int *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED) > 0 &&
           __atomic_sub_fetch(counter, 1, __ATOMIC_RELAXED) == 0;
}

/* ---- memory ---- */

typedef struct Mapping {
    struct Mapping *next;
    uint64_t va, size, perms;
    uint8_t *memory;
} Mapping;

struct KmdBo {
    FakeDevice *dev;
    uint8_t *memory;
    uint64_t size, offset; /* offset: in the device's file */
    bool vram;
    atomic_int mappings;
};

/* VRAM: a sparse file, used from its start and never again. */
#define FILE_SIZE (1ull << 42)

struct FakeDevice {
    unsigned index;
    int file;
    atomic_ullong file_used;
    pthread_rwlock_t lock; /* of the mappings */
    Mapping *mappings;
    atomic_ullong used;
    atomic_uint queues;
    atomic_bool seen_reset;
};

static FakeDevice *of(KmdDevice *dev)
{
    return (FakeDevice *)dev;
}

static int fake_alloc(KmdDevice *kdev, uint64_t size, KmdBo **out)
{
    FakeDevice *dev = of(kdev);

    if (size == 0 || size % KMD_PAGE_SIZE) {
        return -EINVAL;
    }
    if (counted_failure(&fake.fail_alloc)) {
        return -ENOMEM;
    }
    if (atomic_fetch_add(&dev->used, size) + size > fake.vram) {
        atomic_fetch_sub(&dev->used, size);
        return -ENOMEM;
    }
    KmdBo *bo = calloc(1, sizeof(*bo));
    bo->dev = dev;
    bo->size = size;
    bo->vram = true;
    bo->offset = atomic_fetch_add(&dev->file_used, size);
    bo->memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE, dev->file, bo->offset);
    if (bo->memory == MAP_FAILED) {
        fprintf(stderr, "fake: no memory\n");
        abort();
    }
    *out = bo;
    return 0;
}

static int fake_pin(KmdDevice *kdev, void *ptr, uint64_t size, KmdBo **out)
{
    if ((uintptr_t)ptr % KMD_PAGE_SIZE || size == 0 || size % KMD_PAGE_SIZE) {
        return -EINVAL;
    }
    if (counted_failure(&fake.fail_pin)) {
        return -ENOMEM;
    }
    /* Memory that is not there cannot be pinned. */
    unsigned char *vec = malloc(size / KMD_PAGE_SIZE);
    int ret = mincore(ptr, size, vec);
    free(vec);
    if (ret) {
        return -EFAULT;
    }
    KmdBo *bo = calloc(1, sizeof(*bo));
    bo->dev = of(kdev);
    bo->memory = ptr;
    bo->size = size;
    *out = bo;
    return 0;
}

static void fake_free(KmdBo *bo)
{
    if (bo->mappings) {
        fprintf(stderr, "fake: bo freed while mapped\n");
        abort();
    }
    if (bo->vram) {
        munmap(bo->memory, bo->size);
        fallocate(bo->dev->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  bo->offset, bo->size);
        atomic_fetch_sub(&bo->dev->used, bo->size);
    }
    free(bo);
}

static void *fake_cpu(KmdBo *bo)
{
    return bo->memory;
}

static void fake_memory(KmdDevice *kdev, uint64_t *free_bytes, uint64_t *total)
{
    *total = fake.vram;
    *free_bytes = fake.vram - atomic_load(&of(kdev)->used);
}

static int fake_map(KmdBo *bo, uint64_t va, uint64_t offset, uint64_t size,
                    uint64_t perms)
{
    FakeDevice *dev = bo->dev;

    if (va % KMD_PAGE_SIZE || offset % KMD_PAGE_SIZE || size == 0 ||
        size % KMD_PAGE_SIZE || va + size > MXGPU_VA_LIMIT ||
        offset + size > bo->size) {
        return -EINVAL;
    }
    if (counted_failure(&fake.fail_map)) {
        return -ENOMEM;
    }
    if (bo->vram && (va | offset | size) % KMD_LARGE_PAGE_SIZE) {
        __atomic_add_fetch(&fake.small_maps, 1, __ATOMIC_RELAXED);
    }
    pthread_rwlock_wrlock(&dev->lock);
    for (Mapping *m = dev->mappings; m; m = m->next) {
        if (va < m->va + m->size && m->va < va + size) {
            pthread_rwlock_unlock(&dev->lock);
            return -EEXIST;
        }
    }
    Mapping *m = calloc(1, sizeof(*m));
    *m = (Mapping){dev->mappings, va, size, perms, bo->memory + offset};
    dev->mappings = m;
    pthread_rwlock_unlock(&dev->lock);
    atomic_fetch_add(&bo->mappings, size / KMD_PAGE_SIZE);
    return 0;
}

/* Who owns the pages is found again by their address. */
static KmdBo *bo_list[65536];
static pthread_mutex_t bo_lock = PTHREAD_MUTEX_INITIALIZER;

static int fake_unmap(KmdDevice *kdev, uint64_t va, uint64_t size)
{
    FakeDevice *dev = of(kdev);

    pthread_rwlock_wrlock(&dev->lock);
    for (Mapping **p = &dev->mappings; *p;) {
        Mapping *m = *p;

        if (m->va >= va && m->va + m->size <= va + size) {
            *p = m->next;
            pthread_mutex_lock(&bo_lock);
            for (unsigned i = 0; i < 65536; i++) {
                KmdBo *bo = bo_list[i];

                if (bo && bo->dev == dev && m->memory >= bo->memory &&
                    m->memory < bo->memory + bo->size && bo->mappings) {
                    atomic_fetch_sub(&bo->mappings, m->size / KMD_PAGE_SIZE);
                    break;
                }
            }
            pthread_mutex_unlock(&bo_lock);
            free(m);
        } else {
            p = &m->next;
        }
    }
    pthread_rwlock_unlock(&dev->lock);
    return 0;
}

static void bo_remember(KmdBo *bo, bool add)
{
    pthread_mutex_lock(&bo_lock);
    for (unsigned i = 0; i < 65536; i++) {
        if (bo_list[i] == (add ? NULL : bo)) {
            bo_list[i] = add ? bo : NULL;
            break;
        }
    }
    pthread_mutex_unlock(&bo_lock);
}

static int alloc_op(KmdDevice *dev, uint64_t size, KmdBo **bo)
{
    int ret = fake_alloc(dev, size, bo);

    if (!ret) {
        bo_remember(*bo, true);
    }
    return ret;
}

static int pin_op(KmdDevice *dev, void *ptr, uint64_t size, KmdBo **bo)
{
    int ret = fake_pin(dev, ptr, size, bo);

    if (!ret) {
        bo_remember(*bo, true);
    }
    return ret;
}

static int peer_op(KmdDevice *kdev, KmdBo *of_bo, uint64_t offset,
                   uint64_t size, KmdBo **out)
{
    if ((offset | size) % KMD_PAGE_SIZE || size == 0 || offset > of_bo->size ||
        size > of_bo->size - offset) {
        return -EINVAL;
    }
    if (fake.no_peers && of_bo->vram) {
        return -EOPNOTSUPP;
    }
    if (counted_failure(&fake.fail_pin)) {
        return -ENOMEM;
    }
    KmdBo *bo = calloc(1, sizeof(*bo));
    bo->dev = of(kdev);
    bo->memory = of_bo->memory + offset;
    bo->size = size;
    *out = bo;
    bo_remember(bo, true);
    return 0;
}

static bool reaches_op(KmdDevice *dev, KmdDevice *other)
{
    return dev == other || !fake.no_peers;
}

static int share_op(KmdBo *bo, int *fd, uint64_t *offset)
{
    if (!bo->vram || fake.no_files) {
        return -EOPNOTSUPP;
    }
    *fd = bo->dev->file;
    *offset = bo->offset;
    return 0;
}

static void free_op(KmdBo *bo)
{
    bo_remember(bo, false);
    fake_free(bo);
}

/* The object is kept in a page before the memory. */
static int shared_alloc_op(KmdDevice *dev, uint64_t size, void **memory)
{
    uint8_t *page = mmap(NULL, size + KMD_PAGE_SIZE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *data = page + KMD_PAGE_SIZE;
    KmdBo *bo;

    if (page == MAP_FAILED) {
        return -ENOMEM;
    }
    int ret = pin_op(dev, data, size, &bo);
    if (!ret) {
        ret = fake_map(bo, (uintptr_t)data, 0, size,
                       MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC);
        if (!ret) {
            *(KmdBo **)(void *)page = bo;
            *memory = data;
            return 0;
        }
        free_op(bo);
    }
    munmap(page, size + KMD_PAGE_SIZE);
    return ret;
}

static void shared_free_op(KmdDevice *dev, void *memory, uint64_t size)
{
    uint8_t *page = (uint8_t *)memory - KMD_PAGE_SIZE;

    fake_unmap(dev, (uintptr_t)memory, size);
    free_op(*(KmdBo **)(void *)page);
    munmap(page, size + KMD_PAGE_SIZE);
}

static bool fault(struct mxgpu_queue_error *error, enum mxgpu_fault code,
                  uint64_t va, uint64_t perms)
{
    error->code = MXGPU_QERR_FAULT;
    error->fault = code;
    error->fault_addr = va;
    error->access = perms & MXGPU_PTE_EXECUTE  ? MXGPU_ACCESS_EXECUTE
                    : perms & MXGPU_PTE_ATOMIC ? MXGPU_ACCESS_ATOMIC
                    : perms & MXGPU_PTE_WRITE  ? MXGPU_ACCESS_WRITE
                                               : MXGPU_ACCESS_READ;
    return false;
}

void *fake_translate(FakeDevice *dev, uint64_t va, uint64_t size,
                     uint64_t perms, struct mxgpu_queue_error *error)
{
    void *result = NULL;
    bool present = false;

    pthread_rwlock_rdlock(&dev->lock);
    for (Mapping *m = dev->mappings; m; m = m->next) {
        if (va >= m->va && va < m->va + m->size) {
            present = true;
            if ((m->perms & perms) == perms && size <= m->va + m->size - va) {
                result = m->memory + (va - m->va);
            }
        }
    }
    pthread_rwlock_unlock(&dev->lock);
    if (!result) {
        fault(error, present ? MXGPU_FAULT_PERMISSION
                             : MXGPU_FAULT_NOT_PRESENT, va, perms);
    }
    return result;
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
            return fault(e, MXGPU_FAULT_ABORTED, 0, 0);
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

static void fake_queue_ring(KmdQueue *pub, uint64_t index)
{
    FakeQueue *q = (FakeQueue *)pub;

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
    .alloc = alloc_op,
    .pin = pin_op,
    .peer = peer_op,
    .reaches = reaches_op,
    .share = share_op,
    .free = free_op,
    .cpu = fake_cpu,
    .memory = fake_memory,
    .map = fake_map,
    .unmap = fake_unmap,
    .shared_alloc = shared_alloc_op,
    .shared_free = shared_free_op,
    .queue_create = fake_queue_create,
    .queue_ring = fake_queue_ring,
    .queue_profile = fake_queue_profile,
    .queue_launch = fake_queue_launch,
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
