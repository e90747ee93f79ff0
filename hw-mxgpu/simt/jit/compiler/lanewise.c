/* SPDX-License-Identifier: MIT */
/*
 * A loop of one block whose lanes load from where each of them wants: a row of a
 * sparse matrix, a chain of a hash table, the neighbours in a graph. A host's
 * gather takes as long for one lane as for all, and lanes leave such loops one by
 * one; so each lane does all of its turns (64 at most) by itself, as plain code,
 * before the next one begins. Nothing is stored, so nobody can tell, and what is
 * counted follows from the turns of each lane: the last one is where the warp is.
 *
 * A lane that loads from where its site has not been goes no further than that
 * turn, and all of them begin anew to go as far; the turn itself is done for all
 * lanes at once, as in any block. So are the next ones, and where lanes have stayed
 * together so well that gathers are faster.
 */
#include "lanewise.h"

#include "float.h"
#include "int.h"
#include "memory.h"
#include "registers.h"
#include "simt/jit/types.h"
#include "simt/warp/budget.h"
#include "site.h"

#include <stddef.h>
#include <string.h>

#define TURNS_MAX 64 /* a bit each */

/* Turns for all lanes at once, until they go one after the other again: when one
 * has left its site, and when they have stayed together. */
#define AFTER_MISS     16
#define AFTER_TOGETHER 256
#define TURNS_WEIGHED  16 /* that say whether they stay so */

/* What a turn takes: a gather of all lanes and another instruction for them, in
 * cycles; an instruction of one lane, of which a load takes three, in quarters of
 * these. */
#define GATHER 62
#define VECTOR 3
#define FEWEST 32 /* lanes for which gathers have to be slower */

#define OPS_MAX 64

/* ---- which loops */

static unsigned last_of(const Emit *e)
{
    return e->block->first + e->block->count - 1;
}

static bool is_own_loop(const Emit *e)
{
    unsigned last = last_of(e);

    return e->n == LANES && !e->block->full && e->block->count <= OPS_MAX &&
           e->r->kind[last] == JIT_BRANCH &&
           e->r->at[last] + e->r->ops[last].imm == e->block->at;
}

static bool is_lanes(JitType t)
{
    return t == JIT_WORD || t == JIT_WIDE;
}

/* Lanes for which a turn takes as long one after the other as at once. */
static unsigned break_even(unsigned ops, unsigned loads, unsigned gathers)
{
    return 4 * (GATHER * gathers + VECTOR * (ops - gathers)) /
           (ops + 2 * loads);
}

/* ... of the block; 0: it is no such loop. "types" becomes what x registers are
 * behind it. */
static unsigned most_lanes(const Emit *e, JitType types[33])
{
    unsigned loads = 0, gathers = 0;

    for (unsigned i = e->block->first; i <= last_of(e); i++) {
        const SimtOp *op = &e->r->ops[i];
        JitKind kind = e->r->kind[i];

        if (kind != JIT_INT && kind != JIT_FLOAT && kind != JIT_LOAD &&
            kind != JIT_BRANCH) {
            return 0;
        }
        if (kind == JIT_LOAD) {
            loads++;
            gathers += is_lanes(types[op->r1]);
        }
        if (mxgpu_jit_writes_x(op, kind)) {
            types[op->rd] = mxgpu_jit_result_in(e->r, i, types[op->r1],
                                                types[op->r2]);
        }
    }
    return gathers ? break_even(e->block->count, loads, gathers) : 0;
}

/* x registers that are read, that are written and read behind the block. */
typedef struct Named {
    uint32_t read, kept;
} Named;

static Named x_named(const Emit *e)
{
    Named x = {0};

    for (unsigned i = e->block->first; i <= last_of(e); i++) {
        const SimtOp *op = &e->r->ops[i];

        x.read |= op->classes & RV_CLASS_F1 ? 0 : 1u << op->r1;
        x.read |= op->classes & RV_CLASS_F2 ? 0 : 1u << op->r2;
        x.kept |= mxgpu_jit_writes_x(op, e->r->kind[i]) ? 1u << op->rd : 0;
    }
    x.read &= e->block->live & ~1u;
    x.kept &= mxgpu_jit_behind(e->r, e->block);
    return x;
}

/* As most_lanes(). */
static unsigned fit(const Emit *e, JitType types[33])
{
    unsigned most;

    if (!is_own_loop(e)) {
        return 0;
    }
    for (unsigned i = 0; i < 32; i++) {
        types[i] = e->block->x[i] ? (JitType)e->block->x[i] : JIT_WIDE;
    }
    types[0] = JIT_UNIFORM_WORD;
    types[SINK] = JIT_WIDE;
    most = most_lanes(e, types);
    for (uint32_t m = x_named(e).kept; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);
        JitType head = (JitType)e->block->x[reg];

        /* What is one value, or a line, is so in one turn. */
        if (!is_lanes(types[reg]) || (head && !is_lanes(head))) {
            return 0;
        }
        types[reg] = head ? head : types[reg];
    }
    return most < FEWEST ? 0 : most;
}

/* ---- registers of lanes */

/* A register that lanes bring, or take along, in memory. */
typedef struct Slot {
    LLVMTypeRef all, one;
    LLVMValueRef in, out; /* NULL: not brought, not taken along */
    LLVMValueRef value;   /* of the lane that goes, if it is not taken along */
    LLVMValueRef now;     /* ... a variable, if it is */
} Slot;

typedef struct Loop {
    Emit *e;
    Emit one; /* the same for one lane */
    Named x;
    JitType types[33]; /* of x registers that are kept */
    Value was[32];     /* of x registers that are read */
    Slot xs[32], fs[32];
    unsigned most;
    LLVMValueRef site;        /* of the branch */
    Access at[OPS_MAX];       /* of loads */
    LLVMValueRef bound;       /* turns of all lanes */
    LLVMValueRef given, left; /* ... of this one, and what is left of them */
    LLVMValueRef inside;      /* ... of each lane, in memory, until it is bound to
                               * leave its sites */
    LLVMValueRef done;        /* ... that each has done, in memory */
    LLVMValueRef rest, remain, lane;
    LLVMBasicBlockRef at_once, begin, each, turn, ended, broken, miss;
} Loop;

static LLVMValueRef get(Loop *l, LLVMValueRef variable)
{
    return emit_variable_get(l->e, variable, l->e->i64);
}

static void set(Loop *l, LLVMValueRef variable, LLVMValueRef v)
{
    LLVMBuildStore(l->e->b, v, variable);
}

static void bring(Loop *l, Slot *s, LLVMTypeRef all, LLVMValueRef v)
{
    s->all = all;
    s->one = LLVMGetElementType(all);
    s->in = emit_room(l->e, all);
    emit_store_at(l->e, v, s->in);
}

static void take_along(Loop *l, Slot *s, LLVMTypeRef all)
{
    s->all = all;
    s->one = LLVMGetElementType(all);
    s->out = emit_room(l->e, all);
    s->now = emit_alloca(l->e, s->one);
}

/* Where the lane has its own. */
static LLVMValueRef own(Loop *l, const Slot *s, LLVMValueRef room)
{
    return emit_element(l->e, s->one, room, l->lane);
}

static void x_slots(Loop *l)
{
    Emit *e = l->e;

    for (uint32_t m = l->x.read; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);
        Value v = emit_read(e, reg);

        l->was[reg] = v;
        if (is_lanes(v.type)) {
            bring(l, &l->xs[reg], LLVMTypeOf(v.v), v.v);
        }
    }
    for (uint32_t m = l->x.kept; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);

        take_along(l, &l->xs[reg],
                   l->types[reg] == JIT_WORD ? e->words : e->wides);
    }
}

static void f_slots(Loop *l)
{
    Emit *e = l->e;
    uint32_t written = 0;

    for (unsigned i = e->block->first; i <= last_of(e); i++) {
        const SimtOp *op = &e->r->ops[i];
        JitKind kind = e->r->kind[i];
        unsigned sources = mxgpu_jit_f_sources(op, kind);
        const uint8_t reg[3] = {op->r1, op->r2, op->r3};

        for (unsigned n = 0; n < 3; n++) {
            if (sources >> n & 1 && !(written >> reg[n] & 1) &&
                !l->fs[reg[n]].in) {
                LLVMValueRef v = emit_f_operand(e, op, n, false);

                bring(l, &l->fs[reg[n]], LLVMTypeOf(v), v);
            }
        }
        written |= kind != JIT_BRANCH && op->classes & RV_CLASS_FD
                       ? 1u << op->rd
                       : 0;
    }
    written &= mxgpu_jit_fbehind(e->r, e->block);
    for (unsigned i = e->block->first; i <= last_of(e); i++) {
        const SimtOp *op = &e->r->ops[i];

        if (op->classes & RV_CLASS_FD && written >> op->rd & 1) {
            take_along(l, &l->fs[op->rd],
                       emit_f_type(e, mxgpu_jit_double(op, 3)));
        }
    }
}

/* What the lane has brought. */
static LLVMValueRef brought(Loop *l, const Slot *s)
{
    return LLVMBuildLoad2(l->e->b, s->one, own(l, s, s->in), "");
}

/* Of a line. */
static Value on_line(Loop *l, Value v)
{
    Emit *e = l->e;
    unsigned shift = e->r->row_shift;
    LLVMValueRef column = LLVMBuildAnd(e->b, l->lane,
                                       emit_i64(e, (1u << shift) - 1), "");
    LLVMValueRef row = LLVMBuildLShr(e->b, l->lane, emit_i64(e, shift), "");
    LLVMValueRef at = LLVMBuildAdd(
        e->b, v.v, LLVMBuildMul(e->b, column, v.step, ""), "");

    at = LLVMBuildAdd(e->b, at, LLVMBuildMul(e->b, row, v.row, ""), "");
    if (v.type == JIT_LINE_WORD) {
        return (Value){JIT_WORD, LLVMBuildTrunc(e->b, at, e->i32, "")};
    }
    return (Value){JIT_WIDE, at};
}

/* The lane's registers where it begins. */
static void arrive(Loop *l)
{
    for (uint32_t m = l->x.read; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);
        Slot *s = &l->xs[reg];

        if (s->in) {
            l->was[reg].v = brought(l, s);
        } else if (mxgpu_jit_line(l->was[reg].type)) {
            l->was[reg] = on_line(l, l->was[reg]);
        }
        if (s->now) {
            LLVMBuildStore(l->e->b, l->was[reg].v, s->now);
        }
    }
    for (unsigned reg = 0; reg < 32; reg++) {
        Slot *s = &l->fs[reg];

        s->value = s->in ? brought(l, s) : NULL;
        if (s->in && s->now) {
            LLVMBuildStore(l->e->b, s->value, s->now);
        }
    }
}

/* ... where a turn of it begins. */
static void take_up(Loop *l)
{
    Emit *one = &l->one;

    for (uint32_t m = l->x.read; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);

        one->value[reg] = l->was[reg];
        if (l->xs[reg].now) {
            one->value[reg].v =
                emit_variable_get(one, l->xs[reg].now, l->xs[reg].one);
        }
    }
    for (unsigned reg = 0; reg < 32; reg++) {
        const Slot *s = &l->fs[reg];

        if (s->in) {
            one->fvalue[reg] =
                s->now ? emit_variable_get(one, s->now, s->one) : s->value;
            one->raw[reg] = s->now != NULL; /* by the turn before */
        }
    }
}

/* ... and where it ends. */
static void put_down(Loop *l)
{
    Emit *one = &l->one;

    for (uint32_t m = l->x.kept; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);

        LLVMBuildStore(one->b, emit_as(one, one->value[reg], l->types[reg]),
                       l->xs[reg].now);
    }
    for (unsigned reg = 0; reg < 32; reg++) {
        if (l->fs[reg].now) {
            LLVMBuildStore(one->b, one->fvalue[reg], l->fs[reg].now);
        }
    }
}

/* Where the lane is done. */
static void leave(Loop *l)
{
    Emit *one = &l->one;

    for (uint32_t m = l->x.kept; m; m &= m - 1) {
        const Slot *s = &l->xs[__builtin_ctz(m)];

        LLVMBuildStore(one->b, emit_variable_get(one, s->now, s->one),
                       own(l, s, s->out));
    }
    for (unsigned reg = 0; reg < 32; reg++) {
        const Slot *s = &l->fs[reg];

        if (s->now) {
            LLVMBuildStore(one->b, emit_variable_get(one, s->now, s->one),
                           own(l, s, s->out));
        }
    }
}

/* What all lanes have taken along is what the block has written. */
static void gather_up(Loop *l)
{
    Emit *e = l->e;

    for (uint32_t m = l->x.kept; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);
        const Slot *s = &l->xs[reg];

        emit_write(e, reg,
                   (Value){.type = l->types[reg],
                           .v = emit_load_at(e, s->all, s->out)});
    }
    for (unsigned reg = 0; reg < 32; reg++) {
        const Slot *s = &l->fs[reg];

        if (s->out) {
            emit_write_float(e, reg, emit_load_at(e, s->all, s->out),
                             l->one.raw[reg]);
        }
    }
}

/* ---- a lane's turns */

static LLVMValueRef more_than_none(Emit *e, LLVMValueRef v)
{
    return LLVMBuildICmp(e->b, LLVMIntNE, v, emit_i64(e, 0), "");
}

/* Whether the address of a load is a number's more in each turn than in the one
 * before; first: so much more than at the block's beginning already in the first. */
static bool goes_by_steps(const Emit *e, unsigned load, int64_t *step,
                          int64_t *first)
{
    unsigned base = e->r->ops[load].r1, writes = 0;

    *step = *first = 0;
    for (unsigned i = e->block->first; i <= last_of(e); i++) {
        const SimtOp *op = &e->r->ops[i];

        if (!mxgpu_jit_writes_x(op, e->r->kind[i]) || op->rd != base) {
            continue;
        }
        if (writes++ || op->op != RV_ADDI || op->r1 != base || !op->imm) {
            return false;
        }
        *step = op->imm;
        *first = i < load ? op->imm : 0;
    }
    return base != 0;
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

/* Turns until the first of a lane's loads that go by steps leaves its site. */
static LLVMValueRef turns_given(Loop *l)
{
    Emit *e = l->e;
    LLVMValueRef n = emit_vector(e, e->wides, TURNS_MAX);
    int64_t step, first;

    for (unsigned i = e->block->first; i <= last_of(e); i++) {
        const SimtOp *op = &e->r->ops[i];
        LLVMValueRef va, from;

        if (e->r->kind[i] != JIT_LOAD || !goes_by_steps(e, i, &step, &first)) {
            continue;
        }
        from = emit_i64(e, (uint64_t)(op->imm + first));
        va = LLVMBuildAdd(e->b, emit_as(e, l->was[op->r1], JIT_WIDE),
                          emit_splat(e, from, e->wides), "");
        va = turns_inside(e, &l->at[i - e->block->first], va, step);
        n = emit_intrinsic(e, "llvm.umin", e->wides, 2, (LLVMValueRef[]){n, va});
    }
    return n;
}

/* Where a load goes to; continues where that is inside of its site. */
static LLVMValueRef host_address(Loop *l, const SimtOp *op)
{
    Emit *one = &l->one;
    const Access *a = &l->at[one->index - one->block->first];
    LLVMBasicBlockRef inside;
    int64_t step, first;
    LLVMValueRef va = LLVMBuildAdd(
        one->b, emit_as(one, emit_read(one, op->r1), JIT_WIDE),
        emit_i64(one, (uint64_t)(int64_t)op->imm), "");
    LLVMValueRef off;

    if (goes_by_steps(one, one->index, &step, &first)) {
        return LLVMBuildAdd(one->b, va, a->add, "");
    }
    inside = emit_new(one, "inside");
    off = LLVMBuildSub(one->b, va, a->lo, "");
    emit_branch(one, LLVMBuildICmp(one->b, LLVMIntULT, off, a->span, ""),
                inside, l->broken, true);
    LLVMPositionBuilderAtEnd(one->b, inside);
    return LLVMBuildAdd(one->b, off, emit_linear(one, a), "");
}

static void load(Loop *l, const SimtOp *op)
{
    Emit *one = &l->one;
    LLVMTypeRef type =
        LLVMIntTypeInContext(one->context, 8 * emit_size(op->op));
    LLVMValueRef v = LLVMBuildIntToPtr(one->b, host_address(l, op), one->ptr, "");

    v = LLVMBuildLoad2(one->b, type, v, "");
    LLVMSetAlignment(v, 1);
    v = emit_of_memory(one, op, v);
    if (op->classes & RV_CLASS_FD) {
        emit_write_float(one, op->rd, v, false);
    } else {
        emit_write(one, op->rd,
                   (Value){mxgpu_jit_result(op, JIT_WIDE, JIT_WIDE), v});
    }
}

static void all_ops(Loop *l)
{
    Emit *one = &l->one;

    for (unsigned i = one->block->first; i <= last_of(one); i++) {
        const SimtOp *op = &one->r->ops[i];

        one->index = i;
        switch ((JitKind)one->r->kind[i]) {
        case JIT_INT:
            emit_int(one, op);
            break;
        case JIT_FLOAT:
            emit_fp(one, op);
            break;
        case JIT_LOAD:
            load(l, op);
            break;
        default: /* the branch */
            break;
        }
    }
}

/* The lane goes on behind these turns, or it has left its sites. */
static void end_bounded(Loop *l)
{
    Emit *e = l->e;
    LLVMBasicBlockRef all = emit_new(e, "all");
    LLVMValueRef bit = LLVMBuildShl(e->b, emit_i64(e, 1), l->lane, "");

    emit_branch(e,
                LLVMBuildICmp(e->b, LLVMIntULT, get(l, l->given),
                              get(l, l->bound), ""),
                l->miss, all, false);
    LLVMPositionBuilderAtEnd(e->b, all);
    emit_variable_or(e, l->remain, bit);
    LLVMBuildBr(e->b, l->ended);
}

/* The turns of a lane; continues at "ended". */
static void turns(Loop *l)
{
    Emit *one = &l->one;
    LLVMBasicBlockRef more = emit_new(one, "more"), all = emit_new(one, "all");
    LLVMValueRef again, left[2];

    left[0] = LLVMBuildLoad2(one->b, one->i64,
                             emit_element(one, one->i64, l->inside, l->lane), "");
    left[1] = get(l, l->bound);
    left[0] = emit_intrinsic(one, "llvm.umin", one->i64, 2, left);
    set(l, l->given, left[0]);
    set(l, l->left, left[0]);
    emit_branch(one, more_than_none(one, left[0]), l->turn, l->miss, true);
    LLVMPositionBuilderAtEnd(one->b, l->turn);
    emit_memory_barrier(one);
    left[0] = LLVMBuildSub(one->b, get(l, l->left), emit_i64(one, 1), "");
    set(l, l->left, left[0]);
    take_up(l);
    all_ops(l);
    again = more_than_none(one, emit_taken(one, &one->r->ops[last_of(one)]));
    put_down(l);
    LLVMBuildCondBr(one->b, again, more, l->ended);
    LLVMPositionBuilderAtEnd(one->b, more);
    LLVMBuildCondBr(one->b, more_than_none(one, left[0]), l->turn, all);
    LLVMPositionBuilderAtEnd(one->b, all);
    end_bounded(l);
    LLVMPositionBuilderAtEnd(one->b, l->ended);
}

/* ---- all lanes */

/* Turns until the warp's turn or slice is over, or as many as there are bits. */
static LLVMValueRef turns_left(Emit *e)
{
    uint64_t n = e->block->count;
    LLVMValueRef done = emit_variable_get(e, e->instructions, e->i64);
    LLVMValueRef until[] = {e->limit, emit_variable_get(e, e->slice, e->i64)};
    LLVMValueRef room[] = {NULL, done}, most[] = {NULL, emit_i64(e, n * TURNS_MAX)};
    LLVMValueRef least[] = {NULL, emit_i64(e, 1)};

    room[0] = emit_intrinsic(e, "llvm.umin", e->i64, 2, until);
    most[0] = emit_intrinsic(e, "llvm.usub.sat", e->i64, 2, room);
    least[0] = emit_intrinsic(e, "llvm.umin", e->i64, 2, most);
    least[0] = LLVMBuildAdd(e->b, least[0], emit_i64(e, n - 1), "");
    least[0] = LLVMBuildUDiv(e->b, least[0], emit_i64(e, n), "");
    return emit_intrinsic(e, "llvm.umax", e->i64, 2, least);
}

static LLVMValueRef turns_at_once(Loop *l)
{
    return emit_get(l->e, l->e->i64, l->site, offsetof(JitSite, at_once));
}

static void set_at_once(Loop *l, LLVMValueRef n)
{
    emit_set(l->e, n, l->site, offsetof(JitSite, at_once));
}

/* Continues where lanes go one after the other: all sites are known, and not of
 * private memory. */
static void choose(Loop *l)
{
    Emit *e = l->e;
    LLVMBasicBlockRef go = emit_new(e, "lanewise"), wait = emit_new(e, "wait");
    LLVMValueRef known = LLVMConstInt(e->i1, 1, 0), n;

    for (unsigned i = e->block->first; i < last_of(e); i++) {
        Access *a = &l->at[i - e->block->first];

        if (e->r->kind[i] == JIT_LOAD) {
            e->index = i;
            a->size = emit_size(e->r->ops[i].op);
            known = LLVMBuildAnd(e->b, known, emit_look(e, a), "");
            known = LLVMBuildAnd(
                e->b, known, LLVMBuildNot(e->b, emit_in_private(e, a), ""), "");
        }
    }
    e->index = last_of(e);
    l->site = emit_site(e);
    n = turns_at_once(l);
    known = LLVMBuildAnd(
        e->b, known, LLVMBuildICmp(e->b, LLVMIntEQ, n, emit_i64(e, 0), ""), "");
    LLVMBuildCondBr(e->b, known, go, wait);
    LLVMPositionBuilderAtEnd(e->b, wait);
    n = emit_intrinsic(e, "llvm.usub.sat", e->i64, 2,
                       (LLVMValueRef[]){n, emit_i64(e, 1)});
    set_at_once(l, n);
    LLVMBuildBr(e->b, l->at_once);
    LLVMPositionBuilderAtEnd(e->b, go);
}

static void make_variables(Loop *l)
{
    LLVMValueRef *all[] = {&l->bound, &l->given, &l->left, &l->rest,
                           &l->remain};

    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        *all[i] = emit_alloca(l->e, l->e->i64);
    }
    l->done = emit_room(l->e, l->e->wides);
    l->inside = emit_room(l->e, l->e->wides);
}

/* The block for a lane alone. */
static void make_one(Loop *l)
{
    Emit *one = &l->one;

    *one = *l->e;
    one->n = 1;
    emit_types(one);
    one->mask = one->chosen = emit_i64(one, 1);
    one->lane = LLVMConstInt(one->i1, 1, 0);
    memset(one->value, 0, sizeof(one->value));
    memset(one->fvalue, 0, sizeof(one->fvalue));
    memset(one->raw, 0, sizeof(one->raw));
}

/* All lanes from where they are; continues behind the last one. */
static void begin_all(Loop *l)
{
    Emit *e = l->e;
    LLVMValueRef args[2];

    LLVMPositionBuilderAtEnd(e->b, l->begin);
    set(l, l->rest, e->mask);
    set(l, l->remain, emit_i64(e, 0));
    LLVMBuildBr(e->b, l->each);
    LLVMPositionBuilderAtEnd(e->b, l->each);
    args[0] = get(l, l->rest);
    args[1] = LLVMConstInt(e->i1, 1, 0);
    l->lane = emit_intrinsic(e, "llvm.cttz", e->i64, 2, args);
    arrive(l);
}

/* What the lane has done; to the next one, or on. */
static void end_lane(Loop *l)
{
    Emit *e = l->e;
    LLVMBasicBlockRef done = emit_new(e, "done");
    LLVMValueRef n = LLVMBuildSub(e->b, get(l, l->given), get(l, l->left), "");
    LLVMValueRef rest = get(l, l->rest);

    leave(l);
    LLVMBuildStore(e->b, n, emit_element(e, e->i64, l->done, l->lane));
    rest = LLVMBuildAnd(e->b, rest,
                        LLVMBuildSub(e->b, rest, emit_i64(e, 1), ""), "");
    set(l, l->rest, rest);
    LLVMBuildCondBr(e->b, more_than_none(e, rest), l->each, done);
    LLVMPositionBuilderAtEnd(e->b, done);
}

/* A lane would leave its site in its next turn: those that it has done are what all
 * do. */
static void miss(Loop *l)
{
    Emit *e = l->e;
    LLVMValueRef n;

    LLVMPositionBuilderAtEnd(e->b, l->broken); /* this turn has not been done */
    emit_variable_add(e, l->left, emit_i64(e, 1));
    LLVMBuildBr(e->b, l->miss);
    LLVMPositionBuilderAtEnd(e->b, l->miss);
    n = LLVMBuildSub(e->b, get(l, l->given), get(l, l->left), "");
    set(l, l->bound, n);
    set_at_once(l, emit_i64(e, AFTER_MISS));
    LLVMBuildCondBr(e->b, more_than_none(e, n), l->begin, l->at_once);
}

/* ---- what is counted */

/* Turns of lanes. */
typedef struct Done {
    LLVMValueRef sum, most;
    LLVMValueRef ends;   /* a bit for each turn behind which lanes have left */
    LLVMValueRef remain; /* i1: some have not */
} Done;

static LLVMValueRef reduced(Emit *e, const char *name, LLVMValueRef v)
{
    return emit_intrinsic(e, name, e->wides, 1, &v);
}

static Done all_done(Loop *l)
{
    Emit *e = l->e;
    LLVMValueRef zeros = emit_vector(e, e->wides, 0);
    LLVMValueRef ones = emit_vector(e, e->wides, 1);
    LLVMValueRef n = emit_load_at(e, e->wides, l->done), end;
    LLVMValueRef left = emit_bits(
        e, LLVMBuildAnd(e->b, e->mask,
                        LLVMBuildNot(e->b, get(l, l->remain), ""), ""));
    Done d = {.remain = more_than_none(e, get(l, l->remain))};

    n = LLVMBuildSelect(e->b, e->lane, n, zeros, "");
    d.sum = reduced(e, "llvm.vector.reduce.add", n);
    d.most = reduced(e, "llvm.vector.reduce.umax", n);
    end = LLVMBuildShl(e->b, ones, LLVMBuildSub(e->b, n, ones, ""), "");
    d.ends = reduced(e, "llvm.vector.reduce.or",
                     LLVMBuildSelect(e->b, left, end, zeros, ""));
    return d;
}

static LLVMValueRef times(Emit *e, LLVMValueRef v, uint64_t n)
{
    return LLVMBuildMul(e->b, v, emit_i64(e, n), "");
}

/* Where the first lane has left, while all were there before: a slice begins. */
static void begin_slice(Emit *e, const Done *d)
{
    LLVMValueRef args[] = {d->ends, LLVMConstInt(e->i1, 0, 0)};
    LLVMValueRef slice = emit_variable_get(e, e->slice, e->i64), first, whole;

    whole = LLVMBuildICmp(e->b, LLVMIntEQ, slice, emit_i64(e, UINT64_MAX), "");
    whole = LLVMBuildAnd(e->b, whole, more_than_none(e, d->ends), "");
    first = LLVMBuildAdd(e->b,
                         emit_intrinsic(e, "llvm.cttz", e->i64, 2, args),
                         emit_i64(e, 1), "");
    first = times(e, first, e->block->count);
    first = LLVMBuildAdd(e->b, first, emit_i64(e, GROUP_SLICE), "");
    first = LLVMBuildAdd(
        e->b, first, emit_variable_get(e, e->instructions, e->i64), "");
    LLVMBuildStore(e->b, LLVMBuildSelect(e->b, whole, first, slice, ""),
                   e->slice);
}

/* Lanes that nearly all do all of many turns are faster at once. */
static void weigh(Loop *l, const Done *d)
{
    Emit *e = l->e;
    LLVMValueRef together = LLVMBuildICmp(e->b, LLVMIntUGT, d->sum,
                                          times(e, d->most, l->most), "");
    LLVMValueRef many = LLVMBuildICmp(e->b, LLVMIntUGE, d->most,
                                      emit_i64(e, TURNS_WEIGHED), "");

    together = LLVMBuildAnd(e->b, together, many, "");
    set_at_once(l, LLVMBuildSelect(e->b, together, emit_i64(e, AFTER_TOGETHER),
                                   turns_at_once(l), ""));
}

/* As if lanes had done each turn together: they part behind each that some leave
 * and others do not. */
static void count(Loop *l)
{
    Emit *e = l->e;
    uint64_t n = e->block->count;
    Done d = all_done(l);
    LLVMValueRef apart = emit_intrinsic(e, "llvm.ctpop", e->i64, 1, &d.ends);
    LLVMValueRef last = LLVMBuildZExt(e->b, LLVMBuildNot(e->b, d.remain, ""),
                                      e->i64, "");

    begin_slice(e, &d);
    emit_variable_add(e, e->instructions, times(e, d.most, n));
    emit_variable_add(e, e->lanes, times(e, d.sum, n));
    emit_variable_add(e, e->divergent, LLVMBuildSub(e->b, apart, last, ""));
    weigh(l, &d);
}

static void name_blocks(Loop *l)
{
    const struct {
        LLVMBasicBlockRef *block;
        const char *name;
    } all[] = {{&l->at_once, "at_once"}, {&l->begin, "begin"},
               {&l->each, "each"},       {&l->turn, "turn"},
               {&l->ended, "ended"},     {&l->broken, "broken"},
               {&l->miss, "miss"}};

    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        *all[i].block = emit_new(l->e, all[i].name);
    }
}

LLVMBasicBlockRef emit_lanewise(Emit *e, LLVMValueRef *taken)
{
    Loop l = {.e = e, .x = x_named(e)};
    LLVMBasicBlockRef done;

    l.most = fit(e, l.types);
    if (!l.most) {
        return NULL;
    }
    name_blocks(&l);
    choose(&l);
    make_variables(&l);
    x_slots(&l);
    f_slots(&l);
    make_one(&l);
    set(&l, l.bound, turns_left(e));
    emit_store_at(e, turns_given(&l), l.inside);
    LLVMBuildBr(e->b, l.begin);
    begin_all(&l);
    turns(&l);
    end_lane(&l);
    count(&l);
    gather_up(&l);
    *taken = get(&l, l.remain);
    done = LLVMGetInsertBlock(e->b);
    miss(&l);
    LLVMPositionBuilderAtEnd(e->b, done);
    return l.at_once;
}
