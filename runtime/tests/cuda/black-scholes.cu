// SPDX-License-Identifier: MIT
// Prices of options; put and call agree with each other.
#include "program.h"

__host__ __device__ static void price(float s, float x, float t, float *call,
                                      float *put)
{
    const float r = 0.02f, v = 0.30f;
    float d1 = (logf(s / x) + (r + 0.5f * v * v) * t) / (v * sqrtf(t));
    float d2 = d1 - v * sqrtf(t);
    float n1 = 0.5f * erfcf(-d1 * 0.70710678f);
    float n2 = 0.5f * erfcf(-d2 * 0.70710678f);
    float e = expf(-r * t);

    *call = s * n1 - x * e * n2;
    *put = x * e * (1 - n2) - s * (1 - n1);
}

__global__ void prices(const float3 *options, float2 *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        price(options[i].x, options[i].y, options[i].z, &out[i].x, &out[i].y);
    }
}

int main()
{
    const int n = 2000;
    std::vector<float3> options(n);
    Random random(15);

    for (auto &o : options) {
        o = make_float3(5 + 25 * random.real(), 1 + 99 * random.real(),
                        0.25f + 9.75f * random.real());
    }
    float3 *in = device_copy(options);
    float2 *out = device_new<float2>(n);
    prices<<<4, 128>>>(in, out, n);
    LAUNCHED();
    std::vector<float2> got = host_copy(out, n);
    for (int i = 0; i < n; i++) {
        float call, put;
        const float3 o = options[i];

        price(o.x, o.y, o.z, &call, &put);
        REQUIRE(near(got[i].x, call, 1e-4) && near(got[i].y, put, 1e-4));
        double parity = got[i].x - got[i].y - o.x +
                        o.y * std::exp(-0.02 * o.z);
        REQUIRE(std::fabs(parity) < 1e-3);
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return passed();
}
