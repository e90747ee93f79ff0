/* SPDX-License-Identifier: MIT */
/* A warp's turn, of about "budget" instructions; both return how many were run,
 * by all warps together if it was a convoy's. */
#ifndef MXGPU_SIMT_SCHED_TURN_H
#define MXGPU_SIMT_SCHED_TURN_H

#include "simt/state.h"

/* Without counting accesses: the warp's, or its whole block's while that is a
 * convoy. */
uint64_t mxgpu_simt_run_fast(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget);
/* Counting accesses, and taking the samples that are due. */
uint64_t mxgpu_simt_run_counted(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget);

#endif
