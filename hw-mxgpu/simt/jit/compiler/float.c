/* SPDX-License-Identifier: MIT */
/* Floating point, to nearest and without flags. */
#include "float.h"

#include "registers.h"

static LLVMTypeRef bits_of(Emit *e, LLVMValueRef v)
{
    return LLVMTypeOf(v) == e->singles ? e->words : e->wides;
}

static LLVMValueRef as_bits(Emit *e, LLVMValueRef v)
{
    return LLVMBuildBitCast(e->b, v, bits_of(e, v), "");
}

static uint64_t sign(Emit *e, LLVMValueRef v)
{
    return LLVMTypeOf(v) == e->singles ? 1ull << 31 : 1ull << 63;
}

static LLVMValueRef negated(Emit *e, LLVMValueRef v)
{
    return LLVMBuildFNeg(e->b, v, "");
}

static LLVMValueRef fused(Emit *e, LLVMValueRef a, LLVMValueRef b,
                          LLVMValueRef c)
{
    LLVMValueRef args[] = {a, b, c};

    return emit_intrinsic(e, "llvm.fma", LLVMTypeOf(a), 3, args);
}

static LLVMValueRef injected(Emit *e, LLVMValueRef a, LLVMValueRef s)
{
    LLVMTypeRef type = bits_of(e, a);
    LLVMValueRef m = emit_vector(e, type, sign(e, a));

    return LLVMBuildBitCast(
        e->b,
        LLVMBuildOr(e->b,
                    LLVMBuildAnd(e->b, as_bits(e, a), LLVMBuildNot(e->b, m, ""),
                                 ""),
                    LLVMBuildAnd(e->b, s, m, ""), ""),
        LLVMTypeOf(a), "");
}

/* -0 is less than +0; one NaN gives the other operand. */
static LLVMValueRef extreme(Emit *e, LLVMValueRef a, LLVMValueRef b, bool max)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef nan = LLVMConstBitCast(
        emit_vector(e, bits_of(e, a),
                    type == e->singles ? 0x7fc00000u : 0x7ff8000000000000ull),
        type);
    LLVMValueRef equal = LLVMBuildFCmp(e->b, LLVMRealOEQ, a, b, "");
    LLVMValueRef less = LLVMBuildFCmp(e->b, LLVMRealOLT, a, b, "");
    LLVMValueRef nan_a = LLVMBuildFCmp(e->b, LLVMRealUNO, a, a, "");
    LLVMValueRef nan_b = LLVMBuildFCmp(e->b, LLVMRealUNO, b, b, "");
    LLVMValueRef zero =
        (max ? LLVMBuildAnd : LLVMBuildOr)(e->b, as_bits(e, a), as_bits(e, b),
                                           "");
    LLVMValueRef v = max ? LLVMBuildSelect(e->b, less, b, a, "")
                         : LLVMBuildSelect(e->b, less, a, b, "");

    v = LLVMBuildSelect(e->b, equal, LLVMBuildBitCast(e->b, zero, type, ""), v,
                        "");
    v = LLVMBuildSelect(e->b, nan_b, a, v, "");
    return LLVMBuildSelect(e->b, nan_a,
                           LLVMBuildSelect(e->b, nan_b, nan, b, ""), v, "");
}

static void compare(Emit *e, const SimtOp *op, LLVMRealPredicate how)
{
    LLVMValueRef c =
        LLVMBuildFCmp(e->b, how, emit_float(e, op->r1, false),
                      emit_float(e, op->r2, false), "");

    emit_write(e, op->rd,
               (Value){JIT_WORD, LLVMBuildZExt(e->b, c, e->words, "")});
}

/* To 32 bits, towards zero: what is too large, and NaN, is the largest. */
static void to_word(Emit *e, const SimtOp *op, bool is_signed)
{
    LLVMValueRef a = emit_float(e, op->r1, false);
    LLVMTypeRef types[] = {e->words, LLVMTypeOf(a)};
    const char *name = is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    unsigned id = LLVMLookupIntrinsicID(name, 15);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, types, 2);
    LLVMValueRef v = LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, &a, 1,
                                    "");

    v = LLVMBuildSelect(
        e->b, LLVMBuildFCmp(e->b, LLVMRealUNO, a, a, ""),
        emit_vector(e, e->words, is_signed ? INT32_MAX : UINT32_MAX), v, "");
    emit_write(e, op->rd, (Value){JIT_WORD, v});
}

static LLVMValueRef from_word(Emit *e, const SimtOp *op, LLVMTypeRef type,
                              bool is_signed)
{
    LLVMValueRef a = emit_low(e, emit_read(e, op->r1));

    return is_signed ? LLVMBuildSIToFP(e->b, a, type, "")
                     : LLVMBuildUIToFP(e->b, a, type, "");
}

/* Sources a, b, c, which may be any NaN; results, too. */
static LLVMValueRef arithmetic(Emit *e, const SimtOp *op)
{
    LLVMValueRef a = emit_float(e, op->r1, false);
    LLVMValueRef b = emit_float(e, op->r2, false), c;

    switch (op->op) {
    case RV_FADD_S:
    case RV_FADD_D:
        return LLVMBuildFAdd(e->b, a, b, "");
    case RV_FSUB_S:
    case RV_FSUB_D:
        return LLVMBuildFSub(e->b, a, b, "");
    case RV_FMUL_S:
    case RV_FMUL_D:
        return LLVMBuildFMul(e->b, a, b, "");
    case RV_FDIV_S:
    case RV_FDIV_D:
        return LLVMBuildFDiv(e->b, a, b, "");
    default:
        break;
    }
    c = emit_float(e, op->r3, false);
    switch (op->op) {
    case RV_FMADD_S:
    case RV_FMADD_D:
        return fused(e, a, b, c);
    case RV_FMSUB_S:
    case RV_FMSUB_D:
        return fused(e, a, b, negated(e, c));
    case RV_FNMSUB_S:
    case RV_FNMSUB_D:
        return fused(e, negated(e, a), b, c);
    default:
        return fused(e, negated(e, a), b, negated(e, c));
    }
}

void emit_fp(Emit *e, const SimtOp *op)
{
    LLVMValueRef a, b, v;

    switch (op->op) {
    case RV_FSQRT_S:
    case RV_FSQRT_D:
        a = emit_float(e, op->r1, false);
        v = emit_intrinsic(e, "llvm.sqrt", LLVMTypeOf(a), 1, &a);
        emit_write_float(e, op->rd, v, true);
        break;
    case RV_FMIN_S:
    case RV_FMIN_D:
    case RV_FMAX_S:
    case RV_FMAX_D:
        a = emit_float(e, op->r1, false);
        b = emit_float(e, op->r2, false);
        v = extreme(e, a, b, op->op == RV_FMAX_S || op->op == RV_FMAX_D);
        emit_write_float(e, op->rd, v, false);
        break;
    case RV_FEQ_S:
    case RV_FEQ_D:
        compare(e, op, LLVMRealOEQ);
        break;
    case RV_FLT_S:
    case RV_FLT_D:
        compare(e, op, LLVMRealOLT);
        break;
    case RV_FLE_S:
    case RV_FLE_D:
        compare(e, op, LLVMRealOLE);
        break;
    case RV_FSGNJ_S:
    case RV_FSGNJ_D:
        if (op->r1 == op->r2) { /* a move */
            emit_write_float(e, op->rd, emit_float(e, op->r1, true), false);
            break;
        }
        a = emit_float(e, op->r1, true);
        b = as_bits(e, emit_float(e, op->r2, true));
        emit_write_float(e, op->rd, injected(e, a, b), false);
        break;
    case RV_FSGNJN_S:
    case RV_FSGNJN_D:
        a = emit_float(e, op->r1, true);
        b = as_bits(e, emit_float(e, op->r2, true));
        v = injected(e, a, LLVMBuildNot(e->b, b, ""));
        emit_write_float(e, op->rd, v, false);
        break;
    case RV_FSGNJX_S:
    case RV_FSGNJX_D:
        a = emit_float(e, op->r1, true);
        b = as_bits(e, emit_float(e, op->r2, true));
        v = injected(e, a, LLVMBuildXor(e->b, as_bits(e, a), b, ""));
        emit_write_float(e, op->rd, v, false);
        break;
    case RV_FMV_X_W:
        emit_write(e, op->rd,
                   (Value){JIT_WORD,
                           as_bits(e, emit_float(e, op->r1, true))});
        break;
    case RV_FMV_W_X:
        a = emit_low(e, emit_read(e, op->r1));
        v = LLVMBuildBitCast(e->b, a, e->singles, "");
        emit_write_float(e, op->rd, v, false);
        break;
    case RV_FCVT_S_W:
        emit_write_float(e, op->rd, from_word(e, op, e->singles, true), false);
        break;
    case RV_FCVT_S_WU:
        emit_write_float(e, op->rd, from_word(e, op, e->singles, false), false);
        break;
    case RV_FCVT_D_W:
        emit_write_float(e, op->rd, from_word(e, op, e->doubles, true), false);
        break;
    case RV_FCVT_D_WU:
        emit_write_float(e, op->rd, from_word(e, op, e->doubles, false), false);
        break;
    case RV_FCVT_S_D:
        a = emit_float(e, op->r1, false);
        v = LLVMBuildFPTrunc(e->b, a, e->singles, "");
        emit_write_float(e, op->rd, v, true);
        break;
    case RV_FCVT_D_S:
        a = emit_float(e, op->r1, false);
        v = LLVMBuildFPExt(e->b, a, e->doubles, "");
        emit_write_float(e, op->rd, v, true);
        break;
    case RV_FCVT_W_S:
    case RV_FCVT_W_D:
        to_word(e, op, true);
        break;
    case RV_FCVT_WU_S:
        to_word(e, op, false);
        break;
    default:
        emit_write_float(e, op->rd, arithmetic(e, op), true);
    }
}
