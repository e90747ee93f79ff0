/* SPDX-License-Identifier: MIT */
/*
 * Compiled code against the interpreter, once more: loops of random
 * instructions of every kind that is compiled, and some that are not, which
 * lanes leave after different numbers of turns, with registers that hold what
 * all lanes have, lines, words and doublewords. In every other program all
 * threads take the same number of turns: warps run together, and much is a line.
 * Memory and counts are the same.
 *   MXGPU_JIT_SEED=N: the program of that number alone, and its words
 */
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode.h"
#include "mxgpu/isa.h"
#include "mxgpu/kernel.h"
#include "simt/jit/jit.h"
#include "simt/jit/types.h"
#include "simt_host.h"

#define PROGRAMS   80
#define RUNS       3 /* of each, with what the last left */
#define THREADS    256
#define LANE_BYTES 2048 /* of data that one thread uses */
#define DATA       (HOST_DATA_VA + (16 << 20))
#define TABLE      (HOST_DATA_VA + (8 << 20)) /* read by all threads */
#define STACK      1024
#define SHARED     32 /* bytes of a thread */
#define CODE_WORDS 512
#define BESIDE     (HOST_DATA_VA + (4 << 20)) /* threads' own, side by side */
#define BESIDE_MAX 4096                       /* of one size */
#define TABLE_TURNS (8 * 63)

/* A thread's data: what its registers are in the beginning, what it works on,
 * what the registers are in the end. */
#define AT_TURNS   (8 * 40)
#define AT_SHARED  (8 * 41)
#define AT_WORK    512
#define AT_END     1024

enum {
    SP = 2,
    T0 = 5,
    T1,
    SHARE,
    OWN,
    TURNS,
    A0 = 10,
    FIXED = 19,
    LINE = 20, /* with two more */
    UNI = 23,  /* with one more */
    THREAD = 25,
    NEXT_TO, /* BESIDE, or the same in shared memory */
    NEXT_TO_SHARED,
    T2 = 30,
    AT
};
static const uint8_t work[] = {10, 11, 12, 13, 14, 15, 16, 17, 28, 29};
#define WORK      G_N_ELEMENTS(work)
#define F_SINGLES 8 /* f0 to f7 hold f32, as many behind them f64 */
#define F_EITHER  16 /* and more: now one, now the other */

typedef struct Insn {
    RvOp op;
    uint32_t match;
    RvFormat format;
    unsigned classes; /* RV_CLASS_* */
    uint32_t extension;
} Insn;

#define CLASSES_fff (RV_CLASS_FD | RV_CLASS_F1 | RV_CLASS_F2)
#define CLASSES_ff_ (RV_CLASS_FD | RV_CLASS_F1)
#define CLASSES_fx_ RV_CLASS_FD
#define CLASSES_fxx RV_CLASS_FD
#define CLASSES_xf_ RV_CLASS_F1
#define CLASSES_xff (RV_CLASS_F1 | RV_CLASS_F2)
#define CLASSES_xxf RV_CLASS_F2
#define CLASSES__xf RV_CLASS_F2
#define CLASSES_xxx 0
#define CLASSES_xx_ 0
#define CLASSES_x__ 0
#define CLASSES__xx 0
#define CLASSES_x_x 0
#define CLASSES____ 0

static const Insn insns[RV_OP_COUNT] = {
#define RV_GROUP(name, major)
#define RV_INSN(id, name, match, mask, format, classes, ext, xlen)             \
    [RV_##id] = {RV_##id, match, RV_FMT_##format, CLASSES_##classes,           \
                 (xlen)&RV_64 ? RV_EXT_##ext : 0},
#include "rv/insns.def"
#undef RV_GROUP
#undef RV_INSN
};

typedef struct Program {
    uint32_t code[CODE_WORDS];
    unsigned length;
    bool atomics; /* slices may then end sooner or later */
    bool asks_pc; /* in each turn */
    bool confused; /* reads f registers as what they do not hold */
    bool together;
    unsigned width; /* of blocks of such ones */
    unsigned at;  /* bytes behind HOST_CODE_VA */
    GRand *rng;
} Program;

static unsigned below(Program *p, unsigned n)
{
    return (unsigned)g_rand_int_range(p->rng, 0, (int)n);
}

static unsigned some(Program *p)
{
    return work[below(p, WORK)];
}

static unsigned some_line(Program *p)
{
    return LINE + below(p, 3);
}

/* To be read. */
static unsigned some_source(Program *p)
{
    return p->together && !below(p, 6) ? some_line(p) : some(p);
}

/* ---- words */

static void put(Program *p, uint32_t word)
{
    g_assert_cmpuint(p->length, <, CODE_WORDS);
    p->code[p->length++] = word;
}

static void put_r(Program *p, RvOp op, unsigned rd, unsigned r1, unsigned r2)
{
    put(p, enc(op, rd, r1, r2));
}

static void put_i(Program *p, RvOp op, unsigned rd, unsigned r1, int imm)
{
    put(p, enc_i(op, rd, r1, imm));
}

static void put_s(Program *p, RvOp op, unsigned r2, unsigned r1, int imm)
{
    put(p, enc_s(op, r2, r1, imm));
}

static uint32_t branch(RvOp op, unsigned r1, unsigned r2, int words)
{
    return enc_b(op, r1, r2, 4 * words);
}

/* ---- instructions */

/* An f register of the instruction's format; other: the one that conversions
 * between the two have on their other side. */
static unsigned some_f(Program *p, const Insn *in, bool other)
{
    bool is_double = (in->extension == RV_EXT_D) ^ other;

    return below(p, F_SINGLES) + (is_double ? F_SINGLES : 0);
}

static int immediate(Program *p)
{
    return below(p, 3) ? (int)below(p, 64) - 32 : (int)below(p, 4096) - 2048;
}

/* Any instruction that computes registers of registers. */
static void put_computing(Program *p, const Insn *in)
{
    static const uint8_t modes[] = {0, 2, 3, 4, 7};
    /* fcvt.s.d is of D, and gives f32 */
    bool mixed = in->op == RV_FCVT_S_D || in->op == RV_FCVT_D_S;
    unsigned rd = in->classes & RV_CLASS_FD
                      ? some_f(p, in, in->op == RV_FCVT_S_D)
                      : some(p);
    unsigned r1 = in->classes & RV_CLASS_F1
                      ? some_f(p, in, mixed && in->op == RV_FCVT_D_S)
                      : (below(p, 12) ? some_source(p) : 0);
    unsigned r2 = in->classes & RV_CLASS_F2
                      ? some_f(p, in, false)
                      : (below(p, 12) ? some_source(p) : 0);
    uint32_t word = in->match | rd << 7 | r1 << 15;
    /* to nearest; conversions to integers mostly as C has them */
    uint32_t rm = in->classes & RV_CLASS_FD ? 7u * below(p, 2)
                  : below(p, 2)             ? 1
                                            : modes[below(p, 5)];

    switch (in->format) {
    case RV_FMT_R:
        put(p, word | r2 << 20);
        break;
    case RV_FMT_R2:
        put(p, word);
        break;
    case RV_FMT_R_RM:
        put(p, word | r2 << 20 | rm << 12);
        break;
    case RV_FMT_R2_RM:
        put(p, word | rm << 12);
        break;
    case RV_FMT_R4:
        put(p, word | r2 << 20 | rm << 12 | some_f(p, in, false) << 27);
        break;
    case RV_FMT_I:
        put(p, word | (uint32_t)immediate(p) << 20);
        break;
    case RV_FMT_SH: /* those of words have 5 bits */
        put(p, word | below(p, in->match & 8 ? 32 : 64) << 20);
        break;
    case RV_FMT_U:
        put(p, in->match | rd << 7 | (uint32_t)g_rand_int(p->rng) << 12);
        break;
    default:
        g_assert_not_reached();
    }
}

static bool computes(const Insn *in)
{
    SimtOp op = {.op = in->op, .rm_field = 7};
    JitKind kind;

    if (in->classes & RV_CLASS_F1 && !(in->classes & RV_CLASS_FD)) {
        op.rm_field = 1;
    }
    kind = mxgpu_jit_kind(&op, false);
    return in->extension && in->format != RV_FMT_NONE &&
           (kind == JIT_INT || kind == JIT_CALL || kind == JIT_FLOAT);
}

static void instructions(Program *p, unsigned n, unsigned depth);
static void skipping(Program *p, unsigned depth);

/* An f register holds f32 or f64 for a while. */
static void either(Program *p, unsigned depth)
{
    unsigned reg = F_EITHER + depth, wide = below(p, 2);
    unsigned first = wide ? F_SINGLES : 0;
    RvOp op = wide ? RV_FADD_D : RV_FADD_S;

    put_r(p, op, reg, first + below(p, F_SINGLES), first + below(p, F_SINGLES));
    if (depth < 2) {
        skipping(p, depth);
        put_r(p, op, reg, reg, first + below(p, F_SINGLES));
    }
    if (p->confused && depth < 2 && below(p, 4) == 0) {
        skipping(p, 2);
        put_r(p, wide ? RV_FADD_S : RV_FADD_D, F_SINGLES - first, reg, reg);
    }
    put_r(p, op, first + below(p, F_SINGLES), reg, reg);
}

static void computing(Program *p, bool floats)
{
    const Insn *in;

    do {
        in = &insns[below(p, RV_OP_COUNT)];
    } while (!computes(in) ||
             floats != ((in->extension & (RV_EXT_F | RV_EXT_D)) != 0));
    put_computing(p, in);
}

/* x31 = an address for doublewords in one of the places that are the thread's
 * own: by a register, in another order for each lane. */
static void own_address(Program *p)
{
    switch (below(p, 3)) {
    case 0:
        put_i(p, RV_ANDI, AT, some(p), 0x1f8);
        put_r(p, RV_ADD, AT, AT, OWN);
        put_i(p, RV_ADDI, AT, AT, AT_WORK);
        break;
    case 1:
        put_i(p, RV_ANDI, AT, some(p), STACK / 2 - 8);
        put_r(p, RV_SUB, AT, SP, AT);
        put_i(p, RV_ADDI, AT, AT, -STACK / 2);
        break;
    default:
        put_i(p, RV_ANDI, AT, some(p), SHARED / 2 - 8);
        put_r(p, RV_ADD, AT, AT, SHARE);
    }
}

static void put_access(Program *p, RvOp op, int offset)
{
    const Insn *in = &insns[op];
    bool store = op == RV_SW || op == RV_FSW;
    bool is_float = in->classes & (store ? RV_CLASS_F2 : RV_CLASS_FD);
    unsigned reg = is_float ? some_f(p, in, false) : some(p);

    (store ? put_s : put_i)(p, op, reg, AT, offset);
}

/* Words side by side of what x31 points to. */
static void pair(Program *p, int offset)
{
    static const RvOp loads[] = {RV_LW, RV_LWU, RV_FLW};
    static const RvOp stores[] = {RV_SW, RV_FSW};
    bool store = below(p, 2), down = below(p, 2);

    for (unsigned i = 0; i < 2; i++) {
        put_access(p, store ? stores[below(p, 2)] : loads[below(p, 3)],
                   offset + (i == down ? 0 : 4));
    }
}

static void memory(Program *p)
{
    static const RvOp loads[] = {RV_LD, RV_LW,  RV_LWU, RV_LH, RV_LHU,
                                 RV_LB, RV_LBU, RV_FLW, RV_FLD};
    static const RvOp stores[] = {RV_SD, RV_SW, RV_SH, RV_SB, RV_FSW, RV_FSD};
    /* mostly aligned */
    int offset = below(p, 6) ? 8 * (int)below(p, 2) : (int)below(p, 9);
    RvOp op;

    if (below(p, 5) == 0) { /* what all threads may read, one for all */
        op = loads[below(p, G_N_ELEMENTS(loads))];
        put_i(p, op,
              insns[op].classes & RV_CLASS_FD ? some_f(p, &insns[op], false)
                                              : some(p),
              FIXED, 8 * (int)below(p, 64));
        return;
    }
    own_address(p);
    if (below(p, 3) == 0) {
        pair(p, offset);
    } else if (below(p, 2)) {
        op = loads[below(p, G_N_ELEMENTS(loads))];
        put_i(p, op,
              insns[op].classes & RV_CLASS_FD ? some_f(p, &insns[op], false)
                                              : some(p),
              AT, offset);
    } else {
        op = stores[below(p, G_N_ELEMENTS(stores))];
        put_s(p, op,
              insns[op].classes & RV_CLASS_F2 ? some_f(p, &insns[op], false)
                                              : some(p),
              AT, offset);
    }
}

/* What is computed of lines, mostly one again. */
static void lining(Program *p)
{
    static const RvOp ops[] = {
        RV_ADD,       RV_SUB,       RV_ADDW,      RV_SUBW,     RV_SH1ADD,
        RV_SH2ADD,    RV_SH3ADD,    RV_ADD_UW,    RV_SH1ADD_UW,
        RV_SH2ADD_UW, RV_SH3ADD_UW, RV_MUL,       RV_MULW};
    static const RvOp by_number[] = {RV_ADDI, RV_ADDIW, RV_SLLI, RV_SLLIW,
                                     RV_SLLI_UW};
    static const unsigned csrs[] = {MXGPU_CSR_TID_X,  MXGPU_CSR_TID_Y,
                                    MXGPU_CSR_LANE,   MXGPU_CSR_WARP,
                                    MXGPU_CSR_NTID_X, MXGPU_CSR_CTAID_Y};
    unsigned rd = some_line(p), r1 = some_line(p);
    unsigned r2 = below(p, 2) ? some_line(p) : UNI + below(p, 2);
    RvOp op;

    switch (below(p, 8)) {
    case 0:
        put_i(p, RV_CSRRS, rd, 0, (int)csrs[below(p, G_N_ELEMENTS(csrs))]);
        break;
    case 1:
        put_i(p, RV_ADDI, UNI + below(p, 2), UNI, immediate(p) & 15);
        break;
    case 2:
    case 3:
        op = by_number[below(p, G_N_ELEMENTS(by_number))];
        put_i(p, op, rd, r1,
              op == RV_ADDI || op == RV_ADDIW ? immediate(p)
                                              : (int)below(p, 6));
        break;
    default:
        op = ops[below(p, G_N_ELEMENTS(ops))];
        put_r(p, op, rd, below(p, 3) ? r1 : r2, below(p, 3) ? r2 : r1);
    }
}

/* Loads and stores of what is side by side: a thread's own, or read alone. */
static void line_memory(Program *p)
{
    static const RvOp own[4][4] = {
        {RV_LB, RV_LBU, RV_SB, RV_SB},
        {RV_LH, RV_LHU, RV_SH, RV_SH},
        {RV_LW, RV_FLW, RV_SW, RV_FSW},
        {RV_LD, RV_FLD, RV_SD, RV_FSD},
    };
    unsigned size = below(p, 4), what = below(p, 4);
    RvOp op = own[size][what];
    const Insn *in = &insns[op];

    if (below(p, 4) == 0) { /* of each row one, or each lane another */
        put_i(p, RV_CSRRS, AT, 0,
              below(p, 2) ? MXGPU_CSR_TID_Y : MXGPU_CSR_LANE);
        put_i(p, RV_SLLI, AT, AT, (int)below(p, 4));
        put_r(p, RV_ADD, AT, AT, FIXED);
        op = own[size][what & 1];
        in = &insns[op];
        what &= 1;
    } else {
        put_i(p, RV_SLLI, AT, THREAD, (int)size);
        put_r(p, RV_ADD, AT, AT, below(p, 2) ? NEXT_TO : NEXT_TO_SHARED);
        put_i(p, RV_ADDI, T2, 0, (int)size);
        put_i(p, RV_SLLI, T2, T2, 12); /* BESIDE_MAX */
        put_r(p, RV_ADD, AT, AT, T2);
    }
    if (size == 3 && below(p, 2) && what == 2) {
        pair(p, 0);
    } else if (what < 2) {
        put_i(p, op, in->classes & RV_CLASS_FD ? some_f(p, in, false) : some(p),
              AT, 0);
    } else {
        put_s(p, op,
              in->classes & RV_CLASS_F2 ? some_f(p, in, false) : some_source(p),
              AT, 0);
    }
}

static void atomic(Program *p)
{
    bool wide = below(p, 2);

    own_address(p);
    if (below(p, 3) == 0) { /* of floating point */
        unsigned f7 = below(p, MXGPU_F7_FMAX_D + 1), rd = some(p);

        put(p, f7 << 25 | some(p) << 20 | AT << 15 | MXGPU_F3_FATOMIC << 12 |
                   rd << 7 | MXGPU_OPCODE_CUSTOM0);
        return;
    }
    put_r(p, (RvOp)((wide ? RV_AMOSWAP_D : RV_AMOSWAP_W) + below(p, 10)),
          some(p), AT, some(p));
}

/* Some lanes do not execute what follows. */
static void skipping(Program *p, unsigned depth)
{
    RvOp op = (RvOp)(RV_BEQ + below(p, 6));
    unsigned r1 = some(p), r2 = below(p, 2) ? some(p) : 0, at = p->length;

    if (p->together && below(p, 2)) {
        r1 = some_line(p);
        r2 = below(p, 3) ? UNI + below(p, 2) : some_line(p);
    }
    put(p, 0);
    instructions(p, 1 + below(p, 5), depth + 1);
    p->code[at] = branch(op, r1, r2, (int)(p->length - at));
}

/* A loop in the loop, of other numbers of turns. */
static void turning(Program *p)
{
    unsigned loop;

    put_i(p, RV_ANDI, T1, some(p), 7);
    loop = p->length;
    instructions(p, 1 + below(p, 5), 1);
    put_i(p, RV_ADDI, T1, T1, -1);
    put(p, branch(RV_BLT, 0, T1, (int)loop - (int)p->length));
}

static void instructions(Program *p, unsigned n, unsigned depth)
{
    for (; n; n--) {
        unsigned what = below(p, 100);

        if (p->together && below(p, 3) == 0) {
            (below(p, 3) ? lining : line_memory)(p);
        } else if (what < 45) {
            computing(p, false);
        } else if (what < 62) {
            computing(p, true);
        } else if (what < 65) {
            either(p, depth);
        } else if (what < 75 && p->atomics) {
            atomic(p);
        } else if (what < 85) {
            memory(p);
        } else if (what < 93 && depth < 2) {
            skipping(p, depth);
        } else if (what < 96 && depth == 0) {
            turning(p);
        } else if (what == 98) { /* not compiled: a call of what is behind it */
            put(p, match_of(RV_JAL) | T2 << 7 | 4 << 20);
        } else if (what == 99) { /* not compiled, or for whole warps alone */
            put_i(p, RV_CSRRS, some(p), 0,
                  below(p, 2) ? MXGPU_CSR_LANE : MXGPU_CSR_CU);
        }
    }
}

/* A work register in the beginning: each kind that there is of what lanes hold.
 */
static void first_value(Program *p, unsigned reg, int at)
{
    switch (below(p, 7)) {
    case 0:
        put_i(p, RV_ADDI, reg, 0, immediate(p));
        break;
    case 1:
        put_i(p, RV_LD, reg, FIXED, 8 * (int)below(p, 64));
        break;
    case 2:
        put_i(p, RV_CSRRS, reg, 0, MXGPU_CSR_LANE);
        put_i(p, RV_SLLI, reg, reg, (int)below(p, 34));
        break;
    case 3:
    case 4:
        put_i(p, RV_LW, reg, OWN, at);
        break;
    default:
        put_i(p, RV_LD, reg, OWN, at);
    }
}

static void begin(Program *p)
{
    p->length = 0;
    put_i(p, RV_CSRRS, THREAD, 0, MXGPU_CSR_TID_X);
    put_i(p, RV_CSRRS, LINE, 0, MXGPU_CSR_TID_Y);
    put_i(p, RV_CSRRS, UNI, 0, MXGPU_CSR_NTID_X);
    put_r(p, RV_MUL, T0, LINE, UNI);
    put_r(p, RV_ADD, THREAD, THREAD, T0);
    put_i(p, RV_SLLI, T0, THREAD, 11); /* LANE_BYTES */
    put_i(p, RV_LD, NEXT_TO, A0, 16);
    put_i(p, RV_LD, NEXT_TO_SHARED, A0, 24);
    put_i(p, RV_CSRRS, LINE + 1, 0, MXGPU_CSR_LANE);
    put_i(p, RV_ADDI, LINE + 2, THREAD, immediate(p));
    put_i(p, RV_LD, OWN, A0, 0);
    put_i(p, RV_LD, FIXED, A0, 8);
    put_r(p, RV_ADD, OWN, OWN, T0);
    put_i(p, RV_LD, UNI + 1, FIXED, 8 * (int)below(p, 63));
    put_i(p, RV_LD, TURNS, p->together ? FIXED : OWN,
          p->together ? TABLE_TURNS : AT_TURNS);
    put_i(p, RV_LD, SHARE, OWN, AT_SHARED);
    for (int i = 0; i < 2 * F_SINGLES; i++) {
        put_i(p, i < F_SINGLES ? RV_FLW : RV_FLD, (unsigned)i, OWN,
              8 * (i + (int)WORK));
    }
    for (int i = 0; i < (int)WORK; i++) {
        first_value(p, work[i], 8 * i);
    }
}

static void finish(Program *p)
{
    for (int i = 0; i < (int)WORK; i++) {
        put_s(p, RV_SD, work[i], OWN, AT_END + 8 * i);
    }
    for (int i = 0; i < 5; i++) {
        put_s(p, RV_SD, LINE + (unsigned)i, OWN, AT_END + 8 * (i + 40));
    }
    for (int i = 0; i < 2 * F_SINGLES; i++) {
        put_s(p, RV_FSD, (unsigned)i, OWN, AT_END + 8 * (i + (int)WORK));
    }
    for (int i = 0; i < 3; i++) {
        put_s(p, RV_FSD, (unsigned)(F_EITHER + i), OWN, AT_END + 8 * (i + 30));
    }
    put(p, match_of(RV_MX_EXIT));
}

static void make(Program *p)
{
    unsigned loop;

    begin(p);
    loop = p->length;
    if (p->asks_pc) {
        put(p, match_of(RV_AUIPC) | A0 << 7);
        put_r(p, RV_ADD, work[1], work[1], A0);
    }
    instructions(p, 4 + below(p, 14), 0);
    put_i(p, RV_ADDI, TURNS, TURNS, -1);
    put(p, branch(RV_BNE, TURNS, 0, (int)loop - (int)p->length));
    finish(p);
}

/* ---- data */

static uint32_t some_single(GRand *rng)
{
    static const uint32_t special[] = {0,          0x80000000, 0x3f800000,
                                       0xbf800000, 0x7f800000, 0xff800000,
                                       0x7fc00000, 0x7f800001, 1,
                                       0x807fffff, 0x4f000000, 0x4f800000,
                                       0xcf000001, 0x7f7fffff};
    union {
        float f;
        uint32_t u;
    } v = {.f = (float)g_rand_int_range(rng, -1000, 1000) / 8};

    switch (g_rand_int_range(rng, 0, 3)) {
    case 0:
        return special[g_rand_int_range(rng, 0, G_N_ELEMENTS(special))];
    case 1:
        return v.u;
    default:
        return g_rand_int(rng);
    }
}

static uint64_t some_double(GRand *rng)
{
    union {
        double d;
        uint64_t u;
    } v = {.d = (double)g_rand_int_range(rng, -100000, 100000) / 8};
    uint64_t any = (uint64_t)g_rand_int(rng) << 32 | g_rand_int(rng);

    switch (g_rand_int_range(rng, 0, 4)) {
    case 0:
        return (uint64_t)some_single(rng) << 32; /* special, too */
    case 1:
        return any;
    default:
        return v.u;
    }
}

static uint64_t some_word(GRand *rng)
{
    uint64_t any = (uint64_t)g_rand_int(rng) << 32 | g_rand_int(rng);

    switch (g_rand_int_range(rng, 0, 4)) {
    case 0:
        return any;
    case 1:
        return (uint64_t)(int64_t)(int32_t)any;
    default:
        return (any & 31) - 8;
    }
}

static void fill(SimtHost *h, GRand *rng)
{
    uint64_t *table = simt_host_data(h, TABLE);
    uint64_t *args = simt_host_data(h, HOST_DATA_VA);

    args[0] = DATA;
    args[1] = TABLE;
    args[2] = BESIDE;
    args[3] = MXGPU_SHARED_BASE + THREADS * SHARED;
    memset(simt_host_data(h, BESIDE), 0, 4 * BESIDE_MAX);
    for (unsigned i = 0; i < 64; i++) {
        table[i] = i % 4 == 3 ? some_double(rng) : some_word(rng);
    }
    table[TABLE_TURNS / 8] = 1 + g_rand_int(rng) % 40;
    for (unsigned t = 0; t < THREADS; t++) {
        uint64_t *own = simt_host_data(h, DATA + (uint64_t)t * LANE_BYTES);

        for (unsigned i = 0; i < LANE_BYTES / 8; i++) {
            own[i] = some_word(rng);
        }
        for (unsigned i = 0; i < F_SINGLES; i++) {
            own[WORK + i] = some_single(rng);
            own[WORK + F_SINGLES + i] = some_double(rng);
        }
        own[AT_TURNS / 8] = 1 + g_rand_int(rng) % 40;
        own[AT_SHARED / 8] = MXGPU_SHARED_BASE + (uint64_t)t * SHARED;
    }
}

/* ---- runs */

static void run(SimtHost *h, const Program *p, unsigned block,
                MxgpuSimtCounters *counters)
{
    uint64_t at = HOST_CODE_VA + p->at;
    MxgpuDispatch d = simt_host_dispatch(at, 1, block);
    MxgpuDispatchFault f;

    d.private_bytes = STACK;
    d.shared = THREADS * SHARED + 4 * BESIDE_MAX;
    if (p->together && block % 64 == 0) {
        d.block[0] = p->width;
        d.block[1] = block / p->width;
    }
    memcpy(simt_host_data(h, at), p->code, 4 * p->length);
    f = simt_host_run(h, &d);
    for (unsigned i = 1; i < RUNS && !f.code; i++) {
        f = simt_host_run(h, &d);
    }
    if (f.code) {
        g_test_message("fault %d at %lx, pc %lx, thread %u", f.code,
                       (long)f.addr, (long)f.pc, f.thread);
    }
    g_assert_cmpint(f.code, ==, MXGPU_FAULT_NONE);
    mxgpu_simt_counters(h->simt, counters);
}

static void compare_data(SimtHost *const h[2], unsigned seed)
{
    for (unsigned t = 0; t < THREADS; t++) {
        const uint64_t *own[2];

        for (unsigned i = 0; i < 2; i++) {
            own[i] = simt_host_data(h[i], DATA + (uint64_t)t * LANE_BYTES);
        }
        for (unsigned i = 0; i < LANE_BYTES / 8; i++) {
            if (own[0][i] != own[1][i]) {
                g_error("seed %u, thread %u, doubleword %u: %lx interpreted, "
                        "%lx compiled",
                        seed, t, i, (long)own[0][i], (long)own[1][i]);
            }
        }
    }
}

static void run_both(SimtHost *const h[2], const Program *p, unsigned seed)
{
    static const unsigned blocks[2][4] = {{64, 256, 37, 128},
                                          {128, 256, 100, 256}};
    unsigned block = blocks[p->together][seed / 4 % 4];
    MxgpuSimtCounters before[2], after[2];

    for (unsigned i = 0; i < 2; i++) {
        g_autoptr(GRand) rng = g_rand_new_with_seed(seed);

        fill(h[i], rng);
        mxgpu_simt_counters(h[i]->simt, &before[i]);
        run(h[i], p, block, &after[i]);
    }
    compare_data(h, seed);
    g_assert_cmpmem(simt_host_data(h[0], BESIDE), 4 * BESIDE_MAX,
                    simt_host_data(h[1], BESIDE), 4 * BESIDE_MAX);
#define SAME(name)                                                             \
    g_assert_cmpuint(after[0].name - before[0].name, ==,                       \
                     after[1].name - before[1].name)
    SAME(lane_instructions);
    if (!p->atomics) {
        SAME(warp_instructions);
        SAME(divergent_branches);
    }
#undef SAME
}

static void one_program(SimtHost *const h[2], unsigned seed)
{
    Program p = {.rng = g_rand_new_with_seed(seed),
                 .atomics = seed % 4 == 3,
                 .confused = seed % 8 == 5,
                 .together = seed & 1};

    p.width = 4u << below(&p, 5);
    make(&p);
    if (g_getenv("MXGPU_JIT_SEED")) {
        for (unsigned i = 0; i < p.length; i++) {
            g_test_message(".word 0x%08x", p.code[i]);
        }
    }
    run_both(h, &p, seed);
    g_rand_free(p.rng);
}

static SimtHost *new_host(bool jit)
{
    if (jit) {
        g_setenv("MXGPU_TEST_JIT", "1", TRUE);
    } else {
        g_unsetenv("MXGPU_TEST_JIT");
    }
    return simt_host_new(1);
}

static void test_programs(void)
{
    SimtHost *h[2] = {new_host(false), new_host(true)};
    const char *only = g_getenv("MXGPU_JIT_SEED");
    unsigned first = only ? (unsigned)strtoul(only, NULL, 0) : 0;
    unsigned count = only ? 1 : PROGRAMS, compiled;

    for (unsigned i = 0; i < count; i++) {
        one_program(h, first + i);
    }
    if (h[1]->simt->jit) {
        compiled = mxgpu_jit_ready(h[1]->simt->jit);
        g_test_message("%u regions", compiled);
        /* few begin with what is not compiled */
        g_assert_cmpuint(compiled, >=, only ? 0 : count);
    }
    simt_host_free(h[0]);
    simt_host_free(h[1]);
}

static unsigned num_files(const char *folder, bool remove)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    unsigned n = 0;

    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(folder, name, NULL);

        n++;
        if (remove) {
            g_assert_cmpint(g_unlink(path), ==, 0);
        }
    }
    return n;
}

/* What was compiled of a program is that of the same one elsewhere, though it
 * asks for its pc. */
static void test_moved(void)
{
    g_autofree char *folder = g_dir_make_tmp("mxgpu-jit-XXXXXX", NULL);
    Program p = {.rng = g_rand_new_with_seed(1), .asks_pc = true};
    unsigned files = 0;

    g_setenv("MXGPU_JIT_CACHE", folder, TRUE);
    make(&p);
    for (p.at = 0; p.at <= 0x5000; p.at += 0x5000) {
        SimtHost *h[2] = {new_host(false), new_host(true)};

        run_both(h, &p, 4);
        if (h[1]->simt->jit) {
            g_assert_cmpuint(mxgpu_jit_ready(h[1]->simt->jit), >, 0);
            g_assert_cmpuint(num_files(folder, false), >, 0);
        }
        if (p.at) {
            g_assert_cmpuint(num_files(folder, false), ==, files);
        }
        files = num_files(folder, false);
        simt_host_free(h[0]);
        simt_host_free(h[1]);
    }
    num_files(folder, true);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    g_setenv("MXGPU_JIT_CACHE", "", TRUE);
    g_rand_free(p.rng);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_setenv("MXGPU_JIT_CACHE", "", TRUE);
    g_test_add_func("/jit/random", test_programs);
    g_test_add_func("/jit/moved", test_moved);
    return g_test_run();
}
