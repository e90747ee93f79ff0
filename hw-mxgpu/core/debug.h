/* SPDX-License-Identifier: MIT */
/*
 * gdb on the firmware and on kernels: the bytes of a connection, which a host
 * has from a socket or a character device. What they ask for is done by the
 * MCU's thread, between two instructions of the firmware; nothing here waits for
 * it. All but the MCU, or all but the compute units, runs on while the debugger
 * has stopped that.
 */
#ifndef MXGPU_CORE_DEBUG_H
#define MXGPU_CORE_DEBUG_H

#include "device.h"

typedef enum MxgpuDebugged {
    MXGPU_DEBUG_FIRMWARE,
    MXGPU_DEBUG_KERNELS,
} MxgpuDebugged;

/* Both are called from threads of the device, and may not wait. */
typedef struct MxgpuDebugOps {
    /* Bytes for the debugger: all of them are taken. It calls nothing of
     * this header. */
    void (*output)(void *host, const void *bytes, size_t len);
    /* There is room for bytes of it again. */
    void (*ready)(void *host);
} MxgpuDebugOps;

/* Before all others. halt: a start of the firmware leaves the MCU before its
 * first instruction, for a debugger to go on from. false: there is no memory. */
bool mxgpu_device_gdb_open(MxgpuDevice *dev, const MxgpuDebugOps *ops,
                           void *host, bool halt)
    __attribute__((warn_unused_result));
/* The same for kernels; halt: they wait for a debugger. */
bool mxgpu_device_kernel_gdb_open(MxgpuDevice *dev, const MxgpuDebugOps *ops,
                                  void *host, bool halt)
    __attribute__((warn_unused_result));
/* Kernels were loaded: a debugger reads symbols from the file, whose first
 * segment is at that address of the device; path NULL: what was there is not any
 * more. Without a debugger to be (kernel_gdb_open) nothing happens. false: there
 * is no memory. From any thread. */
bool mxgpu_device_gdb_module(MxgpuDevice *dev, uint64_t address,
                             const char *path);
/* The device is about to go: a debugger of kernels is told that they have
 * ended. */
void mxgpu_device_kernel_gdb_end(MxgpuDevice *dev);
/* Bytes that are taken now. When it was 0, ready() tells of room. */
size_t mxgpu_device_gdb_room(MxgpuDevice *dev, MxgpuDebugged which);
/* At most so many. Until the first packet a connection changes nothing. */
void mxgpu_device_gdb_input(MxgpuDevice *dev, MxgpuDebugged which,
                            const void *bytes, size_t len);
/* The connection is gone: its debugger is detached, and what it had stopped runs. There is
 * no output() behind this call but for the next connection. */
void mxgpu_device_gdb_close(MxgpuDevice *dev, MxgpuDebugged which);

#endif
