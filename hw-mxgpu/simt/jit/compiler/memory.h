/* SPDX-License-Identifier: MIT */
/* Loads, stores, and what is called. */
#ifndef MXGPU_SIMT_JIT_COMPILER_MEMORY_H
#define MXGPU_SIMT_JIT_COMPILER_MEMORY_H

#include "values.h"

void emit_load(Emit *e, const SimtOp *op);
void emit_store(Emit *e, const SimtOp *op);
void emit_csr(Emit *e, const SimtOp *op);
void emit_call(Emit *e, const SimtOp *op, bool may_fault);

#endif
