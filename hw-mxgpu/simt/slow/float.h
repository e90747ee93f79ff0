/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SLOW_FLOAT_H
#define MXGPU_SIMT_SLOW_FLOAT_H

#include "simt/state.h"

/*
 * Any FP arithmetic instruction for the lanes of mask, one by one: every
 * rounding mode, flags. x registers of the instruction are wide. false: a lane
 * faulted, or the work budget was exhausted before.
 */
bool mxgpu_simt_float(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                      uint64_t mask);
/* Sets the warp's fp_level (float.c); flags: its dispatch records them. */
void mxgpu_simt_fp_level(MxgpuWarp *w, bool flags);

#endif
