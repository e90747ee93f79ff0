// SPDX-License-Identifier: MIT
// Host memory that kernels use where it is.
#include "program.h"

__global__ void square(const int *in, int *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[i] = in[i] * in[i];
    }
}

int main()
{
    const int n = 1000;
    int *in, *out, *device_in, *device_out;
    cudaDeviceProp properties;

    CHECK(cudaGetDeviceProperties(&properties, 0));
    REQUIRE(properties.canMapHostMemory);
    CHECK(cudaHostAlloc(&in, n * sizeof(int),
                        cudaHostAllocMapped | cudaHostAllocWriteCombined));
    CHECK(cudaHostAlloc(&out, n * sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&device_in, in, 0));
    CHECK(cudaHostGetDevicePointer((void **)&device_out, out, 0));
    for (int i = 0; i < n; i++) {
        in[i] = i - 500;
        out[i] = -1;
    }
    square<<<1, 256>>>(device_in, device_out, n);
    LAUNCHED();
    for (int i = 0; i < n; i++) {
        REQUIRE(out[i] == (i - 500) * (i - 500));
    }
    int local;
    FAILS(cudaErrorInvalidValue, cudaHostGetDevicePointer(&device_in, &local,
                                                          0));
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    return passed();
}
