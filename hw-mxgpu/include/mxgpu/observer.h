/* SPDX-License-Identifier: MIT */
/*
 * What a tool sees of kernels that run in this process: each access to memory
 * before it is done, each barrier, each fault. For a device model in the tool's
 * own process (sim/sim.h); there is nothing like it on a bus. Kernels then run
 * in the interpreter that looks at each access, and never as convoys.
 *
 * All functions are called from the threads that drive units, several at once,
 * one at a time for a unit. They take bounded time, and call nothing of the
 * device. An instruction may be seen again before it is executed: when a step
 * ends in front of it, or when it waits for a page.
 */
#ifndef MXGPU_OBSERVER_H
#define MXGPU_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "mxgpu/regs.h"

/* Lanes of a warp at an instruction. */
typedef struct MxgpuObservedWarp {
    unsigned unit, slot; /* of the device */
    unsigned vmid;
    uint64_t entry, args; /* of its dispatch: enough to recognise it */
    uint32_t grid[3], size[3]; /* blocks of the grid, threads of a block */
    uint32_t block[3];
    unsigned place; /* of the block on its unit */
    unsigned warp;  /* of the block: its first thread is 64 times that */
    uint32_t shared; /* bytes that the block has */
    uint64_t live;   /* lanes that have not ended */
    uint64_t lanes;  /* that execute the instruction */
    uint64_t pc;
} MxgpuObservedWarp;

/* A load, a store or an atomic. */
typedef struct MxgpuObservedAccess {
    enum mxgpu_access access; /* READ, WRITE or ATOMIC */
    unsigned size;            /* bytes of a lane */
    const uint64_t *addr;     /* of each of the 64; other lanes': anything */
    const uint64_t *value;    /* that a store writes, in the low bytes, if the
                               * observer wants values; else NULL */
} MxgpuObservedAccess;

typedef enum MxgpuObservedEvent {
    /* Of a block: it begins, with its first warp; it is over, be it early. */
    MXGPU_OBSERVED_BLOCK,
    MXGPU_OBSERVED_BLOCK_END,
    /* Lanes arrive at the block's barrier, at a named one (value: its number
     * and threads << 32), at the grid's, at one of lanes (value: the set of
     * lanes that they name; those that name another one come by themselves). */
    MXGPU_OBSERVED_BARRIER,
    MXGPU_OBSERVED_NAMED,
    MXGPU_OBSERVED_GRID,
    MXGPU_OBSERVED_WARPSYNC,
    /* A barrier opens: of the block (no lanes), a named one (value: its
     * number), the grid's for this block. */
    MXGPU_OBSERVED_BARRIER_OPEN,
    MXGPU_OBSERVED_NAMED_OPEN,
    MXGPU_OBSERVED_GRID_OPEN,
    MXGPU_OBSERVED_FENCE,
    MXGPU_OBSERVED_EXIT,
} MxgpuObservedEvent;

typedef struct MxgpuObserver MxgpuObserver;
struct MxgpuObserver {
    /* Whether all bytes in [low, high), of global memory, may be accessed, which
     * is all there is to know; then nothing else is asked, and nothing at all of
     * what lies in the memory that the block or the thread has. NULL: each
     * access is looked at. */
    bool (*range)(void *opaque, unsigned unit, enum mxgpu_access access,
                  uint64_t low, uint64_t high);
    bool shared; /* "access" gets all of shared memory nevertheless */
    bool values; /* MxgpuObservedAccess.value is wanted */
    /* Otherwise: an access of lanes. -1: it is done; else the number of the
     * lane that faults, which ends the grid. */
    int (*access)(void *opaque, const MxgpuObservedWarp *w,
                  const MxgpuObservedAccess *access);
    /* The fault that ends a grid: of lane. */
    void (*fault)(void *opaque, const MxgpuObservedWarp *w, unsigned lane,
                  enum mxgpu_fault code, enum mxgpu_access access,
                  uint64_t addr);
    /* NULL: not wanted. */
    void (*event)(void *opaque, const MxgpuObservedWarp *w,
                  MxgpuObservedEvent event, uint64_t value);
    /* A grid begins in a slot of the device; a grid ended. NULL: not wanted. */
    void (*grid)(void *opaque, unsigned slot, uint64_t entry, uint64_t args,
                 bool begins);
    /* A copy engine has written these bytes. NULL: not wanted. */
    void (*written)(void *opaque, unsigned vmid, uint64_t addr, uint64_t size);
};

#endif
