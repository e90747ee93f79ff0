/* SPDX-License-Identifier: MIT */
/*
 * Compressed instructions are rewritten as the 32-bit ones they stand for.
 * Chapter "C" of the unprivileged specification; reserved encodings give 0,
 * hints expand to instructions without effect.
 */
#include "rv/rv.h"

static uint32_t bits(uint32_t c, unsigned shift, unsigned width)
{
    return (c >> shift) & ((1u << width) - 1);
}

/* Moves bits [shift, shift + width) of c to position to. */
static uint32_t move(uint32_t c, unsigned shift, unsigned width, unsigned to)
{
    return bits(c, shift, width) << to;
}

static uint32_t sign(uint32_t value, unsigned width)
{
    uint32_t top = 1u << (width - 1);

    return (value ^ top) - top;
}

static uint32_t enc_i(unsigned op, unsigned f3, unsigned rd, unsigned rs1,
                      uint32_t imm)
{
    return imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static uint32_t enc_r(unsigned op, unsigned f3, unsigned f7, unsigned rd,
                      unsigned rs1, unsigned rs2)
{
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static uint32_t enc_s(unsigned op, unsigned f3, unsigned rs1, unsigned rs2,
                      uint32_t imm)
{
    return bits(imm, 5, 7) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 |
           bits(imm, 0, 5) << 7 | op;
}

static uint32_t enc_b(unsigned f3, unsigned rs1, uint32_t imm)
{
    return bits(imm, 12, 1) << 31 | bits(imm, 5, 6) << 25 | rs1 << 15 |
           f3 << 12 | bits(imm, 1, 4) << 8 | bits(imm, 11, 1) << 7 | 0x63;
}

static uint32_t enc_j(unsigned rd, uint32_t imm)
{
    return bits(imm, 20, 1) << 31 | bits(imm, 1, 10) << 21 |
           bits(imm, 11, 1) << 20 | bits(imm, 12, 8) << 12 | rd << 7 | 0x6f;
}

enum { LOAD = 0x03, LOAD_FP = 0x07, OP_IMM = 0x13, OP_IMM_32 = 0x1b,
       STORE = 0x23, STORE_FP = 0x27, OP = 0x33, LUI = 0x37, OP_32 = 0x3b,
       JALR = 0x67 };

/* Registers of three bits are x8 to x15. */
#define RD_S  (8 + bits(c, 2, 3))
#define RS1_S (8 + bits(c, 7, 3))
#define RD    bits(c, 7, 5)
#define RS2   bits(c, 2, 5)

/* Offsets of loads and stores: words and doublewords. */
static uint32_t off_w(uint32_t c)
{
    return move(c, 5, 1, 6) | move(c, 10, 3, 3) | move(c, 6, 1, 2);
}

static uint32_t off_d(uint32_t c)
{
    return move(c, 5, 2, 6) | move(c, 10, 3, 3);
}

static uint32_t imm6(uint32_t c)
{
    return sign(move(c, 12, 1, 5) | bits(c, 2, 5), 6);
}

static uint32_t off_j(uint32_t c)
{
    return sign(move(c, 12, 1, 11) | move(c, 11, 1, 4) | move(c, 9, 2, 8) |
                move(c, 8, 1, 10) | move(c, 7, 1, 6) | move(c, 6, 1, 7) |
                move(c, 3, 3, 1) | move(c, 2, 1, 5), 12);
}

static uint32_t off_b(uint32_t c)
{
    return sign(move(c, 12, 1, 8) | move(c, 10, 2, 3) | move(c, 5, 2, 6) |
                move(c, 3, 2, 1) | move(c, 2, 1, 5), 9);
}

static uint32_t quadrant0(uint32_t c, bool rv64, bool f, bool d)
{
    uint32_t imm;

    switch (bits(c, 13, 3)) {
    case 0: /* c.addi4spn */
        imm = move(c, 11, 2, 4) | move(c, 7, 4, 6) | move(c, 6, 1, 2) |
              move(c, 5, 1, 3);
        return imm ? enc_i(OP_IMM, 0, RD_S, 2, imm) : 0;
    case 1: /* c.fld */
        return d ? enc_i(LOAD_FP, 3, RD_S, RS1_S, off_d(c)) : 0;
    case 2: /* c.lw */
        return enc_i(LOAD, 2, RD_S, RS1_S, off_w(c));
    case 3: /* c.ld, c.flw */
        return rv64 ? enc_i(LOAD, 3, RD_S, RS1_S, off_d(c)) :
               f ? enc_i(LOAD_FP, 2, RD_S, RS1_S, off_w(c)) : 0;
    case 5: /* c.fsd */
        return d ? enc_s(STORE_FP, 3, RS1_S, RD_S, off_d(c)) : 0;
    case 6: /* c.sw */
        return enc_s(STORE, 2, RS1_S, RD_S, off_w(c));
    case 7: /* c.sd, c.fsw */
        return rv64 ? enc_s(STORE, 3, RS1_S, RD_S, off_d(c)) :
               f ? enc_s(STORE_FP, 2, RS1_S, RD_S, off_w(c)) : 0;
    }
    return 0;
}

/* c.srli to c.addw */
static uint32_t arithmetic(uint32_t c, bool rv64)
{
    static const uint8_t f3[4] = { 0, 4, 6, 7 }; /* sub xor or and */
    uint32_t shamt = move(c, 12, 1, 5) | bits(c, 2, 5);
    unsigned n = bits(c, 5, 2);

    switch (bits(c, 10, 2)) {
    case 0:
    case 1:
        if (!rv64 && shamt > 31) {
            return 0;
        }
        return enc_i(OP_IMM, 5, RS1_S, RS1_S,
                     shamt | (bits(c, 10, 1) ? 0x400 : 0));
    case 2:
        return enc_i(OP_IMM, 7, RS1_S, RS1_S, imm6(c));
    }
    if (!bits(c, 12, 1)) {
        return enc_r(OP, f3[n], n == 0 ? 0x20 : 0, RS1_S, RS1_S, RD_S);
    }
    if (rv64 && n < 2) { /* c.subw, c.addw */
        return enc_r(OP_32, 0, n == 0 ? 0x20 : 0, RS1_S, RS1_S, RD_S);
    }
    return 0;
}

static uint32_t quadrant1(uint32_t c, bool rv64)
{
    uint32_t imm;

    switch (bits(c, 13, 3)) {
    case 0: /* c.addi */
        return enc_i(OP_IMM, 0, RD, RD, imm6(c));
    case 1: /* c.addiw, c.jal */
        if (!rv64) {
            return enc_j(1, off_j(c));
        }
        return RD ? enc_i(OP_IMM_32, 0, RD, RD, imm6(c)) : 0;
    case 2: /* c.li */
        return enc_i(OP_IMM, 0, RD, 0, imm6(c));
    case 3: /* c.addi16sp, c.lui */
        if (RD == 2) {
            imm = sign(move(c, 12, 1, 9) | move(c, 6, 1, 4) |
                       move(c, 5, 1, 6) | move(c, 3, 2, 7) |
                       move(c, 2, 1, 5), 10);
            return imm ? enc_i(OP_IMM, 0, 2, 2, imm) : 0;
        }
        imm = imm6(c);
        return imm ? imm << 12 | RD << 7 | LUI : 0;
    case 4:
        return arithmetic(c, rv64);
    case 5: /* c.j */
        return enc_j(0, off_j(c));
    case 6: /* c.beqz */
        return enc_b(0, RS1_S, off_b(c));
    default: /* c.bnez */
        return enc_b(1, RS1_S, off_b(c));
    }
}

/* c.jr to c.add */
static uint32_t moves(uint32_t c)
{
    if (!bits(c, 12, 1)) {
        if (RS2) { /* c.mv */
            return enc_r(OP, 0, 0, RD, 0, RS2);
        }
        return RD ? enc_i(JALR, 0, 0, RD, 0) : 0; /* c.jr */
    }
    if (RS2) { /* c.add */
        return enc_r(OP, 0, 0, RD, RD, RS2);
    }
    return RD ? enc_i(JALR, 0, 1, RD, 0) : 0x00100073; /* c.jalr, c.ebreak */
}

static uint32_t quadrant2(uint32_t c, bool rv64, bool f, bool d)
{
    uint32_t shamt = move(c, 12, 1, 5) | bits(c, 2, 5);
    uint32_t lw = move(c, 2, 2, 6) | move(c, 12, 1, 5) | move(c, 4, 3, 2);
    uint32_t ld = move(c, 2, 3, 6) | move(c, 12, 1, 5) | move(c, 5, 2, 3);
    uint32_t sw = move(c, 7, 2, 6) | move(c, 9, 4, 2);
    uint32_t sd = move(c, 7, 3, 6) | move(c, 10, 3, 3);

    switch (bits(c, 13, 3)) {
    case 0: /* c.slli */
        return rv64 || shamt < 32 ? enc_i(OP_IMM, 1, RD, RD, shamt) : 0;
    case 1: /* c.fldsp */
        return d ? enc_i(LOAD_FP, 3, RD, 2, ld) : 0;
    case 2: /* c.lwsp */
        return RD ? enc_i(LOAD, 2, RD, 2, lw) : 0;
    case 3: /* c.ldsp, c.flwsp */
        return rv64 ? (RD ? enc_i(LOAD, 3, RD, 2, ld) : 0) :
               f ? enc_i(LOAD_FP, 2, RD, 2, lw) : 0;
    case 4:
        return moves(c);
    case 5: /* c.fsdsp */
        return d ? enc_s(STORE_FP, 3, 2, RS2, sd) : 0;
    case 6: /* c.swsp */
        return enc_s(STORE, 2, 2, RS2, sw);
    default: /* c.sdsp, c.fswsp */
        return rv64 ? enc_s(STORE, 3, 2, RS2, sd) :
               f ? enc_s(STORE_FP, 2, 2, RS2, sw) : 0;
    }
}

uint32_t rvc_expand(uint16_t insn, unsigned xlen, unsigned extensions)
{
    bool rv64 = xlen == 64;
    bool f = extensions & RV_EXT_F, d = extensions & RV_EXT_D;

    if (!(extensions & RV_EXT_C)) {
        return 0;
    }
    switch (insn & 3) {
    case 0:
        return quadrant0(insn, rv64, f, d);
    case 1:
        return quadrant1(insn, rv64);
    case 2:
        return quadrant2(insn, rv64, f, d);
    }
    return 0;
}
