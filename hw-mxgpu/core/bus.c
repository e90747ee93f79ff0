/* SPDX-License-Identifier: MIT */
/* The ways to the registers: the host's is BAR 0, the MCU's its bus. */
#include "internal.h"

/* ---- BAR 0 */

static void trace_sram_end(MxgpuDevice *dev)
{
    uint64_t bytes = atomic_exchange(&dev->sram_bytes, 0);

    if (bytes) {
        dev->ops->trace(dev->host, MXGPU_TRACE_SRAM, dev->sram_first,
                        bytes | (uint64_t)dev->sram_write << 32);
    }
}

/* Loading an image writes thousands of words to MCU_SRAM_DATA: they are one
 * trace event, which comes with the next access to another register. */
static void trace_mmio(MxgpuDevice *dev, uint64_t offset, uint64_t value,
                       bool write)
{
    if (!dev->ops->trace) {
        return;
    }
    if (dev->sram_bytes &&
        (offset != MXGPU_MCU_SRAM_DATA || dev->sram_write != write)) {
        trace_sram_end(dev);
    }
    if (offset == MXGPU_MCU_SRAM_DATA) {
        if (!dev->sram_bytes) {
            dev->sram_first = mxgpu_regs_peek(dev, MXGPU_PARTY_HOST,
                                              MXGPU_MCU_SRAM_ADDR);
            dev->sram_write = write;
        }
        dev->sram_bytes += 4;
        return;
    }
    dev->ops->trace(dev->host,
                    write ? MXGPU_TRACE_MMIO_WRITE : MXGPU_TRACE_MMIO_READ,
                    offset, value);
}

uint64_t mxgpu_device_mmio_read(MxgpuDevice *dev, uint64_t offset,
                                unsigned size)
{
    uint32_t value;

    if (size != 4 || offset % 4 || offset >= MXGPU_REGS_SIZE) {
        mxgpu_bad_access(dev, offset, size, false);
        return 0;
    }
    if (offset == MXGPU_MCU_SRAM_DATA) { /* moves SRAM_ADDR on */
        trace_mmio(dev, offset, 0, false);
        return mxgpu_regs_read(dev, MXGPU_PARTY_HOST, (uint32_t)offset);
    }
    value = mxgpu_regs_read(dev, MXGPU_PARTY_HOST, (uint32_t)offset);
    trace_mmio(dev, offset, value, false);
    return value;
}

uint64_t mxgpu_device_mmio_peek(MxgpuDevice *dev, uint64_t offset,
                                unsigned size)
{
    uint64_t value = 0;
    uint32_t word = 0;

    for (unsigned i = 0; i < size && offset < MXGPU_REGS_SIZE - i; i++) {
        uint32_t at = (uint32_t)offset + i;

        if (i == 0 || at % 4 == 0) {
            word = mxgpu_regs_peek(dev, MXGPU_PARTY_HOST, at & ~3u);
        }
        value |= (uint64_t)(word >> at % 4 * 8 & 0xff) << i * 8;
    }
    return value;
}

void mxgpu_device_mmio_write(MxgpuDevice *dev, uint64_t offset, uint64_t value,
                             unsigned size)
{
    if (size != 4 || offset % 4 || offset >= MXGPU_REGS_SIZE) {
        mxgpu_bad_access(dev, offset, size, true);
        return;
    }
    trace_mmio(dev, offset, value, true);
    mxgpu_regs_write(dev, MXGPU_PARTY_HOST, (uint32_t)offset, (uint32_t)value);
    mxgpu_send_kick(dev);
}

/* ---- the bus of the MCU */

static bool mcu_read(void *opaque, uint32_t addr, uint32_t *value)
{
    uint32_t offset = addr - MXGPU_MCU_REGS_BASE;

    if (offset >= MXGPU_REGS_SIZE) {
        return false;
    }
    *value = mxgpu_regs_read(opaque, MXGPU_PARTY_MCU, offset);
    if (offset == MXGPU_DB_NEXT) { /* which clears a bit: lines may change */
        mxgpu_mcu_bus_written(opaque, offset);
    } else {
        mxgpu_mcu_bus_accessed(opaque);
    }
    return true;
}

static bool mcu_write(void *opaque, uint32_t addr, uint32_t value)
{
    uint32_t offset = addr - MXGPU_MCU_REGS_BASE;

    if (offset >= MXGPU_REGS_SIZE) {
        return false;
    }
    mxgpu_regs_write(opaque, MXGPU_PARTY_MCU, offset, value);
    mxgpu_mcu_bus_written(opaque, offset);
    return true;
}

const MxgpuMcuOps mxgpu_mcu_bus = {mcu_read, mcu_write};
