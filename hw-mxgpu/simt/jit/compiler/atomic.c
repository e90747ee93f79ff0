/* SPDX-License-Identifier: MIT */
/*
 * lr, sc, amo* and amocas where the site says that lanes are: one lane after the
 * other, in lane order, each by an atomic of the host; in shared memory, where only
 * this thread is, without. Lanes that all name one address in global memory add together.
 * What else lanes do together there, and what sites do not cover, is a call
 * (slow/atomic.c says what is to be done).
 */
#include "atomic.h"

#include "call.h"
#include "int.h"
#include "lanes.h"
#include "registers.h"
#include "simt/jit/types.h"
#include "simt/slow/atomic.h"
#include "site.h"

#include <stddef.h>

#define ORDER LLVMAtomicOrderingSequentiallyConsistent

typedef struct Atom {
    const SimtOp *op;
    Access a;
    LLVMTypeRef one;   /* what is in memory */
    LLVMTypeRef given; /* what x[rd] gets of a lane */
    LLVMTypeRef all;   /* ... of all of them */
    LLVMValueRef base; /* host address of offset 0, or what is the address of all */
    LLVMValueRef b;    /* the operand of all lanes, or lanes; sc and amo */
    LLVMValueRef c;    /* what amocas compares with, the same */
    LLVMValueRef sum;  /* of lanes that add together, until now */
    Value operand, compared;
} Atom;

/* ---- lanes one after the other */

typedef LLVMValueRef LaneFn(Emit *e, Atom *t, LLVMValueRef lane);

static LLVMValueRef in_room(Emit *e, LLVMValueRef v, LLVMValueRef *room)
{
    if (e->n > 1) {
        emit_store_at(e, v, emit_lanes_room(e, room));
    }
    return v;
}

static LLVMValueRef element(Emit *e, LLVMTypeRef one, LLVMValueRef v,
                            LLVMValueRef room, LLVMValueRef lane)
{
    return e->n == 1 ? v
                     : LLVMBuildLoad2(e->b, one, emit_element(e, one, room, lane),
                                      "");
}

static bool is_number(Emit *e, LLVMValueRef v)
{
    return e->n == 1 || LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind;
}

static LLVMValueRef operand(Emit *e, const Atom *t, LLVMValueRef lane)
{
    return is_number(e, t->b) ? t->b
                              : element(e, t->one, t->b, e->room_b, lane);
}

static LLVMValueRef compared(Emit *e, const Atom *t, LLVMValueRef lane)
{
    return is_number(e, t->c) ? t->c
                              : element(e, t->one, t->c, e->room_c, lane);
}

/* The lane's host address (i64). */
static LLVMValueRef host(Emit *e, const Atom *t, LLVMValueRef lane)
{
    return t->a.uniform
               ? t->base
               : LLVMBuildAdd(e->b, t->base,
                              element(e, e->i64, t->a.off, e->room_at, lane), "");
}

static LLVMValueRef pointer(Emit *e, const Atom *t, LLVMValueRef lane)
{
    return LLVMBuildIntToPtr(e->b, host(e, t, lane), e->ptr, "");
}

/* Bits of vectors whose lanes are here (i64). */
static LLVMValueRef positions(Emit *e)
{
    LLVMTypeRef type = LLVMIntTypeInContext(e->context, e->n);

    return e->n == LANES
               ? e->mask
               : LLVMBuildZExt(e->b, LLVMBuildBitCast(e->b, e->lane, type, ""),
                               e->i64, "");
}

/* What fn gives of each lane. */
static LLVMValueRef each_lane(Emit *e, Atom *t, LaneFn *fn)
{
    LLVMBasicBlockRef top, last, done, here = LLVMGetInsertBlock(e->b);
    LLVMValueRef mask, rest, lane, v, room, first = positions(e);
    LLVMValueRef args[] = {NULL, LLVMConstInt(e->i1, 1, 0)};

    if (e->n == 1) {
        return fn(e, t, emit_i64(e, 0));
    }
    room = emit_lanes_room(e, &e->room_v);
    top = emit_new(e, "atomic");
    done = emit_new(e, "done");
    LLVMBuildBr(e->b, top);
    LLVMPositionBuilderAtEnd(e->b, top);
    mask = LLVMBuildPhi(e->b, e->i64, "");
    args[0] = mask;
    lane = emit_intrinsic(e, "llvm.cttz", e->i64, 2, args);
    v = fn(e, t, lane);
    LLVMBuildStore(e->b, v, emit_element(e, t->given, room, lane));
    rest = LLVMBuildAnd(e->b, mask,
                        LLVMBuildSub(e->b, mask, emit_i64(e, 1), ""), "");
    last = LLVMGetInsertBlock(e->b);
    LLVMAddIncoming(mask, &first, &here, 1);
    LLVMAddIncoming(mask, &rest, &last, 1);
    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntNE, rest, emit_i64(e, 0), ""),
                    top, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    v = emit_load_at(e, t->all, room);
    return LLVMBuildSelect(e->b, e->lane, v, LLVMConstNull(t->all), "");
}

static LLVMValueRef give(Emit *e, const Atom *t, LLVMValueRef v)
{
    return LLVMBuildSExtOrBitCast(e->b, v, t->given, "");
}

/* ---- lr and sc */

/* Which of the warp's lanes it is. */
static LLVMValueRef of_warp(Emit *e, LLVMValueRef lane)
{
    LLVMValueRef index = emit_at(e, e->frame, offsetof(JitFrame, index));

    return e->n == LANES
               ? lane
               : LLVMBuildLoad2(e->b, e->i64,
                                emit_element(e, e->i64, index, lane), "");
}

static LLVMValueRef of_lane(Emit *e, size_t offset, unsigned size,
                            LLVMValueRef lane)
{
    LLVMTypeRef one = LLVMIntTypeInContext(e->context, 8 * size);

    return emit_element(e, one,
                        emit_at(e, e->w, offsetof(MxgpuWarp, s) + offset),
                        of_warp(e, lane));
}

#define OF_LANE(e, member, lane)                                               \
    of_lane(e, offsetof(SimtWarpState, member),                                \
            sizeof(((SimtWarpState *)0)->member[0]), lane)

static LLVMValueRef guest(Emit *e, const Atom *t, LLVMValueRef lane)
{
    return LLVMBuildSub(e->b, host(e, t, lane), t->a.add, "");
}

static LLVMValueRef load_reserved(Emit *e, Atom *t, LLVMValueRef lane)
{
    LLVMValueRef v = LLVMBuildLoad2(e->b, t->one, pointer(e, t, lane), "");

    LLVMSetOrdering(v, ORDER);
    LLVMBuildStore(e->b, guest(e, t, lane), OF_LANE(e, reserved_addr, lane));
    LLVMBuildStore(e->b, LLVMBuildSExtOrBitCast(e->b, v, e->i64, ""),
                   OF_LANE(e, reserved_value, lane));
    LLVMBuildStore(e->b, LLVMConstInt(e->i8, t->a.size, 0),
                   OF_LANE(e, reserved_size, lane));
    return give(e, t, v);
}

static LLVMValueRef same(Emit *e, LLVMTypeRef type, LLVMValueRef at,
                         LLVMValueRef v)
{
    return LLVMBuildICmp(e->b, LLVMIntEQ, LLVMBuildLoad2(e->b, type, at, ""), v,
                         "");
}

static LLVMValueRef reservations(Emit *e)
{
    return emit_at(e, e->w,
                   offsetof(MxgpuWarp, s) + offsetof(SimtWarpState, reserved));
}

/* Whether lr of the same address and size came before. */
static LLVMValueRef is_reserved(Emit *e, const Atom *t, LLVMValueRef lane)
{
    LLVMValueRef all = LLVMBuildLoad2(e->b, e->i64, reservations(e), ""), bit;

    bit = LLVMBuildLShr(e->b, all, of_warp(e, lane), "");
    bit = LLVMBuildTrunc(e->b, bit, e->i1, "");
    bit = LLVMBuildAnd(e->b, bit,
                       same(e, e->i64, OF_LANE(e, reserved_addr, lane),
                            guest(e, t, lane)),
                       "");
    return LLVMBuildAnd(e->b, bit,
                        same(e, e->i8, OF_LANE(e, reserved_size, lane),
                             LLVMConstInt(e->i8, t->a.size, 0)),
                        "");
}

static LLVMValueRef store_conditional(Emit *e, Atom *t, LLVMValueRef lane)
{
    LLVMBasicBlockRef yes = emit_new(e, "reserved"), join = emit_new(e, "sc");
    LLVMValueRef is = is_reserved(e, t, lane), old, v[2], phi;
    LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(e->b), yes};

    v[0] = LLVMConstInt(e->i1, 0, 0);
    emit_branch(e, is, yes, join, true);
    LLVMPositionBuilderAtEnd(e->b, yes);
    old = LLVMBuildLoad2(e->b, e->i64, OF_LANE(e, reserved_value, lane), "");
    old = LLVMBuildTruncOrBitCast(e->b, old, t->one, "");
    v[1] = LLVMBuildAtomicCmpXchg(e->b, pointer(e, t, lane), old,
                                  operand(e, t, lane), ORDER, ORDER, 0);
    v[1] = LLVMBuildExtractValue(e->b, v[1], 1, "");
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, join);
    phi = LLVMBuildPhi(e->b, e->i1, "");
    LLVMAddIncoming(phi, v, from, 2);
    return LLVMBuildZExt(e->b, LLVMBuildNot(e->b, phi, ""), t->given, "");
}

/* The mask's lanes have reservations, or not. */
static void set_reserved(Emit *e, bool on)
{
    LLVMValueRef at = reservations(e), v = LLVMBuildLoad2(e->b, e->i64, at, "");

    v = on ? LLVMBuildOr(e->b, v, e->mask, "")
           : LLVMBuildAnd(e->b, v, LLVMBuildNot(e->b, e->mask, ""), "");
    LLVMBuildStore(e->b, v, at);
}

/* ---- amo* */

static bool is_float_add(unsigned op)
{
    return op == RV_MX_AFADD_S || op == RV_MX_AFADD_D;
}

static bool is_add(unsigned op)
{
    return op == RV_AMOADD_W || op == RV_AMOADD_D;
}

/* As an atomic of the host, and as an instruction (0: the operand) of registers. */
typedef struct HostOp {
    LLVMAtomicRMWBinOp bin;
    unsigned op;
} HostOp;

static HostOp host_op(unsigned op)
{
#define BOTH(ID, BIN, OP)                                                      \
    case RV_AMO##ID##_W:                                                       \
    case RV_AMO##ID##_D:                                                       \
        return (HostOp){LLVMAtomicRMWBinOp##BIN, OP};

    switch (op) {
        BOTH(ADD, Add, RV_ADD)
        BOTH(XOR, Xor, RV_XOR)
        BOTH(AND, And, RV_AND)
        BOTH(OR, Or, RV_OR)
        BOTH(MIN, Min, RV_MIN)
        BOTH(MAX, Max, RV_MAX)
        BOTH(MINU, UMin, RV_MINU)
        BOTH(MAXU, UMax, RV_MAXU)
    default:
        return (HostOp){LLVMAtomicRMWBinOpXchg, 0};
    }
}

/* As fadd in round-to-nearest-even; NaNs are canonical. */
static LLVMValueRef float_sum(Emit *e, const Atom *t, LLVMValueRef a,
                              LLVMValueRef b)
{
    bool wide = t->a.size == 8;
    LLVMTypeRef type = wide ? LLVMDoubleTypeInContext(e->context)
                            : LLVMFloatTypeInContext(e->context);
    LLVMValueRef v = LLVMBuildFAdd(e->b, LLVMBuildBitCast(e->b, a, type, ""),
                                   LLVMBuildBitCast(e->b, b, type, ""), "");
    LLVMValueRef nan = LLVMConstInt(
        t->one, wide ? 0x7ff8000000000000ull : 0x7fc00000u, 0);

    return LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealUNO, v, v, ""), nan,
                           LLVMBuildBitCast(e->b, v, t->one, ""), "");
}

/* One value and another. */
static LLVMValueRef combined(Emit *e, const Atom *t, LLVMValueRef a,
                             LLVMValueRef lane)
{
    LLVMValueRef b = operand(e, t, lane);
    unsigned op = host_op(t->op->op).op;

    if (mxgpu_simt_is_cas(t->op->op)) {
        return LLVMBuildSelect(
            e->b,
            LLVMBuildICmp(e->b, LLVMIntEQ, a, compared(e, t, lane), ""), b, a,
            "");
    }
    return is_float_add(t->op->op) ? float_sum(e, t, a, b)
           : op                    ? emit_compute(e, op, a, b)
                                   : b;
}

static LLVMValueRef of_host(Emit *e, const Atom *t, LLVMValueRef at,
                            LLVMValueRef b)
{
    return LLVMBuildAtomicRMW(e->b, host_op(t->op->op).bin, at, b, ORDER, 0);
}

static LLVMValueRef each(Emit *e, Atom *t, LLVMValueRef lane)
{
    return give(e, t, of_host(e, t, pointer(e, t, lane), operand(e, t, lane)));
}

static LLVMValueRef each_compared(Emit *e, Atom *t, LLVMValueRef lane)
{
    LLVMValueRef v = LLVMBuildAtomicCmpXchg(e->b, pointer(e, t, lane),
                                            compared(e, t, lane),
                                            operand(e, t, lane), ORDER, ORDER, 0);

    return give(e, t, LLVMBuildExtractValue(e->b, v, 0, ""));
}

static LLVMValueRef local(Emit *e, Atom *t, LLVMValueRef lane)
{
    LLVMValueRef at = pointer(e, t, lane);
    LLVMValueRef old = LLVMBuildLoad2(e->b, t->one, at, "");

    LLVMBuildStore(e->b, combined(e, t, old, lane), at);
    return give(e, t, old);
}

/* What lanes before it add. */
static LLVMValueRef before(Emit *e, Atom *t, LLVMValueRef lane)
{
    LLVMValueRef v = LLVMBuildLoad2(e->b, t->one, t->sum, "");

    LLVMBuildStore(e->b, LLVMBuildAdd(e->b, v, operand(e, t, lane), ""), t->sum);
    return give(e, t, v);
}

/* How many of the mask are before each lane. */
static LLVMValueRef ranks(Emit *e)
{
    LLVMValueRef below[LANES], v = emit_splat(e, positions(e), e->wides);

    for (unsigned i = 0; i < e->n; i++) {
        below[i] = emit_i64(e, (1ull << i) - 1);
    }
    v = LLVMBuildAnd(e->b, v, LLVMConstVector(below, e->n), "");
    return emit_intrinsic(e, "llvm.ctpop", e->wides, 1, &v);
}

/* What lanes before each add, which all add one number; *sum: all of them. */
static LLVMValueRef multiples(Emit *e, const Atom *t, LLVMValueRef *sum)
{
    LLVMTypeRef ones = t->one == e->i32 ? e->words : e->wides;
    LLVMValueRef n = emit_intrinsic(e, "llvm.ctpop", e->i64, 1, &e->mask), v;

    n = LLVMBuildTruncOrBitCast(e->b, n, t->one, "");
    *sum = LLVMBuildMul(e->b, n, t->b, "");
    v = LLVMBuildTruncOrBitCast(e->b, ranks(e), ones, "");
    v = LLVMBuildMul(e->b, v, emit_splat(e, t->b, ones), "");
    return LLVMBuildSExtOrBitCast(e->b, v, t->all, "");
}

/* All to one address. */
static LLVMValueRef add_together(Emit *e, Atom *t)
{
    LLVMValueRef v, old, sum, at = LLVMBuildIntToPtr(e->b, t->base, e->ptr, "");

    if (is_number(e, t->b)) {
        v = multiples(e, t, &sum);
    } else {
        t->sum = emit_alloca(e, t->one);
        LLVMBuildStore(e->b, LLVMConstNull(t->one), t->sum);
        v = each_lane(e, t, before);
        sum = LLVMBuildLoad2(e->b, t->one, t->sum, "");
    }
    old = emit_splat(e, give(e, t, of_host(e, t, at, sum)), t->all);
    return LLVMBuildAdd(e->b, v, old, "");
}

/* ---- */

/* Whether more than one lane is here, all of them at one address. */
static LLVMValueRef are_one(Emit *e, const Atom *t)
{
    LLVMValueRef n = emit_intrinsic(e, "llvm.ctpop", e->i64, 1, &e->mask);
    LLVMValueRef several = LLVMBuildICmp(e->b, LLVMIntUGT, n, emit_i64(e, 1), "");
    LLVMValueRef args[] = {positions(e), LLVMConstInt(e->i1, 1, 0)}, first, differ;

    if (t->a.uniform) {
        return several;
    }
    first = element(e, e->i64, t->a.off, e->room_at,
                    emit_intrinsic(e, "llvm.cttz", e->i64, 2, args));
    differ = LLVMBuildICmp(e->b, LLVMIntNE, t->a.off,
                           emit_splat(e, first, e->wides), "");
    return LLVMBuildAnd(e->b, several,
                        LLVMBuildNot(e->b, emit_any_lane(e, differ), ""), "");
}

static LLVMValueRef cu_cache(Emit *e, LLVMTypeRef type, size_t offset)
{
    return emit_get(e, type, e->cu, offsetof(MxgpuCu, c) + offset);
}

/* Whether a unit that does atomics itself may do this one. */
static LLVMValueRef may_go(Emit *e, const Atom *t)
{
    LLVMValueRef hold = cu_cache(e, e->ptr, offsetof(SimtCuCache, hold));
    LLVMValueRef work = cu_cache(e, e->i64, offsetof(SimtCuCache, work));
    LLVMValueRef held = LLVMBuildLoad2(e->b, e->i8, hold, "");
    LLVMValueRef direct = emit_get(e, e->i64, e->frame,
                                   offsetof(JitFrame, atomics));
    LLVMValueRef no[] = {
        emit_in_private(e, &t->a),
        emit_misaligned(e, &t->a),
        LLVMBuildICmp(e->b, LLVMIntNE, held, LLVMConstNull(e->i8), ""),
        LLVMBuildICmp(e->b, LLVMIntSLT, work, emit_i64(e, 0), ""),
        LLVMBuildICmp(e->b, LLVMIntEQ, direct, emit_i64(e, 0), ""),
    };

    for (unsigned i = 1; i < sizeof(no) / sizeof(no[0]); i++) {
        no[0] = LLVMBuildOr(e->b, no[0], no[i], "");
    }
    return LLVMBuildNot(e->b, no[0], "");
}

/* Work, and the counter. */
static void count(Emit *e)
{
    const size_t work = offsetof(MxgpuCu, c) + offsetof(SimtCuCache, work);
    const size_t number = offsetof(MxgpuCu, n) +
                          offsetof(SimtCuCounters, count[COUNT_atomics]);
    LLVMValueRef n = emit_intrinsic(e, "llvm.ctpop", e->i64, 1, &e->mask);

    emit_set(e, LLVMBuildSub(e->b, emit_get(e, e->i64, e->cu, work), n, ""),
             e->cu, work);
    emit_set(e, LLVMBuildAdd(e->b, emit_get(e, e->i64, e->cu, number), n, ""),
             e->cu, number);
}

static void end(Emit *e, LLVMValueRef phi, LLVMValueRef v,
                LLVMBasicBlockRef join)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);

    LLVMAddIncoming(phi, &v, &here, 1);
    LLVMBuildBr(e->b, join);
}

/* Where the site is of global memory: amo*. */
static void global(Emit *e, Atom *t, LLVMValueRef phi, LLVMBasicBlockRef join)
{
    bool adds = t->a.uniform && is_add(t->op->op);
    LLVMBasicBlockRef own, together;

    if (is_float_add(t->op->op)) {
        LLVMBuildBr(e->b, t->a.slow);
        return;
    }
    if (mxgpu_simt_is_cas(t->op->op)) {
        count(e);
        end(e, phi, each_lane(e, t, each_compared), join);
        return;
    }
    if (e->n > 1) {
        own = emit_new(e, "own");
        together = adds ? emit_new(e, "together") : t->a.slow;
        LLVMBuildCondBr(e->b, are_one(e, t), together, own);
        if (adds) {
            LLVMPositionBuilderAtEnd(e->b, together);
            count(e);
            end(e, phi, add_together(e, t), join);
        }
        LLVMPositionBuilderAtEnd(e->b, own);
    }
    count(e);
    end(e, phi, each_lane(e, t, each), join);
}

static void amo(Emit *e, Atom *t, LLVMValueRef phi, LLVMBasicBlockRef join)
{
    LLVMBasicBlockRef shared = emit_new(e, "shared");
    LLVMBasicBlockRef other = emit_new(e, "global");

    LLVMBuildCondBr(e->b, emit_in_shared(e, &t->a), shared, other);
    LLVMPositionBuilderAtEnd(e->b, shared);
    count(e);
    end(e, phi, each_lane(e, t, local), join);
    LLVMPositionBuilderAtEnd(e->b, other);
    global(e, t, phi, join);
}

static void reserve(Emit *e, Atom *t, LLVMValueRef phi, LLVMBasicBlockRef join)
{
    bool lr = mxgpu_simt_is_lr(t->op->op);
    LLVMValueRef v;

    count(e);
    v = each_lane(e, t, lr ? load_reserved : store_conditional);
    set_reserved(e, lr);
    end(e, phi, v, join);
}

static LLVMValueRef for_lanes(Emit *e, const Atom *t, Value v,
                              LLVMValueRef *room)
{
    if (emit_uniform(v)) {
        return LLVMBuildTruncOrBitCast(e->b, v.v, t->one, "");
    }
    return in_room(
        e, t->a.size == 4 ? emit_low(e, v) : emit_as(e, v, JIT_WIDE), room);
}

/* Operands where each lane's are found. */
static void prepare(Emit *e, Atom *t)
{
    t->base = LLVMBuildAdd(e->b, t->a.add, t->a.uniform ? t->a.va : t->a.lo, "");
    if (!t->a.uniform) {
        (void)in_room(e, t->a.off, &e->room_at);
    }
    if (mxgpu_simt_is_lr(t->op->op)) {
        return;
    }
    t->b = for_lanes(e, t, t->operand, &e->room_b);
    if (mxgpu_simt_is_cas(t->op->op)) {
        t->c = for_lanes(e, t, t->compared, &e->room_c);
    }
}

static void fast(Emit *e, Atom *t, LLVMValueRef phi, LLVMBasicBlockRef join)
{
    LLVMBasicBlockRef go = emit_new(e, "atomic");

    LLVMPositionBuilderAtEnd(e->b, t->a.fast);
    emit_branch(e, may_go(e, t), go, t->a.slow, true);
    LLVMPositionBuilderAtEnd(e->b, go);
    prepare(e, t);
    if (mxgpu_simt_is_lr(t->op->op) || mxgpu_simt_is_sc(t->op->op)) {
        reserve(e, t, phi, join);
    } else {
        amo(e, t, phi, join);
    }
}

/* What the interpreter does. */
static void called(Emit *e, const Atom *t, Value at, JitType type,
                   LLVMValueRef phi, LLVMBasicBlockRef join)
{
    LLVMPositionBuilderAtEnd(e->b, t->a.slow);
    emit_operand(e, at, JIT_R1);
    emit_operand(e, t->operand, JIT_R2);
    if (mxgpu_simt_is_cas(t->op->op)) {
        emit_operand(e, t->compared, JIT_R3);
    }
    emit_call_now(e, true);
    end(e, phi, emit_result(e, type).v, join);
}

void emit_atomic(Emit *e, const SimtOp *op)
{
    JitType type = mxgpu_jit_result(op, JIT_WIDE, JIT_WIDE);
    bool word = type == JIT_WORD;
    Value at = emit_read(e, op->r1);
    Atom t = {.op = op,
              .operand = emit_read(e, op->r2),
              .compared = emit_read(e, op->r3)};
    LLVMBasicBlockRef join;
    LLVMValueRef phi;

    if (op->op >= RV_MX_AFMIN_S && op->op <= RV_MX_AFMAX_D) {
        emit_call(e, op, true);
        return;
    }
    join = emit_new(e, "atomics");
    t.given = word ? e->i32 : e->i64;
    t.all = word ? e->words : e->wides;
    t.a = emit_begin(e, op, 0, mxgpu_simt_atomic_size(op->op),
                     emit_new(e, "slow"));
    t.one = t.a.size == 4 ? e->i32 : e->i64;
    LLVMPositionBuilderAtEnd(e->b, join);
    phi = LLVMBuildPhi(e->b, t.all, "");
    fast(e, &t, phi, join);
    called(e, &t, at, type, phi, join);
    LLVMPositionBuilderAtEnd(e->b, join);
    emit_write(e, op->rd, (Value){.type = type, .v = phi});
}
