/* SPDX-License-Identifier: MIT */
/*
 * __constant__ variables. Kernels cannot write them: they lie in a read-only
 * section of their own, and the host writes by another address. Those whose
 * initialisers hold addresses stay among the writable data, where the loader
 * relocates them.
 */
#include "kl.h"

#include <string.h>

#define SECTION ".mxgpu.constant"

static bool has_address(LLVMValueRef v)
{
    if (LLVMIsAGlobalValue(v)) {
        return true;
    }
    for (int i = 0, n = LLVMGetNumOperands(v); i < n; i++) {
        if (has_address(LLVMGetOperand(v, i))) {
            return true;
        }
    }
    return false;
}

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
        if (has_address(init) ||
            (section && *section && strcmp(section, SECTION))) {
            LLVMSetGlobalConstant(v, false);
            if (section && !strcmp(section, SECTION)) {
                LLVMSetSection(v, NULL);
            }
        } else {
            LLVMSetSection(v, SECTION);
        }
    }
}
