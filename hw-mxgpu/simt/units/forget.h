/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_UNITS_FORGET_H
#define MXGPU_SIMT_UNITS_FORGET_H

#include "simt/state.h"

/* The registers as software sees them: what a unit keeps is one of many ways
 * to hold them. 0 in lanes that are not live, and in x of a fresh block. */
typedef struct SimtRegisters {
    uint64_t x[32][LANES], f[32][LANES];
} SimtRegisters;
void mxgpu_warp_save(MxgpuWarp *w, bool fresh, SimtRegisters *out);
/* All but state and registers is as after mxgpu_cu_forget(). */
void mxgpu_warp_load(MxgpuWarp *w, const SimtRegisters *in);
/*
 * For tests, between two runs of the unit: overwrites all that is neither state
 * nor a counter with bits that are wrong, and drops it. What runs do then does
 * not change but for TLB misses, and the work of loading again what is cached.
 */
void mxgpu_cu_forget(MxgpuCu *cu);
/* The part of it that is not of a warp. */
void mxgpu_cu_drop_cache(MxgpuCu *cu);

#endif
