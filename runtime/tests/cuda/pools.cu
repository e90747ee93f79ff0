// SPDX-License-Identifier: MIT
// Memory in stream order, and its pool.
#include "program.h"

#include <cstdint>

__global__ void fill(int *data, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        data[i] = value + i;
    }
}

int main()
{
    const int n = 5000;
    cudaStream_t stream;
    cudaMemPool_t pool, own;
    uint64_t threshold = UINT64_MAX, used = 1;
    int supported = 0, *data;
    std::vector<int> out(n);

    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported,
                                 0));
    REQUIRE(supported);
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
                                  &threshold));
    for (int round = 0; round < 20; round++) {
        CHECK(cudaMallocAsync(&data, n * sizeof(int), stream));
        fill<<<(n + 255) / 256, 256, 0, stream>>>(data, round, n);
        CHECK(cudaMemcpyAsync(out.data(), data, n * sizeof(int),
                              cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(data, stream));
        CHECK(cudaStreamSynchronize(stream));
        REQUIRE(out[0] == round && out[n - 1] == round + n - 1);
    }
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    REQUIRE(used == 0);

    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = 0;
    CHECK(cudaMemPoolCreate(&own, &properties));
    CHECK(cudaMallocFromPoolAsync((void **)&data, 1 << 16, own, stream));
    CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
    REQUIRE(used >= 1 << 16);
    CHECK(cudaFreeAsync(data, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemPoolTrimTo(own, 0));
    CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReservedMemCurrent,
                                  &used));
    REQUIRE(used == 0);
    CHECK(cudaMemPoolDestroy(own));
    CHECK(cudaStreamDestroy(stream));
    return passed();
}
