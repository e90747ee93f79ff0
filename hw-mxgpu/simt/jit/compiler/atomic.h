/* SPDX-License-Identifier: MIT */
/* Atomics. */
#ifndef MXGPU_SIMT_JIT_COMPILER_ATOMIC_H
#define MXGPU_SIMT_JIT_COMPILER_ATOMIC_H

#include "values.h"

void emit_atomic(Emit *e, const SimtOp *op);

#endif
