/* SPDX-License-Identifier: MIT */
#include "encode.h"

uint32_t match_of(RvOp op)
{
    static const uint32_t match[RV_OP_COUNT] = {
#define RV_GROUP(name, major)
#define RV_INSN(id, name, match, mask, format, classes, ext, xlen)             \
    [RV_##id] = match,
#include "rv/insns.def"
#undef RV_GROUP
#undef RV_INSN
    };

    return match[op];
}

uint32_t enc(RvOp op, unsigned rd, unsigned rs1, unsigned rs2)
{
    return match_of(op) | rd << 7 | rs1 << 15 | rs2 << 20;
}

uint32_t enc_i(RvOp op, unsigned rd, unsigned rs1, int imm)
{
    return match_of(op) | rd << 7 | rs1 << 15 | (uint32_t)imm << 20;
}

uint32_t enc_s(RvOp op, unsigned rs2, unsigned rs1, int imm)
{
    return match_of(op) | rs2 << 20 | rs1 << 15 | (imm & 31) << 7 |
           (uint32_t)(imm >> 5) << 25;
}

uint32_t enc_b(RvOp op, unsigned rs1, unsigned rs2, int by)
{
    uint32_t u = (uint32_t)by;

    return match_of(op) | rs1 << 15 | rs2 << 20 | (u >> 11 & 1) << 7 |
           (u >> 1 & 15) << 8 | (u >> 5 & 63) << 25 | (u >> 12 & 1) << 31;
}

uint32_t enc_j(RvOp op, unsigned rd, int by)
{
    uint32_t u = (uint32_t)by;

    return match_of(op) | rd << 7 | (u >> 12 & 255) << 12 |
           (u >> 11 & 1) << 20 | (u >> 1 & 1023) << 21 | (u >> 20 & 1) << 31;
}
