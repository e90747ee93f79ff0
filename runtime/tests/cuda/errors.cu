// SPDX-License-Identifier: MIT
// Errors: names, texts, and how long they stay.
#include "program.h"

#include <cstring>

__global__ void nothing() {}

__global__ void wild(int *p)
{
    *p = 1;
}

int main()
{
    REQUIRE(strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess") == 0);
    REQUIRE(strcmp(cudaGetErrorName(cudaErrorInvalidValue),
                   "cudaErrorInvalidValue") == 0);
    REQUIRE(strcmp(cudaGetErrorName(cudaErrorMemoryAllocation),
                   "cudaErrorMemoryAllocation") == 0);
    REQUIRE(strlen(cudaGetErrorString(cudaErrorInvalidValue)) > 0);
    REQUIRE(cudaErrorInvalidValue == 1 && cudaErrorMemoryAllocation == 2 &&
            cudaErrorInvalidConfiguration == 9 &&
            cudaErrorIllegalAddress == 700 && cudaErrorNotReady == 600);

    nothing<<<1, 0>>>();
    REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidConfiguration);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    nothing<<<dim3(1, 1, 70000), 1>>>();
    cudaError_t error = cudaGetLastError();
    REQUIRE(error == cudaErrorInvalidConfiguration ||
            error == cudaSuccess); /* the z of a grid may be larger here */
    nothing<<<1, dim3(1, 1, 2000)>>>();
    REQUIRE(cudaGetLastError() == cudaErrorInvalidConfiguration);
    FAILS(cudaErrorInvalidValue, cudaMalloc((void **)nullptr, 16));
    FAILS(cudaErrorInvalidDevice, cudaSetDevice(1000));
    /* One that succeeds in between does not take the error away. */
    REQUIRE(cudaSetDevice(1000) == cudaErrorInvalidDevice);
    CHECK(cudaSetDevice(0));
    REQUIRE(cudaGetLastError() == cudaErrorInvalidDevice);

    /* A kernel's error stays to the end of its context. */
    int *data = device_new<int>(1);
    wild<<<1, 1>>>((int *)0x10);
    REQUIRE(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    REQUIRE(cudaGetLastError() == cudaErrorIllegalAddress);
    REQUIRE(cudaMemset(data, 0, 4) == cudaErrorIllegalAddress);
    REQUIRE(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaDeviceReset());
    data = device_new<int>(1);
    wild<<<1, 1>>>(data);
    LAUNCHED();
    REQUIRE(host_copy(data, 1)[0] == 1);
    return passed();
}
