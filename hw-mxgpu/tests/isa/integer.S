/* SPDX-License-Identifier: MIT */
/* The base instructions between registers and with immediates. */
#include "env.h"
#define TOP (1 << SIGN_BITS)
        BEGIN
        CASE_RR(2, add, 0, 0, 0)
        CASE_RR(3, add, 10, 3, 7)
        CASE_RR(4, add, TOP, 1, TOP - 1)
        CASE_RR_SAME(5, add, 24, 13, 11)
        CASE_RR(6, sub, -4, 3, 7)
        CASE_RR(7, sub, TOP - 1, TOP, 1)
        CASE_RR(8, and, 0x0f000f00, 0x0ff00ff0, 0x0f0f0f0f)
        CASE_RR(9, or, 0x7f0f0f0f, 0x70000000, 0x0f0f0f0f)
        CASE_RR(10, xor, -1, 0x0f0f0f0f, ~0x0f0f0f0f)
        CASE_RR(11, slt, 1, -1, 0)
        CASE_RR(12, slt, 0, 0, TOP)
        CASE_RR(13, sltu, 0, -1, 0)
        CASE_RR(14, sltu, 1, 0, TOP)
        CASE_RR(15, sll, TOP, 1, SIGN_BITS)
        CASE_RR(16, sll, 4, 1, SIGN_BITS + 3)
        CASE_RR(17, srl, 1, TOP, SIGN_BITS)
        CASE_RR(18, sra, -1, TOP, SIGN_BITS)
        CASE_RI(19, addi, -2048, 0, -2048)
        CASE_RI(20, andi, 0x700, 0x7ff, 0x700)
        CASE_RI(21, ori, -1, 0x7ff, -2048)
        CASE_RI(22, xori, -1, 0, -1)
        CASE_RI(23, slti, 1, -3, -2)
        CASE_RI(24, sltiu, 1, 5, -1)
        CASE_RI(25, slli, TOP, 1, SIGN_BITS)
        CASE_RI(26, srli, 1, TOP, SIGN_BITS)
        CASE_RI(27, srai, -1, TOP, SIGN_BITS)
        CASE(28, a4, 0x12345000, lui a4, 0x12345)
        CASE(29, a4, 0, la a4, 1f; 1: auipc a5, 0; sub a4, a4, a5)
        CASE(30, x0, 0, li a1, 5; add x0, a1, a1; addi x0, a1, 3; lui x0, 7)
        /* each register as source and destination */
        .macro through reg
        li gp, 31
        li a1, 0x5a5
        mv \reg, a1
        addi \reg, \reg, 1
        mv a2, \reg
        li t2, 0x5a6
        bne a2, t2, failed
        .endm
        .irp r, x1, x4, x5, x6, x8, x9, x10, x12, x13, x14, x15, x16, x17, x18
        through \r
        .endr
        .irp r, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31
        through \r
        .endr
        j far
        .section .text
far:    li gp, 32
        la a0, back
        jr a0
        .section .text.init
back:
#if __riscv_xlen == 64
        CASE_RR(33, addw, -0x80000000, 0x7fffffff, 1)
        CASE_RR(34, subw, 0x7fffffff, -0x80000000, 1)
        CASE_RR(35, sllw, -0x80000000, 1, 63)
        CASE_RR(36, srlw, 1, 0xffffffff80000000, 31)
        CASE_RR(37, sraw, -1, 0x80000000, 31)
        CASE_RI(38, addiw, 0, 0xffffffff, 1)
        CASE_RI(39, slliw, 0x20, 0x1234567800000001, 5)
        CASE_RI(40, srliw, 0x40000000, 0x80000000, 1)
        CASE_RI(41, sraiw, -0x40000000, 0x80000000, 1)
#endif
        END
