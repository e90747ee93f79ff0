/* SPDX-License-Identifier: MIT */
/* Kernels launched on several devices together. */
#ifndef MC_CORE_LAUNCH_DEVICES_H
#define MC_CORE_LAUNCH_DEVICES_H

#include "launch.h"
#include "mcr/mc_launch.h"

typedef struct McDeviceLaunch {
    McStream *stream;
    McFunction *function;
    const void *symbol;
    dim3 grid, block;
    size_t shared;
    void **params;
} McDeviceLaunch;

/*
 * All are checked before the first is launched. flags:
 * mcCooperativeLaunchMultiDeviceNo*Sync; without them each kernel waits for
 * what was in all of the streams, and what comes later in one of them for all
 * kernels. cooperative: the same kernel in the same shape everywhere
 * (mcErrorInvalidValue), and all of its blocks run at once. Two on a device are
 * mcErrorInvalidDevice.
 */
mcError_t mc_launch_devices(McDeviceLaunch *launches, unsigned count,
                            unsigned flags, bool cooperative);

#endif
