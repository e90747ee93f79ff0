/* SPDX-License-Identifier: MIT */
/*
 * What kernels are served with: the FIFO for what they print, and the heap.
 * Both are made when a kernel that uses them is first launched, and are the
 * context's.
 */
#ifndef MC_SERVICES_SERVICES_H
#define MC_SERVICES_SERVICES_H

#include "core/module.h"

#define MC_FIFO_DEFAULT (1u << 20)
#define MC_HEAP_DEFAULT (8u << 20)

mcError_t mc_services_new(McContext *ctx, McServices **out);
/* Nothing runs any more. Prints what is left. */
void mc_services_free(McServices *services);

/* Before a launch: makes what the kernel uses and tells its module where it
 * is. */
mcError_t mc_services_bind(McFunction *function);

/* Bytes; rounded up to pages. mcErrorInvalidValue once it is in use,
 * mcErrorMemoryAllocation when the device has less. */
mcError_t mc_services_set_fifo(McServices *services, size_t bytes);
mcError_t mc_services_set_heap(McServices *services, size_t bytes);
size_t mc_services_fifo(McServices *services);
size_t mc_services_heap(McServices *services);

/* Prints what kernels have left so far. */
void mc_services_flush(McContext *ctx);

#endif
