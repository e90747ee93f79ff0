/* SPDX-License-Identifier: MIT */
/*
 * A capture (mxgpu/capture.h) of a device. It stands between the device and its
 * host: the host opens it, makes the device with its operations in place of the
 * host's own, tells it the device, and closes it behind the device's end.
 */
#ifndef MXGPU_CORE_CAPTURE_H
#define MXGPU_CORE_CAPTURE_H

#include "device.h"

typedef struct MxgpuCapture MxgpuCapture;

/* Bytes after which a capture ends: what a guest does must not fill a disk. */
#define MXGPU_CAPTURE_MOST (1ull << 30)

/* *ops and *host are the host's own, and then those for mxgpu_device_new(),
 * valid until mxgpu_capture_close(). name: of the device; most: bytes. 0 or
 * -errno. */
int mxgpu_capture_open(const char *path, const char *name, uint64_t most,
                       const MxgpuHostOps **ops, void **host,
                       MxgpuCapture **capture);
void mxgpu_capture_device(MxgpuCapture *capture, MxgpuDevice *dev);
/* Only these kinds from now on: 1 << enum mxgpu_capture_kind each; at first all.
 * FULL is always written. */
void mxgpu_capture_kinds(MxgpuCapture *capture, uint32_t kinds);
/* "irq,packet_start": 0 when one of them is no kind. */
uint32_t mxgpu_capture_parse_kinds(const char *text);
/* NULL: nothing. The device is gone. */
void mxgpu_capture_close(MxgpuCapture *capture);

#endif
