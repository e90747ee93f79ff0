/* SPDX-License-Identifier: MIT */
/*
 * Where the firmware is, for whoever has to find out why it does not answer:
 * MCU_PC, MCU_RA and MCU_SP, and the firmware watchdog.
 *
 * Firmware makes progress when it sleeps with nothing to do, or writes to a
 * register by which it acts: answers, clears a doorbell, starts or acknowledges
 * a unit, raises an interrupt. Moving memory, setting its timer, and writing to
 * its console or to TRACE_* do not count: firmware that waits in vain does that,
 * too.
 */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>

static void show(MxgpuDevice *dev, uint32_t pc, uint32_t ra, uint32_t sp)
{
    atomic_store_explicit(&dev->mcu.pc, pc, memory_order_relaxed);
    atomic_store_explicit(&dev->mcu.ra, ra, memory_order_relaxed);
    atomic_store_explicit(&dev->mcu.sp, sp, memory_order_relaxed);
}

uint32_t mxgpu_mcu_pc_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return atomic_load_explicit(&dev->mcu.pc, memory_order_relaxed);
}

uint32_t mxgpu_mcu_ra_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return atomic_load_explicit(&dev->mcu.ra, memory_order_relaxed);
}

uint32_t mxgpu_mcu_sp_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return atomic_load_explicit(&dev->mcu.sp, memory_order_relaxed);
}

void mxgpu_mcu_watch_start(MxgpuDevice *dev, uint32_t pc, uint64_t now)
{
    show(dev, pc, 0, 0);
    dev->mcu.progress = dev->mcu.stuck = false;
    dev->mcu.progress_at = now;
}

void mxgpu_mcu_watch_crash(MxgpuDevice *dev)
{
    const MxgpuMcuState *s = mxgpu_mcu_state(dev->mcu.mcu);
    uint32_t pc = *mxgpu_reg(dev, MXGPU_MCU_TRAP_PC);

    /* The handler of a trap has its own. */
    if (dev->mcu.panic && s->trap_pc == pc) {
        show(dev, pc, s->trap_ra, s->trap_sp);
    } else {
        show(dev, dev->mcu.panic ? s->pc : pc, s->x[1], s->x[2]);
    }
}

void mxgpu_mcu_watch_write(MxgpuDevice *dev, uint32_t offset)
{
    dev->mcu.progress |=
        offset < MXGPU_MTIME_LO || offset >= MXGPU_CE_SRC_LO ||
        (offset >= MXGPU_FW_READY && offset < MXGPU_MEM_ADDR_LO &&
         !(offset >= MXGPU_TRACE_INFO && offset <= MXGPU_TRACE_EVENT));
}

static void report(MxgpuDevice *dev)
{
    uint32_t pc = dev->mcu.pc;
    char line[160];
    int len;

    mxgpu_lock(dev);
    mxgpu_err_set(dev, 1u << MXGPU_ERR_STATUS_MCU_STUCK_SHIFT,
                  mxgpu_int_pending(dev), pc);
    mxgpu_out_error(dev);
    mxgpu_out_trace(dev, MXGPU_TRACE_MCU_STUCK, pc,
                    (uint64_t)dev->mcu.sp << 32 | dev->mcu.ra);
    mxgpu_unlock(dev);
    len = snprintf(line, sizeof(line),
                   "firmware watchdog: no progress for %u ms, pc 0x%" PRIx32
                   " ra 0x%" PRIx32 " sp 0x%" PRIx32,
                   dev->config.firmware_watchdog_ms, pc, (uint32_t)dev->mcu.ra,
                   (uint32_t)dev->mcu.sp);
    mxgpu_console_log_add(&dev->console_log, line, (size_t)len);
    dev->ops->console(dev->host, line, (size_t)len);
}

void mxgpu_mcu_watch(MxgpuDevice *dev, bool sleeps, uint64_t *deadline)
{
    const MxgpuMcuState *s = mxgpu_mcu_state(dev->mcu.mcu);
    uint64_t limit = dev->config.firmware_watchdog_ms * 1000000ull, now;

    show(dev, s->pc, s->x[1], s->x[2]);
    if (!limit) {
        return;
    }
    now = mxgpu_now(dev);
    if (dev->mcu.progress || (sleeps && !mxgpu_int_pending(dev))) {
        dev->mcu.progress = dev->mcu.stuck = false;
        dev->mcu.progress_at = now;
        return;
    }
    if (!dev->mcu.stuck && now - dev->mcu.progress_at >= limit) {
        dev->mcu.stuck = true;
        report(dev);
    }
    if (!dev->mcu.stuck && dev->mcu.progress_at + limit < *deadline) {
        *deadline = dev->mcu.progress_at + limit;
    }
}
