/* SPDX-License-Identifier: MIT */
/* The turns of a lane, or of two at a time. */
#include "float.h"
#include "int.h"
#include "lane_loop.h"
#include "memory.h"
#include "registers.h"
#include "simt/jit/types.h"

static void load(Loop *l, Side *a, const SimtOp *op)
{
    Emit *one = &a->one;
    LLVMTypeRef type =
        LLVMIntTypeInContext(one->context, 8 * emit_size(op->op));
    LLVMValueRef v = LLVMBuildIntToPtr(one->b, lane_host_address(l, a, op),
                                       one->ptr, "");

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

/* Notes of a sum with what is one value for all what the lane adds. */
static void note_part(Loop *l, Side *a, const SimtOp *op)
{
    Emit *one = &a->one;
    int shift = lane_sum_shift(l, op);

    if (shift >= 0 && op->rd != SINK) {
        a->part[op->rd] = LLVMBuildShl(
            one->b, emit_as(one, emit_read(one, op->r1), JIT_WIDE),
            emit_i64(one, (unsigned)shift), "");
    }
}

/* A turn of the lane. */
static void all_ops(Loop *l, Side *a)
{
    Emit *one = &a->one;

    lane_take_up(l, a);
    for (unsigned i = one->block->first; i <= lane_last_of(one); i++) {
        const SimtOp *op = &one->r->ops[i];

        one->index = i;
        switch ((JitKind)one->r->kind[i]) {
        case JIT_INT:
            note_part(l, a, op);
            emit_int(one, op);
            break;
        case JIT_FLOAT:
            emit_fp(one, op);
            break;
        case JIT_LOAD:
            load(l, a, op);
            break;
        default: /* the branch */
            break;
        }
    }
}

static void miss_at(Loop *l, LLVMValueRef reached)
{
    lane_set(l, l->reached, reached);
    LLVMBuildBr(l->e->b, l->miss);
}

/* Turns of lanes, none of which has less than one; those that have done these go on, if
 * it is known. A lane that would leave its sites, and not the loop, says how far all of
 * them go. */
void lane_plan(Loop *l)
{
    Emit *e = l->e;
    LLVMValueRef bound = emit_splat(e, lane_get(l, l->bound), e->wides), n[2];
    LLVMValueRef all = emit_vector(e, e->wides, UINT64_MAX), goes_on, misses;
    LLVMBasicBlockRef missed = emit_new(e, "missed"), none = emit_new(e, "none");

    n[0] = emit_load_at(e, e->wides, l->inside);
    n[1] = bound;
    n[0] = emit_intrinsic(e, "llvm.umin", e->wides, 2, n);
    emit_store_at(e, n[0], l->turns);
    goes_on = LLVMBuildICmp(e->b, LLVMIntNE, n[0],
                            l->exits ? emit_load_at(e, e->wides, l->exits) : all,
                            "");
    goes_on = LLVMBuildAnd(e->b, goes_on, e->lane, "");
    lane_set(l, l->remain, l->exits ? emit_mask(e, goes_on) : emit_i64(e, 0));
    misses = LLVMBuildICmp(e->b, LLVMIntULT, n[0],
                           l->exits ? bound : emit_vector(e, e->wides, 1), "");
    misses = LLVMBuildAnd(e->b, misses, goes_on, "");
    emit_branch(e, emit_any(e, misses), missed, none, false);
    LLVMPositionBuilderAtEnd(e->b, missed);
    n[0] = LLVMBuildSelect(e->b, misses, n[0], all, "");
    miss_at(l, emit_intrinsic(e, "llvm.vector.reduce.umin", e->wides, 1, n));
    LLVMPositionBuilderAtEnd(e->b, none);
}

/* Behind the lane's turns, where it may have left the loop before: it goes on, or it has
 * left its sites. */
static void end_bounded(Loop *l, Side *a, LLVMBasicBlockRef ended)
{
    Emit *e = l->e;
    LLVMBasicBlockRef all, missed;
    LLVMValueRef bit;

    if (l->exits) { /* as planned */
        LLVMBuildBr(e->b, ended);
        return;
    }
    all = emit_new(e, "all");
    missed = emit_new(e, "missed");
    emit_branch(e,
                LLVMBuildICmp(e->b, LLVMIntULT, lane_get(l, a->given),
                              lane_get(l, l->bound), ""),
                missed, all, false);
    LLVMPositionBuilderAtEnd(e->b, missed);
    miss_at(l, lane_get(l, a->given));
    LLVMPositionBuilderAtEnd(e->b, all);
    bit = LLVMBuildShl(e->b, emit_i64(e, 1), lane_number(l, a), "");
    emit_variable_or(e, l->remain, bit);
    LLVMBuildBr(e->b, ended);
}

/* The next lane. */
void lane_begin(Loop *l, Side *a)
{
    Emit *e = l->e;
    LLVMValueRef rest = lane_get(l, l->rest), n;
    LLVMValueRef args[] = {rest, LLVMConstInt(e->i1, 1, 0)};

    lane_set(l, a->lane, emit_intrinsic(e, "llvm.cttz", e->i64, 2, args));
    lane_set(l, l->rest,
             LLVMBuildAnd(e->b, rest,
                          LLVMBuildSub(e->b, rest, emit_i64(e, 1), ""), ""));
    n = LLVMBuildLoad2(e->b, e->i64, lane_own(l, a, e->i64, l->turns), "");
    lane_set(l, a->given, n);
    lane_set(l, a->end, LLVMBuildAdd(e->b, n, lane_get(l, l->now), ""));
    lane_arrive(l, a);
}

/* The turn in which the lane would leave its sites has not been done. */
void lane_broken(Loop *l, Side *a)
{
    Emit *e = l->e;

    LLVMPositionBuilderAtEnd(e->b, a->broken);
    miss_at(l, LLVMBuildSub(e->b, lane_get(l, a->given), lane_left(l, a), ""));
}

static void end_turn(Loop *l)
{
    Emit *e = l->e;

    lane_set(l, l->now,
             LLVMBuildAdd(e->b, lane_get(l, l->now), emit_i64(e, 1), ""));
}

/* The turns of a lane; continues at "ended". */
void lane_turns(Loop *l)
{
    Side *a = &l->side[0];
    Emit *one = &a->one;
    LLVMBasicBlockRef top = emit_new(one, "lane"), more = emit_new(one, "more");
    LLVMValueRef again = LLVMConstInt(one->i1, 1, 0);

    LLVMPositionBuilderAtEnd(one->b, l->turn);
    lane_prepare_steps(l, a);
    LLVMBuildBr(one->b, top);
    LLVMPositionBuilderAtEnd(one->b, top);
    emit_memory_barrier(one);
    all_ops(l, a);
    if (!l->exits) {
        again = lane_some(
            one, emit_taken(one, &one->r->ops[lane_last_of(one)]));
    }
    lane_put_down(l, a);
    end_turn(l);
    LLVMBuildCondBr(one->b, again, more, l->ended);
    LLVMPositionBuilderAtEnd(one->b, more);
    LLVMBuildCondBr(one->b, lane_some(one, lane_left(l, a)), top, l->all);
    LLVMPositionBuilderAtEnd(one->b, l->all);
    end_bounded(l, a, l->ended);
    LLVMPositionBuilderAtEnd(one->b, l->ended);
}

/* ---- two lanes at a time: what waits for one does not for the other */

/* The second goes on as the first. */
static void change_sides(Loop *l)
{
    Emit *e = l->e;
    Side *to = &l->side[0], *from = &l->side[1];

    for (unsigned reg = 0; reg < 32; reg++) {
        if (to->x[reg]) {
            LLVMBuildStore(e->b,
                           emit_variable_get(e, from->x[reg],
                                             LLVMGetAllocatedType(from->x[reg])),
                           to->x[reg]);
        }
        if (to->f[reg]) {
            LLVMBuildStore(e->b,
                           emit_variable_get(e, from->f[reg],
                                             LLVMGetAllocatedType(from->f[reg])),
                           to->f[reg]);
        }
    }
    lane_set(l, to->lane, lane_get(l, from->lane));
    lane_set(l, to->given, lane_get(l, from->given));
    lane_set(l, to->end, lane_get(l, from->end));
}

/* Continues where it is more than none. */
static void if_more(Loop *l, LLVMValueRef v, LLVMBasicBlockRef none)
{
    LLVMBasicBlockRef more = emit_new(l->e, "more");

    LLVMBuildCondBr(l->e->b, lane_some(l->e, v), more, none);
    LLVMPositionBuilderAtEnd(l->e->b, more);
}

/* One of the two has done its turns: the next lane takes its place. Where there is
 * none the other one goes on alone. */
static void refill(Loop *l, Side *a, LLVMBasicBlockRef pair,
                   LLVMBasicBlockRef other_ends)
{
    Emit *e = l->e;
    LLVMBasicBlockRef ended = emit_new(e, "ended"), lone = emit_new(e, "lone");
    bool first = a == &l->side[0];

    end_bounded(l, a, ended);
    LLVMPositionBuilderAtEnd(e->b, ended);
    lane_leave(l, a);
    if_more(l, lane_get(l, l->rest), lone);
    lane_begin(l, a);
    if (first) { /* both may end at once */
        if_more(l, lane_left(l, &l->side[1]), other_ends);
    }
    LLVMBuildBr(e->b, pair);
    LLVMPositionBuilderAtEnd(e->b, lone);
    if (first) {
        change_sides(l);
        if_more(l, lane_left(l, &l->side[0]), l->all);
    }
    LLVMBuildBr(e->b, l->turn);
}

/* The first lane is here: takes a second one along, if there is one. */
void lane_pairs(Loop *l)
{
    Emit *e = l->e;
    Side *a = &l->side[0], *b = &l->side[1];
    LLVMBasicBlockRef pair = emit_new(e, "pair"), on = emit_new(e, "on");
    LLVMBasicBlockRef top = emit_new(e, "lanes");
    LLVMBasicBlockRef ends[] = {emit_new(e, "first"), emit_new(e, "second")};

    if_more(l, lane_get(l, l->rest), l->turn);
    lane_begin(l, b);
    LLVMBuildBr(e->b, pair);
    LLVMPositionBuilderAtEnd(e->b, pair);
    lane_prepare_steps(l, a);
    lane_prepare_steps(l, b);
    LLVMBuildBr(e->b, top);
    LLVMPositionBuilderAtEnd(e->b, top);
    emit_memory_barrier(e);
    all_ops(l, a);
    lane_put_down(l, a);
    all_ops(l, b);
    lane_put_down(l, b);
    end_turn(l);
    LLVMBuildCondBr(e->b, lane_some(e, lane_left(l, a)), on, ends[0]);
    LLVMPositionBuilderAtEnd(e->b, on);
    LLVMBuildCondBr(e->b, lane_some(e, lane_left(l, b)), top, ends[1]);
    LLVMPositionBuilderAtEnd(e->b, ends[0]);
    refill(l, a, pair, ends[1]);
    LLVMPositionBuilderAtEnd(e->b, ends[1]);
    refill(l, b, pair, NULL);
}
