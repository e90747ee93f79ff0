/* SPDX-License-Identifier: MIT */
/* The mailbox: a request waits while MBOX_REQ and MBOX_ACK differ. */
#include "internal.h"

static void update(MxgpuDevice *dev)
{
    bool pending = *mxgpu_reg(dev, MXGPU_MBOX_REQ) !=
                   *mxgpu_reg(dev, MXGPU_MBOX_ACK);

    atomic_store(&dev->mbox_pending, pending);
    if (pending) {
        mxgpu_wake(dev, MXGPU_STEPPER_MCU);
    }
}

void mxgpu_mbox_write(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value)
{
    *mxgpu_reg(dev, a->offset) = value;
    update(dev);
    if (a->party == MXGPU_PARTY_MCU) {
        mxgpu_irq_set(dev, 1u << MXGPU_IRQ_STATUS_MBOX_SHIFT);
    }
}
