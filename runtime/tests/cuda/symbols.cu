// SPDX-License-Identifier: MIT
// Variables of the device by their names: copies, address, size.
#include "program.h"

__device__ int counter = 5;
__device__ float table[16];
__constant__ float factors[4] = {1, 2, 3, 4};
struct Setup {
    int offset;
    float scale;
};
__constant__ Setup setup;

__global__ void use()
{
    table[threadIdx.x] = factors[threadIdx.x % 4] * setup.scale + setup.offset;
    if (threadIdx.x == 0) {
        counter += 37;
    }
}

int main()
{
    Setup s = {10, 0.5f};
    float more[2] = {7, 8}, out[16];
    int value = 0;

    CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
    REQUIRE(value == 5);
    CHECK(cudaMemcpyToSymbol(setup, &s, sizeof(s)));
    CHECK(cudaMemcpyToSymbol(factors, more, sizeof(more), 2 * sizeof(float)));
    use<<<1, 16>>>();
    LAUNCHED();
    CHECK(cudaMemcpyFromSymbol(out, table, sizeof(out)));
    const float f[4] = {1, 2, 7, 8};
    for (int i = 0; i < 16; i++) {
        REQUIRE(out[i] == f[i % 4] * 0.5f + 10);
    }
    CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
    REQUIRE(value == 42);

    void *address = nullptr;
    size_t size = 0;
    CHECK(cudaGetSymbolAddress(&address, table));
    CHECK(cudaGetSymbolSize(&size, table));
    REQUIRE(address && size == sizeof(table));
    CHECK(cudaMemset(address, 0, size));
    CHECK(cudaMemcpyFromSymbol(out, table, 4, 15 * sizeof(float)));
    REQUIRE(out[0] == 0);

    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    value = 100;
    CHECK(cudaMemcpyToSymbolAsync(counter, &value, sizeof(value), 0,
                                  cudaMemcpyHostToDevice, stream));
    use<<<1, 16, 0, stream>>>();
    CHECK(cudaMemcpyFromSymbolAsync(&value, counter, sizeof(value), 0,
                                    cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(value == 137);
    FAILS(cudaErrorInvalidValue,
          cudaMemcpyToSymbol(factors, more, sizeof(more), 3 * sizeof(float)));
    return passed();
}
