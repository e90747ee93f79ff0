/* SPDX-License-Identifier: MIT */
/*
 * The state of a device: all that a device in its place would need to go on,
 * but for VRAM and system memory, which are the host's. docs/state.md tells
 * what that is. One walk, mxgpu_device_visit(), serves whoever saves, loads or
 * measures.
 *
 * The device must stand still: paused, or deterministic and not in
 * mxgpu_device_run(). No host operation but kick and trace is called.
 */
#ifndef MXGPU_CORE_STATE_H
#define MXGPU_CORE_STATE_H

#include "base/visit.h"
#include "device.h"

/*
 * Walks the state in a fixed order. A visitor that loads is for a device of the
 * same configuration, whose state is reset first: the image is not trusted, and
 * where it is not one that a device can have, the device is left as after
 * MXGPU_RESET_BUS.
 *   -EBUSY   the device does not stand still; nothing was visited
 *   -EINVAL  loading: no state of such a device
 *   -ENOMEM  loading: the host has no memory for it
 *   others   what ops returned
 */
int mxgpu_device_visit(MxgpuDevice *dev, const MxgpuStateOps *ops, void *opaque)
    __attribute__((warn_unused_result));

/*
 * For tests, of a device that stands still: overwrites and drops all that is
 * not state. What follows does not change but for counts of TLB misses, and for
 * the work of loading again what is cached.
 */
void mxgpu_device_forget(MxgpuDevice *dev);

#endif
