// SPDX-License-Identifier: MIT
// Kernels that launch kernels.
#include "program.h"

__global__ void child(int *data, int by)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += by;
}

__global__ void parent(int *data, int n)
{
    if (threadIdx.x == 0) {
        child<<<n / 64, 64>>>(data, 10 * (blockIdx.x + 1));
    }
}

__global__ void recurse(int *sum, int depth)
{
    atomicAdd(sum, 1);
    if (depth > 0 && threadIdx.x < 2) {
        recurse<<<1, 2>>>(sum, depth - 1);
    }
}

int main()
{
    const int n = 512;
    int *data = device_new<int>(n);

    CHECK(cudaMemset(data, 0, n * sizeof(int)));
    parent<<<1, 64>>>(data, n);
    LAUNCHED(); /* a grid is complete when its children are */
    for (int v : host_copy(data, n)) {
        REQUIRE(v == 10);
    }
    CHECK(cudaMemset(data, 0, sizeof(int)));
    recurse<<<1, 2>>>(data, 3);
    LAUNCHED();
    REQUIRE(host_copy(data, 1)[0] == 2 + 4 + 8 + 16);
    CHECK(cudaFree(data));
    return passed();
}
