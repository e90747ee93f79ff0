/* SPDX-License-Identifier: MIT */
/* Hosts compute units alone: VRAM, page tables, ELF images, system memory. */
#ifndef MXGPU_TESTS_SIMT_HOST_H
#define MXGPU_TESTS_SIMT_HOST_H

#include <glib.h>

#include "simt/context.h"
#include "simt/simt.h"

#define HOST_VRAM_SIZE   (512ull << 20)
#define HOST_SYSTEM_SIZE (1ull << 20)
#define HOST_SYSTEM_BUS  0x100000000ull /* bus address of system memory */
#define HOST_HOLE_BUS    0x200000000ull /* DMA works, no host pointer */

/* The usual address space: VMID 1 */
#define HOST_VMID    1
#define HOST_CODE_VA 0x10000000ull /* 4 KiB pages, RX, 1 MiB */
#define HOST_DATA_VA 0x40000000ull /* 2 MiB pages, RW and atomic, 256 MiB */
#define HOST_SMALL_VA 0x30000000ull /* 4 KiB pages of VRAM, RW+AT, 1 MiB */
#define HOST_SYS_VA  0x20000000ull /* 4 KiB pages of system memory, RW+AT */
#define HOST_HOLE_VA 0x28000000ull /* 4 KiB, RW+AT, behind HOST_HOLE_BUS */
#define HOST_DATA_BYTES (256ull << 20)

#define PERM_RW (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC)
#define PERM_RX (MXGPU_PTE_READ | MXGPU_PTE_EXECUTE)

#define HOST_UNITS 16 /* at most */

typedef struct SimtHost {
    uint8_t *vram, *system, hole[4096];
    MxgpuMmu *mmu;
    MxgpuSimt *simt;
    unsigned cus;
    uint64_t free_pages;   /* VRAM offset of the next page table */
    uint64_t code, data, small; /* VRAM offsets */
    _Atomic unsigned done; /* bit of each slot that ended */
    _Atomic unsigned wakes; /* how often units were to be woken */
    _Atomic uint64_t clock;
    GHashTable *symbols;
    uint64_t forget[HOST_UNITS]; /* random state of each unit; 0: it does not */
    bool reload; /* at times all of them are saved, reset and loaded as well */
} SimtHost;

SimtHost *simt_host_new(unsigned cus);
void simt_host_free(SimtHost *h);
void simt_host_map(SimtHost *h, unsigned vmid, uint64_t va, uint64_t addr,
                   uint64_t size, uint64_t bits, unsigned level);
/* The entry of level 0 or 1 that maps va. */
uint64_t *simt_host_pte(SimtHost *h, unsigned vmid, uint64_t va);
void *simt_host_data(SimtHost *h, uint64_t va);
/* Loads an ELF linked at HOST_CODE_VA. */
void simt_host_load(SimtHost *h, const char *path);
uint64_t simt_host_symbol(SimtHost *h, const char *name);
/* grid x, block x, no shared memory, 8 KiB stacks, args at HOST_DATA_VA */
MxgpuDispatch simt_host_dispatch(uint64_t entry, unsigned grid, unsigned block);
/*
 * Units forget what they have cached before some of the steps that follow, and
 * have work to spare to load it again; seed 0: no more. With MXGPU_TEST_FORGET
 * in the environment they do so from the beginning. h->reload is for tests that
 * drive all units from one thread.
 */
void simt_host_forget(SimtHost *h, uint64_t seed);
/* What a held slot has, which is ready for that: the slot is free then. */
GByteArray *simt_host_take_context(SimtHost *h, unsigned slot);
/* mxgpu_simt_context_load() */
MxgpuContextState simt_host_give_context(SimtHost *h, unsigned slot,
                                         const MxgpuDispatch *whose,
                                         GByteArray *bytes);
/* mxgpu_simt_run() */
bool simt_host_step(SimtHost *h, unsigned cu, unsigned budget);
/* The same, but a short step where units forget. */
bool simt_host_steps(SimtHost *h, unsigned cu, unsigned budget);
/* Starts it in the slot, and wakes the threads that drive units. */
void simt_host_start(SimtHost *h, unsigned slot, const MxgpuDispatch *d);
/* Runs slot 0 to its end on all units in turn. */
MxgpuDispatchFault simt_host_run(SimtHost *h, const MxgpuDispatch *d);

#endif
