/* SPDX-License-Identifier: MIT */
/*
 * Floating point with the rounding mode nearest-even and no flags wanted, as
 * loops over lanes in the host's arithmetic: how a loop gets its operands and
 * leaves its result, arithmetic, comparisons. lanes_cvt.inc.h has the rest.
 * Everything else is float.c. Results that are NaN are canonical.
 */
#define NAN32 0x7fc00000u
#define NAN64 0x7ff8000000000000ull
#define S32   0x80000000u
#define S64   0x8000000000000000ull

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

/*
 * Operands are planes of the registers themselves. Where lanes of one are not
 * as the function wants them, it is called again with copies in the scratch
 * registers that are.
 */
typedef void FpFn(FP_ARGS);
#define FP_APART(name, PLANE, COPY, NARROW)                                    \
    static __attribute__((noinline, cold)) void name(FP_ARGS, FpFn *fn)        \
    {                                                                          \
        const uint8_t from[] = {p->r1, p->r2, p->r3};                          \
        SimtOp q = *p;                                                         \
                                                                               \
        for (unsigned i = 0; i < 3; i++) {                                     \
            unsigned r = FP_SCRATCH + i;                                       \
            __typeof__(&w->PLANE[0][0]) tmp = w->PLANE[r];                     \
                                                                               \
            __builtin_memmove(tmp, COPY(w, from[i], mask, tmp),                \
                              sizeof(w->PLANE[r]));                            \
            w->narrow[r] = NARROW;                                             \
        }                                                                      \
        q.r1 = FP_SCRATCH;                                                     \
        q.r2 = FP_SCRATCH + 1;                                                 \
        q.r3 = FP_SCRATCH + 2;                                                 \
        fn(w, &q, mask);                                                       \
    }
FP_APART(with_f32, f, get_f32, ALL_LANES)
FP_APART(with_low, f, get_low, ALL_LANES)
FP_APART(with_wide, d, get_wide, 0)

#define NARROW_1 w->narrow[p->r1]
#define NARROW_2 (NARROW_1 & w->narrow[p->r2])
#define NARROW_3 (NARROW_2 & w->narrow[p->r3])
#define BOXED_1  w->narrow[p->r1]
#define BOXED_2  (BOXED_1 | w->narrow[p->r2])
#define BOXED_3  (BOXED_2 | w->narrow[p->r3])
#define PLANES_1(T, plane) const T *a = w->plane[p->r1]
#define PLANES_2(T, plane) PLANES_1(T, plane), *b = w->plane[p->r2]
#define PLANES_3(T, plane) PLANES_2(T, plane), *c = w->plane[p->r3]
#define SRC_OR(ID, bad, apart, planes)                                         \
    planes;                                                                    \
                                                                               \
    if (__builtin_expect((mask & (bad)) != 0, 0)) {                            \
        apart(w, p, mask, fp_##ID);                                            \
        return;                                                                \
    }
/* a, b, c: the operands of fp_ID as f32, as their low 32 bits, as 64 bits. */
#define SRC32(ID, n)                                                           \
    SRC_OR(ID, ~NARROW_##n, with_f32, PLANES_##n(uint32_t, f))
#define SRC_LOW(ID) SRC_OR(ID, ~NARROW_1, with_low, PLANES_1(uint32_t, f))
#define SRC64(ID, n)                                                           \
    SRC_OR(ID, BOXED_##n, with_wide, PLANES_##n(uint64_t, d))

/* f32 to f32: d[i] = bits, in the full and the masked form. */
#define FP32_BODY(LANE, BITS)                                                  \
    uint32_t *d = w->f[p->rd];                                                 \
    const uint32_t *m = w->c.m32;                                              \
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
    const uint64_t *m = w->c.m64;                                              \
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
#define INT_FULL(T, D, WROTE, LANE, VALUE)                                     \
    {                                                                          \
        T *d = D;                                                              \
                                                                               \
        LANE_LOOP {                                                            \
            LANE;                                                              \
            d[i] = (T)(VALUE);                                                 \
        }                                                                      \
        WROTE(w, p->rd);                                                       \
    }
#define INT_MASKED(T, D, M, LANE, VALUE)                                       \
    {                                                                          \
        T *d = D;                                                              \
        const T *m = M;                                                        \
                                                                               \
        LANE_LOOP {                                                            \
            LANE;                                                              \
            d[i] = SELECT(m[i], (T)(VALUE), d[i]);                             \
        }                                                                      \
    }
#define INT_BODY(LANE, VALUE)                                                  \
    if (mask == ALL_LANES) {                                                   \
        INT_FULL(uint64_t, w->x[p->rd], wrote_wide, LANE, VALUE)               \
    } else {                                                                   \
        INT_MASKED(uint64_t, wide_partly(w, p->rd), w->c.m64, LANE, VALUE)     \
    }
#define WORD_BODY(LANE, VALUE)                                                 \
    if (mask == ALL_LANES) {                                                   \
        INT_FULL(uint32_t, w->word[p->rd], wrote_word, LANE, VALUE)            \
    } else if (word_partly(w, p->rd)) {                                        \
        INT_MASKED(uint32_t, w->word[p->rd], w->c.m32, LANE, VALUE)            \
    } else {                                                                   \
        INT_MASKED(uint64_t, wide_partly(w, p->rd), w->c.m64, LANE,            \
                   SEXT32(VALUE))                                              \
    }

#define SRC_WORD(n, r)                                                         \
    _Alignas(64) uint32_t t##n[LANES];                                         \
    const uint32_t *n = low_word(w, p->r, t##n)
#define SRC_X(n, r) const uint64_t *n = wide(w, p->r)

#define A32   float A = as_f32(a[i])
#define AB32  A32; float B = as_f32(b[i])
#define A64   double A = as_f64(a[i])
#define AB64  A64; double B = as_f64(b[i])

/* ---- arithmetic: F(name, operands, f32 expression, f64 expression) */

#define FP_ARITH(F)                                                            \
    F(FADD, 2, A + B, A + B)                                                   \
    F(FSUB, 2, A - B, A - B)                                                   \
    F(FMUL, 2, A * B, A * B)                                                   \
    F(FDIV, 2, A / B, A / B)                                                   \
    F(FSQRT, 1, sqrt_f32(A), sqrt_f64(A))                                      \
    F(FMADD, 3, fma_f32(A, B, C), fma_f64(A, B, C))                            \
    F(FMSUB, 3, fma_f32(A, B, -C), fma_f64(A, B, -C))                          \
    F(FNMSUB, 3, fma_f32(-A, B, C), fma_f64(-A, B, C))                         \
    F(FNMADD, 3, fma_f32(-A, B, -C), fma_f64(-A, B, -C))

/* NaNs are rare: one look at all lanes of a result is cheaper, and not in the
 * way of who waits for it, than a choice in each. */
#define DEF_CANON(name, U, INFINITE, NANV)                                     \
    static __attribute__((noinline, cold)) void name(U *d, uint64_t mask)      \
    {                                                                          \
        LANE_LOOP {                                                            \
            U magnitude = d[i] << 1 >> 1;                                      \
                                                                               \
            d[i] = magnitude > INFINITE && mask >> i & 1 ? NANV : d[i];        \
        }                                                                      \
    }
DEF_CANON(canon_lanes_f32, uint32_t, 0x7f800000u, NAN32)
DEF_CANON(canon_lanes_f64, uint64_t, 0x7ff0000000000000ull, NAN64)

#define VEC_OPS_1(V, s) V A = load_##s(a, v)
#define VEC_OPS_2(V, s) VEC_OPS_1(V, s), B = load_##s(b, v)
#define VEC_OPS_3(V, s) VEC_OPS_2(V, s), C = load_##s(c, v)
#define ARITH_BODY(V, s, T, OPS, E)                                            \
    V r[VECS(T)];                                                              \
                                                                               \
    if (mask == ALL_LANES) {                                                   \
        EACH_VEC(T) {                                                          \
            OPS(V, s);                                                         \
                                                                               \
            r[v] = (E);                                                        \
            store_##s(d, v, r[v]);                                             \
        }                                                                      \
    } else {                                                                   \
        EACH_VEC(T) {                                                          \
            OPS(V, s);                                                         \
                                                                               \
            r[v] = only_##s(w, mask, v, E);                                    \
            store_##s(d, v, merge_##s(w, mask, v, r[v], load_##s(d, v)));      \
        }                                                                      \
    }                                                                          \
    if (__builtin_expect(nan_##s(r), 0)) {                                     \
        canon_lanes_##s(d, mask);                                              \
    }
#define DEF_ARITH(ID, N, E32, E64)                                             \
    FP_FN fp_##ID##_S(FP_ARGS)                                                 \
    {                                                                          \
        uint32_t *d = w->f[p->rd];                                             \
        SRC32(ID##_S, N)                                                       \
        w->narrow[p->rd] |= mask;                                              \
        ARITH_BODY(VecF32, f32, float, VEC_OPS_##N, E32)                       \
    }                                                                          \
    FP_FN fp_##ID##_D(FP_ARGS)                                                 \
    {                                                                          \
        uint64_t *d = w->d[p->rd];                                             \
        SRC64(ID##_D, N)                                                       \
        w->narrow[p->rd] &= ~mask;                                             \
        ARITH_BODY(VecF64, f64, double, VEC_OPS_##N, E64)                      \
    }
FP_ARITH(DEF_ARITH)

/* ---- minimum, maximum, signs, comparisons */

/* A choice that compilers can make in a vector, however many are nested. */
#define PICK(U, cond, x, y) SELECT(-(U)(cond), (U)(x), (U)(y))

/* -0 is less than +0; one NaN gives the other operand. ZEROS: the bits that two
 * equal values (zeros) combine to. */
#define MIN_MAX(U, A, B, a, b, NANV, LESS, ZEROS)                              \
    PICK(U, A != A, PICK(U, B != B, NANV, b),                                  \
         PICK(U, B != B, a,                                                    \
              PICK(U, A == B, ZEROS, PICK(U, LESS, a, b))))
#define FP_SIGN(F)                                                             \
    F(FMIN, MIN_MAX(uint32_t, A, B, a[i], b[i], NAN32, A < B, a[i] | b[i]),    \
      MIN_MAX(uint64_t, A, B, a[i], b[i], NAN64, A < B, a[i] | b[i]))          \
    F(FMAX, MIN_MAX(uint32_t, A, B, a[i], b[i], NAN32, B < A, a[i] & b[i]),    \
      MIN_MAX(uint64_t, A, B, a[i], b[i], NAN64, B < A, a[i] & b[i]))
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
        SRC32(ID##_S, 2)                                                       \
        FP32_BODY(AB32, E32);                                                  \
    }                                                                          \
    FP_FN fp_##ID##_D(FP_ARGS)                                                 \
    {                                                                          \
        SRC64(ID##_D, 2)                                                       \
        FP64_BODY(AB64, E64);                                                  \
    }
FP_SIGN(DEF_SIGN)

#define DEF_SGNJ(ID, E)                                                        \
    FP_FN fp_##ID##_S(FP_ARGS)                                                 \
    {                                                                          \
        SRC32(ID##_S, 2)                                                       \
        FP32_BODY(, (a[i] & ~S32) | ((E) & S32));                              \
    }                                                                          \
    FP_FN fp_##ID##_D(FP_ARGS)                                                 \
    {                                                                          \
        SRC64(ID##_D, 2)                                                       \
        FP64_BODY(, (a[i] & ~S64) | ((E) & S64));                              \
    }
FP_SGNJ(DEF_SGNJ)

#define DEF_COMPARE(ID, E)                                                     \
    FP_FN fp_##ID##_S(FP_ARGS)                                                 \
    {                                                                          \
        SRC32(ID##_S, 2)                                                       \
        WORD_BODY(AB32, (E) ? 1 : 0);                                          \
    }                                                                          \
    FP_FN fp_##ID##_D(FP_ARGS)                                                 \
    {                                                                          \
        SRC64(ID##_D, 2)                                                       \
        WORD_BODY(AB64, (E) ? 1 : 0);                                          \
    }
FP_COMPARE(DEF_COMPARE)
