/* SPDX-License-Identifier: MIT */
/* Recoverable faults that wait: the ring, and its records as they stand in
 * memory, which is software's to change and not trusted. */
#include <inttypes.h>

#include "describe.h"
#include "inspect_fault.h"
#include "internal.h"

#define RECORDS_MOST 64

static const char *verdict_name(MxgpuDevice *dev, uint32_t sequence)
{
    static const char *const names[] = {
        [MXGPU_FAULT_FREE] = "settled",
        [MXGPU_FAULT_WAITS] = "waits",
        [MXGPU_FAULT_REPLAYED] = "replayed",
        [MXGPU_FAULT_KILLED] = "killed",
    };
    uint8_t verdict =
        atomic_load(&dev->faults.verdict[sequence % MXGPU_FAULT_RECORDS]);

    return names[verdict % MXGPU_FAULT_STATES];
}

static void put_source(MxgpuText t, const struct mxgpu_fault_record *r)
{
    if (r->source == MXGPU_FAULT_COPY) {
        mxgpu_put(t, "engine %u, %" PRIu64 " bytes done\n", r->unit, r->done);
        return;
    }
    mxgpu_put(t, "unit %u slot %u block %" PRIu32 ",%" PRIu32 ",%" PRIu32
              " thread %" PRIu32 " pc 0x%" PRIx64 " lanes %016" PRIx64 "\n",
              r->unit, r->slot, r->block[0], r->block[1], r->block[2],
              r->thread, r->pc, r->lanes);
}

static void put_record(MxgpuDevice *dev, MxgpuText t, unsigned vmid,
                       uint64_t va, uint32_t sequence)
{
    struct mxgpu_fault_record r;

    mxgpu_put(t, "%" PRIu32 " %s: ", sequence, verdict_name(dev, sequence));
    if (mxgpu_mmu_look_read(dev->mmu, vmid, va, &r, sizeof(r)) !=
        MXGPU_FAULT_NONE) {
        mxgpu_put(t, "its record cannot be read\n");
        return;
    }
    mxgpu_put(t, "%s at 0x%" PRIx64 " %s vmid %u queue %" PRIu32 ", ",
              mxgpu_describe_access(r.access), r.addr,
              mxgpu_describe_fault(r.fault), r.vmid, r.queue);
    put_source(t, &r);
}

void mxgpu_inspect_faults(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    uint32_t cfg = mxgpu_inspect_register(dev, MXGPU_FAULT_CFG);
    uint32_t head = mxgpu_inspect_register(dev, MXGPU_FAULT_HEAD);
    uint32_t tail = mxgpu_inspect_register(dev, MXGPU_FAULT_TAIL);
    uint32_t status = mxgpu_inspect_register(dev, MXGPU_FAULT_STATUS);
    uint32_t size = 1u << MXGPU_GET(MXGPU_FAULT_CFG_LOG2_RECORDS, cfg);
    unsigned vmid = MXGPU_GET(MXGPU_FAULT_CFG_VMID, cfg);
    uint64_t ring = mxgpu_inspect_register(dev, MXGPU_FAULT_RING_LO) |
                    (uint64_t)mxgpu_inspect_register(dev, MXGPU_FAULT_RING_HI)
                        << 32;

    if (!MXGPU_GET(MXGPU_FAULT_CFG_ENABLE, cfg)) {
        mxgpu_put(t, "no ring: faults end what they are of\n");
        return;
    }
    mxgpu_put(t, "ring 0x%" PRIx64 " of vmid %u, %" PRIu32 " records, %" PRIu32
              " reported, %" PRIu32 " of them freed%s%s\n", ring, vmid, size,
              tail, head,
              MXGPU_GET(MXGPU_FAULT_STATUS_STALLED, status)
                  ? ", more wait for a place" : "",
              MXGPU_GET(MXGPU_FAULT_STATUS_ERROR, status)
                  ? ", could not be written" : "");
    if (tail - head > size) {
        return; /* they were read at different moments */
    }
    for (uint32_t i = 0; i < RECORDS_MOST && head + i != tail; i++) {
        uint32_t place = (head + i) % size;

        put_record(dev, t, vmid, ring + (uint64_t)place *
                   sizeof(struct mxgpu_fault_record), head + i);
    }
    if (tail - head > RECORDS_MOST) {
        mxgpu_put(t, "... and %" PRIu32 " more\n",
                  tail - head - RECORDS_MOST);
    }
}
