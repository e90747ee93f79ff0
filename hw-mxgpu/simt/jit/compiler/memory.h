/* SPDX-License-Identifier: MIT */
/* Loads, stores, and what is called. */
#ifndef MXGPU_SIMT_JIT_COMPILER_MEMORY_H
#define MXGPU_SIMT_JIT_COMPILER_MEMORY_H

#include "values.h"

/* A register from the low bytes of i32 or i64 lanes. */
LLVMValueRef emit_extended(Emit *e, const SimtOp *op, LLVMValueRef v);
/* The same of lanes as they are in memory, of as many bytes as the op loads. */
LLVMValueRef emit_of_memory(Emit *e, const SimtOp *op, LLVMValueRef v);
/* What is stored, as i32 or i64 lanes. */
LLVMValueRef emit_stored(Emit *e, const SimtOp *op);
void emit_load(Emit *e, const SimtOp *op);
void emit_store(Emit *e, const SimtOp *op);

#endif
