/* SPDX-License-Identifier: MIT */
/* Integer instructions between registers and with immediates. */
#include "conform.h"

typedef unsigned __int128 u128;
typedef __int128 i128;
typedef uint64_t IntRef(uint64_t a, uint64_t b);

typedef struct IntCase {
    RvOp op;
    IntRef *ref;
} IntCase;

#define REF(name, expr)                                                        \
    static uint64_t ref_##name(uint64_t a, uint64_t b)                         \
    {                                                                          \
        (void)b;                                                               \
        return (uint64_t)(expr);                                               \
    }
#define W(expr) ((int64_t)(int32_t)(expr))
#define SA ((int64_t)a)
#define SB ((int64_t)b)
#define WA ((uint32_t)a)
#define WB ((uint32_t)b)
#define SWA ((int32_t)a)
#define SWB ((int32_t)b)

static uint64_t slow_shift(uint64_t a, unsigned n, unsigned bits, int kind)
{
    for (unsigned i = 0; i < n; i++) { /* one bit at a time */
        uint64_t top = 1ull << (bits - 1), out;

        switch (kind) {
        case 'l': a <<= 1; break;
        case 'r': a >>= 1; break;
        case 'a': a = (a >> 1) | (a & top); break;
        case 'o': out = a & 1; a = a >> 1 | (out ? top : 0); break;
        default: out = a & top; a = a << 1 | (out ? 1 : 0); break;
        }
        a &= bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    }
    return a;
}

static uint64_t count(uint64_t a, unsigned bits, int kind)
{
    unsigned n = 0;

    for (unsigned i = 0; i < bits; i++) {
        bool bit = a >> (kind == 'l' ? bits - 1 - i : i) & 1;

        if (kind == 'p') {
            n += bit;
        } else if (bit) {
            break;
        } else {
            n++;
        }
    }
    return n;
}

static uint64_t bytes_of(uint64_t a, bool reverse)
{
    uint64_t r = 0;

    for (unsigned i = 0; i < 8; i++) {
        uint64_t byte = a >> (8 * i) & 255;

        r |= reverse ? byte << (56 - 8 * i) : (byte ? 255ull : 0) << (8 * i);
    }
    return r;
}

REF(ADD, a + b) REF(SUB, a - b) REF(SLT, SA < SB) REF(SLTU, a < b)
REF(XOR, a ^ b) REF(OR, a | b) REF(AND, a & b)
REF(SLL, slow_shift(a, b & 63, 64, 'l')) REF(SRL, slow_shift(a, b & 63, 64, 'r'))
REF(SRA, slow_shift(a, b & 63, 64, 'a')) REF(ROR, slow_shift(a, b & 63, 64, 'o'))
REF(ROL, slow_shift(a, b & 63, 64, 'O'))
REF(MUL, (u128)a * b) REF(MULH, ((i128)SA * SB) >> 64)
REF(MULHSU, ((i128)SA * (i128)(u128)b) >> 64) REF(MULHU, ((u128)a * b) >> 64)
REF(DIV, b == 0 ? -1 : (i128)SA / SB) REF(DIVU, b == 0 ? UINT64_MAX : a / b)
REF(REM, b == 0 ? (i128)SA : (i128)SA % SB) REF(REMU, b == 0 ? a : a % b)
REF(SH1ADD, 2 * a + b) REF(SH2ADD, 4 * a + b) REF(SH3ADD, 8 * a + b)
REF(ANDN, a & ~b) REF(ORN, a | ~b) REF(XNOR, ~(a ^ b))
REF(MIN, SA < SB ? a : b) REF(MAX, SA > SB ? a : b)
REF(MINU, a < b ? a : b) REF(MAXU, a > b ? a : b)
REF(CZERO_EQZ, b ? a : 0) REF(CZERO_NEZ, b ? 0 : a)
REF(CLZ, count(a, 64, 'l')) REF(CTZ, count(a, 64, 't'))
REF(CPOP, count(a, 64, 'p')) REF(SEXT_B, (int8_t)a) REF(SEXT_H, (int16_t)a)
REF(ORC_B, bytes_of(a, false)) REF(REV8, bytes_of(a, true))
REF(ZEXT_H, a & 0xffff)
REF(ADD_UW, WA + b) REF(SH1ADD_UW, 2 * (uint64_t)WA + b)
REF(SH2ADD_UW, 4 * (uint64_t)WA + b) REF(SH3ADD_UW, 8 * (uint64_t)WA + b)
REF(ADDW, W(WA + WB)) REF(SUBW, W(WA - WB)) REF(MULW, W(WA * WB))
REF(SLLW, W(slow_shift(WA, b & 31, 32, 'l')))
REF(SRLW, W(slow_shift(WA, b & 31, 32, 'r')))
REF(SRAW, W(slow_shift(WA, b & 31, 32, 'a')))
REF(RORW, W(slow_shift(WA, b & 31, 32, 'o')))
REF(ROLW, W(slow_shift(WA, b & 31, 32, 'O')))
REF(DIVW, W(WB == 0 ? -1 : SA == 0 ? 0 : (int64_t)SWA / SWB))
REF(DIVUW, W(WB == 0 ? UINT32_MAX : WA / WB))
REF(REMW, W(WB == 0 ? SWA : (int64_t)SWA % SWB))
REF(REMUW, W(WB == 0 ? WA : WA % WB))
REF(CLZW, count(a, 32, 'l')) REF(CTZW, count(a, 32, 't'))
REF(CPOPW, count(WA, 32, 'p'))
REF(SLLI_UW, slow_shift(WA, b & 63, 64, 'l'))

#define C(op) {RV_##op, ref_##op}
static const IntCase register_cases[] = {
    C(ADD), C(SUB), C(SLT), C(SLTU), C(XOR), C(OR), C(AND), C(SLL), C(SRL),
    C(SRA), C(ROR), C(ROL), C(MUL), C(MULH), C(MULHSU), C(MULHU), C(DIV),
    C(DIVU), C(REM), C(REMU), C(SH1ADD), C(SH2ADD), C(SH3ADD), C(ANDN), C(ORN),
    C(XNOR), C(MIN), C(MAX), C(MINU), C(MAXU), C(CZERO_EQZ), C(CZERO_NEZ),
    C(CLZ), C(CTZ), C(CPOP), C(SEXT_B), C(SEXT_H), C(ORC_B), C(REV8), C(ZEXT_H),
    C(ADD_UW), C(SH1ADD_UW), C(SH2ADD_UW), C(SH3ADD_UW), C(ADDW), C(SUBW),
    C(MULW), C(SLLW), C(SRLW), C(SRAW), C(RORW), C(ROLW), C(DIVW), C(DIVUW),
    C(REMW), C(REMUW), C(CLZW), C(CTZW), C(CPOPW),
};
#undef C
/* b is the immediate */
static const IntCase immediate_cases[] = {
    {RV_ADDI, ref_ADD},   {RV_SLTI, ref_SLT},   {RV_SLTIU, ref_SLTU},
    {RV_XORI, ref_XOR},   {RV_ORI, ref_OR},     {RV_ANDI, ref_AND},
    {RV_SLLI, ref_SLL},   {RV_SRLI, ref_SRL},   {RV_SRAI, ref_SRA},
    {RV_RORI, ref_ROR},   {RV_ADDIW, ref_ADDW}, {RV_SLLIW, ref_SLLW},
    {RV_SRLIW, ref_SRLW}, {RV_SRAIW, ref_SRAW}, {RV_RORIW, ref_RORW},
    {RV_SLLI_UW, ref_SLLI_UW},
};


static IntRef *reference(RvOp op, bool *immediate)
{
    for (size_t i = 0; i < G_N_ELEMENTS(register_cases); i++) {
        if (register_cases[i].op == op) {
            *immediate = false;
            return register_cases[i].ref;
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(immediate_cases); i++) {
        if (immediate_cases[i].op == op) {
            *immediate = true;
            return immediate_cases[i].ref;
        }
    }
    g_assert_not_reached();
}

static int random_immediate(RvOp op)
{
    static const int edges[] = { 0, 1, -1, 2047, -2048, 31, 32 };
    bool word = (match_of(op) & 0x7f) == 0x1b && op != RV_SLLI_UW;

    if (info_of(op).format == RV_FMT_SH) {
        return (int)random_below(word ? 32 : 64);
    }
    return random_below(4) ? (int)random_below(4096) - 2048
                           : edges[random_below(G_N_ELEMENTS(edges))];
}

/* x0 is 0 as a source; rd may be a source too, or x0. */
static uint64_t x_operand(const Record *r, unsigned reg)
{
    return reg == A1 ? r->a : reg == A2 ? r->b : reg == A4 ? r->old_x : 0;
}

static void check_results(RvOp op, const Record *r, unsigned lane, unsigned rd,
                          uint64_t want)
{
    if (!r->active) {
        want = x_operand(r, rd);
    }
    if (r->out_x != (rd ? want : 0)) {
        differ(op, lane, r, r->out_x, rd ? want : 0, "rd");
    }
    if (r->out_f != f_operand(r, 3)) {
        differ(op, lane, r, r->out_f, f_operand(r, 3), "another register");
    }
}

#define ROUNDS 120

static void check_integer(RvOp op)
{
    static const uint8_t rds[] = { A4, A4, A4, A1, A2, ZERO };
    static const uint8_t sources[] = { A1, A1, A1, A2, ZERO };
    bool immediate;
    IntRef *ref = reference(op, &immediate);
    bool two = info_of(op).format == RV_FMT_R;

    for (unsigned n = 0; n < ROUNDS; n++) {
        Shape s = {.mode = n % MODES};
        unsigned rd = rds[random_below(G_N_ELEMENTS(rds))];
        unsigned r1 = sources[random_below(G_N_ELEMENTS(sources))];
        unsigned r2 = two ? random_below(6) ? A2 : r1 : 0;
        int imm = random_immediate(op);

        fill_records(s.mode);
        run_insn(immediate ? enc_i(op, rd, r1, imm) : enc(op, rd, r1, r2), rd,
                 A4, &s);
        for (unsigned i = 0; i < threads_of(s.mode); i++) {
            const Record *r = record(i);

            if (r->active || s.mode != MODE_EXITED) {
                check_results(op, r, i, rd,
                              ref(x_operand(r, r1),
                                  immediate ? (uint64_t)(int64_t)imm
                                            : x_operand(r, r2)));
            }
        }
    }
}

/* lui and auipc; the instruction's address is found by its encoding. */
static void check_upper(RvOp op)
{
    for (unsigned n = 0; n < ROUNDS; n++) {
        Shape s = {.mode = n % MODES};
        uint32_t imm = (uint32_t)random64() & 0xfffff000;
        uint32_t insn = match_of(op) | A4 << 7 | imm;
        uint64_t want = (uint64_t)(int64_t)(int32_t)imm;
        const uint32_t *code = simt_host_data(host, HOST_CODE_VA);

        fill_records(s.mode);
        run_insn(insn, A4, A4, &s);
        for (unsigned i = 0; op == RV_AUIPC; i++) {
            if (code[i] == insn) {
                want += HOST_CODE_VA + 4 * i;
                break;
            }
        }
        for (unsigned i = 0; i < threads_of(s.mode); i++) {
            if (record(i)->active || s.mode != MODE_EXITED) {
                check_results(op, record(i), i, A4, want);
            }
        }
    }
}

void conform_integer(CheckFn **table)
{
    for (size_t i = 0; i < G_N_ELEMENTS(register_cases); i++) {
        table[register_cases[i].op] = check_integer;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(immediate_cases); i++) {
        table[immediate_cases[i].op] = check_integer;
    }
    table[RV_LUI] = check_upper;
    table[RV_AUIPC] = check_upper;
}
