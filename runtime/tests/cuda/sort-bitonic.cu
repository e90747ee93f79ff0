// SPDX-License-Identifier: MIT
// Bitonic sort: a launch a step; one block's steps in shared memory.
#include "program.h"

#include <algorithm>

#define BLOCK 256

__device__ void order(unsigned &a, unsigned &b, bool up)
{
    if ((a > b) == up) {
        unsigned c = a;

        a = b;
        b = c;
    }
}

__global__ void step(unsigned *data, int j, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;

    if (other > i) {
        order(data[i], data[other], (i & k) == 0);
    }
}

__global__ void within(unsigned *data, int k)
{
    __shared__ unsigned tile[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;

    tile[t] = data[i];
    for (int j = min(k, BLOCK) / 2; j > 0; j /= 2) {
        __syncthreads();
        if ((t ^ j) > t) {
            order(tile[t], tile[t ^ j], (i & k) == 0);
        }
    }
    __syncthreads();
    data[i] = tile[t];
}

int main()
{
    const int n = 1 << 12;
    std::vector<unsigned> in(n);
    Random random(4);

    for (auto &x : in) {
        x = random.next() % 5000;
    }
    unsigned *data = device_copy(in);
    for (int k = 2; k <= n; k *= 2) {
        for (int j = k / 2; j >= BLOCK; j /= 2) {
            step<<<n / BLOCK, BLOCK>>>(data, j, k);
        }
        within<<<n / BLOCK, BLOCK>>>(data, k);
    }
    LAUNCHED();
    std::sort(in.begin(), in.end());
    REQUIRE(host_copy(data, n) == in);
    CHECK(cudaFree(data));
    return passed();
}
