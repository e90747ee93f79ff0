/* SPDX-License-Identifier: MIT */
/*
 * What memory there is, for checkers: allocations that live, those that were
 * freed not long ago, and arenas, which are memory that allocations are made of:
 * in these, what is in no allocation is nobody's. Elsewhere are modules,
 * arguments and other memory of the runtime's own, and what is not mapped, which
 * the device finds by itself.
 *
 * What was freed while work ran that was submitted before may be used until that
 * work has ended.
 */
#ifndef MC_CHECK_LIVE_H
#define MC_CHECK_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/memory/range.h"

#define MC_FRAMES 16

typedef struct McTrace {
    unsigned count;
    void *frames[MC_FRAMES]; /* return addresses, the innermost first */
} McTrace;

typedef struct McAlloc {
    uint64_t base, size;
    McRangeKind kind;
    int device;
    uint64_t number; /* in the order of allocation */
    McTrace made, freed;
} McAlloc; /* begins as other elements of tables do */

/* Allocations that were freed and are remembered. */
#define MC_FREED_MAX 8192

/* What changes with each allocation and free. */
extern atomic_ullong mc_live_generation;

/* Called for each allocation, before anybody uses it; NULL: not wanted. */
extern void (*mc_live_made)(const McAlloc *alloc);
/* Whether the work has ended that is meant by "until", which is then not used
 * any more; forget: nor if not. Called under a lock. */
extern bool (*mc_live_until_ended)(void *until, bool forget);

/* Copied, with its number, which is returned. 0: there is no memory. */
uint64_t mc_live_add(const McAlloc *alloc);
/* It is freed; until: which work may use it still, NULL: none does. false: there
 * is no such allocation. */
bool mc_live_remove(uint64_t base, const McTrace *trace, void *until);
bool mc_live_arena(uint64_t base, uint64_t size, bool added);
/* Forgets all: another process begins. */
void mc_live_clear(void);

typedef enum McLook {
    MC_LOOK_OK,      /* all of it is in an allocation, or in no arena */
    MC_LOOK_PENDING, /* freed, but work that may use it runs */
    MC_LOOK_FREED,
    MC_LOOK_OUTSIDE,
} McLook;

/* What [low, high) is. OK: and around it all of [*from, *to) is the same until
 * the generation changes. */
McLook mc_live_look(uint64_t low, uint64_t high, uint64_t *from, uint64_t *to);

/* The allocation that addr is in, or the nearest one in front of and behind it;
 * the last one that was freed there. Copies; false: there is none. */
bool mc_live_at(uint64_t addr, McAlloc *out);
/* Whether any of these bytes is in an allocation, or in an arena: work that runs
 * still may use what was freed. */
bool mc_live_within(uint64_t base, uint64_t size);
bool mc_live_near(uint64_t addr, McAlloc *out);
bool mc_live_freed(uint64_t addr, McAlloc *out);
/* Calls fn for each one that lives, in the order of addresses. */
void mc_live_each(void (*fn)(const McAlloc *alloc, void *opaque),
                  void *opaque);

#endif
