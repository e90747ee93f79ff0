/* SPDX-License-Identifier: MIT */
/* Loops whose lanes go one after the other. */
#ifndef MXGPU_SIMT_JIT_COMPILER_LANEWISE_H
#define MXGPU_SIMT_JIT_COMPILER_LANEWISE_H

#include "values.h"

/* Whether the block is a loop of its own, of loads from where each lane wants and
 * little else. */
bool emit_lanewise_fits(const Emit *e);
/* Some turns of such a block for all lanes of the mask, counted. Continues behind
 * these, with what the block has written; taken: the lanes (i64) that go on with
 * it. Returns where lanes are to do one turn at once, as any block does. */
LLVMBasicBlockRef emit_lanewise(Emit *e, LLVMValueRef *taken);

#endif
