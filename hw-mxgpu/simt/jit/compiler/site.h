/* SPDX-License-Identifier: MIT */
/* Where lanes go to in memory. */
#ifndef MXGPU_SIMT_JIT_COMPILER_SITE_H
#define MXGPU_SIMT_JIT_COMPILER_SITE_H

#include "lanes.h"

typedef struct Access {
    LLVMValueRef site, off, lo, span, add, is_private;
    LLVMValueRef memory;         /* JitMemory */
    LLVMValueRef va;             /* of a number */
    LLVMBasicBlockRef fast, slow; /* to be filled in */
    bool uniform;
    unsigned size; /* bytes of a lane */
} Access;

/* Bytes that a lane loads or stores. */
unsigned emit_size(unsigned op);
/* Whether a lane of the mask has its bit set; one of a->off is no multiple of the
 * size. */
LLVMValueRef emit_any_lane(Emit *e, LLVMValueRef bits);
LLVMValueRef emit_misaligned(Emit *e, const Access *a);
/* The site of the op that is being made; what it says, for a->size bytes, and whether
 * that is of this warp's memory. */
LLVMValueRef emit_site(Emit *e);
LLVMValueRef emit_look(Emit *e, Access *a);
/* Looks whether all lanes' x[r1] + imm are inside: continues at "fast" or at
 * "slow". */
Access emit_begin(Emit *e, const SimtOp *op, int64_t imm, unsigned size,
                  LLVMBasicBlockRef slow);
/* Whether the site is of private memory, of shared memory (i1). */
LLVMValueRef emit_in_private(Emit *e, const Access *a);
LLVMValueRef emit_in_shared(Emit *e, const Access *a);
/* Continues from "fast" where it is not; returns where it is. */
LLVMBasicBlockRef emit_if_linear(Emit *e, const Access *a);
/* Where all lanes of a vector are on the host; goes to slow where they are not
 * aligned in private memory. */
Lanes emit_host_lanes(Emit *e, const Access *a);
/* The base (i64) of those that are not in private memory. */
LLVMValueRef emit_linear(Emit *e, const Access *a);
/* Bytes and halfwords from the aligned words that hold them. */
LLVMValueRef emit_gather_small(Emit *e, Lanes at);
/* Where the granule of a uniform address in private memory is; what is in it; how
 * far up in it, in bits, for all lanes. */
LLVMValueRef emit_granule(Emit *e, const Access *a);
LLVMValueRef emit_load_granule(Emit *e, const Access *a);
LLVMValueRef emit_granule_shift(Emit *e, const Access *a);

#endif
