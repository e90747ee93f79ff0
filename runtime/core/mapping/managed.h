/* SPDX-License-Identifier: MIT */
/*
 * Managed memory, and what the program said about parts of it. It is memory of
 * the host that every device reaches at the same address, so there is one copy,
 * and what is said moves nothing (docs/memory.md). Thread-safe.
 */
#ifndef MC_CORE_MANAGED_H
#define MC_CORE_MANAGED_H

#include "host_memory.h"

/* Zeroed. device: the current one; none need be open. variable: a __managed__
 * one, of the caller in the program's image. */
mcError_t mc_managed_alloc(int device, uint64_t size, unsigned flags,
                           bool variable, McCaller caller, void **ptr);
/* As mc_host_free(). */
mcError_t mc_managed_free(void *ptr, bool variable);

#define MC_MANAGED_BY_HOST (1ull << 63) /* of accessed_by */

/* Of every byte of some pages. Locations of type mcMemLocationTypeInvalid:
 * none. */
typedef struct McAdvice {
    bool read_mostly;
    mcMemLocation preferred, prefetched;
    uint64_t accessed_by; /* bits of devices, and of the host */
} McAdvice;

typedef void (*McAdviceCall)(McAdvice *advice, const void *opaque);
typedef void (*McAdviceLook)(const McAdvice *advice, void *opaque);

/* Changes what is known of the pages that [address, address + size) touches,
 * or looks at all of it, in one step. mcErrorInvalidValue: not all of it is
 * managed memory; mcErrorMemoryAllocation; nothing is done then. */
mcError_t mc_managed_change(uint64_t address, uint64_t size, McAdviceCall call,
                            const void *opaque);
mcError_t mc_managed_look(uint64_t address, uint64_t size, McAdviceLook look,
                          void *opaque);

#endif
