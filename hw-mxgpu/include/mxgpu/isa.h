/* SPDX-License-Identifier: MIT */
/*
 * GPU instructions: R-type in the custom-0 opcode space (0x0b).
 *
 *   31    25 24 20 19 15 14  12 11 7 6      0
 *  | funct7 | rs2 | rs1 |funct3| rd | 0001011 |
 *
 * x registers throughout. "Active" lanes are those that execute the
 * instruction together. Encodings not listed are illegal.
 */
#ifndef MXGPU_ISA_H
#define MXGPU_ISA_H

#define MXGPU_OPCODE_CUSTOM0 0x0b

/* funct3: group */
#define MXGPU_F3_CONTROL 0
#define MXGPU_F3_SHUFFLE 1
#define MXGPU_F3_VOTE    2
#define MXGPU_F3_FATOMIC 3

/* CONTROL, funct7 */
#define MXGPU_F7_EXIT     0 /* the thread ends; rd = rs1 = rs2 = 0 */
#define MXGPU_F7_BARRIER  1 /* block barrier, counted per thread; all 0 */
#define MXGPU_F7_BAR_AND  2 /* barrier; rd = all threads' rs1 nonzero */
#define MXGPU_F7_BAR_OR   3 /* barrier; rd = any thread's rs1 nonzero */
#define MXGPU_F7_BAR_COUNT 4 /* barrier; rd = threads whose rs1 is nonzero */
#define MXGPU_F7_WARPSYNC 5 /* wait for every live lane of mask rs1; then they
                               run together */

/* SHUFFLE, funct7: rd = rs1 of lane rs2 & 63; of the own lane if that one is
 * not active. The value is moved as 64 bits. */
#define MXGPU_F7_SHFL 0

/* VOTE, funct7; lane n is bit n; inactive lanes give 0 */
#define MXGPU_F7_BALLOT      0 /* rd = lanes whose rs1 is nonzero */
#define MXGPU_F7_ACTIVE      1 /* rd = active lanes; rs1 = rs2 = 0 */
#define MXGPU_F7_MATCH_ANY   2 /* rd = lanes whose rs1 equals the own */

/* FATOMIC, funct7: rd = old value at address rs1 (bits, f32 sign-extended),
 * memory = old op rs2, atomically; naturally aligned */
#define MXGPU_F7_FADD_S 0
#define MXGPU_F7_FADD_D 1
#define MXGPU_F7_FMIN_S 2
#define MXGPU_F7_FMIN_D 3
#define MXGPU_F7_FMAX_S 4
#define MXGPU_F7_FMAX_D 5

/* ecall: the number of the system call is in a7. Others fault as unknown. */
#define MXGPU_SYS_ASSERT 1 /* an assertion failed: ends the kernel */

#endif
