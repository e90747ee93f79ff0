/* SPDX-License-Identifier: MIT */
/*
 * Allocator of address ranges: VRAM offsets and bus addresses. First fit over
 * the free extents, kept sorted and merged. Not thread safe.
 */
#ifndef MC_KMD_RANGE_H
#define MC_KMD_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct KmdExtent {
    uint64_t start, size;
} KmdExtent;

typedef struct KmdRanges {
    KmdExtent *free; /* sorted, disjoint, never adjacent */
    size_t count, capacity;
    size_t live;     /* allocations out there; each may split one extent */
    uint64_t total;  /* free bytes */
} KmdRanges;

void kmd_ranges_init(KmdRanges *r);
void kmd_ranges_fini(KmdRanges *r);

/* Adds an extent that is not part of it yet. -ENOMEM. */
int kmd_ranges_add(KmdRanges *r, uint64_t start, uint64_t size);
/* Takes whatever of [start, start + size) is free out for good. -ENOMEM. */
int kmd_ranges_exclude(KmdRanges *r, uint64_t start, uint64_t size);

/* *start is congruent to phase modulo align, a power of two. size is not 0.
 * -ENOSPC when nothing fits, -ENOMEM when bookkeeping memory is out. */
int kmd_ranges_alloc(KmdRanges *r, uint64_t size, uint64_t align,
                     uint64_t phase, uint64_t *start);
/* Exactly what was allocated. Never fails. */
void kmd_ranges_free(KmdRanges *r, uint64_t start, uint64_t size);

#endif
