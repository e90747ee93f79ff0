/* SPDX-License-Identifier: MIT */
/*
 * Addresses in the shared window. A constant address would be split into
 * parts by the code generator at each use, with a register for each sum that
 * a loop needs. So every function that names a __shared__ variable takes the
 * window's base from an instruction that the compiler cannot look into; what
 * is added to it ends in the offsets of loads and stores. Initialisers of
 * variables still have constant addresses.
 */
#include "kl.h"

#include <stdlib.h>
#include <string.h>

#define BASE_NAME "mx_shared"

static bool is_expr(LLVMValueRef v)
{
    return LLVMIsAConstantExpr(v) != NULL;
}

/* The base in fn: the first instruction of its entry block. */
static LLVMValueRef base_of(Kl *kl, LLVMValueRef fn)
{
    static const char *const attributes[] = { "nounwind", "willreturn",
                                              "memory" };
    LLVMTypeRef type = LLVMFunctionType(
        LLVMPointerTypeInContext(kl->ctx, 0), NULL, 0, false);
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn));
    LLVMBuilderRef b;
    LLVMValueRef code, call;
    char *text;
    size_t len;

    if (LLVMIsACallInst(first) && LLVMIsAInlineAsm(LLVMGetCalledValue(first)) &&
        !strncmp(LLVMGetValueName2(first, &len), BASE_NAME,
                 strlen(BASE_NAME))) {
        return first;
    }
    text = kl_printf("lui $0, 0x%x",
                     (unsigned)(MXGPU_SHARED_BASE >> 12) & 0xfffff);
    code = LLVMGetInlineAsm(type, text, strlen(text), "=r", 2, false, false,
                            LLVMInlineAsmDialectATT, false);
    b = LLVMCreateBuilderInContext(kl->ctx);
    LLVMPositionBuilderBefore(b, first);
    call = LLVMBuildCall2(b, type, code, NULL, 0, BASE_NAME);
    for (unsigned i = 0; i < 3; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(
            attributes[i], strlen(attributes[i]));

        /* memory with value 0: none */
        LLVMAddCallSiteAttribute(
            call, LLVMAttributeFunctionIndex,
            LLVMCreateEnumAttribute(kl->ctx, kind, 0));
    }
    LLVMDisposeBuilder(b);
    return call;
}

/* Whether copy() can make an instruction of an expression that names var. */
static bool can_copy(LLVMValueRef v, LLVMValueRef var)
{
    LLVMOpcode op;

    if (v == var || !is_expr(v)) {
        return true;
    }
    op = LLVMGetConstOpcode(v);
    if (op != LLVMGetElementPtr && op != LLVMPtrToInt && op != LLVMIntToPtr &&
        op != LLVMAdd && op != LLVMSub) {
        return false;
    }
    for (int i = 0; i < LLVMGetNumOperands(v); i++) {
        if (!can_copy(LLVMGetOperand(v, i), var)) {
            return false;
        }
    }
    return true;
}

/* Instructions at b for v, an expression that names var at base + offset. */
static LLVMValueRef copy(Kl *kl, LLVMBuilderRef b, LLVMValueRef v,
                         LLVMValueRef var, LLVMValueRef base, uint64_t offset)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(kl->ctx);
    LLVMValueRef off = LLVMConstInt(LLVMInt64TypeInContext(kl->ctx), offset,
                                    false);
    LLVMValueRef *ops, result;
    int n;

    if (v == var) {
        return LLVMBuildInBoundsGEP2(b, i8, base, &off, 1, "");
    }
    if (!is_expr(v)) {
        return v;
    }
    n = LLVMGetNumOperands(v);
    ops = kl_alloc(n * sizeof(*ops));
    for (int i = 0; i < n; i++) {
        ops[i] = copy(kl, b, LLVMGetOperand(v, i), var, base, offset);
    }
    switch (LLVMGetConstOpcode(v)) {
    case LLVMGetElementPtr:
        result = LLVMBuildGEP2(b, LLVMGetGEPSourceElementType(v), ops[0],
                               ops + 1, n - 1, "");
        if (LLVMIsAGetElementPtrInst(result)) {
            LLVMSetIsInBounds(result, LLVMIsInBounds(v));
        }
        break;
    case LLVMPtrToInt:
        result = LLVMBuildPtrToInt(b, ops[0], LLVMTypeOf(v), "");
        break;
    case LLVMIntToPtr:
        result = LLVMBuildIntToPtr(b, ops[0], LLVMTypeOf(v), "");
        break;
    case LLVMAdd:
        result = LLVMBuildAdd(b, ops[0], ops[1], "");
        break;
    default:
        result = LLVMBuildSub(b, ops[0], ops[1], "");
        break;
    }
    free(ops);
    return result;
}

/* Gives the instruction a copy of v where it uses v. */
static void replace(Kl *kl, LLVMValueRef user, LLVMValueRef v,
                    LLVMValueRef var, uint64_t offset)
{
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
    LLVMValueRef base = base_of(kl, fn), value;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(kl->ctx);

    /* Of a phi all operands from one block must be the same value. */
    LLVMPositionBuilderBefore(b, LLVMIsAPHINode(user)
                                     ? LLVMGetNextInstruction(base) : user);
    value = copy(kl, b, v, var, base, offset);
    for (int i = 0; i < LLVMGetNumOperands(user); i++) {
        if (LLVMGetOperand(user, i) == v) {
            LLVMSetOperand(user, i, value);
        }
    }
    LLVMDisposeBuilder(b);
}

/* v: var, or an expression that names it. */
static void replace_uses(Kl *kl, LLVMValueRef v, LLVMValueRef var,
                         uint64_t offset)
{
    LLVMValueRef *users;
    LLVMUseRef use;
    unsigned n = 0;

    for (use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
        n++;
    }
    users = kl_alloc((n + 1) * sizeof(*users));
    n = 0;
    for (use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
        users[n++] = LLVMGetUser(use);
    }
    for (unsigned i = 0; i < n; i++) {
        if (LLVMIsAInstruction(users[i])) {
            replace(kl, users[i], v, var, offset);
        } else if (is_expr(users[i]) && can_copy(users[i], var)) {
            replace_uses(kl, users[i], var, offset);
        }
    }
    free(users);
}

void kl_window_resolve(Kl *kl, LLVMValueRef global, uint64_t offset)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(kl->ctx);
    LLVMValueRef addr = LLVMConstInt(i64, MXGPU_SHARED_BASE + offset, false);

    replace_uses(kl, global, global, offset);
    LLVMReplaceAllUsesWith(global,
                           LLVMConstIntToPtr(addr, LLVMTypeOf(global)));
    LLVMDeleteGlobal(global);
}
