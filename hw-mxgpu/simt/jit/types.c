/* SPDX-License-Identifier: MIT */
/* What instructions are for the compiler of loops, and what their registers
 * hold. */
#include "types.h"

#include <string.h>

#define PASSES 24

/* Instructions that LLVM's code computes, by what they do with words that are
 * sign-extended to 64 bits: make other numbers of them (WHOLE); give such words
 * (CLOSED); look at some bits only, and give such words (BIT); look at 32 bits
 * only (WORD). IMM: their second operand is an immediate. */
#define WHOLE_OPS(F)                                                           \
    F(ADD) F(ADDI) F(SUB) F(SLL) F(SLLI) F(SRL) F(SRLI) F(SRA) F(SRAI) F(MUL)  \
    F(SH1ADD) F(SH2ADD) F(SH3ADD) F(ADD_UW) F(SH1ADD_UW) F(SH2ADD_UW)          \
    F(SH3ADD_UW) F(SLLI_UW) F(SLT) F(SLTU)
#define CLOSED_OPS(F)                                                          \
    F(ANDN) F(ORN) F(XNOR) F(MIN) F(MAX) F(MINU) F(MAXU) F(CZERO_EQZ)          \
    F(CZERO_NEZ) F(XOR) F(OR) F(AND)
#define CLOSED_IMM_OPS(F) F(XORI) F(ORI) F(ANDI)
#define BIT_OPS(F)                                                             \
    F(SLTI) F(SLTIU) F(SEXT_B) F(SEXT_H) F(ZEXT_H)
#define WORD_OPS(F)                                                            \
    F(ADDW) F(SUBW) F(MULW) F(SLLW) F(SRLW) F(SRAW)
#define WORD_IMM_OPS(F) F(ADDIW) F(SLLIW) F(SRLIW) F(SRAIW)

/* ---- kinds of instructions */

JitKind mxgpu_jit_kind(const SimtOp *op)
{
    switch (op->op) {
#define OP(ID) case RV_##ID:
        WHOLE_OPS(OP)
        CLOSED_OPS(OP)
        CLOSED_IMM_OPS(OP)
        BIT_OPS(OP)
        WORD_OPS(OP)
        WORD_IMM_OPS(OP)
    case RV_LUI:
    case RV_AUIPC:
    case OP_NOP:
        return JIT_INT;
    case RV_ROR:
    case RV_RORI:
    case RV_ROL:
    case RV_MULH:
    case RV_MULHSU:
    case RV_MULHU:
    case RV_CLZ:
    case RV_CTZ:
    case RV_CPOP:
    case RV_ORC_B:
    case RV_REV8:
    case RV_DIV:
    case RV_DIVU:
    case RV_REM:
    case RV_REMU:
    case RV_RORW:
    case RV_RORIW:
    case RV_ROLW:
    case RV_DIVW:
    case RV_DIVUW:
    case RV_REMW:
    case RV_REMUW:
    case RV_CLZW:
    case RV_CTZW:
    case RV_CPOPW:
        return JIT_CALL;
    case RV_LB:
    case RV_LH:
    case RV_LW:
    case RV_LD:
    case RV_LBU:
    case RV_LHU:
    case RV_LWU:
    case RV_FLW:
    case RV_FLD:
        return JIT_LOAD;
    case RV_SB:
    case RV_SH:
    case RV_SW:
    case RV_SD:
    case RV_FSW:
    case RV_FSD:
        return JIT_STORE;
    case RV_BEQ:
    case RV_BNE:
    case RV_BLT:
    case RV_BGE:
    case RV_BLTU:
    case RV_BGEU:
        return JIT_BRANCH;
    case RV_JAL:
        return op->rd == SINK ? JIT_JUMP : JIT_STUB;
    case RV_FADD_S:
    case RV_FSUB_S:
    case RV_FMUL_S:
    case RV_FDIV_S:
    case RV_FSQRT_S:
    case RV_FMADD_S:
    case RV_FMSUB_S:
    case RV_FNMSUB_S:
    case RV_FNMADD_S:
    case RV_FADD_D:
    case RV_FSUB_D:
    case RV_FMUL_D:
    case RV_FDIV_D:
    case RV_FSQRT_D:
    case RV_FMADD_D:
    case RV_FMSUB_D:
    case RV_FNMSUB_D:
    case RV_FNMADD_D:
    case RV_FCVT_S_W:
    case RV_FCVT_S_WU:
    case RV_FCVT_D_W:
    case RV_FCVT_D_WU:
    case RV_FCVT_S_D:
    case RV_FCVT_D_S:
        return op->rm < 2 ? JIT_FLOAT : JIT_STUB;
    case RV_FCVT_W_S:
    case RV_FCVT_WU_S:
    case RV_FCVT_W_D:
        return op->rm_field == 1 ? JIT_FLOAT : JIT_STUB;
    case RV_FMIN_S:
    case RV_FMAX_S:
    case RV_FMIN_D:
    case RV_FMAX_D:
    case RV_FEQ_S:
    case RV_FLT_S:
    case RV_FLE_S:
    case RV_FEQ_D:
    case RV_FLT_D:
    case RV_FLE_D:
    case RV_FSGNJ_S:
    case RV_FSGNJN_S:
    case RV_FSGNJX_S:
    case RV_FSGNJ_D:
    case RV_FSGNJN_D:
    case RV_FSGNJX_D:
    case RV_FMV_X_W:
    case RV_FMV_W_X:
        return JIT_FLOAT;
    default:
        break;
    }
    return (op->op >= RV_LR_W && op->op <= RV_AMOMAXU_D) ||
                   (op->op >= RV_MX_AFADD_S && op->op <= RV_MX_AFMAX_D)
               ? JIT_ATOMIC
               : JIT_STUB;
}

/* ---- types */

JitType mxgpu_jit_join(JitType a, JitType b)
{
    if (a == JIT_NONE || b == JIT_NONE || a == b) {
        return a > b ? a : b;
    }
    if (a > b) {
        return mxgpu_jit_join(b, a);
    }
    return a == JIT_UNIFORM_WORD ? b : JIT_WIDE;
}

static bool is_word(JitType t)
{
    return t == JIT_UNIFORM_WORD || t == JIT_WORD;
}

static bool is_uniform(JitType t)
{
    return t == JIT_UNIFORM_WORD || t == JIT_UNIFORM;
}

static JitType word_of(JitType a, JitType b)
{
    return is_uniform(a) && is_uniform(b) ? JIT_UNIFORM_WORD : JIT_WORD;
}

static JitType wide_of(JitType a, JitType b)
{
    return is_uniform(a) && is_uniform(b) ? JIT_UNIFORM : JIT_WIDE;
}

JitType mxgpu_jit_result(const SimtOp *op, JitType a, JitType b)
{
    switch (op->op) {
    case RV_LUI:
        return JIT_UNIFORM_WORD;
    case RV_AUIPC:
        return JIT_UNIFORM;
    case RV_ADDI:
        return !op->r1    ? JIT_UNIFORM_WORD
               : !op->imm ? a
                          : wide_of(a, a);
    case RV_ADD:
        return !op->r1 ? b : !op->r2 ? a : wide_of(a, b);
    case RV_SRAI:
        return is_word(a) ? a : wide_of(a, a);
    case RV_SLT:
    case RV_SLTU:
        return word_of(a, b);
        BIT_OPS(OP)
        return word_of(a, a);
        CLOSED_OPS(OP)
        return is_word(a) && is_word(b) ? word_of(a, b) : wide_of(a, b);
        CLOSED_IMM_OPS(OP)
        return is_word(a) ? a : wide_of(a, a);
        WORD_OPS(OP)
        return word_of(a, b);
        WORD_IMM_OPS(OP)
        return word_of(a, a);
    case RV_SLLI:
    case RV_SRLI:
    case RV_SLLI_UW:
        return wide_of(a, a);
    case RV_RORW:
    case RV_RORIW:
    case RV_ROLW:
    case RV_DIVW:
    case RV_DIVUW:
    case RV_REMW:
    case RV_REMUW:
    case RV_CLZW:
    case RV_CTZW:
    case RV_CPOPW:
    case RV_FCVT_W_S:
    case RV_FCVT_WU_S:
    case RV_FCVT_W_D:
    case RV_FEQ_S:
    case RV_FLT_S:
    case RV_FLE_S:
    case RV_FEQ_D:
    case RV_FLT_D:
    case RV_FLE_D:
    case RV_FMV_X_W:
        return JIT_WORD;
    case RV_LB:
    case RV_LH:
    case RV_LW:
    case RV_LBU:
    case RV_LHU:
        return JIT_WORD; /* of private memory each lane has its own */
    default:
        break;
    }
    if (op->op >= RV_LR_W && op->op <= RV_AMOMAXU_W) {
        return JIT_WORD;
    }
    switch (mxgpu_jit_kind(op)) {
    case JIT_INT:
        return wide_of(a, b);
    default:
        return JIT_WIDE;
    }
}

bool mxgpu_jit_writes_x(const SimtOp *op, JitKind kind)
{
    return kind != JIT_STORE && kind != JIT_BRANCH && kind != JIT_JUMP &&
           kind != JIT_STUB && !(op->classes & RV_CLASS_FD) &&
           op->rd != SINK && op->op != OP_NOP;
}

/* What is written under a mask is not uniform. */
static JitType kept(JitType t)
{
    return t == JIT_UNIFORM_WORD ? JIT_WORD
           : t == JIT_UNIFORM    ? JIT_WIDE
                                  : t;
}

/* One pass over a block; whether a register's type has grown. */
static bool pass(JitCode *c, const JitBlock *b, uint32_t behind)
{
    JitType local[33];
    bool grown = false;
    uint32_t written = 0;

    for (unsigned i = 0; i < 32; i++) {
        local[i] = c->x[i] ? c->x[i] : JIT_WIDE;
    }
    local[0] = JIT_UNIFORM_WORD;
    for (unsigned i = b->first; i < b->first + b->count; i++) {
        const SimtOp *op = &c->ops[i];

        if (mxgpu_jit_writes_x(op, c->kind[i])) {
            local[op->rd] =
                mxgpu_jit_result(op, local[op->r1], local[op->r2]);
            written |= 1u << op->rd;
        }
    }
    for (uint32_t m = written & behind; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);
        JitType t = mxgpu_jit_join(c->x[reg], kept(local[reg]));

        grown |= t != c->x[reg];
        c->x[reg] = t;
    }
    return grown;
}

static bool float_type(JitCode *c, unsigned reg, JitFloat type)
{
    if (c->f[reg] && c->f[reg] != type) {
        return false;
    }
    c->f[reg] = type;
    return true;
}

/* Whether f operands (n: 0 to 2) and results (3) are doubles. */
bool mxgpu_jit_double(const SimtOp *op, unsigned n)
{
    switch (op->op) {
    case RV_FCVT_S_D:
        return n != 3;
    case RV_FCVT_D_S:
    case RV_FCVT_D_W:
    case RV_FCVT_D_WU:
        return n == 3;
    case RV_FADD_D:
    case RV_FSUB_D:
    case RV_FMUL_D:
    case RV_FDIV_D:
    case RV_FSQRT_D:
    case RV_FMADD_D:
    case RV_FMSUB_D:
    case RV_FNMSUB_D:
    case RV_FNMADD_D:
    case RV_FCVT_W_D:
    case RV_FMIN_D:
    case RV_FMAX_D:
    case RV_FEQ_D:
    case RV_FLT_D:
    case RV_FLE_D:
    case RV_FSGNJ_D:
    case RV_FSGNJN_D:
    case RV_FSGNJX_D:
    case RV_FLD:
    case RV_FSD:
        return true;
    default:
        return false;
    }
}

unsigned mxgpu_jit_f_sources(const SimtOp *op, JitKind kind)
{
    if (kind == JIT_STORE) {
        return op->classes & RV_CLASS_F2 ? 2 : 0;
    }
    if (kind != JIT_FLOAT) {
        return 0;
    }
    switch (op->op) {
    case RV_FMADD_S:
    case RV_FMSUB_S:
    case RV_FNMSUB_S:
    case RV_FNMADD_S:
    case RV_FMADD_D:
    case RV_FMSUB_D:
    case RV_FNMSUB_D:
    case RV_FNMADD_D:
        return 7;
    default:
        return (op->classes & RV_CLASS_F1 ? 1 : 0) |
               (op->classes & RV_CLASS_F2 ? 2 : 0);
    }
}

/* f registers have one type each. What a block reads before it writes it, and
 * what it writes: *exposed, *written. */
static bool block_floats(JitCode *c, const JitBlock *b, uint32_t *exposed,
                         uint32_t *written)
{
    *exposed = *written = 0;
    for (unsigned i = b->first; i < b->first + b->count; i++) {
        const SimtOp *op = &c->ops[i];
        unsigned sources = mxgpu_jit_f_sources(op, c->kind[i]);
        const uint8_t reg[3] = {op->r1, op->r2, op->r3};

        for (unsigned n = 0; n < 3; n++) {
            if (!(sources >> n & 1)) {
                continue;
            }
            if (!float_type(c, reg[n],
                            mxgpu_jit_double(op, n) ? JIT_DOUBLE
                                                     : JIT_SINGLE)) {
                return false;
            }
            *exposed |= ~*written & 1u << reg[n];
        }
        if ((c->kind[i] == JIT_FLOAT || c->kind[i] == JIT_LOAD) &&
            op->classes & RV_CLASS_FD) {
            if (!float_type(c, op->rd,
                            mxgpu_jit_double(op, 3) ? JIT_DOUBLE
                                                     : JIT_SINGLE)) {
                return false;
            }
            *written |= 1u << op->rd;
        }
    }
    return true;
}

/* Whether block "to" may follow block b. */
static bool follows(const JitCode *c, const JitBlock *b, const JitBlock *to)
{
    unsigned last = b->first + b->count;
    const SimtOp *op;
    JitKind kind;

    if (!b->count) {
        return false;
    }
    op = &c->ops[--last];
    kind = c->kind[last];
    return (kind != JIT_JUMP && to->at == c->at[last] + 2 * op->len) ||
           ((kind == JIT_BRANCH || kind == JIT_JUMP) &&
            to->at == c->at[last] + op->imm);
}

uint32_t mxgpu_jit_behind(const JitCode *c, const JitBlock *b)
{
    uint32_t live = 0;

    for (unsigned i = 0; i < c->num_blocks; i++) {
        live |= follows(c, b, &c->blocks[i]) ? c->blocks[i].live : 0;
    }
    return live;
}

/* Which f registers may be read from each block on, inside the region. */
static bool floats(JitCode *c)
{
    uint32_t exposed[JIT_BLOCKS], written[JIT_BLOCKS];
    bool grown = true;

    for (unsigned i = 0; i < c->num_blocks; i++) {
        if (!block_floats(c, &c->blocks[i], &exposed[i], &written[i])) {
            return false;
        }
        c->blocks[i].flive = exposed[i];
    }
    while (grown) {
        grown = false;
        for (unsigned i = c->num_blocks; i-- > 0;) {
            JitBlock *b = &c->blocks[i];
            uint32_t behind = 0;

            for (unsigned k = 0; k < c->num_blocks; k++) {
                behind |= follows(c, b, &c->blocks[k]) ? c->blocks[k].flive : 0;
            }
            behind = exposed[i] | (behind & ~written[i]);
            grown |= behind != b->flive;
            b->flive |= behind;
        }
    }
    return true;
}

uint32_t mxgpu_jit_named(const JitCode *c)
{
    uint32_t used = 0;

    for (unsigned i = 0; i < c->num_ops; i++) {
        const SimtOp *op = &c->ops[i];

        used |= op->classes & RV_CLASS_F1 ? 0 : 1u << op->r1;
        used |= op->classes & RV_CLASS_F2 ? 0 : 1u << op->r2;
        used |= op->classes & RV_CLASS_FD || op->rd == SINK ? 0 : 1u << op->rd;
    }
    return used & ~1u;
}

bool mxgpu_jit_types(JitCode *c)
{
    unsigned passes = 0;
    uint32_t used;
    bool grown;

    memset(c->x, 0, sizeof(c->x));
    memset(c->f, 0, sizeof(c->f));
    if (!floats(c)) {
        return false;
    }
    used = mxgpu_jit_named(c);
    for (uint32_t m = c->blocks[c->head_block].live & used; m; m &= m - 1) {
        c->x[__builtin_ctz(m)] = c->entry[__builtin_ctz(m)];
    }
    do {
        grown = false;
        for (unsigned i = 0; i < c->num_blocks; i++) {
            if (c->blocks[i].count) {
                grown |= pass(c, &c->blocks[i],
                              mxgpu_jit_behind(c, &c->blocks[i]));
            }
            for (uint32_t m = c->blocks[i].live & used; m; m &= m - 1) {
                /* what is written where warps have left may be anything */
                if (!c->x[__builtin_ctz(m)] && passes) {
                    c->x[__builtin_ctz(m)] = JIT_WIDE;
                    grown = true;
                }
            }
        }
    } while ((grown || !passes) && ++passes < PASSES);
    return !grown;
}
