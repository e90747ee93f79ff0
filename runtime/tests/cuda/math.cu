// SPDX-License-Identifier: MIT
// Mathematical functions of both precisions against the host's.
#include "program.h"

#define FUNCTIONS(F)                                                           \
    F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh)       \
    F(exp) F(exp2) F(expm1) F(log) F(log2) F(log10) F(log1p) F(sqrt) F(cbrt)   \
    F(erf) F(erfc) F(tgamma) F(lgamma) F(floor) F(ceil) F(trunc) F(round)      \
    F(rint) F(fabs)

enum {
#define COUNT(f) f##_number,
    FUNCTIONS(COUNT)
#undef COUNT
    numbers
};

template <typename T> __global__ void unary(const T *x, T *y)
{
    const T v = x[threadIdx.x];
    T *out = y + threadIdx.x * numbers;
    int i = 0;

#define CALL(f) out[i++] = f(v);
    FUNCTIONS(CALL)
#undef CALL
}

__global__ void more(double *d, float *f)
{
    double s, c;
    int e;

    d[0] = pow(2.5, 3.5);
    d[1] = fma(3.0, 4.0, 0.5);
    d[2] = hypot(3.0, 4.0);
    d[3] = atan2(-1.0, -1.0);
    d[4] = fmod(10.5, 3.0);
    d[5] = rsqrt(16.0);
    sincos(0.5, &s, &c);
    d[6] = s * s + c * c;
    d[7] = frexp(40.0, &e);
    d[7] += e;
    d[8] = ldexp(0.75, 4);
    d[9] = copysign(3.0, -0.0);
    d[10] = sinpi(0.5) + cospi(1.0);
    d[11] = fmax(1.0, NAN) + fmin(NAN, 2.0);
    d[12] = norm3d(2.0, 3.0, 6.0);
    d[13] = isnan(NAN) + 2 * isinf(INFINITY) + 4 * !isfinite(1.0);
    f[0] = powf(2.0f, 10.0f);
    f[1] = fmaf(3, 4, 0.5f);
    f[2] = rsqrtf(4.0f);
    f[3] = __expf(1.0f);
    f[4] = __logf(10.0f);
    f[5] = __sinf(0.5f);
    f[6] = __fdividef(1.0f, 8.0f);
    f[7] = __fmul_rn(3.0f, 5.0f) + __fadd_rn(1.0f, 0.5f);
    f[8] = __saturatef(1.5f) + __saturatef(-2.0f);
    f[9] = __powf(2.0f, 3.0f);
    f[10] = fdimf(5.0f, 3.0f) + remainderf(7.0f, 4.0f);
    f[11] = normcdff(0.0f);
}

template <typename T> static void run(double tolerance)
{
    const int n = 32;
    std::vector<T> x(n);

    for (int i = 0; i < n; i++) {
        x[i] = T(i + 1) / 33;
    }
    T *in = device_copy(x), *out = device_new<T>(n * numbers);
    unary<T><<<1, n>>>(in, out);
    LAUNCHED();
    std::vector<T> y = host_copy(out, n * numbers);
    for (int i = 0; i < n; i++) {
#define COMPARE(f)                                                             \
    if (!near(y[i * numbers + f##_number], std::f((double)x[i]), tolerance)) { \
        fprintf(stderr, "%s(%g) = %g\n", #f, (double)x[i],                     \
                (double)y[i * numbers + f##_number]);                          \
        exit(1);                                                               \
    }
        FUNCTIONS(COMPARE)
#undef COMPARE
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}

int main()
{
    run<float>(2e-6);
    run<double>(1e-14);
    double *d = device_new<double>(14);
    float *f = device_new<float>(12);
    more<<<1, 1>>>(d, f);
    LAUNCHED();
    const double want[14] = {
        std::pow(2.5, 3.5), 12.5, 5, std::atan2(-1, -1), 1.5, 0.25, 1,
        6.625, 12, -3, 0, 3, 7, 3,
    };
    const double single[12] = {
        1024, 12.5, 0.5, std::exp(1), std::log(10), std::sin(0.5), 0.125,
        16.5, 1, 8, 1, 0.5,
    };
    std::vector<double> dd = host_copy(d, 14);
    std::vector<float> ff = host_copy(f, 12);
    for (int i = 0; i < 14; i++) {
        REQUIRE(near(dd[i], want[i], 1e-15));
    }
    for (int i = 0; i < 12; i++) {
        REQUIRE(near(ff[i], single[i], 1e-6));
    }
    CHECK(cudaFree(d));
    CHECK(cudaFree(f));
    return passed();
}
