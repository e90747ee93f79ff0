// SPDX-License-Identifier: MIT
// A histogram: atomics in shared memory, then in global memory.
#include "program.h"

__global__ void histogram(const unsigned char *in, int n, unsigned *bins)
{
    __shared__ unsigned local[256];

    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        atomicAdd(&local[in[i]], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main()
{
    const int n = 100003;
    std::vector<unsigned char> in(n);
    std::vector<unsigned> want(256);
    Random random(2);

    for (auto &x : in) {
        x = random.next() % 256 * (random.next() % 3) / 2;
        want[x]++;
    }
    unsigned char *data = device_copy(in);
    unsigned *bins = device_new<unsigned>(256);
    CHECK(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
    histogram<<<8, 256>>>(data, n, bins);
    LAUNCHED();
    REQUIRE(host_copy(bins, 256) == want);
    CHECK(cudaFree(data));
    CHECK(cudaFree(bins));
    return passed();
}
