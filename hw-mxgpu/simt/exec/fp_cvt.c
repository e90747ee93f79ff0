/* SPDX-License-Identifier: MIT */
/*
 * Conversions, f16 and bfloat16, moves and classes as loops over lanes; what
 * fp.h says of these holds here.
 */
#include "half.h"
#include "simt/slow/softfp.h"

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

/* f16 as f32; and f32 as f16, in place. (As numbers, NaNs may become others.) */
#if defined(SIMT_AVX512)
static inline const uint32_t *plane_of_f16(const uint32_t *a, uint32_t *d)
{
    const __m512i box = _mm512_set1_epi32((int)0xffff0000u);

    for (unsigned i = 0; i < LANES; i += 16) {
        __m512i v = _mm512_loadu_si512(a + i);

        v = _mm512_mask_set1_epi32(v, _mm512_cmplt_epu32_mask(v, box),
                                   (int)NAN16);
        _mm512_storeu_ps(d + i, _mm512_cvtph_ps(_mm512_cvtepi32_epi16(v)));
    }
    return d;
}

static inline void plane_to_f16(uint32_t *d)
{
    const __m512i box = _mm512_set1_epi32((int)0xffff0000u);

    for (unsigned i = 0; i < LANES; i += 16) {
        __m512 v = _mm512_loadu_ps(d + i);
        __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
        __m512i h = _mm512_cvtepu16_epi32(_mm512_cvtps_ph(v, _MM_FROUND_NO_EXC));

        h = _mm512_or_si512(h, box);
        _mm512_storeu_si512(d + i,
                            _mm512_mask_set1_epi32(h, nan, (int)NAN16));
    }
}
#else
static inline const uint32_t *plane_of_f16(const uint32_t *a, uint32_t *d)
{
    LANE_LOOP {
        d[i] = bits_f32(F16(a[i]));
    }
    return d;
}

static inline void plane_to_f16(uint32_t *d)
{
    LANE_LOOP {
        d[i] = f16_of_f32(d[i]);
    }
}
#endif

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
    void fp_##ID##_S(FP_ARGS)                                                  \
    {                                                                          \
        SRC32(ID##_S, 1)                                                       \
        TO_INT_BODY(BODY, 32, f32, w->f[FP_SCRATCH], E##_f32)                  \
    }                                                                          \
    void fp_##ID##_D(FP_ARGS)                                                  \
    {                                                                          \
        SRC64(ID##_D, 1)                                                       \
        TO_INT_BODY(BODY, 64, f64, w->d[FP_SCRATCH], E##_f64)                  \
    }                                                                          \
    void fp_##ID##_H(FP_ARGS)                                                  \
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
    void fp_FCVT_S_##N(FP_ARGS)                                                \
    {                                                                          \
        SRC;                                                                   \
        FROM_INT_BODY(FP32_BODY, float, f32, S32, E, NEGATIVE)                 \
    }                                                                          \
    /* what f32 would round is infinite in f16 */                              \
    void fp_FCVT_H_##N(FP_ARGS)                                                \
    {                                                                          \
        SRC;                                                                   \
        FP32_BODY(, f16_of_f32(bits_f32((float)(E))));                         \
    }                                                                          \
    void fp_FCVT_D_##N(FP_ARGS)                                                \
    {                                                                          \
        SRC;                                                                   \
        FROM_INT_BODY(FP64_BODY, double, f64, S64, E, NEGATIVE)                \
    }
FP_FROM_INT(DEF_FROM_INT)

/* ---- between formats */

void fp_FCVT_S_D(FP_ARGS)
{
    SRC64(FCVT_S_D, 1)
    FP32_BODY(A64, canon_f32((float)A));
}

void fp_FCVT_D_S(FP_ARGS)
{
    SRC32(FCVT_D_S, 1)
    FP64_BODY(A32, canon_f64((double)A));
}

void fp_FCVT_D_H(FP_ARGS)
{
    SRC32(FCVT_D_H, 1)
    FP64_BODY(A16, canon_f64((double)A));
}

void fp_FCVT_H_D(FP_ARGS)
{
    SRC64(FCVT_H_D, 1)
    FP32_BODY(A64, f16_of_f64(A));
}

void fp_FCVT_H_S(FP_ARGS)
{
    SRC32(FCVT_H_S, 1)
    FP32_BODY(, f16_of_f32(a[i]));
}

void fp_FCVT_S_H(FP_ARGS)
{
    SRC32(FCVT_S_H, 1)
    FP32_BODY(A16, canon_f32(A));
}

void fp_FCVT_BF16_S(FP_ARGS)
{
    SRC32(FCVT_BF16_S, 1)
    FP32_BODY(, bf16_of_f32(a[i]));
}

void fp_FCVT_S_BF16(FP_ARGS)
{
    SRC32(FCVT_S_BF16, 1)
    FP32_BODY(, f32_of_bf16(a[i]));
}

/* ---- arithmetic of f16 */

/*
 * f16 arithmetic by way of f32, in which a second rounding does not matter: it
 * has twice the bits and two more, also for quotients that are subnormal. It
 * holds products, but not every a * b + c.
 */

/* p + c rounded to odd, where a number that is not exact has its last bit set:
 * what that is rounded to next does not see the first rounding. */
static inline uint32_t sum_to_odd(float p, float c)
{
    float sum = p + c, other = sum - p;
    float lost = (p - (sum - other)) + (c - other); /* exact; NaN of infinity */
    uint32_t bits = bits_f32(sum);
    bool inexact = lost < 0 || lost > 0;
    uint32_t by = (bits_f32(lost) ^ bits) & S32 ? -1u : 1u;

    return bits + PICK(uint32_t, inexact && !(bits & 1), by, 0);
}

/* The operands as f32, and room for the result. */
#define PLANE16(f, v)                                                          \
    _Alignas(64) uint32_t f[LANES];                                            \
    (void)plane_of_f16(v, f);
#define PLANES16_1 _Alignas(64) uint32_t r[LANES]; PLANE16(fa, a)
#define PLANES16_2 PLANES16_1 PLANE16(fb, b)
#define PLANES16_3 PLANES16_2 PLANE16(fc, c)
#define OPS16_1 float A = as_f32(fa[i])
#define OPS16_2 OPS16_1; float B = as_f32(fb[i])
#define OPS16_3 OPS16_2; float C = as_f32(fc[i])
#define DEF_HALF(ID, N, E)                                                     \
    void fp_##ID##_H(FP_ARGS)                                                  \
    {                                                                          \
        SRC32(ID##_H, N)                                                       \
        PLANES16_##N                                                           \
                                                                               \
        LANE_LOOP {                                                            \
            OPS16_##N;                                                         \
                                                                               \
            r[i] = (E);                                                        \
        }                                                                      \
        plane_to_f16(r);                                                       \
        FP32_BODY(, r[i]);                                                     \
    }
DEF_HALF(FADD, 2, bits_f32(A + B))
DEF_HALF(FSUB, 2, bits_f32(A - B))
DEF_HALF(FMUL, 2, bits_f32(A * B))
DEF_HALF(FDIV, 2, bits_f32(A / B))
DEF_HALF(FSQRT, 1, bits_f32(__builtin_sqrtf(A)))
DEF_HALF(FMADD, 3, sum_to_odd(A * B, C))
DEF_HALF(FMSUB, 3, sum_to_odd(A * B, -C))
DEF_HALF(FNMSUB, 3, sum_to_odd(-A * B, C))
DEF_HALF(FNMADD, 3, sum_to_odd(-A * B, -C))

#define DEF_HALF_MIN_MAX(ID, LESS, ZEROS)                                      \
    void fp_##ID##_H(FP_ARGS)                                                  \
    {                                                                          \
        SRC32(ID##_H, 2)                                                       \
        FP32_BODY(AB16, MIN_MAX(uint32_t, A, B, BOX16(a[i]), BOX16(b[i]),      \
                                NAN16, LESS, ZEROS));                          \
    }
DEF_HALF_MIN_MAX(FMIN, A < B, a[i] | b[i])
DEF_HALF_MIN_MAX(FMAX, B < A, a[i] & b[i])

#define DEF_HALF_COMPARE(ID, E)                                                \
    void fp_##ID##_H(FP_ARGS)                                                  \
    {                                                                          \
        SRC32(ID##_H, 2)                                                       \
        WORD_BODY(AB16, (E) ? 1 : 0);                                          \
    }
FP_COMPARE(DEF_HALF_COMPARE)

/* ---- moves and classes: never a flag, never rounded */

void fp_FMV_X_W(FP_ARGS)
{
    SRC_LOW(FMV_X_W)
    WORD_BODY(, a[i]);
}

void fp_FMV_X_H(FP_ARGS)
{
    SRC_LOW(FMV_X_H)
    WORD_BODY(, (int32_t)(int16_t)a[i]);
}

void fp_FMV_X_D(FP_ARGS)
{
    SRC64(FMV_X_D, 1)
    INT_BODY(, a[i]);
}

/* Mostly a constant. */
void fp_FMV_W_X(FP_ARGS)
{
    if (mask == ALL_LANES && w->form[p->r1] & FORM_UNIFORM) {
        fill_words(w->f[p->rd], (uint32_t)w->line[p->r1].base);
        w->narrow[p->rd] = ALL_LANES;
    } else {
        SRC_WORD(a, r1);
        FP32_BODY(, a[i]);
    }
}

void fp_FMV_H_X(FP_ARGS)
{
    SRC_WORD(a, r1);
    FP32_BODY(, 0xffff0000u | (uint16_t)a[i]);
}

void fp_FMV_D_X(FP_ARGS)
{
    SRC_X(a, r1);
    FP64_BODY(, a[i]);
}

#define S16 0x8000u
#define DEF_HALF_SGNJ(ID, E)                                                   \
    void fp_##ID##_H(FP_ARGS)                                                  \
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

void fp_FCLASS_S(FP_ARGS)
{
    SRC32(FCLASS_S, 1)
    WORD_BODY(, CLASS(uint32_t, a[i], S32, 0x00800000u, 0x7f800000u, 0x00400000u));
}

void fp_FCLASS_D(FP_ARGS)
{
    SRC64(FCLASS_D, 1)
    WORD_BODY(, CLASS(uint64_t, a[i], S64, 1ull << 52, 0x7ffull << 52,
                      1ull << 51));
}

void fp_FCLASS_H(FP_ARGS)
{
    SRC32(FCLASS_H, 1)
    WORD_BODY(uint32_t h = (uint16_t)BOX16(a[i]),
              CLASS(uint32_t, h, S16, 0x0400u, 0x7c00u, 0x0200u));
}

FP_CVT_OPS_S(DEFINE_FULL)
