/* SPDX-License-Identifier: MIT */
/*
 * Lanes from and to memory that has a host address: rows of a line, and each
 * lane at an address of its own.
 */

#define LOAD_ROW(n)                                                            \
    for (unsigned r = 0; r < LANES / (n); r++) {                               \
        __builtin_memcpy(d + (n) * r, (const void *)(at + r * row),            \
                         (n) * sizeof(*d));                                    \
    }
/* By vectors: compilers make worse of a loop of loops. */
#define LOAD_LEVEL(n)                                                          \
    for (unsigned r = 0; r < LANES / (n); r++) {                               \
        typedef __typeof__(*d) One;                                            \
        typedef One Some __attribute__((vector_size(32), aligned(1)));         \
        One v;                                                                 \
                                                                               \
        __builtin_memcpy(&v, (const void *)(at + r * row), sizeof(v));         \
        if ((n) * sizeof(v) >= sizeof(Some)) {                                 \
            for (unsigned i = 0; i < (n); i += sizeof(Some) / sizeof(v)) {     \
                *(Some *)(d + (n) * r + i) = v - (Some){0};                    \
            }                                                                  \
        } else {                                                               \
            for (unsigned i = 0; i < (n); i++) {                               \
                d[(n) * r + i] = v;                                            \
            }                                                                  \
        }                                                                      \
    }
#define STORE_ROW(n)                                                           \
    for (unsigned r = 0; r < LANES / (n); r++) {                               \
        __builtin_memcpy((void *)(at + r * row), s + (n) * r,                  \
                         (n) * sizeof(*s));                                    \
    }
/* F(lanes of a row, a constant) */
#define EACH_ROW_SIZE(shift, F)                                                \
    switch (shift) {                                                           \
    case 3:                                                                    \
        F(8u)                                                                  \
        return true;                                                           \
    case 4:                                                                    \
        F(16u)                                                                 \
        return true;                                                           \
    case 5:                                                                    \
        F(32u)                                                                 \
        return true;                                                           \
    default:                                                                   \
        return false;                                                          \
    }

/* The next warp is likely to go on where this one ended. */
static inline void prefetch(uintptr_t at, unsigned size)
{
    for (unsigned i = 0; i < size; i += 64) {
        __builtin_prefetch((const void *)(at + i), 0, 3);
    }
}

static inline bool private_uniform(const MxgpuWarp *w, uint64_t va,
                                   unsigned size)
{
    return in_private(w, va, size) && !(va & (size - 1));
}

#if defined(SIMT_AVX512)
static inline void gather_uint32_t(uint32_t *d, uintptr_t base,
                                   const uint64_t *a, uint64_t mask)
{
    for (unsigned i = 0; i < LANES; i += 8) {
        __m256i v = _mm512_mask_i64gather_epi32(
            _mm256_setzero_si256(), (__mmask8)(mask >> i),
            _mm512_load_si512(a + i), (const void *)base, 1);

        _mm256_storeu_si256((__m256i *)(d + i), v);
    }
}

static inline void gather_uint64_t(uint64_t *d, uintptr_t base,
                                   const uint64_t *a, uint64_t mask)
{
    for (unsigned i = 0; i < LANES; i += 8) {
        __m512i v = _mm512_mask_i64gather_epi64(
            _mm512_setzero_si512(), (__mmask8)(mask >> i),
            _mm512_load_si512(a + i), (const void *)base, 1);

        _mm512_storeu_si512(d + i, v);
    }
}

static inline void scatter_uint32_t(const uint32_t *s, uintptr_t base,
                                    const uint64_t *a, uint64_t mask)
{
    for (unsigned i = 0; i < LANES; i += 8) {
        _mm512_mask_i64scatter_epi32(
            (void *)base, (__mmask8)(mask >> i), _mm512_load_si512(a + i),
            _mm256_loadu_si256((const __m256i *)(s + i)), 1);
    }
}

static inline void scatter_uint64_t(const uint64_t *s, uintptr_t base,
                                    const uint64_t *a, uint64_t mask)
{
    for (unsigned i = 0; i < LANES; i += 8) {
        _mm512_mask_i64scatter_epi64((void *)base, (__mmask8)(mask >> i),
                                     _mm512_load_si512(a + i),
                                     _mm512_loadu_si512(s + i), 1);
    }
}
#endif

#define PLAIN_GATHER(T)                                                        \
    static inline void gather_##T(T *d, uintptr_t base, const uint64_t *a,     \
                                  uint64_t mask)                               \
    {                                                                          \
        if (mask == ALL_LANES) {                                               \
            for (unsigned i = 0; i < LANES; i++) {                             \
                d[i] = *(const volatile T *)(base + a[i]);                     \
            }                                                                  \
            return;                                                            \
        }                                                                      \
        for (; mask; mask &= mask - 1) {                                       \
            unsigned i = __builtin_ctzll(mask);                                \
                                                                               \
            d[i] = *(const volatile T *)(base + a[i]);                         \
        }                                                                      \
    }                                                                          \
    static inline void scatter_##T(const T *s, uintptr_t base,                 \
                                   const uint64_t *a, uint64_t mask)           \
    {                                                                          \
        for (; mask; mask &= mask - 1) {                                       \
            unsigned i = __builtin_ctzll(mask);                                \
                                                                               \
            *(volatile T *)(base + a[i]) = s[i];                               \
        }                                                                      \
    }
PLAIN_GATHER(uint8_t)
PLAIN_GATHER(uint16_t)
#if !defined(SIMT_AVX512)
PLAIN_GATHER(uint32_t)
PLAIN_GATHER(uint64_t)
#endif
