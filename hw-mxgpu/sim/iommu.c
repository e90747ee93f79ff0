/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "iommu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/single.h"

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
    free(iommu->ranges);
}

/* Index of the first range that ends behind addr. */
static size_t find(const MxgpuSimIommu *iommu, uint64_t addr)
{
    size_t lo = 0, hi = iommu->count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const MxgpuSimRange *r = &iommu->ranges[mid];

        /* A range may end at 2^64: compare with its last byte. */
        if (r->iova + (r->size - 1) < addr) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static int grow(MxgpuSimIommu *iommu)
{
    size_t capacity = iommu->capacity ? iommu->capacity * 2 : 64;
    MxgpuSimRange *ranges;

    if (iommu->count < iommu->capacity) {
        return 0;
    }
    ranges = realloc(iommu->ranges, capacity * sizeof(*ranges));
    if (!ranges) {
        return -ENOMEM;
    }
    iommu->ranges = ranges;
    iommu->capacity = capacity;
    return 0;
}

int mxgpu_sim_iommu_add(MxgpuSimIommu *iommu, uint64_t iova, void *ptr,
                        uint64_t size)
{
    size_t i;
    int err;

    if (!ptr || !size || (iova | size | (uintptr_t)ptr) & PAGE_MASK ||
        iova + (size - 1) < iova ||
        (uintptr_t)ptr + (size - 1) < (uintptr_t)ptr) {
        return -EINVAL;
    }
    pthread_rwlock_wrlock(&iommu->lock);
    i = find(iommu, iova);
    if (i < iommu->count && iommu->ranges[i].iova <= iova + (size - 1)) {
        err = -EEXIST;
    } else {
        err = grow(iommu);
    }
    if (!err) {
        memmove(&iommu->ranges[i + 1], &iommu->ranges[i],
                (iommu->count - i) * sizeof(*iommu->ranges));
        iommu->ranges[i] = (MxgpuSimRange){iova, size, ptr};
        iommu->count++;
    }
    pthread_rwlock_unlock(&iommu->lock);
    return err;
}

int mxgpu_sim_iommu_remove(MxgpuSimIommu *iommu, uint64_t iova, uint64_t size)
{
    int err = -ENOENT;
    size_t i;

    pthread_rwlock_wrlock(&iommu->lock);
    i = find(iommu, iova);
    if (i < iommu->count && iommu->ranges[i].iova == iova &&
        iommu->ranges[i].size == size) {
        iommu->count--;
        memmove(&iommu->ranges[i], &iommu->ranges[i + 1],
                (iommu->count - i) * sizeof(*iommu->ranges));
        err = 0;
    }
    pthread_rwlock_unlock(&iommu->lock);
    return err;
}

/* Whether ranges without a gap cover [addr, +len), from range i on. */
static bool covered(const MxgpuSimIommu *iommu, size_t i, uint64_t addr,
                    size_t len)
{
    while (len) {
        const MxgpuSimRange *r = &iommu->ranges[i];
        uint64_t left;

        if (i == iommu->count || r->iova > addr) {
            return false;
        }
        left = r->size - (addr - r->iova);
        if (len <= left) {
            return true;
        }
        addr += left;
        len -= left;
        i++;
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
    size_t i;

    pthread_rwlock_rdlock(&iommu->lock);
    i = find(iommu, addr);
    if (covered(iommu, i, addr, len)) {
        for (err = 0; len; i++) {
            const MxgpuSimRange *r = &iommu->ranges[i];
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
    uint8_t *p = NULL;
    size_t i;

    pthread_rwlock_rdlock(&iommu->lock);
    i = find(iommu, addr);
    if (i < iommu->count && iommu->ranges[i].iova <= addr) {
        const MxgpuSimRange *r = &iommu->ranges[i];

        if (len <= r->size - (addr - r->iova)) {
            p = r->ptr + (addr - r->iova);
        }
    }
    pthread_rwlock_unlock(&iommu->lock);
    return p;
}
