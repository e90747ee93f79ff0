/* SPDX-License-Identifier: MIT */
/* Host interrupt causes, the error latch, and the MCU's interrupt sources. */
#include "internal.h"

void mxgpu_irq_set(MxgpuDevice *dev, uint32_t bits)
{
    uint32_t *status = mxgpu_reg(dev, MXGPU_IRQ_STATUS);
    uint32_t rising = bits & ~*status;

    *status |= bits;
    if (rising & *mxgpu_reg(dev, MXGPU_IRQ_ENABLE)) {
        mxgpu_out_vector(dev, 0);
    }
}

void mxgpu_irq_enable_write(MxgpuDevice *dev, const MxgpuAccess *a,
                            uint32_t value)
{
    uint32_t *enable = mxgpu_reg(dev, MXGPU_IRQ_ENABLE);
    uint32_t rising = value & ~*enable;

    *enable = value;
    if (rising & *mxgpu_reg(dev, MXGPU_IRQ_STATUS)) {
        mxgpu_out_vector(dev, 0);
    }
}

void mxgpu_err_set(MxgpuDevice *dev, uint32_t bit, uint32_t info, uint64_t addr)
{
    uint32_t *status = mxgpu_reg(dev, MXGPU_ERR_STATUS);
    uint32_t *count = mxgpu_reg(dev, MXGPU_ERR_COUNT);

    if (!*status) {
        *mxgpu_reg(dev, MXGPU_ERR_INFO) = info;
        mxgpu_set_reg64(dev, MXGPU_ERR_ADDR_LO, addr);
    }
    if (*count != UINT32_MAX) {
        ++*count;
    }
    if (!(*status & bit)) {
        *status |= bit;
        mxgpu_irq_set(dev, 1u << MXGPU_IRQ_STATUS_ERROR_SHIFT);
    }
}

void mxgpu_err_fault(MxgpuDevice *dev, enum mxgpu_fault fault,
                     enum mxgpu_access access, uint64_t addr)
{
    if (fault == MXGPU_FAULT_NONE || fault == MXGPU_FAULT_ABORTED) {
        return;
    }
    mxgpu_count(dev, MXGPU_COUNTER_FAULTS, 1);
    mxgpu_out_trace(dev, MXGPU_TRACE_FAULT, addr,
                    (uint64_t)fault | (uint64_t)access << 8);
    if (fault == MXGPU_FAULT_BUS) {
        mxgpu_err_set(dev, 1u << MXGPU_ERR_STATUS_BUS_SHIFT, fault, addr);
    } else if (fault < MXGPU_FAULT_ILLEGAL) {
        mxgpu_err_set(dev, 1u << MXGPU_ERR_STATUS_FAULT_SHIFT, fault, addr);
    }
}

uint32_t mxgpu_int_pending(MxgpuDevice *dev)
{
    uint32_t doorbells = 0, slots = atomic_load(&dev->dispatch_pending);

    for (unsigned i = 0; i < MXGPU_MAX_QUEUES / 32; i++) {
        doorbells |= atomic_load(&dev->db.pending[i]);
    }
    return MXGPU_SET(MXGPU_INT_PENDING_MBOX,
                     atomic_load(&dev->mbox_pending) != 0) |
           MXGPU_SET(MXGPU_INT_PENDING_DOORBELL, doorbells != 0) |
           MXGPU_SET(MXGPU_INT_PENDING_COPY,
                     atomic_load(&dev->copy_pending) != 0) |
           MXGPU_SET(MXGPU_INT_PENDING_DISPATCH, slots != 0) |
           MXGPU_SET(MXGPU_INT_PENDING_SLOTS, slots);
}

uint32_t mxgpu_int_pending_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return mxgpu_int_pending(dev) |
           MXGPU_SET(MXGPU_INT_PENDING_TRACE, a->listens);
}

void mxgpu_msix_raise_write(MxgpuDevice *dev, const MxgpuAccess *a,
                            uint32_t value)
{
    if (value < dev->config.vectors) {
        mxgpu_out_vector(dev, value);
    } else {
        mxgpu_err_set(dev, 1u << MXGPU_ERR_STATUS_BAD_ACCESS_SHIFT, a->offset,
                      value);
    }
}

void mxgpu_event_raise_write(MxgpuDevice *dev, const MxgpuAccess *a,
                             uint32_t value)
{
    mxgpu_irq_set(dev, 1u << MXGPU_IRQ_STATUS_EVENT_SHIFT);
}

void mxgpu_bad_access(MxgpuDevice *dev, uint64_t offset, unsigned size,
                      bool write)
{
    mxgpu_lock(dev);
    mxgpu_out_trace(dev, MXGPU_TRACE_BAD_ACCESS, offset,
                    size | (unsigned)write << 8);
    mxgpu_err_set(dev, 1u << MXGPU_ERR_STATUS_BAD_ACCESS_SHIFT,
                  (uint32_t)offset, 0);
    mxgpu_unlock(dev);
}
