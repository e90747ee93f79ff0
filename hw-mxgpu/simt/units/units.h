/* SPDX-License-Identifier: MIT */
/* What simt.c has for the other files of this room. */
#ifndef MXGPU_SIMT_UNITS_UNITS_H
#define MXGPU_SIMT_UNITS_UNITS_H

#include "simt/state.h"

/* Zeroed address space; memory comes when it is touched. NULL: there is
 * none. */
void *mxgpu_cu_reserve(size_t size);
/* Whether the units can run such a grid; *total: its blocks. */
bool mxgpu_simt_can_run(const MxgpuSimt *simt, const MxgpuDispatch *d,
                        uint64_t *total);

/* Drops what mxgpu_simt_debug_open() made (debug.c). */
void mxgpu_simt_debug_close(MxgpuSimt *simt);

#endif
