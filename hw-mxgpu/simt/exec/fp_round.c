/* SPDX-License-Identifier: MIT */
/*
 * Other rounding modes than nearest-even, no flags wanted: the loops of fp.c and
 * fp_cvt.c, where they do not depend on the mode, look at it themselves, or
 * round as the host's arithmetic is told to.
 */
#include "ops.h"
#include "simt/slow/softfp.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

#define FP_HOST_OPS(F)                                                         \
    F(FADD_S) F(FSUB_S) F(FMUL_S) F(FDIV_S) F(FSQRT_S) F(FMADD_S) F(FMSUB_S)   \
    F(FNMSUB_S) F(FNMADD_S)                                                    \
    F(FADD_D) F(FSUB_D) F(FMUL_D) F(FDIV_D) F(FSQRT_D) F(FMADD_D) F(FMSUB_D)   \
    F(FNMSUB_D) F(FNMADD_D) F(FCVT_S_D)
#define FP_FROM_INT_OPS(F)                                                     \
    F(FCVT_S_W) F(FCVT_S_WU) F(FCVT_S_L) F(FCVT_S_LU)                          \
    F(FCVT_D_W) F(FCVT_D_WU) F(FCVT_D_L) F(FCVT_D_LU)
#define FP_SELF_OPS(F)                                                         \
    F(FCVT_W_S) F(FCVT_WU_S) F(FCVT_L_S) F(FCVT_LU_S)                          \
    F(FCVT_W_D) F(FCVT_WU_D) F(FCVT_L_D) F(FCVT_LU_D)                          \
    F(FCVT_W_H) F(FCVT_WU_H) F(FCVT_L_H) F(FCVT_LU_H)                          \
    F(FCVT_D_S) F(FCVT_D_H) F(FCVT_S_H) F(FCVT_S_BF16)

/* host: the host is to round; away: can also do ties away from zero. */
typedef struct Rounder {
    FpFn *fn;
    bool host, away;
} Rounder;

static const Rounder rounders[RV_OP_COUNT] = {
#define HOST_OP(ID) [RV_##ID] = {fp_##ID, true, false},
#define FROM_OP(ID) [RV_##ID] = {fp_##ID, true, true},
#define SELF_OP(ID) [RV_##ID] = {fp_##ID, false, true},
    FP_HOST_OPS(HOST_OP)
    FP_FROM_INT_OPS(FROM_OP)
    FP_SELF_OPS(SELF_OP)
};

/* The functions are called through a pointer: no arithmetic of theirs can move
 * out of where the mode is set. */
static void call_rounded(FpFn *fn, FP_ARGS)
{
#if defined(__x86_64__)
    static const uint16_t control[] = {
        [FP_RTZ] = 0x6000, [FP_RDN] = 0x2000, [FP_RUP] = 0x4000,
    };
    unsigned old = _mm_getcsr();

    _mm_setcsr(old | control[p->rm_field]);
    fn(w, p, mask);
    _mm_setcsr(old);
#else
    static const int modes[] = {
        [FP_RTZ] = FE_TOWARDZERO, [FP_RDN] = FE_DOWNWARD, [FP_RUP] = FE_UPWARD,
    };

    fesetround(modes[p->rm_field]);
    fn(w, p, mask);
    fesetround(FE_TONEAREST);
#endif
}

/* The mode that all lanes of mask have; FP_DYNAMIC when they differ. */
static unsigned common_frm(const MxgpuWarp *w, uint64_t mask)
{
    unsigned rm = w->s.frm[__builtin_ctzll(mask)];

    for (uint64_t m = mask; m; m &= m - 1) {
        if (w->s.frm[__builtin_ctzll(m)] != rm) {
            return FP_DYNAMIC;
        }
    }
    return rm;
}

/* Whether all lanes of mask could be done here. */
bool rounded(FP_ARGS)
{
    Rounder r = rounders[p->op];
    SimtOp q = *p;

    if (w->c.fp_level == 2 || !r.fn) {
        return false;
    }
    if (q.rm_field == FP_DYNAMIC) {
        q.rm_field = common_frm(w, mask);
    }
    if (q.rm_field > FP_RMM || (q.rm_field == FP_RMM && !r.away)) {
        return false;
    }
    if (r.host && q.rm_field != FP_RNE && q.rm_field != FP_RMM) {
        call_rounded(r.fn, w, &q, mask);
    } else {
        r.fn(w, &q, mask);
    }
    return true;
}
