// SPDX-License-Identifier: MIT
// bfloat16: rounding, arithmetic, pairs.
#include "program.h"

#include <cuda_bf16.h>

__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *out,
                    int n)
{
    float sum = 0;

    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += __bfloat162float(a[i]) * __bfloat162float(b[i]);
    }
    atomicAdd(out, sum);
}

__global__ void misc(float *out)
{
    __nv_bfloat16 a = __float2bfloat16(1.5f), b = __float2bfloat16(-4.0f);
    __nv_bfloat162 p = __floats2bfloat162_rn(1, 2);

    out[0] = __bfloat162float(__hadd(a, b));
    out[1] = __bfloat162float(__hmul(a, b));
    out[2] = __bfloat162float(__hfma(a, b, a));
    out[3] = __hlt(b, a);
    out[4] = __bfloat162float(__float2bfloat16(1.00390625f)); /* a tie */
    out[5] = __bfloat162float(__float2bfloat16(1.01171875f));
    p = __hmul2(p, p);
    out[6] = __low2float(p) + 10 * __high2float(p);
    out[7] = __bfloat162float(a - b);
}

int main()
{
    const int n = 256;
    std::vector<__nv_bfloat16> a(n), b(n);
    float want = 0;

    for (int i = 0; i < n; i++) {
        a[i] = __float2bfloat16(i % 16);
        b[i] = __float2bfloat16(i % 5 - 2);
        want += (i % 16) * (i % 5 - 2);
    }
    __nv_bfloat16 *da = device_copy(a), *db = device_copy(b);
    float *out = device_new<float>(8);
    CHECK(cudaMemset(out, 0, sizeof(float)));
    dot<<<1, 64>>>(da, db, out, n);
    LAUNCHED();
    REQUIRE(host_copy(out, 1)[0] == want);
    misc<<<1, 1>>>(out);
    LAUNCHED();
    const float expected[8] = {-2.5f, -6, -4.5f, 1, 1, 1.015625f, 41, 5.5f};
    std::vector<float> got = host_copy(out, 8);
    for (int i = 0; i < 8; i++) {
        REQUIRE(got[i] == expected[i]);
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(out));
    return passed();
}
