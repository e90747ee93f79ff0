// SPDX-License-Identifier: MIT
// assert in a kernel stops it; the error stays.
#include "program.h"

#include <cassert>
#include <fcntl.h>
#include <unistd.h>

__global__ void verify(const int *data, int most)
{
    assert(data[threadIdx.x] < most);
}

int main()
{
    std::vector<int> in(64);

    for (int i = 0; i < 64; i++) {
        in[i] = i;
    }
    int *data = device_copy(in);
    verify<<<1, 64>>>(data, 64);
    LAUNCHED();
    /* What it says goes to stderr: not of interest here. */
    fflush(stderr);
    int keep = dup(2), null = open("/dev/null", O_WRONLY);
    dup2(null, 2);
    verify<<<1, 64>>>(data, 63);
    cudaError_t error = cudaDeviceSynchronize();
    fflush(stderr);
    dup2(keep, 2);
    REQUIRE(error == cudaErrorAssert);
    REQUIRE(cudaDeviceSynchronize() == cudaErrorAssert);
    REQUIRE(cudaMemset(data, 0, 4) == cudaErrorAssert);
    CHECK(cudaDeviceReset());
    int *again = device_new<int>(64);
    CHECK(cudaMemset(again, 0, 64 * sizeof(int)));
    verify<<<1, 64>>>(again, 1);
    LAUNCHED();
    return passed();
}
