/* SPDX-License-Identifier: MIT */
/*
 * One instruction at a time over 64 lanes with random operands under random
 * masks, against references written here in the host's C and IEEE arithmetic.
 */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "rv/rv.h"
#include "simt_host.h"

typedef unsigned __int128 u128;
typedef __int128 i128;

/* Operands of a lane and what came out. */
typedef struct Lane {
    uint64_t a, b, c, old;
} Lane;

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

/* ---- programs */

enum { ZERO = 0, T0 = 5, T1 = 6, A0 = 10, A1, A2, A3, A4, A5 };

static uint32_t match_of(RvOp op)
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

static uint32_t enc(RvOp op, unsigned rd, unsigned rs1, unsigned rs2)
{
    return match_of(op) | rd << 7 | rs1 << 15 | rs2 << 20;
}

static uint32_t enc_i(RvOp op, unsigned rd, unsigned rs1, int imm)
{
    return match_of(op) | rd << 7 | rs1 << 15 | (uint32_t)imm << 20;
}

static uint32_t enc_s(RvOp op, unsigned rs2, unsigned rs1, int imm)
{
    return match_of(op) | rs2 << 20 | rs1 << 15 | (imm & 31) << 7 |
           (uint32_t)(imm >> 5) << 25;
}

static SimtHost *host;
static GRand *rng;

static uint64_t random64(void)
{
    static const uint64_t special[] = {
        0, 1, 2, 31, 32, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff,
        0x100000000, 0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX,
        UINT64_MAX - 1, 0xffffffff80000000, 0xffffffff7fffffff,
    };
    uint64_t v = (uint64_t)g_rand_int(rng) << 32 | g_rand_int(rng);

    switch (g_rand_int_range(rng, 0, 4)) {
    case 0:
        return special[g_rand_int_range(rng, 0, G_N_ELEMENTS(special))];
    case 1:
        return v >> g_rand_int_range(rng, 0, 64);
    default:
        return v;
    }
}

/*
 * Each lane has 64 bytes at HOST_DATA_VA: a, b, c, old, flag, result, fflags.
 * x and f registers A1, A2, A3 are a, b, c, A4 is the destination, and lanes
 * whose flag is 0 skip the instruction.
 */
static void build(uint32_t insn, bool fp, bool fp_result, bool flags)
{
    uint32_t *code = simt_host_data(host, HOST_CODE_VA);

    *code++ = match_of(RV_CSRRS) | T0 << 7 | 0xcccu << 20;
    *code++ = enc_i(RV_SLLI, T0, T0, 6);
    *code++ = enc(RV_ADD, T1, A0, T0);
    *code++ = enc_i(fp ? RV_FLD : RV_LD, A1, T1, 0);
    *code++ = enc_i(fp ? RV_FLD : RV_LD, A2, T1, 8);
    *code++ = enc_i(fp ? RV_FLD : RV_LD, A3, T1, 16);
    *code++ = enc_i(fp_result ? RV_FLD : RV_LD, A4, T1, 24);
    if (fp) { /* the operand of moves and conversions from x */
        *code++ = enc_i(RV_LD, A1, T1, 0);
    }
    *code++ = enc_i(RV_LD, A5, T1, 32);
    *code++ = match_of(RV_BEQ) | A5 << 15 | 8 << 7; /* beqz a5, +8 */
    *code++ = insn;
    *code++ = enc_s(fp_result ? RV_FSD : RV_SD, A4, T1, 40);
    if (flags) {
        *code++ = match_of(RV_CSRRS) | A4 << 7 | 1u << 20;
        *code++ = enc_s(RV_SD, A4, T1, 48);
    }
    *code++ = match_of(RV_MX_EXIT);
}

static uint64_t *lane(unsigned i)
{
    return (uint64_t *)simt_host_data(host, HOST_DATA_VA) + 8 * i;
}

static void run(unsigned threads)
{
    MxgpuDispatch d = simt_host_dispatch(HOST_CODE_VA, 1, threads);
    MxgpuDispatchFault f = simt_host_run(host, &d);

    g_assert_cmpint(f.code, ==, MXGPU_FAULT_NONE);
}

static void fill(unsigned i, int round)
{
    uint64_t *l = lane(i);

    for (unsigned k = 0; k < 4; k++) {
        l[k] = random64();
    }
    l[4] = round == 0 || g_rand_boolean(rng);
    l[5] = 0x55;
}

static void check_int(const IntCase *c, uint32_t insn, bool imm, uint64_t b)
{
    for (int round = 0; round < 3; round++) {
        unsigned threads = round == 2 ? 37 : 64;

        build(insn, false, false, false);
        for (unsigned i = 0; i < 64; i++) {
            fill(i, round);
        }
        run(threads);
        for (unsigned i = 0; i < threads; i++) {
            uint64_t *l = lane(i);
            uint64_t want = l[4] ? c->ref(l[0], imm ? b : l[1]) : l[3];

            if (l[5] != want) {
                g_test_message("%s lane %u: a %016lx b %016lx: %016lx, not "
                               "%016lx", rv_name(c->op), i, (long)l[0],
                               (long)(imm ? b : l[1]), (long)l[5], (long)want);
                g_test_fail();
            }
        }
    }
}

static void test_register(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(register_cases); i++) {
        const IntCase *c = &register_cases[i];
        RvInsn in;

        rv_decode(match_of(c->op), 64, ~0u, &in);
        for (int n = 0; n < 4; n++) {
            check_int(c, enc(c->op, A4, A1, in.format == RV_FMT_R ? A2 : 0),
                      false, 0);
        }
    }
}

static void test_immediate(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(immediate_cases); i++) {
        const IntCase *c = &immediate_cases[i];
        RvInsn in;

        rv_decode(match_of(c->op), 64, ~0u, &in);
        for (int n = 0; n < 6; n++) {
            bool word = (match_of(c->op) & 0x7f) == 0x1b &&
                        c->op != RV_SLLI_UW;
            int imm = in.format == RV_FMT_SH
                          ? g_rand_int_range(rng, 0, word ? 32 : 64)
                          : g_rand_int_range(rng, -2048, 2048);

            check_int(c, enc_i(c->op, A4, A1, imm), true,
                      (uint64_t)(int64_t)imm);
        }
    }
}

static void test_branches(void)
{
    static const RvOp ops[] = { RV_BEQ, RV_BNE, RV_BLT,
                                RV_BGE, RV_BLTU, RV_BGEU };

    for (size_t n = 0; n < 6 * 8; n++) {
        RvOp op = ops[n % 6];
        uint32_t *code = simt_host_data(host, HOST_CODE_VA);

        /* taken: the result stays old, else it becomes 0 */
        build(enc_i(RV_ADDI, A4, ZERO, 0), false, false, false);
        code[8] = match_of(op) | A1 << 15 | A2 << 20 | 8 << 7;
        for (unsigned i = 0; i < 64; i++) {
            fill(i, 0);
            if (g_rand_int_range(rng, 0, 3) == 0) {
                lane(i)[1] = lane(i)[0];
            }
        }
        run(64);
        for (unsigned i = 0; i < 64; i++) {
            uint64_t a = lane(i)[0], b = lane(i)[1];
            bool taken[] = { a == b, a != b, SA < SB, SA >= SB, a < b, a >= b };

            g_assert_cmphex(lane(i)[5], ==, taken[n % 6] ? lane(i)[3] : 0);
        }
    }
}

/* ---- floating point: the host's arithmetic, scalar, in its own modes */

#define CANON_S 0xffffffff7fc00000ull
#define CANON_D 0x7ff8000000000000ull

static float as_s(uint64_t v)
{
    uint32_t u = v >> 32 == 0xffffffff ? (uint32_t)v : 0x7fc00000;
    float f;

    memcpy(&f, &u, 4);
    return f;
}

static double as_d(uint64_t v)
{
    double d;

    memcpy(&d, &v, 8);
    return d;
}

static uint64_t of_s(float f)
{
    uint32_t u;

    memcpy(&u, &f, 4);
    return isnan(f) ? CANON_S : 0xffffffff00000000ull | u;
}

static uint64_t of_d(double d)
{
    uint64_t u;

    memcpy(&u, &d, 8);
    return isnan(d) ? CANON_D : u;
}

typedef struct FpCase {
    RvOp op;
    char kind;   /* result: s, d, x */
    unsigned sources; /* 3: fma */
    bool rounds;
    uint64_t (*ref)(uint64_t a, uint64_t b, uint64_t c);
} FpCase;

#define VOLATILE(T, conv)                                                      \
    volatile T x = conv(a), y = conv(b), z = conv(c);                          \
    (void)x;                                                                   \
    (void)y;                                                                   \
    (void)z
#define FP2(op, suffix, T, conv, back, expr)                                   \
    static uint64_t ref_##op##_##suffix(uint64_t a, uint64_t b, uint64_t c)    \
    {                                                                          \
        VOLATILE(T, conv);                                                     \
        volatile T r = (expr);                                                 \
        return back(r);                                                        \
    }
#define BOTH(op, es, ed)                                                       \
    FP2(op, S, float, as_s, of_s, es) FP2(op, D, double, as_d, of_d, ed)
BOTH(FADD, x + y, x + y)
BOTH(FSUB, x - y, x - y)
BOTH(FMUL, x *y, x *y)
BOTH(FDIV, x / y, x / y)
BOTH(FSQRT, sqrtf(x), sqrt(x))
BOTH(FMADD, fmaf(x, y, z), fma(x, y, z))
BOTH(FMSUB, fmaf(x, y, -z), fma(x, y, -z))
BOTH(FNMSUB, fmaf(-x, y, z), fma(-x, y, z))
BOTH(FNMADD, fmaf(-x, y, -z), fma(-x, y, -z))
FP2(FCVT_S, D, double, as_d, of_s, x)
FP2(FCVT_D, S, float, as_s, of_d, x)

#define FPX(op, suffix, T, conv, expr)                                         \
    static uint64_t ref_##op##_##suffix(uint64_t a, uint64_t b, uint64_t c)    \
    {                                                                          \
        VOLATILE(T, conv);                                                     \
        return (uint64_t)(expr);                                               \
    }
#define BOTHX(op, expr)                                                        \
    FPX(op, S, float, as_s, expr) FPX(op, D, double, as_d, expr)
BOTHX(FEQ, x == y)
BOTHX(FLT, isless(x, y))
BOTHX(FLE, islessequal(x, y))

static unsigned classify(double v, bool subnormal, bool negative,
                         bool signaling)
{
    return isnan(v) ? (signaling ? 1 << 8 : 1 << 9)
           : isinf(v) ? (negative ? 1 : 1 << 7)
           : v == 0 ? (negative ? 1 << 3 : 1 << 4)
           : subnormal ? (negative ? 1 << 2 : 1 << 5)
                       : (negative ? 1 << 1 : 1 << 6);
}

static uint64_t ref_FCLASS_S(uint64_t a, uint64_t b, uint64_t c)
{
    float f = as_s(a);

    return classify(f, fpclassify(f) == FP_SUBNORMAL, signbit(f),
                    a >> 32 == 0xffffffff && !(a & 0x400000));
}

static uint64_t ref_FCLASS_D(uint64_t a, uint64_t b, uint64_t c)
{
    double f = as_d(a);

    return classify(f, fpclassify(f) == FP_SUBNORMAL, signbit(f),
                    !(a & 0x8000000000000ull));
}

static double pick(double x, double y, bool max)
{
    if (isnan(x) || isnan(y)) {
        return isnan(x) ? y : x;
    }
    if (x == y) {
        return (signbit(x) != 0) != max ? x : y;
    }
    return (x < y) != max ? x : y;
}
BOTH(FMIN, pick(x, y, false), pick(x, y, false))
BOTH(FMAX, pick(x, y, true), pick(x, y, true))

static uint64_t sign_of(uint64_t a, uint64_t b, int kind, uint64_t bit)
{
    bool s = kind == 'n' ? !(b & bit) : kind == 'x' ? !!((a ^ b) & bit)
                                                    : !!(b & bit);
    return (a & ~bit) | (s ? bit : 0);
}

static uint64_t raw_s(uint64_t a)
{
    return a >> 32 == 0xffffffff ? a : CANON_S;
}

#define SGN(op, kind)                                                          \
    static uint64_t ref_##op##_S(uint64_t a, uint64_t b, uint64_t c)           \
    {                                                                          \
        return sign_of(raw_s(a), raw_s(b), kind, 0x80000000u);                 \
    }                                                                          \
    static uint64_t ref_##op##_D(uint64_t a, uint64_t b, uint64_t c)           \
    {                                                                          \
        return sign_of(a, b, kind, 1ull << 63);                                \
    }
SGN(FSGNJ, 'j')
SGN(FSGNJN, 'n')
SGN(FSGNJX, 'x')

/* To integers: rint() in the current mode, then saturate. */
static uint64_t to_int(double v, double low, double high, uint64_t min,
                       uint64_t max, bool is_signed, bool word)
{
    double r = rint(v);
    uint64_t u;

    if (isnan(v) || r >= high) {
        u = max;
    } else if (r < low) {
        u = min;
    } else {
        u = is_signed ? (uint64_t)(int64_t)r : (uint64_t)r;
    }
    return word ? (uint64_t)(int64_t)(int32_t)u : u;
}
BOTHX(FCVT_W, to_int(x, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX, true, true))
BOTHX(FCVT_WU, to_int(x, 0, 0x1p32, 0, UINT32_MAX, false, true))
BOTHX(FCVT_L, to_int(x, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX, true, false))
BOTHX(FCVT_LU, to_int(x, 0, 0x1p64, 0, UINT64_MAX, false, false))

#define FROM(to, n, T, U, back)                                                \
    static uint64_t ref_FCVT_##to##_##n(uint64_t a, uint64_t b, uint64_t c)    \
    {                                                                          \
        volatile U v = (U)a;                                                   \
        volatile T r = (T)v;                                                   \
        return back(r);                                                        \
    }
FROM(S, W, float, int32_t, of_s) FROM(S, WU, float, uint32_t, of_s)
FROM(S, L, float, int64_t, of_s)
FROM(D, W, double, int32_t, of_d) FROM(D, WU, double, uint32_t, of_d)
FROM(D, L, double, int64_t, of_d)

static uint64_t ref_FMV_X_W(uint64_t a, uint64_t b, uint64_t c)
{
    return (uint64_t)(int64_t)(int32_t)a;
}
static uint64_t ref_FMV_X_H(uint64_t a, uint64_t b, uint64_t c)
{
    return (uint64_t)(int64_t)(int16_t)a;
}
static uint64_t ref_FMV_X_D(uint64_t a, uint64_t b, uint64_t c)
{
    return a;
}
static uint64_t ref_FMV_W_X(uint64_t a, uint64_t b, uint64_t c)
{
    return a | 0xffffffff00000000ull;
}
static uint64_t ref_FMV_H_X(uint64_t a, uint64_t b, uint64_t c)
{
    return a | 0xffffffffffff0000ull;
}

#define BF_BOX 0xffffffffffff0000ull

/* A finite float between two neighbours of 8-bit significand, by their order. */
static uint32_t round_bf(uint32_t u, int mode)
{
    uint32_t below = u & 0xffff0000, above = below + 0x10000;
    bool negative = u >> 31, up;

    switch (mode) {
    case FE_TONEAREST:
        up = (u & 0xffff) > 0x8000 ||
             ((u & 0xffff) == 0x8000 && (above & 0x10000) == 0);
        break;
    case FE_DOWNWARD:
        up = negative && u != below;
        break;
    case FE_UPWARD:
        up = !negative && u != below;
        break;
    default:
        up = false;
    }
    return up ? above : below;
}

static uint64_t ref_FCVT_BF16_S(uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t u = a >> 32 == 0xffffffff ? (uint32_t)a : 0x7fc00000, r, twice;
    float f = as_s(a), g;
    int mode = fegetround();

    if (isnan(f)) {
        if (!(u & 0x400000)) {
            feraiseexcept(FE_INVALID);
        }
        return BF_BOX | 0x7fc0;
    }
    if (isinf(f)) {
        return BF_BOX | u >> 16;
    }
    r = round_bf(u, mode);
    if (r != u) {
        feraiseexcept(FE_INEXACT);
    }
    if ((r & 0x7fffffff) == 0x7f800000) {
        feraiseexcept(FE_OVERFLOW);
    }
    /* tiny: also with an exponent that has no bound */
    if (r != u && fpclassify(f) == FP_SUBNORMAL) {
        g = 2 * f;
        memcpy(&twice, &g, 4);
        if ((round_bf(twice, mode) & 0x7fffffff) < 0x1000000) {
            feraiseexcept(FE_UNDERFLOW);
        }
    }
    return BF_BOX | r >> 16;
}

static uint64_t ref_FCVT_S_BF16(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t wide = 0xffffffff00000000ull | (uint32_t)a << 16;

    if (a < BF_BOX) {
        return CANON_S;
    }
    if (isnan(as_s(wide))) {
        if (!(a & 0x40)) {
            feraiseexcept(FE_INVALID);
        }
        return CANON_S;
    }
    return wide;
}

#define P(op, kind, n, rounds) {RV_##op, kind, n, rounds, ref_##op}
static const FpCase fp_cases[] = {
    P(FADD_S, 's', 2, 1), P(FSUB_S, 's', 2, 1), P(FMUL_S, 's', 2, 1),
    P(FDIV_S, 's', 2, 1), P(FSQRT_S, 's', 1, 1), P(FMADD_S, 's', 3, 1),
    P(FMSUB_S, 's', 3, 1), P(FNMSUB_S, 's', 3, 1), P(FNMADD_S, 's', 3, 1),
    P(FADD_D, 'd', 2, 1), P(FSUB_D, 'd', 2, 1), P(FMUL_D, 'd', 2, 1),
    P(FDIV_D, 'd', 2, 1), P(FSQRT_D, 'd', 1, 1), P(FMADD_D, 'd', 3, 1),
    P(FMSUB_D, 'd', 3, 1), P(FNMSUB_D, 'd', 3, 1), P(FNMADD_D, 'd', 3, 1),
    P(FCVT_S_D, 's', 1, 1), P(FCVT_D_S, 'd', 1, 1),
    P(FEQ_S, 'x', 2, 0), P(FLT_S, 'x', 2, 0), P(FLE_S, 'x', 2, 0),
    P(FEQ_D, 'x', 2, 0), P(FLT_D, 'x', 2, 0), P(FLE_D, 'x', 2, 0),
    P(FCLASS_S, 'x', 1, 0), P(FCLASS_D, 'x', 1, 0),
    P(FMIN_S, 's', 2, 0), P(FMAX_S, 's', 2, 0), P(FMIN_D, 'd', 2, 0),
    P(FMAX_D, 'd', 2, 0), P(FSGNJ_S, 's', 2, 0), P(FSGNJN_S, 's', 2, 0),
    P(FSGNJX_S, 's', 2, 0), P(FSGNJ_D, 'd', 2, 0), P(FSGNJN_D, 'd', 2, 0),
    P(FSGNJX_D, 'd', 2, 0),
    P(FCVT_W_S, 'x', 1, 1), P(FCVT_WU_S, 'x', 1, 1), P(FCVT_L_S, 'x', 1, 1),
    P(FCVT_LU_S, 'x', 1, 1), P(FCVT_W_D, 'x', 1, 1), P(FCVT_WU_D, 'x', 1, 1),
    P(FCVT_L_D, 'x', 1, 1), P(FCVT_LU_D, 'x', 1, 1),
    P(FCVT_S_W, 's', 1, 1), P(FCVT_S_WU, 's', 1, 1), P(FCVT_S_L, 's', 1, 1),
    P(FCVT_D_W, 'd', 1, 1), P(FCVT_D_WU, 'd', 1, 1), P(FCVT_D_L, 'd', 1, 1),
    P(FMV_X_W, 'x', 1, 0), P(FMV_X_H, 'x', 1, 0), P(FMV_X_D, 'x', 1, 0),
    P(FMV_W_X, 's', 1, 0), P(FMV_H_X, 's', 1, 0),
    P(FCVT_BF16_S, 's', 1, 1), P(FCVT_S_BF16, 's', 1, 1),
};
#undef P

static uint64_t random_fp(bool single)
{
    static const uint32_t s[] = { 0, 0x80000000, 1, 0x807fffff, 0x800000,
                                  0x3f800000, 0xbf800000, 0x7f7fffff,
                                  0x7f800000, 0xff800000, 0x7fc00000,
                                  0x7f800001, 0x4effffff, 0x4f000000,
                                  0xcf000000, 0x4f800000, 0x5f000000,
                                  0x3f000000, 0x3fc00000, 0xbf000000 };
    uint64_t v = (uint64_t)g_rand_int(rng) << 32 | g_rand_int(rng);
    unsigned n = g_rand_int_range(rng, 0, 8);

    if (single) {
        uint32_t u = n < 3 ? s[g_rand_int_range(rng, 0, G_N_ELEMENTS(s))]
                     : n < 6 ? (v & 0x83ffffff) + 0x3c000000 : (uint32_t)v;

        return n == 7 && g_rand_boolean(rng) ? v : 0xffffffff00000000ull | u;
    }
    if (n < 3) {
        uint32_t u = s[g_rand_int_range(rng, 0, G_N_ELEMENTS(s))];
        float f;

        memcpy(&f, &u, 4);
        return isnan(f) ? (uint64_t)u << 32 | 0x7ff0000000000001ull
                        : of_d((double)f);
    }
    return n < 6 ? (v & 0x803fffffffffffffull) + 0x3fc0000000000000ull : v;
}

/* bfloat16: near the ends of ranges, NaNs, badly boxed ones. */
static uint64_t random_bf(void)
{
    uint64_t v = random_fp(true);

    return g_rand_int_range(rng, 0, 8) ? BF_BOX | (v >> 16 & 0xffff) : v;
}

static unsigned host_flags(void)
{
    int f = fetestexcept(FE_ALL_EXCEPT);

    return (f & FE_INEXACT ? 1 : 0) | (f & FE_UNDERFLOW ? 2 : 0) |
           (f & FE_OVERFLOW ? 4 : 0) | (f & FE_DIVBYZERO ? 8 : 0) |
           (f & FE_INVALID ? 16 : 0);
}

/* Whether the reference's flags are those of the instruction. */
static bool flags_comparable(const FpCase *c)
{
    return c->rounds && c->kind != 'x';
}

/* 0 * infinity + NaN is invalid in RISC-V; IEEE 754 leaves it open. */
static unsigned fma_invalid(const FpCase *c, uint64_t a, uint64_t b)
{
    double x = c->kind == 's' ? as_s(a) : as_d(a);
    double y = c->kind == 's' ? as_s(b) : as_d(b);

    return c->sources == 3 &&
           ((isinf(x) && y == 0) || (x == 0 && isinf(y))) ? 16 : 0;
}

static void check_fp(const FpCase *c, unsigned rm, bool flags)
{
    static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                 FE_UPWARD };
    uint32_t insn = match_of(c->op) | A4 << 7 | A1 << 15;
    RvInsn in;

    insn |= c->sources > 1 ? A2 << 20 : 0;
    insn |= c->sources > 2 ? (uint32_t)A3 << 27 : 0;
    insn |= c->rounds ? (rm == 0 && !flags ? 7 : rm) << 12 : 0;
    g_assert_true(rv_decode(insn, 64, ~0u, &in));
    for (int round = 0; round < 3; round++) {
        build(insn, true, c->kind != 'x', flags);
        for (unsigned i = 0; i < 64; i++) {
            bool single = g_str_has_suffix(rv_name(c->op), ".s");

            fill(i, round);
            for (unsigned k = 0; in.classes & RV_CLASS_F1 && k < 3; k++) {
                lane(i)[k] = c->op == RV_FCVT_S_BF16 ? random_bf()
                                                     : random_fp(single);
            }
        }
        run(64);
        for (unsigned i = 0; i < 64; i++) {
            uint64_t *l = lane(i), want = l[3];
            unsigned raised = 0;

            if (l[4]) {
                fesetround(modes[rm]);
                feclearexcept(FE_ALL_EXCEPT);
                want = c->ref(l[0], l[1], l[2]);
                raised = host_flags() | fma_invalid(c, l[0], l[1]);
                fesetround(FE_TONEAREST);
            }
            if (l[5] != want || (flags && flags_comparable(c) &&
                                 l[6] != raised)) {
                g_test_message("%s rm %u lane %u: %016lx %016lx %016lx: "
                               "%016lx flags %lx, not %016lx %x",
                               rv_name(c->op), rm, i, (long)l[0], (long)l[1],
                               (long)l[2], (long)l[5], (long)l[6], (long)want,
                               raised);
                g_test_fail();
            }
        }
    }
}

static void test_float(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(fp_cases); i++) {
        for (unsigned rm = 0; rm < (fp_cases[i].rounds ? 4 : 1); rm++) {
            check_fp(&fp_cases[i], rm, false);
        }
    }
}

static void test_float_flags(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(fp_cases); i++) {
        for (unsigned rm = 0; rm < (fp_cases[i].rounds ? 4 : 1); rm++) {
            check_fp(&fp_cases[i], rm, true);
        }
    }
}

/* ---- encodings that are nothing */

static void test_illegal(void)
{
    unsigned tried = 0;

    for (unsigned n = 0; n < 20000; n++) {
        uint32_t insn = g_rand_int(rng);
        uint32_t *code = simt_host_data(host, HOST_CODE_VA);
        MxgpuDispatch d = simt_host_dispatch(HOST_CODE_VA, 1, 3);
        MxgpuDispatchFault f;
        RvInsn in;

        if (rv_decode(insn, 64, ~RV_EXT_M_MODE, &in)) {
            continue;
        }
        tried++;
        code[0] = insn;
        code[1] = match_of(RV_MX_EXIT);
        f = simt_host_run(host, &d);
        g_assert_cmpint(f.code, ==, MXGPU_FAULT_ILLEGAL);
        g_assert_cmphex(f.pc, ==, HOST_CODE_VA);
        g_assert_cmpint(f.thread, ==, 0);
    }
    g_assert_cmpuint(tried, >, 3000);
}

int main(int argc, char **argv)
{
    int result;

    g_test_init(&argc, &argv, NULL);
    host = simt_host_new(1);
    rng = g_rand_new_with_seed(1);
    g_test_add_func("/simt/insn/register", test_register);
    g_test_add_func("/simt/insn/immediate", test_immediate);
    g_test_add_func("/simt/insn/branches", test_branches);
    g_test_add_func("/simt/insn/float", test_float);
    g_test_add_func("/simt/insn/float-flags", test_float_flags);
    g_test_add_func("/simt/insn/illegal", test_illegal);
    result = g_test_run();
    g_rand_free(rng);
    simt_host_free(host);
    return result;
}
