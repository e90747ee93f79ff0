// SPDX-License-Identifier: MIT
// Launch bounds, attributes of functions, occupancy.
#include "program.h"

__global__ void __launch_bounds__(256) kernel(float *x)
{
    __shared__ float tile[256];

    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

int main()
{
    int blocks = 0, grid = 0, size = 0;
    hipFuncAttributes attributes;

    CHECK(hipFuncGetAttributes(&attributes, (const void *)kernel));
    REQUIRE(attributes.maxThreadsPerBlock == 256);
    REQUIRE(attributes.sharedSizeBytes == 1024);
    CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256,
                                                       0));
    REQUIRE(blocks >= 1);
    CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &size, kernel, 0, 0));
    REQUIRE(grid >= 1 && size >= 64 && size <= 256);
    return passed();
}
