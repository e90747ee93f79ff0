/* SPDX-License-Identifier: MIT */
/*
 * __constant__ variables. Kernels cannot write them: they lie with what is
 * read-only once the loader has relocated it, for their initialisers may hold
 * addresses; the host writes by another address.
 */
#include "kl.h"

#include <string.h>

#define SECTION ".data.rel.ro.mxgpu"

static void count(Kl *kl, const KlReach *reach, LLVMValueRef v)
{
    LLVMTargetDataRef dl = LLVMGetModuleDataLayout(kl->module);
    uint64_t size = LLVMABISizeOfType(dl, LLVMGlobalGetValueType(v));
    bool *reached = kl_alloc(kl->count + 1);

    kl_mark_users(kl, reach, v, reached);
    for (unsigned k = 0; k < kl->count; k++) {
        kl->kernels[k].constant_bytes += reached[k] ? size : 0;
    }
}

void kl_mark_constant(LLVMValueRef v)
{
    const char *section;

    if (!LLVMIsAGlobalVariable(v) || !LLVMGetInitializer(v)) {
        return;
    }
    section = LLVMGetSection(v);
    LLVMSetGlobalConstant(v, true);
    if (!section || !*section) {
        LLVMSetSection(v, SECTION);
    }
}

void kl_place_constants(Kl *kl, const KlReach *reach)
{
    LLVMValueRef v = LLVMGetFirstGlobal(kl->module);

    for (; v; v = LLVMGetNextGlobal(v)) {
        LLVMValueRef init = LLVMGetInitializer(v);
        const char *section = LLVMGetSection(v);

        if (!init || !LLVMIsExternallyInitialized(v) ||
            !LLVMIsGlobalConstant(v)) {
            continue;
        }
        count(kl, reach, v);
        /* All in one section: the flags of one that the loader writes. */
        LLVMSetGlobalConstant(v, false);
        if (!section || !*section) {
            LLVMSetSection(v, SECTION);
        }
    }
}
