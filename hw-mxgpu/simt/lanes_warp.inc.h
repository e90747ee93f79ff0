/* SPDX-License-Identifier: MIT */
/*
 * Reductions over lanes and the matrix product of a warp.
 */

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
#define REDUCE_FP(U, S, T, s, AS, CANON, NANV, MINUS_ZERO)                     \
    REDUCE(FADD_##s, U, MINUS_ZERO, CANON(AS(A) + AS(B)))                      \
    REDUCE(FMIN_##s, U, NANV,                                                  \
           MIN_MAX(T, AS(A), AS(B), A, B, NANV, AS(A) < AS(B), A | B))         \
    REDUCE(FMAX_##s, U, NANV,                                                  \
           MIN_MAX(T, AS(A), AS(B), A, B, NANV, AS(B) < AS(A), A & B))

static __attribute__((noinline)) uint64_t reduce_set(unsigned op,
                                                     const uint64_t *a,
                                                     uint64_t set)
{
    switch (op) {
        REDUCE_INT(int64_t, uint64_t, , 64)
        REDUCE_INT(int32_t, uint32_t, _W, 32)
        REDUCE_FP(uint32_t, int32_t, float, S, as_f32, canon_f32, NAN32, S32)
        REDUCE_FP(uint64_t, int64_t, double, D, as_f64, canon_f64, NAN64, S64)
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
static __attribute__((noinline)) void reduce(MxgpuCu *cu, MxgpuWarp *w,
                                             const SimtOp *p, uint64_t mask)
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
static void mma_rows(float *d, const float *a, const float *b)
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
static void mma_rows(float *d, const float *a, const float *b)
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
/* Products of 11-bit and of 8-bit significands are exact in a double, and a
 * double is wide enough for the second rounding of the sum not to matter. */
static void mma_rows(float *d, const float *a, const float *b)
{
    for (unsigned m = 0; m < MMA_SIZE; m++) {
        for (unsigned k = 0; k < MMA_SIZE; k++) {
            double x = a[MMA_SIZE * m + k];

            for (unsigned n = 0; n < MMA_SIZE; n++) {
                float *to = d + MMA_SIZE * m + n;

                *to = (float)(x * b[MMA_SIZE * k + n] + *to);
            }
        }
    }
}
#endif

static void mma_floats(float *to, const uint64_t *x, bool bf16)
{
    uint16_t v[MMA_ELEMENTS];

    memcpy(v, x, sizeof(v));
    for (unsigned i = 0; i < MMA_ELEMENTS; i++) {
        to[i] = bf16 ? as_f32((uint32_t)v[i] << 16)
                     : as_f32(f32_of_f16(v[i]));
    }
}

static __attribute__((noinline)) void mma_f32(MxgpuWarp *w, const SimtOp *p)
{
    _Alignas(64) float a[MMA_ELEMENTS], b[MMA_ELEMENTS], d[MMA_ELEMENTS];
    _Alignas(64) uint32_t unboxed[LANES];
    bool bf16 = p->op == RV_MX_MMA_F32_BF16;

    mma_floats(a, wide(w, p->r1), bf16);
    mma_floats(b, wide(w, p->r2), bf16);
    for (unsigned j = 0; j < 4; j++) {
        memcpy(d + LANES * j, get_f32(w, p->rd + j, ALL_LANES, unboxed),
               sizeof(unboxed));
    }
    mma_rows(d, a, b);
    for (unsigned j = 0; j < 4; j++) {
        for (unsigned i = 0; i < LANES; i++) {
            w->f[p->rd + j][i] = canon_f32(d[LANES * j + i]);
        }
        w->narrow[p->rd + j] = ALL_LANES;
    }
}

static void mma_bytes(uint32_t *to, const uint64_t *x, bool is_signed)
{
    for (unsigned i = 0; i < MMA_ELEMENTS; i++) {
        uint32_t v = (uint32_t)(x[i / 4] >> (8 * (i % 4))) & 255;

        to[i] = is_signed ? (v ^ 128) - 128 : v;
    }
}

/* Sums wrap. */
static __attribute__((noinline)) void mma_i32(MxgpuWarp *w, const SimtOp *p)
{
    _Alignas(64) uint32_t a[MMA_ELEMENTS], b[MMA_ELEMENTS];
    bool is_signed = p->op == RV_MX_MMA_I32_I8;

    mma_bytes(a, wide(w, p->r1), is_signed);
    mma_bytes(b, wide(w, p->r2), is_signed);
    for (unsigned m = 0; m < MMA_SIZE; m++) {
        uint64_t *to = wide_partly(w, p->rd + m / 4) + m % 4 * MMA_SIZE;
        uint32_t sum[MMA_SIZE];

        for (unsigned n = 0; n < MMA_SIZE; n++) {
            sum[n] = (uint32_t)to[n];
        }
        for (unsigned k = 0; k < MMA_SIZE; k++) {
            uint32_t x = a[MMA_SIZE * m + k];

            for (unsigned n = 0; n < MMA_SIZE; n++) {
                sum[n] += x * b[MMA_SIZE * k + n];
            }
        }
        for (unsigned n = 0; n < MMA_SIZE; n++) {
            to[n] = SEXT32(sum[n]);
        }
    }
}
