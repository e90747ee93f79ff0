/* SPDX-License-Identifier: MIT */
/* Chains of the front end: what slots know of them. front.c runs them. */
#include "internal.h"

static uint32_t chain_reg(unsigned slot)
{
    return MXGPU_FE_CHAIN + slot * MXGPU_FE_CHAIN_STRIDE;
}

bool mxgpu_fe_chains(MxgpuDevice *dev, unsigned slot)
{
    return MXGPU_GET(MXGPU_FE_CHAIN_LEFT,
                     *mxgpu_reg(dev, chain_reg(slot))) != 0;
}

void mxgpu_fe_break(MxgpuDevice *dev, unsigned slot)
{
    uint32_t bit = 1u << slot;

    *mxgpu_reg(dev, chain_reg(slot)) &= ~MXGPU_FE_CHAIN_LEFT_MASK;
    if (atomic_fetch_and(&dev->chain_pending, ~bit) & bit) {
        atomic_fetch_or(&dev->dispatch_pending, bit);
        mxgpu_wake(dev, MXGPU_STEPPER_MCU);
    }
}

void mxgpu_fe_forget(MxgpuDevice *dev, unsigned slot)
{
    *mxgpu_reg(dev, MXGPU_FE_JOB + slot * MXGPU_FE_JOB_STRIDE) = 0;
    *mxgpu_reg(dev, chain_reg(slot)) = 0;
}
