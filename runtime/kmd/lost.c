/* SPDX-License-Identifier: MIT */
/* Whether a device is there, and how it is given up when it is not. */
#include <stdarg.h>
#include <stdio.h>

#include "priv.h"

void kmd_device_lose(KmdDevice *dev, const char *format, ...)
{
    char reason[256];
    va_list args;

    if (atomic_exchange(&dev->lost, true)) {
        return;
    }
    va_start(args, format);
    vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    mc_error("device lost: %s", reason);
    /* It must not go on using memory that its owner thinks is free again. */
    kmd_write(dev->t, MXGPU_RESET, MXGPU_RESET_MAGIC);
    if (dev->irq.counts) {
        kmd_irq_wake_all(dev);
    }
}

bool kmd_device_alive(KmdDevice *dev)
{
    if (kmd_lost(dev)) {
        return false;
    }
    if (kmd_read(dev->t, MXGPU_ID) != MXGPU_ID_MAGIC) {
        kmd_device_lose(dev, "it does not answer any more");
        return false;
    }
    return true;
}

bool kmd_device_check(KmdDevice *dev)
{
    char text[160];
    uint32_t mcu;

    if (!kmd_device_alive(dev)) {
        return false;
    }
    mcu = kmd_read(dev->t, MXGPU_MCU_STATUS);
    if (atomic_load(&dev->up) &&
        MXGPU_GET(MXGPU_MCU_STATUS_STATE, mcu) != MXGPU_MCU_RUNNING) {
        kmd_mcu_describe(dev, text, sizeof(text));
        kmd_device_lose(dev, "%s", text);
        return false;
    }
    return true;
}

bool kmd_device_look(KmdDevice *dev, bool look)
{
    if (kmd_lost(dev)) {
        return false;
    }
    if (look) {
        uint64_t now = kmd_now_ns(), looked = atomic_load(&dev->looked);

        /* One of those who find that it is time. */
        if (now - looked >= KMD_LOOK_NS &&
            atomic_compare_exchange_strong(&dev->looked, &looked, now)) {
            return kmd_device_check(dev);
        }
    }
    return true;
}
