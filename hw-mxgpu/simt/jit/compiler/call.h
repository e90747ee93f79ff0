/* SPDX-License-Identifier: MIT */
/* Calls of the interpreter. */
#ifndef MXGPU_SIMT_JIT_COMPILER_CALL_H
#define MXGPU_SIMT_JIT_COMPILER_CALL_H

#include "values.h"

void emit_csr(Emit *e, const SimtOp *op);
void emit_call(Emit *e, const SimtOp *op, bool may_fault);

/* For those who do the rest themselves: an operand (JIT_R1, JIT_R2), the call, and
 * what it gives. */
void emit_operand(Emit *e, Value v, unsigned reg);
void emit_call_now(Emit *e, bool may_fault);
Value emit_result(Emit *e, JitType type);

#endif
