/* SPDX-License-Identifier: MIT */
/* Shows accesses to the observer (observe.h), of which there is one. */
#ifndef MXGPU_SIMT_WARP_WATCH_H
#define MXGPU_SIMT_WARP_WATCH_H

#include "simt/state.h"

/* A load or store of mask's lanes at x[r1] + imm, before it is done. false: a
 * lane has faulted. */
bool mxgpu_simt_observe_memory(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                               uint64_t pc, uint64_t mask);
/* The same of an atomic, whose address is in the wide form. */
bool mxgpu_simt_observe_atomic(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                               uint64_t pc, uint64_t mask, unsigned size);

#endif
