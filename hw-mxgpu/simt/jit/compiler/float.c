/* SPDX-License-Identifier: MIT */
/* Floating point, to nearest and without flags. */
#include "float.h"

#include "registers.h"
#include "simt/jit/types.h"
#include "simt/slow/softfp.h"

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
        LLVMBuildFCmp(e->b, how, emit_f_operand(e, op, 0, false),
                      emit_f_operand(e, op, 1, false), "");

    emit_write(e, op->rd,
               (Value){JIT_WORD, LLVMBuildZExt(e->b, c, e->words, "")});
}

/* To the nearest integer, if that is not the one towards zero. */
static LLVMValueRef integral(Emit *e, const SimtOp *op, LLVMValueRef a)
{
    const char *name = op->rm_field == FP_RTZ   ? NULL
                       : op->rm_field == FP_RDN ? "llvm.floor"
                       : op->rm_field == FP_RUP ? "llvm.ceil"
                                                : "llvm.roundeven";

    return name ? emit_intrinsic(e, name, LLVMTypeOf(a), 1, &a) : a;
}

/* What is too large, and NaN, is the largest. */
static void to_int(Emit *e, const SimtOp *op, JitType type, bool is_signed)
{
    LLVMValueRef a = integral(e, op, emit_f_operand(e, op, 0, false));
    LLVMTypeRef to = type == JIT_WORD ? e->words : e->wides;
    LLVMTypeRef types[] = {to, LLVMTypeOf(a)};
    const char *name = is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    unsigned id = LLVMLookupIntrinsicID(name, 15);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, types, 2);
    LLVMValueRef v = LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, &a, 1,
                                    "");
    uint64_t most = type == JIT_WORD ? UINT32_MAX : UINT64_MAX;

    v = LLVMBuildSelect(
        e->b, LLVMBuildFCmp(e->b, LLVMRealUNO, a, a, ""),
        emit_vector(e, to, is_signed ? most >> 1 : most), v, "");
    emit_write(e, op->rd, (Value){.type = type, .v = v});
}

static void from_int(Emit *e, const SimtOp *op, JitType from, bool is_signed)
{
    LLVMTypeRef type = mxgpu_jit_double(op, 3) ? e->doubles : e->singles;
    Value read = emit_read(e, op->r1);
    LLVMValueRef a = from == JIT_WORD ? emit_low(e, read)
                                      : emit_as(e, read, JIT_WIDE);

    a = is_signed ? LLVMBuildSIToFP(e->b, a, type, "")
                  : LLVMBuildUIToFP(e->b, a, type, "");
    emit_write_float(e, op->rd, a, false);
}

/* A bit for what a number is: from -infinity to +infinity, then NaNs. */
static void classify(Emit *e, const SimtOp *op)
{
    LLVMValueRef a = as_bits(e, emit_f_operand(e, op, 0, true)), m, v, is;
    LLVMTypeRef type = LLVMTypeOf(a);
    uint64_t minus = type == e->words ? 1ull << 31 : 1ull << 63;
    uint64_t infinity = type == e->words ? 0x7f800000 : 0x7ff0000000000000;
    uint64_t normal = infinity & -infinity;
    const uint64_t below[] = {infinity, normal, 1}; /* each makes it 1 more */

    m = LLVMBuildAnd(e->b, a, emit_vector(e, type, minus - 1), "");
    v = emit_vector(e, e->words, 0);
    for (unsigned i = 0; i < 3; i++) {
        is = LLVMBuildICmp(e->b, LLVMIntULT, m, emit_vector(e, type, below[i]),
                           "");
        v = LLVMBuildAdd(e->b, v, LLVMBuildZExt(e->b, is, e->words, ""), "");
    }
    is = LLVMBuildICmp(e->b, LLVMIntULT, a, emit_vector(e, type, minus), "");
    v = LLVMBuildSelect(
        e->b, is, LLVMBuildSub(e->b, emit_vector(e, e->words, 7), v, ""), v,
        "");
    is = LLVMBuildICmp(e->b, LLVMIntUGE, m,
                       emit_vector(e, type, infinity | normal >> 1), "");
    is = LLVMBuildAdd(e->b, LLVMBuildZExt(e->b, is, e->words, ""),
                      emit_vector(e, e->words, 8), "");
    v = LLVMBuildSelect(e->b,
                        LLVMBuildICmp(e->b, LLVMIntUGT, m,
                                      emit_vector(e, type, infinity), ""),
                        is, v, "");
    v = LLVMBuildShl(e->b, emit_vector(e, e->words, 1), v, "");
    emit_write(e, op->rd, (Value){JIT_WORD, v});
}

/* Sources a, b, c, which may be any NaN; results, too. */
static LLVMValueRef arithmetic(Emit *e, const SimtOp *op)
{
    LLVMValueRef a = emit_f_operand(e, op, 0, false);
    LLVMValueRef b = emit_f_operand(e, op, 1, false), c;

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
    c = emit_f_operand(e, op, 2, false);
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
        a = emit_f_operand(e, op, 0, false);
        v = emit_intrinsic(e, "llvm.sqrt", LLVMTypeOf(a), 1, &a);
        emit_write_float(e, op->rd, v, true);
        break;
    case RV_FMIN_S:
    case RV_FMIN_D:
    case RV_FMAX_S:
    case RV_FMAX_D:
        a = emit_f_operand(e, op, 0, false);
        b = emit_f_operand(e, op, 1, false);
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
            emit_write_float(e, op->rd, emit_f_operand(e, op, 0, true), false);
            break;
        }
        a = emit_f_operand(e, op, 0, true);
        b = as_bits(e, emit_f_operand(e, op, 1, true));
        emit_write_float(e, op->rd, injected(e, a, b), false);
        break;
    case RV_FSGNJN_S:
    case RV_FSGNJN_D:
        a = emit_f_operand(e, op, 0, true);
        b = as_bits(e, emit_f_operand(e, op, 1, true));
        v = injected(e, a, LLVMBuildNot(e->b, b, ""));
        emit_write_float(e, op->rd, v, false);
        break;
    case RV_FSGNJX_S:
    case RV_FSGNJX_D:
        a = emit_f_operand(e, op, 0, true);
        b = as_bits(e, emit_f_operand(e, op, 1, true));
        v = injected(e, a, LLVMBuildXor(e->b, as_bits(e, a), b, ""));
        emit_write_float(e, op->rd, v, false);
        break;
    case RV_FMV_X_W:
    case RV_FMV_X_D:
        v = as_bits(e, emit_f_operand(e, op, 0, true));
        emit_write(e, op->rd,
                   (Value){op->op == RV_FMV_X_W ? JIT_WORD : JIT_WIDE, v});
        break;
    case RV_FMV_W_X:
        a = emit_low(e, emit_read(e, op->r1));
        v = LLVMBuildBitCast(e->b, a, e->singles, "");
        emit_write_float(e, op->rd, v, false);
        break;
    case RV_FMV_D_X:
        a = emit_as(e, emit_read(e, op->r1), JIT_WIDE);
        v = LLVMBuildBitCast(e->b, a, e->doubles, "");
        emit_write_float(e, op->rd, v, false);
        break;
    case RV_FCLASS_S:
    case RV_FCLASS_D:
        classify(e, op);
        break;
    case RV_FCVT_S_W:
    case RV_FCVT_D_W:
        from_int(e, op, JIT_WORD, true);
        break;
    case RV_FCVT_S_WU:
    case RV_FCVT_D_WU:
        from_int(e, op, JIT_WORD, false);
        break;
    case RV_FCVT_S_L:
    case RV_FCVT_D_L:
        from_int(e, op, JIT_WIDE, true);
        break;
    case RV_FCVT_S_LU:
    case RV_FCVT_D_LU:
        from_int(e, op, JIT_WIDE, false);
        break;
    case RV_FCVT_S_D:
        a = emit_f_operand(e, op, 0, false);
        v = LLVMBuildFPTrunc(e->b, a, e->singles, "");
        emit_write_float(e, op->rd, v, true);
        break;
    case RV_FCVT_D_S:
        a = emit_f_operand(e, op, 0, false);
        v = LLVMBuildFPExt(e->b, a, e->doubles, "");
        emit_write_float(e, op->rd, v, true);
        break;
    case RV_FCVT_W_S:
    case RV_FCVT_W_D:
        to_int(e, op, JIT_WORD, true);
        break;
    case RV_FCVT_WU_S:
    case RV_FCVT_WU_D:
        to_int(e, op, JIT_WORD, false);
        break;
    case RV_FCVT_L_S:
    case RV_FCVT_L_D:
        to_int(e, op, JIT_WIDE, true);
        break;
    case RV_FCVT_LU_S:
    case RV_FCVT_LU_D:
        to_int(e, op, JIT_WIDE, false);
        break;
    default:
        emit_write_float(e, op->rd, arithmetic(e, op), true);
    }
}
