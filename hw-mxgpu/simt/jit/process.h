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
/* Nobody waits for answers any more, other threads that do get none. */
void mxgpu_jit_process_stop(JitProcess *p);
void mxgpu_jit_process_free(JitProcess *p);
/* The function for that many lanes, mapped: REFUSED: the compiler has ended, or
 * could not. look: only if it has been compiled before, or it is ABSENT. */
JitState mxgpu_jit_process_get(JitProcess *p, const JitCode *code,
                               unsigned lanes, bool look, JitMade *m);
/* For a process that was stopped: the function is to be compiled for whoever
 * looks for it next. false: it takes no more. */
bool mxgpu_jit_process_leave(JitProcess *p, const JitCode *code,
                             unsigned lanes);

#endif
