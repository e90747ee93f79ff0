/* SPDX-License-Identifier: MIT */
/*
 * Floating point, as fp.h says: arithmetic, minimum, maximum, signs and
 * comparisons of f32 and f64.
 */
#include "fp.h"

#include "vec.h"

#define FP_APART(name, PLANE, COPY, NARROW)                                    \
    void name(FP_ARGS, FpFn *fn)                                               \
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
    void fp_##ID##_S(FP_ARGS)                                                  \
    {                                                                          \
        uint32_t *d = w->f[p->rd];                                             \
        SRC32(ID##_S, N)                                                       \
        w->narrow[p->rd] |= mask;                                              \
        ARITH_BODY(VecF32, f32, float, VEC_OPS_##N, E32)                       \
    }                                                                          \
    void fp_##ID##_D(FP_ARGS)                                                  \
    {                                                                          \
        uint64_t *d = w->d[p->rd];                                             \
        SRC64(ID##_D, N)                                                       \
        w->narrow[p->rd] &= ~mask;                                             \
        ARITH_BODY(VecF64, f64, double, VEC_OPS_##N, E64)                      \
    }
FP_ARITH(DEF_ARITH)

/* ---- minimum, maximum, signs, comparisons */

#define FP_SIGN(F)                                                             \
    F(FMIN, MIN_MAX(uint32_t, A, B, a[i], b[i], NAN32, A < B, a[i] | b[i]),    \
      MIN_MAX(uint64_t, A, B, a[i], b[i], NAN64, A < B, a[i] | b[i]))          \
    F(FMAX, MIN_MAX(uint32_t, A, B, a[i], b[i], NAN32, B < A, a[i] & b[i]),    \
      MIN_MAX(uint64_t, A, B, a[i], b[i], NAN64, B < A, a[i] & b[i]))
#define FP_SGNJ(F)                                                             \
    F(FSGNJ, b[i])                                                             \
    F(FSGNJN, ~b[i])                                                           \
    F(FSGNJX, a[i] ^ b[i])
#define DEF_SIGN(ID, E32, E64)                                                 \
    void fp_##ID##_S(FP_ARGS)                                                  \
    {                                                                          \
        SRC32(ID##_S, 2)                                                       \
        FP32_BODY(AB32, E32);                                                  \
    }                                                                          \
    void fp_##ID##_D(FP_ARGS)                                                  \
    {                                                                          \
        SRC64(ID##_D, 2)                                                       \
        FP64_BODY(AB64, E64);                                                  \
    }
FP_SIGN(DEF_SIGN)

#define DEF_SGNJ(ID, E)                                                        \
    void fp_##ID##_S(FP_ARGS)                                                  \
    {                                                                          \
        SRC32(ID##_S, 2)                                                       \
        FP32_BODY(, (a[i] & ~S32) | ((E) & S32));                              \
    }                                                                          \
    void fp_##ID##_D(FP_ARGS)                                                  \
    {                                                                          \
        SRC64(ID##_D, 2)                                                       \
        FP64_BODY(, (a[i] & ~S64) | ((E) & S64));                              \
    }
FP_SGNJ(DEF_SGNJ)

#define DEF_COMPARE(ID, E)                                                     \
    void fp_##ID##_S(FP_ARGS)                                                  \
    {                                                                          \
        SRC32(ID##_S, 2)                                                       \
        WORD_BODY(AB32, (E) ? 1 : 0);                                          \
    }                                                                          \
    void fp_##ID##_D(FP_ARGS)                                                  \
    {                                                                          \
        SRC64(ID##_D, 2)                                                       \
        WORD_BODY(AB64, (E) ? 1 : 0);                                          \
    }
FP_COMPARE(DEF_COMPARE)

FP_ARITH_OPS_S(DEFINE_FULL)
