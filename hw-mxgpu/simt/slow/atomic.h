/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SLOW_ATOMIC_H
#define MXGPU_SIMT_SLOW_ATOMIC_H

#include "simt/state.h"

/*
 * lr, sc, amo* and mx.af* for the lanes of mask. x registers of the instruction
 * are wide. false: a lane faulted and none has done anything, or the work
 * budget was exhausted before.
 */
bool mxgpu_simt_atomic(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                       uint64_t mask);

/* Bytes that one of these accesses. */
unsigned mxgpu_simt_atomic_size(unsigned op);

#endif
