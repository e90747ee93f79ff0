/* SPDX-License-Identifier: MIT */
/*
 * The heap of kernels, in device memory: this header, a description of each
 * page, and the pages. The host makes it all zero but for pages and base;
 * afterwards only kernels write to it.
 *
 * A page is free, has objects of one size, or is part of a run of pages. Its
 * state says which and counts the objects; an object is counted before its bit
 * is set and after its bit is cleared, so whoever was counted finds a bit.
 */
#ifndef MC_DEVICE_HEAP_H
#define MC_DEVICE_HEAP_H

#include <stdint.h>

#define MC_HEAP_PAGE    4096u
#define MC_HEAP_CLASSES 14u
#define MC_HEAP_SMALL   2048u /* larger objects have pages of their own */

struct mc_heap_page {
    uint64_t state;   /* objects or pages of the run; kind from bit 48 */
    uint64_t used[4]; /* a bit an object */
};

struct mc_heap {
    uint64_t pages;
    uint64_t base;       /* of the first page */
    uint64_t freed;      /* counts what made room */
    uint64_t run_top;    /* hint: no page at or above it is free */
    uint64_t run_failed; /* freed + 1 when none of run_size was found */
    uint64_t run_size;
    uint64_t reserved[2];
    uint64_t failed[MC_HEAP_CLASSES + 2]; /* by class, as run_failed */
    uint64_t first[MC_HEAP_CLASSES + 2];  /* page to look at first */
    struct mc_heap_page page[];
};

#define MC_HEAP_KIND_SHIFT 48
#define MC_HEAP_RUN  0xfeull /* first page of a run */
#define MC_HEAP_PART 0xffull /* another one of it */

#endif
