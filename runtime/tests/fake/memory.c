/* SPDX-License-Identifier: MIT */
/* Memory of fake devices: files, and lists of what is mapped where. */
#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <unistd.h>

#include "mxgpu/pte.h"

struct KmdBo {
    FakeDevice *dev;
    uint8_t *memory;
    uint64_t size, offset; /* offset: in the device's file */
    bool vram;
    atomic_int mappings;
};

/* The nth call from now. */
static bool counted_failure(int *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED) > 0 &&
           __atomic_sub_fetch(counter, 1, __ATOMIC_RELAXED) == 0;
}

static int alloc_plain(KmdDevice *kdev, uint64_t size, KmdBo **out)
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

static int pin_plain(KmdDevice *kdev, void *ptr, uint64_t size, KmdBo **out)
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

static void free_plain(KmdBo *bo)
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

void *fake_cpu(KmdBo *bo)
{
    return bo->memory;
}

void fake_memory(KmdDevice *kdev, uint64_t *free_bytes, uint64_t *total)
{
    *total = fake.vram;
    *free_bytes = fake.vram - atomic_load(&of(kdev)->used);
}

int fake_map(KmdBo *bo, uint64_t va, uint64_t offset, uint64_t size,
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

static void forget_pages(FakeDevice *dev, const uint8_t *memory, uint64_t size)
{
    pthread_mutex_lock(&bo_lock);
    for (unsigned i = 0; i < 65536; i++) {
        KmdBo *bo = bo_list[i];

        if (bo && bo->dev == dev && memory >= bo->memory &&
            memory < bo->memory + bo->size && bo->mappings) {
            atomic_fetch_sub(&bo->mappings, size / KMD_PAGE_SIZE);
            break;
        }
    }
    pthread_mutex_unlock(&bo_lock);
}

int fake_unmap(KmdDevice *kdev, uint64_t va, uint64_t size)
{
    FakeDevice *dev = of(kdev);

    pthread_rwlock_wrlock(&dev->lock);
    for (Mapping **p = &dev->mappings; *p;) {
        Mapping *m = *p;

        if (m->va >= va && m->va + m->size <= va + size) {
            *p = m->next;
            forget_pages(dev, m->memory, m->size);
            free(m);
        } else {
            p = &m->next;
        }
    }
    pthread_rwlock_unlock(&dev->lock);
    return 0;
}

static void add_mapping(FakeDevice *dev, Mapping mapping)
{
    Mapping *m = calloc(1, sizeof(*m));

    *m = mapping;
    m->next = dev->mappings;
    dev->mappings = m;
}

/* Under the lock: cuts a hole, which is all mapped, or returns false. */
static bool cut_hole(FakeDevice *dev, uint64_t va, uint64_t end)
{
    uint64_t bytes = 0;

    for (Mapping *m = dev->mappings; m; m = m->next) {
        uint64_t from = MAX(m->va, va), to = MIN(m->va + m->size, end);

        bytes += from < to ? to - from : 0;
    }
    if (bytes != end - va) {
        return false;
    }
    for (Mapping **p = &dev->mappings; *p;) {
        Mapping *m = *p, old = *m;
        uint64_t from = MAX(m->va, va), to = MIN(m->va + m->size, end);

        if (from >= to) {
            p = &m->next;
            continue;
        }
        *p = m->next;
        free(m);
        forget_pages(dev, old.memory + (from - old.va), to - from);
        if (to < old.va + old.size) {
            add_mapping(dev, (Mapping){NULL, to, old.va + old.size - to,
                                       old.perms, old.memory + (to - old.va)});
        }
        if (old.va < from) {
            add_mapping(dev, (Mapping){NULL, old.va, from - old.va, old.perms,
                                       old.memory});
        }
        p = &dev->mappings;
    }
    return true;
}

int fake_replace(KmdDevice *kdev, const KmdPlace *places, unsigned count)
{
    FakeDevice *dev = of(kdev);
    int ret = 0;

    if (counted_failure(&fake.fail_map)) {
        return -ENOMEM;
    }
    pthread_rwlock_wrlock(&dev->lock);
    for (unsigned i = 0; i < count && !ret; i++) {
        const KmdPlace *p = &places[i];

        if (p->offset + p->size > p->bo->size ||
            !cut_hole(dev, p->va, p->va + p->size)) {
            ret = -EINVAL;
            break;
        }
        add_mapping(dev, (Mapping){NULL, p->va, p->size, p->perms,
                                   p->bo->memory + p->offset});
        atomic_fetch_add(&p->bo->mappings, p->size / KMD_PAGE_SIZE);
    }
    pthread_rwlock_unlock(&dev->lock);
    return ret;
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

int fake_alloc(KmdDevice *dev, uint64_t size, KmdBo **bo)
{
    int ret = alloc_plain(dev, size, bo);

    if (!ret) {
        bo_remember(*bo, true);
    }
    return ret;
}

int fake_pin(KmdDevice *dev, void *ptr, uint64_t size, KmdBo **bo)
{
    int ret = pin_plain(dev, ptr, size, bo);

    if (!ret) {
        bo_remember(*bo, true);
    }
    return ret;
}

int fake_peer(KmdDevice *kdev, KmdBo *of_bo, uint64_t offset,
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

bool fake_reaches(KmdDevice *dev, KmdDevice *other)
{
    return dev == other || !fake.no_peers;
}

int fake_share(KmdBo *bo, int *fd, uint64_t *offset)
{
    if (!bo->vram || fake.no_files) {
        return -EOPNOTSUPP;
    }
    *fd = bo->dev->file;
    *offset = bo->offset;
    return 0;
}

void fake_free(KmdBo *bo)
{
    bo_remember(bo, false);
    free_plain(bo);
}

/* The object is kept in a page before the memory. */
int fake_shared_alloc(KmdDevice *dev, uint64_t size, void **memory)
{
    uint8_t *page = mmap(NULL, size + KMD_PAGE_SIZE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *data = page + KMD_PAGE_SIZE;
    KmdBo *bo;

    if (page == MAP_FAILED) {
        return -ENOMEM;
    }
    int ret = fake_pin(dev, data, size, &bo);
    if (!ret) {
        ret = fake_map(bo, (uintptr_t)data, 0, size,
                       MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC);
        if (!ret) {
            *(KmdBo **)(void *)page = bo;
            *memory = data;
            return 0;
        }
        fake_free(bo);
    }
    munmap(page, size + KMD_PAGE_SIZE);
    return ret;
}

void fake_shared_free(KmdDevice *dev, void *memory, uint64_t size)
{
    uint8_t *page = (uint8_t *)memory - KMD_PAGE_SIZE;

    fake_unmap(dev, (uintptr_t)memory, size);
    fake_free(*(KmdBo **)(void *)page);
    munmap(page, size + KMD_PAGE_SIZE);
}

bool fake_fault(struct mxgpu_queue_error *error, enum mxgpu_fault code,
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
        fake_fault(error, present ? MXGPU_FAULT_PERMISSION
                                  : MXGPU_FAULT_NOT_PRESENT, va, perms);
    }
    return result;
}
