/* SPDX-License-Identifier: MIT */
/*
 * GPU instructions: R-type in the custom-0 opcode space (0x0b).
 *
 *   31    25 24 20 19 15 14  12 11 7 6      0
 *  | funct7 | rs2 | rs1 |funct3| rd | 0001011 |
 *
 * x registers throughout, but for the f32 accumulators of MMA. "Active" lanes
 * are those that execute the instruction together. Encodings not listed are
 * illegal.
 */
#ifndef MXGPU_ISA_H
#define MXGPU_ISA_H

#define MXGPU_OPCODE_CUSTOM0 0x0b

/* funct3: group */
#define MXGPU_F3_CONTROL 0
#define MXGPU_F3_SHUFFLE 1
#define MXGPU_F3_VOTE    2
#define MXGPU_F3_FATOMIC 3
#define MXGPU_F3_REDUCE  4
#define MXGPU_F3_MMA     5

/* CONTROL, funct7 */
#define MXGPU_F7_EXIT     0 /* the thread ends; rd = rs1 = rs2 = 0 */
#define MXGPU_F7_BARRIER  1 /* block barrier, counted per thread; all 0 */
#define MXGPU_F7_BAR_AND  2 /* barrier; rd = all threads' rs1 nonzero */
#define MXGPU_F7_BAR_OR   3 /* barrier; rd = any thread's rs1 nonzero */
#define MXGPU_F7_BAR_COUNT 4 /* barrier; rd = threads whose rs1 is nonzero */
#define MXGPU_F7_WARPSYNC 5 /* wait for every live lane of mask rs1; then they
                               run together */
/* Named barriers of the block, number rs1. It opens when rs2 threads (0: all
 * that have not ended) have arrived; all must give the same rs2. rd = 0 */
#define MXGPU_F7_BAR_SYNC   6 /* arrives and waits */
#define MXGPU_F7_BAR_ARRIVE 7 /* arrives and goes on */
#define MXGPU_F7_GRID_SYNC  8 /* barrier of all threads of a cooperative
                                 dispatch that have not ended; all 0 */
#define MXGPU_NAMED_BARRIERS 16

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

/* REDUCE, funct7: rd = rs1 combined over the active lanes of mask rs2, each
 * lane with its own mask. 32-bit forms use the low half and sign-extend. In
 * each of six steps lane i takes lane i + 32, 16, 8, 4, 2, 1. */
#define MXGPU_F7_RED_ADD    0
#define MXGPU_F7_RED_MIN    1
#define MXGPU_F7_RED_MAX    2
#define MXGPU_F7_RED_MINU   3
#define MXGPU_F7_RED_MAXU   4
#define MXGPU_F7_RED_AND    5
#define MXGPU_F7_RED_OR     6
#define MXGPU_F7_RED_XOR    7
#define MXGPU_F7_RED_W      8 /* or'ed to the above: 32 bits */
#define MXGPU_F7_RED_FADD_S 16 /* bits of floats, as in FATOMIC */
#define MXGPU_F7_RED_FMIN_S 17
#define MXGPU_F7_RED_FMAX_S 18
#define MXGPU_F7_RED_FADD_D 20
#define MXGPU_F7_RED_FMIN_D 21
#define MXGPU_F7_RED_FMAX_D 22

/* MMA, funct7: D = A * B + D of 16 x 16 matrices by all 64 lanes (fewer:
 * illegal). In row-major order, element i of A (rs1) and B (rs2) is piece i % 4
 * of lane i / 4, element i of D is register rd + i / 64 of lane i % 64. */
#define MXGPU_F7_MMA_F32_F16  0 /* rd to rd + 3: f registers, 16-bit pieces */
#define MXGPU_F7_MMA_F32_BF16 1
#define MXGPU_F7_MMA_I32_I8   2 /* rd to rd + 3: x registers, not x0; 8-bit */
#define MXGPU_F7_MMA_I32_U8   3

/* ecall: the number of the system call is in a7. Others fault as unknown. */
#define MXGPU_SYS_ASSERT 1 /* an assertion failed: ends the kernel */

#endif
