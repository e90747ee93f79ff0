/* SPDX-License-Identifier: MIT */
#ifndef MC_CORE_LAUNCH_H
#define MC_CORE_LAUNCH_H

#include "core/module/module.h"
#include "core/stream/stream.h"

/*
 * Arguments come as one pointer each (params) or packed (buffer). Limits that
 * are not met: mcErrorInvalidConfiguration (grid, block), mcErrorInvalidValue
 * (shared memory, arguments), mcErrorLaunchOutOfResources (registers, stack),
 * mcErrorCooperativeLaunchTooLarge. flags: MXGPU_PKT_COOPERATIVE or 0.
 */
mcError_t mc_launch(McStream *stream, McFunction *function, dim3 grid,
                    dim3 block, size_t shared, void **params,
                    const void *buffer, size_t buffer_size, unsigned flags);

/* Of a capturing stream: mc_launch with a priority, or NULL. */
mcError_t mc_launch_capture(McStream *stream, McFunction *function, dim3 grid,
                            dim3 block, size_t shared, void **params,
                            const void *buffer, size_t buffer_size,
                            unsigned flags, const int *priority);

/* What mc_launch would return, but for errors of the device. */
mcError_t mc_launch_check(McStream *stream, McFunction *function, dim3 grid,
                          dim3 block, size_t shared, void **params,
                          unsigned flags);

/* The packet of a launch with arguments at args, flags set: it is checked as by
 * mc_launch. */
mcError_t mc_launch_packet(McContext *ctx, McFunction *function, dim3 grid,
                           dim3 block, size_t shared, unsigned flags,
                           const uint8_t *args, union mxgpu_packet *packet);

/* Bytes in front of the arguments of a packet: those of a kernel that launches
 * others have a record (mxgpu/launch.h) there, which mc_launch_record writes.
 * memory: where both are, a multiple of 64. */
unsigned mc_launch_head(const union mxgpu_packet *packet);
void mc_launch_record(const union mxgpu_packet *packet, uint8_t *memory);

/* Threads of the largest block that a launch accepts. */
unsigned mc_max_threads(const McContext *ctx, const McFunction *function);

/* Blocks of a kernel that fit a compute unit together. */
unsigned mc_occupancy(const McContext *ctx, const McFunction *function,
                      unsigned threads, size_t dynamic_shared);

#endif
