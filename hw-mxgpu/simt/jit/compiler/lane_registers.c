/* SPDX-License-Identifier: MIT */
/* Registers of loops whose lanes go one after the other: in memory before and behind a
 * lane's turns, in variables in between. */
#include "float.h"
#include "lane_loop.h"
#include "registers.h"
#include "simt/jit/types.h"

#include <string.h>

LLVMValueRef lane_get(Loop *l, LLVMValueRef variable)
{
    return emit_variable_get(l->e, variable, l->e->i64);
}

void lane_set(Loop *l, LLVMValueRef variable, LLVMValueRef v)
{
    LLVMBuildStore(l->e->b, v, variable);
}

/* ---- in turns */

bool lane_steps(const Emit *e, unsigned base, unsigned at, int64_t *step,
                int64_t *first)
{
    unsigned writes = 0;

    *step = *first = 0;
    for (unsigned i = e->block->first; i <= lane_last_of(e); i++) {
        const SimtOp *op = &e->r->ops[i];

        if (!mxgpu_jit_writes_x(op, e->r->kind[i]) || op->rd != base) {
            continue;
        }
        if (writes++ || op->op != RV_ADDI || op->r1 != base || !op->imm) {
            return false;
        }
        *step = op->imm;
        *first = i < at ? op->imm : 0;
    }
    return base != 0;
}

const SimtOp *lane_writer(const Emit *e, unsigned reg, unsigned before)
{
    for (unsigned i = before; i-- > e->block->first;) {
        if (mxgpu_jit_writes_x(&e->r->ops[i], e->r->kind[i]) &&
            e->r->ops[i].rd == reg) {
            return &e->r->ops[i];
        }
    }
    return NULL;
}

/* ---- of all lanes, in memory */

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
}

LLVMValueRef lane_number(Loop *l, const Side *a)
{
    return lane_get(l, a->lane);
}

/* Where the lane has its own. */
LLVMValueRef lane_own(Loop *l, const Side *a, LLVMTypeRef one, LLVMValueRef room)
{
    return emit_element(l->e, one, room, lane_number(l, a));
}

void lane_x_slots(Loop *l)
{
    Emit *e = l->e;
    int64_t first;

    for (uint32_t m = l->x.read; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);
        Value v = emit_read(e, reg);

        l->was[reg] = v;
        if (lane_is_own(v.type)) {
            bring(l, &l->xs[reg], LLVMTypeOf(v.v), v.v);
        }
        if (!lane_steps(e, reg, lane_last_of(e), &l->step[reg], &first) ||
            v.type != JIT_WIDE) {
            l->step[reg] = 0;
        }
    }
    for (uint32_t m = l->x.kept; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);

        take_along(l, &l->xs[reg],
                   l->types[reg] == JIT_WORD ? e->words : e->wides);
    }
}

void lane_f_slots(Loop *l)
{
    Emit *e = l->e;
    uint32_t written = 0;

    for (unsigned i = e->block->first; i <= lane_last_of(e); i++) {
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
    for (unsigned i = e->block->first; i <= lane_last_of(e); i++) {
        const SimtOp *op = &e->r->ops[i];

        if (op->classes & RV_CLASS_FD && written >> op->rd & 1) {
            take_along(l, &l->fs[op->rd],
                       emit_f_type(e, mxgpu_jit_double(op, 3)));
        }
    }
}

/* ---- a lane's registers */

void lane_variables(Loop *l, Side *a)
{
    Emit *e = l->e;

    for (unsigned reg = 0; reg < 32; reg++) {
        const Slot *x = &l->xs[reg], *f = &l->fs[reg];
        bool line = l->x.read >> reg & 1 && mxgpu_jit_line(l->was[reg].type);

        a->was[reg] = l->was[reg];
        a->x[reg] = x->in || x->out ? emit_alloca(e, x->one) : NULL;
        if (line && !a->x[reg]) {
            a->x[reg] = emit_alloca(e, l->was[reg].type == JIT_LINE_WORD ? e->i32
                                                                         : e->i64);
        }
        if (line) {
            a->was[reg].type =
                l->was[reg].type == JIT_LINE_WORD ? JIT_WORD : JIT_WIDE;
        }
        a->f[reg] = f->in || f->out ? emit_alloca(e, f->one) : NULL;
    }
    a->lane = emit_alloca(e, e->i64);
    a->given = emit_alloca(e, e->i64);
    a->end = emit_alloca(e, e->i64);
}

/* Turns that are left for the lane. */
LLVMValueRef lane_left(Loop *l, const Side *a)
{
    return LLVMBuildSub(l->e->b, lane_get(l, a->end), lane_get(l, l->now), "");
}

/* How far x[reg] has gone since the first turn of all. */
LLVMValueRef lane_gone(Loop *l, unsigned reg)
{
    return LLVMBuildMul(l->e->b, lane_get(l, l->now),
                        emit_i64(l->e, (uint64_t)l->step[reg]), "");
}

/* What the lane has brought. */
static LLVMValueRef brought(Loop *l, const Side *a, const Slot *s)
{
    return LLVMBuildLoad2(l->e->b, s->one, lane_own(l, a, s->one, s->in), "");
}

/* Of a line. */
static LLVMValueRef on_line(Loop *l, const Side *a, Value v)
{
    Emit *e = l->e;
    unsigned shift = e->r->row_shift;
    LLVMValueRef column = LLVMBuildAnd(e->b, lane_number(l, a),
                                       emit_i64(e, (1u << shift) - 1), "");
    LLVMValueRef row = LLVMBuildLShr(e->b, lane_number(l, a), emit_i64(e, shift), "");
    LLVMValueRef at = LLVMBuildAdd(
        e->b, v.v, LLVMBuildMul(e->b, column, v.step, ""), "");

    at = LLVMBuildAdd(e->b, at, LLVMBuildMul(e->b, row, v.row, ""), "");
    return v.type == JIT_LINE_WORD ? LLVMBuildTrunc(e->b, at, e->i32, "") : at;
}

/* The lane's registers where it begins. */
void lane_arrive(Loop *l, Side *a)
{
    for (uint32_t m = l->x.read; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);
        const Slot *s = &l->xs[reg];
        Value was = l->was[reg];

        if (!a->x[reg]) {
            continue;
        }
        if (s->in) {
            was.v = brought(l, a, s);
        } else if (mxgpu_jit_line(was.type)) {
            was.v = on_line(l, a, was);
        }
        if (l->step[reg]) { /* as if it had gone until now */
            was.v = LLVMBuildSub(l->e->b, was.v, lane_gone(l, reg), "");
        }
        LLVMBuildStore(l->e->b, was.v, a->x[reg]);
    }
    for (unsigned reg = 0; reg < 32; reg++) {
        if (l->fs[reg].in) {
            LLVMBuildStore(l->e->b, brought(l, a, &l->fs[reg]), a->f[reg]);
        }
    }
}

/* ... where a turn of it begins. */
void lane_take_up(Loop *l, Side *a)
{
    Emit *one = &a->one;

    memset(one->value, 0, sizeof(one->value));
    memset(one->fvalue, 0, sizeof(one->fvalue));
    for (uint32_t m = l->x.read; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);

        one->value[reg] = a->was[reg];
        if (a->x[reg]) {
            one->value[reg].v =
                emit_variable_get(one, a->x[reg], LLVMGetAllocatedType(a->x[reg]));
        }
        if (l->step[reg]) {
            one->value[reg].v =
                LLVMBuildAdd(one->b, one->value[reg].v, lane_gone(l, reg), "");
        }
    }
    for (unsigned reg = 0; reg < 32; reg++) {
        const Slot *s = &l->fs[reg];

        if (s->in) {
            one->fvalue[reg] = emit_variable_get(one, a->f[reg], s->one);
            one->raw[reg] = s->out != NULL; /* by the turn before */
        }
    }
}

/* ... and where it ends. */
void lane_put_down(Loop *l, Side *a)
{
    Emit *one = &a->one;

    for (uint32_t m = l->x.kept; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);

        if (!l->step[reg]) {
            LLVMBuildStore(one->b, emit_as(one, one->value[reg], l->types[reg]),
                           a->x[reg]);
        }
    }
    for (unsigned reg = 0; reg < 32; reg++) {
        if (l->fs[reg].out) {
            LLVMBuildStore(one->b, one->fvalue[reg], a->f[reg]);
        }
    }
}

static void take_out(Loop *l, const Side *a, const Slot *s, LLVMValueRef v)
{
    LLVMBuildStore(l->e->b, v, lane_own(l, a, s->one, s->out));
}

/* Where the lane is done, and its turns. */
void lane_leave(Loop *l, const Side *a)
{
    Emit *e = l->e;
    LLVMValueRef n = LLVMBuildSub(e->b, lane_get(l, a->given), lane_left(l, a), ""), v;

    for (unsigned reg = 0; reg < 32; reg++) {
        const Slot *x = &l->xs[reg], *f = &l->fs[reg];

        if (x->out) {
            v = emit_variable_get(e, a->x[reg], x->one);
            v = l->step[reg] ? LLVMBuildAdd(e->b, v, lane_gone(l, reg), "") : v;
            take_out(l, a, x, v);
        }
        if (f->out) {
            take_out(l, a, f, emit_variable_get(e, a->f[reg], f->one));
        }
    }
    LLVMBuildStore(e->b, n, lane_own(l, a, e->i64, l->done));
}

/* What all lanes have taken along is what the block has written. */
void lane_gather_up(Loop *l)
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
                             l->side[0].one.raw[reg]);
        }
    }
}
