/* SPDX-License-Identifier: MIT */
/*
 * Entry points: the hardware starts one with the address of the argument block
 * (C layout); it loads what the kernel's parameters became under the lp64d
 * calling convention, calls the kernel, which is usually inlined, and ends.
 *
 * How clang lowered a parameter is read off the function's IR type: scalars
 * are themselves; classes of at most two scalars, one of them floating point,
 * are those scalars; other classes of up to 16 bytes are an i64, two i64 or an
 * i128 with their bytes; larger ones are the address of a private copy; those of
 * no size are nothing.
 */
#include "kl.h"

#include <string.h>

#include "mxgpu/isa.h"

typedef struct Entry {
    Kl *kl;
    KlKernel *kernel;
    LLVMBuilderRef b;
    LLVMValueRef block;   /* address of the argument block */
    LLVMTypeRef *params;  /* of the kernel function */
    LLVMValueRef *values; /* passed to it */
    unsigned count, next;
} Entry;

static LLVMTypeRef int_type(Entry *e, unsigned bits)
{
    return LLVMIntTypeInContext(e->kl->ctx, bits);
}

static LLVMValueRef at(Entry *e, LLVMValueRef base, uint64_t offset)
{
    LLVMValueRef index = LLVMConstInt(int_type(e, 64), offset, false);

    return LLVMBuildInBoundsGEP2(e->b, int_type(e, 8), base, &index, 1, "");
}

/* What is known of an address in the block, which is aligned to 16 bytes. */
static unsigned align_of(uint64_t offset, unsigned align)
{
    align = align > 16 ? 16 : align;
    while (align > 1 && offset % align) {
        align /= 2;
    }
    return align;
}

static LLVMValueRef load(Entry *e, LLVMTypeRef type, uint64_t offset,
                         unsigned align)
{
    LLVMValueRef v = LLVMBuildLoad2(e->b, type, at(e, e->block, offset), "");

    LLVMSetAlignment(v, align_of(offset, align));
    return v;
}

/* A private copy of an argument, of at least room bytes. */
static LLVMValueRef copy(Entry *e, const KlArg *arg, uint64_t room)
{
    uint64_t size = arg->layout.size > room ? arg->layout.size : room;
    LLVMTypeRef bytes = LLVMArrayType2(int_type(e, 8), size);
    LLVMValueRef slot = LLVMBuildAlloca(e->b, bytes, "");
    unsigned align = arg->layout.align > 16 ? arg->layout.align : 16;

    LLVMSetAlignment(slot, align);
    LLVMBuildMemCpy(e->b, slot, align, at(e, e->block, arg->offset),
                    align_of(arg->offset, arg->layout.align),
                    LLVMConstInt(int_type(e, 64), arg->layout.size, false));
    return slot;
}

static bool is_int(LLVMTypeRef type, unsigned bits)
{
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(type) == bits;
}

static uint64_t float_size(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
        return 2;
    case LLVMFloatTypeKind:
        return 4;
    case LLVMDoubleTypeKind:
        return 8;
    default:
        return 0;
    }
}

static bool leaf_matches(const KlLeaf *leaf, LLVMTypeRef type)
{
    return leaf->flt ? float_size(type) == leaf->size
                     : is_int(type, leaf->size * 8) ||
                           (leaf->size == 8 &&
                            LLVMGetTypeKind(type) == LLVMPointerTypeKind);
}

static void pass(Entry *e, LLVMValueRef value)
{
    e->values[e->next++] = value;
}

/* A class as its one or two scalars. */
static bool pass_leaves(Entry *e, const KlArg *arg)
{
    const KlLayout *layout = &arg->layout;

    if (layout->leaves > KL_LEAVES || e->next + layout->leaves > e->count) {
        return false;
    }
    for (unsigned i = 0; i < layout->leaves; i++) {
        if (!leaf_matches(&layout->leaf[i], e->params[e->next + i])) {
            return false;
        }
    }
    for (unsigned i = 0; i < layout->leaves; i++) {
        pass(e, load(e, e->params[e->next],
                     arg->offset + layout->leaf[i].offset,
                     layout->leaf[i].size));
    }
    return true;
}

static bool pass_aggregate(Entry *e, const KlArg *arg)
{
    const KlLayout *layout = &arg->layout;
    LLVMTypeRef type;
    bool words, wide;

    if (!layout->size) {
        return true; /* no parameter */
    }
    if (e->next == e->count) {
        return false;
    }
    type = e->params[e->next];
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
        (layout->size > 16 || layout->by_ref)) {
        pass(e, copy(e, arg, 0));
        return true;
    }
    words = LLVMGetTypeKind(type) == LLVMArrayTypeKind &&
            LLVMGetArrayLength2(type) == 2 &&
            is_int(LLVMGetElementType(type), 64);
    wide = words || is_int(type, 128);
    if (wide || (is_int(type, 64) && layout->size <= 8)) {
        LLVMValueRef v = LLVMBuildLoad2(e->b, type,
                                        copy(e, arg, wide ? 16 : 8), "");

        LLVMSetAlignment(v, 8);
        pass(e, v);
        return true;
    }
    return pass_leaves(e, arg);
}

static bool pass_scalar(Entry *e, const KlArg *arg)
{
    const KlLayout *layout = &arg->layout;
    LLVMTypeRef type;

    if (e->next == e->count) {
        return false;
    }
    type = e->params[e->next];
    if (is_int(type, 1)) {
        LLVMValueRef v = load(e, int_type(e, 8), arg->offset, 1);

        pass(e, LLVMBuildTrunc(e->b, v, type, ""));
        return layout->size == 1;
    }
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind && layout->size > 16) {
        pass(e, copy(e, arg, 0)); /* a wide vector */
        return true;
    }
    if (LLVMABISizeOfType(LLVMGetModuleDataLayout(e->kl->module), type) !=
        layout->size) {
        return false;
    }
    pass(e, load(e, type, arg->offset, layout->align));
    return true;
}

/* Copies the attributes at index of the kernel to a call of it. */
static void copy_attributes(LLVMValueRef body, LLVMValueRef call,
                            LLVMAttributeIndex index)
{
    unsigned n = LLVMGetAttributeCountAtIndex(body, index);
    LLVMAttributeRef *attrs = kl_alloc((n + 1) * sizeof(*attrs));

    LLVMGetAttributesAtIndex(body, index, attrs);
    for (unsigned i = 0; i < n; i++) {
        LLVMAddCallSiteAttribute(call, index, attrs[i]);
    }
}

static void add_attribute(Kl *kl, LLVMValueRef fn, LLVMAttributeIndex index,
                          const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMAddAttributeAtIndex(fn, index,
                            LLVMCreateEnumAttribute(kl->ctx, kind, value));
}

static bool has_attribute(LLVMValueRef fn, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    return LLVMGetEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex, kind);
}

/* The same target and code generation attributes as the kernel itself. */
static void entry_attributes(Kl *kl, KlKernel *kernel)
{
    static const char *const strings[] = {
        "target-cpu", "target-features", "frame-pointer", "tune-cpu",
        "no-trapping-math", "stack-protector-buffer-size",
    };

    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
        LLVMAttributeRef a = LLVMGetStringAttributeAtIndex(
            kernel->body, LLVMAttributeFunctionIndex, strings[i],
            strlen(strings[i]));

        if (a) {
            LLVMAddAttributeAtIndex(kernel->entry, LLVMAttributeFunctionIndex,
                                    a);
        }
    }
    add_attribute(kl, kernel->entry, LLVMAttributeFunctionIndex, "convergent",
                  0);
    add_attribute(kl, kernel->entry, LLVMAttributeFunctionIndex, "nounwind",
                  0);
    /* The block is written by the host before the launch, by nobody later. */
    add_attribute(kl, kernel->entry, 1, "noalias", 0);
    add_attribute(kl, kernel->entry, 1, "readonly", 0);
    add_attribute(kl, kernel->entry, 1, "noundef", 0);
    add_attribute(kl, kernel->entry, 1, "align", 16);
    if (kernel->arg_size) {
        add_attribute(kl, kernel->entry, 1, "dereferenceable",
                      kernel->arg_size);
    }
    if (!has_attribute(kernel->body, "noinline") &&
        !has_attribute(kernel->body, "optnone")) {
        add_attribute(kl, kernel->body, LLVMAttributeFunctionIndex,
                      "alwaysinline", 0);
    }
}

static LLVMValueRef asm_call(Kl *kl, LLVMBuilderRef b, const char *text,
                             const char *constraints, LLVMValueRef arg)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(kl->ctx, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(kl->ctx),
                                        &ptr, arg ? 1 : 0, false);
    LLVMValueRef code = LLVMGetInlineAsm(
        type, text, strlen(text), constraints, strlen(constraints), true,
        false, LLVMInlineAsmDialectATT, false);

    return LLVMBuildCall2(b, type, code, &arg, arg ? 1 : 0, "");
}

/* A subprogram of its own, so that an inlined kernel keeps its lines. */
static void entry_debug(Kl *kl, KlKernel *kernel, LLVMBuilderRef b)
{
    LLVMMetadataRef sp = LLVMGetSubprogram(kernel->body);
    LLVMMetadataRef file = LLVMDIScopeGetFile(sp);
    LLVMDIBuilderRef di = LLVMCreateDIBuilder(kl->module);
    LLVMMetadataRef type, entry;
    size_t len = strlen(kernel->name);

    LLVMDIBuilderCreateCompileUnit(di, LLVMDWARFSourceLanguageC_plus_plus_14, file,
                                   "mx-kernel-link", 14, true, "", 0, 0, "", 0,
                                   LLVMDWARFEmissionLineTablesOnly, 0, false,
                                   false, "", 0, "", 0);
    type = LLVMDIBuilderCreateSubroutineType(di, file, NULL, 0,
                                             LLVMDIFlagZero);
    entry = LLVMDIBuilderCreateFunction(di, file, kernel->name, len,
                                        kernel->name, len, file, kernel->line,
                                        type, false, true, kernel->line,
                                        LLVMDIFlagArtificial, true);
    LLVMSetSubprogram(kernel->entry, entry);
    LLVMSetCurrentDebugLocation2(
        b, LLVMDIBuilderCreateDebugLocation(kl->ctx, kernel->line, 0, entry,
                                            NULL));
    LLVMDIBuilderFinalize(di);
    LLVMDisposeDIBuilder(di);
}

bool kl_make_entry(Kl *kl, KlKernel *kernel)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(kl->ctx, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(kl->ctx), &ptr,
                                        1, false);
    LLVMTypeRef body_type = LLVMGlobalGetValueType(kernel->body);
    Entry e = { .kl = kl, .kernel = kernel };
    char *body_name = kl_printf("%s.body", kernel->name);
    LLVMValueRef call;

    LLVMSetValueName2(kernel->body, body_name, strlen(body_name));
    kernel->entry = LLVMAddFunction(kl->module, kernel->name, type);
    entry_attributes(kl, kernel);
    e.b = LLVMCreateBuilderInContext(kl->ctx);
    e.block = LLVMGetParam(kernel->entry, 0);
    e.count = LLVMCountParamTypes(body_type);
    e.params = kl_alloc((e.count + 1) * sizeof(*e.params));
    e.values = kl_alloc((e.count + 1) * sizeof(*e.values));
    LLVMGetParamTypes(body_type, e.params);
    LLVMPositionBuilderAtEnd(
        e.b, LLVMAppendBasicBlockInContext(kl->ctx, kernel->entry, ""));
    if (kl->debug) {
        entry_debug(kl, kernel, e.b);
    }
    for (unsigned i = 0; i < kernel->arg_count; i++) {
        const KlArg *arg = &kernel->args[i];

        if (!(arg->layout.aggregate ? pass_aggregate(&e, arg)
                                    : pass_scalar(&e, arg))) {
            kl_kernel_error(kernel, "parameter %u: its type cannot be passed "
                            "to a kernel", i + 1);
            return false;
        }
    }
    if (e.next != e.count) {
        kl_kernel_error(kernel, "its parameters cannot be passed to a kernel");
        return false;
    }
    call = LLVMBuildCall2(e.b, body_type, kernel->body, e.values, e.count, "");
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(kernel->body));
    for (unsigned i = 1; i <= e.count; i++) {
        copy_attributes(kernel->body, call, i);
    }
    asm_call(kl, e.b, ".insn r 0x0b, 0, 0, x0, x0, x0", "~{memory}", NULL);
    /* Never reached, but the optimiser takes what leads to an unreachable
     * instruction for cold: it would inline nothing. */
    LLVMBuildRetVoid(e.b);
    LLVMDisposeBuilder(e.b);
    return true;
}

/*
 * Nothing calls an entry point, so it need not keep registers as callees do. LLVM
 * leaves this out where it allocates registers over functions, of those that are
 * local, whose address is not taken and that do not recur. So their symbols are
 * made global, and their addresses known, where LLVM does not look.
 */
LLVMValueRef kl_entry_address(Kl *kl, const KlKernel *kernel)
{
    char *alias = kl_printf("\01.Lentry.%s", kernel->name);
    char *text = kl_printf(".globl \"%s\"\n.set \"%s\", \"%s\"\n",
                           kernel->name, alias + 1, kernel->name);

    LLVMAppendModuleInlineAsm(kl->module, text, strlen(text));
    return LLVMAddGlobal(kl->module, LLVMInt8TypeInContext(kl->ctx), alias);
}

/* A function without instructions of its own that calls the entry points: LLVM
 * generates code for local ones that are called. The linker leaves it out. */
static void call_entries(Kl *kl)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(kl->ctx, 0);
    LLVMTypeRef nothing = LLVMVoidTypeInContext(kl->ctx);
    LLVMTypeRef type = LLVMFunctionType(nothing, &ptr, 1, false);
    LLVMValueRef null = LLVMConstNull(ptr);
    LLVMValueRef all = LLVMAddFunction(kl->module, "__mx_kernel_calls",
                                       LLVMFunctionType(nothing, NULL, 0, false));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(kl->ctx);

    LLVMSetSection(all, ".text.unused");
    add_attribute(kl, all, LLVMAttributeFunctionIndex, "naked", 0);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(kl->ctx, all, ""));
    for (unsigned i = 0; i < kl->count; i++) {
        LLVMValueRef call = LLVMBuildCall2(b, type, kl->kernels[i].entry, &null,
                                           1, "");

        LLVMSetTailCallKind(call, LLVMTailCallKindNoTail);
    }
    LLVMBuildUnreachable(b);
    LLVMDisposeBuilder(b);
}

/* Calls of other functions name them in another way, which LLVM does not look
 * behind: it would take from them what registers they keep, and for this target it
 * gets that wrong. */
static void hide_function(Kl *kl, LLVMValueRef fn)
{
    char *name = kl_printf("\01.Lcalled.%s", LLVMGetValueName(fn));
    LLVMValueRef alias = NULL;

    for (LLVMUseRef use = LLVMGetFirstUse(fn), next; use; use = next) {
        LLVMValueRef call = LLVMIsACallInst(LLVMGetUser(use));

        next = LLVMGetNextUse(use);
        if (!call || LLVMGetCalledValue(call) != fn) {
            continue;
        }
        if (!alias) {
            alias = LLVMAddAlias2(kl->module, LLVMGlobalGetValueType(fn), 0, fn,
                                  name);
            LLVMSetLinkage(alias, LLVMPrivateLinkage);
        }
        LLVMSetOperand(call, LLVMGetNumOperands(call) - 1, alias);
    }
}

void kl_free_registers(Kl *kl)
{
    LLVMValueRef fn = LLVMGetFirstFunction(kl->module);

    for (; fn; fn = LLVMGetNextFunction(fn)) {
        if (LLVMGetLinkage(fn) == LLVMInternalLinkage) { /* no entry point */
            hide_function(kl, fn);
        }
    }
    for (unsigned i = 0; i < kl->count; i++) {
        fn = kl->kernels[i].entry;
        LLVMSetLinkage(fn, LLVMInternalLinkage);
        add_attribute(kl, fn, LLVMAttributeFunctionIndex, "norecurse", 0);
    }
    call_entries(kl);
}

void kl_add_tls(Kl *kl, KlKernel *kernel)
{
    LLVMBasicBlockRef first = LLVMGetEntryBasicBlock(kernel->entry);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(kl->ctx);
    LLVMTypeRef i8 = LLVMInt8TypeInContext(kl->ctx);
    LLVMValueRef block;

    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(first));
    block = LLVMBuildAlloca(b, LLVMArrayType2(i8, KL_TLS_BYTES), "tls");
    LLVMSetAlignment(block, 16);
    LLVMBuildMemSet(b, block, LLVMConstNull(i8),
                    LLVMConstInt(LLVMInt64TypeInContext(kl->ctx),
                                 KL_TLS_BYTES, false),
                    16);
    asm_call(kl, b, "mv tp, $0", "r,~{memory}", block);
    LLVMDisposeBuilder(b);
    kernel->has_tls = true;
}
