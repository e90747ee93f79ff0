/* SPDX-License-Identifier: MIT */
/* Rows of lines in memory. */
#ifndef MXGPU_SIMT_JIT_COMPILER_ROWS_H
#define MXGPU_SIMT_JIT_COMPILER_ROWS_H

#include "site.h"

/* Whether the line may go up by that, as far as is known. */
bool emit_may_step(Value base, uint64_t step);
/* Continues where it does; returns where it does not. */
LLVMBasicBlockRef emit_if_step(Emit *e, Value base, uint64_t step);
/* Where all lanes of base + imm are that is all inside of the site, in memory that
 * is not private: continues at "fast" or at "slow". */
Access emit_begin_rows(Emit *e, int64_t imm, unsigned size, Value base,
                       LLVMBasicBlockRef slow);
/* The same for lanes of the mask alone, of a line that is one row. */
Access emit_begin_part(Emit *e, int64_t imm, unsigned size, Value base,
                       LLVMBasicBlockRef slow);
/* Lanes' numbers, of rows up or (level) at one address each; of one that goes
 * down; of a part of one, up or down. */
LLVMValueRef emit_get_rows(Emit *e, const Access *a, Value base, bool level);
LLVMValueRef emit_get_reversed(Emit *e, const Access *a);
LLVMValueRef emit_get_part(Emit *e, const Access *a, bool down);
/* Where rows overlap, the last one counts. */
void emit_put_rows(Emit *e, const Access *a, Value base, LLVMValueRef v);
/* All lanes of a row to one address. */
void emit_put_levels(Emit *e, const Access *a, Value base, LLVMValueRef v);

#endif
