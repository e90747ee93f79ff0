/* SPDX-License-Identifier: MIT */
/*
 * The MCU under a debugger, as far as its driver has to know: whether it is
 * stopped, and what happens to it that a debugger wants to hear of. Which one
 * that is, and what it wants, is in gdb.c.
 */
#include "internal.h"

static void tell(MxgpuDevice *dev, uint32_t event)
{
    atomic_fetch_or(&dev->debug.events, event);
    mxgpu_stepper_ask(&dev->steppers[MXGPU_STEPPER_MCU]);
    if (dev->config.deterministic) {
        atomic_store(&dev->kick, true);
    }
}

bool mxgpu_mcu_debug_holds(MxgpuDevice *dev)
{
    return dev->debug.halted;
}

void mxgpu_mcu_debug_stopped(MxgpuDevice *dev)
{
    dev->debug.halted = true;
    tell(dev, MXGPU_DEBUG_STOPPED);
}

void mxgpu_mcu_debug_started(MxgpuDevice *dev)
{
    if (atomic_load(&dev->debug.halt_at_start)) {
        dev->debug.halted = true;
        tell(dev, MXGPU_DEBUG_STARTED);
    }
}

void mxgpu_mcu_debug_crashed(MxgpuDevice *dev, bool lockup)
{
    if (dev->debug.attached) {
        dev->debug.halted = true;
        tell(dev, lockup ? MXGPU_DEBUG_LOCKUP : MXGPU_DEBUG_PANIC);
    }
}

void mxgpu_mcu_debug_reset(MxgpuDevice *dev)
{
    if (dev->debug.attached) {
        tell(dev, MXGPU_DEBUG_RESET);
    }
}
