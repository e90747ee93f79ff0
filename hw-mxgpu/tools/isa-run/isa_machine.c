/* SPDX-License-Identifier: MIT */
/*
 * Machine and user mode of a hart whose core has neither: CSR instructions,
 * trap entry, mret, wfi. There are no interrupts and no supervisor mode.
 */
#include "isa_run.h"

void isa_machine_reset(IsaMachine *m)
{
    *m = (IsaMachine){.mstatus = ISA_MSTATUS_MPP};
}

bool isa_machine_float(const IsaMachine *m)
{
    return m->mstatus & ISA_MSTATUS_FS;
}

static bool csr_insn(IsaMachine *m, const RvInsn *in, uint64_t *x,
                     uint64_t count)
{
    unsigned csr = (unsigned)in->imm;
    bool immediate = in->format == RV_FMT_CSRI;
    bool exchange = in->op == RV_CSRRW || in->op == RV_CSRRWI;
    bool clear = in->op == RV_CSRRC || in->op == RV_CSRRCI;
    bool write = exchange || in->rs1 != 0;
    uint64_t operand = immediate ? in->rs1 : x[in->rs1], old;

    if (!isa_csr_read(m, csr, count, &old) || (write && csr >> 10 == 3)) {
        return false;
    }
    if (write) {
        isa_csr_write(m, csr, count, exchange ? operand
                                     : clear  ? old & ~operand
                                              : old | operand);
    }
    if (in->rd) {
        x[in->rd] = old;
    }
    return true;
}

static void machine_return(IsaMachine *m, uint64_t *pc)
{
    bool enabled = m->mstatus & ISA_MSTATUS_MPIE;

    m->user = !(m->mstatus & ISA_MSTATUS_MPP);
    m->mstatus &= ~(ISA_MSTATUS_MIE | ISA_MSTATUS_MPP);
    m->mstatus |= ISA_MSTATUS_MPIE | (enabled ? ISA_MSTATUS_MIE : 0);
    if (m->user) {
        m->mstatus &= ~ISA_MSTATUS_MPRV;
    }
    *pc = m->mepc;
}

bool isa_machine_insn(IsaMachine *m, uint32_t insn, uint64_t *pc, uint64_t *x,
                      uint64_t count)
{
    RvInsn in;

    if (!rv_decode(insn, 64, RV_EXT_I | RV_EXT_ZICSR | RV_EXT_M_MODE, &in)) {
        return false;
    }
    switch (in.op) {
    case RV_MRET:
        if (m->user) {
            return false;
        }
        machine_return(m, pc);
        break;
    case RV_WFI: /* no interrupts: it ends at once */
        if (m->user && (m->mstatus & ISA_MSTATUS_TW)) {
            return false;
        }
        *pc += 4;
        break;
    default:
        if ((in.format != RV_FMT_CSR && in.format != RV_FMT_CSRI) ||
            !csr_insn(m, &in, x, count)) {
            return false;
        }
        *pc += 4;
    }
    m->emulated++;
    return true;
}

bool isa_machine_trap(IsaMachine *m, IsaCause cause, uint64_t value,
                      uint64_t *pc)
{
    uint64_t handler = m->mtvec & ~3ull;
    uint64_t mode = m->user ? 0 : ISA_MSTATUS_MPP;
    bool enabled = m->mstatus & ISA_MSTATUS_MIE;

    if (cause != ISA_USER_ECALL && cause != ISA_MACHINE_ECALL) {
        m->trapped = true;
        m->last_cause = cause;
        m->last_pc = *pc;
        m->last_value = value;
    }
    if (!m->user && *pc == handler) {
        return false; /* it would repeat itself for ever */
    }
    m->traps++;
    m->mepc = *pc;
    m->mcause = cause;
    m->mtval = value;
    m->mstatus &= ~(ISA_MSTATUS_MIE | ISA_MSTATUS_MPIE | ISA_MSTATUS_MPP);
    m->mstatus |= mode | (enabled ? ISA_MSTATUS_MPIE : 0);
    m->user = false;
    *pc = handler;
    return true;
}
