/* SPDX-License-Identifier: MIT */
/* Registers in the blocks of a region, and between them. There, an x register has
 * a variable for each shape that it has somewhere: a number (what is one value, or
 * a line's base), words, wide lanes. What it is where a block begins says the
 * region. */
#include "registers.h"

#include "simt/jit/types.h"

#include <stddef.h>
#include <string.h>

/* LLVM makes values of variables. */
static LLVMValueRef variable(Emit *e, LLVMTypeRef type, LLVMValueRef init)
{
    LLVMValueRef v = LLVMBuildAlloca(e->b, type, "");

    LLVMBuildStore(e->b, init, v);
    return v;
}

LLVMValueRef emit_variable_get(Emit *e, LLVMValueRef variable, LLVMTypeRef type)
{
    return LLVMBuildLoad2(e->b, type, variable, "");
}

void emit_variable_add(Emit *e, LLVMValueRef variable, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);

    v = LLVMBuildAdd(e->b, emit_variable_get(e, variable, type), v, "");
    LLVMBuildStore(e->b, v, variable);
}

void emit_variable_or(Emit *e, LLVMValueRef variable, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);

    v = LLVMBuildOr(e->b, emit_variable_get(e, variable, type), v, "");
    LLVMBuildStore(e->b, v, variable);
}

/* ---- x registers */

static LLVMTypeRef x_type(Emit *e, JitType type)
{
    return type == JIT_WORD   ? e->words
           : type == JIT_WIDE ? e->wides
                              : e->i64;
}

/* Of that type, made when it is first needed. */
static LLVMValueRef late(Emit *e, LLVMValueRef *v, LLVMTypeRef type)
{
    *v = *v ? *v : emit_alloca(e, type);
    return *v;
}

static LLVMValueRef x_variable(Emit *e, unsigned reg, JitType type)
{
    LLVMValueRef *v = type == JIT_WORD   ? &e->word[reg]
                      : type == JIT_WIDE ? &e->wide[reg]
                                         : &e->number[reg];

    return late(e, v, x_type(e, type));
}

Value emit_held(Emit *e, unsigned reg, JitType type)
{
    Value v = {.type = type};

    v.v = emit_variable_get(e, x_variable(e, reg, type), x_type(e, type));
    if (mxgpu_jit_line(type)) {
        v.step = emit_variable_get(e, late(e, &e->step[reg], e->i64), e->i64);
        v.row = emit_variable_get(e, late(e, &e->row[reg], e->i64), e->i64);
    }
    return v;
}

Value emit_read(Emit *e, unsigned reg)
{
    JitType type = (JitType)e->block->x[reg];

    if (reg == 0) {
        return (Value){.type = JIT_UNIFORM_WORD, .v = emit_i64(e, 0)};
    }
    if (!e->value[reg].v) {
        /* What no block but this one uses is read in vain, if at all. */
        e->value[reg] =
            type ? emit_held(e, reg, type)
                 : (Value){.type = JIT_WIDE, .v = LLVMConstNull(e->wides)};
    }
    return e->value[reg];
}

void emit_write(Emit *e, unsigned reg, Value v)
{
    if (reg != SINK && reg != 0) {
        e->value[reg] = v;
        e->written |= 1u << reg;
    }
}

/* As that type. */
static void hold(Emit *e, unsigned reg, Value v, JitType type)
{
    if (mxgpu_jit_line(type)) {
        v = emit_line(e, v);
        LLVMBuildStore(e->b, v.step, late(e, &e->step[reg], e->i64));
        LLVMBuildStore(e->b, v.row, late(e, &e->row[reg], e->i64));
    }
    LLVMBuildStore(e->b, emit_as(e, v, type), x_variable(e, reg, type));
}

/* What x[reg], which the block has written, is then, for all lanes. */
static void keep_x(Emit *e, unsigned reg, JitType type)
{
    Value v = e->value[reg];
    JitType was = (JitType)e->block->x[reg];

    if (mxgpu_jit_blends(e->block, reg) && was) {
        v.v = LLVMBuildSelect(e->b, e->lane, emit_as(e, v, type),
                              emit_as(e, emit_held(e, reg, was), type), "");
        v.type = type;
    }
    hold(e, reg, v, type);
}

static void make_dirty(Emit *e, uint32_t written)
{
    if (written) {
        emit_variable_or(e, e->dirty_x, emit_i32(e, written));
    }
}

void emit_go(Emit *e, unsigned to)
{
    const JitBlock *b = &e->r->blocks[to];
    uint32_t written = e->written & mxgpu_jit_behind(e->r, e->block);
    uint32_t dirty = 0;

    for (unsigned reg = 1; to < e->r->num_blocks && reg < 32; reg++) {
        JitType was = (JitType)e->block->x[reg], is = (JitType)b->x[reg];

        if (is && written >> reg & 1) {
            keep_x(e, reg, is);
            dirty |= 1u << reg;
        } else if (is && was && emit_shape(was) != emit_shape(is)) {
            hold(e, reg, emit_held(e, reg, was), is);
        }
    }
    make_dirty(e, dirty);
}

/* x registers that have no variable, for nothing but faults has to tell. */
static void put(Emit *e, unsigned reg)
{
    LLVMTypeRef args[] = {e->ptr, e->i32, e->i64};
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(e->context), args, 3, 0);
    LLVMValueRef fn = emit_get(e, e->ptr, e->frame, offsetof(JitFrame, put));

    emit_set_lanes(e, emit_as(e, e->value[reg], JIT_WIDE),
                   offsetof(MxgpuWarp, x) + JIT_R1 * sizeof(uint64_t[LANES]));
    LLVMBuildCall2(e->b, type, fn,
                   (LLVMValueRef[]){e->w, emit_i32(e, reg), e->mask}, 3, "");
}

void emit_keep(Emit *e, uint32_t wanted, uint8_t types[32])
{
    const JitCode *r = e->r;
    uint32_t dirty = 0;

    memcpy(types, e->block->x, 32);
    for (uint32_t m = e->written & wanted; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);

        if (!r->x[reg]) {
            continue;
        }
        types[reg] = r->whole ? mxgpu_jit_kept(e->block, reg, e->value[reg].type)
                              : r->x[reg];
        keep_x(e, reg, (JitType)types[reg]);
        dirty |= 1u << reg;
    }
    make_dirty(e, dirty);
    for (uint32_t m = e->written & wanted; m; m &= m - 1) {
        if (!r->x[__builtin_ctz(m)]) {
            put(e, __builtin_ctz(m));
        }
    }
}

static size_t line_at(unsigned reg, size_t member)
{
    return offsetof(MxgpuWarp, line) + reg * sizeof(SimtLine) + member;
}

/* What x[reg] has been before. The step of what comes in as a line is known; of
 * what does as one value, and becomes a line, it is 0. */
static void first_x(Emit *e, unsigned reg, JitType type)
{
    bool comes = mxgpu_jit_line((JitType)e->r->entry[reg]);
    Value v = {.type = type};

    if (emit_shape(type) > 1) {
        v.v = emit_get_lanes(e, x_type(e, type), emit_x_plane(reg, type));
    } else {
        v.v = emit_get(e, e->i64, e->w,
                       line_at(reg, offsetof(SimtLine, base)));
        v.step = emit_i64(e, comes ? (uint64_t)e->r->step[reg] : 0);
        v.row = comes ? emit_get(e, e->i64, e->w,
                                 line_at(reg, offsetof(SimtLine, row)))
                      : emit_i64(e, 0);
    }
    hold(e, reg, v, type);
}

size_t emit_x_plane(unsigned reg, JitType type)
{
    return type == JIT_WORD
               ? offsetof(MxgpuWarp, word) + reg * sizeof(uint32_t[LANES])
               : offsetof(MxgpuWarp, x) + reg * sizeof(uint64_t[LANES]);
}

/* ---- f registers */

/* NaNs are canonical where somebody can tell. */
static LLVMValueRef canonical(Emit *e, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    bool single = type == e->singles;
    LLVMValueRef nan = LLVMConstBitCast(
        emit_vector(e, single ? e->words : e->wides,
                    single ? 0x7fc00000u : 0x7ff8000000000000ull),
        type);

    return LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealUNO, v, v, ""),
                           nan, v, "");
}

LLVMTypeRef emit_f_type(Emit *e, bool wide)
{
    return wide ? e->doubles : e->singles;
}

size_t emit_f_plane(unsigned reg, bool wide)
{
    return wide ? offsetof(MxgpuWarp, d) + reg * sizeof(uint64_t[LANES])
                : offsetof(MxgpuWarp, f) + reg * sizeof(uint32_t[LANES]);
}

LLVMValueRef emit_float(Emit *e, unsigned reg, bool exact)
{
    if (exact && e->raw[reg]) {
        e->fvalue[reg] = canonical(e, e->fvalue[reg]);
        e->raw[reg] = false;
    }
    return e->fvalue[reg];
}

LLVMValueRef emit_f_operand(Emit *e, const SimtOp *op, unsigned n, bool exact)
{
    unsigned reg = n == 0 ? op->r1 : n == 1 ? op->r2 : op->r3;
    bool wide = mxgpu_jit_double(op, n);

    if (!e->fvalue[reg]) {
        e->fvalue[reg] =
            emit_variable_get(e, e->f[wide][reg], emit_f_type(e, wide));
        e->raw[reg] = false;
    }
    return emit_float(e, reg, exact);
}

void emit_write_float(Emit *e, unsigned reg, LLVMValueRef v, bool raw)
{
    e->fvalue[reg] = v;
    e->raw[reg] = raw;
    e->fwritten |= 1u << reg;
}

static void keep_narrow(Emit *e, unsigned reg, bool wide)
{
    if (!wide) {
        emit_variable_or(e, e->narrow[reg], e->mask);
        return;
    }
    LLVMBuildStore(
        e->b,
        LLVMBuildAnd(e->b, emit_variable_get(e, e->narrow[reg], e->i64),
                     LLVMBuildNot(e->b, e->mask, ""), ""),
        e->narrow[reg]);
}

void emit_keep_floats(Emit *e, uint32_t wanted)
{
    uint32_t kept = e->fwritten & wanted;

    for (uint32_t m = kept; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);
        LLVMValueRef v = emit_float(e, reg, true);
        bool wide = LLVMTypeOf(v) == e->doubles;

        v = LLVMBuildSelect(
            e->b, e->lane, v,
            emit_variable_get(e, e->f[wide][reg], emit_f_type(e, wide)), "");
        LLVMBuildStore(e->b, v, e->f[wide][reg]);
        keep_narrow(e, reg, wide);
    }
    if (kept) {
        emit_variable_or(e, e->dirty_f, emit_i32(e, kept));
        e->fkept |= kept;
    }
}

/* ---- at the beginning */

static void get_chosen(Emit *e)
{
    e->chosen = emit_get(e, e->i64, e->frame, offsetof(JitFrame, chosen));
    e->which = LLVMBuildLoad2(
        e->b, e->wides, emit_at(e, e->frame, offsetof(JitFrame, index)), "");
    LLVMSetAlignment(e->which, 8);
}

static LLVMValueRef of_frame(Emit *e, size_t offset)
{
    return variable(e, e->i64, emit_get(e, e->i64, e->frame, offset));
}

/* What is written alone, where only whole warps begin, has been nothing. */
static void x_variables(Emit *e)
{
    const JitCode *r = e->r;
    const JitBlock *head = &r->blocks[r->head_block];

    for (unsigned i = 1; i < 32; i++) {
        if (head->x[i] && (!r->whole || head->live >> i & 1)) {
            first_x(e, i, (JitType)head->x[i]);
        }
    }
}

static void f_variables(Emit *e)
{
    for (unsigned i = 0; i < 32; i++) {
        for (unsigned wide = 0; wide < 2; wide++) {
            LLVMTypeRef type = emit_f_type(e, wide);

            if (e->r->f[i] & (wide ? JIT_DOUBLE : JIT_SINGLE)) {
                e->f[wide][i] = variable(
                    e, type, emit_get_lanes(e, type, emit_f_plane(i, wide)));
            }
        }
        if (e->r->f[i]) {
            e->narrow[i] = variable(
                e, e->i64,
                emit_get(e, e->i64, e->w,
                         offsetof(MxgpuWarp, narrow) + 8 * i));
        }
    }
}

void emit_variables(Emit *e)
{
    const JitCode *r = e->r;

    e->dirty_x = variable(e, e->i32, emit_i32(e, 0));
    e->dirty_f = variable(e, e->i32, emit_i32(e, 0));
    if (e->n < LANES) {
        get_chosen(e);
    }
    x_variables(e);
    f_variables(e);
    for (unsigned i = 0; i < r->num_blocks; i++) {
        e->before[i] = variable(e, e->i64, emit_i64(e, 0));
        e->pend[i] =
            r->whole ? variable(e, e->i64,
                                emit_i64(e, i == r->head_block ? ALL_LANES : 0))
                     : of_frame(e, offsetof(JitFrame, pend) + 8 * i);
    }
    e->instructions = of_frame(e, offsetof(JitFrame, instructions));
    e->slice = of_frame(e, offsetof(JitFrame, slice));
    e->limit = emit_get(e, e->i64, e->frame, offsetof(JitFrame, limit));
    e->few = emit_get(e, e->i64, e->frame, offsetof(JitFrame, few));
    e->lanes = variable(e, e->i64, emit_i64(e, 0));
    e->divergent = variable(e, e->i64, emit_i64(e, 0));
}
