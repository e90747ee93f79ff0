/* SPDX-License-Identifier: MIT */
/*
 * Lanes from and to memory that has a host address: rows of a line, and each
 * lane at an address of its own. SIZED_FN is a function of a "size" in bytes
 * that is a constant, 1, 2, 4 or 8; BY_SIZE() chooses among pieces of loads and
 * stores of the unsigned types T of these sizes, such as gather_T().
 */
#ifndef MXGPU_SIMT_EXEC_GATHER_H
#define MXGPU_SIMT_EXEC_GATHER_H

#include "lanes.h"
#include "address.h"

#define SIZED_FN static inline __attribute__((always_inline))
#define LANE_TYPES(F) F(uint8_t) F(uint16_t) F(uint32_t) F(uint64_t)
#define BY_SIZE(size, name, ...)                                               \
    ((size) == 1   ? name##_uint8_t(__VA_ARGS__)                               \
     : (size) == 2 ? name##_uint16_t(__VA_ARGS__)                              \
     : (size) == 4 ? name##_uint32_t(__VA_ARGS__)                              \
                   : name##_uint64_t(__VA_ARGS__))

/* ---- one lane, extended to 64 bits */

#define DEF_LANE(T, S)                                                         \
    static inline uint64_t lane_##T(const T *lanes, unsigned i)                \
    {                                                                          \
        return lanes[i];                                                       \
    }                                                                          \
    static inline uint64_t signed_lane_##T(const T *lanes, unsigned i)         \
    {                                                                          \
        return (uint64_t)(int64_t)(S)lanes[i];                                 \
    }
DEF_LANE(uint8_t, int8_t)
DEF_LANE(uint16_t, int16_t)
DEF_LANE(uint32_t, int32_t)
DEF_LANE(uint64_t, int64_t)

/* ---- all lanes side by side, or one value for all */

#define DEF_COPY(T)                                                            \
    typedef T unaligned_##T __attribute__((aligned(1), may_alias));            \
    static inline void copy_##T(void *to, const void *from)                    \
    {                                                                          \
        LANE_LOOP {                                                            \
            ((unaligned_##T *)to)[i] = ((const unaligned_##T *)from)[i];       \
        }                                                                      \
    }
LANE_TYPES(DEF_COPY)

/* The last lane first. */
#define DEF_REVERSE(T)                                                         \
    static inline void reverse_##T(T *d, const void *from)                     \
    {                                                                          \
        LANE_LOOP {                                                            \
            d[i] = ((const unaligned_##T *)from)[LANES - 1 - i];               \
        }                                                                      \
    }
LANE_TYPES(DEF_REVERSE)

#define DEF_FILL(T)                                                            \
    static inline void fill_##T(T *d, uintptr_t at)                            \
    {                                                                          \
        T v;                                                                   \
                                                                               \
        __builtin_memcpy(&v, (const void *)at, sizeof(v));                     \
        LANE_LOOP {                                                            \
            d[i] = v;                                                          \
        }                                                                      \
    }
LANE_TYPES(DEF_FILL)

/* ---- rows of a line: row r is at "at" + r * row */

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

/* Each row is contiguous (SHAPE_ROWS) or uniform; false: no such rows. */
#define DEF_ROWS(T)                                                            \
    static inline bool load_rows_##T(unsigned shift, Shape shape, T *d,        \
                                     uintptr_t at, uint64_t row)               \
    {                                                                          \
        if (shape == SHAPE_ROWS) {                                             \
            EACH_ROW_SIZE(shift, LOAD_ROW)                                     \
        }                                                                      \
        EACH_ROW_SIZE(shift, LOAD_LEVEL)                                       \
    }                                                                          \
    static inline bool store_rows_##T(unsigned shift, const T *s,              \
                                      uintptr_t at, uint64_t row)              \
    {                                                                          \
        EACH_ROW_SIZE(shift, STORE_ROW)                                        \
    }
LANE_TYPES(DEF_ROWS)

/* The next warp is likely to go on where this one ended. */
static inline void prefetch(uintptr_t at, unsigned size)
{
    for (unsigned i = 0; i < size; i += 64) {
        __builtin_prefetch((const void *)(at + i), 0, 3);
    }
}

/* ---- contiguous lanes, of which only those of mask are stored */

#if defined(SIMT_AVX512)
#define DEF_STORE_RUN(T, suffix, Mask)                                         \
    static inline void store_run_##T(uintptr_t at, const T *s, uint64_t mask)  \
    {                                                                          \
        const unsigned n = 64 / sizeof(T);                                     \
                                                                               \
        for (unsigned i = 0; i < LANES; i += n) {                              \
            _mm512_mask_storeu_##suffix((T *)at + i, (Mask)(mask >> i),        \
                                        _mm512_loadu_si512(s + i));            \
        }                                                                      \
    }
DEF_STORE_RUN(uint8_t, epi8, __mmask64)
DEF_STORE_RUN(uint16_t, epi16, __mmask32)
DEF_STORE_RUN(uint32_t, epi32, __mmask16)
DEF_STORE_RUN(uint64_t, epi64, __mmask8)
#else
#define DEF_STORE_RUN(T)                                                       \
    static inline void store_run_##T(uintptr_t at, const T *s, uint64_t mask)  \
    {                                                                          \
        while (mask) {                                                         \
            unsigned first = __builtin_ctzll(mask);                            \
            uint64_t rest = ~(mask >> first); /* 0: all 64 */                  \
            unsigned n = rest ? __builtin_ctzll(rest) : LANES;                 \
                                                                               \
            if (n < 4) { /* a call of memcpy() costs more */                   \
                for (unsigned i = first; i < first + n; i++) {                 \
                    ((T *)at)[i] = s[i];                                       \
                }                                                              \
            } else {                                                           \
                memcpy((T *)at + first, s + first, n * sizeof(T));             \
            }                                                                  \
            mask = first + n < LANES ? mask >> (first + n) << (first + n) : 0; \
        }                                                                      \
    }
LANE_TYPES(DEF_STORE_RUN)
#endif

/* ---- private memory: one address in the windows of all lanes */

static inline bool private_uniform(const MxgpuWarp *w, uint64_t va,
                                   unsigned size)
{
    return in_private(w, va, size) && !(va & (size - 1));
}

#define DEF_PRIVATE(T)                                                         \
    static inline void private_load_##T(const MxgpuWarp *w, uint64_t va, T *d) \
    {                                                                          \
        const uint8_t *from = private_at(w, va);                               \
                                                                               \
        LANE_LOOP {                                                            \
            d[i] = *(const T *)(from + 8 * i);                                 \
        }                                                                      \
    }                                                                          \
    static inline void private_store_##T(const MxgpuWarp *w, uint64_t va,      \
                                         uint64_t mask, const T *s)            \
    {                                                                          \
        uint8_t *to = private_at(w, va);                                       \
                                                                               \
        if (mask == ALL_LANES) {                                               \
            LANE_LOOP {                                                        \
                *(T *)(to + 8 * i) = s[i];                                     \
            }                                                                  \
            return;                                                            \
        }                                                                      \
        for (; mask; mask &= mask - 1) {                                       \
            unsigned i = __builtin_ctzll(mask);                                \
                                                                               \
            *(T *)(to + 8 * i) = s[i];                                         \
        }                                                                      \
    }
LANE_TYPES(DEF_PRIVATE)

/* ---- each lane at base + its address */

/* Lane by lane: of bytes, and where lanes are few. */
#define DEF_EACH_LANE(T)                                                       \
    static inline void gather_each_##T(T *d, uintptr_t base,                   \
                                       const uint64_t *a, uint64_t mask)       \
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
    static inline void scatter_each_##T(const T *s, uintptr_t base,            \
                                        const uint64_t *a, uint64_t mask)      \
    {                                                                          \
        if (mask == ALL_LANES) {                                               \
            for (unsigned i = 0; i < LANES; i++) {                             \
                *(volatile T *)(base + a[i]) = s[i];                           \
            }                                                                  \
            return;                                                            \
        }                                                                      \
        for (; mask; mask &= mask - 1) {                                       \
            unsigned i = __builtin_ctzll(mask);                                \
                                                                               \
            *(volatile T *)(base + a[i]) = s[i];                               \
        }                                                                      \
    }
LANE_TYPES(DEF_EACH_LANE)

#if defined(SIMT_AVX512)
/* A load into each element of a vector: as many instructions as lanes, but no
 * microcode, which the host's gathers are on many machines. */
#define ELEMENT(T, k) (*(const unaligned_##T *)(base + a[i + (k)]))
static inline __m128i gather_four(uintptr_t base, const uint64_t *a, unsigned i)
{
    __m128i v = _mm_cvtsi32_si128((int)ELEMENT(uint32_t, 0));

    v = _mm_insert_epi32(v, (int)ELEMENT(uint32_t, 1), 1);
    v = _mm_insert_epi32(v, (int)ELEMENT(uint32_t, 2), 2);
    return _mm_insert_epi32(v, (int)ELEMENT(uint32_t, 3), 3);
}

static inline __m128i gather_two(uintptr_t base, const uint64_t *a, unsigned i)
{
    return _mm_insert_epi64(_mm_cvtsi64_si128((long long)ELEMENT(uint64_t, 0)),
                            (long long)ELEMENT(uint64_t, 1), 1);
}
#undef ELEMENT

static inline void gather_all_words(uint32_t *d, uintptr_t base,
                                    const uint64_t *a)
{
    for (unsigned i = 0; i < LANES; i += 8) {
        _mm256_storeu_si256((__m256i *)(d + i),
                            _mm256_set_m128i(gather_four(base, a, i + 4),
                                             gather_four(base, a, i)));
    }
}

static inline void gather_uint64_t(uint64_t *d, uintptr_t base,
                                   const uint64_t *a, uint64_t mask)
{
    if (mask != ALL_LANES) {
        gather_each_uint64_t(d, base, a, mask);
        return;
    }
    for (unsigned i = 0; i < LANES; i += 4) {
        _mm256_storeu_si256((__m256i *)(d + i),
                            _mm256_set_m128i(gather_two(base, a, i + 2),
                                             gather_two(base, a, i)));
    }
}

/* The host's gathers take as long whatever their mask is: as much as so many
 * lanes, each by itself. (Its scatters always take longer.) */
#define GATHER_LANES 44

static inline void gather_uint32_t(uint32_t *d, uintptr_t base,
                                   const uint64_t *a, uint64_t mask)
{
    if (mask == ALL_LANES) {
        gather_all_words(d, base, a);
        return;
    }
    if (__builtin_popcountll(mask) <= GATHER_LANES) {
        gather_each_uint32_t(d, base, a, mask);
        return;
    }
    for (unsigned i = 0; i < LANES; i += 8) {
        __m256i v = _mm512_mask_i64gather_epi32(
            _mm256_setzero_si256(), (__mmask8)(mask >> i),
            _mm512_load_si512(a + i), (const void *)base, 1);

        _mm256_storeu_si256((__m256i *)(d + i), v);
    }
}
#else
#define gather_uint32_t  gather_each_uint32_t
#define gather_uint64_t  gather_each_uint64_t
#endif
#define gather_uint8_t   gather_each_uint8_t
#define gather_uint16_t  gather_each_uint16_t
#define scatter_uint8_t  scatter_each_uint8_t
#define scatter_uint16_t scatter_each_uint16_t
#define scatter_uint32_t scatter_each_uint32_t
#define scatter_uint64_t scatter_each_uint64_t

/* What lane i of lanes as they are in memory is in a register. */
SIZED_FN uint64_t extended(const void *lanes, unsigned i, unsigned size,
                           bool is_signed)
{
    return is_signed ? BY_SIZE(size, signed_lane, lanes, i)
                     : BY_SIZE(size, lane, lanes, i);
}

/* The same of what is at a host address. */
SIZED_FN uint64_t load_scalar(uintptr_t at, unsigned size, bool is_signed)
{
    uint64_t v = 0;

    __builtin_memcpy(&v, (const void *)at, size);
    return extended(&v, 0, size, is_signed);
}

#endif
