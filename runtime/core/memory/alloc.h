/* SPDX-License-Identifier: MIT */
/*
 * Device memory, mapped by large pages. Requests below 2 MiB share chunks of
 * that size; larger ones get whole large pages and, for what is left over, the
 * start of a chunk at the addresses behind. An unmapped page follows each
 * chunk, and each request without one. No bookkeeping is kept in device
 * memory.
 */
#ifndef MC_CORE_ALLOC_H
#define MC_CORE_ALLOC_H

#include "core/context/context.h"
#include "directory.h"
#include "mxgpu/pte.h"
#include "zone.h"

#define MC_ALIGN 256u
#define MC_DATA_PERMS (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC)

/* VRAM, or pinned pages of a file, with an address range of its own. */
typedef struct McMapping {
    KmdBo *bo;
    uint64_t va, size; /* mapped */
    uint64_t reserved; /* of address space, from va */
    void *memory;      /* the pages of the file; NULL: VRAM */
    uint64_t offset;   /* in it */
} McMapping;

/* Reserves and maps; perms 0: the caller maps. */
mcError_t mc_mapping_new(McContext *ctx, uint64_t size, uint64_t perms,
                         McMapping *out);
void mc_mapping_free(McContext *ctx, McMapping *mapping);
/* Its memory goes, and bo with it, but the addresses stay; false: it could not.
 * And VRAM anew, which is not cleared, at the same addresses. */
bool mc_mapping_empty(McContext *ctx, McMapping *mapping);
mcError_t mc_mapping_refill(McContext *ctx, McMapping *mapping);

mcError_t mc_allocator_new(McContext *ctx, McAllocator **out);
/* With everything in it. */
void mc_allocator_free(McAllocator *allocator);

/* With MXGPU_CHECK, zones lie around it, and messages name the caller. */
mcError_t mc_device_alloc(McContext *ctx, uint64_t size, unsigned flags,
                          McCaller caller, uint64_t *va);
/* The work that may use it is complete. mcErrorInvalidValue when va is not
 * the start of an allocation of this context. */
mcError_t mc_device_free(McContext *ctx, uint64_t va);

/* The same in two steps: no call finds it any more, then, when the work that
 * may use it is complete, it goes. NULL: as mcErrorInvalidValue. */
void *mc_device_retire(McContext *ctx, uint64_t va);
void mc_device_drop(McContext *ctx, void *block);

/* What names the allocation in other processes, which va is in.
 * mcErrorNotSupported: VRAM cannot be shared on this back end. */
mcError_t mc_device_share(McContext *ctx, uint64_t va, McToken *token);

/* Whether mc_device_share() can. */
bool mc_device_can_share(McContext *ctx, uint64_t va);

/* Reports what was written into the zones since the last time; false: nothing.
 * A zone belongs to nobody: whatever runs meanwhile, what is found is wrong. */
bool mc_device_damaged(McAllocator *allocator);

void mc_device_memory(McContext *ctx, uint64_t *free, uint64_t *total);

#endif
