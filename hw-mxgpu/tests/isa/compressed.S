/* SPDX-License-Identifier: MIT */
#include "env.h"
        .option rvc
        BEGIN
        CASE(2, a4, -32, c.li a4, -32)
        CASE(3, a4, -31, c.addi a4, 1)
        CASE(4, a5, -0x1f000, c.lui a5, 0xfffe1)
        CASE(5, s0, -992, li sp, 0; c.addi16sp sp, -496; c.addi16sp sp, -496;
                c.mv s0, sp)
        CASE(6, a0, 1020, li sp, 0; c.addi4spn a0, sp, 1020)
        CASE(7, s1, 0x60, li s1, 6; c.slli s1, 4)
        CASE(8, s1, 6, c.srli s1, 4)
        CASE(9, s1, -1, li s1, -2; c.srai s1, 1)
        CASE(10, s1, 0x12, li s1, 0x3f2; c.andi s1, 0x1e)
        CASE(11, s1, 3, li s1, 10; li a1, 7; c.sub s1, a1)
        CASE(12, s1, 6, li s1, 1; li a1, 7; c.xor s1, a1)
        CASE(13, s1, 15, li s1, 9; li a1, 7; c.or s1, a1)
        CASE(14, s1, 1, li s1, 9; li a1, 7; c.and s1, a1)
        CASE(15, s1, 16, li s1, 9; li a1, 7; c.add s1, a1)
        la sp, space
        la s0, space
        li a1, 0x7654321
        CASE(16, a4, 0x7654321, c.swsp a1, 124(sp); c.lwsp a4, 124(sp))
        CASE(17, a4, 0x7654321, c.lw a4, 124(s0))
        CASE(18, a5, 0x7654321, c.sw a4, 64(s0); lw a5, 64(sp))
        CASE(19, a4, 0, c.li a4, 0; c.beqz a4, 1f; j failed; 1:)
        CASE(20, a4, 1, c.li a4, 1; c.bnez a4, 1f; j failed; 1:)
        CASE(21, a4, 1, c.j 1f; j failed; 1:)
        CASE(22, a4, 1, la a1, 1f; c.jalr a1; j failed; 1:)
        CASE(23, a4, 1, la a1, 1f; c.jr a1; j failed; 1:)
        CASE(24, a4, 1, c.nop)
#if __riscv_xlen == 64
        CASE(25, a4, -0x80000000, li a4, 0x7fffffff; c.addiw a4, 1)
        CASE(26, s1, -1, li s1, 0x100000000; li a1, 0x1; c.subw s1, a1)
        CASE(27, s1, 0, li s1, 0xffffffff; li a1, 0x1; c.addw s1, a1)
        li a1, 0x123456789abcdef0
        CASE(28, a4, 0x123456789abcdef0, c.sdsp a1, 504(sp); c.ldsp a4, 504(sp))
        CASE(29, a5, 0x123456789abcdef0, c.sd a4, 248(s0); c.ld a5, 248(s0))
        CASE(30, a5, 0x123456789abcdef0, c.fldsp fs0, 504(sp);
                c.fsdsp fs0, 256(sp); c.fld fs1, 248(s0); c.fsd fs1, 240(s0);
                ld a5, 240(s0))
        CASE(31, s1, 1, li s1, 1; c.slli s1, 63; c.srli s1, 63)
#else
        CASE(32, ra, 2, la a1, 1f; c.jal 2f; 1: j failed; 2: sub ra, ra, a1;
                addi ra, ra, 2)
#endif
        j over
        .section .text
        .balign 4096
        .space 4094
        /* four bytes in two pages */
over:   .option norvc
        addi a4, zero, 55
        .option rvc
        c.j back
        .section .text.init
back:   CASE(33, a4, 55, c.nop)
        END
        .data
        .balign 16
space:  .space 1024
