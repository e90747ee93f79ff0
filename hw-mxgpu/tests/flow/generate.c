/* SPDX-License-Identifier: MIT */
/* Makes programs: nested statements, or a graph of blocks of any shape. */
#include <string.h>

#include "encode.h"
#include "flow.h"
#include "mxgpu/isa.h"
#include "mxgpu/kernel.h"

static const uint8_t work[] = { 10, 11, 12, 13, 14, 15, 16, 17, 28, 29 };

static unsigned below(Flow *f, unsigned n)
{
    return (unsigned)g_rand_int_range(f->rng, 0, (int)n);
}

static unsigned some(Flow *f)
{
    return work[below(f, G_N_ELEMENTS(work))];
}

static void put(Flow *f, uint32_t insn)
{
    g_assert_cmpuint(f->length, <, f->room);
    f->code[f->length++] = insn;
}

static void put_r(Flow *f, RvOp op, unsigned rd, unsigned rs1, unsigned rs2)
{
    put(f, enc(op, rd, rs1, rs2));
}

static void put_i(Flow *f, RvOp op, unsigned rd, unsigned rs1, int imm)
{
    put(f, enc_i(op, rd, rs1, imm));
}

static void put_s(Flow *f, RvOp op, unsigned rs2, unsigned rs1, int imm)
{
    put(f, enc_s(op, rs2, rs1, imm));
}

/* Branches reach 4 KiB, jumps 1 MiB; at and to count instructions. */
static uint32_t branch(RvOp op, unsigned rs1, unsigned rs2, int by)
{
    return enc_b(op, rs1, rs2, 4 * by);
}

static uint32_t jump(unsigned rd, int by)
{
    return enc_j(RV_JAL, rd, 4 * by);
}

static RvOp condition(Flow *f)
{
    return (RvOp)(RV_BEQ + below(f, 6));
}

/* x31 = an address in the thread's own data, aligned for doublewords. */
static void own_address(Flow *f)
{
    put_i(f, RV_ANDI, T6, some(f), (FLOW_RESULTS / 3 - 8) & ~7);
    put_r(f, RV_ADD, T6, T6, S0);
}

static void operation(Flow *f)
{
    static const RvOp three[] = {
        RV_ADD, RV_SUB, RV_XOR, RV_OR, RV_AND, RV_SLL, RV_SRL, RV_SRA, RV_MUL,
        RV_MULHU, RV_DIV, RV_REMU, RV_SLT, RV_SLTU, RV_ADDW, RV_SUBW, RV_SRAW,
        RV_MULW, RV_DIVW, RV_SH2ADD, RV_ADD_UW, RV_ANDN, RV_MIN, RV_MAXU,
        RV_ROL, RV_RORW, RV_CZERO_EQZ, RV_CZERO_NEZ,
    };
    static const RvOp immediate[] = { RV_ADDI, RV_XORI, RV_ANDI, RV_SLTI,
                                      RV_ADDIW, RV_ORI };
    static const RvOp loads[] = { RV_LD, RV_LW, RV_LWU, RV_LH, RV_LBU };
    static const RvOp stores[] = { RV_SD, RV_SW, RV_SH, RV_SB };

    switch (f->quiet ? 4 + below(f, 8) : below(f, 12)) {
    case 0:
        own_address(f);
        put_i(f, loads[below(f, 5)], some(f), T6, (int)below(f, 8));
        break;
    case 1:
        own_address(f);
        put_s(f, stores[below(f, 4)], some(f), T6, (int)below(f, 8));
        break;
    case 2:
        own_address(f);
        put_r(f, (RvOp)(RV_AMOSWAP_D + below(f, 9)), some(f), T6, some(f));
        break;
    case 3:
        put(f, below(f, 4) ? match_of(RV_LUI) | some(f) << 7 |
                                 g_rand_int(f->rng) << 12
                           : match_of(RV_FENCE) | 0x0ff00000);
        break;
    case 4:
        put_i(f, RV_CSRRS, some(f), 0, MXGPU_CSR_LANE);
        break;
    case 5:
    case 6:
    case 7:
        put_i(f, immediate[below(f, 6)], some(f), some(f),
              (int)below(f, 4096) - 2048);
        break;
    default:
        put_r(f, three[below(f, G_N_ELEMENTS(three))], some(f), some(f),
              some(f));
    }
}

static void operations(Flow *f, unsigned most)
{
    for (unsigned n = below(f, most + 1); n; n--) {
        operation(f);
    }
}

/* ---- what both kinds begin and end with */

#define FIXUPS 512

/* Jumps to what is not there yet: the end, and blocks. */
typedef struct Fixups {
    struct {
        unsigned at, label;
    } jumps[FIXUPS];
    unsigned count;
} Fixups;

static void jump_to(Flow *f, Fixups *x, unsigned rd, unsigned label)
{
    g_assert_cmpuint(x->count, <, FIXUPS);
    x->jumps[x->count].at = f->length;
    x->jumps[x->count++].label = label;
    put(f, match_of(RV_JAL) | rd << 7);
}

static void resolve(Flow *f, const Fixups *x, const unsigned *labels)
{
    for (unsigned i = 0; i < x->count; i++) {
        unsigned at = x->jumps[i].at, rd = f->code[at] >> 7 & 31;

        f->code[at] = jump(rd, (int)labels[x->jumps[i].label] - (int)at);
    }
}

/* Thread n of the grid: x8 = its data, whose first words are x10 and so on. */
static void begin(Flow *f, unsigned fuel)
{
    f->length = 0;
    put_i(f, RV_CSRRS, T0, 0, MXGPU_CSR_CTAID_X);
    put_i(f, RV_CSRRS, T1, 0, MXGPU_CSR_NTID_X);
    put_r(f, RV_MUL, T0, T0, T1);
    put_i(f, RV_CSRRS, T1, 0, MXGPU_CSR_TID_X);
    put_r(f, RV_ADD, T0, T0, T1);
    put_i(f, RV_SLLI, T0, T0, 10);
    put_i(f, RV_LD, S0, A0, 0);
    put_i(f, RV_LD, S3, A0, 8);
    put_r(f, RV_ADD, S0, S0, T0);
    put_i(f, RV_ADDI, S1, 0, (int)fuel);
    put_i(f, RV_ADDI, S4, 0, -1);
    for (unsigned i = 0; i < G_N_ELEMENTS(work); i++) {
        put_i(f, RV_LD, work[i], S0, 8 * (int)i);
    }
}

/* Those that come here meet: each finds out who has x10 other than 0. */
static void finish(Flow *f)
{
    put_r(f, RV_MX_WARPSYNC, 0, S4, 0);
    put_r(f, RV_MX_BALLOT, T5, A0, 0);
    for (unsigned i = 0; i < G_N_ELEMENTS(work); i++) {
        put_s(f, RV_SD, work[i], S0, FLOW_RESULTS + 8 * (int)i);
    }
    put_s(f, RV_SD, T5, S0, FLOW_RESULTS + 8 * (int)G_N_ELEMENTS(work));
    put_s(f, RV_SD, S2, S0, FLOW_RESULTS + 8 + 8 * (int)G_N_ELEMENTS(work));
    put(f, match_of(RV_MX_EXIT));
}

/* The number of instructions that the next one is jumped over by. */
static void unless(Flow *f, RvOp op, unsigned rs1, unsigned rs2, int over)
{
    put(f, branch(op, rs1, rs2, 1 + over));
}

/* Every way round takes fuel; without any, to the end. */
static void burn(Flow *f, Fixups *x, unsigned end)
{
    put_i(f, RV_ADDI, S1, S1, -1);
    unless(f, RV_BGE, S1, 0, 1);
    jump_to(f, x, 0, end);
}

/* x30 = the entry of the table that a register picks. */
static void pick(Flow *f)
{
    put_i(f, RV_ANDI, T5, some(f), FLOW_TABLE - 1);
    put_r(f, RV_SH3ADD, T5, T5, S3);
    put_i(f, RV_LD, T5, T5, 0);
}

/* ---- a graph of blocks: any may go to any, calls and returns as they come */

static void call(Flow *f, Fixups *x, unsigned blocks)
{
    bool indirect = below(f, 2);
    unsigned at;

    put_i(f, RV_SLTI, T6, S2, 40); /* not deeper than the stack has room */
    at = f->length;
    put(f, 0);
    put_i(f, RV_ADDI, SP, SP, -16);
    put_s(f, RV_SD, RA, SP, 0);
    put_i(f, RV_ADDI, S2, S2, 1);
    if (indirect) {
        pick(f);
        put_i(f, RV_JALR, RA, T5, 0);
    } else {
        jump_to(f, x, RA, below(f, blocks));
    }
    put_i(f, RV_ADDI, S2, S2, -1);
    put_i(f, RV_LD, RA, SP, 0);
    put_i(f, RV_ADDI, SP, SP, 16);
    f->code[at] = branch(RV_BEQ, T6, 0, (int)(f->length - at));
}

static void terminator(Flow *f, Fixups *x, unsigned blocks)
{
    switch (below(f, 10)) {
    case 0:
        jump_to(f, x, 0, below(f, blocks));
        break;
    case 1: /* many ways at once */
        pick(f);
        put_i(f, RV_JALR, 0, T5, 0);
        break;
    case 2:
    case 3:
        call(f, x, blocks);
        break;
    case 4:
        unless(f, RV_BEQ, S2, 0, 1);
        put_i(f, RV_JALR, 0, RA, 0);
        break;
    case 5: /* the end of some threads */
        put_i(f, RV_ANDI, T6, some(f), 63);
        unless(f, RV_BNE, T6, 0, 1);
        put(f, match_of(RV_MX_EXIT));
        break;
    default:
        unless(f, condition(f), some(f), some(f), 1);
        jump_to(f, x, 0, below(f, blocks));
    }
}

#define BLOCKS 40

void flow_unstructured(Flow *f, unsigned fuel)
{
    unsigned blocks = 4 + below(f, BLOCKS - 4), labels[BLOCKS + 1];
    Fixups x = {.count = 0};

    begin(f, fuel);
    for (unsigned i = 0; i < blocks; i++) {
        labels[i] = f->length;
        burn(f, &x, blocks);
        operations(f, below(f, 12) ? 5 : 150); /* some lie pages apart */
        terminator(f, &x, blocks);
    }
    labels[blocks] = f->length;
    finish(f);
    resolve(f, &x, labels);
    for (unsigned i = 0; i < FLOW_TABLE; i++) {
        f->table[i] = HOST_CODE_VA + 4 * labels[below(f, blocks)];
    }
}

/* ---- nested statements, functions that call later ones and themselves */

#define FUNCTIONS 5

static void statements(Flow *f, Fixups *x, unsigned function);

static void if_else(Flow *f, Fixups *x, unsigned function)
{
    unsigned at = f->length, over;

    put(f, 0);
    put(f, 0);
    statements(f, x, function);
    f->code[at] = branch(condition(f), some(f), some(f), 2);
    if (below(f, 2)) {
        over = f->length;
        put(f, 0);
        f->code[at + 1] = jump(0, (int)(f->length - at) - 1);
        statements(f, x, function);
        f->code[over] = jump(0, (int)(f->length - over));
    } else {
        f->code[at + 1] = jump(0, (int)(f->length - at) - 1);
    }
}

/* A counter of 1 to 8 turns on the stack; break and continue in between. */
static void loop(Flow *f, Fixups *x, unsigned function)
{
    unsigned top, leave, again, at;

    put_i(f, RV_ANDI, T5, some(f), 7);
    put_i(f, RV_ADDI, SP, SP, -16);
    put_s(f, RV_SD, T5, SP, 0);
    top = f->length;
    put_i(f, RV_ADDI, S1, S1, -1);
    unless(f, RV_BGE, S1, 0, 1);
    leave = f->length;
    put(f, 0);
    statements(f, x, function);
    unless(f, condition(f), some(f), some(f), 1);
    at = f->length;
    put(f, 0); /* break */
    unless(f, condition(f), some(f), some(f), 1);
    again = f->length;
    put(f, 0); /* continue */
    statements(f, x, function);
    f->code[again] = jump(0, (int)(f->length - again));
    put_i(f, RV_LD, T5, SP, 0);
    put_i(f, RV_ADDI, T5, T5, -1);
    put_s(f, RV_SD, T5, SP, 0);
    put(f, branch(RV_BLT, T5, 0, 2));
    put(f, jump(0, (int)top - (int)f->length));
    f->code[leave] = jump(0, (int)(f->length - leave));
    f->code[at] = jump(0, (int)(f->length - at));
    put_i(f, RV_ADDI, SP, SP, 16);
}

/* Two to five arms by way of a computed jump into a row of jumps. */
static void choose(Flow *f, Fixups *x, unsigned function)
{
    unsigned arms = 2 + below(f, 4), row, ends[8];

    put_i(f, RV_ANDI, T5, some(f), 1023);
    put_i(f, RV_ADDI, T6, 0, (int)arms);
    put_r(f, RV_REMU, T5, T5, T6);
    put(f, match_of(RV_AUIPC) | T6 << 7);
    put_r(f, RV_SH2ADD, T6, T5, T6);
    put_i(f, RV_JALR, 0, T6, 12);
    row = f->length;
    f->length += arms;
    for (unsigned i = 0; i < arms; i++) {
        f->code[row + i] = jump(0, (int)(f->length - row - i));
        statements(f, x, function);
        ends[i] = f->length;
        put(f, 0);
    }
    for (unsigned i = 0; i < arms; i++) {
        f->code[ends[i]] = jump(0, (int)(f->length - ends[i]));
    }
}

static void call_function(Flow *f, Fixups *x, unsigned function)
{
    bool indirect = below(f, 3) == 0;
    unsigned at;

    put_i(f, RV_SLTI, T6, S2, 12);
    at = f->length;
    put(f, 0);
    if (indirect) {
        pick(f);
        put_i(f, RV_JALR, RA, T5, 0);
    } else {
        jump_to(f, x, RA, below(f, FUNCTIONS));
    }
    f->code[at] = branch(RV_BEQ, T6, 0, (int)(f->length - at));
}

static void statement(Flow *f, Fixups *x, unsigned function)
{
    switch (f->depth < 5 && f->length < 3000 ? below(f, 8) : 7) {
    case 0:
    case 1:
        if_else(f, x, function);
        break;
    case 2:
    case 3:
        loop(f, x, function);
        break;
    case 4:
        choose(f, x, function);
        break;
    case 5:
        call_function(f, x, function);
        break;
    default:
        operations(f, 6);
    }
}

static void statements(Flow *f, Fixups *x, unsigned function)
{
    f->depth++;
    for (unsigned n = 1 + below(f, 3); n; n--) {
        statement(f, x, function);
    }
    f->depth--;
}

/* The main one is inline; the others are behind it. Label FUNCTIONS: the end. */
void flow_structured(Flow *f, unsigned fuel)
{
    unsigned labels[FUNCTIONS + 1];
    Fixups x = {.count = 0};

    begin(f, fuel);
    f->depth = 0;
    statements(f, &x, FUNCTIONS);
    statements(f, &x, FUNCTIONS);
    jump_to(f, &x, 0, FUNCTIONS);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        labels[i] = f->length;
        put_i(f, RV_ADDI, SP, SP, -16);
        put_s(f, RV_SD, RA, SP, 0);
        put_i(f, RV_ADDI, S2, S2, 1);
        put_i(f, RV_ADDI, S1, S1, -1);
        unless(f, RV_BGE, S1, 0, 1); /* tired: return early */
        put(f, jump(0, 2));
        put(f, jump(0, 2));
        put(f, 0);
        f->depth = 2;
        {
            unsigned early = f->length - 1;

            statements(f, &x, i);
            f->code[early] = jump(0, (int)(f->length - early));
        }
        put_i(f, RV_ADDI, S2, S2, -1);
        put_i(f, RV_LD, RA, SP, 0);
        put_i(f, RV_ADDI, SP, SP, 16);
        put_i(f, RV_JALR, 0, RA, 0);
    }
    labels[FUNCTIONS] = f->length;
    finish(f);
    resolve(f, &x, labels);
    for (unsigned i = 0; i < FLOW_TABLE; i++) {
        f->table[i] = HOST_CODE_VA + 4 * labels[below(f, FUNCTIONS)];
    }
}
