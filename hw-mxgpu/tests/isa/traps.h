/* SPDX-License-Identifier: MIT */
/* Tests of instructions that must trap. */
#ifndef MXGPU_TESTS_ISA_TRAPS_H
#define MXGPU_TESTS_ISA_TRAPS_H

#include "env.h"

/* insn, 4 bytes at 1f, must trap with this cause */
#define TRAPS(n, cause, insn...)                                               \
        li gp, n;                                                              \
        li s1, cause;                                                          \
        la s2, 7f;                                                             \
        la s3, 6f;                                                             \
7:      insn;                                                                  \
        j failed;                                                              \
6:

/* Behind END: the test goes on behind the instruction, with bits of s9 set in
 * mstatus; s4 gets mtval, s6 the bits of mstatus.MPP. */
#define TRAP_HANDLER                                                           \
        .section .text.init;                                                   \
        .balign 4;                                                             \
trap_handler:                                                                  \
        csrr t0, mcause;                                                       \
        bne t0, s1, bad;                                                       \
        csrr t0, mepc;                                                         \
        bne t0, s2, bad;                                                       \
        csrr s4, mtval;                                                        \
        csrr s6, mstatus;                                                      \
        li t0, 0x1800;                                                         \
        and s6, s6, t0;                                                        \
        csrw mepc, s3;                                                         \
        csrs mstatus, s9;                                                      \
        mret;                                                                  \
bad:    slli gp, gp, 1;                                                        \
        ori gp, gp, 1;                                                         \
        j end_of_test

#endif
