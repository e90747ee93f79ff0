// SPDX-License-Identifier: MIT
// malloc, new and delete in kernels.
#include "program.h"

__device__ int *rooms[64];

__global__ void make(int n)
{
    int *mine = threadIdx.x % 2 ? new int[n] : (int *)malloc(n * sizeof(int));

    for (int i = 0; i < n; i++) {
        mine[i] = threadIdx.x + i;
    }
    rooms[threadIdx.x] = mine;
}

__global__ void use(int *out, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) {
        sum += rooms[threadIdx.x][i];
    }
    out[threadIdx.x] = sum;
    if (threadIdx.x % 2) {
        delete[] rooms[threadIdx.x];
    } else {
        free(rooms[threadIdx.x]);
    }
}

int main()
{
    int *out = device_new<int>(64);

    make<<<1, 64>>>(10);
    use<<<1, 64>>>(out, 10);
    LAUNCHED();
    std::vector<int> got = host_copy(out, 64);
    for (int i = 0; i < 64; i++) {
        REQUIRE(got[i] == 10 * i + 45);
    }
    CHECK(hipFree(out));
    return passed();
}
