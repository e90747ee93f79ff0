/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores. Each has a site, a unit's memory of where its addresses
 * were last: a range of global memory, the block's shared memory or the warp's
 * private memory. Lanes that are all in it go there directly. All else is done
 * by the interpreter's function, which sets the site.
 */
#include "memory.h"

#include "leave.h"
#include "simt/jit/types.h"

#include <stddef.h>

typedef struct Access {
    LLVMValueRef site, off, add, is_private;
    LLVMValueRef va;             /* i64 or a vector of them */
    LLVMBasicBlockRef fast, slow; /* to be filled in */
    bool uniform;
    unsigned size;
} Access;

static unsigned size_of(unsigned op)
{
    switch (op) {
    case RV_LB:
    case RV_LBU:
    case RV_SB:
        return 1;
    case RV_LH:
    case RV_LHU:
    case RV_SH:
        return 2;
    case RV_LD:
    case RV_FLD:
    case RV_SD:
    case RV_FSD:
        return 8;
    default:
        return 4;
    }
}

static LLVMValueRef any_lane(Emit *e, LLVMValueRef bits)
{
    return emit_any(e, LLVMBuildAnd(e->b, bits, e->lane, ""));
}

static LLVMValueRef wide_const(Emit *e, LLVMValueRef like, uint64_t v)
{
    return LLVMTypeOf(like) == e->i64 ? emit_i64(e, v)
                                      : emit_vector(e, e->wides, v);
}

/* Whether some lane's address is not a multiple of the size. */
static LLVMValueRef misaligned(Emit *e, const Access *a)
{
    LLVMValueRef low = LLVMBuildAnd(e->b, a->off,
                                    wide_const(e, a->off, a->size - 1), "");

    low = LLVMBuildICmp(e->b, LLVMIntNE, low, wide_const(e, a->off, 0), "");
    return a->uniform ? low : any_lane(e, low);
}

/* Looks at the site: continues at "fast" or at "slow". */
static Access begin(Emit *e, const SimtOp *op)
{
    static const size_t keys[] = {
        offsetof(JitFrame, key_global),
        offsetof(JitFrame, key_shared),
        offsetof(JitFrame, key_private),
    };
    Value base = emit_read(e, op->r1);
    Access a = {.uniform = emit_uniform(base), .size = size_of(op->op)};
    LLVMValueRef imm = emit_i64(e, (uint64_t)(int64_t)op->imm);
    LLVMValueRef sites = emit_get(e, e->ptr, e->frame,
                                  offsetof(JitFrame, sites));
    LLVMValueRef key, lo, span, known, inside;

    a.site = emit_at(e, sites, e->r->site[e->index] * sizeof(JitSite));
    key = emit_get(e, e->i64, a.site, offsetof(JitSite, key));
    lo = emit_get(e, e->i64, a.site, offsetof(JitSite, lo));
    span = emit_get(e, e->i64, a.site, offsetof(JitSite, span));
    a.add = emit_get(e, e->i64, a.site, offsetof(JitSite, add));
    a.is_private = emit_get(e, e->i64, a.site, offsetof(JitSite, is_private));
    known = LLVMConstInt(e->i1, 0, 0);
    for (unsigned i = 0; i < 3; i++) {
        LLVMValueRef mine = emit_get(e, e->i64, e->frame, keys[i]);

        mine = LLVMBuildICmp(e->b, LLVMIntEQ, key, mine, "");
        known = LLVMBuildOr(e->b, known, mine, "");
    }
    if (a.uniform) {
        a.va = LLVMBuildAdd(e->b, base.v, imm, "");
        a.off = LLVMBuildSub(e->b, a.va, lo, "");
        inside = LLVMBuildICmp(e->b, LLVMIntULT, a.off, span, "");
    } else {
        LLVMValueRef wide = emit_as(e, base, JIT_WIDE);

        a.va = LLVMBuildAdd(e->b, wide, emit_splat(e, imm, e->wides), "");
        a.off = LLVMBuildSub(e->b, a.va, emit_splat(e, lo, e->wides), "");
        inside = LLVMBuildNot(
            e->b,
            any_lane(e, LLVMBuildICmp(e->b, LLVMIntUGE, a.off,
                                      emit_splat(e, span, e->wides), "")),
            "");
    }
    a.fast = emit_new(e, "fast");
    a.slow = emit_new(e, "slow");
    LLVMBuildCondBr(e->b, LLVMBuildAnd(e->b, known, inside, ""), a.fast,
                    a.slow);
    return a;
}

/* Calls the interpreter's function for the lanes of the mask. */
static void call(Emit *e, bool may_fault)
{
    LLVMTypeRef args[] = {e->ptr, e->ptr, e->ptr, e->i32, e->i64};
    LLVMTypeRef type = LLVMFunctionType(e->i32, args, 5, 0);
    LLVMValueRef fn = emit_get(e, e->ptr, e->frame, offsetof(JitFrame, call));
    LLVMValueRef with[] = {e->cu, e->w, e->frame, emit_i32(e, e->index),
                           e->mask};
    LLVMValueRef ok = LLVMBuildCall2(e->b, type, fn, with, 5, "");

    if (may_fault) {
        emit_fault_if(e, LLVMBuildICmp(e->b, LLVMIntEQ, ok, emit_i32(e, 0),
                                       ""));
    }
}

static void put_operand(Emit *e, Value v, unsigned reg)
{
    emit_set_lanes(e, emit_as(e, v, JIT_WIDE),
                   offsetof(MxgpuWarp, x) + reg * sizeof(uint64_t[LANES]));
}

static Value result(Emit *e, JitType type)
{
    LLVMValueRef v =
        type == JIT_WORD
            ? emit_get_lanes(e, e->words, offsetof(MxgpuWarp, word) +
                                              SINK * sizeof(uint32_t[LANES]))
            : emit_get_lanes(e, e->wides, offsetof(MxgpuWarp, x) +
                                              SINK * sizeof(uint64_t[LANES]));

    return (Value){type, v};
}

void emit_call(Emit *e, const SimtOp *op, bool may_fault)
{
    JitType type = mxgpu_jit_result(op, JIT_WIDE, JIT_WIDE);

    put_operand(e, emit_read(e, op->r1), JIT_R1);
    put_operand(e, emit_read(e, op->r2), JIT_R2);
    call(e, may_fault);
    emit_write(e, op->rd, result(e, type));
}

/* ---- where lanes are */

/* Host addresses of all lanes of a vector; goes to slow where they are not
 * aligned in private memory. */
static LLVMValueRef host_lanes(Emit *e, const Access *a)
{
    LLVMBasicBlockRef private = emit_new(e, "private"), lined, from;
    LLVMBasicBlockRef inside = emit_new(e, "lanes"), linear = emit_new(e, "li");
    LLVMValueRef host, at[2], phi;
    LLVMBasicBlockRef blocks[2];

    LLVMPositionBuilderAtEnd(e->b, a->fast);
    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntNE, a->is_private,
                                  emit_i64(e, 0), ""),
                    private, linear);
    LLVMPositionBuilderAtEnd(e->b, linear);
    at[0] = LLVMBuildAdd(e->b, a->va, emit_splat(e, a->add, e->wides), "");
    blocks[0] = linear;
    if (a->size < 4) { /* whole words are loaded: halfwords must not cross */
        lined = emit_new(e, "lined");
        LLVMBuildCondBr(e->b, misaligned(e, a), a->slow, lined);
        blocks[0] = lined;
        LLVMPositionBuilderAtEnd(e->b, lined);
    }
    LLVMBuildBr(e->b, inside);
    LLVMPositionBuilderAtEnd(e->b, private);
    lined = emit_new(e, "lined");
    LLVMBuildCondBr(e->b, misaligned(e, a), a->slow, lined);
    LLVMPositionBuilderAtEnd(e->b, lined);
    from = lined;
    host = emit_each(e,
                     emit_get(e, e->i64, e->frame,
                              offsetof(JitFrame, private_host)),
                     8);
    host = LLVMBuildAdd(
        e->b, host,
        LLVMBuildAnd(e->b, a->off, emit_vector(e, e->wides, 7), ""), "");
    at[1] = LLVMBuildAdd(
        e->b, host,
        LLVMBuildShl(e->b,
                     LLVMBuildAnd(e->b, a->off,
                                  emit_vector(e, e->wides, ~7ull), ""),
                     emit_vector(e, e->wides, 6), ""),
        "");
    blocks[1] = from;
    LLVMBuildBr(e->b, inside);
    LLVMPositionBuilderAtEnd(e->b, inside);
    phi = LLVMBuildPhi(e->b, e->wides, "");
    LLVMAddIncoming(phi, at, blocks, 2);
    return phi;
}

/* Bytes and halfwords from the aligned words that hold them. */
static LLVMValueRef gather_small(Emit *e, LLVMValueRef host)
{
    LLVMValueRef three = emit_vector(e, e->wides, 3);
    LLVMValueRef low = LLVMBuildAnd(e->b, host, three, "");
    LLVMValueRef words =
        emit_gather(e, e->words, LLVMBuildSub(e->b, host, low, ""), e->lane);
    LLVMValueRef n = LLVMBuildShl(e->b, LLVMBuildTrunc(e->b, low, e->words, ""),
                                  emit_vector(e, e->words, 3), "");

    return LLVMBuildLShr(e->b, words, n, "");
}

/* Where the granule of a uniform address in private memory is. */
static LLVMValueRef granule(Emit *e, const Access *a)
{
    LLVMValueRef at = LLVMBuildAnd(e->b, a->off, emit_i64(e, ~7ull), "");

    at = LLVMBuildShl(e->b, at, emit_i64(e, 6), "");
    return LLVMBuildAdd(e->b, at,
                        emit_get(e, e->i64, e->frame,
                                 offsetof(JitFrame, private_host)),
                        "");
}

static LLVMValueRef load_granule(Emit *e, const Access *a)
{
    LLVMValueRef at = granule(e, a), v;

    if (e->n < LANES) {
        return emit_gather(e, e->wides, emit_each(e, at, 8), e->lane);
    }
    v = LLVMBuildLoad2(e->b, e->wides,
                       LLVMBuildIntToPtr(e->b, at, e->ptr, ""), "");
    LLVMSetAlignment(v, 64);
    return v;
}

/* How far up in its granule, in bits, for all lanes. */
static LLVMValueRef granule_shift(Emit *e, const Access *a)
{
    LLVMValueRef n = LLVMBuildAnd(e->b, a->off, emit_i64(e, 7), "");

    return emit_splat(e, LLVMBuildShl(e->b, n, emit_i64(e, 3), ""), e->wides);
}

/* ---- loads */

/* A register from the low bytes of i32 or i64 lanes. */
static LLVMValueRef extended(Emit *e, const SimtOp *op, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    unsigned width = type == e->wides ? 64 : 32, bits = 8 * size_of(op->op);
    bool is_signed = op->op == RV_LB || op->op == RV_LH || op->op == RV_LW;

    switch (op->op) {
    case RV_LD:
        return v;
    case RV_FLD:
        return LLVMBuildBitCast(e->b, v, e->doubles, "");
    case RV_LWU:
        v = width == 64 ? LLVMBuildTrunc(e->b, v, e->words, "") : v;
        return LLVMBuildZExt(e->b, v, e->wides, "");
    default:
        break;
    }
    v = width == 64 ? LLVMBuildTrunc(e->b, v, e->words, "") : v;
    if (op->op == RV_FLW) {
        return LLVMBuildBitCast(e->b, v, e->singles, "");
    }
    if (bits < 32) {
        LLVMValueRef n = emit_vector(e, e->words, 32 - bits);

        v = LLVMBuildShl(e->b, v, n, "");
        v = (is_signed ? LLVMBuildAShr : LLVMBuildLShr)(e->b, v, n, "");
    }
    return v;
}

typedef struct Ends {
    LLVMValueRef v[4];
    LLVMBasicBlockRef from[4];
    unsigned n;
    LLVMBasicBlockRef join;
} Ends;

static void end(Emit *e, Ends *ends, LLVMValueRef v)
{
    ends->v[ends->n] = v;
    ends->from[ends->n++] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, ends->join);
}

static void load_vector(Emit *e, const SimtOp *op, const Access *a, Ends *ends)
{
    LLVMValueRef host = host_lanes(e, a), v;

    v = a->size < 4 ? gather_small(e, host)
                    : emit_gather(e, a->size == 4 ? e->words : e->wides, host,
                                  e->lane);
    end(e, ends, extended(e, op, v));
}

static void load_uniform(Emit *e, const SimtOp *op, const Access *a, Ends *ends)
{
    LLVMBasicBlockRef private = emit_new(e, "private");
    LLVMBasicBlockRef aligned = emit_new(e, "aligned");
    LLVMBasicBlockRef linear = emit_new(e, "linear");
    LLVMTypeRef one = LLVMIntTypeInContext(e->context, 8 * a->size);
    LLVMValueRef v, at;

    LLVMPositionBuilderAtEnd(e->b, a->fast);
    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntNE, a->is_private,
                                  emit_i64(e, 0), ""),
                    private, linear);
    LLVMPositionBuilderAtEnd(e->b, linear);
    at = LLVMBuildIntToPtr(e->b, LLVMBuildAdd(e->b, a->va, a->add, ""), e->ptr,
                           "");
    v = LLVMBuildLoad2(e->b, one, at, "");
    LLVMSetAlignment(v, 1);
    v = LLVMBuildZExtOrBitCast(e->b, v, a->size < 8 ? e->i32 : e->i64, "");
    v = emit_splat(e, v, a->size < 8 ? e->words : e->wides);
    end(e, ends, extended(e, op, v));
    LLVMPositionBuilderAtEnd(e->b, private);
    LLVMBuildCondBr(e->b, misaligned(e, a), a->slow, aligned);
    LLVMPositionBuilderAtEnd(e->b, aligned);
    v = load_granule(e, a);
    if (a->size < 8) {
        v = LLVMBuildLShr(e->b, v, granule_shift(e, a), "");
    }
    end(e, ends, extended(e, op, v));
}

static LLVMValueRef loaded(Emit *e, const SimtOp *op)
{
    switch (op->op) {
    case RV_FLW:
        return emit_get_lanes(e, e->singles,
                              offsetof(MxgpuWarp, f) +
                                  FP_SCRATCH * sizeof(uint32_t[LANES]));
    case RV_FLD:
        return emit_get_lanes(e, e->doubles,
                              offsetof(MxgpuWarp, d) +
                                  FP_SCRATCH * sizeof(uint64_t[LANES]));
    default:
        return result(e, mxgpu_jit_result(op, JIT_WIDE, JIT_WIDE)).v;
    }
}

static void slow_address(Emit *e, const Access *a)
{
    LLVMPositionBuilderAtEnd(e->b, a->slow);
    put_operand(e, (Value){a->uniform ? JIT_UNIFORM : JIT_WIDE, a->va},
                JIT_R1);
}

void emit_load(Emit *e, const SimtOp *op)
{
    Access a = begin(e, op);
    Ends ends = {.join = emit_new(e, "loaded")};
    LLVMValueRef phi;

    (a.uniform ? load_uniform : load_vector)(e, op, &a, &ends);
    slow_address(e, &a);
    call(e, true);
    end(e, &ends, loaded(e, op));
    LLVMPositionBuilderAtEnd(e->b, ends.join);
    phi = LLVMBuildPhi(e->b, LLVMTypeOf(ends.v[0]), "");
    LLVMAddIncoming(phi, ends.v, ends.from, ends.n);
    if (op->classes & RV_CLASS_FD) {
        emit_write_float(e, op->rd, phi, false);
    } else {
        emit_write(e, op->rd,
                   (Value){mxgpu_jit_result(op, JIT_WIDE, JIT_WIDE), phi});
    }
}

/* ---- stores */

/* The lanes as i32 or i64. */
static LLVMValueRef stored(Emit *e, const SimtOp *op)
{
    switch (op->op) {
    case RV_FSW:
        return LLVMBuildBitCast(e->b, emit_float(e, op->r2, true), e->words,
                                "");
    case RV_FSD:
        return LLVMBuildBitCast(e->b, emit_float(e, op->r2, true), e->wides,
                                "");
    case RV_SD:
        return emit_as(e, emit_read(e, op->r2), JIT_WIDE);
    default:
        return emit_low(e, emit_read(e, op->r2));
    }
}

/* The highest lane is the last writer. */
static void store_last(Emit *e, const Access *a, LLVMValueRef v)
{
    LLVMTypeRef one = LLVMIntTypeInContext(e->context, 8 * a->size);
    LLVMTypeRef type = LLVMIntTypeInContext(e->context, e->n);
    LLVMValueRef lanes = LLVMBuildBitCast(e->b, e->lane, type, "");
    LLVMValueRef args[] = {lanes, LLVMConstInt(e->i1, 1, 0)}, last, at;

    last = LLVMBuildSub(e->b, LLVMConstInt(type, e->n - 1, 0),
                        emit_intrinsic(e, "llvm.ctlz", type, 2, args), "");
    v = LLVMBuildExtractElement(e->b, v, last, "");
    at = LLVMBuildIntToPtr(e->b, LLVMBuildAdd(e->b, a->va, a->add, ""), e->ptr,
                           "");
    v = LLVMBuildStore(e->b, LLVMBuildTruncOrBitCast(e->b, v, one, ""), at);
    LLVMSetAlignment(v, 1);
}

static void masked_store(Emit *e, LLVMValueRef v, LLVMValueRef at)
{
    LLVMTypeRef types[] = {e->wides, e->ptr};
    unsigned id = LLVMLookupIntrinsicID("llvm.masked.store", 17);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, types, 2);
    LLVMValueRef args[] = {v, LLVMBuildIntToPtr(e->b, at, e->ptr, ""),
                           emit_i32(e, 64), e->lane};

    LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, args, 4, "");
}

/* All lanes to one address of private memory, each to its own. */
static void store_granule(Emit *e, const Access *a, LLVMValueRef v)
{
    LLVMValueRef at = granule(e, a), old;

    if (a->size < 8) {
        LLVMValueRef n = granule_shift(e, a), field;

        v = LLVMBuildZExt(e->b, v, e->wides, "");
        field = emit_vector(e, e->wides, (1ull << 8 * a->size) - 1);
        v = LLVMBuildAnd(e->b, v, field, "");
        old = LLVMBuildAnd(
            e->b, load_granule(e, a),
            LLVMBuildNot(e->b, LLVMBuildShl(e->b, field, n, ""), ""), "");
        v = LLVMBuildOr(e->b, old, LLVMBuildShl(e->b, v, n, ""), "");
    }
    if (e->n < LANES) {
        emit_scatter(e, v, emit_each(e, at, 8), e->lane);
    } else {
        masked_store(e, v, at);
    }
}

static void store_uniform(Emit *e, const Access *a, LLVMValueRef v,
                          LLVMBasicBlockRef join)
{
    LLVMBasicBlockRef private = emit_new(e, "private");
    LLVMBasicBlockRef aligned = emit_new(e, "aligned");
    LLVMBasicBlockRef linear = emit_new(e, "linear");

    LLVMPositionBuilderAtEnd(e->b, a->fast);
    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntNE, a->is_private,
                                  emit_i64(e, 0), ""),
                    private, linear);
    LLVMPositionBuilderAtEnd(e->b, linear);
    store_last(e, a, v);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, private);
    LLVMBuildCondBr(e->b, misaligned(e, a), a->slow, aligned);
    LLVMPositionBuilderAtEnd(e->b, aligned);
    store_granule(e, a, v);
    LLVMBuildBr(e->b, join);
}

static void slow_value(Emit *e, const SimtOp *op, LLVMValueRef v)
{
    switch (op->op) {
    case RV_FSW:
        emit_set_lanes(e, v,
                       offsetof(MxgpuWarp, f) +
                           FP_SCRATCH * sizeof(uint32_t[LANES]));
        break;
    case RV_FSD:
        emit_set_lanes(e, v,
                       offsetof(MxgpuWarp, d) +
                           FP_SCRATCH * sizeof(uint64_t[LANES]));
        break;
    default:
        put_operand(e,
                    (Value){LLVMTypeOf(v) == e->words ? JIT_WORD : JIT_WIDE,
                            v},
                    JIT_R2);
    }
}

void emit_store(Emit *e, const SimtOp *op)
{
    LLVMValueRef v = stored(e, op);
    Access a = begin(e, op);
    LLVMBasicBlockRef join = emit_new(e, "stored");

    if (a.uniform) {
        store_uniform(e, &a, v, join);
    } else if (a.size < 4) { /* hosts have no such scatters */
        LLVMPositionBuilderAtEnd(e->b, a.fast);
        LLVMBuildBr(e->b, a.slow);
    } else {
        emit_scatter(e, v, host_lanes(e, &a), e->lane);
        LLVMBuildBr(e->b, join);
    }
    slow_address(e, &a);
    slow_value(e, op, v);
    call(e, true);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, join);
}
