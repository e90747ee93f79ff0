/* SPDX-License-Identifier: MIT */
/*
 * What every address of the process means: allocations of all devices and
 * pinned host memory, sorted by address. Thread-safe.
 */
#ifndef MC_CORE_RANGE_H
#define MC_CORE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum McRangeKind {
    MC_RANGE_DEVICE, /* mcMalloc */
    MC_RANGE_POOL,   /* mcMallocAsync */
    MC_RANGE_MODULE, /* image of a module: not for mcFree */
    MC_RANGE_HOST,   /* mcMallocHost */
    MC_RANGE_REGISTERED, /* mcHostRegister */
    MC_RANGE_MAPPED, /* mcMemMap */
    MC_RANGE_IPC,      /* mcIpcOpenMemHandle */
    MC_RANGE_EXTERNAL, /* mcExternalMemoryGetMappedBuffer */
    MC_RANGE_MANAGED, /* mcMallocManaged, __managed__ */
    MC_RANGE_SPARSE,  /* sparse arrays */
} McRangeKind;

typedef struct McRange {
    uint64_t base, size;
    McRangeKind kind;
    int device;     /* it lives on, or was current when it was pinned */
    unsigned flags; /* given by the user */
    /* Of MC_RANGE_MAPPED, whose device is -1 for host memory: */
    uint32_t reach; /* devices that may read it, a bit each */
    bool cpu;       /* the host may read it */
    bool sync;      /* synchronous operations on it always wait */
    uint64_t id;    /* of the range, as long as the process lives: set when it
                       is added */
    void *owner;    /* McBlock, McPiece, McModule or McHostMemory */
    /* Of a module: constants kernels cannot write, and where copies do. */
    uint64_t constants, constants_size, writable;
} McRange;

/* Memory of the host that devices reach. */
static inline bool mc_range_is_host(const McRange *range)
{
    return range->kind == MC_RANGE_HOST ||
           range->kind == MC_RANGE_REGISTERED ||
           range->kind == MC_RANGE_MANAGED;
}

/* False when it overlaps another range or memory ran out. */
bool mc_range_add(const McRange *range);
/* The range that starts at base. */
bool mc_range_remove(uint64_t base, McRange *removed);
/* Other access to the range that starts at base. */
void mc_range_set_reach(uint64_t base, uint32_t reach, bool cpu);
/* Sets "sync" of the range that contains addr. */
bool mc_range_set_sync(uint64_t addr, bool sync);
/* The range that contains addr. */
bool mc_range_find(uint64_t addr, McRange *found);
/* The first range of a device at or behind addr. */
bool mc_range_next(uint64_t addr, McRange *found);
/* Whether any range overlaps [base, base + size). */
bool mc_range_overlaps(uint64_t base, uint64_t size);

#endif
