// SPDX-License-Identifier: MIT
// HIP_SYMBOL: variables of the device by name.
#include "program.h"

__device__ int results[32];
__constant__ int factor;

__global__ void fill()
{
    results[threadIdx.x] = factor * threadIdx.x;
}

int main()
{
    int by = 6, out[32];
    void *address = nullptr;
    size_t size = 0;

    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factor), &by, sizeof(by)));
    fill<<<1, 32>>>();
    LAUNCHED();
    CHECK(hipMemcpyFromSymbol(out, HIP_SYMBOL(results), sizeof(out)));
    for (int i = 0; i < 32; i++) {
        REQUIRE(out[i] == 6 * i);
    }
    CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(results)));
    CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(results)));
    REQUIRE(address && size == sizeof(out));
    return passed();
}
