/* SPDX-License-Identifier: MIT */
/*
 * Floating point with the rounding mode nearest-even and no flags wanted, as
 * loops over lanes in the host's arithmetic. Everything else is float.c.
 * Results that are NaN are canonical.
 */

#define NAN32 0x7fc00000u
#define NAN64 0x7ff8000000000000ull

static inline float as_f32(uint32_t v)
{
    float f;

    __builtin_memcpy(&f, &v, sizeof(f));
    return f;
}

static inline uint32_t bits_f32(float f)
{
    uint32_t v;

    __builtin_memcpy(&v, &f, sizeof(v));
    return v;
}

static inline double as_f64(uint64_t v)
{
    double f;

    __builtin_memcpy(&f, &v, sizeof(f));
    return f;
}

static inline uint64_t bits_f64(double f)
{
    uint64_t v;

    __builtin_memcpy(&v, &f, sizeof(v));
    return v;
}

static inline uint32_t canon_f32(float f)
{
    return f != f ? NAN32 : bits_f32(f);
}

static inline uint64_t canon_f64(double f)
{
    return f != f ? NAN64 : bits_f64(f);
}

/* f32 operands: a wide value that is not a boxed f32 is the canonical NaN. */
static inline const uint32_t *get_f32(const MxgpuWarp *w, unsigned r,
                                      uint64_t mask, uint32_t *tmp)
{
    uint64_t narrow = w->narrow[r];

    if (__builtin_expect(!(mask & ~narrow), 1)) {
        return w->f[r];
    }
    for (unsigned i = 0; i < LANES; i++) {
        uint64_t d = w->d[r][i];

        tmp[i] = narrow >> i & 1 ? w->f[r][i]
                 : d >> 32 == 0xffffffffu ? (uint32_t)d : NAN32;
    }
    return tmp;
}

#define FP_FN static __attribute__((noinline, unused)) void
#define FP_ARGS MxgpuWarp *w, const SimtOp *p, uint64_t mask

/* f32 to f32: d[i] = bits, in the full and the masked form. */
#define FP32_BODY(LANE, BITS)                                                  \
    uint32_t *d = w->f[p->rd];                                                 \
    const uint32_t *m = w->m32;                                                \
                                                                               \
    if (mask == ALL_LANES) {                                                   \
        LANE_LOOP {                                                            \
            LANE;                                                              \
            d[i] = (BITS);                                                     \
        }                                                                      \
    } else {                                                                   \
        LANE_LOOP {                                                            \
            LANE;                                                              \
            d[i] = SELECT(m[i], (BITS), d[i]);                                 \
        }                                                                      \
    }                                                                          \
    w->narrow[p->rd] |= mask
#define FP64_BODY(LANE, BITS)                                                  \
    uint64_t *d = w->d[p->rd];                                                 \
    const uint64_t *m = w->m64;                                                \
                                                                               \
    if (mask == ALL_LANES) {                                                   \
        LANE_LOOP {                                                            \
            LANE;                                                              \
            d[i] = (BITS);                                                     \
        }                                                                      \
    } else {                                                                   \
        LANE_LOOP {                                                            \
            LANE;                                                              \
            d[i] = SELECT(m[i], (BITS), d[i]);                                 \
        }                                                                      \
    }                                                                          \
    w->narrow[p->rd] &= ~mask
/* To x registers: whole ones, or words. */
#define INT_BODY_AS(T, D, WROTE, LANE, VALUE, LANE_VALUE)                      \
    if (mask == ALL_LANES) {                                                   \
        T *d = D;                                                              \
                                                                               \
        LANE_LOOP {                                                            \
            LANE;                                                              \
            d[i] = (T)(VALUE);                                                 \
        }                                                                      \
        WROTE(w, p->rd);                                                       \
    } else {                                                                   \
        uint64_t *d = wide_partly(w, p->rd);                                   \
        const uint64_t *m = w->m64;                                            \
                                                                               \
        LANE_LOOP {                                                            \
            LANE;                                                              \
            d[i] = SELECT(m[i], (uint64_t)(LANE_VALUE), d[i]);                 \
        }                                                                      \
    }
#define INT_BODY(LANE, VALUE)                                                  \
    INT_BODY_AS(uint64_t, w->x[p->rd], wrote_wide, LANE, VALUE, VALUE)
#define WORD_BODY(LANE, VALUE)                                                 \
    INT_BODY_AS(uint32_t, w->word[p->rd], wrote_word, LANE, VALUE,             \
                SEXT32(VALUE))

#define SRC_WORD(n, r)                                                         \
    _Alignas(64) uint32_t t##n[LANES];                                         \
    const uint32_t *n = low_word(w, p->r, t##n)
#define SRC_X(n, r) const uint64_t *n = wide(w, p->r)
#define SRC32(n, r)                                                            \
    _Alignas(64) uint32_t t##n[LANES];                                         \
    const uint32_t *n = get_f32(w, p->r, mask, t##n)
#define SRC64(n, r)                                                            \
    _Alignas(64) uint64_t t##n[LANES];                                         \
    const uint64_t *n = get_wide(w, p->r, mask, t##n)

#define A32   float A = as_f32(a[i])
#define AB32  A32; float B = as_f32(b[i])
#define ABC32 AB32; float C = as_f32(c[i])
#define A64   double A = as_f64(a[i])
#define AB64  A64; double B = as_f64(b[i])
#define ABC64 AB64; double C = as_f64(c[i])

/* Arithmetic: F(name, operands, f32 expression, f64 expression) */
#define FP_ARITH(F)                                                            \
    F(FADD, 2, A + B, A + B)                                                   \
    F(FSUB, 2, A - B, A - B)                                                   \
    F(FMUL, 2, A * B, A * B)                                                   \
    F(FDIV, 2, A / B, A / B)                                                   \
    F(FSQRT, 1, __builtin_sqrtf(A), __builtin_sqrt(A))                         \
    F(FMADD, 3, __builtin_fmaf(A, B, C), __builtin_fma(A, B, C))               \
    F(FMSUB, 3, __builtin_fmaf(A, B, -C), __builtin_fma(A, B, -C))             \
    F(FNMSUB, 3, __builtin_fmaf(-A, B, C), __builtin_fma(-A, B, C))            \
    F(FNMADD, 3, __builtin_fmaf(-A, B, -C), __builtin_fma(-A, B, -C))

#define SRC32_1 SRC32(a, r1)
#define SRC32_2 SRC32(a, r1); SRC32(b, r2)
#define SRC32_3 SRC32(a, r1); SRC32(b, r2); SRC32(c, r3)
#define SRC64_1 SRC64(a, r1)
#define SRC64_2 SRC64(a, r1); SRC64(b, r2)
#define SRC64_3 SRC64(a, r1); SRC64(b, r2); SRC64(c, r3)
#define OPS32_1 A32
#define OPS32_2 AB32
#define OPS32_3 ABC32
#define OPS64_1 A64
#define OPS64_2 AB64
#define OPS64_3 ABC64

#define DEF_ARITH(ID, N, E32, E64)                                             \
    FP_FN fp_##ID##_S(FP_ARGS)                                                 \
    {                                                                          \
        SRC32_##N;                                                             \
        FP32_BODY(OPS32_##N, canon_f32(E32));                                  \
    }                                                                          \
    FP_FN fp_##ID##_D(FP_ARGS)                                                 \
    {                                                                          \
        SRC64_##N;                                                             \
        FP64_BODY(OPS64_##N, canon_f64(E64));                                  \
    }
FP_ARITH(DEF_ARITH)

/* -0 is less than +0; one NaN gives the other operand. x or y: the bits that
 * two equal values (zeros) combine to. */
#define MIN_MAX(T, A, B, a, b, NANV, LESS, ZEROS)                              \
    (A != A ? (B != B ? NANV : b) : B != B ? a                                 \
     : A == B ? (ZEROS) : (LESS) ? a : b)
#define FP_SIGN(F)                                                             \
    F(FMIN, MIN_MAX(float, A, B, a[i], b[i], NAN32, A < B, a[i] | b[i]),       \
      MIN_MAX(double, A, B, a[i], b[i], NAN64, A < B, a[i] | b[i]))            \
    F(FMAX, MIN_MAX(float, A, B, a[i], b[i], NAN32, B < A, a[i] & b[i]),       \
      MIN_MAX(double, A, B, a[i], b[i], NAN64, B < A, a[i] & b[i]))
#define FP_SGNJ(F)                                                             \
    F(FSGNJ, b[i])                                                             \
    F(FSGNJN, ~b[i])                                                           \
    F(FSGNJX, a[i] ^ b[i])
#define FP_COMPARE(F)                                                          \
    F(FEQ, A == B)                                                             \
    F(FLT, A < B)                                                              \
    F(FLE, A <= B)

#define DEF_SIGN(ID, E32, E64)                                                 \
    FP_FN fp_##ID##_S(FP_ARGS)                                                 \
    {                                                                          \
        SRC32_2;                                                               \
        FP32_BODY(AB32, E32);                                                  \
    }                                                                          \
    FP_FN fp_##ID##_D(FP_ARGS)                                                 \
    {                                                                          \
        SRC64_2;                                                               \
        FP64_BODY(AB64, E64);                                                  \
    }
FP_SIGN(DEF_SIGN)

#define S32 0x80000000u
#define S64 0x8000000000000000ull
#define DEF_SGNJ(ID, E)                                                        \
    FP_FN fp_##ID##_S(FP_ARGS)                                                 \
    {                                                                          \
        SRC32_2;                                                               \
        FP32_BODY(, (a[i] & ~S32) | ((E) & S32));                              \
    }                                                                          \
    FP_FN fp_##ID##_D(FP_ARGS)                                                 \
    {                                                                          \
        SRC64_2;                                                               \
        FP64_BODY(, (a[i] & ~S64) | ((E) & S64));                              \
    }
FP_SGNJ(DEF_SGNJ)

#define DEF_COMPARE(ID, E)                                                     \
    FP_FN fp_##ID##_S(FP_ARGS)                                                 \
    {                                                                          \
        SRC32_2;                                                               \
        WORD_BODY(AB32, (E) ? 1 : 0);                                           \
    }                                                                          \
    FP_FN fp_##ID##_D(FP_ARGS)                                                 \
    {                                                                          \
        SRC64_2;                                                               \
        WORD_BODY(AB64, (E) ? 1 : 0);                                           \
    }
FP_COMPARE(DEF_COMPARE)

/* ---- conversions. To integers these round towards zero (code.c). */

#define TO_INT(A, LOW, HIGH, T, MIN, MAX)                                      \
    (A != A ? (MAX) : A < (LOW) ? (MIN) : A >= (HIGH) ? (MAX) : (T)(A))

/* In range values only are converted: others would be undefined in C. */
#define TO_I32(A) TO_INT(A, -0x1p31, 0x1p31, int32_t, INT32_MIN, INT32_MAX)
#define TO_U32(A) (A >= 0x1p32 || A != A ? UINT32_MAX                          \
                   : A <= -1 ? 0 : (uint32_t)(int64_t)(A))
#define TO_I64(A) TO_INT(A, -0x1p63, 0x1p63, int64_t, INT64_MIN, INT64_MAX)
#define TO_U64(A) (A >= 0x1p64 || A != A ? UINT64_MAX                          \
                   : A <= -1 ? 0 : (uint64_t)(A))

#define FP_TO_INT(F)                                                           \
    F(FCVT_W, WORD_BODY, TO_I32(A))                                            \
    F(FCVT_WU, WORD_BODY, TO_U32(A))                                           \
    F(FCVT_L, INT_BODY, (uint64_t)TO_I64(A))                                   \
    F(FCVT_LU, INT_BODY, TO_U64(A))
#define DEF_TO_INT(ID, BODY, E)                                                \
    FP_FN fp_##ID##_S(FP_ARGS)                                                 \
    {                                                                          \
        SRC32_1;                                                               \
        BODY(A32, E);                                                          \
    }                                                                          \
    FP_FN fp_##ID##_D(FP_ARGS)                                                 \
    {                                                                          \
        SRC64_1;                                                               \
        BODY(A64, E);                                                          \
    }
FP_TO_INT(DEF_TO_INT)

#define FP_FROM_INT(F)                                                         \
    F(W, SRC_WORD(a, r1), (int32_t)a[i])                                       \
    F(WU, SRC_WORD(a, r1), a[i])                                               \
    F(L, SRC_X(a, r1), (int64_t)a[i])                                          \
    F(LU, SRC_X(a, r1), a[i])
#define DEF_FROM_INT(N, SRC, E)                                                 \
    FP_FN fp_FCVT_S_##N(FP_ARGS)                                               \
    {                                                                          \
        SRC;                                                                   \
        FP32_BODY(, bits_f32((float)(E)));                                     \
    }                                                                          \
    FP_FN fp_FCVT_D_##N(FP_ARGS)                                               \
    {                                                                          \
        SRC;                                                                   \
        FP64_BODY(, bits_f64((double)(E)));                                    \
    }
FP_FROM_INT(DEF_FROM_INT)

FP_FN fp_FCVT_S_D(FP_ARGS)
{
    SRC64_1;
    FP32_BODY(A64, canon_f32((float)A));
}

FP_FN fp_FCVT_D_S(FP_ARGS)
{
    SRC32_1;
    FP64_BODY(A32, canon_f64((double)A));
}

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

/*
 * f16 arithmetic by way of wider formats, in which a second rounding does not
 * matter: f32 has twice the bits and two more, also for quotients that are
 * subnormal; for a * b + c, f64 holds the product, and the sum wherever its
 * rounding could be seen in f16.
 */
#define BOX16(v) ((v) < 0xffff0000u ? 0xffff7e00u : (v))
#define F16(v)   as_f32(f32_of_f16(BOX16(v)))
#define A16   float A = F16(a[i])
#define AB16  A16; float B = F16(b[i])
#define ABC16 double A = F16(a[i]); double B = F16(b[i]); double C = F16(c[i])

#define OPS16_1 A16
#define OPS16_2 AB16
#define OPS16_3 ABC16
#define DEF_HALF(ID, N, BITS)                                                  \
    FP_FN fp_##ID##_H(FP_ARGS)                                                 \
    {                                                                          \
        SRC32_##N;                                                             \
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
DEF_HALF(FMIN, 2, MIN_MAX(float, A, B, BOX16(a[i]), BOX16(b[i]),
                          0xffff7e00u, A < B, a[i] | b[i]))
DEF_HALF(FMAX, 2, MIN_MAX(float, A, B, BOX16(a[i]), BOX16(b[i]),
                          0xffff7e00u, B < A, a[i] & b[i]))

#define DEF_HALF_COMPARE(ID, E)                                                \
    FP_FN fp_##ID##_H(FP_ARGS)                                                 \
    {                                                                          \
        SRC32_2;                                                               \
        WORD_BODY(AB16, (E) ? 1 : 0);                                          \
    }
FP_COMPARE(DEF_HALF_COMPARE)

FP_FN fp_FCVT_H_S(FP_ARGS)
{
    SRC32_1;
    FP32_BODY(, f16_of_f32(a[i]));
}

FP_FN fp_FCVT_S_H(FP_ARGS)
{
    SRC32_1; /* 64 bits that are no box of 32 are none of 16 either */
    FP32_BODY(, a[i] < 0xffff0000u || (a[i] & 0x7fff) > 0x7c00
                    ? NAN32 : f32_of_f16(a[i]));
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

FP_FN fp_FCVT_BF16_S(FP_ARGS)
{
    SRC32_1;
    FP32_BODY(, bf16_of_f32(a[i]));
}

FP_FN fp_FCVT_S_BF16(FP_ARGS)
{
    SRC32_1; /* 64 bits that are no box of 32 are none of 16 either */
    FP32_BODY(, f32_of_bf16(a[i]));
}

/* ---- moves and classes: never a flag, never rounded */

FP_FN fp_FMV_X_W(FP_ARGS)
{
    _Alignas(64) uint32_t ta[LANES];
    const uint32_t *a = get_low(w, p->r1, mask, ta);
    WORD_BODY(, a[i]);
}

FP_FN fp_FMV_X_H(FP_ARGS)
{
    _Alignas(64) uint32_t ta[LANES];
    const uint32_t *a = get_low(w, p->r1, mask, ta);
    WORD_BODY(, (int32_t)(int16_t)a[i]);
}

FP_FN fp_FMV_X_D(FP_ARGS)
{
    SRC64_1;
    INT_BODY(, a[i]);
}

FP_FN fp_FMV_W_X(FP_ARGS)
{
    SRC_WORD(a, r1);
    FP32_BODY(, a[i]);
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

/* Ops done here when fast, F(ID): with f32 and with f64 operands or results. */
#define FP_FLAG_OPS_S(F)                                                       \
    F(FADD_S) F(FSUB_S) F(FMUL_S) F(FDIV_S) F(FSQRT_S) F(FMADD_S) F(FMSUB_S)   \
    F(FNMSUB_S) F(FNMADD_S) F(FMIN_S) F(FMAX_S) F(FEQ_S) F(FLT_S) F(FLE_S)     \
    F(FCVT_W_S) F(FCVT_WU_S) F(FCVT_L_S) F(FCVT_LU_S) F(FCVT_S_W)              \
    F(FCVT_S_WU) F(FCVT_S_L) F(FCVT_S_LU) F(FCVT_S_BF16) F(FCVT_BF16_S)        \
    F(FCVT_S_H) F(FCVT_H_S)                                                    \
    F(FADD_H) F(FSUB_H) F(FMUL_H) F(FDIV_H) F(FSQRT_H) F(FMADD_H) F(FMSUB_H)   \
    F(FNMSUB_H) F(FNMADD_H) F(FMIN_H) F(FMAX_H) F(FEQ_H) F(FLT_H) F(FLE_H)
#define FP_FLAG_OPS_D(F)                                                       \
    F(FADD_D) F(FSUB_D) F(FMUL_D) F(FDIV_D) F(FSQRT_D) F(FMADD_D) F(FMSUB_D)   \
    F(FNMSUB_D) F(FNMADD_D) F(FMIN_D) F(FMAX_D) F(FEQ_D) F(FLT_D) F(FLE_D)     \
    F(FCVT_W_D) F(FCVT_WU_D) F(FCVT_L_D) F(FCVT_LU_D) F(FCVT_D_W)              \
    F(FCVT_D_WU) F(FCVT_D_L) F(FCVT_D_LU) F(FCVT_S_D) F(FCVT_D_S)
#define FP_MOVE_OPS(F)                                                         \
    F(FSGNJ_S) F(FSGNJN_S) F(FSGNJX_S) F(FSGNJ_D) F(FSGNJN_D) F(FSGNJX_D)      \
    F(FMV_X_W) F(FMV_X_H) F(FMV_X_D) F(FMV_W_X) F(FMV_H_X) F(FMV_D_X)
/* Always lane by lane, in float.c. */
#define FP_SLOW_OPS(F)                                                         \
    F(FSGNJ_H) F(FSGNJN_H) F(FSGNJX_H) F(FCLASS_S) F(FCLASS_D) F(FCLASS_H)     \
    F(FCVT_W_H) F(FCVT_WU_H) F(FCVT_L_H) F(FCVT_LU_H) F(FCVT_H_W)              \
    F(FCVT_H_WU) F(FCVT_H_L) F(FCVT_H_LU) F(FCVT_D_H) F(FCVT_H_D)
