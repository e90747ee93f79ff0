/* SPDX-License-Identifier: MIT */
/* Integer instructions and branches: rv/sem.h in LLVM. */
#include "int.h"

#include "leave.h"
#include "line.h"
#include "registers.h"
#include "simt/jit/types.h"

#include <stdlib.h>

/* The immediate as an operand. */
static Value immediate(Emit *e, const SimtOp *op)
{
    return (Value){JIT_UNIFORM_WORD, emit_i64(e, (uint64_t)(int64_t)op->imm)};
}

static bool has_immediate(unsigned op)
{
    switch (op) {
    case RV_ADDI:
    case RV_SLTI:
    case RV_SLTIU:
    case RV_XORI:
    case RV_ORI:
    case RV_ANDI:
    case RV_SLLI:
    case RV_SRLI:
    case RV_SRAI:
    case RV_SLLI_UW:
    case RV_ADDIW:
    case RV_SLLIW:
    case RV_SRLIW:
    case RV_SRAIW:
    case RV_RORI:
    case RV_RORIW:
        return true;
    default:
        return false;
    }
}

typedef LLVMValueRef Build(LLVMBuilderRef, LLVMValueRef, LLVMValueRef,
                           const char *);

static LLVMValueRef constant(Emit *e, LLVMValueRef like, uint64_t v)
{
    LLVMTypeRef type = LLVMTypeOf(like);

    return LLVMGetTypeKind(type) == LLVMVectorTypeKind
               ? emit_vector(e, type, v)
               : LLVMConstInt(type, v, 0);
}

/* Shifts use the low bits of their right operand. */
static LLVMValueRef shift(Emit *e, Build *build, LLVMValueRef a, LLVMValueRef b,
                          unsigned width)
{
    return build(e->b, a, LLVMBuildAnd(e->b, b, constant(e, b, width - 1), ""),
                 "");
}

static LLVMValueRef zero_extended(Emit *e, LLVMValueRef a)
{
    return LLVMBuildAnd(e->b, a, constant(e, a, UINT32_MAX), "");
}

static LLVMValueRef choose(Emit *e, LLVMIntPredicate how, LLVMValueRef a,
                           LLVMValueRef b, LLVMValueRef x, LLVMValueRef y)
{
    return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, how, a, b, ""), x, y, "");
}

/* (a << n) + b */
static LLVMValueRef scaled(Emit *e, LLVMValueRef a, LLVMValueRef b, unsigned n)
{
    return LLVMBuildAdd(e->b, LLVMBuildShl(e->b, a, constant(e, a, n), ""), b,
                        "");
}

static LLVMValueRef extended(Emit *e, LLVMValueRef a, unsigned bits,
                             bool is_signed)
{
    unsigned width = LLVMTypeOf(a) == e->words ? 32 : 64;
    LLVMValueRef n = constant(e, a, width - bits);

    a = LLVMBuildShl(e->b, a, n, "");
    return (is_signed ? LLVMBuildAShr : LLVMBuildLShr)(e->b, a, n, "");
}

static LLVMValueRef turned(Emit *e, const char *name, LLVMValueRef a,
                           LLVMValueRef b)
{
    LLVMValueRef args[] = {a, a, b};

    return emit_intrinsic(e, name, LLVMTypeOf(a), 3, args);
}

/* Zeros of 0: as many as bits. */
static LLVMValueRef zeros(Emit *e, const char *name, LLVMValueRef a)
{
    LLVMValueRef args[] = {a, LLVMConstInt(e->i1, 0, 0)};

    return emit_intrinsic(e, name, LLVMTypeOf(a), 2, args);
}

LLVMValueRef emit_compute(Emit *e, unsigned op, LLVMValueRef a, LLVMValueRef b)
{
    unsigned width = LLVMTypeOf(a) == e->words ? 32 : 64;

    switch (op) {
    case RV_ADD:
    case RV_ADDI:
        return LLVMBuildAdd(e->b, a, b, "");
    case RV_SUB:
        return LLVMBuildSub(e->b, a, b, "");
    case RV_MUL:
        return LLVMBuildMul(e->b, a, b, "");
    case RV_SLL:
    case RV_SLLI:
        return shift(e, LLVMBuildShl, a, b, width);
    case RV_SRL:
    case RV_SRLI:
        return shift(e, LLVMBuildLShr, a, b, width);
    case RV_SRA:
    case RV_SRAI:
        return shift(e, LLVMBuildAShr, a, b, width);
    case RV_SLLI_UW:
        return shift(e, LLVMBuildShl, zero_extended(e, a), b, width);
    case RV_SH1ADD:
        return scaled(e, a, b, 1);
    case RV_SH2ADD:
        return scaled(e, a, b, 2);
    case RV_SH3ADD:
        return scaled(e, a, b, 3);
    case RV_ADD_UW:
        return scaled(e, zero_extended(e, a), b, 0);
    case RV_SH1ADD_UW:
        return scaled(e, zero_extended(e, a), b, 1);
    case RV_SH2ADD_UW:
        return scaled(e, zero_extended(e, a), b, 2);
    case RV_SH3ADD_UW:
        return scaled(e, zero_extended(e, a), b, 3);
    case RV_XOR:
    case RV_XORI:
        return LLVMBuildXor(e->b, a, b, "");
    case RV_OR:
    case RV_ORI:
        return LLVMBuildOr(e->b, a, b, "");
    case RV_AND:
    case RV_ANDI:
        return LLVMBuildAnd(e->b, a, b, "");
    case RV_ANDN:
        return LLVMBuildAnd(e->b, a, LLVMBuildNot(e->b, b, ""), "");
    case RV_ORN:
        return LLVMBuildOr(e->b, a, LLVMBuildNot(e->b, b, ""), "");
    case RV_XNOR:
        return LLVMBuildNot(e->b, LLVMBuildXor(e->b, a, b, ""), "");
    case RV_MIN:
        return choose(e, LLVMIntSLT, a, b, a, b);
    case RV_MAX:
        return choose(e, LLVMIntSLT, a, b, b, a);
    case RV_MINU:
        return choose(e, LLVMIntULT, a, b, a, b);
    case RV_MAXU:
        return choose(e, LLVMIntULT, a, b, b, a);
    case RV_CZERO_EQZ:
        return choose(e, LLVMIntEQ, b, constant(e, b, 0), constant(e, a, 0), a);
    case RV_CZERO_NEZ:
        return choose(e, LLVMIntEQ, b, constant(e, b, 0), a, constant(e, a, 0));
    case RV_SEXT_B:
        return extended(e, a, 8, true);
    case RV_SEXT_H:
        return extended(e, a, 16, true);
    case RV_ZEXT_H:
        return extended(e, a, 16, false);
    case RV_ADDW:
    case RV_ADDIW:
        return LLVMBuildAdd(e->b, a, b, "");
    case RV_SUBW:
        return LLVMBuildSub(e->b, a, b, "");
    case RV_MULW:
        return LLVMBuildMul(e->b, a, b, "");
    case RV_SLLW:
    case RV_SLLIW:
        return shift(e, LLVMBuildShl, a, b, 32);
    case RV_SRLW:
    case RV_SRLIW:
        return shift(e, LLVMBuildLShr, a, b, 32);
    case RV_SRAW:
    case RV_SRAIW:
        return shift(e, LLVMBuildAShr, a, b, 32);
    case RV_ROR:
    case RV_RORI:
    case RV_RORW:
    case RV_RORIW:
        return turned(e, "llvm.fshr", a, b);
    case RV_ROL:
    case RV_ROLW:
        return turned(e, "llvm.fshl", a, b);
    case RV_CLZ:
    case RV_CLZW:
        return zeros(e, "llvm.ctlz", a);
    case RV_CTZ:
    case RV_CTZW:
        return zeros(e, "llvm.cttz", a);
    case RV_CPOP:
    case RV_CPOPW:
        return emit_intrinsic(e, "llvm.ctpop", LLVMTypeOf(a), 1, &a);
    case RV_REV8:
        return emit_intrinsic(e, "llvm.bswap", LLVMTypeOf(a), 1, &a);
    default:
        abort(); /* mxgpu_jit_kind() has no others */
    }
}

static bool is_set_less(unsigned op)
{
    return op == RV_SLT || op == RV_SLTI || op == RV_SLTU || op == RV_SLTIU;
}

/* 0 or 1 */
static Value set_less(Emit *e, unsigned op, Value a, Value b)
{
    LLVMIntPredicate how =
        op == RV_SLT || op == RV_SLTI ? LLVMIntSLT : LLVMIntULT;
    LLVMValueRef c;

    if (emit_uniform(a) && emit_uniform(b)) {
        c = LLVMBuildICmp(e->b, how, a.v, b.v, "");
        return (Value){JIT_UNIFORM_WORD, LLVMBuildZExt(e->b, c, e->i64, "")};
    }
    if (emit_is_word(a) && emit_is_word(b)) {
        c = LLVMBuildICmp(e->b, how, emit_low(e, a), emit_low(e, b), "");
    } else {
        c = LLVMBuildICmp(e->b, how, emit_as(e, a, JIT_WIDE),
                          emit_as(e, b, JIT_WIDE), "");
    }
    return (Value){JIT_WORD, LLVMBuildZExt(e->b, c, e->words, "")};
}

/* addw and so on: on the low words. */
static bool is_w(unsigned op)
{
    switch (op) {
    case RV_ADDW:
    case RV_ADDIW:
    case RV_SUBW:
    case RV_MULW:
    case RV_SLLW:
    case RV_SLLIW:
    case RV_SRLW:
    case RV_SRLIW:
    case RV_SRAW:
    case RV_SRAIW:
    case RV_RORW:
    case RV_RORIW:
    case RV_ROLW:
    case RV_CLZW:
    case RV_CTZW:
    case RV_CPOPW:
        return true;
    default:
        return false;
    }
}

static Value on_words(Emit *e, unsigned op, Value a, Value b)
{
    if (emit_uniform(a) && emit_uniform(b)) {
        LLVMValueRef v = emit_compute(e, op, LLVMBuildTrunc(e->b, a.v, e->i32, ""),
                                 LLVMBuildTrunc(e->b, b.v, e->i32, ""));

        return (Value){JIT_UNIFORM_WORD, LLVMBuildSExt(e->b, v, e->i64, "")};
    }
    return (Value){JIT_WORD, emit_compute(e, op, emit_low(e, a), emit_low(e, b))};
}

/* sext.b and so on look at low bits only. */
static bool is_extension(unsigned op)
{
    return op == RV_SEXT_B || op == RV_SEXT_H || op == RV_ZEXT_H;
}

static LLVMValueRef pc_relative(Emit *e, const SimtOp *op)
{
    LLVMValueRef page = emit_get(e, e->i64, e->frame, offsetof(JitFrame, page));
    int64_t distance = (int64_t)e->r->at[e->index] + op->imm;

    return LLVMBuildAdd(e->b, page, emit_i64(e, (uint64_t)distance), "");
}

/* ---- division of numbers */

static LLVMValueRef quotient(Emit *e, unsigned op, LLVMValueRef a,
                             LLVMValueRef b)
{
    switch (op) {
    case RV_DIV:
    case RV_DIVW:
        return LLVMBuildSDiv(e->b, a, b, "");
    case RV_REM:
    case RV_REMW:
        return LLVMBuildSRem(e->b, a, b, "");
    case RV_DIVU:
    case RV_DIVUW:
        return LLVMBuildUDiv(e->b, a, b, "");
    default:
        return LLVMBuildURem(e->b, a, b, "");
    }
}

/* By 0 all bits are set, or the dividend is left; what overflows is as by 1. */
static LLVMValueRef divide(Emit *e, unsigned op, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    bool is_signed = op == RV_DIV || op == RV_DIVW || op == RV_REM ||
                     op == RV_REMW;
    bool rest = op == RV_REM || op == RV_REMW || op == RV_REMU ||
                op == RV_REMUW;
    LLVMValueRef all = LLVMConstAllOnes(type), one = LLVMConstInt(type, 1, 0);
    LLVMValueRef zero = LLVMBuildICmp(e->b, LLVMIntEQ, b, LLVMConstNull(type), "");
    LLVMValueRef by = LLVMBuildSelect(e->b, zero, one, b, ""), minus;

    if (is_signed) {
        minus = LLVMBuildICmp(e->b, LLVMIntEQ, b, all, "");
        a = LLVMBuildSelect(e->b, minus, LLVMBuildNeg(e->b, a, ""), a, "");
        by = LLVMBuildSelect(e->b, minus, one, by, "");
    }
    return LLVMBuildSelect(e->b, zero, rest ? a : all,
                           quotient(e, op, a, by), "");
}

bool emit_divide(Emit *e, const SimtOp *op)
{
    Value a = emit_read(e, op->r1), b = emit_read(e, op->r2);
    JitType type = mxgpu_jit_result_in(e->r, e->index, a.type, b.type);
    bool words = mxgpu_jit_result(op, JIT_WIDE, JIT_WIDE) == JIT_WORD;
    bool one = mxgpu_jit_uniform(type);
    LLVMValueRef v;

    if (!mxgpu_jit_divides(op) || (!one && e->n > 1)) {
        return false;
    }
    if (!one) {
        a.v = emit_as(e, a, words ? JIT_WORD : JIT_WIDE);
        b.v = emit_as(e, b, words ? JIT_WORD : JIT_WIDE);
    } else if (words) {
        a.v = LLVMBuildTrunc(e->b, a.v, e->i32, "");
        b.v = LLVMBuildTrunc(e->b, b.v, e->i32, "");
    }
    v = divide(e, op->op, a.v, b.v);
    v = one && words ? LLVMBuildSExt(e->b, v, e->i64, "") : v;
    emit_write(e, op->rd, (Value){.type = type, .v = v});
    return true;
}

void emit_int(Emit *e, const SimtOp *op)
{
    bool imm = has_immediate(op->op);
    Value a, b;
    JitType type;

    if (op->op == OP_NOP || op->rd == SINK) {
        return;
    }
    if (op->op == RV_LUI) {
        emit_write(e, op->rd,
                   (Value){JIT_UNIFORM_WORD,
                           emit_i64(e, (uint64_t)(int64_t)op->imm)});
        return;
    }
    if (op->op == RV_AUIPC) {
        emit_write(e, op->rd, (Value){JIT_UNIFORM, pc_relative(e, op)});
        return;
    }
    a = emit_read(e, op->r1);
    b = imm ? immediate(e, op) : emit_read(e, op->r2);
    type = mxgpu_jit_result_in(e->r, e->index, a.type, b.type);
    if (mxgpu_jit_line(type)) {
        emit_write(e, op->rd, emit_line_op(e, op, a, b));
        return;
    }
    if (is_set_less(op->op)) {
        emit_write(e, op->rd, set_less(e, op->op, a, b));
        return;
    }
    if (is_w(op->op)) {
        emit_write(e, op->rd, on_words(e, op->op, a, b));
        return;
    }
    if (op->op == RV_ADD && (!op->r1 || !op->r2)) {
        emit_write(e, op->rd, op->r1 ? a : b);
        return;
    }
    if (op->op == RV_ADDI && !op->imm) {
        emit_write(e, op->rd, a);
        return;
    }
    if (op->op == RV_SRAI && emit_is_word(a) && !emit_uniform(a)) {
        uint32_t n = (uint32_t)op->imm & 63;

        emit_write(e, op->rd,
                   (Value){JIT_WORD, LLVMBuildAShr(e->b, emit_low(e, a),
                                                   emit_vector(e, e->words,
                                                               n < 31 ? n : 31),
                                                   "")});
        return;
    }
    if (is_extension(op->op) && !emit_uniform(a)) {
        emit_write(e, op->rd,
                   (Value){JIT_WORD,
                           emit_compute(e, op->op, emit_low(e, a), emit_low(e, a))});
        return;
    }
    emit_write(e, op->rd,
               (Value){type, emit_compute(e, op->op, emit_as(e, a, type),
                                     emit_as(e, b, type))});
}

static LLVMIntPredicate predicate(unsigned op)
{
    switch (op) {
    case RV_BEQ:
        return LLVMIntEQ;
    case RV_BNE:
        return LLVMIntNE;
    case RV_BLT:
        return LLVMIntSLT;
    case RV_BGE:
        return LLVMIntSGE;
    case RV_BLTU:
        return LLVMIntULT;
    default:
        return LLVMIntUGE;
    }
}

LLVMValueRef emit_taken(Emit *e, const SimtOp *op)
{
    Value a = emit_read(e, op->r1), b = emit_read(e, op->r2);
    LLVMIntPredicate how = predicate(op->op);
    LLVMValueRef c;

    if (emit_uniform(a) && emit_uniform(b)) {
        c = LLVMBuildICmp(e->b, how, a.v, b.v, "");
        return LLVMBuildSelect(e->b, c, e->mask, emit_i64(e, 0), "");
    }
    if (emit_is_word(a) && emit_is_word(b)) {
        c = LLVMBuildICmp(e->b, how, emit_low(e, a), emit_low(e, b), "");
    } else {
        c = LLVMBuildICmp(e->b, how, emit_as(e, a, JIT_WIDE),
                          emit_as(e, b, JIT_WIDE), "");
    }
    return LLVMBuildAnd(e->b, emit_mask(e, c), e->mask, "");
}
