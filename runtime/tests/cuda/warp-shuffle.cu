// SPDX-License-Identifier: MIT
// Shuffles, for whatever warpSize is.
#include "program.h"

__global__ void shuffles(int *out, int n)
{
    int t = threadIdx.x, lane = t % warpSize, value = 10 * t;
    const auto all = __activemask();

    out[t] = __shfl_sync(all, value, 3);
    out[n + t] = __shfl_up_sync(all, value, 1);
    out[2 * n + t] = __shfl_down_sync(all, value, 2);
    out[3 * n + t] = __shfl_xor_sync(all, value, 5);
    out[4 * n + t] = __shfl_sync(all, value, lane + 1, 8);
    out[5 * n + t] = (int)__shfl_xor_sync(all, 0.5 * t, 1);
}

__global__ void warp_sum(const float *in, float *out)
{
    float sum = in[threadIdx.x];

    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(__activemask(), sum, offset);
    }
    if (threadIdx.x % warpSize == 0) {
        out[threadIdx.x / warpSize] = sum;
    }
}

int main()
{
    const int n = 128;
    cudaDeviceProp properties;
    int *data = device_new<int>(6 * n);

    CHECK(cudaGetDeviceProperties(&properties, 0));
    const int warp = properties.warpSize;
    shuffles<<<1, n>>>(data, n);
    LAUNCHED();
    std::vector<int> out = host_copy(data, 6 * n);
    for (int t = 0; t < n; t++) {
        int lane = t % warp, base = t - lane;

        REQUIRE(out[t] == 10 * (base + 3));
        REQUIRE(out[n + t] == 10 * (lane ? t - 1 : t));
        REQUIRE(out[2 * n + t] == 10 * (lane + 2 < warp ? t + 2 : t));
        REQUIRE(out[3 * n + t] == 10 * (base + (lane ^ 5)));
        REQUIRE(out[4 * n + t] == 10 * (t / 8 * 8 + (lane + 1) % 8));
        REQUIRE(out[5 * n + t] == (int)(0.5 * (t ^ 1)));
    }
    std::vector<float> in(n);
    for (int i = 0; i < n; i++) {
        in[i] = i;
    }
    float *from = device_copy(in), *sums = device_new<float>(n / warp);
    warp_sum<<<1, n>>>(from, sums);
    LAUNCHED();
    std::vector<float> got = host_copy(sums, n / warp);
    for (int w = 0; w < n / warp; w++) {
        REQUIRE(got[w] == warp * (w * warp) + warp * (warp - 1) / 2);
    }
    CHECK(cudaFree(data));
    CHECK(cudaFree(from));
    CHECK(cudaFree(sums));
    return passed();
}
