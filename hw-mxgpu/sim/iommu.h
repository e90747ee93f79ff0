/* SPDX-License-Identifier: MIT */
/*
 * Ranges of device (bus) addresses that stand for process memory, which do
 * not overlap: a tree of the C library, so that any number of them costs
 * little. Any number of readers at once.
 */
#ifndef MXGPU_SIM_IOMMU_H
#define MXGPU_SIM_IOMMU_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MxgpuSimRange {
    uint64_t iova, size;
    uint8_t *ptr;
} MxgpuSimRange;

typedef struct MxgpuSimIommu {
    pthread_rwlock_t lock;
    void *ranges; /* of tsearch() */
} MxgpuSimIommu;

void mxgpu_sim_iommu_init(MxgpuSimIommu *iommu);
void mxgpu_sim_iommu_free(MxgpuSimIommu *iommu);
/* -EINVAL: not multiples of 4096, or wraps; -EEXIST: overlaps; -ENOMEM. */
int mxgpu_sim_iommu_add(MxgpuSimIommu *iommu, uint64_t iova, void *ptr,
                        uint64_t size);
/* -ENOENT unless exactly such a range is there. */
int mxgpu_sim_iommu_remove(MxgpuSimIommu *iommu, uint64_t iova, uint64_t size);
/* Moves bytes of any number of adjacent ranges; -EFAULT, with nothing moved,
 * where one is missing. */
int mxgpu_sim_iommu_read(MxgpuSimIommu *iommu, uint64_t addr, void *buf,
                         size_t len);
int mxgpu_sim_iommu_write(MxgpuSimIommu *iommu, uint64_t addr, const void *buf,
                          size_t len);
/* NULL unless one range has all of it. */
void *mxgpu_sim_iommu_pointer(MxgpuSimIommu *iommu, uint64_t addr, size_t len);

#endif
