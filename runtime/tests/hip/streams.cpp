// SPDX-License-Identifier: MIT
// Streams, flags and priorities.
#include "program.h"

__global__ void add(int *data, int by)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += by;
}

int main()
{
    const int n = 512;
    int *data[4], least, greatest, priority;
    unsigned flags;
    hipStream_t stream[4];

    CHECK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    REQUIRE(greatest <= least);
    for (int i = 0; i < 4; i++) {
        data[i] = device_new<int>(n);
        CHECK(hipStreamCreateWithPriority(&stream[i], hipStreamNonBlocking,
                                          i % 2 ? least : greatest));
        CHECK(hipMemsetAsync(data[i], 0, n * sizeof(int), stream[i]));
        for (int k = 0; k < 5; k++) {
            add<<<n / 128, 128, 0, stream[i]>>>(data[i], i + 1);
        }
    }
    CHECK(hipStreamGetFlags(stream[0], &flags));
    REQUIRE(flags == hipStreamNonBlocking);
    CHECK(hipStreamGetPriority(stream[1], &priority));
    REQUIRE(priority == least);
    for (int i = 0; i < 4; i++) {
        CHECK(hipStreamSynchronize(stream[i]));
        REQUIRE(hipStreamQuery(stream[i]) == hipSuccess);
        for (int v : host_copy(data[i], n)) {
            REQUIRE(v == 5 * (i + 1));
        }
        CHECK(hipStreamDestroy(stream[i]));
        CHECK(hipFree(data[i]));
    }
    return passed();
}
