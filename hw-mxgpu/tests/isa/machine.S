/* SPDX-License-Identifier: MIT */
/* CSRs of machine mode: what they hold, what they count, which there are not. */
#include "traps.h"
/* csr takes value and then reads want */
#define HOLDS(n, csr, value, want)                                             \
        CASE(n, a0, want, li a0, value; csrw csr, a0; csrr a0, csr)
#if __riscv_xlen == 64
#define PMPADDR_MAX 0x3fffffffffffff
#else
#define PMPADDR_MAX -1
#endif
        .option norvc
        BEGIN_MODE(3)
        CASE(2, a0, 0, csrr a1, misa; csrw misa, zero; csrr a0, misa;
                sub a0, a0, a1)
        HOLDS(3, tselect, -1, 0)
        HOLDS(4, tdata1, -1, 0)
        HOLDS(5, tdata2, -1, 0)
        HOLDS(6, tdata3, -1, 0)
        CASE(7, a0, 1, csrr a0, 0x7a4 /* tinfo */)
        /* protection: grain of 4 bytes, no reserved permissions, no lock */
        csrw pmpcfg0, zero
        HOLDS(8, pmpaddr0, -1, PMPADDR_MAX)
        HOLDS(9, pmpcfg0, 0x18, 0x18)
        CASE(10, a0, PMPADDR_MAX, csrr a0, pmpaddr0)
        HOLDS(11, pmpcfg0, 0x1f, 0x1f)
        HOLDS(12, pmpcfg0, 0x1a, 0x18)
        HOLDS(13, pmpcfg0, 0x89, 0x09)
        HOLDS(14, pmpcfg2, 0x0f1b0000, 0x0f1b0000)
        HOLDS(15, pmpaddr15, 0x1234, 0x1234)
        csrw pmpcfg2, zero
        /* user and machine are the modes that there may be */
        li a0, 0x1800
        csrs mstatus, a0
        li a0, 0x1000
        csrc mstatus, a0
        CASE(16, a1, 0, csrr a1, mstatus; li a0, 0x800; and a1, a1, a0;
                srli a2, a1, 11; csrr a1, mstatus; srli a1, a1, 12;
                andi a1, a1, 1; xor a1, a1, a2)
        /* counters: each instruction, but not the one that writes */
        CASE(20, a1, 3, csrr a0, minstret; nop; nop; csrr a1, minstret;
                sub a1, a1, a0)
        HOLDS(21, minstret, 77, 77)
        HOLDS(22, minstret, -1, -1)
        CASE(23, a1, 0, li a0, -1; csrw minstret, a0; nop; csrr a1, minstret)
        CASE(24, a1, 1, csrw minstret, zero; 1: nop; csrr a1, instret)
        CASE(25, a1, 1, csrw mcycle, zero; nop; csrr a1, cycle)
#if __riscv_xlen == 32
        CASE(26, a1, 5, csrw minstreth, zero; li a0, -1; csrw minstret, a0;
                csrwi minstreth, 5; csrr a1, minstreth)
        CASE(27, a1, 6, csrr a1, instreth)
        CASE(28, a1, 5, csrwi mcycleh, 4; csrw mcycle, a0; nop;
                csrr a1, cycleh)
        HOLDS(29, mhpmcounter31h, -1, 0)
#endif
        HOLDS(30, mhpmcounter3, -1, 0)
        HOLDS(31, mhpmevent31, -1, 0)
        TRAPS(32, 2, csrw cycle, zero)
        TRAPS(33, 2, csrw instret, zero)
        /* no supervisor, no debugger */
        TRAPS(40, 2, csrr a0, sstatus)
        TRAPS(41, 2, csrr a0, dcsr)
        TRAPS(42, 2, sret)
        TRAPS(43, 2, sfence.vma)
        TRAPS(44, 2, .word 0x7b200073) /* dret */
        TRAPS(45, 2, csrr a0, 0x744)   /* mnstatus */
        /* exceptions are not vectored */
        csrr a0, mtvec
        ori a0, a0, 1
        csrw mtvec, a0
        TRAPS(46, 3, ebreak)
        CASE(47, a0, 0, csrr a0, mtvec; andi a0, a0, 2)
        END
        TRAP_HANDLER
