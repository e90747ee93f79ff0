// SPDX-License-Identifier: MIT
// hipMallocManaged.
#include "program.h"

__global__ void count(const int *data, int n, int *even)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n && data[i] % 2 == 0) {
        atomicAdd(even, 1);
    }
}

int main()
{
    const int n = 3001;
    int *data, *even;

    CHECK(hipMallocManaged(&data, n * sizeof(int)));
    CHECK(hipMallocManaged(&even, sizeof(int), hipMemAttachGlobal));
    *even = 0;
    for (int i = 0; i < n; i++) {
        data[i] = 7 * i;
    }
    CHECK(hipMemAdvise(data, n * sizeof(int), hipMemAdviseSetReadMostly, 0));
    CHECK(hipMemPrefetchAsync(data, n * sizeof(int), 0, 0));
    count<<<(n + 63) / 64, 64>>>(data, n, even);
    LAUNCHED();
    REQUIRE(*even == 1501);
    CHECK(hipFree(data));
    CHECK(hipFree(even));
    return passed();
}
