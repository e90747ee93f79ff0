/* SPDX-License-Identifier: MIT */
/* Code that is written, in pages of data and of code, and run after fence.i. */
#include "env.h"
#define PATCH(at)                                                              \
        la a0, at;                                                             \
        la a1, new_insn;                                                       \
        lhu a2, 0(a1);                                                         \
        lhu a4, 2(a1);                                                         \
        sh a2, 0(a0);                                                          \
        sh a4, 2(a0);                                                          \
        fence.i
        .option norvc
        BEGIN
        li a3, 111
        PATCH(first)
        la a5, first
        jalr t1, a5, 0
        CASE(2, a3, 444, nop)
        li a4, 100
1:      addi a4, a4, -1
        bnez a4, 1b
        la a5, second
        jalr t1, a5, 0 /* decoded and run as it is ... */
        CASE(3, a3, 999, nop)
        PATCH(second) /* ... and again when it is not the same */
        la a5, second
        jalr t1, a5, 0
        CASE(4, a3, 1332, nop)
        li a3, 0
        PATCH(here) /* ahead in this very page */
here:   addi a3, a3, 222
        CASE(5, a3, 333, nop)
        li a3, 0
        PATCH(across) /* an instruction that lies in two pages */
        la a5, across
        jalr t1, a5, 0
        CASE(6, a3, 333, nop)
        END
        .data
new_insn:
        addi a3, a3, 333
        .balign 4
first:  addi a3, a3, 222
        jalr a5, t1, 0
second: addi a3, a3, 555
        jalr a5, t1, 0
        .balign 4096
        .space 4094
        .option rvc
across: .word 0x22268693 /* addi a3, a3, 0x222 */
        jalr a5, t1, 0
