// SPDX-License-Identifier: MIT
// Shuffles without masks, 64 lanes wide.
#include "program.h"

__global__ void sums(const int *in, int *out)
{
    int value = in[threadIdx.x];

    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        value += __shfl_down(value, offset);
    }
    if (threadIdx.x % warpSize == 0) {
        out[threadIdx.x / warpSize] = value;
    }
}

__global__ void others(int *out)
{
    int t = threadIdx.x;

    out[t] = __shfl(t, 5) + 1000 * __shfl_xor(t, 32) +
             1000000 * __shfl_up(t, 1, 16);
}

int main()
{
    std::vector<int> in(128);
    hipDeviceProp_t properties;

    CHECK(hipGetDeviceProperties(&properties, 0));
    REQUIRE(properties.warpSize == 64);
    for (int i = 0; i < 128; i++) {
        in[i] = i;
    }
    int *data = device_copy(in), *out = device_new<int>(128);
    sums<<<1, 128>>>(data, out);
    LAUNCHED();
    std::vector<int> got = host_copy(out, 2);
    REQUIRE(got[0] == 2016 && got[1] == 2016 + 64 * 64);
    others<<<1, 128>>>(out);
    LAUNCHED();
    got = host_copy(out, 128);
    for (int t = 0; t < 128; t++) {
        int up = t % 16 ? t - 1 : t;

        REQUIRE(got[t] == t / 64 * 64 + 5 + 1000 * (t ^ 32) + 1000000 * up);
    }
    CHECK(hipFree(data));
    CHECK(hipFree(out));
    return passed();
}
