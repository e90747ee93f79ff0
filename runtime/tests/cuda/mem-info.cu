// SPDX-License-Identifier: MIT
// Free memory follows allocations; what does not fit is an error.
#include "program.h"

int main()
{
    size_t free_before, free_now, total;
    char *data;

    CHECK(cudaFree(0));
    CHECK(cudaMemGetInfo(&free_before, &total));
    REQUIRE(free_before > 0 && free_before <= total);
    CHECK(cudaMalloc(&data, 64 << 20));
    CHECK(cudaMemGetInfo(&free_now, &total));
    REQUIRE(free_before - free_now >= 64 << 20);
    char *none = nullptr;
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&none, total * 2));
    CHECK(cudaFree(data));
    CHECK(cudaMemGetInfo(&free_now, &total));
    REQUIRE(free_now == free_before);
    REQUIRE(cudaFree((void *)0x1234) == cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() != cudaSuccess);
    return passed();
}
