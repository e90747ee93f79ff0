// SPDX-License-Identifier: MIT
// A product of two vectors: shared memory, whatever the warp's size, and atomics.
#include "gpu.h"

constexpr int THREADS = 256;

__device__ double product;

__global__ void dot(const float *a, const float *b, int n)
{
    __shared__ double part[THREADS];
    double sum = 0;

    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n;
         i += gridDim.x * THREADS) {
        sum += (double)a[i] * b[i];
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(&product, part[0]);
    }
}

int main()
{
    const int n = 50000;
    std::vector<float> a(n), b(n);
    double want = 0, got = 0;

    for (int i = 0; i < n; i++) {
        a[i] = i % 100;
        b[i] = i % 7 - 3;
        want += (double)a[i] * b[i];
    }
    float *da = to_device(a), *db = to_device(b);
    dot<<<16, THREADS>>>(da, db, n);
    CHECK(gpu(GetLastError)());
    CHECK(gpu(MemcpyFromSymbol)(&got, product, sizeof(got)));
    CHECK(gpu(Free)(da));
    CHECK(gpu(Free)(db));
    printf("%g\n", got);
    return verdict("dot", got == want);
}
