/* SPDX-License-Identifier: MIT */
/* What gdb sees of kernels in words and numbers (kernel_gdb_show.c). All but
 * reads are for the MCU's thread, with the units held. */
#ifndef MXGPU_CORE_KERNEL_GDB_SHOW_H
#define MXGPU_CORE_KERNEL_GDB_SHOW_H

#include "internal.h"
#include "simt/debug.h"

/* gdb's number of a lane. */
uint64_t mxgpu_kernel_gdb_thread(MxgpuSimtLane at);

/* By the numbers of the description; false: there is no such register, or it
 * cannot be written. */
bool mxgpu_kernel_gdb_read(MxgpuDevice *dev, MxgpuSimtLane at, unsigned number,
                           uint64_t *value);
bool mxgpu_kernel_gdb_write(MxgpuDevice *dev, MxgpuSimtLane at,
                            unsigned number, uint64_t value);

/* Documents: see MxgpuGdbOps. */
const char *mxgpu_kernel_gdb_description(void *opaque);
const char *mxgpu_kernel_gdb_memory_map(void *opaque);
const char *mxgpu_kernel_gdb_threads(void *opaque, bool fresh);
const char *mxgpu_kernel_gdb_libraries(void *opaque, bool fresh);

/* Resident warps in lines for people. NULL: there was no memory. */
const char *mxgpu_kernel_gdb_warps(MxgpuDevice *dev);

#endif
