/* SPDX-License-Identifier: MIT */
#include "mxgpu/isa.h"
#include "rv/rv.h"

typedef struct RvEntry {
    uint32_t match, mask, extension;
    uint8_t format, classes, xlen;
} RvEntry;

/* Classes as written in insns.def: one letter for rd, rs1 and rs2. */
enum {
    CLASS_xxx = 0, CLASS_xx_ = 0, CLASS_x__ = 0, CLASS__xx = 0,
    CLASS_fff = RV_CLASS_FD | RV_CLASS_F1 | RV_CLASS_F2,
    CLASS_ff_ = RV_CLASS_FD | RV_CLASS_F1,
    CLASS_xff = RV_CLASS_F1 | RV_CLASS_F2,
    CLASS_xf_ = RV_CLASS_F1,
    CLASS_fx_ = RV_CLASS_FD, CLASS_fxx = RV_CLASS_FD,
    CLASS__xf = RV_CLASS_F2,
};

static const RvEntry entries[RV_OP_COUNT] = {
#define RV_GROUP(name, major)
#define RV_INSN(id, name, match, mask, format, classes, ext, xlen)             \
    [RV_##id] = { match, mask, RV_EXT_##ext, RV_FMT_##format,                  \
                  CLASS_##classes, xlen },
#include "rv/insns.def"
#undef RV_GROUP
#undef RV_INSN
};

/* The encodings of GPU instructions are isa.h's. */
enum {
#define RV_GROUP(name, major)
#define RV_INSN(id, name, match, mask, format, classes, ext, xlen)             \
    MATCH_##id = (int)(match),
#include "rv/insns.def"
#undef RV_GROUP
#undef RV_INSN
};
#define SAME(id, f3, f7)                                                       \
    _Static_assert(MATCH_##id == (MXGPU_OPCODE_CUSTOM0 |                       \
                                  MXGPU_F3_##f3 << 12 | (f7) << 25), #id)
SAME(MX_EXIT, CONTROL, MXGPU_F7_EXIT);
SAME(MX_BARRIER, CONTROL, MXGPU_F7_BARRIER);
SAME(MX_BAR_AND, CONTROL, MXGPU_F7_BAR_AND);
SAME(MX_BAR_OR, CONTROL, MXGPU_F7_BAR_OR);
SAME(MX_BAR_COUNT, CONTROL, MXGPU_F7_BAR_COUNT);
SAME(MX_WARPSYNC, CONTROL, MXGPU_F7_WARPSYNC);
SAME(MX_BAR_SYNC, CONTROL, MXGPU_F7_BAR_SYNC);
SAME(MX_BAR_ARRIVE, CONTROL, MXGPU_F7_BAR_ARRIVE);
SAME(MX_GRID_SYNC, CONTROL, MXGPU_F7_GRID_SYNC);
SAME(MX_SHFL, SHUFFLE, MXGPU_F7_SHFL);
SAME(MX_BALLOT, VOTE, MXGPU_F7_BALLOT);
SAME(MX_ACTIVE, VOTE, MXGPU_F7_ACTIVE);
SAME(MX_MATCH_ANY, VOTE, MXGPU_F7_MATCH_ANY);
SAME(MX_AFADD_S, FATOMIC, MXGPU_F7_FADD_S);
SAME(MX_AFADD_D, FATOMIC, MXGPU_F7_FADD_D);
SAME(MX_AFMIN_S, FATOMIC, MXGPU_F7_FMIN_S);
SAME(MX_AFMIN_D, FATOMIC, MXGPU_F7_FMIN_D);
SAME(MX_AFMAX_S, FATOMIC, MXGPU_F7_FMAX_S);
SAME(MX_AFMAX_D, FATOMIC, MXGPU_F7_FMAX_D);
SAME(MX_REDUCE_ADD, REDUCE, MXGPU_F7_RED_ADD);
SAME(MX_REDUCE_MIN, REDUCE, MXGPU_F7_RED_MIN);
SAME(MX_REDUCE_MAX, REDUCE, MXGPU_F7_RED_MAX);
SAME(MX_REDUCE_MINU, REDUCE, MXGPU_F7_RED_MINU);
SAME(MX_REDUCE_MAXU, REDUCE, MXGPU_F7_RED_MAXU);
SAME(MX_REDUCE_AND, REDUCE, MXGPU_F7_RED_AND);
SAME(MX_REDUCE_OR, REDUCE, MXGPU_F7_RED_OR);
SAME(MX_REDUCE_XOR, REDUCE, MXGPU_F7_RED_XOR);
SAME(MX_REDUCE_ADD_W, REDUCE, MXGPU_F7_RED_W | MXGPU_F7_RED_ADD);
SAME(MX_REDUCE_MIN_W, REDUCE, MXGPU_F7_RED_W | MXGPU_F7_RED_MIN);
SAME(MX_REDUCE_MAX_W, REDUCE, MXGPU_F7_RED_W | MXGPU_F7_RED_MAX);
SAME(MX_REDUCE_MINU_W, REDUCE, MXGPU_F7_RED_W | MXGPU_F7_RED_MINU);
SAME(MX_REDUCE_MAXU_W, REDUCE, MXGPU_F7_RED_W | MXGPU_F7_RED_MAXU);
SAME(MX_REDUCE_AND_W, REDUCE, MXGPU_F7_RED_W | MXGPU_F7_RED_AND);
SAME(MX_REDUCE_OR_W, REDUCE, MXGPU_F7_RED_W | MXGPU_F7_RED_OR);
SAME(MX_REDUCE_XOR_W, REDUCE, MXGPU_F7_RED_W | MXGPU_F7_RED_XOR);
SAME(MX_REDUCE_FADD_S, REDUCE, MXGPU_F7_RED_FADD_S);
SAME(MX_REDUCE_FMIN_S, REDUCE, MXGPU_F7_RED_FMIN_S);
SAME(MX_REDUCE_FMAX_S, REDUCE, MXGPU_F7_RED_FMAX_S);
SAME(MX_REDUCE_FADD_D, REDUCE, MXGPU_F7_RED_FADD_D);
SAME(MX_REDUCE_FMIN_D, REDUCE, MXGPU_F7_RED_FMIN_D);
SAME(MX_REDUCE_FMAX_D, REDUCE, MXGPU_F7_RED_FMAX_D);
SAME(MX_MMA_F32_F16, MMA, MXGPU_F7_MMA_F32_F16);
SAME(MX_MMA_F32_BF16, MMA, MXGPU_F7_MMA_F32_BF16);
SAME(MX_MMA_I32_I8, MMA, MXGPU_F7_MMA_I32_I8);
SAME(MX_MMA_I32_U8, MMA, MXGPU_F7_MMA_I32_U8);
#undef SAME

/* First entry of each major opcode; a group ends where its opcode changes. */
static const uint16_t groups[32] = {
#define RV_GROUP(name, major) [major] = RV_GROUP_##name,
#define RV_INSN(id, name, match, mask, format, classes, ext, xlen)
#include "rv/insns.def"
#undef RV_GROUP
#undef RV_INSN
};

static int32_t field(uint32_t insn, unsigned shift, unsigned width)
{
    return (insn >> shift) & ((1u << width) - 1);
}

static int32_t imm_i(uint32_t insn)
{
    return (int32_t)insn >> 20;
}

static int32_t imm_s(uint32_t insn)
{
    return ((int32_t)insn >> 25) * 32 + field(insn, 7, 5);
}

static int32_t imm_b(uint32_t insn)
{
    return ((int32_t)insn >> 31) * 4096 + field(insn, 7, 1) * 2048 +
           field(insn, 25, 6) * 32 + field(insn, 8, 4) * 2;
}

static int32_t imm_j(uint32_t insn)
{
    return ((int32_t)insn >> 31) * 1048576 + field(insn, 12, 8) * 4096 +
           field(insn, 20, 1) * 2048 + field(insn, 21, 10) * 2;
}

/* Takes the operands that the format names; the rest stays 0. */
static bool operands(uint32_t insn, RvInsn *out)
{
    uint8_t rd = field(insn, 7, 5), rs1 = field(insn, 15, 5);
    uint8_t rs2 = field(insn, 20, 5), rm = field(insn, 12, 3);

    switch ((RvFormat)out->format) {
    case RV_FMT_NONE:
        return true;
    case RV_FMT_R4:
        out->rs3 = field(insn, 27, 5);
        /* fall through */
    case RV_FMT_R_RM:
        out->rs2 = rs2;
        /* fall through */
    case RV_FMT_R2_RM:
        out->rd = rd;
        out->rs1 = rs1;
        out->rm = rm;
        return rm != 5 && rm != 6;
    case RV_FMT_CAS:
        out->rs3 = rd;
        /* fall through */
    case RV_FMT_AMO:
        out->rs2 = rs2;
        /* fall through */
    case RV_FMT_LR:
        out->rd = rd;
        out->rs1 = rs1;
        out->rm = field(insn, 25, 2);
        return true;
    case RV_FMT_R:
        out->rs2 = rs2;
        /* fall through */
    case RV_FMT_R2:
        out->rs1 = rs1;
        /* fall through */
    case RV_FMT_RD:
        out->rd = rd;
        return true;
    case RV_FMT_RS12:
        out->rs2 = rs2;
        /* fall through */
    case RV_FMT_RS1:
        out->rs1 = rs1;
        return true;
    case RV_FMT_R_QUAD:
        out->rd = rd;
        out->rs1 = rs1;
        out->rs2 = rs2;
        return rd <= 28 && (rd || (out->classes & RV_CLASS_FD));
    case RV_FMT_I:
    case RV_FMT_LOAD:
        out->rd = rd;
        out->rs1 = rs1;
        out->imm = imm_i(insn);
        return true;
    case RV_FMT_SH:
        out->rd = rd;
        out->rs1 = rs1;
        /* The mask of a 5-bit shift covers bit 25; so does *W's. */
        out->imm = field(insn, 20, 6);
        return true;
    case RV_FMT_S:
        out->rs1 = rs1;
        out->rs2 = rs2;
        out->imm = imm_s(insn);
        return true;
    case RV_FMT_B:
        out->rs1 = rs1;
        out->rs2 = rs2;
        out->imm = imm_b(insn);
        return true;
    case RV_FMT_U:
        out->rd = rd;
        out->imm = (int32_t)(insn & 0xfffff000u);
        return true;
    case RV_FMT_J:
        out->rd = rd;
        out->imm = imm_j(insn);
        return true;
    case RV_FMT_CSR:
    case RV_FMT_CSRI:
        out->rd = rd;
        out->rs1 = rs1;
        out->imm = field(insn, 20, 12);
        return true;
    case RV_FMT_FENCE:
        out->imm = field(insn, 20, 12);
        return true;
    }
    return false;
}

static bool decode32(uint32_t insn, unsigned xlen, unsigned extensions,
                     RvInsn *out)
{
    unsigned i = groups[field(insn, 2, 5)];
    unsigned valid = xlen == 32 ? RV_32 : RV_64;

    if (i == 0) {
        return false;
    }
    for (; i < RV_OP_COUNT && ((entries[i].match ^ insn) & 0x7f) == 0; i++) {
        const RvEntry *e = &entries[i];

        if ((insn & e->mask) == e->match && (e->extension & extensions) &&
            (e->xlen & valid)) {
            out->op = i;
            out->format = e->format;
            out->classes = e->classes;
            return operands(insn, out);
        }
    }
    return false;
}

bool rv_decode(uint32_t insn, unsigned xlen, unsigned extensions, RvInsn *out)
{
    unsigned length = rv_length(insn);

    *out = (RvInsn){ .length = length };
    if (length == 2) {
        insn = rvc_expand(insn, xlen, extensions);
    }
    if ((insn & 3) != 3 || !decode32(insn, xlen, extensions, out)) {
        *out = (RvInsn){ .op = RV_ILLEGAL, .length = length };
        return false;
    }
    return true;
}
