// SPDX-License-Identifier: MIT
// Half precision: conversions, arithmetic, pairs.
#include "program.h"

#include <cuda_fp16.h>

__global__ void axpy(const __half *x, __half *y, __half a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        y[i] = __hfma(a, x[i], y[i]);
    }
}

__global__ void pairs(const __half2 *x, __half2 *y, int n)
{
    int i = threadIdx.x;

    if (i < n) {
        __half2 v = __hmul2(x[i], __float2half2_rn(2.0f));

        y[i] = __hadd2(v, __halves2half2(__high2half(x[i]),
                                         __low2half(x[i])));
    }
}

__global__ void misc(float *out)
{
    half a = __float2half(1.5f), b = __int2half_rn(2);

    out[0] = __half2float(a + b);
    out[1] = __half2float(a * b - a / b);
    out[2] = __hlt(a, b) + 2 * __heq(a, a) + 4 * __hgt(a, b);
    out[3] = __half2float(hsqrt(__float2half(2.25f)));
    out[4] = __half2int_rn(__float2half(2.5f));
    out[5] = __half2float(__float2half(70000.0f));
    out[6] = __half_as_ushort(__float2half(1.0f));
    out[7] = __half2float(__hmax(a, b)) + __half2float(__habs(-a));
    out[8] = __half2float(hexp(__float2half(0.0f)));
    out[9] = __hisnan(__ushort_as_half(0x7e00));
}

int main()
{
    const int n = 500;
    std::vector<__half> x(n), y(n);

    for (int i = 0; i < n; i++) {
        x[i] = __float2half(i * 0.25f);
        y[i] = __float2half(1.0f);
    }
    __half *dx = device_copy(x), *dy = device_copy(y);
    axpy<<<2, 256>>>(dx, dy, __float2half(0.5f), n);
    LAUNCHED();
    std::vector<__half> out = host_copy(dy, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(__half2float(out[i]) == 1 + i * 0.125f);
    }
    pairs<<<1, 64>>>((const __half2 *)dx, (__half2 *)dy, 50);
    LAUNCHED();
    out = host_copy(dy, n);
    for (int i = 0; i < 50; i++) {
        float low = 0.5f * i, high = 0.5f * i + 0.25f;

        REQUIRE(__half2float(out[2 * i]) == 2 * low + high);
        REQUIRE(__half2float(out[2 * i + 1]) == 2 * high + low);
    }
    float *results = device_new<float>(10);
    misc<<<1, 1>>>(results);
    LAUNCHED();
    const float want[10] = {3.5f, 2.25f, 3, 1.5f, 2, INFINITY, 0x3c00, 3.5f,
                            1, 1};
    std::vector<float> got = host_copy(results, 10);
    for (int i = 0; i < 10; i++) {
        REQUIRE(got[i] == want[i]);
    }
    CHECK(cudaFree(dx));
    CHECK(cudaFree(dy));
    CHECK(cudaFree(results));
    return passed();
}
