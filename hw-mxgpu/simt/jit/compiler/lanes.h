/* SPDX-License-Identifier: MIT */
/* Lanes of the mask, each at a host address of its own. */
#ifndef MXGPU_SIMT_JIT_COMPILER_LANES_H
#define MXGPU_SIMT_JIT_COMPILER_LANES_H

#include "values.h"

/* Words or wide lanes at addresses (i64); of lanes that are not in the mask, 0. */
LLVMValueRef emit_load_lanes(Emit *e, LLVMTypeRef type, LLVMValueRef at);
/* Where addresses are equal the last lane counts. */
void emit_store_lanes(Emit *e, LLVMValueRef v, LLVMValueRef at);

#endif
