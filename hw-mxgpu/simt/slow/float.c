/* SPDX-License-Identifier: MIT */
/*
 * Floating point arithmetic, one lane at a time: what the lane loops of
 * exec/fp.c and its neighbours do not cover. These use the host's
 * arithmetic in round-to-nearest-even and do not record exception flags. A warp
 * is at
 *   fp_level 0  while every lane's frm is nearest-even,
 *   fp_level 1  when some lane has another frm: dynamic rounding comes here,
 *   fp_level 2  in dispatches that record flags: all arithmetic comes here.
 */
#include "float.h"

#include "simt/warp/budget.h"
#include "simt/warp/fault.h"
#include "softfp.h"

void mxgpu_simt_fp_level(MxgpuWarp *w, bool flags)
{
    unsigned level = 0;

    for (unsigned i = 0; i < LANES; i++) {
        level |= w->s.frm[i] != FP_RNE;
    }
    w->c.fp_level = flags ? 2 : level;
}

/* What classify() tells of an instruction. */
typedef enum FpKind {
    FP_ADD, FP_SUB, FP_MUL, FP_DIV, FP_SQRT, FP_MADD, FP_MSUB, FP_NMSUB,
    FP_NMADD, FP_MIN, FP_MAX, FP_LE, FP_LT, FP_EQ, FP_TO_W, FP_TO_WU, FP_TO_L,
    FP_TO_LU, FP_FROM_W, FP_FROM_WU, FP_FROM_L, FP_FROM_LU, FP_CONVERT, FP_NOT
} FpKind;

typedef struct FpOp {
    FpKind kind;
    FpFormat to, from;
} FpOp;

static FpOp classify(unsigned op)
{
#define ONE(OP, s, fmt, K) case RV_##OP##_##s: return (FpOp){FP_##K, fmt, fmt};
#define EACH(s, fmt)                                                           \
    ONE(FADD, s, fmt, ADD) ONE(FSUB, s, fmt, SUB) ONE(FMUL, s, fmt, MUL)       \
    ONE(FDIV, s, fmt, DIV) ONE(FSQRT, s, fmt, SQRT) ONE(FMADD, s, fmt, MADD)   \
    ONE(FMSUB, s, fmt, MSUB) ONE(FNMSUB, s, fmt, NMSUB)                        \
    ONE(FNMADD, s, fmt, NMADD) ONE(FMIN, s, fmt, MIN)                          \
    ONE(FMAX, s, fmt, MAX) ONE(FLE, s, fmt, LE) ONE(FLT, s, fmt, LT)           \
    ONE(FEQ, s, fmt, EQ)                                                       \
    ONE(FCVT_W, s, fmt, TO_W) ONE(FCVT_WU, s, fmt, TO_WU)                      \
    ONE(FCVT_L, s, fmt, TO_L) ONE(FCVT_LU, s, fmt, TO_LU)                      \
    ONE(FCVT_##s, W, fmt, FROM_W) ONE(FCVT_##s, WU, fmt, FROM_WU)              \
    ONE(FCVT_##s, L, fmt, FROM_L) ONE(FCVT_##s, LU, fmt, FROM_LU)
#define CVT(t, f, to, from)                                                    \
    case RV_FCVT_##t##_##f:                                                    \
        return (FpOp){FP_CONVERT, to, from};
    switch (op) {
        EACH(H, FP_H)
        EACH(S, FP_S)
        EACH(D, FP_D)
        CVT(S, D, FP_S, FP_D)
        CVT(D, S, FP_D, FP_S)
        CVT(S, H, FP_S, FP_H)
        CVT(H, S, FP_H, FP_S)
        CVT(D, H, FP_D, FP_H)
        CVT(H, D, FP_H, FP_D)
        CVT(S, BF16, FP_S, FP_BF)
        CVT(BF16, S, FP_BF, FP_S)
    }
    return (FpOp){FP_NOT, FP_D, FP_D};
}

/* An operand: canonical NaN when it is not properly boxed. */
static uint64_t operand(const MxgpuWarp *w, unsigned r, unsigned lane,
                        FpFormat f)
{
    uint64_t v = w->narrow[r] >> lane & 1
                     ? 0xffffffff00000000ull | w->f[r][lane]
                     : w->d[r][lane];

    switch (f) {
    case FP_H:
    case FP_BF:
        return v >> 16 == UINT64_MAX >> 16 ? (uint16_t)v : fp_canonical_nan(f);
    case FP_S:
        return v >> 32 == UINT64_MAX >> 32 ? (uint32_t)v : fp_canonical_nan(f);
    default:
        return v;
    }
}

static void set_result(MxgpuWarp *w, unsigned rd, unsigned lane, FpFormat f,
                       uint64_t v)
{
    if (f == FP_D) {
        w->d[rd][lane] = v;
        w->narrow[rd] &= ~(1ull << lane);
    } else {
        w->f[rd][lane] = f == FP_S ? (uint32_t)v : 0xffff0000u | (uint32_t)v;
        w->narrow[rd] |= 1ull << lane;
    }
}

static uint64_t arithmetic(const FpOp *o, uint64_t a, uint64_t b, uint64_t c,
                           FpEnv *env)
{
    FpFormat f = o->to;
    uint64_t sign = fp_sign_bit(f);

    switch (o->kind) {
    case FP_ADD:
        return fp_add(env, f, a, b);
    case FP_SUB:
        return fp_sub(env, f, a, b);
    case FP_MUL:
        return fp_mul(env, f, a, b);
    case FP_DIV:
        return fp_div(env, f, a, b);
    case FP_SQRT:
        return fp_sqrt(env, f, a);
    case FP_MADD:
        return fp_fma(env, f, a, b, c);
    case FP_MSUB:
        return fp_fma(env, f, a, b, (c ^ sign));
    case FP_NMSUB:
        return fp_fma(env, f, (a ^ sign), b, c);
    case FP_NMADD:
        return fp_fma(env, f, (a ^ sign), b, (c ^ sign));
    case FP_MIN:
        return fp_min(env, f, a, b);
    case FP_MAX:
        return fp_max(env, f, a, b);
    default:
        return fp_convert(env, f, o->from, a);
    }
}

static uint64_t from_int(const FpOp *o, uint64_t x, FpEnv *env)
{
    bool word = o->kind == FP_FROM_W || o->kind == FP_FROM_WU;

    return fp_from_int(env, o->to, x, word ? 32 : 64,
                       o->kind == FP_FROM_W || o->kind == FP_FROM_L);
}

/* Results that go to x registers. */
static uint64_t to_x(const FpOp *o, uint64_t a, uint64_t b, FpEnv *env)
{
    FpFormat f = o->to;

    switch (o->kind) {
    case FP_EQ:
        return fp_eq(env, f, a, b);
    case FP_LT:
        return fp_lt(env, f, a, b);
    case FP_LE:
        return fp_le(env, f, a, b);
    case FP_TO_W:
    case FP_TO_WU:
        return fp_to_int(env, f, a, 32, o->kind == FP_TO_W);
    default:
        return fp_to_int(env, f, a, 64, o->kind == FP_TO_L);
    }
}

static bool gives_x(FpKind kind)
{
    return kind >= FP_LE && kind <= FP_TO_LU;
}

bool mxgpu_simt_float(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                      uint64_t mask)
{
    FpOp o = classify(p->op);

    if (simt_exhausted(cu)) {
        return false;
    }
    simt_charge(cu, __builtin_popcountll(mask));
    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);
        FpEnv env = {p->rm_field == 7 ? w->s.frm[i] : p->rm_field, 0};
        uint64_t a, b, c;

        if (env.rm > FP_RMM || o.kind == FP_NOT) {
            mxgpu_simt_fault_at(cu, w, i, MXGPU_FAULT_ILLEGAL,
                                MXGPU_ACCESS_EXECUTE, pc, pc);
            return false;
        }
        if (o.kind >= FP_FROM_W && o.kind <= FP_FROM_LU) {
            set_result(w, p->rd, i, o.to, from_int(&o, w->x[p->r1][i], &env));
        } else {
            a = operand(w, p->r1, i, o.from);
            b = operand(w, p->r2, i, o.to);
            c = operand(w, p->r3, i, o.to);
            if (gives_x(o.kind)) {
                w->x[p->rd][i] = to_x(&o, a, b, &env);
            } else {
                set_result(w, p->rd, i, o.to, arithmetic(&o, a, b, c, &env));
            }
        }
        if (w->c.fp_level == 2) {
            w->s.fflags[i] |= env.flags;
        }
    }
    return true;
}
