/* SPDX-License-Identifier: MIT */
/*
 * Reset, pause and resume: all of them hold every unit between two steps. The
 * control unit does what the RESET register asks for; it is not held by a
 * reset, only by a pause.
 */
#include "internal.h"

static void hold_units(MxgpuDevice *dev)
{
    for (unsigned i = MXGPU_STEPPER_MCU; i < dev->num_steppers; i++) {
        mxgpu_stepper_hold(&dev->steppers[i]);
    }
    for (unsigned i = MXGPU_STEPPER_MCU; i < dev->num_steppers; i++) {
        mxgpu_stepper_wait_held(&dev->steppers[i]);
    }
}

static void release_units(MxgpuDevice *dev)
{
    for (unsigned i = MXGPU_STEPPER_MCU; i < dev->num_steppers; i++) {
        mxgpu_stepper_release(&dev->steppers[i]);
    }
}

/* Every unit is held. */
static void reset_state(MxgpuDevice *dev, enum mxgpu_reset_cause cause)
{
    uint32_t *status = mxgpu_reg(dev, MXGPU_RESET_STATUS);
    uint32_t count;

    mxgpu_mmu_reset(dev->mmu);
    mxgpu_compute_reset(dev);
    mxgpu_lock(dev);
    mxgpu_copy_reset(dev);
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
    hold_units(dev);
    reset_state(dev, cause);
    release_units(dev);
    pthread_mutex_unlock(&dev->control);
}

void mxgpu_reset_write(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value)
{
    if (value != MXGPU_RESET_MAGIC) {
        return;
    }
    *mxgpu_reg(dev, MXGPU_RESET_STATUS) |=
        MXGPU_SET(MXGPU_RESET_STATUS_BUSY, 1);
    dev->reset_pending = true;
    mxgpu_wake(dev, MXGPU_STEPPER_CONTROL);
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

void mxgpu_device_pause(MxgpuDevice *dev)
{
    /* First the control unit, which may itself wait for the others. */
    mxgpu_stepper_hold(&dev->steppers[MXGPU_STEPPER_CONTROL]);
    mxgpu_stepper_wait_held(&dev->steppers[MXGPU_STEPPER_CONTROL]);
    pthread_mutex_lock(&dev->control);
    hold_units(dev);
    pthread_mutex_unlock(&dev->control);
}

void mxgpu_device_resume(MxgpuDevice *dev)
{
    pthread_mutex_lock(&dev->control);
    release_units(dev);
    pthread_mutex_unlock(&dev->control);
    mxgpu_stepper_release(&dev->steppers[MXGPU_STEPPER_CONTROL]);
    if (dev->config.deterministic) {
        atomic_store(&dev->kick, true);
        mxgpu_send_kick(dev);
    }
}
