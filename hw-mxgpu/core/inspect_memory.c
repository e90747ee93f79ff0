/* SPDX-License-Identifier: MIT */
/* Page tables and memory, as a debugger sees them. */
#include <inttypes.h>

#include "describe.h"
#include "inspect_memory.h"
#include "internal.h"

static const char *place(bool system)
{
    return system ? "system" : "VRAM";
}

static void put_bits(MxgpuText t, uint64_t pte)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } bits[] = {
        {MXGPU_PTE_READ, "R"},    {MXGPU_PTE_WRITE, "W"},
        {MXGPU_PTE_EXECUTE, "X"}, {MXGPU_PTE_ATOMIC, "AT"},
        {MXGPU_PTE_ACCESSED, "A"}, {MXGPU_PTE_DIRTY, "D"},
    };

    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        if (pte & bits[i].bit) {
            mxgpu_put(t, " %s", bits[i].name);
        }
    }
}

static void put_entry(MxgpuText t, uint64_t pte)
{
    if (!(pte & MXGPU_PTE_VALID)) {
        mxgpu_put(t, " not present");
    } else if (pte & MXGPU_PTE_TABLE) {
        mxgpu_put(t, " table at %s 0x%" PRIx64,
                  place(pte & MXGPU_PTE_SYSTEM),
                  (uint64_t)(pte & MXGPU_PTE_ADDRESS));
    } else {
        mxgpu_put(t, " page at %s 0x%" PRIx64, place(pte & MXGPU_PTE_SYSTEM),
                  (uint64_t)(pte & MXGPU_PTE_ADDRESS));
        put_bits(t, pte);
    }
}

void mxgpu_inspect_walk(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    uint64_t vmid, va;
    MxgpuMmuLook l;

    if (!mxgpu_inspect_number(&args, &vmid) ||
        !mxgpu_inspect_number(&args, &va) || vmid >= MXGPU_NUM_VMIDS) {
        mxgpu_put(t, "walk VMID ADDRESS\n");
        return;
    }
    mxgpu_mmu_look(dev->mmu, (unsigned)vmid, va, &l);
    for (unsigned i = 0; i < l.steps; i++) {
        mxgpu_put(t, "level %u: %s 0x%" PRIx64 ": %016" PRIx64,
                  l.step[i].level, place(l.step[i].system), l.step[i].at,
                  l.step[i].pte);
        put_entry(t, l.step[i].pte);
        mxgpu_put(t, "\n");
    }
    if (l.fault != MXGPU_FAULT_NONE) {
        mxgpu_put(t, "0x%" PRIx64 ": fault %s\n", va,
                  mxgpu_describe_fault(l.fault));
        return;
    }
    mxgpu_put(t, "0x%" PRIx64 ": %s 0x%" PRIx64 ", page of %" PRIu64 " KiB\n",
              va, place(l.system), l.addr,
              (uint64_t)1 << (l.page_shift - 10));
}

#define MEMORY_MOST 4096

void mxgpu_inspect_memory(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    uint64_t vmid, va, len = 64;

    if (!mxgpu_inspect_number(&args, &vmid) ||
        !mxgpu_inspect_number(&args, &va) || vmid >= MXGPU_NUM_VMIDS) {
        mxgpu_put(t, "memory VMID ADDRESS [BYTES], at most %u\n", MEMORY_MOST);
        return;
    }
    mxgpu_inspect_number(&args, &len);
    len = len < MEMORY_MOST ? len : MEMORY_MOST;
    for (uint64_t at = 0; at < len; at += 16) {
        unsigned n = len - at < 16 ? (unsigned)(len - at) : 16;
        uint8_t buf[16];
        enum mxgpu_fault fault =
            mxgpu_mmu_look_read(dev->mmu, (unsigned)vmid, va + at, buf, n);

        mxgpu_put(t, "%012" PRIx64 ":", va + at);
        if (fault != MXGPU_FAULT_NONE) {
            mxgpu_put(t, " fault %s\n", mxgpu_describe_fault(fault));
            return;
        }
        for (unsigned i = 0; i < n; i++) {
            mxgpu_put(t, " %02x", buf[i]);
        }
        mxgpu_put(t, "\n");
    }
}
