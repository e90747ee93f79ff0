/* SPDX-License-Identifier: MIT */
/* What traps, with which cause, value and pc; privilege; return from traps. */
#include "traps.h"
        .option norvc
        BEGIN_MODE(3)
        TRAPS(2, 2, .word 0)
        TRAPS(3, 2, .word 0xffffffff)
        TRAPS(4, 2, csrr a0, 0x5c0)
        TRAPS(5, 2, csrw mhartid, zero)
        TRAPS(6, 3, ebreak)
        la a1, cell
        addi a1, a1, 2
        TRAPS(7, 4, lr.w a0, (a1))
        TRAPS(8, 6, sc.w a0, a0, (a1))
        TRAPS(9, 6, amoadd.w a0, a0, (a1))
        CASE(10, s5, 0, la a1, cell; addi a1, a1, 2; sub s5, s4, a1) /* mtval */
        li a1, 16
        TRAPS(11, 5, lw a0, 0(a1))
        TRAPS(12, 7, sw a0, 0(a1))
        CASE(13, s4, 16, nop)
        li gp, 14
        li s1, 1
        li s2, 64
        la s3, 1f
        jr s2
1:      CASE(15, a0, 0x1234, li a0, 0x1234; csrw mscratch, a0; li a0, 0;
                csrr a0, mscratch)
        CASE(16, a0, 0x1234, csrrc a0, mscratch, a0)
        CASE(17, a0, 0, csrrsi a0, mscratch, 9)
        CASE(18, a0, 9, csrrwi a0, mscratch, 0)
#if __riscv_xlen == 64
        /* go to user mode, where machine CSRs and mret are illegal */
        li a1, 0x1800
        csrc mstatus, a1
        la a0, 1f
        csrw mepc, a0
        mret
1:      TRAPS(20, 2, csrr a0, mscratch)
        CASE(21, s6, 0, nop) /* mpp: user */
        TRAPS(22, 2, csrw mstatus, zero)
        TRAPS(23, 2, mret)
        TRAPS(24, 2, sfence.vma)
#endif
        END
        TRAP_HANDLER
        .data
        .balign 8
cell:   .dword 0
