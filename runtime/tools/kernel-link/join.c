/* SPDX-License-Identifier: MIT */
/* Modules of static libraries: what others need of them. */
#include "kl.h"

#include <llvm-c/Linker.h>

static bool is_local(LLVMValueRef v)
{
    LLVMLinkage linkage = LLVMGetLinkage(v);

    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage ||
           linkage == LLVMAppendingLinkage;
}

/* Whether the program waits for a definition of the name of v. Arrays of
 * dynamic shared memory are weak declarations: nobody defines them. */
static bool is_needed(Kl *kl, LLVMValueRef v)
{
    size_t len;
    const char *name = LLVMGetValueName2(v, &len);
    LLVMValueRef there = LLVMGetNamedFunction(kl->module, name);

    if (LLVMIsDeclaration(v) || is_local(v)) {
        return false;
    }
    if (!there) {
        there = LLVMGetNamedGlobal(kl->module, name);
    }
    return there && LLVMIsDeclaration(there) && LLVMGetFirstUse(there) &&
           LLVMGetLinkage(there) != LLVMExternalWeakLinkage;
}

static bool defines_needed(Kl *kl, LLVMModuleRef module)
{
    LLVMValueRef v;

    for (v = LLVMGetFirstFunction(module); v; v = LLVMGetNextFunction(v)) {
        if (is_needed(kl, v)) {
            return true;
        }
    }
    for (v = LLVMGetFirstGlobal(module); v; v = LLVMGetNextGlobal(v)) {
        if (is_needed(kl, v)) {
            return true;
        }
    }
    return false;
}

bool kl_link_needed(Kl *kl, LLVMModuleRef *modules, unsigned count)
{
    bool again = true;

    while (again) {
        again = false;
        for (unsigned i = 0; i < count; i++) {
            if (!modules[i] || !defines_needed(kl, modules[i])) {
                continue;
            }
            if (LLVMLinkModules2(kl->module, modules[i])) {
                return false;
            }
            modules[i] = NULL; /* it is gone */
            again = true;
        }
    }
    return true;
}
