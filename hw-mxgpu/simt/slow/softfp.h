/* SPDX-License-Identifier: MIT */
/*
 * IEEE 754 binary16, binary32 and binary64, and bfloat16, in integers: every
 * rounding mode and exception flag of RISC-V, independent of the host's
 * floating point. Operands and results are encodings in the low bits. NaN
 * results are the canonical quiet NaN; tininess is detected after rounding.
 */
#ifndef MXGPU_SIMT_SOFTFP_H
#define MXGPU_SIMT_SOFTFP_H

#include <stdbool.h>
#include <stdint.h>

typedef enum FpFormat { FP_H, FP_S, FP_D, FP_BF } FpFormat;

/* Rounding modes and flags as in fcsr. */
enum { FP_RNE, FP_RTZ, FP_RDN, FP_RUP, FP_RMM, FP_DYNAMIC = 7 };
enum { FP_NX = 1, FP_UF = 2, FP_OF = 4, FP_DZ = 8, FP_NV = 16 };

/* Rounding mode in, flags accumulated. */
typedef struct FpEnv {
    unsigned rm, flags;
} FpEnv;

uint64_t fp_canonical_nan(FpFormat fmt);
uint64_t fp_sign_bit(FpFormat fmt);

uint64_t fp_add(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b);
uint64_t fp_sub(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b);
uint64_t fp_mul(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b);
uint64_t fp_div(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b);
uint64_t fp_sqrt(FpEnv *env, FpFormat fmt, uint64_t a);
/* a * b + c, rounded once */
uint64_t fp_fma(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b, uint64_t c);

uint64_t fp_min(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b);
uint64_t fp_max(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b);
bool fp_eq(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b); /* quiet */
bool fp_lt(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b);
bool fp_le(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b);
unsigned fp_class(FpFormat fmt, uint64_t a); /* as FCLASS */

uint64_t fp_convert(FpEnv *env, FpFormat to, FpFormat from, uint64_t a);
/* Integers of 32 or 64 bits; saturating, NaN gives the largest. A 32-bit
 * result is sign-extended, also the unsigned one. */
uint64_t fp_to_int(FpEnv *env, FpFormat fmt, uint64_t a, unsigned bits,
                   bool is_signed);
uint64_t fp_from_int(FpEnv *env, FpFormat fmt, uint64_t a, unsigned bits,
                     bool is_signed);

#endif
