/* SPDX-License-Identifier: MIT */
/* Lanes of the mask, each at a host address of its own. */
#ifndef MXGPU_SIMT_JIT_COMPILER_LANES_H
#define MXGPU_SIMT_JIT_COMPILER_LANES_H

#include "values.h"

/* One address (i64), and where lanes are from there. */
typedef struct Lanes {
    LLVMValueRef base, off;
} Lanes;

/* Words or wide lanes; of those that are not in the mask, 0. */
LLVMValueRef emit_load_lanes(Emit *e, LLVMTypeRef type, Lanes at);
/* Where addresses are equal the last lane counts. */
void emit_store_lanes(Emit *e, LLVMValueRef v, Lanes at);

/* Memory for the lanes of a vector, made when it is first asked for. */
LLVMValueRef emit_lanes_room(Emit *e, LLVMValueRef *at);

#endif
