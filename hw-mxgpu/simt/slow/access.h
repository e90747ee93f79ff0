/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SLOW_ACCESS_H
#define MXGPU_SIMT_SLOW_ACCESS_H

#include "simt/state.h"

/* Counts a load, store or atomic of "size" bytes that the lanes of mask have
 * done at x[r] + imm, if the unit counts accesses now
 * (SimtCuCache.counting). */
void mxgpu_simt_count_access(MxgpuCu *cu, MxgpuWarp *w, unsigned r,
                             uint64_t imm, uint64_t mask, unsigned size);

#endif
