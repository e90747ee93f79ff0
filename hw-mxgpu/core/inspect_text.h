/* SPDX-License-Identifier: MIT */
/* What the files of inspect*.c share. */
#ifndef MXGPU_CORE_INSPECT_TEXT_H
#define MXGPU_CORE_INSPECT_TEXT_H

#include "inspect.h"

void mxgpu_put(MxgpuText t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The next number of *args, decimal or 0x...; false: there is none, and
 * *value stays. */
bool mxgpu_inspect_number(const char **args, uint64_t *value);

/* inspect_queue.c, inspect_memory.c, inspect_unit.c: the commands. */
typedef void MxgpuInspectFn(MxgpuDevice *dev, const char *args, MxgpuText t);
MxgpuInspectFn mxgpu_inspect_queues, mxgpu_inspect_ring;
MxgpuInspectFn mxgpu_inspect_walk, mxgpu_inspect_memory;
MxgpuInspectFn mxgpu_inspect_counters, mxgpu_inspect_units,
    mxgpu_inspect_warps, mxgpu_inspect_log;

#endif
