/* SPDX-License-Identifier: MIT */
/* Registers of the MMU, by which the firmware tells it of page tables. */
#include "internal.h"

void mxgpu_mmu_root_write(MxgpuDevice *dev, const MxgpuAccess *a,
                          uint32_t value)
{
    *mxgpu_reg(dev, a->offset) = value;
    mxgpu_mmu_set_root(dev->mmu, a->index, mxgpu_reg64(dev, a->offset - 4));
    mxgpu_out_trace(dev, MXGPU_TRACE_INVALIDATE, a->index, 0);
}

/* Every TLB is dropped as a whole: no stale entry is kept, and an entry that
 * was dropped without need is loaded again. */
void mxgpu_mmu_inv_write(MxgpuDevice *dev, const MxgpuAccess *a,
                         uint32_t value)
{
    mxgpu_mmu_invalidate(dev->mmu);
    mxgpu_out_trace(dev, MXGPU_TRACE_INVALIDATE, value, 0);
}

uint32_t mxgpu_mmu_inv_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return MXGPU_SET(MXGPU_MMU_INV_STATUS_BUSY,
                     mxgpu_mmu_invalidate_busy(dev->mmu));
}
