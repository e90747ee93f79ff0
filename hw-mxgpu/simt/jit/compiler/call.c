/* SPDX-License-Identifier: MIT */
/* Instructions that the interpreter's functions do, and what CSRs hold. */
#include "call.h"

#include "leave.h"
#include "registers.h"
#include "simt/jit/types.h"

#include <stddef.h>

/* Calls the interpreter's function for the lanes of the mask; whether that has
 * failed. */
static LLVMValueRef called(Emit *e, LLVMValueRef mask)
{
    LLVMTypeRef args[] = {e->ptr, e->ptr, e->ptr, e->i32, e->i64};
    LLVMTypeRef type = LLVMFunctionType(e->i32, args, 5, 0);
    LLVMValueRef fn = emit_get(e, e->ptr, e->frame, offsetof(JitFrame, call));
    LLVMValueRef with[] = {e->cu, e->w, e->frame, emit_i32(e, e->index), mask};
    LLVMValueRef ok = LLVMBuildCall2(e->b, type, fn, with, 5, "");

    return LLVMBuildICmp(e->b, LLVMIntEQ, ok, emit_i32(e, 0), "");
}

void emit_call_now(Emit *e, bool may_fault)
{
    LLVMValueRef failed = called(e, e->mask);

    if (may_fault) {
        emit_stop_if(e, failed, JIT_FAULTED);
    }
}

void emit_operand(Emit *e, Value v, unsigned reg)
{
    if (e->n == LANES && (emit_uniform(v) || mxgpu_jit_line(v.type))) {
        emit_set_line(e, reg, v); /* the interpreter finds out more of it */
        return;
    }
    emit_set_form(e, reg, FORM_WIDE);
    emit_set_lanes(e, emit_as(e, v, JIT_WIDE),
                   offsetof(MxgpuWarp, x) + reg * sizeof(uint64_t[LANES]));
}

Value emit_result(Emit *e, JitType type)
{
    LLVMValueRef v =
        type == JIT_WORD
            ? emit_get_lanes(e, e->words, offsetof(MxgpuWarp, word) +
                                              SINK * sizeof(uint32_t[LANES]))
            : emit_get_lanes(e, e->wides, offsetof(MxgpuWarp, x) +
                                              SINK * sizeof(uint64_t[LANES]));

    return (Value){.type = type, .v = v};
}

/* blockIdx in one dimension. */
static LLVMValueRef block_index(Emit *e, unsigned dim)
{
    const size_t at = offsetof(MxgpuCu, s) + offsetof(SimtCuState, blocks) +
                      offsetof(SimtBlock, id) + dim * sizeof(uint32_t);
    LLVMTypeRef type = LLVMIntTypeInContext(
        e->context, 8 * sizeof(((MxgpuWarp *)0)->c.block));
    LLVMValueRef n = emit_get(e, type, e->w,
                              offsetof(MxgpuWarp, c) +
                                  offsetof(SimtWarpCache, block));

    n = LLVMBuildMul(e->b, LLVMBuildZExt(e->b, n, e->i64, ""),
                     emit_i64(e, sizeof(SimtBlock)), "");
    n = LLVMBuildAdd(e->b, LLVMBuildPtrToInt(e->b, e->cu, e->i64, ""), n, "");
    n = LLVMBuildIntToPtr(e->b, n, e->ptr, "");
    return LLVMBuildZExt(e->b, emit_get(e, e->i32, n, at), e->i64, "");
}

/* A member of the dispatch, i64 of 32 bits. */
static LLVMValueRef of_dispatch(Emit *e, size_t at)
{
    LLVMValueRef d = emit_get(e, e->ptr, e->frame, offsetof(JitFrame, dispatch));

    return LLVMBuildZExt(e->b, emit_get(e, e->i32, d, at), e->i64, "");
}

static LLVMValueRef block_size(Emit *e, unsigned dim)
{
    return of_dispatch(e, offsetof(MxgpuDispatch, block) +
                              dim * sizeof(uint32_t));
}

static LLVMValueRef warp_index(Emit *e)
{
    LLVMTypeRef type = LLVMIntTypeInContext(
        e->context, 8 * sizeof(((MxgpuWarp *)0)->c.index));
    LLVMValueRef n = emit_get(e, type, e->w,
                              offsetof(MxgpuWarp, c) +
                                  offsetof(SimtWarpCache, index));

    return LLVMBuildZExt(e->b, n, e->i64, "");
}

static LLVMValueRef equals(Emit *e, LLVMValueRef v, uint64_t n)
{
    return LLVMBuildICmp(e->b, LLVMIntEQ, v, emit_i64(e, n), "");
}

/* What is one value for the dispatch, the block or the warp; NULL: nothing that is
 * known here. */
static LLVMValueRef number_csr(Emit *e, unsigned csr)
{
    if (csr >= MXGPU_CSR_CTAID_X && csr <= MXGPU_CSR_CTAID_Z) {
        return block_index(e, csr - MXGPU_CSR_CTAID_X);
    }
    if (csr >= MXGPU_CSR_NTID_X && csr <= MXGPU_CSR_NTID_Z) {
        return block_size(e, csr - MXGPU_CSR_NTID_X);
    }
    if (csr >= MXGPU_CSR_NCTAID_X && csr <= MXGPU_CSR_NCTAID_Z) {
        return of_dispatch(e, offsetof(MxgpuDispatch, grid) +
                                  (csr - MXGPU_CSR_NCTAID_X) *
                                      sizeof(uint32_t));
    }
    return csr == MXGPU_CSR_WARP ? warp_index(e) : NULL;
}

/* threadIdx in one dimension, and whether ("when", i1) that is so: where rows of
 * the block are as long as warps, or warps have several; false: it must be asked
 * for. */
static bool thread_csr(Emit *e, unsigned dim, Value *v, LLVMValueRef *when)
{
    unsigned shift = e->r->row_shift;
    LLVMValueRef first, x = block_size(e, 0);

    v->step = emit_i64(e, dim == 0);
    v->row = emit_i64(e, shift < 6 ? dim == 1 : dim == 0 ? LANES : 0);
    *when = LLVMConstInt(e->i1, 1, 0);
    if (dim == 0 && shift < 6) {
        v->v = emit_i64(e, 0); /* each row is one of the block */
        return true;
    }
    if (dim == 2) {
        return false;
    }
    if (dim == 1) {
        *when = equals(e, block_size(e, 2), 1);
    }
    if (shift < 6) {
        v->v = LLVMBuildShl(e->b, warp_index(e), emit_i64(e, 6 - shift), "");
        return true;
    }
    *when = LLVMBuildAnd(
        e->b, *when,
        equals(e, LLVMBuildAnd(e->b, x, emit_i64(e, LANES - 1), ""), 0), "");
    first = LLVMBuildShl(e->b, warp_index(e), emit_i64(e, 6), "");
    v->v = (dim ? LLVMBuildUDiv : LLVMBuildURem)(e->b, first, x, "");
    return true;
}

/* As the interpreter says it. threadIdx.x and the lane go up by one. */
static Value asked_csr(Emit *e, const SimtOp *op, JitType type)
{
    const size_t at = offsetof(MxgpuWarp, line) + SINK * sizeof(SimtLine);
    bool up = op->imm == MXGPU_CSR_TID_X || op->imm == MXGPU_CSR_LANE;
    Value v = {.type = type};

    emit_stop_if(e, called(e, emit_i64(e, ALL_LANES)), JIT_BAILED);
    v.v = emit_get(e, e->i64, e->w, at + offsetof(SimtLine, base));
    if (mxgpu_jit_line(type)) {
        v.step = emit_i64(e, up);
        v.row = emit_get(e, e->i64, e->w, at + offsetof(SimtLine, row));
    }
    return v;
}

static LLVMValueRef either(Emit *e, LLVMValueRef a, LLVMBasicBlockRef from,
                           LLVMValueRef b, LLVMBasicBlockRef other)
{
    LLVMValueRef phi = LLVMBuildPhi(e->b, e->i64, "");

    LLVMAddIncoming(phi, &a, &from, 1);
    LLVMAddIncoming(phi, &b, &other, 1);
    return phi;
}

/* Where it is as is known here, or else as the interpreter says. */
static Value known_or_asked(Emit *e, const SimtOp *op, Value known,
                            LLVMValueRef when)
{
    LLVMBasicBlockRef ask = emit_new(e, "ask"), join = emit_new(e, "csr");
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b), other;
    Value v;

    emit_branch(e, when, join, ask, true);
    LLVMPositionBuilderAtEnd(e->b, ask);
    v = asked_csr(e, op, known.type);
    other = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, join);
    known.v = either(e, known.v, from, v.v, other);
    known.row = either(e, known.row, from, v.row, other);
    return known; /* the step is the same */
}

void emit_csr(Emit *e, const SimtOp *op)
{
    JitType type = mxgpu_jit_result_in(e->r, e->index, JIT_WIDE, JIT_WIDE);
    unsigned csr = (unsigned)op->imm;
    Value v = {.type = type, .v = number_csr(e, csr)};
    LLVMValueRef when;

    if (csr >= MXGPU_CSR_TID_X && csr <= MXGPU_CSR_TID_Z &&
        thread_csr(e, csr - MXGPU_CSR_TID_X, &v, &when)) {
        v = known_or_asked(e, op, v, when);
    } else if (!v.v) {
        v = asked_csr(e, op, type);
    }
    emit_write(e, op->rd, v);
}

void emit_call(Emit *e, const SimtOp *op, bool may_fault)
{
    JitType type = mxgpu_jit_result(op, JIT_WIDE, JIT_WIDE);

    emit_operand(e, emit_read(e, op->r1), JIT_R1);
    emit_operand(e, emit_read(e, op->r2), JIT_R2);
    emit_call_now(e, may_fault);
    emit_write(e, op->rd, emit_result(e, type));
}
