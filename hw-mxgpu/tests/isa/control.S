/* SPDX-License-Identifier: MIT */
/* Branches, jumps, calls, recursion. */
#include "env.h"
#define TAKEN(n, op, a, b)                                                     \
        li gp, n;                                                              \
        li a1, a;                                                              \
        li a2, b;                                                              \
        op a1, a2, 2f;                                                         \
        j failed;                                                              \
1:      j 3f;                                                                  \
2:      op a1, a2, 1b;                                                         \
        j failed;                                                              \
3:
#define NOT_TAKEN(n, op, a, b)                                                 \
        li gp, n;                                                              \
        li a1, a;                                                              \
        li a2, b;                                                              \
        op a1, a2, 1f;                                                         \
        j 2f;                                                                  \
1:      j failed;                                                              \
2:
        BEGIN
        TAKEN(2, beq, -1, -1)
        NOT_TAKEN(3, beq, 0, 1)
        TAKEN(4, bne, 0, 1)
        NOT_TAKEN(5, bne, 1, 1)
        TAKEN(6, blt, -2, -1)
        NOT_TAKEN(7, blt, 1, -2)
        TAKEN(8, bge, -1, -1)
        NOT_TAKEN(9, bge, -2, 1)
        TAKEN(10, bltu, 1, -2)
        NOT_TAKEN(11, bltu, -1, -2)
        TAKEN(12, bgeu, -1, -2)
        NOT_TAKEN(13, bgeu, 1, -2)
        CASE(14, a4, 3, li a4, 1; jal ra, 1f; j failed; addi a4, a4, 40;
                1: addi a4, a4, 2)
        .balign 4
        CASE(15, ra, 0, .option push; .option norvc; jal ra, 1f;
                1: la a5, 1b; sub ra, ra, a5; .option pop)
        CASE(16, t0, 0, la t0, 1f; .option push; .option norvc;
                jalr t0, 1(t0); 1: la a5, 1b; sub t0, t0, a5; .option pop)
        li gp, 17
        la sp, stack_end
        li a0, 12
        call fib
        li t2, 144
        bne a0, t2, failed
        CASE(18, a4, 5050, li a4, 0; li a1, 100; 1: add a4, a4, a1;
                addi a1, a1, -1; bnez a1, 1b)
        END
        .section .text
fib:    li a1, 2
        blt a0, a1, 1f
        addi sp, sp, -2 * REG_BYTES
        SREG ra, 0(sp)
        addi a0, a0, -1
        SREG a0, REG_BYTES(sp)
        call fib
        LREG a1, REG_BYTES(sp)
        SREG a0, REG_BYTES(sp)
        addi a0, a1, -1
        call fib
        LREG a1, REG_BYTES(sp)
        add a0, a0, a1
        LREG ra, 0(sp)
        addi sp, sp, 2 * REG_BYTES
1:      ret
        .data
        .space 1024
        .balign 16
stack_end:
        .dword 0
