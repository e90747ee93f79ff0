/* SPDX-License-Identifier: MIT */
#include "line.h"

#include "leave.h"
#include "simt/jit/types.h"

#include <stdlib.h>

typedef LLVMValueRef Build(LLVMBuilderRef, LLVMValueRef, LLVMValueRef,
                           const char *);

static Value both(Emit *e, Build *build, Value a, Value b)
{
    return (Value){JIT_LINE, build(e->b, a.v, b.v, ""),
                   build(e->b, a.step, b.step, ""),
                   build(e->b, a.row, b.row, "")};
}

/* Each number of the line with n. */
static Value each(Emit *e, Build *build, Value a, LLVMValueRef n)
{
    return (Value){JIT_LINE, build(e->b, a.v, n, ""),
                   build(e->b, a.step, n, ""), build(e->b, a.row, n, "")};
}

static Value shifted(Emit *e, Value a, unsigned by)
{
    return each(e, LLVMBuildShl, a, emit_i64(e, by));
}

/* Only the sum counts: the immediate is no line's. */
static Value plus(Emit *e, Value a, int64_t imm)
{
    a.v = LLVMBuildAdd(e->b, a.v, emit_i64(e, (uint64_t)imm), "");
    return a;
}

static Value times(Emit *e, Value a, Value b)
{
    return emit_uniform(b) ? each(e, LLVMBuildMul, a, b.v)
                           : each(e, LLVMBuildMul, b, a.v);
}

/* From the first lane to where the line is after all steps of a kind, if these
 * go down (or up). */
static LLVMValueRef ends(Emit *e, LLVMIntPredicate how, LLVMValueRef step,
                         unsigned times)
{
    LLVMValueRef zero = emit_i64(e, 0);
    LLVMValueRef far = LLVMBuildMul(e->b, step, emit_i64(e, times), "");

    return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, how, far, zero, ""), far,
                           zero, "");
}

static LLVMValueRef extreme(Emit *e, LLVMIntPredicate how, Value a)
{
    unsigned shift = e->r->row_shift;
    LLVMValueRef v = LLVMBuildAdd(
        e->b, a.v, ends(e, how, a.step, (1u << shift) - 1), "");

    return shift == 6 ? v
                      : LLVMBuildAdd(e->b, v,
                                     ends(e, how, a.row, (LANES >> shift) - 1),
                                     "");
}

/* Whether a number is not in -2^48 ... 2^48: sums may overflow. */
static LLVMValueRef is_far(Emit *e, LLVMValueRef v)
{
    v = LLVMBuildAdd(e->b, v, emit_i64(e, 1ull << 48), "");
    return LLVMBuildICmp(e->b, LLVMIntUGT, v, emit_i64(e, 1ull << 49), "");
}

/* Leaves where a lane is not in low ... high. */
static void check_range(Emit *e, Value a, int64_t low, int64_t high)
{
    LLVMValueRef outside = LLVMBuildOr(
        e->b,
        LLVMBuildICmp(e->b, LLVMIntSLT, extreme(e, LLVMIntSLT, a),
                      emit_i64(e, (uint64_t)low), ""),
        LLVMBuildICmp(e->b, LLVMIntSGT, extreme(e, LLVMIntSGT, a),
                      emit_i64(e, (uint64_t)high), ""),
        "");

    outside = LLVMBuildOr(e->b, outside, is_far(e, a.v), "");
    outside = LLVMBuildOr(e->b, outside, is_far(e, a.step), "");
    if (e->r->row_shift < 6) {
        outside = LLVMBuildOr(e->b, outside, is_far(e, a.row), "");
    }
    emit_stop_if(e, outside, JIT_BAILED);
}

/* When the sum in 64 bits is a word, so is the sum in 32, the same one. */
static Value word(Emit *e, Value a)
{
    check_range(e, a, INT32_MIN, INT32_MAX);
    a.type = JIT_LINE_WORD;
    return a;
}

/* The low words as numbers without sign. */
static Value unsigned_word(Emit *e, Value a)
{
    if (emit_uniform(a)) {
        a.v = LLVMBuildAnd(e->b, a.v, emit_i64(e, UINT32_MAX), "");
        return emit_line(e, (Value){.type = JIT_UNIFORM, .v = a.v});
    }
    check_range(e, a, 0, UINT32_MAX);
    return a;
}

Value emit_line_op(Emit *e, const SimtOp *op, Value a, Value b)
{
    Value line = emit_line(e, a), other = emit_line(e, b);

    switch (op->op) {
    case RV_ADDI:
        return op->imm ? (Value){JIT_LINE, plus(e, line, op->imm).v, line.step,
                                 line.row}
                       : line;
    case RV_ADDIW:
        return word(e, plus(e, line, op->imm));
    case RV_ADD:
        return !op->r1 ? other : !op->r2 ? line
                                         : both(e, LLVMBuildAdd, line, other);
    case RV_ADDW:
        return word(e, both(e, LLVMBuildAdd, line, other));
    case RV_SUB:
        return both(e, LLVMBuildSub, line, other);
    case RV_SUBW:
        return word(e, both(e, LLVMBuildSub, line, other));
    case RV_MUL:
        return times(e, line, other);
    case RV_MULW:
        return word(e, times(e, line, other));
    case RV_SLLI:
        return shifted(e, line, op->imm & 63);
    case RV_SLLIW:
        return word(e, shifted(e, line, op->imm & 31));
    case RV_SLLI_UW:
        return shifted(e, unsigned_word(e, line), op->imm & 63);
    case RV_SH1ADD:
        return both(e, LLVMBuildAdd, shifted(e, line, 1), other);
    case RV_SH2ADD:
        return both(e, LLVMBuildAdd, shifted(e, line, 2), other);
    case RV_SH3ADD:
        return both(e, LLVMBuildAdd, shifted(e, line, 3), other);
    case RV_ADD_UW:
        return both(e, LLVMBuildAdd, unsigned_word(e, line), other);
    case RV_SH1ADD_UW:
        return both(e, LLVMBuildAdd, shifted(e, unsigned_word(e, line), 1),
                    other);
    case RV_SH2ADD_UW:
        return both(e, LLVMBuildAdd, shifted(e, unsigned_word(e, line), 2),
                    other);
    case RV_SH3ADD_UW:
        return both(e, LLVMBuildAdd, shifted(e, unsigned_word(e, line), 3),
                    other);
    default:
        abort(); /* mxgpu_jit_result_in() takes nothing else for one */
    }
}
