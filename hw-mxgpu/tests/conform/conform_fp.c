/* SPDX-License-Identifier: MIT */
/*
 * Floating point: results and flags of every instruction in every rounding
 * mode, static and dynamic, against ref_fp.c; and that file against the host.
 */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "conform.h"
#include "ref_fp.h"

typedef enum FpKind {
    FP_ARITH, FP_COMPARE, FP_MINMAX, FP_CLASS, FP_CONVERT, FP_TO_INT,
    FP_FROM_INT, FP_SIGN, FP_TO_X, FP_FROM_X
} FpKind;

typedef struct FpCase {
    FpKind kind;
    const RefFormat *f;    /* of the result; of the operand where that is x */
    const RefFormat *from; /* conversions between formats */
    int variant;           /* RefOp; 'l' 'e' 'L'; max; width | signed << 8 */
} FpCase;

enum { SIGNED = 256 };

#define EACH(s, fmt)                                                           \
    [RV_FADD_##s] = {FP_ARITH, &fmt, NULL, REF_ADD},                           \
    [RV_FSUB_##s] = {FP_ARITH, &fmt, NULL, REF_SUB},                           \
    [RV_FMUL_##s] = {FP_ARITH, &fmt, NULL, REF_MUL},                           \
    [RV_FDIV_##s] = {FP_ARITH, &fmt, NULL, REF_DIV},                           \
    [RV_FSQRT_##s] = {FP_ARITH, &fmt, NULL, REF_SQRT},                         \
    [RV_FMADD_##s] = {FP_ARITH, &fmt, NULL, REF_MADD},                         \
    [RV_FMSUB_##s] = {FP_ARITH, &fmt, NULL, REF_MSUB},                         \
    [RV_FNMSUB_##s] = {FP_ARITH, &fmt, NULL, REF_NMSUB},                       \
    [RV_FNMADD_##s] = {FP_ARITH, &fmt, NULL, REF_NMADD},                       \
    [RV_FSGNJ_##s] = {FP_SIGN, &fmt, NULL, 'j'},                               \
    [RV_FSGNJN_##s] = {FP_SIGN, &fmt, NULL, 'n'},                              \
    [RV_FSGNJX_##s] = {FP_SIGN, &fmt, NULL, 'x'},                              \
    [RV_FMIN_##s] = {FP_MINMAX, &fmt, NULL, 0},                                \
    [RV_FMAX_##s] = {FP_MINMAX, &fmt, NULL, 1},                                \
    [RV_FEQ_##s] = {FP_COMPARE, &fmt, NULL, 'e'},                              \
    [RV_FLT_##s] = {FP_COMPARE, &fmt, NULL, 'l'},                              \
    [RV_FLE_##s] = {FP_COMPARE, &fmt, NULL, 'L'},                              \
    [RV_FCLASS_##s] = {FP_CLASS, &fmt, NULL, 0},                               \
    [RV_FCVT_W_##s] = {FP_TO_INT, &fmt, NULL, 32 | SIGNED},                    \
    [RV_FCVT_WU_##s] = {FP_TO_INT, &fmt, NULL, 32},                            \
    [RV_FCVT_L_##s] = {FP_TO_INT, &fmt, NULL, 64 | SIGNED},                    \
    [RV_FCVT_LU_##s] = {FP_TO_INT, &fmt, NULL, 64},                            \
    [RV_FCVT_##s##_W] = {FP_FROM_INT, &fmt, NULL, 32 | SIGNED},                \
    [RV_FCVT_##s##_WU] = {FP_FROM_INT, &fmt, NULL, 32},                        \
    [RV_FCVT_##s##_L] = {FP_FROM_INT, &fmt, NULL, 64 | SIGNED},                \
    [RV_FCVT_##s##_LU] = {FP_FROM_INT, &fmt, NULL, 64},

static const FpCase cases[RV_OP_COUNT] = {
    EACH(H, ref_half)
    EACH(S, ref_single)
    EACH(D, ref_double)
    [RV_FCVT_S_D] = {FP_CONVERT, &ref_single, &ref_double, 0},
    [RV_FCVT_D_S] = {FP_CONVERT, &ref_double, &ref_single, 0},
    [RV_FCVT_S_H] = {FP_CONVERT, &ref_single, &ref_half, 0},
    [RV_FCVT_H_S] = {FP_CONVERT, &ref_half, &ref_single, 0},
    [RV_FCVT_D_H] = {FP_CONVERT, &ref_double, &ref_half, 0},
    [RV_FCVT_H_D] = {FP_CONVERT, &ref_half, &ref_double, 0},
    [RV_FCVT_S_BF16] = {FP_CONVERT, &ref_single, &ref_bfloat, 0},
    [RV_FCVT_BF16_S] = {FP_CONVERT, &ref_bfloat, &ref_single, 0},
    [RV_FMV_X_H] = {FP_TO_X, &ref_half, NULL, 0},
    [RV_FMV_X_W] = {FP_TO_X, &ref_single, NULL, 0},
    [RV_FMV_X_D] = {FP_TO_X, &ref_double, NULL, 0},
    [RV_FMV_H_X] = {FP_FROM_X, &ref_half, NULL, 0},
    [RV_FMV_W_X] = {FP_FROM_X, &ref_single, NULL, 0},
    [RV_FMV_D_X] = {FP_FROM_X, &ref_double, NULL, 0},
};

/* ---- operands */

static uint64_t box(const RefFormat *f, uint64_t v)
{
    return f->bits == 64 ? v : v | UINT64_MAX << f->bits;
}

/* What an operand of the format is read as. */
static uint64_t unbox(const RefFormat *f, uint64_t v)
{
    if (f->bits == 64) {
        return v;
    }
    return v >> f->bits == UINT64_MAX >> f->bits
               ? v & ((1ull << f->bits) - 1)
               : ref_nan(f);
}

/* Edges, values that meet, and anything. */
static uint64_t random_value(const RefFormat *f)
{
    int fraction = f->digits - 1;
    uint64_t v = (uint64_t)g_rand_int(rng) << 32 | g_rand_int(rng);
    uint64_t e, mask = (1ull << fraction) - 1, top = 2 * (uint64_t)f->emax + 1;

    switch (random_below(8)) {
    case 0: /* zero, subnormals, infinities, NaNs */
        e = g_rand_boolean(rng) ? 0 : top;
        break;
    case 1: /* the ends of the normal numbers */
        e = g_rand_boolean(rng) ? 1 + random_below(3)
                                : top - 1 - random_below(3);
        break;
    case 2: /* the ends of the integers */
        e = (uint64_t)f->emax + 15 * random_below(5) + random_below(5);
        e = e < top ? e : top;
        break;
    case 3:
        e = v >> 12 & top;
        break;
    default:
        e = (uint64_t)f->emax - 4 + random_below(9);
    }
    switch (random_below(4)) {
    case 0:
        v &= UINT64_MAX << random_below((unsigned)fraction);
        break;
    case 1:
        v = (v & ~mask) | (random_below(3) ? random_below(3) : mask);
        break;
    }
    return (v >> 63 ? 1ull << (f->bits - 1) : 0) | e << fraction | (v & mask);
}

static void fill_operands(const FpCase *c)
{
    const RefFormat *f = c->from ? c->from : c->f;

    for (unsigned i = 0; i < 64; i++) {
        Record *r = record(i);

        for (unsigned k = 0; k < 3; k++) {
            uint64_t v = random_value(f);

            r->narrow[k] &= f->bits < 64;
            /* some are not boxed, or not as they should be */
            r->f[k] = random_below(10) ? box(f, v)
                                       : v | (uint64_t)g_rand_int(rng) << 16;
        }
    }
}

/* ---- what must come out */

static uint64_t sign_of(const RefFormat *f, int kind, uint64_t a, uint64_t b)
{
    uint64_t sign = 1ull << (f->bits - 1);

    switch (kind) {
    case 'n':
        b = ~b;
        break;
    case 'x':
        b ^= a;
        break;
    }
    return (a & (sign - 1)) | (b & sign);
}

static uint64_t expected(const FpCase *c, const Record *r, unsigned rm,
                         const uint64_t f[3], unsigned *flags)
{
    const RefFormat *from = c->from ? c->from : c->f;
    uint64_t a = unbox(from, f[0]), b = unbox(from, f[1]);
    bool is_signed = c->variant & SIGNED;
    int width = c->variant & 255;

    switch (c->kind) {
    case FP_ARITH:
        return box(c->f, ref_arith(c->f, (RefOp)c->variant, rm, a, b,
                                   unbox(c->f, f[2]), flags));
    case FP_COMPARE:
        return ref_compare(c->f, c->variant != 'e', c->variant != 'l',
                           c->variant == 'e', a, b, flags);
    case FP_MINMAX:
        return box(c->f, ref_minmax(c->f, c->variant, a, b, flags));
    case FP_CLASS:
        return ref_class(c->f, a);
    case FP_CONVERT:
        return box(c->f, ref_convert(c->f, from, rm, a, flags));
    case FP_TO_INT:
        return ref_to_int(c->f, rm, a, width, is_signed, flags);
    case FP_FROM_INT:
        return box(c->f, ref_from_int(c->f, rm, r->a, width, is_signed, flags));
    case FP_SIGN:
        return box(c->f, sign_of(c->f, c->variant, a, b));
    case FP_TO_X: /* the bits, boxed or not */
        return c->f->bits == 64 ? f[0]
               : c->f->bits == 32 ? (uint64_t)(int64_t)(int32_t)f[0]
                                  : (uint64_t)(int64_t)(int16_t)f[0];
    default:
        return box(c->f, r->a);
    }
}

static bool gives_x(const FpCase *c)
{
    return c->kind == FP_COMPARE || c->kind == FP_CLASS ||
           c->kind == FP_TO_INT || c->kind == FP_TO_X;
}

/* Registers of an instruction: sources and destination may be the same. */
typedef struct Registers {
    unsigned rd, r[3];
} Registers;

static Registers choose_registers(const FpCase *c)
{
    static const uint8_t sources[] = { A1, A2, A3 };
    Registers n = {.rd = A4, .r = {A1, A2, A3}};

    if (random_below(3) == 0) {
        for (unsigned k = 0; k < 3; k++) {
            n.r[k] = sources[random_below(3)];
        }
    }
    if (c->kind == FP_FROM_INT || c->kind == FP_FROM_X) {
        n.r[0] = A1;
    }
    if (random_below(3) == 0) {
        n.rd = gives_x(c) ? (random_below(3) ? A1 : ZERO) : sources[random_below(3)];
    }
    return n;
}

static uint64_t old_rd(const FpCase *c, const Record *r, unsigned rd)
{
    if (gives_x(c)) {
        return rd == A4 ? r->old_x : rd == A1 ? r->a : 0;
    }
    return f_operand(r, rd - A1);
}

static void check_lane(RvOp op, unsigned lane, const Registers *n,
                       const Shape *s, unsigned rm)
{
    const FpCase *c = &cases[op];
    const Record *r = record(lane);
    uint64_t f[3], want, got = gives_x(c) ? r->out_x : r->out_f;
    unsigned flags = 0;

    for (unsigned k = 0; k < 3; k++) {
        f[k] = f_operand(r, n->r[k] - A1);
    }
    want = expected(c, r, rm == 7 ? r->frm : rm, f, &flags);
    if (!r->active) {
        want = old_rd(c, r, n->rd);
        flags = 0;
    } else if (gives_x(c) && n->rd == ZERO) {
        want = 0;
    }
    if (got != want) {
        differ(op, lane, r, got, want, rm == 7 ? "dynamic" : "static");
    }
    if (s->flags && r->out_flags != flags) {
        differ(op, lane, r, r->out_flags, flags, "flags");
    }
}

static void check_once(RvOp op, unsigned rm, const Shape *s)
{
    const FpCase *c = &cases[op];
    RvInsn in = info_of(op);
    bool rounds = in.format == RV_FMT_R_RM || in.format == RV_FMT_R2_RM ||
                  in.format == RV_FMT_R4;
    Registers n = choose_registers(c);
    uint32_t insn = enc(op, n.rd, n.r[0], 0);

    if (in.format == RV_FMT_R || in.format == RV_FMT_R_RM ||
        in.format == RV_FMT_R4) {
        insn |= n.r[1] << 20;
    }
    insn |= in.format == RV_FMT_R4 ? (uint32_t)n.r[2] << 27 : 0;
    insn |= rounds ? rm << 12 : 0;
    fill_records(s->mode);
    fill_operands(c);
    run_insn(insn, gives_x(c) ? n.rd : A4, gives_x(c) ? A4 : n.rd, s);
    for (unsigned i = 0; i < threads_of(s->mode); i++) {
        if (record(i)->active || s->mode != MODE_EXITED) {
            check_lane(op, i, &n, s, rm);
        }
    }
}

/* A dynamic mode that is none is illegal, for the lane that has it. */
static void check_bad_mode(RvOp op)
{
    static const uint8_t bad[] = { 5, 6, 7 };
    Shape s = {.mode = MODE_ALL, .dynamic = true};
    MxgpuDispatchFault f;

    for (unsigned n = 0; n < 3; n++) {
        fill_records(MODE_ALL);
        record(20 + n)->frm = bad[n];
        f = try_insn(enc(op, A4, A1, 0) | 7 << 12, A4, A4, &s);
        g_assert_cmpint(f.code, ==, MXGPU_FAULT_ILLEGAL);
        g_assert_cmpuint(f.thread, ==, 20 + n);
        f = try_insn(enc(op, A4, A1, 0) | 5 << 12, A4, A4, &s);
        g_assert_cmpint(f.code, ==, MXGPU_FAULT_ILLEGAL);
        g_assert_cmpuint(f.thread, ==, 0);
    }
}

#define ROUNDS 6 /* of each mode of masks and rounding */

static void check_float(RvOp op)
{
    RvInsn in = info_of(op);
    bool rounds = in.format == RV_FMT_R_RM || in.format == RV_FMT_R2_RM ||
                  in.format == RV_FMT_R4;

    for (unsigned n = 0; n < ROUNDS * MODES; n++) {
        Shape s = {.mode = n % MODES, .flags = n / MODES % 2};

        for (unsigned rm = 0; rm < (rounds ? 5 : 1); rm++) {
            check_once(op, rm, &s);
        }
        s.dynamic = true;
        check_once(op, rounds ? 7 : 0, &s);
    }
    if (rounds) {
        check_bad_mode(op);
    }
}

/* ---- the reference itself, where the host has the mode */

static unsigned host_flags(void)
{
    int f = fetestexcept(FE_ALL_EXCEPT);

    return (f & FE_INEXACT ? REF_NX : 0) | (f & FE_UNDERFLOW ? REF_UF : 0) |
           (f & FE_OVERFLOW ? REF_OF : 0) | (f & FE_DIVBYZERO ? REF_DZ : 0) |
           (f & FE_INVALID ? REF_NV : 0);
}

#define HOST(name, T, U, sqrt_fn, fma_fn)                                      \
    static uint64_t name(const RefFormat *f, RefOp op, int mode,               \
                         const uint64_t v[3], unsigned *flags)                 \
    {                                                                          \
        U bits[3] = {(U)v[0], (U)v[1], (U)v[2]}, out;                          \
        volatile T x, y, z, r;                                                 \
                                                                               \
        memcpy((void *)&x, &bits[0], sizeof(T));                               \
        memcpy((void *)&y, &bits[1], sizeof(T));                               \
        memcpy((void *)&z, &bits[2], sizeof(T));                               \
        fesetround(mode);                                                      \
        feclearexcept(FE_ALL_EXCEPT);                                          \
        switch (op) {                                                          \
        case REF_ADD: r = x + y; break;                                        \
        case REF_SUB: r = x - y; break;                                        \
        case REF_MUL: r = x * y; break;                                        \
        case REF_DIV: r = x / y; break;                                        \
        case REF_SQRT: r = sqrt_fn(x); break;                                  \
        case REF_MADD: r = fma_fn(x, y, z); break;                             \
        case REF_MSUB: r = fma_fn(x, y, -z); break;                            \
        case REF_NMSUB: r = fma_fn(-x, y, z); break;                           \
        default: r = fma_fn(-x, y, -z); break;                                 \
        }                                                                      \
        *flags = host_flags();                                                 \
        fesetround(FE_TONEAREST);                                              \
        memcpy(&out, (void *)&r, sizeof(T));                                   \
        return r != r ? ref_nan(f) : out;                                      \
    }
HOST(host_single, float, uint32_t, sqrtf, fmaf)
HOST(host_double, double, uint64_t, sqrt, fma)

static void test_reference(void)
{
    static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                 FE_UPWARD };

    for (unsigned n = 0; n < 100000; n++) {
        const RefFormat *f = n % 2 ? &ref_single : &ref_double;
        RefOp op = (RefOp)(n / 2 % 9);
        unsigned rm = n / 18 % 4, flags, mine = 0;
        uint64_t v[3] = { random_value(f), random_value(f), random_value(f) };
        uint64_t got = ref_arith(f, op, rm, v[0], v[1], v[2], &mine);
        uint64_t want = f == &ref_single
                            ? host_single(f, op, modes[rm], v, &flags)
                            : host_double(f, op, modes[rm], v, &flags);

        /* infinity * 0 + NaN: left open by IEEE 754, invalid in RISC-V */
        flags |= op >= REF_MADD && (mine & ~flags) == REF_NV && got == want
                     ? REF_NV : 0;
        g_assert_cmphex(got, ==, want);
        g_assert_cmphex(mine, ==, flags);
    }
}

void conform_float(CheckFn **table)
{
    for (unsigned op = 0; op < RV_OP_COUNT; op++) {
        if (cases[op].f) {
            table[op] = check_float;
        }
    }
    g_test_add_func("/conform/reference", test_reference);
}
