/* SPDX-License-Identifier: MIT */
/* The interpreter for x86 hosts with AVX-512 F, BW, DQ and VL. */
#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(                                                  \
    __attribute__((target("avx2,fma,bmi,bmi2,f16c,popcnt,lzcnt,avx512f,"       \
                          "avx512bw,avx512dq,avx512vl"))),                      \
    apply_to = function)
#else
#pragma GCC target("avx2,fma,bmi,bmi2,f16c,popcnt,lzcnt")
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#pragma GCC target("prefer-vector-width=512")
#endif
#define SIMT_FMA
#define SIMT_AVX512
#endif
#ifdef SIMT_COUNTING
#define SIMT_EXEC mxgpu_simt_count_avx512
#else
#define SIMT_EXEC mxgpu_simt_exec_avx512
#define SIMT_CONVOY mxgpu_simt_convoy_avx512
#endif
#include "exec.inc.h"
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
