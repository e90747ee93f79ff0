/* SPDX-License-Identifier: MIT */
/* Loads and stores, where the site says that lanes are. All else is done by the
 * interpreter's function, which sets the site. */
#include "memory.h"

#include "call.h"
#include "lanes.h"
#include "leave.h"
#include "registers.h"
#include "rows.h"
#include "simt/jit/types.h"

#include <stddef.h>

#define LEVELS_MAX 4 /* rows at one address each that are stored in turn */

/* ---- loads */

LLVMValueRef emit_extended(Emit *e, const SimtOp *op, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    unsigned width = type == e->wides ? 64 : 32, bits = 8 * emit_size(op->op);
    bool is_signed = op->op == RV_LB || op->op == RV_LH || op->op == RV_LW;

    switch (op->op) {
    case RV_LD:
        return v;
    case RV_FLD:
        return LLVMBuildBitCast(e->b, v, e->doubles, "");
    case RV_LWU:
        v = width == 64 ? LLVMBuildTrunc(e->b, v, e->words, "") : v;
        return LLVMBuildZExt(e->b, v, e->wides, "");
    default:
        break;
    }
    v = width == 64 ? LLVMBuildTrunc(e->b, v, e->words, "") : v;
    if (op->op == RV_FLW) {
        return LLVMBuildBitCast(e->b, v, e->singles, "");
    }
    if (bits < 32) {
        LLVMValueRef n = emit_vector(e, e->words, 32 - bits);

        v = LLVMBuildShl(e->b, v, n, "");
        v = (is_signed ? LLVMBuildAShr : LLVMBuildLShr)(e->b, v, n, "");
    }
    return v;
}

typedef struct Ends {
    LLVMValueRef v[8];
    LLVMBasicBlockRef from[8];
    unsigned n;
    LLVMBasicBlockRef join;
} Ends;

static void end(Emit *e, Ends *ends, LLVMValueRef v)
{
    ends->v[ends->n] = v;
    ends->from[ends->n++] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, ends->join);
}

static void load_vector(Emit *e, const SimtOp *op, const Access *a, Ends *ends)
{
    Lanes host = emit_host_lanes(e, a);
    LLVMValueRef v;

    v = a->size < 4 ? emit_gather_small(e, host)
                    : emit_load_lanes(e, a->size == 4 ? e->words : e->wides,
                                      host);
    end(e, ends, emit_extended(e, op, v));
}

/* Each lane's own, from one address of private memory. */
static void load_private(Emit *e, const SimtOp *op, const Access *a, Ends *ends)
{
    LLVMBasicBlockRef aligned = emit_new(e, "aligned");
    LLVMValueRef v;

    emit_branch(e, emit_misaligned(e, a), a->slow, aligned, false);
    LLVMPositionBuilderAtEnd(e->b, aligned);
    v = emit_load_granule(e, a);
    if (a->size < 8) {
        v = LLVMBuildLShr(e->b, v, emit_granule_shift(e, a), "");
    }
    end(e, ends, emit_extended(e, op, v));
}

static void load_uniform(Emit *e, const SimtOp *op, const Access *a, Ends *ends)
{
    LLVMBasicBlockRef private = emit_if_linear(e, a);
    LLVMTypeRef one = LLVMIntTypeInContext(e->context, 8 * a->size);
    LLVMValueRef v, at;

    at = LLVMBuildIntToPtr(e->b, LLVMBuildAdd(e->b, a->va, a->add, ""), e->ptr,
                           "");
    v = LLVMBuildLoad2(e->b, one, at, "");
    LLVMSetAlignment(v, 1);
    v = LLVMBuildZExtOrBitCast(e->b, v, a->size < 8 ? e->i32 : e->i64, "");
    v = emit_splat(e, v, a->size < 8 ? e->words : e->wides);
    end(e, ends, emit_extended(e, op, v));
    LLVMPositionBuilderAtEnd(e->b, private);
    if (e->r->whole && !e->r->varies[e->index]) {
        emit_stop_if(e, LLVMConstInt(e->i1, 1, 0), JIT_BAILED);
        LLVMBuildBr(e->b, a->slow);
    } else {
        load_private(e, op, a, ends);
    }
}

LLVMValueRef emit_of_memory(Emit *e, const SimtOp *op, LLVMValueRef v)
{
    bool is_signed = op->op == RV_LB || op->op == RV_LH;

    if (emit_size(op->op) < 4) {
        return (is_signed ? LLVMBuildSExt : LLVMBuildZExt)(e->b, v, e->words,
                                                           "");
    }
    return emit_extended(e, op, v);
}

/* Of lanes of the mask, where others of a row, up or down, are not inside. */
static void load_part(Emit *e, const SimtOp *op, Value base, bool down, Ends *ends,
                      LLVMBasicBlockRef slow)
{
    Access a = emit_begin_part(e, op->imm, emit_size(op->op), base, slow);

    LLVMPositionBuilderAtEnd(e->b, a.fast);
    end(e, ends, emit_of_memory(e, op, emit_get_part(e, &a, down)));
}

/* Of a line whose rows are side by side, up or down, or at one address each;
 * continues where they are neither. */
static void load_rows(Emit *e, const SimtOp *op, Value base, Ends *ends,
                      LLVMBasicBlockRef slow)
{
    const uint64_t size = emit_size(op->op), steps[] = {size, 0, -size};
    bool one = 1u << e->r->row_shift == LANES;

    for (unsigned i = 0; i < (one ? 3 : 2); i++) {
        bool part = one && steps[i] && !e->block->full;
        LLVMBasicBlockRef other, rest;
        Access a;

        if (!emit_may_step(base, steps[i])) {
            continue;
        }
        other = emit_if_step(e, base, steps[i]);
        rest = part ? emit_new(e, "rest") : slow;
        a = emit_begin_rows(e, op->imm, emit_size(op->op), base, rest);
        LLVMPositionBuilderAtEnd(e->b, a.fast);
        end(e, ends,
            emit_of_memory(e, op,
                           i == 2 ? emit_get_reversed(e, &a)
                                  : emit_get_rows(e, &a, base, i)));
        if (part) {
            LLVMPositionBuilderAtEnd(e->b, rest);
            load_part(e, op, base, i == 2, ends, slow);
        }
        LLVMPositionBuilderAtEnd(e->b, other);
    }
}

/* What is no row: each lane's own. */
static void load_lanes(Emit *e, const SimtOp *op, Value base, Ends *ends,
                       LLVMBasicBlockRef slow)
{
    bool line = mxgpu_jit_line(base.type);
    Access a;

    if (line) {
        load_rows(e, op, base, ends, slow);
    }
    if (line && emit_size(op->op) < 4) {
        LLVMBuildBr(e->b, slow); /* the interpreter is as fast */
        return;
    }
    a = emit_begin(e, op, op->imm, emit_size(op->op), slow);
    (a.uniform ? load_uniform : load_vector)(e, op, &a, ends);
}

static LLVMValueRef loaded(Emit *e, const SimtOp *op)
{
    switch (op->op) {
    case RV_FLW:
        return emit_get_lanes(e, e->singles,
                              offsetof(MxgpuWarp, f) +
                                  FP_SCRATCH * sizeof(uint32_t[LANES]));
    case RV_FLD:
        return emit_get_lanes(e, e->doubles,
                              offsetof(MxgpuWarp, d) +
                                  FP_SCRATCH * sizeof(uint64_t[LANES]));
    default:
        return emit_result(e, mxgpu_jit_result(op, JIT_WIDE, JIT_WIDE)).v;
    }
}

/* Continues at "slow", with the address where the interpreter looks for it. */
static void slow_address(Emit *e, const SimtOp *op, LLVMBasicBlockRef slow)
{
    Value base = emit_read(e, op->r1);
    LLVMValueRef imm = emit_i64(e, (uint64_t)(int64_t)op->imm);

    LLVMPositionBuilderAtEnd(e->b, slow);
    if (emit_uniform(base) || mxgpu_jit_line(base.type)) {
        base.v = LLVMBuildAdd(e->b, base.v, imm, "");
    } else {
        base.v = LLVMBuildAdd(e->b, emit_as(e, base, JIT_WIDE),
                              emit_splat(e, imm, e->wides), "");
        base.type = JIT_WIDE;
    }
    emit_operand(e, base, JIT_R1);
}

/* The number that x[rd] gets from the one at a host address. */
static LLVMValueRef load_number(Emit *e, const SimtOp *op, const Access *a)
{
    LLVMTypeRef type = LLVMIntTypeInContext(e->context, 8 * a->size);
    LLVMValueRef at = LLVMBuildAdd(e->b, a->va, a->add, ""), v;
    bool is_signed = op->op == RV_LB || op->op == RV_LH || op->op == RV_LW;

    v = LLVMBuildLoad2(e->b, type, LLVMBuildIntToPtr(e->b, at, e->ptr, ""), "");
    LLVMSetAlignment(v, 1);
    return is_signed ? LLVMBuildSExt(e->b, v, e->i64, "")
                     : LLVMBuildZExtOrBitCast(e->b, v, e->i64, "");
}

/* What lanes of the mask have got, if that is one value; else leaves. */
static LLVMValueRef one_value(Emit *e, LLVMValueRef lanes)
{
    LLVMValueRef args[] = {e->mask, LLVMConstInt(e->i1, 1, 0)}, first;
    LLVMTypeRef type = LLVMTypeOf(lanes);

    first = LLVMBuildExtractElement(
        e->b, lanes, emit_intrinsic(e, "llvm.cttz", e->i64, 2, args), "");
    emit_stop_if(e,
                 emit_any_lane(e, LLVMBuildICmp(e->b, LLVMIntNE, lanes,
                                           emit_splat(e, first, type), "")),
                 JIT_BAILED);
    return type == e->words ? LLVMBuildSExt(e->b, first, e->i64, "") : first;
}

/* From one address of memory that all lanes share. */
static void load_one(Emit *e, const SimtOp *op)
{
    LLVMBasicBlockRef slow = emit_new(e, "slow");
    Access a = emit_begin(e, op, op->imm, emit_size(op->op), slow);
    Ends ends = {.join = emit_new(e, "loaded")};
    LLVMValueRef phi;

    LLVMPositionBuilderAtEnd(e->b, a.fast);
    emit_stop_if(e,
                 emit_in_private(e, &a),
                 JIT_BAILED);
    end(e, &ends, load_number(e, op, &a));
    slow_address(e, op, slow);
    emit_call_now(e, true);
    end(e, &ends, one_value(e, loaded(e, op)));
    LLVMPositionBuilderAtEnd(e->b, ends.join);
    phi = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(phi, ends.v, ends.from, ends.n);
    emit_write(e, op->rd,
               (Value){.type = mxgpu_jit_result_in(e->r, e->index, JIT_UNIFORM,
                                                   JIT_NONE),
                       .v = phi});
}

void emit_load(Emit *e, const SimtOp *op)
{
    Value base = emit_read(e, op->r1);
    JitType type =
        mxgpu_jit_result_in(e->r, e->index, base.type, JIT_NONE);
    Ends ends = {0};
    LLVMBasicBlockRef slow;
    LLVMValueRef phi;

    if (!(op->classes & RV_CLASS_FD) && mxgpu_jit_uniform(type)) {
        load_one(e, op);
        return;
    }
    ends.join = emit_new(e, "loaded");
    slow = emit_new(e, "slow");
    load_lanes(e, op, base, &ends, slow);
    slow_address(e, op, slow);
    emit_call_now(e, true);
    end(e, &ends, loaded(e, op));
    LLVMPositionBuilderAtEnd(e->b, ends.join);
    phi = LLVMBuildPhi(e->b, LLVMTypeOf(ends.v[0]), "");
    LLVMAddIncoming(phi, ends.v, ends.from, ends.n);
    if (op->classes & RV_CLASS_FD) {
        emit_write_float(e, op->rd, phi, false);
    } else {
        emit_write(e, op->rd, (Value){.type = type, .v = phi});
    }
}

/* ---- stores */

LLVMValueRef emit_stored(Emit *e, const SimtOp *op)
{
    switch (op->op) {
    case RV_FSW:
        return LLVMBuildBitCast(e->b, emit_f_operand(e, op, 1, true), e->words,
                                "");
    case RV_FSD:
        return LLVMBuildBitCast(e->b, emit_f_operand(e, op, 1, true), e->wides,
                                "");
    case RV_SD:
        return emit_as(e, emit_read(e, op->r2), JIT_WIDE);
    default:
        return emit_low(e, emit_read(e, op->r2));
    }
}

/* The highest lane is the last writer. */
static void store_last(Emit *e, const Access *a, LLVMValueRef v)
{
    LLVMTypeRef one = LLVMIntTypeInContext(e->context, 8 * a->size);
    LLVMTypeRef type = LLVMIntTypeInContext(e->context, e->n);
    LLVMValueRef lanes = LLVMBuildBitCast(e->b, e->lane, type, "");
    LLVMValueRef args[] = {lanes, LLVMConstInt(e->i1, 1, 0)}, last, at;

    if (e->n > 1) {
        last = LLVMBuildSub(e->b, LLVMConstInt(type, e->n - 1, 0),
                            emit_intrinsic(e, "llvm.ctlz", type, 2, args), "");
        v = LLVMBuildExtractElement(e->b, v, last, "");
    }
    at = LLVMBuildIntToPtr(e->b, LLVMBuildAdd(e->b, a->va, a->add, ""), e->ptr,
                           "");
    v = LLVMBuildStore(e->b, LLVMBuildTruncOrBitCast(e->b, v, one, ""), at);
    LLVMSetAlignment(v, 1);
}

/* All lanes to one address of private memory, each to its own. */
static void store_granule(Emit *e, const Access *a, LLVMValueRef v)
{
    LLVMValueRef at = emit_granule(e, a), old;

    if (a->size < 8) {
        LLVMValueRef n = emit_granule_shift(e, a), field;

        v = LLVMBuildZExt(e->b, v, e->wides, "");
        field = emit_vector(e, e->wides, (1ull << 8 * a->size) - 1);
        v = LLVMBuildAnd(e->b, v, field, "");
        old = LLVMBuildAnd(
            e->b, emit_load_granule(e, a),
            LLVMBuildNot(e->b, LLVMBuildShl(e->b, field, n, ""), ""), "");
        v = LLVMBuildOr(e->b, old, LLVMBuildShl(e->b, v, n, ""), "");
    }
    if (e->n < LANES) {
        emit_scatter(e, v, emit_each(e, at, 8), e->lane);
    } else {
        emit_masked_store(e, v, LLVMBuildIntToPtr(e->b, at, e->ptr, ""), 64,
                     e->lane);
    }
}

static void store_uniform(Emit *e, const Access *a, LLVMValueRef v,
                          LLVMBasicBlockRef join)
{
    LLVMBasicBlockRef private = emit_if_linear(e, a);
    LLVMBasicBlockRef aligned = emit_new(e, "aligned");

    store_last(e, a, v);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, private);
    emit_branch(e, emit_misaligned(e, a), a->slow, aligned, false);
    LLVMPositionBuilderAtEnd(e->b, aligned);
    store_granule(e, a, v);
    LLVMBuildBr(e->b, join);
}

static void slow_value(Emit *e, const SimtOp *op, LLVMValueRef v)
{
    switch (op->op) {
    case RV_FSW:
        emit_set_lanes(e, v,
                       offsetof(MxgpuWarp, f) +
                           FP_SCRATCH * sizeof(uint32_t[LANES]));
        break;
    case RV_FSD:
        emit_set_lanes(e, v,
                       offsetof(MxgpuWarp, d) +
                           FP_SCRATCH * sizeof(uint64_t[LANES]));
        break;
    default:
        emit_operand(e,
                    (Value){.type = LLVMTypeOf(v) == e->words ? JIT_WORD
                                                           : JIT_WIDE,
                            .v = v},
                    JIT_R2);
    }
}

/* Of a line whose rows are side by side. */
static void store_rows(Emit *e, const SimtOp *op, Value base, LLVMValueRef v,
                       LLVMBasicBlockRef join, LLVMBasicBlockRef slow)
{
    unsigned size = emit_size(op->op);
    bool part = 1u << e->r->row_shift == LANES && !e->block->full;
    LLVMBasicBlockRef rest = part ? emit_new(e, "rest") : slow;
    Access a = emit_begin_rows(e, op->imm, size, base, rest);

    LLVMPositionBuilderAtEnd(e->b, a.fast);
    emit_put_rows(e, &a, base, v);
    LLVMBuildBr(e->b, join);
    if (part) { /* others than lanes of the mask are not inside, perhaps */
        LLVMPositionBuilderAtEnd(e->b, rest);
        a = emit_begin_part(e, op->imm, size, base, slow);
        LLVMPositionBuilderAtEnd(e->b, a.fast);
        emit_put_rows(e, &a, base, v);
        LLVMBuildBr(e->b, join);
    }
}

/* At one address for each row. */
static void store_levels(Emit *e, const SimtOp *op, Value base, LLVMValueRef v,
                         LLVMBasicBlockRef join, LLVMBasicBlockRef slow)
{
    Access a = emit_begin_rows(e, op->imm, emit_size(op->op), base, slow);

    LLVMPositionBuilderAtEnd(e->b, a.fast);
    emit_put_levels(e, &a, base, v);
    LLVMBuildBr(e->b, join);
}

/* Continues where the line is neither. */
static void store_line(Emit *e, const SimtOp *op, Value base, LLVMValueRef v,
                       LLVMBasicBlockRef join, LLVMBasicBlockRef slow)
{
    unsigned rows = LANES >> e->r->row_shift, size = emit_size(op->op);
    LLVMBasicBlockRef other;

    if (emit_may_step(base, size)) {
        other = emit_if_step(e, base, size);
        store_rows(e, op, base, v, join, slow);
        LLVMPositionBuilderAtEnd(e->b, other);
    }
    if (rows <= LEVELS_MAX && emit_may_step(base, 0)) {
        other = emit_if_step(e, base, 0);
        store_levels(e, op, base, v, join, slow);
        LLVMPositionBuilderAtEnd(e->b, other);
    }
}

static void store_vector(Emit *e, const SimtOp *op, LLVMValueRef v,
                         LLVMBasicBlockRef join, LLVMBasicBlockRef slow)
{
    Access a = emit_begin(e, op, op->imm, emit_size(op->op), slow);

    if (a.uniform) {
        store_uniform(e, &a, v, join);
    } else if (a.size < 4) { /* hosts have no such scatters */
        LLVMPositionBuilderAtEnd(e->b, a.fast);
        LLVMBuildBr(e->b, a.slow);
    } else {
        emit_store_lanes(e, v, emit_host_lanes(e, &a));
        LLVMBuildBr(e->b, join);
    }
}

void emit_store(Emit *e, const SimtOp *op)
{
    LLVMValueRef v = emit_stored(e, op);
    Value base = emit_read(e, op->r1);
    LLVMBasicBlockRef join = emit_new(e, "stored");
    LLVMBasicBlockRef slow = emit_new(e, "slow");

    if (mxgpu_jit_line(base.type)) {
        store_line(e, op, base, v, join, slow);
    }
    store_vector(e, op, v, join, slow);
    slow_address(e, op, slow);
    slow_value(e, op, v);
    emit_call_now(e, true);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, join);
}
