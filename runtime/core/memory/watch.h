/* SPDX-License-Identifier: MIT */
/*
 * Who watches memory come and go, for checkers (check/). There is one watcher or
 * none, from before the first allocation to the end of the process.
 */
#ifndef MC_CORE_WATCH_H
#define MC_CORE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct McRange McRange;

typedef struct McMemoryWatch {
    /* From the thread that allocates; before anybody knows the address, and
     * when no call finds it any more. */
    void (*range)(const McRange *range, bool added);
    /* Memory that ranges are made of, and of which only they may be used:
     * mapped, or about to be unmapped. */
    void (*arena)(uint64_t va, uint64_t size, bool added);
} McMemoryWatch;

extern const McMemoryWatch *mc_memory_watch;

static inline void mc_watch_range(const McRange *range, bool added)
{
    if (__builtin_expect(mc_memory_watch != NULL, 0)) {
        mc_memory_watch->range(range, added);
    }
}

static inline void mc_watch_arena(uint64_t va, uint64_t size, bool added)
{
    if (__builtin_expect(mc_memory_watch != NULL, 0)) {
        mc_memory_watch->arena(va, size, added);
    }
}

#endif
