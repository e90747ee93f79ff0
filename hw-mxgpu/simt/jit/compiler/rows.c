/* SPDX-License-Identifier: MIT */
/* Rows of lines in memory, each side by side or at one address. */
#include "rows.h"

#include <stddef.h>

bool emit_may_step(Value base, uint64_t step)
{
    return !LLVMIsAConstantInt(base.step) ||
           LLVMConstIntGetZExtValue(base.step) == step;
}

/* Continues at "fast" if that is so, and both ends are inside of what is not private. */
static void begin(Emit *e, Access *a, LLVMValueRef ok, LLVMValueRef first,
                  LLVMValueRef last)
{
    ok = LLVMBuildAnd(e->b, ok,
                      LLVMBuildNot(e->b, emit_in_private(e, a), ""), "");
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef off = LLVMBuildSub(e->b, i ? last : first, a->lo, "");

        ok = LLVMBuildAnd(e->b, ok,
                          LLVMBuildICmp(e->b, LLVMIntULT, off, a->span, ""), "");
    }
    a->fast = emit_new(e, "rows");
    emit_branch(e, ok, a->fast, a->slow, true);
}

Access emit_begin_rows(Emit *e, int64_t imm, unsigned size, Value base,
                       LLVMBasicBlockRef slow)
{
    Access a = {.size = size, .slow = slow};
    unsigned shift = e->r->row_shift;
    LLVMValueRef ok = emit_look(e, &a), last;

    a.va = LLVMBuildAdd(e->b, base.v, emit_i64(e, (uint64_t)imm), "");
    last = LLVMBuildAdd(
        e->b, a.va,
        LLVMBuildMul(e->b, base.step, emit_i64(e, (1u << shift) - 1), ""), "");
    if (shift < 6) {
        last = LLVMBuildAdd(e->b, last,
                            LLVMBuildMul(e->b, base.row,
                                         emit_i64(e, (LANES >> shift) - 1), ""),
                            "");
        ok = LLVMBuildAnd(e->b, ok,
                          LLVMBuildICmp(e->b, LLVMIntULT, base.row,
                                        emit_i64(e, 1ull << 32), ""),
                          "");
    }
    begin(e, &a, ok, a.va, last);
    return a;
}

/* Where the first or the last lane of the mask is, if there is one row. */
static LLVMValueRef end_of_part(Emit *e, const Access *a, Value base, bool last)
{
    LLVMValueRef args[] = {e->mask, LLVMConstInt(e->i1, 0, 0)}, lane;

    lane = emit_intrinsic(e, last ? "llvm.ctlz" : "llvm.cttz", e->i64, 2, args);
    if (last) {
        lane = LLVMBuildSub(e->b, emit_i64(e, LANES - 1), lane, "");
    }
    return LLVMBuildAdd(e->b, a->va, LLVMBuildMul(e->b, base.step, lane, ""), "");
}

Access emit_begin_part(Emit *e, int64_t imm, unsigned size, Value base,
                       LLVMBasicBlockRef slow)
{
    Access a = {.size = size, .slow = slow};
    LLVMValueRef ok = emit_look(e, &a);

    a.va = LLVMBuildAdd(e->b, base.v, emit_i64(e, (uint64_t)imm), "");
    begin(e, &a, ok, end_of_part(e, &a, base, false),
          end_of_part(e, &a, base, true));
    return a;
}

static LLVMValueRef row_at(Emit *e, const Access *a, Value base, unsigned r)
{
    LLVMValueRef at = LLVMBuildAdd(e->b, a->va, a->add, "");

    at = LLVMBuildAdd(e->b, at,
                      LLVMBuildMul(e->b, base.row, emit_i64(e, r), ""), "");
    return LLVMBuildIntToPtr(e->b, at, e->ptr, "");
}

/* Lanes from, from + 1 ... of what two vectors make together. */
static LLVMValueRef lanes_of(Emit *e, LLVMValueRef v, LLVMValueRef behind,
                             unsigned from, unsigned n)
{
    LLVMValueRef which[LANES];

    for (unsigned i = 0; i < n; i++) {
        which[i] = emit_i32(e, from + i);
    }
    return LLVMBuildShuffleVector(e->b, v, behind, LLVMConstVector(which, n),
                                  "");
}

/* One vector of equally long ones. */
static LLVMValueRef joined(Emit *e, LLVMValueRef *rows, unsigned n)
{
    for (; n > 1; n /= 2) {
        unsigned length = LLVMGetVectorSize(LLVMTypeOf(rows[0]));

        for (unsigned i = 0; i < n / 2; i++) {
            rows[i] = lanes_of(e, rows[2 * i], rows[2 * i + 1], 0, 2 * length);
        }
    }
    return rows[0];
}

/* What all lanes of a row get from one number. */
static LLVMValueRef spread(Emit *e, LLVMValueRef number, LLVMTypeRef many)
{
    LLVMValueRef v = LLVMBuildInsertElement(e->b, LLVMGetPoison(many), number,
                                            emit_i32(e, 0), "");

    return LLVMBuildShuffleVector(
        e->b, v, LLVMGetPoison(many),
        LLVMConstNull(LLVMVectorType(e->i32, LLVMGetVectorSize(many))), "");
}

LLVMValueRef emit_get_rows(Emit *e, const Access *a, Value base, bool level)
{
    unsigned shift = e->r->row_shift, n = LANES >> shift;
    LLVMTypeRef one = LLVMIntTypeInContext(e->context, 8 * a->size);
    LLVMTypeRef many = LLVMVectorType(one, 1u << shift);
    LLVMValueRef rows[LANES];

    for (unsigned r = 0; r < n; r++) {
        rows[r] = LLVMBuildLoad2(e->b, level ? one : many,
                                 row_at(e, a, base, r), "");
        LLVMSetAlignment(rows[r], 1);
        rows[r] = level ? spread(e, rows[r], many) : rows[r];
    }
    return joined(e, rows, n);
}

static LLVMValueRef reversed(Emit *e, LLVMValueRef v)
{
    LLVMValueRef which[LANES];

    for (unsigned i = 0; i < LANES; i++) {
        which[i] = emit_i32(e, LANES - 1 - i);
    }
    return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)),
                                  LLVMConstVector(which, LANES), "");
}

/* Where the only row begins in memory: one that goes down, with the last lane. */
static LLVMValueRef begin_of_row(Emit *e, const Access *a, bool down)
{
    LLVMValueRef at = LLVMBuildAdd(e->b, a->va, a->add, "");

    if (down) {
        at = LLVMBuildSub(e->b, at, emit_i64(e, (LANES - 1) * a->size), "");
    }
    return LLVMBuildIntToPtr(e->b, at, e->ptr, "");
}

static LLVMTypeRef row_type(Emit *e, const Access *a)
{
    return LLVMVectorType(LLVMIntTypeInContext(e->context, 8 * a->size), LANES);
}

LLVMValueRef emit_get_reversed(Emit *e, const Access *a)
{
    LLVMValueRef v = LLVMBuildLoad2(e->b, row_type(e, a),
                                    begin_of_row(e, a, true), "");

    LLVMSetAlignment(v, 1);
    return reversed(e, v);
}

LLVMValueRef emit_get_part(Emit *e, const Access *a, bool down)
{
    LLVMValueRef lane = down ? reversed(e, e->lane) : e->lane, v;

    v = emit_masked_load(e, row_type(e, a), begin_of_row(e, a, down), lane);
    return down ? reversed(e, v) : v;
}

void emit_put_rows(Emit *e, const Access *a, Value base, LLVMValueRef v)
{
    unsigned shift = e->r->row_shift, n = 1u << shift;
    LLVMTypeRef type = LLVMVectorType(
        LLVMIntTypeInContext(e->context, 8 * a->size), LANES);

    v = LLVMBuildTruncOrBitCast(e->b, v, type, "");
    for (unsigned r = 0; r < (unsigned)LANES >> shift; r++) {
        LLVMValueRef row = lanes_of(e, v, LLVMGetPoison(type), r * n, n);
        LLVMValueRef at = row_at(e, a, base, r);

        if (e->block->full) {
            LLVMSetAlignment(LLVMBuildStore(e->b, row, at), 1);
        } else {
            emit_masked_store(
                e, row, at, 1,
                lanes_of(e, e->lane, LLVMGetPoison(e->bits), r * n, n));
        }
    }
}

/* The last lane of the row that is in the mask writes, if any is. */
static void put_level(Emit *e, const Access *a, Value base, LLVMValueRef room,
                      LLVMTypeRef type, unsigned r)
{
    unsigned n = 1u << e->r->row_shift;
    LLVMTypeRef one = LLVMIntTypeInContext(e->context, 8 * a->size);
    LLVMBasicBlockRef some = emit_new(e, "some"), none = emit_new(e, "none");
    LLVMValueRef args[2] = {NULL, LLVMConstInt(e->i1, 1, 0)}, last, v;

    args[0] = LLVMBuildAnd(
        e->b, e->mask, emit_i64(e, ALL_LANES >> (LANES - n) << r * n), "");
    emit_branch(e, LLVMBuildICmp(e->b, LLVMIntNE, args[0], emit_i64(e, 0), ""),
                some, none, true);
    LLVMPositionBuilderAtEnd(e->b, some);
    last = LLVMBuildSub(e->b, emit_i64(e, LANES - 1),
                        emit_intrinsic(e, "llvm.ctlz", e->i64, 2, args), "");
    v = emit_load_at(e, LLVMGetElementType(type),
                     emit_element(e, LLVMGetElementType(type), room, last));
    v = LLVMBuildTruncOrBitCast(e->b, v, one, "");
    LLVMSetAlignment(LLVMBuildStore(e->b, v, row_at(e, a, base, r)), 1);
    LLVMBuildBr(e->b, none);
    LLVMPositionBuilderAtEnd(e->b, none);
}

void emit_put_levels(Emit *e, const Access *a, Value base, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMValueRef room = emit_room(e, type);

    emit_store_at(e, v, room);
    for (unsigned r = 0; r < (unsigned)LANES >> e->r->row_shift; r++) {
        put_level(e, a, base, room, type, r);
    }
}

LLVMBasicBlockRef emit_if_step(Emit *e, Value base, uint64_t step)
{
    LLVMBasicBlockRef yes = emit_new(e, "yes"), no = emit_new(e, "other");

    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntEQ, base.step, emit_i64(e, step),
                                  ""),
                    yes, no);
    LLVMPositionBuilderAtEnd(e->b, yes);
    return no;
}
