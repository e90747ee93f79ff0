/* SPDX-License-Identifier: MIT */
/*
 * Words of structures that lie side by side: every second, third or fourth one.
 * Vectors of whole structures, of which lanes take their words, or are given
 * them; bytes that are no lane's are neither read nor written.
 */
#ifndef MXGPU_SIMT_EXEC_MEMBERS_H
#define MXGPU_SIMT_EXEC_MEMBERS_H

#include "lanes.h"

#if defined(SIMT_AVX512)
/* Of 16 structures, as vectors of 16 words. */
#define MEMBER_MASK(words) ((1ull << (15 * (words) + 1)) - 1)

static inline __attribute__((always_inline)) void
load_every(uint32_t *d, const uint32_t *at, unsigned words)
{
    const __m512i count = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6,
                                           5, 4, 3, 2, 1, 0);
    const __m512i from = _mm512_mullo_epi32(count, _mm512_set1_epi32(words));
    const __mmask16 upper =
        _mm512_cmpge_epi32_mask(from, _mm512_set1_epi32(32));

    for (unsigned i = 0; i < LANES; i += 16, at += 16 * words) {
        __m512i v[4] = {0};

        for (unsigned k = 0; k < words; k++) {
            v[k] = _mm512_maskz_loadu_epi32(
                (__mmask16)(MEMBER_MASK(words) >> 16 * k), at + 16 * k);
        }
        v[0] = _mm512_permutex2var_epi32(v[0], from, v[1]);
        v[2] = _mm512_permutex2var_epi32(v[2], from, v[3]);
        _mm512_storeu_si512(d + i, _mm512_mask_mov_epi32(v[0], upper, v[2]));
    }
}

static inline __attribute__((always_inline)) void
store_every(uint32_t *at, const uint32_t *s, unsigned words)
{
    for (unsigned i = 0; i < LANES; i += 16, at += 16 * words) {
        __m512i v = _mm512_loadu_si512(s + i);

        for (unsigned k = 0; k < words; k++) {
            uint32_t lane[16];
            __mmask16 is = 0;

            for (unsigned n = 0; n < 16; n++) {
                lane[n] = (16 * k + n) / words;
                is |= ((16 * k + n) % words == 0) << n;
            }
            _mm512_mask_storeu_epi32(
                at + 16 * k, is,
                _mm512_permutexvar_epi32(_mm512_loadu_si512(lane), v));
        }
    }
}

static __attribute__((noinline)) bool
load_members(uint32_t *d, uintptr_t at, uint64_t step)
{
    switch (step) {
    case 8:
        load_every(d, (const uint32_t *)at, 2);
        return true;
    case 12:
        load_every(d, (const uint32_t *)at, 3);
        return true;
    case 16:
        load_every(d, (const uint32_t *)at, 4);
        return true;
    default:
        return false;
    }
}

static __attribute__((noinline)) bool
store_members(uintptr_t at, const uint32_t *s, uint64_t step)
{
    switch (step) {
    case 8:
        store_every((uint32_t *)at, s, 2);
        return true;
    case 12:
        store_every((uint32_t *)at, s, 3);
        return true;
    case 16:
        store_every((uint32_t *)at, s, 4);
        return true;
    default:
        return false;
    }
}
#else
#define load_members(d, at, step)  false
#define store_members(at, s, step) false
#endif

#endif
