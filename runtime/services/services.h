/* SPDX-License-Identifier: MIT */
/*
 * What kernels are served with: the FIFO for what they print, and the heap.
 * Both are made when a kernel that uses them is first launched, and are the
 * context's.
 */
#ifndef MC_SERVICES_SERVICES_H
#define MC_SERVICES_SERVICES_H

#include "core/context/context.h"

#define MC_FIFO_DEFAULT (1u << 20)
#define MC_HEAP_DEFAULT (8u << 20)
#define MC_LAUNCH_DEFAULT 2048u
#define MC_LAUNCH_MOST    65536u
#define MC_SYNC_DEPTH_DEFAULT 2u

mcError_t mc_services_new(McContext *ctx, McServices **out);
/* Nothing runs any more. Prints what is left. */
void mc_services_free(McServices *services);

/* Bytes; rounded up to pages. mcErrorInvalidValue once it is in use,
 * mcErrorMemoryAllocation when the device has less. */
mcError_t mc_services_set_fifo(McServices *services, size_t bytes);
mcError_t mc_services_set_heap(McServices *services, size_t bytes);
size_t mc_services_fifo(McServices *services);
size_t mc_services_heap(McServices *services);
/* Grids that kernels may have launched at a time, at least 1. The same errors;
 * mcErrorInvalidValue for more than MC_LAUNCH_MOST, too. */
mcError_t mc_services_set_launches(McServices *services, size_t count);
size_t mc_services_launches(McServices *services);

/* Kernels of grids above that depth may wait for what they launched, at most
 * MXGPU_LAUNCH_DEPTH. mcErrorInvalidValue as above. */
mcError_t mc_services_set_sync_depth(McServices *services, size_t depth);
size_t mc_services_sync_depth(McServices *services);

/* What the core asks of them. */
extern const McServicesOps mc_services_ops;

#endif
