/* SPDX-License-Identifier: MIT */
/* A socket for a debugger of the firmware or of kernels (core/debug.h), and a thread that
 * serves it: one connection at a time. */
#ifndef MXGPU_SIM_GDB_H
#define MXGPU_SIM_GDB_H

#include "core/debug.h"

typedef struct MxgpuSimGdb MxgpuSimGdb;

/*
 * where: "PORT" of 127.0.0.1, to which index is added (0: any that is free), or
 * the "/PATH" of a Unix socket, which is made anew and has ".INDEX" behind it
 * if index is not 0; then maybe ",halt": the MCU, or kernels, wait for the
 * debugger before their first instruction. -EINVAL: it is none of these; or what socket(7) says.
 * name gets what a debugger connects to.
 */
int mxgpu_sim_gdb_open(const char *where, unsigned index, MxgpuDevice *dev,
                       MxgpuDebugged which, char *name, size_t size,
                       MxgpuSimGdb **gdb);
/* What there is for the debugger is sent; then no call of the device is made any
 * more. */
void mxgpu_sim_gdb_stop(MxgpuSimGdb *gdb);
/* When the device is gone. */
void mxgpu_sim_gdb_free(MxgpuSimGdb *gdb);

#endif
