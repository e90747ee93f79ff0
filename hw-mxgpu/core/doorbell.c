/* SPDX-License-Identifier: MIT */
/*
 * Doorbells: BAR 4 on the host's side, DB_* on the MCU's. The host's side takes
 * the device's lock only to report an error. A ring stores the value, then sets
 * the pending bit; the MCU clears the bit, then reads the value: it never
 * misses the last value.
 */
#include "internal.h"

uint64_t mxgpu_device_doorbell_read(MxgpuDevice *dev, uint64_t offset,
                                    unsigned size)
{
    uint64_t in_page = offset % MXGPU_DOORBELL_STRIDE;

    if (offset / MXGPU_DOORBELL_STRIDE >= dev->config.queues || in_page >= 8 ||
        (size != 4 && size != 8) || in_page % size) {
        mxgpu_bad_access(dev, offset, size, false);
    }
    return 0;
}

static void ring(MxgpuDevice *dev, unsigned queue, uint64_t value)
{
    uint32_t bit = 1u << queue % 32;

    if (!(atomic_load(&dev->db.enable[queue / 32]) & bit)) {
        mxgpu_lock(dev);
        mxgpu_out_trace(dev, MXGPU_TRACE_BAD_DOORBELL, queue, value);
        mxgpu_err_set(dev, 1u << MXGPU_ERR_STATUS_BAD_DOORBELL_SHIFT, queue,
                      value);
        mxgpu_unlock(dev);
        return;
    }
    if (dev->ops->trace) {
        dev->ops->trace(dev->host, MXGPU_TRACE_DOORBELL, queue, value);
    }
    mxgpu_count(dev, MXGPU_COUNTER_DOORBELLS, 1);
    mxgpu_simt_expect(dev->simt);
    atomic_store(&dev->db.value[queue], value);
    atomic_fetch_or(&dev->db.pending[queue / 32], bit);
    mxgpu_wake(dev, MXGPU_STEPPER_MCU);
    mxgpu_send_kick(dev);
}

void mxgpu_device_doorbell_write(MxgpuDevice *dev, uint64_t offset,
                                 uint64_t value, unsigned size)
{
    uint64_t queue = offset / MXGPU_DOORBELL_STRIDE;
    uint64_t in_page = offset % MXGPU_DOORBELL_STRIDE;

    if (queue >= dev->config.queues || in_page >= 8 ||
        (size != 4 && size != 8) || in_page % size) {
        mxgpu_bad_access(dev, offset, size, true);
    } else if (size == 8) {
        ring(dev, (unsigned)queue, value);
    } else if (in_page == 0) {
        atomic_store(&dev->db.low[queue], (uint32_t)value);
        ring(dev, (unsigned)queue, (uint32_t)value);
    } else {
        ring(dev, (unsigned)queue,
             value << 32 | atomic_load(&dev->db.low[queue]));
    }
}

uint32_t mxgpu_db_pending_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return atomic_load(&dev->db.pending[a->index]);
}

void mxgpu_db_pending_write(MxgpuDevice *dev, const MxgpuAccess *a,
                            uint32_t value)
{
    atomic_fetch_and(&dev->db.pending[a->index], ~value);
}

uint32_t mxgpu_db_next_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    for (unsigned i = 0; i < MXGPU_MAX_QUEUES / 32; i++) {
        uint32_t pending = atomic_load(&dev->db.pending[i]);

        if (pending) {
            if (!a->peek) {
                atomic_fetch_and(&dev->db.pending[i], ~(pending & -pending));
            }
            return i * 32 + (unsigned)__builtin_ctz(pending);
        }
    }
    return UINT32_MAX;
}

uint32_t mxgpu_db_enable_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return atomic_load(&dev->db.enable[a->index]);
}

uint32_t mxgpu_db_exist(const MxgpuDevice *dev, unsigned index)
{
    unsigned first = index * 32;

    if (first >= dev->config.queues) {
        return 0;
    }
    return dev->config.queues - first >= 32
               ? UINT32_MAX
               : (1u << (dev->config.queues - first)) - 1;
}

/* A queue starts at 0 when it is enabled, and keeps no ring when disabled. */
void mxgpu_db_enable_write(MxgpuDevice *dev, const MxgpuAccess *a,
                           uint32_t value)
{
    uint32_t old = atomic_load(&dev->db.enable[a->index]);
    unsigned first = a->index * 32;

    value &= mxgpu_db_exist(dev, a->index);
    atomic_fetch_and(&dev->db.pending[a->index], old & value);
    for (uint32_t bits = value & ~old; bits; bits &= bits - 1) {
        unsigned queue = first + (unsigned)__builtin_ctz(bits);

        atomic_store(&dev->db.value[queue], 0);
        atomic_store(&dev->db.low[queue], 0);
    }
    atomic_store(&dev->db.enable[a->index], value);
}

uint64_t mxgpu_db_value_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return atomic_load(&dev->db.value[a->index]);
}

void mxgpu_db_reset(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < MXGPU_MAX_QUEUES / 32; i++) {
        atomic_store(&dev->db.enable[i], 0);
        atomic_store(&dev->db.pending[i], 0);
    }
    for (unsigned i = 0; i < MXGPU_MAX_QUEUES; i++) {
        atomic_store(&dev->db.value[i], 0);
        atomic_store(&dev->db.low[i], 0);
    }
}
