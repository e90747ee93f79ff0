/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SCHED_PROFILE_H
#define MXGPU_SIMT_SCHED_PROFILE_H

#include "simt/state.h"

/* Takes a sample of the pc of the lanes of mask; "instructions" is the warp's
 * count. false: the sample could not be stored, which is a fault now, or the
 * work budget is exhausted. */
bool mxgpu_simt_sample(MxgpuCu *cu, MxgpuWarp *w, uint64_t pc, uint64_t mask,
                       uint64_t instructions);
/* Gives a warp of a profiled dispatch its turn, of about "budget" instructions;
 * returns how many were run. */
uint64_t mxgpu_simt_run_profiled(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget);

#endif
