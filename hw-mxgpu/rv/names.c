/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "rv/rv.h"

static const char *const names[RV_OP_COUNT] = {
    [RV_ILLEGAL] = "illegal",
#define RV_GROUP(name, major)
#define RV_INSN(id, name, match, mask, format, classes, ext, xlen)             \
    [RV_##id] = name,
#include "rv/insns.def"
#undef RV_GROUP
#undef RV_INSN
};

const char *rv_name(RvOp op)
{
    return (unsigned)op < RV_OP_COUNT ? names[op] : names[RV_ILLEGAL];
}

int rv_format(const RvInsn *insn, char *buf, size_t size)
{
    static const char *const suffix[8] = { ", rne", ", rtz", ", rdn", ", rup",
                                           ", rmm", ", ?", ", ?", "" };
    static const char *const order[4] = { "", ".rl", ".aq", ".aqrl" };
    const char *n = rv_name(insn->op), *rm = suffix[insn->rm & 7];
    char d = insn->classes & RV_CLASS_FD ? 'f' : 'x';
    char a = insn->classes & RV_CLASS_F1 ? 'f' : 'x';
    char b = insn->classes & RV_CLASS_F2 ? 'f' : 'x';
    unsigned rd = insn->rd, rs1 = insn->rs1, rs2 = insn->rs2;
    unsigned rs3 = insn->rs3;
    int imm = insn->imm;

    switch ((RvFormat)insn->format) {
    case RV_FMT_R:
    case RV_FMT_R_QUAD:
        return snprintf(buf, size, "%s %c%u, %c%u, %c%u", n, d, rd, a, rs1, b,
                        rs2);
    case RV_FMT_R2:
        return snprintf(buf, size, "%s %c%u, %c%u", n, d, rd, a, rs1);
    case RV_FMT_RD:
        return snprintf(buf, size, "%s %c%u", n, d, rd);
    case RV_FMT_RS1:
        return snprintf(buf, size, "%s %c%u", n, a, rs1);
    case RV_FMT_RS12:
        return snprintf(buf, size, "%s %c%u, %c%u", n, a, rs1, b, rs2);
    case RV_FMT_R_RM:
        return snprintf(buf, size, "%s %c%u, %c%u, %c%u%s", n, d, rd, a, rs1,
                        b, rs2, rm);
    case RV_FMT_R2_RM:
        return snprintf(buf, size, "%s %c%u, %c%u%s", n, d, rd, a, rs1, rm);
    case RV_FMT_R4:
        return snprintf(buf, size, "%s %c%u, %c%u, %c%u, %c%u%s", n, d, rd, a,
                        rs1, b, rs2, b, rs3, rm);
    case RV_FMT_AMO:
    case RV_FMT_CAS:
        return snprintf(buf, size, "%s%s %c%u, %c%u, (%c%u)", n,
                        order[insn->rm & 3], d, rd, b, rs2, a, rs1);
    case RV_FMT_LR:
        return snprintf(buf, size, "%s%s %c%u, (%c%u)", n, order[insn->rm & 3],
                        d, rd, a, rs1);
    case RV_FMT_I:
        if (insn->op == RV_JALR) {
            return snprintf(buf, size, "%s x%u, %d(x%u)", n, rd, imm, rs1);
        }
        /* fall through */
    case RV_FMT_SH:
        return snprintf(buf, size, "%s x%u, x%u, %d", n, rd, rs1, imm);
    case RV_FMT_LOAD:
        return snprintf(buf, size, "%s %c%u, %d(x%u)", n, d, rd, imm, rs1);
    case RV_FMT_S:
        return snprintf(buf, size, "%s %c%u, %d(x%u)", n, b, rs2, imm, rs1);
    case RV_FMT_B:
        return snprintf(buf, size, "%s x%u, x%u, %d", n, rs1, rs2, imm);
    case RV_FMT_U:
        return snprintf(buf, size, "%s x%u, %u", n, rd, (unsigned)imm >> 12);
    case RV_FMT_J:
        return snprintf(buf, size, "%s x%u, %d", n, rd, imm);
    case RV_FMT_CSR:
        return snprintf(buf, size, "%s x%u, 0x%x, x%u", n, rd, imm, rs1);
    case RV_FMT_CSRI:
        return snprintf(buf, size, "%s x%u, 0x%x, %u", n, rd, imm, rs1);
    case RV_FMT_FENCE:
    case RV_FMT_NONE:
        break;
    }
    return snprintf(buf, size, "%s", n);
}
