/* SPDX-License-Identifier: MIT */
/* Counters of the device, of its compute units and of profiled dispatches. */
#include "internal.h"

/* Those of the compute units; 0 for others. */
static uint64_t of_simt(const MxgpuSimtCounters *c, unsigned index)
{
    switch (index) {
#define F(name, number)                                                        \
    case MXGPU_COUNTER_##number:                                               \
        return c->name;
        MXGPU_SIMT_COUNTERS(F)
#undef F
    case MXGPU_COUNTER_DISPATCHES:
        return c->dispatches;
    }
    return 0;
}

static bool counted_by_simt(unsigned index)
{
    switch (index) {
#define F(name, number) case MXGPU_COUNTER_##number:
        MXGPU_SIMT_COUNTERS(F)
#undef F
    case MXGPU_COUNTER_DISPATCHES:
        return true;
    }
    return false;
}

/* TLB misses are counted by compute units, and here by the other units. */
static uint64_t counter_value(MxgpuDevice *dev, unsigned index)
{
    uint64_t value =
        atomic_load_explicit(&dev->counter[index], memory_order_relaxed);
    MxgpuSimtCounters c;

    if (counted_by_simt(index)) {
        mxgpu_simt_counters(dev->simt, &c);
        value += of_simt(&c, index) - of_simt(&dev->simt_base, index);
    }
    return value;
}

uint32_t mxgpu_counter_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    uint64_t value = counter_value(dev, a->index);

    if (!a->peek) {
        dev->latch[a->party].counter_hi[a->index] = (uint32_t)(value >> 32);
    }
    return (uint32_t)value;
}

uint32_t mxgpu_counter_hi_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return a->peek ? (uint32_t)(counter_value(dev, a->index) >> 32)
                   : dev->latch[a->party].counter_hi[a->index];
}

static uint64_t cu_counter_value(MxgpuDevice *dev, unsigned index)
{
    MxgpuSimtCounters c;

    mxgpu_simt_unit_counters(dev->simt, index / MXGPU_COUNTERS, &c);
    return of_simt(&c, index % MXGPU_COUNTERS);
}

uint32_t mxgpu_cu_counter_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    uint64_t value = cu_counter_value(dev, a->index);

    if (!a->peek) {
        dev->latch[a->party].cu_counter_hi = (uint32_t)(value >> 32);
    }
    return (uint32_t)value;
}

uint32_t mxgpu_cu_counter_hi_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return a->peek ? (uint32_t)(cu_counter_value(dev, a->index) >> 32)
                   : dev->latch[a->party].cu_counter_hi;
}

/* ---- dispatches */

static uint32_t latch(MxgpuDevice *dev, const MxgpuAccess *a, uint64_t value)
{
    *mxgpu_reg(dev, a->offset + 4) = (uint32_t)(value >> 32);
    return (uint32_t)value;
}

uint32_t mxgpu_cp_counter_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    MxgpuSimtCounters c;

    mxgpu_simt_slot_counters(dev->simt, a->index / MXGPU_COUNTERS, &c);
    return latch(dev, a, of_simt(&c, a->index % MXGPU_COUNTERS));
}

uint32_t mxgpu_cp_samples_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return latch(dev, a, mxgpu_simt_slot_samples(dev->simt, a->index));
}

void mxgpu_cp_unit_write(MxgpuDevice *dev, const MxgpuAccess *a,
                         uint32_t value)
{
    uint32_t base = a->index * MXGPU_CP_UNIT_STRIDE;
    MxgpuSimtTimes t;

    mxgpu_simt_slot_times(dev->simt, a->index, value, &t);
    *mxgpu_reg(dev, a->offset) = value;
    *mxgpu_reg(dev, MXGPU_CP_UNIT_BLOCKS + base) = t.blocks;
    mxgpu_set_reg64(dev, MXGPU_CP_UNIT_FIRST_LO + base, t.first);
    mxgpu_set_reg64(dev, MXGPU_CP_UNIT_LAST_LO + base, t.last);
    mxgpu_set_reg64(dev, MXGPU_CP_UNIT_BUSY_LO + base, t.busy);
}

void mxgpu_counters_reset(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < MXGPU_COUNTERS; i++) {
        atomic_store(&dev->counter[i], 0);
    }
    mxgpu_simt_counters(dev->simt, &dev->simt_base);
}
