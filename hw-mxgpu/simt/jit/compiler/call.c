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

/* What need not be asked for; false: it must be. */
static bool inline_csr(Emit *e, unsigned csr, Value *v)
{
    if (csr >= MXGPU_CSR_CTAID_X && csr <= MXGPU_CSR_CTAID_Z) {
        v->v = block_index(e, csr - MXGPU_CSR_CTAID_X);
        return true;
    }
    if (csr == MXGPU_CSR_TID_X && 1u << e->r->row_shift < LANES) {
        v->v = v->row = emit_i64(e, 0); /* each row is one of the block */
        v->step = emit_i64(e, 1);
        return true;
    }
    return false;
}

/* threadIdx.x and the lane go up by one. */
void emit_csr(Emit *e, const SimtOp *op)
{
    JitType type = mxgpu_jit_result_in(e->r, e->index, JIT_WIDE, JIT_WIDE);
    const size_t at = offsetof(MxgpuWarp, line) + SINK * sizeof(SimtLine);
    bool up = op->imm == MXGPU_CSR_TID_X || op->imm == MXGPU_CSR_LANE;
    Value v = {.type = type};

    if (inline_csr(e, (unsigned)op->imm, &v)) {
        emit_write(e, op->rd, v);
        return;
    }
    emit_stop_if(e, called(e, emit_i64(e, ALL_LANES)), JIT_BAILED);
    v.v = emit_get(e, e->i64, e->w, at + offsetof(SimtLine, base));
    if (mxgpu_jit_line(type)) {
        v.step = emit_i64(e, up);
        v.row = emit_get(e, e->i64, e->w, at + offsetof(SimtLine, row));
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
