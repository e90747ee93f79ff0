/* SPDX-License-Identifier: MIT */
/* Control and status registers of machine mode. */
#include "internal.h"

#include <string.h>

#include "rv/csr.h"

#define MISA_RV32IMAC                                                          \
    (1u << 30 | 1u << ('I' - 'A') | 1u << ('M' - 'A') | 1u << ('A' - 'A') |    \
     1u << ('C' - 'A'))

/* ---- registers that come in rows */

static bool in_row(unsigned csr, unsigned first, unsigned count)
{
    return csr >= first && csr < first + count;
}

static bool is_pmp(unsigned csr)
{
    return in_row(csr, CSR_PMPCFG0, MCU_PMP_ENTRIES / 4) ||
           in_row(csr, CSR_PMPADDR0, MCU_PMP_ENTRIES);
}

/* No triggers, no counters of events: they read 0 and ignore writes. */
static bool is_empty(unsigned csr)
{
    return (csr >= CSR_TSELECT && csr <= CSR_TDATA3) ||
           (csr >= CSR_MHPMEVENT3 && csr <= CSR_MHPMEVENT31) ||
           (csr >= CSR_MHPMCOUNTER3 && csr <= CSR_MHPMCOUNTER31) ||
           (csr >= CSR_MHPMCOUNTER3H && csr <= CSR_MHPMCOUNTER31H);
}

static uint32_t read_pmp(const MxgpuMcuState *s, unsigned csr)
{
    uint32_t value;

    if (csr >= CSR_PMPADDR0) {
        return s->pmpaddr[csr - CSR_PMPADDR0];
    }
    memcpy(&value, s->pmpcfg + 4 * (csr - CSR_PMPCFG0), sizeof(value));
    return value;
}

/* Entries cannot be locked, and only locked ones concern machine mode: they
 * hold what is written and permit everything. */
static void write_pmp(MxgpuMcuState *s, unsigned csr, uint32_t value)
{
    if (csr >= CSR_PMPADDR0) {
        s->pmpaddr[csr - CSR_PMPADDR0] = value;
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        uint8_t cfg = value >> 8 * i & PMPCFG_BITS;

        if (!(cfg & PMPCFG_R)) {
            cfg &= (uint8_t)~PMPCFG_W; /* that pair is reserved */
        }
        s->pmpcfg[4 * (csr - CSR_PMPCFG0) + i] = cfg;
    }
}

/* ---- all of them */

static bool csr_read(const MxgpuMcuState *s, unsigned csr, uint32_t *value)
{
    switch (csr) {
    case CSR_MSTATUS:
        *value = s->mstatus;
        return true;
    case CSR_MISA:
        *value = MISA_RV32IMAC;
        return true;
    case CSR_MIE:
        *value = s->mie;
        return true;
    case CSR_MTVEC:
        *value = s->mtvec;
        return true;
    case CSR_MSCRATCH:
        *value = s->mscratch;
        return true;
    case CSR_MEPC:
        *value = s->mepc;
        return true;
    case CSR_MCAUSE:
        *value = s->mcause;
        return true;
    case CSR_MTVAL:
        *value = s->mtval;
        return true;
    case CSR_MIP:
        *value = s->mip;
        return true;
    case CSR_MCYCLE:
    case CSR_CYCLE:
        *value = (uint32_t)s->cycle;
        return true;
    case CSR_MCYCLEH:
    case CSR_CYCLEH:
        *value = (uint32_t)(s->cycle >> 32);
        return true;
    case CSR_MINSTRET:
    case CSR_INSTRET:
        *value = (uint32_t)s->instret;
        return true;
    case CSR_MINSTRETH:
    case CSR_INSTRETH:
        *value = (uint32_t)(s->instret >> 32);
        return true;
    case CSR_MSTATUSH:
    case CSR_MCOUNTINHIBIT:
    case CSR_MVENDORID:
    case CSR_MARCHID:
    case CSR_MIMPID:
    case CSR_MHARTID:
    case CSR_MCONFIGPTR:
        *value = 0;
        return true;
    case CSR_TINFO:
        *value = 1; /* tselect names no trigger */
        return true;
    default:
        *value = is_pmp(csr) ? read_pmp(s, csr) : 0;
        return is_pmp(csr) || is_empty(csr);
    }
}

static void set_low(uint64_t *counter, uint32_t value)
{
    *counter = (*counter & ~0xffffffffull) | value;
}

static void set_high(uint64_t *counter, uint32_t value)
{
    *counter = (*counter & 0xffffffffull) | (uint64_t)value << 32;
}

/*
 * Fields that are not implemented keep their value (WARL). The loop counts the
 * CSR instruction itself after this, which a written counter must not see.
 */
static void csr_write(MxgpuMcu *mcu, unsigned csr, uint32_t value)
{
    MxgpuMcuState *s = &mcu->s;

    switch (csr) {
    case CSR_MSTATUS:
        s->mstatus = MSTATUS_MPP | (value & (MSTATUS_MIE | MSTATUS_MPIE));
        break;
    case CSR_MIE:
        s->mie = value & (MIP_MTIP | MIP_MEIP);
        break;
    case CSR_MTVEC:
        s->mtvec = value & ~2u; /* direct or vectored */
        break;
    case CSR_MSCRATCH:
        s->mscratch = value;
        break;
    case CSR_MEPC:
        s->mepc = value & ~1u;
        break;
    case CSR_MCAUSE:
        s->mcause = value;
        break;
    case CSR_MTVAL:
        s->mtval = value;
        break;
    case CSR_MCYCLE:
        set_low(&s->cycle, value);
        s->cycle--;
        break;
    case CSR_MCYCLEH:
        set_high(&s->cycle, value);
        s->cycle--;
        break;
    case CSR_MINSTRET:
        set_low(&s->instret, value);
        s->instret--;
        break;
    case CSR_MINSTRETH:
        set_high(&s->instret, value);
        s->instret--;
        break;
    default: /* misa, mip and the constant ones do not change */
        if (is_pmp(csr)) {
            write_pmp(s, csr, value);
        }
    }
    mxgpu_mcu_update(mcu);
}

bool mxgpu_mcu_csr(MxgpuMcu *mcu, const RvInsn *in)
{
    MxgpuMcuState *s = &mcu->s;
    unsigned csr = (unsigned)in->imm;
    uint32_t old, operand;
    bool write;

    operand = in->format == RV_FMT_CSRI ? in->rs1 : s->x[in->rs1];
    write = in->op == RV_CSRRW || in->op == RV_CSRRWI || in->rs1 != 0;
    if (!csr_read(s, csr, &old) || (write && csr >> 10 == 3)) {
        return false;
    }
    if (write) {
        switch (in->op) {
        case RV_CSRRS:
        case RV_CSRRSI:
            operand = old | operand;
            break;
        case RV_CSRRC:
        case RV_CSRRCI:
            operand = old & ~operand;
            break;
        case RV_CSRRW:
        case RV_CSRRWI:
            break;
        default:
            return false;
        }
        csr_write(mcu, csr, operand);
    }
    s->x[in->rd] = old;
    return true;
}

/* ---- for a debugger */

bool mxgpu_mcu_debug_read_csr(const MxgpuMcu *mcu, unsigned csr,
                              uint32_t *value)
{
    return csr_read(&mcu->s, csr, value);
}

bool mxgpu_mcu_debug_write_csr(MxgpuMcu *mcu, unsigned csr, uint32_t value)
{
    uint32_t old;

    if (!csr_read(&mcu->s, csr, &old) || csr >> 10 == 3) {
        return false;
    }
    csr_write(mcu, csr, value);
    /* No instruction follows that would be counted. */
    mcu->s.cycle += csr == CSR_MCYCLE || csr == CSR_MCYCLEH;
    mcu->s.instret += csr == CSR_MINSTRET || csr == CSR_MINSTRETH;
    return true;
}
