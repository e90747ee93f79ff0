/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SLOW_STORE_H
#define MXGPU_SIMT_SLOW_STORE_H

#include "simt/state.h"

/*
 * A store of mask's lanes, size bytes each from s, in a dispatch whose faults
 * may be replayed: when a lane faults with something that can be mended, which
 * is what false stands for then, none has stored.
 */
bool mxgpu_simt_store_all(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                          uint64_t pc, uint64_t mask, unsigned size,
                          const void *s);

#endif
