/* SPDX-License-Identifier: MIT */
/* A whole region. */
#ifndef MXGPU_SIMT_JIT_COMPILER_EMIT_H
#define MXGPU_SIMT_JIT_COMPILER_EMIT_H

#include "values.h"

/* Makes fn. */
void emit_region(Emit *e);

#endif
