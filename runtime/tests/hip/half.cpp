// SPDX-License-Identifier: MIT
// hip_fp16.h: arithmetic and pairs.
#include "program.h"

#include <hip/hip_fp16.h>

__global__ void axpy(const __half *x, __half *y, int n)
{
    int i = threadIdx.x;

    if (i < n) {
        y[i] = __hadd(__hmul(x[i], __float2half(2.0f)), y[i]);
    }
}

__global__ void pairs(const __half2 *x, float *out)
{
    __half2 v = __hfma2(x[threadIdx.x], x[threadIdx.x], x[threadIdx.x]);

    out[2 * threadIdx.x] = __low2float(v);
    out[2 * threadIdx.x + 1] = __high2float(v);
}

int main()
{
    std::vector<__half> x(64), y(64);

    for (int i = 0; i < 64; i++) {
        x[i] = __float2half(i * 0.5f);
        y[i] = __float2half(-1.0f);
    }
    __half *dx = device_copy(x), *dy = device_copy(y);
    float *out = device_new<float>(64);
    axpy<<<1, 64>>>(dx, dy, 64);
    pairs<<<1, 16>>>((const __half2 *)dx, out);
    LAUNCHED();
    y = host_copy(dy, 64);
    std::vector<float> f = host_copy(out, 32);
    for (int i = 0; i < 64; i++) {
        REQUIRE(__half2float(y[i]) == i - 1.0f);
        REQUIRE(i >= 32 || f[i] == 0.25f * i * i + 0.5f * i);
    }
    CHECK(hipFree(dx));
    CHECK(hipFree(dy));
    CHECK(hipFree(out));
    return passed();
}
