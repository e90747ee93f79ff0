/* SPDX-License-Identifier: MIT */
/*
 * Instructions that access memory, for test-places.c and its kernel:
 *   L(number, ID, mnemonic, bytes, signed)       loads
 *   S(number, ID, mnemonic, bytes)               stores: operands follow, or
 *                                                a remark begins
 *   A(number, ID, how it is assembled, bytes, value that replaces M, operand B)
 */
#ifndef PLACE_OPS_H
#define PLACE_OPS_H

#define PLACE_LOADS(L)                                                         \
    L(0, LB, "lb", 1, 1) L(1, LHU, "lhu", 2, 0) L(2, LW, "lw", 4, 1)           \
    L(3, LD, "ld", 8, 0) L(4, LBU, "lbu", 1, 0) L(5, LH, "lh", 2, 1)           \
    L(6, LWU, "lwu", 4, 0)                                                     \
    L(7, FLW, "flw ft0, (%1)\n\tfmv.x.w %0, ft0 #", 4, 1)                      \
    L(12, FLD, "fld ft0, (%1)\n\tfmv.x.d %0, ft0 #", 8, 0)
#define PLACE_STORES(S)                                                        \
    S(8, SB, "sb", 1) S(9, SH, "sh", 2) S(10, SW, "sw", 4) S(11, SD, "sd", 8)  \
    S(13, FSW, "fmv.w.x ft0, %0\n\tfsw ft0, (%1) #", 4)                        \
    S(14, FSD, "fmv.d.x ft0, %0\n\tfsd ft0, (%1) #", 8)
#define PLACE_AMO(n) "amo" n " %0, %2, (%1)"
#define PLACE_FP(n)  ".insn r 0x0b, 3, " #n ", %0, %1, %2"
#define PLACE_AMOS(A)                                                          \
    A(16, SWAP_W, PLACE_AMO("swap.w"), 4, B)                                   \
    A(17, ADD_W, PLACE_AMO("add.w"), 4, M + B)                                 \
    A(18, XOR_W, PLACE_AMO("xor.w"), 4, M ^ B)                                 \
    A(19, AND_W, PLACE_AMO("and.w"), 4, M & B)                                 \
    A(20, OR_W, PLACE_AMO("or.w"), 4, M | B)                                   \
    A(21, MIN_W, PLACE_AMO("min.w"), 4, (int32_t)M < (int32_t)B ? M : B)       \
    A(22, MAX_W, PLACE_AMO("max.w"), 4, (int32_t)M > (int32_t)B ? M : B)       \
    A(23, MINU_W, PLACE_AMO("minu.w"), 4,                                      \
      (uint32_t)M < (uint32_t)B ? M : B)                                       \
    A(24, MAXU_W, PLACE_AMO("maxu.w"), 4,                                      \
      (uint32_t)M > (uint32_t)B ? M : B)                                       \
    A(25, SWAP_D, PLACE_AMO("swap.d"), 8, B)                                   \
    A(26, ADD_D, PLACE_AMO("add.d"), 8, M + B)                                 \
    A(27, XOR_D, PLACE_AMO("xor.d"), 8, M ^ B)                                 \
    A(28, AND_D, PLACE_AMO("and.d"), 8, M & B)                                 \
    A(29, OR_D, PLACE_AMO("or.d"), 8, M | B)                                   \
    A(30, MIN_D, PLACE_AMO("min.d"), 8, (int64_t)M < (int64_t)B ? M : B)       \
    A(31, MAX_D, PLACE_AMO("max.d"), 8, (int64_t)M > (int64_t)B ? M : B)       \
    A(32, MINU_D, PLACE_AMO("minu.d"), 8, M < B ? M : B)                       \
    A(33, MAXU_D, PLACE_AMO("maxu.d"), 8, M > B ? M : B)                       \
    A(34, FADD_S, PLACE_FP(0), 4, fp_s(M, B, 'a'))                             \
    A(35, FADD_D, PLACE_FP(1), 8, fp_d(M, B, 'a'))                             \
    A(36, FMIN_S, PLACE_FP(2), 4, fp_s(M, B, '<'))                             \
    A(37, FMIN_D, PLACE_FP(3), 8, fp_d(M, B, '<'))                             \
    A(38, FMAX_S, PLACE_FP(4), 4, fp_s(M, B, '>'))                             \
    A(39, FMAX_D, PLACE_FP(5), 8, fp_d(M, B, '>'))

/* What the kernel leaves in out[], doublewords; a block is one warp. */
#define PLACE_PRIVATE      64  /* of the bottom of each thread's private memory */
#define PLACE_SHARED       512
#define PLACE_OUT_PRIVATE  64
#define PLACE_OUT_SHARED   (PLACE_OUT_PRIVATE + 64 * PLACE_PRIVATE)
#define PLACE_OUT          (PLACE_OUT_SHARED + PLACE_SHARED)
#define PLACE_FILL(t, k)   ((t) * 0x9e3779b97f4a7c15ull + (k) * 0x10101010101ull)
#define PLACE_STACK        8192 /* bytes of private memory */
#define PLACE_NONE         0x5555 /* result of a lane that does nothing */

#endif
