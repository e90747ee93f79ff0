/* SPDX-License-Identifier: MIT */
/* What instructions are for the compiler, and what registers hold. */
#ifndef MXGPU_SIMT_JIT_TYPES_H
#define MXGPU_SIMT_JIT_TYPES_H

#include "code.h"

JitKind mxgpu_jit_kind(const SimtOp *op);
/* Types of registers across blocks; false: it cannot be compiled. */
bool mxgpu_jit_types(JitCode *code);
/* Of an instruction's x[rd], from those of its operands. */
JitType mxgpu_jit_result(const SimtOp *op, JitType a, JitType b);
/* What is as much as the two. */
JitType mxgpu_jit_join(JitType a, JitType b);
bool mxgpu_jit_writes_x(const SimtOp *op, JitKind kind);
/* Whether f operands (n: 0 to 2) and results (3) are doubles. */
bool mxgpu_jit_double(const SimtOp *op, unsigned n);
/* f operands, a bit each. */
unsigned mxgpu_jit_f_sources(const SimtOp *op, JitKind kind);
/* x registers that instructions name. */
uint32_t mxgpu_jit_named(const JitCode *c);
/* x registers that may be read behind a block. */
uint32_t mxgpu_jit_behind(const JitCode *c, const JitBlock *b);

#endif
