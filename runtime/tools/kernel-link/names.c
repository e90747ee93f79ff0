/* SPDX-License-Identifier: MIT */
/*
 * What name expressions of libmcrtc are called. It declares a variable
 * MXGPU_NAME_PREFIX and a number for each, which holds the address; here they
 * go, and a line of number and name is left of each.
 */
#include "kl.h"

#include <stdio.h>
#include <string.h>

#define PREFIX MXGPU_NAME_PREFIX

/* The kernel or variable whose address it holds; NULL: of something else. */
static LLVMValueRef denoted(Kl *kl, LLVMValueRef name)
{
    LLVMValueRef value = LLVMGetInitializer(name);

    if (value && LLVMIsAFunction(value)) {
        return kl_is_kernel(kl, value) ? value : NULL;
    }
    return value && LLVMIsAGlobalVariable(value) ? value : NULL;
}

/* The host is to find it: one of this file only, too. */
static void make_visible(LLVMValueRef value)
{
    if (LLVMIsAGlobalVariable(value) && !LLVMIsDeclaration(value)) {
        LLVMSetLinkage(value, LLVMExternalLinkage);
        LLVMSetVisibility(value, LLVMDefaultVisibility);
        LLVMSetExternallyInitialized(value, true);
    }
}

bool kl_take_names(Kl *kl, const char *path)
{
    FILE *f = fopen(path, "w");
    LLVMValueRef v, next;
    size_t len;

    if (!f) {
        kl_error("%s: cannot write", path);
        return false;
    }
    for (v = LLVMGetFirstGlobal(kl->module); v; v = next) {
        const char *name = LLVMGetValueName2(v, &len);

        next = LLVMGetNextGlobal(v);
        if (strncmp(name, PREFIX, strlen(PREFIX)) || LLVMGetFirstUse(v)) {
            continue;
        }
        LLVMValueRef what = denoted(kl, v);
        fprintf(f, "%s %s\n", name + strlen(PREFIX),
                what ? LLVMGetValueName2(what, &len) : "");
        LLVMDeleteGlobal(v);
        if (what) {
            make_visible(what);
        }
    }
    if (fclose(f)) {
        kl_error("%s: cannot write", path);
        return false;
    }
    return true;
}
