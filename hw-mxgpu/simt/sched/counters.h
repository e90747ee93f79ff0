/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SCHED_COUNTERS_H
#define MXGPU_SIMT_SCHED_COUNTERS_H

#include "simt/state.h"

/* A turn has ended: adds its warp instructions, and what the interpreters have
 * counted meanwhile, to the unit's counters. */
void mxgpu_simt_count_turn(MxgpuCu *cu, uint64_t instructions);
/* Clears the slot's counters, before its dispatch starts: no unit has a block
 * of it. */
void mxgpu_simt_profile_start(MxgpuSimt *simt, unsigned slot);
/* A block of a profiled dispatch begins, with so many warps, or ends: 0. */
void mxgpu_simt_profile_block(MxgpuCu *cu, unsigned slot, unsigned warps);

#endif
