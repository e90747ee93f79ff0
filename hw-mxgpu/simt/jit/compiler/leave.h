/* SPDX-License-Identifier: MIT */
/* How warps leave. */
#ifndef MXGPU_SIMT_JIT_COMPILER_LEAVE_H
#define MXGPU_SIMT_JIT_COMPILER_LEAVE_H

#include "values.h"

/* Counts n instructions of the block. */
void emit_count(Emit *e, unsigned n);
/* Makes the block "leave". */
void emit_leave_begin(Emit *e);
/* What is in there, when all go there that do: variables to memory, and back to
 * the caller. */
void emit_leave(Emit *e);
/* There, from the place where code is made; types: of x registers here. */
void emit_leave_from(Emit *e, JitLeave reason, const uint8_t types[32]);
/* Leaves the region in front of the op that is being made, if "failed" (i1). */
void emit_stop_if(Emit *e, LLVMValueRef failed, JitLeave why);

#endif
