/* SPDX-License-Identifier: MIT */
/* Code that is run, changed and run again, many times: a lane that is ahead of
 * others must not change what these are yet to run. */
#include "env.h"
#define CALL(n, want)                                                          \
        CASE(n, a0, want, li a0, 0; jalr ra, s2, 0)
        .option norvc
        BEGIN
        li s0, 20
        la s2, code
        la a1, insns
        lw s3, 0(a1)
        lw s4, 4(a1)
again:  sw s3, 0(s2)
        fence.i
        CALL(2, 1)
        sw s4, 0(s2)
        fence.i
        CALL(3, 2)
        addi s0, s0, -1
        bnez s0, again
        /* an instruction in two pages, by halves, to one of another length */
        la s2, across
        CALL(4, 3)
        la a1, insns
        lhu a2, 4(a1)
        lhu a3, 6(a1)
        sh a2, 0(s2)
        sh a3, 2(s2)
        fence.i
        CALL(5, 2)
        lhu a2, 8(a1)
        lhu a3, 10(a1)
        sh a2, 0(s2)
        sh a3, 2(s2)
        fence.i
        CALL(6, 5)
        END
        .data
        .balign 4
insns:  addi a0, a0, 1
        addi a0, a0, 2
        .option rvc
        c.addi a0, 2
        c.addi a0, 3
        .option norvc
code:   unimp
        ret
        .balign 4096
        .space 4094
across: addi a0, a0, 3
        ret
