/* SPDX-License-Identifier: MIT */
/* The interpreter for x86 hosts with AVX2 and FMA. */
#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(                                                  \
    __attribute__((target("avx2,fma,bmi,bmi2,f16c,popcnt,lzcnt"))),            \
    apply_to = function)
#else
#pragma GCC target("avx2,fma,bmi,bmi2,f16c,popcnt,lzcnt")
#endif
#define SIMT_FMA
#endif
#ifdef SIMT_COUNTING
#define SIMT_EXEC mxgpu_simt_count_avx2
#else
#define SIMT_EXEC mxgpu_simt_exec_avx2
#define SIMT_CONVOY mxgpu_simt_convoy_avx2
#endif
#include "exec.inc.h"
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
