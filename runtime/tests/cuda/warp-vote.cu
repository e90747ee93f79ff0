// SPDX-License-Identifier: MIT
// Votes, also of the lanes that took one way.
#include "program.h"

__global__ void votes(int *out, int n)
{
    int t = threadIdx.x, lane = t % warpSize;
    const auto all = __activemask();
    unsigned long long odd = __ballot_sync(all, lane % 2);

    out[t] = __popcll(odd);
    out[n + t] = __any_sync(all, lane == 7) * 2 + __all_sync(all, lane < 7);
    out[2 * n + t] = __all_sync(all, t >= 0);
    if (lane % 4 == 1) {
        out[3 * n + t] = __popcll(__activemask());
    } else {
        out[3 * n + t] = -__popcll(__activemask());
    }
    out[4 * n + t] = __syncthreads_count(t % 3 == 0);
    int any = __syncthreads_or(t == 100), each = __syncthreads_and(t);
    out[5 * n + t] = 2 * (any != 0) + (each != 0);
}

int main()
{
    const int n = 128;
    cudaDeviceProp properties;
    int *data = device_new<int>(6 * n);

    CHECK(cudaGetDeviceProperties(&properties, 0));
    const int warp = properties.warpSize;
    votes<<<1, n>>>(data, n);
    LAUNCHED();
    std::vector<int> out = host_copy(data, 6 * n);
    for (int t = 0; t < n; t++) {
        REQUIRE(out[t] == warp / 2);
        REQUIRE(out[n + t] == 2);
        REQUIRE(out[2 * n + t] == 1);
        REQUIRE(out[3 * n + t] == (t % 4 == 1 ? warp / 4 : -3 * warp / 4));
        REQUIRE(out[4 * n + t] == (n + 2) / 3);
        REQUIRE(out[5 * n + t] == 2);
    }
    CHECK(cudaFree(data));
    return passed();
}
