/* SPDX-License-Identifier: MIT */
/* What instructions are for the compiler of loops, and what their registers
 * hold. */
#include "types.h"

#include "simt/slow/atomic.h"
#include "simt/slow/softfp.h"

#include <stdlib.h>
#include <string.h>

/* Instructions that LLVM's code computes, by what they do with words that are
 * sign-extended to 64 bits: make other numbers of them (WHOLE); give such words
 * (CLOSED); look at some bits only, and give such words (BIT); look at 32 bits
 * only (WORD). IMM: their second operand is an immediate; ALONE: or they have
 * none. */
#define WHOLE_OPS(F)                                                           \
    F(ADD) F(ADDI) F(SUB) F(SLL) F(SLLI) F(SRL) F(SRLI) F(SRA) F(SRAI) F(MUL)  \
    F(SH1ADD) F(SH2ADD) F(SH3ADD) F(ADD_UW) F(SH1ADD_UW) F(SH2ADD_UW)          \
    F(SH3ADD_UW) F(SLLI_UW) F(SLT) F(SLTU) F(ROR) F(ROL)
#define CLOSED_OPS(F)                                                          \
    F(ANDN) F(ORN) F(XNOR) F(MIN) F(MAX) F(MINU) F(MAXU) F(CZERO_EQZ)          \
    F(CZERO_NEZ) F(XOR) F(OR) F(AND)
#define CLOSED_IMM_OPS(F) F(XORI) F(ORI) F(ANDI)
#define ALONE_OPS(F) F(RORI) F(CLZ) F(CTZ) F(CPOP) F(REV8)
#define WORD_ALONE_OPS(F) F(RORIW) F(CLZW) F(CTZW) F(CPOPW)
#define BIT_OPS(F)                                                             \
    F(SLTI) F(SLTIU) F(SEXT_B) F(SEXT_H) F(ZEXT_H)
#define WORD_OPS(F)                                                            \
    F(ADDW) F(SUBW) F(MULW) F(SLLW) F(SRLW) F(SRAW) F(RORW) F(ROLW)
#define WORD_IMM_OPS(F) F(ADDIW) F(SLLIW) F(SRLIW) F(SRAIW)

#define DIVIDE_OPS(F)      F(DIV) F(DIVU) F(REM) F(REMU)
#define DIVIDE_WORD_OPS(F) F(DIVW) F(DIVUW) F(REMW) F(REMUW)

/* ---- kinds of instructions */

/* What CSRs hold that do not change while a warp runs. */
static bool reads_csr(const SimtOp *op)
{
    unsigned csr = (unsigned)op->imm;

    return op->op == RV_CSRRS && !op->r1 &&
           ((csr >= MXGPU_CSR_TID_X && csr <= MXGPU_CSR_NCTAID_Z) ||
            csr == MXGPU_CSR_LANE || csr == MXGPU_CSR_WARP ||
            csr == MXGPU_CSR_ARGS);
}

JitKind mxgpu_jit_kind(const SimtOp *op, bool whole)
{
    if (whole && reads_csr(op)) {
        return JIT_CSR;
    }
    switch (op->op) {
#define OP(ID) case RV_##ID:
        WHOLE_OPS(OP)
        CLOSED_OPS(OP)
        CLOSED_IMM_OPS(OP)
        BIT_OPS(OP)
        WORD_OPS(OP)
        WORD_IMM_OPS(OP)
        ALONE_OPS(OP)
        WORD_ALONE_OPS(OP)
    case RV_LUI:
    case RV_AUIPC:
    case OP_NOP:
        return JIT_INT;
    case RV_MULH:
    case RV_MULHSU:
    case RV_MULHU:
    case RV_ORC_B:
        DIVIDE_OPS(OP)
        DIVIDE_WORD_OPS(OP)
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
    case RV_FCVT_S_L:
    case RV_FCVT_S_LU:
    case RV_FCVT_D_L:
    case RV_FCVT_D_LU:
    case RV_FCVT_S_D:
    case RV_FCVT_D_S:
        return op->rm < 2 ? JIT_FLOAT : JIT_STUB;
    case RV_FCVT_W_S:
    case RV_FCVT_WU_S:
    case RV_FCVT_W_D:
    case RV_FCVT_WU_D:
    case RV_FCVT_L_S:
    case RV_FCVT_LU_S:
    case RV_FCVT_L_D:
    case RV_FCVT_LU_D:
        return op->rm_field != FP_RMM ? JIT_FLOAT : JIT_STUB;
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
    case RV_FMV_X_D:
    case RV_FMV_D_X:
    case RV_FCLASS_S:
    case RV_FCLASS_D:
        return JIT_FLOAT;
    default:
        break;
    }
    return mxgpu_simt_is_atomic(op->op) ? JIT_ATOMIC : JIT_STUB;
}

bool mxgpu_jit_divides(const SimtOp *op)
{
    switch (op->op) {
        DIVIDE_OPS(OP)
        DIVIDE_WORD_OPS(OP)
        return true;
    default:
        return false;
    }
}

#define PASSES 64

/* ---- types */

JitType mxgpu_jit_join(JitType a, JitType b)
{
    unsigned shape, any;

    if (a == JIT_NONE || b == JIT_NONE) {
        return a > b ? a : b;
    }
    shape = (a - 1) / 2 > (b - 1) / 2 ? (a - 1) / 2 : (b - 1) / 2;
    any = ((a - 1) | (b - 1)) & 1;
    return (JitType)(1 + 2 * shape + any);
}

static bool is_word(JitType t)
{
    return t == JIT_UNIFORM_WORD || t == JIT_LINE_WORD || t == JIT_WORD;
}

static bool is_uniform(JitType t)
{
    return mxgpu_jit_uniform(t);
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
        return is_word(a) ? word_of(a, a) : wide_of(a, a);
    case RV_SLT:
    case RV_SLTU:
        return word_of(a, b);
        BIT_OPS(OP)
        return word_of(a, a);
        CLOSED_OPS(OP)
        return is_word(a) && is_word(b) ? word_of(a, b) : wide_of(a, b);
        CLOSED_IMM_OPS(OP)
        return is_word(a) ? word_of(a, a) : wide_of(a, a);
        WORD_OPS(OP)
        return word_of(a, b);
        WORD_IMM_OPS(OP)
        WORD_ALONE_OPS(OP)
        return word_of(a, a);
        ALONE_OPS(OP)
    case RV_SLLI:
    case RV_SRLI:
    case RV_SLLI_UW:
        return wide_of(a, a);
        DIVIDE_WORD_OPS(OP)
        return word_of(a, b);
        DIVIDE_OPS(OP)
        return wide_of(a, b);
    case RV_FCVT_W_S:
    case RV_FCVT_WU_S:
    case RV_FCVT_W_D:
    case RV_FCVT_WU_D:
    case RV_FCLASS_S:
    case RV_FCLASS_D:
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
    if (op->op >= RV_LR_W && op->op <= RV_AMOCAS_W) {
        return JIT_WORD;
    }
    switch (mxgpu_jit_kind(op, false)) {
    case JIT_INT:
        return wide_of(a, b);
    default:
        return JIT_WIDE;
    }
}

/* What is computed of lines, as far as it is taken for one. */
static JitType line_result(const SimtOp *op, JitType a, JitType b)
{
    bool one = mxgpu_jit_line(a), two = mxgpu_jit_line(b);
    bool both = (one || is_uniform(a)) && (two || is_uniform(b));

    switch (op->op) {
    case RV_ADDI:
    case RV_SLLI:
    case RV_SLLI_UW:
        return one ? JIT_LINE : JIT_NONE;
    case RV_ADDIW:
    case RV_SLLIW:
        return one ? JIT_LINE_WORD : JIT_NONE;
    case RV_ADD:
    case RV_SUB:
    case RV_SH1ADD:
    case RV_SH2ADD:
    case RV_SH3ADD:
    case RV_ADD_UW:
    case RV_SH1ADD_UW:
    case RV_SH2ADD_UW:
    case RV_SH3ADD_UW:
        return both && (one || two) ? JIT_LINE : JIT_NONE;
    case RV_ADDW:
    case RV_SUBW:
        return both && (one || two) ? JIT_LINE_WORD : JIT_NONE;
    case RV_MUL:
        return both && one != two ? JIT_LINE : JIT_NONE;
    case RV_MULW:
        return both && one != two ? JIT_LINE_WORD : JIT_NONE;
    default:
        return JIT_NONE;
    }
}

static JitType csr_result(const SimtOp *op)
{
    unsigned csr = (unsigned)op->imm;

    if (csr == MXGPU_CSR_LANE ||
        (csr >= MXGPU_CSR_TID_X && csr <= MXGPU_CSR_TID_Z)) {
        return JIT_LINE_WORD;
    }
    return csr == MXGPU_CSR_WARP ||
                   (csr >= MXGPU_CSR_NTID_X && csr <= MXGPU_CSR_NTID_Z)
               ? JIT_UNIFORM_WORD
               : JIT_UNIFORM;
}

JitType mxgpu_jit_result_in(const JitCode *c, unsigned index, JitType a,
                            JitType b)
{
    const SimtOp *op = &c->ops[index];
    JitType t = mxgpu_jit_result(op, a, b), line;

    if (!c->whole) {
        return t;
    }
    switch ((JitKind)c->kind[index]) {
    case JIT_CSR:
        return csr_result(op);
    case JIT_LOAD:
        return is_uniform(a) && !c->varies[index]
                   ? (t == JIT_WORD ? JIT_UNIFORM_WORD : JIT_UNIFORM)
                   : t;
    case JIT_INT:
        line = mxgpu_jit_line(t) ? JIT_NONE : line_result(op, a, b);
        return line && !c->varies[index] ? line : t;
    default:
        return t;
    }
}

bool mxgpu_jit_one_way(const JitCode *c, unsigned index, JitType a, JitType b)
{
    unsigned op = c->ops[index].op;
    bool one = mxgpu_jit_line(a), two = mxgpu_jit_line(b);

    if (is_uniform(a) && is_uniform(b)) {
        return true;
    }
    if (!c->whole || c->varies[index]) {
        return false;
    }
    if (c->together[index]) {
        return true;
    }
    /* Of a line and a number some lane is the one that is equal. */
    return one && two ? true
                      : op != RV_BEQ && op != RV_BNE &&
                            (one || is_uniform(a)) && (two || is_uniform(b));
}

bool mxgpu_jit_writes_x(const SimtOp *op, JitKind kind)
{
    return kind != JIT_STORE && kind != JIT_BRANCH && kind != JIT_JUMP &&
           kind != JIT_STUB && !(op->classes & RV_CLASS_FD) &&
           op->rd != SINK && op->op != OP_NOP;
}

static JitType lanes_of(JitType t)
{
    return t == JIT_NONE ? JIT_NONE : is_word(t) ? JIT_WORD : JIT_WIDE;
}

JitType mxgpu_jit_kept(const JitBlock *b, unsigned reg, JitType t)
{
    return mxgpu_jit_blends(b, reg)
               ? mxgpu_jit_join(lanes_of(t), lanes_of(b->x[reg]))
               : t;
}

static bool grow(JitCode *c, const JitBlock *b, unsigned reg, JitType local)
{
    JitType t = mxgpu_jit_join(c->x[reg], mxgpu_jit_kept(b, reg, local));
    bool grown = t != c->x[reg];

    c->x[reg] = t;
    return grown;
}

/* Whether warps may leave in front of the op. */
static bool may_stop(const JitCode *c, unsigned index)
{
    JitKind kind = c->kind[index];

    return kind == JIT_LOAD || kind == JIT_STORE || kind == JIT_ATOMIC;
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

        for (uint32_t m = may_stop(c, i) ? written & c->live[i] : 0; m;
             m &= m - 1) {
            unsigned reg = __builtin_ctz(m);

            grown |= c->x[reg] && grow(c, b, reg, local[reg]);
        }
        if (mxgpu_jit_writes_x(op, c->kind[i])) {
            local[op->rd] =
                mxgpu_jit_result_in(c, i, local[op->r1], local[op->r2]);
            written |= 1u << op->rd;
        }
    }
    for (uint32_t m = written & behind; m; m &= m - 1) {
        grown |= grow(c, b, __builtin_ctz(m), local[__builtin_ctz(m)]);
    }
    return grown;
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
    case RV_FCVT_D_L:
    case RV_FCVT_D_LU:
    case RV_FMV_D_X:
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
    case RV_FCVT_WU_D:
    case RV_FCVT_L_D:
    case RV_FCVT_LU_D:
    case RV_FMV_X_D:
    case RV_FCLASS_D:
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

/* Of f registers in a block: singles and doubles. */
typedef struct BlockFloats {
    uint32_t exposed[2]; /* read before they are written */
    uint32_t holds[2];   /* written, and what they hold at the end */
} BlockFloats;

/* False: as one is read what was written as the other. */
static bool block_floats(JitCode *c, const JitBlock *b, BlockFloats *f)
{
    *f = (BlockFloats){0};
    for (unsigned i = b->first; i < b->first + b->count; i++) {
        const SimtOp *op = &c->ops[i];
        unsigned sources = mxgpu_jit_f_sources(op, c->kind[i]);
        const uint8_t reg[3] = {op->r1, op->r2, op->r3};
        bool type;

        for (unsigned n = 0; n < 3; n++) {
            if (!(sources >> n & 1)) {
                continue;
            }
            type = mxgpu_jit_double(op, n);
            c->f[reg[n]] |= type ? JIT_DOUBLE : JIT_SINGLE;
            if ((f->holds[!type] | (f->exposed[!type] & ~f->holds[type])) >>
                    reg[n] & 1) {
                return false;
            }
            f->exposed[type] |= ~f->holds[type] & 1u << reg[n];
        }
        if ((c->kind[i] == JIT_FLOAT || c->kind[i] == JIT_LOAD) &&
            op->classes & RV_CLASS_FD) {
            type = mxgpu_jit_double(op, 3);
            c->f[op->rd] |= type ? JIT_DOUBLE : JIT_SINGLE;
            f->holds[type] |= 1u << op->rd;
            f->holds[!type] &= ~(1u << op->rd);
        }
    }
    return true;
}

unsigned mxgpu_jit_block_at(const JitCode *c, int32_t at)
{
    for (unsigned i = 0; i < c->num_blocks; i++) {
        if (c->blocks[i].at == at) {
            return i;
        }
    }
    abort(); /* region.c has made one of each place that is gone to */
}

bool mxgpu_jit_follows(const JitCode *c, const JitBlock *b, const JitBlock *to)
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
        live |= mxgpu_jit_follows(c, b, &c->blocks[i]) ? c->blocks[i].live : 0;
    }
    return live;
}

uint32_t mxgpu_jit_fbehind(const JitCode *c, const JitBlock *b)
{
    uint32_t read = 0;

    for (unsigned i = 0; i < c->num_blocks; i++) {
        read |= mxgpu_jit_follows(c, b, &c->blocks[i]) ? c->blocks[i].fread : 0;
    }
    return read;
}

static void floats_behind(const JitCode *c, const JitBlock *b,
                          uint32_t behind[2])
{
    behind[0] = behind[1] = 0;
    for (unsigned k = 0; k < c->num_blocks; k++) {
        if (mxgpu_jit_follows(c, b, &c->blocks[k])) {
            behind[0] |= c->blocks[k].flive[0];
            behind[1] |= c->blocks[k].flive[1];
        }
    }
}

bool mxgpu_jit_floats(JitCode *c)
{
    BlockFloats f[JIT_BLOCKS];
    bool grown = true, ok = true;
    uint32_t behind[2];

    memset(c->f, 0, sizeof(c->f));
    for (unsigned i = 0; i < c->num_blocks; i++) {
        if (!block_floats(c, &c->blocks[i], &f[i])) {
            return false;
        }
        memcpy(c->blocks[i].flive, f[i].exposed, sizeof(f[i].exposed));
    }
    while (grown) {
        grown = false;
        for (unsigned i = c->num_blocks; i-- > 0;) {
            JitBlock *b = &c->blocks[i];
            uint32_t written = f[i].holds[0] | f[i].holds[1];

            floats_behind(c, b, behind);
            for (unsigned t = 0; t < 2; t++) {
                uint32_t live = f[i].exposed[t] | (behind[t] & ~written);

                grown |= (live & ~b->flive[t]) != 0;
                b->flive[t] |= live;
            }
        }
    }
    for (unsigned i = 0; i < c->num_blocks; i++) {
        const JitBlock *b = &c->blocks[i];

        floats_behind(c, b, behind);
        ok &= !(b->flive[0] & b->flive[1]) && !(f[i].holds[0] & behind[1]) &&
              !(f[i].holds[1] & behind[0]);
    }
    return ok;
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

uint32_t mxgpu_jit_written(const JitCode *c)
{
    uint32_t written = 0;

    for (unsigned i = 0; i < c->num_ops; i++) {
        if (mxgpu_jit_writes_x(&c->ops[i], c->kind[i])) {
            written |= 1u << c->ops[i].rd;
        }
    }
    return written;
}

/* Where groups of lanes begin anywhere, a register has one type in all of the
 * region. */
static bool types(JitCode *c)
{
    uint32_t used = mxgpu_jit_named(c);
    unsigned passes = 0;
    bool grown;

    memset(c->x, 0, sizeof(c->x));
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
    for (unsigned i = 0; i < c->num_blocks; i++) {
        memcpy(c->blocks[i].x, c->x, sizeof(c->x));
    }
    return !grown;
}

bool mxgpu_jit_types(JitCode *c)
{
    for (unsigned i = 0; i < c->num_blocks; i++) {
        c->blocks[i].full = false;
        c->blocks[i].awaited = UINT32_MAX;
    }
    return mxgpu_jit_floats(c) && types(c);
}
