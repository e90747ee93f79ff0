/* SPDX-License-Identifier: MIT */
/*
 * MXGPU_CHECK=1 (docs/checking.md): bytes around allocations, filled with a
 * pattern that is looked at whenever somebody synchronises (check.h). What lies
 * in such a zone belongs to nobody, so it may be looked at whatever is running.
 */
#ifndef MC_CORE_ZONE_H
#define MC_CORE_ZONE_H

#include <stdint.h>

#define MC_ZONE 256u /* bytes of a zone of device memory, at least */

/* Who made an allocation. */
typedef struct McCaller {
    const char *call;    /* the entry point */
    const void *address; /* to which that returns */
} McCaller;

/* What was written of one allocation's zones: device addresses. */
typedef struct McDamage {
    uint64_t first, last;
    uint64_t bytes; /* 0: nothing, and the others mean nothing */
} McDamage;

/* va: what cpu is on the device. Looking adds to *damage. */
void mc_zone_fill(uint8_t *cpu, uint64_t va, uint64_t size);
void mc_zone_look(const uint8_t *cpu, uint64_t va, uint64_t size,
                  McDamage *damage);
/* Of the allocation of size bytes at va. */
void mc_damage_report(const McDamage *damage, uint64_t va, uint64_t size,
                      const McCaller *caller);

#endif
