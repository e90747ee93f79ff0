/* SPDX-License-Identifier: MIT */
/* Floating point. */
#ifndef MXGPU_SIMT_JIT_COMPILER_FLOAT_H
#define MXGPU_SIMT_JIT_COMPILER_FLOAT_H

#include "values.h"

void emit_fp(Emit *e, const SimtOp *op);

#endif
