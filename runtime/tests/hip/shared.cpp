// SPDX-License-Identifier: MIT
// Shared memory: fixed, and HIP_DYNAMIC_SHARED.
#include "program.h"

__global__ void fixed(int *data)
{
    __shared__ int tile[64];

    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void dynamic(float *data, int n)
{
    HIP_DYNAMIC_SHARED(float, tile)

    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[(threadIdx.x + 1) % n];
}

int main()
{
    std::vector<int> in(64);
    std::vector<float> real(100);

    for (int i = 0; i < 100; i++) {
        real[i] = i;
        if (i < 64) {
            in[i] = i;
        }
    }
    int *a = device_copy(in);
    float *b = device_copy(real);
    fixed<<<1, 64>>>(a);
    hipLaunchKernelGGL(dynamic, dim3(1), dim3(100), 100 * sizeof(float), 0, b,
                       100);
    LAUNCHED();
    std::vector<int> x = host_copy(a, 64);
    std::vector<float> y = host_copy(b, 100);
    for (int i = 0; i < 100; i++) {
        REQUIRE(y[i] == (i + 1) % 100);
        REQUIRE(i >= 64 || x[i] == 63 - i);
    }
    CHECK(hipFree(a));
    CHECK(hipFree(b));
    return passed();
}
