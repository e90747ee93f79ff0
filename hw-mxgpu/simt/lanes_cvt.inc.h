/* SPDX-License-Identifier: MIT */
/*
 * Conversions, f16 and bfloat16, moves and classes as loops over lanes; what
 * lanes_fp.inc.h says of these holds here.
 */
#include "softfp.h"

/* ---- f16 and bfloat16 */

/* Of the low 16 bits; NaNs keep their bits. */
static inline uint32_t f32_of_f16(uint32_t v)
{
    uint32_t bits = (v & 0x7fff) << 13;

    /* The product puts the exponent right, of subnormal numbers too. */
    bits = bits >= 0x7c00u << 13 ? bits | 0x7f800000u
                                 : bits_f32(as_f32(bits) * 0x1p112f);
    return bits | (v & 0x8000) << 16;
}

static inline uint32_t f16_of_f32(uint32_t v)
{
    uint32_t u = v & ~S32, r;
    /* the last place of this sum is that of subnormal f16 */
    uint32_t small = bits_f32(as_f32(u) + 0.5f) - 0x3f000000u;
    uint32_t normal = (u - 0x38000000u + 0xfff + (u >> 13 & 1)) >> 13;

    r = u < 0x38800000u ? small : u < 0x47800000u ? normal : 0x7c00u;
    return 0xffff0000u | (u > 0x7f800000u ? 0x7e00u : r | (v >> 16 & 0x8000u));
}

/* The same from f64. */
static inline uint32_t f16_of_f64(double x)
{
    uint64_t v = bits_f64(x), u = v & ~S64, r;
    uint64_t small = bits_f64(as_f64(u) + 0x1p28) - 0x41b0000000000000ull;
    uint64_t normal = (u - 0x3f00000000000000ull + 0x1ffffffffffull +
                       (u >> 42 & 1)) >> 42;

    r = u < 0x3f10000000000000ull   ? small
        : u < 0x40f0000000000000ull ? normal
                                    : 0x7c00u;
    r = u > 0x7ff0000000000000ull ? 0x7e00u : r | (v >> 48 & 0x8000u);
    return 0xffff0000u | (uint32_t)r;
}

static inline uint32_t bf16_of_f32(uint32_t v)
{
    bool nan = (v & ~S32) > 0x7f800000u;

    return 0xffff0000u |
           (nan ? NAN32 >> 16 : (v + 0x7fff + (v >> 16 & 1)) >> 16);
}

/* 16 bits that are not boxed are the canonical NaN. */
static inline uint32_t f32_of_bf16(uint32_t v)
{
    bool nan = v < 0xffff0000u || (v & 0x7fff) > 0x7f80;

    return nan ? NAN32 : v << 16;
}

/* f16 operands: what is not a box of 16 bits is the canonical NaN. A wide value
 * that is no box of 32 (with_f32() made it NAN32) is none of 16 either. */
#define NAN16    0xffff7e00u
#define BOX16(x) ((x) < 0xffff0000u ? NAN16 : (x))
#define F16(x)   as_f32(f32_of_f16(BOX16(x)))
#define A16      float A = F16(a[i])
#define AB16     A16; float B = F16(b[i])
#define ABC16    double A = F16(a[i]); double B = F16(b[i]); double C = F16(c[i])

/* ---- to integers: truncated, after what else is to be done */

/* What is in range is converted: the rest would be undefined in C. */
#define DEF_ROUND(S, U, bits, T, s)                                            \
    static inline S to_i##bits##_##s(T a)                                      \
    {                                                                          \
        const T limit = (T)(1ull << (bits - 1));                               \
        bool low = a < -limit, in = !low && a < limit;                         \
        S r = (S)(in ? a : 0);                                                 \
                                                                               \
        return (S)PICK(U, low, (U)1 << (bits - 1),                             \
                       PICK(U, in, r, (U)-1 >> 1));                            \
    }                                                                          \
    /* The upper half of the range by way of the lower one. */                 \
    static inline U to_u##bits##_##s(T a)                                      \
    {                                                                          \
        const T half = (T)(1ull << (bits - 1));                                \
        bool low = a <= -1, high = a >= half, in = !low && a < 2 * half;       \
        T x = in ? a : 0;                                                      \
        S r = (S)(high && in ? x - half : x);                                  \
                                                                               \
        return PICK(U, low, 0,                                                 \
                    PICK(U, in, (U)r + ((U)high << (bits - 1)), (U)-1));       \
    }
DEF_ROUND(int32_t, uint32_t, 32, float, f32)
DEF_ROUND(int32_t, uint32_t, 32, double, f64)
DEF_ROUND(int64_t, uint64_t, 64, float, f32)
DEF_ROUND(int64_t, uint64_t, 64, double, f64)

/* Integral values, downwards, upwards or, from ties, away from zero. */
#define DEF_INTEGRAL(s, T, U, f)                                               \
    static __attribute__((noinline)) const U *integral_##s(                    \
        const U *a, unsigned rm, U *d)                                         \
    {                                                                          \
        switch (rm) {                                                          \
        case FP_RDN:                                                           \
            LANE_LOOP {                                                        \
                d[i] = bits_##s(__builtin_floor##f(as_##s(a[i])));             \
            }                                                                  \
            break;                                                             \
        case FP_RUP:                                                           \
            LANE_LOOP {                                                        \
                d[i] = bits_##s(__builtin_ceil##f(as_##s(a[i])));              \
            }                                                                  \
            break;                                                             \
        default:                                                               \
            LANE_LOOP {                                                        \
                T x = as_##s(a[i]), t = __builtin_trunc##f(x);                 \
                T up = __builtin_copysign##f(1, x);                            \
                bool away = __builtin_fabs##f(x - t) >= (T)0.5;                \
                                                                               \
                d[i] = PICK(U, away, bits_##s(t + up), bits_##s(t));           \
            }                                                                  \
        }                                                                      \
        return d;                                                              \
    }
DEF_INTEGRAL(f32, float, uint32_t, f)
DEF_INTEGRAL(f64, double, uint64_t, )

/* f16 as f32. */
static const uint32_t *plane_of_f16(const uint32_t *a, uint32_t *d)
{
    LANE_LOOP {
        d[i] = bits_f32(F16(a[i]));
    }
    return d;
}

#define FP_TO_INT(F)                                                           \
    F(FCVT_W, WORD_BODY, to_i32)                                               \
    F(FCVT_WU, WORD_BODY, to_u32)                                              \
    F(FCVT_L, INT_BODY, to_i64)                                                \
    F(FCVT_LU, INT_BODY, to_u64)
#define NEAREST32 float A = __builtin_rintf(as_f32(a[i]))
#define NEAREST64 double A = __builtin_rint(as_f64(a[i]))
/* A dynamic mode is that to nearest here. */
#define TO_INT_BODY(BODY, n, s, D, E)                                          \
    if (p->rm_field == FP_RNE || p->rm_field == FP_DYNAMIC) {                  \
        BODY(NEAREST##n, E(A))                                                 \
    } else {                                                                   \
        if (p->rm_field != FP_RTZ) {                                           \
            a = integral_##s(a, p->rm_field, D);                               \
        }                                                                      \
        BODY(A##n, E(A))                                                       \
    }
#define DEF_TO_INT(ID, BODY, E)                                                \
    FP_FN fp_##ID##_S(FP_ARGS)                                                 \
    {                                                                          \
        SRC32(ID##_S, 1)                                                       \
        TO_INT_BODY(BODY, 32, f32, w->f[FP_SCRATCH], E##_f32)                  \
    }                                                                          \
    FP_FN fp_##ID##_D(FP_ARGS)                                                 \
    {                                                                          \
        SRC64(ID##_D, 1)                                                       \
        TO_INT_BODY(BODY, 64, f64, w->d[FP_SCRATCH], E##_f64)                  \
    }                                                                          \
    FP_FN fp_##ID##_H(FP_ARGS)                                                 \
    {                                                                          \
        SRC32(ID##_H, 1)                                                       \
        a = plane_of_f16(a, w->f[FP_SCRATCH]);                                 \
        TO_INT_BODY(BODY, 32, f32, w->f[FP_SCRATCH], E##_f32)                  \
    }
FP_TO_INT(DEF_TO_INT)

/* ---- from integers */

/*
 * A magnitude, ties away from zero: from nearest-even, with a bit behind those
 * that count so that nothing is a tie.
 */
#define DEF_AWAY(s, T, digits)                                                 \
    static inline T away_##s(uint64_t m)                                       \
    {                                                                          \
        bool large = m >> (digits + 1);                                        \
        uint64_t marked = large ? m | 1 : m << 2 | m >> digits;                \
                                                                               \
        return (T)marked * (large ? (T)1 : (T)0.25);                           \
    }
DEF_AWAY(f32, float, 24)
DEF_AWAY(f64, double, 53)

/* F(name, operands, value, whether it is negative) */
#define FP_FROM_INT(F)                                                         \
    F(W, SRC_WORD(a, r1), (int32_t)a[i], (int32_t)a[i] < 0)                    \
    F(WU, SRC_WORD(a, r1), a[i], 0)                                            \
    F(L, SRC_X(a, r1), (int64_t)a[i], (int64_t)a[i] < 0)                       \
    F(LU, SRC_X(a, r1), a[i], 0)
#define WITH_SIGN(S, bits, NEGATIVE)                                           \
    (((bits) & ~S) | PICK(__typeof__(S), NEGATIVE, S, 0))
/* Directed modes are the host's: what compilers make of a conversion may give
 * a zero the wrong sign there. */
#define FROM_INT_BODY(BODY, T, s, S, E, NEGATIVE)                              \
    if (p->rm_field == FP_RNE || p->rm_field == FP_DYNAMIC) {                  \
        BODY(, bits_##s((T)(E)));                                              \
    } else if (p->rm_field == FP_RMM) {                                        \
        BODY(uint64_t size = (NEGATIVE) ? -(uint64_t)(E) : (uint64_t)(E),      \
             WITH_SIGN(S, bits_##s(away_##s(size)), NEGATIVE));                \
    } else {                                                                   \
        BODY(, WITH_SIGN(S, bits_##s((T)(E)), NEGATIVE));                      \
    }
#define DEF_FROM_INT(N, SRC, E, NEGATIVE)                                      \
    FP_FN fp_FCVT_S_##N(FP_ARGS)                                               \
    {                                                                          \
        SRC;                                                                   \
        FROM_INT_BODY(FP32_BODY, float, f32, S32, E, NEGATIVE)                 \
    }                                                                          \
    /* what f32 would round is infinite in f16 */                              \
    FP_FN fp_FCVT_H_##N(FP_ARGS)                                               \
    {                                                                          \
        SRC;                                                                   \
        FP32_BODY(, f16_of_f32(bits_f32((float)(E))));                         \
    }                                                                          \
    FP_FN fp_FCVT_D_##N(FP_ARGS)                                               \
    {                                                                          \
        SRC;                                                                   \
        FROM_INT_BODY(FP64_BODY, double, f64, S64, E, NEGATIVE)                \
    }
FP_FROM_INT(DEF_FROM_INT)

/* ---- between formats */

FP_FN fp_FCVT_S_D(FP_ARGS)
{
    SRC64(FCVT_S_D, 1)
    FP32_BODY(A64, canon_f32((float)A));
}

FP_FN fp_FCVT_D_S(FP_ARGS)
{
    SRC32(FCVT_D_S, 1)
    FP64_BODY(A32, canon_f64((double)A));
}

FP_FN fp_FCVT_D_H(FP_ARGS)
{
    SRC32(FCVT_D_H, 1)
    FP64_BODY(A16, canon_f64((double)A));
}

FP_FN fp_FCVT_H_D(FP_ARGS)
{
    SRC64(FCVT_H_D, 1)
    FP32_BODY(A64, f16_of_f64(A));
}

FP_FN fp_FCVT_H_S(FP_ARGS)
{
    SRC32(FCVT_H_S, 1)
    FP32_BODY(, f16_of_f32(a[i]));
}

FP_FN fp_FCVT_S_H(FP_ARGS)
{
    SRC32(FCVT_S_H, 1)
    FP32_BODY(A16, canon_f32(A));
}

FP_FN fp_FCVT_BF16_S(FP_ARGS)
{
    SRC32(FCVT_BF16_S, 1)
    FP32_BODY(, bf16_of_f32(a[i]));
}

FP_FN fp_FCVT_S_BF16(FP_ARGS)
{
    SRC32(FCVT_S_BF16, 1)
    FP32_BODY(, f32_of_bf16(a[i]));
}

/* ---- arithmetic of f16 */

/*
 * f16 arithmetic by way of wider formats, in which a second rounding does not
 * matter: f32 has twice the bits and two more, also for quotients that are
 * subnormal; for a * b + c, f64 holds the product, and the sum wherever its
 * rounding could be seen in f16.
 */
#define OPS16_1 A16
#define OPS16_2 AB16
#define OPS16_3 ABC16
#define DEF_HALF(ID, N, BITS)                                                  \
    FP_FN fp_##ID##_H(FP_ARGS)                                                 \
    {                                                                          \
        SRC32(ID##_H, N)                                                       \
        FP32_BODY(OPS16_##N, BITS);                                            \
    }
#define HALF(E) f16_of_f32(bits_f32(E))
DEF_HALF(FADD, 2, HALF(A + B))
DEF_HALF(FSUB, 2, HALF(A - B))
DEF_HALF(FMUL, 2, HALF(A * B))
DEF_HALF(FDIV, 2, HALF(A / B))
DEF_HALF(FSQRT, 1, HALF(__builtin_sqrtf(A)))
DEF_HALF(FMADD, 3, f16_of_f64(A * B + C))
DEF_HALF(FMSUB, 3, f16_of_f64(A * B - C))
DEF_HALF(FNMSUB, 3, f16_of_f64(-A * B + C))
DEF_HALF(FNMADD, 3, f16_of_f64(-A * B - C))
DEF_HALF(FMIN, 2, MIN_MAX(uint32_t, A, B, BOX16(a[i]), BOX16(b[i]),
                          NAN16, A < B, a[i] | b[i]))
DEF_HALF(FMAX, 2, MIN_MAX(uint32_t, A, B, BOX16(a[i]), BOX16(b[i]),
                          NAN16, B < A, a[i] & b[i]))

#define DEF_HALF_COMPARE(ID, E)                                                \
    FP_FN fp_##ID##_H(FP_ARGS)                                                 \
    {                                                                          \
        SRC32(ID##_H, 2)                                                       \
        WORD_BODY(AB16, (E) ? 1 : 0);                                          \
    }
FP_COMPARE(DEF_HALF_COMPARE)

/* ---- moves and classes: never a flag, never rounded */

FP_FN fp_FMV_X_W(FP_ARGS)
{
    SRC_LOW(FMV_X_W)
    WORD_BODY(, a[i]);
}

FP_FN fp_FMV_X_H(FP_ARGS)
{
    SRC_LOW(FMV_X_H)
    WORD_BODY(, (int32_t)(int16_t)a[i]);
}

FP_FN fp_FMV_X_D(FP_ARGS)
{
    SRC64(FMV_X_D, 1)
    INT_BODY(, a[i]);
}

/* Mostly a constant. */
FP_FN fp_FMV_W_X(FP_ARGS)
{
    if (mask == ALL_LANES && w->form[p->r1] & FORM_UNIFORM) {
        fill_words(w->f[p->rd], (uint32_t)w->line[p->r1].base);
        w->narrow[p->rd] = ALL_LANES;
    } else {
        SRC_WORD(a, r1);
        FP32_BODY(, a[i]);
    }
}

FP_FN fp_FMV_H_X(FP_ARGS)
{
    SRC_WORD(a, r1);
    FP32_BODY(, 0xffff0000u | (uint16_t)a[i]);
}

FP_FN fp_FMV_D_X(FP_ARGS)
{
    SRC_X(a, r1);
    FP64_BODY(, a[i]);
}

#define S16 0x8000u
#define DEF_HALF_SGNJ(ID, E)                                                   \
    FP_FN fp_##ID##_H(FP_ARGS)                                                 \
    {                                                                          \
        SRC32(ID##_H, 2)                                                       \
        FP32_BODY(uint32_t A = BOX16(a[i]); uint32_t B = BOX16(b[i]),          \
                  (A & ~S16) | ((E) & S16));                                   \
    }
DEF_HALF_SGNJ(FSGNJ, B)
DEF_HALF_SGNJ(FSGNJN, ~B)
DEF_HALF_SGNJ(FSGNJX, A ^ B)

/* As FCLASS; the least number that is normal, infinity and the quiet bit of
 * magnitudes. */
#define CLASS(U, x, S, NORMAL, INF, QUIET)                                     \
    PICK(U, ((x) & ~(S)) > (INF), PICK(U, ((x) & (QUIET)) != 0, 1 << 9, 1 << 8),      \
         PICK(U, ((x) & (S)) != 0, MAGNITUDE(U, (x) & ~(S), NORMAL, INF, 1, 2, 4, 8), \
              MAGNITUDE(U, x, NORMAL, INF, 128, 64, 32, 16)))
#define MAGNITUDE(U, x, NORMAL, INF, inf, normal, small, zero)                 \
    PICK(U, (x) == (INF), inf,                                                 \
         PICK(U, (x) >= (NORMAL), normal, PICK(U, (x) != 0, small, zero)))

FP_FN fp_FCLASS_S(FP_ARGS)
{
    SRC32(FCLASS_S, 1)
    WORD_BODY(, CLASS(uint32_t, a[i], S32, 0x00800000u, 0x7f800000u, 0x00400000u));
}

FP_FN fp_FCLASS_D(FP_ARGS)
{
    SRC64(FCLASS_D, 1)
    WORD_BODY(, CLASS(uint64_t, a[i], S64, 1ull << 52, 0x7ffull << 52,
                      1ull << 51));
}

FP_FN fp_FCLASS_H(FP_ARGS)
{
    SRC32(FCLASS_H, 1)
    WORD_BODY(uint32_t h = (uint16_t)BOX16(a[i]),
              CLASS(uint32_t, h, S16, 0x0400u, 0x7c00u, 0x0200u));
}

/* Ops done here when fast, F(ID): with f32 and with f64 operands or results. */
#define FP_FLAG_OPS_S(F)                                                       \
    F(FADD_S) F(FSUB_S) F(FMUL_S) F(FDIV_S) F(FSQRT_S) F(FMADD_S) F(FMSUB_S)   \
    F(FNMSUB_S) F(FNMADD_S) F(FMIN_S) F(FMAX_S) F(FEQ_S) F(FLT_S) F(FLE_S)     \
    F(FCVT_W_S) F(FCVT_WU_S) F(FCVT_L_S) F(FCVT_LU_S) F(FCVT_S_W)              \
    F(FCVT_S_WU) F(FCVT_S_L) F(FCVT_S_LU) F(FCVT_S_BF16) F(FCVT_BF16_S)        \
    F(FCVT_S_H) F(FCVT_H_S)                                                    \
    F(FADD_H) F(FSUB_H) F(FMUL_H) F(FDIV_H) F(FSQRT_H) F(FMADD_H) F(FMSUB_H)   \
    F(FNMSUB_H) F(FNMADD_H) F(FMIN_H) F(FMAX_H) F(FEQ_H) F(FLT_H) F(FLE_H)   \
    F(FCVT_W_H) F(FCVT_WU_H) F(FCVT_L_H) F(FCVT_LU_H) F(FCVT_H_W)              \
    F(FCVT_H_WU) F(FCVT_H_L) F(FCVT_H_LU)
#define FP_FLAG_OPS_D(F)                                                       \
    F(FADD_D) F(FSUB_D) F(FMUL_D) F(FDIV_D) F(FSQRT_D) F(FMADD_D) F(FMSUB_D)   \
    F(FNMSUB_D) F(FNMADD_D) F(FMIN_D) F(FMAX_D) F(FEQ_D) F(FLT_D) F(FLE_D)     \
    F(FCVT_W_D) F(FCVT_WU_D) F(FCVT_L_D) F(FCVT_LU_D) F(FCVT_D_W)              \
    F(FCVT_D_WU) F(FCVT_D_L) F(FCVT_D_LU) F(FCVT_S_D) F(FCVT_D_S)                \
    F(FCVT_D_H) F(FCVT_H_D)
#define FP_MOVE_OPS(F)                                                         \
    F(FSGNJ_S) F(FSGNJN_S) F(FSGNJX_S) F(FSGNJ_D) F(FSGNJN_D) F(FSGNJX_D)      \
    F(FSGNJ_H) F(FSGNJN_H) F(FSGNJX_H) F(FCLASS_S) F(FCLASS_D) F(FCLASS_H)     \
    F(FMV_X_W) F(FMV_X_H) F(FMV_X_D) F(FMV_W_X) F(FMV_H_X) F(FMV_D_X)
