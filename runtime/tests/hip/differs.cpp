// SPDX-License-Identifier: MIT
// What docs/migration.md says of HIP: 64 lanes as on CDNA, no name of an AMD
// device, and an error's number.
#include "program.h"

#include <cstring>

__global__ void lanes(unsigned long long *votes)
{
    votes[threadIdx.x] = __ballot(threadIdx.x >= 32);
}

__global__ void wild(int *p)
{
    *p = 1;
}

int main()
{
    hipDeviceProp_t p;
    unsigned long long *votes = device_new<unsigned long long>(64);

    CHECK(hipGetDeviceProperties(&p, 0));
    REQUIRE(p.warpSize == 64);
    REQUIRE(!strstr(p.gcnArchName, "gfx"));
    lanes<<<1, 64>>>(votes);
    LAUNCHED();
    REQUIRE(host_copy(votes, 64)[0] == 0xffffffff00000000ull);
#if defined(__HIP_PLATFORM_AMD__) && !defined(__HIP_PLATFORM_NVIDIA__)
    int platforms = 1;
#else
    int platforms = 0;
#endif
    REQUIRE(platforms == 1);
    wild<<<1, 1>>>((int *)16);
    REQUIRE(hipDeviceSynchronize() == hipErrorIllegalAddress);
    REQUIRE(hipErrorIllegalAddress == 700);
    CHECK(hipDeviceReset());
    CHECK(hipFree(device_new<int>(1)));
    return passed();
}
