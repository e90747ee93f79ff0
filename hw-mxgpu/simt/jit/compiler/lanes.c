/* SPDX-License-Identifier: MIT */
/*
 * Lanes of the mask, each at a host address of its own. A host's gather of 64 lanes
 * takes as long whatever its mask says; so fewer lanes go one after the other, four
 * in each turn of a loop. What addresses and lanes are is in memory then. All lanes
 * are often side by side in eights, although no line: indices that shifts and masks
 * have made, of a butterfly or a tile. These are eight vector loads or stores.
 */
#include "lanes.h"

/* So many lanes take no longer so than by gathers and scatters. */
#define LOADS_MAX  28
#define STORES_MAX 36

#define AT_ONCE 4

/* Each lane of the mask once, the last one until a turn is full. */
typedef struct Turn {
    LLVMValueRef mask, last;
    LLVMBasicBlockRef top, done;
} Turn;

static LLVMValueRef count(Emit *e)
{
    return emit_intrinsic(e, "llvm.ctpop", e->i64, 1, &e->mask);
}

static bool may_be_few(const Emit *e)
{
    return e->n == LANES && !e->block->full;
}

/* Continues where lanes are few; returns where they are not. */
static LLVMBasicBlockRef if_few(Emit *e, unsigned most)
{
    LLVMBasicBlockRef few = emit_new(e, "few"), many = emit_new(e, "many");

    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntULE, count(e),
                                  emit_i64(e, most), ""),
                    few, many);
    LLVMPositionBuilderAtEnd(e->b, few);
    return many;
}

LLVMValueRef emit_lanes_room(Emit *e, LLVMValueRef *at)
{
    *at = *at ? *at : emit_room(e, e->wides);
    return *at;
}

static void begin(Emit *e, Turn *t)
{
    LLVMValueRef args[] = {e->mask, LLVMConstInt(e->i1, 1, 0)}, zeros;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);

    zeros = emit_intrinsic(e, "llvm.ctlz", e->i64, 2, args);
    t->last = LLVMBuildLShr(e->b, emit_i64(e, 1ull << 63), zeros, "");
    t->top = emit_new(e, "each");
    t->done = emit_new(e, "done");
    LLVMBuildBr(e->b, t->top);
    LLVMPositionBuilderAtEnd(e->b, t->top);
    t->mask = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(t->mask, &e->mask, &here, 1);
}

static void end(Emit *e, Turn *t, LLVMValueRef rest)
{
    LLVMAddIncoming(t->mask, &rest, &t->top, 1);
    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntNE, rest, emit_i64(e, 0), ""),
                    t->top, t->done);
    LLVMPositionBuilderAtEnd(e->b, t->done);
}

/* Each lane's number: from its address to the room, or back. */
static void copy_each(Emit *e, LLVMTypeRef one, LLVMValueRef base, bool load)
{
    LLVMValueRef from, to, rest, number;
    Turn t;

    base = LLVMBuildIntToPtr(e->b, base, e->ptr, "");

    begin(e, &t);
    rest = t.mask;
    for (unsigned i = 0; i < AT_ONCE; i++) {
        LLVMValueRef args[] = {LLVMBuildOr(e->b, rest, t.last, ""),
                               LLVMConstInt(e->i1, 1, 0)};
        LLVMValueRef lane = emit_intrinsic(e, "llvm.cttz", e->i64, 2, args);

        rest = LLVMBuildAnd(
            e->b, rest, LLVMBuildSub(e->b, rest, emit_i64(e, 1), ""), "");
        from = LLVMBuildLoad2(e->b, e->i64,
                              emit_element(e, e->i64, e->room_at, lane), "");
        from = emit_element(e, e->i8, base, from);
        to = emit_element(e, one, e->room_v, lane);
        if (!load) {
            LLVMValueRef swapped = from;

            from = to;
            to = swapped;
        }
        number = LLVMBuildLoad2(e->b, one, from, "");
        LLVMSetAlignment(number, 1);
        LLVMSetAlignment(LLVMBuildStore(e->b, number, to), 1);
    }
    end(e, &t, rest);
}

static LLVMValueRef load_few(Emit *e, LLVMTypeRef type, Lanes at)
{
    LLVMValueRef v;

    emit_store_at(e, at.off, emit_lanes_room(e, &e->room_at));
    (void)emit_lanes_room(e, &e->room_v);
    copy_each(e, LLVMGetElementType(type), at.base, true);
    v = emit_load_at(e, type, e->room_v);
    return LLVMBuildSelect(e->b, e->lane, v, LLVMConstNull(type), "");
}

static LLVMValueRef pointers(Emit *e, Lanes at)
{
    LLVMValueRef base = LLVMBuildIntToPtr(e->b, at.base, e->ptr, "");

    return LLVMBuildGEP2(e->b, e->i8, base, &at.off, 1, "");
}

/* ---- all lanes, in eights that are side by side */

#define EIGHT 8

static LLVMValueRef lanes_of(Emit *e, LLVMValueRef v, unsigned from, unsigned n)
{
    LLVMValueRef which[LANES];

    for (unsigned i = 0; i < n; i++) {
        which[i] = emit_i32(e, from + i);
    }
    return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)),
                                  LLVMConstVector(which, n), "");
}

static LLVMValueRef first_of(Emit *e, LLVMValueRef v, unsigned eight)
{
    return LLVMBuildExtractElement(e->b, v, emit_i32(e, EIGHT * eight), "");
}

/* 0 where the lanes of an eight are side by side. */
static LLVMValueRef apart(Emit *e, Lanes at, unsigned eight, unsigned size)
{
    LLVMValueRef ramp[EIGHT], first[EIGHT], off;

    off = lanes_of(e, at.off, EIGHT * eight, EIGHT);
    for (unsigned i = 0; i < EIGHT; i++) {
        ramp[i] = emit_i64(e, i * size);
        first[i] = emit_i32(e, 0);
    }
    return LLVMBuildXor(
        e->b, off,
        LLVMBuildAdd(e->b,
                     LLVMBuildShuffleVector(e->b, off,
                                            LLVMGetPoison(LLVMTypeOf(off)),
                                            LLVMConstVector(first, EIGHT), ""),
                     LLVMConstVector(ramp, EIGHT), ""),
        "");
}

/* Continues where nothing of it is set. */
static void none_or(Emit *e, LLVMValueRef v, LLVMBasicBlockRef other)
{
    LLVMBasicBlockRef none = emit_new(e, "eights");
    LLVMTypeRef bits = LLVMIntTypeInContext(e->context, EIGHT);

    v = LLVMBuildICmp(e->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
    v = LLVMBuildBitCast(e->b, v, bits, "");
    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntEQ, v, LLVMConstNull(bits), ""),
                    none, other);
    LLVMPositionBuilderAtEnd(e->b, none);
}

/* Continues where all lanes are here, and those of each eight side by side; the
 * first eight mostly tells. Returns where that is not so. */
static LLVMBasicBlockRef if_eights(Emit *e, Lanes at, unsigned size)
{
    LLVMBasicBlockRef other = emit_new(e, "any"), all;
    LLVMValueRef any;

    if (!e->block->full) {
        all = emit_new(e, "all");
        LLVMBuildCondBr(e->b,
                        LLVMBuildICmp(e->b, LLVMIntEQ, e->mask,
                                      emit_i64(e, ALL_LANES), ""),
                        all, other);
        LLVMPositionBuilderAtEnd(e->b, all);
    }
    none_or(e, apart(e, at, 0, size), other);
    any = apart(e, at, 1, size);
    for (unsigned i = 2; i < LANES / EIGHT; i++) {
        any = LLVMBuildOr(e->b, any, apart(e, at, i, size), "");
    }
    none_or(e, any, other);
    return other;
}

static LLVMValueRef at_eight(Emit *e, Lanes at, unsigned eight)
{
    return LLVMBuildIntToPtr(
        e->b, LLVMBuildAdd(e->b, at.base, first_of(e, at.off, eight), ""),
        e->ptr, "");
}

/* Two vectors as one. */
static LLVMValueRef joined(Emit *e, LLVMValueRef low, LLVMValueRef high,
                           unsigned n)
{
    LLVMValueRef which[LANES];

    for (unsigned i = 0; i < 2 * n; i++) {
        which[i] = emit_i32(e, i);
    }
    return LLVMBuildShuffleVector(e->b, low, high, LLVMConstVector(which, 2 * n),
                                  "");
}

static LLVMValueRef load_eights(Emit *e, LLVMTypeRef type, Lanes at)
{
    LLVMTypeRef part = LLVMVectorType(LLVMGetElementType(type), EIGHT);
    LLVMValueRef v[LANES / EIGHT];

    for (unsigned i = 0; i < LANES / EIGHT; i++) {
        v[i] = LLVMBuildLoad2(e->b, part, at_eight(e, at, i), "");
        LLVMSetAlignment(v[i], 1);
    }
    for (unsigned n = EIGHT; n < LANES; n *= 2) {
        for (unsigned i = 0; i < LANES / n; i += 2) {
            v[i / 2] = joined(e, v[i], v[i + 1], n);
        }
    }
    return v[0];
}

static void store_eights(Emit *e, LLVMValueRef v, Lanes at)
{
    for (unsigned i = 0; i < LANES / EIGHT; i++) {
        LLVMSetAlignment(
            LLVMBuildStore(e->b, lanes_of(e, v, EIGHT * i, EIGHT),
                           at_eight(e, at, i)),
            1);
    }
}

/* ---- */

static unsigned size_of(Emit *e, LLVMTypeRef type)
{
    return type == e->words || type == e->singles ? 4 : 8;
}

static LLVMValueRef load_many(Emit *e, LLVMTypeRef type, Lanes at)
{
    LLVMBasicBlockRef join, from[2];
    LLVMValueRef v[2], phi;

    if (e->n < LANES) {
        return emit_gather(e, type, pointers(e, at), e->lane);
    }
    join = emit_new(e, "loaded");
    from[1] = if_eights(e, at, size_of(e, type));
    v[0] = load_eights(e, type, at);
    from[0] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, from[1]);
    v[1] = emit_gather(e, type, pointers(e, at), e->lane);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, join);
    phi = LLVMBuildPhi(e->b, type, "");
    LLVMAddIncoming(phi, v, from, 2);
    return phi;
}

static void store_many(Emit *e, LLVMValueRef v, Lanes at)
{
    LLVMBasicBlockRef join, other;

    if (e->n < LANES) {
        emit_scatter(e, v, pointers(e, at), e->lane);
        return;
    }
    join = emit_new(e, "stored");
    other = if_eights(e, at, size_of(e, LLVMTypeOf(v)));
    store_eights(e, v, at);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, other);
    emit_scatter(e, v, pointers(e, at), e->lane);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, join);
}

LLVMValueRef emit_load_lanes(Emit *e, LLVMTypeRef type, Lanes at)
{
    LLVMBasicBlockRef many, join, from[2];
    LLVMValueRef v[2], phi;

    if (!may_be_few(e)) {
        return load_many(e, type, at);
    }
    join = emit_new(e, "gathered");
    many = if_few(e, LOADS_MAX);
    v[0] = load_few(e, type, at);
    from[0] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, many);
    v[1] = load_many(e, type, at);
    from[1] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, join);
    phi = LLVMBuildPhi(e->b, type, "");
    LLVMAddIncoming(phi, v, from, 2);
    return phi;
}

void emit_store_lanes(Emit *e, LLVMValueRef v, Lanes at)
{
    LLVMBasicBlockRef many, join;

    if (!may_be_few(e)) {
        store_many(e, v, at);
        return;
    }
    join = emit_new(e, "scattered");
    many = if_few(e, STORES_MAX);
    emit_store_at(e, at.off, emit_lanes_room(e, &e->room_at));
    emit_store_at(e, v, emit_lanes_room(e, &e->room_v));
    copy_each(e, LLVMGetElementType(LLVMTypeOf(v)), at.base, false);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, many);
    store_many(e, v, at);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, join);
}
