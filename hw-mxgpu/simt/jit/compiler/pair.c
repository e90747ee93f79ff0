/* SPDX-License-Identifier: MIT */
/*
 * Two loads or stores of words that are side by side, such as members of a
 * structure, where each lane has its own: 64 gathers of 8 bytes take a host as long
 * as 64 of 4. Where this does not do, the two are made as any.
 */
#include "pair.h"

#include "lanes.h"
#include "memory.h"
#include "registers.h"
#include "rows.h"
#include "simt/jit/types.h"

typedef struct Pair {
    unsigned index;
    const SimtOp *op[2];
    bool swapped; /* the second one has the lower address */
    Value base;
    LLVMBasicBlockRef join, apart; /* to be filled in */
    LLVMValueRef v[2][3];          /* what each has loaded, and from where */
    LLVMBasicBlockRef from[3];
    unsigned ends;
} Pair;

static bool are_pair(const JitCode *r, unsigned i)
{
    const SimtOp *a = &r->ops[i], *b = &r->ops[i + 1];
    int64_t apart = (int64_t)b->imm - a->imm;

    return r->kind[i] == r->kind[i + 1] && a->r1 == b->r1 &&
           emit_size(a->op) == 4 && emit_size(b->op) == 4 &&
           (apart == 4 || apart == -4);
}

/* The second load is not from an address that the first one has loaded, and both
 * load something. */
static bool may_be_together(const SimtOp *a, const SimtOp *b)
{
    bool fa = a->classes & RV_CLASS_FD, fb = b->classes & RV_CLASS_FD;

    return (fa || (a->rd != a->r1 && a->rd != SINK)) &&
           (fb || b->rd != SINK) && (fa != fb || a->rd != b->rd);
}

static int64_t lower(const Pair *p)
{
    return p->op[p->swapped]->imm;
}

/* ---- loads */

static void end(Emit *e, Pair *p, LLVMValueRef first, LLVMValueRef second)
{
    p->v[0][p->ends] = first;
    p->v[1][p->ends] = second;
    p->from[p->ends++] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, p->join);
}

/* Of i64 lanes that hold both. */
static void end_both(Emit *e, Pair *p, LLVMValueRef both)
{
    LLVMValueRef v[2];

    v[p->swapped] = LLVMBuildTrunc(e->b, both, e->words, "");
    both = LLVMBuildLShr(e->b, both, emit_vector(e, e->wides, 32), "");
    v[!p->swapped] = LLVMBuildTrunc(e->b, both, e->words, "");
    end(e, p, emit_extended(e, p->op[0], v[0]),
        emit_extended(e, p->op[1], v[1]));
}

/* What the block has in the register that the load has written. */
static LLVMValueRef has_loaded(Emit *e, const SimtOp *op)
{
    return op->classes & RV_CLASS_FD ? emit_float(e, op->rd, true)
                                     : emit_read(e, op->rd).v;
}

static void load_apart(Emit *e, Pair *p)
{
    LLVMValueRef first;

    LLVMPositionBuilderAtEnd(e->b, p->apart);
    emit_load(e, p->op[0]);
    first = has_loaded(e, p->op[0]);
    e->index = p->index + 1;
    emit_load(e, p->op[1]);
    end(e, p, first, has_loaded(e, p->op[1]));
}

/* Continues where the rows are not of such pairs. */
static void load_rows(Emit *e, Pair *p)
{
    LLVMBasicBlockRef other = emit_if_step(e, p->base, 8);
    Access a = emit_begin_rows(e, lower(p), 8, p->base, p->apart);

    LLVMPositionBuilderAtEnd(e->b, a.fast);
    end_both(e, p, emit_get_rows(e, &a, p->base, false));
    LLVMPositionBuilderAtEnd(e->b, other);
}

/* Where each lane has its own, but for private memory. */
static Access begin_lanes(Emit *e, Pair *p)
{
    LLVMBasicBlockRef linear = emit_new(e, "linear");
    Access a = emit_begin(e, p->op[0], lower(p), 8, p->apart);

    LLVMPositionBuilderAtEnd(e->b, a.fast);
    emit_branch(e, emit_in_private(e, &a), p->apart, linear, false);
    LLVMPositionBuilderAtEnd(e->b, linear);
    return a;
}

static Lanes host(Emit *e, const Access *a)
{
    return (Lanes){emit_linear(e, a), a->off};
}

static void write_loaded(Emit *e, const SimtOp *op, LLVMValueRef v)
{
    if (op->classes & RV_CLASS_FD) {
        emit_write_float(e, op->rd, v, false);
    } else {
        emit_write(e, op->rd,
                   (Value){.type = mxgpu_jit_result(op, JIT_WIDE, JIT_WIDE),
                           .v = v});
    }
}

static void load_pair(Emit *e, Pair *p)
{
    Access a;

    if (mxgpu_jit_line(p->base.type)) {
        load_rows(e, p);
    }
    a = begin_lanes(e, p);
    end_both(e, p, emit_load_lanes(e, e->wides, host(e, &a)));
    load_apart(e, p);
    LLVMPositionBuilderAtEnd(e->b, p->join);
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef phi =
            LLVMBuildPhi(e->b, LLVMTypeOf(p->v[i][0]), "");

        LLVMAddIncoming(phi, p->v[i], p->from, p->ends);
        p->v[i][0] = phi;
    }
    for (unsigned i = 0; i < 2; i++) {
        write_loaded(e, p->op[i], p->v[i][0]);
    }
}

/* ---- stores */

/* The i64 lanes that hold both. */
static LLVMValueRef both_stored(Emit *e, const Pair *p)
{
    LLVMValueRef low = emit_stored(e, p->op[p->swapped]);
    LLVMValueRef high = emit_stored(e, p->op[!p->swapped]);

    low = LLVMBuildZExt(e->b, low, e->wides, "");
    high = LLVMBuildZExt(e->b, high, e->wides, "");
    high = LLVMBuildShl(e->b, high, emit_vector(e, e->wides, 32), "");
    return LLVMBuildOr(e->b, low, high, "");
}

/* Continues where no lane's pair overlaps half of another's: then it counts which
 * store comes first. */
static void check_aligned(Emit *e, Pair *p, LLVMValueRef misaligned)
{
    LLVMBasicBlockRef aligned = emit_new(e, "aligned");

    emit_branch(e, misaligned, p->apart, aligned, false);
    LLVMPositionBuilderAtEnd(e->b, aligned);
}

static void store_rows(Emit *e, Pair *p, LLVMValueRef v)
{
    LLVMBasicBlockRef other = emit_if_step(e, p->base, 8);
    Access a = emit_begin_rows(e, lower(p), 8, p->base, p->apart);
    LLVMValueRef row = p->base.row;

    LLVMPositionBuilderAtEnd(e->b, a.fast);
    if (e->r->row_shift < 6) {
        row = LLVMBuildAnd(e->b, row, emit_i64(e, 7), "");
        check_aligned(e, p,
                      LLVMBuildICmp(e->b, LLVMIntNE, row, emit_i64(e, 0), ""));
    }
    emit_put_rows(e, &a, p->base, v);
    LLVMBuildBr(e->b, p->join);
    LLVMPositionBuilderAtEnd(e->b, other);
}

static void store_pair(Emit *e, Pair *p)
{
    LLVMValueRef v = both_stored(e, p), low;
    Access a;

    if (mxgpu_jit_line(p->base.type)) {
        store_rows(e, p, v);
    }
    a = begin_lanes(e, p);
    low = LLVMBuildAnd(e->b, a.off, emit_vector(e, e->wides, 7), "");
    low = LLVMBuildICmp(e->b, LLVMIntNE, low, emit_vector(e, e->wides, 0), "");
    check_aligned(e, p, emit_any_lane(e, low));
    emit_store_lanes(e, v, host(e, &a));
    LLVMBuildBr(e->b, p->join);
    LLVMPositionBuilderAtEnd(e->b, p->apart);
    emit_store(e, p->op[0]);
    e->index = p->index + 1;
    emit_store(e, p->op[1]);
    LLVMBuildBr(e->b, p->join);
    LLVMPositionBuilderAtEnd(e->b, p->join);
}

/* ---- */

/* Lines whose words are rows are better off so. */
static bool are_rows(Value base)
{
    return mxgpu_jit_line(base.type) &&
           (emit_may_step(base, 4) || emit_may_step(base, 0) ||
            emit_may_step(base, (uint64_t)-4));
}

bool emit_pair(Emit *e, unsigned index)
{
    const JitCode *r = e->r;
    bool load = r->kind[index] == JIT_LOAD;
    Pair p = {.index = index, .op = {&r->ops[index], &r->ops[index + 1]}};

    if (e->n == 1 || (!load && r->kind[index] != JIT_STORE) ||
        index + 1 >= e->block->first + e->block->count ||
        !are_pair(r, index) || (load && !may_be_together(p.op[0], p.op[1]))) {
        return false;
    }
    p.base = emit_read(e, p.op[0]->r1);
    if (emit_uniform(p.base) || are_rows(p.base)) {
        return false;
    }
    p.swapped = p.op[1]->imm < p.op[0]->imm;
    p.join = emit_new(e, "both");
    p.apart = emit_new(e, "apart");
    e->index = index;
    (load ? load_pair : store_pair)(e, &p);
    return true;
}
