// SPDX-License-Identifier: MIT
// Shared memory of a fixed size: blocks turn their part round.
#include "program.h"

#define BLOCK 128

__global__ void reverse(int *data)
{
    __shared__ int tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;

    tile[threadIdx.x] = data[i];
    __syncthreads();
    data[i] = tile[BLOCK - 1 - threadIdx.x];
}

/* A value that each block has of its own. */
__global__ void scalar(int *out)
{
    __shared__ int mine;
    __shared__ struct {
        char c;
        double d;
    } pair;

    if (threadIdx.x == BLOCK - 1) {
        mine = 7 * blockIdx.x;
        pair.c = 1;
        pair.d = 0.5;
    }
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = mine + pair.c + (int)(2 * pair.d);
}

int main()
{
    const int blocks = 5, n = blocks * BLOCK;
    std::vector<int> in(n);

    for (int i = 0; i < n; i++) {
        in[i] = i;
    }
    int *data = device_copy(in);
    reverse<<<blocks, BLOCK>>>(data);
    LAUNCHED();
    std::vector<int> out = host_copy(data, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(out[i] == i / BLOCK * BLOCK + BLOCK - 1 - i % BLOCK);
    }
    scalar<<<blocks, BLOCK>>>(data);
    LAUNCHED();
    out = host_copy(data, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(out[i] == 7 * (i / BLOCK) + 2);
    }
    CHECK(cudaFree(data));
    return passed();
}
