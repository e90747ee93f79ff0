/* SPDX-License-Identifier: MIT */
/* A device's state as an image in memory: three visitors of core/state.h. */
#ifndef MXGPU_CORE_IMAGE_H
#define MXGPU_CORE_IMAGE_H

#include "state.h"

/* Bytes that mxgpu_state_save() needs now; 0: the device does not stand
 * still. */
size_t mxgpu_state_size(MxgpuDevice *dev);
/* -ENOSPC when size bytes are too few; *used: how many it took. */
int mxgpu_state_save(MxgpuDevice *dev, void *image, size_t size, size_t *used)
    __attribute__((warn_unused_result));
/* Errors are those of mxgpu_device_visit(); -EINVAL, too, when the image is
 * longer or shorter than it says. */
int mxgpu_state_load(MxgpuDevice *dev, const void *image, size_t size)
    __attribute__((warn_unused_result));

#endif
