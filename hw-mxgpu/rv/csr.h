/* SPDX-License-Identifier: MIT */
/* Numbers of the control and status registers that RISC-V machines here have. */
#ifndef MXGPU_RV_CSR_H
#define MXGPU_RV_CSR_H

enum {
    CSR_FFLAGS = 0x001,
    CSR_FRM = 0x002,
    CSR_FCSR = 0x003,
    CSR_SATP = 0x180,
    CSR_MSTATUS = 0x300,
    CSR_MISA = 0x301,
    CSR_MEDELEG = 0x302,
    CSR_MIDELEG = 0x303,
    CSR_MIE = 0x304,
    CSR_MTVEC = 0x305,
    CSR_MCOUNTEREN = 0x306,
    CSR_MENVCFG = 0x30a,
    CSR_MSTATUSH = 0x310,
    CSR_MCOUNTINHIBIT = 0x320,
    CSR_MHPMEVENT3 = 0x323,
    CSR_MHPMEVENT31 = 0x33f,
    CSR_MSCRATCH = 0x340,
    CSR_MEPC = 0x341,
    CSR_MCAUSE = 0x342,
    CSR_MTVAL = 0x343,
    CSR_MIP = 0x344,
    CSR_PMPCFG0 = 0x3a0,
    CSR_PMPADDR0 = 0x3b0,
    CSR_TSELECT = 0x7a0,
    CSR_TDATA3 = 0x7a3,
    CSR_TINFO = 0x7a4,
    CSR_MCYCLE = 0xb00,
    CSR_MINSTRET = 0xb02,
    CSR_MHPMCOUNTER3 = 0xb03,
    CSR_MHPMCOUNTER31 = 0xb1f,
    CSR_MCYCLEH = 0xb80,
    CSR_MINSTRETH = 0xb82,
    CSR_MHPMCOUNTER3H = 0xb83,
    CSR_MHPMCOUNTER31H = 0xb9f,
    CSR_CYCLE = 0xc00,
    CSR_TIME = 0xc01,
    CSR_INSTRET = 0xc02,
    CSR_HPMCOUNTER31 = 0xc1f,
    CSR_CYCLEH = 0xc80,
    CSR_INSTRETH = 0xc82,
    CSR_MVENDORID = 0xf11,
    CSR_MARCHID = 0xf12,
    CSR_MIMPID = 0xf13,
    CSR_MHARTID = 0xf14,
    CSR_MCONFIGPTR = 0xf15,
};

/* Bits of an entry of pmpcfg; without the lock bit, which none has here. */
#define PMPCFG_R    1
#define PMPCFG_W    2
#define PMPCFG_BITS 0x1f

#endif
