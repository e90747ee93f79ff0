// SPDX-License-Identifier: MIT
// Clocks of the device go forward.
#include "program.h"

__global__ void timed(long long *out, float *sink, int rounds)
{
    long long begin = clock64();
    clock_t first = clock();
    float x = threadIdx.x;

    for (int i = 0; i < rounds; i++) {
        x = x * 0.999f + 1;
    }
    *sink = x;
    out[threadIdx.x] = clock64() - begin;
    out[blockDim.x + threadIdx.x] = clock() != first;
    __nanosleep(100);
}

int main()
{
    long long *out = device_new<long long>(128);
    float *sink = device_new<float>(1);

    timed<<<1, 64>>>(out, sink, 10000);
    LAUNCHED();
    std::vector<long long> got = host_copy(out, 128);
    for (int i = 0; i < 64; i++) {
        REQUIRE(got[i] > 0 && got[64 + i] == 1);
    }
    CHECK(cudaFree(out));
    CHECK(cudaFree(sink));
    return passed();
}
