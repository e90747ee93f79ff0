// SPDX-License-Identifier: MIT
// Shared memory whose size comes with the launch, cut into several arrays.
#include "program.h"

extern __shared__ double room[];

__global__ void several(double *out, int n)
{
    double *d = room;
    float *f = (float *)&d[n];
    short *s = (short *)&f[n];
    int i = threadIdx.x;

    d[i] = i;
    f[i] = 0.5f * i;
    s[i] = 3 * i;
    __syncthreads();
    int other = (i + 1) % n;
    out[i] = d[other] + f[other] + s[other];
}

__global__ void large(int *out)
{
    extern __shared__ int words[];

    words[threadIdx.x * 64] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = words[(blockDim.x - 1 - threadIdx.x) * 64];
}

int main()
{
    const int n = 100;
    double *out = device_new<double>(n);
    int *more = device_new<int>(160), limit = 0;

    several<<<1, n, n * (sizeof(double) + sizeof(float) + sizeof(short))>>>(
        out, n);
    LAUNCHED();
    std::vector<double> got = host_copy(out, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(got[i] == 4.5 * ((i + 1) % n));
    }
    CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlock,
                                 0));
    REQUIRE(limit >= 160 * 64 * 4);
    CHECK(cudaFuncSetAttribute(large,
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               160 * 64 * 4));
    large<<<1, 160, 160 * 64 * 4>>>(more);
    LAUNCHED();
    std::vector<int> turned = host_copy(more, 160);
    for (int i = 0; i < 160; i++) {
        REQUIRE(turned[i] == 159 - i);
    }
    CHECK(cudaDeviceGetAttribute(
        &limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    large<<<1, 160, limit + 1>>>(more);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFree(out));
    CHECK(cudaFree(more));
    return passed();
}
