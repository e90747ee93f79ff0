/* SPDX-License-Identifier: MIT */
/*
 * Physical memory (physical.h) at reserved addresses (reserve.h), and who may
 * use it there. A mapping begins without access; each device that has access
 * has page table entries with just the permissions it was given, the host a
 * mapping of the file. What takes something away first waits for the devices
 * that had it. Thread-safe.
 */
#ifndef MC_CORE_VMM_H
#define MC_CORE_VMM_H

#include "core/memory/physical.h"

/* mcMemAccessFlags, or MC_ACCESS_KEEP. */
#define MC_ACCESS_KEEP (-1)
typedef struct McAccess {
    signed char device[MC_MAX_DEVICES], cpu;
} McAccess;

/* mcErrorInvalidValue: not all of it is reserved in one piece, part of it is
 * mapped, it is more than the memory has, or there is no such handle. */
mcError_t mc_vmm_map(uint64_t va, uint64_t size, uint64_t handle);
/* mcErrorInvalidValue, here and below: not a row of whole mappings. */
mcError_t mc_vmm_unmap(uint64_t va, uint64_t size);
/* All or nothing. The caller holds the contexts of devices that get access.
 * mcErrorNotSupported: a device does not reach the memory. */
mcError_t mc_vmm_set_access(uint64_t va, uint64_t size, const McAccess *access);
/* device -1: the host. mcErrorInvalidValue: nothing is mapped at va. */
mcError_t mc_vmm_get_access(uint64_t va, int device, mcMemAccessFlags *flags);
mcError_t mc_vmm_retain(uint64_t va, uint64_t *handle);
/* mcErrorInvalidValue also: something is mapped there. */
mcError_t mc_vmm_address_free(uint64_t va, uint64_t size);

/* mc_multicast_bind() of what is mapped at va, in one piece. */
mcError_t mc_vmm_bind(uint64_t multicast, uint64_t offset, uint64_t va,
                      uint64_t size);

/* A context was made; it goes away, and its memory with it. */
void mc_vmm_attach(McContext *ctx);
void mc_vmm_detach(McContext *ctx);

#endif
