/* SPDX-License-Identifier: MIT */
/* How a kernel is launched beside its shape and its arguments. */
#ifndef MC_CORE_LAUNCH_ATTRIBUTE_H
#define MC_CORE_LAUNCH_ATTRIBUTE_H

#include "launch.h"
#include "mcr/mc_launch.h"

typedef struct McLaunchHow {
    unsigned flags; /* MXGPU_PKT_COOPERATIVE */
    bool has_priority;
    int priority;
} McLaunchHow;

/* Reads attributes, the caller's memory, once. mcErrorInvalidValue: a value of
 * one, or too many; mcErrorInvalidConfiguration: the device has not that. */
mcError_t mc_launch_how(const mcLaunchAttribute *attributes, unsigned count,
                        McLaunchHow *how);

/* mc_launch with that. */
mcError_t mc_launch_as(McStream *stream, McFunction *function, dim3 grid,
                       dim3 block, size_t shared, void **params,
                       const void *buffer, size_t buffer_size,
                       const McLaunchHow *how);

#endif
