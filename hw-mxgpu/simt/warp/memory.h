/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_WARP_MEMORY_H
#define MXGPU_SIMT_WARP_MEMORY_H

#include "simt/state.h"

void mxgpu_simt_drop_tlb(MxgpuCu *cu);
/*
 * Host address of [va, va + len) in one page or 2 MiB granule, whose
 * translation is loaded; 0 when there is none: *fault says why, NONE that the
 * range has to be accessed lane by lane (it leaves the granule, or the bus has
 * no memory there).
 */
uintptr_t mxgpu_simt_fill(MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind,
                          uint64_t va, uint64_t len, enum mxgpu_fault *fault);
/* Before a load or store of a strict dispatch: whether the addresses of mask's
 * lanes are naturally aligned; if not, the first of these lanes faults. */
bool mxgpu_simt_aligned(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                        uint64_t pc, uint64_t mask);
/* Of a load or store: what it moves, log2 of bytes; whether it is one. */
unsigned mxgpu_simt_access_shift(unsigned op);
bool mxgpu_simt_is_store(unsigned op);
/* An access of one lane, of 1, 2, 4 or 8 bytes at any address and alignment.
 * *at is the address that faults. */
enum mxgpu_fault mxgpu_simt_read(MxgpuCu *cu, MxgpuWarp *w, unsigned lane,
                                 uint64_t va, void *buf, unsigned len,
                                 uint64_t *at);
enum mxgpu_fault mxgpu_simt_write(MxgpuCu *cu, MxgpuWarp *w, unsigned lane,
                                  uint64_t va, const void *buf, unsigned len,
                                  uint64_t *at);
/* Host address for an atomic of lane; 0 and *fault when it cannot be. */
uintptr_t mxgpu_simt_atomic_at(MxgpuCu *cu, MxgpuWarp *w, unsigned lane,
                               uint64_t va, unsigned len,
                               enum mxgpu_fault *fault);

/*
 * Private memory: 8-byte granules of the 64 lanes side by side, so that lanes
 * that use the same address (their stacks do) touch neighbours. The host
 * address of the granule that holds va, for lane 0.
 */
#define PRIVATE_WARP_BYTES ((uint64_t)MXGPU_PRIVATE_MAX * LANES)
static inline uint8_t *private_at(const MxgpuWarp *w, uint64_t va)
{
    uint64_t offset = va - (MXGPU_PRIVATE_END - MXGPU_PRIVATE_MAX);

    return w->c.private + (offset >> 3) * (8 * LANES) + (offset & 7);
}

/* Whether [va, va + len) lies in the thread's private memory. */
static inline bool in_private(const MxgpuWarp *w, uint64_t va, uint64_t len)
{
    uint64_t offset = va - (MXGPU_PRIVATE_END - w->c.private_size);

    return offset < w->c.private_size && len <= w->c.private_size - offset;
}

static inline bool in_shared(const MxgpuWarp *w, uint64_t va, uint64_t len)
{
    uint64_t offset = va - MXGPU_SHARED_BASE;

    return offset < w->c.shared_size && len <= w->c.shared_size - offset;
}

/* Host address of [va, va + len) from the TLB or shared memory; 0: none. */
static inline uintptr_t simt_span(const MxgpuCu *cu, const MxgpuWarp *w,
                                  SimtKind kind, uint64_t va, uint64_t len)
{
    uint64_t page = va >> MXGPU_LARGE_SHIFT;
    const SimtTlb *t = &cu->c.large[kind][page % TLB_LARGE];

    if (__builtin_expect(t->tag == (page | w->c.vmid_tag), 1)) {
        return (va & (LARGE_BYTES - 1)) <= LARGE_BYTES - len ? t->add + va : 0;
    }
    page = va >> MXGPU_PAGE_SHIFT;
    t = &cu->c.small[kind][page % TLB_SMALL];
    if (t->tag == (page | w->c.vmid_tag)) {
        return len <= PAGE_BYTES && (va & (PAGE_BYTES - 1)) <= PAGE_BYTES - len
                   ? t->add + va
                   : 0;
    }
    if (in_shared(w, va, len)) {
        return (uintptr_t)w->c.shared + (va - MXGPU_SHARED_BASE);
    }
    return 0;
}

#endif
