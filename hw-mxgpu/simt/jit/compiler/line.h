/* SPDX-License-Identifier: MIT */
/* Arithmetic on lines, in code for whole warps: exec/lines.h in LLVM. */
#ifndef MXGPU_SIMT_JIT_COMPILER_LINE_H
#define MXGPU_SIMT_JIT_COMPILER_LINE_H

#include "values.h"

/* Of operands that are one value or lines, an instruction whose result is taken
 * for a line: leaves in front of it where that is none. */
Value emit_line_op(Emit *e, const SimtOp *op, Value a, Value b);

#endif
