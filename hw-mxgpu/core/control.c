/* SPDX-License-Identifier: MIT */
/*
 * Holding every unit between two steps: for a pause, and for a reset, which is
 * asked for here. The control unit does what the RESET register asks for; it is
 * not held by a reset, only by a pause.
 */
#include "internal.h"

void mxgpu_hold_units(MxgpuDevice *dev)
{
    for (unsigned i = MXGPU_STEPPER_MCU; i < dev->num_steppers; i++) {
        mxgpu_stepper_hold(&dev->steppers[i]);
    }
    for (unsigned i = MXGPU_STEPPER_MCU; i < dev->num_steppers; i++) {
        mxgpu_stepper_wait_held(&dev->steppers[i]);
    }
}

void mxgpu_release_units(MxgpuDevice *dev)
{
    for (unsigned i = MXGPU_STEPPER_MCU; i < dev->num_steppers; i++) {
        mxgpu_stepper_release(&dev->steppers[i]);
    }
}

void mxgpu_hold_workers(MxgpuDevice *dev)
{
    for (unsigned i = mxgpu_worker(dev, 0); i < dev->num_steppers; i++) {
        mxgpu_stepper_hold(&dev->steppers[i]);
    }
    for (unsigned i = mxgpu_worker(dev, 0); i < dev->num_steppers; i++) {
        mxgpu_stepper_wait_held(&dev->steppers[i]);
    }
}

void mxgpu_release_workers(MxgpuDevice *dev)
{
    for (unsigned i = mxgpu_worker(dev, 0); i < dev->num_steppers; i++) {
        mxgpu_stepper_release(&dev->steppers[i]);
    }
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

void mxgpu_device_pause(MxgpuDevice *dev)
{
    /* First the control unit, which may itself wait for the others. */
    mxgpu_stepper_hold(&dev->steppers[MXGPU_STEPPER_CONTROL]);
    mxgpu_stepper_wait_held(&dev->steppers[MXGPU_STEPPER_CONTROL]);
    pthread_mutex_lock(&dev->control);
    mxgpu_hold_units(dev);
    pthread_mutex_unlock(&dev->control);
}

void mxgpu_device_resume(MxgpuDevice *dev)
{
    pthread_mutex_lock(&dev->control);
    mxgpu_release_units(dev);
    pthread_mutex_unlock(&dev->control);
    mxgpu_stepper_release(&dev->steppers[MXGPU_STEPPER_CONTROL]);
    if (dev->config.deterministic) {
        atomic_store(&dev->kick, true);
        mxgpu_send_kick(dev);
    }
}
