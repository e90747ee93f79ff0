/* SPDX-License-Identifier: MIT */
/* Registers between the blocks of a region, and how warps leave it. */
#include "leave.h"

#include "simt/jit/types.h"

#include <stddef.h>
#include <string.h>

/* ---- variables: LLVM makes values of them */

static LLVMTypeRef x_type(Emit *e, unsigned reg)
{
    switch (e->r->x[reg]) {
    case JIT_WORD:
        return e->words;
    case JIT_WIDE:
        return e->wides;
    default:
        return e->i64;
    }
}

static LLVMTypeRef f_type(Emit *e, unsigned reg)
{
    return e->r->f[reg] == JIT_SINGLE ? e->singles : e->doubles;
}

static LLVMValueRef variable(Emit *e, LLVMTypeRef type, LLVMValueRef init)
{
    LLVMValueRef v = LLVMBuildAlloca(e->b, type, "");

    LLVMBuildStore(e->b, init, v);
    return v;
}

LLVMValueRef emit_variable_get(Emit *e, LLVMValueRef variable, LLVMTypeRef type)
{
    return LLVMBuildLoad2(e->b, type, variable, "");
}

static size_t x_plane(const JitCode *r, unsigned reg)
{
    return r->x[reg] == JIT_WORD
               ? offsetof(MxgpuWarp, word) + reg * sizeof(uint32_t[LANES])
               : offsetof(MxgpuWarp, x) + reg * sizeof(uint64_t[LANES]);
}

static size_t f_plane(const JitCode *r, unsigned reg)
{
    return r->f[reg] == JIT_SINGLE
               ? offsetof(MxgpuWarp, f) + reg * sizeof(uint32_t[LANES])
               : offsetof(MxgpuWarp, d) + reg * sizeof(uint64_t[LANES]);
}

static size_t line_at(unsigned reg, size_t member)
{
    return offsetof(MxgpuWarp, line) + reg * sizeof(SimtLine) + member;
}

/* Whether lanes may read what the register has at the head. Where only whole warps
 * begin, there is nothing else in it that counts. */
static bool comes_in(const JitCode *r, unsigned reg)
{
    return !r->whole || r->blocks[r->head_block].live >> reg & 1;
}

static LLVMValueRef first_x(Emit *e, unsigned reg)
{
    if (!comes_in(e->r, reg)) {
        return LLVMGetUndef(x_type(e, reg));
    }
    if (x_type(e, reg) == e->i64) {
        return emit_get(e, e->i64, e->w,
                        line_at(reg, offsetof(SimtLine, base)));
    }
    return emit_get_lanes(e, x_type(e, reg), x_plane(e->r, reg));
}

/* The step of what comes in as a line is known; of what does as one value, and
 * becomes a line, it is 0. */
static void line_variables(Emit *e, unsigned reg)
{
    bool comes = mxgpu_jit_line(e->r->entry[reg]);
    LLVMValueRef row = emit_get(e, e->i64, e->w,
                                line_at(reg, offsetof(SimtLine, row)));

    e->step[reg] = variable(
        e, e->i64, emit_i64(e, comes ? (uint64_t)e->r->step[reg] : 0));
    e->row[reg] = variable(e, e->i64, comes ? row : emit_i64(e, 0));
}

static void get_chosen(Emit *e)
{
    e->chosen = emit_get(e, e->i64, e->frame, offsetof(JitFrame, chosen));
    e->which = LLVMBuildLoad2(
        e->b, e->wides, emit_at(e, e->frame, offsetof(JitFrame, index)), "");
    LLVMSetAlignment(e->which, 8);
}

void emit_variables(Emit *e)
{
    const JitCode *r = e->r;

    if (e->n < LANES) {
        get_chosen(e);
    }
    for (unsigned i = 1; i < 32; i++) {
        if (r->x[i]) {
            e->x[i] = variable(e, x_type(e, i), first_x(e, i));
        }
        if (mxgpu_jit_line(r->x[i])) {
            line_variables(e, i);
        }
    }
    for (unsigned i = 0; i < 32; i++) {
        if (r->f[i]) {
            e->f[i] = variable(e, f_type(e, i),
                               emit_get_lanes(e, f_type(e, i), f_plane(r, i)));
            e->narrow[i] = variable(
                e, e->i64,
                emit_get(e, e->i64, e->w,
                         offsetof(MxgpuWarp, narrow) + 8 * i));
        }
    }
    for (unsigned i = 0; i < r->num_blocks; i++) {
        e->pend[i] = variable(
            e, e->i64,
            r->whole ? emit_i64(e, i == r->head_block ? ALL_LANES : 0)
                     : emit_get(e, e->i64, e->frame,
                                offsetof(JitFrame, pend) + 8 * i));
    }
    e->instructions =
        variable(e, e->i64,
                 emit_get(e, e->i64, e->frame,
                          offsetof(JitFrame, instructions)));
    e->slice = variable(
        e, e->i64, emit_get(e, e->i64, e->frame, offsetof(JitFrame, slice)));
    e->limit = emit_get(e, e->i64, e->frame, offsetof(JitFrame, limit));
    e->few = emit_get(e, e->i64, e->frame, offsetof(JitFrame, few));
    e->lanes = variable(e, e->i64, emit_i64(e, 0));
    e->divergent = variable(e, e->i64, emit_i64(e, 0));
    e->dirty_x = variable(e, e->i32, emit_i32(e, 0));
    e->dirty_f = variable(e, e->i32, emit_i32(e, 0));
}

void emit_variable_add(Emit *e, LLVMValueRef variable, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);

    LLVMBuildStore(e->b, LLVMBuildAdd(e->b, emit_variable_get(e, variable, type), v, ""),
                   variable);
}

void emit_variable_or(Emit *e, LLVMValueRef variable, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);

    LLVMBuildStore(e->b, LLVMBuildOr(e->b, emit_variable_get(e, variable, type), v, ""),
                   variable);
}

/* ---- leaving */

/* What is one value, or a line. */
static void flush_line(Emit *e, unsigned reg)
{
    Value v = {e->r->x[reg], emit_variable_get(e, e->x[reg], e->i64), NULL,
               NULL};

    if (mxgpu_jit_line(v.type)) {
        v.step = emit_variable_get(e, e->step[reg], e->i64);
        v.row = emit_variable_get(e, e->row[reg], e->i64);
    }
    emit_set_line(e, reg, v);
}

/* To memory what has been written. */
static void flush_x(Emit *e, unsigned reg)
{
    LLVMBasicBlockRef dirty = emit_new(e, "dirty"), next = emit_new(e, "clean");
    LLVMValueRef bit = LLVMBuildAnd(e->b, emit_variable_get(e, e->dirty_x, e->i32),
                                    emit_i32(e, 1u << reg), "");

    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntNE, bit, emit_i32(e, 0), ""),
                    dirty, next);
    LLVMPositionBuilderAtEnd(e->b, dirty);
    if (x_type(e, reg) == e->i64) {
        flush_line(e, reg);
    } else {
        emit_set_lanes(e, emit_variable_get(e, e->x[reg], x_type(e, reg)),
                       x_plane(e->r, reg));
        emit_set_form(e, reg,
                      e->r->x[reg] == JIT_WORD ? FORM_WORD : FORM_WIDE);
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
    emit_set_lanes(e, emit_variable_get(e, e->f[reg], f_type(e, reg)),
                   f_plane(e->r, reg));
    emit_set(e, emit_variable_get(e, e->narrow[reg], e->i64), e->w,
             offsetof(MxgpuWarp, narrow) + 8 * reg);
    LLVMBuildBr(e->b, next);
    LLVMPositionBuilderAtEnd(e->b, next);
}

static uint32_t writes_f(const JitCode *r)
{
    uint32_t written = 0;

    for (unsigned i = 0; i < r->num_ops; i++) {
        if ((r->kind[i] == JIT_FLOAT || r->kind[i] == JIT_LOAD) &&
            r->ops[i].classes & RV_CLASS_FD) {
            written |= 1u << r->ops[i].rd;
        }
    }
    return written;
}

void emit_leave(Emit *e)
{
    const JitCode *r = e->r;
    uint32_t x = mxgpu_jit_written(r), f = writes_f(r);
    LLVMBasicBlockRef apart = emit_new(e, "apart"), rest = emit_new(e, "rest");

    LLVMPositionBuilderAtEnd(e->b, e->leave);
    e->reason = LLVMBuildPhi(e->b, e->i32, "");
    emit_branch(e,
                LLVMBuildICmp(e->b, LLVMIntEQ, e->reason,
                              emit_i32(e, JIT_TOGETHER), ""),
                rest, apart, r->whole);
    LLVMPositionBuilderAtEnd(e->b, apart);
    for (unsigned i = 0; i < r->num_blocks; i++) {
        emit_set(e, emit_variable_get(e, e->pend[i], e->i64), e->frame,
                 offsetof(JitFrame, pend) + 8 * i);
    }
    LLVMBuildBr(e->b, rest);
    LLVMPositionBuilderAtEnd(e->b, rest);
    emit_set(e, emit_variable_get(e, e->instructions, e->i64), e->frame,
             offsetof(JitFrame, instructions));
    emit_set(e, emit_variable_get(e, e->slice, e->i64), e->frame, offsetof(JitFrame, slice));
    emit_set(e, emit_variable_get(e, e->lanes, e->i64), e->frame, offsetof(JitFrame, lanes));
    emit_set(e, emit_variable_get(e, e->divergent, e->i64), e->frame,
             offsetof(JitFrame, divergent));
    for (unsigned i = 1; i < 32; i++) {
        if (x >> i & 1 && r->x[i]) {
            flush_x(e, i);
        }
    }
    for (unsigned i = 0; i < 32; i++) {
        if (f >> i & 1 && r->f[i]) {
            flush_f(e, i);
        }
    }
    LLVMBuildRet(e->b, e->reason);
}

void emit_leave_from(Emit *e, JitLeave reason)
{
    LLVMValueRef v = emit_i32(e, reason);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);

    LLVMBuildBr(e->b, e->leave);
    LLVMAddIncoming(e->reason, &v, &here, 1);
}

static void keep_x(Emit *e, unsigned reg)
{
    JitType type = e->r->x[reg];
    LLVMValueRef v;

    if (mxgpu_jit_line(type)) {
        Value line = emit_line(e, e->value[reg]);

        LLVMBuildStore(e->b, line.v, e->x[reg]);
        LLVMBuildStore(e->b, line.step, e->step[reg]);
        LLVMBuildStore(e->b, line.row, e->row[reg]);
        return;
    }
    v = emit_as(e, e->value[reg], type);
    if (mxgpu_jit_blends(e->block, reg)) {
        v = LLVMBuildSelect(
            e->b, e->lane, v,
            emit_variable_get(e, e->x[reg], x_type(e, reg)), "");
    }
    LLVMBuildStore(e->b, v, e->x[reg]);
}

/* What the block has written, to the variables: x registers of "wanted". */
void emit_keep(Emit *e, uint32_t wanted)
{
    const JitCode *r = e->r;
    uint32_t dirty = 0;

    for (uint32_t m = e->written & wanted; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);

        if (!r->x[reg]) {
            continue;
        }
        keep_x(e, reg);
        dirty |= 1u << reg;
    }
    if (dirty) {
        emit_variable_or(e, e->dirty_x, emit_i32(e, dirty));
    }
    for (uint32_t m = e->fwritten; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);
        LLVMValueRef v = emit_float(e, reg, true);

        v = LLVMBuildSelect(e->b, e->lane, v, emit_variable_get(e, e->f[reg], f_type(e, reg)),
                            "");
        LLVMBuildStore(e->b, v, e->f[reg]);
        if (r->f[reg] == JIT_SINGLE) {
            emit_variable_or(e, e->narrow[reg], e->mask);
        } else {
            LLVMBuildStore(
                e->b,
                LLVMBuildAnd(e->b, emit_variable_get(e, e->narrow[reg], e->i64),
                             LLVMBuildNot(e->b, e->mask, ""), ""),
                e->narrow[reg]);
        }
    }
    if (e->fwritten) {
        emit_variable_or(e, e->dirty_f, emit_i32(e, e->fwritten));
    }
}

/* x registers that have no variable, for nothing but faults has to tell. */
static void put(Emit *e, uint32_t wanted)
{
    LLVMTypeRef args[] = {e->ptr, e->i32, e->i64};
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(e->context), args, 3, 0);
    LLVMValueRef fn = emit_get(e, e->ptr, e->frame, offsetof(JitFrame, put));

    for (uint32_t m = e->written & wanted; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);

        if (!e->r->x[reg]) {
            emit_set_lanes(e, emit_as(e, e->value[reg], JIT_WIDE),
                           offsetof(MxgpuWarp, x) +
                               JIT_R1 * sizeof(uint64_t[LANES]));
            LLVMBuildCall2(
                e->b, type, fn,
                (LLVMValueRef[]){e->w, emit_i32(e, reg), e->mask}, 3, "");
        }
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
    bool raw[32];

    emit_branch(e, failed, fault, on, false);
    LLVMPositionBuilderAtEnd(e->b, fault);
    /* Values that are made here are not for what follows. */
    memcpy(fvalue, e->fvalue, sizeof(fvalue));
    memcpy(raw, e->raw, sizeof(raw));
    emit_keep(e, e->r->live[e->index]);
    put(e, e->r->live[e->index]);
    memcpy(e->fvalue, fvalue, sizeof(fvalue));
    memcpy(e->raw, raw, sizeof(raw));
    emit_count(e, e->index - e->block->first);
    emit_set(e, e->mask, e->frame, offsetof(JitFrame, fault_mask));
    emit_set(e, emit_i64(e, (uint64_t)(int64_t)e->r->at[e->index]), e->frame,
             offsetof(JitFrame, fault_at));
    emit_set(e, emit_i64(e, e->index), e->frame, offsetof(JitFrame, fault_op));
    emit_leave_from(e, why);
    LLVMPositionBuilderAtEnd(e->b, on);
}
