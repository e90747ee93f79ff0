/* SPDX-License-Identifier: MIT */
/*
 * RISC-V instructions: decoding, expansion of compressed forms, names. Shared
 * by the microcontroller (XLEN 32) and the compute units (XLEN 64). All
 * instructions come from insns.def; scalar semantics are in rv/sem.h.
 */
#ifndef MXGPU_RV_RV_H
#define MXGPU_RV_RV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Extensions, or'ed. C also permits the compressed loads and stores of F and D
 * where these are present. */
#define RV_EXT_I        (1u << 0)
#define RV_EXT_M        (1u << 1)
#define RV_EXT_A        (1u << 2)
#define RV_EXT_F        (1u << 3)
#define RV_EXT_D        (1u << 4)
#define RV_EXT_C        (1u << 5)
#define RV_EXT_ZICSR    (1u << 6)
#define RV_EXT_ZIFENCEI (1u << 7)
#define RV_EXT_ZBA      (1u << 8)
#define RV_EXT_ZBB      (1u << 9)
#define RV_EXT_ZICOND   (1u << 10)
#define RV_EXT_ZFHMIN   (1u << 11)
#define RV_EXT_ZFH      (1u << 12) /* give ZFHMIN too */
#define RV_EXT_M_MODE   (1u << 13) /* mret, wfi */
#define RV_EXT_MX       (1u << 14) /* mxgpu/isa.h */
#define RV_EXT_ZFBFMIN  (1u << 15) /* with ZFHMIN, for its moves */
#define RV_EXT_ZACAS    (1u << 16) /* but for what takes pairs of registers */

/* Validity by XLEN. */
#define RV_32  1
#define RV_64  2
#define RV_ALL 3

/* Where operands are. Fields that a format does not have are 0. */
typedef enum RvFormat {
    RV_FMT_NONE,
    RV_FMT_R,     /* rd, rs1, rs2 */
    RV_FMT_R2,    /* rd, rs1 */
    RV_FMT_RD,    /* rd */
    RV_FMT_RS1,   /* rs1 */
    RV_FMT_RS12,  /* rs1, rs2 */
    RV_FMT_R_QUAD, /* rd to rd + 3, rs1, rs2; x0 is none of the four */
    RV_FMT_R_RM,  /* rd, rs1, rs2, rm */
    RV_FMT_R2_RM, /* rd, rs1, rm */
    RV_FMT_R4,    /* rd, rs1, rs2, rs3, rm */
    RV_FMT_AMO,   /* rd, rs1 (address), rs2; rm = aq << 1 | rl */
    RV_FMT_CAS,   /* the same; rs3: rd, which it compares with */
    RV_FMT_LR,    /* rd, rs1 (address); rm = aq << 1 | rl */
    RV_FMT_I,     /* rd, rs1, imm: signed 12 bits */
    RV_FMT_SH,    /* rd, rs1, imm: shift amount */
    RV_FMT_LOAD,  /* rd, imm(rs1) */
    RV_FMT_S,     /* rs2, imm(rs1) */
    RV_FMT_B,     /* rs1, rs2, imm: pc-relative */
    RV_FMT_U,     /* rd, imm: value with the low 12 bits 0, sign-extended */
    RV_FMT_J,     /* rd, imm: pc-relative */
    RV_FMT_CSR,   /* rd, rs1, imm: CSR number */
    RV_FMT_CSRI,  /* rd, rs1: 5-bit immediate, imm: CSR number */
    RV_FMT_FENCE, /* imm: bits 31..20; rd and rs1 are hints, given as 0 */
} RvFormat;

/* Register file of an operand: bit set for an f register. */
#define RV_CLASS_FD 1
#define RV_CLASS_F1 2
#define RV_CLASS_F2 4 /* rs2 and rs3 */

typedef enum RvOp {
    RV_ILLEGAL = 0,
#define RV_GROUP(name, major)                                                  \
    RV_GROUP_##name, RV_GROUP_BACK_##name = RV_GROUP_##name - 1,
#define RV_INSN(id, name, match, mask, format, classes, ext, xlen) RV_##id,
#include "rv/insns.def"
#undef RV_GROUP
#undef RV_INSN
    RV_OP_COUNT
} RvOp;

typedef struct RvInsn {
    uint16_t op;     /* RvOp */
    uint8_t format;  /* RvFormat */
    uint8_t classes; /* RV_CLASS_* */
    uint8_t rd, rs1, rs2, rs3;
    uint8_t rm;      /* rounding mode 0 to 4 or 7; aq/rl of atomics */
    uint8_t length;  /* bytes: 2 or 4 */
    int32_t imm;
} RvInsn;

/*
 * Decodes the instruction in the low bytes of insn: for a compressed one only
 * the low 16 bits are looked at. xlen is 32 or 64. Returns false and sets op to
 * RV_ILLEGAL, and length as its low bits say, when it is not an instruction of
 * the given extensions; reserved rounding modes are illegal.
 */
bool rv_decode(uint32_t insn, unsigned xlen, unsigned extensions, RvInsn *out);

/* Bytes of an instruction that begins with this halfword: 2 or 4. */
static inline unsigned rv_length(uint16_t low)
{
    return (low & 3) == 3 ? 4 : 2;
}

/* The 32-bit form of a compressed instruction, 0 when there is none. */
uint32_t rvc_expand(uint16_t insn, unsigned xlen, unsigned extensions);

/* Mnemonic, for example "fcvt.w.s"; "illegal" for RV_ILLEGAL. */
const char *rv_name(RvOp op);

/* Writes text such as "addi x1, x2, -3" (targets as pc-relative offsets, no
 * aliases); returns what snprintf would. */
int rv_format(const RvInsn *insn, char *buf, size_t size);

#endif
