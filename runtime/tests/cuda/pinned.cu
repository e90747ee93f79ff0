// SPDX-License-Identifier: MIT
// Page-locked memory: allocated and registered.
#include "program.h"

#include <cstring>

__global__ void add(int *data, int by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        data[i] += by;
    }
}

int main()
{
    const int n = 1 << 16;
    const size_t bytes = n * sizeof(int);
    int *host, *other, *device = device_new<int>(n);
    cudaStream_t stream;
    unsigned flags = 99;

    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocHost(&host, bytes));
    CHECK(cudaHostAlloc(&other, bytes, cudaHostAllocPortable));
    CHECK(cudaHostGetFlags(&flags, other));
    REQUIRE(flags & cudaHostAllocPortable);
    for (int i = 0; i < n; i++) {
        host[i] = i;
    }
    CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice,
                          stream));
    add<<<n / 256, 256, 0, stream>>>(device, 5, n);
    CHECK(cudaMemcpyAsync(other, device, bytes, cudaMemcpyDeviceToHost,
                          stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++) {
        REQUIRE(other[i] == i + 5);
    }

    void *page = nullptr;
    REQUIRE(posix_memalign(&page, 4096, bytes) == 0);
    memset(page, 0, bytes);
    CHECK(cudaHostRegister(page, bytes, cudaHostRegisterDefault));
    FAILS(cudaErrorHostMemoryAlreadyRegistered,
          cudaHostRegister(page, bytes, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(page, device, bytes, cudaMemcpyDeviceToHost,
                          stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(memcmp(page, other, bytes) == 0);
    CHECK(cudaHostUnregister(page));
    FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(page));
    free(page);
    CHECK(cudaFreeHost(host));
    CHECK(cudaFreeHost(other));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    return passed();
}
