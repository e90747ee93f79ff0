/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_EXEC_JIT_ATOMIC_H
#define MXGPU_SIMT_EXEC_JIT_ATOMIC_H

#include "isa.h"
#include "simt/jit/code.h"

#if defined(SIMT_AVX512)
/* The instruction of the lanes of mask: operands in x[JIT_R1] and x[JIT_R2], the
 * result in x[SINK] and word[SINK]. false: a lane is elsewhere, and none has done
 * anything. */
bool jit_atomic(MxgpuCu *cu, MxgpuWarp *w, const JitFrame *f,
                const JitSite *site, const SimtOp *p, uint64_t mask)
    SIMT_OWN("jit_atomic");
#endif

#endif
