/* SPDX-License-Identifier: MIT */
/*
 * f32 and f64 lanes as vectors of the host's width, for arithmetic whose
 * results are looked at once more while they are still in registers.
 */
#ifndef MXGPU_SIMT_EXEC_VEC_H
#define MXGPU_SIMT_EXEC_VEC_H

#include "lanes.h"

#if defined(SIMT_AVX512)
#define VEC_BYTES 64
#elif defined(SIMT_FMA) && defined(__x86_64__)
#define VEC_BYTES 32
#else
#define VEC_BYTES 16
#endif
#define VEC_LANES(T) (VEC_BYTES / (unsigned)sizeof(T))
#define VECS(T)      (LANES / VEC_LANES(T))

typedef float VecF32 __attribute__((vector_size(VEC_BYTES)));
typedef double VecF64 __attribute__((vector_size(VEC_BYTES)));
typedef int32_t VecI32 __attribute__((vector_size(VEC_BYTES)));
typedef int64_t VecI64 __attribute__((vector_size(VEC_BYTES)));

#if defined(__clang__)
#define EACH_VEC(T)                                                            \
    _Pragma("clang loop unroll(full)")                                         \
    for (unsigned v = 0; v < VECS(T); v++)
#else
#define EACH_VEC(T)                                                            \
    _Pragma("GCC unroll 32") for (unsigned v = 0; v < VECS(T); v++)
#endif
#define VEC_FN static inline __attribute__((always_inline))

/* F(type of a vector, its suffix, type of its comparisons, lane, bits of it) */
#define VEC_TYPES(F)                                                           \
    F(VecF32, f32, VecI32, float, uint32_t)                                    \
    F(VecF64, f64, VecI64, double, uint64_t)

/* Vector v of a plane. */
#define DEF_VEC_ACCESS(V, s, M, T, U)                                          \
    VEC_FN V load_##s(const U *plane, unsigned v)                              \
    {                                                                          \
        V x;                                                                   \
                                                                               \
        __builtin_memcpy(                                                      \
            &x, __builtin_assume_aligned(plane + v * VEC_LANES(T), VEC_BYTES), \
            sizeof(x));                                                        \
        return x;                                                              \
    }                                                                          \
    VEC_FN void store_##s(U *plane, unsigned v, V x)                           \
    {                                                                          \
        __builtin_memcpy(                                                      \
            __builtin_assume_aligned(plane + v * VEC_LANES(T), VEC_BYTES), &x, \
            sizeof(x));                                                        \
    }
VEC_TYPES(DEF_VEC_ACCESS)

/*
 * only_: lanes of mask, +0 elsewhere; merge_: what it gave, and the lanes of
 * old elsewhere; nan_: whether one of a plane's vectors has a NaN.
 */
#if defined(SIMT_AVX512)
#define VEC_INTEL(name, n) _mm512_##name##n
#define DEF_VEC_MASKS(V, s, X, K, TEST, ps)                                    \
    VEC_FN V only_##s(const MxgpuWarp *w, uint64_t mask, unsigned v, V x)      \
    {                                                                          \
        (void)w;                                                               \
        return (V)_mm512_maskz_mov_##ps((K)(mask >> v * sizeof(K) * 8), (X)x); \
    }                                                                          \
    VEC_FN V merge_##s(const MxgpuWarp *w, uint64_t mask, unsigned v, V x,     \
                       V old)                                                  \
    {                                                                          \
        (void)w;                                                               \
        return (V)_mm512_mask_mov_##ps((X)old,                                 \
                                       (K)(mask >> v * sizeof(K) * 8), (X)x);  \
    }                                                                          \
    VEC_FN bool nan_##s(const V *x)                                            \
    {                                                                          \
        K bad = 0;                                                             \
                                                                               \
        _Pragma("GCC unroll 32")                                               \
        for (unsigned v = 0; v < LANES / (sizeof(K) * 8); v += 2) {            \
            bad |= _mm512_cmp_##ps##_mask((X)x[v], (X)x[v + 1], _CMP_UNORD_Q); \
        }                                                                      \
        return bad;                                                            \
    }
DEF_VEC_MASKS(VecF32, f32, __m512, __mmask16, 16, ps)
DEF_VEC_MASKS(VecF64, f64, __m512d, __mmask8, 8, pd)
#else
#define MASK_f32 w->c.m32
#define MASK_f64 w->c.m64
#define DEF_VEC_MASKS(V, s, M, T, U)                                           \
    VEC_FN M mask_##s(const MxgpuWarp *w, unsigned v)                          \
    {                                                                          \
        return (M)load_##s(MASK_##s, v);                                       \
    }                                                                          \
    VEC_FN V only_##s(const MxgpuWarp *w, uint64_t mask, unsigned v, V x)      \
    {                                                                          \
        (void)mask;                                                            \
        return (V)((M)x & mask_##s(w, v));                                     \
    }                                                                          \
    VEC_FN V merge_##s(const MxgpuWarp *w, uint64_t mask, unsigned v, V x,     \
                       V old)                                                  \
    {                                                                          \
        (void)mask;                                                            \
        return (V)((M)x | ((M)old & ~mask_##s(w, v)));                         \
    }                                                                          \
    VEC_FN bool nan_##s(const V *x)                                            \
    {                                                                          \
        M bad = {0};                                                           \
        uint64_t any = 0, part[VEC_BYTES / 8];                                 \
                                                                               \
        EACH_VEC(T) {                                                          \
            bad |= x[v] != x[v];                                               \
        }                                                                      \
        __builtin_memcpy(part, &bad, sizeof(part));                            \
        for (unsigned i = 0; i < VEC_BYTES / 8; i++) {                         \
            any |= part[i];                                                    \
        }                                                                      \
        return any;                                                            \
    }
VEC_TYPES(DEF_VEC_MASKS)
#endif

/* Functions that operators do not name. */
#if defined(SIMT_AVX512)
#define VEC_SQRT(x, ps)      _mm512_sqrt_##ps(x)
#define VEC_FMA(x, y, z, ps) _mm512_fmadd_##ps(x, y, z)
#elif defined(SIMT_FMA) && defined(__x86_64__)
#define VEC_SQRT(x, ps)      _mm256_sqrt_##ps(x)
#define VEC_FMA(x, y, z, ps) _mm256_fmadd_##ps(x, y, z)
#endif
#if defined(VEC_FMA)
#define DEF_VEC_MATHS(V, s, X, ps)                                             \
    VEC_FN V sqrt_##s(V x)                                                     \
    {                                                                          \
        return (V)VEC_SQRT((X)x, ps);                                          \
    }                                                                          \
    VEC_FN V fma_##s(V x, V y, V z)                                            \
    {                                                                          \
        return (V)VEC_FMA((X)x, (X)y, (X)z, ps);                               \
    }
#if defined(SIMT_AVX512)
DEF_VEC_MATHS(VecF32, f32, __m512, ps)
DEF_VEC_MATHS(VecF64, f64, __m512d, pd)
#else
DEF_VEC_MATHS(VecF32, f32, __m256, ps)
DEF_VEC_MATHS(VecF64, f64, __m256d, pd)
#endif
#else
#define DEF_VEC_MATHS(V, s, T, SQRT, FMA)                                      \
    VEC_FN V sqrt_##s(V x)                                                     \
    {                                                                          \
        for (unsigned i = 0; i < VEC_LANES(T); i++) {                          \
            x[i] = SQRT(x[i]);                                                 \
        }                                                                      \
        return x;                                                              \
    }                                                                          \
    VEC_FN V fma_##s(V x, V y, V z)                                            \
    {                                                                          \
        for (unsigned i = 0; i < VEC_LANES(T); i++) {                          \
            x[i] = FMA(x[i], y[i], z[i]);                                      \
        }                                                                      \
        return x;                                                              \
    }
DEF_VEC_MATHS(VecF32, f32, float, __builtin_sqrtf, __builtin_fmaf)
DEF_VEC_MATHS(VecF64, f64, double, __builtin_sqrt, __builtin_fma)
#endif

#endif
