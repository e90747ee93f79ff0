/* SPDX-License-Identifier: MIT */
/*
 * Pinned host memory: allocated here or registered by the user. It has the
 * same address on every open device, also on those opened later, and outlives
 * the contexts.
 */
#ifndef MC_CORE_HOST_MEMORY_H
#define MC_CORE_HOST_MEMORY_H

#include "core/context/context.h"
#include "core/memory/range.h"
#include "core/memory/zone.h"

/* MC_RANGE_HOST or MC_RANGE_MANAGED; zeroed. With MXGPU_CHECK, the rest of its
 * last page is a zone. */
mcError_t mc_host_alloc(McRangeKind kind, int device, uint64_t size,
                        unsigned flags, McCaller caller, void **ptr);
/* Waits for the devices that may use it. mcErrorInvalidValue when it is not
 * the start of an allocation of that kind, mcErrorIllegalAddress when it was
 * overrun. */
mcError_t mc_host_free(McRangeKind kind, void *ptr);

/* mcErrorInvalidValue when not all of it is mapped in the process, readable
 * and, but for mcHostRegisterReadOnly, writable. Parts of one page may be
 * registered on their own. */
mcError_t mc_host_register(int device, void *ptr, uint64_t size,
                           unsigned flags);
mcError_t mc_host_unregister(void *ptr);

/* Whether a registered piece is still mapped in the process, which may have
 * unmapped it without a word. */
bool mc_host_mapped(const void *ptr, uint64_t size);

/* Reports what was written into zones since the last time; false: nothing. */
bool mc_host_damaged(void);

/* Maps what exists on a device that was opened, and takes it away again. */
mcError_t mc_host_memory_attach(McContext *ctx);
void mc_host_memory_detach(McContext *ctx);

#endif
