/* SPDX-License-Identifier: MIT */
/*
 * A device that stands still, written to a file and read from one: its state
 * (core/state.h), VRAM, interrupts that nobody has taken, and the clock. The
 * file is of this host's byte order and of this version of the model.
 */
#ifndef MXGPU_SIM_CHECKPOINT_H
#define MXGPU_SIM_CHECKPOINT_H

#include "core/device.h"

typedef struct MxgpuSimCheckpoint {
    MxgpuDevice *dev;
    uint8_t *vram;
    int vram_fd; /* of the same memory */
    uint64_t vram_size;
    const int *irq_fd;
    unsigned vectors;
    uint64_t clock; /* ns, as the device sees it: saved, or loaded */
} MxgpuSimCheckpoint;

/* From the file's offset on; the file may be a pipe. -EBUSY, -ENOMEM, or what
 * write(2) says. */
int mxgpu_sim_checkpoint_save(const MxgpuSimCheckpoint *c, int fd)
    __attribute__((warn_unused_result));
/* -EINVAL when it is not of such a device, or cut short; the device is then as
 * after a reset, and VRAM has anything in it. Reads no further than its end. */
int mxgpu_sim_checkpoint_load(MxgpuSimCheckpoint *c, int fd)
    __attribute__((warn_unused_result));

#endif
