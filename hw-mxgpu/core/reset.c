/* SPDX-License-Identifier: MIT */
/* Reset: every block starts again while all units are held. */
#include "internal.h"

void mxgpu_reset_state(MxgpuDevice *dev, enum mxgpu_reset_cause cause)
{
    uint32_t *status = mxgpu_reg(dev, MXGPU_RESET_STATUS);
    uint32_t count;

    mxgpu_mmu_reset(dev->mmu);
    mxgpu_compute_reset(dev);
    mxgpu_lock(dev);
    mxgpu_copy_reset(dev);
    mxgpu_fault_reset(dev);
    mxgpu_db_reset(dev);
    mxgpu_mcu_driver_reset(dev);
    mxgpu_regs_reset(dev);
    mxgpu_counters_reset(dev);
    atomic_store(&dev->mbox_pending, 0);
    dev->reset_pending = false;
    count = MXGPU_GET(MXGPU_RESET_STATUS_COUNT, *status);
    if (cause != MXGPU_RESET_POWER_ON) {
        count++;
    }
    *status = MXGPU_SET(MXGPU_RESET_STATUS_CAUSE, cause) |
              MXGPU_SET(MXGPU_RESET_STATUS_COUNT, count);
    mxgpu_out_trace(dev, MXGPU_TRACE_RESET, cause, 0);
    mxgpu_unlock(dev);
}

void mxgpu_device_reset(MxgpuDevice *dev, enum mxgpu_reset_cause cause)
{
    pthread_mutex_lock(&dev->control);
    mxgpu_hold_units(dev);
    mxgpu_reset_state(dev, cause);
    mxgpu_release_units(dev);
    pthread_mutex_unlock(&dev->control);
}

bool mxgpu_control_step(void *opaque, unsigned index, unsigned budget,
                        uint64_t *deadline)
{
    MxgpuDevice *dev = opaque;
    bool pending;

    mxgpu_lock(dev);
    pending = dev->reset_pending;
    mxgpu_unlock(dev);
    if (pending) {
        mxgpu_device_reset(dev, MXGPU_RESET_HOST);
    }
    return false;
}
