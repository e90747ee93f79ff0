/* SPDX-License-Identifier: MIT */
/*
 * Machine and user mode as the start code of a test program needs them: CSRs,
 * trap entry, mret. No interrupts, no supervisor mode, no physical memory
 * protection: their CSRs read 0 and ignore writes.
 */
#include "isa_run.h"

#include "rv/rv.h"

#define MSTATUS_MIE   (1ull << 3)
#define MSTATUS_MPIE  (1ull << 7)
#define MSTATUS_MPP   (3ull << 11)
#define MSTATUS_FS    (3ull << 13)
#define MSTATUS_MPRV  (1ull << 17)
#define MSTATUS_UXL64 (2ull << 32)
#define MSTATUS_SD    (1ull << 63)

#define LETTER(c) (1ull << ((c) - 'A'))
#define MISA                                                                   \
    (2ull << 62 | LETTER('I') | LETTER('M') | LETTER('A') | LETTER('F') |      \
     LETTER('D') | LETTER('C') | LETTER('U'))

enum {
    CSR_SATP = 0x180,
    CSR_MSTATUS = 0x300,
    CSR_MISA = 0x301,
    CSR_MEDELEG = 0x302,
    CSR_MIDELEG = 0x303,
    CSR_MIE = 0x304,
    CSR_MTVEC = 0x305,
    CSR_MCOUNTEREN = 0x306,
    CSR_MENVCFG = 0x30a,
    CSR_MCOUNTINHIBIT = 0x320,
    CSR_MHPMEVENT3 = 0x323,
    CSR_MSCRATCH = 0x340,
    CSR_MEPC = 0x341,
    CSR_MCAUSE = 0x342,
    CSR_MTVAL = 0x343,
    CSR_MIP = 0x344,
    CSR_PMPCFG0 = 0x3a0,
    CSR_PMPADDR0 = 0x3b0,
    CSR_MCYCLE = 0xb00,
    CSR_MINSTRET = 0xb02,
    CSR_MHPMCOUNTER3 = 0xb03,
    CSR_MVENDORID = 0xf11,
    CSR_MCONFIGPTR = 0xf15,
};

void isa_machine_reset(IsaMachine *m)
{
    *m = (IsaMachine){.mstatus = MSTATUS_MPP};
}

static bool is_zero(unsigned csr)
{
    return csr == CSR_SATP || csr == CSR_MEDELEG || csr == CSR_MIDELEG ||
           csr == CSR_MENVCFG || csr == CSR_MCOUNTINHIBIT || csr == CSR_MIP ||
           (csr >= CSR_PMPCFG0 && csr < CSR_PMPADDR0 && csr % 2 == 0) ||
           (csr >= CSR_PMPADDR0 && csr < CSR_PMPADDR0 + 64) ||
           (csr >= CSR_MHPMEVENT3 && csr < CSR_MSCRATCH) ||
           (csr >= CSR_MHPMCOUNTER3 && csr < CSR_MHPMCOUNTER3 + 29) ||
           (csr >= CSR_MVENDORID && csr <= CSR_MCONFIGPTR);
}

/* CSRs that are a word of storage, and which of its bits can be written. */
static uint64_t *storage(IsaMachine *m, unsigned csr, uint64_t *writable)
{
    *writable = UINT64_MAX;
    switch (csr) {
    case CSR_MSTATUS:
        *writable = MSTATUS_MIE | MSTATUS_MPIE | MSTATUS_MPP | MSTATUS_FS |
                    MSTATUS_MPRV;
        return &m->mstatus;
    case CSR_MIE:
        *writable = 0x888;
        return &m->mie;
    case CSR_MTVEC:
        *writable = ~3ull;
        return &m->mtvec;
    case CSR_MCOUNTEREN:
        *writable = UINT32_MAX;
        return &m->mcounteren;
    case CSR_MSCRATCH:
        return &m->mscratch;
    case CSR_MEPC:
        *writable = ~1ull;
        return &m->mepc;
    case CSR_MCAUSE:
        return &m->mcause;
    case CSR_MTVAL:
        return &m->mtval;
    }
    return NULL;
}

static bool csr_read(IsaMachine *m, unsigned csr, uint64_t count,
                     uint64_t *value)
{
    uint64_t writable, *word = storage(m, csr, &writable);

    if (word) {
        *value = *word;
        if (csr == CSR_MSTATUS) {
            *value |= MSTATUS_UXL64;
            *value |= (*word & MSTATUS_FS) == MSTATUS_FS ? MSTATUS_SD : 0;
        }
        return true;
    }
    switch (csr) {
    case CSR_MISA:
        *value = MISA;
        return true;
    case CSR_MCYCLE:
        *value = count + m->cycle_offset;
        return true;
    case CSR_MINSTRET:
        *value = count + m->instret_offset;
        return true;
    }
    *value = 0;
    return is_zero(csr);
}

static void csr_write(IsaMachine *m, unsigned csr, uint64_t count,
                      uint64_t value)
{
    uint64_t writable, *word = storage(m, csr, &writable);

    if (word) {
        uint64_t mpp = m->mstatus & MSTATUS_MPP;

        *word = (*word & ~writable) | (value & writable);
        if (csr == CSR_MSTATUS && (*word & MSTATUS_MPP) != MSTATUS_MPP &&
            (*word & MSTATUS_MPP) != 0) {
            *word = (*word & ~MSTATUS_MPP) | mpp; /* user and machine only */
        }
    } else if (csr == CSR_MCYCLE) {
        m->cycle_offset = value - count - 1;
    } else if (csr == CSR_MINSTRET) {
        m->instret_offset = value - count - 1;
    }
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

    if ((m->user && (csr >> 8 & 3) != 0) || !csr_read(m, csr, count, &old) ||
        (write && csr >> 10 == 3)) {
        return false;
    }
    if (write) {
        csr_write(m, csr, count, exchange ? operand
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
    bool enabled = m->mstatus & MSTATUS_MPIE;

    m->user = !(m->mstatus & MSTATUS_MPP);
    m->mstatus &= ~(MSTATUS_MIE | MSTATUS_MPP);
    m->mstatus |= MSTATUS_MPIE | (enabled ? MSTATUS_MIE : 0);
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
        return true;
    case RV_WFI: /* no interrupts: it ends at once */
        *pc += 4;
        return true;
    }
    if ((in.format != RV_FMT_CSR && in.format != RV_FMT_CSRI) ||
        !csr_insn(m, &in, x, count)) {
        return false;
    }
    *pc += 4;
    return true;
}

bool isa_machine_trap(IsaMachine *m, IsaCause cause, uint64_t value,
                      uint64_t *pc)
{
    uint64_t handler = m->mtvec, mode = m->user ? 0 : MSTATUS_MPP;
    bool enabled = m->mstatus & MSTATUS_MIE;

    if (*pc == handler) {
        return false;
    }
    m->mepc = *pc;
    m->mcause = cause;
    m->mtval = value;
    m->mstatus &= ~(MSTATUS_MIE | MSTATUS_MPIE | MSTATUS_MPP);
    m->mstatus |= mode | (enabled ? MSTATUS_MPIE : 0);
    m->user = false;
    *pc = handler;
    return true;
}
