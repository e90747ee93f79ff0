/* SPDX-License-Identifier: MIT */
/*
 * Each load and store has a site, a unit's memory of where its addresses were
 * last: a range of global memory, the block's shared memory or the warp's private
 * memory. Lanes that are all in it go there directly.
 */
#include "site.h"

#include "lanes.h"
#include "registers.h"
#include "simt/slow/atomic.h"

#include <stddef.h>

unsigned emit_size(unsigned op)
{
    switch (op) {
    case RV_LB:
    case RV_LBU:
    case RV_SB:
        return 1;
    case RV_LH:
    case RV_LHU:
    case RV_SH:
        return 2;
    case RV_LD:
    case RV_FLD:
    case RV_SD:
    case RV_FSD:
        return 8;
    default:
        return mxgpu_simt_is_atomic(op) ? mxgpu_simt_atomic_size(op) : 4;
    }
}

LLVMValueRef emit_any_lane(Emit *e, LLVMValueRef bits)
{
    return emit_any(e, LLVMBuildAnd(e->b, bits, e->lane, ""));
}

static LLVMValueRef wide_const(Emit *e, LLVMValueRef like, uint64_t v)
{
    return LLVMTypeOf(like) == e->i64 ? emit_i64(e, v)
                                      : emit_vector(e, e->wides, v);
}

LLVMValueRef emit_misaligned(Emit *e, const Access *a)
{
    LLVMValueRef low = LLVMBuildAnd(e->b, a->off,
                                    wide_const(e, a->off, a->size - 1), "");

    low = LLVMBuildICmp(e->b, LLVMIntNE, low, wide_const(e, a->off, 0), "");
    return a->uniform ? low : emit_any_lane(e, low);
}

static LLVMValueRef usub_sat(Emit *e, LLVMValueRef v, uint64_t n)
{
    LLVMValueRef args[] = {v, emit_i64(e, n)};

    return emit_intrinsic(e, "llvm.usub.sat", e->i64, 2, args);
}

LLVMValueRef emit_site(Emit *e)
{
    LLVMValueRef sites = emit_get(e, e->ptr, e->frame,
                                  offsetof(JitFrame, sites));

    return emit_at(e, sites, e->r->site[e->index] * sizeof(JitSite));
}

LLVMValueRef emit_look(Emit *e, Access *a)
{
    unsigned own = emit_size(e->r->ops[e->index].op); /* what "span" is for */
    LLVMValueRef keys = emit_at(e, e->frame, offsetof(JitFrame, keys)), key;

    a->site = emit_site(e);
    key = emit_get(e, e->i64, a->site, offsetof(JitSite, key));
    a->lo = emit_get(e, e->i64, a->site, offsetof(JitSite, lo));
    a->span = emit_get(e, e->i64, a->site, offsetof(JitSite, span));
    a->add = emit_get(e, e->i64, a->site, offsetof(JitSite, add));
    a->is_private = emit_get(e, e->i64, a->site, offsetof(JitSite, is_private));
    if (a->size > own) {
        a->span = usub_sat(e, a->span, a->size - own);
    }
    a->memory = LLVMBuildAnd(e->b, key, emit_i64(e, JIT_MEMORIES - 1), "");
    keys = LLVMBuildGEP2(e->b, e->i64, keys, &a->memory, 1, "");
    return LLVMBuildICmp(e->b, LLVMIntEQ, key,
                         LLVMBuildLoad2(e->b, e->i64, keys, ""), "");
}

Access emit_begin(Emit *e, const SimtOp *op, int64_t imm, unsigned size,
                  LLVMBasicBlockRef slow)
{
    Value base = emit_read(e, op->r1);
    Access a = {.uniform = emit_uniform(base), .size = size, .slow = slow};
    LLVMValueRef from = emit_i64(e, (uint64_t)imm);
    LLVMValueRef known = emit_look(e, &a), lo = a.lo, span = a.span, inside;

    if (a.uniform) {
        a.va = LLVMBuildAdd(e->b, base.v, from, "");
        a.off = LLVMBuildSub(e->b, a.va, lo, "");
        inside = LLVMBuildICmp(e->b, LLVMIntULT, a.off, span, "");
    } else {
        from = LLVMBuildSub(e->b, from, lo, "");
        a.off = LLVMBuildAdd(e->b, emit_as(e, base, JIT_WIDE),
                             emit_splat(e, from, e->wides), "");
        a.off = LLVMBuildSelect(e->b, e->lane, a.off, LLVMConstNull(e->wides),
                                "");
        inside = e->n == 1 ? a.off
                           : emit_intrinsic(e, "llvm.vector.reduce.umax",
                                            e->wides, 1, &a.off);
        inside = LLVMBuildICmp(e->b, LLVMIntULT, inside, span, "");
    }
    a.fast = emit_new(e, "fast");
    emit_branch(e, LLVMBuildAnd(e->b, known, inside, ""), a.fast, a.slow, true);
    return a;
}

/* Each lane has granules of 8 bytes beside those of the others. */
static LLVMValueRef private_lanes(Emit *e, const Access *a)
{
    LLVMValueRef off =
        LLVMBuildShl(e->b, a->off, emit_vector(e, e->wides, 6), "");

    if (a->size < 8) {
        LLVMValueRef low = emit_vector(e, e->wides, 7);

        off = LLVMBuildOr(
            e->b,
            LLVMBuildAnd(e->b, off, emit_vector(e, e->wides, ~511ull), ""),
            LLVMBuildAnd(e->b, a->off, low, ""), "");
    }
    return LLVMBuildAdd(e->b, off, emit_each(e, emit_i64(e, 0), 8), "");
}

LLVMValueRef emit_in_private(Emit *e, const Access *a)
{
    return LLVMBuildICmp(e->b, LLVMIntNE, a->is_private, emit_i64(e, 0), "");
}

LLVMValueRef emit_in_shared(Emit *e, const Access *a)
{
    return LLVMBuildICmp(e->b, LLVMIntEQ, a->memory, emit_i64(e, JIT_SHARED), "");
}

LLVMBasicBlockRef emit_if_linear(Emit *e, const Access *a)
{
    LLVMBasicBlockRef private = emit_new(e, "private");
    LLVMBasicBlockRef linear = emit_new(e, "linear");

    LLVMPositionBuilderAtEnd(e->b, a->fast);
    LLVMBuildCondBr(e->b, emit_in_private(e, a), private, linear);
    LLVMPositionBuilderAtEnd(e->b, linear);
    return private;
}

LLVMValueRef emit_linear(Emit *e, const Access *a)
{
    return LLVMBuildAdd(e->b, a->lo, a->add, "");
}

/* Continues where no lane's address is misaligned. */
static void line_up(Emit *e, const Access *a)
{
    LLVMBasicBlockRef lined = emit_new(e, "lined");

    emit_branch(e, emit_misaligned(e, a), a->slow, lined, false);
    LLVMPositionBuilderAtEnd(e->b, lined);
}

Lanes emit_host_lanes(Emit *e, const Access *a)
{
    LLVMBasicBlockRef private = emit_if_linear(e, a), from[2];
    LLVMBasicBlockRef inside = emit_new(e, "lanes");
    LLVMValueRef base[2], off[2];
    Lanes l;

    base[0] = emit_linear(e, a);
    off[0] = a->off;
    if (a->size < 4) { /* whole words are loaded: halfwords must not cross */
        line_up(e, a);
    }
    from[0] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, inside);
    LLVMPositionBuilderAtEnd(e->b, private);
    line_up(e, a);
    base[1] = emit_get(e, e->i64, e->frame, offsetof(JitFrame, private_host));
    off[1] = private_lanes(e, a);
    from[1] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, inside);
    LLVMPositionBuilderAtEnd(e->b, inside);
    l.base = LLVMBuildPhi(e->b, e->i64, "");
    l.off = LLVMBuildPhi(e->b, e->wides, "");
    LLVMAddIncoming(l.base, base, from, 2);
    LLVMAddIncoming(l.off, off, from, 2);
    return l;
}

/* All such memory begins at addresses of words. */
LLVMValueRef emit_gather_small(Emit *e, Lanes at)
{
    LLVMValueRef three = emit_vector(e, e->wides, 3);
    LLVMValueRef low = LLVMBuildAnd(e->b, at.off, three, ""), words, n;

    at.off = LLVMBuildSub(e->b, at.off, low, "");
    words = emit_load_lanes(e, e->words, at);
    n = LLVMBuildShl(e->b, LLVMBuildTrunc(e->b, low, e->words, ""),
                     emit_vector(e, e->words, 3), "");
    return LLVMBuildLShr(e->b, words, n, "");
}

LLVMValueRef emit_granule(Emit *e, const Access *a)
{
    LLVMValueRef at = LLVMBuildAnd(e->b, a->off, emit_i64(e, ~7ull), "");

    at = LLVMBuildShl(e->b, at, emit_i64(e, 6), "");
    return LLVMBuildAdd(e->b, at,
                        emit_get(e, e->i64, e->frame,
                                 offsetof(JitFrame, private_host)),
                        "");
}

LLVMValueRef emit_load_granule(Emit *e, const Access *a)
{
    LLVMValueRef at = emit_granule(e, a), v;

    if (e->n < LANES) {
        return emit_gather(e, e->wides, emit_each(e, at, 8), e->lane);
    }
    v = LLVMBuildLoad2(e->b, e->wides,
                       LLVMBuildIntToPtr(e->b, at, e->ptr, ""), "");
    LLVMSetAlignment(v, 64);
    return v;
}

LLVMValueRef emit_granule_shift(Emit *e, const Access *a)
{
    LLVMValueRef n = LLVMBuildAnd(e->b, a->off, emit_i64(e, 7), "");

    return emit_splat(e, LLVMBuildShl(e->b, n, emit_i64(e, 3), ""), e->wides);
}
