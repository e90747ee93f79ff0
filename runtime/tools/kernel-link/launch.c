/* SPDX-License-Identifier: MIT */
/*
 * Launches in device code. mxcc leaves a call of __mcLaunchSet, with the
 * address of what was between <<< and >>>, and then a call of the kernel, as if
 * it were a function, in the same function. The arguments of that call are
 * stored as the kernel's entry point reads them (entry.c is the other half of
 * this file), and __mx_launch_grid of the device's library gets their address,
 * that of the configuration, and that of the kernel's descriptor.
 */
#include "kl.h"

#include <string.h>

#define SET    "__mcLaunchSet"
#define LAUNCH "__mx_launch_grid"
#define DESCS  "__mx_launch_descs" /* until there are descriptors */

typedef struct Pack {
    Kl *kl;
    const KlKernel *kernel;
    LLVMBuilderRef b;
    LLVMValueRef call;  /* of the kernel */
    LLVMValueRef block; /* where the arguments go */
    unsigned count, next;
} Pack;

static LLVMTypeRef ptr_type(Kl *kl)
{
    return LLVMPointerTypeInContext(kl->ctx, 0);
}

static LLVMValueRef int64(Kl *kl, uint64_t value)
{
    return LLVMConstInt(LLVMInt64TypeInContext(kl->ctx), value, false);
}

/* A variable of the function, made in its first block. */
static LLVMValueRef variable(Kl *kl, LLVMValueRef fn, LLVMTypeRef type)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(kl->ctx);
    LLVMValueRef v;

    LLVMPositionBuilderBefore(
        b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn)));
    v = LLVMBuildAlloca(b, type, "");
    LLVMSetAlignment(v, 16);
    LLVMDisposeBuilder(b);
    return v;
}

static LLVMValueRef at(Pack *p, uint64_t offset)
{
    LLVMValueRef index = int64(p->kl, offset);

    return LLVMBuildInBoundsGEP2(p->b, LLVMInt8TypeInContext(p->kl->ctx),
                                 p->block, &index, 1, "");
}

/* The next operand of the call; NULL: there is none. */
static LLVMValueRef operand(Pack *p)
{
    return p->next < p->count ? LLVMGetOperand(p->call, p->next++) : NULL;
}

static void store(Pack *p, LLVMValueRef value, uint64_t offset)
{
    LLVMSetAlignment(LLVMBuildStore(p->b, value, at(p, offset)), 1);
}

static void copy(Pack *p, LLVMValueRef from, const KlArg *arg)
{
    LLVMBuildMemCpy(p->b, at(p, arg->offset), 1, from, 1,
                    int64(p->kl, arg->layout.size));
}

static bool is_pointer(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

/* The bytes of a class in one or two integers. */
static bool is_words(LLVMValueRef v, uint64_t size)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    unsigned bits = LLVMGetTypeKind(type) == LLVMIntegerTypeKind
                        ? LLVMGetIntTypeWidth(type) : 0;

    return LLVMGetTypeKind(type) == LLVMArrayTypeKind || bits == 128 ||
           (bits == 64 && size <= 8);
}

static bool pack_aggregate(Pack *p, const KlArg *arg)
{
    const KlLayout *layout = &arg->layout;
    LLVMValueRef v, slot;

    if (!layout->size) {
        return true; /* no parameter */
    }
    v = operand(p);
    if (!v) {
        return false;
    }
    if (is_pointer(v) && (layout->size > 16 || layout->by_ref)) {
        copy(p, v, arg);
        return true;
    }
    /* As entry.c: of one leaf that is 8 bytes, both are the same. */
    if (is_words(v, layout->size)) {
        slot = variable(p->kl, LLVMGetBasicBlockParent(
                                   LLVMGetInstructionParent(p->call)),
                        LLVMTypeOf(v));
        LLVMBuildStore(p->b, v, slot);
        copy(p, slot, arg);
        return true;
    }
    if (layout->leaves > KL_LEAVES) {
        return false;
    }
    for (unsigned i = 0; i < layout->leaves; i++) {
        v = i ? operand(p) : v;
        if (!v) {
            return false;
        }
        store(p, v, arg->offset + layout->leaf[i].offset);
    }
    return true;
}

static bool pack_scalar(Pack *p, const KlArg *arg)
{
    LLVMValueRef v = operand(p);
    LLVMTypeRef type = v ? LLVMTypeOf(v) : NULL;

    if (!v) {
        return false;
    }
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
        LLVMGetIntTypeWidth(type) == 1) {
        v = LLVMBuildZExt(p->b, v, LLVMInt8TypeInContext(p->kl->ctx), "");
    } else if (is_pointer(v) && arg->layout.size > 16) {
        copy(p, v, arg); /* a wide vector */
        return true;
    }
    store(p, v, arg->offset);
    return true;
}

/* The descriptor of a kernel, in the table that is made last. */
static LLVMValueRef descriptor(Kl *kl, const KlKernel *kernel)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(kl->ctx);
    LLVMValueRef table = LLVMGetNamedGlobal(kl->module, DESCS), index;

    if (!table) {
        table = LLVMAddGlobal(kl->module, i8, DESCS);
    }
    index = int64(kl, (uint64_t)(kernel - kl->kernels) *
                          sizeof(struct mxgpu_kernel_desc));
    return LLVMConstInBoundsGEP2(i8, table, &index, 1);
}

static LLVMValueRef launch_function(Kl *kl, LLVMTypeRef *type)
{
    LLVMTypeRef params[] = { ptr_type(kl), ptr_type(kl), ptr_type(kl),
                             LLVMInt64TypeInContext(kl->ctx) };
    LLVMValueRef fn = LLVMGetNamedFunction(kl->module, LAUNCH);

    *type = LLVMFunctionType(LLVMVoidTypeInContext(kl->ctx), params, 4,
                             false);
    return fn ? fn : LLVMAddFunction(kl->module, LAUNCH, *type);
}

/* Makes a launch of a call; config: a variable with the configuration's
 * address. */
static bool lower(Kl *kl, const KlKernel *kernel, LLVMValueRef call,
                  LLVMValueRef config)
{
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    uint64_t room = (kernel->arg_size + 15) / 8 * 8;
    Pack p = {
        .kl = kl,
        .kernel = kernel,
        .b = LLVMCreateBuilderInContext(kl->ctx),
        .call = call,
        .count = LLVMGetNumArgOperands(call),
    };
    LLVMValueRef args[4], launch;
    LLVMTypeRef type;
    bool ok = true;

    p.block = variable(kl, fn,
                       LLVMArrayType2(LLVMInt8TypeInContext(kl->ctx), room));
    LLVMPositionBuilderBefore(p.b, call);
    for (unsigned i = 0; ok && i < kernel->arg_count; i++) {
        const KlArg *arg = &kernel->args[i];

        ok = arg->layout.aggregate ? pack_aggregate(&p, arg)
                                   : pack_scalar(&p, arg);
    }
    if (ok && p.next == p.count) {
        launch = launch_function(kl, &type);
        args[0] = LLVMBuildLoad2(p.b, ptr_type(kl), config, "");
        args[1] = descriptor(kl, kernel);
        args[2] = p.block;
        args[3] = int64(kl, kernel->arg_size);
        LLVMBuildCall2(p.b, type, launch, args, 4, "");
        LLVMInstructionEraseFromParent(call);
    } else {
        kl_kernel_error(kernel, "its parameters cannot be passed to a kernel");
        ok = false;
    }
    LLVMDisposeBuilder(p.b);
    return ok;
}

static bool calls(LLVMValueRef instruction, LLVMValueRef fn)
{
    return LLVMIsACallInst(instruction) &&
           LLVMGetCalledValue(instruction) == fn;
}

/* The variable of fn that each call of __mcLaunchSet in it sets. */
static LLVMValueRef lower_sets(Kl *kl, LLVMValueRef fn, LLVMValueRef set)
{
    LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn);
    LLVMValueRef config = NULL, i, next;

    for (; bb; bb = LLVMGetNextBasicBlock(bb)) {
        for (i = LLVMGetFirstInstruction(bb); i; i = next) {
            LLVMBuilderRef b;

            next = LLVMGetNextInstruction(i);
            if (!calls(i, set)) {
                continue;
            }
            config = config ? config : variable(kl, fn, ptr_type(kl));
            b = LLVMCreateBuilderInContext(kl->ctx);
            LLVMPositionBuilderBefore(b, i);
            LLVMBuildStore(b, LLVMGetOperand(i, 0), config);
            LLVMDisposeBuilder(b);
            LLVMInstructionEraseFromParent(i);
        }
    }
    return config;
}

static const KlKernel *called_kernel(const Kl *kl, LLVMValueRef instruction)
{
    for (unsigned k = 0; k < kl->count; k++) {
        if (calls(instruction, kl->kernels[k].body)) {
            return &kl->kernels[k];
        }
    }
    return NULL;
}

static bool lower_calls(Kl *kl, LLVMValueRef fn, LLVMValueRef config)
{
    LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn);
    LLVMValueRef i, next;

    for (; bb; bb = LLVMGetNextBasicBlock(bb)) {
        for (i = LLVMGetFirstInstruction(bb); i; i = next) {
            const KlKernel *kernel = called_kernel(kl, i);

            next = LLVMGetNextInstruction(i);
            if (!kernel) {
                continue;
            }
            if (!config) {
                kl_kernel_error(kernel, "called as a function; kernels are "
                                "launched");
                return false;
            }
            if (!lower(kl, kernel, i, config)) {
                return false;
            }
        }
    }
    return true;
}

bool kl_lower_launches(Kl *kl)
{
    LLVMValueRef set = LLVMGetNamedFunction(kl->module, SET), fn;

    for (fn = LLVMGetFirstFunction(kl->module); set && fn;
         fn = LLVMGetNextFunction(fn)) {
        if (!LLVMIsDeclaration(fn) &&
            !lower_calls(kl, fn, lower_sets(kl, fn, set))) {
            return false;
        }
    }
    if (set) {
        LLVMDeleteFunction(set);
    }
    return true;
}

void kl_resolve_launches(Kl *kl, LLVMValueRef descs)
{
    LLVMValueRef table = LLVMGetNamedGlobal(kl->module, DESCS);

    if (table) {
        LLVMReplaceAllUsesWith(table, descs);
        LLVMDeleteGlobal(table);
    }
}
