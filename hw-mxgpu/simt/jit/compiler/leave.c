/* SPDX-License-Identifier: MIT */
/* How warps leave a region: registers go back to the warp as they are there. */
#include "leave.h"

#include "registers.h"
#include "simt/jit/types.h"

#include <stddef.h>
#include <string.h>

/* x[reg] to memory where it has been written and is of that type. */
static void flush_x(Emit *e, unsigned reg, JitType type)
{
    LLVMBasicBlockRef dirty = emit_new(e, "dirty"), next = emit_new(e, "clean");
    LLVMValueRef bit = LLVMBuildAnd(
        e->b, emit_variable_get(e, e->dirty_x, e->i32), e->left[emit_shape(type)],
        "");
    Value v;

    bit = LLVMBuildAnd(e->b, bit, emit_i32(e, 1u << reg), "");
    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntNE, bit, emit_i32(e, 0), ""),
                    dirty, next);
    LLVMPositionBuilderAtEnd(e->b, dirty);
    v = emit_held(e, reg, type);
    if (emit_shape(type) < 2) {
        emit_set_line(e, reg, v);
    } else {
        emit_set_lanes(e, v.v, emit_x_plane(reg, type));
        emit_set_form(e, reg, type == JIT_WORD ? FORM_WORD : FORM_WIDE);
    }
    LLVMBuildBr(e->b, next);
    LLVMPositionBuilderAtEnd(e->b, next);
}

static void flush_f(Emit *e, unsigned reg)
{
    LLVMBasicBlockRef dirty = emit_new(e, "dirty"), next = emit_new(e, "clean");
    LLVMValueRef bit = LLVMBuildAnd(e->b, emit_variable_get(e, e->dirty_f, e->i32),
                                    emit_i32(e, 1u << reg), "");

    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntNE, bit, emit_i32(e, 0), ""),
                    dirty, next);
    LLVMPositionBuilderAtEnd(e->b, dirty);
    for (unsigned wide = 0; wide < 2; wide++) {
        if (e->f[wide][reg]) {
            emit_set_lanes(e,
                           emit_variable_get(e, e->f[wide][reg],
                                             emit_f_type(e, wide)),
                           emit_f_plane(reg, wide));
        }
    }
    emit_set(e, emit_variable_get(e, e->narrow[reg], e->i64), e->w,
             offsetof(MxgpuWarp, narrow) + 8 * reg);
    LLVMBuildBr(e->b, next);
    LLVMPositionBuilderAtEnd(e->b, next);
}

void emit_leave_begin(Emit *e)
{
    e->leave = emit_new(e, "leave");
    LLVMPositionBuilderAtEnd(e->b, e->leave);
    e->reason = LLVMBuildPhi(e->b, e->i32, "");
    for (unsigned i = 0; i < JIT_SHAPES; i++) {
        e->left[i] = LLVMBuildPhi(e->b, e->i32, "");
    }
}

/* What lanes are where, and what has been counted. */
static void flush_frame(Emit *e)
{
    LLVMBasicBlockRef apart = emit_new(e, "apart"), rest = emit_new(e, "rest");
    const struct {
        LLVMValueRef variable;
        size_t at;
    } counts[] = {
        {e->instructions, offsetof(JitFrame, instructions)},
        {e->slice, offsetof(JitFrame, slice)},
        {e->lanes, offsetof(JitFrame, lanes)},
        {e->divergent, offsetof(JitFrame, divergent)},
    };

    emit_branch(e,
                LLVMBuildICmp(e->b, LLVMIntEQ, e->reason,
                              emit_i32(e, JIT_TOGETHER), ""),
                rest, apart, e->r->whole);
    LLVMPositionBuilderAtEnd(e->b, apart);
    for (unsigned i = 0; i < e->r->num_blocks; i++) {
        emit_set(e, emit_variable_get(e, e->pend[i], e->i64), e->frame,
                 offsetof(JitFrame, pend) + 8 * i);
    }
    LLVMBuildBr(e->b, rest);
    LLVMPositionBuilderAtEnd(e->b, rest);
    for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        emit_set(e, emit_variable_get(e, counts[i].variable, e->i64), e->frame,
                 counts[i].at);
    }
}

void emit_leave(Emit *e)
{
    static const JitType types[JIT_SHAPES] = {JIT_UNIFORM, JIT_LINE, JIT_WORD,
                                              JIT_WIDE};

    LLVMPositionBuilderAtEnd(e->b, e->leave);
    flush_frame(e);
    for (unsigned i = 0; i < JIT_SHAPES; i++) {
        for (uint32_t m = e->some_left[i]; m; m &= m - 1) {
            flush_x(e, __builtin_ctz(m), types[i]);
        }
    }
    for (unsigned i = 0; i < 32; i++) {
        if (e->fkept >> i & 1) {
            flush_f(e, i);
        }
    }
    LLVMBuildRet(e->b, e->reason);
}

void emit_leave_from(Emit *e, JitLeave reason, const uint8_t types[32])
{
    LLVMValueRef v = emit_i32(e, reason);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    uint32_t left[JIT_SHAPES] = {0};

    for (uint32_t m = mxgpu_jit_written(e->r); m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);

        if (types[reg]) {
            left[emit_shape((JitType)types[reg])] |= 1u << reg;
        }
    }
    LLVMBuildBr(e->b, e->leave);
    LLVMAddIncoming(e->reason, &v, &here, 1);
    for (unsigned i = 0; i < JIT_SHAPES; i++) {
        e->some_left[i] |= left[i];
        v = emit_i32(e, left[i]);
        LLVMAddIncoming(e->left[i], &v, &here, 1);
    }
}

void emit_count(Emit *e, unsigned n)
{
    LLVMValueRef lanes =
        emit_intrinsic(e, "llvm.ctpop", e->i64, 1, &e->mask);

    emit_variable_add(e, e->instructions, emit_i64(e, n));
    emit_variable_add(e, e->lanes, LLVMBuildMul(e->b, lanes, emit_i64(e, n), ""));
}

void emit_stop_if(Emit *e, LLVMValueRef failed, JitLeave why)
{
    LLVMBasicBlockRef fault = emit_new(e, "fault"), on = emit_new(e, "on");
    LLVMValueRef fvalue[32];
    uint8_t types[32];
    bool raw[32];

    emit_branch(e, failed, fault, on, false);
    LLVMPositionBuilderAtEnd(e->b, fault);
    /* Values that are made here are not for what follows. */
    memcpy(fvalue, e->fvalue, sizeof(fvalue));
    memcpy(raw, e->raw, sizeof(raw));
    emit_keep(e, e->r->live[e->index], types);
    emit_keep_floats(e, e->r->fread[e->index]);
    memcpy(e->fvalue, fvalue, sizeof(fvalue));
    memcpy(e->raw, raw, sizeof(raw));
    emit_count(e, e->index - e->block->first);
    emit_set(e, e->mask, e->frame, offsetof(JitFrame, fault_mask));
    emit_set(e, emit_i64(e, (uint64_t)(int64_t)e->r->at[e->index]), e->frame,
             offsetof(JitFrame, fault_at));
    emit_set(e, emit_i64(e, e->index), e->frame, offsetof(JitFrame, fault_op));
    emit_leave_from(e, why, types);
    LLVMPositionBuilderAtEnd(e->b, on);
}
