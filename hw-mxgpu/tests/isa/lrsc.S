/* SPDX-License-Identifier: MIT */
#include "env.h"
        BEGIN
        /* one hart alone does this; the others would wait here for ever */
        la a0, hart
        li a1, 1
        amoadd.w a2, a1, (a0)
1:      bgtz a2, 1b
        CASE(2, a4, 1, la a0, cell; li a5, 77; sc.w a4, a5, (a0))
        CASE(3, a4, 1, la a1, other; lr.w a5, (a1); sc.w a4, a5, (a0))
        CASE(4, a4, 0, lw a4, 0(a0))
        li gp, 5
        li a1, 100
        li a2, 3
1:      lr.w.aq a4, (a0)
        add a4, a4, a2
        sc.w.rl a4, a4, (a0)
        bnez a4, 1b
        addi a1, a1, -1
        bnez a1, 1b
        CASE(5, a4, 300, lw a4, 0(a0))
        CASE(6, a4, 1, 1: lr.w a5, (a0); sc.w a4, x0, (a0); bnez a4, 1b;
                sc.w a4, x0, (a0))
        CASE(7, a4, -7, li a5, -7; sw a5, 0(a0); lr.w a4, (a0))
#if __riscv_xlen == 64
        CASE(8, a4, 1, lr.w a5, (a0); sc.d a4, x0, (a0))
        CASE(9, a4, 0, 1: lr.d a5, (a0); addi a5, a5, 1; sc.d a4, a5, (a0);
                bnez a4, 1b)
        CASE(10, a4, 0xfffffffa, ld a4, 0(a0))
#endif
        END
        .data
        .balign 8
cell:   .dword 0
other:  .dword 0
hart:   .dword 0
