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
    MC_RANGE_MODULE, /* image of a module: not for mcFree */
    MC_RANGE_HOST,   /* mcMallocHost */
    MC_RANGE_REGISTERED, /* mcHostRegister */
} McRangeKind;

typedef struct McRange {
    uint64_t base, size;
    McRangeKind kind;
    int device;     /* it lives on, or was current when it was pinned */
    unsigned flags; /* given by the user */
    void *owner;    /* McBlock, McModule or McHostMemory */
    /* Of a module: constants kernels cannot write, and where copies do. */
    uint64_t constants, constants_size, writable;
} McRange;

/* False when it overlaps another range or memory ran out. */
bool mc_range_add(const McRange *range);
/* The range that starts at base. */
bool mc_range_remove(uint64_t base, McRange *removed);
/* The range that contains addr. */
bool mc_range_find(uint64_t addr, McRange *found);
/* The first range of a device at or behind addr. */
bool mc_range_next(uint64_t addr, McRange *found);
/* Whether any range overlaps [base, base + size). */
bool mc_range_overlaps(uint64_t base, uint64_t size);

#endif
