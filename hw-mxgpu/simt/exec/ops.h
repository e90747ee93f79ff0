/* SPDX-License-Identifier: MIT */
/*
 * Lists of the instructions that have functions of their own, and these. They
 * are what the loops of interpreters (exec.c, convoy_exec.c) consist of; exec.c
 * explains their names. What is executed on registers is in
 *
 *   int.c                         integers
 *   fp.c, fp_cvt.c, fp_round.c    floating point
 *   cross.c                       what lanes get from other lanes
 *   memory.c                      loads and stores
 */
#ifndef MXGPU_SIMT_EXEC_OPS_H
#define MXGPU_SIMT_EXEC_OPS_H

#include "lanes.h"

/*
 * Ops on whole registers: F(ID, E, whether the second operand is imm). By what
 * they do to forms of registers:
 *
 *   LINEAR   map lines to lines: there is a line_E() in lines.h
 *   SUM      of these, the ones that may be a move of a register
 *   CLOSED   give, on sign-extended words, the sign extension of what they give
 *            on 32 bits, so words stay words
 *   OTHER    neither
 */
#define SUM_OPS(F) F(ADD, ADD, 0) F(ADDI, ADD, 1)
#define LINEAR_OPS(F)                                                          \
    SUM_OPS(F) OTHER_LINEAR_OPS(F)
#define OTHER_LINEAR_OPS(F)                                                    \
    F(SUB, SUB, 0) F(SLL, SLL, 0) F(SLLI, SLL, 1) F(SRL, SRL, 0)               \
    F(SRLI, SRL, 1) F(SRA, SRA, 0) F(SRAI, SRA, 1) F(MUL, MUL, 0)              \
    F(SH1ADD, SH1ADD, 0) F(SH2ADD, SH2ADD, 0) F(SH3ADD, SH3ADD, 0)             \
    F(ADD_UW, ADD_UW, 0) F(SH1ADD_UW, SH1ADD_UW, 0)                            \
    F(SH2ADD_UW, SH2ADD_UW, 0) F(SH3ADD_UW, SH3ADD_UW, 0)                      \
    F(SLLI_UW, SLLI_UW, 1)
#define CLOSED_OPS(F)                                                          \
    F(SLT, SLT, 0) F(SLTI, SLT, 1) F(SLTU, SLTU, 0) F(SLTIU, SLTU, 1)          \
    F(ANDN, ANDN, 0) F(ORN, ORN, 0) F(XNOR, XNOR, 0)                           \
    F(MIN, MIN, 0) F(MAX, MAX, 0) F(MINU, MINU, 0) F(MAXU, MAXU, 0)            \
    F(CZERO_EQZ, CZERO_EQZ, 0) F(CZERO_NEZ, CZERO_NEZ, 0)                      \
    F(SEXT_B, SEXT_B, 1) F(SEXT_H, SEXT_H, 1) F(ZEXT_H, ZEXT_H, 1)
#define LINEAR_CLOSED_OPS(F)                                                   \
    F(XOR, XOR, 0) F(XORI, XOR, 1) F(OR, OR, 0) F(ORI, OR, 1) F(AND, AND, 0)   \
    F(ANDI, AND, 1)
#define DIVIDE_OPS(F)                                                          \
    F(DIV, DIV, 0) F(DIVU, DIVU, 0) F(REM, REM, 0) F(REMU, REMU, 0)
#define PLAIN_OPS(F)                                                           \
    F(ROR, ROR, 0) F(RORI, ROR, 1) F(ROL, ROL, 0) F(MULH, MULH, 0)             \
    F(MULHSU, MULHSU, 0) F(MULHU, MULHU, 0) F(CLZ, CLZ, 1) F(CTZ, CTZ, 1)      \
    F(CPOP, CPOP, 1) F(ORC_B, ORC_B, 1) F(REV8, REV8, 1)
#define OTHER_OPS(F) PLAIN_OPS(F) DIVIDE_OPS(F)
/* Ops that look at the low words of registers only, and give a word. */
#define WORD_LINEAR_OPS(F)                                                     \
    F(ADDW, ADDW, 0) F(ADDIW, ADDW, 1) F(SUBW, SUBW, 0) F(MULW, MULW, 0)       \
    F(SLLW, SLLW, 0) F(SLLIW, SLLW, 1)
#define WORD_OTHER_OPS(F)                                                      \
    F(SRLW, SRLW, 0) F(SRLIW, SRLW, 1) F(SRAW, SRAW, 0) F(SRAIW, SRAW, 1)      \
    F(RORW, RORW, 0) F(RORIW, RORW, 1) F(ROLW, ROLW, 0) F(DIVW, DIVW, 0)       \
    F(DIVUW, DIVUW, 0) F(REMW, REMW, 0) F(REMUW, REMUW, 0) F(CLZW, CLZW, 1)    \
    F(CTZW, CTZW, 1) F(CPOPW, CPOPW, 1)
#define INTEGER_OPS(F)                                                         \
    LINEAR_OPS(F) CLOSED_OPS(F) LINEAR_CLOSED_OPS(F) OTHER_OPS(F)              \
    WORD_LINEAR_OPS(F) WORD_OTHER_OPS(F)

#define BRANCH_OPS(F) F(BEQ) F(BNE) F(BLT) F(BGE) F(BLTU) F(BGEU)

/* F(ID, bytes, whether they are sign-extended) */
#define LOAD_OPS(F)                                                            \
    F(LB, 1, true) F(LH, 2, true) F(LW, 4, true) F(LD, 8, true)                \
    F(LBU, 1, false) F(LHU, 2, false) F(LWU, 4, false)

/* F(ID, T) */
#define STORE_OPS(F)                                                           \
    F(SB, uint8_t)                                                             \
    F(SH, uint16_t)                                                            \
    F(SW, uint32_t)

/* Other loads and stores. */
#define OTHER_MEMORY_OPS(F) F(SD) F(FLW) F(FLH) F(FLD) F(FSW) F(FSH) F(FSD)

/* Ops done here when fast, F(ID): with f32 and with f64 operands or results. */
#define FP_ARITH_OPS_S(F)                                                      \
    F(FADD_S) F(FSUB_S) F(FMUL_S) F(FDIV_S) F(FSQRT_S) F(FMADD_S) F(FMSUB_S)   \
    F(FNMSUB_S) F(FNMADD_S) F(FMIN_S) F(FMAX_S) F(FEQ_S) F(FLT_S) F(FLE_S)
#define FP_CVT_OPS_S(F)                                                        \
    F(FCVT_W_S) F(FCVT_WU_S) F(FCVT_L_S) F(FCVT_LU_S) F(FCVT_S_W)              \
    F(FCVT_S_WU) F(FCVT_S_L) F(FCVT_S_LU) F(FCVT_S_BF16) F(FCVT_BF16_S)        \
    F(FCVT_S_H) F(FCVT_H_S)                                                    \
    F(FADD_H) F(FSUB_H) F(FMUL_H) F(FDIV_H) F(FSQRT_H) F(FMADD_H) F(FMSUB_H)   \
    F(FNMSUB_H) F(FNMADD_H) F(FMIN_H) F(FMAX_H) F(FEQ_H) F(FLT_H) F(FLE_H)     \
    F(FCVT_W_H) F(FCVT_WU_H) F(FCVT_L_H) F(FCVT_LU_H) F(FCVT_H_W)              \
    F(FCVT_H_WU) F(FCVT_H_L) F(FCVT_H_LU)
#define FP_FLAG_OPS_S(F) FP_ARITH_OPS_S(F) FP_CVT_OPS_S(F)
#define FP_FLAG_OPS_D(F)                                                       \
    F(FADD_D) F(FSUB_D) F(FMUL_D) F(FDIV_D) F(FSQRT_D) F(FMADD_D) F(FMSUB_D)   \
    F(FNMSUB_D) F(FNMADD_D) F(FMIN_D) F(FMAX_D) F(FEQ_D) F(FLT_D) F(FLE_D)     \
    F(FCVT_W_D) F(FCVT_WU_D) F(FCVT_L_D) F(FCVT_LU_D) F(FCVT_D_W)              \
    F(FCVT_D_WU) F(FCVT_D_L) F(FCVT_D_LU) F(FCVT_S_D) F(FCVT_D_S)              \
    F(FCVT_D_H) F(FCVT_H_D)
#define FP_MOVE_OPS(F)                                                         \
    F(FSGNJ_S) F(FSGNJN_S) F(FSGNJX_S) F(FSGNJ_D) F(FSGNJN_D) F(FSGNJX_D)      \
    F(FSGNJ_H) F(FSGNJN_H) F(FSGNJX_H) F(FCLASS_S) F(FCLASS_D) F(FCLASS_H)     \
    F(FMV_X_W) F(FMV_X_H) F(FMV_X_D) F(FMV_W_X) F(FMV_H_X) F(FMV_D_X)

/* ---- functions */

#define DECLARE_INT(ID, E, IMM)                                                \
    void f_##ID(MxgpuWarp *w, const SimtOp *p) SIMT_OWN("f_" #ID);             \
    void m_##ID(MxgpuWarp *w, const SimtOp *p) SIMT_OWN("m_" #ID);
INTEGER_OPS(DECLARE_INT)

/* Bit i of the result: lane i takes the branch. */
#define DECLARE_BRANCH(ID)                                                     \
    uint64_t t_##ID(MxgpuWarp *w, const SimtOp *p) SIMT_OWN("t_" #ID);
BRANCH_OPS(DECLARE_BRANCH)

#define FP_ARGS MxgpuWarp *w, const SimtOp *p, uint64_t mask
typedef void FpFn(FP_ARGS);
#define DECLARE_FP(ID) void fp_##ID(FP_ARGS) SIMT_OWN("fp_" #ID);
FP_FLAG_OPS_S(DECLARE_FP)
/* The same for all lanes. */
#define DECLARE_FULL(ID)                                                       \
    void full_##ID(MxgpuWarp *w, const SimtOp *p) SIMT_OWN("full_" #ID);
FP_FLAG_OPS_S(DECLARE_FULL)
FP_FLAG_OPS_D(DECLARE_FP)
FP_MOVE_OPS(DECLARE_FP)
/* In a rounding mode of its own: whether all lanes of mask could be done. */
bool rounded(FP_ARGS) SIMT_OWN("rounded");

/* Those of the counting interpreters are others: memory_count.c. */
#ifdef SIMT_COUNTING
#define MEMORY_OWN(name) SIMT_OWN("count_" name)
#else
#define MEMORY_OWN(name) SIMT_OWN(name)
#endif
#define MEM_ARGS                                                               \
    MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc, uint64_t mask
#define DECLARE_MEMORY(ID)        bool x_##ID(MEM_ARGS) MEMORY_OWN("x_" #ID);
#define DECLARE_LOAD(ID, N, SIGN) DECLARE_MEMORY(ID)
#define DECLARE_STORE(ID, T)      DECLARE_MEMORY(ID)
LOAD_OPS(DECLARE_LOAD)
STORE_OPS(DECLARE_STORE)
OTHER_MEMORY_OPS(DECLARE_MEMORY)

/* mx.shfl, mx.match.any, mx.reduce, mx.mma of floats and of bytes */
void shuffle(MxgpuWarp *w, const SimtOp *p, uint64_t mask) SIMT_OWN("shuffle");
void match_any(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t mask)
    SIMT_OWN("match_any");
void reduce(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t mask)
    SIMT_OWN("reduce");
void mma_f32(MxgpuWarp *w, const SimtOp *p) SIMT_OWN("mma_f32");
void mma_i32(MxgpuWarp *w, const SimtOp *p) SIMT_OWN("mma_i32");

#endif
