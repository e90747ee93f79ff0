/* SPDX-License-Identifier: MIT */
/* Mathematics that kernels expect and the C library does not have, or has less
 * exactly. */
#include <stdint.h>

double erf(double x);
double erfc(double x);
double exp(double x);
double log(double x);
double pow(double x, double y);
double sin(double x);


double erfcx(double x);
double erfcinv(double x);
double erfinv(double x);
double normcdf(double x);
double normcdfinv(double x);
double cyl_bessel_i0(double x);
double cyl_bessel_i1(double x);
double __mx_tgamma(double x);

#define NAN __builtin_nan("")
#define INF __builtin_inf()

#define SQRT1_2   0.70710678118654752440
#define SQRT1_2_L -4.8336466567264566e-17 /* what is missing in it */
#define SQRT_PI   1.77245385090551602730

/* exp(-x * x); the product is rounded, what is lost is added. */
static double exp_square(double x, double sign)
{
    double square = x * x, lost = __builtin_fma(x, x, -square);

    return exp(sign * square) * (1 + sign * lost);
}

/* exp(x * x) * erfc(x) */
double erfcx(double x)
{
    double tail = 0;

    if (x < 8) {
        return x < -27 ? INF : exp_square(x, 1) * erfc(x);
    }
    if (x > 1e8) {
        return 1 / SQRT_PI / x;
    }
    for (int k = 24; k; k--) { /* a continued fraction */
        tail = 0.5 * k / (x + tail);
    }
    return 1 / SQRT_PI / (x + tail);
}

/*
 * The y with erfc(y) = x, 0 < x <= 1: an estimate, then Halley's steps on
 * erfc, whose small values are exact in relation to their size.
 */
static double inverse_erfc(double x)
{
    double y, l = -log(x);

    if (x > 0.1) {
        double e = 1 - x;

        y = e * SQRT_PI / 2 * (1 + e * e * (0.2618 + e * e * 0.35));
    } else {
        y = __builtin_sqrt(l - 0.5 * log(l * 3.2));
    }
    for (int i = 0; i < 5; i++) {
        double slope = -2 / SQRT_PI * exp_square(y, -1);
        double step = (erfc(y) - x) / slope;

        y -= step / (1 + y * step);
    }
    return y;
}

double erfcinv(double x)
{
    if (!(x >= 0 && x <= 2)) {
        return NAN;
    }
    if (x == 0 || x == 2) {
        return x ? -INF : INF;
    }
    if (x > 0.9 && x < 1.1) {
        return erfinv(1 - x); /* exact */
    }
    return x <= 1 ? inverse_erfc(x) : -inverse_erfc(2 - x);
}

double erfinv(double x)
{
    double a = __builtin_fabs(x), y;

    if (!(a <= 1)) {
        return NAN;
    }
    if (a == 1) {
        return __builtin_copysign(INF, x);
    }
    if (a > 0.5) {
        return __builtin_copysign(inverse_erfc(1 - a), x);
    }
    if (a < 1e-8) {
        return x * (SQRT_PI / 2);
    }
    y = a * SQRT_PI / 2 * (1 + a * a * (0.2618 + a * a * 0.15));
    for (int i = 0; i < 4; i++) {
        double slope = 2 / SQRT_PI * exp_square(y, -1);
        double step = (erf(y) - a) / slope;

        y -= step / (1 + y * step);
    }
    return __builtin_copysign(y, x);
}

double normcdf(double x)
{
    double z = -x * SQRT1_2, lost, r;

    if (x > 40) {
        return 1;
    }
    if (x < -40) {
        return x == x ? 0 : x;
    }
    r = erfc(z);
    if (z > 0.5) {
        /* erfc's slope over its value, times what is missing in z */
        lost = __builtin_fma(-x, SQRT1_2, -z) - x * SQRT1_2_L;
        r -= 2 / SQRT_PI / erfcx(z) * r * lost;
    }
    return 0.5 * r;
}

double normcdfinv(double x)
{
    return -1.41421356237309504880 * erfcinv(2 * x);
}

/* By Stirling's formula, for x >= 12; less overflow on the way. */
static double gamma_large(double x)
{
    double r = 1 / x, q = r * r, power = pow(x, 0.5 * x - 0.25);
    double tail = r * (1.0 / 12 + q * (-1.0 / 360 + q * (1.0 / 1260 +
                  q * (-1.0 / 1680 + q * (1.0 / 1188 - q * 691 / 360360)))));

    return 2.50662827463100050242 * exp(tail) * (power * exp(-x)) * power;
}

/* x > 0; apart from __mx_tgamma() so that neither is recursive: the stack that a
 * kernel needs stays known. */
static double gamma_positive(double x)
{
    double product = 1;

    if (x > 172) {
        return INF;
    }
    if (x < 12) { /* gamma(x + n) / (x (x + 1) ...); x + n is rounded */
        int n = 12 - (int)x;
        double y = x + n, lost = x - (y - n);

        for (int k = 0; k < n; k++) {
            product *= x + k;
        }
        product *= 1 - lost * (log(y) - 0.5 / y);
        return gamma_large(y) / product;
    }
    return gamma_large(x);
}

static double gamma_reflected(double x)
{
    const double pi = 3.14159265358979323846;
    double near = __builtin_rint(x), y = 1 - x, lost = -x - (y - 1);
    double r = pi / sin(pi * (x - near)); /* the distance is exact */

    r = (long)near % 2 ? -r : r;
    r *= 1 - lost * (log(y) - 0.5 / y); /* y is rounded */
    while (y > 171) {
        y -= 1;
        r /= y;
    }
    return r / gamma_positive(y);
}

double __mx_tgamma(double x)
{
    if (x != x || x == INF) {
        return x;
    }
    if (x == 0) {
        return 1 / x;
    }
    if (x < 0 && x == __builtin_floor(x)) {
        return NAN; /* poles, and -infinity */
    }
    if (x < -190) {
        return (long)__builtin_floor(x) % 2 ? -0.0 : 0.0;
    }
    if (x < 0) {
        return gamma_reflected(x);
    }
    return gamma_positive(x);
}

/* Sum of (x * x / 4)^k / (k! (k + n)!) */
static double series(double x, int n)
{
    double q = 0.25 * x * x, term = 1, sum = 1;

    for (int k = 1; k < 80 && term > sum * 1e-17; k++) {
        term *= q / ((double)k * (k + n));
        sum += term;
    }
    return sum;
}

/* exp(x) / sqrt(2 pi x) times a series in 1 / x, for large x */
static double large(double x, double mu)
{
    double term = 1, sum = 1;

    for (int k = 1; k < 30; k++) {
        double odd = 2 * k - 1, next = term * (odd * odd - mu) / (8 * k * x);

        if (__builtin_fabs(next) < 1e-18 ||
            __builtin_fabs(next) > __builtin_fabs(term)) {
            break;
        }
        sum += term = next;
    }
    if (x > 709) { /* exp(x) alone is too large */
        double half = exp(0.5 * x);

        return half * (sum / __builtin_sqrt(6.28318530717958647692 * x)) *
               half;
    }
    return exp(x) * (sum / __builtin_sqrt(6.28318530717958647692 * x));
}

double cyl_bessel_i0(double x)
{
    x = __builtin_fabs(x);
    return x > 20 ? x > 720 ? INF : large(x, 0) : series(x, 0);
}

double cyl_bessel_i1(double x)
{
    double a = __builtin_fabs(x);

    if (a > 20) {
        return __builtin_copysign(a > 720 ? INF : large(a, 4), x);
    }
    return 0.5 * x * series(a, 1);
}
