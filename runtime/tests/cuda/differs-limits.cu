// SPDX-License-Identifier: MIT
// What docs/migration.md says of limits.
#include "program.h"

#include <cstdint>

__global__ void last(int *out)
{
    if (blockIdx.z == gridDim.z - 1 && threadIdx.x == 0) {
        *out = blockIdx.z;
    }
}

__global__ void stack(int *out, int depth)
{
    volatile char room[4096];

    room[depth] = depth;
    out[threadIdx.x] = room[depth];
}

int main()
{
    cudaDeviceProp p;
    int *out = device_new<int>(64);

    int version = 0;

    CHECK(cudaRuntimeGetVersion(&version));
    REQUIRE(version == CUDART_VERSION);
    CHECK(cudaDriverGetVersion(&version));
    REQUIRE(version >= CUDART_VERSION);
    CHECK(cudaGetDeviceProperties(&p, 0));
    REQUIRE(p.maxThreadsPerBlock == 1024);
    REQUIRE(p.sharedMemPerBlock == 65536);
    REQUIRE(p.maxGridSize[0] == INT32_MAX && p.maxGridSize[1] == INT32_MAX &&
            p.maxGridSize[2] == INT32_MAX);
    REQUIRE(p.concurrentManagedAccess == 1 && p.unifiedAddressing == 1);
    /* The z of a grid is not limited to 65535. */
    last<<<dim3(1, 1, 70000), 1>>>(out);
    LAUNCHED();
    REQUIRE(host_copy(out, 1)[0] == 69999);
    /* 64 KiB of shared memory need no attribute. */
    last<<<1, 64, 65536>>>(out);
    LAUNCHED();
    last<<<1, 64, 65537>>>(out);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
    stack<<<1, 64>>>(out, 100);
    LAUNCHED();
    REQUIRE(host_copy(out, 64)[63] == 100);
    return passed();
}
