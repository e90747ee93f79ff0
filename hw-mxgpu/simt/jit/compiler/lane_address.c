/* SPDX-License-Identifier: MIT */
/*
 * Where the loads of a lane go to. An address that goes up by steps is inside of its
 * site for so many turns, which all lanes know before they begin; of one that is the sum
 * of what is one value for all and of something else, the first does not change. And the
 * turns until a counter is at its end.
 */
#include "lane_loop.h"
#include "registers.h"
#include "simt/jit/types.h"

/* Whether the address of a load goes by steps. */
static bool goes_by_steps(const Emit *e, unsigned load, int64_t *step,
                          int64_t *first)
{
    return lane_steps(e, e->r->ops[load].r1, load, step, first);
}

/* Turns of lanes until a load leaves its site, of addresses of the first one. */
static LLVMValueRef turns_inside(Emit *e, const Access *a, LLVMValueRef va,
                                 int64_t step)
{
    uint64_t size = step < 0 ? -(uint64_t)step : (uint64_t)step;
    LLVMValueRef span = emit_splat(e, a->span, e->wides), inside, n;
    LLVMValueRef off = LLVMBuildSub(e->b, va, emit_splat(e, a->lo, e->wides), "");

    inside = LLVMBuildICmp(e->b, LLVMIntULT, off, span, "");
    n = step > 0 ? LLVMBuildSub(e->b, LLVMBuildSub(e->b, span, off, ""),
                                emit_vector(e, e->wides, 1), "")
                 : off;
    n = step ? LLVMBuildAdd(e->b,
                            LLVMBuildUDiv(e->b, n, emit_vector(e, e->wides, size),
                                          ""),
                            emit_vector(e, e->wides, 1), "")
             : emit_vector(e, e->wides, TURNS_MAX);
    return LLVMBuildSelect(e->b, inside, n, emit_vector(e, e->wides, 0), "");
}

/* Turns until the branch is not taken, where that is a register that goes by steps,
 * of a power of two, until it is what another one is; NULL: who knows. */
LLVMValueRef lane_turns_to_exit(Loop *l)
{
    Emit *e = l->e;
    const SimtOp *op = &e->r->ops[lane_last_of(e)];
    unsigned goes = lane_is_written(e, op->r1) ? op->r1 : op->r2;
    unsigned until = goes == op->r1 ? op->r2 : op->r1;
    LLVMValueRef way, low, n;
    int64_t step, first;
    uint64_t size;

    if (op->op != RV_BNE || lane_is_written(e, until) ||
        !lane_steps(e, goes, lane_last_of(e), &step, &first) || !step) {
        return NULL;
    }
    size = step < 0 ? -(uint64_t)step : (uint64_t)step;
    if (size & (size - 1)) {
        return NULL;
    }
    way = LLVMBuildSub(e->b, emit_as(e, emit_read(e, until), JIT_WIDE),
                       emit_as(e, l->was[goes], JIT_WIDE), "");
    way = step < 0 ? LLVMBuildNeg(e->b, way, "") : way;
    low = LLVMBuildAnd(e->b, way, emit_vector(e, e->wides, size - 1), "");
    n = LLVMBuildLShr(e->b, way,
                      emit_vector(e, e->wides, __builtin_ctzll(size)), "");
    low = LLVMBuildOr(e->b,
                      LLVMBuildICmp(e->b, LLVMIntNE, low, LLVMConstNull(e->wides), ""),
                      LLVMBuildICmp(e->b, LLVMIntEQ, n, LLVMConstNull(e->wides), ""),
                      "");
    return LLVMBuildSelect(e->b, low, emit_vector(e, e->wides, UINT64_MAX), n, "");
}

/* Turns until the first of a lane's loads that go by steps leaves its site. */
LLVMValueRef lane_turns_given(Loop *l)
{
    Emit *e = l->e;
    LLVMValueRef n = emit_vector(e, e->wides, TURNS_MAX), va;
    int64_t step, first;

    for (unsigned i = e->block->first; i <= lane_last_of(e); i++) {
        const SimtOp *op = &e->r->ops[i];
        LLVMValueRef from;

        if (e->r->kind[i] != JIT_LOAD || !goes_by_steps(e, i, &step, &first)) {
            continue;
        }
        from = emit_i64(e, (uint64_t)(op->imm + first));
        va = LLVMBuildAdd(e->b, emit_as(e, l->was[op->r1], JIT_WIDE),
                          emit_splat(e, from, e->wides), "");
        va = turns_inside(e, &l->at[i - e->block->first], va, step);
        n = emit_intrinsic(e, "llvm.umin", e->wides, 2, (LLVMValueRef[]){n, va});
    }
    if (l->exits) {
        va = emit_load_at(e, e->wides, l->exits);
        n = emit_intrinsic(e, "llvm.umin", e->wides, 2, (LLVMValueRef[]){n, va});
    }
    return n;
}

int lane_sum_shift(Loop *l, const SimtOp *op)
{
    bool one = l->x.read >> op->r2 & 1 && emit_uniform(l->was[op->r2]) &&
               !lane_is_written(l->e, op->r2);

    switch (one ? op->op : RV_ADDI) {
    case RV_ADD:
        return 0;
    case RV_SH1ADD:
        return 1;
    case RV_SH2ADD:
        return 2;
    case RV_SH3ADD:
        return 3;
    default:
        return -1;
    }
}

/* What is the same for all lanes and turns of loads whose addresses are sums. */
void lane_prepare_sums(Loop *l)
{
    Emit *e = l->e;

    for (unsigned i = e->block->first; i <= lane_last_of(e); i++) {
        const SimtOp *sum = e->r->kind[i] == JIT_LOAD
                                ? lane_writer(e, e->r->ops[i].r1, i)
                                : NULL;
        unsigned k = i - e->block->first;
        LLVMValueRef v;

        if (sum && lane_sum_shift(l, sum) >= 0) {
            v = LLVMBuildAdd(e->b, l->was[sum->r2].v,
                             emit_i64(e, (uint64_t)(int64_t)e->r->ops[i].imm), "");
            l->from[k] = LLVMBuildSub(e->b, v, l->at[k].lo, "");
            l->linear[k] = emit_linear(e, &l->at[k]);
        }
    }
}

/* What is the same for all turns of a lane. */
void lane_prepare_steps(Loop *l, Side *a)
{
    Emit *e = l->e;
    int64_t step, first;

    for (unsigned i = e->block->first; i <= lane_last_of(e); i++) {
        unsigned k = i - e->block->first, reg = e->r->ops[i].r1;
        LLVMValueRef v;

        a->host[k] = NULL;
        if (e->r->kind[i] == JIT_LOAD && l->step[reg] &&
            goes_by_steps(e, i, &step, &first)) {
            v = emit_variable_get(e, a->x[reg], e->i64);
            v = LLVMBuildAdd(e->b, v, l->at[k].add, "");
            first += e->r->ops[i].imm;
            a->host[k] = LLVMBuildAdd(e->b, v, emit_i64(e, (uint64_t)first), "");
        }
    }
}

/* Where a load goes to; continues where that is inside of its site. */
LLVMValueRef lane_host_address(Loop *l, Side *a, const SimtOp *op)
{
    Emit *one = &a->one;
    unsigned k = one->index - one->block->first;
    LLVMBasicBlockRef inside;
    int64_t step, first;
    LLVMValueRef va, off;

    if (a->host[k]) {
        return LLVMBuildAdd(one->b, a->host[k], lane_gone(l, op->r1), "");
    }
    va = LLVMBuildAdd(one->b, emit_as(one, emit_read(one, op->r1), JIT_WIDE),
                      emit_i64(one, (uint64_t)(int64_t)op->imm), "");
    if (goes_by_steps(one, one->index, &step, &first)) {
        return LLVMBuildAdd(one->b, va, l->at[k].add, "");
    }
    inside = emit_new(one, "inside");
    off = l->from[k] ? LLVMBuildAdd(one->b, l->from[k], a->part[op->r1], "")
                     : LLVMBuildSub(one->b, va, l->at[k].lo, "");
    emit_branch(one, LLVMBuildICmp(one->b, LLVMIntULT, off, l->at[k].span, ""),
                inside, a->broken, true);
    LLVMPositionBuilderAtEnd(one->b, inside);
    return LLVMBuildAdd(one->b, off,
                        l->from[k] ? l->linear[k] : emit_linear(one, &l->at[k]),
                        "");
}
