/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores. Each has a site, a unit's memory of where its addresses
 * were last: a range of global memory, the block's shared memory or the warp's
 * private memory. Lanes that are all in it go there directly. All else is done
 * by the interpreter's function, which sets the site.
 */
#include "memory.h"

#include "leave.h"
#include "registers.h"
#include "simt/jit/types.h"

#include <stddef.h>

typedef struct Access {
    LLVMValueRef site, off, lo, span, add, is_private;
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

/* What the site says, and whether that is of this warp's memory. */
static LLVMValueRef look(Emit *e, Access *a)
{
    static const size_t keys[] = {
        offsetof(JitFrame, key_global),
        offsetof(JitFrame, key_shared),
        offsetof(JitFrame, key_private),
    };
    LLVMValueRef sites = emit_get(e, e->ptr, e->frame,
                                  offsetof(JitFrame, sites));
    LLVMValueRef key, known = LLVMConstInt(e->i1, 0, 0);

    a->site = emit_at(e, sites, e->r->site[e->index] * sizeof(JitSite));
    key = emit_get(e, e->i64, a->site, offsetof(JitSite, key));
    a->lo = emit_get(e, e->i64, a->site, offsetof(JitSite, lo));
    a->span = emit_get(e, e->i64, a->site, offsetof(JitSite, span));
    a->add = emit_get(e, e->i64, a->site, offsetof(JitSite, add));
    a->is_private = emit_get(e, e->i64, a->site, offsetof(JitSite, is_private));
    for (unsigned i = 0; i < 3; i++) {
        LLVMValueRef mine = emit_get(e, e->i64, e->frame, keys[i]);

        mine = LLVMBuildICmp(e->b, LLVMIntEQ, key, mine, "");
        known = LLVMBuildOr(e->b, known, mine, "");
    }
    return known;
}

/* Looks at the site: continues at "fast" or at "slow". */
static Access begin(Emit *e, const SimtOp *op, LLVMBasicBlockRef slow)
{
    Value base = emit_read(e, op->r1);
    Access a = {.uniform = emit_uniform(base),
                .size = size_of(op->op),
                .slow = slow};
    LLVMValueRef imm = emit_i64(e, (uint64_t)(int64_t)op->imm);
    LLVMValueRef known = look(e, &a), lo = a.lo, span = a.span, inside;

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
    emit_branch(e, LLVMBuildAnd(e->b, known, inside, ""), a.fast, a.slow, true);
    return a;
}

/* Calls the interpreter's function for the lanes of the mask; whether that has
 * failed. */
static LLVMValueRef called(Emit *e, LLVMValueRef mask)
{
    LLVMTypeRef args[] = {e->ptr, e->ptr, e->ptr, e->i32, e->i64};
    LLVMTypeRef type = LLVMFunctionType(e->i32, args, 5, 0);
    LLVMValueRef fn = emit_get(e, e->ptr, e->frame, offsetof(JitFrame, call));
    LLVMValueRef with[] = {e->cu, e->w, e->frame, emit_i32(e, e->index), mask};
    LLVMValueRef ok = LLVMBuildCall2(e->b, type, fn, with, 5, "");

    return LLVMBuildICmp(e->b, LLVMIntEQ, ok, emit_i32(e, 0), "");
}

static void call(Emit *e, bool may_fault)
{
    LLVMValueRef failed = called(e, e->mask);

    if (may_fault) {
        emit_stop_if(e, failed, JIT_FAULTED);
    }
}

static void put_operand(Emit *e, Value v, unsigned reg)
{
    if (e->n == LANES && (emit_uniform(v) || mxgpu_jit_line(v.type))) {
        emit_set_line(e, reg, v); /* the interpreter finds out more of it */
        return;
    }
    emit_set_form(e, reg, FORM_WIDE);
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

    return (Value){.type = type, .v = v};
}

/* blockIdx in one dimension. */
static LLVMValueRef block_index(Emit *e, unsigned dim)
{
    const size_t at = offsetof(MxgpuCu, s) + offsetof(SimtCuState, blocks) +
                      offsetof(SimtBlock, id) + dim * sizeof(uint32_t);
    LLVMTypeRef type = LLVMIntTypeInContext(
        e->context, 8 * sizeof(((MxgpuWarp *)0)->c.block));
    LLVMValueRef n = emit_get(e, type, e->w,
                              offsetof(MxgpuWarp, c) +
                                  offsetof(SimtWarpCache, block));

    n = LLVMBuildMul(e->b, LLVMBuildZExt(e->b, n, e->i64, ""),
                     emit_i64(e, sizeof(SimtBlock)), "");
    n = LLVMBuildAdd(e->b, LLVMBuildPtrToInt(e->b, e->cu, e->i64, ""), n, "");
    n = LLVMBuildIntToPtr(e->b, n, e->ptr, "");
    return LLVMBuildZExt(e->b, emit_get(e, e->i32, n, at), e->i64, "");
}

/* What need not be asked for; false: it must be. */
static bool inline_csr(Emit *e, unsigned csr, Value *v)
{
    if (csr >= MXGPU_CSR_CTAID_X && csr <= MXGPU_CSR_CTAID_Z) {
        v->v = block_index(e, csr - MXGPU_CSR_CTAID_X);
        return true;
    }
    if (csr == MXGPU_CSR_TID_X && 1u << e->r->row_shift < LANES) {
        v->v = v->row = emit_i64(e, 0); /* each row is one of the block */
        v->step = emit_i64(e, 1);
        return true;
    }
    return false;
}

/* threadIdx.x and the lane go up by one. */
void emit_csr(Emit *e, const SimtOp *op)
{
    JitType type = mxgpu_jit_result_in(e->r, e->index, JIT_WIDE, JIT_WIDE);
    const size_t at = offsetof(MxgpuWarp, line) + SINK * sizeof(SimtLine);
    bool up = op->imm == MXGPU_CSR_TID_X || op->imm == MXGPU_CSR_LANE;
    Value v = {.type = type};

    if (inline_csr(e, (unsigned)op->imm, &v)) {
        emit_write(e, op->rd, v);
        return;
    }
    emit_stop_if(e, called(e, emit_i64(e, ALL_LANES)), JIT_BAILED);
    v.v = emit_get(e, e->i64, e->w, at + offsetof(SimtLine, base));
    if (mxgpu_jit_line(type)) {
        v.step = emit_i64(e, up);
        v.row = emit_get(e, e->i64, e->w, at + offsetof(SimtLine, row));
    }
    emit_write(e, op->rd, v);
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
        emit_branch(e, misaligned(e, a), a->slow, lined, false);
        blocks[0] = lined;
        LLVMPositionBuilderAtEnd(e->b, lined);
    }
    LLVMBuildBr(e->b, inside);
    LLVMPositionBuilderAtEnd(e->b, private);
    lined = emit_new(e, "lined");
    emit_branch(e, misaligned(e, a), a->slow, lined, false);
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

/* ---- rows of lines, each side by side or at one address */

/* Whether the line may go up by that, as far as is known. */
static bool may_step(Value base, uint64_t step)
{
    return !LLVMIsAConstantInt(base.step) ||
           LLVMConstIntGetZExtValue(base.step) == step;
}

/* Where all lanes of a line are that is all inside of the site, in memory that
 * is not private: continues at "fast" or at "slow". */
static Access begin_rows(Emit *e, const SimtOp *op, Value base,
                         LLVMBasicBlockRef slow)
{
    Access a = {.size = size_of(op->op), .slow = slow};
    unsigned shift = e->r->row_shift;
    LLVMValueRef ok = look(e, &a), last;

    a.va = LLVMBuildAdd(e->b, base.v, emit_i64(e, (uint64_t)(int64_t)op->imm),
                        "");
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
    ok = LLVMBuildAnd(e->b, ok,
                      LLVMBuildICmp(e->b, LLVMIntEQ, a.is_private,
                                    emit_i64(e, 0), ""),
                      "");
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef off = LLVMBuildSub(e->b, i ? last : a.va, a.lo, "");

        ok = LLVMBuildAnd(e->b, ok,
                          LLVMBuildICmp(e->b, LLVMIntULT, off, a.span, ""), "");
    }
    a.fast = emit_new(e, "rows");
    emit_branch(e, ok, a.fast, a.slow, true);
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

static LLVMValueRef get_rows(Emit *e, const Access *a, Value base, bool level)
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

/* The only row, which goes down: the last lane's number comes first. */
static LLVMValueRef get_reversed(Emit *e, const Access *a)
{
    LLVMTypeRef one = LLVMIntTypeInContext(e->context, 8 * a->size);
    LLVMTypeRef many = LLVMVectorType(one, LANES);
    LLVMValueRef at = LLVMBuildAdd(e->b, a->va, a->add, ""), v, which[LANES];

    at = LLVMBuildSub(e->b, at, emit_i64(e, (LANES - 1) * a->size), "");
    v = LLVMBuildLoad2(e->b, many, LLVMBuildIntToPtr(e->b, at, e->ptr, ""), "");
    LLVMSetAlignment(v, 1);
    for (unsigned i = 0; i < LANES; i++) {
        which[i] = emit_i32(e, LANES - 1 - i);
    }
    return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(many),
                                  LLVMConstVector(which, LANES), "");
}

static void masked_store(Emit *e, LLVMValueRef v, LLVMValueRef at,
                         unsigned alignment, LLVMValueRef mask)
{
    LLVMTypeRef types[] = {LLVMTypeOf(v), e->ptr};
    unsigned id = LLVMLookupIntrinsicID("llvm.masked.store", 17);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, types, 2);
    LLVMValueRef args[] = {v, at, emit_i32(e, alignment), mask};

    LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, args, 4, "");
}

/* Where rows overlap, the last one counts. */
static void put_rows(Emit *e, const Access *a, Value base, LLVMValueRef v)
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
            masked_store(
                e, row, at, 1,
                lanes_of(e, e->lane, LLVMGetPoison(e->bits), r * n, n));
        }
    }
}

/* Continues where the line goes up by "step"; returns where it does not. */
static LLVMBasicBlockRef if_step(Emit *e, Value base, uint64_t step)
{
    LLVMBasicBlockRef yes = emit_new(e, "yes"), no = emit_new(e, "other");

    LLVMBuildCondBr(e->b,
                    LLVMBuildICmp(e->b, LLVMIntEQ, base.step, emit_i64(e, step),
                                  ""),
                    yes, no);
    LLVMPositionBuilderAtEnd(e->b, yes);
    return no;
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
    LLVMValueRef v[6];
    LLVMBasicBlockRef from[6];
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

/* Each lane's own, from one address of private memory. */
static void load_private(Emit *e, const SimtOp *op, const Access *a, Ends *ends)
{
    LLVMBasicBlockRef aligned = emit_new(e, "aligned");
    LLVMValueRef v;

    emit_branch(e, misaligned(e, a), a->slow, aligned, false);
    LLVMPositionBuilderAtEnd(e->b, aligned);
    v = load_granule(e, a);
    if (a->size < 8) {
        v = LLVMBuildLShr(e->b, v, granule_shift(e, a), "");
    }
    end(e, ends, extended(e, op, v));
}

static void load_uniform(Emit *e, const SimtOp *op, const Access *a, Ends *ends)
{
    LLVMBasicBlockRef private = emit_new(e, "private");
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
    if (e->r->whole && !e->r->varies[e->index]) {
        emit_stop_if(e, LLVMConstInt(e->i1, 1, 0), JIT_BAILED);
        LLVMBuildBr(e->b, a->slow);
    } else {
        load_private(e, op, a, ends);
    }
}

/* What lanes get, side by side as they are in memory. */
static LLVMValueRef of_rows(Emit *e, const SimtOp *op, LLVMValueRef v)
{
    bool is_signed = op->op == RV_LB || op->op == RV_LH;

    if (size_of(op->op) < 4) {
        return (is_signed ? LLVMBuildSExt : LLVMBuildZExt)(e->b, v, e->words,
                                                           "");
    }
    return extended(e, op, v);
}

/* Of a line whose rows are side by side, up or down, or at one address each;
 * continues where they are neither. */
static void load_rows(Emit *e, const SimtOp *op, Value base, Ends *ends,
                      LLVMBasicBlockRef slow)
{
    const uint64_t size = size_of(op->op), steps[] = {size, 0, -size};
    unsigned kinds = 1u << e->r->row_shift == LANES ? 3 : 2;

    for (unsigned i = 0; i < kinds; i++) {
        LLVMBasicBlockRef other;
        Access a;

        if (may_step(base, steps[i])) {
            other = if_step(e, base, steps[i]);
            a = begin_rows(e, op, base, slow);
            LLVMPositionBuilderAtEnd(e->b, a.fast);
            end(e, ends,
                of_rows(e, op,
                        i == 2 ? get_reversed(e, &a)
                               : get_rows(e, &a, base, i)));
            LLVMPositionBuilderAtEnd(e->b, other);
        }
    }
}

/* What is no row: each lane's own. */
static void load_lanes(Emit *e, const SimtOp *op, Value base, Ends *ends,
                       LLVMBasicBlockRef slow)
{
    bool line = mxgpu_jit_line(base.type);
    Access a;

    if (line) {
        load_rows(e, op, base, ends, slow);
    }
    if (line && size_of(op->op) < 4) {
        LLVMBuildBr(e->b, slow); /* the interpreter is as fast */
        return;
    }
    a = begin(e, op, slow);
    (a.uniform ? load_uniform : load_vector)(e, op, &a, ends);
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

/* Continues at "slow", with the address where the interpreter looks for it. */
static void slow_address(Emit *e, const SimtOp *op, LLVMBasicBlockRef slow)
{
    Value base = emit_read(e, op->r1);
    LLVMValueRef imm = emit_i64(e, (uint64_t)(int64_t)op->imm);

    LLVMPositionBuilderAtEnd(e->b, slow);
    if (emit_uniform(base) || mxgpu_jit_line(base.type)) {
        base.v = LLVMBuildAdd(e->b, base.v, imm, "");
    } else {
        base.v = LLVMBuildAdd(e->b, emit_as(e, base, JIT_WIDE),
                              emit_splat(e, imm, e->wides), "");
        base.type = JIT_WIDE;
    }
    put_operand(e, base, JIT_R1);
}

/* The number that x[rd] gets from the one at a host address. */
static LLVMValueRef load_number(Emit *e, const SimtOp *op, const Access *a)
{
    LLVMTypeRef type = LLVMIntTypeInContext(e->context, 8 * a->size);
    LLVMValueRef at = LLVMBuildAdd(e->b, a->va, a->add, ""), v;
    bool is_signed = op->op == RV_LB || op->op == RV_LH || op->op == RV_LW;

    v = LLVMBuildLoad2(e->b, type, LLVMBuildIntToPtr(e->b, at, e->ptr, ""), "");
    LLVMSetAlignment(v, 1);
    return is_signed ? LLVMBuildSExt(e->b, v, e->i64, "")
                     : LLVMBuildZExtOrBitCast(e->b, v, e->i64, "");
}

/* What lanes of the mask have got, if that is one value; else leaves. */
static LLVMValueRef one_value(Emit *e, LLVMValueRef lanes)
{
    LLVMValueRef args[] = {e->mask, LLVMConstInt(e->i1, 1, 0)}, first;
    LLVMTypeRef type = LLVMTypeOf(lanes);

    first = LLVMBuildExtractElement(
        e->b, lanes, emit_intrinsic(e, "llvm.cttz", e->i64, 2, args), "");
    emit_stop_if(e,
                 any_lane(e, LLVMBuildICmp(e->b, LLVMIntNE, lanes,
                                           emit_splat(e, first, type), "")),
                 JIT_BAILED);
    return type == e->words ? LLVMBuildSExt(e->b, first, e->i64, "") : first;
}

/* From one address of memory that all lanes share. */
static void load_one(Emit *e, const SimtOp *op)
{
    LLVMBasicBlockRef slow = emit_new(e, "slow");
    Access a = begin(e, op, slow);
    Ends ends = {.join = emit_new(e, "loaded")};
    LLVMValueRef phi;

    LLVMPositionBuilderAtEnd(e->b, a.fast);
    emit_stop_if(e,
                 LLVMBuildICmp(e->b, LLVMIntNE, a.is_private, emit_i64(e, 0),
                               ""),
                 JIT_BAILED);
    end(e, &ends, load_number(e, op, &a));
    slow_address(e, op, slow);
    call(e, true);
    end(e, &ends, one_value(e, loaded(e, op)));
    LLVMPositionBuilderAtEnd(e->b, ends.join);
    phi = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(phi, ends.v, ends.from, ends.n);
    emit_write(e, op->rd,
               (Value){.type = mxgpu_jit_result_in(e->r, e->index, JIT_UNIFORM,
                                                   JIT_NONE),
                       .v = phi});
}

void emit_load(Emit *e, const SimtOp *op)
{
    Value base = emit_read(e, op->r1);
    JitType type =
        mxgpu_jit_result_in(e->r, e->index, base.type, JIT_NONE);
    Ends ends = {0};
    LLVMBasicBlockRef slow;
    LLVMValueRef phi;

    if (!(op->classes & RV_CLASS_FD) && mxgpu_jit_uniform(type)) {
        load_one(e, op);
        return;
    }
    ends.join = emit_new(e, "loaded");
    slow = emit_new(e, "slow");
    load_lanes(e, op, base, &ends, slow);
    slow_address(e, op, slow);
    call(e, true);
    end(e, &ends, loaded(e, op));
    LLVMPositionBuilderAtEnd(e->b, ends.join);
    phi = LLVMBuildPhi(e->b, LLVMTypeOf(ends.v[0]), "");
    LLVMAddIncoming(phi, ends.v, ends.from, ends.n);
    if (op->classes & RV_CLASS_FD) {
        emit_write_float(e, op->rd, phi, false);
    } else {
        emit_write(e, op->rd, (Value){.type = type, .v = phi});
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
        masked_store(e, v, LLVMBuildIntToPtr(e->b, at, e->ptr, ""), 64,
                     e->lane);
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
    emit_branch(e, misaligned(e, a), a->slow, aligned, false);
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
                    (Value){.type = LLVMTypeOf(v) == e->words ? JIT_WORD
                                                           : JIT_WIDE,
                            .v = v},
                    JIT_R2);
    }
}

/* Of a line whose rows are side by side; continues where they are not. */
static void store_line(Emit *e, const SimtOp *op, Value base, LLVMValueRef v,
                       LLVMBasicBlockRef join, LLVMBasicBlockRef slow)
{
    LLVMBasicBlockRef other = if_step(e, base, size_of(op->op));
    Access a = begin_rows(e, op, base, slow);

    LLVMPositionBuilderAtEnd(e->b, a.fast);
    put_rows(e, &a, base, v);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, other);
}

static void store_vector(Emit *e, const SimtOp *op, LLVMValueRef v,
                         LLVMBasicBlockRef join, LLVMBasicBlockRef slow)
{
    Access a = begin(e, op, slow);

    if (a.uniform) {
        store_uniform(e, &a, v, join);
    } else if (a.size < 4) { /* hosts have no such scatters */
        LLVMPositionBuilderAtEnd(e->b, a.fast);
        LLVMBuildBr(e->b, a.slow);
    } else {
        emit_scatter(e, v, host_lanes(e, &a), e->lane);
        LLVMBuildBr(e->b, join);
    }
}

void emit_store(Emit *e, const SimtOp *op)
{
    LLVMValueRef v = stored(e, op);
    Value base = emit_read(e, op->r1);
    LLVMBasicBlockRef join = emit_new(e, "stored");
    LLVMBasicBlockRef slow = emit_new(e, "slow");

    if (mxgpu_jit_line(base.type) && may_step(base, size_of(op->op))) {
        store_line(e, op, base, v, join, slow);
    }
    store_vector(e, op, v, join, slow);
    slow_address(e, op, slow);
    slow_value(e, op, v);
    call(e, true);
    LLVMBuildBr(e->b, join);
    LLVMPositionBuilderAtEnd(e->b, join);
}
