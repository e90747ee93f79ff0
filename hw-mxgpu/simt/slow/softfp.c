/* SPDX-License-Identifier: MIT */
#include "softfp.h"

typedef unsigned __int128 u128;

typedef struct Layout {
    int frac, bias, max; /* fraction bits, exponent bias, exponent of inf */
} Layout;

static const Layout layouts[] = {
    [FP_H] = { 10, 15, 31 },
    [FP_S] = { 23, 127, 255 },
    [FP_D] = { 52, 1023, 2047 },
    [FP_BF] = { 7, 127, 255 },
};

/* A finite value is sig * 2^exp. */
typedef enum Kind { FINITE, INFINITE, QUIET, SIGNALLING } Kind;
typedef struct Value {
    Kind kind;
    bool sign;
    int exp;
    u128 sig;
} Value;

static int high_bit(u128 x)
{
    uint64_t high = (uint64_t)(x >> 64);

    return high ? 127 - __builtin_clzll(high)
                : 63 - __builtin_clzll((uint64_t)x);
}

uint64_t fp_sign_bit(FpFormat fmt)
{
    return (uint64_t)(layouts[fmt].max + 1) << layouts[fmt].frac;
}

static uint64_t infinity(FpFormat fmt, bool sign)
{
    const Layout *l = &layouts[fmt];

    return (uint64_t)l->max << l->frac | (sign ? fp_sign_bit(fmt) : 0);
}

static uint64_t zero(FpFormat fmt, bool sign)
{
    return sign ? fp_sign_bit(fmt) : 0;
}

uint64_t fp_canonical_nan(FpFormat fmt)
{
    return infinity(fmt, false) | 1ull << (layouts[fmt].frac - 1);
}

static Value unpack(FpFormat fmt, uint64_t bits)
{
    const Layout *l = &layouts[fmt];
    uint64_t frac = bits & ((1ull << l->frac) - 1);
    int exp = (int)(bits >> l->frac) & l->max;
    Value v = { FINITE, (bits & fp_sign_bit(fmt)) != 0, 0, frac };

    if (exp == l->max) {
        v.kind = !frac                   ? INFINITE
                 : frac >> (l->frac - 1) ? QUIET
                                         : SIGNALLING;
    } else if (exp == 0) {
        v.exp = 1 - l->bias - l->frac;
    } else {
        v.exp = exp - l->bias - l->frac;
        v.sig = frac | 1ull << l->frac;
    }
    return v;
}

/* Moves the highest bit of a finite nonzero value to the given place. */
static void normalise(Value *v, int place)
{
    int shift = place - high_bit(v->sig);

    v->sig <<= shift;
    v->exp -= shift;
}

/* ---- rounding */

/* sig >> shift, rounded; *inexact when bits were lost. */
static u128 round_shift(u128 sig, int shift, bool sign, unsigned rm,
                        bool *inexact)
{
    u128 rest, half, kept;
    bool up;

    *inexact = false;
    if (shift <= 0) {
        return sig << -shift;
    }
    if (shift > 127) { /* less than half of the last place */
        shift = 127;
        sig = sig != 0;
    }
    kept = sig >> shift;
    rest = sig - (kept << shift);
    half = (u128)1 << (shift - 1);
    *inexact = rest != 0;
    switch (rm) {
    case FP_RNE:
        up = rest > half || (rest == half && (kept & 1));
        break;
    case FP_RMM:
        up = rest >= half;
        break;
    case FP_RDN:
        up = sign && rest;
        break;
    case FP_RUP:
        up = !sign && rest;
        break;
    default:
        up = false;
        break;
    }
    return kept + up;
}

static uint64_t overflow(FpEnv *env, FpFormat fmt, bool sign)
{
    bool to_infinity = env->rm == FP_RNE || env->rm == FP_RMM ||
                       env->rm == (sign ? FP_RDN : FP_RUP);

    env->flags |= FP_OF | FP_NX;
    return infinity(fmt, sign) - !to_infinity;
}

/*
 * The encoding of a finite value, its sig possibly with a jammed low bit far
 * below the last place (see jam_right).
 */
static uint64_t pack(FpEnv *env, FpFormat fmt, bool sign, int exp, u128 sig)
{
    const Layout *l = &layouts[fmt];
    int top, least = 1 - l->bias; /* exponent of the smallest normal */
    bool inexact, ignored, tiny;
    uint64_t result;

    if (sig == 0) {
        return zero(fmt, sign);
    }
    top = high_bit(sig) + exp;
    tiny = top < least;
    if (top == least - 1) {
        /* Tiny only if it stays below with an unbounded exponent. */
        u128 r = round_shift(sig, top - l->frac - exp, sign, env->rm, &ignored);
        tiny = r >> (l->frac + 1) == 0;
    }
    if (top < least) {
        top = least;
    }
    sig = round_shift(sig, top - l->frac - exp, sign, env->rm, &inexact);
    if (sig >> (l->frac + 1)) {
        sig >>= 1;
        top++;
    }
    if (top > l->bias) {
        return overflow(env, fmt, sign);
    }
    if (inexact) {
        env->flags |= FP_NX | (tiny ? FP_UF : 0);
    }
    /* A subnormal has no bit at frac, and exponent field 0. */
    result = (uint64_t)sig;
    if (sig >> l->frac) {
        result += (uint64_t)(top + l->bias - 1) << l->frac;
    }
    return result | (sign ? fp_sign_bit(fmt) : 0);
}

/* x >> shift with all lost bits or'ed into the lowest kept one. */
static u128 jam_right(u128 x, int shift)
{
    if (shift > 127) {
        return x != 0;
    }
    return x >> shift | ((x & (((u128)1 << shift) - 1)) != 0);
}

/* ---- NaNs */

static bool is_nan(const Value *v)
{
    return v->kind == QUIET || v->kind == SIGNALLING;
}

static uint64_t invalid(FpEnv *env, FpFormat fmt)
{
    env->flags |= FP_NV;
    return fp_canonical_nan(fmt);
}

/* Whether an operand is a NaN; a signalling one is an invalid operation. */
static bool any_nan(FpEnv *env, const Value *a, const Value *b)
{
    if (a->kind == SIGNALLING || b->kind == SIGNALLING) {
        env->flags |= FP_NV;
    }
    return is_nan(a) || is_nan(b);
}

/* ---- arithmetic */

/* The sum of finite values, each with sig below 2^127. */
static uint64_t add_finite(FpEnv *env, FpFormat fmt, Value a, Value b)
{
    int room;

    if (a.sig == 0 && b.sig == 0) {
        return zero(fmt, a.sign == b.sign ? a.sign : env->rm == FP_RDN);
    }
    if (a.sig == 0) {
        return pack(env, fmt, b.sign, b.exp, b.sig);
    }
    if (b.sig == 0) {
        return pack(env, fmt, a.sign, a.exp, a.sig);
    }
    if (a.exp < b.exp) {
        Value t = a;
        a = b;
        b = t;
    }
    room = 126 - high_bit(a.sig);
    if (room > a.exp - b.exp) {
        room = a.exp - b.exp;
    }
    a.sig <<= room;
    a.exp -= room;
    b.sig = jam_right(b.sig, a.exp - b.exp);
    if (a.sign == b.sign) {
        return pack(env, fmt, a.sign, a.exp, a.sig + b.sig);
    }
    if (a.sig == b.sig) {
        return zero(fmt, env->rm == FP_RDN);
    }
    return a.sig > b.sig ? pack(env, fmt, a.sign, a.exp, a.sig - b.sig)
                         : pack(env, fmt, b.sign, a.exp, b.sig - a.sig);
}

uint64_t fp_add(FpEnv *env, FpFormat fmt, uint64_t abits, uint64_t bbits)
{
    Value a = unpack(fmt, abits), b = unpack(fmt, bbits);

    if (any_nan(env, &a, &b)) {
        return fp_canonical_nan(fmt);
    }
    if (a.kind == INFINITE) {
        return b.kind == INFINITE && a.sign != b.sign ? invalid(env, fmt)
                                                      : abits;
    }
    return b.kind == INFINITE ? bbits : add_finite(env, fmt, a, b);
}

uint64_t fp_sub(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b)
{
    return fp_add(env, fmt, a, b ^ fp_sign_bit(fmt));
}

/* The exact product of values that are not NaNs and not 0 times infinity. */
static Value product(FpFormat fmt, Value a, Value b)
{
    Value p = { FINITE, a.sign != b.sign, 0, 0 };

    if (a.kind == INFINITE || b.kind == INFINITE) {
        p.kind = INFINITE;
    } else if (a.sig && b.sig) {
        normalise(&a, layouts[fmt].frac);
        normalise(&b, layouts[fmt].frac);
        p.sig = a.sig * b.sig;
        p.exp = a.exp + b.exp;
    }
    return p;
}

static bool zero_times_infinity(const Value *a, const Value *b)
{
    return (a->kind == INFINITE && b->kind == FINITE && b->sig == 0) ||
           (b->kind == INFINITE && a->kind == FINITE && a->sig == 0);
}

uint64_t fp_mul(FpEnv *env, FpFormat fmt, uint64_t abits, uint64_t bbits)
{
    Value a = unpack(fmt, abits), b = unpack(fmt, bbits), p;

    if (any_nan(env, &a, &b)) {
        return fp_canonical_nan(fmt);
    }
    if (zero_times_infinity(&a, &b)) {
        return invalid(env, fmt);
    }
    p = product(fmt, a, b);
    return p.kind == INFINITE ? infinity(fmt, p.sign)
                              : pack(env, fmt, p.sign, p.exp, p.sig);
}

uint64_t fp_fma(FpEnv *env, FpFormat fmt, uint64_t abits, uint64_t bbits,
                uint64_t cbits)
{
    Value a = unpack(fmt, abits), b = unpack(fmt, bbits);
    Value c = unpack(fmt, cbits), p;
    bool nan = any_nan(env, &a, &b);

    nan |= any_nan(env, &c, &c);
    /* 0 * infinity is invalid even when the addend is a quiet NaN. */
    if (zero_times_infinity(&a, &b)) {
        return invalid(env, fmt);
    }
    if (nan) {
        return fp_canonical_nan(fmt);
    }
    p = product(fmt, a, b);
    if (p.kind == INFINITE) {
        return c.kind == INFINITE && c.sign != p.sign
                   ? invalid(env, fmt)
                   : infinity(fmt, p.sign);
    }
    return c.kind == INFINITE ? cbits : add_finite(env, fmt, p, c);
}

uint64_t fp_div(FpEnv *env, FpFormat fmt, uint64_t abits, uint64_t bbits)
{
    Value a = unpack(fmt, abits), b = unpack(fmt, bbits);
    bool sign = a.sign != b.sign;
    u128 quotient;

    if (any_nan(env, &a, &b)) {
        return fp_canonical_nan(fmt);
    }
    if (a.kind == INFINITE) {
        return b.kind == INFINITE ? invalid(env, fmt) : infinity(fmt, sign);
    }
    if (b.kind == INFINITE) {
        return zero(fmt, sign);
    }
    if (b.sig == 0) {
        if (a.sig == 0) {
            return invalid(env, fmt);
        }
        env->flags |= FP_DZ;
        return infinity(fmt, sign);
    }
    if (a.sig == 0) {
        return zero(fmt, sign);
    }
    normalise(&a, 125);
    normalise(&b, 52);
    quotient = a.sig / b.sig;
    quotient |= a.sig % b.sig != 0;
    return pack(env, fmt, sign, a.exp - b.exp, quotient);
}

/* Largest integer whose square is at most x. */
static uint64_t root(u128 x)
{
    uint64_t r = 0;

    for (int bit = 63; bit >= 0; bit--) {
        uint64_t next = r | 1ull << bit;

        if ((u128)next * next <= x) {
            r = next;
        }
    }
    return r;
}

uint64_t fp_sqrt(FpEnv *env, FpFormat fmt, uint64_t abits)
{
    Value a = unpack(fmt, abits);
    uint64_t r;

    if (any_nan(env, &a, &a)) {
        return fp_canonical_nan(fmt);
    }
    if (a.kind == FINITE && a.sig == 0) {
        return abits;
    }
    if (a.sign) {
        return invalid(env, fmt);
    }
    if (a.kind == INFINITE) {
        return abits;
    }
    normalise(&a, 126);
    if (a.exp & 1) {
        a.sig >>= 1; /* its low bits are 0 */
        a.exp++;
    }
    r = root(a.sig);
    /* 63 bits and one below for what the root leaves over. */
    return pack(env, fmt, false, a.exp / 2 - 1,
                (u128)r << 1 | ((u128)r * r != a.sig));
}

/* ---- comparisons */

/* Encodings that are not NaNs, in the order of their values; -0 below +0. */
static int64_t ordered(FpFormat fmt, uint64_t bits)
{
    uint64_t sign = fp_sign_bit(fmt);

    return bits & sign ? -(int64_t)(bits ^ sign) - 1 : (int64_t)bits;
}

static bool both_zero(FpFormat fmt, uint64_t a, uint64_t b)
{
    return ((a | b) & ~fp_sign_bit(fmt)) == 0;
}

bool fp_eq(FpEnv *env, FpFormat fmt, uint64_t abits, uint64_t bbits)
{
    Value a = unpack(fmt, abits), b = unpack(fmt, bbits);

    return !any_nan(env, &a, &b) &&
           (abits == bbits || both_zero(fmt, abits, bbits));
}

static bool unordered(FpEnv *env, FpFormat fmt, uint64_t abits, uint64_t bbits)
{
    Value a = unpack(fmt, abits), b = unpack(fmt, bbits);

    if (is_nan(&a) || is_nan(&b)) {
        env->flags |= FP_NV;
        return true;
    }
    return false;
}

bool fp_lt(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b)
{
    return !unordered(env, fmt, a, b) && !both_zero(fmt, a, b) &&
           ordered(fmt, a) < ordered(fmt, b);
}

bool fp_le(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b)
{
    return !unordered(env, fmt, a, b) &&
           (both_zero(fmt, a, b) || ordered(fmt, a) <= ordered(fmt, b));
}

static uint64_t pick(FpEnv *env, FpFormat fmt, uint64_t abits, uint64_t bbits,
                     bool larger)
{
    Value a = unpack(fmt, abits), b = unpack(fmt, bbits);

    if (any_nan(env, &a, &b)) {
        return is_nan(&a) && is_nan(&b) ? fp_canonical_nan(fmt)
               : is_nan(&a)             ? bbits
                                        : abits;
    }
    return (ordered(fmt, abits) < ordered(fmt, bbits)) == larger ? bbits
                                                                 : abits;
}

uint64_t fp_min(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b)
{
    return pick(env, fmt, a, b, false);
}

uint64_t fp_max(FpEnv *env, FpFormat fmt, uint64_t a, uint64_t b)
{
    return pick(env, fmt, a, b, true);
}

unsigned fp_class(FpFormat fmt, uint64_t bits)
{
    Value v = unpack(fmt, bits);
    unsigned place;

    switch (v.kind) {
    case SIGNALLING:
        return 1u << 8;
    case QUIET:
        return 1u << 9;
    case INFINITE:
        place = 0;
        break;
    default:
        place = v.sig == 0                   ? 3
                : v.sig >> layouts[fmt].frac ? 1
                                             : 2;
        break;
    }
    return 1u << (v.sign ? place : 7 - place);
}

/* ---- conversions */

uint64_t fp_convert(FpEnv *env, FpFormat to, FpFormat from, uint64_t bits)
{
    Value v = unpack(from, bits);

    if (any_nan(env, &v, &v)) {
        return fp_canonical_nan(to);
    }
    return v.kind == INFINITE ? infinity(to, v.sign)
                              : pack(env, to, v.sign, v.exp, v.sig);
}

uint64_t fp_to_int(FpEnv *env, FpFormat fmt, uint64_t bits, unsigned width,
                   bool is_signed)
{
    Value v = unpack(fmt, bits);
    u128 limit = (u128)1 << (width - is_signed), magnitude;
    bool inexact = false, negative = v.sign && !is_nan(&v), fits;

    if (v.kind != FINITE || (v.sig && high_bit(v.sig) + v.exp > 64)) {
        fits = false;
        magnitude = 0;
    } else {
        magnitude = round_shift(v.sig, -v.exp, v.sign, env->rm, &inexact);
        fits = negative ? magnitude <= (is_signed ? limit : 0)
                        : magnitude < limit;
    }
    if (!fits) {
        env->flags |= FP_NV;
        negative = negative && is_signed;
        magnitude = negative ? limit : v.sign && !is_nan(&v) ? 0 : limit - 1;
    } else if (inexact) {
        env->flags |= FP_NX;
    }
    uint64_t result = (uint64_t)magnitude;
    if (negative) {
        result = -result;
    }
    return width == 32 ? (uint64_t)(int32_t)result : result;
}

uint64_t fp_from_int(FpEnv *env, FpFormat fmt, uint64_t a, unsigned width,
                     bool is_signed)
{
    bool negative;

    if (width == 32) {
        a = is_signed ? (uint64_t)(int32_t)a : (uint32_t)a;
    }
    negative = is_signed && (int64_t)a < 0;
    return pack(env, fmt, negative, 0, negative ? -a : a);
}
