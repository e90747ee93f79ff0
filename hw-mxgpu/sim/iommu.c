/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "iommu.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/single.h"

#define PAGE_MASK 4095ull

void mxgpu_sim_iommu_init(MxgpuSimIommu *iommu)
{
    pthread_rwlockattr_t attr;

    memset(iommu, 0, sizeof(*iommu));
    pthread_rwlockattr_init(&attr);
    /* Units read all the time; a driver that unmaps must get its turn. */
    pthread_rwlockattr_setkind_np(
        &attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&iommu->lock, &attr);
    pthread_rwlockattr_destroy(&attr);
}

void mxgpu_sim_iommu_free(MxgpuSimIommu *iommu)
{
    pthread_rwlock_destroy(&iommu->lock);
    tdestroy(iommu->ranges, free);
}

/* Ranges that overlap are equal. One may end at 2^64: by its last byte. */
static int compare(const void *left, const void *right)
{
    const MxgpuSimRange *a = left, *b = right;

    if (a->iova + (a->size - 1) < b->iova) {
        return -1;
    }
    return b->iova + (b->size - 1) < a->iova;
}

/* One that overlaps [addr, addr + size), or NULL. */
static MxgpuSimRange *find(const MxgpuSimIommu *iommu, uint64_t addr,
                           uint64_t size)
{
    MxgpuSimRange key = {.iova = addr, .size = size};
    MxgpuSimRange *const *node = tfind(&key, &iommu->ranges, compare);

    return node ? *node : NULL;
}

int mxgpu_sim_iommu_add(MxgpuSimIommu *iommu, uint64_t iova, void *ptr,
                        uint64_t size)
{
    MxgpuSimRange *range, **node;
    int err = 0;

    if (!ptr || !size || (iova | size | (uintptr_t)ptr) & PAGE_MASK ||
        iova + (size - 1) < iova ||
        (uintptr_t)ptr + (size - 1) < (uintptr_t)ptr) {
        return -EINVAL;
    }
    range = malloc(sizeof(*range));
    if (!range) {
        return -ENOMEM;
    }
    *range = (MxgpuSimRange){iova, size, ptr};
    pthread_rwlock_wrlock(&iommu->lock);
    node = tsearch(range, &iommu->ranges, compare);
    pthread_rwlock_unlock(&iommu->lock);
    if (!node) {
        err = -ENOMEM;
    } else if (*node != range) {
        err = -EEXIST;
    }
    if (err) {
        free(range);
    }
    return err;
}

int mxgpu_sim_iommu_remove(MxgpuSimIommu *iommu, uint64_t iova, uint64_t size)
{
    MxgpuSimRange *range;

    if (!size || iova + (size - 1) < iova) {
        return -ENOENT;
    }
    pthread_rwlock_wrlock(&iommu->lock);
    range = find(iommu, iova, size);
    if (range && (range->iova != iova || range->size != size)) {
        range = NULL;
    }
    if (range) {
        tdelete(range, &iommu->ranges, compare);
    }
    pthread_rwlock_unlock(&iommu->lock);
    free(range);
    return range ? 0 : -ENOENT;
}

/* Whether ranges without a gap cover [addr, +len). */
static bool covered(const MxgpuSimIommu *iommu, uint64_t addr, size_t len)
{
    while (len) {
        const MxgpuSimRange *r = find(iommu, addr, 1);
        uint64_t left;

        if (!r) {
            return false;
        }
        left = r->size - (addr - r->iova);
        if (len <= left) {
            return true;
        }
        addr += left;
        len -= left;
        if (!addr) {
            return false; /* wrapped */
        }
    }
    return true;
}

static int move(MxgpuSimIommu *iommu, uint64_t addr, uint8_t *buf, size_t len,
                bool write)
{
    int err = -EFAULT;

    pthread_rwlock_rdlock(&iommu->lock);
    if (covered(iommu, addr, len)) {
        for (err = 0; len;) {
            const MxgpuSimRange *r = find(iommu, addr, 1);
            uint64_t left = r->size - (addr - r->iova);
            size_t n = len < left ? len : left;

            if (write) {
                mxgpu_copy_single(r->ptr + (addr - r->iova), buf, n, false);
            } else {
                mxgpu_copy_single(buf, r->ptr + (addr - r->iova), n, true);
            }
            addr += n;
            buf += n;
            len -= n;
        }
    }
    pthread_rwlock_unlock(&iommu->lock);
    return err;
}

int mxgpu_sim_iommu_read(MxgpuSimIommu *iommu, uint64_t addr, void *buf,
                         size_t len)
{
    return move(iommu, addr, buf, len, false);
}

int mxgpu_sim_iommu_write(MxgpuSimIommu *iommu, uint64_t addr, const void *buf,
                          size_t len)
{
    return move(iommu, addr, (uint8_t *)buf, len, true);
}

void *mxgpu_sim_iommu_pointer(MxgpuSimIommu *iommu, uint64_t addr, size_t len)
{
    const MxgpuSimRange *r;
    uint8_t *p = NULL;

    pthread_rwlock_rdlock(&iommu->lock);
    r = find(iommu, addr, 1);
    if (r && len <= r->size - (addr - r->iova)) {
        p = r->ptr + (addr - r->iova);
    }
    pthread_rwlock_unlock(&iommu->lock);
    return p;
}
