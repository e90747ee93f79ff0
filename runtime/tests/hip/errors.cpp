// SPDX-License-Identifier: MIT
// Errors: names, numbers, the last one.
#include "program.h"

#include <cstring>

__global__ void nothing() {}

int main()
{
    void *p = nullptr;

    REQUIRE(strcmp(hipGetErrorName(hipSuccess), "hipSuccess") == 0);
    REQUIRE(strcmp(hipGetErrorName(hipErrorInvalidValue),
                   "hipErrorInvalidValue") == 0);
    REQUIRE(strlen(hipGetErrorString(hipErrorOutOfMemory)) > 0);
    REQUIRE(hipErrorInvalidValue == 1 && hipErrorOutOfMemory == 2 &&
            hipErrorNotReady == 600);
    FAILS(hipErrorInvalidValue, hipMalloc((void **)nullptr, 8));
    FAILS(hipErrorInvalidDevice, hipSetDevice(500));
    FAILS(hipErrorOutOfMemory, hipMalloc(&p, (size_t)1 << 50));
    nothing<<<1, 5000>>>();
    REQUIRE(hipPeekAtLastError() == hipErrorInvalidConfiguration);
    REQUIRE(hipGetLastError() == hipErrorInvalidConfiguration);
    REQUIRE(hipGetLastError() == hipSuccess);
    nothing<<<1, 64>>>();
    LAUNCHED();
    return passed();
}
