/* SPDX-License-Identifier: MIT */
/*
 * A reference for floating point that owes nothing to the device's: operands
 * are widened to binary128, the compiler's library (or the host's own unit for
 * roots) computes there, rounded to odd, and the result is rounded once to its
 * format. An odd last digit stands for all that was cut off, so this second
 * rounding is exact in every mode as long as the wide format has two digits
 * more, which it always has here.
 */
#ifndef MXGPU_TESTS_REF_FP_H
#define MXGPU_TESTS_REF_FP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct RefFormat {
    int digits; /* of the significand, with the leading one */
    int emax;   /* of the largest finite number; the smallest has 1 - emax */
    int bits;
} RefFormat;

extern const RefFormat ref_half, ref_bfloat, ref_single, ref_double;

enum { REF_NX = 1, REF_UF = 2, REF_OF = 4, REF_DZ = 8, REF_NV = 16 };
enum { REF_RNE, REF_RTZ, REF_RDN, REF_RUP, REF_RMM };

typedef enum RefOp {
    REF_ADD, REF_SUB, REF_MUL, REF_DIV, REF_SQRT, REF_MADD, REF_MSUB,
    REF_NMSUB, REF_NMADD
} RefOp;

/* Bits of the format, not boxed; flags are or'ed. */
uint64_t ref_arith(const RefFormat *f, RefOp op, unsigned rm, uint64_t a,
                   uint64_t b, uint64_t c, unsigned *flags);
uint64_t ref_convert(const RefFormat *to, const RefFormat *from, unsigned rm,
                     uint64_t a, unsigned *flags);
/* width 32 or 64; 32-bit results are sign-extended. */
uint64_t ref_to_int(const RefFormat *f, unsigned rm, uint64_t a, int width,
                    bool is_signed, unsigned *flags);
uint64_t ref_from_int(const RefFormat *f, unsigned rm, uint64_t a, int width,
                      bool is_signed, unsigned *flags);
/* less, equal, or quiet and unordered 0 */
uint64_t ref_compare(const RefFormat *f, bool less, bool equal, bool quiet,
                     uint64_t a, uint64_t b, unsigned *flags);
uint64_t ref_minmax(const RefFormat *f, bool max, uint64_t a, uint64_t b,
                    unsigned *flags);
uint64_t ref_class(const RefFormat *f, uint64_t a);
uint64_t ref_nan(const RefFormat *f);

#endif
