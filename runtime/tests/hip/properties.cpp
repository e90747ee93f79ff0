// SPDX-License-Identifier: MIT
// Properties and attributes of the device.
#include "program.h"

#include <cstring>

int main()
{
    hipDeviceProp_t p;
    int count = 0, value = 0, version = 0;
    size_t free_memory, total;

    CHECK(hipGetDeviceCount(&count));
    REQUIRE(count >= 1);
    CHECK(hipGetDeviceProperties(&p, 0));
    REQUIRE(strlen(p.name) > 0 && p.totalGlobalMem > 0);
    REQUIRE(p.multiProcessorCount > 0 && p.maxThreadsPerBlock >= 512);
    CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
    REQUIRE(value == p.warpSize);
    CHECK(hipDeviceGetAttribute(&value,
                                hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
    REQUIRE(value == (int)p.sharedMemPerBlock);
    CHECK(hipMemGetInfo(&free_memory, &total));
    REQUIRE(free_memory <= total && total == p.totalGlobalMem);
    CHECK(hipRuntimeGetVersion(&version));
    REQUIRE(version > 0);
    CHECK(hipGetDevice(&value));
    REQUIRE(value == 0);
    return passed();
}
