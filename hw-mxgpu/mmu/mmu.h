/* SPDX-License-Identifier: MIT */
/*
 * Page-table walks and the invalidation protocol of unit TLBs.
 *
 * The MMU walks; it caches nothing itself. Every unit (compute unit, copy
 * engine, memory port) keeps its own TLB and is a client here. A client is
 * active while it may use a cached translation; it polls at least every
 * few thousand instructions or chunk, and drops its whole TLB when told so. An
 * invalidation is complete when every client that was active has polled or
 * become inactive.
 */
#ifndef MXGPU_MMU_MMU_H
#define MXGPU_MMU_MMU_H

#include <stdatomic.h>

#include "base/host.h"
#include "base/single.h"
#include "mxgpu/pte.h"
#include "mxgpu/regs.h"

typedef struct MxgpuMmu MxgpuMmu;

typedef struct MxgpuTranslation {
    uint64_t addr;      /* VRAM offset or bus address of va */
    uint8_t *host;      /* host pointer to va, or NULL: use DMA */
    unsigned page_shift;/* va's page: 12, 21 or 30; in VRAM as large as host is
                           valid, in system memory that of the leaf, of which
                           the bus may map less in one piece: */
    unsigned granule_shift; /* naturally aligned region host is valid for */
    uint64_t perms;     /* MXGPU_PTE_READ | WRITE | EXECUTE | ATOMIC */
    bool system;        /* bus address, not VRAM */
    unsigned host_ops;  /* operations of the host that it took, also where the
                           translation faulted: each may be one of a vIOMMU */
} MxgpuTranslation;

MxgpuMmu *mxgpu_mmu_new(void *vram, uint64_t vram_size,
                        const MxgpuHostOps *ops, void *host);
void mxgpu_mmu_free(MxgpuMmu *mmu);
void mxgpu_mmu_reset(MxgpuMmu *mmu);
void mxgpu_mmu_set_root(MxgpuMmu *mmu, unsigned vmid, uint64_t root);
uint64_t mxgpu_mmu_root(MxgpuMmu *mmu, unsigned vmid);

/* Walks the tables of vmid; sets ACCESSED, and DIRTY for write and atomic.
 * Check perms before a later use for another kind of access; a translation
 * loaded by a read has not set DIRTY and must be loaded again for a write. */
enum mxgpu_fault mxgpu_mmu_translate(MxgpuMmu *mmu, unsigned vmid, uint64_t va,
                                     enum mxgpu_access access,
                                     MxgpuTranslation *out)
    __attribute__((warn_unused_result));

/* Reads and writes memory that translation gave, inside one page. */
enum mxgpu_fault mxgpu_mmu_read(MxgpuMmu *mmu, const MxgpuTranslation *t,
                                void *buf, size_t len)
    __attribute__((warn_unused_result));
enum mxgpu_fault mxgpu_mmu_write(MxgpuMmu *mmu, const MxgpuTranslation *t,
                                 const void *buf, size_t len)
    __attribute__((warn_unused_result));

/* What a debugger sees of a walk: no bit is set, nothing is counted. */
typedef struct MxgpuMmuLook {
    unsigned steps;
    struct {
        unsigned level;
        bool system;  /* the entry lies in system memory */
        uint64_t at;  /* where it lies */
        uint64_t pte;
    } step[MXGPU_PT_LEVELS];
    enum mxgpu_fault fault; /* NONE: what follows is valid */
    uint64_t addr, perms;
    unsigned page_shift;
    bool system;
} MxgpuMmuLook;

void mxgpu_mmu_look(MxgpuMmu *mmu, unsigned vmid, uint64_t va,
                    MxgpuMmuLook *out);
/* Reads len bytes whatever their pages permit. */
enum mxgpu_fault mxgpu_mmu_look_read(MxgpuMmu *mmu, unsigned vmid, uint64_t va,
                                     void *buf, size_t len)
    __attribute__((warn_unused_result));

typedef struct MxgpuMmuClient {
    MxgpuMmu *mmu;
    struct MxgpuMmuClient *next;
    _Atomic uint64_t seen;
    _Atomic bool active;
} MxgpuMmuClient;

void mxgpu_mmu_client_add(MxgpuMmu *mmu, MxgpuMmuClient *client);
void mxgpu_mmu_client_remove(MxgpuMmuClient *client);
/* Each returns whether the TLB must be dropped now. */
bool mxgpu_mmu_client_begin(MxgpuMmuClient *client);
bool mxgpu_mmu_client_poll(MxgpuMmuClient *client); /* one relaxed load */
void mxgpu_mmu_client_end(MxgpuMmuClient *client);

/* For those who save and load; the client is not active. Whether it has to drop
 * its TLB when it begins. */
bool mxgpu_mmu_client_behind(MxgpuMmuClient *client);
void mxgpu_mmu_client_set_behind(MxgpuMmuClient *client, bool behind);

void mxgpu_mmu_invalidate(MxgpuMmu *mmu);
bool mxgpu_mmu_invalidate_busy(MxgpuMmu *mmu);

#endif
