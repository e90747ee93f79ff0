/* SPDX-License-Identifier: MIT */
/*
 * What lanes of a warp get from each other: exchanges, reductions, the matrix
 * product.
 */
#include "forms.h"
#include "fp.h"
#include "half.h"
#include "ops.h"

/* ---- exchanges between lanes of the group */

#if defined(SIMT_AVX512)
/* All lanes, all words: 16 at a time from two registers of 32. */
static void shuffle_words(uint32_t *d, const uint32_t *a, const uint32_t *b)
{
    __m512i from[4];

    for (unsigned i = 0; i < 4; i++) {
        from[i] = _mm512_load_si512(a + 16 * i);
    }
    for (unsigned i = 0; i < 4; i++) {
        __m512i by = _mm512_load_si512(b + 16 * i);
        __m512i low = _mm512_permutex2var_epi32(from[0], by, from[1]);
        __m512i high = _mm512_permutex2var_epi32(from[2], by, from[3]);
        __mmask16 upper = _mm512_test_epi32_mask(by, _mm512_set1_epi32(32));

        _mm512_store_si512(d + 16 * i, _mm512_mask_mov_epi32(low, upper, high));
    }
}

/* Doublewords: 8 at a time from four pairs of registers. */
static void shuffle_all(uint64_t *d, const uint64_t *a, const uint64_t *b)
{
    __m512i from[8];

    for (unsigned i = 0; i < 8; i++) {
        from[i] = _mm512_load_si512(a + 8 * i);
    }
    for (unsigned i = 0; i < 8; i++) {
        __m512i by = _mm512_load_si512(b + 8 * i), of[4];
        __mmask8 odd = _mm512_test_epi64_mask(by, _mm512_set1_epi64(16));
        __mmask8 upper = _mm512_test_epi64_mask(by, _mm512_set1_epi64(32));

        for (unsigned k = 0; k < 4; k++) {
            of[k] = _mm512_permutex2var_epi64(from[2 * k], by, from[2 * k + 1]);
        }
        of[0] = _mm512_mask_mov_epi64(of[0], odd, of[1]);
        of[2] = _mm512_mask_mov_epi64(of[2], odd, of[3]);
        _mm512_store_si512(d + 8 * i,
                           _mm512_mask_mov_epi64(of[0], upper, of[2]));
    }
}
#else
#define DEF_SHUFFLE(name, T)                                                   \
    static void name(T *d, const T *a, const T *b)                             \
    {                                                                          \
        T value[LANES];                                                        \
                                                                               \
        for (unsigned i = 0; i < LANES; i++) {                                 \
            value[i] = a[b[i] & 63];                                           \
        }                                                                      \
        memcpy(d, value, sizeof(value));                                       \
    }
DEF_SHUFFLE(shuffle_words, uint32_t)
DEF_SHUFFLE(shuffle_all, uint64_t)
#endif

/* Of the lanes of a mask m, which is a plane itself: what lanes get from those
 * that are not in it is 0. */
#define SHUFFLE_MASKED(T, shuffle, d, a, b, m)                                 \
    {                                                                          \
        _Alignas(64) T value[LANES], there[LANES];                             \
                                                                               \
        shuffle(value, a, b);                                                  \
        shuffle(there, m, b);                                                  \
        LANE_LOOP {                                                            \
            T v = SELECT(there[i], value[i], 0);                               \
                                                                               \
            d[i] = SELECT(m[i], v, d[i]);                                      \
        }                                                                      \
    }

void shuffle(MxgpuWarp *w, const SimtOp *p, uint64_t mask)
{
    if (!as_word(w, p->r1) || !as_word(w, p->r2) ||
        (mask != w->s.live && !as_word(w, p->rd))) {
        const uint64_t *a = wide(w, p->r1), *b = wide(w, p->r2);

        if (mask == ALL_LANES) {
            shuffle_all(w->x[p->rd], a, b);
            wrote_wide(w, p->rd);
        } else {
            uint64_t *d = wide_partly(w, p->rd);

            SHUFFLE_MASKED(uint64_t, shuffle_all, d, a, b, w->c.m64)
        }
    } else {
        const uint32_t *a = w->word[p->r1], *b = w->word[p->r2];
        uint32_t *d = w->word[p->rd];

        if (mask == ALL_LANES) {
            shuffle_words(d, a, b);
        } else {
            SHUFFLE_MASKED(uint32_t, shuffle_words, d, a, b, w->c.m32)
        }
        wrote_word(w, p->rd);
    }
}

void match_any(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                      uint64_t mask)
{
    const uint64_t *a = wide(w, p->r1);
    uint64_t same[LANES], rest = mask, *d = wide_partly(w, p->rd);

    while (rest) {
        uint64_t value = a[__builtin_ctzll(rest)], bits = 0;

        simt_charge(cu, 1);
        for (unsigned i = 0; i < LANES; i++) {
            bits |= (uint64_t)(a[i] == value) << i;
        }
        bits &= mask;
        for (uint64_t m = bits; m; m &= m - 1) {
            same[__builtin_ctzll(m)] = bits;
        }
        rest &= ~bits;
    }
    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);

        d[i] = same[i];
    }
}
/* ---- mx.reduce */

/* v[0] = op over all of v: lane i takes i + 32, then i + 16, and so on. */
#define TREE(T, v, COMBINE)                                                    \
    for (unsigned half = LANES / 2; half; half /= 2) {                         \
        for (unsigned i = 0; i < half; i++) {                                  \
            T A = (v)[i], B = (v)[i + half];                                   \
            (v)[i] = (COMBINE);                                                \
        }                                                                      \
    }

#define REDUCE(ID, T, NONE, COMBINE)                                           \
    case RV_MX_REDUCE_##ID: {                                                  \
        T v[LANES];                                                            \
                                                                               \
        for (unsigned i = 0; i < LANES; i++) {                                 \
            v[i] = set >> i & 1 ? (T)a[i] : (T)(NONE);                         \
        }                                                                      \
        TREE(T, v, COMBINE)                                                    \
        return (uint64_t)(int64_t)v[0];                                        \
    }
#define REDUCE_INT(S, U, s, BITS)                                              \
    REDUCE(ADD##s, U, 0, A + B)                                                \
    REDUCE(MIN##s, S, INT##BITS##_MAX, A < B ? A : B)                          \
    REDUCE(MAX##s, S, INT##BITS##_MIN, A > B ? A : B)                          \
    REDUCE(MINU##s, U, UINT##BITS##_MAX, A < B ? A : B)                        \
    REDUCE(MAXU##s, U, 0, A > B ? A : B)                                       \
    REDUCE(AND##s, U, UINT##BITS##_MAX, A &B)                                  \
    REDUCE(OR##s, U, 0, A | B)                                                 \
    REDUCE(XOR##s, U, 0, A ^ B)
/* 32-bit results are sign-extended, unsigned ones too. */
#define REDUCE_FP(U, s, AS, CANON, NANV, MINUS_ZERO)                           \
    REDUCE(FADD_##s, U, MINUS_ZERO, CANON(AS(A) + AS(B)))                      \
    REDUCE(FMIN_##s, U, NANV,                                                  \
           MIN_MAX(U, AS(A), AS(B), A, B, NANV, AS(A) < AS(B), A | B))         \
    REDUCE(FMAX_##s, U, NANV,                                                  \
           MIN_MAX(U, AS(A), AS(B), A, B, NANV, AS(B) < AS(A), A & B))

static __attribute__((noinline)) uint64_t reduce_set(unsigned op,
                                                     const uint64_t *a,
                                                     uint64_t set)
{
    switch (op) {
        REDUCE_INT(int64_t, uint64_t, , 64)
        REDUCE_INT(int32_t, uint32_t, _W, 32)
        REDUCE_FP(uint32_t, S, as_f32, canon_f32, NAN32, S32)
        REDUCE_FP(uint64_t, D, as_f64, canon_f64, NAN64, S64)
    }
    return 0;
}

static bool gives_32(unsigned op)
{
    return (op >= RV_MX_REDUCE_ADD_W && op <= RV_MX_REDUCE_XOR_W) ||
           (op >= RV_MX_REDUCE_FADD_S && op <= RV_MX_REDUCE_FMAX_S);
}

/* Each lane gets the reduction over those lanes of the group that its rs2
 * names: once for each different set. */
void reduce(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t mask)
{
    const uint64_t *a = wide(w, p->r1), *sets = wide(w, p->r2);
    uint64_t result[LANES], rest = mask, *d = wide_partly(w, p->rd);

    while (rest) {
        uint64_t set = sets[__builtin_ctzll(rest)], same, value;
        uint8_t bytes[LANES];

        LANE_LOOP {
            bytes[i] = sets[i] == set;
        }
        simt_charge(cu, 1);
        same = pack_bits(bytes) & rest;
        rest &= ~same;
        value = reduce_set(p->op, a, set & mask);
        if (gives_32(p->op)) {
            value = SEXT32(value);
        }
        for (; same; same &= same - 1) {
            result[__builtin_ctzll(same)] = value;
        }
    }
    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);

        d[i] = result[i];
    }
}

/* ---- mx.mma: D += A * B, each 16 x 16; element i of A and B in row-major
 * order is piece i % 4 of lane i / 4, element i of D is register i / 64 of lane
 * i % 64. */

#define MMA_SIZE 16
#define MMA_ELEMENTS (MMA_SIZE * MMA_SIZE)

/* d[m][n] = fma(a[m][k], b[k][n], d[m][n]) for k from 0 to 15. */
#if defined(SIMT_AVX512)
static void mma_rows(float *d, const float *a, const float *b, bool bf16)
{
    for (unsigned m = 0; m < MMA_SIZE; m += 8) {
        __m512 sum[8];

        for (unsigned r = 0; r < 8; r++) {
            sum[r] = _mm512_load_ps(d + MMA_SIZE * (m + r));
        }
        for (unsigned k = 0; k < MMA_SIZE; k++) {
            __m512 row = _mm512_load_ps(b + MMA_SIZE * k);

            for (unsigned r = 0; r < 8; r++) {
                __m512 x = _mm512_set1_ps(a[MMA_SIZE * (m + r) + k]);

                sum[r] = _mm512_fmadd_ps(x, row, sum[r]);
            }
        }
        for (unsigned r = 0; r < 8; r++) {
            _mm512_store_ps(d + MMA_SIZE * (m + r), sum[r]);
        }
    }
}
#elif defined(SIMT_FMA) && defined(__x86_64__)
static void mma_rows(float *d, const float *a, const float *b, bool bf16)
{
    for (unsigned m = 0; m < MMA_SIZE; m += 4) {
        __m256 left[4], right[4];

        for (unsigned r = 0; r < 4; r++) {
            left[r] = _mm256_load_ps(d + MMA_SIZE * (m + r));
            right[r] = _mm256_load_ps(d + MMA_SIZE * (m + r) + 8);
        }
        for (unsigned k = 0; k < MMA_SIZE; k++) {
            __m256 row0 = _mm256_load_ps(b + MMA_SIZE * k);
            __m256 row1 = _mm256_load_ps(b + MMA_SIZE * k + 8);

            for (unsigned r = 0; r < 4; r++) {
                __m256 x = _mm256_set1_ps(a[MMA_SIZE * (m + r) + k]);

                left[r] = _mm256_fmadd_ps(x, row0, left[r]);
                right[r] = _mm256_fmadd_ps(x, row1, right[r]);
            }
        }
        for (unsigned r = 0; r < 4; r++) {
            _mm256_store_ps(d + MMA_SIZE * (m + r), left[r]);
            _mm256_store_ps(d + MMA_SIZE * (m + r) + 8, right[r]);
        }
    }
}
#else
/* Products of f16 are exact in f32. Those of bfloat16 may leave its range: they
 * are exact in f64, which is wide enough for the second rounding of the sum not
 * to matter. */
#define MMA_ROWS(T)                                                            \
    for (unsigned m = 0; m < MMA_ELEMENTS; m += MMA_SIZE) {                    \
        for (unsigned k = 0; k < MMA_SIZE; k++) {                              \
            T x = a[m + k];                                                    \
                                                                               \
            for (unsigned n = 0; n < MMA_SIZE; n++) {                          \
                d[m + n] = (float)(x * b[MMA_SIZE * k + n] + d[m + n]);        \
            }                                                                  \
        }                                                                      \
    }
static void mma_rows(float *d, const float *a, const float *b, bool bf16)
{
    if (bf16) {
        MMA_ROWS(double)
    } else {
        MMA_ROWS(float)
    }
}
#endif

/* 16 small floats of a row. */
static inline void mma_floats(float *to, const uint16_t *v, bool bf16)
{
    LANE_LOOP {
        to[i] = as_f32(bf16 ? (uint32_t)v[i] << 16 : f32_of_f16(v[i]));
    }
}

void mma_f32(MxgpuWarp *w, const SimtOp *p)
{
    _Alignas(64) float a[MMA_ELEMENTS], b[MMA_ELEMENTS], d[MMA_ELEMENTS];
    _Alignas(64) uint32_t unboxed[LANES];
    _Alignas(64) uint16_t v[2][MMA_ELEMENTS];
    const unsigned rd = p->rd;
    bool bf16 = p->op == RV_MX_MMA_F32_BF16;

    memcpy(v[0], wide(w, p->r1), sizeof(v[0]));
    memcpy(v[1], wide(w, p->r2), sizeof(v[1]));
    for (unsigned j = 0; j < MMA_ELEMENTS; j += LANES) {
        mma_floats(a + j, v[0] + j, bf16);
        mma_floats(b + j, v[1] + j, bf16);
    }
    for (unsigned j = 0; j < 4; j++) {
        memcpy(d + LANES * j, get_f32(w, rd + j, ALL_LANES, unboxed),
               sizeof(unboxed));
    }
    mma_rows(d, a, b, bf16);
    for (unsigned j = 0; j < 4; j++) {
        const float *from = d + LANES * j;
        uint32_t *to = w->f[rd + j];

        LANE_LOOP {
            to[i] = canon_f32(from[i]);
        }
        w->narrow[rd + j] = ALL_LANES;
    }
}

/* Bytes of all lanes, in row-major order. */
static void mma_bytes(int16_t *to, const uint64_t *x, bool is_signed)
{
    uint32_t low[LANES];
    uint8_t v[MMA_ELEMENTS];

    LANE_LOOP {
        low[i] = (uint32_t)x[i];
    }
    memcpy(v, low, sizeof(v));
    if (is_signed) {
        for (unsigned i = 0; i < MMA_ELEMENTS; i++) {
            to[i] = (int8_t)v[i];
        }
    } else {
        for (unsigned i = 0; i < MMA_ELEMENTS; i++) {
            to[i] = v[i];
        }
    }
}

/* d[m][n] += a[m][k] * b[k][n], modulo 2^32. Two products of bytes and their
 * sum fit 32 bits: with x86, two steps of k are one instruction. */
#if defined(SIMT_FMA) && defined(__x86_64__)
static void mma_byte_rows(uint32_t *d, const int16_t *a, const int16_t *b)
{
    _Alignas(64) int16_t pairs[MMA_ELEMENTS];

    for (unsigned k = 0; k < MMA_SIZE; k += 2) {
        for (unsigned n = 0; n < MMA_SIZE; n++) {
            pairs[MMA_SIZE * k + 2 * n] = b[MMA_SIZE * k + n];
            pairs[MMA_SIZE * k + 2 * n + 1] = b[MMA_SIZE * (k + 1) + n];
        }
    }
    for (unsigned m = 0; m < MMA_SIZE; m++) {
        __m256i *to = (__m256i *)(d + MMA_SIZE * m);
        __m256i left = _mm256_load_si256(to), right = _mm256_load_si256(to + 1);

        for (unsigned k = 0; k < MMA_SIZE; k += 2) {
            const __m256i *row = (const __m256i *)(pairs + MMA_SIZE * k);
            __m256i x;
            int two;

            memcpy(&two, a + MMA_SIZE * m + k, sizeof(two));
            x = _mm256_set1_epi32(two);
            left = _mm256_add_epi32(
                left, _mm256_madd_epi16(x, _mm256_load_si256(row)));
            right = _mm256_add_epi32(
                right, _mm256_madd_epi16(x, _mm256_load_si256(row + 1)));
        }
        _mm256_store_si256(to, left);
        _mm256_store_si256(to + 1, right);
    }
}
#else
static void mma_byte_rows(uint32_t *d, const int16_t *a, const int16_t *b)
{
    for (unsigned m = 0; m < MMA_SIZE; m++) {
        for (unsigned k = 0; k < MMA_SIZE; k++) {
            int32_t x = a[MMA_SIZE * m + k];

            for (unsigned n = 0; n < MMA_SIZE; n++) {
                d[MMA_SIZE * m + n] += (uint32_t)(x * b[MMA_SIZE * k + n]);
            }
        }
    }
}
#endif

void mma_i32(MxgpuWarp *w, const SimtOp *p)
{
    _Alignas(64) int16_t a[MMA_ELEMENTS], b[MMA_ELEMENTS];
    _Alignas(64) uint32_t d[MMA_ELEMENTS];
    const unsigned rd = p->rd;
    bool is_signed = p->op == RV_MX_MMA_I32_I8;

    mma_bytes(a, wide(w, p->r1), is_signed);
    mma_bytes(b, wide(w, p->r2), is_signed);
    for (unsigned j = 0; j < 4; j++) {
        const uint64_t *from = wide(w, rd + j);
        uint32_t *to = d + LANES * j;

        LANE_LOOP {
            to[i] = (uint32_t)from[i];
        }
    }
    mma_byte_rows(d, a, b);
    for (unsigned j = 0; j < 4; j++) {
        const uint32_t *from = d + LANES * j;
        uint64_t *to = wide_partly(w, rd + j);

        LANE_LOOP {
            to[i] = SEXT32(from[i]);
        }
    }
}
