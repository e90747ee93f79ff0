// SPDX-License-Identifier: MIT
// hipMallocAsync and hipFreeAsync.
#include "program.h"

__global__ void fill(int *data, int value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main()
{
    const int n = 1024;
    hipStream_t stream;
    hipMemPool_t pool;
    int *data;
    std::vector<int> out(n);

    CHECK(hipStreamCreate(&stream));
    CHECK(hipDeviceGetDefaultMemPool(&pool, 0));
    for (int i = 0; i < 10; i++) {
        CHECK(hipMallocAsync((void **)&data, n * sizeof(int), stream));
        fill<<<n / 256, 256, 0, stream>>>(data, i);
        CHECK(hipMemcpyAsync(out.data(), data, n * sizeof(int),
                             hipMemcpyDeviceToHost, stream));
        CHECK(hipFreeAsync(data, stream));
        CHECK(hipStreamSynchronize(stream));
        REQUIRE(out[0] == i && out[n - 1] == i);
    }
    CHECK(hipMemPoolTrimTo(pool, 0));
    CHECK(hipStreamDestroy(stream));
    return passed();
}
