/* SPDX-License-Identifier: MIT */
/* Memory objects: VRAM, and process memory pinned for the device. */
#include <errno.h>
#include <stdlib.h>

#include "priv.h"

static void list_add(KmdBo *bo)
{
    KmdDevice *dev = bo->dev;

    pthread_mutex_lock(&dev->vm_lock);
    bo->next = dev->bos;
    if (bo->next) {
        bo->next->prev = bo;
    }
    dev->bos = bo;
    pthread_mutex_unlock(&dev->vm_lock);
}

static void list_remove(KmdBo *bo)
{
    KmdDevice *dev = bo->dev;

    pthread_mutex_lock(&dev->vm_lock);
    if (bo->next) {
        bo->next->prev = bo->prev;
    }
    if (bo->prev) {
        bo->prev->next = bo->next;
    } else {
        dev->bos = bo->next;
    }
    pthread_mutex_unlock(&dev->vm_lock);
}

/* Gives the memory back and ends the object. */
static void release(KmdBo *bo)
{
    if (bo->system) {
        bo->dev->t->ops->dma_unmap(bo->dev->t, bo->addr, bo->size);
    } else {
        kmd_vram_free(bo->dev, bo->addr, bo->size);
    }
    free(bo);
}

static KmdBo *bo_new(KmdDevice *dev, uint64_t size)
{
    KmdBo *bo = calloc(1, sizeof(*bo));

    if (bo) {
        bo->dev = dev;
        bo->size = size;
    }
    return bo;
}

int kmd_bo_alloc(KmdDevice *dev, uint64_t size, KmdBo **out)
{
    KmdBo *bo;

    if (size == 0 || size % KMD_PAGE_SIZE) {
        mc_error("alloc: %llu bytes are not a number of pages",
                 (unsigned long long)size);
        return -EINVAL;
    }
    if (kmd_lost(dev)) {
        return -ENODEV;
    }
    bo = bo_new(dev, size);
    if (!bo) {
        return -ENOMEM;
    }
    if (kmd_vram_alloc(dev, size, &bo->addr)) {
        mc_error("no %llu bytes of VRAM in one piece",
                 (unsigned long long)size);
        free(bo);
        return -ENOMEM;
    }
    bo->cpu = dev->t->vram + bo->addr;
    list_add(bo);
    *out = bo;
    return 0;
}

int kmd_bo_pin(KmdDevice *dev, void *ptr, uint64_t size, KmdBo **out)
{
    KmdBo *bo;
    int ret;

    if (!ptr || size == 0 ||
        (((uintptr_t)ptr | size) & (KMD_PAGE_SIZE - 1)) ||
        (uintptr_t)ptr + size < size) {
        mc_error("pin: %llu bytes at %p are not whole pages",
                 (unsigned long long)size, ptr);
        return -EINVAL;
    }
    if (kmd_lost(dev)) {
        return -ENODEV;
    }
    bo = bo_new(dev, size);
    if (!bo) {
        return -ENOMEM;
    }
    ret = dev->t->ops->dma_map(dev->t, ptr, size, &bo->addr);
    if (ret) {
        free(bo);
        return ret;
    }
    bo->system = true;
    bo->cpu = ptr;
    list_add(bo);
    *out = bo;
    return 0;
}

/*
 * The aperture of another device is memory of this process, which its IOMMU
 * maps like any other: accesses of this device then go from function to
 * function. Not every IOMMU driver takes the memory of functions.
 */
int kmd_bo_peer(KmdDevice *dev, KmdBo *of, uint64_t offset, uint64_t size,
                KmdBo **out)
{
    int ret;

    if (offset % KMD_PAGE_SIZE || offset > of->size ||
        size > of->size - offset) {
        mc_error("peer: %llu bytes from offset %llu of an object of %llu",
                 (unsigned long long)size, (unsigned long long)offset,
                 (unsigned long long)of->size);
        return -EINVAL;
    }
    if (kmd_lost(of->dev)) {
        return -ENODEV;
    }
    ret = kmd_bo_pin(dev, (uint8_t *)of->cpu + offset, size, out);
    return !ret || ret == -ENOMEM || ret == -ENODEV || ret == -EINVAL
               ? ret
               : -EOPNOTSUPP;
}

bool kmd_device_reaches(KmdDevice *dev, KmdDevice *other)
{
    KmdTransport *t = dev->t;
    uint64_t iova;

    if (dev == other) {
        return true;
    }
    if (kmd_lost(dev) || kmd_lost(other) ||
        t->ops->dma_map(t, other->t->vram, KMD_PAGE_SIZE, &iova)) {
        return false;
    }
    t->ops->dma_unmap(t, iova, KMD_PAGE_SIZE);
    return true;
}

int kmd_bo_share(KmdBo *bo, int *fd, uint64_t *offset)
{
    if (bo->system || bo->dev->t->vram_fd < 0) {
        return -EOPNOTSUPP;
    }
    *fd = bo->dev->t->vram_fd;
    *offset = bo->addr;
    return 0;
}

/* Ends all mappings of an object. */
static void unmap_all(KmdBo *bo)
{
    KmdDevice *dev = bo->dev;
    uint64_t va = 0, size = 0;
    McNode *node;

    pthread_mutex_lock(&dev->vm_lock);
    /* An error of the caller: this may take its time. */
    for (node = mc_tree_first(&dev->vm.vmas); node; node = mc_tree_next(node)) {
        KmdVma *vma = mc_container_of(node, KmdVma, node);

        if (vma->bo == bo) {
            va = vma->va;
            size = vma->size;
            break;
        }
    }
    pthread_mutex_unlock(&dev->vm_lock);
    if (size) {
        kmd_vm_unmap(dev, va, size);
    }
}

static uint64_t mapped_bytes(KmdBo *bo)
{
    uint64_t mapped;

    pthread_mutex_lock(&bo->dev->vm_lock);
    mapped = bo->mapped;
    pthread_mutex_unlock(&bo->dev->vm_lock);
    return mapped;
}

void kmd_bo_free(KmdBo *bo)
{
    uint64_t before, mapped = mapped_bytes(bo);

    if (mapped) {
        mc_error("freeing memory of which %llu bytes are still mapped",
                 (unsigned long long)mapped);
    }
    while (mapped) {
        before = mapped;
        unmap_all(bo);
        mapped = mapped_bytes(bo);
        if (mapped == before) {
            /* Out of memory for page tables: it stays mapped and allocated
             * until the device is closed, rather than being used twice. */
            return;
        }
    }
    list_remove(bo);
    release(bo);
}

void kmd_bo_free_all(KmdDevice *dev)
{
    while (dev->bos) {
        KmdBo *bo = dev->bos;

        list_remove(bo);
        release(bo);
    }
}

void *kmd_bo_cpu(KmdBo *bo)
{
    return bo->cpu;
}
