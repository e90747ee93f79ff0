/* SPDX-License-Identifier: MIT */
/* Registers in the blocks of a region, and between them. */
#ifndef MXGPU_SIMT_JIT_COMPILER_REGISTERS_H
#define MXGPU_SIMT_JIT_COMPILER_REGISTERS_H

#include "values.h"

/* Makes the variables that registers, and counts, begin with. */
void emit_variables(Emit *e);
LLVMValueRef emit_variable_get(Emit *e, LLVMValueRef variable,
                               LLVMTypeRef type);
void emit_variable_add(Emit *e, LLVMValueRef variable, LLVMValueRef v);
void emit_variable_or(Emit *e, LLVMValueRef variable, LLVMValueRef v);
/* Registers as they are in the block that is being made; exact: NaNs are
 * canonical; raw: they may be any. */
Value emit_read(Emit *e, unsigned reg);
void emit_write(Emit *e, unsigned reg, Value v);
/* Operand n of an op; what the block has there. */
LLVMValueRef emit_f_operand(Emit *e, const SimtOp *op, unsigned n, bool exact);
LLVMValueRef emit_float(Emit *e, unsigned reg, bool exact);
void emit_write_float(Emit *e, unsigned reg, LLVMValueRef v, bool raw);
/* x[reg] behind it, where it is of that type. */
Value emit_held(Emit *e, unsigned reg, JitType type);
/* What the block has written, and what it has not, to the variables: x registers
 * as the block "to" takes them, or the one behind the last, which takes none. */
void emit_go(Emit *e, unsigned to);
/* f registers of "wanted". */
void emit_keep_floats(Emit *e, uint32_t wanted);
/* x registers of "wanted" that the block has written, as they are; types: of all
 * of them, then. */
void emit_keep(Emit *e, uint32_t wanted, uint8_t types[32]);
/* Where registers are in the warp. */
size_t emit_x_plane(unsigned reg, JitType type);
size_t emit_f_plane(unsigned reg, bool wide);
LLVMTypeRef emit_f_type(Emit *e, bool wide);

#endif
