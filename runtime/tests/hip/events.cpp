// SPDX-License-Identifier: MIT
// Events: time, and one stream that waits for another.
#include "program.h"

__global__ void spin(unsigned *out, int rounds)
{
    unsigned x = 1;

    for (int i = 0; i < rounds; i++) {
        x = x * 1664525u + 1013904223u;
    }
    *out = x;
}

__global__ void copy(const unsigned *in, unsigned *out)
{
    *out = *in;
}

int main()
{
    unsigned *x = device_new<unsigned>(2), want = 1;
    hipEvent_t start, stop;
    hipStream_t a, b;
    float ms = -1;

    CHECK(hipEventCreate(&start));
    CHECK(hipEventCreateWithFlags(&stop, hipEventDefault));
    CHECK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
    CHECK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    CHECK(hipEventRecord(start, a));
    spin<<<1, 1, 0, a>>>(x, 50000);
    CHECK(hipEventRecord(stop, a));
    CHECK(hipStreamWaitEvent(b, stop, 0));
    copy<<<1, 1, 0, b>>>(x, x + 1);
    CHECK(hipStreamSynchronize(b));
    REQUIRE(hipEventQuery(stop) == hipSuccess);
    CHECK(hipEventElapsedTime(&ms, start, stop));
    REQUIRE(ms > 0);
    for (int i = 0; i < 50000; i++) {
        want = want * 1664525u + 1013904223u;
    }
    REQUIRE(host_copy(x, 2)[1] == want);
    CHECK(hipEventDestroy(start));
    CHECK(hipEventDestroy(stop));
    CHECK(hipStreamDestroy(a));
    CHECK(hipStreamDestroy(b));
    CHECK(hipFree(x));
    return passed();
}
