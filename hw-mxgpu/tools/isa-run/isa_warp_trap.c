/* SPDX-License-Identifier: MIT */
/*
 * What lanes cannot execute, or may not: machine mode beside the core. Lanes
 * share decoded code. While the f registers of any are off (mstatus.FS), their
 * instructions trap for all; lanes that may, execute them in a slot of the stub
 * page, where they do not trap.
 */
#include "isa_warp.h"

#include <string.h>

enum { CSR_FFLAGS = 1, CSR_FCSR = 3 };

static bool is_csr(const RvInsn *in)
{
    return in->format == RV_FMT_CSR || in->format == RV_FMT_CSRI;
}

static bool uses_float(const RvInsn *in)
{
    return in->classes ||
           (is_csr(in) && in->imm >= CSR_FFLAGS && in->imm <= CSR_FCSR);
}

/* Test programs know RISC-V, not what compute units have besides. */
bool isa_warp_native(void *warp, uint64_t pc, const RvInsn *in)
{
    const IsaWarp *s = warp;

    if (isa_warp_in_stub(s, pc)) {
        return true;
    }
    if (strncmp(rv_name(in->op), "mx.", 3) == 0) {
        return false;
    }
    if (uses_float(in)) {
        return !s->float_off;
    }
    if (in->op == RV_FENCE_I) {
        return s->lanes == 1;
    }
    return !is_csr(in);
}

static void note_float(IsaWarp *s, unsigned lane)
{
    uint64_t before = s->float_off, bit = 1ull << lane;

    if (isa_machine_float(&s->lane[lane].machine)) {
        s->float_off &= ~bit;
    } else {
        s->float_off |= bit;
    }
    if (!before != !s->float_off) {
        mxgpu_simt_decode_again(s->simt);
    }
}

/* ---- causes */

static bool is_lr(uint32_t insn)
{
    RvInsn in;

    return rv_decode(insn, 64, RV_EXT_A, &in) && in.format == RV_FMT_LR;
}

static IsaCause access_cause(const MxgpuSimtTrap *t, uint32_t insn)
{
    switch (t->access) {
    case MXGPU_ACCESS_EXECUTE:
        return ISA_FETCH_ACCESS;
    case MXGPU_ACCESS_READ:
        return ISA_LOAD_ACCESS;
    case MXGPU_ACCESS_ATOMIC:
        return is_lr(insn) ? ISA_LOAD_ACCESS : ISA_STORE_ACCESS;
    default:
        return ISA_STORE_ACCESS;
    }
}

static IsaCause cause_of(const MxgpuSimtTrap *t, bool user, uint32_t insn,
                         uint64_t *value)
{
    *value = t->addr;
    switch (t->code) {
    case MXGPU_FAULT_ILLEGAL:
        *value = insn;
        return ISA_ILLEGAL;
    case MXGPU_FAULT_BREAKPOINT:
        return ISA_BREAKPOINT;
    case MXGPU_FAULT_SYSCALL:
    case MXGPU_FAULT_ASSERT:
        *value = 0;
        return user ? ISA_USER_ECALL : ISA_MACHINE_ECALL;
    case MXGPU_FAULT_MISALIGNED:
        return t->access == MXGPU_ACCESS_EXECUTE ? ISA_FETCH_MISALIGNED
               : is_lr(insn)                     ? ISA_LOAD_MISALIGNED
                                                 : ISA_STORE_MISALIGNED;
    default:
        return access_cause(t, insn);
    }
}

/* ---- traps in the stub page */

/* Whether the lane goes on at t->pc; else the instruction there trapped. */
static bool leave_stub(IsaWarp *s, IsaLane *lane, MxgpuSimtTrap *t)
{
    uint64_t offset = t->pc - s->stub;
    unsigned length;

    switch (offset) {
    case STUB_START:
        t->x[5] = lane->delay;
        t->pc += 4;
        return true;
    case STUB_BEGIN:
        memset(t->x, 0, sizeof(t->x));
        t->pc = s->image->entry;
        note_float(s, t->lane);
        return true;
    }
    if (offset < STUB_SLOTS) {
        t->pc = lane->home; /* it has waited */
        return true;
    }
    if (isa_warp_slot_leave(s, t->pc, &length)) {
        t->pc = lane->home + length;
        return true;
    }
    t->pc = lane->home;
    return false;
}

/* ---- instructions */

/* Whether the lane executes an instruction that its core refused. */
static bool emulate(IsaWarp *s, IsaLane *lane, MxgpuSimtTrap *t, uint32_t insn)
{
    IsaMachine *m = &lane->machine;
    RvInsn in;

    if (isa_machine_insn(m, insn, &t->pc, t->x, t->instructions)) {
        note_float(s, t->lane);
        return true;
    }
    if (!rv_decode(insn, 64, ISA_WARP_EXTENSIONS, &in)) {
        return false;
    }
    if (in.op == RV_FENCE_I && s->lanes > 1) {
        m->emulated++;
        lane->home = t->pc + in.length;
        t->pc = isa_warp_wait(s, t->lane);
        return true;
    }
    if (uses_float(&in) && s->float_off && isa_machine_float(m)) {
        lane->home = t->pc;
        t->pc = isa_warp_slot_enter(s, insn);
        return true;
    }
    return false;
}

bool isa_warp_trap(void *warp, MxgpuSimtTrap *t)
{
    IsaWarp *s = warp;
    IsaLane *lane = &s->lane[t->lane];
    bool slot = isa_warp_in_stub(s, t->pc);
    uint64_t value;
    uint32_t insn;
    IsaCause cause;

    s->traps++;
    s->instructions = t->instructions;
    if (slot && leave_stub(s, lane, t)) {
        return true;
    }
    insn = isa_warp_insn(s, t->pc);
    if (t->code == MXGPU_FAULT_ILLEGAL && !slot && emulate(s, lane, t, insn)) {
        return true;
    }
    cause = cause_of(t, lane->machine.user, insn, &value);
    return isa_machine_trap(&lane->machine, cause, value, &t->pc);
}
