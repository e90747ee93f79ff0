/* SPDX-License-Identifier: MIT */
/*
 * Environment of the test programs of mx-isa-run: start code, trap vector and
 * end as machine-mode ISA tests use to have them, and macros for test cases.
 * The number of the case that runs is in gp; tohost gets 1, or it << 1 | 1.
 */
#ifndef MXGPU_TESTS_ISA_ENV_H
#define MXGPU_TESTS_ISA_ENV_H

#if __riscv_xlen == 64
#define LREG ld
#define SREG sd
#define REG_BYTES 8
#define SIGN_BITS 63
#else
#define LREG lw
#define SREG sw
#define REG_BYTES 4
#define SIGN_BITS 31
#endif

/* A CSR that this machine may not have: what traps is skipped. */
#define MAYBE(insn...)                                                         \
        la t0, 9f;                                                             \
        csrw mtvec, t0;                                                        \
        insn;                                                                  \
        .balign 4;                                                             \
9:

/* Programs begin with this and go on in the mode of mpp: 0 user, 3 machine. */
#define BEGIN_MODE(mpp)                                                        \
        .section .text.init, "ax", @progbits;                                  \
        .globl _start;                                                         \
        .weak trap_handler;                                                    \
_start: j start_of_test;                                                       \
        .balign 4;                                                             \
trap_vector:                                                                   \
        csrr t5, mcause;                                                       \
        li t6, 8;                                                              \
        beq t5, t6, end_of_test;                                               \
        li t6, 9;                                                              \
        beq t5, t6, end_of_test;                                               \
        li t6, 11;                                                             \
        beq t5, t6, end_of_test;                                               \
        la t5, trap_handler;                                                   \
        beqz t5, 1f;                                                           \
        jr t5;                                                                 \
1:      ori gp, gp, 1337;                                                      \
end_of_test:                                                                   \
        la t5, tohost;                                                         \
        sw gp, 0(t5);                                                          \
        sw zero, 4(t5);                                                        \
        j end_of_test;                                                         \
start_of_test:                                                                 \
        li x1, 0; li x2, 0; li x3, 0; li x4, 0; li x5, 0; li x6, 0; li x7, 0;  \
        li x8, 0; li x9, 0; li x10, 0; li x11, 0; li x12, 0; li x13, 0;        \
        li x14, 0; li x15, 0; li x16, 0; li x17, 0; li x18, 0; li x19, 0;      \
        li x20, 0; li x21, 0; li x22, 0; li x23, 0; li x24, 0; li x25, 0;      \
        li x26, 0; li x27, 0; li x28, 0; li x29, 0; li x30, 0; li x31, 0;      \
        csrr a0, mhartid;                                                      \
8:      bnez a0, 8b;                                                           \
        MAYBE(csrwi 0x744, 8) /* mnstatus */                                   \
        MAYBE(csrwi satp, 0)                                                   \
        MAYBE(li t0, -1; csrw pmpaddr0, t0; li t0, 31; csrw pmpcfg0, t0)       \
        csrwi mie, 0;                                                          \
        MAYBE(csrwi medeleg, 0; csrwi mideleg, 0)                              \
        li gp, 0;                                                              \
        la t0, trap_vector;                                                    \
        csrw mtvec, t0;                                                        \
        csrwi mstatus, 0;                                                      \
        li a0, (mpp) << 11 | 1 << 13; /* mpp, fs */                            \
        csrs mstatus, a0;                                                      \
        la t0, 1f;                                                             \
        csrw mepc, t0;                                                         \
        csrr a0, mhartid;                                                      \
        mret;                                                                  \
1:
#define BEGIN BEGIN_MODE(0)

#define PASS                                                                   \
        fence;                                                                 \
        li gp, 1;                                                              \
        li a7, 93;                                                             \
        li a0, 0;                                                              \
        ecall
#define FAIL                                                                   \
        fence;                                                                 \
8:      beqz gp, 8b;                                                           \
        slli gp, gp, 1;                                                        \
        ori gp, gp, 1;                                                         \
        li a7, 93;                                                             \
        mv a0, gp;                                                             \
        ecall

/* Behind the last case. */
#define END                                                                    \
        bnez zero, failed;                                                     \
        PASS;                                                                  \
failed: FAIL;                                                                  \
        unimp;                                                                 \
        TOHOST
#ifdef NO_TOHOST
#define TOHOST
#else
#define TOHOST                                                                 \
        .section .tohost, "aw", @progbits;                                     \
        .balign 64;                                                            \
        .globl tohost;                                                         \
tohost: .dword 0;                                                              \
        .size tohost, 8;                                                       \
        .balign 64;                                                            \
        .globl fromhost;                                                       \
fromhost: .dword 0;                                                            \
        .size fromhost, 8
#endif

/* Case n: code leaves the wanted value in reg. */
#define CASE(n, reg, want, code...)                                            \
        li gp, n;                                                              \
        code;                                                                  \
        li t2, want;                                                           \
        bne reg, t2, failed

/* rd = a op b; sources and destination may be one register. */
#define CASE_RR(n, op, want, a, b)                                             \
        CASE(n, a4, want, li a1, a; li a2, b; op a4, a1, a2)
#define CASE_RR_SAME(n, op, want, a, b)                                        \
        CASE(n, a1, want, li a1, a; li a2, b; op a1, a1, a2)
#define CASE_RI(n, op, want, a, imm)                                           \
        CASE(n, a4, want, li a1, a; op a4, a1, imm)
#define CASE_R(n, op, want, a) CASE(n, a4, want, li a1, a; op a4, a1)

#endif
