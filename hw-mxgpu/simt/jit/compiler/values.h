/* SPDX-License-Identifier: MIT */
/* The LLVM code of a region, while it is made, and values in it. */
#ifndef MXGPU_SIMT_JIT_COMPILER_VALUES_H
#define MXGPU_SIMT_JIT_COMPILER_VALUES_H

#include "simt/jit/code.h"

#include <llvm-c/Core.h>

/* An x register's lanes: i64 for what is uniform, and for the base, step and
 * row of a line; else vectors of i32 or i64. */
typedef struct Value {
    JitType type;
    LLVMValueRef v, step, row;
} Value;

/* What a register's lanes are in: one value, a line, words, wide lanes. */
#define JIT_SHAPES 4

typedef struct Emit {
    const JitCode *r;
    unsigned n; /* of lanes in vectors: all, or few that were chosen; 1: what would
                 * be a vector is a number */
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMValueRef fn, cu, w, frame;
    LLVMTypeRef i1, i8, i32, i64, ptr;
    LLVMTypeRef words, wides, singles, doubles, bits, ptrs; /* of n lanes */
    LLVMValueRef room_at, room_v; /* memory for addresses and numbers of lanes */
    LLVMValueRef room_b, room_c;  /* ... and operands */
    LLVMValueRef chosen, which; /* of few, or one: mask; the lanes */

    /* Registers between blocks, and what blocks count. */
    LLVMValueRef number[32], word[32], wide[32]; /* of x registers */
    LLVMValueRef step[32], row[32];              /* ... that are lines */
    LLVMValueRef f[2][32], narrow[32]; /* singles and doubles; which it is */
    LLVMValueRef dirty_x, dirty_f;
    LLVMValueRef pend[JIT_BLOCKS];
    LLVMValueRef before[JIT_BLOCKS]; /* of ends of loops: lanes that were there last */
    LLVMValueRef instructions, lanes, divergent, slice, limit, few;
    LLVMBasicBlockRef check[JIT_BLOCKS + 1], body[JIT_BLOCKS], leave;
    LLVMValueRef reason; /* phis of "leave": JitLeave, x registers by shape */
    LLVMValueRef left[JIT_SHAPES];
    uint32_t some_left[JIT_SHAPES]; /* from anywhere */

    /* The block that is being made. */
    const JitBlock *block;
    unsigned index; /* of its op */
    LLVMValueRef mask, lane; /* i64, and as bits */
    Value value[33];
    LLVMValueRef fvalue[32];
    bool raw[32]; /* a NaN in fvalue[] may be any NaN */
    uint32_t written, fwritten;
    uint32_t fkept; /* f registers that any block has written for others */
} Emit;

/* The types of n lanes. */
void emit_types(Emit *e);
LLVMValueRef emit_i32(Emit *e, uint32_t v);
LLVMValueRef emit_i64(Emit *e, uint64_t v);
LLVMValueRef emit_splat(Emit *e, LLVMValueRef v, LLVMTypeRef type);
LLVMValueRef emit_vector(Emit *e, LLVMTypeRef type, uint64_t v);
/* A call of the intrinsic for that type. */
LLVMValueRef emit_intrinsic(Emit *e, const char *name, LLVMTypeRef type,
                            unsigned n, LLVMValueRef *args);
/* Of uniform, word and wide types. */
LLVMValueRef emit_as(Emit *e, Value v, JitType type);
/* What is uniform as a line, too. */
Value emit_line(Emit *e, Value v);
LLVMValueRef emit_low(Emit *e, Value v); /* low words of lanes */
unsigned emit_shape(JitType type); /* but JIT_NONE */
bool emit_uniform(Value v);
bool emit_is_word(Value v);
/* A variable, made where the function begins; memory for vectors, and one lane's
 * number there. */
LLVMValueRef emit_alloca(Emit *e, LLVMTypeRef type);
LLVMValueRef emit_room(Emit *e, LLVMTypeRef type);
LLVMValueRef emit_element(Emit *e, LLVMTypeRef type, LLVMValueRef room,
                          LLVMValueRef index);
LLVMValueRef emit_load_at(Emit *e, LLVMTypeRef type, LLVMValueRef at);
void emit_store_at(Emit *e, LLVMValueRef v, LLVMValueRef at);
/* A member of a structure. */
LLVMValueRef emit_at(Emit *e, LLVMValueRef base, size_t offset);
LLVMValueRef emit_get(Emit *e, LLVMTypeRef type, LLVMValueRef base,
                      size_t offset);
void emit_set(Emit *e, LLVMValueRef v, LLVMValueRef base, size_t offset);
/* A mask of the warp's lanes as bits of vectors, and back. */
LLVMValueRef emit_bits(Emit *e, LLVMValueRef mask);
LLVMValueRef emit_mask(Emit *e, LLVMValueRef bits);
/* Whether one of the bits is set (i1). */
LLVMValueRef emit_any(Emit *e, LLVMValueRef bits);
/* Each lane at an address of its own (i64, or pointers), where bits are set. */
LLVMValueRef emit_gather(Emit *e, LLVMTypeRef type, LLVMValueRef at,
                         LLVMValueRef bits);
void emit_scatter(Emit *e, LLVMValueRef v, LLVMValueRef at,
                  LLVMValueRef bits);
/* Side by side, at any address; 0 where bits are not set. */
LLVMValueRef emit_masked_load(Emit *e, LLVMTypeRef type, LLVMValueRef at,
                              LLVMValueRef mask);
/* Side by side. */
void emit_masked_store(Emit *e, LLVMValueRef v, LLVMValueRef at,
                       unsigned alignment, LLVMValueRef mask);
/* Addresses of lanes that are "apart" bytes behind each other in memory, lane 0 at
 * "at" (i64). */
LLVMValueRef emit_each(Emit *e, LLVMValueRef at, unsigned apart);
/* Lanes of a register in the warp, at that offset. */
LLVMValueRef emit_get_lanes(Emit *e, LLVMTypeRef type, size_t offset);
void emit_set_lanes(Emit *e, LLVMValueRef v, size_t offset);
/* The form of x[reg] in the warp; and all of what is one value, or a line. */
void emit_set_form(Emit *e, unsigned reg, unsigned form);
void emit_set_line(Emit *e, unsigned reg, Value v);
/* Others may look at memory between two turns of a loop. */
void emit_memory_barrier(Emit *e);
/* The same number, of which the compiler knows nothing. */
LLVMValueRef emit_hidden(Emit *e, LLVMValueRef v);
LLVMBasicBlockRef emit_new(Emit *e, const char *name);
/* Goes to one of two blocks; "usual": the first is where it mostly goes, else
 * the second. */
void emit_branch(Emit *e, LLVMValueRef bit, LLVMBasicBlockRef yes,
                 LLVMBasicBlockRef no, bool usual);

#endif
