// SPDX-License-Identifier: MIT
// A histogram by atomics in shared memory.
#include "program.h"

__global__ void histogram(const unsigned char *in, int n, unsigned *bins)
{
    __shared__ unsigned local[64];

    if (threadIdx.x < 64) {
        local[threadIdx.x] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        atomicAdd(&local[in[i] / 4], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
    }
}

int main()
{
    const int n = 20000;
    std::vector<unsigned char> in(n);
    std::vector<unsigned> want(64);
    Random random(21);

    for (auto &x : in) {
        x = random.next();
        want[x / 4]++;
    }
    unsigned char *data = device_copy(in);
    unsigned *bins = device_new<unsigned>(64);
    CHECK(hipMemset(bins, 0, 64 * sizeof(unsigned)));
    histogram<<<6, 128>>>(data, n, bins);
    LAUNCHED();
    REQUIRE(host_copy(bins, 64) == want);
    CHECK(hipFree(data));
    CHECK(hipFree(bins));
    return passed();
}
