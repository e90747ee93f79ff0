/* SPDX-License-Identifier: MIT */
/*
 * The call graph of the optimised module, as far as it is known: a call
 * through a pointer can reach every function whose address is taken.
 */
#include "kl.h"

#include <string.h>

struct KlReach {
    Kl *kl;
    LLVMValueRef *fns;
    unsigned count;
    bool *calls; /* count * count: direct */
    bool *taken;
    bool *indirect;
    bool *reach; /* kernels * count */
};

static unsigned index_of(const KlReach *r, LLVMValueRef fn)
{
    for (unsigned i = 0; i < r->count; i++) {
        if (r->fns[i] == fn) {
            return i;
        }
    }
    return r->count;
}

static bool is_call_of(LLVMValueRef user, LLVMValueRef fn)
{
    return LLVMIsACallInst(user) && LLVMGetCalledValue(user) == fn;
}

static void scan(KlReach *r, unsigned f)
{
    LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(r->fns[f]);
    LLVMUseRef use;

    for (; bb; bb = LLVMGetNextBasicBlock(bb)) {
        LLVMValueRef i = LLVMGetFirstInstruction(bb);

        for (; i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i)
                                                     : NULL;
            unsigned c;

            if (!callee || LLVMIsAInlineAsm(callee)) {
                continue;
            }
            c = index_of(r, callee);
            if (c < r->count) {
                r->calls[f * r->count + c] = true;
            } else {
                r->indirect[f] = true;
            }
        }
    }
    for (use = LLVMGetFirstUse(r->fns[f]); use; use = LLVMGetNextUse(use)) {
        r->taken[f] |= !is_call_of(LLVMGetUser(use), r->fns[f]);
    }
}

static void mark(KlReach *r, bool *row, unsigned f)
{
    if (row[f]) {
        return;
    }
    row[f] = true;
    for (unsigned c = 0; c < r->count; c++) {
        if (r->calls[f * r->count + c] || (r->indirect[f] && r->taken[c])) {
            mark(r, row, c);
        }
    }
}

KlReach *kl_reach_new(Kl *kl)
{
    KlReach *r = kl_alloc(sizeof(*r));
    LLVMValueRef fn;

    r->kl = kl;
    for (fn = LLVMGetFirstFunction(kl->module); fn;
         fn = LLVMGetNextFunction(fn)) {
        r->count++;
    }
    r->fns = kl_alloc((r->count + 1) * sizeof(*r->fns));
    r->calls = kl_alloc((size_t)r->count * r->count + 1);
    r->taken = kl_alloc(r->count + 1);
    r->indirect = kl_alloc(r->count + 1);
    r->reach = kl_alloc((size_t)kl->count * r->count + 1);
    r->count = 0;
    for (fn = LLVMGetFirstFunction(kl->module); fn;
         fn = LLVMGetNextFunction(fn)) {
        r->fns[r->count++] = fn;
    }
    for (unsigned f = 0; f < r->count; f++) {
        scan(r, f);
    }
    for (unsigned k = 0; k < kl->count; k++) {
        mark(r, r->reach + (size_t)k * r->count,
             index_of(r, kl->kernels[k].entry));
    }
    return r;
}

bool kl_reaches(const KlReach *r, unsigned kernel, LLVMValueRef fn)
{
    unsigned f = index_of(r, fn);

    return f < r->count && r->reach[(size_t)kernel * r->count + f];
}

/* Functions known not to need errno, among them what becomes instructions. */
static bool is_plain(const char *name)
{
    static const char *const prefixes[] = {
        "llvm.mem", "llvm.lifetime", "llvm.dbg", "llvm.assume", "llvm.expect",
        "llvm.fma", "llvm.fmuladd", "llvm.sqrt", "llvm.fabs", "llvm.copysign",
        "llvm.minnum", "llvm.maxnum", "llvm.ctpop", "llvm.ctlz", "llvm.cttz",
        "llvm.bswap", "llvm.bitreverse", "llvm.fsh", "llvm.smax", "llvm.smin",
        "llvm.umax", "llvm.umin", "llvm.abs", "llvm.uadd", "llvm.usub",
        "llvm.sadd", "llvm.ssub", "llvm.umul", "llvm.smul", "llvm.floor",
        "llvm.ceil", "llvm.trunc", "llvm.round", "llvm.rint", "llvm.is.",
        "llvm.experimental.noalias", "llvm.trap", "llvm.debugtrap",
        "llvm.stack", "llvm.fpto", "llvm.vector", "llvm.prefetch",
        "llvm.readcyclecounter", "llvm.ptrmask", "llvm.objectsize",
        "memcpy", "memset", "memmove", "memcmp", "strlen", "strcmp",
        "__mx_printf", "__mx_vprintf", "__mx_assert", "__mx_malloc",
        "__mx_aligned_alloc", "__mx_free",
    };

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) {
            return true;
        }
    }
    return false;
}

static bool has_frem(LLVMValueRef fn)
{
    LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn);

    for (; bb; bb = LLVMGetNextBasicBlock(bb)) {
        LLVMValueRef i = LLVMGetFirstInstruction(bb);

        for (; i; i = LLVMGetNextInstruction(i)) {
            if (LLVMGetInstructionOpcode(i) == LLVMFRem) {
                return true;
            }
        }
    }
    return false;
}

bool kl_reaches_library(const KlReach *r, unsigned kernel)
{
    const bool *row = r->reach + (size_t)kernel * r->count;
    size_t len;

    for (unsigned f = 0; f < r->count; f++) {
        if (!row[f]) {
            continue;
        }
        if (LLVMIsDeclaration(r->fns[f])
                ? !is_plain(LLVMGetValueName2(r->fns[f], &len))
                : has_frem(r->fns[f])) {
            return true;
        }
    }
    return false;
}

static bool calls_pointer(LLVMValueRef i)
{
    LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;

    return callee && !LLVMIsAInlineAsm(callee) && !LLVMIsAFunction(callee) &&
           !LLVMIsAGlobalAlias(callee);
}

KlCalls kl_calls_of(LLVMValueRef fn)
{
    LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn);

    if (!bb) {
        return KL_CALLS_UNKNOWN;
    }
    for (; bb; bb = LLVMGetNextBasicBlock(bb)) {
        LLVMValueRef i = LLVMGetFirstInstruction(bb);

        for (; i; i = LLVMGetNextInstruction(i)) {
            if (calls_pointer(i)) {
                return KL_CALLS_POINTERS;
            }
        }
    }
    return KL_CALLS_DIRECT;
}

unsigned kl_reaches_services(const KlReach *r, unsigned kernel)
{
    static const struct {
        const char *name;
        unsigned uses;
    } services[] = {
        { "__mx_launch_grid", MXGPU_KERNEL_USES_LAUNCH },
        { "__mx_launch_device", MXGPU_KERNEL_USES_LAUNCH },
        { "__mx_launch_attribute", MXGPU_KERNEL_USES_LAUNCH },
        { "__mx_multimem_find", MXGPU_KERNEL_USES_MULTIMEM },
        { "__mx_printf", MXGPU_KERNEL_USES_FIFO },
        { "__mx_vprintf", MXGPU_KERNEL_USES_FIFO },
        { "__mx_assert", MXGPU_KERNEL_USES_FIFO },
        { "__mx_malloc", MXGPU_KERNEL_USES_HEAP },
        { "__mx_aligned_alloc", MXGPU_KERNEL_USES_HEAP },
        /* says what it cannot free */
        { "__mx_free", MXGPU_KERNEL_USES_HEAP | MXGPU_KERNEL_USES_FIFO },
    };
    const bool *row = r->reach + (size_t)kernel * r->count;
    unsigned uses = 0;
    size_t len;

    for (unsigned f = 0; f < r->count; f++) {
        const char *name = LLVMGetValueName2(r->fns[f], &len);

        for (size_t i = 0; row[f] && i < sizeof(services) / sizeof(*services);
             i++) {
            if (!strcmp(name, services[i].name)) {
                uses |= services[i].uses;
            }
        }
    }
    return uses;
}
