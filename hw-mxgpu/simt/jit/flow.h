/* SPDX-License-Identifier: MIT */
/* What of code for whole warps all lanes come to together, and with what. */
#ifndef MXGPU_SIMT_JIT_FLOW_H
#define MXGPU_SIMT_JIT_FLOW_H

#include "code.h"

/* Types of registers at each block of it; false: it cannot be compiled. */
bool mxgpu_jit_flow(JitCode *c);
/* Such code is to leave with all lanes together: halfword where it has to end for
 * that; 0: it does leave so; PAGE_OPS: it will, where it is made again and takes
 * for granted that lanes do not part (JitCode.together). */
unsigned mxgpu_jit_cut(JitCode *c);

#endif
