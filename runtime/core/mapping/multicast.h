/* SPDX-License-Identifier: MIT */
/*
 * Multicast objects: an address at which each device of a team has memory of its
 * own, and through which kernels reach that of all of them (device/multimem.h).
 * An object is physical memory (physical.h) that has none itself: it is mapped and
 * released like other memory. Where a device has access to it, its page tables
 * have what is bound of that device; what is bound of all devices lies besides at
 * addresses that no user knows, on each device of the team. What takes something
 * away first waits for the devices. Thread-safe, but for what says otherwise.
 */
#ifndef MC_CORE_MULTICAST_H
#define MC_CORE_MULTICAST_H

#include "core/memory/physical.h"

/* mcErrorInvalidValue, here and below, also: no handle of a multicast object. */
mcError_t mc_multicast_create(unsigned devices, uint64_t size,
                              uint64_t *handle);
/* mcErrorInvalidValue: it is in the team, or the team is whole.
 * mcErrorNotSupported: it does not reach another one of the team, or that it. */
mcError_t mc_multicast_add(uint64_t handle, McContext *ctx);
/* All multiples of MC_GRANULARITY. mcErrorIllegalState: the team is not whole.
 * mcErrorInvalidDevice: the memory is of none of the team. mcErrorInvalidValue:
 * out of range, or that device has something bound there. */
mcError_t mc_multicast_bind(uint64_t handle, uint64_t offset, uint64_t memory,
                            uint64_t memory_offset, uint64_t size);
/* mcErrorInvalidValue: not what makes up whole bindings of that device. */
mcError_t mc_multicast_unbind(uint64_t handle, int device, uint64_t offset,
                              uint64_t size);
/* Where kernels of the context find all of it; made when it is first asked for. */
mcError_t mc_multicast_table(McContext *ctx, uint64_t *va);

/* ---- under mc_physical_lock ---- */

typedef struct McMulticast McMulticast;

/* mc_multicast_bind(); memory NULL: there is none. */
mcError_t mc_multicast_bind_physical(uint64_t handle, uint64_t offset,
                                     McPhysical *memory,
                                     uint64_t memory_offset, uint64_t size);
/* The device gets, or loses, access to the object at va. */
mcError_t mc_multicast_give(McMulticast *m, McContext *ctx, uint64_t va,
                            uint64_t size, uint64_t perms);
void mc_multicast_take(McMulticast *m, McContext *ctx, uint64_t va);
/* The context goes away, before its memory does. */
void mc_multicast_detach(McContext *ctx);

#endif
