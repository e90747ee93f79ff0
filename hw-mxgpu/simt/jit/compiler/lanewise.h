/* SPDX-License-Identifier: MIT */
/* Loops whose lanes go one after the other. */
#ifndef MXGPU_SIMT_JIT_COMPILER_LANEWISE_H
#define MXGPU_SIMT_JIT_COMPILER_LANEWISE_H

#include "values.h"

/* Some turns for all lanes of the mask, counted, of a block that is a loop of its own,
 * of loads from where each lane wants and little else. Continues behind these, with
 * what the block has written; taken: the lanes (i64) that go on with it. Returns
 * where lanes are to do one turn at once, as any block does; NULL: it is no such
 * loop. */
LLVMBasicBlockRef emit_lanewise(Emit *e, LLVMValueRef *taken);

#endif
