/* SPDX-License-Identifier: MIT */
/*
 * Of the functions of floats that kernels get as bitcode, to become part of the
 * code that calls them.
 */
#ifndef DEVICE_MATH_H
#define DEVICE_MATH_H

#include <stdint.h>

/* A program's own function of the name takes the place of ours. */
#define MATH __attribute__((weak, always_inline))

#define NAN      __builtin_nanf("")
#define INFINITY __builtin_inff()

/* What is behind it is done beside what is for all lanes, not instead of it. */
#define SELDOM(condition) __builtin_expect(condition, 0)

float exp10f(float x);
float exp2f(float x);
float expf(float x);
float log10f(float x);
float log2f(float x);
float logf(float x);
float cosf(float x);
float sinf(float x);
float tanf(float x);
void sincosf(float x, float *s, float *c);

static inline uint32_t as_bits(float x)
{
    return __builtin_bit_cast(uint32_t, x);
}

static inline float as_float(uint32_t bits)
{
    return __builtin_bit_cast(float, bits);
}

#endif
