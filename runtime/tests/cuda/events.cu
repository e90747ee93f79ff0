// SPDX-License-Identifier: MIT
// Events: order, time, states.
#include "program.h"

__global__ void spin(long long *out, int rounds)
{
    long long x = 1;

    for (int i = 0; i < rounds; i++) {
        x = x * 6364136223846793005ll + 1;
    }
    out[threadIdx.x] = x;
}

int main()
{
    cudaEvent_t start, stop, plain;
    float ms = -1, longer = -1;
    long long *out = device_new<long long>(64);

    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
    CHECK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    /* One that was never recorded is complete, and has no time. */
    CHECK(cudaEventQuery(start));
    FAILS(cudaErrorInvalidResourceHandle,
          cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaEventRecord(start));
    spin<<<1, 64>>>(out, 100);
    CHECK(cudaEventRecord(stop, 0));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventQuery(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    REQUIRE(ms > 0);
    CHECK(cudaEventRecord(start));
    spin<<<1, 64>>>(out, 200000);
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&longer, start, stop));
    REQUIRE(longer > 0);
    CHECK(cudaEventRecord(plain));
    CHECK(cudaEventSynchronize(plain));
    FAILS(cudaErrorInvalidResourceHandle,
          cudaEventElapsedTime(&ms, start, plain));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaEventDestroy(plain));
    CHECK(cudaFree(out));
    return passed();
}
