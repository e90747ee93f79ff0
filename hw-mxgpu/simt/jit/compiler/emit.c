/* SPDX-License-Identifier: MIT */
/*
 * A region as one function. Each block begins with a look at which lanes are
 * there, and goes on with the next block by address when there are none: lanes
 * that are behind go first, as in the interpreter. Where warps leave, a block is
 * empty. In code for whole warps, blocks that all lanes come to together (full)
 * go straight on to each other, without masks.
 */
#include "emit.h"

#include "atomic.h"
#include "call.h"
#include "float.h"
#include "int.h"
#include "lanewise.h"
#include "leave.h"
#include "memory.h"
#include "pair.h"
#include "registers.h"
#include "simt/jit/types.h"
#include "simt/warp/budget.h"

#include <stddef.h>
#include <string.h>

/* ---- blocks */

/* Whether code for fewer lanes would do: of those that wait behind the region's end
 * it need not know. */
static LLVMValueRef are_few(Emit *e)
{
    unsigned n = e->r->num_blocks - !e->r->blocks[e->r->num_blocks - 1].count;
    LLVMValueRef all = emit_i64(e, 0);

    for (unsigned i = 0; i < n; i++) {
        all = LLVMBuildOr(e->b, all,
                          emit_variable_get(e, e->pend[i], e->i64), "");
    }
    return LLVMBuildICmp(e->b, LLVMIntULE,
                         emit_intrinsic(e, "llvm.ctpop", e->i64, 1, &all),
                         e->few, "");
}

/* At a branch back to that block: leaves where the turn or slice is over, or few lanes are
 * left. */
static void look_at_turn(Emit *e, unsigned to)
{
    LLVMBasicBlockRef go = emit_new(e, "go"), stop = emit_new(e, "stop");
    LLVMValueRef n, over;

    emit_memory_barrier(e);
    n = emit_variable_get(e, e->instructions, e->i64);
    over = LLVMBuildOr(
        e->b, LLVMBuildICmp(e->b, LLVMIntUGE, n, e->limit, ""),
        LLVMBuildICmp(e->b, LLVMIntUGE, n, emit_variable_get(e, e->slice, e->i64), ""), "");
    if (e->n > 1 && !e->block->full) {
        over = LLVMBuildOr(e->b, over, are_few(e), "");
    }
    emit_branch(e, over, stop, go, false);
    LLVMPositionBuilderAtEnd(e->b, stop);
    emit_leave_from(e, JIT_LEFT, e->r->blocks[to].x);
    LLVMPositionBuilderAtEnd(e->b, go);
}

/* To the next block. */
static void go_on(Emit *e, unsigned self)
{
    emit_go(e, self + 1);
    LLVMBuildBr(e->b, e->check[self + 1]);
}

/* Some lanes go back to block "to", which is not behind this one; the others
 * wait at the next one. */
static void go_back(Emit *e, unsigned self, unsigned to, LLVMValueRef taken)
{
    LLVMBasicBlockRef back = emit_new(e, "back"), on = emit_new(e, "on");

    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntNE, taken, emit_i64(e, 0), ""),
                    back, on);
    LLVMPositionBuilderAtEnd(e->b, back);
    emit_go(e, to);
    look_at_turn(e, to);
    LLVMBuildBr(e->b, e->check[to]);
    LLVMPositionBuilderAtEnd(e->b, on);
    go_on(e, self);
}

/* All lanes, which are here, go to block "to". */
static void all_go(Emit *e, unsigned self, unsigned to)
{
    const JitBlock *b = &e->r->blocks[to];

    emit_go(e, to);
    if (to <= self) {
        LLVMBuildStore(e->b, e->mask, e->pend[to]);
        look_at_turn(e, to);
        LLVMBuildStore(e->b, emit_i64(e, 0), e->pend[to]);
    }
    if (b->full && b->count) {
        LLVMBuildBr(e->b, e->body[to]);
        return;
    }
    LLVMBuildStore(e->b, e->mask, e->pend[to]);
    LLVMBuildBr(e->b, e->check[to]);
}

static unsigned behind(const JitCode *r, unsigned last)
{
    return mxgpu_jit_block_at(r, r->at[last] + 2 * r->ops[last].len);
}

/* All lanes take the branch or none does; what lanes say otherwise is to be
 * done elsewhere. */
static void one_way(Emit *e, unsigned self, LLVMValueRef taken)
{
    LLVMBasicBlockRef yes = emit_new(e, "taken"), no = emit_new(e, "on");
    const JitCode *r = e->r;

    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntNE, taken, emit_i64(e, 0), ""),
                    yes, no);
    LLVMPositionBuilderAtEnd(e->b, yes);
    all_go(e, self, mxgpu_jit_block_at(r, r->at[e->index] + r->ops[e->index].imm));
    LLVMPositionBuilderAtEnd(e->b, no);
    all_go(e, self, behind(r, e->index));
}

/* The end of a block that all lanes come to, if they go on together; false:
 * they do not. */
static bool end_together(Emit *e, unsigned self)
{
    const SimtOp *op = &e->r->ops[e->index];
    JitKind kind = e->r->kind[e->index];
    LLVMValueRef taken = NULL;
    Value a, b;

    if (!e->block->full) {
        return false;
    }
    if (kind == JIT_BRANCH) {
        a = emit_read(e, op->r1);
        b = emit_read(e, op->r2);
        if (!mxgpu_jit_one_way(e->r, e->index, a.type, b.type)) {
            return false;
        }
        taken = emit_taken(e, op);
        if (!emit_uniform(a) || !emit_uniform(b)) {
            emit_stop_if(e,
                         LLVMBuildAnd(e->b,
                                      LLVMBuildICmp(e->b, LLVMIntNE, taken,
                                                    emit_i64(e, 0), ""),
                                      LLVMBuildICmp(e->b, LLVMIntNE, taken,
                                                    e->mask, ""),
                                      ""),
                         JIT_BAILED);
        }
    }
    emit_keep_floats(e, mxgpu_jit_fbehind(e->r, e->block));
    emit_count(e, e->block->count);
    if (kind == JIT_BRANCH) {
        one_way(e, self, taken);
    } else {
        all_go(e, self,
               kind == JIT_JUMP ? mxgpu_jit_block_at(e->r, e->r->at[e->index] + op->imm)
                                : behind(e->r, e->index));
    }
    return true;
}

/* Lanes go where the block's last op says; "taken" (NULL: none) as it does. */
static void part(Emit *e, unsigned self, LLVMValueRef taken)
{
    const JitCode *r = e->r;
    unsigned last = e->block->first + e->block->count - 1, to;
    LLVMValueRef rest;

    if (r->kind[last] != JIT_JUMP) {
        rest = taken ? LLVMBuildAnd(e->b, e->mask,
                                    LLVMBuildNot(e->b, taken, ""), "")
                     : e->mask;
        emit_variable_or(e, e->pend[behind(r, last)], rest);
    }
    if (!taken) {
        go_on(e, self);
        return;
    }
    to = mxgpu_jit_block_at(r, r->at[last] + r->ops[last].imm);
    emit_variable_or(e, e->pend[to], taken);
    if (to > self) {
        go_on(e, self);
    } else {
        go_back(e, self, to, taken);
    }
}

static void terminator(Emit *e, unsigned self)
{
    const JitBlock *b = e->block;
    unsigned last = b->first + b->count - 1;
    JitKind kind = e->r->kind[last];
    LLVMValueRef taken = NULL, some;

    e->index = last;
    if (end_together(e, self)) {
        return;
    }
    if (kind == JIT_BRANCH) {
        taken = emit_taken(e, &e->r->ops[last]);
        some = LLVMBuildAnd(
            e->b,
            LLVMBuildICmp(e->b, LLVMIntNE, taken, emit_i64(e, 0), ""),
            LLVMBuildICmp(e->b, LLVMIntNE, taken, e->mask, ""), "");
        emit_variable_add(e, e->divergent, LLVMBuildZExt(e->b, some, e->i64, ""));
    } else if (kind == JIT_JUMP) {
        taken = e->mask;
    }
    emit_keep_floats(e, mxgpu_jit_fbehind(e->r, e->block));
    emit_count(e, b->count);
    part(e, self, taken);
}

static LLVMValueRef live_lanes(Emit *e)
{
    return emit_get(e, e->i64, e->w,
                    offsetof(MxgpuWarp, s) + offsetof(SimtWarpState, live));
}

/* A slice begins when the warp diverges, and ends when all lanes are together
 * again: then there is none. */
static void begin_slice(Emit *e)
{
    LLVMValueRef slice = emit_variable_get(e, e->slice, e->i64);
    LLVMValueRef none = emit_i64(e, UINT64_MAX), fresh, new;

    fresh = LLVMBuildAdd(e->b, emit_variable_get(e, e->instructions, e->i64),
                         emit_i64(e, GROUP_SLICE), "");
    new = LLVMBuildSelect(e->b,
                          LLVMBuildICmp(e->b, LLVMIntEQ, slice, none, ""),
                          fresh, slice, "");
    new = LLVMBuildSelect(
        e->b, LLVMBuildICmp(e->b, LLVMIntEQ, live_lanes(e), e->mask, ""), none,
        new, "");
    LLVMBuildStore(e->b, new, e->slice);
}

/* A group that does an atomic may wait for another lane: its slice is short. */
static void shorten_slice(Emit *e)
{
    LLVMValueRef end = LLVMBuildAdd(e->b, emit_variable_get(e, e->instructions, e->i64),
                                    emit_i64(e, SPIN_SLICE), "");
    LLVMValueRef slice = emit_variable_get(e, e->slice, e->i64);
    LLVMValueRef sooner = LLVMBuildAnd(
        e->b, LLVMBuildICmp(e->b, LLVMIntULT, end, slice, ""),
        LLVMBuildICmp(e->b, LLVMIntNE, live_lanes(e), e->mask, ""), "");

    LLVMBuildStore(e->b, LLVMBuildSelect(e->b, sooner, end, slice, ""),
                   e->slice);
}

static void one_op(Emit *e, unsigned index)
{
    const SimtOp *op = &e->r->ops[index];

    e->index = index;
    switch ((JitKind)e->r->kind[index]) {
    case JIT_INT:
        emit_int(e, op);
        break;
    case JIT_CALL:
        if (!emit_divide(e, op)) {
            emit_call(e, op, false);
        }
        break;
    case JIT_ATOMIC:
        emit_atomic(e, op);
        shorten_slice(e);
        break;
    case JIT_CSR:
        emit_csr(e, op);
        break;
    case JIT_LOAD:
        emit_load(e, op);
        break;
    case JIT_STORE:
        emit_store(e, op);
        break;
    case JIT_FLOAT:
        emit_fp(e, op);
        break;
    default: /* the terminator */
        break;
    }
}

static void all_ops(Emit *e)
{
    unsigned end = e->block->first + e->block->count;

    for (unsigned i = e->block->first; i < end; i++) {
        if (emit_pair(e, i)) {
            i++;
        } else {
            one_op(e, i);
        }
    }
}

/* In front of what is not compiled, or behind the region's end. */
static void leave_at(Emit *e)
{
    if (!e->block->full) {
        emit_leave_from(e, JIT_LEFT, e->block->x);
        return;
    }
    emit_set(e, emit_i64(e, (uint64_t)(int64_t)e->block->at), e->frame,
             offsetof(JitFrame, fault_at));
    emit_leave_from(e, JIT_TOGETHER, e->block->x);
}

static bool loads(const JitCode *r, unsigned from, unsigned to)
{
    for (unsigned i = r->blocks[from].first;
         i < r->blocks[to].first + r->blocks[to].count; i++) {
        if (r->kind[i] == JIT_LOAD) {
            return true;
        }
    }
    return false;
}

/* Whether block self is the first or the last of a loop that loads something. */
static bool is_end_of_loop(const JitCode *r, unsigned self)
{
    const JitBlock *b = &r->blocks[self];

    for (unsigned i = 0; i < r->num_blocks; i++) {
        if ((i <= self && mxgpu_jit_follows(r, b, &r->blocks[i]) &&
             loads(r, i, self)) ||
            (i >= self && mxgpu_jit_follows(r, &r->blocks[i], b) &&
             loads(r, self, i))) {
            return true;
        }
    }
    return false;
}

/* Lanes of the mask are mostly those that were here before. Which these are
 * depends on what they have loaded: hosts that foretell that it is so need not wait
 * for it before they begin the next turn. */
static void expect(Emit *e, unsigned self)
{
    LLVMBasicBlockRef same = emit_new(e, "same"), other = emit_new(e, "other");
    LLVMBasicBlockRef join = emit_new(e, "lanes"), from[] = {same, other};
    LLVMValueRef guess = emit_variable_get(e, e->before[self], e->i64), v[2];

    /* Before they are compared: behind that LLVM takes one for the other. */
    v[0] = emit_hidden(e, guess);
    v[1] = e->mask;
    emit_branch(e, LLVMBuildICmp(e->b, LLVMIntEQ, e->mask, guess, ""), same,
                other, true);
    LLVMPositionBuilderAtEnd(e->b, same);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, other);
    LLVMBuildStore(e->b, e->mask, e->before[self]);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, join);
    e->mask = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(e->mask, v, from, 2);
}

/* Continues where lanes are at the block; else at the next one. */
static void look_for_lanes(Emit *e, unsigned self)
{
    LLVMBasicBlockRef some = emit_new(e, "some"), none = emit_new(e, "none");

    e->mask = emit_variable_get(e, e->pend[self], e->i64);
    LLVMBuildCondBr(
        e->b, LLVMBuildICmp(e->b, LLVMIntEQ, e->mask, emit_i64(e, 0), ""),
        none, some);
    LLVMPositionBuilderAtEnd(e->b, none);
    go_on(e, self);
    LLVMPositionBuilderAtEnd(e->b, some);
    if (is_end_of_loop(e->r, self)) {
        expect(e, self);
    }
}

static void forget(Emit *e)
{
    memset(e->value, 0, sizeof(e->value));
    memset(e->fvalue, 0, sizeof(e->fvalue));
    e->written = e->fwritten = 0;
}

/* Turns of a loop whose lanes go one after the other, if the block is one; continues
 * where a turn is for all at once. */
static void lanewise(Emit *e, unsigned self)
{
    LLVMValueRef taken;
    LLVMBasicBlockRef at_once = emit_lanewise(e, &taken);

    if (!at_once) {
        return;
    }
    emit_keep_floats(e, mxgpu_jit_fbehind(e->r, e->block));
    part(e, self, taken);
    forget(e);
    LLVMPositionBuilderAtEnd(e->b, at_once);
}

static void block(Emit *e, unsigned self)
{
    e->block = &e->r->blocks[self];
    forget(e);
    LLVMPositionBuilderAtEnd(e->b, e->check[self]);
    if (!e->block->full) {
        look_for_lanes(e, self);
    }
    if (!e->block->count) {
        leave_at(e);
        return;
    }
    LLVMBuildStore(e->b, emit_i64(e, 0), e->pend[self]);
    if (e->block->full) { /* all lanes are here */
        LLVMBuildStore(e->b, emit_i64(e, UINT64_MAX), e->slice);
        LLVMBuildBr(e->b, e->body[self]);
        LLVMPositionBuilderAtEnd(e->b, e->body[self]);
        e->mask = emit_i64(e, ALL_LANES);
    } else {
        begin_slice(e);
    }
    e->lane = emit_bits(e, e->mask);
    lanewise(e, self);
    all_ops(e);
    terminator(e, self);
}

/* To the first block with lanes. */
static void start(Emit *e)
{
    static const uint8_t nothing[32];
    unsigned first = e->r->whole ? e->r->head_block : 0;

    for (unsigned i = 0; i <= e->r->num_blocks; i++) {
        e->check[i] = emit_new(e, "check");
    }
    for (unsigned i = 0; i < e->r->num_blocks; i++) {
        if (e->r->blocks[i].full && e->r->blocks[i].count) {
            e->body[i] = emit_new(e, "body");
        }
    }
    LLVMBuildBr(e->b, e->check[first]);
    LLVMPositionBuilderAtEnd(e->b, e->check[e->r->num_blocks]);
    emit_leave_from(e, JIT_LEFT,
                    e->r->whole ? nothing : e->r->blocks[0].x);
}

void emit_region(Emit *e)
{
    LLVMBasicBlockRef entry;

    e->cu = LLVMGetParam(e->fn, 0);
    e->w = LLVMGetParam(e->fn, 1);
    e->frame = LLVMGetParam(e->fn, 2);
    entry = emit_new(e, "entry");
    emit_leave_begin(e);
    LLVMPositionBuilderAtEnd(e->b, entry);
    emit_variables(e);
    start(e);
    for (unsigned i = 0; i < e->r->num_blocks; i++) {
        block(e, i);
    }
    emit_leave(e);
}
