// SPDX-License-Identifier: MIT
// What a device says of itself, and that it is true.
#include "program.h"

#include <cstring>

__global__ void ids(unsigned *out)
{
    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) {
        out[0] = warpSize;
        out[1] = gridDim.x;
        out[2] = blockDim.x;
    }
}

int main()
{
    int count = 0, device = -1, value = 0, driver = 0, runtime = 0;
    cudaDeviceProp p;

    CHECK(cudaGetDeviceCount(&count));
    REQUIRE(count >= 1);
    for (int d = 0; d < count; d++) {
        CHECK(cudaGetDeviceProperties(&p, d));
        REQUIRE(strlen(p.name) > 0 && p.totalGlobalMem > 0);
    }
    CHECK(cudaGetDeviceProperties(&p, 0));
    REQUIRE(p.warpSize == 32 || p.warpSize == 64);
    REQUIRE(p.multiProcessorCount > 0 && p.clockRate > 0);
    REQUIRE(p.maxThreadsPerBlock >= 512 && p.maxThreadsDim[0] >= 512);
    REQUIRE(p.sharedMemPerBlock >= 16384 && p.regsPerBlock > 0);
    REQUIRE(p.maxGridSize[0] > 65535 && p.major > 0);
    // Buffers that flush it are sized by this.
    REQUIRE(p.l2CacheSize > 0 && p.persistingL2CacheMaxSize == 0);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    REQUIRE(value == p.warpSize);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
    REQUIRE(value == p.maxThreadsPerBlock);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    REQUIRE(value == p.multiProcessorCount);
    FAILS(cudaErrorInvalidDevice,
          cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count));

    unsigned *out = device_new<unsigned>(3);
    ids<<<70000, p.maxThreadsPerBlock / 16>>>(out);
    LAUNCHED();
    std::vector<unsigned> got = host_copy(out, 3);
    REQUIRE(got[0] == (unsigned)p.warpSize && got[1] == 70000);
    REQUIRE(got[2] == (unsigned)p.maxThreadsPerBlock / 16);
    ids<<<1, p.maxThreadsPerBlock>>>(out);
    LAUNCHED();
    ids<<<1, p.maxThreadsPerBlock + 1>>>(out);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidConfiguration);

    char bus[32];
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof(bus), 0));
    CHECK(cudaDeviceGetByPCIBusId(&device, bus));
    REQUIRE(device == 0);
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    REQUIRE(driver > 0 && runtime > 0);
    CHECK(cudaChooseDevice(&device, &p));
    REQUIRE(device >= 0 && device < count);
    return passed();
}
