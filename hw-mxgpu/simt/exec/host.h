/* SPDX-License-Identifier: MIT */
/* Whether this host has all that meson.build lets the compiler use for a build
 * of the interpreters. */
#ifndef MXGPU_SIMT_EXEC_HOST_H
#define MXGPU_SIMT_EXEC_HOST_H

#include <stdbool.h>

static inline bool simt_host_has_avx2(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("f16c") && __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("lzcnt");
#else
    return false;
#endif
}

static inline bool simt_host_has_avx512(void)
{
#if defined(__x86_64__)
    return simt_host_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

#endif
