// SPDX-License-Identifier: MIT
// The default stream waits for the others, and they for it.
#include "program.h"

__global__ void append(int *log, int *at, int value)
{
    log[(*at)++] = value;
}

int main()
{
    int *log = device_new<int>(64), *at = device_new<int>(1);
    cudaStream_t a, b;

    CHECK(cudaMemset(at, 0, sizeof(int)));
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreate(&b));
    for (int i = 0; i < 5; i++) {
        append<<<1, 1, 0, a>>>(log, at, 3 * i);
        append<<<1, 1>>>(log, at, 3 * i + 1);
        append<<<1, 1, 0, b>>>(log, at, 3 * i + 2);
        CHECK(cudaMemcpyAsync(log + 63, log, sizeof(int),
                              cudaMemcpyDeviceToDevice, 0));
    }
    LAUNCHED();
    std::vector<int> out = host_copy(log, 15);
    for (int i = 0; i < 15; i++) {
        REQUIRE(out[i] == i);
    }
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaFree(log));
    CHECK(cudaFree(at));
    return passed();
}
