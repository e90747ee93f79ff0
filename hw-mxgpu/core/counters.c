/* SPDX-License-Identifier: MIT */
/* Counters of the device, of its compute units and of profiled dispatches. */
#include "internal.h"

/* The value of a counter that the compute units keep; 0 for others. */
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
uint64_t mxgpu_counter_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    unsigned index = a->index;
    uint64_t value =
        atomic_load_explicit(&dev->counter[index], memory_order_relaxed);
    MxgpuSimtCounters c;

    if (counted_by_simt(index)) {
        mxgpu_simt_counters(dev->simt, &c);
        value += of_simt(&c, index) - of_simt(&dev->simt_base, index);
    }
    return value;
}

uint64_t mxgpu_vmid_compute_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return mxgpu_simt_vmid_ns(dev->simt, a->index);
}

uint64_t mxgpu_vmid_copy_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return atomic_load_explicit(&dev->copy_ns[a->index], memory_order_relaxed);
}

uint64_t mxgpu_cu_counter_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    MxgpuSimtCounters c;

    mxgpu_simt_unit_counters(dev->simt, a->index / MXGPU_COUNTERS, &c);
    return of_simt(&c, a->index % MXGPU_COUNTERS);
}

/* As the two registers have it. */
uint64_t mxgpu_cu_pc_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return mxgpu_simt_unit_pc(dev->simt, a->index);
}

/* ---- dispatches */

uint64_t mxgpu_cp_counter_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    MxgpuSimtCounters c;

    mxgpu_simt_slot_counters(dev->simt, a->index / MXGPU_COUNTERS, &c);
    return of_simt(&c, a->index % MXGPU_COUNTERS);
}

uint64_t mxgpu_cp_samples_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return mxgpu_simt_slot_samples(dev->simt, a->index);
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
    for (unsigned i = 0; i < MXGPU_NUM_VMIDS; i++) {
        atomic_store(&dev->copy_ns[i], 0);
    }
    mxgpu_simt_counters(dev->simt, &dev->simt_base);
}
