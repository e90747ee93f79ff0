/* SPDX-License-Identifier: MIT */
#include "ref_fp.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

typedef unsigned __int128 u128;
__extension__ typedef __float128 Wide;

#define WIDE_DIGITS 113
#define WIDE_BIAS   16383

const RefFormat ref_half = {11, 15, 16}, ref_bfloat = {8, 127, 16},
                ref_single = {24, 127, 32}, ref_double = {53, 1023, 64};

/* ---- bits */

static u128 wide_bits(Wide w)
{
    u128 u;

    memcpy(&u, &w, sizeof(u));
    return u;
}

static Wide wide_of(u128 u)
{
    Wide w;

    memcpy(&w, &u, sizeof(w));
    return w;
}

static int fraction_bits(const RefFormat *f)
{
    return f->digits - 1;
}

static uint64_t sign_mask(const RefFormat *f)
{
    return 1ull << (f->bits - 1);
}

static uint64_t infinity(const RefFormat *f)
{
    return (uint64_t)(2 * f->emax + 1) << fraction_bits(f);
}

static uint64_t magnitude(const RefFormat *f, uint64_t a)
{
    return a & (sign_mask(f) - 1);
}

static bool is_nan(const RefFormat *f, uint64_t a)
{
    return magnitude(f, a) > infinity(f);
}

static bool is_inf(const RefFormat *f, uint64_t a)
{
    return magnitude(f, a) == infinity(f);
}

static bool is_zero(const RefFormat *f, uint64_t a)
{
    return magnitude(f, a) == 0;
}

static bool negative(const RefFormat *f, uint64_t a)
{
    return a & sign_mask(f);
}

static bool signals(const RefFormat *f, uint64_t a)
{
    return is_nan(f, a) && !(a >> (fraction_bits(f) - 1) & 1);
}

uint64_t ref_nan(const RefFormat *f)
{
    return infinity(f) | 1ull << (fraction_bits(f) - 1);
}

/* The value of a finite number: its digits times a power of two. */
static Wide widen(const RefFormat *f, uint64_t a)
{
    uint64_t m = magnitude(f, a) & ((1ull << fraction_bits(f)) - 1);
    int e = (int)(magnitude(f, a) >> fraction_bits(f));
    Wide scale;

    if (e) {
        m |= 1ull << fraction_bits(f);
    } else {
        e = 1;
    }
    e -= f->emax + fraction_bits(f);
    scale = wide_of((u128)(WIDE_BIAS + e) << (WIDE_DIGITS - 1));
    return negative(f, a) ? -(Wide)m * scale : (Wide)m * scale;
}

/* ---- rounding */

static bool round_up(unsigned rm, bool minus, bool odd, bool half, bool rest)
{
    switch (rm) {
    case REF_RNE:
        return half && (rest || odd);
    case REF_RTZ:
        return false;
    case REF_RDN:
        return minus && (half || rest);
    case REF_RUP:
        return !minus && (half || rest);
    default:
        return half;
    }
}

/* m / 2^shift as an integer. */
static u128 shift_round(u128 m, int shift, unsigned rm, bool minus,
                        bool *inexact)
{
    bool half, rest;
    u128 n;

    *inexact = false;
    if (shift <= 0) {
        return m << -shift;
    }
    if (shift > 126) {
        m = m != 0;
        shift = 126;
    }
    n = m >> shift;
    half = m >> (shift - 1) & 1;
    rest = (m & (((u128)1 << (shift - 1)) - 1)) != 0;
    *inexact = half || rest;
    return n + round_up(rm, minus, n & 1, half, rest);
}

static uint64_t too_large(const RefFormat *f, unsigned rm, bool minus,
                          unsigned *flags)
{
    bool inf = rm == REF_RNE || rm == REF_RMM || (rm == REF_RUP && !minus) ||
               (rm == REF_RDN && minus);

    *flags |= REF_OF | REF_NX;
    return (minus ? sign_mask(f) : 0) | (infinity(f) - !inf);
}

/* A number that is not zero, exact or rounded to odd. */
static uint64_t narrow(const RefFormat *f, unsigned rm, Wide w, unsigned *flags)
{
    u128 u = wide_bits(w), m = u & (((u128)1 << 112) - 1);
    bool minus = u >> 127, inexact, unbounded;
    int e = (int)(u >> 112 & 0x7fff) - WIDE_BIAS, emin = 1 - f->emax;
    int cut = WIDE_DIGITS - f->digits;
    uint64_t sign = minus ? sign_mask(f) : 0;
    bool tiny = e < emin;
    u128 n;

    m |= (u128)1 << 112;
    if (e == emin - 1) { /* tininess is found after rounding */
        n = shift_round(m, cut, rm, minus, &unbounded);
        tiny = n != (u128)1 << f->digits;
    }
    if (e < emin) {
        n = shift_round(m, cut + (emin - e > 200 ? 200 : emin - e), rm, minus,
                        &inexact);
        *flags |= inexact ? REF_NX | (tiny ? REF_UF : 0) : 0;
        return sign | (uint64_t)n; /* the carry makes it normal */
    }
    n = shift_round(m, cut, rm, minus, &inexact);
    if (n >> f->digits) {
        n >>= 1;
        e++;
    }
    if (e > f->emax) {
        return too_large(f, rm, minus, flags);
    }
    *flags |= inexact ? REF_NX : 0;
    n &= ((u128)1 << fraction_bits(f)) - 1;
    return sign | (uint64_t)(e + f->emax) << fraction_bits(f) | (uint64_t)n;
}

/* ---- wide arithmetic, rounded to odd */

static Wide to_odd(Wide w)
{
    return fetestexcept(FE_INEXACT) ? wide_of(wide_bits(w) | 1) : w;
}

static Wide wide_op(RefOp op, Wide x, Wide y)
{
    volatile Wide a = x, b = y, r;
    volatile long double root;
    int host = fegetround();

    fesetround(FE_TOWARDZERO);
    feclearexcept(FE_ALL_EXCEPT);
    switch (op) {
    case REF_ADD:
        r = a + b;
        break;
    case REF_MUL:
        r = a * b;
        break;
    case REF_DIV:
        r = a / b;
        break;
    default: /* 64 digits are enough */
        root = (long double)a;
        root = sqrtl(root);
        r = root;
        break;
    }
    r = to_odd(r);
    fesetround(host);
    return r;
}

static uint64_t invalid(const RefFormat *f, unsigned *flags)
{
    *flags |= REF_NV;
    return ref_nan(f);
}

/* A sum that is exactly zero has a sign of its own. */
static uint64_t sum(const RefFormat *f, unsigned rm, Wide x, bool x_minus,
                    Wide y, bool y_minus, unsigned *flags)
{
    Wide r = wide_op(REF_ADD, x, y);

    if (r == 0) {
        bool minus = x == 0 && x_minus == y_minus ? x_minus : rm == REF_RDN;

        return minus ? sign_mask(f) : 0;
    }
    return narrow(f, rm, r, flags);
}

static uint64_t add(const RefFormat *f, unsigned rm, uint64_t a, uint64_t b,
                    unsigned *flags)
{
    if (is_inf(f, a) || is_inf(f, b)) {
        if (is_inf(f, a) && is_inf(f, b) && a != b) {
            return invalid(f, flags);
        }
        return is_inf(f, a) ? a : b;
    }
    return sum(f, rm, widen(f, a), negative(f, a), widen(f, b), negative(f, b),
               flags);
}

static uint64_t mul(const RefFormat *f, unsigned rm, uint64_t a, uint64_t b,
                    unsigned *flags)
{
    uint64_t sign = (a ^ b) & sign_mask(f);

    if (is_inf(f, a) || is_inf(f, b)) {
        return is_zero(f, a) || is_zero(f, b) ? invalid(f, flags)
                                              : sign | infinity(f);
    }
    if (is_zero(f, a) || is_zero(f, b)) {
        return sign;
    }
    return narrow(f, rm, wide_op(REF_MUL, widen(f, a), widen(f, b)), flags);
}

static uint64_t divide(const RefFormat *f, unsigned rm, uint64_t a, uint64_t b,
                       unsigned *flags)
{
    uint64_t sign = (a ^ b) & sign_mask(f);

    if ((is_inf(f, a) && is_inf(f, b)) || (is_zero(f, a) && is_zero(f, b))) {
        return invalid(f, flags);
    }
    if (is_inf(f, a) || is_zero(f, b)) {
        *flags |= is_inf(f, a) ? 0 : REF_DZ;
        return sign | infinity(f);
    }
    if (is_zero(f, a) || is_inf(f, b)) {
        return sign;
    }
    return narrow(f, rm, wide_op(REF_DIV, widen(f, a), widen(f, b)), flags);
}

static uint64_t root(const RefFormat *f, unsigned rm, uint64_t a,
                     unsigned *flags)
{
    if (is_zero(f, a) || a == infinity(f)) {
        return a;
    }
    if (negative(f, a)) {
        return invalid(f, flags);
    }
    return narrow(f, rm, wide_op(REF_SQRT, widen(f, a), 0), flags);
}

static uint64_t fma_ref(const RefFormat *f, unsigned rm, uint64_t a, uint64_t b,
                        uint64_t c, unsigned *flags)
{
    uint64_t sign = (a ^ b) & sign_mask(f);
    Wide product;

    if (is_inf(f, a) || is_inf(f, b)) {
        return add(f, rm, sign | infinity(f), c, flags);
    }
    if (is_inf(f, c)) {
        return c;
    }
    product = widen(f, a) * widen(f, b); /* exact */
    return sum(f, rm, product, sign, widen(f, c), negative(f, c), flags);
}

uint64_t ref_arith(const RefFormat *f, RefOp op, unsigned rm, uint64_t a,
                   uint64_t b, uint64_t c, unsigned *flags)
{
    bool two = op != REF_SQRT, three = op >= REF_MADD;

    if (three && ((is_inf(f, a) && is_zero(f, b)) ||
                  (is_zero(f, a) && is_inf(f, b)))) {
        *flags |= signals(f, c) ? REF_NV : 0;
        return invalid(f, flags);
    }
    if (is_nan(f, a) || (two && is_nan(f, b)) || (three && is_nan(f, c))) {
        *flags |= signals(f, a) || (two && signals(f, b)) ||
                  (three && signals(f, c)) ? REF_NV : 0;
        return ref_nan(f);
    }
    switch (op) {
    case REF_ADD:
        return add(f, rm, a, b, flags);
    case REF_SUB:
        return add(f, rm, a, b ^ sign_mask(f), flags);
    case REF_MUL:
        return mul(f, rm, a, b, flags);
    case REF_DIV:
        return divide(f, rm, a, b, flags);
    case REF_SQRT:
        return root(f, rm, a, flags);
    case REF_MADD:
        return fma_ref(f, rm, a, b, c, flags);
    case REF_MSUB:
        return fma_ref(f, rm, a, b, c ^ sign_mask(f), flags);
    case REF_NMSUB:
        return fma_ref(f, rm, a ^ sign_mask(f), b, c, flags);
    default:
        return fma_ref(f, rm, a ^ sign_mask(f), b, c ^ sign_mask(f), flags);
    }
}

/* ---- conversions */

uint64_t ref_convert(const RefFormat *to, const RefFormat *from, unsigned rm,
                     uint64_t a, unsigned *flags)
{
    uint64_t sign = negative(from, a) ? sign_mask(to) : 0;

    if (is_nan(from, a)) {
        *flags |= signals(from, a) ? REF_NV : 0;
        return ref_nan(to);
    }
    if (is_inf(from, a) || is_zero(from, a)) {
        return sign | (is_zero(from, a) ? 0 : infinity(to));
    }
    return narrow(to, rm, widen(from, a), flags);
}

/* Bounds of the integer type, as magnitudes. */
static uint64_t most(int width, bool is_signed, bool minus)
{
    uint64_t top = 1ull << (width - 1);

    if (is_signed) {
        return minus ? top : top - 1;
    }
    return minus ? 0 : top | (top - 1);
}

static uint64_t extend(uint64_t value, int width)
{
    return width == 32 ? (uint64_t)(int64_t)(int32_t)value : value;
}

uint64_t ref_to_int(const RefFormat *f, unsigned rm, uint64_t a, int width,
                    bool is_signed, unsigned *flags)
{
    bool minus = negative(f, a) && !is_nan(f, a), inexact = false;
    uint64_t limit = most(width, is_signed, minus);
    u128 bits, n = 0;

    if (is_nan(f, a) || is_inf(f, a)) {
        *flags |= REF_NV;
        return extend(minus ? -limit : limit, width);
    }
    if (!is_zero(f, a)) {
        int e;

        bits = wide_bits(widen(f, a));
        e = (int)(bits >> 112 & 0x7fff) - WIDE_BIAS;
        bits = (bits & (((u128)1 << 112) - 1)) | (u128)1 << 112;
        n = e > 80 ? (u128)1 << 100
                   : shift_round(bits, 112 - e, rm, minus, &inexact);
    }
    if (n > limit) {
        *flags |= REF_NV;
        n = limit;
    } else {
        *flags |= inexact ? REF_NX : 0;
    }
    return extend(minus ? -(uint64_t)n : (uint64_t)n, width);
}

uint64_t ref_from_int(const RefFormat *f, unsigned rm, uint64_t a, int width,
                      bool is_signed, unsigned *flags)
{
    Wide w;

    if (width == 32) {
        w = is_signed ? (Wide)(int32_t)a : (Wide)(uint32_t)a;
    } else {
        w = is_signed ? (Wide)(int64_t)a : (Wide)a;
    }
    return w == 0 ? 0 : narrow(f, rm, w, flags);
}

/* ---- what does not round */

uint64_t ref_compare(const RefFormat *f, bool less, bool equal, bool quiet,
                     uint64_t a, uint64_t b, unsigned *flags)
{
    Wide x, y;

    if (is_nan(f, a) || is_nan(f, b)) {
        *flags |= !quiet || signals(f, a) || signals(f, b) ? REF_NV : 0;
        return 0;
    }
    if (is_inf(f, a) || is_inf(f, b)) {
        int s = is_inf(f, a) ? (negative(f, a) ? -1 : 1) : 0;
        int t = is_inf(f, b) ? (negative(f, b) ? -1 : 1) : 0;

        return (less && s < t) || (equal && s == t);
    }
    x = widen(f, a);
    y = widen(f, b);
    return (less && x < y) || (equal && x == y);
}

uint64_t ref_minmax(const RefFormat *f, bool max, uint64_t a, uint64_t b,
                    unsigned *flags)
{
    bool below;

    *flags |= signals(f, a) || signals(f, b) ? REF_NV : 0;
    if (is_nan(f, a) || is_nan(f, b)) {
        return !is_nan(f, a) ? a : !is_nan(f, b) ? b : ref_nan(f);
    }
    if (negative(f, a) != negative(f, b)) {
        below = negative(f, a);
    } else {
        below = negative(f, a) ? a > b : a < b;
    }
    return below != max ? a : b;
}

uint64_t ref_class(const RefFormat *f, uint64_t a)
{
    bool minus = negative(f, a);
    uint64_t m = magnitude(f, a);

    if (is_nan(f, a)) {
        return signals(f, a) ? 1 << 8 : 1 << 9;
    }
    if (is_inf(f, a)) {
        return minus ? 1 << 0 : 1 << 7;
    }
    if (m == 0) {
        return minus ? 1 << 3 : 1 << 4;
    }
    if (m >> fraction_bits(f) == 0) {
        return minus ? 1 << 2 : 1 << 5;
    }
    return minus ? 1 << 1 : 1 << 6;
}
