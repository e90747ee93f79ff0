/* SPDX-License-Identifier: MIT */
/*
 * Devices that use each other's memory. When a device has been given access to
 * another one's, all that is allocated there, now and later, is mapped on it at
 * the same addresses. Memory of pools is mapped on those devices that the pool
 * names. Thread-safe; none of this is on the path of launches and
 * copies but mc_peer_sees().
 */
#ifndef MC_CORE_PEER_H
#define MC_CORE_PEER_H

#include "context.h"

/* Whether a device can be given access to another one. */
bool mc_peer_reaches(McContext *ctx, McContext *other);

/* mcErrorPeerAccessUnsupported, mcErrorPeerAccessAlreadyEnabled,
 * mcErrorMemoryAllocation. */
mcError_t mc_peer_enable(McContext *ctx, McContext *other);
/* Nothing on ctx uses that memory any more. mcErrorPeerAccessNotEnabled. */
mcError_t mc_peer_disable(McContext *ctx, int other);
/* Whether a device has access to what another one allocated; to its own it
 * always has. */
bool mc_peer_sees(int device, int owner);

/* A device is opened and closed: access in both directions ends with it. */
void mc_peers_attach(McContext *ctx);
void mc_peers_detach(McContext *ctx);

/* Memory that is mapped on its own device and that all who have access are to
 * see, until it is removed: before it is unmapped, and bo freed. */
mcError_t mc_peer_add(McContext *owner, KmdBo *bo, uint64_t va, uint64_t size);
void mc_peer_remove(uint64_t va);

/* The same of memory that only the devices in "devices" see, a bit each. */
mcError_t mc_peer_add_for(McContext *owner, KmdBo *bo, uint64_t va,
                          uint64_t size, uint32_t devices);
/* Whether ctx sees such memory from now on; nothing there uses it any more if
 * not. va: as it was added. */
mcError_t mc_peer_allow(uint64_t va, McContext *ctx, bool allowed);

#endif
