/* SPDX-License-Identifier: MIT */
/* What instructions are for the compiler, and what registers hold. */
#ifndef MXGPU_SIMT_JIT_TYPES_H
#define MXGPU_SIMT_JIT_TYPES_H

#include "code.h"

/* whole: in code for whole warps. */
JitKind mxgpu_jit_kind(const SimtOp *op, bool whole);
/* Of those that are called: divisions and remainders. */
bool mxgpu_jit_divides(const SimtOp *op);
/* Types of registers, but in code for whole warps (flow.h); false: it cannot be
 * compiled. */
bool mxgpu_jit_types(JitCode *code);
/* ... of f registers, and which may be read from each block on, in the region. */
bool mxgpu_jit_floats(JitCode *code);
/* Of an instruction's x[rd], from those of its operands. */
JitType mxgpu_jit_result(const SimtOp *op, JitType a, JitType b);
/* The same of the index-th one of the code. */
JitType mxgpu_jit_result_in(const JitCode *c, unsigned index, JitType a,
                            JitType b);
/* Whether code for whole warps takes for granted that all lanes take the same
 * way at a branch, or knows it. */
bool mxgpu_jit_one_way(const JitCode *c, unsigned index, JitType a, JitType b);
static inline bool mxgpu_jit_uniform(JitType t)
{
    return t == JIT_UNIFORM_WORD || t == JIT_UNIFORM;
}

static inline bool mxgpu_jit_line(JitType t)
{
    return t == JIT_LINE_WORD || t == JIT_LINE;
}
/* What is as much as the two. */
JitType mxgpu_jit_join(JitType a, JitType b);
bool mxgpu_jit_writes_x(const SimtOp *op, JitKind kind);
/* Whether f operands (n: 0 to 2) and results (3) are doubles. */
bool mxgpu_jit_double(const SimtOp *op, unsigned n);
/* f operands, a bit each. */
unsigned mxgpu_jit_f_sources(const SimtOp *op, JitKind kind);
/* Whether x[reg], written in the block, is to stay as it was in other lanes. */
static inline bool mxgpu_jit_blends(const JitBlock *b, unsigned reg)
{
    return !b->full && b->awaited >> reg & 1;
}

/* What x[reg] is, of which the block has made a t, for all lanes. */
JitType mxgpu_jit_kept(const JitBlock *b, unsigned reg, JitType t);
/* The block that begins there, so many bytes behind the page's beginning; where code
 * goes to there is one. */
unsigned mxgpu_jit_block_at(const JitCode *c, int32_t at);
/* Whether block "to" may follow block b. */
bool mxgpu_jit_follows(const JitCode *c, const JitBlock *b, const JitBlock *to);

/* x registers that instructions name. */
uint32_t mxgpu_jit_named(const JitCode *c);
/* x registers that they write. */
uint32_t mxgpu_jit_written(const JitCode *c);
/* x registers that may be read behind a block. */
uint32_t mxgpu_jit_behind(const JitCode *c, const JitBlock *b);
/* f registers. */
uint32_t mxgpu_jit_fbehind(const JitCode *c, const JitBlock *b);

#endif
