/* SPDX-License-Identifier: MIT */
/*
 * Scalar integer semantics, once, for every XLEN: lists of F(ID, expression),
 * or F(ID, ID of the immediate form, expression), to be expanded by the
 * machines. Expressions are of A (rs1) and B (rs2 or the immediate), AMOs of M
 * (memory) and B, all of the unsigned type U of the list; S is the signed type
 * of that width, n its bits (32 or 64), SH the mask of a shift amount. The
 * machine sign-extends what *W instructions and word AMOs give.
 *
 * Division by zero and overflow follow the specification: all ones and the
 * dividend, the dividend and zero. No expression has undefined behaviour.
 */
#ifndef MXGPU_RV_SEM_H
#define MXGPU_RV_SEM_H

#include <stdint.h>

#define RV_SEM_INLINE static inline __attribute__((always_inline, unused))

/* ---- helpers of one width each */

#define RV_SEM_WIDTH(n, U, S, BITS)                                            \
    RV_SEM_INLINE U rv_div##n(U a, U b)                                        \
    {                                                                          \
        S min = (S)((U)1 << (BITS - 1));                                       \
        return b == 0 ? (U)-1                                                  \
               : (S)a == min && (S)b == -1 ? a : (U)((S)a / (S)b);             \
    }                                                                          \
    RV_SEM_INLINE U rv_rem##n(U a, U b)                                        \
    {                                                                          \
        return b == 0 ? a : (S)b == -1 ? 0 : (U)((S)a % (S)b);                 \
    }                                                                          \
    RV_SEM_INLINE U rv_divu##n(U a, U b)                                       \
    {                                                                          \
        return b == 0 ? (U)-1 : a / b;                                         \
    }                                                                          \
    RV_SEM_INLINE U rv_remu##n(U a, U b)                                       \
    {                                                                          \
        return b == 0 ? a : a % b;                                             \
    }                                                                          \
    RV_SEM_INLINE U rv_rol##n(U a, U b)                                        \
    {                                                                          \
        return a << (b & (BITS - 1)) | a >> (-b & (BITS - 1));                 \
    }                                                                          \
    RV_SEM_INLINE U rv_ror##n(U a, U b)                                        \
    {                                                                          \
        return a >> (b & (BITS - 1)) | a << (-b & (BITS - 1));                 \
    }                                                                          \
    RV_SEM_INLINE U rv_cpop##n(U a)                                            \
    {                                                                          \
        a -= a >> 1 & (U)0x5555555555555555ull;                                \
        a = (a & (U)0x3333333333333333ull) +                                   \
            (a >> 2 & (U)0x3333333333333333ull);                               \
        a = (a + (a >> 4)) & (U)0x0f0f0f0f0f0f0f0full;                         \
        /* A product would be shorter, but compilers find a popcount in it, */ \
        /* and then do a loop over lanes one by one. */                        \
        a += a >> 8;                                                           \
        a += a >> 16;                                                          \
        return (BITS > 32 ? a + (a >> BITS / 2) : a) & 127;                    \
    }                                                                          \
    RV_SEM_INLINE U rv_ctz##n(U a)                                             \
    {                                                                          \
        return rv_cpop##n((U)(~a & (a - 1)));                                  \
    }                                                                          \
    RV_SEM_INLINE U rv_clz##n(U a)                                             \
    {                                                                          \
        a |= a >> 1;                                                           \
        a |= a >> 2;                                                           \
        a |= a >> 4;                                                           \
        a |= a >> 8;                                                           \
        a |= a >> 16;                                                          \
        a |= a >> (BITS / 2);                                                  \
        return rv_cpop##n((U)~a);                                              \
    }                                                                          \
    RV_SEM_INLINE U rv_orcb##n(U a)                                            \
    {                                                                          \
        a |= a >> 1 & (U)0x7f7f7f7f7f7f7f7full;                                \
        a |= a >> 2 & (U)0x3f3f3f3f3f3f3f3full;                                \
        a |= a >> 4 & (U)0x0f0f0f0f0f0f0f0full;                                \
        return (a & (U)0x0101010101010101ull) * 255;                           \
    }
RV_SEM_WIDTH(32, uint32_t, int32_t, 32)
RV_SEM_WIDTH(64, uint64_t, int64_t, 64)
#undef RV_SEM_WIDTH

RV_SEM_INLINE uint32_t rv_rev32(uint32_t a)
{
    return a << 24 | (a & 0xff00) << 8 | (a >> 8 & 0xff00) | a >> 24;
}

RV_SEM_INLINE uint64_t rv_rev64(uint64_t a)
{
    return (uint64_t)rv_rev32((uint32_t)a) << 32 | rv_rev32(a >> 32);
}

RV_SEM_INLINE uint32_t rv_mulhu32(uint32_t a, uint32_t b)
{
    return (uint64_t)a * b >> 32;
}

/* By halves, so that a loop over lanes can be vectorised. */
RV_SEM_INLINE uint64_t rv_mulhu64(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t m1 = ah * bl + (al * bl >> 32), m2 = al * bh + (uint32_t)m1;

    return ah * bh + (m1 >> 32) + (m2 >> 32);
}

/* Signed high products from the unsigned one. */
#define RV_SEM_MULH(n, U, BITS)                                                \
    RV_SEM_INLINE U rv_mulh##n(U a, U b)                                       \
    {                                                                          \
        return rv_mulhu##n(a, b) - (-(a >> (BITS - 1)) & b) -                  \
               (-(b >> (BITS - 1)) & a);                                       \
    }                                                                          \
    RV_SEM_INLINE U rv_mulhsu##n(U a, U b)                                     \
    {                                                                          \
        return rv_mulhu##n(a, b) - (-(a >> (BITS - 1)) & b);                   \
    }
RV_SEM_MULH(32, uint32_t, 32)
RV_SEM_MULH(64, uint64_t, 64)
#undef RV_SEM_MULH

/* ---- lists: F(ID, ID of the form with an immediate or NONE, expression) */

/* I, both forms */
#define RV_SEM_LIST_RI(F, U, S, n, SH)                                         \
    F(ADD, ADDI, A + B)                                                        \
    F(SLT, SLTI, (S)A < (S)B)                                                  \
    F(SLTU, SLTIU, A < B)                                                      \
    F(XOR, XORI, A ^ B)                                                        \
    F(OR, ORI, A | B)                                                          \
    F(AND, ANDI, A & B)

/* Shifts: the immediate forms of XLEN 32 have their own ids (SLLI_32 ...) */
#define RV_SEM_LIST_SHIFT(F, U, S, n, SH)                                      \
    F(SLL, SLLI, A << (B & SH))                                                \
    F(SRL, SRLI, A >> (B & SH))                                                \
    F(SRA, SRAI, (U)((S)A >> (B & SH)))                                        \
    F(ROR, RORI, rv_ror##n(A, B))

/* I, M, Zba, Zbb, Zicond: register forms only */
#define RV_SEM_LIST_R(F, U, S, n, SH)                                          \
    F(SUB, A - B)                                                              \
    F(MUL, A * B)                                                              \
    F(MULH, rv_mulh##n(A, B))                                                  \
    F(MULHSU, rv_mulhsu##n(A, B))                                              \
    F(MULHU, rv_mulhu##n(A, B))                                                \
    F(DIV, rv_div##n(A, B))                                                    \
    F(DIVU, rv_divu##n(A, B))                                                  \
    F(REM, rv_rem##n(A, B))                                                    \
    F(REMU, rv_remu##n(A, B))                                                  \
    F(SH1ADD, (A << 1) + B)                                                    \
    F(SH2ADD, (A << 2) + B)                                                    \
    F(SH3ADD, (A << 3) + B)                                                    \
    F(ANDN, A & ~B)                                                            \
    F(ORN, A | ~B)                                                             \
    F(XNOR, ~(A ^ B))                                                          \
    F(MIN, (S)A < (S)B ? A : B)                                                \
    F(MAX, (S)A < (S)B ? B : A)                                                \
    F(MINU, A < B ? A : B)                                                     \
    F(MAXU, A < B ? B : A)                                                     \
    F(ROL, rv_rol##n(A, B))                                                    \
    F(CZERO_EQZ, B == 0 ? 0 : A)                                               \
    F(CZERO_NEZ, B != 0 ? 0 : A)

/* Zbb, one operand; rev8 and zext.h have an id for each XLEN */
#define RV_SEM_LIST_1(F, U, S, n, SH)                                          \
    F(CLZ, rv_clz##n(A))                                                       \
    F(CTZ, rv_ctz##n(A))                                                       \
    F(CPOP, rv_cpop##n(A))                                                     \
    F(SEXT_B, (U)(S)(int8_t)A)                                                 \
    F(SEXT_H, (U)(S)(int16_t)A)                                                \
    F(ORC_B, rv_orcb##n(A))

/* RV64 only, on whole registers */
#define RV_SEM_LIST_64(F)                                                      \
    F(ADD_UW, (uint64_t)(uint32_t)A + B)                                       \
    F(SH1ADD_UW, ((uint64_t)(uint32_t)A << 1) + B)                             \
    F(SH2ADD_UW, ((uint64_t)(uint32_t)A << 2) + B)                             \
    F(SH3ADD_UW, ((uint64_t)(uint32_t)A << 3) + B)

/* *W, on uint32_t A and B: F(ID, immediate form, expression) and one operand */
#define RV_SEM_LIST_W_RI(F)                                                    \
    F(ADDW, ADDIW, A + B)                                                      \
    F(SLLW, SLLIW, A << (B & 31))                                              \
    F(SRLW, SRLIW, A >> (B & 31))                                              \
    F(SRAW, SRAIW, (uint32_t)((int32_t)A >> (B & 31)))                         \
    F(RORW, RORIW, rv_ror32(A, B))
#define RV_SEM_LIST_W_R(F)                                                     \
    F(SUBW, A - B)                                                             \
    F(MULW, A * B)                                                             \
    F(DIVW, rv_div32(A, B))                                                    \
    F(DIVUW, rv_divu32(A, B))                                                  \
    F(REMW, rv_rem32(A, B))                                                    \
    F(REMUW, rv_remu32(A, B))                                                  \
    F(ROLW, rv_rol32(A, B))
#define RV_SEM_LIST_W_1(F)                                                     \
    F(CLZW, rv_clz32(A))                                                       \
    F(CTZW, rv_ctz32(A))                                                       \
    F(CPOPW, rv_cpop32(A))

/* Branches */
#define RV_SEM_LIST_BRANCH(F, U, S)                                            \
    F(BEQ, A == B)                                                             \
    F(BNE, A != B)                                                             \
    F(BLT, (S)A < (S)B)                                                        \
    F(BGE, (S)A >= (S)B)                                                       \
    F(BLTU, A < B)                                                             \
    F(BGEU, A >= B)

/* AMOs, without their width suffix, on M and B of type U (S signed) */
#define RV_SEM_LIST_AMO(F, U, S)                                               \
    F(SWAP, B)                                                                 \
    F(ADD, M + B)                                                              \
    F(XOR, M ^ B)                                                              \
    F(AND, M & B)                                                              \
    F(OR, M | B)                                                               \
    F(MIN, (S)M < (S)B ? M : B)                                                \
    F(MAX, (S)M < (S)B ? B : M)                                                \
    F(MINU, M < B ? M : B)                                                     \
    F(MAXU, M < B ? B : M)

#endif
