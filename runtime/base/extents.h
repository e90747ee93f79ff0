/* SPDX-License-Identifier: MIT */
/*
 * Allocator of address ranges: VRAM offsets, bus addresses, pieces of chunks.
 * First fit by address over the free extents, which are kept in a tree, merged.
 * Allocating and freeing take logarithmic time in their number; an allocation
 * with an alignment may in addition look at extents that are large enough and
 * lie badly, of which there are at most as many as requests of that size fit.
 * Not thread safe.
 */
#ifndef MC_BASE_EXTENTS_H
#define MC_BASE_EXTENTS_H

#include "tree.h"

typedef struct McExtent {
    McNode node; /* by start */
    uint64_t start, size;
    uint64_t longest; /* size below and including this node */
} McExtent;

typedef struct McExtents {
    McTree free;     /* disjoint, never adjacent */
    McExtent *spare; /* linked by node.parent */
    size_t spares;
    size_t live;     /* allocations out there; each may split one extent */
    uint64_t total;  /* free bytes */
} McExtents;

void mc_extents_init(McExtents *e);
void mc_extents_fini(McExtents *e);

/* Adds an extent that is not part of it yet. -ENOMEM. */
int mc_extents_add(McExtents *e, uint64_t start, uint64_t size);
/* Takes whatever of [start, start + size) is free out for good. -ENOMEM. */
int mc_extents_exclude(McExtents *e, uint64_t start, uint64_t size);

/* *start is congruent to phase modulo align, a power of two. size is not 0.
 * -ENOSPC when nothing fits, -ENOMEM when bookkeeping memory is out. */
int mc_extents_alloc(McExtents *e, uint64_t size, uint64_t align,
                     uint64_t phase, uint64_t *start);
/* Allocates [start, start + size), which is free. -ENOMEM. */
int mc_extents_take(McExtents *e, uint64_t start, uint64_t size);
/* Exactly what was allocated. Never fails. */
void mc_extents_free(McExtents *e, uint64_t start, uint64_t size);

/* The first free extent that ends behind addr, or NULL. */
McExtent *mc_extents_find(const McExtents *e, uint64_t addr);

#endif
