/* SPDX-License-Identifier: MIT */
/*
 * Which loops are worth unrolling. One that all lanes of a warp go through as
 * often as each other has fewer branches when it is unrolled. Where each lane
 * has a number of its own (of a row's elements, of a node's edges) a warp goes
 * on until the last lane is done: what unrolling adds, turns that do not fill
 * a whole round, is executed by the lanes of some, and by the warp for all of
 * them.
 *
 * So the number of a loop's turns is followed back to where it comes from: it
 * differs between lanes when it depends on the thread's index, on memory at an
 * address that does, on atomics, on calls, on private memory, or on the way
 * that a lane took. This decides about speed only; a guess that is wrong
 * changes no result.
 */
#include "kl.h"

#include "mxgpu/kernel.h"

#include <stdlib.h>
#include <string.h>

#define WAY_BACK 8 /* blocks that are looked at for the branch that led here   \
                    */

/* Values that differ between lanes: a table of pointers, some of them NULL. */
typedef struct Set {
    LLVMValueRef *slot;
    size_t size, count; /* size: a power of two */
} Set;

typedef struct Lanes {
    Set differ;
    unsigned loop; /* kind of metadata of a loop's way back */
} Lanes;

static LLVMValueRef *set_slot(const Set *set, LLVMValueRef v)
{
    size_t at = ((uintptr_t)v >> 4) * 0x9e3779b97f4a7c15ull >> 20;

    while (set->slot[at % set->size] && set->slot[at % set->size] != v) {
        at++;
    }
    return &set->slot[at % set->size];
}

static void set_add(Set *set, LLVMValueRef v)
{
    if (2 * set->count >= set->size) {
        Set old = *set;

        set->size = old.size ? 2 * old.size : 256;
        set->slot = kl_alloc(set->size * sizeof(*set->slot));
        for (size_t i = 0; i < old.size; i++) {
            if (old.slot[i]) {
                *set_slot(set, old.slot[i]) = old.slot[i];
            }
        }
        free(old.slot);
    }
    *set_slot(set, v) = v;
    set->count++;
}

static bool differs(const Lanes *l, LLVMValueRef v)
{
    return l->differ.size && *set_slot(&l->differ, v);
}

static bool any_operand(const Lanes *l, LLVMValueRef v)
{
    for (int i = 0; i < LLVMGetNumOperands(v); i++) {
        if (differs(l, LLVMGetOperand(v, i))) {
            return true;
        }
    }
    return false;
}

/* Of csrr: what is the same in all lanes of a warp. */
static bool is_uniform_csr(uint64_t csr)
{
    return csr >= MXGPU_CSR_NTID_X && csr <= MXGPU_CSR_COOPERATIVE &&
           csr != MXGPU_CSR_LANE;
}

static bool call_differs(const Lanes *l, LLVMValueRef call)
{
    LLVMValueRef fn = LLVMGetCalledValue(call), csr;
    size_t len;

    if (LLVMIsAInlineAsm(fn)) {
        csr = LLVMGetNumArgOperands(call) == 1 ? LLVMGetOperand(call, 0) : NULL;
        return !csr || !LLVMIsAConstantInt(csr) ||
               strncmp(LLVMGetInlineAsmAsmString(fn, &len), "csrr ", 5) != 0 ||
               !is_uniform_csr(LLVMConstIntGetZExtValue(csr));
    }
    return !LLVMIsAFunction(fn) || !LLVMGetIntrinsicID(fn) ||
           any_operand(l, call);
}

/* Where a pointer comes from: is it private memory? */
static bool is_private(LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer)) {
        pointer = LLVMGetOperand(pointer, 0);
    }
    return LLVMIsAAllocaInst(pointer);
}

static LLVMValueRef condition(LLVMBasicBlockRef block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

    if (LLVMIsASwitchInst(end)) {
        return LLVMGetOperand(end, 0);
    }
    return LLVMIsABranchInst(end) && LLVMIsConditional(end)
               ? LLVMGetCondition(end)
               : NULL;
}

/* The only block that leads to this one, or NULL. */
static LLVMBasicBlockRef only_before(LLVMBasicBlockRef block)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
    LLVMBasicBlockRef from = NULL;

    for (; use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        LLVMBasicBlockRef in;

        if (!LLVMIsATerminatorInst(user)) {
            continue;
        }
        in = LLVMGetInstructionParent(user);
        if (from && in != from) {
            return NULL;
        }
        from = in;
    }
    return from;
}

/* Whether lanes come from there because of what they have alone. */
static bool way_differs(const Lanes *l, LLVMBasicBlockRef block)
{
    for (unsigned i = 0; block && i < WAY_BACK; i++) {
        LLVMValueRef by = condition(block);

        if (by && differs(l, by)) {
            return true;
        }
        block = only_before(block);
    }
    return false;
}

/* Whether a block ends with the way back of a loop, to that block. */
static bool leads_back(const Lanes *l, LLVMBasicBlockRef from,
                       LLVMBasicBlockRef to)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from);

    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        if (LLVMGetSuccessor(end, i) == to) {
            return LLVMGetMetadata(end, l->loop) != NULL;
        }
    }
    return false;
}

/* A choice by the way that a lane came. At the beginning of a loop lanes that
 * go around once more are together. */
static bool phi_differs(const Lanes *l, LLVMValueRef phi)
{
    LLVMBasicBlockRef here = LLVMGetInstructionParent(phi);
    unsigned count = LLVMCountIncoming(phi);
    bool choice = false, loop = false;

    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);

        if (differs(l, value)) {
            return true;
        }
        choice |= value != LLVMGetIncomingValue(phi, 0);
        loop |= leads_back(l, LLVMGetIncomingBlock(phi, i), here);
    }
    for (unsigned i = 0; i < count && !loop; i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);

        /* one value only: what a loop leaves, each lane after its own turns */
        if ((choice || count == 1) && way_differs(l, from)) {
            return true;
        }
    }
    return false;
}

static bool result_differs(const Lanes *l, LLVMValueRef v)
{
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMCall:
    case LLVMInvoke:
        return call_differs(l, v);
    case LLVMPHI:
        return phi_differs(l, v);
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMVAArg:
        return true;
    case LLVMLoad:
        return any_operand(l, v) || is_private(LLVMGetOperand(v, 0));
    default:
        return any_operand(l, v);
    }
}

static bool add(Lanes *l, LLVMValueRef v)
{
    if (differs(l, v)) {
        return false;
    }
    set_add(&l->differ, v);
    return true;
}

/* Parameters that get what differs; whether more are known. */
static bool pass_on(Lanes *l, LLVMValueRef call)
{
    LLVMValueRef fn = LLVMGetCalledValue(call);
    bool more = false;

    if (!LLVMIsAFunction(fn) || LLVMIsDeclaration(fn)) {
        return false;
    }
    for (unsigned i = 0;
         i < LLVMGetNumArgOperands(call) && i < LLVMCountParams(fn); i++) {
        if (differs(l, LLVMGetOperand(call, i))) {
            more |= add(l, LLVMGetParam(fn, i));
        }
    }
    return more;
}

/* Once over the function; whether more is known. */
static bool look(Lanes *l, LLVMValueRef fn)
{
    bool more = false;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(fn); block;
         block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef v = LLVMGetFirstInstruction(block); v;
             v = LLVMGetNextInstruction(v)) {
            if (LLVMIsACallInst(v)) {
                more |= pass_on(l, v);
            }
            if (!differs(l, v) && result_differs(l, v)) {
                more |= add(l, v);
            }
        }
    }
    return more;
}

/* Adds "llvm.loop.unroll.disable" to what is said of a loop. Its first operand
 * is the node itself, which makes it one of its own. */
static void leave_as_it_is(Kl *kl, const Lanes *l, LLVMValueRef end)
{
    LLVMValueRef loop = LLVMGetMetadata(end, l->loop);
    unsigned count = LLVMGetMDNodeNumOperands(loop);
    LLVMValueRef *old = kl_alloc((count + 1) * sizeof(*old));
    LLVMMetadataRef *all = kl_alloc((count + 1) * sizeof(*all)), said, node;
    const char *disable = "llvm.loop.unroll.disable";

    LLVMGetMDNodeOperands(loop, old);
    all[0] = LLVMTemporaryMDNode(kl->ctx, NULL, 0);
    for (unsigned i = 1; i < count; i++) {
        all[i] = LLVMValueAsMetadata(old[i]);
    }
    said = LLVMMDStringInContext2(kl->ctx, disable, strlen(disable));
    all[count] = LLVMMDNodeInContext2(kl->ctx, &said, 1);
    node = LLVMMDNodeInContext2(kl->ctx, all, count + 1);
    LLVMMetadataReplaceAllUsesWith(all[0], node);
    LLVMSetMetadata(end, l->loop, LLVMMetadataAsValue(kl->ctx, node));
    free(old);
    free(all);
}

/* Whether there may be calls of a function that this module does not show. */
static bool called_from_elsewhere(const Kl *kl, LLVMValueRef fn)
{
    for (unsigned i = 0; i < kl->count; i++) {
        if (kl->kernels[i].entry == fn) {
            return false; /* the same for all threads of a grid */
        }
    }
    for (LLVMUseRef use = LLVMGetFirstUse(fn); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use);

        if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != fn) {
            return true;
        }
        for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
            if (LLVMGetOperand(call, i) == fn) {
                return true;
            }
        }
    }
    return LLVMGetLinkage(fn) != LLVMInternalLinkage;
}

static void find_differing(Kl *kl, Lanes *l)
{
    bool more;

    for (LLVMValueRef fn = LLVMGetFirstFunction(kl->module); fn;
         fn = LLVMGetNextFunction(fn)) {
        for (unsigned i = 0;
             called_from_elsewhere(kl, fn) && i < LLVMCountParams(fn); i++) {
            (void)add(l, LLVMGetParam(fn, i));
        }
    }
    do {
        more = false;
        for (LLVMValueRef fn = LLVMGetFirstFunction(kl->module); fn;
             fn = LLVMGetNextFunction(fn)) {
            while (look(l, fn)) {
                more = true;
            }
        }
    } while (more);
}

void kl_unroll_uniform(Kl *kl)
{
    Lanes l = {.loop = LLVMGetMDKindIDInContext(kl->ctx, "llvm.loop", 9)};

    find_differing(kl, &l);
    for (LLVMValueRef fn = LLVMGetFirstFunction(kl->module); fn;
         fn = LLVMGetNextFunction(fn)) {
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(fn); block;
             block = LLVMGetNextBasicBlock(block)) {
            LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
            LLVMValueRef by = condition(block);

            if (LLVMGetMetadata(end, l.loop) && (!by || differs(&l, by))) {
                leave_as_it_is(kl, &l, end);
            }
        }
    }
    free(l.differ.slot);
}
