/* SPDX-License-Identifier: MIT */
/* Two words side by side. */
#ifndef MXGPU_SIMT_JIT_COMPILER_PAIR_H
#define MXGPU_SIMT_JIT_COMPILER_PAIR_H

#include "values.h"

/* Makes the op and the next one if they load, or store, words side by side of each
 * lane; false: they do not. */
bool emit_pair(Emit *e, unsigned index);

#endif
