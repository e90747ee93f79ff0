/* SPDX-License-Identifier: MIT */
/* Registers between blocks, and how warps leave. */
#ifndef MXGPU_SIMT_JIT_COMPILER_LEAVE_H
#define MXGPU_SIMT_JIT_COMPILER_LEAVE_H

#include "values.h"

/* Makes the variables that are the registers. */
void emit_variables(Emit *e);
/* Variables. */
LLVMValueRef emit_variable_get(Emit *e, LLVMValueRef variable,
                               LLVMTypeRef type);
void emit_variable_add(Emit *e, LLVMValueRef variable, LLVMValueRef v);
void emit_variable_or(Emit *e, LLVMValueRef variable, LLVMValueRef v);
/* What the block has written, to the variables: x registers of "wanted". */
void emit_keep(Emit *e, uint32_t wanted);
/* Counts n instructions of the block. */
void emit_count(Emit *e, unsigned n);
/* Makes the block "leave": variables to memory, and back to the caller. */
void emit_leave(Emit *e);
/* There, from the place where code is made. */
void emit_leave_from(Emit *e, JitLeave reason);
/* Leaves the region in front of the op that is being made, if "failed" (i1). */
void emit_stop_if(Emit *e, LLVMValueRef failed, JitLeave why);

#endif
