/* SPDX-License-Identifier: MIT */
/* Integer instructions and branches. */
#ifndef MXGPU_SIMT_JIT_COMPILER_INT_H
#define MXGPU_SIMT_JIT_COMPILER_INT_H

#include "values.h"

void emit_int(Emit *e, const SimtOp *op);
/* What it computes of operands of one type: numbers, or vectors of i32 (of words that
 * stay words) or i64. */
LLVMValueRef emit_compute(Emit *e, unsigned op, LLVMValueRef a, LLVMValueRef b);
/* Divides what is one value each, or of one lane; false: something else is to be
 * done. */
bool emit_divide(Emit *e, const SimtOp *op);
/* Lanes that take the branch, i64. */
LLVMValueRef emit_taken(Emit *e, const SimtOp *op);

#endif
