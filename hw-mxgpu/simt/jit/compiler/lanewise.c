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
 *
 * Short loops whose turns are known when a lane begins go on with two lanes at a time:
 * hosts wait for what one turn of a lane has from the one before, a sum mostly.
 *
 *   lane_registers.c  what lanes bring and take along
 *   lane_address.c    where loads go to, and turns that are known
 *   lane_turns.c      the turns of a lane, or of two
 */
#include "lanewise.h"

#include "lane_loop.h"
#include "registers.h"
#include "simt/jit/types.h"
#include "simt/warp/budget.h"

#include <stddef.h>
#include <string.h>

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

#define PAIRS_MAX 16 /* of loops of which two lanes go at a time */

/* ---- which loops */

static bool is_own_loop(const Emit *e)
{
    unsigned last = lane_last_of(e);

    return e->n == LANES && !e->block->full && e->block->count <= OPS_MAX &&
           e->r->kind[last] == JIT_BRANCH &&
           e->r->at[last] + e->r->ops[last].imm == e->block->at;
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

    for (unsigned i = e->block->first; i <= lane_last_of(e); i++) {
        const SimtOp *op = &e->r->ops[i];
        JitKind kind = e->r->kind[i];

        if (kind != JIT_INT && kind != JIT_FLOAT && kind != JIT_LOAD &&
            kind != JIT_BRANCH) {
            return 0;
        }
        if (kind == JIT_LOAD) {
            loads++;
            gathers += lane_is_own(types[op->r1]);
        }
        if (mxgpu_jit_writes_x(op, kind)) {
            types[op->rd] = mxgpu_jit_result_in(e->r, i, types[op->r1],
                                                types[op->r2]);
        }
    }
    return gathers ? break_even(e->block->count, loads, gathers) : 0;
}

static Named x_named(const Emit *e)
{
    Named x = {0};

    for (unsigned i = e->block->first; i <= lane_last_of(e); i++) {
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
        if (!lane_is_own(types[reg]) || (head && !lane_is_own(head))) {
            return 0;
        }
        types[reg] = head ? head : types[reg];
    }
    return most < FEWEST ? 0 : most;
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

    for (unsigned i = e->block->first; i < lane_last_of(e); i++) {
        Access *a = &l->at[i - e->block->first];

        if (e->r->kind[i] == JIT_LOAD) {
            e->index = i;
            a->size = emit_size(e->r->ops[i].op);
            known = LLVMBuildAnd(e->b, known, emit_look(e, a), "");
            known = LLVMBuildAnd(
                e->b, known, LLVMBuildNot(e->b, emit_in_private(e, a), ""), "");
        }
    }
    e->index = lane_last_of(e);
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
    LLVMValueRef *all[] = {&l->bound, &l->reached, &l->now, &l->rest, &l->remain};

    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        *all[i] = emit_alloca(l->e, l->e->i64);
    }
    l->done = emit_room(l->e, l->e->wides);
    l->inside = emit_room(l->e, l->e->wides);
    l->turns = emit_room(l->e, l->e->wides);
}

/* The block for a lane alone. */
static void make_one(Loop *l, Side *a)
{
    Emit *one = &a->one;

    *one = *l->e;
    one->n = 1;
    emit_types(one);
    one->mask = one->chosen = emit_i64(one, 1);
    one->lane = LLVMConstInt(one->i1, 1, 0);
    memset(one->raw, 0, sizeof(one->raw));
    lane_variables(l, a);
    a->broken = emit_new(one, "broken");
}

/* All lanes from where they are; continues behind the last one. */
static void all_lanes(Loop *l)
{
    Emit *e = l->e;
    LLVMBasicBlockRef done = emit_new(e, "done");

    LLVMPositionBuilderAtEnd(e->b, l->begin);
    lane_set(l, l->rest, e->mask);
    lane_plan(l);
    lane_set(l, l->now, emit_i64(e, 0));
    LLVMBuildBr(e->b, l->each);
    LLVMPositionBuilderAtEnd(e->b, l->each);
    lane_begin(l, &l->side[0]);
    if (l->pairs) {
        lane_pairs(l);
    } else {
        LLVMBuildBr(e->b, l->turn);
    }
    lane_turns(l);
    lane_leave(l, &l->side[0]);
    LLVMBuildCondBr(e->b, lane_some(e, lane_get(l, l->rest)), l->each, done);
    LLVMPositionBuilderAtEnd(e->b, done);
}

/* A lane has left its sites, or would in its first turn: those that it has done are
 * what all do. */
static void miss(Loop *l)
{
    Emit *e = l->e;
    LLVMValueRef n;

    for (unsigned i = 0; i <= l->pairs; i++) {
        lane_broken(l, &l->side[i]);
    }
    LLVMPositionBuilderAtEnd(e->b, l->miss);
    n = lane_get(l, l->reached);
    lane_set(l, l->bound, n);
    set_at_once(l, emit_i64(e, AFTER_MISS));
    LLVMBuildCondBr(e->b, lane_some(e, n), l->begin, l->at_once);
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
                        LLVMBuildNot(e->b, lane_get(l, l->remain), ""), ""));
    Done d = {.remain = lane_some(e, lane_get(l, l->remain))};

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
    whole = LLVMBuildAnd(e->b, whole, lane_some(e, d->ends), "");
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
               {&l->all, "all"},         {&l->ended, "ended"},
               {&l->miss, "miss"}};

    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        *all[i].block = emit_new(l->e, all[i].name);
    }
}

LLVMBasicBlockRef emit_lanewise(Emit *e, LLVMValueRef *taken)
{
    Loop l = {.e = e, .x = x_named(e)};
    LLVMBasicBlockRef done;
    LLVMValueRef exits;

    l.most = fit(e, l.types);
    if (!l.most) {
        return NULL;
    }
    name_blocks(&l);
    choose(&l);
    make_variables(&l);
    lane_x_slots(&l);
    lane_f_slots(&l);
    lane_set(&l, l.bound, turns_left(e));
    exits = lane_turns_to_exit(&l);
    if (exits) {
        l.exits = emit_room(e, e->wides);
        emit_store_at(e, exits, l.exits);
    }
    l.pairs = l.exits && e->block->count <= PAIRS_MAX;
    for (unsigned i = 0; i <= l.pairs; i++) {
        make_one(&l, &l.side[i]);
    }
    emit_store_at(e, lane_turns_given(&l), l.inside);
    lane_prepare_sums(&l);
    LLVMBuildBr(e->b, l.begin);
    all_lanes(&l);
    count(&l);
    lane_gather_up(&l);
    *taken = lane_get(&l, l.remain);
    done = LLVMGetInsertBlock(e->b);
    miss(&l);
    LLVMPositionBuilderAtEnd(e->b, done);
    return l.at_once;
}
