/* SPDX-License-Identifier: MIT */
/* Values of registers in LLVM. */
#include "values.h"

#include "simt/jit/types.h"

#include <stddef.h>
#include <string.h>

static LLVMTypeRef several(Emit *e, LLVMTypeRef one)
{
    return e->n == 1 ? one : LLVMVectorType(one, e->n);
}

void emit_types(Emit *e)
{
    e->i1 = LLVMInt1TypeInContext(e->context);
    e->i8 = LLVMInt8TypeInContext(e->context);
    e->i32 = LLVMInt32TypeInContext(e->context);
    e->i64 = LLVMInt64TypeInContext(e->context);
    e->ptr = LLVMPointerTypeInContext(e->context, 0);
    e->words = several(e, e->i32);
    e->wides = several(e, e->i64);
    e->singles = several(e, LLVMFloatTypeInContext(e->context));
    e->doubles = several(e, LLVMDoubleTypeInContext(e->context));
    e->bits = several(e, e->i1);
    e->ptrs = several(e, e->ptr);
}

LLVMValueRef emit_i32(Emit *e, uint32_t v)
{
    return LLVMConstInt(e->i32, v, 0);
}

LLVMValueRef emit_i64(Emit *e, uint64_t v)
{
    return LLVMConstInt(e->i64, v, 0);
}

LLVMValueRef emit_splat(Emit *e, LLVMValueRef v, LLVMTypeRef type)
{
    LLVMTypeRef mask;
    LLVMValueRef one;

    if (e->n == 1) {
        return v;
    }
    one = LLVMBuildInsertElement(e->b, LLVMGetPoison(type), v, emit_i32(e, 0),
                                 "");
    mask = LLVMVectorType(e->i32, e->n);

    return LLVMBuildShuffleVector(e->b, one, LLVMGetPoison(type),
                                  LLVMConstNull(mask), "");
}

LLVMValueRef emit_vector(Emit *e, LLVMTypeRef type, uint64_t v)
{
    LLVMValueRef all[LANES];

    if (e->n == 1) {
        return LLVMConstInt(type, v, 0);
    }
    for (unsigned i = 0; i < e->n; i++) {
        all[i] = LLVMConstInt(LLVMGetElementType(type), v, 0);
    }
    return LLVMConstVector(all, e->n);
}

LLVMValueRef emit_intrinsic(Emit *e, const char *name, LLVMTypeRef type,
                            unsigned n, LLVMValueRef *args)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, &type, 1);

    return LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, args, n, "");
}

unsigned emit_shape(JitType type)
{
    return mxgpu_jit_uniform(type) ? 0
           : mxgpu_jit_line(type)  ? 1
           : type == JIT_WORD      ? 2
                                   : 3;
}

bool emit_uniform(Value v)
{
    return mxgpu_jit_uniform(v.type);
}

bool emit_is_word(Value v)
{
    return v.type == JIT_WORD || v.type == JIT_UNIFORM_WORD ||
           v.type == JIT_LINE_WORD;
}

Value emit_line(Emit *e, Value v)
{
    LLVMValueRef zero = emit_i64(e, 0);

    return emit_uniform(v) ? (Value){v.type, v.v, zero, zero} : v;
}

/* v of all lanes, each as often as its column (or its row) says. */
static LLVMValueRef sloped(Emit *e, LLVMValueRef v, LLVMTypeRef type, bool row)
{
    LLVMTypeRef one = LLVMGetElementType(type);
    unsigned shift = e->r->row_shift;
    LLVMValueRef ramp[LANES];

    for (unsigned i = 0; i < LANES; i++) {
        ramp[i] = LLVMConstInt(one, row ? i >> shift : i & ((1u << shift) - 1),
                               0);
    }
    v = LLVMBuildTruncOrBitCast(e->b, v, one, "");
    return LLVMBuildMul(e->b, emit_splat(e, v, type),
                        LLVMConstVector(ramp, LANES), "");
}

/* The lanes of a line. */
static LLVMValueRef line_lanes(Emit *e, Value l, LLVMTypeRef type)
{
    LLVMValueRef v = LLVMBuildTruncOrBitCast(e->b, l.v,
                                             LLVMGetElementType(type), "");

    v = LLVMBuildAdd(e->b, emit_splat(e, v, type),
                     sloped(e, l.step, type, false), "");
    return e->r->row_shift == 6
               ? v
               : LLVMBuildAdd(e->b, v, sloped(e, l.row, type, true), "");
}

LLVMValueRef emit_low(Emit *e, Value v)
{
    if (v.type == JIT_WORD) {
        return v.v;
    }
    if (mxgpu_jit_line(v.type)) {
        return line_lanes(e, v, e->words);
    }
    if (v.type == JIT_WIDE) {
        return LLVMBuildTrunc(e->b, v.v, e->words, "");
    }
    return emit_splat(e, LLVMBuildTrunc(e->b, v.v, e->i32, ""), e->words);
}

LLVMValueRef emit_as(Emit *e, Value v, JitType type)
{
    switch (type) {
    case JIT_WORD:
        return emit_low(e, v);
    case JIT_WIDE:
        return v.type == JIT_WIDE       ? v.v
               : v.type == JIT_WORD     ? LLVMBuildSExt(e->b, v.v, e->wides, "")
               : mxgpu_jit_line(v.type) ? line_lanes(e, v, e->wides)
                                        : emit_splat(e, v.v, e->wides);
    default:
        return v.v;
    }
}

/* Planes of registers are aligned to 64 bytes, whatever LLVM's types are. */
static unsigned alignment(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMVectorTypeKind:
        return 64;
    case LLVMFloatTypeKind:
        return 4;
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) / 8;
    default: /* pointers, doubles */
        return 8;
    }
}

LLVMValueRef emit_alloca(Emit *e, LLVMTypeRef type)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    LLVMValueRef v;

    LLVMPositionBuilderBefore(
        e->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(e->fn)));
    v = LLVMBuildAlloca(e->b, type, "");
    LLVMPositionBuilderAtEnd(e->b, here);
    return v;
}

LLVMValueRef emit_room(Emit *e, LLVMTypeRef type)
{
    LLVMValueRef v = emit_alloca(e, type);

    LLVMSetAlignment(v, alignment(type));
    return v;
}

LLVMValueRef emit_element(Emit *e, LLVMTypeRef type, LLVMValueRef room,
                          LLVMValueRef index)
{
    return LLVMBuildGEP2(e->b, type, room, &index, 1, "");
}

LLVMValueRef emit_at(Emit *e, LLVMValueRef base, size_t offset)
{
    LLVMValueRef at = emit_i64(e, offset);

    return LLVMBuildGEP2(e->b, e->i8, base, &at, 1, "");
}

LLVMValueRef emit_load_at(Emit *e, LLVMTypeRef type, LLVMValueRef at)
{
    LLVMValueRef v = LLVMBuildLoad2(e->b, type, at, "");

    LLVMSetAlignment(v, alignment(type));
    return v;
}

void emit_store_at(Emit *e, LLVMValueRef v, LLVMValueRef at)
{
    LLVMSetAlignment(LLVMBuildStore(e->b, v, at), alignment(LLVMTypeOf(v)));
}

LLVMValueRef emit_get(Emit *e, LLVMTypeRef type, LLVMValueRef base,
                      size_t offset)
{
    return emit_load_at(e, type, emit_at(e, base, offset));
}

void emit_set(Emit *e, LLVMValueRef v, LLVMValueRef base, size_t offset)
{
    emit_store_at(e, v, emit_at(e, base, offset));
}

/* ---- lanes */

/* pext or pdep by the chosen lanes. */
static LLVMValueRef by_chosen(Emit *e, const char *name, LLVMValueRef v)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, NULL, 0);

    return LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn,
                          (LLVMValueRef[]){v, e->chosen}, 2, "");
}

LLVMValueRef emit_bits(Emit *e, LLVMValueRef mask)
{
    if (e->n == 1) { /* nothing is done for nobody */
        return LLVMConstInt(e->i1, 1, 0);
    }
    if (e->n < LANES) {
        mask = by_chosen(e, "llvm.x86.bmi.pext.64", mask);
        mask = LLVMBuildTrunc(e->b, mask,
                              LLVMIntTypeInContext(e->context, e->n), "");
    }
    return LLVMBuildBitCast(e->b, mask, e->bits, "");
}

static LLVMValueRef as_number(Emit *e, LLVMValueRef bits)
{
    return LLVMBuildBitCast(e->b, bits, LLVMIntTypeInContext(e->context, e->n),
                            "");
}

LLVMValueRef emit_mask(Emit *e, LLVMValueRef bits)
{
    LLVMValueRef mask;

    if (e->n == 1) {
        return LLVMBuildSelect(e->b, bits, e->chosen, emit_i64(e, 0), "");
    }
    mask = as_number(e, bits);
    if (e->n == LANES) {
        return mask;
    }
    return by_chosen(e, "llvm.x86.bmi.pdep.64",
                     LLVMBuildZExt(e->b, mask, e->i64, ""));
}

LLVMValueRef emit_any(Emit *e, LLVMValueRef bits)
{
    LLVMValueRef v = as_number(e, bits);

    return LLVMBuildICmp(e->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

static LLVMValueRef by_addresses(Emit *e, const char *name, LLVMTypeRef type,
                                 LLVMValueRef *args)
{
    LLVMTypeRef types[] = {type, e->ptrs};
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, types, 2);

    return LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, args, 4, "");
}

static LLVMValueRef as_pointers(Emit *e, LLVMValueRef at)
{
    return LLVMTypeOf(at) == e->wides ? LLVMBuildIntToPtr(e->b, at, e->ptrs, "")
                                      : at;
}

LLVMValueRef emit_gather(Emit *e, LLVMTypeRef type, LLVMValueRef at,
                         LLVMValueRef bits)
{
    LLVMValueRef args[] = {as_pointers(e, at),
                           emit_i32(e, 1), bits, LLVMConstNull(type)}, v;

    if (e->n == 1) {
        v = LLVMBuildLoad2(e->b, type, args[0], "");
        LLVMSetAlignment(v, 1);
        return v;
    }
    return by_addresses(e, "llvm.masked.gather", type, args);
}

void emit_scatter(Emit *e, LLVMValueRef v, LLVMValueRef at, LLVMValueRef bits)
{
    LLVMValueRef args[] = {v, as_pointers(e, at),
                           emit_i32(e, 1), bits};

    if (e->n == 1) {
        LLVMSetAlignment(LLVMBuildStore(e->b, v, args[1]), 1);
        return;
    }
    by_addresses(e, "llvm.masked.scatter", LLVMTypeOf(v), args);
}

void emit_masked_store(Emit *e, LLVMValueRef v, LLVMValueRef at,
                       unsigned alignment, LLVMValueRef mask)
{
    LLVMTypeRef types[] = {LLVMTypeOf(v), e->ptr};
    unsigned id = LLVMLookupIntrinsicID("llvm.masked.store", 17);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, types, 2);
    LLVMValueRef args[] = {v, at, emit_i32(e, alignment), mask};

    LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, args, 4, "");
}

LLVMValueRef emit_masked_load(Emit *e, LLVMTypeRef type, LLVMValueRef at,
                              LLVMValueRef mask)
{
    LLVMTypeRef types[] = {type, e->ptr};
    unsigned id = LLVMLookupIntrinsicID("llvm.masked.load", 16);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, types, 2);
    LLVMValueRef args[] = {at, emit_i32(e, 1), mask, LLVMConstNull(type)};

    return LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, args, 4, "");
}

LLVMValueRef emit_each(Emit *e, LLVMValueRef at, unsigned apart)
{
    LLVMValueRef ramp[LANES], far;

    for (unsigned i = 0; i < LANES; i++) {
        ramp[i] = emit_i64(e, apart * i);
    }
    far = e->n == LANES
              ? LLVMConstVector(ramp, LANES)
              : LLVMBuildMul(e->b, e->which, emit_vector(e, e->wides, apart),
                             "");
    return LLVMBuildAdd(e->b, emit_splat(e, at, e->wides), far, "");
}

static LLVMValueRef chosen_at(Emit *e, LLVMTypeRef type, size_t offset)
{
    bool word = type == e->words || type == e->singles;
    LLVMValueRef at = emit_at(e, e->w, offset);

    return emit_each(e, LLVMBuildPtrToInt(e->b, at, e->i64, ""), word ? 4 : 8);
}

LLVMValueRef emit_get_lanes(Emit *e, LLVMTypeRef type, size_t offset)
{
    if (e->n == LANES) {
        return emit_get(e, type, e->w, offset);
    }
    return emit_gather(e, type, chosen_at(e, type, offset),
                       LLVMConstAllOnes(e->bits));
}

void emit_set_lanes(Emit *e, LLVMValueRef v, size_t offset)
{
    if (e->n == LANES) {
        emit_set(e, v, e->w, offset);
        return;
    }
    /* Behind the last chosen lane it is anything. */
    emit_scatter(e, v, chosen_at(e, LLVMTypeOf(v), offset),
                 emit_bits(e, e->chosen));
}

static void set_form(Emit *e, unsigned reg, LLVMValueRef form)
{
    emit_set(e, form, e->w, offsetof(MxgpuWarp, form) + reg);
}

void emit_set_form(Emit *e, unsigned reg, unsigned form)
{
    set_form(e, reg, LLVMConstInt(e->i8, form, 0));
}

void emit_set_line(Emit *e, unsigned reg, Value v)
{
    const size_t at = offsetof(MxgpuWarp, line) + reg * sizeof(SimtLine);
    LLVMValueRef zero = emit_i64(e, 0), uniform;

    v = emit_line(e, v);
    uniform = LLVMBuildICmp(e->b, LLVMIntEQ,
                            LLVMBuildOr(e->b, v.step, v.row, ""), zero, "");
    emit_set(e, v.v, e->w, at + offsetof(SimtLine, base));
    emit_set(e, v.step, e->w, at + offsetof(SimtLine, step));
    emit_set(e, v.row, e->w, at + offsetof(SimtLine, row));
    emit_set(e, zero, e->w, at + offsetof(SimtLine, warp));
    set_form(e, reg,
             LLVMBuildSelect(e->b, uniform,
                             LLVMConstInt(e->i8, FORM_LINE | FORM_UNIFORM, 0),
                             LLVMConstInt(e->i8, FORM_LINE, 0), ""));
}

void emit_memory_barrier(Emit *e)
{
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(e->context), NULL, 0, 0);
    LLVMValueRef nothing = LLVMGetInlineAsm(type, "", 0, "~{memory}", 9, 1, 0,
                                            LLVMInlineAsmDialectATT, 0);

    LLVMBuildCall2(e->b, type, nothing, NULL, 0, "");
}

LLVMValueRef emit_hidden(Emit *e, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMFunctionType(e->i64, &e->i64, 1, 0);
    LLVMValueRef same = LLVMGetInlineAsm(type, "", 0, "=r,0", 4, 0, 0,
                                         LLVMInlineAsmDialectATT, 0);

    return LLVMBuildCall2(e->b, type, same, &v, 1, "");
}

LLVMBasicBlockRef emit_new(Emit *e, const char *name)
{
    return LLVMAppendBasicBlockInContext(e->context, e->fn, name);
}

void emit_branch(Emit *e, LLVMValueRef bit, LLVMBasicBlockRef yes,
                 LLVMBasicBlockRef no, bool usual)
{
    LLVMValueRef branch = LLVMBuildCondBr(e->b, bit, yes, no);
    LLVMMetadataRef weights[] = {
        LLVMMDStringInContext2(e->context, "branch_weights", 14),
        LLVMValueAsMetadata(emit_i32(e, usual ? 2000 : 1)),
        LLVMValueAsMetadata(emit_i32(e, usual ? 1 : 2000)),
    };
    LLVMMetadataRef all = LLVMMDNodeInContext2(e->context, weights, 3);

    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->context, "prof", 4),
                    LLVMMetadataAsValue(e->context, all));
}
