/* SPDX-License-Identifier: MIT */
/* The compiler's process. */
#ifndef MXGPU_SIMT_JIT_PROCESS_H
#define MXGPU_SIMT_JIT_PROCESS_H

#include "code.h"

typedef struct JitProcess JitProcess;
/* The compiler's program, to be freed; NULL: there is none. The loader is
 * asked, whose lock a thread may hold that waits for a kernel. */
char *mxgpu_jit_process_find(void);
JitProcess *mxgpu_jit_process_new(const char *path);
/* Also ends a compilation that another thread waits for. */
void mxgpu_jit_process_stop(JitProcess *p);
void mxgpu_jit_process_free(JitProcess *p);
/* The function for that many lanes, mapped; NULL: the compiler has ended, or could not. */
JitFn *mxgpu_jit_process_compile(JitProcess *p, const JitCode *code,
                                 unsigned lanes, size_t *size);

#endif
