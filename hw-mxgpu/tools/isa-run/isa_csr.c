/* SPDX-License-Identifier: MIT */
/* The CSRs of a hart with machine and user mode: isa_machine.c. */
#include "isa_run.h"

#include "rv/csr.h"

#define MSTATUS_UXL64 (2ull << 32)
#define MSTATUS_SD    (1ull << 63)

#define LETTER(c) (1ull << ((c) - 'A'))
#define MISA                                                                   \
    (2ull << 62 | LETTER('I') | LETTER('M') | LETTER('A') | LETTER('F') |      \
     LETTER('D') | LETTER('C') | LETTER('U'))

#define PMPADDR_BITS ((1ull << 54) - 1)

/* Registers that read 0 and ignore writes. */
static bool is_zero(unsigned csr)
{
    return csr == CSR_SATP || csr == CSR_MEDELEG || csr == CSR_MIDELEG ||
           csr == CSR_MENVCFG || csr == CSR_MCOUNTINHIBIT || csr == CSR_MIP ||
           (csr >= CSR_PMPCFG0 && csr < CSR_PMPADDR0 && csr % 2 == 0) ||
           (csr >= CSR_PMPADDR0 && csr < CSR_PMPADDR0 + 64) ||
           (csr >= CSR_MHPMEVENT3 && csr < CSR_MSCRATCH) ||
           (csr >= CSR_TSELECT && csr <= CSR_TDATA3) ||
           (csr > CSR_MINSTRET && csr <= CSR_MHPMCOUNTER31) ||
           (csr > CSR_INSTRET && csr <= CSR_HPMCOUNTER31) ||
           (csr >= CSR_MVENDORID && csr <= CSR_MCONFIGPTR);
}

/* Registers that are a word, and which of its bits can be written. */
static uint64_t *word(IsaMachine *m, unsigned csr, uint64_t *writable)
{
    *writable = UINT64_MAX;
    switch (csr) {
    case CSR_MSTATUS:
        *writable = ISA_MSTATUS_MIE | ISA_MSTATUS_MPIE | ISA_MSTATUS_MPP |
                    ISA_MSTATUS_FS | ISA_MSTATUS_MPRV | ISA_MSTATUS_TW;
        return &m->mstatus;
    case CSR_MIE:
        *writable = 0x888;
        return &m->mie;
    case CSR_MTVEC:
        *writable = ~2ull; /* direct or vectored */
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
    if (csr >= CSR_PMPADDR0 && csr < CSR_PMPADDR0 + ISA_PMP_ENTRIES) {
        *writable = PMPADDR_BITS;
        return &m->pmpaddr[csr - CSR_PMPADDR0];
    }
    return NULL;
}

static bool is_pmpcfg(unsigned csr)
{
    return csr == CSR_PMPCFG0 || csr == CSR_PMPCFG0 + 2;
}

static uint64_t read_pmpcfg(const IsaMachine *m, unsigned csr)
{
    const uint8_t *cfg = m->pmpcfg + (csr - CSR_PMPCFG0) * 4;
    uint64_t value = 0;

    for (unsigned i = 0; i < 8; i++) {
        value |= (uint64_t)cfg[i] << 8 * i;
    }
    return value;
}

static void write_pmpcfg(IsaMachine *m, unsigned csr, uint64_t value)
{
    uint8_t *cfg = m->pmpcfg + (csr - CSR_PMPCFG0) * 4;

    for (unsigned i = 0; i < 8; i++) {
        cfg[i] = value >> 8 * i & PMPCFG_BITS;
        if (!(cfg[i] & PMPCFG_R)) {
            cfg[i] &= ~PMPCFG_W; /* writable only is reserved */
        }
    }
}

/* The mode may do what the number says; user mode needs leave to count. */
static bool permitted(const IsaMachine *m, unsigned csr)
{
    if (!m->user) {
        return true;
    }
    return (csr >> 8 & 3) == 0 &&
           (csr < CSR_CYCLE || csr > CSR_HPMCOUNTER31 ||
            (m->mcounteren >> (csr - CSR_CYCLE) & 1));
}

/* An instruction, or a trap, is a cycle. */
static uint64_t cycles(const IsaMachine *m, uint64_t count)
{
    return count + m->emulated + m->traps;
}

static uint64_t retired(const IsaMachine *m, uint64_t count)
{
    return count + m->emulated;
}

bool isa_csr_read(IsaMachine *m, unsigned csr, uint64_t count, uint64_t *value)
{
    uint64_t writable, *at = word(m, csr, &writable);

    *value = at ? *at : 0;
    if (!permitted(m, csr)) {
        return false;
    }
    switch (csr) {
    case CSR_MSTATUS:
        *value |= MSTATUS_UXL64 |
                  (isa_machine_float(m) ? MSTATUS_SD : 0);
        return true;
    case CSR_MISA:
        *value = MISA;
        return true;
    case CSR_MCYCLE:
    case CSR_CYCLE:
        *value = cycles(m, count) + m->cycle_offset;
        return true;
    case CSR_TIME:
        *value = cycles(m, count);
        return true;
    case CSR_MINSTRET:
    case CSR_INSTRET:
        *value = retired(m, count) + m->instret_offset;
        return true;
    case CSR_TINFO:
        *value = 1; /* the trigger that there is not */
        return true;
    }
    if (is_pmpcfg(csr)) {
        *value = read_pmpcfg(m, csr);
        return true;
    }
    return at || is_zero(csr);
}

/* User and machine mode only; FS is off or dirty. */
static uint64_t legal_mstatus(uint64_t old, uint64_t value)
{
    uint64_t mpp = value & ISA_MSTATUS_MPP;

    if (mpp != 0 && mpp != ISA_MSTATUS_MPP) {
        value = (value & ~ISA_MSTATUS_MPP) | (old & ISA_MSTATUS_MPP);
    }
    return value & ISA_MSTATUS_FS ? value | ISA_MSTATUS_FS : value;
}

/* The instruction that writes a counter is not counted in it. */
void isa_csr_write(IsaMachine *m, unsigned csr, uint64_t count, uint64_t value)
{
    uint64_t writable, *at = word(m, csr, &writable);

    if (csr == CSR_MSTATUS) {
        value = legal_mstatus(m->mstatus, value);
    }
    if (at) {
        *at = (*at & ~writable) | (value & writable);
    } else if (is_pmpcfg(csr)) {
        write_pmpcfg(m, csr, value);
    } else if (csr == CSR_MCYCLE) {
        m->cycle_offset = value - cycles(m, count) - 1;
    } else if (csr == CSR_MINSTRET) {
        m->instret_offset = value - retired(m, count) - 1;
    }
}
