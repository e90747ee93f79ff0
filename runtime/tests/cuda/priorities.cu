// SPDX-License-Identifier: MIT
// Streams of every priority there is.
#include "program.h"

__global__ void add(int *sum, int value)
{
    atomicAdd(sum, value);
}

int main()
{
    int least = 99, greatest = 99, got = 99, expected = 0;
    int *sum = device_new<int>(1);

    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    REQUIRE(least == 0 && greatest <= least);
    CHECK(cudaMemset(sum, 0, sizeof(int)));
    CHECK(cudaDeviceSynchronize()); /* these streams would not wait for it */
    std::vector<cudaStream_t> streams;
    for (int p = least; p >= greatest; p--) {
        cudaStream_t stream;

        CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, p));
        CHECK(cudaStreamGetPriority(stream, &got));
        REQUIRE(got == p);
        for (int i = 0; i < 10; i++) {
            add<<<1, 32, 0, stream>>>(sum, 1 - p);
            expected += 32 * (1 - p);
        }
        streams.push_back(stream);
    }
    LAUNCHED();
    REQUIRE(host_copy(sum, 1)[0] == expected);
    /* A number beyond the range is the nearest one. */
    cudaStream_t urgent;
    CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamDefault,
                                       greatest - 100));
    CHECK(cudaStreamGetPriority(urgent, &got));
    REQUIRE(got == greatest);
    CHECK(cudaStreamDestroy(urgent));
    for (auto s : streams) {
        CHECK(cudaStreamDestroy(s));
    }
    CHECK(cudaFree(sum));
    return passed();
}
