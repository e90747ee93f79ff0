/* SPDX-License-Identifier: MIT */
/*
 * Floating point with the rounding mode nearest-even and no flags wanted, as
 * loops over lanes in the host's arithmetic: how a loop gets its operands and
 * leaves its result. fp_round.c has other rounding modes, simt/slow/float.c
 * everything else. Results that are NaN are canonical.
 */
#ifndef MXGPU_SIMT_EXEC_FP_H
#define MXGPU_SIMT_EXEC_FP_H

#include "forms.h"
#include "freg.h"
#include "ops.h"

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

/* A choice that compilers can make in a vector, however many are nested. */
#define PICK(U, cond, x, y) SELECT(-(U)(cond), (U)(x), (U)(y))

/* -0 is less than +0; one NaN gives the other operand. ZEROS: the bits that two
 * equal values (zeros) combine to. */
#define MIN_MAX(U, A, B, a, b, NANV, LESS, ZEROS)                              \
    PICK(U, A != A, PICK(U, B != B, NANV, b),                                  \
         PICK(U, B != B, a,                                                    \
              PICK(U, A == B, ZEROS, PICK(U, LESS, a, b))))
#define FP_COMPARE(F)                                                          \
    F(FEQ, A == B)                                                             \
    F(FLT, A < B)                                                              \
    F(FLE, A <= B)

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

/*
 * Operands are planes of the registers themselves. Where lanes of one are not
 * as the function wants them (f32, their low words, 64 bits), it is called again
 * with copies in the scratch registers that are.
 */
#define FP_RARE __attribute__((noinline, cold)) void
FP_RARE with_f32(FP_ARGS, FpFn *fn) SIMT_OWN("with_f32");
FP_RARE with_low(FP_ARGS, FpFn *fn) SIMT_OWN("with_low");
FP_RARE with_wide(FP_ARGS, FpFn *fn) SIMT_OWN("with_wide");

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

/* full_ID, which has no mask to look at. */
#define DEFINE_FULL(ID)                                                        \
    __attribute__((flatten)) void full_##ID(MxgpuWarp *w, const SimtOp *p)     \
    {                                                                          \
        fp_##ID(w, p, ALL_LANES);                                              \
    }

#endif
