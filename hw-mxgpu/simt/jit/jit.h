/* SPDX-License-Identifier: MIT */
/* Code that is hot, and what has been compiled of it. */
#ifndef MXGPU_SIMT_JIT_JIT_H
#define MXGPU_SIMT_JIT_JIT_H

#include "code.h"

/* Of looks for code of a head until it is hot. The first one comes soon: most of
 * what runs was compiled before. */
#define JIT_ROUNDS 16
#define JIT_FIRST  2 /* times that the head is come to */

typedef struct SimtJit SimtJit;
/* waits: whoever asks for code waits for it. NULL: there is no memory. */
SimtJit *mxgpu_jit_new(unsigned units, bool waits);
void mxgpu_jit_free(SimtJit *jit);
/* A kernel may begin soon. */
void mxgpu_jit_prepare(SimtJit *jit);
/* Regions that have code. */
unsigned mxgpu_jit_ready(SimtJit *jit);
/* What there is of a region, made at the first call, for x registers that hold
 * what "as" says at its head: entry, whole and what goes with it. It is compiled
 * if it is hot, and looked for on the disk before. NULL: there are too many. */
JitRegion *mxgpu_jit_find(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page,
                          unsigned head, unsigned end, const JitCode *as,
                          bool hot);
/* The region is hot now. */
void mxgpu_jit_want(SimtJit *jit, JitRegion *r);
/* Whether looking for regions that are not hot is worth the time. */
bool mxgpu_jit_looks(SimtJit *jit);

#endif
