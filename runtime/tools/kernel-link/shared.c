/* SPDX-License-Identifier: MIT */
/*
 * __shared__ variables. clang leaves them as globals whose initialiser is undef,
 * extern arrays as weak declarations, by an attribute that __shared__ gives;
 * they become addresses in the shared window. Until the optimiser has run they
 * are external objects to it: distinct from each other, unknown contents, for
 * otherwise it would take them for memory of one thread. window.c makes the
 * addresses.
 *
 * A variable that one kernel reaches lies where that kernel has room; one that
 * several reach has one offset in all of them. extern __shared__ arrays all
 * begin at the same offset behind the static variables of every kernel that
 * reaches one.
 */
#include "kl.h"

#include <stdlib.h>
#include <string.h>

#define STATIC_PREFIX "__mx_shared."
#define DYNAMIC "__mx_shared_dynamic"
#define DYNAMIC_ALIGN 16

typedef struct Var {
    LLVMValueRef global;
    uint64_t size, offset;
    uint32_t align;
    unsigned users;
    bool *reached; /* by kernel */
} Var;

/* Reading a thread's coordinates is no convergent operation, though every
 * asm is marked as one: without the mark equal reads are joined. */
static void relax_csr_reads(Kl *kl)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("convergent", 10);
    LLVMValueRef fn = LLVMGetFirstFunction(kl->module);

    for (; fn; fn = LLVMGetNextFunction(fn)) {
        LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn);

        for (; bb; bb = LLVMGetNextBasicBlock(bb)) {
            LLVMValueRef i = LLVMGetFirstInstruction(bb);

            for (; i; i = LLVMGetNextInstruction(i)) {
                LLVMValueRef callee = LLVMIsACallInst(i)
                                          ? LLVMGetCalledValue(i)
                                          : NULL;
                size_t len;

                if (callee && LLVMIsAInlineAsm(callee) &&
                    !LLVMGetInlineAsmHasSideEffects(callee) &&
                    !strncmp(LLVMGetInlineAsmAsmString(callee, &len), "csrr ",
                             5)) {
                    LLVMRemoveCallSiteEnumAttribute(
                        i, LLVMAttributeFunctionIndex, kind);
                }
            }
        }
    }
}

static LLVMValueRef dynamic_array(Kl *kl)
{
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(kl->ctx), 0);
    LLVMValueRef v = LLVMGetNamedGlobal(kl->module, DYNAMIC);

    if (!v) {
        v = LLVMAddGlobal(kl->module, type, DYNAMIC);
        LLVMSetAlignment(v, DYNAMIC_ALIGN);
    }
    return v;
}

/* texture<> and surface<> variables, which derive from these. */
static bool is_reference(LLVMValueRef global)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(global);
    const char *name = NULL;

    if (LLVMGetTypeKind(type) == LLVMStructTypeKind &&
        LLVMCountStructElementTypes(type) == 1) {
        type = LLVMStructGetTypeAtIndex(type, 0);
        name = LLVMGetTypeKind(type) == LLVMStructTypeKind
                   ? LLVMGetStructName(type)
                   : NULL;
    }
    return name && (!strncmp(name, "struct.textureReference", 23) ||
                    !strncmp(name, "struct.surfaceReference", 23));
}

/* The host writes it, wherever it is declared; clang leaves it undefined. */
static void make_reference(LLVMValueRef global)
{
    LLVMSetInitializer(global, LLVMConstNull(LLVMGlobalGetValueType(global)));
    LLVMSetExternallyInitialized(global, true);
    LLVMSetLinkage(global, LLVMExternalLinkage);
    LLVMSetVisibility(global, LLVMDefaultVisibility);
}

static bool is_static(LLVMValueRef global)
{
    LLVMValueRef init = LLVMGetInitializer(global);

    /* Constant objects of empty classes are undef too. */
    return init && LLVMIsAUndefValue(init) && !LLVMIsGlobalConstant(global);
}

static bool is_dynamic(LLVMValueRef global)
{
    return LLVMIsDeclaration(global) &&
           LLVMGetLinkage(global) == LLVMExternalWeakLinkage;
}

static void make_dynamic(Kl *kl, LLVMValueRef global)
{
    LLVMValueRef dyn = dynamic_array(kl);

    if (LLVMGetAlignment(global) > LLVMGetAlignment(dyn)) {
        LLVMSetAlignment(dyn, LLVMGetAlignment(global));
    }
    LLVMReplaceAllUsesWith(global, dyn);
    LLVMDeleteGlobal(global);
}

static void make_external(LLVMValueRef global, unsigned n)
{
    char *name = kl_printf(STATIC_PREFIX "%u", n);

    LLVMGlobalClearMetadata(global);
    LLVMSetInitializer(global, NULL);
    LLVMSetLinkage(global, LLVMExternalLinkage);
    LLVMSetVisibility(global, LLVMDefaultVisibility);
    LLVMSetComdat(global, NULL);
    LLVMSetValueName2(global, name, strlen(name));
}

void kl_shared_prepare(Kl *kl)
{
    LLVMValueRef v, next;
    LLVMValueRef used = LLVMGetNamedGlobal(kl->module, "llvm.compiler.used");
    unsigned n = 0;

    if (used) {
        LLVMDeleteGlobal(used);
    }
    relax_csr_reads(kl);
    for (v = LLVMGetFirstGlobal(kl->module); v; v = next) {
        next = LLVMGetNextGlobal(v);
        if (is_static(v) && is_reference(v)) {
            make_reference(v);
        } else if (is_static(v)) {
            make_external(v, n++);
        } else if (is_dynamic(v)) {
            make_dynamic(kl, v);
        }
    }
}

void kl_mark_users(Kl *kl, const KlReach *reach, LLVMValueRef value,
                   bool *reached)
{
    LLVMUseRef use = LLVMGetFirstUse(value);

    for (; use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        LLVMValueRef fn = NULL;

        if (LLVMIsAInstruction(user)) {
            fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
        } else if (!LLVMIsAGlobalVariable(user)) {
            kl_mark_users(kl, reach, user, reached);
            continue;
        }
        /* A pointer in a variable may be used by anyone. */
        for (unsigned k = 0; k < kl->count; k++) {
            reached[k] |= !fn || kl_reaches(reach, k, fn);
        }
    }
}

static int by_users(const void *a, const void *b)
{
    const Var *x = a, *y = b;

    if (x->users != y->users) {
        return x->users > y->users ? -1 : 1;
    }
    if (x->align != y->align) {
        return x->align > y->align ? -1 : 1;
    }
    return x->size < y->size ? 1 : x->size > y->size ? -1 : 0;
}

static uint64_t align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) / align * align;
}

/* The same offset for every kernel that reaches var: behind all of theirs. */
static void place(Kl *kl, Var *var)
{
    for (unsigned k = 0; k < kl->count; k++) {
        if (var->reached[k] && kl->kernels[k].static_shared > var->offset) {
            var->offset = kl->kernels[k].static_shared;
        }
    }
    var->offset = align_up(var->offset, var->align);
    for (unsigned k = 0; k < kl->count; k++) {
        if (var->reached[k]) {
            kl->kernels[k].static_shared = var->offset + var->size;
        }
    }
}

static bool check_sizes(Kl *kl)
{
    bool ok = true;

    for (unsigned k = 0; k < kl->count; k++) {
        if (kl->kernels[k].static_shared > MXGPU_SHARED_MAX) {
            kl_kernel_error(&kl->kernels[k],
                            "%llu bytes of __shared__ variables, at most %llu "
                            "are possible",
                            (unsigned long long)kl->kernels[k].static_shared,
                            (unsigned long long)MXGPU_SHARED_MAX);
            ok = false;
        }
    }
    return ok;
}

bool kl_shared_place(Kl *kl, const KlReach *reach)
{
    LLVMTargetDataRef dl = LLVMGetModuleDataLayout(kl->module);
    LLVMValueRef v;
    Var *vars, dyn = { 0 };
    unsigned n = 0, i = 0;
    size_t len;

    for (v = LLVMGetFirstGlobal(kl->module); v; v = LLVMGetNextGlobal(v)) {
        n++;
    }
    vars = kl_alloc((n + 1) * sizeof(*vars));
    for (v = LLVMGetFirstGlobal(kl->module); v; v = LLVMGetNextGlobal(v)) {
        const char *name = LLVMGetValueName2(v, &len);
        Var var = { .global = v, .align = LLVMGetAlignment(v) };

        var.align = var.align ? var.align : 1;
        var.size = LLVMABISizeOfType(dl, LLVMGlobalGetValueType(v));
        var.reached = kl_alloc(kl->count + 1);
        kl_mark_users(kl, reach, v, var.reached);
        for (unsigned k = 0; k < kl->count; k++) {
            var.users += var.reached[k];
        }
        if (!strcmp(name, DYNAMIC)) {
            dyn = var;
        } else if (!strncmp(name, STATIC_PREFIX, strlen(STATIC_PREFIX))) {
            vars[i++] = var;
        }
    }
    qsort(vars, i, sizeof(*vars), by_users);
    for (unsigned j = 0; j < i; j++) {
        place(kl, &vars[j]);
        kl_window_resolve(kl, vars[j].global, vars[j].offset);
    }
    if (dyn.global) {
        place(kl, &dyn);
        kl_window_resolve(kl, dyn.global, dyn.offset);
    }
    return check_sizes(kl);
}
