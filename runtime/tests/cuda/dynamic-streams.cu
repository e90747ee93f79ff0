/* SPDX-License-Identifier: MIT */
/* Launches in the named streams of device code: one that is behind nothing, and
 * one that is behind the whole grid, which is refused. */
#include "program.h"

__global__ void add(int *sum, int value)
{
    atomicAdd(sum, value);
}

__global__ void parent(int *sum, int *errors)
{
    for (int i = 0; i < 3; i++) {
        add<<<2, 32, 0, cudaStreamFireAndForget>>>(sum, 1);
        add<<<1, 32>>>(sum, 100);
    }
    errors[threadIdx.x] = cudaGetLastError();
    add<<<1, 1, 0, cudaStreamTailLaunch>>>(sum, 1000000);
    errors[4 + threadIdx.x] = cudaGetLastError();
}

int main()
{
    int *sum = device_copy(std::vector<int>(1));
    int *errors = device_new<int>(8);

    parent<<<1, 4>>>(sum, errors);
    LAUNCHED();
    REQUIRE(host_copy(sum, 1)[0] == 4 * 3 * (64 + 3200));
    for (int i = 0; i < 4; i++) {
        REQUIRE(host_copy(errors, 8)[i] == cudaSuccess);
        REQUIRE(host_copy(errors, 8)[4 + i] == cudaErrorNotSupported);
    }
    return passed();
}
